#!/usr/bin/env python3
"""Random kernels: well-typed programs of 5 to 60 operations with loops and branches, and what to run them with.

usage: random_kernels.py SEED            prints the program of a seed, with its arguments as a comment
       random_kernels.py TILEC FIRST N   checks, runs and compiles N programs (tests/random/programs.test)

random_program.py makes them of the operations of random_operations.py. What a program computes is defined to the bit,
but for functions with a bound, whose outputs have a tolerance among the arguments.
"""
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from random_program import Program

ARCHES = ("sm_80", "sm_90", "sm_100", "sm_120")


def program(seed):
    """(text, arguments of `tilec run`) of a seed."""
    return Program(seed).whole()[:2]


def settings(seed):
    """Four settings of hints under which the results may not differ, as arguments; the first has none."""
    sites, rng = Program(seed).whole()[2], random.Random(seed)
    found = [[]]
    for warps in (4, 8, rng.choice((1, 2, 16))):
        hints = [f"num_worker_warps={warps}", f"occupancy={rng.choice((1, 1, 2, 4))}"]
        for site in rng.sample(sites, min(len(sites), 2)):
            hints.append(rng.choice((f"{site}.latency={rng.randint(1, 6)}", f"{site}.allow_tma={rng.randint(0, 1)}")))
        found.append(hints)
    return [[a for hint in dict.fromkeys(hints) for a in ("--hint", hint)] for hints in found]


def outputs(text):
    return [line.split(":")[0].strip() for line in text.splitlines() if ": out " in line or ": inout " in line]


def examine(tilec, folder, seed):
    """Checks, runs and compiles one program; what is wrong, or nothing."""
    text, arguments = program(seed)
    path = Path(folder) / f"seed{seed}.tile"
    path.write_text(text)
    some = settings(seed)[1 + seed % 3]
    calls = [["check", path]]
    for number, hints in enumerate(([], some)):
        files = [a for name in outputs(text) for a in ("--out", f"{name}={path}.{name}.{number}.npy")]
        calls.append(["run", path, "--device", "cpu", "--seed", seed, *arguments, *hints, *files])
    calls += [["build", path, "--arch", arch, *hints, "--emit=ptx", "-o", f"{path}.ptx"]
              for arch, hints in ((ARCHES[seed % 4], []), (ARCHES[(seed + 1) % 4], some))]
    for call in calls:
        command = [tilec, *map(str, call)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            output, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            output, code = "no end", 124
        if code:
            return f"seed {seed}: exit {code}: {' '.join(command)}\n{output[:3000]}"
    for name in outputs(text):
        first, second = (Path(f"{path}.{name}.{number}.npy").read_bytes() for number in range(2))
        if first != second:
            return f"seed {seed}: {name} differs under {' '.join(some)}"
    return None


def main():
    if len(sys.argv) == 2:
        text, arguments = program(int(sys.argv[1]))
        print(f"# tilec run --seed {sys.argv[1]} {' '.join(arguments)}\n{text}", end="")
        return 0
    tilec, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        faults = [f for f in pool.map(lambda seed: examine(tilec, folder, seed), range(first, first + count)) if f]
    print("\n".join(faults))
    print(f"{count} programs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
