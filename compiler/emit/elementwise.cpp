// Elementwise operations: one table from the program's operations to ops, then what needs more than one op.
#include "compiler/emit/emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using tilec::sema::BinaryOp;
using tilec::sema::CompareOp;
using tilec::sema::UnaryOp;

namespace tilec::emit {

arith::FastMathFlags Emitter::flags(bool approx) const {
  auto flags = program.contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
  return approx ? flags | arith::FastMathFlags::afn : flags;
}

Value Emitter::mark(Operation *made, bool ftz, Rounding rounding) {
  if (ftz)
    made->setAttr("tile.ftz", builder.getUnitAttr());
  if (rounding != Rounding::NearestEven) {
    made->setAttr("tile.rounding", tile::RoundingModeAttr::get(builder.getContext(), roundingMode(rounding)));
    // MLIR's folders know of no other rounding than to nearest: an operand that they cannot see through keeps them
    // away.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(made);
    Value operand = made->getOperand(0);
    StringRef dtype(tilec::name(*tile::dtypeOf(getElementTypeOrSelf(operand.getType()))));
    made->setOperand(0, make<tile::BitcastOp>(operand.getType(), operand, dtype, dtype));
  }
  return made->getResult(0);
}

/// `ftz` of an exact operation is spelt out around it: a fold of the operation then cannot lose it.
Value Emitter::flushed(Value value, bool ftz) { return ftz ? make<tile::FlushOp>(value).getResult() : value; }

/// A constant of a tile's or scalar's type, the same in every element.
Value Emitter::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute = builder.getIntegerAttr(element, value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, Attribute(attribute));
  return make<arith::ConstantOp>(attribute);
}

namespace {

using UnaryBuilder = Operation *(*)(OpBuilder &, Location, Value, arith::FastMathFlagsAttr);

template <typename Op> Operation *floatOp(OpBuilder &b, Location at, Value x, arith::FastMathFlagsAttr flags) {
  return Op::create(b, at, x.getType(), x, flags);
}

/// Float operations of one operand that are one op each.
UnaryBuilder unaryFloat(UnaryOp op) {
  switch (op) {
#define ROW(name, Op)                                                                                                  \
  case UnaryOp::name:                                                                                                  \
    return floatOp<Op>;
    ROW(Neg, arith::NegFOp)
    ROW(Abs, math::AbsFOp)
    ROW(Exp, math::ExpOp)
    ROW(Exp2, math::Exp2Op)
    ROW(Log, math::LogOp)
    ROW(Log2, math::Log2Op)
    ROW(Sqrt, math::SqrtOp)
    ROW(Rsqrt, math::RsqrtOp)
    ROW(Sin, math::SinOp)
    ROW(Cos, math::CosOp)
    ROW(Tan, math::TanOp)
    ROW(Sinh, math::SinhOp)
    ROW(Cosh, math::CoshOp)
    ROW(Tanh, math::TanhOp)
    ROW(Erf, math::ErfOp)
    ROW(Floor, math::FloorOp)
    ROW(Ceil, math::CeilOp)
    ROW(Round, math::RoundEvenOp)
#undef ROW
  case UnaryOp::Not:
  case UnaryOp::IsNan:
  case UnaryOp::IsInf:
  case UnaryOp::Popcount:
    return nullptr;
  }
  return nullptr;
}

} // namespace

