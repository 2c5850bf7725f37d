"""Kernels of the built-ins that move elements, make tiles, multiply matrices, or ask something."""
from differential_kernel import (BITS, FLOATS, INTS, NUMBERS, SHAPES, Kernel, covers, each, name_of, shapes_of, text,
                                 tuple_text)


# --------------------------------------------------------------------------------------------------------------- shape
@covers("reshape")
def reshaped(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for s in shapes:
            n = k_count(s)
            for to in {(n,), (1, n), (n, 1), (n // 4, 2, 2)} if n >= 4 else {(1, 1, 1)}:
                if dtype != "f4e2m1" or to[-1] % 2 == 0:
                    k.store(f"reshape({k.tile(dtype, s)}, {text(to)})", dtype, to)
        yield k


def k_count(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


ORDERS = {2: ((1, 0),), 3: ((0, 2, 1), (2, 0, 1), (1, 2, 0)), 4: ((3, 2, 1, 0), (0, 2, 1, 3), (1, 3, 0, 2))}


@covers("permute", "transpose", "T")
def permuted(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, BITS, ((1, 1), (16, 32), (64, 2), (4, 2, 8), (2, 4, 2, 8))):
        for s in shapes:
            if name == "permute":
                for order in ORDERS[len(s)]:
                    to = tuple(s[axis] for axis in order)
                    if dtype != "f4e2m1" or to[-1] % 2 == 0:
                        k.store(f"permute({k.tile(dtype, s)}, {text(order)})", dtype, to)
            elif name == "transpose" or len(s) == 2:
                to = (*s[:-2], s[-1], s[-2]) if name == "T" else (s[-1], *s[1:-1], s[0])
                form = ".T" if name == "T" else f".transpose(0, {len(s) - 1})"
                k.store(f"{k.tile(dtype, s)}{form}", dtype, to)
        yield k


@covers("broadcast")
def repeated(folder, label):
    ways = (((1,), (8,)), ((64,), (4, 64)), ((1, 1), (8, 16)), ((16, 1), (16, 32)), ((1, 32), (2, 16, 32)),
            ((4, 1, 8), (4, 4, 8)), ((2, 1, 2, 1), (2, 8, 2, 4)))
    for k, dtype, _ in each(folder, label, BITS):
        for s, to in ways:
            if dtype != "f4e2m1" or s[-1] % 2 == 0:
                k.store(f"broadcast({k.tile(dtype, s)}, {text(to)})", dtype, to)
        yield k


@covers("cat")
def joined(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for s in shapes:
            for axis in range(len(s)):
                to = tuple(e * 2 if i == axis else e for i, e in enumerate(s))
                k.store(f"cat({k.tile(dtype, s)}, {k.tile(dtype, s)}, axis = {axis})", dtype, to)
        yield k


@covers("extract", "insert")
def parts(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for s in shapes:
            part = tuple(max(e // 2, 2 if dtype == "f4e2m1" and i == len(s) - 1 else 1) for i, e in enumerate(s))
            last = [e // p - 1 for e, p in zip(s, part)]
            # The last part, known while compiling, and one that the block chooses.
            chosen = [f"bid(0) % {e // p}" for e, p in zip(s, part)]
            for at in (last, chosen):
                if name_of(label) == "extract":
                    k.store(f"extract({k.tile(dtype, s)}, {text(at)}, shape = {tuple_text(part)})", dtype, part)
                else:
                    k.store(f"insert({k.tile(dtype, s)}, {text(at)}, {k.tile(dtype, part)})", dtype, s)
        yield k


@covers("item")
def single(folder, label):
    for k, dtype, _ in each(folder, label, [d for d in BITS if d != "f4e2m1"]):
        for s in ((1,), (1, 1), (1, 1, 1, 1)):
            k.store(f"full<{dtype}>(64, value = item({k.tile(dtype, s)}))", dtype, (64,))
        yield k


@covers("to")
def converted(folder, label):
    for k, dtype, _ in each(folder, label, BITS):
        for s in ((1,), (64,), (2, 4, 2, 8)) if dtype != "f4e2m1" else ((64,), (2, 4, 2, 8)):
            x = k.tile(dtype, s)
            for to in BITS:
                if to != dtype and (to != "f4e2m1" or s[-1] % 2 == 0):
                    k.store(f"{x}.to({to})", to, s)
                    both = {to, dtype} <= INTS.keys()
                    if both or (to in FLOATS and dtype in FLOATS and BITS[to] < BITS[dtype]):
                        k.store(f"{x}.to({to}, saturate = true)", to, s)
        yield k
    for mode in ("rz", "rm", "rp"):
        for k, dtype, _ in each(folder, f"{label} {mode}", FLOATS):
            x = k.tile(dtype, (64,))
            for to in FLOATS:
                if BITS[to] < BITS[dtype]:
                    k.store(f"{x}.to({to}, rounding = {mode})", to, (64,))
            yield k


# ----------------------------------------------------------------------------------------------------------- factories
@covers("zeros@free", "ones@free", "full@free")
def filled(folder, label):
    name = name_of(label)
    for k, dtype, shapes in each(folder, label, BITS):
        number = "true" if dtype == "bool" else "2" if dtype in INTS else "0.5"
        value = f", value = {number}" if name == "full" else ""
        for s in shapes:
            k.store(f"{name}<{dtype}>({text(s)}{value})", dtype, s)
        yield k


@covers("arange@free")
def counting(folder, label):
    for k, dtype, _ in each(folder, label, NUMBERS):
        for n in (1, 2, 32, 64):
            k.store(f"arange<{dtype}>({n})", dtype, (n,))
            k.store(f"arange<{dtype}>({n}, 3, 1)", dtype, (n,))
            k.store(f"arange<{dtype}>({n}, start = 64, step = {'-1' if dtype[0] != 'u' else '2'})", dtype, (n,))
        yield k


@covers("tile@free")
def listed(folder, label):
    for k, dtype, _ in each(folder, label, BITS):
        words = ("true", "false") if dtype == "bool" else ("1", "2") if dtype in INTS else ("1.0", "0.5")
        for n in (2, 8, 32):
            k.store(f"tile<{dtype}>([{', '.join(words[i % 3 % 2] for i in range(n))}])", dtype, (n,))
        k.store(f"tile<{dtype}>([[{words[0]}, {words[1]}], [{words[1]}, {words[1]}]])", dtype, (2, 2))
        yield k


# --------------------------------------------------------------------------------------------------- arrays and views
@covers("tiled@array", "load@view", "store@view", "num_tiles@view")
def viewed(folder, label):
    for k, dtype, shapes in each(folder, label, BITS):
        for s in shapes:
            extents = k.ragged(s, dtype)
            order, scope = ("acquire", "device") if len(s) == 1 and BITS[dtype] >= 32 else ("weak", "device")
            x = k.array("in", dtype, extents, "any")
            y = k.array("inout", dtype, extents, "any")
            view = f"tiled({text(s)}, padding = 0)"
            k.line(f"let n{k.count} = {x}.{view}.num_tiles(0)")
            read = k.let(f"{x}.{view}.load({k.at(s)}, order = {order}, scope = {scope}, latency = 3)")
            order = "release" if order == "acquire" else order
            # Every tile is written once: the last one first.
            last = f"n{k.count} - 1 - bid(0){', 0' * (len(s) - 1)}"
            k.line(f"{y}.tiled({text(s)}).store({last}, {read}, order = {order}, allow_tma = false)")
            k.count += 1
        if dtype in NUMBERS or dtype == "bool":
            moved(k, dtype)
        yield k


def moved(k, dtype):
    """Windows that overlap or leave gaps, axes in another order, paddings, promises."""
    x = k.array("in", dtype, (40, 24), "any")
    k.store(f"{x}.tiled(16, 8, step = (3, 5), padding = 0).load(bid(0) + 9, 4)", dtype, (16, 8))
    k.store(f"{x}.tiled(16, 8, step = (20, 9), padding = 0).load(bid(0), 2)", dtype, (16, 8))
    k.store(f"{x}.tiled(8, 16, axes = (1, 0), padding = 0).load(bid(0), 2)", dtype, (8, 16))
    k.store(f"{x}.tiled(8, 8).load(bid(0), 1, check_bounds = false)", dtype, (8, 8))
    k.store(f"{x}.tiled(16, 8, padding = 0).load(7, bid(0) - 1)", dtype, (16, 8))
    for padding in ("inf", "-inf", "nan", "-0.0") if dtype in FLOATS else ():
        k.store(f"{x}.tiled(32, 16, padding = {padding}).load(bid(0), 1)", dtype, (32, 16))
    y = k.array("out", dtype, (24, 40))
    k.line(f"{y}.tiled(32, 16, axes = (1, 0)).store(bid(0), 0, {x}.tiled(32, 16, padding = 0).load(bid(0), 0))")


@covers("sparse@array")
def rows_chosen(folder, label):
    for k, dtype, _ in each(folder, label, [d for d in BITS if d != "f4e2m1"]):
        for rows, columns in ((2, 16), (16, 8), (64, 4)):
            x, index = k.array("in", dtype, (20, 24), "any"), k.tile("i32", (rows,), "randint:-2,24")
            k.store(f"{x}.sparse(0, {rows}, {columns}, padding = 0).load({index}, 6 * bid(0))", dtype, (rows, columns))
            k.store(f"{x}.sparse(1, {columns}, {rows}, padding = 0).load({index}, 3 + bid(0))", dtype, (columns, rows))
        y = k.array("inout", dtype, (40, 24), "any")
        written = "arange(16, 37, -2) - bid(0)"
        k.line(f"{y}.sparse(0, 16, 8).store({written}, 6, {k.tile(dtype, (16, 8))})")
        yield k


@covers("at@array", "slice@array")
def cut(folder, label):
    for k, dtype, _ in each(folder, label, BITS):
        x = k.array("in", dtype, (3, 2, 20, 24), "any")
        if name_of(label) == "at":
            k.store(f"{x}.at(bid(0) + 1).tiled(2, 16, 16, padding = 0).load(0, 1, 0)", dtype, (2, 16, 16))
            k.store(f"{x}.at(bid(0) + 2, 1).tiled(16, 32, padding = 0).load(0, 0)", dtype, (16, 32))
        else:
            k.store(f"{x}.slice(0, 1, 3).at(bid(0), 1).tiled(16, 16, padding = 0).load(1, 1)", dtype, (16, 16))
            part = f"{x}.at(0, 0).slice(0, 1, 100, step = 3)"
            k.store(f"{part}.tiled(8, 32, padding = 0).load(0, bid(0))", dtype, (8, 32))
            y = k.array("inout", dtype, (2, 40), "any")
            if dtype != "f4e2m1":
                k.line(f"{y}.at(bid(0)).slice(0, 3, 37, step = 2).tiled(16).store(0, {k.tile(dtype, (16,))})")
        yield k


@covers("gather@array", "scatter@array")
def elements(folder, label):
    for k, dtype, shapes in each(folder, label, [d for d in BITS if d != "f4e2m1"]):
        for number, s in enumerate(shapes):
            kind = ("i32", "i64", "u8", "i16")[number % 4]
            limits = "randint:-3,30" if kind[0] == "i" else "randint:0,30"
            mask = f", mask = {k.tile('bool', s)}"
            if name_of(label) == "gather":
                x, y = k.array("in", dtype, (25,), "any"), k.array("in", dtype, (5, 25), "any")
                index, other = k.tile(kind, s, limits), k.tile("i32", s, "randint:-1,6")
                k.store(f"{x}.gather({index})", dtype, s)
                k.store(f"{y}.gather({other}, {index}{mask}, padding = {k.tile(dtype, s)})", dtype, s)
                k.store(f"{x}.gather(arange(16)[:, none] + arange(8)[none, :], check_bounds = false)", dtype, (16, 8)) \
                    if number == 0 else None
            else:
                # Every lane has an element of its own, in reversed order, some outside.
                n = k_count(s)
                y, z = (k.array("inout", dtype, (2 * n,), "any") for _ in range(2))
                lane = f"reshape(arange({n}), {text(s)})"
                k.line(f"{y}.scatter(({2 * n} - 1 - {lane} - {n} * bid(0)).to(i64), {k.tile(dtype, s)})")
                k.line(f"{z}.scatter({lane} * 3 - bid(0) * {6 * n}, {k.tile(dtype, s)}{mask})")
        yield k


@covers(*(f"atomic_{op}@{r}" for r in ("array", "view") for op in ("add", "max", "min", "and", "or", "xor")),
        "atomic_sub@array", "atomic_xchg@array", "atomic_cas@array")
def atomics(folder, label):
    name, receiver = label.split("@")
    on_bits = name in ("atomic_and", "atomic_or", "atomic_xor")
    for dtype in INTS if on_bits else NUMBERS:
        k = Kernel(folder, label, dtype)
        # Whole numbers: sums do not depend on their order. Subnormals in f32 sums are another matter.
        content = "randint:0,9" if dtype in FLOATS else "any"
        for n in (1, 64, 512):
            x = k.tile(dtype, (n,), content)
            extra = f"{k.tile(dtype, (n,), content)}, " if name == "atomic_cas" else ""
            if receiver == "view":
                a = k.array("inout", dtype, (n + (n + 1) // 2,), content)
                k.line(f"{a}.tiled({n}).{name}(bid(0), {x})")
                continue
            a, lane = k.array("inout", dtype, (2 * n,), content), f"{2 * n} - arange({n}) - bid(0) * {n}"
            for order in ("acq_rel", "relaxed") if n == 64 else ("acq_rel",):
                mask = f", mask = {k.tile('bool', (n,))}" if order == "relaxed" else ""
                k.store(f"{a}.{name}({lane}, {extra}{x}, order = {order}{mask})", dtype, (n,))
            if name not in ("atomic_cas", "atomic_xchg"):  # many lanes and both blocks at the same elements
                few = 4 if dtype in INTS else max(n // 4, 1)  # bf16 counts to 256
                b = k.array("inout", dtype, (few,), content)
                k.line(f"{b}.{name}(arange({n}) % {few}, {x})")
        yield k


# ------------------------------------------------------------------------------------------------------------ products
PAIRS = [("f16", "f16", a) for a in ("f16", "f32")] + [("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"),
                                                       ("f32", "f32", "f32"), ("f64", "f64", "f64")]
PAIRS += [(a, b, acc) for a in ("f8e4m3", "f8e5m2") for b in ("f8e4m3", "f8e5m2") for acc in ("f16", "f32")]
PAIRS += [(a, b, "i32") for a in ("i8", "u8") for b in ("i8", "u8")]
SIZES = ((16, 16, 16), (64, 32, 64), (1, 8, 4), (2, 2, 128), (32, 64, 8))


def whole_tile(k, dtype, shape):
    """A tile of small whole numbers: their products and sums are exact in every order."""
    if dtype in NUMBERS:
        return k.tile(dtype, shape, "any" if dtype in INTS else "randint:-2,3")
    return k.let(f"{k.tile('f32', shape, 'randint:-2,3')}.to({dtype})")


@covers("mma")
def multiplied(folder, label):
    for a, b, acc in PAIRS:
        k = Kernel(folder, label, a, "" if (b, acc) == (a, a) else f"{b} {acc}")
        for m, n, depth in SIZES:
            x, y = whole_tile(k, a, (m, depth)), whole_tile(k, b, (depth, n))
            k.store(f"mma({x}, {y}, {whole_tile(k, acc, (m, n))})", acc, (m, n))
            if acc == "f32" and a == b:
                k.store(f"{x} @ {y}", {"tf32": "f32", "f8e4m3": "f32", "f8e5m2": "f32"}.get(a, a), (m, n))
        x, y = whole_tile(k, a, (2, 16, 32)), whole_tile(k, b, (2, 32, 8))
        k.store(f"mma({x}, {y}, zeros<{acc}>(2, 16, 8))", acc, (2, 16, 8))
        yield k


@covers("mma_scaled")
def scaled(folder, label):
    ways = [(a, b, "f8e8m0", 32) for a in ("f8e4m3", "f8e5m2") for b in ("f8e4m3", "f8e5m2")]
    ways += [("f4e2m1", "f4e2m1", "f8e8m0", 32), ("f4e2m1", "f4e2m1", "f8e8m0", 16), ("f4e2m1", "f4e2m1", "f8e4m3", 16)]
    for a, b, scale, width in ways:
        k = Kernel(folder, label, a, f"{b} {scale} {width}")
        for m, n, depth in ((16, 16, 64), (64, 32, 128), (1, 2, 32)):
            sides = []
            for dtype, shape, scales in ((a, (m, depth), (m, depth // width)), (b, (depth, n), (depth // width, n))):
                s = k.tile("f32", scales, "randint:0,2")
                sides += [whole_tile(k, dtype, shape), k.let(f"({s} + 1.0).to({scale})")]
            x, sx, y, sy = sides
            k.store(f"mma_scaled({x}, {sx}, {y}, {sy}, {whole_tile(k, 'f32', (m, n))})", "f32", (m, n))
        yield k


# ------------------------------------------------------------------------------------------------- what programs ask
def answers(folder, label, expressions, dtype="i32"):
    k = Kernel(folder, label, dtype)
    for expression in expressions:
        k.store(f"full<{dtype}>(4, value = {expression})", dtype, (4,))
    return k


@covers("dtype@tile", "rank@tile", "shape@tile", "dtype@array", "rank@array", "shape@array", "dtype@view", "rank@view",
        "tile@view")
def asked(folder, label):
    name, receiver = label.split("@")
    for dtype in BITS:
        k = Kernel(folder, label, dtype)
        for s in shapes_of(dtype):
            x = k.array("in", dtype, k.ragged(s, dtype), "any")
            view = f"{x}.tiled({text(s)}, padding = 0)"
            of = {"tile": f"{view}.load({k.at(s)})", "array": x, "view": view}[receiver]
            if name == "dtype":
                k.store(f"full<i32>(4, value = if {of}.dtype == {dtype} {{ 1 }} else {{ 0 }})", "i32", (4,))
            elif name == "rank":
                k.store(f"full<i32>(4, value = {of}.rank)", "i32", (4,))
            else:
                for axis in range(len(s)):
                    k.store(f"full<i32>(4, value = {of}.{name}({axis}))", "i32", (4,))
        yield k


@covers("bits@dtype", "max@dtype", "lowest@dtype", "eps@dtype", "is_float@dtype", "is_signed@dtype")
def of_dtypes(folder, label):
    name = name_of(label)
    for dtype in BITS:
        if dtype == "bool" and name != "bits" or name == "eps" and (dtype in INTS or dtype == "bool"):
            continue
        if name.startswith("is_"):
            yield answers(folder, f"{label} {dtype}", [f"if {dtype}.{name} {{ 1 }} else {{ 0 }}"])
        elif name == "bits":
            yield answers(folder, f"{label} {dtype}", [f"{dtype}.bits"])
        else:
            k = Kernel(folder, label, dtype)
            k.store(f"full<{dtype}>(64, value = {dtype}.{name})", dtype, (64,))
            yield k


@covers("next_pow2@free", "prev_pow2@free", "ilog2@free", "is_pow2@free")
def powers(folder, label):
    name = name_of(label)
    forms = [f"{name}({n})" for n in (1, 2, 3, 64, 1000)]
    yield answers(folder, label, [f"{form}.to(i32)" if name == "is_pow2" else form for form in forms])


@covers("by_arch@free", "has@target", "bid@free", "num_blocks@free", "static_assert@free", "num_sms@free",
        "resident_blocks@free", "range@free", "pow2@free", "print@free", "assert@free", "assume_divisible",
        "grid_dependency_wait@free", "grid_dependency_launch@free")
def said(folder, label):
    """One small kernel each; `--arch` where the CPU would have none."""
    name = name_of(label)
    forms = {"by_arch": "by_arch(sm_90 = 3, default = 4)", "has": "if target.has(tma) { 1 } else { 0 }",
             "bid": "bid(0) * 10 + bid(1)", "num_blocks": "num_blocks(0) * 10 + num_blocks(2)",
             "assume_divisible": "assume_divisible(bid(0) * 16, 16) / 8"}
    k = answers(folder, label, [forms.get(name, "bid(0) + num_blocks(1)")])
    lines = {"static_assert": "static_assert(i8.max == 127, \"i8\")", "print": "print(\"block {}\", bid(0))",
             "assert": "assert(bid(0) >= 0, \"blocks count from 0\")", "grid_dependency_wait": "grid_dependency_wait()",
             "grid_dependency_launch": "grid_dependency_launch()"}
    if name in lines:
        k.lines.insert(0, lines[name])
    if name == "range":
        k.lines.insert(0, "var s = 0\n    for i in range(bid(0), 20, 3) { s += i }")
        k.store("full<i32>(4, value = s)", "i32", (4,))
    k.grid = {"num_sms": "min(num_sms(), 2)", "resident_blocks": "min(resident_blocks(), 2)"}.get(name, 2)
    if name == "pow2":
        k.parameters = "<N: int = 4 in pow2(2, 8)>"
    if name in ("by_arch", "has", "num_sms", "resident_blocks"):
        k.options = ["--arch", "sm_90"]
    yield k
