#!/usr/bin/env python3
"""compute-sanitizer finds nothing in any recipe on its `check` problems: memcheck, racecheck, synccheck, initcheck.

usage: test_sanitizer.py TILEC [RECIPE [TOOL,…]]
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from common import ROOT, SECONDS, SKIPPED, WORKERS, Suite
from test_recipes import problems

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)")
PLACES = ("/usr/local/cuda/bin",)


def check(suite, sanitizer, tool, recipe, texts):
    """All problems of a recipe in one process under one checker: every run has to end well, and none to be reported."""
    log = pathlib.Path(suite.path(f"{recipe}.{tool}.log"))
    calls = [["run", f"recipes/{recipe}", "--device", "cuda:0", "-D", text] for text in texts]
    command = [sanitizer, "--tool", tool, "--log-file", str(log), suite.tilec, "__batch"]
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=SECONDS * 4)
        answers, code = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.returncode
    except subprocess.TimeoutExpired:
        answers, code = [], 124
    output = log.read_text(errors="replace") if log.exists() else ""
    found = SUMMARY.findall(output)
    bad = [(text, answer) for text, answer in zip(texts, answers) if answer["code"]]
    if code == 0 and len(answers) == len(texts) and not bad and found and all(int(count) == 0 for count in found):
        suite.passed += len(texts)
        return
    suite.failures.append(f"{tool} {recipe}")
    print(f"FAIL {tool} {recipe}: exit {code}, {len(answers)} of {len(texts)} answered")
    for text, answer in bad[:3]:
        print(f"  {text}: exit {answer['code']}: {(answer['out'] + answer['err'])[:500]}")
    print("\n".join("  " + line for line in output.splitlines()[:25]))


def main():
    os.chdir(ROOT)
    suite = Suite()
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=":".join(PLACES))
    if not sanitizer:
        print("0 passed, 0 failed, 1 skipped: no compute-sanitizer on this machine")
        sys.exit(SKIPPED)
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    tools = sys.argv[3].split(",") if len(sys.argv) > 3 else TOOLS
    work = [(tool, path.parent.name, list(problems(path.read_text())))
            for path in sorted((ROOT / "recipes").glob("*/recipe.yaml")) if only in path.parent.name for tool in tools]
    work.sort(key=lambda one: -len(one[2]))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda one: check(suite, sanitizer, *one), work))
    suite.finish()


if __name__ == "__main__":
    main()
