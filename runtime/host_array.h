#pragma once
// Arrays in host memory: dense, row-major, in the storage encoding of their dtype.
#include "compiler/base/dtype.h"
#include "compiler/base/result.h"
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace tilec::runtime {

/// Element `index` of `width` bits in memory whose element 0 is at `base` (4 bits: at its low nibble).
inline uint64_t loadElement(int width, const std::byte *base, int64_t index) {
  auto read = [&]<class T>(T value) -> uint64_t {
    std::memcpy(&value, base + index * int64_t(sizeof(T)), sizeof(T));
    return value;
  };
  switch (width) {
  case 4:
    return (uint64_t(base[index >> 1]) >> (4 * (index & 1))) & 15;
  case 8:
    return read(uint8_t());
  case 16:
    return read(uint16_t());
  case 32:
    return read(uint32_t());
  default:
    return read(uint64_t());
  }
}
inline void storeElement(int width, std::byte *base, int64_t index, uint64_t bits) {
  auto write = [&]<class T>(T value) { std::memcpy(base + index * int64_t(sizeof(T)), &value, sizeof(T)); };
  switch (width) {
  case 4: {
    std::byte &b = base[index >> 1];
    int shift = 4 * int(index & 1);
    b = std::byte((uint64_t(b) & ~(uint64_t(15) << shift)) | ((bits & 15) << shift));
    return;
  }
  case 8:
    return write(uint8_t(bits));
  case 16:
    return write(uint16_t(bits));
  case 32:
    return write(uint32_t(bits));
  default:
    return write(bits);
  }
}

/// Bytes of `count` elements are byteSize(dtype, count); fp4 packs two in a byte, the even element in the low nibble.
struct HostArray {
  DType dtype = DType::f32;
  std::vector<int64_t> extents;
  std::vector<std::byte> bytes;

  /// Zeros. Extents are not negative.
  static HostArray zeros(DType dtype, std::vector<int64_t> extents);

  int64_t count() const;
  /// Storage encoding of an element, in the low bits.
  uint64_t get(int64_t index) const { return loadElement(info(dtype).bits, bytes.data(), index); }
  void set(int64_t index, uint64_t bits) { storeElement(info(dtype).bits, bytes.data(), index, bits); }
  /// Value as f64 (u64 and i64 round).
  double value(int64_t index) const;
};

/// Number of elements of an array of given extents, none of them negative; INT64_MAX where 64 bits are too few.
int64_t elementCount(std::span<const int64_t> extents);
/// `[2, 3]` of the linear index in given extents.
std::vector<int64_t> coordinates(int64_t index, std::span<const int64_t> extents);

/// Where the elements of a strided array lie around its base, in bytes: [-before, after).
struct Footprint {
  uint64_t before = 0, after = 0;
  uint64_t bytes() const { return before + after; }
};
/// Strides in elements, zero and negative ones too. An empty array has no bytes. Errors (Program): past 2^63.
Result<Footprint> footprint(DType dtype, std::span<const int64_t> extents, std::span<const int64_t> strides);
/// Lays a dense array out with strides into `memory` (footprint().bytes() long; the base is `before` bytes in).
/// Elements of fp4 need a stride of 1 on one axis and even strides elsewhere.
void spread(const HostArray &dense, std::span<const int64_t> strides, std::span<std::byte> memory);
/// The reverse: reads a strided array into a dense one.
HostArray collect(DType dtype, std::span<const int64_t> extents, std::span<const int64_t> strides,
                  std::span<const std::byte> memory);
/// Whether strides are the row-major ones (along extents of 1 any will do).
bool isContiguous(std::span<const int64_t> extents, std::span<const int64_t> strides);

/// Calls `body(first, last)` on slices of [0, count) in as many threads as pay; each slice starts at a multiple of
/// `grain` elements.
void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body);

} // namespace tilec::runtime
