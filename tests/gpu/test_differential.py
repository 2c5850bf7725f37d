#!/usr/bin/env python3
"""Every built-in × dtype × shape gives on the GPU what the executor gives, within the bounds of docs/language.md.

usage: test_differential.py TILEC [WORD…]   only kernels whose label (`exp@tile f32`) or group (`Math`) has a word

tests/tools/differential.py makes the kernels from the table of built-ins.
"""
import collections
import concurrent.futures
import pathlib
import sys

from common import ROOT, WORKERS, Suite

sys.path.insert(0, str(ROOT / "tests/tools"))
import differential  # noqa: E402


def main():
    suite = Suite()
    words = sys.argv[2:]
    labels = [label for label, group in differential.rows()
              if not words or group in words or any(word.split()[0] in label for word in words)]
    gaps = collections.Counter()

    def examine(one):
        number, kernel = one
        path = pathlib.Path(suite.path(f"k{number}.tile"))
        path.write_text(kernel.text)
        done = suite.call("run", path, "--device", "cuda:0", *kernel.inputs, *kernel.tolerances)
        gap = differential.GAP.search(done.stderr)
        if done.returncode == 1 and gap:
            gaps[gap.group(1)] += 1
        elif done.returncode == 0:
            suite.passed += 1
        else:
            suite.failures.append(kernel.label)
            lines = [line for line in (done.stdout + done.stderr).splitlines() if "equal the executor's" not in line]
            print(f"FAIL {kernel.label}: exit {done.returncode}\n" + "\n".join("  " + line for line in lines[-12:]))

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(examine, enumerate(differential.kernels(suite.folder.name, labels))))
    for what, count in gaps.most_common():
        print(f"{count} skipped: '{what}' does not run on a GPU yet")
    suite.finish()


if __name__ == "__main__":
    main()
