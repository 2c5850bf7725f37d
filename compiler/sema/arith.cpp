// Operations on values: promotion, broadcasting and the instructions they become.
#include "compiler/sema/checker.h"

namespace tilec::sema {

const std::vector<int64_t> &Checker::shapeOf(const Value &v) const {
  static const std::vector<int64_t> scalar;
  return v.isTile() ? v.type.shape : scalar;
}

/// Constants are made where they are used: later passes merge equal ones, and every use is dominated by its constant.
ValueId Checker::constantId(const Value &typed, Span span) {
  return builder.emit(ConstInst{typed.bits}, {}, Type{TypeKind::Tile, typed.dtype, {}, 0}, span);
}

/// A compile-time scalar becomes an instruction; a run-time value stays what it is.
Value Checker::materialize(const Value &v, Span span) {
  if (!v.isConstScalar())
    return v;
  Folded typed = defaultTyped(v);
  if (!typed)
    return fail(typed.error(), span);
  return Value::tile(constantId(*typed, span), Type{TypeKind::Tile, typed->dtype, {}, 0}, nullptr);
}

/// The same where the place decides the dtype of an untyped number, which must fit.
Value Checker::materializeAs(const Value &v, DType dtype, Span span) {
  if (!v.isUntyped())
    return materialize(v, span);
  Folded typed = giveDType(v, dtype);
  return typed ? materialize(*typed, span) : fail(typed.error(), span);
}

/// Only for conversions that the promotion rules allow: no rounding mode, no saturation.
Value Checker::convertTo(const Value &v, DType dtype, Span span) {
  if (!v.isTile() || v.type.dtype == dtype)
    return v;
  Type type = v.type;
  type.dtype = dtype;
  return Value::tile(builder.emit(ConvertInst{Rounding::NearestEven, false}, {v.id}, type, span), type, v.origin);
}

/// Repeats a tile to a shape that it broadcasts to. The program says so by instructions of their own, so that every
/// elementwise instruction has operands of one shape.
Value Checker::broadcastTo(const Value &v, const std::vector<int64_t> &shape, Span span) {
  if (!v.isTile() || v.type.shape == shape)
    return v;
  Value from = v;
  if (!from.type.shape.empty() && from.type.shape.size() < shape.size()) {
    // New axes lead, as in NumPy.
    from.type.shape.insert(from.type.shape.begin(), shape.size() - from.type.shape.size(), 1);
    from.id = builder.emit(ReshapeInst{}, {from.id}, from.type, span);
  }
  if (from.type.shape == shape)
    return from;
  from.type.shape = shape;
  from.id = builder.emit(BroadcastInst{}, {from.id}, from.type, span);
  return from;
}

/// NumPy's rule, from the last axis; reports where it does not hold or the result is larger than a tile may be.
std::optional<std::vector<int64_t>> Checker::commonShape(const Value &a, const Value &b, Span span) {
  const std::vector<int64_t> &x = shapeOf(a), &y = shapeOf(b);
  const std::vector<int64_t> &longer = x.size() >= y.size() ? x : y, &shorter = x.size() >= y.size() ? y : x;
  std::vector<int64_t> result = longer;
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t &n = result[skip + i];
    if (n == 1)
      n = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != n) {
      report(Diag::ShapesDiffer, span,
             fmt::format("shapes {} and {} do not broadcast: axis {} has {} and {} elements", shapeText(x),
                         shapeText(y), int64_t(skip + i), n, shorter[i]),
             "an axis of 1 element can be inserted with 'x[:, none]'");
      return std::nullopt;
    }
  }
  if (!checkTileShape(result, std::vector<Span>(result.size(), span), span))
    return std::nullopt;
  return result;
}

