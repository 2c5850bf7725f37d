"""The rows of the comparison: for each problem what tilec builds, and how PyTorch and Triton do the same.

A row is one entry of ROWS. Its functions get the tensors by the kernel's names; `reference` works in float64. Triton is
given what its users give it: a configuration list, of which the fastest on this GPU counts.
"""
from dataclasses import dataclass
from typing import Callable

try:
    import torch
    import torch.nn.functional as F
    import triton
    import triton.language as tl

    jit = triton.jit
except ImportError:  # the table can be read without them; nothing here then runs
    torch = F = triton = None

    class tl:
        constexpr = None

    def jit(function):
        return function


@dataclass(frozen=True)
class Row:
    name: str
    recipe: str  # folder in recipes/
    problem: dict  # extents, scalars and dtypes by name, as `tilec tune --problem` takes them
    inputs: dict  # array: its extents, by symbol
    output: tuple  # (array, its extents)
    bytes: int  # that must move: each input read once, the output written once
    reference: Callable  # tensors -> float64 tensor
    torch: Callable  # tensors -> a tensor
    triton: Callable  # tensors, configuration -> a call
    configurations: list  # of Triton
    dtype: str = "f32"
    exact: bool = False  # the output must be the reference, rounded once

    def shape(self, extents):
        return tuple(self.problem[e] for e in extents)

    def problem_text(self):
        return ",".join(f"{name}={value}" for name, value in self.problem.items())


# Relative Frobenius error that passes: a few times that of one rounding of the output.
TOLERANCES = {"f32": 1e-5, "f16": 1e-3, "bf16": 5e-3}
BITS = {"f32": 32, "f16": 16, "bf16": 16}


# ---------------------------------------------------------------------------------------------------- elementwise
@jit
def k_add(a, b, c, n, B: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = o < n
    tl.store(c + o, tl.load(a + o, mask=m) + tl.load(b + o, mask=m), mask=m)


@jit
def k_gelu(x, w, b, out, n, B: tl.constexpr):
    o = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = o < n
    h = tl.load(x + o, mask=m) * tl.load(w + o, mask=m) + tl.load(b + o, mask=m)
    z = 0.7978845608028654 * (h + 0.044715 * h * h * h)
    tl.store(out + o, h * (1.0 - 1.0 / (1.0 + tl.exp(2.0 * z))), mask=m)


def vector_add(n):
    def with_triton(t, cfg):
        grid = (triton.cdiv(n, cfg["B"]),)
        return lambda: k_add[grid](t["a"], t["b"], t["c"], n, **cfg)

    return Row(
        name=f"vector_add.f32.2^{n.bit_length() - 1}", recipe="vector_add", problem={"N": n, "T": "f32"},
        inputs={"a": ("N",), "b": ("N",)}, output=("c", ("N",)), bytes=12 * n, exact=True,
        reference=lambda t: t["a"].double() + t["b"].double(),
        torch=lambda t: torch.add(t["a"], t["b"], out=t["c"]),
        triton=with_triton,
        configurations=[dict(B=B, num_warps=w) for B in (1024, 2048, 4096) for w in (4, 8)])


def fused_gelu(n):
    def with_triton(t, cfg):
        grid = (triton.cdiv(n, cfg["B"]),)
        return lambda: k_gelu[grid](t["x"], t["w"], t["b"], t["y"], n, **cfg)

    return Row(
        name=f"fused_gelu.f32.2^{n.bit_length() - 1}", recipe="fused_gelu", problem={"N": n},
        inputs={"x": ("N",), "w": ("N",), "b": ("N",)}, output=("y", ("N",)), bytes=16 * n,
        reference=lambda t: F.gelu(t["x"].double() * t["w"].double() + t["b"].double(), approximate="tanh"),
        torch=lambda t: F.gelu(t["x"] * t["w"] + t["b"], approximate="tanh"),
        triton=with_triton,
        configurations=[dict(B=B, num_warps=w) for B in (1024, 2048) for w in (4, 8)])


# ----------------------------------------------------------------------------------------------------------- rows
@jit
def k_softmax(x, o, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + r * n + i, mask=m, other=-float("inf")).to(tl.float32)
    v = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + i, (v / tl.sum(v, 0)).to(o.dtype.element_ty), mask=m)


def softmax(r, c, dtype):
    def with_triton(t, cfg):
        width = triton.next_power_of_2(c)
        return lambda: k_softmax[(r,)](t["x"], t["y"], c, B=width, **cfg)

    return Row(
        name=f"softmax.{dtype}.{r}x{c}", recipe="softmax", problem={"R": r, "C": c, "T": dtype}, dtype=dtype,
        inputs={"x": ("R", "C")}, output=("y", ("R", "C")), bytes=2 * r * c * BITS[dtype] // 8,
        reference=lambda t: torch.softmax(t["x"].double(), -1),
        torch=lambda t: torch.softmax(t["x"], -1),
        triton=with_triton,
        configurations=[dict(num_warps=w) for w in (4, 8, 16)])


ROWS = [
    vector_add(2**28),
    fused_gelu(2**27),
    softmax(4096, 1024, "f32"),
    softmax(32768, 4096, "f32"),
    softmax(16384, 8192, "bf16"),
    softmax(8192, 6000, "bf16"),
]
