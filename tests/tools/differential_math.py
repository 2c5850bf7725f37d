"""Kernels of the built-ins that compute: math, bits, selection, reductions, scans.

Bounds are those of docs/language.md: exact where nothing is said; functions 2 ulp, or 1 where they are computed in f32
and rounded once; products in an open order n·u of the result. Sums of whole numbers are exact in every order.
"""
from differential_kernel import BITS, FLOATS, INTS, NUMBERS, SHAPES, SIGNED, Kernel, covers, each, name_of, sum_dtype

# --------------------------------------------------------------------------------------------------------------- math
@covers("abs")
def absolute(folder, label):
    for k, dtype, shapes in each(folder, label, SIGNED):
        for s in shapes:
            k.store(f"abs({k.tile(dtype, s)})", dtype, s)
        yield k


@covers("floor", "ceil", "round", "isnan", "isinf")
def whole(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, FLOATS):
        for s in shapes:
            k.store(f"{name}({k.tile(dtype, s)})", "bool" if name.startswith("is") else dtype, s)
        yield k


# With approx, in f32: what the result may be off, and where the bound holds.
APPROX = {"exp": ("ulp:66", "uniform:-80,80"), "exp2": ("ulp:4", "uniform:-120,120"),
          "log": ("rel:1e-6", "uniform:2,60"), "log2": ("rel:1e-6", "uniform:2,60"),
          "rsqrt": ("ulp:3", "uniform:0.01,60"), "sqrt": ("ulp:2", "uniform:0.01,60"),
          "sin": ("abs:5e-7", "uniform:-3,3"), "cos": ("abs:5e-7", "uniform:-3,3"),
          "tanh": ("abs:1e-5", "uniform:-5,5")}
NARROW = {"f16": "ulp:1", "bf16": "ulp:1"}


@covers("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf")
def function(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, FLOATS):
        for s in shapes:
            x = k.tile(dtype, s)
            k.store(f"{name}({x})", dtype, s, "" if name == "sqrt" else NARROW.get(dtype, "ulp:2"))
        yield k
    if name in APPROX:
        bound, where = APPROX[name]
        narrow = "uniform:0.5,3" if name in ("sin", "cos") else "uniform:2,8"
        for k, dtype, shapes in each(folder, label + " approx", ("f16", "bf16", "f32")):
            for s in shapes:
                x = k.tile(dtype, s, where if dtype == "f32" else narrow, ", padding = 0" if s == (1,) else "")
                k.store(f"{name}({x}, approx = true)", dtype, s, bound if dtype == "f32" else "ulp:2")
            yield k
        k = Kernel(folder, label, "f32", "ftz")
        for s in SHAPES:
            # A result next to the subnormals may be one on one side alone.
            k.store(f"{name}({k.tile('f32', s)}, ftz = true)", "f32", s, "" if name == "sqrt" else "ulp:2,abs:1.2e-38")
        yield k
    if name == "sqrt":
        yield from directed(folder, label, lambda k, d, s, mode: f"sqrt({k.tile(d, s)}, rounding = {mode})")


def directed(folder, label, form):
    """The other three roundings."""
    for k, dtype, shapes in each(folder, label + " rounding", FLOATS, ((64,), (16, 32))):
        for mode in ("rz", "rm", "rp"):
            for s in shapes:
                k.store(form(k, dtype, s, mode), dtype, s)
        yield k


@covers("add", "sub", "mul")
def arithmetic(folder, label):
    name, sign = name_of(label), {"add": "+", "sub": "-", "mul": "*"}[name_of(label)]
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x, y = k.tile(dtype, s), k.tile(dtype, s)
            k.store(f"{name}({x}, {y})", dtype, s)
            k.store(f"{x} {sign} {y}", dtype, s)
        k.store(f"{name}({k.tile(dtype, (16, 1))}, {k.tile(dtype, (32,))})", dtype, (16, 32))
        yield k
    yield from directed(folder, label, lambda k, d, s, m: f"{name}({k.tile(d, s)}, {k.tile(d, s)}, rounding = {m})")
    yield flushed(folder, label, lambda k, s: f"{name}({k.tile('f32', s)}, {k.tile('f32', s)}, ftz = true)")


def flushed(folder, label, form):
    k = Kernel(folder, label, "f32", "ftz")
    for s in SHAPES:
        k.store(form(k, s), "f32", s)
    return k


