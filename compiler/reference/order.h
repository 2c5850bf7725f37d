#pragma once
// Which stores of different blocks are ordered, as far as the race check knows. No MLIR.
//
// Releases of a launch are numbered as they happen. A block remembers, for each block whose release it acquired from
// (straight or through others), that block's last release it has seen. A store is ordered before what a block does now
// when the storing block has released since and that release was seen. Blocks remember 16 others; of further ones they
// keep a number below which every release counts as seen. So no ordered pair of stores is reported; a race is missed
// where its two blocks also met more than 16 blocks by acquiring, or where an element saw atomics of many blocks, of
// which only the last is known.
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tilec::reference {

/// Releases that a block, or a released element, has seen.
class Clock {
public:
  /// Whether a store of `block` at a time (the number of releases before it) comes before.
  bool sees(int64_t block, uint64_t time) const;
  void learn(int64_t block, uint64_t release);
  void join(const Clock &other);
  void clear() { known.clear(), floor = 0; }

private:
  static constexpr size_t most = 16;
  struct Seen {
    int64_t block;
    uint64_t release;
  };
  std::vector<Seen> known; ///< by block
  uint64_t floor = 0;      ///< releases up to this number count as seen
};

/// What has been released at the elements of one memory. Guarded by the memory's lock.
class Releases {
public:
  /// Numbers the releases of a launch.
  struct Clockwork {
    std::atomic<uint64_t> releases = 0;
    uint64_t now() const { return releases.load(std::memory_order_relaxed); }
  };
  using Snapshot = std::shared_ptr<const Clock>;

  /// A block acquires from an element.
  void acquire(int64_t element, Clock &clock) const;
  /// A new release of a block: what it has seen, and itself.
  static Snapshot begin(int64_t block, Clock &clock, Clockwork &clockwork);
  /// An element takes part in a release. An atomic that changes it goes on from what was released there before.
  void release(int64_t element, const Snapshot &snapshot, bool goesOn);

private:
  std::unordered_map<int64_t, Snapshot> elements;
};

/// Who changed the elements of a memory last. Guarded by the memory's lock.
class Writers {
public:
  struct Verdict {
    bool unordered = false; ///< another block changed the element, in no order with this
    bool wins = true;       ///< the value is to be kept: of unordered stores, that of the highest block
    int64_t other = -1;     ///< unordered: the other block, or -1 when it is not known
  };
  /// Most blocks that can be told apart.
  static constexpr int64_t mostBlocks = (int64_t(1) << 30) - 2;

  void track(size_t elements, bool withTimes) {
    words.assign(elements, 0);
    times.assign(withTimes ? elements : 0, 0);
  }
  bool empty() const { return words.empty(); }
  /// A block changes an element, plainly or by an atomic; atomics are not at odds with one another.
  Verdict change(size_t element, int64_t block, const Clock &clock, uint64_t now, bool atomic);

private:
  static constexpr uint32_t shared = uint32_t(1) << 31, byAtomic = uint32_t(1) << 30, blockMask = byAtomic - 1;
  std::vector<uint32_t> words; ///< block plus one, `shared` once two that are not ordered have, `byAtomic`
  std::vector<uint64_t> times; ///< number of releases before the change
};

} // namespace tilec::reference
