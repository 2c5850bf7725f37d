#pragma once
// What is known of scalars and accesses without running the kernel: divisors, signs, unit strides.
#include "compiler/ir/tile_dialect.h"

namespace tilec::transforms {

/// Largest power of two (at most 2^16) known to divide an integer.
int64_t knownDivisor(mlir::Value value);
/// Whether an integer is known not to be negative.
bool knownNonNegative(mlir::Value value);

struct AccessInfo {
  int64_t unitAxis = -1; ///< view axis whose array axis has stride 1; -1 when none is known to
  int64_t vector = 1;    ///< largest power of two dividing the tile's origin along unitAxis, within `accessBytes`
  llvm::SmallVector<bool> nonNegative; ///< per view axis
};
/// `view` is the view value of a tile.load or tile.store, `indices` its tile indices.
AccessInfo analyseAccess(mlir::Value view, mlir::ValueRange indices, int64_t accessBytes);

} // namespace tilec::transforms
