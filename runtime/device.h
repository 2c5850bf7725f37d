#pragma once
// GPUs: what they are, and the context in which everything else of the runtime happens.
#include "compiler/base/json.h"
#include "runtime/cuda.h"
#include <memory>
#include <string>
#include <vector>

namespace tilec::runtime {

/// Facts of one GPU, as its driver tells them.
struct DeviceFacts {
  int ordinal = 0;
  std::string name;
  std::string uuid; ///< GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int64_t l2Bytes = 0;
  int64_t memoryBytes = 0;
  int sharedPerBlock = 0;      ///< bytes without asking for more
  int sharedPerBlockOptin = 0; ///< bytes at most
  int sharedPerMultiprocessor = 0;
  int registersPerMultiprocessor = 0;
  int threadsPerMultiprocessor = 0;
  int clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
  bool clusters = false;
  int driverVersion = 0; ///< 1000 · major + 10 · minor

  /// The architecture's name without a suffix, as --arch takes it.
  std::string arch() const { return fmt::format("sm_{}{}", major, minor); }
  /// Peak of the memory in bytes per second, from clock and width (two transfers a clock); 0 when the driver hides
  /// them.
  double peakBandwidth() const { return 2e3 * memoryClockKHz * memoryBusBits / 8; }
};
Json toJson(const DeviceFacts &facts);

/// Every GPU that the driver shows. Error: NoDevice, also when there is none.
Result<std::vector<DeviceFacts>> listDevices();
/// The same through a given driver; an empty list is no error here.
Result<std::vector<DeviceFacts>> listDevices(const Driver &driver);

/// One GPU with its primary context, current on the thread that opened it. Buffers, modules and timers keep a pointer
/// to it, so it outlives them and does not move.
class Device {
public:
  /// Error: NoDevice, naming the GPUs there are.
  static Result<std::unique_ptr<Device>> open(int ordinal);
  static Result<std::unique_ptr<Device>> open(const Driver &driver, int ordinal);
  Device(const Device &) = delete;
  ~Device();

  const DeviceFacts &facts() const { return gpu; }
  const Driver &api() const { return cuda; }
  /// Makes the context current on the calling thread.
  Status makeCurrent() const;
  /// Waits for everything; a fault of a kernel shows here.
  Status synchronize() const;
  Status check(cu::Code code, std::string_view what) const { return runtime::check(cuda, code, what); }

private:
  Device(const Driver &driver, DeviceFacts facts) : cuda(driver), gpu(std::move(facts)) {}
  const Driver &cuda;
  DeviceFacts gpu;
  cu::Device handle = 0;
  cu::Context context = nullptr;
};

} // namespace tilec::runtime
