#!/usr/bin/env python3
"""Random kernels: well-typed programs of 5 to 60 operations with loops and branches, and what to run them with.

usage: random_kernels.py SEED            prints the program of a seed, with its arguments as a comment
       random_kernels.py TILEC FIRST N   checks, runs and compiles N programs (tests/random.test)

What a program computes is defined to the bit: integers wrap, elementwise float operations round once, and floats whose
sum would depend on the order hold small whole numbers. So every result is compared exactly.
"""
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
# Whole numbers up to here are exact in the dtype.
FLOATS = {"f16": 2048, "bf16": 256, "f32": 1 << 24, "f64": 1 << 53}
INPUTS = ("i32", "f32", "f16", "bf16", "i8", "i64", "u16")
EXTENTS = (1, 2, 4, 8, 16, 32)
MOST_ELEMENTS = 4096
# What hints may not change.
SETTINGS = ((), ("num_worker_warps=1",), ("num_worker_warps=8", "occupancy=2"), ("num_worker_warps=2", "occupancy=4"))


@dataclass(frozen=True)
class Value:
    """A tile in scope. `bound`: a float's elements are whole numbers up to it; 0: they are any numbers."""
    name: str
    dtype: str
    shape: tuple
    bound: int = 0

    @property
    def elements(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def is_int(self):
        return self.dtype in INTS

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_signed(self):
        return self.dtype[0] == "i" or self.is_float


def shape_text(shape):
    return ", ".join(map(str, shape))


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.indent, self.count = [], 1, 0
        self.pool = []
        self.inputs, self.outputs, self.arguments, self.extents = [], [], [], {}

    # ------------------------------------------------------------------------------------------------- plumbing
    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def let(self, text, dtype, shape, bound=0):
        if dtype in FLOATS and bound > FLOATS[dtype]:
            bound = 0
        value = Value(self.fresh(), dtype, tuple(shape), int(bound))
        self.line(f"let {value.name} = {text}")
        self.pool.append(value)
        return value

    def pick(self, wanted=lambda v: True):
        """A value of the pool, newer ones more often."""
        found = [v for v in self.pool if wanted(v)]
        if not found:
            return None
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def like(self, value):
        """Another value of the same dtype and shape, or the same one."""
        return self.pick(lambda v: v.dtype == value.dtype and v.shape == value.shape)

    def literal(self, value):
        number = self.rng.randint(0 if not value.is_signed else -3, 5)
        return f"{number}.0" if value.is_float else str(number)

    # --------------------------------------------------------------------------------------------------- inputs
    def load(self):
        dtype = self.rng.choice(INPUTS)
        rank = self.rng.choice((1, 1, 2, 2, 2, 3, 4))
        shape = [self.rng.choice(EXTENTS) for _ in range(rank)]
        while rank > 2 and Value("", dtype, tuple(shape)).elements > 1024:
            shape[self.rng.randrange(rank)] = self.rng.choice((1, 2, 4))
        name = f"x{len(self.inputs)}"
        extents = []
        for axis, extent in enumerate(shape):
            symbol = f"{name.upper()}_{axis}"
            # Ragged: less than what the blocks' tiles cover, or exactly that.
            whole = extent * (2 if axis == 0 else 1)
            self.extents[symbol] = whole if self.rng.random() < 0.4 else self.rng.randint(1, whole + 3)
            extents.append(symbol)
        self.inputs.append(f"{name}: in {dtype}[{', '.join(extents)}]")
        low = -4 if dtype[0] != "u" else 0
        self.arguments.append(f"{name}=randint:{low},5")
        indices = ", ".join(["bid(0)"] + ["0"] * (rank - 1))
        self.let(f"{name}.tiled({shape_text(shape)}, padding = 0).load({indices})", dtype, shape, 4)

    def gather(self):
        dtype = self.rng.choice(INPUTS)
        index = self.pick(lambda v: v.dtype == "i32")
        if not index:
            return
        name = f"x{len(self.inputs)}"
        self.extents[f"{name.upper()}_0"] = self.rng.randint(1, 50)
        self.inputs.append(f"{name}: in {dtype}[{name.upper()}_0]")
        self.arguments.append(f"{name}=randint:{-4 if dtype[0] != 'u' else 0},5")
        self.let(f"{name}.gather({index.name}, padding = 3)", dtype, index.shape, 4)

    # ----------------------------------------------------------------------------------------------- operations
    def unary(self):
        v = self.pick(lambda v: v.dtype != "bool")
        if not v:
            return
        if v.is_int:
            self.let(self.rng.choice(("-{}", "~{}", "abs({})", "popcount({})")).format(v.name)
                     if v.is_signed else f"~{v.name}", v.dtype, v.shape)
        else:
            form = self.rng.choice(("-{}", "abs({})", "floor({})", "round({} * 0.5)", "sqrt(abs({}))"))
            self.let(form.format(v.name), v.dtype, v.shape, 0 if "sqrt" in form else v.bound)

    def binary(self):
        v = self.pick(lambda v: v.dtype != "bool")
        if not v:
            return
        w = self.like(v)
        other = w.name if self.rng.random() < 0.8 else self.literal(v)
        bound = w.bound if other == w.name else 5
        whole = v.bound and bound
        if v.is_int:
            forms = ["{} + {}", "{} - {}", "{} * {}", "min({}, {})", "max({}, {})", "{} & {}", "{} | {}", "{} ^ {}",
                     "{} << ({} & 7)", "{} >> ({} & 7)", "{} / ({} | 1)", "{} % ({} | 1)"]
            form = self.rng.choice(forms if other == w.name else forms[:8])
            self.let(form.format(v.name, other), v.dtype, v.shape)
            return
        form, bound = self.rng.choice((("{} + {}", v.bound + bound), ("{} - {}", v.bound + bound),
                                       ("{} * {}", v.bound * bound), ("min({}, {})", max(v.bound, bound)),
                                       ("max({}, {})", max(v.bound, bound))))
        self.let(form.format(v.name, other), v.dtype, v.shape, bound if whole else 0)

    def divide(self):
        v = self.pick(lambda v: v.dtype in ("f32", "f64"))
        if v:
            w = self.like(v)
            self.let(f"{v.name} / (abs({w.name}) + 1.0)", v.dtype, v.shape)

    def fused(self):
        v = self.pick(lambda v: v.is_float)
        if v:
            w, u = self.like(v), self.like(v)
            whole = v.bound and w.bound and u.bound
            self.let(f"fma({v.name}, {w.name}, {u.name})", v.dtype, v.shape, (v.bound * w.bound + u.bound) if whole else 0)

    def compare(self):
        v = self.pick(lambda v: v.dtype != "bool")
        if v:
            w = self.like(v)
            self.let(f"{v.name} {self.rng.choice(('<', '<=', '>', '==', '!='))} {w.name}", "bool", v.shape)

    def logic(self):
        v = self.pick(lambda v: v.dtype == "bool")
        if v:
            w = self.like(v)
            self.let(self.rng.choice(("{} && {}", "{} || {}", "!{} || {}")).format(v.name, w.name), "bool", v.shape)

    def select(self):
        c = self.pick(lambda v: v.dtype == "bool")
        v = c and self.pick(lambda v: v.shape == c.shape and v.dtype != "bool")
        if v:
            w = self.like(v)
            self.let(f"where({c.name}, {v.name}, {w.name})", v.dtype, v.shape,
                     max(v.bound, w.bound) if v.bound and w.bound else 0)

    def clamp(self):
        v = self.pick(lambda v: v.is_float and v.bound or v.is_int)
        if v:
            low, high = ("-4", "4") if v.is_signed else ("0", "4")
            dot = ".0" if v.is_float else ""
            self.let(f"clamp({v.name}, {low}{dot}, {high}{dot})", v.dtype, v.shape, 4)

    def convert(self):
        v = self.pick()
        to = self.rng.choice(tuple(INTS) + tuple(FLOATS))
        if v.dtype == "bool":
            self.let(f"{v.name}.to({to})", to, v.shape, 1)
        elif v.is_float and to in INTS or v.is_float and to in FLOATS:
            self.let(f"{v.name}.to({to})", to, v.shape, v.bound)
        else:
            self.let(f"{v.name}.to({to})", to, v.shape, 4 if v.bound == 4 and to in FLOATS else 0)

    def bits(self):
        v = self.pick(lambda v: v.dtype in ("f32", "i32", "u32", "f16", "bf16", "i16", "u16"))
        if v:
            same = {"f32": "u32", "i32": "u32", "u32": "i32"}.get(v.dtype, "u16" if v.dtype != "u16" else "i16")
            self.let(f"bitcast<{same}>({v.name})", same, v.shape)

    # ---------------------------------------------------------------------------------------------------- shapes
    def reduce(self):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        axis = self.rng.randrange(len(v.shape))
        n, keep = v.shape[axis], self.rng.random() < 0.5
        shape = [1 if i == axis else e for i, e in enumerate(v.shape) if keep or i != axis]
        tail = f"axis = {axis}" + (", keepdims = true" if keep else "")
        if v.dtype == "bool":
            self.let(f"{self.rng.choice(('any', 'all'))}({v.name}, {tail})", "bool", shape)
            return
        forms = ["min", "max", "argmax", "argmin"]
        if v.is_int:
            forms += ["sum", "sum"] + (["prod"] if INTS[v.dtype] >= 32 else [])
        elif v.bound and v.bound * n <= FLOATS[v.dtype]:
            forms += ["sum", "sum"]
        form = self.rng.choice(forms)
        dtype = {"argmax": "i32", "argmin": "i32"}.get(form, v.dtype)
        # Sums of narrow integers are widened by the language; converting first says what is meant.
        text = f"{v.name}.to(i32)" if form == "sum" and v.is_int and INTS[v.dtype] < 32 else v.name
        if text != v.name:
            dtype = "i32"
        self.let(f"{form}({text}, {tail})", dtype, shape, v.bound * n if form == "sum" else v.bound)

    def scan(self):
        v = self.pick(lambda v: v.shape and (v.dtype in ("i32", "i64", "u32", "u64") or v.is_float and v.bound
                                             and v.bound * 32 <= FLOATS[v.dtype]))
        if v:
            axis = self.rng.randrange(len(v.shape))
            tail = self.rng.choice(("", ", reverse = true", ", exclusive = true"))
            self.let(f"cumsum({v.name}, axis = {axis}{tail})", v.dtype, v.shape, v.bound * 32)

    def fold(self):
        """A reduction by a function that does not commute: the last element that is not zero."""
        v = self.pick(lambda v: v.shape and v.dtype in ("i32", "i64"))
        if v:
            axis = self.rng.randrange(len(v.shape))
            shape = [e for i, e in enumerate(v.shape) if i != axis]
            self.let(f"reduce({v.name}, axis = {axis}, identity = 0, combine = fn(l, r) {{ where(r == 0, l, r) }})",
                     v.dtype, shape)

    def reshape(self):
        v = self.pick(lambda v: v.elements > 1)
        if not v:
            return
        left, shape = v.elements, []
        while left > 1 and len(shape) < 3:
            extent = self.rng.choice([e for e in (2, 4, 8, 16, 32) if e <= left and left % e == 0])
            shape.append(extent)
            left //= extent
        if left > 1:
            shape.append(left)
        self.rng.shuffle(shape)
        self.let(f"reshape({v.name}, {shape_text(shape)})", v.dtype, shape, v.bound)

    def permute(self):
        v = self.pick(lambda v: len(v.shape) > 1)
        if v:
            axes = list(range(len(v.shape)))
            self.rng.shuffle(axes)
            self.let(f"permute({v.name}, {shape_text(axes)})", v.dtype, [v.shape[a] for a in axes], v.bound)

    def broadcast(self):
        v = self.pick(lambda v: v.shape and len(v.shape) < 4)
        if not v:
            return
        shape = [self.rng.choice((2, 4, 8)) if e == 1 else e for e in v.shape]
        if self.rng.random() < 0.5:
            shape = [self.rng.choice((1, 2, 4))] + shape
        if Value("", v.dtype, tuple(shape)).elements <= MOST_ELEMENTS and tuple(shape) != v.shape:
            self.let(f"broadcast({v.name}, {shape_text(shape)})", v.dtype, shape, v.bound)

    def cat(self):
        v = self.pick(lambda v: v.shape and v.elements * 2 <= MOST_ELEMENTS)
        if v:
            w, axis = self.like(v), self.rng.randrange(len(v.shape))
            shape = [e * 2 if i == axis else e for i, e in enumerate(v.shape)]
            self.let(f"cat({v.name}, {w.name}, axis = {axis})", v.dtype, shape,
                     max(v.bound, w.bound) if v.bound and w.bound else 0)

    def extract(self):
        v = self.pick(lambda v: any(e > 1 for e in v.shape))
        if v:
            part = [max(1, e // self.rng.choice((1, 2, 4))) for e in v.shape]
            at = [self.rng.randrange(e // p) for e, p in zip(v.shape, part)]
            tail = "(" + shape_text(part) + ("," if len(part) == 1 else "") + ")"
            self.let(f"extract({v.name}, {shape_text(at)}, shape = {tail})", v.dtype, part, v.bound)

    def insert(self):
        v = self.pick(lambda v: any(e > 1 for e in v.shape))
        w = v and self.pick(lambda w: w.dtype == v.dtype and len(w.shape) == len(v.shape) and w.shape != v.shape
                            and all(a <= b for a, b in zip(w.shape, v.shape)))
        if w:
            at = [self.rng.randrange(e // p) for e, p in zip(v.shape, w.shape)]
            self.let(f"insert({v.name}, {shape_text(at)}, {w.name})", v.dtype, v.shape,
                     max(v.bound, w.bound) if v.bound and w.bound else 0)

    def product(self):
        m, n, k = (self.rng.choice((2, 4, 8, 16, 32)) for _ in range(3))
        dtype = self.rng.choice(("f16", "bf16", "i8", "f32"))
        sides = []
        for shape in ((m, k), (k, n)):
            v = self.pick(lambda v: v.shape == shape and v.dtype == dtype and (v.is_int or 0 < v.bound <= 8))
            if not v:
                seed = self.pick(lambda v: v.is_int)
                if not seed:
                    return
                start = self.rng.randint(0, 3)
                steps = f"arange({m * k if shape == (m, k) else k * n}, start = {start})"
                v = self.let(f"reshape(({steps} % 7 - 3).to({dtype}), {shape_text(shape)})", dtype, shape, 4)
            sides.append(v)
        a, b = sides
        acc = "i32" if dtype == "i8" else "f32"
        self.let(f"mma({a.name}, {b.name}, zeros<{acc}>({m}, {n}))", acc, (m, n), a.bound * b.bound * k)

    # ---------------------------------------------------------------------------------------------------- control
    def body(self, result, depth):
        """A few operations in a block of their own that ends in a value like `result`; its expression."""
        outside = list(self.pool)
        self.indent += 1
        for _ in range(self.rng.randint(1, 3)):
            self.operation(depth + 1)
        found = [v for v in self.pool if v.dtype == result.dtype and v.shape == result.shape]
        last = found[-1] if found else result
        self.indent -= 1
        self.pool = outside
        return last

    def loop(self, depth):
        start = self.pick(lambda v: v.is_int or v.dtype == "bool")
        if not start or depth > 1:
            return
        name, trips, counter = self.fresh("sum"), self.rng.randint(0, 4), self.fresh("trip")
        self.line(f"var {name} = {start.name}")
        carried = Value(name, start.dtype, start.shape)
        kind = self.rng.choice(("for", "for", "while", "static"))
        if kind == "while":
            self.line(f"var {counter} = 0")
            self.line(f"while {counter} < {trips} + bid(0) {{")
        else:
            bound = str(trips) if kind == "static" else f"{trips} + bid(0)"
            self.line(f"{'static ' if kind == 'static' else ''}for {counter} in 0..{bound} {{")
        outside = list(self.pool)
        self.pool = outside + [carried] * 3
        last = self.body(carried, depth)
        self.indent += 1
        if kind != "static" and self.rng.random() < 0.3:
            if kind == "while":
                self.line(f"{counter} += 1")
            self.line(f"if {counter} == 2 {{ {self.rng.choice(('break', 'continue'))} }}")
        elif kind == "while":
            self.line(f"{counter} += 1")
        if start.dtype == "bool":
            self.line(f"{name} = {name} != {last.name}")
        else:
            self.line(f"{name} = {name} {self.rng.choice(('+', '^', '-'))} {last.name}")
        self.indent -= 1
        self.line("}")
        self.pool = outside
        self.let(name, start.dtype, start.shape)

    def branch(self, depth):
        v = self.pick()
        if depth > 1:
            return
        name = self.fresh("arm")
        scalar = self.pick(lambda w: w.dtype in ("i32", "i64"))
        condition = self.rng.choice(("bid(0) == 0", "bid(0) % 2 == 1",
                                     f"sum({scalar.name}) > 3" if scalar else "bid(0) > 0"))
        self.line(f"let {name} = if {condition} {{")
        first = self.body(v, depth)
        self.lines.append("    " * (self.indent + 1) + first.name)
        self.line("} else {")
        second = self.body(v, depth)
        self.lines.append("    " * (self.indent + 1) + second.name)
        self.line("}")
        bound = max(first.bound, second.bound) if first.bound and second.bound else 0
        self.let(name, v.dtype, v.shape, bound)

    OPERATIONS = ("unary", "binary", "binary", "binary", "divide", "fused", "compare", "logic", "select", "clamp",
                  "convert", "bits", "reduce", "reduce", "scan", "fold", "reshape", "permute", "broadcast", "cat",
                  "extract", "insert", "product", "gather")

    def operation(self, depth=0):
        kind = self.rng.random()
        if kind < 0.06:
            self.loop(depth)
        elif kind < 0.12:
            self.branch(depth)
        else:
            getattr(self, self.rng.choice(self.OPERATIONS))()

    def store(self, value):
        name = f"y{len(self.outputs)}"
        shape = value.shape or (1,)
        extents = []
        for axis, extent in enumerate(shape):
            symbol = f"{name.upper()}_{axis}"
            whole = extent * (2 if axis == 0 else 1)
            self.extents[symbol] = whole if self.rng.random() < 0.5 else self.rng.randint(1, whole)
            extents.append(symbol)
        self.outputs.append(f"{name}: out {value.dtype}[{', '.join(extents)}]")
        indices = ", ".join(["bid(0)"] + ["0"] * (len(shape) - 1))
        text = value.name if value.shape else f"reshape({value.name}, 1)"
        self.line(f"{name}.tiled({shape_text(shape)}).store({indices}, {text})")

    def program(self):
        for _ in range(self.rng.randint(1, 3)):
            self.load()
        for _ in range(self.rng.randint(5, 60)):
            self.operation()
        # The last value, and others that nothing may have used.
        chosen = [self.pool[-1]] + self.rng.sample(self.pool, min(len(self.pool), 3))
        for value in dict.fromkeys(chosen):
            self.store(value)
        signature = ",\n    ".join(self.inputs + self.outputs)
        text = f"kernel k(\n    {signature},\n)\ngrid (2)\n{{\n" + "\n".join(self.lines) + "\n}\n"
        defines = ",".join(f"{symbol}={value}" for symbol, value in self.extents.items())
        return text, ["-D", defines, *self.arguments]


def program(seed):
    """(text, arguments of `tilec run`) of a seed."""
    return Generator(seed).program()


def settings(seed):
    """Hint settings under which the results may not differ, as arguments."""
    return [[a for hint in hints for a in ("--hint", hint)] for hints in SETTINGS]


# ------------------------------------------------------------------------------------------------------ without a GPU
def examine(tilec, folder, seed):
    """Checks, runs and compiles one program; what is wrong, or nothing."""
    text, arguments = program(seed)
    path = Path(folder) / f"seed{seed}.tile"
    path.write_text(text)
    hints = settings(seed)[seed % len(SETTINGS)]
    calls = [["check", path], ["run", path, "--device", "cpu", "--seed", seed, *arguments]]
    calls += [["build", path, "--arch", arch, *hints, "--emit=ptx", "-o", f"{path}.ptx"] for arch in ("sm_80", "sm_90")]
    for call in calls:
        command = [tilec, *map(str, call)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            output, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            output, code = "no end", 124
        if code:
            return f"seed {seed}: exit {code}: {' '.join(command)}\n{output[:3000]}"
    return None


def main():
    if len(sys.argv) == 2:
        text, arguments = program(int(sys.argv[1]))
        print(f"# tilec run --seed {sys.argv[1]} {' '.join(arguments)}\n{text}", end="")
        return 0
    tilec, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        faults = [f for f in pool.map(lambda seed: examine(tilec, folder, seed), range(first, first + count)) if f]
    print("\n".join(faults))
    print(f"{count} programs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
