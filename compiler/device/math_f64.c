// Math functions in f64, within 2 ulp and exact at special values, in the forms of math_f32.c. Coefficients: fit.py.
#include "compiler/device/support.h"

#define INF __builtin_inf()
#define NAN __builtin_nan("")
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define ABS(x) __builtin_fabs(x)
#define SIGN_OF(magnitude, sign) __builtin_copysign(magnitude, sign)
// No instruction keeps a NaN here: the order of the comparison does.
#define MIN(a, b) ((a) > (b) ? (b) : (a))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

/// Adding this rounds to an integer (|x| < 2^51), which then stands in the low bits of the sum.
#define TO_INTEGER 0x1.8p52

#define LN2_HI 0x1.62e42fefa39efp-1
#define LN2_LO 0x1.abc9e3b39803fp-56
#define LOG2E_HI 0x1.71547652b82fep+0
#define LOG2E_LO 0x1.777d0ffda0d24p-56

/// A value as the unevaluated sum of two doubles.
typedef struct {
  double hi, lo;
} Pair;

/// a + b with its rounding error, for |a| >= |b| or a = 0.
HELPER Pair fastTwoSum(double a, double b) {
  double sum = a + b;
  return (Pair){sum, b - (sum - a)};
}

/// Polynomial by Horner's rule, coefficients from the highest power down.
HELPER double horner(double x, const double *c, int n) {
  double p = c[0];
#pragma clang loop unroll(full)
  for (int i = 1; i < n; ++i)
    p = FMA(p, x, c[i]);
  return p;
}
#define POLY(x, ...) horner(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/// 2^n for n in [-1022, 1023].
HELPER double powerOf2(int n) { return f64OfBits((uint64_t)(uint32_t)(n + 1023) << 52); }

/// x·2^n with one rounding, for x near 1 and n in [-2044, 2046].
HELPER double scale(double x, int n) {
  int half = n >> 1;
  return x * powerOf2(half) * powerOf2(n - half);
}

// ---- exponentials

/// c = n·ln(2) + r, so that exp(c) = exp(r)·2^n; |c| < 2^30. r is a pair, |r| <= ln(2)/2.
typedef struct {
  Pair r;
  int n;
} Reduced;

HELPER Reduced reduceExp(double c) {
  double t = FMA(c, LOG2E_HI, TO_INTEGER);
  double n = t - TO_INTEGER;
  // The first product is exact inside the fused operation and the difference needs no rounding.
  double hi = FMA(n, -LN2_HI, c), lo = n * -LN2_LO;
  return (Reduced){fastTwoSum(hi, lo), (int32_t)bitsOfF64(t)};
}

/// e^r - 1 for |r| <= ln(2)/2.
HELPER double expm1Reduced(Pair r) {
  double x = r.hi;
  double q = POLY(x, 0x1.1e39b8c5b4bcfp-29, 0x1.af7113d706693p-26, 0x1.27e5bb99a95ebp-22, 0x1.71dded30886a5p-19,
                  0x1.a01a0130389e7p-16, 0x1.a01a01b4a7d1ep-13, 0x1.6c16c16c32596p-10, 0x1.111111110e967p-7,
                  0x1.55555555554fap-5, 0x1.555555555555cp-3, 0x1p-1);
  return FMA(q, x * x, FMA(r.lo, x, r.lo)) + x;
}
HELPER double expReduced(Pair r) { return 1.0 + expm1Reduced(r); }

ROUTINE double __tilec_exp_f64(double x) {
  // Beyond these ends the result is 0 or infinite, which the scaling gives.
  Reduced e = reduceExp(MIN(MAX(x, -746.0), 710.0));
  return scale(expReduced(e.r), e.n);
}

/// 2^(c + low) for |c| < 2^20 and a low part far below 1.
HELPER double exp2Pair(double c, double low) {
  double t = c + TO_INTEGER;
  double f = c - (t - TO_INTEGER);
  double hi = f * LN2_HI;
  double lo = FMA(f, LN2_HI, -hi) + FMA(f, LN2_LO, low * LN2_HI);
  // A low part of a product can exceed an ulp of hi: it is moved in first.
  return scale(expReduced(fastTwoSum(hi, lo)), (int32_t)bitsOfF64(t));
}

