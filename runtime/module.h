#pragma once
// Cubins on a device, their entry points and what those need and allow.
#include "compiler/artifact/artifact.h"
#include "runtime/device.h"

namespace tilec::runtime {

/// One entry point, ready to launch.
struct Kernel {
  cu::Function function = nullptr;
  Resources resources;             ///< as the driver reports them: registers, static shared memory, stack, code unknown
  int maxThreads = 0;              ///< threads of a block at most
  int blocksPerMultiprocessor = 0; ///< resident at a time for the spec's threads and shared memory
  int64_t residentBlocks = 0;      ///< of the language's grid, over the whole device; clusters count once
};

/// A loaded cubin. Unloads it; the device outlives it.
class Module {
public:
  /// Error: Program when the cubin is for another GPU (both named).
  static Result<Module> load(const Device &device, std::string_view cubin, std::string_view arch);
  Module(Module &&other) noexcept : device(other.device), handle(std::exchange(other.handle, nullptr)) {}
  Module &operator=(Module &&) = delete;
  ~Module();

  /// Finds the entry of a launch, raises its limit of dynamic shared memory and asks for its occupancy.
  /// Errors: Program when shared memory or threads pass what the GPU allows (need and limit), Internal for a missing
  /// entry.
  Result<Kernel> kernel(const LaunchSpec &spec) const;

private:
  explicit Module(const Device &owner) : device(&owner) {}
  const Device *device;
  cu::Module handle = nullptr;
};

} // namespace tilec::runtime
