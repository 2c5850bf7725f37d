// Math functions in f32, within 2 ulp of the exact value over the whole range (docs/language.md has each measured
// bound) and exact at special values. Forms are chosen for the GPU: fused multiply-add polynomials, selects for
// branches (the one branch is the reduction of huge angles), no division where a reciprocal and a residual do.
// Coefficients come from fit.py.
#include "compiler/device/support.h"

#define INF __builtin_inff()
#define NAN __builtin_nanf("")
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define ABS(x) __builtin_fabsf(x)
#define SIGN_OF(magnitude, sign) __builtin_copysignf(magnitude, sign)
/// Minimum and maximum that keep a NaN, unlike fminf, in one instruction.
#define MIN(a, b) __builtin_elementwise_minimum(a, b)
#define MAX(a, b) __builtin_elementwise_maximum(a, b)

/// Adding this rounds to an integer (|x| < 2^22), which then stands in the low bits of the sum.
#define TO_INTEGER 0x1.8p23f
#define TO_INTEGER_BITS 0x4b400000

#define LN2_HI 0x1.62e43p-1f
#define LN2_LO -0x1.05c61p-29f
#define LOG2E_HI 0x1.715476p+0f
#define LOG2E_LO 0x1.4ae0cp-26f

/// A value as the unevaluated sum of two floats, |lo| at most half an ulp of hi where not said otherwise.
typedef struct {
  float hi, lo;
} Pair;

/// a + b with its rounding error, for |a| >= |b| or a = 0.
HELPER Pair fastTwoSum(float a, float b) {
  float sum = a + b;
  return (Pair){sum, b - (sum - a)};
}

/// 2^n for n in [-126, 127]; only the low 9 bits of n count.
HELPER float powerOf2(int n) { return f32OfBits((uint32_t)(n + 127) << 23); }

/// x·2^n with one rounding, for x near 1 and n in [-252, 254]: 2^n alone need not be a float. n may carry
/// TO_INTEGER_BITS, which the shifts push out.
HELPER float scale(float x, int n) {
  int half = n >> 1;
  return x * powerOf2(half) * powerOf2(n - half);
}

// ---- exponentials

/// c = n·ln(2) + r, so that exp(c) = exp(r)·2^n; |c| < 2^20.
typedef struct {
  float r; ///< |r| <= ln(2)/2
  int n;   ///< with TO_INTEGER_BITS added
} Reduced;

HELPER Reduced reduceExp(float c) {
  float t = FMA(c, LOG2E_HI, TO_INTEGER);
  float n = t - TO_INTEGER;
  // The product is exact inside the fused operation and the difference needs no rounding.
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, c));
  return (Reduced){r, (int)bitsOfF32(t)};
}

/// (e^r - 1 - r)/r^2 for |r| <= ln(2)/2.
HELPER float expTail(float r) {
  float q = FMA(0x1.6a1a9p-10f, r, 0x1.123fb4p-7f);
  q = FMA(q, r, 0x1.555916p-5f);
  q = FMA(q, r, 0x1.55548ap-3f);
  return FMA(q, r, 0x1.fffffcp-2f);
}
HELPER float expReduced(float r) { return FMA(FMA(expTail(r), r, 1.0f), r, 1.0f); }
HELPER float expm1Reduced(float r) { return FMA(expTail(r), r * r, r); }

ROUTINE float __tilec_exp_f32(float x) {
  // 2^r·2^n with n the floor of x·log2(e), held to the exponents of normal numbers, -126 to 127, and 0 <= r < 1 there
  // (give or take 2^-17). Beyond them r runs on: the hardware's power then meets 2^-126 or 2^127, and their product is
  // the subnormal, 0 or infinity wanted. (n + 126)/253 saturates, which spares the comparisons.
  float part = saturatedFma(x, 0x1.75b598p-8f, 0x1.fdf9eep-2f); // log2(e)/253 and 126/253, rounded up
  float t = floorOfProduct(part, 253.0f, TO_INTEGER + 1);       // the low bits are n + 127
  float r = FMA(x, LOG2E_LO, FMA(x, LOG2E_HI, TO_INTEGER + 127 - t));
  return hardwareExp2(r) * f32OfBits(bitsOfF32(t) << 23);
}

