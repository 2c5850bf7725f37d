#pragma once
// Launching a compiled operation from its artifact. Everything that can be refused is refused while planning;
// enqueueing a plan allocates nothing and may be captured into a graph.
#include "runtime/buffers.h"
#include "runtime/module.h"
#include <map>
#include <memory>

namespace tilec::runtime {

/// An array argument: what the kernel gets as base, and the bytes that are its own.
struct ArrayArgument {
  cu::DevicePtr base = 0;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides; ///< elements; empty: those the artifact states
  uint64_t begin = 0, end = 0;  ///< addresses of the buffer; both 0 when unknown
};
ArrayArgument argument(const DeviceArray &array);

struct LaunchArguments {
  std::map<std::string, ArrayArgument> arrays;
  LaunchEnv env; ///< scalars, and symbols that no array binds
};

/// One launch with its parameters encoded.
struct PlannedLaunch {
  PlannedLaunch() = default;
  PlannedLaunch(PlannedLaunch &&) = default; // not copied: `params` points into the other members
  std::array<int64_t, 3> grid{};             ///< CTAs as the driver gets them; an axis of 0 launches nothing
  std::array<unsigned, 3> cluster{1, 1, 1};
  unsigned threads = 1, dynamicSharedBytes = 0;
  bool dependent = false;
  cu::Function function = nullptr;
  std::string entry;
  std::vector<void *> params;   ///< into `values` and `maps`
  std::vector<uint64_t> values; ///< one parameter each, in its low bytes
  std::vector<cu::TensorMap> maps;
  std::vector<std::pair<cu::DevicePtr, uint64_t>> cleared; ///< memory zeroed before the launch
};

/// An operation with its arguments. Owns its temporaries; the operation and the argument buffers outlive it.
class Plan {
public:
  /// Puts the launches on a stream, in order. Faults of kernels show at the next synchronisation.
  Status enqueue(cu::Stream stream) const;
  const std::vector<PlannedLaunch> &launches() const { return list; }
  /// The environment after binding: symbols, scalars, clause `let`s.
  const LaunchEnv &env() const { return bound; }
  /// Memory a print buffer parameter points to, if the operation has one.
  const DeviceBuffer *printBuffer() const { return printing; }
  /// Guard bands of the temporaries.
  Status checkGuards() const;

private:
  friend class Operation;
  const Device *device = nullptr;
  std::vector<PlannedLaunch> list;
  std::vector<std::unique_ptr<DeviceBuffer>> owned;
  const DeviceBuffer *printing = nullptr;
  LaunchEnv bound;
};

/// An artifact loaded on a device.
class Operation {
public:
  static Result<std::unique_ptr<Operation>> load(const Device &device, Artifact artifact);
  /// Binds symbols, checks the promises of the artifact and encodes parameters. Refusals (Program, Usage for missing
  /// arguments) name the argument, the wanted and the found value: extents, strides, alignment of bases, buffers that
  /// are too small, `out` and `inout` arrays that overlap others, `requires`, grid limits.
  ///
  /// Launch expressions may also use the names `a.shape(0)` and `a.stride(0)` of each array's axes.
  Result<Plan> plan(const LaunchArguments &arguments) const;
  const Artifact &artifact() const { return compiled; }
  /// One per launch of the artifact.
  const std::vector<Kernel> &kernels() const { return entries; }

private:
  Operation(const Device &owner, Artifact artifact) : device(owner), compiled(std::move(artifact)) {}
  const Device &device;
  Artifact compiled;
  std::vector<Module> modules;
  std::vector<Kernel> entries;
};

} // namespace tilec::runtime