Value Emitter::emitUnary(const sema::Inst &inst, const sema::UnaryInst &op) {
  Value x = operand(inst, 0);
  DType dtype = typeOf(inst.operands[0]).dtype;
  if (isFloat(dtype)) {
    if (op.op == UnaryOp::IsNan)
      return make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
    if (op.op == UnaryOp::IsInf) {
      Value magnitude = make<math::AbsFOp>(x);
      uint64_t bits = encodeFloat(dtype, std::numeric_limits<double>::infinity());
      TypedAttr infinity = constantAttr(dtype, bits);
      if (auto tensor = dyn_cast<RankedTensorType>(x.getType()))
        infinity = DenseElementsAttr::get(tensor, Attribute(infinity));
      return make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, magnitude, make<arith::ConstantOp>(infinity));
    }
    if (UnaryBuilder create = unaryFloat(op.op)) {
      auto attribute = arith::FastMathFlagsAttr::get(builder.getContext(), flags(op.approx));
      bool exact = op.op == UnaryOp::Sqrt && !op.approx && op.ftz;
      Operation *made = create(builder, location, flushed(x, exact), attribute);
      return flushed(mark(made, op.ftz && !exact, op.rounding), exact);
    }
  }
  switch (op.op) {
  case UnaryOp::Neg:
    return make<arith::SubIOp>(integer(x.getType(), 0), x);
  case UnaryOp::Not:
    return make<arith::XOrIOp>(x, integer(x.getType(), -1));
  case UnaryOp::Popcount:
    return make<math::CtPopOp>(x);
  case UnaryOp::Abs:
    return isUnsigned(dtype) ? x : make<math::AbsIOp>(x).getResult();
  default:
    fail(fmt::format("no operation {} for {}", int(op.op), tilec::name(dtype)));
    return {};
  }
}

Value Emitter::emitFloatBinary(const sema::BinaryInst &op, Value a, Value b, DType dtype) {
  auto fast = arith::FastMathFlagsAttr::get(builder.getContext(), flags(op.approx));
  using enum BinaryOp;
  bool exact = op.ftz && !op.approx && (op.op == Add || op.op == Sub || op.op == Mul || op.op == Div);
  a = flushed(a, exact), b = flushed(b, exact);
  auto marked = [&](Operation *made) { return flushed(mark(made, op.ftz && !exact, op.rounding), exact); };
  switch (op.op) {
  case BinaryOp::Add:
    return marked(make<arith::AddFOp>(a.getType(), a, b, fast));
  case BinaryOp::Sub:
    return marked(make<arith::SubFOp>(a.getType(), a, b, fast));
  case BinaryOp::Mul:
    return marked(make<arith::MulFOp>(a.getType(), a, b, fast));
  case BinaryOp::Div:
    return marked(make<arith::DivFOp>(a.getType(), a, b, fast));
  case BinaryOp::Pow:
    return marked(make<math::PowFOp>(a.getType(), a, b, fast));
  case BinaryOp::Min:
    return marked(make<tile::FMinOp>(a.getType(), a, b, op.propagateNan));
  case BinaryOp::Max:
    return marked(make<tile::FMaxOp>(a.getType(), a, b, op.propagateNan));
  default:
    fail(fmt::format("no operation {} for {}", int(op.op), tilec::name(dtype)));
    return {};
  }
}

/// The remainder with the divisor's sign: remsi, corrected where its sign differs.
Value Emitter::emitFloorMod(Value a, Value b) {
  Value zero = integer(a.getType(), 0);
  Value rest = make<arith::RemSIOp>(a, b);
  Value opposite = make<arith::CmpIOp>(arith::CmpIPredicate::slt, make<arith::XOrIOp>(rest, b), zero);
  Value inexact = make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, zero);
  return make<arith::SelectOp>(make<arith::AndIOp>(opposite, inexact), make<arith::AddIOp>(rest, b), rest);
}

/// The amount of a shift if it is one known number, also behind a splat or a broadcast.
static std::optional<APInt> knownAmount(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  APInt amount;
  return matchPattern(value, m_ConstantInt(&amount)) ? std::optional(amount) : std::nullopt;
}

/// Shifts by the width or more are open in arith and fixed by the language: 0, or the sign in every bit.
Value Emitter::emitShift(const sema::BinaryInst &op, Value a, Value b, DType dtype) {
  int64_t width = info(dtype).bits;
  std::optional<APInt> amount = knownAmount(b);
  bool small = amount && amount->ult(uint64_t(width));
  if (op.op == BinaryOp::Shr && !isUnsigned(dtype)) {
    Value by = small ? b : make<arith::MinUIOp>(b, integer(b.getType(), width - 1)).getResult();
    return make<arith::ShRSIOp>(a, by);
  }
  Value shifted =
      op.op == BinaryOp::Shl ? make<arith::ShLIOp>(a, b).getResult() : make<arith::ShRUIOp>(a, b).getResult();
  if (small)
    return shifted;
  Value inside = make<arith::CmpIOp>(arith::CmpIPredicate::ult, b, integer(b.getType(), width));
  return make<arith::SelectOp>(inside, shifted, integer(a.getType(), 0));
}

