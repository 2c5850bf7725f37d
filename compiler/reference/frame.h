#pragma once
// What one worker holds while it runs blocks: tiles, arrays, and what it found wrong. No MLIR.
#include "compiler/reference/executor.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace tilec::reference {

/// Why a lane has no defined value: an index into Frame::causes plus one; 0 is a defined value.
using Taint = uint8_t;

/// A tile in contiguous row-major order, elements in the storage encoding of their dtype (bool, fp8 and fp4: a byte).
struct Tile {
  std::byte *data = nullptr;
  size_t count = 0;
  bool tainted = false;     ///< whether `taint` says anything
  std::vector<Taint> taint; ///< per element, empty until first needed

  template <typename T> T *as() { return reinterpret_cast<T *>(data); }
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(data); }
  /// The taint of every element, cleared, for an op that is about to set some.
  std::vector<Taint> &freshTaint() {
    taint.assign(count, 0);
    tainted = true;
    return taint;
  }
  Taint taintAt(size_t i) const { return tainted ? taint[i] : Taint(0); }
};

/// Where undefined values come from.
struct Cause {
  FindingKind kind;
  size_t order = 0; ///< of the op in the program
  Place place;
  std::string array;
};

/// The buffer behind an array argument, shared by all workers.
struct Memory {
  std::string name;
  BufferView view;
  int64_t low = 0, high = 0; ///< offsets that may be addressed, both included; low > high: none
  /// Race check: for each offset from `low` on, the last block that stored to it plus one, with `shared` set once two
  /// have. Guarded, with the data it describes, by `lock`.
  std::vector<uint32_t> writers;
  std::mutex lock;
};
inline constexpr uint32_t sharedWriters = uint32_t(1) << 31;

/// A run-time array: memory with extents and strides.
struct ArrayValue {
  size_t memory = 0;
  std::vector<int64_t> extents, strides;
};

/// Findings of one worker, merged at the end. Those of one key keep the lowest block.
struct FindingKey {
  FindingKind kind;
  size_t place, reached; ///< order of ops in the program
  auto operator<=>(const FindingKey &) const = default;
};
struct LocatedFinding {
  Finding finding;
  int64_t block = 0; ///< linear number
};
using Findings = std::map<FindingKey, LocatedFinding>;

/// State that every block of a launch shares.
struct LaunchState {
  std::vector<std::unique_ptr<Memory>> memories;
  std::array<int64_t, 3> grid{};
  bool checkRaces = false;
  std::vector<std::vector<int64_t>> samples; ///< per memory, sorted offsets; only while probing
};

struct Frame {
  LaunchState *launch = nullptr;
  const std::vector<Cause> *causes = nullptr;
  std::vector<Tile> tiles;
  std::vector<ArrayValue> arrays;
  std::vector<std::byte> scratch;
  std::array<int64_t, 3> block{};
  int64_t linearBlock = 0;
  bool hit = false; ///< probing: this block stores a sampled element
  Findings findings;
  std::optional<Error> error; ///< first failure; the block ends at it

  /// Adds a finding of this block; later ones of the same key only count.
  void find(FindingKey key, Finding finding);
  /// An undefined value reaches something that shows: a stored element, or a condition, a bound, an index (array empty,
  /// element -1).
  void reaches(Taint taint, size_t order, const Place &place, const std::string &array = "", int64_t element = -1);
};

} // namespace tilec::reference
