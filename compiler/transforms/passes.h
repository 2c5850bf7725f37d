#pragma once
// Tile IR → tile IR: simplification, what is known of accesses, and the assignment of layouts.
#include "compiler/target/target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilec::transforms {

/// Canonicalisation and elimination of common subexpressions and dead values.
mlir::LogicalResult simplify(mlir::ModuleOp module);

/// Rewrites ops that are made of others: arg_extreme and scan as folds by functions, products in types that the
/// architecture multiplies, atomics and scatters of scalars as tiles of one element.
void expandForThreads(mlir::ModuleOp module, const Arch &arch);

struct LayoutOptions {
  const Arch *arch = nullptr; ///< matrix units are used where it has them; null: nowhere
  int64_t warps = 0;        ///< warps of a block; 0: the hint num_worker_warps of the kernel, else chosen by tile size
  int64_t accessBytes = 16; ///< widest access of one thread
};

/// Gives every tile of every kernel a #tile.layout encoding and sets `tile.threads` on the kernel.
///
/// Tiles that are loaded or stored get a coalesced layout: lanes along the axis of stride 1, accesses of 16 bytes of
/// the narrowest dtype moved in that shape. Reduced tiles become slices, tiles before a broadcast projections, so that
/// the values meet in the same threads; where two layouts must meet all the same, a tile.convert_layout stands between.
/// Each load and store gets what the lowering needs to know:
///   tile.unit_axis (i64)   view axis whose array axis has stride 1, or -1
///   tile.vector (i64)      elements along it that start at a multiple of the vector, if the other strides allow it
///   tile.nonnegative       an i1 per view axis: the index is known not to be negative
mlir::LogicalResult assignLayouts(mlir::ModuleOp module, const LayoutOptions &options = {});

} // namespace tilec::transforms
