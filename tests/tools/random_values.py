"""Values of random programs: what is known of the tiles in scope."""
from dataclasses import dataclass

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
# Whole numbers up to here are exact in the dtype.
FLOATS = {"f16": 2048, "bf16": 256, "f32": 1 << 24, "f64": 1 << 53}
WIDTHS = {**INTS, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
MOST_ELEMENTS = 4096


@dataclass(frozen=True)
class Value:
    """A tile in scope. `bound`: its elements are whole numbers up to it; 0: they are any numbers."""
    name: str
    dtype: str
    shape: tuple
    bound: int = 0
    loose: bool = False

    @property
    def elements(self):
        return count_of(self.shape)

    @property
    def is_int(self):
        return self.dtype in INTS

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_signed(self):
        return self.dtype[0] == "i" or self.is_float

    @property
    def zero(self):
        return "false" if self.dtype == "bool" else "0.0" if self.is_float else "0"


def count_of(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def shape_text(shape):
    return ", ".join(map(str, shape))


def tuple_text(numbers):
    return f"({shape_text(numbers)}{',' if len(numbers) == 1 else ''})"


def both(v, w, bound):
    return bound if v.bound and w.bound else 0
