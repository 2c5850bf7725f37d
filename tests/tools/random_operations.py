"""Operations of random programs. Each takes values of the pool, writes a line or a few, and adds what they give.

What a program computes is defined to the bit: integers wrap, elementwise operations of floats round once, and floats
whose sum would depend on the order hold small whole numbers (`bound`). Functions with an error give `loose` values,
which only operations that keep the error may take.
"""
from random_memory import Memory
from random_values import FLOATS, INTS, MOST_ELEMENTS, WIDTHS, both, count_of, shape_text, tuple_text

FUNCTIONS = ("exp2({})", "exp({})", "sin({})", "cos({})", "tanh({})", "log2(abs({}) + 1.0)", "rsqrt(abs({}) + 1.0)",
             "erf({})", "log(abs({}) + 2.0)")
LAST = "fn(l, r) { where(r == 0, l, r) }"  # the last number that is not zero: associative, does not commute


class Operations(Memory):
    """The operations; random_program.py has what they stand on."""

    # ----------------------------------------------------------------------------------------------------- elementwise
    def literal(self, value):
        number = self.rng.randint(-3 if value.is_signed else 0, 5)
        return f"{number}.0" if value.is_float else str(number)

    def unary(self, depth):
        v = self.pick(lambda v: v.dtype != "bool")
        if not v:
            return
        if v.is_int:
            forms = ("~{}", "popcount({})") + (("-{}", "abs({})") if v.is_signed else ())
            self.let(self.rng.choice(forms).format(v.name), v.dtype, v.shape)
        else:
            form = self.rng.choice(("-{}", "abs({})", "floor({})", "ceil({})", "round({} * 0.5)", "sqrt(abs({}))"))
            self.let(form.format(v.name), v.dtype, v.shape, 0 if "sqrt" in form else v.bound)

    def binary(self, depth):
        v = self.pick(lambda v: v.dtype != "bool")
        if not v:
            return
        w = self.like(v)
        same = self.chance(0.8)
        other, bound = (w.name, w.bound) if same else (self.literal(v), 5)
        if v.is_int:
            forms = ["{} + {}", "{} - {}", "{} * {}", "min({}, {})", "max({}, {})", "{} & {}", "{} | {}", "{} ^ {}"]
            if same:
                forms += ["{} << ({} & 7)", "{} >> ({} & 7)", "{} / ({} & 7 | 1)", "{} % ({} & 15 | 1)",
                          "mulhi({}, {})", "truncdiv({}, {} & 7 | 1)", "truncmod({}, {} & 7 | 1)",
                          "cdiv({}, {} & 7 | 1)"]
            self.let(self.rng.choice(forms).format(v.name, other), v.dtype, v.shape)
            return
        form, bound = self.rng.choice((("{} + {}", v.bound + bound), ("{} - {}", v.bound + bound),
                                       ("{} * {}", v.bound * bound), ("min({}, {})", max(v.bound, bound)),
                                       ("max({}, {})", max(v.bound, bound))))
        self.let(form.format(v.name, other), v.dtype, v.shape, bound if v.bound and (w.bound or not same) else 0)

    def outer(self, depth):
        """Axes of extent 1 against one another."""
        v = self.pick(lambda v: len(v.shape) == 1 and v.dtype != "bool")
        w = v and self.pick(lambda w: len(w.shape) == 1 and w.dtype == v.dtype
                            and w.elements * v.elements <= MOST_ELEMENTS)
        if w:
            self.let(f"{v.name}[:, none] + {w.name}[none, :]", v.dtype, v.shape + w.shape,
                     both(v, w, v.bound + w.bound))

    def divide(self, depth):
        v = self.pick(lambda v: v.is_float)
        if v:
            self.let(f"{v.name} / (abs({self.like(v).name}) + 1.0)", v.dtype, v.shape)

    def fused(self, depth):
        v = self.pick(lambda v: v.is_float)
        if v:
            w, u = self.like(v), self.like(v)
            form = self.rng.choice(("fma({}, {}, {})", "{} * {} + {}", "{} * {} - {}"))
            bound = v.bound * w.bound + u.bound
            self.let(form.format(v.name, w.name, u.name), v.dtype, v.shape, both(v, w, bound) if u.bound else 0)

    def function_of(self, depth):
        v = self.pick(lambda v: v.is_float)
        if v:
            self.let(self.rng.choice(FUNCTIONS).format(v.name), v.dtype, v.shape, 0, True)

    def compare(self, depth):
        v = self.pick(lambda v: v.dtype != "bool")
        if v:
            sign = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
            self.let(f"{v.name} {sign} {self.like(v).name}", "bool", v.shape)

    def logic(self, depth):
        v = self.pick(lambda v: v.dtype == "bool")
        if v:
            form = self.rng.choice(("{} && {}", "{} || {}", "!{} || {}", "{} == {}", "{} ^ {}"))
            self.let(form.format(v.name, self.like(v).name), "bool", v.shape)

    def select(self, depth):
        c = self.pick(lambda v: v.dtype == "bool")
        v = c and self.pick(lambda v: v.shape == c.shape and v.dtype != "bool", True)
        if v:
            w = self.like(v, True)
            self.let(f"where({c.name}, {v.name}, {w.name})", v.dtype, v.shape, both(v, w, max(v.bound, w.bound)),
                     v.loose or w.loose)

    def clamp(self, depth):
        v = self.pick(lambda v: v.is_int or v.is_float and v.bound)
        if v:
            low, high = ("-4", "4") if v.is_signed else ("0", "4")
            dot = ".0" if v.is_float else ""
            self.let(f"clamp({v.name}, {low}{dot}, {high}{dot})", v.dtype, v.shape, 4)

    def convert(self, depth):
        v = self.pick()
        to = v and self.rng.choice(tuple(INTS) + tuple(FLOATS) * 2)
        if not to:
            return
        if v.dtype == "bool":
            self.let(f"{v.name}.to({to})", to, v.shape, 1)
        elif v.is_float and self.chance(0.2):
            narrow, most = self.rng.choice((("f8e4m3", 16), ("f8e5m2", 8), ("tf32", 2048)))
            if v.dtype != "f64" or narrow != "tf32":
                self.let(f"{v.name}.to({narrow}).to({to})", to, v.shape,
                         v.bound if v.bound <= most and to[0] != "u" else 0)
        else:
            saturate = ", saturate = true" if self.chance(0.3) and v.is_int == (to in INTS) else ""
            self.let(f"{v.name}.to({to}{saturate})", to, v.shape, v.bound if to[0] != "u" or v.dtype[0] == "u" else 0)

    def bits(self, depth):
        """Bits of floats are those of whole numbers: a NaN has many."""
        v = self.pick(lambda v: v.is_int or v.is_float and v.bound)
        if v:
            to = self.rng.choice([d for d in WIDTHS if WIDTHS[d] == WIDTHS[v.dtype] and d != v.dtype])
            text = f"({v.name} + 0.0)" if v.is_float else v.name  # one zero
            self.let(f"bitcast<{to}>({text})", to, v.shape)

    # ------------------------------------------------------------------------------------------------------- folds
    def reduce(self, depth):
        v = self.pick(lambda v: v.shape)
        if not v:
            return
        axes, keep = self.rng.sample(range(len(v.shape)), self.rng.randint(1, min(2, len(v.shape)))), self.chance(0.5)
        n = count_of([v.shape[axis] for axis in axes])
        shape = [1 if i in axes else e for i, e in enumerate(v.shape) if keep or i not in axes]
        tail = f"axis = {tuple_text(axes) if len(axes) > 1 else axes[0]}" + (", keepdims = true" if keep else "")
        if v.dtype == "bool":
            form = self.rng.choice(("any", "all", "sum"))
            self.let(f"{form}({v.name}, {tail})", "i32" if form == "sum" else "bool", shape, n if form == "sum" else 0)
            return
        forms = ["min", "max", "argmax", "argmin"]
        if v.is_int or v.bound and v.bound * n <= FLOATS[v.dtype]:
            forms += ["sum", "sum"] + (["prod"] if v.is_int else [])
        form = self.rng.choice(forms)
        wide = {8: "32", 16: "32"}.get(INTS.get(v.dtype), "")
        dtype = "i32" if form.startswith("arg") else v.dtype[0] + wide if form in ("sum", "prod") and wide else v.dtype
        # Positions of several axes count them as one.
        bound = {"sum": v.bound * n, "min": v.bound, "max": v.bound, "prod": 0}.get(form, n)
        nan = ", propagate_nan = true" if v.is_float and form not in ("sum", "prod") and self.chance(0.3) else ""
        self.let(f"{form}({v.name}, {tail}{nan})", dtype, shape, bound)

    def scan(self, depth):
        v = self.pick(lambda v: v.shape and (WIDTHS.get(v.dtype, 0) >= 32 and v.is_int or v.is_float and v.bound
                                             and v.bound * 32 <= FLOATS[v.dtype]))
        if v:
            axis = self.rng.randrange(len(v.shape))
            tail = self.rng.choice(("", ", reverse = true", ", exclusive = true", ", reverse = true, exclusive = true"))
            if v.is_int and self.chance(0.5):
                combine = f", identity = 0, combine = {LAST}" if self.chance(0.5) else ""
                form = "scan" if combine else "cumprod"
                self.let(f"{form}({v.name}, axis = {axis}{combine}{tail})", v.dtype, v.shape)
            else:
                self.let(f"cumsum({v.name}, axis = {axis}{tail})", v.dtype, v.shape, v.bound * v.shape[axis])

    def fold(self, depth):
        """Reductions by functions, of a tile and of two together."""
        v = self.pick(lambda v: v.shape and v.dtype != "bool")
        if not v:
            return
        axis = self.rng.randrange(len(v.shape))
        shape = [e for i, e in enumerate(v.shape) if i != axis]
        w = self.pick(lambda w: w.is_int and w.shape == v.shape)
        if w and (v.is_int or v.bound) and self.chance(0.5):  # a NaN is neither larger nor smaller
            pair = self.fresh("pair")
            self.line(f"let {pair} = reduce(({v.name}, {w.name}), axis = {axis}, identity = ({v.dtype}.lowest, 0), "
                      "combine = fn(l, r) { (where(r.0 > l.0, r.0, l.0), where(r.0 > l.0, r.1, l.1)) })")
            self.let(f"{pair}.0", v.dtype, shape)
            self.let(f"{pair}.1", w.dtype, shape)
        else:
            self.let(f"reduce({v.name}, axis = {axis}, identity = 0, combine = {LAST})", v.dtype, shape)

    # ------------------------------------------------------------------------------------------------------- shapes
    def reshape(self, depth):
        v = self.pick(lambda v: v.elements > 1, True)
        if not v:
            return
        left, shape = v.elements, []
        while left > 1 and len(shape) < 3:
            shape.append(self.rng.choice([e for e in (2, 4, 8, 16, 32) if e <= left and left % e == 0]))
            left //= shape[-1]
        if left > 1:
            shape.append(left)
        self.rng.shuffle(shape)
        self.let(f"reshape({v.name}, {shape_text(shape)})", v.dtype, shape, v.bound, v.loose)

    def permute(self, depth):
        v = self.pick(lambda v: len(v.shape) > 1, True)
        if v:
            axes = list(range(len(v.shape)))
            self.rng.shuffle(axes)
            text = f"{v.name}.T" if axes == [1, 0] and self.chance(0.5) else f"permute({v.name}, {shape_text(axes)})"
            self.let(text, v.dtype, [v.shape[a] for a in axes], v.bound, v.loose)

    def broadcast(self, depth):
        v = self.pick(lambda v: v.shape and len(v.shape) < 4, True)
        if not v:
            return
        shape = [self.rng.choice((2, 4, 8)) if e == 1 else e for e in v.shape]
        if self.chance(0.5):
            shape = [self.rng.choice((1, 2, 4))] + shape
        if count_of(shape) <= MOST_ELEMENTS and tuple(shape) != v.shape:
            self.let(f"broadcast({v.name}, {shape_text(shape)})", v.dtype, shape, v.bound, v.loose)

    def cat(self, depth):
        v = self.pick(lambda v: v.shape and v.elements * 2 <= MOST_ELEMENTS, True)
        if v:
            w, axis = self.like(v, True), self.rng.randrange(len(v.shape))
            shape = [e * 2 if i == axis else e for i, e in enumerate(v.shape)]
            self.let(f"cat({v.name}, {w.name}, axis = {axis})", v.dtype, shape, both(v, w, max(v.bound, w.bound)),
                     v.loose or w.loose)

    def part_at(self, whole, part):
        """Which part: known while compiling, or chosen by the block."""
        scalar = self.pick(lambda v: v.dtype == "i32" and not v.shape)
        runtime = f"({scalar.name} & {{}})" if scalar and self.chance(0.5) else "(bid(0).to(i32) & {})"
        return [runtime.format(e // p - 1) if self.chance(0.3) else self.rng.randrange(e // p)
                for e, p in zip(whole, part)]

    def extract(self, depth):
        v = self.pick(lambda v: any(e > 1 for e in v.shape), True)
        if v:
            part = [max(1, e // self.rng.choice((1, 2, 4))) for e in v.shape]
            at = shape_text(self.part_at(v.shape, part))
            self.let(f"extract({v.name}, {at}, shape = {tuple_text(part)})", v.dtype, part, v.bound, v.loose)

    def insert(self, depth):
        v = self.pick(lambda v: any(e > 1 for e in v.shape))
        w = v and self.pick(lambda w: w.dtype == v.dtype and len(w.shape) == len(v.shape) and w.shape != v.shape
                            and all(a <= b for a, b in zip(w.shape, v.shape)))
        if w:
            self.let(f"insert({v.name}, {shape_text(self.part_at(v.shape, w.shape))}, {w.name})", v.dtype, v.shape,
                     both(v, w, max(v.bound, w.bound)))

    def product(self, depth):
        m, n, k = (self.rng.choice((1, 2, 4, 8, 16, 32)) for _ in range(3))
        dtype, acc = self.rng.choice((("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("i8", "i32"), ("u8", "i32"),
                                      ("f32", "f32"), ("f64", "f64"), ("f8e4m3", "f32"), ("f8e5m2", "f16"),
                                      ("tf32", "f32")))
        sides = []
        for shape in ((m, k), (k, n)):
            v = self.pick(lambda v: v.elements == count_of(shape) and (v.is_int or v.is_float) and 0 < v.bound <= 4
                          and (v.is_signed or dtype[0] == "u") and (v.dtype[0] == "u" or dtype[0] != "u"))
            if v:
                text = v.name if v.shape == shape else f"reshape({v.name}, {shape_text(shape)})"
                sides.append(text if v.dtype == dtype else f"{text}.to({dtype})")
            else:
                start, low = self.rng.randint(0, 3), 0 if dtype[0] == "u" else 3
                numbers = f"(arange({count_of(shape)}, start = {start}) % 5 - {low}).to({dtype})"
                sides.append(f"reshape({numbers}, {shape_text(shape)})")
        self.let(f"mma({sides[0]}, {sides[1]}, zeros<{acc}>({m}, {n}))", acc, (m, n), 16 * k)

    WEIGHTS = {"unary": 3, "binary": 8, "outer": 1, "divide": 2, "fused": 2, "function_of": 1, "compare": 2, "logic": 2,
               "select": 2, "clamp": 2, "convert": 3, "bits": 2, "reduce": 5, "scan": 2, "fold": 1, "reshape": 2,
               "permute": 2, "broadcast": 2, "cat": 2, "extract": 2, "insert": 2, "product": 2, "gather": 1,
               "scatter": 1, "atomic": 1, "through_memory": 1, "stream": 1, "load": 1}

    def compute(self, depth):
        name, = self.rng.choices(list(self.WEIGHTS), list(self.WEIGHTS.values()))
        getattr(self, name)(depth)
