#pragma once
// What loads, stores, element accesses and atomics share: elements in memory, order between blocks, the race check.
#include "compiler/reference/elementwise.h"

namespace tilec::reference {

/// Elements of `Memory` type, one by one, as a tile of `Lane` type keeps them: the same bits, or a float widened to f64
/// or rounded from it.
template <typename M, typename L> struct Elements {
  DType dtype; ///< of the memory
  bool converts;
  L lane(M bits) const { return converts ? L(std::bit_cast<uint64_t>(decodeFloat(dtype, uint64_t(bits)))) : L(bits); }
  M value(L lane) const { return converts ? M(encodeFloat(dtype, std::bit_cast<double>(uint64_t(lane)))) : M(lane); }
  M stored(const std::byte *data, int64_t at) const { return reinterpret_cast<const M *>(data)[at]; }
  L load(const std::byte *data, int64_t at) const { return lane(stored(data, at)); }
  void store(std::byte *data, int64_t at, L lane) const { reinterpret_cast<M *>(data)[at] = value(lane); }
  static constexpr bool rows = std::is_same_v<M, L>; ///< a run may be copied as it is
};

/// fp4: two elements in a byte, the even one in the low nibble.
template <typename L> struct Nibbles {
  bool converts;
  L lane(uint8_t bits) const {
    return converts ? L(std::bit_cast<uint64_t>(decodeFloat(DType::f4e2m1, bits))) : L(bits);
  }
  uint8_t value(L lane) const {
    return converts ? uint8_t(encodeFloat(DType::f4e2m1, std::bit_cast<double>(uint64_t(lane)))) : uint8_t(lane & 0xF);
  }
  uint8_t stored(const std::byte *data, int64_t at) const { return uint8_t(data[at >> 1]) >> (at & 1 ? 4 : 0) & 0xF; }
  L load(const std::byte *data, int64_t at) const { return lane(stored(data, at)); }
  void store(std::byte *data, int64_t at, L lane) const {
    uint8_t &byte = reinterpret_cast<uint8_t &>(data[at >> 1]);
    byte = at & 1 ? uint8_t((byte & 0x0F) | value(lane) << 4) : uint8_t((byte & 0xF0) | value(lane));
  }
  static constexpr bool rows = false;
};

/// Calls `f(elements, lane type)` for the memory of an array and the way tiles of `type` keep its elements.
template <typename F> Status withElements(Compiler &c, const Memory &memory, mlir::Type type, F f) {
  DType dtype = memory.view.dtype, lane = c.storage(type);
  bool converts = dtype != lane && isFloat(dtype);
  if (dtype == DType::f4e2m1) {
    converts ? f(Nibbles<uint64_t>{true}, uint64_t()) : f(Nibbles<uint8_t>{false}, uint8_t());
    return {};
  }
  return withInteger(dtype, false, [&](auto zero) {
    using M = decltype(zero);
    converts ? f(Elements<M, uint64_t>{dtype, true}, uint64_t()) : f(Elements<M, M>{dtype, false}, M());
  });
}

/// One op that touches memory, as far as it is known before it runs.
struct AccessPoint {
  size_t order; ///< of the op in the program
  Place place;
  std::string name; ///< of the array
  bool ordered = false, acquires = false, releases = false;
  bool atomic = false; ///< not at odds with atomics of other blocks

  template <typename Op> static AccessPoint of(Compiler &c, Op op, std::string name) {
    AccessPoint point = plain(c, op, std::move(name));
    tile::MemoryOrder order = op.getOrder();
    // What only threads of the same block can see orders nothing here, where a block is one thread.
    point.ordered = order != tile::MemoryOrder::weak && op.getScope() != tile::MemoryScope::block;
    point.atomic = point.ordered;
    bool both = order == tile::MemoryOrder::acq_rel;
    point.acquires = point.ordered && (both || order == tile::MemoryOrder::acquire);
    point.releases = point.ordered && (both || order == tile::MemoryOrder::release);
    return point;
  }
  static AccessPoint plain(Compiler &c, mlir::Operation *op, std::string name) {
    return {c.order(op), Compiler::place(op), std::move(name)};
  }
};

/// A block changes an element: whether the change is to be kept. Reports a race where the value differs from one that
/// another block stored in no order with this; of those the block with the highest number wins, so that memory ends the
/// same on every run even then.
inline bool changes(Frame &frame, Memory &memory, const AccessPoint &point, int64_t offset, bool differs) {
  Writers::Verdict verdict = memory.writers.change(size_t(offset - memory.low), frame.linearBlock, frame.clock,
                                                   frame.launch->clockwork.now(), point.atomic);
  if (verdict.unordered && differs)
    frame.find({FindingKind::Race, point.order, point.order},
               {FindingKind::Race, point.place, point.place, "", point.name, frame.block, verdict.other, offset, 1});
  return verdict.wins;
}

/// Where memory's undefined elements get their reasons from: a store of a defined value, or of an undefined one into
/// scratch memory, which shows nothing yet. Elsewhere an undefined value has had its effect.
inline void storeTaint(Frame &frame, Memory &memory, const AccessPoint &point, int64_t offset, Taint taint) {
  if (!memory.undefined.empty())
    memory.undefined[size_t(offset - memory.low)] = taint;
  if (taint && (memory.undefined.empty() || memory.shows))
    frame.reaches(taint, point.order, point.place, point.name, offset);
}

/// Names what scratch memory holds before anything is stored to it.
inline Taint unwrittenCause(Compiler &c, mlir::Operation *op, const std::string &array) {
  return c.cause(FindingKind::Uninitialised, op, array,
                 fmt::format("nothing is stored to '{}' before this reads it", array));
}

/// The root array behind an array or view, through sub-arrays.
tile::ArrayOp rootOf(mlir::Value arrayOrView);
/// The memory of an array or view; null when it is no result of the dialect's ops.
const Memory *memoryBehind(Compiler &c, mlir::Value arrayOrView);

} // namespace tilec::reference