/// An exponent without a sign as one of the same power whose sign bit is 0. Powers of odd numbers repeat with a period
/// that divides 2^(width - 2), and those of even ones are 0 from the exponent `width` on: the sign bit can go if the
/// one below it is set for it.
Value Emitter::signedExponent(Value exponent, DType dtype) {
  int64_t width = info(dtype).bits;
  Type type = exponent.getType();
  Value high = make<arith::ShRUIOp>(exponent, integer(type, width - 1));
  Value low = make<arith::AndIOp>(exponent, integer(type, int64_t(~uint64_t(0) >> (65 - width))));
  return make<arith::OrIOp>(low, make<arith::ShLIOp>(high, integer(type, width - 2)));
}

Value Emitter::emitIntBinary(const sema::BinaryInst &op, Value a, Value b, DType dtype) {
  bool isUnsigned = this->isUnsigned(dtype);
  switch (op.op) {
#define ROW(name, Op)                                                                                                  \
  case BinaryOp::name:                                                                                                 \
    return make<Op>(a, b);
#define SIGNS(name, Signed, Unsigned)                                                                                  \
  case BinaryOp::name:                                                                                                 \
    return isUnsigned ? make<Unsigned>(a, b).getResult() : make<Signed>(a, b).getResult();
    ROW(Add, arith::AddIOp)
    ROW(Sub, arith::SubIOp)
    ROW(Mul, arith::MulIOp)
    ROW(And, arith::AndIOp)
    ROW(Or, arith::OrIOp)
    ROW(Xor, arith::XOrIOp)
    SIGNS(FloorDiv, arith::FloorDivSIOp, arith::DivUIOp)
    SIGNS(TruncDiv, arith::DivSIOp, arith::DivUIOp)
    SIGNS(TruncMod, arith::RemSIOp, arith::RemUIOp)
    SIGNS(CDiv, arith::CeilDivSIOp, arith::CeilDivUIOp)
    SIGNS(Min, arith::MinSIOp, arith::MinUIOp)
    SIGNS(Max, arith::MaxSIOp, arith::MaxUIOp)
#undef ROW
#undef SIGNS
  case BinaryOp::FloorMod:
    return isUnsigned ? make<arith::RemUIOp>(a, b).getResult() : emitFloorMod(a, b);
  case BinaryOp::Pow:
    return make<math::IPowIOp>(a, isUnsigned ? signedExponent(b, dtype) : b);
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return emitShift(op, a, b, dtype);
  case BinaryOp::MulHi:
    return isUnsigned ? make<arith::MulUIExtendedOp>(a, b).getHigh() : make<arith::MulSIExtendedOp>(a, b).getHigh();
  case BinaryOp::Div:
    break;
  }
  fail(fmt::format("no operation {} for {}", int(op.op), tilec::name(dtype)));
  return {};
}

Value Emitter::emitBinary(const sema::Inst &inst, const sema::BinaryInst &op) {
  Value a = operand(inst, 0), b = operand(inst, 1);
  DType dtype = typeOf(inst.operands[0]).dtype;
  return isFloat(dtype) ? emitFloatBinary(op, a, b, dtype) : emitIntBinary(op, a, b, dtype);
}

Value Emitter::emitCompare(const sema::Inst &inst, CompareOp op) {
  struct Row {
    arith::CmpFPredicate floats;
    arith::CmpIPredicate sints, uints;
  };
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // In the order of CompareOp. With a NaN only `!=` is true.
  static constexpr Row rows[] = {{F::OLT, I::slt, I::ult}, {F::OLE, I::sle, I::ule}, {F::OGT, I::sgt, I::ugt},
                                 {F::OGE, I::sge, I::uge}, {F::OEQ, I::eq, I::eq},   {F::UNE, I::ne, I::ne}};
  const Row &row = rows[size_t(op)];
  Value a = operand(inst, 0), b = operand(inst, 1);
  DType dtype = typeOf(inst.operands[0]).dtype;
  if (isFloat(dtype))
    return make<arith::CmpFOp>(row.floats, a, b);
  return make<arith::CmpIOp>(isUnsigned(dtype) ? row.uints : row.sints, a, b);
}

} // namespace tilec::emit
