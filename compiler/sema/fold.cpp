// Folding of operations whose operands are all known while compiling.
#include "compiler/sema/fold.h"
#include <cmath>
#include <limits>

namespace tilec::sema {
namespace {

Folded exactOverflow(BinaryOp op) {
  return fault(Diag::ConstantArithmetic, fmt::format("this '{}' of constants leaves 127 bits", spelling(op)));
}

/// Quotient and remainder under the three roundings; the caller has excluded a zero divisor.
BigInt divide(BinaryOp op, BigInt a, BigInt b) {
  BigInt q = a / b, r = a % b;
  bool inexact = r != 0, opposite = (a < 0) != (b < 0);
  switch (op) {
  case BinaryOp::FloorDiv:
    return q - (inexact && opposite);
  case BinaryOp::FloorMod:
    return inexact && opposite ? r + b : r;
  case BinaryOp::CDiv:
    return q + (inexact && !opposite);
  case BinaryOp::TruncMod:
    return r;
  default:
    return q;
  }
}

bool isDivision(BinaryOp op) {
  return op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod || op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod ||
         op == BinaryOp::CDiv;
}

Folded exactPower(BigInt base, BigInt exponent) {
  if (exponent < 0)
    return fault(Diag::ConstantArithmetic,
                 fmt::format("an integer to the power of {} is no integer", toString(exponent)),
                 "write the base as a float");
  BigInt result = 1;
  // A base of 0 or ±1 never overflows, so its loop must be cut: only the exponent's parity matters.
  if (base >= -1 && base <= 1 && exponent > 2)
    exponent = 2 + exponent % 2;
  for (BigInt i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return exactOverflow(BinaryOp::Pow);
  return Value::ofInt(result);
}

/// Untyped integers: exact, refused where even 127 bits do not hold the result.
Folded foldExact(BinaryOp op, BigInt a, BigInt b) {
  BigInt r = 0;
  if (isDivision(op)) {
    if (b == 0)
      return fault(Diag::ConstantArithmetic, fmt::format("{} {} 0: division by zero", toString(a), spelling(op)));
    return Value::ofInt(divide(op, a, b));
  }
  switch (op) {
  case BinaryOp::Add:
    return __builtin_add_overflow(a, b, &r) ? exactOverflow(op) : Folded(Value::ofInt(r));
  case BinaryOp::Sub:
    return __builtin_sub_overflow(a, b, &r) ? exactOverflow(op) : Folded(Value::ofInt(r));
  case BinaryOp::Mul:
    return __builtin_mul_overflow(a, b, &r) ? exactOverflow(op) : Folded(Value::ofInt(r));
  case BinaryOp::Pow:
    return exactPower(a, b);
  case BinaryOp::Min:
    return Value::ofInt(a < b ? a : b);
  case BinaryOp::Max:
    return Value::ofInt(a > b ? a : b);
  case BinaryOp::And:
    return Value::ofInt(a & b);
  case BinaryOp::Or:
    return Value::ofInt(a | b);
  case BinaryOp::Xor:
    return Value::ofInt(a ^ b);
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    if (b < 0 || b > 126)
      return fault(Diag::ConstantArithmetic, fmt::format("a shift by {} is out of range", toString(b)));
    if (op == BinaryOp::Shr)
      return Value::ofInt(a >> int(b));
    return __builtin_mul_overflow(a, BigInt(1) << int(b), &r) ? exactOverflow(op) : Folded(Value::ofInt(r));
  default:
    return fault(Diag::OperandType, fmt::format("'{}' does not take integers", spelling(op)));
  }
}

/// Integers of one dtype: arithmetic wraps.
Folded foldTypedInt(BinaryOp op, const Value &a, const Value &b) {
  DType t = a.dtype;
  auto wrapped = [t](uint64_t bits) { return Value::typed(t, encodeInt(t, int64_t(bits))); };
  uint64_t x = uint64_t(decodeInt(t, a.bits)), y = uint64_t(decodeInt(t, b.bits));
  BigInt wideX = integerOf(a), wideY = integerOf(b);
  if (isDivision(op)) {
    if (wideY == 0)
      return fault(Diag::ConstantArithmetic, fmt::format("{} {} 0: division by zero", toString(wideX), spelling(op)));
    if (info(t).isSigned && wideX == minInt(t) && wideY == -1)
      return fault(Diag::ConstantArithmetic,
                   fmt::format("{} {} -1 does not fit in {}", toString(wideX), spelling(op), name(t)));
    return wrapped(uint64_t(divide(op, wideX, wideY)));
  }
  switch (op) {
  case BinaryOp::Add:
    return wrapped(x + y);
  case BinaryOp::Sub:
    return wrapped(x - y);
  case BinaryOp::Mul:
    return wrapped(x * y);
  case BinaryOp::Min:
    return wideX < wideY ? a : b;
  case BinaryOp::Max:
    return wideX > wideY ? a : b;
  case BinaryOp::And:
    return wrapped(x & y);
  case BinaryOp::Or:
    return wrapped(x | y);
  case BinaryOp::Xor:
    return wrapped(x ^ y);
  case BinaryOp::MulHi:
    return Value::typed(t, encodeInt(t, int64_t((wideX * wideY) >> info(t).bits)));
  case BinaryOp::Pow: {
    if (wideY < 0)
      return fault(Diag::ConstantArithmetic,
                   fmt::format("an integer to the power of {} is no integer", toString(wideY)));
    uint64_t result = 1;
    for (uint64_t exponent = uint64_t(wideY), base = x; exponent; exponent >>= 1, base *= base)
      if (exponent & 1)
        result *= base;
    return wrapped(result);
  }
  default:
    return fault(Diag::OperandType, fmt::format("'{}' does not take integers", spelling(op)));
  }
}

double floatMinMax(bool max, double a, double b, bool propagateNan) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) == propagateNan ? a : b;
  if (a == b) // +0 is above −0
    return std::signbit(a) == max ? b : a;
  return (a < b) == max ? b : a;
}

/// Two numbers of a float dtype; the bits of the result.
std::optional<uint64_t> foldReal(BinaryOp op, DType t, double a, double b, const BinaryInst &flags) {
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mul:
  case BinaryOp::Div: // in the order of FloatOp
    return foldFloat(FloatOp(int(op) - int(BinaryOp::Add)), t, {a, b, 0}, flags.rounding, flags.ftz);
  case BinaryOp::Pow:
    return encodeFloat(t, std::pow(a, b));
  case BinaryOp::Min:
  case BinaryOp::Max:
    return encodeFloat(t, floatMinMax(op == BinaryOp::Max, a, b, flags.propagateNan));
  default:
    return std::nullopt;
  }
}
static_assert(int(BinaryOp::Div) - int(BinaryOp::Add) == int(FloatOp::Div));