/// Dtype in which two values meet. Warns where an integer of full width loses itself in f16.
std::optional<DType> Checker::commonDType(const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  if (a.isUntyped() && b.isUntyped()) {
    bool real = a.is(ValueKind::Float) || b.is(ValueKind::Float);
    auto t = real ? std::expected<DType, Fault>(DType::f32) : defaultDType(a);
    auto u = real ? t : defaultDType(b);
    if (!t || !u) {
      fail(t ? u.error() : t.error(), t ? spanB : spanA);
      return std::nullopt;
    }
    return info(*t).bits >= info(*u).bits ? *t : *u;
  }
  if (a.isUntyped() || b.isUntyped())
    return a.isUntyped() ? dtypeOf(b) : dtypeOf(a);
  auto t = promote(dtypeOf(a), dtypeOf(b));
  if (!t) {
    Diagnostic &d = report(t.error().diag, span, t.error().message, t.error().help);
    note(d, DiagNote{spanA, fmt::format("this is {}", typeName(a))});
    note(d, DiagNote{spanB, fmt::format("this is {}", typeName(b))});
    return std::nullopt;
  }
  auto wide = [&](const Value &v) { return v.isTile() && (v.type.dtype == DType::i32 || v.type.dtype == DType::i64); };
  if (*t == DType::f16 && (wide(a) || wide(b))) {
    const Value &integer = wide(a) ? a : b;
    report(Diag::IntMeetsF16, span,
           fmt::format("{} becomes f16 here, which holds no number above 65504", typeName(integer)),
           "convert one of them to f32 first, as in 'x.to(f32)'");
  }
  return *t;
}

/// Both operands as run-time values of one dtype and one shape; at least one of them is not constant.
std::optional<Checker::Pair> Checker::unify(const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  auto dtype = commonDType(a, spanA, b, spanB, span);
  if (!dtype)
    return std::nullopt;
  if (!hasArithmetic(*dtype)) { // a number has taken the dtype of what it meets
    fail(promote(*dtype, *dtype).error(), span);
    return std::nullopt;
  }
  Value x = materializeAs(a, *dtype, spanA), y = materializeAs(b, *dtype, spanB);
  if (x.isError() || y.isError())
    return std::nullopt;
  x = convertTo(x, *dtype, spanA), y = convertTo(y, *dtype, spanB);
  auto shape = commonShape(x, y, span);
  if (!shape)
    return std::nullopt;
  return Pair{broadcastTo(x, *shape, spanA), broadcastTo(y, *shape, spanB)};
}

Value Checker::emitBinary(BinaryInst inst, const Value &a, const Value &b, Span span) {
  return Value::tile(builder.emit(inst, {a.id, b.id}, a.type, span), a.type, a.origin ? a.origin : b.origin);
}

static bool integersOnly(BinaryOp op) {
  return op == BinaryOp::FloorMod || op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod || op == BinaryOp::CDiv ||
         op == BinaryOp::MulHi;
}
static bool isLogic(BinaryOp op) { return op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor; }

