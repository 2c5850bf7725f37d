"""The launch plan beside a cubin (NAME.cubin.json), read and evaluated with the standard library alone.

A plan holds expressions of extents: integers, floats, bools, {"symbol": "M"} or ["Op", …]. Integers are exact; `/` and
`%` floor. `Plan.bind` gives the symbols their values from the shapes of the arrays of one launch and checks what the
kernel demands; `encode_value` gives the bytes of a parameter.
"""
import hashlib
import json
import math
import struct

FORMAT, VERSION = "tilec-artifact", 1

# Bits of each dtype, and how torch calls it (None: it has no such type).
DTYPES = {
    "bool_": (8, "bool"), "bool": (8, "bool"),
    "i8": (8, "int8"), "i16": (16, "int16"), "i32": (32, "int32"), "i64": (64, "int64"),
    "u8": (8, "uint8"), "u16": (16, "uint16"), "u32": (32, "uint32"), "u64": (64, "uint64"),
    "f16": (16, "float16"), "bf16": (16, "bfloat16"), "tf32": (32, None), "f32": (32, "float32"),
    "f64": (64, "float64"), "f8e4m3": (8, "float8_e4m3fn"), "f8e5m2": (8, "float8_e5m2"),
    "f8e8m0": (8, "float8_e8m0fnu"), "f4e2m1": (4, None),
}


class PlanError(Exception):
    """A plan that cannot be read, or arrays that do not fit it."""


