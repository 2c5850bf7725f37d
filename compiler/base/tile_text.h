#pragma once
// How elements and tiles look in text, whoever holds them.
#include "compiler/base/dtype.h"
#include <functional>
#include <string>
#include <vector>

namespace tilec {

/// A number in the shortest form that reads back as the same element: 3, 0.1, 1.0, 1e-5, inf, nan; true and false.
std::string formatElement(DType dtype, uint64_t bits);

/// A tile as nested brackets, `[[1, 2], [3, 4]]` with each row of a tile of rank 2 or more on a line of its own,
/// `indent` columns in; of more than 1000 elements the first and last three along each axis. `element` gives the text
/// of an element by its row-major number. A scalar is its element.
std::string formatTile(const std::vector<int64_t> &shape, const std::function<std::string(size_t)> &element,
                       size_t indent);
/// Columns behind the last line break of a text.
size_t columnOf(const std::string &text);

} // namespace tilec