ROUTINE double __tilec_exp2_f64(double x) { return exp2Pair(MIN(MAX(x, -1076.0), 1025.0), 0.0); }

/// exp(a)/2 for a in [0, 712]; a result beyond the range is infinite.
HELPER double halfExp(double a) {
  Reduced e = reduceExp(a);
  return scale(expReduced(e.r), e.n - 1);
}

ROUTINE double __tilec_sinh_f64(double x) {
  double u = x * x;
  double p = POLY(u, 0x1.b4cf78d774b8bp-41, 0x1.611a3a1f978bfp-33, 0x1.ae6467668cb2ap-26, 0x1.71de3a45f71f4p-19,
                  0x1.a01a01a0291fcp-13, 0x1.11111111110a1p-7, 0x1.5555555555556p-3);
  double small = FMA(p, u * x, x);
  double e = halfExp(MIN(ABS(x), 712.0));
  double large = SIGN_OF(e - 0.25 / e, x);
  return ABS(x) < 1.0 ? small : large;
}

ROUTINE double __tilec_cosh_f64(double x) {
  double e = halfExp(MIN(ABS(x), 712.0));
  return e + 0.25 / e;
}

ROUTINE double __tilec_tanh_f64(double x) {
  // (e^2a - 1)/(e^2a + 1) with both sides formed from e^r - 1, which keeps small arguments exact; 1 from a = 19.1 on.
  double a = MIN(ABS(x), 20.0);
  Reduced e = reduceExp(a + a);
  double s = powerOf2(e.n), t = expm1Reduced(e.r);
  double numerator = FMA(s, t, s - 1.0);
  double numeratorLo = FMA(s, t, (s - 1.0) - numerator);
  double denominator = FMA(s, t, s + 1.0);
  double denominatorLo = FMA(s, t, (s + 1.0) - denominator);
  double inverse = 1.0 / denominator;
  double q = numerator * inverse;
  double residual = FMA(-q, denominatorLo, FMA(-q, denominator, numerator) + numeratorLo);
  return SIGN_OF(FMA(residual, inverse, q), x);
}

// ---- logarithms

/// x = m·2^exponent with m in [2/3, 4/3), for a finite x > 0.
typedef struct {
  double exponent, m;
} Split;

HELPER Split split(double x) {
  int subnormal = x < 0x1p-1022;
  uint64_t bits = bitsOfF64(subnormal ? x * 0x1p52 : x);
  uint64_t shift = (bits - 0x3fe5555555555555u) & 0xfff0000000000000u;
  int exponent = (int)((int64_t)shift >> 52) - (subnormal ? 52 : 0);
  return (Split){(double)exponent, f64OfBits(bits - shift)};
}

/// log(m) as f - t with f = m - 1: 2·atanh(s) with s = f/(2 + f), rearranged so that f stands exactly.
HELPER double logTail(double f) {
  double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  double r = z * POLY(z, 0x1.1b87d8aa0bf58p-3, 0x1.0dca9fca7b426p-3, 0x1.3b35d016af37bp-3, 0x1.745c4a5d06a94p-3,
                      0x1.c71c749202317p-3, 0x1.24924921e185bp-2, 0x1.999999999c1adp-2, 0x1.555555555554fp-1);
  return half - s * (half + r);
}

/// Replaces the result of a logarithm where x is not a finite number above 0.
HELPER double logSpecial(double result, double x) {
  double special = x == 0.0 ? -INF : x < 0.0 ? NAN : x;
  return bitsOfF64(x) - 1u < 0x7fefffffffffffffu ? result : special;
}

ROUTINE double __tilec_log_f64(double x) {
  Split p = split(x);
  double f = p.m - 1.0;
  double low = FMA(p.exponent, LN2_LO, -logTail(f));
  return logSpecial(FMA(p.exponent, LN2_HI, f + low), x);
}

