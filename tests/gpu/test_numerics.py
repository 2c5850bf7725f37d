#!/usr/bin/env python3
"""Float functions and conversions, GPU against executor: every f16 and bf16 value, every fp8 code, 2^24 samples of f32.

Bounds are those of docs/language.md; a function's f16 and bf16 results are one unit off at most, since a result of the
f32 routine may lie next to a tie.
"""
import os

from common import ROOT, Suite

FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8}
INTS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64}
EXACT = ["abs", "sqrt", "floor", "ceil", "round"]
BOUNDED = ["exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf"]
TESTS = ["isnan", "isinf"]
SAMPLES = 2**24


def unary_kernel(dtype):
    names = EXACT + BOUNDED
    outs = [f"o_{n}: out {dtype}[N]" for n in names] + [f"o_{n}: out bool[N]" for n in TESTS]
    stores = [f"    o_{n}.tiled(TN).store(i, {n}(v))" for n in names + TESTS]
    return (f"kernel unary<TN: int = 1024>(x: in {dtype}[N], {', '.join(outs)})\ngrid (cdiv(N, TN))\n{{\n"
            f"    let i = bid(0)\n    let v = x.tiled(TN).load(i)\n" + "\n".join(stores) + "\n}\n")


def binary_kernel(dtype):
    ops = {"add": "u + v", "sub": "u - v", "mul": "u * v", "div": "u / v", "min": "min(u, v)", "max": "max(u, v)",
           "pow": "pow(abs(u), v)", "fma": "fma(u, v, u)", "lt": None}
    outs = [f"o_{n}: out {dtype}[N]" for n, e in ops.items() if e] + ["o_lt: out bool[N]", "o_ne: out bool[N]"]
    stores = [f"    o_{n}.tiled(TN).store(i, {e})" for n, e in ops.items() if e]
    stores += ["    o_lt.tiled(TN).store(i, u < v)", "    o_ne.tiled(TN).store(i, u != v)"]
    return (f"kernel binary<TN: int = 1024>(x: in {dtype}[N], y: in {dtype}[N], {', '.join(outs)})\n"
            f"grid (cdiv(N, TN))\n{{\n    let i = bid(0)\n    let u = x.tiled(TN).load(i)\n"
            f"    let v = y.tiled(TN).load(i)\n" + "\n".join(stores) + "\n}\n")


def convert_kernel(source):
    targets = [t for t in {**FLOATS, **INTS, "bool": 8} if t != source]
    cut = [t for t in FLOATS if t != source and INTS.get(source, 0) < 64]  # 64-bit integers round to nearest only
    outs = [f"o_{t}: out {t}[N]" for t in targets] + [f"z_{t}: out {t}[N]" for t in cut]
    stores = [f"    o_{t}.tiled(TN).store(i, v.to({t}))" for t in targets]
    stores += [f"    z_{t}.tiled(TN).store(i, v.to({t}, rounding = rz))" for t in cut]
    return (f"kernel convert<TN: int = 512>(x: in {source}[N], {', '.join(outs)})\ngrid (cdiv(N, TN))\n{{\n"
            f"    let i = bid(0)\n    let v = x.tiled(TN).load(i)\n" + "\n".join(stores) + "\n}\n")


def codes(bits, np):
    """Every code of up to 16 bits; of wider types all exponents with pseudo-random rest, and the special values."""
    unsigned = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    if bits <= 16:
        return np.arange(2**bits, dtype=np.uint64).astype(unsigned)
    rng = np.random.default_rng(1)
    n = SAMPLES if bits == 32 else 2**20
    high = np.arange(n, dtype=np.uint64) << np.uint64(bits - n.bit_length() + 1)
    low = rng.integers(0, 2 ** (bits - n.bit_length() + 1), n, dtype=np.uint64)
    values = high | low
    edge = [0, 1, 2**31 - 1, 2**31, 2**32 - 1] + ([2**63 - 1, 2**63, 2**64 - 1] if bits == 64 else [])
    values[: len(edge)] = edge
    # Halfway points of narrower formats: numbers whose low bits are a one followed by zeros, and their neighbours.
    for k in range(1, bits - 1):
        values[1000 + 3 * k : 1003 + 3 * k] = [(5 << k) % 2**bits, ((5 << k) + 1) % 2**bits, ((5 << k) - 1) % 2**bits]
    return values.astype(unsigned)


def main():
    suite = Suite()
    import numpy as np  # where there is a GPU there is NumPy

    def save(name, array, dtype):
        native = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
        view = array.view(native[dtype]) if dtype in native else array.view(np.dtype(f"int{array.itemsize * 8}")) \
            if dtype.startswith("i") else array
        np.save(suite.path(name), view)
        return suite.path(name)

    def kernel(name, text):
        with open(suite.path(name), "w") as f:
            f.write(text)
        return suite.path(name)

    def tolerances(names, spec):
        return [x for n in names for x in ("--tolerance", f"o_{n}={spec}")]

    for dtype in ("f16", "bf16", "f32", "f64"):
        values = codes(FLOATS[dtype], np)
        x = save(f"x_{dtype}.npy", values, dtype)
        bound = "ulp:1" if dtype in ("f16", "bf16") else "ulp:2"
        suite.run(f"unary {dtype}", "run", kernel(f"unary_{dtype}.tile", unary_kernel(dtype)), "--device", "cuda:0",
                  "-D", f"N={len(values)}", f"x={x}", *tolerances(BOUNDED, bound))
        rng = np.random.default_rng(2)
        other = save(f"y_{dtype}.npy", rng.permutation(values), dtype)
        suite.run(f"binary {dtype}", "run", kernel(f"binary_{dtype}.tile", binary_kernel(dtype)), "--device", "cuda:0",
                  "-D", f"N={len(values)}", f"x={x}", f"y={other}", *tolerances(["pow"], bound))
    for dtype, bits in {**FLOATS, **INTS}.items():
        values = codes(bits, np)
        x = save(f"c_{dtype}.npy", values, dtype)
        suite.run(f"convert {dtype}", "run", kernel(f"convert_{dtype}.tile", convert_kernel(dtype)), "--device",
                  "cuda:0", "-D", f"N={len(values)}", f"x={x}")
    suite.finish()


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
