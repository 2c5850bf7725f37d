// Conversions between dtypes with one rounding, as semantics.md fixes them; compiler/base/dtype.h is the same in other
// words and the tests hold the two together. A wide source (f64, an integer) is first cut to an f32 that keeps in its
// last bit whether anything was lost (round to odd). Every narrow format has at least two bits less, so that rounding
// this f32 gives what rounding the source would have given.
#include "compiler/device/support.h"

typedef float tf32;
typedef float f32;
typedef double f64;
typedef uint16_t f16, bf16;
typedef uint8_t f8e4m3, f8e5m2, f8e8m0, f4e2m1;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define INF_BITS 0x7f800000u
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// ---- narrow to f32, exact

HELPER f32 f16ToF32(f16 h) {
#ifdef __NVPTX__
  return (f32) __builtin_bit_cast(_Float16, h);
#else
  // The exponent's bias is corrected by a product, which handles subnormals as well.
  u32 bits = (u32)(h & 0x7fff) << 13;
  u32 magnitude = (h & 0x7c00) == 0x7c00 ? bits | INF_BITS : bitsOfF32(f32OfBits(bits) * 0x1p112f);
  return f32OfBits(magnitude | (u32)(h & 0x8000) << 16);
#endif
}

ROUTINE f32 __tilec_cvt_f16_f32(f16 x) { return f16ToF32(x); }
ROUTINE f32 __tilec_cvt_bf16_f32(bf16 x) { return f32OfBits((u32)x << 16); }
// The f8 formats are cut from f16, whose conversion knows subnormals even where f32 flushes them.
ROUTINE f32 __tilec_cvt_f8e5m2_f32(f8e5m2 x) { return f16ToF32((f16)(x << 8)); }
ROUTINE f32 __tilec_cvt_f8e4m3_f32(f8e4m3 x) {
  f32 value = f16ToF32((f16)((x & 0x80) << 8 | (x & 0x7f) << 7)) * 0x1p8f;
  return (x & 0x7f) == 0x7f ? f32OfBits(0x7fffffff) : value;
}
ROUTINE f32 __tilec_cvt_f8e8m0_f32(f8e8m0 x) {
  u32 bits = x == 0 ? 0x00400000u : (u32)x << 23;
  return f32OfBits(x == 0xff ? 0x7fffffff : bits);
}
ROUTINE f32 __tilec_cvt_f4e2m1_f32(f4e2m1 x) { return f16ToF32((f16)((x & 8) << 12 | (x & 7) << 9)) * 0x1p14f; }

// ---- f32 to narrow, to nearest even

/// Magnitude code of a format with fewer exponent bits than f32: `mantissa` explicit bits, exponent bias `bias`, codes
/// limited to `limit`, NaN as `nan`.
HELPER u32 narrowMagnitude(u32 magnitude, int mantissa, int bias, u32 limit, u32 nan) {
  int shift = 23 - mantissa;
  u32 rounded = magnitude + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1);
  u32 normal = (rounded >> shift) - ((u32)(127 - bias) << mantissa);
  // Below the smallest normal number an addition rounds: its last place is the format's smallest step.
  u32 anchor = (u32)(127 + 23 + 1 - bias - mantissa) << 23;
  u32 subnormal = bitsOfF32(f32OfBits(magnitude) + f32OfBits(anchor)) - anchor;
  u32 code = magnitude < (u32)(128 - bias) << 23 ? subnormal : MIN(normal, limit);
  return magnitude > INF_BITS ? nan : code;
}

ROUTINE f16 __tilec_cvt_f32_f16(f32 x) {
#ifdef __NVPTX__
  return __builtin_bit_cast(f16, (_Float16)x);
#else
  u32 bits = bitsOfF32(x), code = narrowMagnitude(bits & 0x7fffffff, 10, 15, 0x7c00, 0x7fff);
  return (f16)(code | (x != x ? 0 : bits >> 16 & 0x8000));
#endif
}

