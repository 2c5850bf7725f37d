// print and assert: their texts become the kernel's messages, their values go to the print buffer.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilec::gpu {

static std::string placeOf(Location loc) {
  if (auto at = dyn_cast<FileLineColLoc>(loc))
    return at.getFilename().str() + ":" + std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn());
  return "unknown place";
}

LogicalResult lowerReports(ModuleOp module) {
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    SmallVector<Operation *> ops;
    kernel.walk([&](Operation *op) {
      if (isa<tile::PrintOp, tile::AssertOp>(op))
        ops.push_back(op);
    });
    SmallVector<Attribute> messages;
    for (Operation *op : ops) {
      OpBuilder builder(op);
      auto print = dyn_cast<tile::PrintOp>(op);
      SmallVector<Attribute> shapes;
      for (Value value : op->getOperands())
        shapes.push_back(builder.getDenseI64ArrayAttr(tile::tileShape(value.getType())));
      messages.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("assertion", builder.getBoolAttr(!print)),
           builder.getNamedAttr("place", builder.getStringAttr(placeOf(op->getLoc()))),
           builder.getNamedAttr("pieces", print ? print.getPieces()
                                                : builder.getStrArrayAttr({cast<tile::AssertOp>(op).getText()})),
           builder.getNamedAttr("dtypes", print ? print.getDtypes() : builder.getArrayAttr({})),
           builder.getNamedAttr("shapes", builder.getArrayAttr(shapes))}));
      auto type = tgpu::SharedType::get(builder.getContext(), {1}, builder.getI32Type());
      Value buffer = tgpu::AllocSharedOp::create(builder, op->getLoc(), type, builder.getDenseI64ArrayAttr({0, 0, 0}),
                                                 IntegerAttr(), 1);
      IntegerAttr message = builder.getI64IntegerAttr(int64_t(messages.size()) - 1);
      if (print)
        tgpu::PrintOp::create(builder, op->getLoc(), print.getValues(), buffer, message);
      else
        tgpu::AssertOp::create(builder, op->getLoc(), cast<tile::AssertOp>(op).getCondition(), buffer, message);
      op->erase();
    }
    if (!messages.empty())
      kernel->setAttr("tile.messages", ArrayAttr::get(module.getContext(), messages));
  }
  return success();
}

} // namespace tilec::gpu
