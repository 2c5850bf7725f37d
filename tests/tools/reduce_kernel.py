#!/usr/bin/env python3
"""Makes a kernel that fails smaller: statements and blocks of its body go as long as the failure stays.

usage: reduce_kernel.py FILE TEXT COMMAND…   COMMAND runs with {} for the file; it fails by saying TEXT

    reduce_kernel.py seed17.1.tile "differs from the executor" tilec run {} --device cuda:0 --seed 17 -D …

Arguments of the kernel stay, so that the command does. The result is printed; FILE is left as it is.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 120


def units(lines, first):
    """Ranges that may go: statements and whole blocks with their `else`, outer ones before inner ones."""
    found, opened = [], []
    for number in range(first, len(lines)):
        line = lines[number].strip()
        closes, opens = line.startswith("}"), line.endswith("{")
        if closes and opened:
            start = opened.pop()
            if opens:  # `} else {`
                opened.append(start)
            else:
                found.append((start, number + 1))
        elif opens:
            opened.append(number)
        elif line:
            found.append((number, number + 1))
    return sorted(found, key=lambda unit: (unit[0] - unit[1], -unit[0]))


def reduce(lines, fails):
    """Removes what it can, last statements first, until nothing more goes."""
    first = next(i for i, line in enumerate(lines) if line.rstrip() == "{") + 1
    chunk = max(1, len(lines) // 8)
    while True:
        smaller = False
        # Runs of statements of one level first, then single ones and blocks.
        runs = [(at - chunk, at) for at in range(len(lines) - 1, first + chunk - 1, -chunk)] if chunk > 1 else []
        for start, end in runs + units(lines, first):
            if end > len(lines) - 1:
                continue
            shorter = lines[:start] + lines[end:]
            if balanced(lines[start:end]) and fails(shorter):
                lines, smaller = shorter, True
                if not runs:
                    break
        if chunk > 1:
            chunk //= 2
        elif not smaller:
            return lines


def balanced(lines):
    depth = 0
    for line in lines:
        depth -= line.strip().startswith("}")
        if depth < 0:
            return False
        depth += line.strip().endswith("{")
    return depth == 0


def main():
    file, wanted, command = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reduced.tile"

        def fails(lines):
            path.write_text("".join(line + "\n" for line in lines))
            try:
                done = subprocess.run([word.replace("{}", str(path)) for word in command], capture_output=True,
                                      text=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return False
            return wanted in done.stdout + done.stderr

        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        if not fails(lines):
            print(f"{file} does not fail with '{wanted}'", file=sys.stderr)
            return 1
        print("\n".join(reduce(lines, fails)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