/// Dtype of two untyped integers.
std::expected<DType, Fault> promoteDefaults(const Value &a, const Value &b) {
  auto t = defaultDType(a), u = defaultDType(b);
  return t && u ? promote(*t, *u) : t ? u : t;
}

/// Typed integers: the amount must be below the width.
Folded foldShift(BinaryOp op, const Value &a, const Value &amount) {
  BigInt count = exactOf(amount);
  int bits = info(a.dtype).bits;
  if (count < 0 || count >= bits)
    return fault(Diag::ConstantArithmetic,
                 fmt::format("a shift by {} is out of range: {} has {} bits", toString(count), name(a.dtype), bits));
  int64_t value = decodeInt(a.dtype, a.bits);
  int n = int(count);
  if (op == BinaryOp::Shl)
    return Value::typed(a.dtype, encodeInt(a.dtype, int64_t(uint64_t(value) << n)));
  // decodeInt has extended by sign or zero, but a u64 fills the sign bit itself.
  int64_t shifted = a.dtype == DType::u64 ? int64_t(uint64_t(value) >> n) : value >> n;
  return Value::typed(a.dtype, encodeInt(a.dtype, shifted));
}

} // namespace

/// Shifts keep the left dtype; everything else happens in the common one.
Folded foldBinary(BinaryOp op, const Value &a, const Value &b, const BinaryInst &flags) {
  if ((op == BinaryOp::Shl || op == BinaryOp::Shr) && a.is(ValueKind::Typed) && isInt(a.dtype) &&
      (b.is(ValueKind::Int) || (b.is(ValueKind::Typed) && isInt(b.dtype))))
    return foldShift(op, a, b);
  auto pair = unifyConst(a, b);
  if (!pair)
    return std::unexpected(pair.error());
  auto &[x, y] = *pair;
  if (op == BinaryOp::MulHi && x.is(ValueKind::Int)) { // its width is that of the dtype they have alone
    auto t = promoteDefaults(x, y);
    Folded l = t ? giveDType(x, *t) : Folded(std::unexpected(t.error())), r = t ? giveDType(y, *t) : l;
    return l && r ? foldTypedInt(op, *l, *r) : l ? r : l;
  }
  if (op == BinaryOp::Div && (x.is(ValueKind::Int) || (x.is(ValueKind::Typed) && isInt(x.dtype))))
    op = BinaryOp::FloorDiv;
  if (op == BinaryOp::FloorDiv && (x.is(ValueKind::Float) || (x.is(ValueKind::Typed) && isFloat(x.dtype))))
    op = BinaryOp::Div;
  auto refused = [&](std::string_view what) {
    return fault(Diag::OperandType, fmt::format("'{}' does not take {}", spelling(op), what));
  };
  if (x.is(ValueKind::Int))
    return foldExact(op, x.integer, y.integer);
  if (x.is(ValueKind::Float)) {
    auto real = foldReal(op, DType::f64, x.real, y.real, flags);
    return real ? Folded(Value::ofFloat(decodeFloat(DType::f64, *real))) : refused("floats");
  }
  if (x.dtype == DType::bool_) {
    if (op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor) {
      uint64_t bits = op == BinaryOp::And ? x.bits & y.bits : op == BinaryOp::Or ? x.bits | y.bits : x.bits ^ y.bits;
      return Value::ofBool(bits);
    }
    return refused("bool");
  }
  if (isInt(x.dtype))
    return op == BinaryOp::Shl || op == BinaryOp::Shr ? foldShift(op, x, y) : foldTypedInt(op, x, y);
  if (!hasArithmetic(x.dtype))
    return refused(fmt::format("{}, which has no arithmetic", name(x.dtype)));
  auto bits = foldReal(op, x.dtype, realOf(x), realOf(y), flags);
  return bits ? Folded(Value::typed(x.dtype, *bits)) : refused("floats");
}