ROUTINE double __tilec_log2_f64(double x) {
  Split p = split(x);
  double f = p.m - 1.0;
  Pair m = fastTwoSum(f, -logTail(f));
  double low = FMA(m.lo, LOG2E_HI, m.hi * LOG2E_LO);
  return logSpecial(p.exponent + FMA(m.hi, LOG2E_HI, low), x);
}

// ---- roots and quotients

// The compiler's own square root and division are correctly rounded (sqrt.rn, div.rn, rcp.rn).
ROUTINE double __tilec_sqrt_f64(double x) { return __builtin_sqrt(x); }
ROUTINE double __tilec_div_f64(double a, double b) { return a / b; }
ROUTINE double __tilec_rcp_f64(double x) { return 1.0 / x; }
ROUTINE double __tilec_rsqrt_f64(double x) { return 1.0 / __builtin_sqrt(x); }

// ---- trigonometry

/// x = (quadrant + 4k)·pi/2 + r with |r| <= pi/4 (a little more at the edges); r is a pair.
typedef struct {
  Pair r;
  uint32_t quadrant;
} Angle;

/// Binary digits of 2/pi behind 64 zeros.
TABLE uint64_t twoOverPi[] = {0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
                              0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
                              0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
                              0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
                              0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u};

/// `by` (0 to 63) bits further on in the digits that start at a word.
HELPER uint64_t digits(uint32_t word, uint32_t by) {
  return twoOverPi[word] << by | (twoOverPi[word + 1] >> 1) >> (63 - by);
}

/// Payne and Hanek's reduction: |x| >= 2, infinity and NaN give NaN. Multiplies the 53-bit significand by the 192
/// digits of 2/pi that matter modulo 4; the top 128 bits of the product are the quadrant and its fraction.
HELPER Angle reduceHuge(double x) {
  if (!(ABS(x) < INF))
    return (Angle){{NAN, 0.0}, 0};
  uint64_t bits = bitsOfF64(x);
  uint32_t offset = (uint32_t)(bits >> 52 & 0x7ff) - 1024, word = offset >> 6, by = offset & 63;
  uint64_t significand = bits << 11 | 0x8000000000000000u;
  unsigned __int128 product = ((unsigned __int128)(significand * digits(word, by)) << 64) +
                              (unsigned __int128)significand * digits(word + 1, by) +
                              (uint64_t)((unsigned __int128)significand * digits(word + 2, by) >> 64);
  // The fraction is taken from [-1/2, 1/2): its top bit moves on to the next quadrant.
  uint64_t top = (uint64_t)(product >> 62), low = (uint64_t)product << 2;
  uint32_t quadrant = (uint32_t)(product >> 126);
  int negative = (int64_t)top < 0;
  if (negative) {
    quadrant += 1;
    low = 0u - low;
    top = ~top + (low == 0);
  }
  // Normalised, so that a fraction next to 0 keeps its digits: no double is nearer to a multiple than 2^-61.
  int zeros = top ? __builtin_clzll(top) : 63;
  top = top << zeros | (low >> 1) >> (63 - zeros);
  low <<= zeros;
  double hi = (double)(top >> 11), lo = (double)((top & 0x7ff) << 42 | low >> 22) * 0x1p-53;
  double unit = powerOf2(-53 - zeros);
  hi *= unit, lo *= unit;
  Pair r = {hi * 0x1.921fb54442d18p+0, 0.0};
  r.lo = FMA(hi, 0x1.921fb54442d18p+0, -r.hi) + FMA(hi, 0x1.1a62633145c07p-54, lo * 0x1.921fb54442d18p+0);
  if (negative != (x < 0))
    r = (Pair){-r.hi, -r.lo};
  return (Angle){r, x < 0 ? 0u - quadrant : quadrant};
}

