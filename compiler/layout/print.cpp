#include "compiler/layout/print.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilec::layout {

static uint32_t threadOf(const LinearLayout &layout, const Place &place) {
  return (place.block << layout.inBits(InDim::Warp) | place.warp) << layout.inBits(InDim::Lane) | place.lane;
}

std::string describe(const LinearLayout &layout) {
  uint32_t threads = layout.size(InDim::Lane) * layout.size(InDim::Warp);
  uint32_t vector = layout.rank() ? uint32_t(1) << layout.contiguousBits(layout.rank() - 1) : 1;
  std::string text = fmt::format("{} threads x {} elements, {} in a row", threads, layout.registers(), vector);
  for (InDim dim : allInDims)
    if (uint32_t mask = layout.freeMask(dim))
      text += fmt::format(", {} bits {:#x} replicate", name(dim), mask);
  return text;
}

/// Aligns the cells of each column to the right.
static std::string align(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto &row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{}{:>{}}", i ? " " : "", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string elementTable(const LinearLayout &layout, int64_t maxRows, int64_t maxColumns) {
  const auto &shape = layout.shape();
  int64_t columns = shape.empty() ? 1 : shape.back();
  int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  int64_t tables = layout.numElements() / (rows * columns);
  constexpr int64_t maxTables = 4;
  BitMatrix owner = layout.inverse();
  std::string text;
  for (int64_t table = 0; table < std::min(tables, maxTables); ++table) {
    if (tables > 1) {
      std::vector<int64_t> lead = layout.coords(uint64_t(table * rows * columns));
      lead.resize(lead.size() - 2);
      text += fmt::format("[{}, :, :]\n", fmt::join(lead, ", "));
    }
    std::vector<std::vector<std::string>> cells;
    for (int64_t row = 0; row < std::min(rows, maxRows); ++row) {
      auto &line = cells.emplace_back();
      for (int64_t column = 0; column < std::min(columns, maxColumns); ++column) {
        Place place = layout.unpack(owner.apply(uint64_t((table * rows + row) * columns + column)));
        line.push_back(fmt::format("T{}:{}", threadOf(layout, place), place.reg));
      }
      if (columns > maxColumns)
        line.push_back("...");
    }
    text += align(cells);
    if (rows > maxRows)
      text += "...\n";
  }
  if (tables > maxTables)
    text += "...\n";
  return text;
}

std::string threadTable(const LinearLayout &layout, uint32_t maxThreads, uint32_t maxRegisters) {
  uint32_t threads = layout.size(InDim::Lane) * layout.size(InDim::Warp);
  std::vector<std::vector<std::string>> cells;
  for (uint32_t thread = 0; thread < std::min(threads, maxThreads); ++thread) {
    auto &line = cells.emplace_back();
    line.push_back(fmt::format("T{}:", thread));
    uint32_t lane = thread & (layout.size(InDim::Lane) - 1), warp = thread >> layout.inBits(InDim::Lane);
    for (uint32_t reg = 0; reg < std::min(layout.registers(), maxRegisters); ++reg)
      line.push_back(fmt::format("({})", fmt::join(layout.coords(layout.apply({reg, lane, warp, 0})), ",")));
    if (layout.registers() > maxRegisters)
      line.push_back("...");
  }
  return align(cells) + (threads > maxThreads ? "...\n" : "");
}

} // namespace tilec::layout
