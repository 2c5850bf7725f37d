#include "compiler/base/source.h"
#include "compiler/base/files.h"
#include <algorithm>
#include <limits>

namespace tilec {

FileId SourceManager::add(std::string name, std::string text) {
  Buffer buffer{std::move(name), std::move(text), {0}};
  for (size_t i = 0; i < buffer.text.size(); ++i)
    if (buffer.text[i] == '\n')
      buffer.lineStarts.push_back(uint32_t(i + 1));
  buffers.push_back(std::move(buffer));
  return FileId(buffers.size() - 1);
}

Result<FileId> SourceManager::load(const std::string &path) {
  TILEC_ASSIGN(std::string text, readFile(path));
  // Spans hold 32-bit offsets, and one past the end must fit as well.
  if (text.size() >= std::numeric_limits<uint32_t>::max())
    return usageError("{}: a source file must be smaller than 4 GiB", path);
  return add(path == "-" ? "<stdin>" : path, std::move(text));
}

std::string_view SourceManager::text(FileId file) const { return buffers[file].text; }

std::string_view SourceManager::name(FileId file) const { return buffers[file].name; }

std::string_view SourceManager::text(Span span) const {
  std::string_view all = text(span.file);
  size_t begin = std::min<size_t>(span.begin, all.size());
  size_t end = std::clamp<size_t>(span.end, begin, all.size());
  return all.substr(begin, end - begin);
}

LineColumn SourceManager::position(FileId file, uint32_t offset) const {
  const Buffer &buffer = buffers[file];
  offset = uint32_t(std::min<size_t>(offset, buffer.text.size()));
  auto after = std::upper_bound(buffer.lineStarts.begin(), buffer.lineStarts.end(), offset);
  uint32_t start = *(after - 1);
  // Every byte but a UTF-8 continuation byte (10xxxxxx) starts a code point.
  auto codePoints = std::count_if(buffer.text.begin() + start, buffer.text.begin() + offset,
                                  [](char c) { return (uint8_t(c) & 0xC0) != 0x80; });
  return {uint32_t(after - buffer.lineStarts.begin()), uint32_t(codePoints) + 1};
}

std::string_view SourceManager::line(FileId file, uint32_t line) const {
  const Buffer &buffer = buffers[file];
  if (line == 0 || line > buffer.lineStarts.size())
    return {};
  uint32_t begin = buffer.lineStarts[line - 1];
  size_t end = line < buffer.lineStarts.size() ? buffer.lineStarts[line] - 1 : buffer.text.size();
  if (end > begin && buffer.text[end - 1] == '\r')
    --end;
  return std::string_view(buffer.text).substr(begin, end - begin);
}

} // namespace tilec
