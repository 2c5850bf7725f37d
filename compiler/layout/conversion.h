#pragma once
// Moving a tile from one layout to another: the cheapest way that serves, and its details.
#include "compiler/layout/linear_layout.h"

namespace tilec::layout {

enum class ConversionKind : uint8_t {
  Registers, ///< every thread has what it needs: registers are renamed
  Shuffles,  ///< every warp has what it needs
  Shared,    ///< through shared memory of the block
  Cluster,   ///< an element lies in another block of the cluster
};
std::string_view name(ConversionKind kind);

struct Conversion {
  ConversionKind kind = ConversionKind::Registers;
  /// Registers: the source register of each destination register.
  std::vector<uint32_t> registers;
  /// Shuffles: (register, lane, warp) of the destination, packed → (register, lane) of the source, packed. The source
  /// register may depend on the lane; then a shuffle for each candidate is followed by a select.
  BitMatrix source;
  /// Shuffles: how many the whole conversion takes for each 32-bit part of an element.
  int shuffles = 0;
};

/// Both layouts have one shape and the same numbers of lanes, warps and blocks. `maxShuffles` is where a trip through
/// shared memory becomes cheaper.
Conversion classify(const LinearLayout &src, const LinearLayout &dst, int maxShuffles = 16);

/// For each register of `dst` the register of `src` that holds the same element in the same thread, or nothing when
/// some thread lacks one. The shapes are equal.
std::optional<std::vector<uint32_t>> registerSources(const LinearLayout &src, const LinearLayout &dst);

/// An XOR swizzle of element offsets: bits [base, base + bits) are mixed with the bits `distance` above them.
struct Swizzle {
  int base = 0, bits = 0, distance = 0;
  uint64_t apply(uint64_t element) const {
    return element ^ (((element >> (base + distance)) & ((uint64_t(1) << bits) - 1)) << base);
  }
  bool operator==(const Swizzle &) const = default;
};

/// Passes through the 32 banks of 4 bytes that one access of a warp takes: lane l reads or writes `bytes` (1 to 16)
/// bytes at byte offset `offsets[l]`. 8-byte accesses are served in halves of the warp, 16-byte ones in quarters; lanes
/// that touch the same word share it.
int wavefronts(std::span<const uint64_t> offsets, int bytes);

/// A round trip through shared memory: the tile lies in row-major order, swizzled.
struct SharedPlan {
  Swizzle swizzle;
  int storeVectorBits = 0, loadVectorBits = 0; ///< log2 of the elements of one access
  int storeWavefronts = 0, loadWavefronts = 0; ///< of one warp, whole tile
};
/// The swizzle and vector widths with the fewest wavefronts, found by enumeration. `elementBytes` is 1 to 8; accesses
/// are at most 16 bytes.
SharedPlan planShared(const LinearLayout &src, const LinearLayout &dst, int elementBytes);
/// Wavefronts that one warp takes to move its whole part of a tile to or from swizzled memory.
int sharedWavefronts(const LinearLayout &layout, const Swizzle &swizzle, int vectorBits, int elementBytes);

} // namespace tilec::layout
