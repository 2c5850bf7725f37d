#!/usr/bin/env python3
"""Kernels for every built-in, dtype and shape, made from the table of built-ins, for comparing a GPU with the executor.

usage: differential.py TILEC GROUP…   checks the kernels of groups of compiler/sema/builtins.def, runs them on the CPU
                                      and compiles them for three architectures
       differential.py --cover        every built-in has kernels, every group a test
       differential.py NAME DTYPE     prints the kernels of a built-in

tests/gpu/test_differential.py compares what they give; differential_math.py and differential_memory.py say what is
done with each built-in.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import differential_math  # noqa: F401
import differential_memory  # noqa: F401
from differential_kernel import COVER

ROOT = Path(__file__).resolve().parents[2]
ARCHES = ("sm_80", "sm_90", "sm_120")
RECEIVERS = {"TileQuery": "tile", "ArrayQuery": "array", "ViewQuery": "view", "DTypeQuery": "dtype"}


def rows():
    """(label, group) of each built-in; a label is NAME@RECEIVER."""
    table = (ROOT / "compiler/sema/builtins.def").read_text()
    for name, receiver, group in re.findall(r"^BUILTIN\((\w+), (\w+), (\w+),", table, re.M):
        yield f"{name}@{RECEIVERS.get(receiver, receiver.lower())}", group


def kernels(folder, labels):
    """The kernels of built-ins, one after another."""
    for label in labels:
        for kernel in COVER[label](Path(folder), label):
            if kernel.lines:
                yield kernel


def call(tilec, *arguments):
    command = [tilec, *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 124, "no end"


GAP = re.compile(r"'([^']+)' does not run on a GPU yet")


def examine(tilec, folder, number, kernel):
    """What is wrong with a kernel without a GPU, or nothing; and whether an architecture cannot run it."""
    path = Path(folder) / f"k{number}.tile"
    path.write_text(kernel.text)
    steps = [["run", path, "--device", "cpu", *kernel.arguments, *kernel.tolerances]]
    steps += [["build", path, "--arch", arch, "--emit=ptx", "-o", f"{path}.ptx"] for arch in ARCHES]
    for step in steps:
        code, output = call(tilec, *step)
        if code == 1 and (gap := GAP.search(output)) and step[0] == "build":
            return None, gap.group(1)
        if code:
            return f"{kernel.label}: exit {code}: {' '.join(map(str, step))}\n{kernel.text}{output[:2000]}", None
    return None, None


def cover():
    known = {label for label, _ in rows()}
    run = " ".join(path.read_text() for path in (ROOT / "tests/differential").glob("*.test"))
    faults = [f"{label}: no kernels in tests/tools/differential_*.py"
              for label in known - COVER.keys()]
    faults += [f"{label}: no such built-in" for label in COVER.keys() - known]
    faults += [f"{group}: no test in tests/differential" for group in sorted({group for _, group in rows()})
               if not re.search(rf"%tilec.* {group}\b", run)]
    with tempfile.TemporaryDirectory() as folder:
        for label in known & COVER.keys():
            name, receiver = label.split("@")
            # The kernels of a built-in speak of it.
            if not any(re.search(rf"\b{name}\b", kernel.text) for kernel in kernels(folder, [label])):
                faults.append(f"{label}: none of its kernels has the word '{name}'")
    return len(known), faults


def main():
    arguments = sys.argv[1:]
    if arguments == ["--cover"]:
        count, faults = cover()
        print("\n".join([*sorted(faults), f"{count} built-ins, {len(faults)} faults"]))
        return 1 if faults else 0
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(arguments[0]):
            for kernel in kernels(folder, [label for label, _ in rows() if label.split("@")[0] == arguments[0]]):
                if arguments[1:] in ([], [kernel.dtype]):
                    print(f"# {kernel.label}: {' '.join(kernel.arguments)}\n{kernel.text}")
            return 0
        tilec, groups = arguments[0], arguments[1:]
        labels = [label for label, group in rows() if group in groups]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda one: examine(tilec, folder, *one), enumerate(kernels(folder, labels))))
    faults = [fault for fault, _ in found if fault]
    gaps = sorted({gap for _, gap in found if gap})
    for line in faults + [f"gap: {gap}" for gap in gaps]:
        print(line)
    print(f"{len(labels)} built-ins, {len(found)} kernels, {len(faults)} faults")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
