#!/usr/bin/env python3
"""Every built-in has a test of its meaning, a test of an error, and a line in the language reference.

The table is compiler/sema/builtins.def. Tests say what they are about by comments: `# meaning: NAME` and
`# error: NAME`, with `@RECEIVER` (free, tile, array, view, dtype) where several receivers have the name.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECEIVERS = {"TileQuery": "tile", "ArrayQuery": "array", "ViewQuery": "view", "DTypeQuery": "dtype"}


def main():
    table = (ROOT / "compiler/sema/builtins.def").read_text()
    rows = re.findall(r'^BUILTIN\((\w+), (\w+), (\w+), (\w+),\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\)', table, re.M)
    faults = []
    if len(rows) != len(re.findall(r"^BUILTIN\(", table, re.M)):
        faults.append("builtins.def: a row is not of the form that this script reads")
    names = [name for name, *_ in rows]
    said = {"meaning": set(), "error": set()}
    for file in sorted((ROOT / "tests").rglob("*.tile")):
        for kind, name in re.findall(r"#\s*(meaning|error): ([\w@]+)\s*$", file.read_text(errors="replace"), re.M):
            said[kind].add(name)
    page = (ROOT / "docs/language.md").read_text()
    for name, receiver, _, _, signature, doc in rows:
        receiver = RECEIVERS.get(receiver, receiver.lower())
        full = f"{name}@{receiver}"
        alone = names.count(name) == 1
        for kind in said:
            if full not in said[kind] and not (alone and name in said[kind]):
                faults.append(f"no test says `# {kind}: {name if alone else full}`")
        signature = signature.replace('\\"', '"')
        if not doc:
            faults.append(f"builtins.def: {full} has no document line")
        elif f"`{signature}` | {doc}" not in page:
            faults.append(f"docs/language.md: the row of {full} is missing or out of date")
    for fault in faults:
        print(fault)
    print(f"{len(rows)} built-ins, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