# ---------------------------------------------------------------------------------------------------- expressions
def _trunc_div(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _is_int(*values):
    return all(isinstance(v, int) and not isinstance(v, bool) for v in values)


OPERATORS = {
    "Neg": lambda a: -a,
    "Not": lambda a: not a,
    "BitNot": lambda a: not a if isinstance(a, bool) else ~a,
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a // b if _is_int(a, b) else a / b,
    "Mod": lambda a, b: a % b,
    "Pow": lambda a, b: a**b,
    "Shl": lambda a, b: a << b,
    "Shr": lambda a, b: a >> b,
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "BitXor": lambda a, b: a ^ b,
    "Lt": lambda a, b: a < b,
    "Le": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "Ge": lambda a, b: a >= b,
    "Eq": lambda a, b: a == b,
    "Ne": lambda a, b: a != b,
    "CDiv": lambda a, b: -(-a // b),
    "TruncDiv": _trunc_div,
    "TruncMod": lambda a, b: a - b * _trunc_div(a, b),
    "Min": min,
    "Max": max,
    "Abs": abs,
    "NextPow2": lambda a: 1 if a <= 1 else 1 << (a - 1).bit_length(),
    "PrevPow2": lambda a: 1 << (a.bit_length() - 1),
    "ILog2": lambda a: a.bit_length() - 1,
    "IsPow2": lambda a: a > 0 and a & (a - 1) == 0,
    "Bits": lambda a: DTYPES[a][0],
}


def evaluate(expr, env):
    """The value of an expression. `env` maps symbols to values and holds the facts `arch`, `num_sms` and
    `resident_blocks` under keys that no symbol has: ("arch",) and so on."""
    if isinstance(expr, dict):
        if "symbol" in expr:
            if expr["symbol"] not in env:
                raise PlanError(f"'{expr['symbol']}' has no value")
            return env[expr["symbol"]]
        if "dtype" in expr:
            return expr["dtype"]
        return float(expr["float"])
    if not isinstance(expr, list):
        return expr
    op, args = expr[0], expr[1:]
    if op in ("NumSms", "ResidentBlocks"):
        return env[("num_sms",) if op == "NumSms" else ("resident_blocks",)]
    if op == "ByArch":
        arms = dict(zip(args[::2], args[1::2]))
        arch = env[("arch",)]
        return evaluate(arms[arch] if arch in arms else arms["default"], env)
    # Only the operands that are needed: the others may divide by zero.
    if op == "And":
        return evaluate(args[0], env) and evaluate(args[1], env)
    if op == "Or":
        return evaluate(args[0], env) or evaluate(args[1], env)
    if op == "Select":
        return evaluate(args[1] if evaluate(args[0], env) else args[2], env)
    if op not in OPERATORS:
        raise PlanError(f"unknown operator '{op}'")
    return OPERATORS[op](*(evaluate(a, env) for a in args))


# ----------------------------------------------------------------------------------------------------- parameters
def _bf16_bits(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if math.isnan(value):
        return 0x7FFF
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to nearest, ties to even


def encode_value(value, dtype):
    """Little-endian bytes of a scalar parameter."""
    if dtype not in DTYPES:
        raise PlanError(f"unknown dtype '{dtype}'")
    size = max(DTYPES[dtype][0] // 8, 1)
    if dtype in ("f16", "f32", "f64"):
        return struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[dtype], value)
    if dtype == "bf16":
        return _bf16_bits(value).to_bytes(2, "little")
    if dtype.startswith("bool"):
        if value not in (0, 1):
            raise PlanError(f"{value} is no bool")
        return bytes([int(value)])
    if not _is_int(value) or dtype[0] not in "iu":
        raise PlanError(f"{value!r} is no value of {dtype}")
    try:
        return value.to_bytes(size, "little", signed=dtype[0] == "i")
    except OverflowError:
        raise PlanError(f"{value} does not fit {dtype}") from None


def row_major(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


# ----------------------------------------------------------------------------------------------------------- plan
class Plan:
    """One compiled operation: `data` is the JSON, `binaries` the cubins, whose hashes are checked."""

    def __init__(self, data, binaries):
        if data.get("format") != FORMAT or data.get("version") != VERSION:
            raise PlanError(f"{data.get('format')} version {data.get('version')}: this reads {FORMAT} {VERSION}")
        for binary, facts in zip(binaries, data["binaries"], strict=True):
            if hashlib.sha256(binary).hexdigest() != facts["sha256"]:
                raise PlanError("a cubin is not the one that its JSON describes: the sha256 differs")
        self.data, self.binaries = data, binaries
        self.arrays = {a["name"]: a for a in data["arrays"]}

    @classmethod
    def read(cls, path):
        with open(path + ".json", encoding="utf-8") as f:
            data = json.load(f)
        binaries = []
        for i in range(len(data["binaries"])):
            with open(path if i == 0 else f"{path}.{i}", "rb") as f:
                binaries.append(f.read())
        return cls(data, binaries)

    @property
    def launches(self):
        return self.data["launches"]

    def bind(self, shapes, scalars=None, facts=None):
        """The environment of a launch with arrays of these shapes, row-major. Raises PlanError where an extent, a
        symbol fixed while compiling or a `requires` does not fit."""
        env = dict(facts or {})
        env.update(self.data["folded"])
        env.update(scalars or {})
        if set(shapes) != set(self.arrays):
            raise PlanError(f"'{self.data['name']}' takes {sorted(self.arrays)}, not {sorted(shapes)}")
        for name, shape in shapes.items():
            extents = self.arrays[name]["extents"]
            if len(extents) != len(shape):
                raise PlanError(f"'{name}' has {len(shape)} axes but the kernel declares {len(extents)}")
            pairs = list(zip(extents, shape)) + list(zip(self.arrays[name]["strides"], row_major(shape)))
            for expr, value in pairs:
                if isinstance(expr, dict) and expr.get("symbol", "_") != "_":
                    env.setdefault(expr["symbol"], value)
        for name, shape in shapes.items():
            for what, exprs, values in (("extent", self.arrays[name]["extents"], shape),
                                        ("stride", self.arrays[name]["strides"], row_major(shape))):
                for axis, (expr, value) in enumerate(zip(exprs, values)):
                    if expr != {"symbol": "_"} and evaluate(expr, env) != value:
                        raise PlanError(f"{what} {axis} of '{name}' is {value}, not {evaluate(expr, env)}")
            self._name_array(env, name, shape)
        for let in self.data["lets"]:
            env[let["name"]] = evaluate(let["value"], env)
        for condition in self.data["requirements"]:
            if not evaluate(condition["expr"], env):
                raise PlanError(f"'{self.data['name']}' requires {condition['text']}")
        for temporary in self.data["temporaries"]:
            self._name_array(env, temporary["name"], [evaluate(e, env) for e in temporary["extents"]])
        return env

    @staticmethod
    def _name_array(env, name, shape):
        for axis, (extent, stride) in enumerate(zip(shape, row_major(shape))):
            env[f"{name}.shape({axis})"], env[f"{name}.stride({axis})"] = extent, stride

    def grid(self, launch, env):
        """Blocks to launch: the language's grid, or the resident blocks of a persistent entry, times the cluster."""
        grid = [evaluate(e, env) for e in launch["grid"]]
        if launch["persistent"] and math.prod(grid):
            grid = [min(math.prod(grid), max(env[("resident_blocks",)], 1)), 1, 1]
        return [g * c for g, c in zip(grid, launch["cluster"])]
