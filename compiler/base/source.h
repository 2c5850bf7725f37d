#pragma once
// Source buffers and places in them.
#include "compiler/base/result.h"
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

/// Number of a buffer in a SourceManager.
using FileId = uint32_t;

/// A run of bytes of one buffer; offsets count bytes from its start, end exclusive.
struct Span {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// The smallest run that covers both places of one buffer.
inline Span cover(Span a, Span b) {
  return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

/// Line and column of a place, both from 1; a column counts UTF-8 code points.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// Owns the text of every file of one compilation. References to texts stay valid.
class SourceManager {
public:
  /// Adds text under a name shown in messages.
  FileId add(std::string name, std::string text);
  /// Reads a file; `-` is standard input. Error: Usage.
  Result<FileId> load(const std::string &path);

  std::string_view text(FileId file) const;
  std::string_view name(FileId file) const;
  std::string_view text(Span span) const;
  LineColumn position(FileId file, uint32_t offset) const;
  /// The text of a line (from 1) without its line end.
  std::string_view line(FileId file, uint32_t line) const;
  size_t size() const { return buffers.size(); }

private:
  struct Buffer {
    std::string name, text;
    std::vector<uint32_t> lineStarts;
  };
  std::deque<Buffer> buffers;
};

} // namespace tilec
