// Shared memory, and conversions of layouts that stay within warps.
#include "compiler/layout/conversion.h"
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/words.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

/// The block's dynamic shared memory; its size is given at launch.
static Value sharedBase(KernelLowering &k) {
  static constexpr StringRef name = "tilec_shared";
  auto module = k.func->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(k.b, UnknownLoc::get(k.context()), LLVM::LLVMArrayType::get(k.b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                                    /*alignment=*/1024, /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(k.b, k.loc, global);
}

namespace {

/// A tile against a buffer: where each register lies.
class SharedTile {
public:
  SharedTile(KernelLowering &k, Value buffer, RankedTensorType tile);
  int64_t vector() const { return int64_t(1) << vectorRegisters.size(); }
  SmallVector<uint32_t> leaders() const;
  uint32_t vectorRegister(uint32_t leader, int64_t element) const {
    for (size_t bit = 0; bit < vectorRegisters.size(); ++bit)
      if (element >> bit & 1)
        leader |= uint32_t(1) << vectorRegisters[bit];
    return leader;
  }
  Value address(uint32_t leader);

  Type elementType; ///< in memory

private:
  KernelLowering &k;
  LinearLayout offsets; ///< places → element offset in the buffer, swizzle included
  std::vector<int> vectorRegisters;
  Value threadBase;
  uint64_t reached = 0;
  Value threadPart;
};

SharedTile::SharedTile(KernelLowering &kernel, Value buffer, RankedTensorType tile) : k(kernel) {
  elementType = k.memoryType(tile.getElementType());
  auto alloc = buffer.getDefiningOp<tgpu::AllocSharedOp>();
  ArrayRef<int64_t> numbers = alloc.getSwizzle();
  layout::Swizzle swizzle{int(numbers[0]), int(numbers[1]), int(numbers[2])};
  LinearLayout layout = tile::layoutOf(tile);
  int64_t elements = layout.numElements();
  // An XOR swizzle is linear: swizzled bases give swizzled offsets.
  LinearLayout::Bases bases;
  for (InDim dim : layout::allInDims)
    for (uint64_t basis : layout.bases(dim))
      bases[size_t(dim)].push_back(swizzle.apply(basis));
  offsets = LinearLayout({elements}, bases);
  int widest = int(llvm::Log2_64(uint64_t(16 * 8 / elementType.getIntOrFloatBitWidth())));
  int bits = std::min(offsets.contiguousBits(0), widest);
  if (swizzle.bits)
    bits = std::min(bits, swizzle.base);
  vectorRegisters = offsets.contiguousRegisterBits(0, bits);

  auto pointer = LLVM::LLVMPointerType::get(k.context(), 3);
  Value base = sharedBase(k);
  if (int64_t offset = *alloc.getOffset())
    base = LLVM::GEPOp::create(k.b, k.loc, pointer, k.b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  threadPart = k.threadCoordinate(offsets, 0, offsets.elementBits());
  reached = KernelLowering::threadBits(offsets, 0, offsets.elementBits());
  threadBase = base;
}

SmallVector<uint32_t> SharedTile::leaders() const {
  uint32_t inVector = 0;
  for (int bit : vectorRegisters)
    inVector |= uint32_t(1) << bit;
  SmallVector<uint32_t> result;
  for (uint32_t reg = 0; reg < offsets.registers(); ++reg)
    if (!(reg & inVector))
      result.push_back(reg);
  return result;
}

Value SharedTile::address(uint32_t leader) {
  Value offset = k.withRegister(threadPart, reached, offsets.apply({leader, 0, 0, 0}));
  return LLVM::GEPOp::create(k.b, k.loc, LLVM::LLVMPointerType::get(k.context(), 3), elementType, threadBase,
                             ArrayRef<LLVM::GEPArg>{offset});
}

} // namespace

LogicalResult KernelLowering::lowerSharedStore(tgpu::StoreSharedOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  SharedTile tile(*this, op.getBuffer(), type);
  LinearLayout layout = tile::layoutOf(type);
  uint32_t replicas = layout.freeMask(InDim::Register);
  Value owner = ownerPredicate(layout);
  const Registers &registers = get(op.getValue());
  for (uint32_t leader : tile.leaders()) {
    if (leader & replicas)
      continue;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < tile.vector(); ++i)
      elements.push_back(toMemory(registers[tile.vectorRegister(leader, i)]));
    storeVector(*this, {"shared", tile.elementType, tile.vector()}, tile.address(leader), elements, owner);
  }
  return success();
}

LogicalResult KernelLowering::lowerSharedLoad(tgpu::LoadSharedOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  SharedTile tile(*this, op.getBuffer(), type);
  VectorAccess kind{"shared", tile.elementType, tile.vector(), /*volatileLoad=*/true};
  Registers registers(registerCount(type));
  for (uint32_t leader : tile.leaders()) {
    SmallVector<Value> words = loadWords(*this, kind, tile.address(leader), Value(), std::nullopt);
    for (auto [i, value] : llvm::enumerate(fromWords(*this, kind, words)))
      registers[tile.vectorRegister(leader, int64_t(i))] = fromMemory(value, type.getElementType());
  }
  set(op, std::move(registers));
  return success();
}

LogicalResult KernelLowering::lowerConvertLayout(tile::ConvertLayoutOp op) {
  LinearLayout src = tile::layoutOf(cast<RankedTensorType>(op.getValue().getType()));
  LinearLayout dst = tile::layoutOf(cast<RankedTensorType>(op.getType()));
  layout::Conversion conversion = layout::classify(src, dst);
  const Registers from = get(op.getValue());
  Registers to;
  if (conversion.kind == layout::ConversionKind::Registers) {
    for (uint32_t reg : conversion.registers)
      to.push_back(from[reg]);
    set(op, std::move(to));
    return success();
  }
  if (conversion.kind != layout::ConversionKind::Shuffles)
    return op->emitOpError("needs shared memory, which lowerConversions puts in");

  // Input bits of `source` are (register, lane, warp); outputs (register, lane). The part of lane and warp is known at
  // run time only, that of the register now.
  int srcBits = src.inBits(InDim::Register), dstBits = dst.inBits(InDim::Register);
  uint64_t registerMask = src.registers() - 1;
  LinearLayout::Bases bases; // lane and warp → source, as a layout so that threadCoordinate() can compute it
  layout::Span varying;
  for (size_t bit = size_t(dstBits); bit < conversion.source.columns.size(); ++bit) {
    InDim dim = bit < size_t(dstBits + dst.inBits(InDim::Lane)) ? InDim::Lane : InDim::Warp;
    uint64_t column = conversion.source.columns[bit];
    bases[size_t(dim)].push_back(column);
    varying.add(column & registerMask);
  }
  LinearLayout runtime({int64_t(1) << (srcBits + src.inBits(InDim::Lane))}, bases);
  Value laneOf = threadCoordinate(runtime, srcBits, src.inBits(InDim::Lane));
  Value registerOf = threadCoordinate(runtime, 0, srcBits);
  for (uint64_t reg = 0; reg < dst.registers(); ++reg) {
    uint64_t fixed = conversion.source.apply(reg);
    // A source lane hands out one register a shuffle: one for each register that some lane may want.
    Value result;
    for (uint64_t candidate = 0; candidate < src.registers(); ++candidate) {
      if (!varying.contains(candidate))
        continue;
      Value fromLane = LLVM::XOrOp::create(b, loc, laneOf, constant(i32(), int64_t(fixed >> srcBits)));
      Value moved = shuffle("idx", from[(fixed & registerMask) ^ candidate], fromLane);
      if (!result)
        result = moved;
      else
        result =
            select(compare(LLVM::ICmpPredicate::eq, registerOf, constant(i32(), int64_t(candidate))), moved, result);
    }
    to.push_back(result);
  }
  set(op, std::move(to));
  return success();
}

} // namespace tilec::lower
