#pragma once
// What one worker holds while it runs blocks: tiles, arrays, and what it found wrong. No MLIR.
#include "compiler/reference/executor.h"
#include "compiler/reference/order.h"
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

namespace tilec::reference {

/// Why a lane has no defined value: an index into Frame::causes plus one; 0 is a defined value.
using Taint = uint8_t;
/// In memory: an element that nothing has stored yet.
inline constexpr Taint neverStored = 255;

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
  void setTaint(size_t i, Taint value) {
    if (!tainted)
      freshTaint();
    taint[i] = value;
  }
};

/// Where undefined values come from.
struct Cause {
  FindingKind kind;
  size_t order = 0; ///< of the op in the program
  Place place;
  std::string array;
  std::string text; ///< why the value is undefined, where the kind leaves that open
};

/// The buffer behind an array argument, shared by all workers.
struct Memory {
  std::string name;
  BufferView view;
  int64_t low = 0, high = 0; ///< offsets that may be addressed, both included; low > high: none
  /// Guards the data against atomics and checked stores, and what is known of the elements. Buffers that are the same
  /// memory share it.
  std::shared_ptr<std::mutex> lock = std::make_shared<std::mutex>();
  /// Race check: who last changed each element from `low` on; empty where nothing is checked.
  Writers writers;
  Releases releases;
  /// Of scratch memory, and of outputs that are watched: why each element from `low` on is undefined; empty where every
  /// element has a value.
  std::vector<Taint> undefined;
  bool shows = false; ///< an undefined value stored here has had its effect although `undefined` takes it
};

/// A run-time array: memory with extents and strides.
struct ArrayValue {
  size_t memory = 0;
  int64_t base = 0;   ///< offset of element (0, …) in memory
  bool empty = false; ///< outside of the array it was taken from; an array of rank 0 has no extent that says so
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
/// Adds a finding to those of its key: the lowest block speaks for all.
void addFinding(Findings &findings, const FindingKey &key, LocatedFinding located);

/// State that every block of a launch shares.
struct LaunchState {
  std::vector<std::unique_ptr<Memory>> memories;
  std::array<int64_t, 3> grid{};
  bool checkRaces = false;       ///< between blocks
  bool checkLanes = false;       ///< between the lanes of one scatter
  bool tracksOrder = false;      ///< blocks may be ordered by what they release and acquire
  bool prints = false;           ///< somebody reads what blocks print
  Releases::Clockwork clockwork; ///< numbers releases
  /// The lowest block that failed: blocks behind it end at their next trip of a loop.
  std::atomic<int64_t> failedBlock = std::numeric_limits<int64_t>::max();
  std::vector<std::vector<int64_t>> samples; ///< per memory, sorted offsets; only while probing
  /// A block that has waited for a while asks for more workers: who it waits for may not have started.
  std::function<Status()> stalled;

  void fail(int64_t block);
};

struct Frame {
  LaunchState *launch = nullptr;
  const std::vector<Cause> *causes = nullptr;
  std::vector<Tile> tiles;
  std::vector<ArrayValue> arrays;
  std::vector<std::byte> scratch;
  std::vector<int64_t> offsets; ///< of the lanes of an element access
  std::array<int64_t, 3> block{};
  int64_t linearBlock = 0;
  Clock clock;        ///< whose releases this block has seen
  bool hit = false;   ///< probing: this block stores a sampled element
  bool ended = false; ///< the block runs no further step
  std::string output; ///< what the block printed
  Findings findings;
  std::optional<Error> error; ///< first failure of the launch that this worker met

  /// Adds a finding of this block; later ones of the same key only count.
  void find(FindingKey key, Finding finding);
  /// An undefined value reaches something that shows: a stored element, or a condition, a bound, an index (array empty,
  /// element -1).
  void reaches(Taint taint, size_t order, const Place &place, const std::string &array = "", int64_t element = -1);
  /// Ends the block, and with it the launch.
  void fail(Error what);
  /// Ends the block when the launch has failed; asked once a trip of a loop. A block that waits for one that has ended
  /// would wait forever, so those in front of the failed block end as well once they had time to finish.
  bool stops();
  /// A trip of a loop that asks memory what other blocks do: lets them have the processor, and in the long run a
  /// worker.
  void waitForOthers();
  void beginBlock(int64_t linear);

private:
  uint64_t tripsSinceFailure = 0, tripsWaiting = 0;
};

} // namespace tilec::reference