@covers("div")
def quotient(folder, label):
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x, y = k.tile(dtype, s), k.tile(dtype, s, "any" if dtype in FLOATS else "randint:1,9")
            y = y if dtype in FLOATS else f"max({y}, 1)"
            k.store(f"div({x}, {y})", dtype, s)
            k.store(f"{x} / {y}", dtype, s)
            k.store(f"{x} % {y}", dtype, s) if dtype in INTS else None
        yield k
    yield from directed(folder, label, lambda k, d, s, m: f"div({k.tile(d, s)}, {k.tile(d, s)}, rounding = {m})")
    yield flushed(folder, label, lambda k, s: f"div({k.tile('f32', s)}, {k.tile('f32', s)}, ftz = true)")
    k = Kernel(folder, label, "f32", "approx")
    for s in SHAPES:
        x, y = k.tile("f32", s, "uniform:-9,9"), k.tile("f32", s, "uniform:1,9", ", padding = inf")
        k.store(f"div({x}, {y}, approx = true)", "f32", s, "ulp:4")
    yield k


@covers("pow")
def power(folder, label):
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x, y = k.tile(dtype, s), k.tile(dtype, s, "any" if dtype in FLOATS else "randint:0,9")
            k.store(f"pow({x}, {y})", dtype, s, NARROW.get(dtype, "ulp:2") if dtype in FLOATS else "")
        yield k


@covers("fma")
def fused(folder, label):
    for k, dtype, shapes in each(folder, label, FLOATS):
        for s in shapes:
            k.store(f"fma({k.tile(dtype, s)}, {k.tile(dtype, s)}, {k.tile(dtype, s)})", dtype, s)
        yield k
    yield from directed(folder, label, lambda k, d, s, m:
                        f"fma({k.tile(d, s)}, {k.tile(d, s)}, {k.tile(d, s)}, rounding = {m})")
    yield flushed(folder, label,
                  lambda k, s: f"fma({k.tile('f32', s)}, {k.tile('f32', s)}, {k.tile('f32', s)}, ftz = true)")


# --------------------------------------------------------------------------------------------------- bits and integers
@covers("popcount")
def counted(folder, label):
    for k, dtype, shapes in each(folder, label, INTS):
        for s in shapes:
            k.store(f"popcount({k.tile(dtype, s)})", dtype, s)
        yield k


@covers("cdiv", "truncdiv", "truncmod", "mulhi")
def integers(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, INTS):
        for s in shapes:
            x = k.tile(dtype, s)
            y = k.tile(dtype, s) if name == "mulhi" else f"max({k.tile(dtype, s)}, 2)"
            k.store(f"{name}({x}, {y})", dtype, s)
        yield k


