"""Tests of what needs no GPU: reading launch plans, encoding parameters, preparing launches, statistics, the rows."""
import ctypes
import hashlib
import math
import random
import struct
import sys
import traceback
import types

import driver
import harness
import peers
import plan
import stats
import versus

ROOT = versus.ROOT
S = lambda name: {"symbol": name}


def raises(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def launch_of(params, **fields):
    return {"entry": "k", "binary": 0, "params": params, "grid": [["CDiv", S("N"), 4], 1, 1], "threads": 64,
            "dynamic_shared_bytes": 32, "cluster": [1, 1, 1], "persistent": False, "dependent_launch": False, **fields}


def plan_of(launches, **fields):
    array = lambda name, mode: {"name": name, "mode": mode, "dtype": "f32", "extents": [S("N"), S("C")], "strides": [],
                                "align": 16}
    binary = b"\x7fELF"
    data = {"format": "tilec-artifact", "version": 1, "name": "k", "arch": "sm_90a",
            "arrays": [array("x", "in"), array("y", "out")], "temporaries": [], "scalars": [], "symbols": ["N", "C"],
            "folded": {}, "lets": [], "requirements": [], "launches": launches,
            "binaries": [{"bytes": 4, "sha256": hashlib.sha256(binary).hexdigest()}], **fields}
    return plan.Plan(data, [binary])


class Tensor:
    def __init__(self, address, shape, dtype="torch.float32", contiguous=True):
        self.address, self.shape, self.dtype, self.contiguous = address, shape, dtype, contiguous

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return self.contiguous


class RecordingDriver(driver.Driver):
    """A driver without a GPU: keeps what it is asked to do."""

    def __init__(self):
        self.multiprocessors, self.calls, self.maps = 132, [], []
        self.cuda = types.SimpleNamespace()

    def __call__(self, name, *args):
        self.calls.append(name)
        if name == "cuModuleLoadData":
            args[0]._obj.value = 7
        elif name == "cuModuleGetFunction":
            args[0]._obj.value = 8
        elif name.startswith("cuOccupancy"):
            args[0]._obj.value = 2
        elif name == "cuTensorMapEncodeTiled":
            self.maps.append([list(a) if isinstance(a, ctypes.Array) else getattr(a, "value", a) for a in args[1:]])
        elif name == "cuLaunchKernelEx":
            self.launched, self.params = args[0]._obj, args[2]


def value_at(pointer, size):
    return int.from_bytes(ctypes.string_at(pointer, size), "little")


# ---------------------------------------------------------------------------------------------------------- tests
def test_expressions():
    env = {"M": 1000, "b": True, ("arch",): "sm_90", ("num_sms",): 132, ("resident_blocks",): 264}
    for expr, wanted in [
        (["CDiv", S("M"), 128], 8), (["Div", -7, 2], -4), (["Mod", -7, 2], 1), (["TruncDiv", -7, 2], -3),
        (["TruncMod", -7, 2], -1), (["CDiv", -7, 2], -3), (["NextPow2", S("M")], 1024), (["NextPow2", 0], 1),
        (["NextPow2", 1024], 1024), (["PrevPow2", S("M")], 512), (["ILog2", 1024], 10), (["IsPow2", S("M")], False),
        (["Select", S("b"), 1, ["Div", 1, 0]], 1), (["Or", True, ["Div", 1, 0]], True), (["Not", S("b")], False),
        (["And", False, ["Div", 1, 0]], False), (["ByArch", "sm_80", 1, "sm_90", 2, "default", 3], 2),
        (["ByArch", "sm_80", 1, "default", 3], 3), (["NumSms"], 132), (["Min", ["ResidentBlocks"], S("M")], 264),
        (["Bits", {"dtype": "bf16"}], 16), (["Eq", {"dtype": "f32"}, {"dtype": "f32"}], True),
        ({"float": "-inf"}, -math.inf),
        (["Pow", 2, 40], 2**40), (["Add", 1.5, 1], 2.5), (["BitNot", 5], -6), (["Shr", -1, 3], -1),
    ]:
        got = plan.evaluate(expr, env)
        assert got == wanted and type(got) is type(wanted), (expr, got)
    raises(plan.PlanError, plan.evaluate, S("K"), env)
    raises(plan.PlanError, plan.evaluate, ["Frobnicate", 1], env)
    # Every operator that the compiler knows is known here.
    table = (ROOT / "compiler/artifact/launch_ops.def").read_text(encoding="utf-8")
    names = {r.split("(")[1].split(",")[0] for r in table.splitlines() if r.startswith("LAUNCH_OP(")}
    special = {"Literal", "Symbol", "NumSms", "ResidentBlocks", "ByArch", "And", "Or", "Select"}
    assert names == special | set(plan.OPERATORS), names ^ (special | set(plan.OPERATORS))


def test_parameters():
    for value, dtype, wanted in [
        (-2, "i32", b"\xfe\xff\xff\xff"), (2**31 - 1, "i32", b"\xff\xff\xff\x7f"),
        (2**63 - 1, "i64", b"\xff" * 7 + b"\x7f"),
        (255, "u8", b"\xff"), (1.0, "f32", b"\x00\x00\x80\x3f"), (3, "f32", struct.pack("<f", 3)),
        (1.0, "bf16", b"\x80\x3f"), (1.0, "f16", b"\x00\x3c"), (True, "bool", b"\x01"),
        (1e-6, "f64", struct.pack("<d", 1e-6)),
        (1.00390625, "bf16", b"\x80\x3f"), (1.01171875, "bf16", b"\x82\x3f"),  # ties go to even
    ]:
        assert plan.encode_value(value, dtype) == wanted, (value, dtype)
    for value, dtype in [(2**31, "i32"), (-1, "u32"), (1.5, "i32"), (2, "bool"), (True, "i32"), (1, "f8e4m3")]:
        raises(plan.PlanError, plan.encode_value, value, dtype)


def test_plan():
    p = plan_of([], folded={"C": 8}, lets=[{"name": "rows", "value": ["Mul", S("N"), 2]}],
                requirements=[{"expr": ["Ge", S("rows"), 6], "text": "rows >= 6"}])
    env = p.bind({"x": (3, 8), "y": (3, 8)})
    assert env["N"] == 3 and env["rows"] == 6 and env["x.stride(0)"] == 8 and env["y.shape(1)"] == 8
    for shapes in ({"x": (3, 9), "y": (3, 9)}, {"x": (3, 8), "y": (4, 8)}, {"x": (2, 8), "y": (2, 8)}, {"x": (3, 8)},
                   {"x": (3,), "y": (3, 8)}):
        raises(plan.PlanError, p.bind, shapes)
    raises(plan.PlanError, plan.Plan, p.data, [b"other"])
    raises(plan.PlanError, plan.Plan, {**p.data, "version": 2}, p.binaries)


def test_launch():
    params = [{"kind": "array", "array": "x", "value": 0, "dtype": "f32", "map": None},
              {"kind": "array", "array": "y", "value": 0, "dtype": "f32", "map": None},
              {"kind": "value", "array": "", "value": S("C"), "dtype": "i32", "map": None},
              {"kind": "counter", "array": "", "value": 4, "dtype": "i32", "map": None},
              {"kind": "tensor_map", "array": "", "value": 0, "dtype": "f32",
               "map": {"array": "x", "axes": [1, 0], "box": [32, 64], "element_strides": [1, 1], "swizzle_bytes": 128,
                       "nan_fill": False, "l2_promotion_bytes": 256}}]
    d = RecordingDriver()
    arrays = {"x": Tensor(1 << 40, (10, 64)), "y": Tensor(1 << 41, (10, 64))}
    operation = driver.Operation(d, plan_of([launch_of(params)]), arrays, allocate=lambda n: (None, 1 << 20))
    d.calls.clear()
    operation.enqueue(5)
    assert d.calls == ["cuMemsetD8Async", "cuLaunchKernelEx"], d.calls
    assert list(d.launched.grid) == [3, 1, 1] and list(d.launched.block) == [64, 1, 1], "geometry"
    assert d.launched.shared == 32 and d.launched.stream == 5 and d.launched.count == 0
    assert [value_at(d.params[i], 8) for i in (0, 1, 3)] == [1 << 40, 1 << 41, 1 << 20]
    assert value_at(d.params[2], 4) == 64 and d.params[4] % 64 == 0
    assert d.maps == [[7, 2, 1 << 40, [64, 10, 0, 0, 0], [256, 0, 0, 0, 0], [32, 64, 0, 0, 0], [1, 1, 0, 0, 0],
                       0, 3, 3, 0]]
    # The layout of the driver's structures.
    assert ctypes.sizeof(driver.LaunchAttribute) == 72 and driver.LaunchAttribute.value.offset == 8
    assert ctypes.sizeof(driver.LaunchConfig) == 56 and driver.LaunchConfig.stream.offset == 32

    cluster = driver.Operation(d, plan_of([launch_of(params[:2], cluster=[2, 1, 1], dependent_launch=True)]), arrays)
    cluster.enqueue(0)
    assert list(d.launched.grid) == [6, 1, 1] and d.launched.count == 2
    assert d.launched.attributes[0].id == 4 and list(d.launched.attributes[0].value)[:3] == [2, 1, 1]
    assert d.launched.attributes[1].id == 6 and d.launched.attributes[1].value[0] == 1
    many = {"x": Tensor(1 << 40, (4000, 64)), "y": Tensor(1 << 41, (4000, 64))}
    driver.Operation(d, plan_of([launch_of(params[:2], persistent=True)]), many).enqueue(0)
    assert list(d.launched.grid) == [264, 1, 1]
    for bad in (Tensor(1 << 40, (10, 64), "torch.float16"), Tensor((1 << 40) + 4, (10, 64)),
                Tensor(1 << 40, (10, 64), contiguous=False)):
        raises(plan.PlanError, driver.Operation, d, plan_of([launch_of(params[:2])]), {**arrays, "x": bad})


def test_statistics():
    rng = random.Random(1)
    noise = lambda: 1 + rng.gauss(0, 0.002)
    drift = [1 + i / 100 for i in range(60)]  # a common drift falls out of paired ratios
    ours, again = ([d * noise() for d in drift] for _ in range(2))
    slow, same = [d * 1.05 * noise() for d in drift], [d * noise() for d in drift]
    width = stats.spread(ours, again)
    assert 0 < width < 0.004, width
    twice, half = [2 * t for t in ours], [t / 2 for t in ours]
    for other, wanted in ((slow, "faster"), (same, "tie"), (twice, "faster"), (half, "slower")):
        assert stats.verdict(stats.compare(other, ours), width) == wanted, wanted
    c = stats.compare(slow, ours)
    assert abs(c["ratio"] - 1.05) < 0.003 and c["interval"][0] <= c["ratio"] <= c["interval"][1]
    assert c == stats.compare(slow, ours), "intervals repeat"
    raises(ValueError, stats.compare, [1.0], [0.0])
    raises(ValueError, stats.compare, [1.0], [])
    raises(ValueError, stats.compare, [math.nan], [1.0])
    s = versus.summarize({"ours": ours, "ours again": again, "torch": slow, "triton": same})
    assert s["best_peer"] == "triton" and s["verdict"] == "tie" and set(s["peers"]) == {"torch", "triton"}
    assert versus.line("row", "cool", s).endswith("tie")


def test_rows():
    assert len({r.name for r in peers.ROWS}) == len(peers.ROWS)
    for row in peers.ROWS:
        assert (ROOT / "recipes" / row.recipe / "kernel.tile").is_file(), row.recipe
        arrays = [*row.inputs.values(), row.output[1]]
        moved = sum(math.prod(row.shape(extents)) for extents in arrays) * peers.BITS[row.dtype] // 8
        assert moved == row.bytes and row.dtype in peers.TOLERANCES and row.configurations, row.name
        assert row.problem.get("T", "f32") == row.dtype
    assert peers.ROWS[0].problem_text() == "N=268435456,T=f32"


def test_timing_kernels():
    text = harness.timing_ptx()
    assert text.startswith(".version") and ".entry tilec_read_flush(" in text and ".entry tilec_spin(" in text
    assert text.count("{") == text.count("}")


def check_artifact(path):
    """An artifact of a tool at hand can be bound and launched, as far as that goes without a GPU."""
    p = plan.Plan.read(path)
    extents = {s: p.data["folded"].get(s, 1024) for s in p.data["symbols"]}
    arrays = {}
    for i, (name, spec) in enumerate(p.arrays.items(), start=1):
        shape = tuple(plan.evaluate(e, extents) for e in spec["extents"])
        arrays[name] = Tensor(i << 36, shape, f"torch.{plan.DTYPES[spec['dtype']][1]}")
    d = RecordingDriver()
    driver.Operation(d, p, arrays, allocate=lambda n: (None, 1 << 20)).enqueue(0)
    assert "cuLaunchKernelEx" in d.calls


def main(cubins=()):
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_")]
    tests += [(c, lambda c=c: check_artifact(c)) for c in cubins]
    failed = 0
    for name, test in tests:
        try:
            test()
        except Exception:
            failed += 1
            print(f"FAIL {name}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0
