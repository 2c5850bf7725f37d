// Products without a matrix unit, and values that only one thread may read for all.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/transforms/op_layouts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using tilec::layout::LinearLayout;

namespace tilec::gpu {

static Value toShared(OpBuilder &builder, Location loc, Value tile) {
  auto from = cast<RankedTensorType>(tile.getType());
  auto type = tgpu::SharedType::get(builder.getContext(), from.getShape(), from.getElementType());
  Value buffer =
      tgpu::AllocSharedOp::create(builder, loc, type, builder.getDenseI64ArrayAttr({0, 0, 0}), IntegerAttr(), 1);
  tgpu::StoreSharedOp::create(builder, loc, tile, buffer);
  return buffer;
}

LogicalResult lowerProducts(ModuleOp module, const Arch &arch) {
  SmallVector<tile::MmaOp> ops;
  module.walk([&](tile::MmaOp op) { ops.push_back(op); });
  for (tile::MmaOp op : ops) {
    if (transforms::mmaUnit(op, arch))
      continue;
    OpBuilder builder(op);
    Value a = toShared(builder, op.getLoc(), op.getA()), b = toShared(builder, op.getLoc(), op.getB());
    Value product = tgpu::FmaProductOp::create(builder, op.getLoc(), op.getType(), a, b, op.getAcc());
    op.getResult().replaceAllUsesWith(product);
    op.erase();
  }
  return success();
}

/// Ops whose result may differ from thread to thread: each element is to have one reader, whose value all take.
static bool meetsOthers(Operation *op) {
  if (isa<tile::AtomicOp>(op))
    return true;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return load.getOrder() != tile::MemoryOrder::weak;
  auto gather = dyn_cast<tile::GatherOp>(op);
  return gather && gather.getOrder() != tile::MemoryOrder::weak;
}

LogicalResult shareResults(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (meetsOthers(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    if (result.use_empty() || tile::layoutOf(type).isInjective())
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    Value buffer = toShared(builder, op->getLoc(), result);
    Value shared = tgpu::LoadSharedOp::create(builder, op->getLoc(), type, buffer, Value());
    for (OpOperand *use : uses)
      use->set(shared);
  }
  return success();
}

LogicalResult spellOut(ModuleOp module, const Arch &arch, int64_t mostStages) {
  return success(succeeded(lowerReports(module)) && succeeded(splitReductions(module)) &&
                 succeeded(lowerProducts(module, arch)) && succeeded(shareResults(module)) &&
                 succeeded(stageLoads(module, arch, mostStages)) && succeeded(lowerConversions(module)));
}

LogicalResult lowerToTgpu(ModuleOp module, const Arch &arch, const SharedMemoryOptions &options) {
  return success(succeeded(spellOut(module, arch)) && succeeded(allocateSharedMemory(module, options)) &&
                 succeeded(insertBarriers(module)));
}

} // namespace tilec::gpu
