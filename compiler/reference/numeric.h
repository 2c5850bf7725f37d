#pragma once
// Element types as the executor computes with them: how a stored element becomes a number and how a result is rounded
// back. Computing in a wider format and rounding to the narrow one gives the same as one rounding for +, -, *, / and
// sqrt when the wide format has at least 2p + 2 bits (p the narrow precision) and does not underflow: f16 (p = 11) in
// f32; bf16 (p = 8) in f64, since products of small bf16 numbers fall below f32's normal range.
#include "compiler/base/dtype.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#pragma STDC FP_CONTRACT OFF

namespace tilec::reference {

/// The value of an f16, without a branch per class so that loops over tiles vectorise.
inline float decodeF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = uint32_t(bits & 0x7FFF) << 13;
  // Scaling by 2^112 moves the exponent's bias and makes subnormals right at the same time.
  uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7F800000;
  return std::bit_cast<float>(sign | ((bits & 0x7C00) == 0x7C00 ? special : finite));
}

/// Rounds to nearest even; NaN becomes the canonical one.
inline uint16_t encodeF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7FFFFFFF;
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t normal = (magnitude + 0xFFF + (magnitude >> 13 & 1) - 0x38000000) >> 13;
  // Next to 0.5 an f32 has the spacing of f16's subnormals, so the addition rounds.
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  uint32_t result = magnitude < 0x38800000 ? subnormal : magnitude >= 0x477FF000 ? 0x7C00 : normal;
  return magnitude > 0x7F800000 ? uint16_t(0x7FFF) : uint16_t(result | sign);
}

inline float decodeBF16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

inline uint16_t encodeBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? uint16_t(0x7FFF) : uint16_t(rounded);
}

/// Rounds an f64 to an f32 whose last bit is odd unless the value is exact. A later rounding to a format with at least
/// two bits fewer then comes out as if it were the only one.
inline float roundToOdd(double value) {
  float nearest = float(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bool moves = value == value && double(nearest) != value && (bits & 1) == 0;
  // The odd neighbour on the other side of the value.
  uint32_t neighbour = std::fabs(value) > std::fabs(double(nearest)) ? bits + 1 : bits - 1;
  return std::bit_cast<float>(moves ? neighbour : bits);
}

struct F64 {
  using Storage = double;
  using Compute = double;
  static double decode(double x) { return x; }
  static double encode(double x) { return x; }
  static double fromDouble(double x) { return x; }
};
struct F32 {
  using Storage = float;
  using Compute = float;
  static float decode(float x) { return x; }
  static float encode(float x) { return x; }
  static float fromDouble(double x) { return float(x); }
};
/// f32 with subnormal operands and results flushed to zero, as `ftz = true` asks.
struct F32Ftz {
  using Storage = float;
  using Compute = float;
  static float flush(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
  static float decode(float x) { return flush(x); }
  static float encode(float x) { return flush(x); }
  static float fromDouble(double x) { return flush(float(x)); }
};
struct F16 {
  using Storage = uint16_t;
  using Compute = float;
  static float decode(uint16_t x) { return decodeF16(x); }
  static uint16_t encode(float x) { return encodeF16(x); }
  static uint16_t fromDouble(double x) { return encodeF16(roundToOdd(x)); }
};
struct BF16 {
  using Storage = uint16_t;
  using Compute = double;
  static double decode(uint16_t x) { return decodeBF16(x); }
  static uint16_t encode(double x) { return encodeBF16(roundToOdd(x)); }
  static uint16_t fromDouble(double x) { return encode(x); }
};

/// min and max of the language: a number wins over NaN (or any NaN wins), and +0 > -0.
template <bool propagate, typename T> T minimum(T a, T b) {
  if (a != a)
    return propagate ? a : b;
  if (b != b)
    return propagate ? b : a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <bool propagate, typename T> T maximum(T a, T b) {
  if (a != a)
    return propagate ? a : b;
  if (b != b)
    return propagate ? b : a;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// a·b + c, rounded once. For f16 and bf16 the product is exact in f64; the sum is rounded to odd there, which keeps
/// what the final rounding to the narrow format needs to know.
template <typename E>
typename E::Storage fusedMultiplyAdd(typename E::Storage x, typename E::Storage y, typename E::Storage z) {
  auto a = E::decode(x), b = E::decode(y), c = E::decode(z);
  if constexpr (sizeof(typename E::Storage) >= 4) {
    return E::encode(std::fma(a, b, c));
  } else {
    double product = double(a) * double(b), sum = product + double(c);
    if (std::isfinite(sum)) {
      double part = sum - product;
      double error = (product - (sum - part)) + (double(c) - part);
      uint64_t bits = std::bit_cast<uint64_t>(sum);
      if (error != 0 && (bits & 1) == 0) // step towards the exact value: the neighbour with an odd last bit
        bits += (error > 0) == (sum > 0) ? 1 : -1;
      sum = std::bit_cast<double>(bits);
    }
    return E::fromDouble(sum);
  }
}

/// Signed division that floors, for divisors other than 0 and without MIN / -1.
template <typename T> T floorDivide(T a, T b) { return T(a / b - (a % b != 0 && (a % b < 0) != (b < 0))); }
template <typename T> T ceilDivide(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return T(a / b + (a % b != 0 && (a % b < 0) == (b < 0)));
  else
    return T(a / b + (a % b != 0));
}

} // namespace tilec::reference
