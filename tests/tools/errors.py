#!/usr/bin/env python3
"""Checks the errors of a file one at a time.

A line that ends with `#! CODE message` is a case: the program with this case and none of the others has this error at
this line, and no other. `help: text` behind the message is part of the mend. Lines without a case are in every program.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CASE = re.compile(r"#!\s*([EW]\d{4}) (.*?)(?:\s+help: (.*))?$")


def findings(tool, text, folder):
    path = folder / "case.tile"
    path.write_text(text)
    done = subprocess.run([tool, "check", str(path), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)["diagnostics"]


def main():
    tool, path = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = path.read_text().splitlines()
    cases = [i for i, line in enumerate(lines) if CASE.search(line)]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            code, message, mend = CASE.search(lines[case]).groups()
            program = ["" if i in cases and i != case else line for i, line in enumerate(lines)]
            found = findings(tool, "\n".join(program) + "\n", pathlib.Path(folder))
            fits = len(found) == 1 and found[0]["code"] == code and found[0]["message"] == message
            fits = fits and found[0]["line"] == case + 1 and (not mend or mend in found[0].get("help", ""))
            if fits:
                continue
            faults += 1
            print(f"{path.name}:{case + 1}: {lines[case].strip()}")
            for d in found:
                print(f"    found {d.get('line')}: {d['code']} {d['message']}  help: {d.get('help', '')}")
            if not found:
                print("    no error")
    print(f"{len(cases)} cases, {faults} faults")
    return 1 if faults or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
