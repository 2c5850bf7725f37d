// Ops that are made of others, before layouts: positions of extremes and running sums become folds by functions,
// products take types that a unit multiplies, and single elements become tiles of one.
#include "compiler/transforms/op_layouts.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilec::transforms {
namespace {

Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

Value zeroOf(OpBuilder &b, Location loc, Type element) {
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(element)));
}

/// Whether the later element beats the earlier one, so that equal ones leave the lower position.
Value beats(OpBuilder &b, Location loc, tile::ArgExtremeOp op, Value later, Value earlier) {
  bool max = op.getIsMax();
  if (isa<IntegerType>(later.getType())) {
    using P = arith::CmpIPredicate;
    P predicate = op.getIsUnsigned() ? (max ? P::ugt : P::ult) : (max ? P::sgt : P::slt);
    return arith::CmpIOp::create(b, loc, predicate, later, earlier);
  }
  using P = arith::CmpFPredicate;
  auto compare = [&](P predicate, Value x, Value y) { return arith::CmpFOp::create(b, loc, predicate, x, y); };
  auto isNan = [&](Value x) -> Value { return compare(P::UNO, x, x); };
  auto isNumber = [&](Value x) -> Value { return compare(P::ORD, x, x); };
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
  auto either = [&](Value x, Value y) -> Value { return arith::OrIOp::create(b, loc, x, y); };
  Value better = compare(max ? P::OGT : P::OLT, later, earlier);
  // Equal floats differ in their bits only where they are zeros of two signs, and +0 > -0.
  Type bits = b.getIntegerType(later.getType().getIntOrFloatBitWidth());
  Value x = arith::BitcastOp::create(b, loc, bits, later), y = arith::BitcastOp::create(b, loc, bits, earlier);
  auto order = max ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
  better = either(better, both(compare(P::OEQ, later, earlier), arith::CmpIOp::create(b, loc, order, x, y)));
  if (op.getPropagateNan())
    return both(isNumber(earlier), either(better, isNan(later)));
  return either(better, both(isNan(earlier), isNumber(later)));
}

void expandArgExtreme(tile::ArgExtremeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  int64_t axis = int64_t(op.getAxis()), extent = type.getShape()[size_t(axis)];
  Type i32 = b.getI32Type(), element = type.getElementType();
  SmallVector<int64_t> line(size_t(type.getRank()), 1);
  line[size_t(axis)] = extent;
  Value position = tile::ArangeOp::create(b, loc, RankedTensorType::get({extent}, i32), b.getI32IntegerAttr(0),
                                          b.getI32IntegerAttr(1));
  if (type.getRank() > 1) {
    position = tile::ReshapeOp::create(b, loc, RankedTensorType::get(line, i32), position);
    position = tile::BroadcastOp::create(b, loc, RankedTensorType::get(type.getShape(), i32), position);
  }
  Type valueResult = tile::tileType(tile::tileShape(op.getType()), element);
  Value zero = zeroOf(b, loc, element), none = zeroOf(b, loc, i32);
  auto fold =
      tile::ReduceFnOp::create(b, loc, TypeRange{valueResult, op.getType()}, ValueRange{op.getValue(), position},
                               ValueRange{zero, none}, ArrayRef<int64_t>{axis});
  Block *block = b.createBlock(&fold.getCombine(), {}, {element, i32, element, i32}, {loc, loc, loc, loc});
  Value takes = beats(b, loc, op, block->getArgument(2), block->getArgument(0));
  auto pick = [&](unsigned i) -> Value {
    return arith::SelectOp::create(b, loc, takes, block->getArgument(2 + i), block->getArgument(i));
  };
  tile::YieldOp::create(b, loc, ValueRange{pick(0), pick(1)});
  op.getResult().replaceAllUsesWith(fold.getResult(1));
  op.erase();
}

void expandScan(tile::ScanOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type element = elementOf(op.getValue());
  bool isFloat = isa<FloatType>(element), sum = op.getKind() == tile::ReduceKind::sum;
  TypedAttr one = isFloat ? TypedAttr(b.getFloatAttr(element, 1.0)) : TypedAttr(b.getIntegerAttr(element, 1));
  Value identity = sum ? zeroOf(b, loc, element) : arith::ConstantOp::create(b, loc, one).getResult();
  auto scan = tile::ScanFnOp::create(b, loc, TypeRange{op.getType()}, ValueRange{op.getValue()}, ValueRange{identity},
                                     op.getAxis(), op.getReverse(), op.getExclusive());
  Block *block = b.createBlock(&scan.getCombine(), {}, {element, element}, {loc, loc});
  Value x = block->getArgument(0), y = block->getArgument(1), result;
  if (isFloat)
    result = sum ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::MulFOp::create(b, loc, x, y).getResult();
  else
    result = sum ? arith::AddIOp::create(b, loc, x, y).getResult() : arith::MulIOp::create(b, loc, x, y).getResult();
  tile::YieldOp::create(b, loc, result);
  op.getResult().replaceAllUsesWith(scan.getResult(0));
  op.erase();
}

