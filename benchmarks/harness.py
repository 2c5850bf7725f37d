"""The timing loop: several calls raced against each other on one stream, round by round in shuffled order.

A sample is: L2 flushed by reading three times its size, then event, call, event. Before the pair runs work that keeps
the GPU busy while the host enqueues the pair, so that no host time lies in it; a pair that the GPU reached before the
host was done is `late`, and is measured again. Flush and spin are the kernels of `tilec tune`.
"""
import gc
import math
import pathlib
import random
import re
import time

from driver import L2_BYTES, DriverError

HIDE_CYCLES = 400_000  # about 0.2 ms: a launch from Python takes a tenth of that
MAX_HIDE_CYCLES = 6_400_000
HIDE_MS = 0.2
IDLE_LENGTHS, MIN_IDLE_MS, MAX_IDLE_MS = 3, 0.05, 20
RETRIES = 5
BATCH = 8  # rounds that sustained mode enqueues before it waits
WARMUPS = 3

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "runtime/timing_kernels.h"


def timing_ptx():
    """The PTX text in runtime/timing_kernels.h."""
    text = KERNELS.read_text(encoding="utf-8")
    arch = re.search(r"timingKernelArch = (\d+)", text).group(1)
    body = re.search(r'R"\((.*?)\)"', text, re.DOTALL).group(1)
    return f".version 7.0\n.target sm_{arch}\n{body}"


class Harness:
    def __init__(self, torch, driver):
        self.torch, self.driver = torch, driver
        self.stream = torch.cuda.Stream()
        self.late = 0
        self.hide_cycles = HIDE_CYCLES
        self.flush_bytes = max(3 * driver.attribute(L2_BYTES), 16 << 20) // 16 * 16
        with torch.cuda.stream(self.stream):
            self.memory = torch.randint(0, 1 << 30, (self.flush_bytes // 4,), dtype=torch.int32, device="cuda")
            self.sink = torch.zeros(2, dtype=torch.int64, device="cuda")
        self._load_kernels()
        self.warm()
        begin, end = self._events()
        begin.record(self.stream)
        for _ in range(10):
            self.flush()
        end.record(self.stream)
        self.stream.synchronize()
        self.flush_ms = begin.elapsed_time(end) / 10
        self.flushes = max(math.ceil(HIDE_MS / self.flush_ms), 1)

    def _load_kernels(self):
        try:
            module = self.driver.load(timing_ptx().encode())
        except DriverError as error:  # a driver without its compiler
            self.method = f"torch ({error})"
            self.flush = lambda: self.memory.sum()
            self.spin = self.torch.cuda._sleep
            return
        self.method = "read-flush and spin of tilec"
        u64 = lambda v: v.to_bytes(8, "little")
        plain = {"cluster": [1, 1, 1], "dynamic_shared_bytes": 0, "dependent_launch": False}
        flush = self.driver.prepare(
            self.driver.function(module, "tilec_read_flush"), [2 * self.driver.multiprocessors, 1, 1],
            {**plain, "threads": 1024},
            [u64(self.memory.data_ptr()), u64(self.flush_bytes // 16), u64(self.sink.data_ptr())])
        self.flush = lambda: flush(self.stream.cuda_stream)
        spinner = self.driver.function(module, "tilec_spin")
        prepared = {}

        def spin(cycles):
            if cycles not in prepared:
                prepared[cycles] = self.driver.prepare(spinner, [1, 1, 1], {**plain, "threads": 1},
                                                       [u64(cycles), u64(self.sink.data_ptr())])
            prepared[cycles](self.stream.cuda_stream)

        self.spin = spin

    def _events(self):
        return self.torch.cuda.Event(enable_timing=True), self.torch.cuda.Event(enable_timing=True)

    def warm(self, milliseconds=200):
        """Keeps the GPU busy, so that the first sample finds the clock where the last one does."""
        start = time.perf_counter()
        with self.torch.cuda.stream(self.stream):
            while (time.perf_counter() - start) * 1e3 < milliseconds:
                for _ in range(16):
                    self.flush()
                self.stream.synchronize()

    def _pair(self, call):
        begin, end = self._events()
        begin.record(self.stream)
        call()
        end.record(self.stream)
        return begin, end, begin.query()

    def _cool_sample(self, call, idle_ms):
        for attempt in range(RETRIES + 1):
            self.stream.synchronize()
            time.sleep(idle_ms / 1e3)
            self.spin(self.hide_cycles)
            self.flush()
            begin, end, late = self._pair(call)
            end.synchronize()
            if not late:
                break
            self.hide_cycles = min(2 * self.hide_cycles, MAX_HIDE_CYCLES)
        self.late += late
        return begin.elapsed_time(end)

    def race(self, calls, rounds, mode="cool", seed=0):
        """Times of each call in ms, {name: [one of each round]}. `cool`: idle for a few lengths of the longest call
        before each sample. `sustained`: the GPU is never left without work."""
        rng = random.Random(seed)
        times = {name: [] for name in calls}
        names = list(calls)
        collect = gc.isenabled()
        gc.disable()
        try:
            with self.torch.cuda.stream(self.stream):
                longest = max(self._cool_sample(calls[n], MIN_IDLE_MS) for n in names for _ in range(WARMUPS))
                if mode == "cool":
                    idle = min(max(IDLE_LENGTHS * longest, MIN_IDLE_MS), MAX_IDLE_MS)
                    for _ in range(rounds):
                        rng.shuffle(names)
                        for name in names:
                            times[name].append(self._cool_sample(calls[name], idle))
                else:
                    self._sustained(calls, rounds, names, rng, times)
        finally:
            if collect:
                gc.enable()
        return times

    def _sustained(self, calls, rounds, names, rng, times):
        budget = 2 * rounds  # a round with a late pair is dropped, but not for ever
        flushes = self.flushes
        self._batch(calls, names, rng, BATCH, flushes)
        done = 0
        while done < rounds:
            batch = self._batch(calls, names, rng, min(BATCH, rounds - done), flushes)
            for pairs in batch:
                late = any(p[2] for p in pairs.values())
                budget -= 1
                if late and budget > 0:
                    continue
                self.late += late
                for name, (begin, end, _) in pairs.items():
                    times[name].append(begin.elapsed_time(end))
                done += 1
            if any(p[2] for pairs in batch for p in pairs.values()):
                flushes = min(2 * flushes, 16 * self.flushes)

    def _batch(self, calls, names, rng, rounds, flushes):
        batch = []
        for _ in range(rounds):
            rng.shuffle(names)
            pairs = {}
            for name in names:
                for _ in range(flushes):
                    self.flush()
                pairs[name] = self._pair(calls[name])
            batch.append(pairs)
        self.stream.synchronize()
        return batch
