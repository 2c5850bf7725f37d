"""The rows of the comparison: for each problem what tilec builds, and how PyTorch and Triton do the same.

A row is one entry of ROWS. Its functions get the tensors by the kernel's names; `reference` works in float64. Triton is
given what its users give it: a configuration list, of which the fastest on this GPU counts.
"""
from dataclasses import dataclass, field
from typing import Callable

try:
    import torch
    import torch.nn.attention
    import torch.nn.functional as F
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor

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
    axes: tuple = ()  # what `tilec tune` is to try, where the whole space would take longer than a comparison should
    more_outputs: dict = field(default_factory=dict)  # array: (its extents, dtype), for outputs that are not compared

    @property
    def is_bound_by_memory(self):
        return self.recipe not in ("matmul", "attention")

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


@jit
def k_rms(x, w, o, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + r * n + i, mask=m, other=0.).to(tl.float32)
    s = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(o + r * n + i, (v * s * tl.load(w + i, mask=m).to(tl.float32)).to(o.dtype.element_ty), mask=m)


@jit
def k_ln(x, w, b, o, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + r * n + i, mask=m, other=0.).to(tl.float32)
    d = tl.where(m, v - tl.sum(v, 0) / n, 0.)
    s = tl.rsqrt(tl.sum(d * d, 0) / n + eps)
    y = d * s * tl.load(w + i, mask=m).to(tl.float32) + tl.load(b + i, mask=m).to(tl.float32)
    tl.store(o + r * n + i, y.to(o.dtype.element_ty), mask=m)


def rmsnorm(r, c, dtype):
    def with_triton(t, cfg):
        width = triton.next_power_of_2(c)
        return lambda: k_rms[(r,)](t["x"], t["w"], t["y"], c, 1e-6, B=width, **cfg)

    return Row(
        name=f"rmsnorm.{dtype}.{r}x{c}", recipe="rmsnorm", problem={"R": r, "C": c, "T": dtype, "eps": 1e-6},
        dtype=dtype, inputs={"x": ("R", "C"), "w": ("C",)}, output=("y", ("R", "C")),
        bytes=(2 * r * c + c) * BITS[dtype] // 8,
        reference=lambda t: F.rms_norm(t["x"].double(), (c,), t["w"].double(), 1e-6),
        torch=lambda t: F.rms_norm(t["x"], (c,), t["w"], 1e-6),
        triton=with_triton,
        configurations=[dict(num_warps=w) for w in (4, 8, 16)])


def layernorm(r, c, dtype):
    def with_triton(t, cfg):
        width = triton.next_power_of_2(c)
        return lambda: k_ln[(r,)](t["x"], t["w"], t["b"], t["y"], c, 1e-5, B=width, **cfg)

    return Row(
        name=f"layernorm.{dtype}.{r}x{c}", recipe="layernorm", problem={"R": r, "C": c, "T": dtype, "eps": 1e-5},
        dtype=dtype, inputs={"x": ("R", "C"), "w": ("C",), "b": ("C",)}, output=("y", ("R", "C")),
        bytes=(2 * r * c + 2 * c) * BITS[dtype] // 8,
        reference=lambda t: F.layer_norm(t["x"].double(), (c,), t["w"].double(), t["b"].double(), 1e-5),
        torch=lambda t: F.layer_norm(t["x"], (c,), t["w"], t["b"], 1e-5),
        triton=with_triton,
        configurations=[dict(num_warps=w) for w in (4, 8, 16)])


# ------------------------------------------------------------------------------------------------------- products
@jit
def k_mm(ad, bd, cd, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr,
         NSM: tl.constexpr, DT: tl.constexpr):
    np_m = tl.cdiv(M, BM)
    np_n = tl.cdiv(N, BN)
    tot = np_m * np_n
    for t in tl.range(tl.program_id(0), tot, NSM, flatten=True):
        wid = G * np_n
        gid = t // wid
        f = gid * G
        gs = tl.minimum(np_m - f, G)
        pm = f + (t % gs)
        pn = (t % wid) // gs
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(ad.load([pm * BM, k * BK]), bd.load([k * BK, pn * BN]), acc)
        cd.store([pm * BM, pn * BN], acc.to(DT))