ROUTINE float __tilec_exp2_f32(float x) {
  float c = MIN(MAX(x, -151.0f), 129.0f);
  float t = c + TO_INTEGER;
  float f = c - (t - TO_INTEGER);
  return scale(expReduced(FMA(f, LN2_LO, f * LN2_HI)), (int)bitsOfF32(t));
}

/// exp(a)/2 for a in [0, 91]; a result beyond the range is infinite.
HELPER float halfExp(float a) {
  Reduced e = reduceExp(a);
  return scale(expReduced(e.r), e.n - 1);
}

ROUTINE float __tilec_sinh_f32(float x) {
  float u = x * x;
  float p = FMA(0x1.7a267cp-19f, u, 0x1.9ffe12p-13f);
  p = FMA(p, u, 0x1.111136p-7f);
  p = FMA(p, u, 0x1.555556p-3f);
  float small = FMA(p, u * x, x);
  float e = halfExp(MIN(ABS(x), 91.0f));
  float large = SIGN_OF(FMA(-0.25f, hardwareRcp(e), e), x);
  return ABS(x) < 1.0f ? small : large;
}

ROUTINE float __tilec_cosh_f32(float x) {
  float e = halfExp(MIN(ABS(x), 91.0f));
  return FMA(0.25f, hardwareRcp(e), e);
}

ROUTINE float __tilec_tanh_f32(float x) {
  // (e^2a - 1)/(e^2a + 1) with both sides formed from e^r - 1, which keeps small arguments exact. From 1 on the
  // quotient is written 1 - 2/(e^2a + 1), where errors count little; it rounds to 1 from 9.02 on.
  float a = MIN(ABS(x), 10.0f);
  Reduced e = reduceExp(a + a);
  float s = powerOf2(e.n), t = expm1Reduced(e.r);
  float numerator = FMA(s, t, s - 1.0f), denominator = FMA(s, t, s + 1.0f);
  float inverse = hardwareRcp(denominator);
  float q = numerator * inverse;
  float denominatorLow = FMA(s, t, (s + 1.0f) - denominator);
  q = FMA(FMA(-q, denominatorLow, FMA(-q, denominator, numerator)), inverse, q);
  return SIGN_OF(a < 1.0f ? q : FMA(-2.0f, inverse, 1.0f), x);
}

// ---- logarithms

/// log(x) = exponent·ln 2 + (hi + lo) for a finite x > 0; lo is not normalised against hi but small.
typedef struct {
  float exponent;
  Pair m;
} LogParts;

HELPER LogParts logParts(float x) {
  int subnormal = x < 0x1p-126f;
  uint32_t bits = bitsOfF32(subnormal ? x * 0x1p23f : x);
  // The mantissa is taken from [2/3, 4/3), so that log(x) near 1 needs no exponent.
  uint32_t shift = (bits - 0x3f2aaaabu) & 0xff800000u;
  float exponent =
      f32OfBits(TO_INTEGER_BITS + (uint32_t)((int32_t)shift >> 23)) - (subnormal ? TO_INTEGER + 23 : TO_INTEGER);
  float f = f32OfBits(bits - shift) - 1.0f;
  float q = FMA(-0x1.0e52d2p-3f, f, 0x1.1e161cp-3f);
  q = FMA(q, f, -0x1.f029e2p-4f);
  q = FMA(q, f, 0x1.1eeb3ap-3f);
  q = FMA(q, f, -0x1.55b88cp-3f);
  q = FMA(q, f, 0x1.99ce98p-3f);
  q = FMA(q, f, -0x1.fffe5ap-3f);
  q = FMA(q, f, 0x1.55550cp-2f);
  return (LogParts){exponent, {f, f * f * FMA(q, f, -0.5f)}};
}

