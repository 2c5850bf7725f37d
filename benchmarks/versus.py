#!/usr/bin/env python3
"""tilec against PyTorch and Triton on one GPU, all in one loop. README.md says how to read the figures.

usage: versus.py [--only NAMES] [--tilec PATH] [--cache DIR] [--rounds N] [--out FILE] | --self-test [CUBIN…]

For each row `tilec tune` finds a configuration, `tilec build --tuned` writes a cubin, and the cubin is launched from its
JSON through the CUDA driver, in turns with the peers. Exit code 1: a row failed.
"""
import argparse
import datetime
import json
import lzma
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from stats import compare, spread, verdict  # noqa: E402

TUNE_SECONDS, BUILD_SECONDS = 300, 60
TUNE_ROUNDS = 12  # for each of Triton's configurations
MODES = ("cool", "sustained")
LARGE = 200_000_000  # bytes of a row whose time is held against that of a copy


def say(text=""):
    print(text, flush=True)


def command_output(*command):
    """Standard output of a command, stripped; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


# ---------------------------------------------------------------------------------------------------------- tilec
class Tool:
    """The tilec binary, unpacked where it came compressed, with a cache of its own."""

    def __init__(self, path, cache, folder):
        self.folder = pathlib.Path(folder)
        if path.endswith(".xz"):
            unpacked = self.folder / "tilec"
            with lzma.open(path) as source, open(unpacked, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            unpacked.chmod(0o755)
            path = str(unpacked)
        self.path = os.path.abspath(path)
        cache = os.path.abspath(cache or self.folder / "cache")
        os.makedirs(cache, mode=0o700, exist_ok=True)
        self.environment = {**os.environ, "TILEC_CACHE_DIR": cache, "NO_COLOR": "1"}

    def run(self, *arguments, timeout):
        done = subprocess.run([self.path, *arguments], cwd=ROOT, env=self.environment, capture_output=True, text=True,
                              timeout=timeout)
        return done.returncode, (done.stdout + done.stderr).strip()

    def build(self, row):
        """Tunes for the row's problem and builds the winner. Returns the path of the cubin and what was said."""
        recipe = f"recipes/{row.recipe}"
        axes = [argument for axis in row.axes for argument in ("--set", axis)]
        code, text = self.run("tune", recipe, "--problem", row.problem_text(), *axes, timeout=TUNE_SECONDS)
        if code:
            say(f"  tilec tune: exit {code}\n" + indent(text))
        counts = [line for line in text.splitlines() if " configurations: " in line and " failed" in line]
        cubin = str(self.folder / f"{row.name.replace('^', '')}.cubin")
        code, text = self.run("build", recipe, "--tuned", "--problem", row.problem_text(), "-o", cubin,
                              timeout=BUILD_SECONDS)
        if code:
            raise RuntimeError(f"tilec build: exit {code}: {text}")
        tuned = [line for line in text.splitlines() if line.startswith("tuned: ")]
        return cubin, "; ".join(counts[-1:] + tuned)


def indent(text, lines=30):
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


# ---------------------------------------------------------------------------------------------------------- a row
def error_of(torch, row, got, reference):
    """(relative Frobenius error, whether it passes). Poison that was left makes it NaN, which never passes."""
    from peers import TOLERANCES
    error = ((got.double() - reference).norm() / reference.norm()).item()
    good = error <= TOLERANCES[row.dtype]
    if row.exact:
        good = torch.equal(got, reference.to(got.dtype))
    return error, good