template <typename T> static bool compare(CompareOp op, T a, T b) {
  switch (op) {
  case CompareOp::Lt:
    return a < b;
  case CompareOp::Le:
    return a <= b;
  case CompareOp::Gt:
    return a > b;
  case CompareOp::Ge:
    return a >= b;
  case CompareOp::Eq:
    return a == b;
  case CompareOp::Ne:
    return a != b;
  }
  return false;
}

Folded foldCompare(CompareOp op, const Value &a, const Value &b) {
  if (a.is(ValueKind::DType) && b.is(ValueKind::DType)) {
    if (op == CompareOp::Eq || op == CompareOp::Ne)
      return Value::ofBool((a.dtype == b.dtype) == (op == CompareOp::Eq));
    return fault(Diag::OperandType, fmt::format("dtypes have no order: '{}' does not take them", spelling(op)));
  }
  auto pair = unifyConst(a, b);
  if (!pair)
    return std::unexpected(pair.error());
  auto &[x, y] = *pair;
  if (x.is(ValueKind::Int))
    return Value::ofBool(compare(op, x.integer, y.integer));
  if (x.is(ValueKind::Float))
    return Value::ofBool(compare(op, x.real, y.real));
  if (!hasArithmetic(x.dtype))
    return std::unexpected(promote(x.dtype, x.dtype).error());
  if (isFloat(x.dtype))
    return Value::ofBool(compare(op, realOf(x), realOf(y)));
  return Value::ofBool(compare(op, integerOf(x), integerOf(y)));
}

Folded foldNegate(const Value &v) {
  if (v.is(ValueKind::Int))
    return v.integer == std::numeric_limits<BigInt>::min() ? exactOverflow(BinaryOp::Sub)
                                                           : Folded(Value::ofInt(-v.integer));
  if (v.is(ValueKind::Float))
    return Value::ofFloat(-v.real);
  if (isInt(v.dtype))
    return Value::typed(v.dtype, encodeInt(v.dtype, int64_t(-uint64_t(decodeInt(v.dtype, v.bits)))));
  return Value::typed(v.dtype, encodeFloat(v.dtype, -realOf(v)));
}

Folded foldNot(const Value &v) {
  if (v.isBool())
    return Value::ofBool(!v.bits);
  if (v.is(ValueKind::Int))
    return Value::ofInt(~v.integer);
  return Value::typed(v.dtype, encodeInt(v.dtype, ~decodeInt(v.dtype, v.bits)));
}

} // namespace tilec::sema
