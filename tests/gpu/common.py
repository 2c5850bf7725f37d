"""What the GPU tests share: running the tool, skipping without a GPU, counting."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
WORKERS = min(14, os.cpu_count() or 1)
SECONDS = float(os.environ.get("TILEC_GPU_TEST_SECONDS", "120"))  # for one call of the tool


class Server:
    """`tilec __batch`: calls one after another in one process, which keeps its CUDA context between them."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def call(self, arguments, seconds):
        """The answer, or nothing where the process died or gave none in time."""
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            return json.loads(line) if line else None
        except (OSError, ValueError):
            return None
        finally:
            timer.cancel()

    def end(self):
        self.process.kill()
        return self.process.wait()


class Suite:
    """Runs checks with the tool under test and ends the process with the verdict."""

    wrapper = ()  # a command that the tool runs under

    def __init__(self):
        self.tilec = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/tilec")
        self.passed, self.failures = 0, []
        self.local = threading.local()
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
        """One call of the tool, in a process that has served others; one that hangs ends with exit code 124."""
        command = [self.tilec, *map(str, arguments)]
        server = getattr(self.local, "server", None)
        if not server:
            server = self.local.server = Server([*self.wrapper, self.tilec, "__batch"])
        answer = server.call(command[1:], SECONDS)
        if answer is None or answer["code"]:  # a fault of the device stays with the process
            code = server.end()
            self.local.server = None
            answer = answer or {"code": 124, "out": "", "err": f"no answer in {SECONDS} s, or ended with {code}\n"}
        return subprocess.CompletedProcess(command, answer["code"], answer["out"], answer["err"])

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
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda call: self.run(call[0], *call[1]), calls))

    def finish(self):
        for label in self.failures:
            print("failed:", label)
        print(f"{self.passed} passed, {len(self.failures)} failed")
        sys.exit(1 if self.failures else 0)
