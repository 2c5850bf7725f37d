#pragma once
// Who holds which element of a tile: a linear map over GF(2) from (register, lane, warp, block) to tile coordinates.
//
// Extents are powers of two, so the coordinates of an element, packed with the last dimension in the low bits, are its
// row-major index. A basis vector is therefore one integer, and a reshape keeps every basis as it is.
#include "compiler/layout/bit_matrix.h"
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilec::layout {

enum class InDim : uint8_t { Register, Lane, Warp, Block };
inline constexpr std::array<InDim, 4> allInDims = {InDim::Register, InDim::Lane, InDim::Warp, InDim::Block};
std::string_view name(InDim dim);

/// One holder of an element: register `reg` of lane `lane` in warp `warp` of block `block` of the cluster.
struct Place {
  uint32_t reg = 0, lane = 0, warp = 0, block = 0;
  bool operator==(const Place &) const = default;
};

class LinearLayout {
public:
  using Shape = std::vector<int64_t>;
  using Bases = std::array<std::vector<uint64_t>, 4>; ///< by InDim: row-major element index of each input bit

  LinearLayout() = default;
  /// Every extent is a power of two, every basis below the number of elements.
  LinearLayout(Shape shape, Bases bases);

  const Shape &shape() const { return extents; }
  int rank() const { return int(extents.size()); }
  int64_t numElements() const;
  int elementBits() const; ///< log2 of numElements()
  const std::vector<uint64_t> &bases(InDim dim) const { return in[size_t(dim)]; }
  int inBits(InDim dim) const { return int(bases(dim).size()); }
  uint32_t size(InDim dim) const { return uint32_t(1) << inBits(dim); }
  uint32_t registers() const { return size(InDim::Register); }

  /// Row-major index of the element a place holds.
  uint64_t apply(const Place &place) const;
  std::vector<int64_t> coords(uint64_t element) const;
  uint64_t index(std::span<const int64_t> coords) const;
  /// First bit of a dimension in the row-major index, and its number of bits.
  int dimShift(int dim) const;
  int dimBits(int dim) const;

  /// All inputs as one map; the input bits stand in the order register, lane, warp, block.
  BitMatrix matrix() const;
  uint64_t pack(const Place &place) const;
  Place unpack(uint64_t input) const;
  /// Row-major index → packed place of its owner: the holder whose redundant bits are 0.
  BitMatrix inverse() const;

  bool isSurjective() const; ///< every element is held by someone
  bool isInjective() const;  ///< no element is held twice
  /// Bits of `dim` that only make replicas: for each element exactly one holder has all of them 0 in all four
  /// dimensions. Stores, atomics and prints are predicated to that owner.
  uint32_t freeMask(InDim dim) const;

  /// log2 of the run of elements, consecutive along `dim` and starting at a multiple of its length, that lies in the
  /// registers of one thread.
  int contiguousBits(int dim) const;
  /// The register bits that walk such a run, lowest first; `bits` is at most contiguousBits(dim).
  std::vector<int> contiguousRegisterBits(int dim, int bits) const;

  /// Layout of the tile without `dim`, as a reduction leaves it: coordinates along `dim` are forgotten, registers that
  /// then hold the same element are dropped; lanes and warps become replicas.
  LinearLayout slice(int dim) const;
  /// The same with the dimension kept at extent 1.
  LinearLayout collapse(int dim) const;
  /// Forgets the coordinates along each dimension whose extent in `shape` is 1 (the others are equal); every input bit
  /// stays, so place p holds what the element of p was reduced to.
  LinearLayout project(const Shape &shape) const;
  /// Layout of a tile before it is broadcast to this one: project() without replicas in registers.
  LinearLayout beforeBroadcast(const Shape &shape) const;
  /// Layout after broadcasting to `shape`: the new coordinates go to fresh registers above the old ones.
  LinearLayout broadcast(const Shape &shape) const;
  /// Same elements in row-major order under another shape.
  LinearLayout reshape(Shape shape) const;
  /// Dimension i of the result is dimension `order[i]` of this one.
  LinearLayout transpose(std::span<const int> order) const;
  /// Drops register bits that only make replicas within a thread.
  LinearLayout withoutRegisterReplicas() const;

  /// `[4, 256] register [1, 2] lane [4, 8, 16, 32, 64] warp [128] block []`.
  std::string toString() const;

  bool operator==(const LinearLayout &) const = default;

private:
  Shape extents;
  Bases in;
};

/// How a coalesced layout is filled. Sizes are powers of two.
struct BlockedSpec {
  std::vector<int64_t> shape = {};
  int64_t vector = 1;              ///< elements along the first dimension of `order` that a thread holds in a row
  std::vector<int> order = {};     ///< dimensions, fastest first; empty: last dimension first
  std::vector<int> warpOrder = {}; ///< the same for warps; empty: as `order`
  int lanes = 32;
  int warps = 4;
};
/// Vector, then lanes, then warps, then more registers. When the tile has fewer elements than threads, the threads left
/// over hold replicas; a vector longer than its dimension shrinks to it.
LinearLayout blocked(const BlockedSpec &spec);

} // namespace tilec::layout