/// Any arithmetic, logic or bit operation on two values. `/` arrives as Div and becomes FloorDiv for integers.
Value Checker::binary(BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span,
                      BinaryInst flags) {
  if (!usable(a, spanA) || !usable(b, spanB))
    return Value::error();
  if (!a.isTileLike() || !b.isTileLike()) {
    const Value &bad = a.isTileLike() ? b : a;
    return fail(Diag::OperandType, a.isTileLike() ? spanB : spanA,
                fmt::format("'{}' takes numbers and tiles, not {}", spelling(op), typeName(bad)));
  }
  if (op == BinaryOp::Shl || op == BinaryOp::Shr)
    return shift(op, a, spanA, b, spanB, span);
  if (isLogic(op) && !a.isUntyped() && !b.isUntyped() && dtypeOf(a) != dtypeOf(b))
    return fail(Diag::OperandType, span,
                fmt::format("'{}' needs one dtype on both sides, not {} and {}", spelling(op), name(dtypeOf(a)),
                            name(dtypeOf(b))),
                "convert one side with '.to(T)'");
  flags.op = op;
  if (a.isConstScalar() && b.isConstScalar()) {
    Folded folded = foldBinary(op, a, b, flags);
    return folded ? *folded : fail(folded.error(), span);
  }
  if (op == BinaryOp::Pow)
    return power(a, spanA, b, spanB, span);
  auto pair = unify(a, spanA, b, spanB, span);
  if (!pair)
    return Value::error();
  DType t = pair->a.type.dtype;
  if (op == BinaryOp::Div && isInt(t))
    op = BinaryOp::FloorDiv;
  bool fits = isLogic(op) ? !isFloat(t) : integersOnly(op) || op == BinaryOp::FloorDiv ? isInt(t) : t != DType::bool_;
  if (!fits)
    return fail(Diag::OperandType, span, fmt::format("'{}' does not take {}", spelling(op), typeName(pair->a)),
                t == DType::bool_ ? "logic on bools is written with '&&', '||' and '!'" : "");
  bool division = op == BinaryOp::FloorDiv || (integersOnly(op) && op != BinaryOp::MulHi);
  if (division && b.isConstScalar() && (b.is(ValueKind::Int) ? b.integer == 0 : integerOf(b) == 0))
    return fail(Diag::ConstantArithmetic, span, "division by zero");
  flags.op = op;
  return emitBinary(flags, pair->a, pair->b, span);
}

/// A shift keeps the dtype of its left side, so the operands are not unified.
Value Checker::shift(BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  auto integral = [&](const Value &v) { return v.is(ValueKind::Int) || (!v.isUntyped() && isInt(dtypeOf(v))); };
  if (!integral(a) || !integral(b))
    return fail(Diag::OperandType, integral(a) ? spanB : spanA,
                fmt::format("'{}' takes integers, not {}", spelling(op), typeName(integral(a) ? b : a)));
  if (a.isConstScalar() && b.isConstScalar()) {
    Folded folded = foldBinary(op, a, b);
    return folded ? *folded : fail(folded.error(), span);
  }
  DType t = a.isUntyped() ? dtypeOf(b) : dtypeOf(a);
  int bits = info(t).bits;
  Value x = materializeAs(a, t, spanA);
  if (x.isError())
    return x;
  Value y;
  if (b.isConstScalar()) {
    BigInt amount = exactOf(b);
    if (amount < 0 || amount >= bits)
      return fail(Diag::ConstantArithmetic, spanB,
                  fmt::format("a shift by {} is out of range: {} has {} bits", toString(amount), name(t), bits));
    y = materialize(Value::typed(t, uint64_t(amount)), spanB);
  } else {
    y = b;
    if (b.type.dtype != t) {
      // Another dtype may hold amounts that this one cannot: what is out of range becomes the width, whose result is
      // the same, before the conversion.
      Value width = materialize(Value::typed(b.type.dtype, uint64_t(bits)), spanB);
      Value zero = materialize(Value::typed(b.type.dtype, 0), spanB);
      Value wide = broadcastTo(width, b.type.shape, spanB);
      Value low = compareValues(CompareOp::Ge, b, spanB, zero, spanB, spanB);
      Value high = compareValues(CompareOp::Lt, b, spanB, width, spanB, spanB);
      Value inside = emitBinary({BinaryOp::And}, low, high, spanB);
      y.id = builder.emit(SelectInst{}, {inside.id, b.id, wide.id}, b.type, spanB);
      y = convertTo(y, t, spanB);
    }
  }
  auto shape = commonShape(x, y, span);
  if (!shape)
    return Value::error();
  return emitBinary({op}, broadcastTo(x, *shape, spanA), broadcastTo(y, *shape, spanB), span);
}

