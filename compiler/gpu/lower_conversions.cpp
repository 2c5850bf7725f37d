#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/layout/conversion.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using tilec::layout::LinearLayout;

namespace tilec::gpu {

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
  Value loaded = tgpu::LoadSharedOp::create(builder, op.getLoc(), to, buffer, Value());
  op.getResult().replaceAllUsesWith(loaded);
  op.erase();
  return success();
}

LogicalResult lowerConversions(ModuleOp module) {
  SmallVector<tile::ConvertLayoutOp> ops;
  module.walk([&](tile::ConvertLayoutOp op) { ops.push_back(op); });
  for (tile::ConvertLayoutOp op : ops)
    if (failed(lowerConversion(op)))
      return failure();
  return success();
}

} // namespace tilec::gpu
