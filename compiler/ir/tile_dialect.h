#pragma once
// The tile dialect: what a Program becomes, what the reference executor runs and what the tile-level passes rewrite.
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/base/dtype.h"
#include "compiler/ir/TileDialect.h.inc"
#include "compiler/ir/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.h.inc"

namespace tilec::tile {

/// Registers every dialect tile IR is written in: tile, arith, math and scf.
void registerTileDialects(mlir::DialectRegistry &registry);

/// Element type of tiles, arrays and views of a dtype: integers lose their sign, bool is i1.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The dtype of an element type; integers, which are signless, count as signed. Null for any other type.
std::optional<DType> dtypeOf(mlir::Type elementType);

/// Shape of a tile; empty for a scalar.
inline llvm::ArrayRef<int64_t> tileShape(mlir::Type tile) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(tile);
  return tensor ? tensor.getShape() : llvm::ArrayRef<int64_t>();
}
/// The tile type of a shape: a tensor, or the element type itself for the empty shape.
mlir::Type tileType(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// The whole array that an array or view is a part of: through views, `at` and `slice`.
ArrayOp rootArray(mlir::Value arrayOrView);

/// Name of the symbol argument that carries a stride of an array written `_`; the launcher knows it from the argument.
std::string strideSymbol(llvm::StringRef array, unsigned axis);

/// Textual form of a module without locations, with every op in its own syntax: equal for equal programs, whatever
/// their place in a file, so it is what the hash of the tile IR covers. The text parses again.
std::string canonicalText(mlir::ModuleOp module);

} // namespace tilec::tile