/// Replaces the result of a logarithm where x is not a finite number above 0. Floats are compared, not bits: a kernel
/// that flushes subnormals takes them for 0.
HELPER float logSpecial(float result, float x) {
  float special = x == 0.0f ? -INF : x < 0.0f ? NAN : x;
  return x > 0.0f && x < INF ? result : special;
}

ROUTINE float __tilec_log_f32(float x) {
  LogParts l = logParts(x);
  return logSpecial(FMA(l.exponent, LN2_HI, l.m.hi + l.m.lo), x);
}

ROUTINE float __tilec_log2_f32(float x) {
  LogParts l = logParts(x);
  Pair m = fastTwoSum(l.m.hi, l.m.lo);
  float low = FMA(m.lo, LOG2E_HI, m.hi * LOG2E_LO);
  return logSpecial(l.exponent + FMA(m.hi, LOG2E_HI, low), x);
}

// ---- roots and quotients

// The compiler's own square root and division are correctly rounded (sqrt.rn, div.rn, rcp.rn).
ROUTINE float __tilec_sqrt_f32(float x) { return __builtin_sqrtf(x); }
ROUTINE float __tilec_div_f32(float a, float b) { return a / b; }
ROUTINE float __tilec_rcp_f32(float x) { return 1.0f / x; }

ROUTINE float __tilec_rsqrt_f32(float x) {
  // One Newton step; at 0 and infinity its residual is a NaN and the hardware's value stands.
  float y = hardwareRsqrt(x);
  float residual = FMA(-x * y, y, 1.0f);
  float refined = FMA(0.5f * residual, y, y);
  return residual == residual ? refined : y;
}

// ---- trigonometry

/// x = (quadrant + 4k)·pi/2 + r + low with |r| <= pi/4 (a little more at the edges). The low part is r's rounding
/// error; where it is not used it costs nothing.
typedef struct {
  float r, low;
  uint32_t quadrant;
} Angle;

/// Binary digits of 2/pi behind 32 zeros.
TABLE uint32_t twoOverPi[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                              0xf534ddc0u, 0xdb629599u, 0x3c439041u};

/// Payne and Hanek's reduction: |x| >= 2, infinity and NaN give NaN. Multiplies the 24-bit significand by the 96 digits
/// of 2/pi that matter modulo 4; the top 64 bits of the product are the quadrant and its fraction.
HELPER Angle reduceHuge(float x) {
  uint32_t bits = bitsOfF32(x), offset = (bits >> 23 & 0xff) - 128, word = offset >> 5 & 3, by = offset & 31;
  uint32_t significand = bits << 8 | 0x80000000u;
  uint64_t digits01 = (uint64_t)twoOverPi[word] << 32 | twoOverPi[word + 1];
  uint64_t digits12 = (uint64_t)twoOverPi[word + 1] << 32 | twoOverPi[word + 2];
  uint64_t digits23 = (uint64_t)twoOverPi[word + 2] << 32 | twoOverPi[word + 3];
  uint32_t w0 = (uint32_t)(digits01 << by >> 32), w1 = (uint32_t)(digits12 << by >> 32),
           w2 = (uint32_t)(digits23 << by >> 32);
  uint64_t product =
      ((uint64_t)(significand * w0) << 32) + (uint64_t)significand * w1 + ((uint64_t)significand * w2 >> 32);
  // The fraction is taken from [-1/2, 1/2): its top bit moves on to the next quadrant.
  int64_t fraction = (int64_t)(product << 2);
  uint32_t quadrant = (uint32_t)(product >> 62) + (fraction < 0);
  double exact = (double)fraction * 0x1.921fb54442d18p-64;
  float r = (float)exact, low = (float)(exact - (double)r);
  if (!(ABS(x) < INF))
    return (Angle){NAN, NAN, 0};
  return x < 0 ? (Angle){-r, -low, 0u - quadrant} : (Angle){r, low, quadrant};
}

