// Operations that work on each element alone.
#include "compiler/device/device.h"
#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::lower {
namespace {

bool isApprox(Operation *op) {
  auto flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath");
  return flags && bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
}

/// Runs `compute` on f32 where the type is narrower: one rounding of an exact or well-rounded f32 result.
Value throughF32(KernelLowering &k, Type type, ValueRange operands,
                 llvm::function_ref<Value(Type, ValueRange)> compute) {
  if (type.getIntOrFloatBitWidth() >= 32)
    return compute(type, operands);
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(LLVM::FPExtOp::create(k.b, k.loc, k.b.getF32Type(), operand));
  return LLVM::FPTruncOp::create(k.b, k.loc, type, compute(k.b.getF32Type(), wide));
}

Value routine(KernelLowering &k, Operation *op, StringRef function, Type type, ValueRange operands) {
  return throughF32(k, type, operands, [&](Type wide, ValueRange args) {
    StringRef dtype = wide.isF32() ? "f32" : "f64";
    return k.call(deviceMathSymbol(function, dtype, isApprox(op), op->hasAttr("tile.ftz")), wide, args);
  });
}

/// Division of integers. A zero divisor, or MIN / -1, gives some value: LLVM must not conclude that it never happens.
class IntegerDivision {
public:
  IntegerDivision(KernelLowering &k, Value dividend, Value divisor, bool isSigned, bool divisorIsConstant)
      : k(k), x(dividend), y(divisor), isSigned(isSigned) {
    if (divisorIsConstant)
      return; // the checker refuses a constant zero, and -1 folds to a negation
    Type type = y.getType();
    Value harmful = is(y, 0);
    if (isSigned) {
      Value least = k.constantBits(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
      Value overflows = k.bitAnd(is(y, -1), k.compare(LLVM::ICmpPredicate::eq, x, least));
      harmful = LLVM::OrOp::create(k.b, k.loc, harmful, overflows);
    }
    y = k.select(harmful, k.constant(type, 1), y);
  }
  Value quotient() {
    return isSigned ? LLVM::SDivOp::create(k.b, k.loc, x, y).getResult()
                    : LLVM::UDivOp::create(k.b, k.loc, x, y).getResult();
  }
  Value remainder() {
    return isSigned ? LLVM::SRemOp::create(k.b, k.loc, x, y).getResult()
                    : LLVM::URemOp::create(k.b, k.loc, x, y).getResult();
  }
  /// Rounds down, or up: the truncated quotient moves by one where a remainder is left on the wrong side.
  Value rounded(bool up) {
    Value q = quotient(), r = LLVM::SubOp::create(k.b, k.loc, x, k.mul(q, y));
    Value inexact = k.compare(LLVM::ICmpPredicate::ne, r, k.constant(r.getType(), 0));
    if (isSigned) {
      Value signs = LLVM::XOrOp::create(k.b, k.loc, x, y);
      Value differ = k.compare(LLVM::ICmpPredicate::slt, signs, k.constant(signs.getType(), 0));
      Value agree = k.compare(LLVM::ICmpPredicate::sge, signs, k.constant(signs.getType(), 0));
      inexact = k.bitAnd(inexact, up ? agree : differ);
    } else if (!up) {
      return q;
    }
    return k.select(inexact, k.add(q, k.constant(q.getType(), up ? 1 : -1)), q);
  }

private:
  Value is(Value value, int64_t number) {
    return k.compare(LLVM::ICmpPredicate::eq, value, k.constant(value.getType(), number));
  }
  KernelLowering &k;
  Value x, y;
  bool isSigned;
};

/// Integer power by squaring, wrapping; a negative exponent leaves 1 and -1 powers of themselves and all else 0.
Value integerPower(KernelLowering &k, Value base, Value exponent) {
  Type type = base.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Value zero = k.constant(type, 0), one = k.constant(type, 1), result = one, square = base;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value used = k.bitAnd(exponent, k.constantBits(type, APInt::getOneBitSet(bits, bit)));
    result = k.select(k.compare(LLVM::ICmpPredicate::ne, used, zero), k.mul(result, square), result);
    if (bit + 1 < bits)
      square = k.mul(square, square);
  }
  // |base| is 1 exactly when base + 1 is 0 or 2.
  Value unit = k.compare(LLVM::ICmpPredicate::eq, k.bitAnd(k.add(base, one), k.constant(type, -3)), zero);
  Value negative = k.compare(LLVM::ICmpPredicate::slt, exponent, zero);
  return k.select(
      LLVM::OrOp::create(k.b, k.loc, unit, LLVM::XOrOp::create(k.b, k.loc, negative, k.constant(k.i1(), 1))), result,
      zero);
}

/// Subnormals of an f32 become zeros of their sign.
Value flush(KernelLowering &k, Value value) {
  APInt one = APFloat(1.0f).bitcastToAPInt();
  return value.getType().isF32()
             ? k.intrinsic("llvm.nvvm.mul.rn.ftz.f", value.getType(), {value, k.constantBits(value.getType(), one)})
             : value;
}

/// A sum, product, quotient, square root or fused product rounded as the program asks; no value for other operations
/// and for dtypes without such an instruction.
Value lowerRounded(KernelLowering &k, Operation *op, Type type, ValueRange v) {
  auto rounding = op->getAttrOfType<tile::RoundingModeAttr>("tile.rounding");
  bool ftz = op->hasAttr("tile.ftz") && type.isF32();
  if (!rounding && !(ftz && isa<math::FmaOp>(op)))
    return {};
  StringRef name = isa<arith::AddFOp, arith::SubFOp>(op) ? "add"
                   : isa<arith::MulFOp>(op)              ? "mul"
                   : isa<arith::DivFOp>(op)              ? "div"
                   : isa<math::SqrtOp>(op)               ? "sqrt"
                   : isa<math::FmaOp>(op)                ? "fma"
                                                         : "";
  if (name.empty() || !(type.isF32() || type.isF64()))
    return {};
  StringRef mode = rounding ? tile::stringifyRoundingMode(rounding.getValue()) : "rn";
  SmallVector<Value> operands(v);
  if (isa<arith::SubFOp>(op))
    operands[1] = LLVM::FNegOp::create(k.b, k.loc, operands[1]);
  std::string intrinsic = ("llvm.nvvm." + name + "." + mode + (ftz ? ".ftz" : "") + (type.isF32() ? ".f" : ".d")).str();
  return k.intrinsic(intrinsic, type, operands);
}

/// One element of an operation; no value for an unknown operation.
Value lowerElement(KernelLowering &k, Operation *op, Type type, ValueRange v) {
  OpBuilder &b = k.b;
  if (op->hasAttr("tile.rounding") || op->hasAttr("tile.ftz"))
    if (Value rounded = lowerRounded(k, op, type, v); rounded || op->hasAttr("tile.rounding"))
      return rounded;
  auto flags = [&] { return LLVM::FastmathFlagsAttr::get(k.context(), k.fastmath(op)); };
#define SAME(from, to)                                                                                                 \
  if (isa<from>(op))                                                                                                   \
    return to::create(b, k.loc, TypeRange(type), v).getResult();
#define FLOAT(from, to)                                                                                                \
  if (isa<from>(op))                                                                                                   \
    return to::create(b, k.loc, TypeRange(type), v, NamedAttribute(b.getStringAttr("fastmathFlags"), flags()))         \
        .getResult();
#define INTRINSIC(from, name)                                                                                          \
  if (isa<from>(op))                                                                                                   \
    return k.intrinsic(name, type, v);
#define ROUTINE(from, name)                                                                                            \
  if (isa<from>(op))                                                                                                   \
    return routine(k, op, name, type, v);
#include "compiler/lower/elementwise.def"

  if (auto compare = dyn_cast<arith::CmpIOp>(op)) // the predicates have the same numbers
    return LLVM::ICmpOp::create(b, k.loc, LLVM::ICmpPredicate(compare.getPredicate()), v[0], v[1]);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate(compare.getPredicate()), v[0], v[1]);
  if (isa<arith::DivFOp>(op)) {
    if (isApprox(op))
      return routine(k, op, "div", type, v);
    // Narrow quotients round once more from a correctly rounded f32, which has more than twice their digits.
    return throughF32(k, type, v,
                      [&](Type, ValueRange args) -> Value { return LLVM::FDivOp::create(b, k.loc, args[0], args[1]); });
  }
  if (isa<math::SqrtOp>(op)) {
    if (isApprox(op))
      return routine(k, op, "sqrt", type, v);
    return throughF32(k, type, v, [&](Type wide, ValueRange args) {
      return k.intrinsic(wide.isF32() ? "llvm.nvvm.sqrt.rn.f" : "llvm.nvvm.sqrt.rn.d", wide, args);
    });
  }
  if (isa<tile::FlushOp>(op))
    return flush(k, v[0]);
  if (auto minimum = dyn_cast<tile::FMinOp>(op))
    return floatExtreme(k, false, minimum.getPropagateNan(), v[0], v[1]);
  if (auto maximum = dyn_cast<tile::FMaxOp>(op))
    return floatExtreme(k, true, maximum.getPropagateNan(), v[0], v[1]);
  if (isa<math::IsNaNOp>(op))
    return LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate::uno, v[0], v[0]);
  if (isa<math::IsInfOp>(op)) {
    auto floatType = cast<FloatType>(v[0].getType());
    Value magnitude = k.intrinsic("llvm.fabs", floatType, v[0]);
    APInt infinity = APFloat::getInf(floatType.getFloatSemantics()).bitcastToAPInt();
    return LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate::oeq, magnitude, k.constantBits(floatType, infinity));
  }
  if (isa<math::IPowIOp>(op))
    return integerPower(k, v[0], v[1]);
  if (isa<math::AbsIOp>(op)) {
    Value zero = k.constant(type, 0);
    Value negative = k.compare(LLVM::ICmpPredicate::slt, v[0], zero);
    return k.select(negative, LLVM::SubOp::create(b, k.loc, zero, v[0]), v[0]);
  }
  auto division = [&](bool isSigned) {
    return IntegerDivision(k, v[0], v[1], isSigned, matchPattern(op->getOperand(1), m_Constant()));
  };
  if (isa<arith::DivSIOp>(op))
    return division(true).quotient();
  if (isa<arith::DivUIOp>(op))
    return division(false).quotient();
  if (isa<arith::RemSIOp>(op))
    return division(true).remainder();
  if (isa<arith::RemUIOp>(op))
    return division(false).remainder();
  if (isa<arith::FloorDivSIOp>(op))
    return division(true).rounded(/*up=*/false);
  if (isa<arith::CeilDivSIOp>(op))
    return division(true).rounded(/*up=*/true);
  if (isa<arith::CeilDivUIOp>(op))
    return division(false).rounded(/*up=*/true);
  return {};
}

} // namespace

