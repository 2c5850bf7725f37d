#pragma once
// Layouts that follow from what an op does: of a matrix product, of a fold by a function, of ops that move elements.
#include "compiler/ir/tile_dialect.h"
#include "compiler/layout/linear_layout.h"
#include "compiler/target/target.h"
#include <optional>

namespace tilec::transforms {

using layout::LinearLayout;

/// The matrix instruction of a product: fragments of m × n × k, and whether they hold words of packed narrow elements.
struct MmaUnit {
  int64_t m = 0, n = 0, k = 0;
  int packed = 1; ///< elements of a and b in one 32-bit register (1 also for 64-bit ones)
};
/// The unit that multiplies these element types (a and b alike after widening); nothing where there is none on the
/// architecture or the tile is smaller than a fragment. Without a unit the product runs on multiply-add instructions.
std::optional<MmaUnit> mmaUnit(tile::MmaOp op, const Arch &arch);

/// Layouts of a matrix product's operands and accumulator. `rowsOnly` keeps every row within one warp.
struct MmaLayouts {
  LinearLayout a, b, acc;
};
MmaLayouts mmaLayouts(tile::MmaOp op, const MmaUnit &unit, int64_t warps, bool rowsOnly);

/// A layout for folding along axes: neighbours along the folded axes in the registers of a thread, then in lanes, then
/// in registers again; with `warpsFold` warps take the highest folded bits where the other axes leave some over,
/// otherwise they hold replicas.
LinearLayout foldLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes, int64_t warps, bool warpsFold);

/// What an op that moves elements between tiles wants and gives, once its seed has a layout. The seed of `permute`,
/// `pack` and `cat` is the (first) operand, of `extract` and `unpack` the result, of `insert` the part.
struct MoveLayouts {
  llvm::SmallVector<LinearLayout> operands; ///< by operand that is a tile
  LinearLayout result;
};
bool movesElements(mlir::Operation *op);
mlir::Value seedOf(mlir::Operation *op);
MoveLayouts moveLayouts(mlir::Operation *op, const LinearLayout &seed);

} // namespace tilec::transforms