HELPER Angle reduceAngle(float x) {
  if (__builtin_expect(!(ABS(x) < 100000.0f), 0))
    return reduceHuge(x);
  float t = FMA(x, 0x1.45f306p-1f, TO_INTEGER);
  float n = t - TO_INTEGER;
  // pi/2 in three floats: the first difference is exact, the rest keeps r to a relative 2^-24 even next to a zero.
  float first = FMA(n, -0x1.921fb6p+0f, x);
  float r = FMA(n, 0x1.ee59dap-50f, FMA(n, 0x1.777a5cp-25f, first));
  // What r lost: the same sum with every rounding error kept (Knuth's two-sum).
  float product = n * 0x1.777a5cp-25f, sum = first + product, back = sum - first;
  float lost = (first - (sum - back)) + (product - back) + FMA(n, 0x1.777a5cp-25f, -product);
  float low = FMA(n, 0x1.ee59dap-50f, (sum - r) + lost);
  return (Angle){r, low, bitsOfF32(t)};
}

/// sin(r) - r and cos(r) - 1 for |r| <= pi/4.
HELPER float sinTail(float r) {
  float u = r * r;
  float p = FMA(FMA(-0x1.9947cap-13f, u, 0x1.11074cp-7f), u, -0x1.555546p-3f);
  return p * (u * r);
}
HELPER float cosTail(float r) {
  float u = r * r;
  float p = FMA(FMA(0x1.99fc26p-16f, u, -0x1.6c0c76p-10f), u, 0x1.55554ap-5f);
  return FMA(p * u, u, -0.5f * u);
}
HELPER float sinOrCos(Angle a) {
  float result = a.quadrant & 1 ? 1.0f + cosTail(a.r) : a.r + sinTail(a.r);
  return a.quadrant & 2 ? -result : result;
}

// sin and tan return ±0 as they got it: the tail's sign would lose −0.
ROUTINE float __tilec_sin_f32(float x) {
  float result = sinOrCos(reduceAngle(x));
  return x == 0.0f ? x : result;
}

ROUTINE float __tilec_cos_f32(float x) {
  Angle a = reduceAngle(x);
  a.quadrant += 1;
  return sinOrCos(a);
}

ROUTINE float __tilec_tan_f32(float x) {
  Angle a = reduceAngle(x);
  // Near pi/4 a tangent moves by 1.6 times its argument's error: the low part counts.
  Pair s = fastTwoSum(a.r, sinTail(a.r) + FMA(-0.5f * a.r * a.r, a.low, a.low));
  Pair c = fastTwoSum(1.0f, FMA(-a.r, a.low, cosTail(a.r)));
  int odd = a.quadrant & 1;
  Pair n = odd ? (Pair){-c.hi, -c.lo} : s, d = odd ? s : c;
  float inverse = hardwareRcp(d.hi);
  float q = n.hi * inverse;
  // What q leaves of the numerator, low parts included.
  float residual = FMA(-q, d.lo, FMA(-q, d.hi, n.hi) + n.lo);
  float result = FMA(residual, inverse, q);
  return x == 0.0f ? x : result;
}

// ---- error function

ROUTINE float __tilec_erf_f32(float x) {
  float a = ABS(x), u = x * x;
  float p = FMA(0x1.4cbd2ep-14f, u, -0x1.a54466p-11f);
  p = FMA(p, u, 0x1.54376ep-8f);
  p = FMA(p, u, -0x1.b8001p-6f);
  p = FMA(p, u, 0x1.ce2d7p-4f);
  p = FMA(p, u, -0x1.812742p-2f);
  p = FMA(p, u, 0x1.06eba8p-3f);
  float small = FMA(p, x, x);
  // 1 - exp(ln(erfc(a))) from 1 on; it rounds to 1 before a = 4.
  float b = MIN(a, 4.0f);
  float l = FMA(0x1.852d22p-13f, b, -0x1.814cc4p-9f);
  l = FMA(l, b, 0x1.654218p-6f);
  l = FMA(l, b, -0x1.a60a7ep-4f);
  l = FMA(l, b, -0x1.46c584p-1f);
  l = FMA(l, b, -0x1.2085b2p+0f);
  l = FMA(l, b, -0x1.72e7bp-12f);
  Reduced e = reduceExp(l);
  float large = FMA(-powerOf2(e.n), expReduced(e.r), 1.0f);
  return a < 1.0f ? small : SIGN_OF(large, x);
}

