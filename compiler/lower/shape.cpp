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

/// A tile of listed values: a table in global memory that every thread reads its elements from.
static Registers listedConstant(KernelLowering &k, DenseElementsAttr values, RankedTensorType type) {
  LinearLayout layout = tile::layoutOf(type);
  Type element = k.memoryType(type.getElementType());
  Type bits = k.b.getIntegerType(element.getIntOrFloatBitWidth());
  SmallVector<APInt> table;
  for (Attribute value : values.getValues<Attribute>())
    table.push_back(bitsOf(value).zextOrTrunc(bits.getIntOrFloatBitWidth()));
  auto module = k.func->getParentOfType<ModuleOp>();
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(module.getBody());
    std::string name;
    for (size_t i = 0; name.empty() || module.lookupSymbol(name); ++i)
      name = "tilec_table" + std::to_string(i);
    auto contents = DenseElementsAttr::get(RankedTensorType::get({int64_t(table.size())}, bits), table);
    global = LLVM::GlobalOp::create(k.b, UnknownLoc::get(k.context()), LLVM::LLVMArrayType::get(bits, table.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Internal, name, contents,
                                    /*alignment=*/16, /*addrSpace=*/1);
  }
  Value base = LLVM::AddressOfOp::create(k.b, k.loc, global);
  Value threadPart = k.threadCoordinate(layout, 0, layout.elementBits());
  uint64_t reached = KernelLowering::threadBits(layout, 0, layout.elementBits());
  Registers registers;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
    Value position = k.withRegister(threadPart, reached, layout.apply({reg, 0, 0, 0}));
    Value place = LLVM::GEPOp::create(k.b, k.loc, base.getType(), bits, base, ArrayRef<LLVM::GEPArg>{position});
    Value value = LLVM::LoadOp::create(k.b, k.loc, bits, place);
    if (element != bits)
      value = LLVM::BitcastOp::create(k.b, k.loc, element, value);
    registers.push_back(k.fromMemory(value, type.getElementType()));
  }
  return registers;
}

LogicalResult KernelLowering::lowerShape(Operation *op) {
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  unsigned count = registerCount(result.getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = constant.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      if (!dense.isSplat()) {
        set(result, listedConstant(*this, dense, cast<RankedTensorType>(result.getType())));
        return success();
      }
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
