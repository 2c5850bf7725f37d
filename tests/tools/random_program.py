"""Random programs: values in scope, and control flow around the operations of random_operations.py."""
import random
import re

from random_operations import Operations
from random_values import FLOATS, INTS, Value, count_of

MOST_OUTPUTS = 8


class Program(Operations):
    """A program of a seed. `pool` holds the values in scope, `lines` the body so far."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.indent, self.count = [], 1, 0
        self.pool, self.sites = [], []
        self.parameters, self.inputs, self.outputs, self.scalars = [], [], [], []
        self.arguments, self.extents = [], {}

    # ------------------------------------------------------------------------------------------------------- values
    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def let(self, text, dtype, shape, bound=0, loose=False):
        """A value that joins the pool. A bound too large for the dtype says nothing."""
        limit = FLOATS.get(dtype) or (1 << (INTS[dtype] - 1)) - 1 if dtype in INTS or dtype in FLOATS else 0
        value = Value(self.fresh(), dtype, tuple(shape), int(bound) if bound <= limit else 0, loose)
        self.line(f"let {value.name} = {text}")
        self.pool.append(value)
        return value

    def pick(self, wanted=lambda v: True, loose=False):
        """A value of the pool, newer ones more often; inexact ones only where the operation keeps their error."""
        found = [v for v in self.pool if (loose or not v.loose) and wanted(v)]
        if not found:
            return None
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def like(self, value, loose=False):
        """Another value of the same dtype and shape, or the same one."""
        return self.pick(lambda v: v.dtype == value.dtype and v.shape == value.shape, loose) or value

    def chance(self, probability):
        return self.rng.random() < probability

    # ------------------------------------------------------------------------------------------------------- control
    def coerce(self, v, dtype, shape):
        """A value of another dtype and shape that depends on all of `v`."""
        to, n, bound = count_of(shape), v.elements, v.bound
        text = v.name
        if v.loose:  # its error may not grow: whether it is a number is exact
            text, v, bound = f"isnan({text})", Value("", "bool", v.shape), 1
        have, shape = v.shape, tuple(shape)
        if n > to:
            fold = "any" if v.dtype == "bool" else self.rng.choice(("min", "max"))
            text, have = f"{fold}(reshape({text}, {to}, {n // to}), axis = 1)", (to,)
        elif n < to:
            text, have = f"broadcast(reshape({text}, {n}, 1), {n}, {to // n})", (n, to // n)
        if have != shape:
            text = f"reshape({text}, {', '.join(map(str, shape))})" if shape else f"item({text})"
        if v.dtype != dtype:
            text = f"({text} != {v.zero})" if dtype == "bool" else f"{text}.to({dtype})"
            bound = 1 if v.dtype == "bool" else bound if v.bound and v.bound <= 4 and dtype[0] != "u" else 0
        return self.let(text, dtype, shape, bound)

    def block(self, result, depth, extra=()):
        """Operations in a block of their own; the value it ends in, like `result`."""
        outside = list(self.pool)
        self.pool = outside + list(extra)
        known = len(self.pool)
        self.indent += 1
        for _ in range(self.rng.randint(1, 4)):
            self.operation(depth + 1)
        made = self.pool[known:]
        last = self.rng.choice(made) if made else result
        if (last.dtype, last.shape, last.loose) != (result.dtype, result.shape, result.loose):
            last = self.coerce(last, result.dtype, result.shape)
        self.indent -= 1
        self.pool = outside
        return last

    def condition(self):
        v = self.pick(lambda v: v.is_int)
        return self.rng.choice(("bid(0) == 0", "bid(0) % 2 == 1", f"max({v.name}) > 3" if v else "bid(0) > 0",
                                f"any({v.name} < 2)" if v else "bid(0) > 0"))

    def step(self, name, last):
        """The next value of something that a loop carries; floats of any kind, so that a fused product shows."""
        if last.dtype == "bool":
            return f"{name} != {last.name}"
        if last.is_int:
            return f"{name} {self.rng.choice(('+', '^', '-'))} {last.name}"
        return self.rng.choice((f"{name} * 0.75 + {last.name}", f"min({name}, {last.name})",
                                f"{last.name} - {name} * 0.5", last.name))

    def loop(self, depth):
        start = self.pick(lambda v: v.shape)
        if not start or depth > 1:
            return
        trips, counter = self.rng.randint(0, 4), self.fresh("trip")
        kind = self.rng.choice(("for", "for", "while", "static"))
        carried = []
        for value in [start] + ([self.like(start)] if self.chance(0.3) else []):
            carried.append(Value(self.fresh("sum"), value.dtype, value.shape))
            self.line(f"var {carried[-1].name} = {value.name}")
        if kind == "while":
            self.line(f"var {counter} = 0")
            self.line(f"while {counter} < {trips} + bid(0) {{")
        elif kind == "static":
            self.line(f"static for {counter} in 0..{trips} {{")
        else:
            step = self.rng.choice((f"0..{trips} + bid(0)", f"range(1, {3 * trips} - bid(0), 3)", f"-{trips}..1"))
            self.line(f"for {counter} in {step} {{")
        count = Value(f"({counter}.to(i32))", "i32", (), 0)
        last = self.block(carried[0], depth, [*carried, *carried, count])
        self.indent += 1
        if kind == "while":
            self.line(f"{counter} += 1")
        if kind != "static" and self.chance(0.3):
            self.line(f"if {counter} == 2 {{ {self.rng.choice(('break', 'continue'))} }}")
        name = carried[0].name
        if len(carried) == 2:
            self.line(f"({name}, {carried[1].name}) = ({carried[1].name}, {self.step(name, last)})")
        else:
            self.line(f"{name} = {self.step(name, last)}")
        self.indent -= 1
        self.line("}")
        for value in carried:
            self.let(value.name, value.dtype, value.shape)

    def branch(self, depth):
        v = self.pick()
        if not v or depth > 1:
            return
        name, static = self.fresh("arm"), self.chance(0.25)
        if static:
            self.parameters.append(f"P{self.count}: int = {self.rng.randint(0, 1)}")
            condition = f"P{self.count} == 1"
        else:
            condition = self.condition()
        word = "static if" if static else "if"
        if self.chance(0.5):
            self.line(f"let {name} = {word} {condition} {{")
            arms = [self.arm(v, depth), None]
            self.line("} else {")
            arms[1] = self.arm(v, depth)
            self.line("}")
        else:
            self.line(f"var {name} = {v.name}")
            self.line(f"{word} {condition} {{")
            arms = [v, self.block(v, depth)]
            self.lines.append("    " * (self.indent + 1) + f"{name} = {arms[1].name}")
            self.line("}")
        bound = max(a.bound for a in arms) if all(a.bound for a in arms) else 0
        self.let(name, v.dtype, v.shape, bound, any(a.loose for a in arms))

    def arm(self, like, depth):
        last = self.block(like, depth)
        self.lines.append("    " * (self.indent + 1) + last.name)
        return last

    def function(self, depth):
        """A function of two tiles, called with two pairs."""
        v, w = self.pick(), self.pick()
        if not v or depth:
            return
        name, outside = self.fresh("fn_"), self.pool
        given = [Value(self.fresh("p"), x.dtype, x.shape, x.bound, x.loose) for x in (v, w)]
        self.line(f"fn {name}({given[0].name}, {given[1].name}) {{")
        self.pool = []
        last = self.block(given[0], 1, given)
        self.lines.append("    " * (self.indent + 1) + last.name)
        self.line("}")
        self.pool = outside
        for x, y in ((v, w), (self.like(v, True), w)):
            # What holds of the arguments inside has to hold of every call's.
            if x.loose == v.loose and (x.bound == v.bound or x.name == v.name):
                self.let(f"{name}({x.name}, {y.name})", last.dtype, last.shape, last.bound, last.loose)

    def operation(self, depth=0):
        kind = self.rng.random()
        if kind < 0.06:
            self.loop(depth)
        elif kind < 0.12:
            self.branch(depth)
        elif kind < 0.14:
            self.function(depth)
        else:
            self.compute(depth)

    # ------------------------------------------------------------------------------------------------------- the whole
    def store(self, value):
        name, shape = f"y{len(self.outputs)}", value.shape or (1,)
        indices = self.ragged(name, shape, False)
        self.outputs.append(f"{name}: out {value.dtype}[{', '.join(indices)}]")
        at = ", ".join(["bid(0)"] + ["0"] * (len(shape) - 1))
        text = value.name if value.shape else f"full<{value.dtype}>(1, value = {value.name})"
        self.line(f"{name}.tiled({', '.join(map(str, shape))}).store({at}, {text})")
        if value.loose:
            self.arguments += ["--tolerance", f"{name}={'ulp:2' if value.dtype in ('f32', 'f64') else 'ulp:1'}"]

    def whole(self):
        """The text, arguments of `tilec run`, and its loads by name."""
        for number in range(self.rng.randint(0, 2)):
            dtype = self.rng.choice(("i32", "i64", "f32", "u8"))
            self.scalars.append(f"n{number}: {dtype}")
            self.extents[f"n{number}"] = self.rng.randint(0, 4)
            self.pool.append(Value(f"n{number}", dtype, (), 4))
        for _ in range(self.rng.randint(1, 3)):
            self.load(0)
        for _ in range(self.rng.randint(5, 60)):
            self.operation()
        # What nothing has used yet, so that little of the program is dead, and some others.
        body = "\n".join(self.lines)
        unused = [v for v in self.pool if len(re.findall(rf"\b{v.name}\b", body)) == 1]
        chosen = self.rng.sample(unused, min(len(unused), MOST_OUTPUTS))
        chosen += self.rng.sample(self.pool, min(len(self.pool), 2))
        for number, value in enumerate(dict.fromkeys(chosen)):
            if number == 2 and self.chance(0.1):
                self.line("if bid(0) == 1 { return }")
            self.store(value)
        signature = ",\n    ".join(self.inputs + self.outputs + self.scalars)
        parameters = f"<{', '.join(self.parameters)}>" if self.parameters else ""
        options = "options (index64 = true)\n" if self.chance(0.15) else ""
        text = f"kernel k{parameters}(\n    {signature},\n)\ngrid (2)\n{options}{{\n" + "\n".join(self.lines) + "\n}\n"
        defines = ",".join(f"{symbol}={value}" for symbol, value in self.extents.items())
        return text, ["-D", defines, *self.arguments], self.sites
