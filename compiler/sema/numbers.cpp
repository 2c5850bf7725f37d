// Numbers and dtypes while compiling: promotion, what an untyped number becomes, conversions and float functions.
#include "compiler/sema/fold.h"
#include <cmath>

namespace tilec::sema {

/// Value range of an integer dtype.
static std::pair<BigInt, BigInt> rangeOf(DType t) { return {BigInt(minInt(t)), BigInt(maxInt(t))}; }

/// One symmetric table: what is refused in one order is refused in the other.
std::expected<DType, Fault> promote(DType a, DType b) {
  auto refuse = [&](std::string_view why, std::string help) {
    return fault(Diag::Promotion, fmt::format("{} and {} do not combine: {}", name(a), name(b), why), std::move(help));
  };
  if (!hasArithmetic(a) || !hasArithmetic(b)) {
    DType t = hasArithmetic(a) ? b : a;
    return fault(Diag::Promotion, fmt::format("{} has no arithmetic and no comparison", name(t)),
                 "convert it first, as in 'x.to(f32)'");
  }
  if (a == b)
    return a;
  bool boolA = a == DType::bool_, boolB = b == DType::bool_;
  if (boolA || boolB)
    return refuse("bool takes part in logic and comparison only",
                  fmt::format("convert it, as in 'x.to({})'", name(boolA ? b : a)));
  if (isInt(a) && isInt(b)) {
    if (info(a).isSigned != info(b).isSigned)
      return refuse("one is signed, the other is not", "convert one of them with '.to(T)'");
    return info(a).bits >= info(b).bits ? a : b;
  }
  if (isFloat(a) && isFloat(b)) {
    if (info(a).bits == info(b).bits)
      return refuse("neither holds all values of the other", "convert one of them, as in 'x.to(f32)'");
    return info(a).bits > info(b).bits ? a : b;
  }
  return isFloat(a) ? a : b;
}

/// Floats round once to the format; what becomes infinite or saturates did not fit.
Folded giveDType(const Value &v, DType t) {
  if (t == DType::bool_)
    return fault(Diag::LiteralDoesNotFit, fmt::format("the number {} is no bool", describe(v)), "write true or false");
  if (v.is(ValueKind::Int) && isInt(t)) {
    auto [low, high] = rangeOf(t);
    if (v.integer < low || v.integer > high)
      return fault(Diag::LiteralDoesNotFit, fmt::format("{} does not fit in {}, which holds {} to {}",
                                                        toString(v.integer), name(t), toString(low), toString(high)));
    return Value::typed(t, encodeInt(t, int64_t(v.integer)));
  }
  if (isInt(t))
    return fault(Diag::LiteralDoesNotFit, fmt::format("the float {} meets {}, an integer dtype", describe(v), name(t)),
                 "convert the integer, as in 'x.to(f32)'");
  double real = v.is(ValueKind::Float) ? v.real : double(v.integer);
  uint64_t bits = 0;
  if (v.is(ValueKind::Int) && v.integer >= INT64_MIN && v.integer <= INT64_MAX)
    bits = encodeFloatFromInt(t, int64_t(v.integer)); // one rounding, not through f64
  else
    bits = encodeFloat(t, real);
  double stored = decodeFloat(t, bits);
  bool saturates = info(t).bits <= 8;
  bool lost = saturates ? std::fabs(real) > maxFinite(t) || (std::isnan(real) && !std::isnan(stored))
                        : std::isfinite(real) && !std::isfinite(stored);
  if (saturates && std::isinf(real) && t == DType::f8e5m2) {
    lost = false; // it has an infinity, which conversions of numbers avoid and a literal names
    bits = encodeFloat(DType::f8e5m2, real) + 1;
  }
  if (!info(t).isSigned && (real < 0 || real == 0) && t == DType::f8e8m0 && real != 0)
    lost = true;
  if (lost)
    return fault(Diag::LiteralDoesNotFit, fmt::format("{} does not fit in {}, whose largest value is {}", describe(v),
                                                      name(t), toString(LaunchValue(maxFinite(t)))));
  return Value::typed(t, bits);
}

std::expected<DType, Fault> defaultDType(const Value &v) {
  if (v.is(ValueKind::Float))
    return DType::f32;
  for (DType t : {DType::i32, DType::i64, DType::u64})
    if (auto [low, high] = rangeOf(t); v.integer >= low && v.integer <= high)
      return t;
  return fault(Diag::LiteralDoesNotFit, fmt::format("{} does not fit in any integer dtype", toString(v.integer)));
}

Folded defaultTyped(const Value &v) {
  if (!v.isUntyped())
    return v;
  auto dtype = defaultDType(v);
  return dtype ? giveDType(v, *dtype) : Folded(std::unexpected(dtype.error()));
}

/// An untyped integer that meets an untyped float becomes a float; one that meets a dtype takes it.
std::expected<std::pair<Value, Value>, Fault> unifyConst(const Value &a, const Value &b) {
  if (a.isUntyped() && b.isUntyped()) {
    if (a.kind == b.kind)
      return std::pair(a, b);
    auto real = [](const Value &v) { return v.is(ValueKind::Float) ? v : Value::ofFloat(double(v.integer)); };
    return std::pair(real(a), real(b));
  }
  DType t = a.dtype;
  if (!a.isUntyped() && !b.isUntyped()) {
    auto common = promote(a.dtype, b.dtype);
    if (!common)
      return std::unexpected(common.error());
    t = *common;
  } else if (a.isUntyped()) {
    t = b.dtype;
  }
  auto bring = [t](const Value &v) -> Folded {
    return v.isUntyped() ? giveDType(v, t) : Value::typed(t, convert(v.dtype, t, v.bits));
  };
  Folded x = bring(a), y = bring(b);
  if (!x || !y)
    return std::unexpected(x ? y.error() : x.error());
  return std::pair(*x, *y);
}

static double mathOf(UnaryOp op, double x) {
  switch (op) {
  case UnaryOp::Neg:
    return -x;
  case UnaryOp::Abs:
    return std::fabs(x);
  case UnaryOp::Exp:
    return std::exp(x);
  case UnaryOp::Exp2:
    return std::exp2(x);
  case UnaryOp::Log:
    return std::log(x);
  case UnaryOp::Log2:
    return std::log2(x);
  case UnaryOp::Sqrt:
    return std::sqrt(x);
  case UnaryOp::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryOp::Sin:
    return std::sin(x);
  case UnaryOp::Cos:
    return std::cos(x);
  case UnaryOp::Tan:
    return std::tan(x);
  case UnaryOp::Sinh:
    return std::sinh(x);
  case UnaryOp::Cosh:
    return std::cosh(x);
  case UnaryOp::Tanh:
    return std::tanh(x);
  case UnaryOp::Erf:
    return std::erf(x);
  case UnaryOp::Floor:
    return std::floor(x);
  case UnaryOp::Ceil:
    return std::ceil(x);
  case UnaryOp::Round:
    return std::nearbyint(x); // ties to even, the default mode of the processor
  case UnaryOp::IsNan:
    return std::isnan(x);
  case UnaryOp::IsInf:
    return std::isinf(x);
  case UnaryOp::Not:
  case UnaryOp::Popcount:
    return 0;
  }
  return 0;
}

Folded foldMath(UnaryOp op, const Value &v, const UnaryInst &flags) {
  bool gives = op == UnaryOp::IsNan || op == UnaryOp::IsInf;
  if (v.isUntyped()) {
    if (op == UnaryOp::Abs && v.is(ValueKind::Int))
      return Value::ofInt(v.integer < 0 ? -v.integer : v.integer);
    double real = v.is(ValueKind::Float) ? v.real : double(v.integer);
    if (op == UnaryOp::Sqrt)
      return Value::ofFloat(decodeFloat(DType::f64, foldFloat(FloatOp::Sqrt, DType::f64, {real}, flags.rounding)));
    double x = mathOf(op, real);
    return gives ? Value::ofBool(x != 0) : Value::ofFloat(x);
  }
  if (isInt(v.dtype)) {
    int64_t x = decodeInt(v.dtype, v.bits);
    return op == UnaryOp::Abs && x < 0 && info(v.dtype).isSigned ? foldNegate(v) : Folded(v);
  }
  if (op == UnaryOp::Sqrt)
    return Value::typed(v.dtype, foldFloat(FloatOp::Sqrt, v.dtype, {realOf(v)}, flags.rounding, flags.ftz));
  double x = mathOf(op, realOf(v));
  return gives ? Value::ofBool(x != 0) : Value::typed(v.dtype, encodeFloat(v.dtype, x));
}

/// An untyped integer keeps its low bits in a narrower dtype, as a typed one does.
Folded foldConvert(const Value &v, DType to, Rounding rounding, bool saturate) {
  if (v.is(ValueKind::Float)) // an f64 until now
    return Value::typed(to, convert(DType::f64, to, encodeFloat(DType::f64, v.real), rounding, saturate));
  if (v.is(ValueKind::Int)) {
    auto typed =
        isFloat(to) || saturate ? defaultTyped(v) : Folded(Value::typed(DType::i64, uint64_t(int64_t(v.integer))));
    if (!typed)
      return typed;
    return Value::typed(to, convert(typed->dtype, to, typed->bits, rounding, saturate));
  }
  return Value::typed(to, convert(v.dtype, to, v.bits, rounding, saturate));
}

std::string_view spelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
    return "/";
  case BinaryOp::FloorMod:
    return "%";
  case BinaryOp::TruncDiv:
    return "truncdiv";
  case BinaryOp::TruncMod:
    return "truncmod";
  case BinaryOp::CDiv:
    return "cdiv";
  case BinaryOp::Pow:
    return "**";
  case BinaryOp::Min:
    return "min";
  case BinaryOp::Max:
    return "max";
  case BinaryOp::And:
    return "&";
  case BinaryOp::Or:
    return "|";
  case BinaryOp::Xor:
    return "^";
  case BinaryOp::Shl:
    return "<<";
  case BinaryOp::Shr:
    return ">>";
  case BinaryOp::MulHi:
    return "mulhi";
  }
  return "";
}

std::string_view spelling(CompareOp op) {
  constexpr std::string_view texts[] = {"<", "<=", ">", ">=", "==", "!="};
  return texts[size_t(op)];
}

std::string_view spelling(UnaryOp op) {
  constexpr std::string_view texts[] = {"-",     "!",    "abs",   "exp",   "exp2",  "log",     "log2", "sqrt",
                                        "rsqrt", "sin",  "cos",   "tan",   "sinh",  "cosh",    "tanh", "erf",
                                        "floor", "ceil", "round", "isnan", "isinf", "popcount"};
  return texts[size_t(op)];
}

} // namespace tilec::sema
