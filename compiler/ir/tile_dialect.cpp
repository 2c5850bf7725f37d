#include "compiler/ir/tile_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;

#include "compiler/ir/TileDialect.cpp.inc"
#include "compiler/ir/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.cpp.inc"

namespace tilec::tile {

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/TileOps.cpp.inc"
      >();
}

// Folds give attributes; arith has the constants of every type of ours.
Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

void registerTileDialects(DialectRegistry &registry) {
  registry.insert<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::f16:
    return Float16Type::get(context);
  case DType::bf16:
    return BFloat16Type::get(context);
  case DType::tf32:
    return FloatTF32Type::get(context);
  case DType::f32:
    return Float32Type::get(context);
  case DType::f64:
    return Float64Type::get(context);
  case DType::f8e4m3:
    return Float8E4M3FNType::get(context);
  case DType::f8e5m2:
    return Float8E5M2Type::get(context);
  case DType::f8e8m0:
    return Float8E8M0FNUType::get(context);
  case DType::f4e2m1:
    return Float4E2M1FNType::get(context);
  case DType::bool_:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, unsigned(info(dtype).bits));
  }
}

std::optional<DType> dtypeOf(Type type) {
  if (!type.isIntOrFloat())
    return std::nullopt;
  for (const DTypeInfo &row : allDTypes()) {
    // An unsigned dtype has the element type of its signed twin, which answers for both.
    bool candidate = row.kind != DTypeKind::Int || row.isSigned;
    if (candidate && elementType(type.getContext(), row.dtype) == type)
      return row.dtype;
  }
  return std::nullopt;
}

Type tileType(ArrayRef<int64_t> shape, Type element) {
  return shape.empty() ? element : RankedTensorType::get(shape, element);
}

ArrayOp rootArray(Value value) {
  for (;;) {
    if (auto view = value.getDefiningOp<ViewOp>())
      value = view.getArray();
    else if (auto at = value.getDefiningOp<AtOp>())
      value = at.getArray();
    else if (auto slice = value.getDefiningOp<SliceOp>())
      value = slice.getArray();
    else
      return value.getDefiningOp<ArrayOp>();
  }
}

std::string strideSymbol(StringRef array, unsigned axis) {
  return fmt::format("{}.stride.{}", std::string_view(array), axis);
}

std::string canonicalText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Local scope prints attributes and types where they stand, so no numbering of aliases enters the text.
  module->print(stream, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  stream << '\n';
  return text;
}

} // namespace tilec::tile