/// Elements that one thread must move alone are tiles of one element, whose owner is known.
void expandScalar(Operation *op) {
  OpBuilder b(op);
  auto asTile = [&](Value value) -> Value {
    if (!value.getType().isIntOrFloat())
      return value;
    return tile::ReshapeOp::create(b, op->getLoc(), RankedTensorType::get({1}, value.getType()), value);
  };
  for (OpOperand &operand : op->getOpOperands())
    operand.set(asTile(operand.get()));
  for (OpResult result : op->getResults()) {
    Type scalar = result.getType();
    result.setType(RankedTensorType::get({1}, scalar));
    b.setInsertionPointAfter(op);
    auto back = tile::ReshapeOp::create(b, op->getLoc(), scalar, result);
    result.replaceAllUsesExcept(back.getResult(), back);
  }
}

/// Operand types that a unit multiplies, or that multiply-add instructions do.
void expandMma(tile::MmaOp op, const Arch &arch) {
  OpBuilder b(op);
  auto dtypeOf = [](Value value) { return *tile::dtypeOf(elementOf(value)); };
  auto convert = [&](Value value, StringRef from, DType to) -> Value {
    Type type = tile::tileType(tile::tileShape(value.getType()), tile::elementType(b.getContext(), to));
    return tile::ConvertOp::create(b, op.getLoc(), type, value, from, StringRef(name(to)), tile::RoundingMode::rn,
                                   false);
  };
  auto nameOf = [&](Value value, bool isUnsigned) {
    DType dtype = dtypeOf(value);
    return StringRef(isUnsigned && dtype == DType::i8 ? "u8" : name(dtype));
  };
  // A narrow accumulator is wide inside and rounded once at the end.
  DType acc = dtypeOf(op.getAcc());
  if (acc == DType::f16) {
    op.getAccMutable().assign(convert(op.getAcc(), "f16", DType::f32));
    Type narrow = op.getType();
    op.getResult().setType(cast<RankedTensorType>(op.getAcc().getType()));
    b.setInsertionPointAfter(op);
    Value rounded =
        tile::ConvertOp::create(b, op.getLoc(), narrow, op.getResult(), "f32", "f16", tile::RoundingMode::rn, false);
    op.getResult().replaceAllUsesExcept(rounded, rounded.getDefiningOp());
    b.setInsertionPoint(op);
    acc = DType::f32;
  }
  if (mmaUnit(op, arch))
    return;
  // fp8 values are f16 values.
  auto isFp8 = [&](Value value) { return info(dtypeOf(value)).bits == 8 && isFloat(dtypeOf(value)); };
  if (isFp8(op.getA()) && isFp8(op.getB())) {
    op.getAMutable().assign(convert(op.getA(), nameOf(op.getA(), false), DType::f16));
    op.getBMutable().assign(convert(op.getB(), nameOf(op.getB(), false), DType::f16));
    if (mmaUnit(op, arch))
      return;
  }
  if (dtypeOf(op.getA()) != acc)
    op.getAMutable().assign(convert(op.getA(), nameOf(op.getA(), op.getAUnsigned()), acc));
  if (dtypeOf(op.getB()) != acc)
    op.getBMutable().assign(convert(op.getB(), nameOf(op.getB(), op.getBUnsigned()), acc));
  op.setAUnsigned(false);
  op.setBUnsigned(false);
}

} // namespace

void expandForThreads(ModuleOp module, const Arch &arch) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto extreme = dyn_cast<tile::ArgExtremeOp>(op))
      expandArgExtreme(extreme);
    else if (auto scan = dyn_cast<tile::ScanOp>(op))
      expandScan(scan);
    else if (auto mma = dyn_cast<tile::MmaOp>(op))
      expandMma(mma, arch);
    else if (auto atomic = dyn_cast<tile::AtomicOp>(op); atomic && !isa<RankedTensorType>(atomic.getType()))
      expandScalar(op);
    else if (auto gather = dyn_cast<tile::GatherOp>(op);
             gather && gather.getOrder() != tile::MemoryOrder::weak && !isa<RankedTensorType>(gather.getType()))
      expandScalar(op);
    else if (auto scatter = dyn_cast<tile::ScatterOp>(op); scatter && scatter.getValue().getType().isIntOrFloat())
      expandScalar(op);
  }
}

} // namespace tilec::transforms
