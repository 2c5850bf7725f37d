"""Large and deep programs: each is accepted or refused within its time, and never ends by a signal.

usage: sizes.py TILEC FOLDER
"""
import pathlib
import subprocess
import sys
import time

TILEC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
OPEN = "kernel k(a: in f32[N], c: out f32[N])\ngrid (cdiv(N, 16))\n{\n    let x = a.tiled(16).load(bid(0))\n"
CLOSE = "    c.tiled(16).store(bid(0), y)\n}\n"


def value(expression):
    return OPEN + f"    let y = {expression}\n" + CLOSE


def nested(head, body, tail, levels):
    return OPEN + "    var y = x\n" + head * levels + body + tail * levels + CLOSE


def statements(count):
    return OPEN + "    var y = x\n" + "".join(f"    y = y * 0.5 + {i}.0\n" for i in range(count)) + CLOSE


DEEP, LONG, LAUNCH = "256 levels", "4096 operators", "200 operators"
KERNEL = "more than 131072 instructions"
# Name, program, what its error says (empty: it is fine), seconds for `check`; each is generous, not ample.
PROGRAMS = [
    ("sum", value(" + ".join(["x"] * 2000)), "", 5),
    ("sum_and_products", value(" + ".join(f"x * {i}.0" for i in range(2000))), "", 5),
    ("lines_of_a_sum", value(" +\n        ".join(["x"] * 2000)), "", 5),
    ("conditions", value("if " + " && ".join(["bid(0) >= 0"] * 2000) + " { x } else { x + 1.0 }"), "", 5),
    ("sum_of_sums", value(" + ".join(["(" + " - ".join(["x"] * 60) + ")"] * 60)), "", 5),
    ("sums_in_sums", value("(" * 60 + "x" + (" + x" * 20 + ")") * 60), "", 5),
    ("too_long_a_sum", value(" + ".join(["x"] * 1_000_000)), LONG, 20),
    ("too_long_a_spine", value("(" * 120 + "x" + (" + x" * 40 + ")") * 120), LONG, 5),
    ("grid", OPEN.replace("cdiv(N, 16)", " + ".join(["cdiv(N, 16)"] * 200)) + "    let y = x\n" + CLOSE, "", 5),
    ("too_long_a_grid", OPEN.replace("cdiv(N, 16)", " + ".join(["N"] * 2000)) + "    let y = x\n" + CLOSE, LAUNCH, 5),
    ("parentheses", value("(" * 100 + "x" + ")" * 100), "", 5),
    ("too_many_parentheses", value("(" * 1_000_000 + "x" + ")" * 1_000_000), DEEP, 20),
    ("too_many_open_ones", value("(" * 1_000_000), DEEP, 20),
    ("too_many_signs", value("-" * 1_000_000 + "x"), DEEP, 20),
    ("too_many_powers", value(" ** ".join(["x"] * 100_000)), DEEP, 20),
    ("too_many_calls", value("x" + ".reshape(16)" * 100_000), DEEP, 20),
    ("blocks", nested("if bid(0) >= 0 {\n", "y = y + 1.0\n", "}\n", 50), "", 5),
    ("too_many_blocks", nested("if bid(0) >= 0 {\n", "y = y + 1.0\n", "}\n", 100_000), DEEP, 20),
    ("too_many_loops", nested("for i in 0..2 {\n", "y = y + 1.0\n", "}\n", 100_000), DEEP, 20),
    ("too_many_branches", OPEN + "    var y = x\n    if bid(0) == 0 { y = x }"
     + "".join(f" else if bid(0) == {i} {{ y = x }}" for i in range(50_000)) + "\n" + CLOSE, DEEP, 20),
    ("ten_thousand_lines", statements(10_000), "", 10),
    ("ten_megabytes", statements(400_000), KERNEL, 20),
    ("ten_megabytes_of_comments", "# nothing\n" * 1_000_000 + value("x"), "", 20),
]
# These go on to machine code.
BUILT = {"sum": 5, "sum_and_products": 5, "conditions": 5, "grid": 5, "ten_thousand_lines": 60}


def run(name, seconds, arguments, expected):
    began = time.monotonic()
    try:
        done = subprocess.run([TILEC, *arguments], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        sys.exit(f"{name}: {' '.join(arguments)} takes more than {seconds} s")
    print(f"{name}: {arguments[0]} {time.monotonic() - began:.1f} s")
    code = 1 if expected else 0
    if done.returncode != code or expected not in done.stderr:
        sys.exit(f"{name}: {' '.join(arguments)} gave {done.returncode}, not {code} with '{expected}':\n{done.stderr[:2000]}")


FOLDER.mkdir(parents=True, exist_ok=True)
for name, text, error, seconds in PROGRAMS:
    path = FOLDER / f"{name}.tile"
    path.write_text(text)
    run(name, seconds, ["check", str(path)], error)
    # What the formatter writes is read and compared again, so it takes a few times as long.
    formatted = error if error not in (LAUNCH, KERNEL) else ""
    run(name, 3 * seconds, ["fmt", str(path)], formatted)
    if not formatted:
        run(name, 3 * seconds, ["fmt", "--check", str(path)], "")
    if name in BUILT:
        run(name, BUILT[name], ["build", str(path), "--arch", "sm_90", "-o", f"{path}.cubin"], "")
    path.unlink()