LogicalResult KernelLowering::lowerElementwise(Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("has no lowering");
  Type type = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
  bool ftz = op->hasAttr("tile.ftz");
  Registers registers;
  if (isa<arith::DivFOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()) && type.isF32() && !ftz &&
      !isApprox(op))
    if (auto quotients = divideByFew(*this, get(op->getOperand(0)), get(op->getOperand(1)),
                                     !isa_and_present<math::ExpOp, math::Exp2Op>(op->getOperand(0).getDefiningOp()))) {
      set(op->getResult(0), std::move(*quotients));
      return success();
    }
  for (unsigned i = 0; i < registerCount(op->getResult(0).getType()); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const Registers &all = get(operand);
      operands.push_back(isa<RankedTensorType>(operand.getType()) ? all[i] : all.front());
      if (ftz)
        operands.back() = flush(*this, operands.back());
    }
    Value element = lowerElement(*this, op, type, operands);
    if (!element)
      return op->emitOpError("has no lowering");
    registers.push_back(ftz ? flush(*this, element) : element);
  }
  set(op->getResult(0), std::move(registers));
  return success();
}

/// Both halves of a product: computed in twice the width.
LogicalResult KernelLowering::lowerWideProduct(Operation *op) {
  bool isSigned = isa<arith::MulSIExtendedOp>(op);
  Registers low, high;
  for (auto [x, y] : llvm::zip(get(op->getOperand(0)), get(op->getOperand(1)))) {
    Type type = x.getType();
    unsigned bits = type.getIntOrFloatBitWidth();
    Type wide = b.getIntegerType(2 * bits);
    Value product = mul(resize(x, wide, isSigned), resize(y, wide, isSigned));
    low.push_back(resize(product, type, false));
    high.push_back(resize(LLVM::LShrOp::create(b, loc, product, constant(wide, bits)), type, false));
  }
  set(op->getResult(0), std::move(low));
  set(op->getResult(1), std::move(high));
  return success();
}

} // namespace tilec::lower
