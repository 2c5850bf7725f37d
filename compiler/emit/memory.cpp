// Stores, element accesses and atomics, and the functions of reductions and scans.
#include "compiler/emit/emitter.h"

using namespace mlir;

namespace tilec::emit {

void Emitter::emitStore(const sema::Inst &inst, const sema::StoreInst &store) {
  Value value = values[inst.operands.back()];
  const sema::Type &view = typeOf(inst.operands[0]);
  if (typeOf(inst.operands.back()).shape.empty() && !view.shape.empty())
    value = make<tile::SplatOp>(RankedTensorType::get(view.shape, value.getType()), value);
  make<tile::StoreOp>(value, operand(inst, 0), indices(inst, 1, inst.operands.size() - 2), uint32_t(store.site),
                      store.inBounds, memoryOrder(store.ordering.order), memoryScope(store.ordering.scope));
}

static tile::AtomicKind atomicKind(sema::AtomicOp op) { return tile::AtomicKind(op); }
static_assert(
    int(tile::AtomicKind::add) == int(sema::AtomicOp::Add) && int(tile::AtomicKind::max) == int(sema::AtomicOp::Max) &&
    int(tile::AtomicKind::min) == int(sema::AtomicOp::Min) && int(tile::AtomicKind::and_) == int(sema::AtomicOp::And) &&
    int(tile::AtomicKind::or_) == int(sema::AtomicOp::Or) && int(tile::AtomicKind::xor_) == int(sema::AtomicOp::Xor) &&
    int(tile::AtomicKind::xchg) == int(sema::AtomicOp::Xchg) && int(tile::AtomicKind::cas) == int(sema::AtomicOp::Cas));

/// Whether the operation compares integers without a sign.
static bool comparesUnsigned(sema::AtomicOp op, DType dtype) {
  return (op == sema::AtomicOp::Max || op == sema::AtomicOp::Min) && isInt(dtype) && !info(dtype).isSigned;
}

void Emitter::emitViewAtomic(const sema::Inst &inst, const sema::ViewAtomicInst &atomic) {
  const sema::Type &view = typeOf(inst.operands[0]);
  Value value = values[inst.operands.back()];
  if (typeOf(inst.operands.back()).shape.empty() && !view.shape.empty())
    value = make<tile::SplatOp>(RankedTensorType::get(view.shape, value.getType()), value);
  make<tile::ViewAtomicOp>(atomicKind(atomic.op), value, operand(inst, 0), indices(inst, 1, inst.operands.size() - 2),
                           uint32_t(atomic.site), comparesUnsigned(atomic.op, view.dtype));
}

Value Emitter::emitGather(const sema::Inst &inst, const sema::GatherInst &gather) {
  size_t rank = size_t(typeOf(inst.operands[0]).rank);
  Value mask = gather.masked ? operand(inst, 1 + rank) : Value();
  return make<tile::GatherOp>(irType(typeOf(inst.results[0])), operand(inst, 0), indices(inst, 1, rank), mask,
                              values[inst.operands.back()], uint32_t(gather.site), gather.inBounds,
                              memoryOrder(gather.ordering.order), memoryScope(gather.ordering.scope));
}

void Emitter::emitScatter(const sema::Inst &inst, const sema::ScatterInst &scatter) {
  size_t rank = size_t(typeOf(inst.operands[0]).rank);
  Value mask = scatter.masked ? operand(inst, 1 + rank) : Value();
  make<tile::ScatterOp>(values[inst.operands.back()], operand(inst, 0), indices(inst, 1, rank), mask,
                        uint32_t(scatter.site), scatter.inBounds, memoryOrder(scatter.ordering.order),
                        memoryScope(scatter.ordering.scope));
}

Value Emitter::emitAtomic(const sema::Inst &inst, const sema::AtomicInst &atomic) {
  const sema::Type &array = typeOf(inst.operands[0]);
  size_t rank = size_t(array.rank), next = 1 + rank;
  Value mask = atomic.masked ? operand(inst, next++) : Value();
  Value expected = atomic.op == sema::AtomicOp::Cas ? operand(inst, next++) : Value();
  return make<tile::AtomicOp>(irType(typeOf(inst.results[0])), atomicKind(atomic.op), operand(inst, 0),
                              indices(inst, 1, rank), mask, expected, operand(inst, next), uint32_t(atomic.site),
                              comparesUnsigned(atomic.op, array.dtype), memoryOrder(atomic.ordering.order),
                              memoryScope(atomic.ordering.scope));
}

void Emitter::emitPrint(const sema::Inst &inst, const sema::PrintInst &print) {
  llvm::SmallVector<StringRef> pieces(print.pieces.begin(), print.pieces.end()), dtypes;
  for (sema::ValueId id : inst.operands)
    dtypes.push_back(StringRef(tilec::name(typeOf(id).dtype)));
  make<tile::PrintOp>(builder.getStrArrayAttr(pieces), builder.getStrArrayAttr(dtypes),
                      indices(inst, 0, inst.operands.size()));
}

/// The function of a reduction or scan as the block of the op.
static Block *combineBlock(Region &region, ValueRange values, Location location) {
  Block *block = new Block;
  region.push_back(block);
  for (int side = 0; side < 2; ++side)
    for (Value value : values)
      block->addArgument(getElementTypeOrSelf(value.getType()), location);
  return block;
}

void Emitter::emitReduceFn(const sema::Inst &inst, const sema::ReduceFnInst &reduce) {
  size_t count = inst.results.size();
  auto op =
      make<tile::ReduceFnOp>(resultTypes(inst), indices(inst, 0, count), indices(inst, count, count), reduce.axes);
  emitInto(combineBlock(op.getCombine(), op.getValues(), location), inst.blocks[0]);
  defineResults(inst, op.getResults());
}

void Emitter::emitScanFn(const sema::Inst &inst, const sema::ScanFnInst &scan) {
  size_t count = inst.results.size();
  auto op = make<tile::ScanFnOp>(resultTypes(inst), indices(inst, 0, count), indices(inst, count, count), scan.axis,
                                 scan.reverse, scan.exclusive);
  emitInto(combineBlock(op.getCombine(), op.getValues(), location), inst.blocks[0]);
  defineResults(inst, op.getResults());
}

Value Emitter::emitMma(const sema::Inst &inst, const sema::MmaInst &mma) {
  auto isUnsignedInt = [&](size_t i) {
    DType dtype = typeOf(inst.operands[i]).dtype;
    return isInt(dtype) && isUnsigned(dtype);
  };
  return make<tile::MmaOp>(irType(typeOf(inst.results[0])), operand(inst, 0), operand(inst, 1), operand(inst, 2),
                           isUnsignedInt(0), isUnsignedInt(1), mma.fastAcc);
}

} // namespace tilec::emit