class Measurement:
    """One row on one GPU: makes inputs, checks everybody, races them."""

    def __init__(self, torch, harness, row, cubin, rounds):
        from driver import Operation
        from plan import DTYPES, Plan
        self.torch, self.harness, self.row, self.rounds = torch, harness, row, rounds
        self.errors, self.failures = {}, {}
        self.copied = []
        dtype = getattr(torch, DTYPES[row.dtype][1])
        self.out, extents = row.output
        with torch.cuda.stream(harness.stream):
            self.tensors = {n: torch.randn(row.shape(e), device="cuda", dtype=dtype) for n, e in row.inputs.items()}
            self.tensors[self.out] = torch.empty(row.shape(extents), device="cuda", dtype=dtype)
            for name, (more, kind) in row.more_outputs.items():
                self.tensors[name] = torch.empty(row.shape(more), device="cuda", dtype=getattr(torch, DTYPES[kind][1]))
            self.reference = row.reference(self.tensors)

        def allocate(size):
            memory = torch.empty(size, dtype=torch.uint8, device="cuda")
            return memory, memory.data_ptr()

        self.plan = Plan.read(cubin)
        scalars = {s["name"]: row.problem[s["name"]] for s in self.plan.data["scalars"]}
        self.operation = Operation(harness.driver, self.plan, self.tensors, scalars, allocate)
        stream = harness.stream.cuda_stream
        self.ours = lambda: self.operation.enqueue(stream)

    def check(self, name, call):
        with self.torch.cuda.stream(self.harness.stream):
            out = self.tensors[self.out]
            out.fill_(float("nan"))
            result = call()
            got = result if isinstance(result, self.torch.Tensor) else out
            self.errors[name], good = error_of(self.torch, self.row, got, self.reference)
        if not good:
            raise RuntimeError(f"the output of {name} is wrong: relative error {self.errors[name]:.3g}")

    def tune_triton(self):
        """The fastest of Triton's configurations: (configuration, call)."""
        calls = {}
        for configuration in self.row.configurations:
            label = ",".join(f"{k}={v}" for k, v in configuration.items())
            try:
                call = self.row.triton(self.tensors, configuration)
                with self.torch.cuda.stream(self.harness.stream):
                    call()
                self.harness.stream.synchronize()
                calls[label] = call
            except Exception as error:  # a configuration that does not fit is none of ours to judge
                say(f"  Triton {label}: {str(error)[:200]}")
        if not calls:
            raise RuntimeError("none of Triton's configurations runs")
        times = self.harness.race(calls, TUNE_ROUNDS)
        best = min(calls, key=lambda label: statistics.median(times[label]))
        return best, calls[best]

    def peers(self):
        """Calls of the peers that run and are right; the reasons of the others go into `failures`."""
        calls, self.triton_configuration = {}, None
        for name in ("torch", "triton"):
            try:
                if name == "torch":
                    call = lambda: self.row.torch(self.tensors)
                else:
                    self.triton_configuration, call = self.tune_triton()
                self.check(name, call)
                calls[name] = call
            except Exception as error:
                self.failures[name] = f"{type(error).__name__}: {error}"
                say(f"  {name}: {self.failures[name][:300]}")
        if not calls:
            raise RuntimeError(f"no peer runs: {self.failures}")
        return calls

    def copy(self):
        """A copy that moves as many bytes as the row, half read and half written, where those are many."""
        if self.row.bytes < LARGE or not self.row.is_bound_by_memory:
            return {}
        if not self.copied:
            self.copied = [self.torch.empty(self.row.bytes // 2, dtype=self.torch.uint8, device="cuda") for _ in range(2)]
        to, source = self.copied
        return {"copy": lambda: to.copy_(source)}

    def run(self):
        self.check("ours", self.ours)
        calls = self.peers()
        self.reference = None
        late = self.harness.late
        results = {}
        for mode in MODES:
            self.harness.warm()
            raced = {"ours": self.ours, "ours again": self.ours, **calls, **self.copy()}
            results[mode] = summarize(self.harness.race(raced, self.rounds, mode))
        # What was timed last is still right.
        self.check_again()
        launch = self.plan.launches[0]
        cool = results["cool"]
        return {
            "name": self.row.name, **cool,
            "gb_per_s": self.row.bytes / cool["ours_ms"] / 1e6,
            "sustained": results["sustained"],
            "relative_errors": self.errors, "failures": self.failures,
            "configuration": {**self.plan.data["provenance"]["parameters"], **launch["hints"]},
            "registers": launch["resources"]["registers"],
            "cubin_sha256": self.plan.data["binaries"][0]["sha256"],
            "tilec": self.plan.data["provenance"]["tool_version"],
            "triton_configuration": self.triton_configuration,
            "rounds": self.rounds, "late_samples": self.harness.late - late,
        }

    def check_again(self):
        with self.torch.cuda.stream(self.harness.stream):
            self.reference = self.row.reference(self.tensors)
        self.check("ours", self.ours)


def summarize(times):
    """What one race says: medians, and the best peer against ours with the A/A spread beside it."""
    medians = {name: statistics.median(t) for name, t in times.items()}
    peers = {name: ms for name, ms in medians.items() if not name.startswith("ours") and name != "copy"}
    best = min(peers, key=peers.get)
    against = compare(times[best], times["ours"])
    width = spread(times["ours"], times["ours again"])
    of_copy = {"of_copy": compare(times["copy"], times["ours"])["ratio"]} if "copy" in times else {}
    return {"ours_ms": medians["ours"], "peers": peers, **of_copy, "speed": against["ratio"], "best_peer": best,
            "interval": against["interval"], "aa_spread": width, "verdict": verdict(against, width)}


def line(name, mode, r):
    low, high = r["interval"]
    peers = "  ".join(f"{peer} {ms:8.4f}" for peer, ms in r["peers"].items())
    return (f"{name:26} {mode:9}  ours {r['ours_ms']:8.4f}  {peers}  {r['best_peer']}/ours {r['speed']:.3f} "
            f"[{low:.3f}, {high:.3f}]  A/A ±{r['aa_spread'] * 100:.1f} %  {r['verdict']}"
            + (f"  {r['of_copy']:.3f} of a copy" if "of_copy" in r else ""))


# ------------------------------------------------------------------------------------------------------------ all
def environment(torch, harness, commit):
    import triton
    driver = command_output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return {
        "commit": commit or command_output("git", "rev-parse", "HEAD") or "unknown",
        "gpu": torch.cuda.get_device_name(0),
        "driver": driver.splitlines()[0] if driver else "unknown",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "torch": torch.__version__, "triton": triton.__version__, "cuda": torch.version.cuda,
        "flush_bytes": harness.flush_bytes, "method": harness.method,
        # File names alone: where they lie is no part of what was measured.
        "command": " ".join(a if a == sys.argv[0] else os.path.basename(a) for a in sys.argv),
    }


def compare_all(options, rows, folder):
    start = time.monotonic()
    clock = lambda: f"[{time.monotonic() - start:.0f} s]"
    tool = Tool(options.tilec, options.cache, folder)
    built, said = {}, {}
    for row in rows:  # before torch takes the GPU
        try:
            built[row.name], said[row.name] = tool.build(row)
            say(f"{row.name}: {said[row.name]} {clock()}")
        except Exception as error:
            built[row.name] = error
            say(f"{row.name}: {error} {clock()}")

    import torch
    from driver import Driver
    from harness import Harness
    torch.manual_seed(options.seed)
    torch.zeros(1, device="cuda")  # makes torch's primary context current
    harness = Harness(torch, Driver())
    report = {**environment(torch, harness, options.commit), "rows": []}
    say(f"{report['gpu']}, driver {report['driver']}, torch {report['torch']}, triton {report['triton']}, "
        f"{report['method']}, flush {harness.flush_bytes >> 20} MiB in {harness.flush_ms * 1e3:.0f} µs {clock()}")
    for row in rows:
        measurement = None
        try:
            if isinstance(built[row.name], Exception):
                raise built[row.name]
            measurement = Measurement(torch, harness, row, built[row.name], options.rounds)
            result = {**measurement.run(), "tuned": said[row.name]}
            for mode, values in zip(MODES, (result, result["sustained"])):
                say(line(row.name, mode, values))
            say(f"  errors {', '.join(f'{n} {e:.2g}' for n, e in result['relative_errors'].items())}; "
                f"{result['gb_per_s']:.0f} GB/s; {describe(result['configuration'])}; "
                f"Triton {result['triton_configuration']}; {result['late_samples']} late {clock()}")
        except Exception as error:
            result = {"name": row.name, "error": f"{type(error).__name__}: {error}",
                      "relative_errors": measurement.errors if measurement else {}}
            say(f"{row.name}: FAILED {clock()}\n" + indent(traceback.format_exc()))
        report["rows"].append(result)
        with open(options.out, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)
            f.write("\n")
        measurement = None
        try:
            torch.cuda.empty_cache()
        except RuntimeError as error:  # a fault of this row that all that follow will report as well
            say(f"  {error}")

    say()
    for result in report["rows"]:
        say(line(result["name"], "cool", result) if "speed" in result else f"{result['name']:26} FAILED")
    say(f"{options.out} {clock()}")
    return 1 if any("error" in r for r in report["rows"]) else 0


def describe(configuration):
    return " ".join(f"{k}={v['dtype'] if isinstance(v, dict) else v}" for k, v in configuration.items())


def main():
    parser = argparse.ArgumentParser(description="tilec against PyTorch and Triton, in one loop")
    parser.add_argument("--only", default="", help="rows whose names hold one of these, separated by commas")
    parser.add_argument("--tilec", default=str(ROOT / "build/tilec"), help="the tool; may be compressed (.xz)")
    parser.add_argument("--cache", default="", help="folder of tilec's cache; a fresh one by default")
    parser.add_argument("--rounds", type=int, default=100, help="samples of each side, in each mode")
    parser.add_argument("--out", default="versus.json", help="where the figures go")
    parser.add_argument("--commit", default="", help="what was built, where git does not know")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    parser.add_argument("--self-test", nargs="*", metavar="CUBIN", help="check what needs no GPU, with these as well")
    options = parser.parse_args()
    if options.self_test is not None:
        import self_test
        return self_test.main(options.self_test)
    from peers import ROWS
    rows = [r for r in ROWS if any(part in r.name for part in options.only.split(","))]
    if not rows:
        parser.error(f"no row is called '{options.only}'; there are {', '.join(r.name for r in ROWS)}")
    if not os.path.exists(options.tilec):
        parser.error(f"there is no {options.tilec}: build it, or name it with --tilec")
    os.makedirs(os.path.dirname(os.path.abspath(options.out)), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tilec-versus-") as folder:
        return compare_all(options, rows, folder)


if __name__ == "__main__":
    sys.exit(main())
