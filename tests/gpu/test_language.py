#!/usr/bin/env python3
"""The tests of the language on the GPU: every kernel of tests/builtins, tests/cases and tests/guide that the executor
runs gives the executor's result there as well. What the code generator does not know yet is counted, with the reason."""
import collections
import concurrent.futures
import os
import pathlib
import re
import shlex
import sys

from common import ROOT, WORKERS, Suite

sys.path.insert(0, str(ROOT / "tests/tools"))
import values  # noqa: E402

GAP = re.compile(r"'([^']+)' does not run on a GPU yet")
# Files whose float results come from functions with a bound of 2 ulp, or from two of them.
FUNCTIONS = {"math.tile", "functions.tile", "F06_functions.tile"}


NOTHING = {"says": [], "fails": False}


def kernel_text(text, name):
    """From a kernel's name to the next kernel."""
    return re.split(r"^kernel ", text.split(f"kernel {name}", 1)[1], maxsplit=1, flags=re.M)[0]


def value_tests():
    """File, kernel and arguments of each kernel that has expected values."""
    for folder in ("builtins", "cases", "guide", "std", "lower"):
        for path in sorted((ROOT / "tests" / folder).glob("*.tile")):
            text = path.read_text()
            if "%values" in text:
                for name, expected in values.kernels(text):
                    # What the executor alone finds is no test of a GPU.
                    if not expected["fails"] or "assert(" in kernel_text(text, name):
                        yield path, name, expected["with"], expected
            for line in re.findall(r"RUN: %tilec run %s (.*?)(?:\||$)", text, re.M):
                arguments = [a for a in shlex.split(line) if a != "2>&1"]
                if "--device" in arguments:
                    at = arguments.index("--device")
                    del arguments[at:at + 2]
                kernel = arguments[arguments.index("--kernel") + 1] if "--kernel" in arguments else ""
                yield path, kernel, arguments, NOTHING


def main():
    os.chdir(ROOT)
    suite = Suite()
    gaps = collections.Counter()
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    def run(test):
        path, kernel, arguments, expected = test
        label = f"{path.relative_to(ROOT)} {kernel}"
        if only not in label:
            return
        extra = [] if "--kernel" in arguments or not kernel else ["--kernel", kernel]
        bounds = []
        if path.name in FUNCTIONS:
            kernel_text = re.search(r"kernel " + kernel + r"\b.*?\)", path.read_text(), re.S).group(0)
            for output in re.findall(r"(\w+): (?:out|inout) (?:f\d+|bf16)\[", kernel_text):
                bounds += ["--tolerance", f"{output}=ulp:4"]
        command = ["run", str(path), "--device", "cuda:0", *extra, *arguments, *bounds]
        done = suite.call(*command)
        gap = GAP.search(done.stderr)
        if done.returncode == 1 and gap:
            gaps[gap.group(1)] += 1
        elif done.returncode == int(expected["fails"]) and all(t in done.stdout + done.stderr for t in expected["says"]):
            suite.passed += 1
        else:
            suite.failures.append(label)
            print(f"FAIL {label}: exit {done.returncode}: tilec {' '.join(command)}")
            print("\n".join("  " + line for line in (done.stdout + done.stderr).splitlines()[:12]))

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(run, value_tests()))
    for what, count in gaps.most_common():
        print(f"{count} skipped: '{what}' does not run on a GPU yet")
    suite.finish()


if __name__ == "__main__":
    main()
