"""What the GPU tests share: running the tool, skipping without a GPU, counting."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SECONDS = float(os.environ.get("TILEC_GPU_TEST_SECONDS", "120"))  # for one call of the tool


class Suite:
    """Runs checks with the tool under test and ends the process with the verdict."""

    def __init__(self):
        self.tilec = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/tilec")
        self.passed, self.failures = 0, []
        self.folder = tempfile.TemporaryDirectory(prefix="tilec-gpu-")
        info = json.loads(subprocess.run([self.tilec, "info", "--json"], capture_output=True, text=True).stdout)
        if not info["devices"]:
            print("0 passed, 0 failed, 1 skipped: no GPU on this machine")
            sys.exit(SKIPPED)
        self.device = info["devices"][0]
        print(f"{self.device['name']}, {self.device['arch']}, driver {self.device.get('driver', '?')}")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, *arguments):
        """One call of the tool; one that hangs ends with exit code 124."""
        command = [self.tilec, *map(str, arguments)]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"no end after {SECONDS} s\n")

    def run(self, label, *arguments, expect=0):
        """One call of the tool; anything but the expected exit code is a failure with its output."""
        done = self.call(*arguments)
        if done.returncode == expect:
            self.passed += 1
        else:
            self.failures.append(label)
            print(f"FAIL {label}: exit {done.returncode}: tilec {' '.join(map(str, arguments))}")
            print("\n".join("  " + line for line in (done.stdout + done.stderr).splitlines()[:40]))
        return done

    def run_all(self, calls):
        """Calls of run(), given as (label, arguments), several at once: most of a call is compilation."""
        with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            list(pool.map(lambda call: self.run(call[0], *call[1]), calls))

    def finish(self):
        for label in self.failures:
            print("failed:", label)
        print(f"{self.passed} passed, {len(self.failures)} failed")
        sys.exit(1 if self.failures else 0)