HELPER Angle reduceAngle(double x) {
  if (__builtin_expect(!(ABS(x) < 1000000.0), 0))
    return reduceHuge(x);
  double t = FMA(x, 0x1.45f306dc9c883p-1, TO_INTEGER);
  double n = t - TO_INTEGER;
  // pi/2 in three doubles. The first difference is exact; the second loses what lo gathers.
  double first = FMA(n, -0x1.921fb54442d18p+0, x), product = n * 0x1.1a62633145c07p-54;
  double hi = first - product, back = hi - first;
  double lo = (first - (hi - back)) - (product + back);
  lo -= FMA(n, 0x1.1a62633145c07p-54, -product);
  lo = FMA(n, 0x1.f1976b7ed8fbcp-110, lo);
  return (Angle){fastTwoSum(hi, lo), (uint32_t)bitsOfF64(t)};
}

/// sin(r) - r.hi and cos(r) - 1 for |r| <= pi/4.
HELPER double sinTail(Pair r) {
  double u = r.hi * r.hi;
  double p = POLY(u, 0x1.5d8f8bebb30d9p-33, -0x1.ae5e5aade2f9p-26, 0x1.71de35697aa67p-19, -0x1.a01a019c01d5p-13,
                  0x1.111111110f802p-7, -0x1.5555555555549p-3);
  return FMA(p, u * r.hi, FMA(-0.5 * u, r.lo, r.lo));
}
HELPER Pair cosPair(Pair r) {
  double u = r.hi * r.hi, half = 0.5 * u;
  double p = POLY(u, -0x1.8faad2b0b8518p-37, 0x1.1ee9e4d64f78bp-29, -0x1.27e4f7ffe98b5p-22, 0x1.a01a019ca46bbp-16,
                  -0x1.6c16c16c150fbp-10, 0x1.555555555554bp-5);
  double hi = 1.0 - half;
  // (1 - hi) - half is what the first difference lost, and so is the rounding of u.
  double lost = (1.0 - hi) - half - 0.5 * FMA(r.hi, r.hi, -u);
  return fastTwoSum(hi, FMA(p * u, u, lost) - r.hi * r.lo);
}
HELPER double sinOrCos(Angle a) {
  double result = a.quadrant & 1 ? cosPair(a.r).hi : a.r.hi + sinTail(a.r);
  return a.quadrant & 2 ? -result : result;
}

// sin and tan return ±0 as they got it: the tail's sign would lose −0.
ROUTINE double __tilec_sin_f64(double x) {
  double result = sinOrCos(reduceAngle(x));
  return x == 0.0 ? x : result;
}

ROUTINE double __tilec_cos_f64(double x) {
  Angle a = reduceAngle(x);
  a.quadrant += 1;
  return sinOrCos(a);
}

ROUTINE double __tilec_tan_f64(double x) {
  Angle a = reduceAngle(x);
  Pair s = fastTwoSum(a.r.hi, sinTail(a.r)), c = cosPair(a.r);
  int odd = a.quadrant & 1;
  Pair n = odd ? (Pair){-c.hi, -c.lo} : s, d = odd ? s : c;
  double inverse = 1.0 / d.hi;
  double q = n.hi * inverse;
  // What q leaves of the numerator, low parts included.
  double residual = FMA(-q, d.lo, FMA(-q, d.hi, n.hi) + n.lo);
  double result = FMA(residual, inverse, q);
  return x == 0.0 ? x : result;
}

// ---- error function

ROUTINE double __tilec_erf_f64(double x) {
  double a = ABS(x), u = x * x;
  double p = POLY(u, -0x1.e6b40952f6ea7p-31, 0x1.e7c64bd937b25p-27, -0x1.5e13539a4e65ap-23, 0x1.b9c91ac1e6c82p-20,
                  -0x1.f4d0b4673ee96p-17, 0x1.f9a31733d62a5p-14, -0x1.c02db39d9cda3p-11, 0x1.565bcd0ce5f1ep-8,
                  -0x1.b82ce31281c2ap-6, 0x1.ce2f21a042ae4p-4, -0x1.812746b0379e6p-2, 0x1.06eba8214db69p-3);
  double small = FMA(p, x, x);
  // erfc(a) = exp(-a^2) times a polynomial in 2/(2 + a); 1 - erfc(a) rounds to 1 before a = 6.
  double b = MIN(a, 6.0), square = b * b;
  double v = 2.0 / (2.0 + b);
  double w = POLY(v, 0x1.647bdeab4311dp-6, -0x1.a70ff9f2d3ac7p-3, 0x1.be85e20ce7caap-1, -0x1.119f20d2fce3ap+1,
                  0x1.a86fb60675a3dp+1, -0x1.aaa836c434e9dp+1, 0x1.1c7b08049b8fcp+1, -0x1.29284d2537db8p+0,
                  0x1.090535bc23a01p-1, 0x1.cf7b20ddcdcaep-5, 0x1.15098679d13dfp-2, 0x1.1d973d98874f1p-2,
                  0x1.2122854753addp-2, -0x1.5043214d2b058p-17);
  Reduced e = reduceExp(-square);
  e.r.lo -= FMA(b, b, -square);
  double large = FMA(-powerOf2(e.n) * expReduced(e.r), w, 1.0);
  return a < 0.84 ? small : SIGN_OF(large, x);
}

