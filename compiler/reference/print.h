#pragma once
// How tiles look when a kernel prints them. No MLIR.
#include "compiler/reference/frame.h"

namespace tilec::reference {

/// A number in the shortest form that reads back as the same element: 3, 0.1, 1.0, 1e-5, inf, nan; true and false.
std::string formatElement(DType dtype, uint64_t bits);

/// A tile as nested brackets, `[[1, 2], [3, 4]]` with each row of a tile of rank 2 or more on a line of its own,
/// `indent` columns in; of more than 1000 elements the first and last three along each axis. Undefined elements are
/// `?`. `stored`: the dtype that the tile keeps its elements in, f64 for floats while widening.
std::string formatTile(const Tile &tile, const std::vector<int64_t> &shape, DType dtype, DType stored, size_t indent);

} // namespace tilec::reference
