#include "runtime/reports.h"
#include "compiler/base/tile_text.h"
#include "runtime/launch.h"
#include <algorithm>
#include <cstring>
#include <map>

namespace tilec::runtime {

namespace {

constexpr size_t bufferHeader = 16, recordHeader = 16;

template <typename T> T read(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

size_t elementCount(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t extent : shape)
    count *= size_t(extent);
  return count;
}

size_t elementBytes(DType dtype) { return size_t(info(dtype).bits + 7) / 8; }
size_t padded(size_t bytes, size_t to = 8) { return (bytes + to - 1) / to * to; }

size_t sizeOf(const MessageSpec &message) {
  size_t size = recordHeader + (message.assertion ? 8 : 0);
  for (size_t i = 0; i < message.dtypes.size(); ++i)
    size += padded(elementCount(message.shapes[i]) * elementBytes(message.dtypes[i]));
  return padded(size, recordHeader);
}

struct Record {
  const MessageSpec *message;
  uint32_t block;
  std::span<const std::byte> values;
};

/// As the executor prints it.
std::string printedText(const Record &record) {
  const MessageSpec &message = *record.message;
  std::string text;
  size_t at = 0;
  for (size_t i = 0; i < message.dtypes.size(); ++i) {
    text += message.pieces[i];
    DType dtype = message.dtypes[i];
    size_t size = elementBytes(dtype);
    auto element = [&](size_t number) {
      uint64_t bits = 0;
      std::memcpy(&bits, record.values.data() + at + number * size, size);
      return formatElement(dtype, bits);
    };
    text += formatTile(message.shapes[i], element, columnOf(text));
    at += padded(elementCount(message.shapes[i]) * size);
  }
  text += message.pieces.back();
  if (text.empty() || text.back() != '\n')
    text += '\n';
  return text;
}

std::string failureText(const Record &record, std::array<int64_t, 3> grid) {
  const MessageSpec &message = *record.message;
  uint32_t first = read<uint32_t>(record.values, 0), count = read<uint32_t>(record.values, 4);
  std::string where;
  const std::vector<int64_t> &shape = message.shapes.front();
  if (!shape.empty()) {
    std::vector<int64_t> at(shape.size());
    for (size_t axis = shape.size(); axis-- > 0; first /= uint32_t(shape[axis]))
      at[axis] = first % uint32_t(shape[axis]);
    where =
        fmt::format(" at element ({}){}", fmt::join(at, ", "), count > 1 ? fmt::format(" and {} more", count - 1) : "");
  }
  int64_t x = std::max<int64_t>(grid[0], 1), y = std::max<int64_t>(grid[1], 1), block = record.block;
  return fmt::format("{}: assertion '{}' fails{}, block ({}, {}, {})", message.place, message.pieces.front(), where,
                     block % x, block / x % y, block / x / y);
}

} // namespace

Result<Reports> readReports(std::span<const std::byte> buffer, const std::vector<MessageSpec> &messages,
                            std::array<int64_t, 3> grid) {
  Reports reports;
  if (buffer.size() < bufferHeader)
    return reports;
  uint64_t asked = read<uint64_t>(buffer, 0);
  std::span<const std::byte> records = buffer.subspan(bufferHeader);
  std::vector<Record> found;
  uint64_t at = 0;
  while (at < asked && at + recordHeader <= records.size()) {
    uint32_t size = read<uint32_t>(records, at), number = read<uint32_t>(records, at + 4);
    if (size == 0)
      break; // the first that had no room
    if (number >= messages.size() || size != sizeOf(messages[number]) || at + size > records.size())
      return internalError("the print buffer holds what no kernel writes, at byte {}", at + bufferHeader);
    found.push_back(
        {&messages[number], read<uint32_t>(records, at + 8), records.subspan(at + recordHeader, size - recordHeader)});
    at += size;
  }
  reports.lostBytes = asked - std::min(asked, at);
  std::ranges::stable_sort(found, {}, &Record::block);
  std::map<const MessageSpec *, bool> failed;
  for (const Record &record : found)
    if (!record.message->assertion)
      reports.printed += printedText(record);
    else if (!std::exchange(failed[record.message], true))
      reports.failures.push_back(failureText(record, grid));
  return reports;
}

Result<Reports> readReports(const Plan &plan, const Artifact &artifact) {
  if (!plan.printBuffer() || artifact.launches.empty())
    return Reports{};
  std::vector<std::byte> bytes(plan.printBuffer()->size());
  TILEC_TRY(plan.printBuffer()->download(bytes));
  std::array<int64_t, 3> grid{};
  std::ranges::copy(plan.launches().front().grid, grid.begin());
  return readReports(bytes, artifact.launches.front().messages, grid);
}

} // namespace tilec::runtime
