#pragma once
// Linear maps over GF(2): addition is XOR, a vector is the bits of an integer. Everything a power-of-two tile needs
// (who holds which element, where it lies in shared memory) is such a map, so composition, inversion and conversion are
// matrix operations.
#include <cstdint>
#include <optional>
#include <vector>

namespace tilec::layout {

/// A subspace grown one vector at a time, kept in echelon form; it remembers which of the added vectors combine to
/// what.
class Span {
public:
  /// Adds a vector under the next bit of combinations; false when the earlier vectors already span it.
  bool add(uint64_t vector);
  /// The set of added vectors (a bit each, dependent ones never used) whose sum is `vector`; nullopt outside the span.
  std::optional<uint64_t> combination(uint64_t vector) const;
  bool contains(uint64_t vector) const { return combination(vector).has_value(); }
  int rank() const { return int(rows.size()); }

private:
  struct Row {
    uint64_t vector, combination;
  };
  /// Subtracts rows from both numbers until no leading bit of a row is set.
  Row reduce(Row row) const;
  std::vector<Row> rows; ///< distinct leading bits, highest first
  int added = 0;
};

/// A linear map from `columns.size()` input bits to integers; column i is the image of input bit i.
struct BitMatrix {
  std::vector<uint64_t> columns;

  int inBits() const { return int(columns.size()); }
  uint64_t apply(uint64_t input) const;
  /// this ∘ inner: first `inner`, then this. Images of `inner` must fit in inBits().
  BitMatrix compose(const BitMatrix &inner) const;
  int rank() const;
  /// Input bits whose column is a sum of columns before it: with them 0 the map is injective and keeps its image.
  uint64_t dependentInputs() const;
  /// A right inverse on the image: apply(result.apply(y)) == y for every y in the image, with the dependent inputs 0.
  /// `outBits` is the number of output bits; components outside the image are dropped.
  BitMatrix pseudoInverse(int outBits) const;
  static BitMatrix identity(int bits);

  bool operator==(const BitMatrix &) const = default;
};

} // namespace tilec::layout
