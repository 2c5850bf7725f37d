"""Operations of random programs that touch memory: arrays come with the operation that wants them."""
from random_values import count_of, shape_text, tuple_text

# Dtypes without arithmetic are converted as they are loaded.
CONVERTED = {"f8e4m3": "f16", "f8e5m2": "bf16", "tf32": "f32", "bool": "bool"}
INPUTS = ("i32", "f32", "f16", "bf16", "i8", "i64", "u16", "f64", "u32")
EXTENTS = (1, 2, 4, 8, 16, 32)


class Memory:
    """Operations like those of random_operations.py."""

    def ragged(self, name, shape, beyond=True):
        """Symbols for the extents of an array behind tiles of two blocks: less than they cover, or exactly that."""
        symbols = []
        for axis, extent in enumerate(shape):
            whole = extent * (2 if axis == 0 else 1)
            symbols.append(f"{name.upper()}_{axis}")
            self.extents[symbols[-1]] = whole if self.chance(0.4) else self.rng.randint(1, whole + (3 if beyond else 0))
        return symbols

    def new_input(self, dtype, symbols, mode="in"):
        name = f"x{len(self.inputs)}"
        self.inputs.append(f"{name}: {mode} {dtype}[{', '.join(symbols)}]")
        self.arguments.append(f"{name}=randint:{'-4' if dtype[0] not in 'ub' else '0'},{2 if dtype == 'bool' else 5}")
        return name

    def access(self, name, depth):
        """Keywords of a load: hints, which change no result. A site in an arm that is not checked would not exist."""
        self.sites += [f"{name}.load"] if depth == 0 else []
        return self.rng.choice(("", "", ", latency = 3", ", allow_tma = false", ", latency = 1"))

    def load(self, depth):
        dtype, rank = self.rng.choice(INPUTS * 2 + tuple(CONVERTED)), self.rng.choice((1, 1, 2, 2, 2, 3, 4))
        shape = [self.rng.choice(EXTENTS) for _ in range(rank)]
        while rank > 2 and count_of(shape) > 1024:
            shape[self.rng.randrange(rank)] = self.rng.choice((1, 2, 4))
        name = f"x{len(self.inputs)}"
        symbols = self.ragged(name, shape)
        self.new_input(dtype, symbols)
        at, rest, array = ["bid(0)"] + ["0"] * (rank - 1), ", padding = 0", name
        way = self.rng.random()
        if way < 0.15 and rank > 1:  # axes in another order
            axes = list(range(rank))
            self.rng.shuffle(axes)
            rest += f", axes = {tuple_text(axes)}"
            shape, at = [shape[a] for a in axes], [at[a] for a in axes]
        elif way < 0.3:  # windows that overlap or leave gaps
            rest += f", step = {tuple_text([self.rng.randint(1, e + 2) for e in shape])}"
        elif way < 0.4:
            axis = self.rng.randrange(rank)
            array = f"{name}.slice({axis}, {self.rng.randint(0, 2)}, {symbols[axis]}, step = {self.rng.randint(1, 2)})"
        elif way < 0.5 and rank > 1 and count_of(shape[1:]) >= 1:
            array, shape, at = f"{name}.at({at[0]})", shape[1:], ["0"] * (rank - 1)
        where = ", ".join(at) + self.access(name, depth)
        to = CONVERTED.get(dtype, dtype)
        self.let(f"{array}.tiled({shape_text(shape)}{rest}).load({where})" + (f".to({to})" if to != dtype else ""), to,
                 shape, 4)

    def gather(self, depth):
        index = self.pick(lambda v: v.is_int)
        if not index:
            return
        dtype, symbol = self.rng.choice(INPUTS), f"X{len(self.inputs)}_0"
        self.extents[symbol] = self.rng.randint(1, 50)
        mask = self.pick(lambda v: v.dtype == "bool" and v.shape == index.shape)
        masked = f", mask = {mask.name}" if mask else ""
        self.let(f"{self.new_input(dtype, [symbol])}.gather({index.name}{masked}, padding = 3)", dtype, index.shape, 4)

    def scatter(self, depth):
        """Each lane writes an element of its own."""
        v = self.pick(lambda v: v.shape and v.dtype != "bool")
        if v and not depth:
            n, symbol = v.elements, f"X{len(self.inputs)}_0"
            self.extents[symbol] = self.rng.randint(1, 2 * n)
            stride, start = self.rng.choice((1, 3, 5, 7)), self.rng.randint(0, 9)
            lane = f"((arange({n}) * {stride} + {start}) & {n - 1}) + bid(0) * {n}"
            name = self.new_input(v.dtype, [symbol], "inout")
            self.line(f"{name}.scatter(reshape({lane}, {shape_text(v.shape)}), {v.name})")

    def atomic(self, depth):
        """Integers into few elements: the order does not matter."""
        v = self.pick(lambda v: v.shape and v.dtype in ("i32", "u32", "i64", "u64"))
        if v:
            name = self.new_input(v.dtype, ["8"], "inout")
            op = self.rng.choice(("add", "max", "min", "xor", "or", "and"))
            self.line(f"{name}.atomic_{op}(reshape(arange({v.elements}) & {self.rng.choice((0, 3, 7))}, "
                      f"{shape_text(v.shape)}), {v.name})")

    def through_memory(self, depth):
        """Stored in one cut and loaded in another: accesses of a block keep their order."""
        v = self.pick(lambda v: v.elements > 1 and v.dtype != "bool")
        if not v or depth:
            return
        n, symbol = v.elements, f"X{len(self.inputs)}_0"
        self.extents[symbol] = 2 * n if self.chance(0.5) else self.rng.randint(1, 2 * n)
        name = self.new_input(v.dtype, [symbol], "inout")
        self.line(f"{name}.tiled({n}).store(bid(0), reshape({v.name}, {n}))")
        half = n // 2
        if self.chance(0.3):
            text = f"{name}.gather({n} - 1 - arange({half}) + {n} * bid(0))"
        else:
            text = f"{name}.tiled({half}, padding = 0).load(2 * bid(0) + {self.rng.randint(0, 1)})"
        self.let(text, v.dtype, (half,), 0)

    def stream(self, depth):
        """A product along a loop: loads ahead of a matrix unit."""
        if depth:
            return
        dtype = self.rng.choice(("f16", "f16", "bf16", "f32", "i8", "f64"))
        m, n, k = (self.rng.choice((8, 16, 32)) for _ in range(3))
        acc = {"i8": "i32", "f64": "f64"}.get(dtype, "f32")
        name, trips = self.fresh("acc"), self.rng.randint(1, 5)
        sides = []
        for shape, at in (((m, k), "bid(0), t"), ((k, n), "t, 0")):
            array, turned = f"x{len(self.inputs)}", self.chance(0.3)
            extents = [2 * m if shape == (m, k) else n, self.rng.randint(1, trips * k)]
            symbols = [f"{array.upper()}_0", f"{array.upper()}_1"]
            along_k = 1 if at == "bid(0), t" else 0
            lengths = [extents[0], extents[1]] if along_k else [extents[1], extents[0]]
            order = (1, 0) if turned else (0, 1)
            for symbol, axis in zip(symbols, order):
                self.extents[symbol] = max(1, lengths[axis] - (self.rng.randint(0, 3) if axis != along_k else 0))
            self.new_input(dtype, symbols)
            axes = ", axes = (1, 0)" if turned else ""
            hints = self.access(array, depth)
            sides.append(f"{array}.tiled({shape_text(shape)}, padding = 0{axes}).load({at}{hints})")
        self.line(f"var {name} = zeros<{acc}>({m}, {n})")
        self.line(f"for t in 0..{trips} {{")
        change = self.rng.choice(("{}", "{}", "-{}", "{} + {}")) if dtype != "i8" else "{}"
        self.line(f"    let p = {sides[0]}")
        self.line(f"    {name} = mma({change.format('p', 'p')}, {sides[1]}, {name})")
        self.line("}")
        self.let(name, acc, (m, n), 8 * 4 * k * trips)
