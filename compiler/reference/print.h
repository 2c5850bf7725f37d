#pragma once
// How tiles look when a kernel prints them. No MLIR.
#include "compiler/reference/frame.h"

namespace tilec::reference {

/// A tile of a frame as text (compiler/base/tile_text.h). Undefined elements are `?`. `stored`: the dtype that the tile
/// keeps its elements in, f64 for floats while widening.
std::string formatTile(const Tile &tile, const std::vector<int64_t> &shape, DType dtype, DType stored, size_t indent);

} // namespace tilec::reference
