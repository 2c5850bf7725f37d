#pragma once
// One source line made fit for a terminal, with the cells that a caret run marks.
#include <cstddef>
#include <string>
#include <string_view>

namespace tilec {

/// Text, column and width count terminal cells: a tab is four spaces, a wide character two cells, and a byte that is no
/// UTF-8 or would steer the terminal shows as U+FFFD.
struct Snippet {
  std::string line;
  size_t caretColumn = 0; ///< from 0
  size_t caretWidth = 1;  ///< at least 1
};

/// Marks `length` bytes from `offset` of a line; what reaches past its end is not marked. A line wider than a terminal
/// is cut to a window round the caret, `…` standing for what is left out.
Snippet makeSnippet(std::string_view line, size_t offset, size_t length);

} // namespace tilec
