#!/usr/bin/env python3
"""Random programs give the executor's bits on the GPU, whatever the hints.

usage: test_random.py TILEC [FIRST COUNT [FOLDER]]

Programs 0 to 499 under four hint settings by default, made by tests/tools/random_kernels.py; FIRST and COUNT split the
work over several calls. A program that fails is kept in FOLDER, with how it was run and what was said.
"""
import concurrent.futures
import pathlib
import sys

from common import ROOT, WORKERS, Suite

sys.path.insert(0, str(ROOT / "tests/tools"))
import random_kernels  # noqa: E402


def main():
    suite = Suite()
    first, count = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (0, 500)
    kept = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None

    def examine(seed):
        text, arguments = random_kernels.program(seed)
        path = pathlib.Path(suite.path(f"seed{seed}.tile"))
        path.write_text(text)
        for number, hints in enumerate(random_kernels.settings(seed)):
            call = ["run", path, "--device", "cuda:0", "--seed", seed, *arguments, *hints]
            done = suite.run(f"seed {seed} {' '.join(hints)}", *call)
            if done.returncode and kept:
                kept.mkdir(parents=True, exist_ok=True)
                said = [f"# tilec {' '.join(map(str, call))}", *(done.stdout + done.stderr).splitlines()]
                (kept / f"seed{seed}.{number}.tile").write_text("\n# ".join(said) + "\n" + text)

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(examine, range(first, first + count)))
    suite.finish()


if __name__ == "__main__":
    main()