// ---- power

/// log2(x) for a finite x > 0 with a relative error near 2^-33: 2·atanh(s) with s = (m - 1)/(m + 1) as a pair and the
/// first two coefficients of the series as pairs.
HELPER Pair log2Pair(float x) {
  int subnormal = x < 0x1p-126f;
  uint32_t bits = bitsOfF32(subnormal ? x * 0x1p23f : x);
  uint32_t shift = (bits - 0x3f2aaaabu) & 0xff800000u;
  float exponent =
      f32OfBits(TO_INTEGER_BITS + (uint32_t)((int32_t)shift >> 23)) - (subnormal ? TO_INTEGER + 23 : TO_INTEGER);
  float m = f32OfBits(bits - shift), f = m - 1.0f;
  Pair d = fastTwoSum(1.0f, m);
  float inverse = hardwareRcp(d.hi);
  float s = f * inverse;
  float sLo = FMA(-s, d.lo, FMA(-s, d.hi, f)) * inverse;
  Pair sum = fastTwoSum(s, sLo);
  s = sum.hi, sLo = sum.lo;
  float z = s * s;
  float zLo = FMA(s, s, -z) + 2.0f * s * sLo;
  float tail = z * FMA(FMA(0x1.60b636p-2f, z, 0x1.a569ap-2f), z, 0x1.277784p-1f);
  Pair u = fastTwoSum(0x1.ec709ep-1f, tail);
  u.lo += -0x1.e2fe02p-28f;
  float w = z * u.hi;
  float wLo = FMA(z, u.hi, -w) + FMA(z, u.lo, zLo * u.hi);
  Pair c = fastTwoSum(0x1.715476p+1f, w);
  c.lo += wLo + 0x1.4ae0cp-25f;
  float l = s * c.hi;
  float lLo = FMA(s, c.hi, -l) + FMA(s, c.lo, sLo * c.hi);
  // |l| < 0.6, so that a non-zero exponent is the larger term.
  Pair r = fastTwoSum(exponent, l);
  return fastTwoSum(r.hi, r.lo + lLo);
}

ROUTINE float __tilec_pow_f32(float x, float y) {
  float a = ABS(x);
  Pair l = log2Pair(a);
  // |log2 x| >= 2^-24 away from 1, so that a larger |y| changes nothing and the product stays finite.
  float b = MIN(MAX(y, -0x1p40f), 0x1p40f);
  float h = b * l.hi;
  float low = FMA(b, l.hi, -h) + b * l.lo;
  float c = MIN(MAX(h, -160.0f), 130.0f);
  float t = c + TO_INTEGER;
  float f = c - (t - TO_INTEGER);
  f += c == h ? low : 0.0f;
  float result = scale(expReduced(FMA(f, LN2_LO, f * LN2_HI)), (int)bitsOfF32(t));

  // Annex F of C99, case by case. From 2^24 on every float is even.
  float half = 0.5f * y;
  int integer = __builtin_floorf(y) == y;
  int odd = integer && __builtin_floorf(half) != half && ABS(y) < 0x1p24f;
  if (!(a > 0.0f && a < INF)) // x is 0, infinite or NaN
    result = a != a ? a : (a == 0.0f) == (y < 0.0f) ? INF : 0.0f;
  if (y != y)
    result = y;
  if (ABS(y) == INF && a == a)
    result = a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? INF : 0.0f;
  if (x < 0.0f && a != INF && !integer && ABS(y) != INF)
    result = NAN;
  if (bitsOfF32(x) >> 31 && odd)
    result = -result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}

// ---- hardware approximations

// `_approx` keeps subnormals, `_approx_ftz` flushes them. Bounds are the PTX manual's. Volatile is left out of the
// assembly, so that unused and equal results fold. The host build computes each step exactly.
#ifdef __NVPTX__
#define STEP(name, instruction)                                                                                        \
  HELPER float name(float x) {                                                                                         \
    float result;                                                                                                      \
    __asm__(instruction " %0, %1;" : "=f"(result) : "f"(x));                                                           \
    return result;                                                                                                     \
  }