ROUTINE bf16 __tilec_cvt_f32_bf16(f32 x) {
#ifdef __NVPTX__
  return __builtin_bit_cast(bf16, (__bf16)x);
#else
  u32 bits = bitsOfF32(x);
  return x != x ? 0x7fff : (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

ROUTINE tf32 __tilec_cvt_f32_tf32(f32 x) {
  u32 bits = bitsOfF32(x);
  return f32OfBits(x != x ? 0x7fffe000u : (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

// Overflow and infinity give the largest finite value; a NaN stays one, without its sign.
ROUTINE f8e4m3 __tilec_cvt_f32_f8e4m3(f32 x) {
  u32 bits = bitsOfF32(x), code = narrowMagnitude(bits & 0x7fffffff, 3, 7, 0x7e, 0x7f);
  return (f8e4m3)(code | (x != x ? 0 : bits >> 24 & 0x80));
}
ROUTINE f8e5m2 __tilec_cvt_f32_f8e5m2(f32 x) {
  u32 bits = bitsOfF32(x), code = narrowMagnitude(bits & 0x7fffffff, 2, 15, 0x7b, 0x7f);
  return (f8e5m2)(code | (x != x ? 0 : bits >> 24 & 0x80));
}
// No NaN here: it gives +6.
ROUTINE f4e2m1 __tilec_cvt_f32_f4e2m1(f32 x) {
  u32 bits = bitsOfF32(x), code = narrowMagnitude(bits & 0x7fffffff, 1, 1, 7, 7);
  return (f4e2m1)(code | (x != x ? 0 : bits >> 28 & 8));
}

/// The exponent of x >= 0 as a code, `up` for the next power of two unless x is one; 0 gives 2^-127, overflow 2^127,
/// negative numbers and NaN the NaN code.
HELPER f8e8m0 toE8M0(f32 x, int up) {
  u32 bits = bitsOfF32(x);
  u32 code = (bits + (up ? 0x7fffff : 0)) >> 23;
  // 2^-127 is a subnormal f32 and the least code.
  code = bits << 1 == 0 || bits <= 0x00400000u ? 0 : MIN(code, 254u);
  return bits << 1 != 0 && bits > INF_BITS ? 0xff : (f8e8m0)code;
}
ROUTINE f8e8m0 __tilec_cvt_f32_f8e8m0(f32 x) { return toE8M0(x, 1); }
ROUTINE f8e8m0 __tilec_cvt_f32_f8e8m0_rz(f32 x) { return toE8M0(x, 0); }

// ---- wide sources

/// f64 to f32, to odd: cut towards zero, and the last bit set when that lost anything.
HELPER f32 oddFromF64(f64 x) {
#ifdef __NVPTX__
  f32 cut = __nvvm_d2f_rz(x);
#else
  f32 nearest = (f32)x;
  f32 cut = __builtin_fabs((f64)nearest) > __builtin_fabs(x) ? f32OfBits(bitsOfF32(nearest) - 1) : nearest;
#endif
  return (f64)cut == x ? cut : f32OfBits(bitsOfF32(cut) | 1);
}

/// Integer to f32, to odd: the 24 leading bits, the last one set when more followed. Every step is exact.
HELPER f32 oddFromU64(u64 x) {
  int drop = 40 - __builtin_clzll(x | 1);
  drop = drop < 0 ? 0 : drop;
  u32 top = (u32)(x >> drop);
  top |= (u64)top << drop != x;
  return (f32)top * f32OfBits((u32)(127 + drop) << 23);
}
HELPER f32 oddFromU32(u32 x) {
  int drop = 8 - __builtin_clz(x | 1);
  drop = drop < 0 ? 0 : drop;
  u32 top = x >> drop;
  top |= top << drop != x;
  return (f32)top * f32OfBits((u32)(127 + drop) << 23);
}
HELPER f32 oddFromI64(i64 x) { return x < 0 ? -oddFromU64(0u - (u64)x) : oddFromU64((u64)x); }
HELPER f32 oddFromI32(i32 x) { return x < 0 ? -oddFromU32(0u - (u32)x) : oddFromU32((u32)x); }

#define WIDE_TO_NARROW(from, odd)                                                                                      \
  ROUTINE f16 __tilec_cvt_##from##_f16(from x) { return __tilec_cvt_f32_f16(odd(x)); }                                 \
  ROUTINE bf16 __tilec_cvt_##from##_bf16(from x) { return __tilec_cvt_f32_bf16(odd(x)); }                              \
  ROUTINE tf32 __tilec_cvt_##from##_tf32(from x) { return __tilec_cvt_f32_tf32(odd(x)); }                              \
  ROUTINE f8e4m3 __tilec_cvt_##from##_f8e4m3(from x) { return __tilec_cvt_f32_f8e4m3(odd(x)); }                        \
  ROUTINE f8e5m2 __tilec_cvt_##from##_f8e5m2(from x) { return __tilec_cvt_f32_f8e5m2(odd(x)); }                        \
  ROUTINE f8e8m0 __tilec_cvt_##from##_f8e8m0(from x) { return toE8M0(odd(x), 1); }                                     \
  ROUTINE f4e2m1 __tilec_cvt_##from##_f4e2m1(from x) { return __tilec_cvt_f32_f4e2m1(odd(x)); }
WIDE_TO_NARROW(f64, oddFromF64)
WIDE_TO_NARROW(i32, oddFromI32)
WIDE_TO_NARROW(u32, oddFromU32)
WIDE_TO_NARROW(i64, oddFromI64)
WIDE_TO_NARROW(u64, oddFromU64)
ROUTINE f8e8m0 __tilec_cvt_f64_f8e8m0_rz(f64 x) { return toE8M0(oddFromF64(x), 0); }

#define INT_TO_WIDE(from)                                                                                              \
  ROUTINE f32 __tilec_cvt_##from##_f32(from x) { return (f32)x; }                                                      \
  ROUTINE f64 __tilec_cvt_##from##_f64(from x) { return (f64)x; }
INT_TO_WIDE(i32)
INT_TO_WIDE(u32)
INT_TO_WIDE(i64)
INT_TO_WIDE(u64)

// ---- to integers: truncation that saturates, 0 for a NaN (-fno-strict-float-cast-overflow makes casts do so)

#define TO_INTEGER(from, to)                                                                                           \
  ROUTINE to __tilec_cvt_##from##_##to(from x) { return (to)x; }
#define TO_INTEGERS(from)                                                                                              \
  TO_INTEGER(from, i8)                                                                                                 \
  TO_INTEGER(from, i16)                                                                                                \
  TO_INTEGER(from, i32)                                                                                                \
  TO_INTEGER(from, i64)                                                                                                \
  TO_INTEGER(from, u8)                                                                                                 \
  TO_INTEGER(from, u16)                                                                                                \
  TO_INTEGER(from, u32)                                                                                                \
  TO_INTEGER(from, u64)
TO_INTEGERS(f32)
TO_INTEGERS(f64)
