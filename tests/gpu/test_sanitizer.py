#!/usr/bin/env python3
"""compute-sanitizer finds nothing in any recipe on its `check` problems: memcheck, racecheck, synccheck, initcheck.

usage: test_sanitizer.py TILEC [RECIPE [TOOL,…]]
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

from common import ROOT, SECONDS, SKIPPED, Suite
from test_recipes import problems

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)")
PLACES = ("/usr/local/cuda/bin",)


def check(suite, sanitizer, tool, label, arguments):
    """One run of the tool under one checker: it has to end well and to report nothing."""
    command = [sanitizer, "--tool", tool, suite.tilec, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        output, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        output, code = f"no end after {SECONDS} s", 124
    found = SUMMARY.findall(output)
    if code == 0 and found and all(int(count) == 0 for count in found):
        suite.passed += 1
        return
    suite.failures.append(f"{tool} {label}")
    print(f"FAIL {tool} {label}: exit {code}\n" + "\n".join("  " + line for line in output.splitlines()[:25]))


def main():
    os.chdir(ROOT)
    suite = Suite()
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=":".join(PLACES))
    if not sanitizer:
        print("0 passed, 0 failed, 1 skipped: no compute-sanitizer on this machine")
        sys.exit(SKIPPED)
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    tools = sys.argv[3].split(",") if len(sys.argv) > 3 else TOOLS
    work = [(tool, f"{path.parent.name} {problem}",
             ["run", f"recipes/{path.parent.name}", "--device", "cuda:0", "-D", problem])
            for path in sorted((ROOT / "recipes").glob("*/recipe.yaml")) if only in path.parent.name
            for problem in problems(path.read_text()) for tool in tools]
    with concurrent.futures.ThreadPoolExecutor(min(12, os.cpu_count() or 1)) as pool:
        list(pool.map(lambda one: check(suite, sanitizer, *one), work))
    suite.finish()


if __name__ == "__main__":
    main()
