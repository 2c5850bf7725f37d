"""Kernels in the making, and the table COVER of what differential.py does with each built-in."""
import random
import struct
import zlib

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
BITS = {"bool": 8, **INTS, **FLOATS, "tf32": 32, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "f4e2m1": 4}
# Special codes of floats: zeros, ones, infinities or the largest numbers, NaN, the smallest subnormals and normals.
SPECIAL = {
    "f16": (0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x8001, 0x0400, 0x7BFF),
    "bf16": (0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 1, 0x8001, 0x0080, 0x7F7F),
    "f32": (0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x80000001, 0x00800000,
            0x7F7FFFFF),
    "f64": (0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 1, (1 << 63) + 1, 1 << 52,
            (0x7FF << 52) - 1),
}


SHAPES = ((1,), (64,), (512,), (1, 1), (16, 32), (4, 1, 8), (2, 4, 2, 8))
NUMBERS = {**INTS, **FLOATS}
SIGNED = ("i8", "i16", "i32", "i64", *FLOATS)
COVER = {}


def covers(*labels):
    """Marks a function of (folder, label) that yields the kernels of built-ins."""
    def mark(function):
        for label in labels:
            COVER[label if "@" in label else label + "@tile"] = function
        return function
    return mark


def name_of(label):
    return label.split("@")[0]


def shapes_of(dtype, shapes=SHAPES):
    """f4e2m1 has an even number of elements along the last axis."""
    return [s for s in shapes if dtype != "f4e2m1" or s[-1] % 2 == 0]


def each(folder, label, dtypes, shapes=SHAPES):
    """A kernel a dtype, with its shapes."""
    for dtype in dtypes:
        yield Kernel(folder, label, dtype), dtype, shapes_of(dtype, shapes)


def sum_dtype(dtype):
    return {"bool": "i32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}.get(dtype, dtype)


def text(numbers):
    return ", ".join(map(str, numbers))


def tuple_text(numbers):
    return f"({text(numbers)}{',' if len(numbers) == 1 else ''})"


def codes(dtype, count, seed):
    """Any codes of a dtype, special ones among them."""
    rng = random.Random(seed)
    if dtype == "bool":
        return [rng.randrange(2) for _ in range(count)]
    bits = BITS[dtype]
    found = [rng.getrandbits(bits) for _ in range(count)]
    if dtype == "tf32":
        return [code & ~0x1FFF for code in found]
    edges = SPECIAL.get(dtype) or (0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1)
    for i in range(0, count, 3):
        found[i] = rng.choice(edges)
    if dtype in FLOATS:  # numbers of everyday size, of which random codes are few
        for i in range(1, count, 3):
            found[i] = encode(dtype, rng.uniform(-8, 8))
    return found


def encode(dtype, value):
    if dtype == "bf16":
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    return int.from_bytes(struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[dtype], value), "little")


def save(path, dtype, extents, elements):
    """An .npy file; dtypes that NumPy lacks go as raw integers, two f4e2m1 in a byte."""
    width = max(BITS[dtype], 8) // 8
    kind = {"i": "i", "u": "u", "b": "b"}[dtype[0]] if dtype[0] in "iu" or dtype == "bool" else "f"
    if dtype in ("bf16", "f4e2m1") or dtype.startswith("f8"):
        kind = "u"
    if dtype == "f4e2m1":
        elements = [low | high << 4 for low, high in zip(elements[::2], elements[1::2])]
        extents = (*extents[:-1], extents[-1] // 2)
    shape = "".join(f"{e}, " for e in extents)
    header = f"{{'descr': '{'|' if width == 1 else '<'}{kind}{width}', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = b"".join(code.to_bytes(width, "little") for code in elements)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


class Kernel:
    """A kernel in the making: two blocks along the first axis, arrays that end within the tiles."""

    def __init__(self, folder, label, dtype, variant=""):
        self.folder, self.label, self.dtype = folder, " ".join(filter(None, (label, dtype, variant))), dtype
        self.arrays, self.lines, self.inputs, self.tolerances = [], [], [], []
        self.grid, self.options, self.parameters, self.count = 2, [], "", 0

    @staticmethod
    def ragged(shape, dtype=""):
        """Extents of an array behind tiles of a shape: a tile and a half, and three quarters of one on other axes."""
        extents = [e + (e + 1) // 2 if axis == 0 else e - e // 4 for axis, e in enumerate(shape)]
        if dtype == "f4e2m1":
            extents[-1] += extents[-1] % 2
        return tuple(extents)

    def array(self, mode, dtype, extents, content="", rest=""):
        """An argument. Content: `any` codes, or a distribution of `tilec run`."""
        name = f"{'y' if mode == 'out' else 'x'}{len(self.arrays)}"
        self.arrays.append(f"{name}: {mode} {dtype}[{', '.join(map(str, extents))}]{rest}")
        if content == "any":
            count = 1
            for extent in extents:
                count *= extent
            key = f"{dtype}-{'x'.join(map(str, extents))}-{len(self.arrays) % 4}"
            content = self.folder / f"{key}.npy"
            if not content.exists():
                save(content, dtype, extents, codes(dtype, count, zlib.crc32(key.encode())))
        if content:
            self.inputs.append(f"{name}={content}")
        return name

    def line(self, text):
        self.lines.append(text)

    def let(self, text):
        name = f"v{len(self.lines)}"
        self.lines.append(f"let {name} = {text}")
        return name

    @staticmethod
    def at(shape):
        return ", ".join(["bid(0)"] + ["0"] * (len(shape) - 1))

    def tile(self, dtype, shape, content="any", padding=", padding = 0"):
        """A tile of a ragged input; lanes outside are zero."""
        name = self.array("in", dtype, self.ragged(shape, dtype), content)
        return self.let(f"{name}.tiled({', '.join(map(str, shape))}{padding}).load({self.at(shape)})")

    def store(self, text, dtype, shape, tolerance=""):
        """An output of its own for a tile."""
        shape = shape or (1,)
        name = self.array("out", dtype, self.ragged(shape, dtype))
        self.line(f"{name}.tiled({', '.join(map(str, shape))}).store({self.at(shape)}, {text})")
        if tolerance:
            self.tolerances += ["--tolerance", f"{name}={tolerance}"]

    @property
    def text(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"kernel k{self.parameters}(\n    {', '.join(self.arrays)},\n)\ngrid ({self.grid})\n{{\n{body}}}\n"

    @property
    def arguments(self):
        return [*self.options, *self.inputs]