/// Integers to a constant power become products; floats have an instruction.
Value Checker::power(const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  bool integers = !a.is(ValueKind::Float) && !b.is(ValueKind::Float) && (a.isUntyped() || isInt(dtypeOf(a))) &&
                  (b.isUntyped() || isInt(dtypeOf(b)));
  if (!integers) {
    auto pair = unify(a, spanA, b, spanB, span);
    if (!pair)
      return Value::error();
    if (!isFloat(pair->a.type.dtype))
      return fail(Diag::OperandType, span, fmt::format("'**' does not take {}", typeName(pair->a)));
    return emitBinary({BinaryOp::Pow}, pair->a, pair->b, span);
  }
  if (!b.isConstScalar()) {
    auto pair = unify(a, spanA, b, spanB, span);
    return pair ? emitBinary({BinaryOp::Pow}, pair->a, pair->b, span) : Value::error();
  }
  BigInt exponent = exactOf(b);
  if (exponent < 0)
    return fail(Diag::ConstantArithmetic, spanB,
                fmt::format("an integer to the power of {} is no integer", toString(exponent)));
  // Squarings and products: wrapping arithmetic gives the same in any order.
  Value base = a, result;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = result.isTile() ? emitBinary({BinaryOp::Mul}, result, base, span) : base;
    if (exponent > 1)
      base = emitBinary({BinaryOp::Mul}, base, base, span);
  }
  if (result.isTile())
    return result;
  Value one = broadcastTo(materializeAs(Value::ofInt(1), a.type.dtype, span), a.type.shape, span);
  one.origin = a.origin;
  return one;
}

/// Comparisons of numbers give bools; of dtypes, only equality is defined and both are known.
Value Checker::compareValues(CompareOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  if (!usable(a, spanA) || !usable(b, spanB))
    return Value::error();
  bool dtypes = a.is(ValueKind::DType) && b.is(ValueKind::DType);
  if (!dtypes && (!a.isTileLike() || !b.isTileLike())) {
    const Value &bad = a.isTileLike() ? b : a;
    return fail(Diag::OperandType, span,
                fmt::format("'{}' does not compare {} with {}", spelling(op), typeName(a), typeName(b)),
                bad.is(ValueKind::Tuple) ? "compare the parts of a tuple one by one" : "");
  }
  if (a.isConst() && b.isConst()) {
    Folded folded = foldCompare(op, a, b);
    return folded ? *folded : fail(folded.error(), span);
  }
  auto pair = unify(a, spanA, b, spanB, span);
  if (!pair)
    return Value::error();
  Type type = pair->a.type;
  type.dtype = DType::bool_;
  ValueId id = builder.emit(CompareInst{op}, {pair->a.id, pair->b.id}, type, span);
  return Value::tile(id, type, pair->a.origin ? pair->a.origin : pair->b.origin);
}

Value Checker::unary(UnaryOp op, const Value &v, Span span, UnaryInst flags) {
  flags.op = op;
  Type type = v.type;
  if (op == UnaryOp::IsNan || op == UnaryOp::IsInf)
    type.dtype = DType::bool_;
  return Value::tile(builder.emit(flags, {v.id}, type, span), type, v.origin);
}

/// The value as a store into memory of a dtype takes it: untyped numbers fit, typed ones may only widen within their
/// category. `what` names the place for the message.
Value Checker::storable(const Value &v, DType dtype, Span span, std::string_view what) {
  if (!usable(v, span))
    return Value::error();
  if (!v.isTileLike())
    return fail(Diag::OperandType, span, fmt::format("{} takes a tile or a number, not {}", what, typeName(v)));
  if (v.isUntyped())
    return materializeAs(v, dtype, span);
  DType from = dtypeOf(v);
  const DTypeInfo &source = info(from), &target = info(dtype);
  bool widens = from == dtype || (source.kind == target.kind && source.isSigned == target.isSigned &&
                                  hasArithmetic(from) && hasArithmetic(dtype) && source.bits < target.bits);
  if (!widens)
    return fail(Diag::ImplicitConversion, span,
                fmt::format("{} of {} does not take {}", what, name(dtype), typeName(v)),
                fmt::format("convert it, as in 'x.to({})'", name(dtype)));
  return convertTo(materialize(v, span), dtype, span);
}

} // namespace tilec::sema
