#pragma once
// The encoding #tile.layout of a tensor and the linear layout it stands for.
#include "compiler/ir/tile_dialect.h"
#include "compiler/layout/linear_layout.h"

namespace tilec::tile {

/// The layout of a tensor type; its encoding must be a #tile.layout.
layout::LinearLayout layoutOf(mlir::RankedTensorType type);
bool hasLayout(mlir::Type type);
LayoutAttr layoutAttr(mlir::MLIRContext *context, const layout::LinearLayout &layout);
/// The type of a tile of the layout's shape in that layout.
mlir::RankedTensorType withLayout(mlir::Type elementType, const layout::LinearLayout &layout);

} // namespace tilec::tile