// ---- power

/// log2(x) for a finite x > 0 with a relative error near 2^-64: 2·atanh(s) with s = (m - 1)/(m + 1) as a pair and the
/// first two coefficients of the series as pairs.
HELPER Pair log2Pair(double x) {
  Split p = split(x);
  double f = p.m - 1.0;
  Pair d = fastTwoSum(1.0, p.m);
  double inverse = 1.0 / d.hi;
  double s = f * inverse;
  Pair sum = fastTwoSum(s, FMA(-s, d.lo, FMA(-s, d.hi, f)) * inverse);
  s = sum.hi;
  double sLo = sum.lo;
  double z = s * s;
  double zLo = FMA(s, s, -z) + 2.0 * s * sLo;
  double tail = z * POLY(z, 0x1.7399b364e6578p-3, 0x1.567c856ea0454p-3, 0x1.8a2f38177789ep-3, 0x1.c68dbe5e46e5ap-3,
                         0x1.0c9a87e04efd7p-2, 0x1.484b13cff5e87p-2, 0x1.a61762a7b7874p-2, 0x1.2776c50ef9bdap-1);
  Pair u = fastTwoSum(0x1.ec709dc3a03fdp-1, tail);
  u.lo += 0x1.d27f05548af0cp-55;
  double w = z * u.hi;
  double wLo = FMA(z, u.hi, -w) + FMA(z, u.lo, zLo * u.hi);
  Pair c = fastTwoSum(0x1.71547652b82fep+1, w);
  c.lo += wLo + 0x1.777d0ffda0d24p-55;
  double l = s * c.hi;
  double lLo = FMA(s, c.hi, -l) + FMA(s, c.lo, sLo * c.hi);
  // |l| < 0.6, so that a non-zero exponent is the larger term.
  Pair r = fastTwoSum(p.exponent, l);
  return fastTwoSum(r.hi, r.lo + lLo);
}

ROUTINE double __tilec_pow_f64(double x, double y) {
  double a = ABS(x);
  Pair l = log2Pair(a);
  // |log2 x| >= 2^-53 away from 1, so that a larger |y| changes nothing and the product stays finite.
  double b = MIN(MAX(y, -0x1p80), 0x1p80);
  double h = b * l.hi;
  double low = FMA(b, l.hi, -h) + b * l.lo;
  double c = MIN(MAX(h, -1080.0), 1030.0);
  double result = exp2Pair(c, c == h ? low : 0.0);

  // Annex F of C99, case by case. From 2^53 on every double is even.
  double half = 0.5 * y;
  int integer = __builtin_floor(y) == y;
  int odd = integer && __builtin_floor(half) != half && ABS(y) < 0x1p53;
  if (!(bitsOfF64(a) - 1u < 0x7fefffffffffffffu)) // x is 0, infinite or NaN
    result = a != a ? a : (a == 0.0) == (y < 0.0) ? INF : 0.0;
  if (y != y)
    result = y;
  if (ABS(y) == INF && a == a)
    result = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? INF : 0.0;
  if (x < 0.0 && a != INF && !integer && ABS(y) != INF)
    result = NAN;
  if (bitsOfF64(x) >> 63 && odd)
    result = -result;
  return x == 1.0 || y == 0.0 ? 1.0 : result;
}
