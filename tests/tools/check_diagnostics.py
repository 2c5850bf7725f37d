#!/usr/bin/env python3
"""Every diagnostic code is triggered by a test: its code stands in a test's expectations, and codes are unique."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    table = (ROOT / "compiler/base/diag_codes.def").read_text()
    rows = re.findall(r'^DIAG\((\w+),\s*"([EW]\d+)",\s*(Error|Warning)', table, re.M)
    faults = []
    codes = [code for _, code, _ in rows]
    for code in sorted({c for c in codes if codes.count(c) > 1}):
        faults.append(f"diag_codes.def: {code} is given twice")
    for name, code, severity in rows:
        if (code[0] == "E") != (severity == "Error"):
            faults.append(f"diag_codes.def: {name} is {severity} but its code is {code}")
    tests = ""
    for file in sorted((ROOT / "tests").rglob("*")):
        if file.suffix in (".cpp", ".tile", ".test", ".txt", ".mlir") and file.is_file():
            tests += file.read_text(errors="replace")
    for name, code, _ in rows:
        if code not in tests and f"Diag::{name}" not in tests:
            faults.append(f"diag_codes.def: no test triggers {code} ({name})")
    for f in faults:
        print(f)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
