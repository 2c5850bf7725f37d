#pragma once
// Compile-time arithmetic, as semantics.md fixes it: untyped integers are exact, untyped floats are f64, typed values
// wrap or round as the same operation does at run time.
#include "compiler/base/diag.h"
#include "compiler/sema/value.h"
#include <array>
#include <expected>

namespace tilec::sema {

/// Why an operation on values is refused, without its place.
struct Fault {
  Diag diag;
  std::string message;
  std::string help;
};
using Folded = std::expected<Value, Fault>;
inline std::unexpected<Fault> fault(Diag diag, std::string message, std::string help = "") {
  return std::unexpected(Fault{diag, std::move(message), std::move(help)});
}

/// Dtype of an operation between two dtypes. The error says why there is none and what to write.
std::expected<DType, Fault> promote(DType a, DType b);

/// An untyped number as a scalar of a dtype: an integer must fit, a float rounds and must not overflow.
Folded giveDType(const Value &untyped, DType dtype);
/// The dtype that an untyped number has alone: i32, else i64, else u64; f32.
std::expected<DType, Fault> defaultDType(const Value &untyped);
/// giveDType with defaultDType; typed scalars stay.
Folded defaultTyped(const Value &scalar);

/// Brings two constant scalars to one kind: both untyped integers, both untyped floats, or both of one dtype.
std::expected<std::pair<Value, Value>, Fault> unifyConst(const Value &a, const Value &b);
/// `flags`: rounding, ftz and propagate_nan, of floats.
Folded foldBinary(BinaryOp op, const Value &a, const Value &b, const BinaryInst &flags = {});
Folded foldCompare(CompareOp op, const Value &a, const Value &b);
Folded foldNegate(const Value &v);
/// `!` of a bool, `~` of an integer.
Folded foldNot(const Value &v);
/// A function of one float; integers become floats when untyped. `flags`: rounding and ftz.
Folded foldMath(UnaryOp op, const Value &v, const UnaryInst &flags = {});

enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Sqrt, Fma };
/// Bits of the exact result in a float dtype with arithmetic, rounded once (fold_float.cpp). ftz is for f32.
uint64_t foldFloat(FloatOp op, DType dtype, std::array<double, 3> values, Rounding rounding, bool ftz = false);
/// `x.to(T)`.
Folded foldConvert(const Value &v, DType to, Rounding rounding, bool saturate);

/// The name of an operation as a program writes it: `+`, `cdiv`, `exp`.
std::string_view spelling(BinaryOp op);
std::string_view spelling(CompareOp op);
std::string_view spelling(UnaryOp op);

} // namespace tilec::sema
