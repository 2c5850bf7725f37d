#include "compiler/layout/bit_matrix.h"
#include <algorithm>
#include <bit>

namespace tilec::layout {

Span::Row Span::reduce(Row row) const {
  for (const Row &r : rows)
    if (row.vector & std::bit_floor(r.vector))
      row = {row.vector ^ r.vector, row.combination ^ r.combination};
  return row;
}

bool Span::add(uint64_t vector) {
  Row row = reduce({vector, uint64_t(1) << added++});
  if (!row.vector)
    return false;
  rows.insert(std::ranges::find_if(rows, [&](const Row &r) { return r.vector < row.vector; }), row);
  return true;
}

std::optional<uint64_t> Span::combination(uint64_t vector) const {
  Row row = reduce({vector, 0});
  return row.vector ? std::nullopt : std::optional(row.combination);
}

uint64_t BitMatrix::apply(uint64_t input) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    if (input >> i & 1)
      sum ^= columns[i];
  return sum;
}

BitMatrix BitMatrix::compose(const BitMatrix &inner) const {
  BitMatrix result;
  for (uint64_t column : inner.columns)
    result.columns.push_back(apply(column));
  return result;
}

int BitMatrix::rank() const {
  Span span;
  for (uint64_t column : columns)
    span.add(column);
  return span.rank();
}

uint64_t BitMatrix::dependentInputs() const {
  Span span;
  uint64_t dependent = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    if (!span.add(columns[i]))
      dependent |= uint64_t(1) << i;
  return dependent;
}

BitMatrix BitMatrix::pseudoInverse(int outBits) const {
  // The unit vectors complete the image to the whole space; their share of a combination is masked away.
  Span span;
  for (uint64_t column : columns)
    span.add(column);
  for (int bit = 0; bit < outBits; ++bit)
    span.add(uint64_t(1) << bit);
  uint64_t inputs = inBits() == 64 ? ~uint64_t(0) : (uint64_t(1) << inBits()) - 1;
  BitMatrix result;
  for (int bit = 0; bit < outBits; ++bit)
    result.columns.push_back(*span.combination(uint64_t(1) << bit) & inputs);
  return result;
}

BitMatrix BitMatrix::identity(int bits) {
  BitMatrix result;
  for (int bit = 0; bit < bits; ++bit)
    result.columns.push_back(uint64_t(1) << bit);
  return result;
}

} // namespace tilec::layout
