#include "compiler/base/snippet.h"
#include "compiler/base/text.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>
#include <vector>

namespace tilec {

namespace {

/// One printed character, and the bytes of the line that it stands for.
struct Cell {
  std::string text;
  size_t width;
  size_t begin, end;
};

constexpr size_t widest = 160;
constexpr size_t leftOfCaret = 60; ///< cells kept before the caret when a line is cut

std::vector<Cell> makeCells(std::string_view line) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < line.size();) {
    size_t length = utf8Length(line.substr(i));
    std::string_view bytes = line.substr(i, std::max<size_t>(length, 1));
    Cell cell{std::string(bytes), 1, i, i + bytes.size()};
    // Negative for control characters and invalid bytes, 0 for combining marks, 2 for wide characters.
    int width = length ? llvm::sys::unicode::columnWidthUTF8(llvm::StringRef(bytes.data(), bytes.size())) : -1;
    if (bytes == "\t")
      cell.text.assign(cell.width = 4, ' ');
    else if (width < 0)
      cell.text = "\xEF\xBF\xBD"; // U+FFFD
    else
      cell.width = size_t(width);
    cells.push_back(std::move(cell));
    i += bytes.size();
  }
  return cells;
}

} // namespace

Snippet makeSnippet(std::string_view line, size_t offset, size_t length) {
  std::vector<Cell> cells = makeCells(line);
  size_t total = 0, before = 0, marked = 0;
  for (const Cell &cell : cells) {
    total += cell.width;
    if (cell.end <= offset)
      before += cell.width;
    else if (cell.begin < offset + length)
      marked += cell.width;
  }
  Snippet snippet{"", before, std::max<size_t>(marked, 1)};
  size_t first = 0, end = total; // the window, in cells of the whole line
  if (total > widest) {
    first = before > leftOfCaret ? std::min(before - leftOfCaret, total - widest) : 0;
    end = first + widest;
  }
  size_t column = 0, shown = 0;
  for (const Cell &cell : cells) {
    if (column >= first && column + cell.width <= end) {
      // A wide character across the window's edge is left out whole, which moves the rest.
      if (shown == 0 && snippet.line.empty())
        snippet.caretColumn = before - std::min(before, column);
      snippet.line += cell.text;
      shown += cell.width;
    }
    column += cell.width;
  }
  if (first > 0) {
    snippet.line.insert(0, "…");
    ++snippet.caretColumn;
  }
  if (end < total)
    snippet.line += "…";
  // A line's trailing blanks are no use in a terminal, the caret's place is.
  size_t edge = (first > 0 ? 1 : 0) + shown;
  if (total > widest && snippet.caretColumn < edge)
    snippet.caretWidth = std::min(snippet.caretWidth, edge - snippet.caretColumn);
  return snippet;
}

} // namespace tilec
