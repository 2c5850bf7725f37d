#include "compiler/base/dtype.h"
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

namespace tilec {

/// `bool` is a word of C++, so its row is spelt `bool_`.
static constexpr std::string_view written(std::string_view row) {
  return row.ends_with('_') ? row.substr(0, row.size() - 1) : row;
}

static constexpr std::array table = {
#define DTYPE(name, bits, kind, isSigned, exponentBits, mantissaBits)                                                  \
  DTypeInfo{DType::name, written(#name), bits, DTypeKind::kind, isSigned, exponentBits, mantissaBits},
#include "compiler/base/dtypes.def"
};

const DTypeInfo &info(DType t) { return table[size_t(t)]; }

const std::vector<DTypeInfo> &allDTypes() {
  static const std::vector<DTypeInfo> all(table.begin(), table.end());
  return all;
}

std::optional<DType> parseDType(std::string_view name) {
  for (const DTypeInfo &row : allDTypes())
    if (row.name == name)
      return row.dtype;
  return std::nullopt;
}

bool hasArithmetic(DType t) {
  switch (t) {
  case DType::tf32:
  case DType::f8e4m3:
  case DType::f8e5m2:
  case DType::f8e8m0:
  case DType::f4e2m1:
    return false;
  default:
    return true;
  }
}

//===--------------------------------------------------------------------------------------------------------------===//
// Float formats
//===--------------------------------------------------------------------------------------------------------------===//

namespace {

/// What an encoding's columns in dtypes.def leave open. Codes here are magnitudes without the sign bit, and without the
/// 13 unused low bits of tf32.
struct Format {
  int mantissaBits;
  int minExponent;      ///< exponent of the smallest normal number; of code 0 in f8e8m0, which has no zero
  uint64_t maxCode;     ///< largest finite value
  uint64_t infCode;     ///< 0: the format has no infinity
  uint64_t nanCode;     ///< what a NaN becomes: all ones, as the hardware's conversions give
  int unusedBits;       ///< low storage bits that are always zero
  uint64_t signBit;     ///< in storage; 0: unsigned
  bool alwaysSaturates; ///< overflow and infinity go to the largest finite value
};

constexpr uint64_t ones(int count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

constexpr Format makeFormat(const DTypeInfo &row) {
  Format f{};
  f.mantissaBits = row.mantissaBits;
  f.minExponent = 2 - (1 << (row.exponentBits - 1));
  f.nanCode = ones(row.exponentBits + row.mantissaBits);
  // The IEEE pattern: an exponent of all ones holds infinity and the NaNs.
  f.infCode = f.nanCode & ~ones(row.mantissaBits);
  f.maxCode = f.infCode - 1;
  f.unusedBits = row.bits - row.exponentBits - row.mantissaBits - (row.isSigned ? 1 : 0);
  f.signBit = row.isSigned ? uint64_t(1) << (row.bits - 1) : 0;
  switch (row.dtype) {
  case DType::f8e4m3: // no infinity, one NaN: the largest exponent holds numbers up to 448
    f.infCode = 0;
    f.maxCode = f.nanCode - 1;
    f.alwaysSaturates = true;
    break;
  case DType::f8e5m2:
    f.alwaysSaturates = true;
    break;
  case DType::f8e8m0: // a bare power of two, 2^-127 to 2^127: no zero, no subnormals
    f.infCode = 0;
    f.maxCode = f.nanCode - 1;
    f.minExponent = -127;
    f.alwaysSaturates = true;
    break;
  case DType::f4e2m1: // no infinity and no NaN: a NaN gives +6
    f.infCode = 0;
    f.maxCode = f.nanCode;
    f.alwaysSaturates = true;
    break;
  default:
    break;
  }
  return f;
}

constexpr auto formats = [] {
  std::array<Format, table.size()> all{};
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i].kind == DTypeKind::Float)
      all[i] = makeFormat(table[i]);
  return all;
}();

const Format &format(DType t) {
  assert(isFloat(t) && "a float dtype");
  return formats[size_t(t)];
}

/// Storage bits of a magnitude code.
uint64_t store(const Format &f, uint64_t code, bool negative) {
  return code << f.unusedBits | (negative ? f.signBit : 0);
}

uint64_t overflowed(const Format &f, bool negative, bool saturate) {
  return store(f, saturate || f.alwaysSaturates ? f.maxCode : f.infCode, negative);
}

/// Whether rounding moves away from zero, given the kept code's last bit and the dropped part against one half.
bool roundsUp(Rounding rounding, bool negative, bool odd, int againstHalf, bool exact) {
  if (exact)
    return false;
  switch (rounding) {
  case Rounding::NearestEven:
    return againstHalf > 0 || (againstHalf == 0 && odd);
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative;
  case Rounding::Up:
    return !negative;
  }
  return false;
}

/// Rounds the exact value ±significand · 2^exponent (significand not 0) once. This is the only place that rounds.
uint64_t roundExact(DType t, bool negative, uint64_t significand, int exponent, Rounding rounding, bool saturate) {
  const Format &f = format(t);
  if (t == DType::f8e8m0) {
    if (negative)
      return f.nanCode;
    rounding = rounding == Rounding::Zero ? Rounding::Zero : Rounding::Up;
  }
  int lead = std::countl_zero(significand);
  significand <<= lead;
  exponent -= lead;
  // The leading bit now weighs 2^(exponent + 63). Below the smallest normal number the step between codes stays put.
  int normal = std::max(exponent + 63, f.minExponent);
  int drop = normal - f.mantissaBits - exponent;
  uint64_t kept = drop < 64 ? significand >> drop : 0;
  uint64_t rest = drop < 64 ? significand & ones(drop) : significand;
  int againstHalf = -1; // far below one half when the step is more than twice the value
  if (drop <= 64) {
    uint64_t half = uint64_t(1) << (drop - 1);
    againstHalf = rest == half ? 0 : rest < half ? -1 : 1;
  }
  if (t == DType::f8e8m0) {
    // Code 0 is 2^-127 itself and nothing lies below it. Elsewhere the kept part is the bare leading bit.
    if (kept == 0)
      return 0;
    kept -= 1;
  }
  // The leading bit of a normal number adds one to the exponent field, and a carry out of the mantissa does so too.
  uint64_t code = (uint64_t(normal - f.minExponent) << f.mantissaBits) + kept;
  bool exact = rest == 0;
  bool up = roundsUp(rounding, negative, kept & 1, againstHalf, exact);
  // A directed rounding towards zero never overflows: it stops at the largest finite value.
  if (code > f.maxCode) {
    bool towardsZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !negative) ||
                       (rounding == Rounding::Up && negative);
    return overflowed(f, negative, saturate || towardsZero);
  }
  code += up;
  if (code > f.maxCode)
    return overflowed(f, negative, saturate);
  return store(f, code, negative);
}

/// Whether a magnitude code is a NaN: all codes past infinity, or past the largest number where there is none.
bool isNaNCode(DType t, uint64_t code) {
  const Format &f = format(t);
  return t != DType::f4e2m1 && code > (f.infCode ? f.infCode : f.maxCode);
}

uint64_t magnitude(DType t, uint64_t bits) {
  const DTypeInfo &row = info(t);
  return (bits & ones(row.bits - (row.isSigned ? 1 : 0))) >> format(t).unusedBits;
}

} // namespace

double decodeFloat(DType t, uint64_t bits) {
  const Format &f = format(t);
  if (t == DType::f64)
    return std::bit_cast<double>(bits);
  if (t == DType::f32 || t == DType::tf32)
    return std::bit_cast<float>(uint32_t(bits));
  bool negative = bits & f.signBit;
  uint64_t code = magnitude(t, bits);
  uint64_t sign = uint64_t(negative) << 63;
  if (isNaNCode(t, code))
    return std::bit_cast<double>(sign | uint64_t(0x7FF8) << 48);
  if (f.infCode && code == f.infCode)
    return std::bit_cast<double>(sign | uint64_t(0x7FF0) << 48);
  if (t == DType::f8e8m0)
    return std::ldexp(1.0, int(code) - 127);
  uint64_t field = code >> f.mantissaBits, mantissa = code & ones(f.mantissaBits);
  if (field == 0) // subnormal: an exact product, whose sign covers -0
    return std::copysign(std::ldexp(double(mantissa), f.minExponent - f.mantissaBits), negative ? -1.0 : 1.0);
  uint64_t exponent = uint64_t(int(field) - 1 + f.minExponent + 1023);
  return std::bit_cast<double>(sign | exponent << 52 | mantissa << (52 - f.mantissaBits));
}

uint64_t encodeFloat(DType t, double value, Rounding rounding, bool saturate) {
  const Format &f = format(t);
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  uint64_t mantissa = bits & ones(52);
  int field = int(bits >> 52 & 0x7FF);
  if (field == 0x7FF) {
    if (mantissa != 0)
      return t == DType::f64 ? bits : f.nanCode << f.unusedBits;
    if (t == DType::f8e8m0 && negative)
      return f.nanCode;
    return overflowed(f, negative, saturate);
  }
  if (t == DType::f64)
    return bits;
  if (field == 0 && mantissa == 0)
    return t == DType::f8e8m0 ? 0 : store(f, 0, negative);
  // Ordinary f32 is what the processor rounds to, and by far the commonest target.
  if (t == DType::f32 && rounding == Rounding::NearestEven && !saturate)
    return std::bit_cast<uint32_t>(float(value));
  if (field != 0)
    mantissa |= uint64_t(1) << 52;
  return roundExact(t, negative, mantissa, std::max(field, 1) - 1075, rounding, saturate);
}

static uint64_t encodeMagnitude(DType t, bool negative, uint64_t magnitude, Rounding rounding, bool saturate) {
  if (magnitude == 0)
    return encodeFloat(t, 0.0, rounding, saturate);
  return roundExact(t, negative, magnitude, 0, rounding, saturate);
}

uint64_t encodeFloatFromInt(DType t, int64_t value, Rounding rounding) {
  return encodeMagnitude(t, value < 0, value < 0 ? -uint64_t(value) : uint64_t(value), rounding, false);
}

uint64_t encodeFloatFromUInt(DType t, uint64_t value, Rounding rounding) {
  return encodeMagnitude(t, false, value, rounding, false);
}

double maxFinite(DType t) { return decodeFloat(t, store(format(t), format(t).maxCode, false)); }

double lowestFinite(DType t) {
  // f8e8m0 has no negative values: its lowest is its smallest.
  return info(t).isSigned ? -maxFinite(t) : decodeFloat(t, 0);
}

double epsilon(DType t) { return std::ldexp(1.0, -info(t).mantissaBits); }

int64_t ulpDistance(DType t, uint64_t a, uint64_t b) {
  const Format &f = format(t);
  uint64_t x = magnitude(t, a), y = magnitude(t, b);
  constexpr int64_t far = std::numeric_limits<int64_t>::max();
  if (isNaNCode(t, x) || isNaNCode(t, y))
    return isNaNCode(t, x) && isNaNCode(t, y) ? 0 : far;
  // Codes count values, so the way between opposite signs leads through zero. Two f64 extremes are further apart than
  // an int64_t can say.
  bool opposite = (a ^ b) & f.signBit;
  uint64_t distance = opposite ? x + y : x > y ? x - y : y - x;
  return int64_t(std::min(distance, uint64_t(far)));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Integers and conversions
//===--------------------------------------------------------------------------------------------------------------===//

int64_t decodeInt(DType t, uint64_t bits) {
  assert(!isFloat(t) && "an integer dtype or bool");
  const DTypeInfo &row = info(t);
  if (row.kind == DTypeKind::Bool)
    return (bits & 0xFF) != 0;
  int unused = 64 - row.bits;
  return row.isSigned ? int64_t(bits << unused) >> unused : int64_t(bits << unused >> unused);
}

uint64_t encodeInt(DType t, int64_t value) {
  assert(!isFloat(t) && "an integer dtype or bool");
  return t == DType::bool_ ? value != 0 : uint64_t(value) & ones(info(t).bits);
}

int64_t minInt(DType t) {
  assert(!isFloat(t) && "an integer dtype or bool");
  return info(t).isSigned ? -int64_t(ones(info(t).bits - 1)) - 1 : 0;
}

uint64_t maxInt(DType t) {
  assert(!isFloat(t) && "an integer dtype or bool");
  return t == DType::bool_ ? 1 : ones(info(t).bits - (info(t).isSigned ? 1 : 0));
}

bool fitsInt(DType t, int64_t value) { return value >= minInt(t) && (value < 0 || uint64_t(value) <= maxInt(t)); }

/// Truncates and saturates; NaN gives 0.
static uint64_t floatToInt(DType to, double value) {
  if (std::isnan(value))
    return 0;
  double whole = std::trunc(value);
  // Both limits are powers of two, exact in f64: the upper one is the first value that does not fit.
  double limit = std::ldexp(1.0, info(to).bits - (info(to).isSigned ? 1 : 0));
  if (whole >= limit)
    return maxInt(to);
  if (whole < double(minInt(to)))
    return encodeInt(to, minInt(to));
  return whole < 0 ? encodeInt(to, int64_t(whole)) : uint64_t(whole);
}

static uint64_t intToInt(DType from, DType to, uint64_t bits, bool saturate) {
  int64_t value = decodeInt(from, bits);
  if (!saturate)
    return encodeInt(to, value);
  bool negative = value < 0 && info(from).isSigned; // otherwise a u64 above the signed range
  if (negative)
    return encodeInt(to, std::max(value, minInt(to)));
  return std::min(uint64_t(value), maxInt(to));
}

uint64_t convert(DType from, DType to, uint64_t bits, Rounding rounding, bool saturate) {
  if (isFloat(from)) {
    if (from == to && !saturate)
      return bits & ones(info(to).bits);
    double value = decodeFloat(from, bits);
    if (isFloat(to))
      return encodeFloat(to, value, rounding, saturate);
    return to == DType::bool_ ? !(value == 0) : floatToInt(to, value);
  }
  if (isFloat(to)) {
    int64_t value = decodeInt(from, bits);
    bool negative = value < 0 && info(from).isSigned;
    return encodeMagnitude(to, negative, negative ? -uint64_t(value) : uint64_t(value), rounding, saturate);
  }
  return to == DType::bool_ ? decodeInt(from, bits) != 0 : intToInt(from, to, bits, saturate);
}

} // namespace tilec
