#include "runtime/buffers.h"
#include <algorithm>
#include <limits>

namespace tilec::runtime {

Result<DeviceBuffer> DeviceBuffer::create(const Device &device, uint64_t bytes, std::string label) {
  DeviceBuffer b;
  b.device = &device;
  b.bytes = bytes;
  b.name = std::move(label);
  size_t total = bytes + 2 * guardBytes;
  TILEC_TRY(device.check(device.api().memAlloc(&b.allocation, total),
                         fmt::format("allocate {} bytes on the GPU for '{}'", total, b.name)));
  TILEC_TRY(device.check(device.api().memsetD8(b.allocation, uint8_t(poison), total),
                         fmt::format("fill the buffer of '{}'", b.name)));
  return b;
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(allocation, other.allocation);
  std::swap(bytes, other.bytes);
  std::swap(name, other.name);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (allocation)
    device->api().memFree(allocation); // after a sticky fault this fails, and the context goes anyway
}

Status DeviceBuffer::upload(std::span<const std::byte> from) {
  if (from.size() != bytes)
    return internalError("the buffer of '{}' has {} bytes, not {}", name, bytes, from.size());
  if (from.empty())
    return {};
  return device->check(device->api().memcpyHtoD(base(), from.data(), from.size()), fmt::format("upload '{}'", name));
}

Status DeviceBuffer::download(std::span<std::byte> to) const {
  if (to.size() != bytes)
    return internalError("the buffer of '{}' has {} bytes, not {}", name, bytes, to.size());
  if (to.empty())
    return {};
  return device->check(device->api().memcpyDtoH(to.data(), base(), to.size()), fmt::format("download '{}'", name));
}

Status DeviceBuffer::fill(std::byte value) {
  if (bytes == 0)
    return {};
  return device->check(device->api().memsetD8(base(), uint8_t(value), bytes), fmt::format("fill '{}'", name));
}

Status DeviceBuffer::copyFrom(const DeviceBuffer &other, cu::Stream stream) {
  if (other.bytes != bytes)
    return internalError("the buffer of '{}' has {} bytes, not {}", name, bytes, other.bytes);
  if (bytes == 0)
    return {};
  return device->check(device->api().memcpyDtoDAsync(base(), other.base(), bytes, stream),
                       fmt::format("copy '{}'", name));
}

Status DeviceBuffer::checkGuards() const {
  std::vector<std::byte> front(guardBytes), back(guardBytes);
  std::string what = fmt::format("read the guard bands of '{}'", name);
  TILEC_TRY(device->check(device->api().memcpyDtoH(front.data(), allocation, guardBytes), what));
  TILEC_TRY(device->check(device->api().memcpyDtoH(back.data(), base() + bytes, guardBytes), what));
  auto touched = [](std::byte b) { return b != poison; };
  auto before = std::ranges::count_if(front, touched), after = std::ranges::count_if(back, touched);
  if (before + after == 0)
    return {};
  std::string places;
  if (before) {
    // The nearest to the array is the likeliest culprit.
    auto last = std::find_if(front.rbegin(), front.rend(), touched) - front.rbegin();
    places = fmt::format("{} bytes before its start (nearest at {})", before, -(last + 1));
  }
  if (after) {
    auto first = std::ranges::find_if(back, touched) - back.begin();
    places += fmt::format("{}{} bytes behind its end (nearest at +{})", before ? " and " : "", after, first);
  }
  return programError("the kernel wrote outside '{}': {}", name, places);
}

Result<DeviceArray> DeviceArray::create(const Device &device, std::string label, DType dtype,
                                        std::vector<int64_t> extents, std::vector<int64_t> strides) {
  TILEC_ASSIGN(Footprint place, footprint(dtype, extents, strides));
  DeviceArray a;
  TILEC_ASSIGN(a.buffer, DeviceBuffer::create(device, place.bytes(), std::move(label)));
  a.dtype = dtype;
  a.extents = std::move(extents);
  a.strides = std::move(strides);
  a.baseOffset = place.before;
  return a;
}

Status DeviceArray::upload(const HostArray &from) {
  if (from.dtype != dtype || from.extents != extents)
    return internalError("an upload of '{}' has another dtype or shape", buffer.label());
  if (isContiguous(extents, strides))
    return buffer.upload(from.bytes);
  std::vector<std::byte> memory(buffer.size(), poison);
  spread(from, strides, memory);
  return buffer.upload(memory);
}

Result<HostArray> DeviceArray::download() const {
  if (isContiguous(extents, strides)) {
    HostArray dense = HostArray::zeros(dtype, extents);
    TILEC_TRY(buffer.download(dense.bytes));
    return dense;
  }
  std::vector<std::byte> memory(buffer.size());
  TILEC_TRY(buffer.download(memory));
  return collect(dtype, extents, strides, memory);
}

/// A NaN of the dtype, or 0xAA in every byte where it has none.
static uint64_t poisonBits(DType dtype) {
  if (isFloat(dtype) && dtype != DType::f4e2m1)
    return encodeFloat(dtype, std::numeric_limits<double>::quiet_NaN());
  return 0xAAAA'AAAA'AAAA'AAAAull & (info(dtype).bits == 64 ? ~0ull : (1ull << info(dtype).bits) - 1);
}

void poisonOutput(HostArray &array) {
  uint64_t bits = poisonBits(array.dtype);
  parallelFor(array.count(), 2, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      array.set(i, bits);
  });
}

int64_t countPoisoned(const HostArray &array) {
  uint64_t fresh =
      0xAAAA'AAAA'AAAA'AAAAull & (info(array.dtype).bits == 64 ? ~0ull : (1ull << info(array.dtype).bits) - 1);
  uint64_t bits = poisonBits(array.dtype);
  int64_t count = 0;
  for (int64_t i = 0, n = array.count(); i < n; ++i) {
    uint64_t value = array.get(i);
    count += value == bits || value == fresh;
  }
  return count;
}

} // namespace tilec::runtime
