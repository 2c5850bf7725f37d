#!/usr/bin/env python3
"""Fits the polynomials of the device library and prints their coefficients (needs mpmath).

Each fit is a weighted minimax polynomial (Remez exchange on a dense grid): the maximum over the interval of
|weight(x) * (p(x) - f(x))| is least. The figure behind each name is that maximum as a power of two. Coefficients are
listed from the constant term up, in hexadecimal, rounded to the format.
"""
import struct
from mpmath import mp, mpf, matrix, lu_solve, exp, log, sin, cos, sinh, erf, erfc, sqrt, pi, atanh

mp.dps = 60


def remez(f, weight, lo, hi, degree, grid=1200, rounds=12):
    n = degree + 2
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(pi * i / (grid - 1)) for i in range(grid)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    picks = [round(i * (grid - 1) / (n - 1)) for i in range(n)]
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for row, k in enumerate(picks):
            for j in range(degree + 1):
                a[row, j] = xs[k] ** j
            a[row, degree + 1] = (-1) ** row / ws[k]
            b[row] = fs[k]
        c = list(lu_solve(a, b))[:-1]
        err = [w * (mp.polyval(c[::-1], x) - y) for x, y, w in zip(xs, fs, ws)]
        # One extremum per run of equal sign; drop from the ends until n alternating ones are left.
        runs = []
        for k, e in enumerate(err):
            if runs and (err[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(err[runs[-1]]):
                    runs[-1] = k
            else:
                runs.append(k)
        while len(runs) > n:
            runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
        if len(runs) < n or runs == picks:
            break
        picks = runs
    return c, max(abs(e) for e in err)


def rounded(c, f32):
    """Hexadecimal text of the nearest float or double, trailing zeros dropped."""
    value = struct.unpack("f", struct.pack("f", float(c)))[0] if f32 else float(c)
    digits, exponent = value.hex().split("p")
    return digits.rstrip("0").rstrip(".") + "p" + exponent


def show(name, f, weight, lo, hi, degree, f32):
    c, e = remez(f, weight, mpf(lo), mpf(hi), degree)
    print(f"{name}: 2^{float(log(e, 2)):.1f}")
    print("  " + ", ".join(rounded(x, f32) + ("f" if f32 else "") for x in c))


def taylor(f, at_zero, x, small=mpf(10) ** -12):
    """f away from 0, its limit near it (the differences below cancel there)."""
    return at_zero if abs(x) < small else f(x)


E5 = mpf("0.35")
for f32 in (True, False):
    d = lambda a, b: a if f32 else b
    print("f32" if f32 else "f64")
    show("exp: (e^r-1-r)/r^2", lambda r: taylor(lambda r: (exp(r) - 1 - r) / r**2, mpf(1) / 2, r),
         lambda r: r**2 / exp(r) + mpf(10)**-30, -E5, E5, d(4, 10), f32)
    third = mpf(1) / 3
    if f32:
        show("log: (log1p(f)-f+f^2/2)/f^3", lambda f: taylor(lambda f: (log(1 + f) - f + f * f / 2) / f**3, third, f),
             lambda f: f**2 + mpf(10)**-30, -third * mpf("1.001"), third * mpf("1.001"), 7, f32)
    else:
        show("log: (2atanh(s)-2s)/s^3 in s^2",
             lambda z: taylor(lambda z: (2 * atanh(sqrt(z)) - 2 * sqrt(z)) / sqrt(z)**3, 2 * third, z),
             lambda z: z + mpf(10)**-20, 0, mpf("0.0401"), 7, f32)
    u = (pi / 4 * mpf("1.002"))**2
    show("sin: (sin r-r)/r^3 in r^2", lambda z: taylor(lambda z: (sin(sqrt(z)) - sqrt(z)) / sqrt(z)**3, -mpf(1) / 6, z),
         lambda z: z + mpf(10)**-20, 0, u, d(2, 5), f32)
    show("cos: (cos r-1+r^2/2)/r^4 in r^2", lambda z: taylor(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24, z),
         lambda z: z**2 + mpf(10)**-20, 0, u, d(2, 5), f32)
    show("sinh: (sinh x-x)/x^3 in x^2", lambda z: taylor(lambda z: (sinh(sqrt(z)) - sqrt(z)) / sqrt(z)**3, mpf(1) / 6, z),
         lambda z: z + mpf(10)**-20, 0, 1, d(3, 6), f32)
    c0 = 2 / sqrt(pi)
    top = d(mpf(1), mpf("0.85"))
    show("erf: (erf(x)/x-2/sqrt(pi)) /x^2 in x^2", lambda z: taylor(lambda z: (erf(sqrt(z)) / sqrt(z) - c0) / z, -c0 / 3, z),
         lambda z: z + mpf(10)**-20, 0, top * top, d(5, 10), f32)
    ln2 = log(mpf(2))
    show("pow: (log2((1+s)/(1-s))-c0 s-c1 s^3)/s^5 in s^2",
         lambda z: taylor(lambda z: (2 * atanh(sqrt(z)) - 2 * sqrt(z) - 2 * third * sqrt(z)**3) / sqrt(z)**5 / ln2,
                          mpf(2) / 5 / ln2, z), lambda z: z**2 + mpf(10)**-20, 0, mpf("0.0401"), d(2, 7), f32)
    if f32:
        show("erf tail: ln(erfc(a)) on [1,4]", lambda a: log(erfc(a)), lambda a: erfc(a), mpf(1), 4, 6, f32)
    else:
        t = lambda v: 2 / v - 2  # v = 2/(2+a)
        show("erf tail: erfc(a) e^(a^2) in v=2/(2+a)", lambda v: erfc(t(v)) * exp(t(v)**2), lambda v: exp(-t(v)**2),
             2 / mpf("8"), 2 / mpf("2.84"), 13, f32)
    for name, v in (("ln2", ln2), ("log2e", 1 / ln2), ("2/ln2", 2 / ln2), ("2/(3 ln2)", 2 * third / ln2), ("pi/2", pi / 2),
                    ("2/pi", 2 / pi), ("2/sqrt(pi)-1", c0 - 1)):
        parts, rest = [], v
        for _ in range(3):
            parts.append(rounded(rest, f32))
            rest = rest - mpf(float.fromhex(parts[-1]))
        print(f"{name} = " + " + ".join(parts))

mp.dps = 400
bits = int(mp.floor(2 / pi * mpf(2) ** 1152))
print("2/pi: " + ", ".join(f"0x{bits >> 1088 - 64 * i & (1 << 64) - 1:016x}" for i in range(18)))