#define STEP2(name, instruction)                                                                                       \
  HELPER float name(float a, float b) {                                                                                \
    float result;                                                                                                      \
    __asm__(instruction " %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));                                               \
    return result;                                                                                                     \
  }
#define STEPS(name, instruction) STEP(name, instruction ".f32") STEP(name##Ftz, instruction ".ftz.f32")
STEPS(ex2, "ex2.approx")
STEPS(lg2, "lg2.approx")
STEPS(sinHw, "sin.approx")
STEPS(cosHw, "cos.approx")
STEPS(sqrtHw, "sqrt.approx")
STEPS(rsqrtHw, "rsqrt.approx")
STEPS(rcpHw, "rcp.approx")
STEP(tanhHw, "tanh.approx.f32")
STEP2(divHw, "div.full.f32")
STEP2(divHwFtz, "div.full.ftz.f32")
#else
#define STEPS(name, host)                                                                                              \
  HELPER float name(float x) { return host; }                                                                          \
  HELPER float name##Ftz(float x) { return host; }
STEPS(ex2, __tilec_exp2_f32(x))
STEPS(lg2, __tilec_log2_f32(x))
STEPS(sinHw, __tilec_sin_f32(x))
STEPS(cosHw, __tilec_cos_f32(x))
STEPS(sqrtHw, __builtin_sqrtf(x))
STEPS(rsqrtHw, hardwareRsqrt(x))
STEPS(rcpHw, 1.0f / x)
HELPER float tanhHw(float x) { return __tilec_tanh_f32(x); }
HELPER float divHw(float a, float b) { return a / b; }
HELPER float divHwFtz(float a, float b) { return a / b; }
#endif
#define tanhHwFtz tanhHw

/// x^y as 2^(y·log2|x|) with the sign of an odd power; y = 0 gives 1 and a negative x with a fractional y a NaN.
HELPER float powSign(float power, float x, float y) {
  float integer = __builtin_rintf(y), half = 0.5f * y;
  float negative = integer != y ? NAN : __builtin_rintf(half) != half ? -power : power;
  return y == 0.0f ? 1.0f : x < 0.0f ? negative : power;
}

#define APPROX(suffix, ftz)                                                                                            \
  ROUTINE float __tilec_exp_f32_##suffix(float x) { return ex2##ftz(x * LOG2E_HI); }                                   \
  ROUTINE float __tilec_exp2_f32_##suffix(float x) { return ex2##ftz(x); }                                             \
  ROUTINE float __tilec_log_f32_##suffix(float x) { return lg2##ftz(x) * LN2_HI; }                                     \
  ROUTINE float __tilec_log2_f32_##suffix(float x) { return lg2##ftz(x); }                                             \
  ROUTINE float __tilec_sqrt_f32_##suffix(float x) { return sqrtHw##ftz(x); }                                          \
  ROUTINE float __tilec_rsqrt_f32_##suffix(float x) { return rsqrtHw##ftz(x); }                                        \
  ROUTINE float __tilec_rcp_f32_##suffix(float x) { return rcpHw##ftz(x); }                                            \
  ROUTINE float __tilec_div_f32_##suffix(float a, float b) { return divHw##ftz(a, b); }                                \
  ROUTINE float __tilec_sin_f32_##suffix(float x) { return sinHw##ftz(x); }                                            \
  ROUTINE float __tilec_cos_f32_##suffix(float x) { return cosHw##ftz(x); }                                            \
  ROUTINE float __tilec_tan_f32_##suffix(float x) { return divHw##ftz(sinHw##ftz(x), cosHw##ftz(x)); }                 \
  ROUTINE float __tilec_tanh_f32_##suffix(float x) { return tanhHw##ftz(x); }                                          \
  ROUTINE float __tilec_pow_f32_##suffix(float x, float y) { return powSign(ex2##ftz(y * lg2##ftz(ABS(x))), x, y); }
APPROX(approx, )
APPROX(approx_ftz, Ftz)
