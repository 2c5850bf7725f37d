#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

unsigned KernelLowering::registerCount(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tile::layoutOf(tensor).registers() : 1;
}

Type KernelLowering::scalarType(Type element) {
  if (isa<tile::PtrType>(element))
    return LLVM::LLVMPointerType::get(context(), 1);
  if (isa<FloatTF32Type>(element))
    return b.getF32Type();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
    return b.getI8Type();
  return element;
}

Type KernelLowering::memoryType(Type element) {
  Type type = scalarType(element);
  return type.isInteger(1) ? b.getI8Type() : type;
}

Value KernelLowering::constant(Type type, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
}

Value KernelLowering::constantBits(Type type, APInt bits) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return LLVM::ConstantOp::create(b, loc, type,
                                    FloatAttr::get(floatType, APFloat(floatType.getFloatSemantics(), bits)));
  return LLVM::ConstantOp::create(b, loc, type, IntegerAttr::get(type, bits));
}

Value KernelLowering::toMemory(Value value) {
  return value.getType().isInteger(1) ? LLVM::ZExtOp::create(b, loc, b.getI8Type(), value).getResult() : value;
}

Value KernelLowering::fromMemory(Value value, Type element) {
  return element.isInteger(1) ? compare(LLVM::ICmpPredicate::ne, value, constant(value.getType(), 0)) : value;
}

Value KernelLowering::intrinsic(StringRef name, Type result, ValueRange operands) {
  auto attr = b.getStringAttr(name);
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, loc, attr, operands);
    return {};
  }
  return LLVM::CallIntrinsicOp::create(b, loc, result, attr, operands).getResult(0);
}

Value KernelLowering::call(StringRef routine, Type result, ValueRange operands) {
  auto module = func->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(routine);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(b, UnknownLoc::get(context()), routine,
                                      LLVM::LLVMFunctionType::get(result, SmallVector<Type>(operands.getTypes())));
  }
  return LLVM::CallOp::create(b, loc, callee, operands).getResult();
}

SmallVector<Value> KernelLowering::assembly(StringRef text, StringRef constraints, ArrayRef<Type> results,
                                            ValueRange operands, bool sideEffects) {
  Type type;
  if (results.size() == 1)
    type = results.front();
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(context(), results);
  auto op = LLVM::InlineAsmOp::create(b, loc, type ? TypeRange(type) : TypeRange(), operands, text, constraints,
                                      sideEffects, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                      LLVM::AsmDialectAttr::get(context(), LLVM::AsmDialect::AD_ATT),
                                      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getResult(0));
  else
    for (size_t i = 0; i < results.size(); ++i)
      values.push_back(LLVM::ExtractValueOp::create(b, loc, op.getResult(0), int64_t(i)));
  return values;
}

Value KernelLowering::resize(Value integer, Type type, bool isSigned) {
  unsigned from = integer.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return integer;
  if (from > to)
    return LLVM::TruncOp::create(b, loc, type, integer);
  if (isSigned)
    return LLVM::SExtOp::create(b, loc, type, integer);
  return LLVM::ZExtOp::create(b, loc, type, integer);
}

LLVM::FastmathFlags KernelLowering::fastmath(Operation *op) {
  bool fuse = contract;
  if (auto flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath"))
    fuse |= bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::contract);
  return fuse ? LLVM::FastmathFlags::contract : LLVM::FastmathFlags::none;
}

uint64_t KernelLowering::threadBits(const LinearLayout &layout, int shift, int bits) {
  uint64_t all = 0;
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (uint64_t basis : layout.bases(dim))
      all |= basis >> shift & ((uint64_t(1) << bits) - 1);
  return all;
}

Value KernelLowering::threadCoordinate(const LinearLayout &layout, int shift, int bits) {
  uint64_t mask = (uint64_t(1) << bits) - 1;
  Value sum;
  auto addTerm = [&](Value term) { sum = sum ? LLVM::XOrOp::create(b, loc, sum, term).getResult() : term; };
  for (auto [dim, id] : {std::pair{InDim::Lane, lane}, {InDim::Warp, warp}}) {
    const auto &bases = layout.bases(dim);
    for (size_t first = 0; first < bases.size();) {
      uint64_t basis = bases[first] >> shift & mask;
      // A run of bits that go to neighbouring coordinate bits is one shift and one mask.
      size_t last = first + 1;
      if (llvm::isPowerOf2_64(basis))
        while (last < bases.size() && (bases[last] >> shift & mask) == basis << (last - first))
          ++last;
      if (basis) {
        Value part = id;
        if (first)
          part = LLVM::LShrOp::create(b, loc, part, constant(i32(), int64_t(first)));
        part = bitAnd(part, constant(i32(), (int64_t(1) << (last - first)) - 1));
        if (llvm::isPowerOf2_64(basis))
          part = LLVM::ShlOp::create(b, loc, part, constant(i32(), int64_t(llvm::Log2_64(basis))));
        else
          part = mul(part, constant(i32(), int64_t(basis)));
        addTerm(part);
      }
      first = last;
    }
  }
  return sum ? sum : constant(i32(), 0);
}

Value KernelLowering::withRegister(Value threadPart, uint64_t reached, uint64_t registerPart) {
  if (!registerPart)
    return threadPart;
  Value part = constant(i32(), int64_t(registerPart));
  if (registerPart & reached)
    return LLVM::XOrOp::create(b, loc, threadPart, part);
  return add(threadPart, part);
}

Value KernelLowering::ownerPredicate(const LinearLayout &layout) {
  Value owner;
  for (auto [dim, id] : {std::pair{InDim::Lane, lane}, {InDim::Warp, warp}})
    if (uint32_t mask = layout.freeMask(dim)) {
      Value zero = compare(LLVM::ICmpPredicate::eq, bitAnd(id, constant(i32(), mask)), constant(i32(), 0));
      owner = owner ? bitAnd(owner, zero) : zero;
    }
  return owner;
}

Value KernelLowering::shuffle(StringRef kind, Value value, Value from) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto move = [&](Value word) {
    return intrinsic(("llvm.nvvm.shfl.sync." + kind + ".i32").str(), i32(),
                     {constant(i32(), -1), word, from, constant(i32(), 31)});
  };
  Type integer = b.getIntegerType(bits);
  Value raw = type == integer ? value : LLVM::BitcastOp::create(b, loc, integer, value).getResult();
  Value moved;
  if (bits <= 32) {
    moved = resize(move(resize(raw, i32(), false)), integer, false);
  } else {
    Value low = resize(raw, i32(), false);
    Value high = resize(LLVM::LShrOp::create(b, loc, raw, constant(integer, 32)), i32(), false);
    low = resize(move(low), integer, false);
    high = LLVM::ShlOp::create(b, loc, resize(move(high), integer, false), constant(integer, 32));
    moved = LLVM::OrOp::create(b, loc, low, high);
  }
  return type == integer ? moved : LLVM::BitcastOp::create(b, loc, type, moved).getResult();
}

} // namespace tilec::lower
