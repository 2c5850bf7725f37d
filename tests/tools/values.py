#!/usr/bin/env python3
"""Runs every kernel of a file on the reference executor and compares what it gives with what its comments say.

    # with: -D N=10 x=arange        how the kernel is run (nothing: as it is)
    # y = 8 9 0 0                   the first elements of an output, all of them where there are at most 16
    # fails: text                   the run ends with exit code 1 and says this
    # prints: text                  the run says this

A comment belongs to the kernel above it; a kernel without one is a fault. Floats are compared by six digits.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys


def kernels(text):
    """Names and expectations, in order."""
    found = []
    for line in text.splitlines():
        if match := re.match(r"\s*kernel\s+(\w+)", line):
            found.append((match.group(1), {"with": [], "outputs": {}, "says": [], "fails": False}))
        match = re.match(r"\s*#\s*(with|fails|prints):\s*(.*)$", line)
        output = re.match(r"\s*#\s*(\w+) = (.*)$", line)
        if not (match or output) or not found:
            continue
        expected = found[-1][1]
        if output:
            expected["outputs"][output.group(1)] = output.group(2).split()
        elif match.group(1) == "with":
            expected["with"] += shlex.split(match.group(2))
        else:
            expected["says"].append(match.group(2).strip())
            expected["fails"] |= match.group(1) == "fails"
    return found


def same(found, expected):
    if "nan" in expected:  # a NaN has no sign that the language speaks of
        return "nan" in found
    try:
        return found == expected or (float(found) == float(expected) and (found[0] == "-") == (expected[0] == "-"))
    except ValueError:
        return False


def check(tool, path, name, expected):
    command = [tool, "run", str(path), "--device", "cpu", "--kernel", name, "--json", *expected["with"]]
    done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout + done.stderr
    for wanted in expected["says"]:
        if wanted not in text:
            return f"does not say '{wanted}':\n{text}"
    if done.returncode != (1 if expected["fails"] else 0):
        return f"exit code {done.returncode}:\n{text}"
    if expected["fails"]:
        return ""
    outputs = {o["name"]: o["first"] for o in json.loads(done.stdout)["outputs"]}
    for array, values in expected["outputs"].items():
        found = outputs.get(array)
        if found is None:
            return f"has no output '{array}'"
        if len(found) != len(values) or not all(map(same, found, values)):
            return f"{array} = {' '.join(found)}\n    expected {' '.join(values)}"
    return "" if expected["outputs"] or expected["says"] else "has no expectation"


def main():
    tool, path = sys.argv[1], pathlib.Path(sys.argv[2])
    faults = 0
    all_kernels = kernels(path.read_text())
    for name, expected in all_kernels:
        if fault := check(tool, path, name, expected):
            print(f"{path.name}: {name}: {fault}")
            faults += 1
    print(f"{len(all_kernels)} kernels, {faults} faults")
    return 1 if faults or not all_kernels else 0


if __name__ == "__main__":
    sys.exit(main())
