// Constants, ranges and changes of shape: nothing here moves data between threads.
#include "compiler/layout/conversion.h"
#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilec::lower {

/// The storage bits of a constant element.
static APInt bitsOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APInt bits = number.getValue().bitcastToAPInt();
    // MLIR's tf32 has 19 bits; it is held as an f32 whose low bits are zero.
    return isa<FloatTF32Type>(number.getType()) ? bits.zext(32).shl(13) : bits;
  }
  return cast<IntegerAttr>(value).getValue();
}

static Value constantElement(KernelLowering &k, Attribute value, Type element) {
  Type type = k.scalarType(element);
  return k.constantBits(type, bitsOf(value).zextOrTrunc(type.getIntOrFloatBitWidth()));
}

static LogicalResult lowerArange(KernelLowering &k, tile::ArangeOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  LinearLayout layout = tile::layoutOf(type);
  int bits = layout.elementBits();
  Value threadPart = k.threadCoordinate(layout, 0, bits);
  uint64_t reached = KernelLowering::threadBits(layout, 0, bits);
  Type element = k.scalarType(type.getElementType());
  Value start = constantElement(k, op.getStart(), type.getElementType());
  Value step = constantElement(k, op.getStep(), type.getElementType());
  Registers registers;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
    Value position = k.withRegister(threadPart, reached, layout.apply({reg, 0, 0, 0}));
    if (isa<FloatType>(element)) {
      Value number = LLVM::SIToFPOp::create(k.b, k.loc, element, position);
      number = LLVM::FMulOp::create(k.b, k.loc, number, step);
      registers.push_back(LLVM::FAddOp::create(k.b, k.loc, start, number));
    } else {
      registers.push_back(k.add(start, k.mul(k.resize(position, element, false), step)));
    }
  }
  k.set(op, std::move(registers));
  return success();
}

LogicalResult KernelLowering::lowerShape(Operation *op) {
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  unsigned count = registerCount(result.getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = constant.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      if (!dense.isSplat())
        return op->emitOpError("a tile constant has one value");
      value = dense.getSplatValue<Attribute>();
    }
    set(result, Registers(count, constantElement(*this, value, element)));
    return success();
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    set(result, Registers(count, scalar(splat.getValue())));
    return success();
  }
  if (auto range = dyn_cast<tile::ArangeOp>(op))
    return lowerArange(*this, range);

  Value source = op->getOperand(0);
  auto from = dyn_cast<RankedTensorType>(source.getType());
  auto to = dyn_cast<RankedTensorType>(result.getType());
  if (!from || !to) { // a tile of one element and a scalar
    set(result, Registers(count, get(source).front()));
    return success();
  }
  LinearLayout src = tile::layoutOf(from), dst = tile::layoutOf(to);
  if (isa<tile::BroadcastOp>(op))
    dst = dst.project(src.shape());
  else
    dst = dst.reshape(src.shape());
  auto sources = layout::registerSources(src, dst);
  if (!sources)
    return op->emitOpError("the layouts do not meet in each thread");
  Registers registers;
  for (uint32_t reg : *sources)
    registers.push_back(get(source)[reg]);
  set(result, std::move(registers));
  return success();
}

} // namespace tilec::lower