def gemm(m, n, k, dtype):
    def with_triton(t, cfg):
        bm, bn, bk = cfg["BM"], cfg["BN"], cfg["BK"]
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        ad, bd, cd = (TensorDescriptor.from_tensor(t[name], block)
                      for name, block in (("a", [bm, bk]), ("b", [bk, bn]), ("c", [bm, bn])))
        grid = (min(sms, triton.cdiv(m, bm) * triton.cdiv(n, bn)),)
        dt = {"f16": tl.float16, "bf16": tl.bfloat16}[dtype]
        return lambda: k_mm[grid](ad, bd, cd, m, n, k, G=8, NSM=sms, DT=dt, **cfg)

    return Row(
        name=f"gemm.{dtype}.{m}x{n}x{k}", recipe="matmul", problem={"M": m, "N": n, "K": k, "T": dtype}, dtype=dtype,
        inputs={"a": ("M", "K"), "b": ("K", "N")}, output=("c", ("M", "N")),
        bytes=(m * k + k * n + m * n) * BITS[dtype] // 8,
        reference=lambda t: t["a"].double() @ t["b"].double(),
        torch=lambda t: torch.mm(t["a"], t["b"], out=t["c"]),
        axes=("TM=64,128,256", "TN=128,256", "TK=32,64", "GROUP=8", "num_worker_warps=4,8", "occupancy=1",
              "num_cta_in_cga=1", "a.load.latency=2", "b.load.latency=3,4"),
        triton=with_triton,
        configurations=[dict(BM=a, BN=b, BK=c, num_stages=s, num_warps=w)
                        for a, b, c, s, w in ((128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (128, 128, 64, 4, 4),
                                              (128, 128, 64, 4, 8), (128, 128, 128, 3, 8), (256, 128, 64, 3, 8))])


@jit
def k_fa(Q, K, V, O, L, sc, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, DT: tl.constexpr):
    h = tl.program_id(1)
    q0 = tl.program_id(0) * BM
    base = h * L
    q = Q.load([base + q0, 0])
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    s2 = sc * 1.4426950408889634
    for j in tl.range(0, L, BN):
        k = K.load([base + j, 0])
        s = tl.dot(q, k.T)
        mn = tl.maximum(m, tl.max(s, 1) * s2)
        p = tl.exp2(s * s2 - mn[:, None])
        al = tl.exp2(m - mn)
        l = l * al + tl.sum(p, 1)
        acc = acc * al[:, None]
        acc = tl.dot(p.to(DT), V.load([base + j, 0]), acc)
        m = mn
    O.store([base + q0, 0], (acc / l[:, None]).to(DT))


def attention(b, h, length, d):
    scale = d**-0.5
    shape = ("B", "HQ", "SQ", "D")

    def exact(t):
        q, k, v = (t[name].double() for name in "qkv")
        return torch.cat([torch.softmax(q[i:i + 1] @ k[i:i + 1].transpose(-1, -2) * scale, -1) @ v[i:i + 1]
                          for i in range(b)])

    def cudnn(t):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(t["q"], t["k"], t["v"])

    def with_triton(t, cfg):
        q, k, v, o = (TensorDescriptor.from_tensor(t[name].view(-1, d), [cfg["BM" if name in "qo" else "BN"], d])
                      for name in "qkvo")
        return lambda: k_fa[(triton.cdiv(length, cfg["BM"]), b * h)](q, k, v, o, length, scale, D=d, DT=tl.float16,
                                                                    **cfg)

    return Row(
        name=f"attention.f16.B{b}H{h}L{length}D{d}.full", recipe="attention", dtype="f16",
        problem={"B": b, "HQ": h, "HK": h, "SQ": length, "SK": length, "D": d, "T": "f16", "CAUSAL": "false", "pos": 0,
                 "scale": scale},
        inputs={"q": shape, "k": ("B", "HK", "SK", "D"), "v": ("B", "HK", "SK", "D")}, output=("o", shape),
        more_outputs={"lse": (("B", "HQ", "SQ"), "f32")}, bytes=4 * b * h * length * d * 2,
        reference=exact,
        torch=cudnn,
        axes=("TM=64,128", "TN=32,64", "num_worker_warps=4,8", "occupancy=1,2"),
        triton=with_triton,
        configurations=[dict(BM=m, BN=n, num_stages=s, num_warps=w)
                        for m, n, s, w in ((128, 64, 3, 4), (128, 128, 2, 8), (128, 64, 3, 8), (64, 64, 3, 4))])


ROWS = [
    vector_add(2**28),
    fused_gelu(2**27),
    *(norm(*problem) for norm in (softmax, rmsnorm, layernorm)
      for problem in ((4096, 1024, "f32"), (32768, 4096, "f32"), (16384, 8192, "bf16"), (8192, 6000, "bf16"))),
    gemm(4096, 4096, 4096, "f16"),
    attention(4, 32, 4096, 128),
]
