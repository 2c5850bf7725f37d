#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/layout/conversion.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using tilec::layout::LinearLayout;

namespace tilec::gpu {

/// Products of a loop that take a tile from outside of it, and nobody else: its fragments are as well read where they
/// are multiplied, and leave the registers to accumulators.
static SmallVector<OpOperand *> productsOfLoops(Value tile, Operation *outside) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : tile.getUses()) {
    auto product = dyn_cast<tile::MmaOp>(use.getOwner());
    bool deeper = product && product->getParentRegion() != outside->getParentRegion() &&
                  isa<LoopLikeOpInterface>(product->getParentOp());
    if (!deeper || use.getOperandNumber() == 2)
      return {};
    uses.push_back(&use);
  }
  return uses;
}

static LogicalResult lowerConversion(tile::ConvertLayoutOp op) {
  auto from = cast<RankedTensorType>(op.getValue().getType());
  auto to = cast<RankedTensorType>(op.getResult().getType());
  LinearLayout src = tile::layoutOf(from), dst = tile::layoutOf(to);
  layout::Conversion conversion = layout::classify(src, dst);
  if (conversion.kind == layout::ConversionKind::Cluster)
    return op.emitOpError("the tile lies in another block");
  if (conversion.kind != layout::ConversionKind::Shared)
    return success();

  OpBuilder builder(op);
  auto type = tgpu::SharedType::get(builder.getContext(), to.getShape(), to.getElementType());
  layout::Swizzle swizzle = layout::planShared(src, dst, int(type.elementBytes())).swizzle;
  Value buffer = tgpu::AllocSharedOp::create(
      builder, op.getLoc(), type, builder.getDenseI64ArrayAttr({swizzle.base, swizzle.bits, swizzle.distance}),
      IntegerAttr(), 1);
  tgpu::StoreSharedOp::create(builder, op.getLoc(), op.getValue(), buffer);
  for (OpOperand *use : productsOfLoops(op.getResult(), op)) {
    OpBuilder there(use->getOwner());
    use->set(tgpu::LoadSharedOp::create(there, op.getLoc(), to, buffer, Value()));
  }
  if (op->use_empty()) {
    op.erase();
    return success();
  }
  Value loaded = tgpu::LoadSharedOp::create(builder, op.getLoc(), to, buffer, Value());
  op.getResult().replaceAllUsesWith(loaded);
  op.erase();
  return success();
}

/// A conversion of what a loop does not change is made once, in front of it.
static void hoistFromLoops(tile::ConvertLayoutOp op) {
  while (auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp())) {
    if (!loop.isDefinedOutsideOfLoop(op.getValue()))
      return;
    op->moveBefore(loop);
  }
}

/// Loads from shared memory go down to the product that takes them, over what leaves shared memory alone.
static void sinkToProduct(tgpu::LoadSharedOp load) {
  if (!load->hasOneUse() || !isa<tile::MmaOp>(*load->user_begin()))
    return;
  Operation *product = *load->user_begin();
  if (product->getBlock() != load->getBlock())
    return;
  for (Operation *op = load->getNextNode(); op != product; op = op->getNextNode())
    if (!isa<tgpu::LoadSharedOp>(op) && !isMemoryEffectFree(op))
      return;
  load->moveBefore(product);
}

LogicalResult lowerConversions(ModuleOp module) {
  SmallVector<tile::ConvertLayoutOp> ops;
  module.walk([&](tile::ConvertLayoutOp op) { ops.push_back(op); });
  llvm::for_each(ops, hoistFromLoops);
  for (tile::ConvertLayoutOp op : ops)
    if (failed(lowerConversion(op)))
      return failure();
  SmallVector<tgpu::LoadSharedOp> loads;
  module.walk([&](tgpu::LoadSharedOp load) { loads.push_back(load); });
  llvm::for_each(loads, sinkToProduct);
  return success();
}

} // namespace tilec::gpu
