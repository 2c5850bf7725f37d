#!/usr/bin/env python3
"""Goldens of diagnostics: tests/diagnostics/CODE_name.{tile,yaml} beside CODE_name.txt, what the tool says of it.

A line `# tilec: ARGUMENTS` in the program says how the tool is run (%s: the file); without one it is `check %s`. The
golden ends with the exit code. Without --update a difference fails; with it the goldens are rewritten, to be reviewed
as a diff.
"""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/diagnostics"


def run(tool, program):
    text = program.read_bytes().decode(errors="replace")
    line = re.search(r"^# tilec: (.*)$", text, re.M)
    arguments = shlex.split((line.group(1) if line else "check %s").replace("%s", program.name))
    with tempfile.TemporaryDirectory() as cache:
        # No GPU and no settings of the user's: the same text everywhere.
        environment = {"PATH": os.environ.get("PATH", ""), "NO_COLOR": "1", "TILEC_CACHE_DIR": cache, "HOME": cache,
                       "TILEC_CUDA_DRIVER": "/nonexistent/libcuda.so.1"}
        done = subprocess.run([tool, *arguments], cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
    return (done.stdout + done.stderr).decode(errors="replace") + f"exit code {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilec", default=str(ROOT / "build/tilec"))
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tilec).resolve())
    faults = 0
    programs = sorted(p for p in FOLDER.iterdir() if p.suffix in (".tile", ".yaml"))
    for program in programs:
        code = program.name.split("_")[0]
        # Shared kernels of recipes have no code in their name.
        if not re.fullmatch(r"[EW]\d{4}", code):
            continue
        golden = program.with_suffix(".txt")
        found = run(tool, program)
        if f"[{code}]" not in found:
            print(f"{program.name}: the tool does not report {code}:\n{found}")
            faults += 1
            continue
        expected = golden.read_text() if golden.exists() else ""
        if found == expected:
            continue
        if options.update:
            golden.write_text(found)
            continue
        faults += 1
        print("".join(difflib.unified_diff(expected.splitlines(True), found.splitlines(True), golden.name, "found")))
    for golden in sorted(FOLDER.glob("*.txt")):
        if not any(golden.with_suffix(s).exists() for s in (".tile", ".yaml")):
            print(f"{golden.name}: no program of this name")
            faults += 1
    if faults and not options.update:
        print("run tests/tools/update_goldens.py --update and review the difference")
    print(f"{len(programs)} programs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