@covers("bitcast")
def bits(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for to in BITS:
            if BITS[to] == BITS[dtype] and to != dtype and "bool" not in (to, dtype) and "tf32" not in (to, dtype):
                for s in ((64,), (2, 4, 2, 8)):
                    k.store(f"bitcast<{to}>({k.tile(dtype, s)})", to, s)
        yield k


@covers("pack", "unpack")
def packed(folder, label):
    for k, dtype, _ in each(folder, label, [d for d in BITS if d != "bool"]):
        for n in (16, 64, 512):
            bytes_ = n * BITS[dtype] // 8
            if name_of(label) == "pack":
                k.store(f"pack({k.tile(dtype, (n,))})", "u8", (bytes_,))
            else:
                k.store(f"unpack<{dtype}>({k.tile('u8', (bytes_,))})", dtype, (n,))
        yield k


# -------------------------------------------------------------------------------------------------------------- select
@covers("where")
def chosen(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for s in shapes:
            k.store(f"where({k.tile('bool', s)}, {k.tile(dtype, s)}, {k.tile(dtype, s)})", dtype, s)
        yield k


@covers("clamp")
def clamped(folder, label):
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x, low = k.tile(dtype, s), k.tile(dtype, s)
            k.store(f"clamp({x}, 1, 5)", dtype, s)
            k.store(f"clamp({x}, {low}, max({low}, {x}))", dtype, s)
        yield k


# ------------------------------------------------------------------------------------------------------ reduce and scan
def folds(shape):
    """Axes to fold along, and the shape that is left."""
    for axis in range(len(shape)):
        yield f"axis = {axis}", tuple(e for i, e in enumerate(shape) if i != axis), shape[axis]
        kept = tuple(1 if i == axis else e for i, e in enumerate(shape))
        yield f"axis = {axis}, keepdims = true", kept, shape[axis]
    count = 1
    for extent in shape:
        count *= extent
    yield "", (), count
    if len(shape) > 2:
        yield "axis = (0, 2)", tuple(e for i, e in enumerate(shape) if i not in (0, 2)), shape[0] * shape[2]


def call_text(name, *arguments):
    return f"{name}({', '.join(filter(None, arguments))})"


def fold_store(k, call, dtype, shape, bound=""):
    k.store(call if shape else f"full<{dtype}>(1, value = {call})", dtype, shape, bound)


def rounding_bound(dtype, count):
    """Of sums and products of numbers of one sign, on both sides."""
    return {"f32": f"rel:{2 * count * 2.0**-24:.3g}", "f64": f"rel:{2 * count * 2.0**-53:.3g}"}.get(dtype, "ulp:1")


@covers("sum", "prod")
def summed(folder, label):
    name = name_of(label)
    dtypes = [*NUMBERS, *(["bool"] if name == "sum" else [])]
    for k, dtype, shapes in each(folder, label, dtypes):
        to = sum_dtype(dtype)
        for s in shapes:
            x = k.tile(dtype, s, "randint:-4,5" if dtype in FLOATS and name == "sum" else
                       "uniform:0.5,1.5" if dtype in FLOATS else "any")
            # Sums of small whole numbers are exact in every order.
            for tail, left, n in folds(s):
                exact = dtype not in FLOATS or name == "sum"
                fold_store(k, call_text(name, x, tail), to, left, "" if exact else rounding_bound(dtype, n))
        yield k
    if name == "sum":
        for k, dtype, shapes in each(folder, label + " rounded", FLOATS):
            for s in shapes:
                x = k.tile(dtype, s, "uniform:0,1")
                for tail, left, n in folds(s):
                    fold_store(k, call_text("sum", x, tail), dtype, left, rounding_bound(dtype, n))
            yield k


@covers("min", "max", "argmin", "argmax")
def extremes(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, NUMBERS):
        tails = ["", "propagate_nan = true"] if dtype in FLOATS else [""]
        to = "i32" if name.startswith("arg") else dtype
        for s in shapes:
            x = k.tile(dtype, s)
            for nan in tails:
                for tail, left, _ in folds(s):
                    fold_store(k, call_text(name, x, tail, nan), to, left)
                if not name.startswith("arg"):
                    k.store(call_text(name, x, k.tile(dtype, s), nan), dtype, s)
        yield k


@covers("any", "all")
def logic(folder, label):
    for k, dtype, shapes in each(folder, label, ("bool",)):
        for s in shapes:
            x = k.tile(dtype, s, "any")
            for tail, left, _ in folds(s):
                fold_store(k, call_text(name_of(label), x, tail), dtype, left)
        yield k


LAST = "fn(l, r) { where(r == 0, l, r) }"  # the last number that is not zero: associative, does not commute


@covers("reduce")
def folded(folder, label):
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x = k.tile(dtype, s, "any")
            for tail, left, _ in folds(s):
                fold_store(k, call_text("reduce", x, tail, "identity = 0", f"combine = {LAST}"), dtype, left)
        # Among numbers alone the combination is associative.
        x, y = k.tile(dtype, (16, 32), "any" if dtype in INTS else "normal"), k.tile("i32", (16, 32), "any")
        pair = k.let(f"reduce(({x}, {y}), axis = 1, identity = ({dtype}.lowest, 0), combine = fn(l, r) {{ "
                     "(where(r.0 > l.0, r.0, l.0), where(r.0 > l.0, r.1, l.1)) })")
        k.store(f"{pair}.0", dtype, (16,))
        k.store(f"{pair}.1", "i32", (16,))
        yield k


WAYS = ("", ", reverse = true", ", exclusive = true", ", reverse = true, exclusive = true")


@covers("cumsum", "cumprod")
def running(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, [*NUMBERS, *(["bool"] if name == "cumsum" else [])]):
        for s in shapes:
            floats = "randint:0,5" if name == "cumsum" else "uniform:0.5,1.5"
            x = k.tile(dtype, s, floats if dtype in FLOATS else "any")
            for axis, extent in enumerate(s):
                for way in WAYS:
                    bound = rounding_bound(dtype, extent) if dtype in FLOATS and name == "cumprod" else ""
                    k.store(f"{name}({x}, axis = {axis}{way})", sum_dtype(dtype), s, bound)
        yield k


@covers("scan")
def scanned(folder, label):
    for k, dtype, shapes in each(folder, label, NUMBERS):
        for s in shapes:
            x = k.tile(dtype, s, "any")
            for axis in range(len(s)):
                for way in WAYS:
                    k.store(f"scan({x}, axis = {axis}, identity = 0, combine = {LAST}{way})", dtype, s)
        yield k
