#pragma once
// The language's dtypes and their exact rounding: one implementation for the executor, compile-time folding and result
// comparison. Bits are the storage encoding in the low `bits` of a uint64_t (bool: 0 or 1; tf32: an f32 whose low 13
// mantissa bits are zero).
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tilec {

enum class DType : uint8_t {
#define DTYPE(name, ...) name,
#include "compiler/base/dtypes.def"
};

enum class DTypeKind : uint8_t { Bool, Int, Float };

struct DTypeInfo {
  DType dtype;
  std::string_view name; ///< as written in a program: bool, i8, … f4e2m1
  int bits;              ///< storage width; bool is a byte in memory
  DTypeKind kind;
  bool isSigned;
  int exponentBits, mantissaBits; ///< explicit fields of a float
};
const DTypeInfo &info(DType t);
const std::vector<DTypeInfo> &allDTypes();
std::optional<DType> parseDType(std::string_view name);
inline std::string_view name(DType t) { return info(t).name; }
inline bool isFloat(DType t) { return info(t).kind == DTypeKind::Float; }
inline bool isInt(DType t) { return info(t).kind == DTypeKind::Int; }
/// Whether the dtype has arithmetic and comparison: fp8, fp4, e8m0 and tf32 have none.
bool hasArithmetic(DType t);

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up };

/// Value of a float encoding (exact: every format is a subset of f64).
double decodeFloat(DType t, uint64_t bits);
/// Rounds once, straight to the format. Overflow, NaN and zero follow semantics.md: f16, bf16, tf32, f32 go to
/// infinity; fp8 and fp4 saturate; f8e8m0 rounds up unless Rounding::Zero is given. `saturate` clamps the others to
/// their largest finite value.
uint64_t encodeFloat(DType t, double value, Rounding rounding = Rounding::NearestEven, bool saturate = false);
/// Integer to float with one rounding (an i64 does not go through f64).
uint64_t encodeFloatFromInt(DType t, int64_t value, Rounding rounding = Rounding::NearestEven);
uint64_t encodeFloatFromUInt(DType t, uint64_t value, Rounding rounding = Rounding::NearestEven);

/// Sign- or zero-extends an integer encoding (bool: 0 or 1); u64 keeps its bits.
int64_t decodeInt(DType t, uint64_t bits);
/// The low bits of an integer.
uint64_t encodeInt(DType t, int64_t value);

/// `x.to(T)` of the language on one element: any dtype to any dtype, in one rounding.
uint64_t convert(DType from, DType to, uint64_t bits, Rounding rounding = Rounding::NearestEven, bool saturate = false);

/// Largest and lowest finite value and the distance from 1 to the next value of a float format.
double maxFinite(DType t);
double lowestFinite(DType t);
double epsilon(DType t);
/// Range of an integer dtype; u64's upper end needs the unsigned one.
int64_t minInt(DType t);
uint64_t maxInt(DType t);
bool fitsInt(DType t, int64_t value);
/// Distance in units of the last place between two encodings of a float format (0 when both are NaN; INT64_MAX when one
/// is); −0 and +0 are equal here.
int64_t ulpDistance(DType t, uint64_t a, uint64_t b);

/// Bytes that `count` contiguous elements take (fp4 packs two in a byte); the largest number where 64 bits are too few.
inline uint64_t byteSize(DType t, uint64_t count) {
  unsigned __int128 bytes = ((unsigned __int128)(count) * unsigned(info(t).bits) + 7) / 8;
  return bytes > UINT64_MAX ? UINT64_MAX : uint64_t(bytes);
}

} // namespace tilec
