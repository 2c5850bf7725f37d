#include "compiler/gpu/tgpu_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/gpu/TgpuDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/gpu/TgpuTypes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/gpu/TgpuOps.cpp.inc"

namespace tilec::tgpu {

void TgpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/gpu/TgpuTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/gpu/TgpuOps.cpp.inc"
      >();
}

int64_t SharedType::numElements() const {
  int64_t product = 1;
  for (int64_t extent : getShape())
    product *= extent;
  return product;
}

int64_t SharedType::elementBytes() const { return (info(*tile::dtypeOf(getElementType())).bits + 7) / 8; }

LogicalResult AllocSharedOp::verify() {
  if (getSwizzle().size() != 3)
    return emitOpError("a swizzle is (base, bits, distance)");
  return success();
}

} // namespace tilec::tgpu
