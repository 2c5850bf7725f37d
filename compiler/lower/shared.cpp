// Shared memory, and conversions of layouts that stay within warps.
#include "compiler/layout/conversion.h"
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/shared_tile.h"
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

Value sharedAddress(KernelLowering &k, tgpu::AllocSharedOp buffer) {
  Value base = sharedBase(k);
  int64_t offset = *buffer.getOffset();
  if (!offset)
    return base;
  return LLVM::GEPOp::create(k.b, k.loc, LLVM::LLVMPointerType::get(k.context(), 3), k.b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value sharedStage(KernelLowering &k, tgpu::AllocSharedOp buffer, Value stage) {
  Value base = sharedAddress(k, buffer);
  if (!stage)
    return base;
  Value offset = k.mul(stage, k.constant(k.i32(), buffer.getType().byteSize()));
  return LLVM::GEPOp::create(k.b, k.loc, base.getType(), k.b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
}

SharedTile::SharedTile(KernelLowering &kernel, tgpu::AllocSharedOp alloc, Value stage, const LinearLayout &layout,
                       Type element)
    : elementType(kernel.memoryType(element)), k(kernel) {
  ArrayRef<int64_t> numbers = alloc.getSwizzle();
  layout::Swizzle swizzle{int(numbers[0]), int(numbers[1]), int(numbers[2])};
  // An XOR swizzle is linear: swizzled bases give swizzled offsets.
  LinearLayout::Bases bases;
  for (InDim dim : layout::allInDims)
    for (uint64_t basis : layout.bases(dim))
      bases[size_t(dim)].push_back(swizzle.apply(basis));
  offsets = LinearLayout({layout.numElements()}, bases);
  int widest = int(llvm::Log2_64(uint64_t(16 * 8 / elementType.getIntOrFloatBitWidth())));
  int bits = std::min(offsets.contiguousBits(0), widest);
  if (swizzle.bits)
    bits = std::min(bits, swizzle.base);
  vectorRegisters = offsets.contiguousRegisterBits(0, bits);
  base = sharedStage(k, alloc, stage);
  threadPart = k.threadCoordinate(offsets, 0, offsets.elementBits());
  reached = KernelLowering::threadBits(offsets, 0, offsets.elementBits());
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

uint32_t SharedTile::vectorRegister(uint32_t leader, int64_t element) const {
  for (size_t bit = 0; bit < vectorRegisters.size(); ++bit)
    if (element >> bit & 1)
      leader |= uint32_t(1) << vectorRegisters[bit];
  return leader;
}

Value SharedTile::address(uint32_t leader) {
  Value offset = k.withRegister(threadPart, reached, offsets.apply({leader, 0, 0, 0}));
  return LLVM::GEPOp::create(k.b, k.loc, LLVM::LLVMPointerType::get(k.context(), 3), elementType, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

LogicalResult KernelLowering::lowerSharedStore(tgpu::StoreSharedOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  LinearLayout layout = tile::layoutOf(type);
  SharedTile tile(*this, op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>(), Value(), layout, type.getElementType());
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
  if (lowerMatrixLoad(op))
    return success();
  Value stage = op.getStage() ? scalar(op.getStage()) : Value();
  SharedTile tile(*this, op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>(), stage, tile::layoutOf(type),
                  type.getElementType());
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

/// Whether the product that takes a tile from shared memory is the next op but for loads like this one: the loads then
/// wait until their fragments are multiplied, so that few of them are in registers at a time.
static bool feedsNextProduct(tgpu::LoadSharedOp op) {
  if (!op->hasOneUse() || !isa<tile::MmaOp>(*op->user_begin()))
    return false;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (next == *op->user_begin())
      return true;
    else if (!isa<tgpu::LoadSharedOp>(next))
      return false;
  return false;
}

void MatrixLoad::load(KernelLowering &k, Registers &registers, uint32_t reg) {
  uint32_t group = reg >> (1 + chosen);
  SmallVector<Value> words = k.assembly(text, constraints, SmallVector<Type>(size_t(1) << chosen, k.i32()),
                                        {tile.address(group)}, /*sideEffects=*/true);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value both = LLVM::BitcastOp::create(k.b, k.loc, VectorType::get(2, tile.elementType), word);
    uint32_t first = (group << (1 + chosen)) | uint32_t(i) << 1;
    for (uint32_t half = 0; half < 2; ++half)
      registers[first | half] = LLVM::ExtractElementOp::create(k.b, k.loc, both, k.constant(k.i32(), half));
  }
}

Value KernelLowering::get(Value value, uint32_t reg) {
  Registers &registers = values.find(value)->second;
  if (!registers[reg])
    onDemand.at(value)->load(*this, registers, reg);
  return registers[reg];
}

/// 8 × 8 matrices of 16-bit elements by ldmatrix, where the registers are those of a matrix unit's operand: pairs along
/// one axis in a register, 4 lanes along it, 8 lanes along the other. Rows of 16 bytes in memory run along either;
/// along the other axis the instruction transposes.
bool KernelLowering::lowerMatrixLoad(tgpu::LoadSharedOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto buffer = op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>();
  Type element = memoryType(type.getElementType());
  LinearLayout layout = tile::layoutOf(type);
  const auto &registerBases = layout.bases(InDim::Register), &lanes = layout.bases(InDim::Lane);
  if (layout.rank() != 2 || element.getIntOrFloatBitWidth() != 16 || registerBases.empty() || lanes.size() != 5)
    return false;
  uint64_t pair = registerBases[0], across = lanes[2], row = uint64_t(layout.shape()[1]);
  bool transposes = pair == row && across == 1, straight = pair == 1 && across == row;
  bool fragment = lanes[0] == 2 * pair && lanes[1] == 4 * pair && lanes[3] == 2 * across && lanes[4] == 4 * across;
  ArrayRef<int64_t> swizzle = buffer.getSwizzle();
  if (!(transposes || straight) || !fragment || (swizzle[1] && swizzle[0] < 3) || row < 8)
    return false;

  // One instruction loads as many matrices as two more register bits choose; lane l gives the address of row l % 8 of
  // matrix l / 8.
  size_t chosen = std::min<size_t>(2, registerBases.size() - 1);
  LinearLayout::Bases bases;
  for (uint64_t unit : {1, 2, 4})
    bases[size_t(InDim::Lane)].push_back(transposes ? unit * pair : unit * across);
  for (size_t bit = 0; bit < 2; ++bit)
    bases[size_t(InDim::Lane)].push_back(bit < chosen ? registerBases[1 + bit] : 0);
  bases[size_t(InDim::Register)].assign(registerBases.begin() + 1 + long(chosen), registerBases.end());
  bases[size_t(InDim::Warp)] = layout.bases(InDim::Warp);
  LinearLayout addresses(layout.shape(), bases);
  Value stage = op.getStage() ? scalar(op.getStage()) : Value();
  SharedTile tile(*this, buffer, stage, addresses, type.getElementType());

  size_t matrices = size_t(1) << chosen;
  auto load = std::make_shared<MatrixLoad>(MatrixLoad{tile, chosen, "", ""});
  load->text =
      "ldmatrix.sync.aligned.m8n8.x" + std::to_string(matrices) + (transposes ? ".trans" : "") + ".shared.b16 {";
  for (size_t i = 0; i < matrices; ++i) {
    load->text += (i ? ", $" : "$") + std::to_string(i);
    load->constraints += "=r,";
  }
  load->text += "}, [$" + std::to_string(matrices) + "];";
  load->constraints += "l";
  Registers registers(layout.registers());
  if (feedsNextProduct(op))
    onDemand[op.getResult()] = load;
  else
    for (uint32_t reg = 0; reg < layout.registers(); reg += uint32_t(2 * matrices))
      load->load(*this, registers, reg);
  set(op, std::move(registers));
  return true;
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
