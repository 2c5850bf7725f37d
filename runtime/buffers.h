#pragma once
// Arrays in device memory between two guard bands, which show what a kernel wrote outside.
#include "runtime/device.h"
#include "runtime/host_array.h"

namespace tilec::runtime {

inline constexpr uint64_t guardBytes = 4096;
inline constexpr std::byte poison{0xAA};

/// Device memory of one array. The front band keeps the base aligned to 4096 bytes; the back band begins with the very
/// byte behind the array. Frees its memory; the device outlives it.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// Memory for `bytes` bytes, all poisoned. `label` names the array in messages. Error: Usage when memory runs out.
  static Result<DeviceBuffer> create(const Device &device, uint64_t bytes, std::string label);
  DeviceBuffer(DeviceBuffer &&other) noexcept { *this = std::move(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  cu::DevicePtr base() const { return allocation ? allocation + guardBytes : 0; }
  uint64_t size() const { return bytes; }
  const std::string &label() const { return name; }

  Status upload(std::span<const std::byte> from);
  Status download(std::span<std::byte> to) const;
  Status fill(std::byte value);
  Status copyFrom(const DeviceBuffer &other, cu::Stream stream);
  /// Compares both bands with their pattern. Error (Program): how many bytes were written and where the first one is.
  Status checkGuards() const;

private:
  const Device *device = nullptr;
  cu::DevicePtr allocation = 0;
  uint64_t bytes = 0;
  std::string name;
};

/// One array argument on the device: its buffer, the base that the kernel gets (inside the buffer when strides are
/// negative) and its shape in elements.
struct DeviceArray {
  DeviceBuffer buffer;
  DType dtype = DType::f32;
  std::vector<int64_t> extents, strides;
  uint64_t baseOffset = 0;

  cu::DevicePtr base() const { return buffer.base() + baseOffset; }

  /// Allocates, poisoned: an output whose elements a kernel leaves unwritten shows 0xAA.
  static Result<DeviceArray> create(const Device &device, std::string label, DType dtype, std::vector<int64_t> extents,
                                    std::vector<int64_t> strides);
  Status upload(const HostArray &from);
  Result<HostArray> download() const;
};

/// Fills with NaN of the dtype where it has one, else 0xAA: what an output holds before a kernel runs.
void poisonOutput(HostArray &array);
/// Elements that still hold the poison of poisonOutput or of a fresh buffer: an upper bound on those left unwritten.
int64_t countPoisoned(const HostArray &array);

} // namespace tilec::runtime
