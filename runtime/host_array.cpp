#include "runtime/host_array.h"
#include <algorithm>
#include <cstring>
#include <thread>

namespace tilec::runtime {
namespace {

/// Element `index` of memory whose element 0 is at `base` (fp4: at its low nibble).
uint64_t load(DType dtype, const std::byte *base, int64_t index) {
  int bits = info(dtype).bits;
  if (bits == 4)
    return (uint64_t(base[index >> 1]) >> (4 * (index & 1))) & 15;
  uint64_t value = 0;
  std::memcpy(&value, base + index * (bits / 8), size_t(bits / 8));
  return value;
}

void store(DType dtype, std::byte *base, int64_t index, uint64_t value) {
  int bits = info(dtype).bits;
  if (bits == 4) {
    std::byte &b = base[index >> 1];
    int shift = 4 * int(index & 1);
    b = std::byte((uint64_t(b) & ~(uint64_t(15) << shift)) | ((value & 15) << shift));
    return;
  }
  std::memcpy(base + index * (bits / 8), &value, size_t(bits / 8));
}

/// Calls f(dense index, strided offset) for each element in row-major order.
template <class F> void walk(std::span<const int64_t> extents, std::span<const int64_t> strides, F f) {
  int64_t total = elementCount(extents);
  std::vector<int64_t> at(extents.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < total; ++i) {
    f(i, offset);
    for (size_t axis = extents.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < extents[axis])
        break;
      offset -= strides[axis] * extents[axis];
      at[axis] = 0;
    }
  }
}

} // namespace

HostArray HostArray::zeros(DType dtype, std::vector<int64_t> extents) {
  HostArray a{dtype, std::move(extents), {}};
  a.bytes.resize(byteSize(dtype, uint64_t(a.count())));
  return a;
}

int64_t HostArray::count() const { return elementCount(extents); }
uint64_t HostArray::get(int64_t index) const { return load(dtype, bytes.data(), index); }
void HostArray::set(int64_t index, uint64_t bits) { store(dtype, bytes.data(), index, bits); }

double HostArray::value(int64_t index) const {
  uint64_t bits = get(index);
  if (isFloat(dtype))
    return decodeFloat(dtype, bits);
  return dtype == DType::u64 ? double(bits) : double(decodeInt(dtype, bits));
}

int64_t elementCount(std::span<const int64_t> extents) {
  int64_t count = 1;
  for (int64_t e : extents)
    count *= e;
  return count;
}

std::vector<int64_t> coordinates(int64_t index, std::span<const int64_t> extents) {
  std::vector<int64_t> at(extents.size());
  for (size_t axis = extents.size(); axis-- > 0;) {
    int64_t extent = std::max<int64_t>(extents[axis], 1);
    at[axis] = index % extent;
    index /= extent;
  }
  return at;
}

Result<Footprint> footprint(DType dtype, std::span<const int64_t> extents, std::span<const int64_t> strides) {
  if (std::ranges::find(extents, 0) != extents.end())
    return Footprint{};
  __int128 lowest = 0, highest = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    __int128 reach = __int128(extents[i] - 1) * strides[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  int bits = info(dtype).bits;
  __int128 before = (-lowest * bits + 7) / 8, after = ((highest + 1) * bits + 7) / 8;
  constexpr __int128 limit = INT64_MAX;
  if (before > limit || after > limit || before + after > limit)
    return programError("an array takes more than 2^63 bytes");
  return Footprint{uint64_t(before), uint64_t(after)};
}

void spread(const HostArray &dense, std::span<const int64_t> strides, std::span<std::byte> memory) {
  auto place = footprint(dense.dtype, dense.extents, strides);
  if (!place || place->bytes() == 0)
    return;
  std::byte *base = memory.data() + place->before;
  walk(dense.extents, strides, [&](int64_t i, int64_t offset) { store(dense.dtype, base, offset, dense.get(i)); });
}

HostArray collect(DType dtype, std::span<const int64_t> extents, std::span<const int64_t> strides,
                  std::span<const std::byte> memory) {
  HostArray dense = HostArray::zeros(dtype, {extents.begin(), extents.end()});
  auto place = footprint(dtype, extents, strides);
  if (!place || place->bytes() == 0)
    return dense;
  const std::byte *base = memory.data() + place->before;
  walk(extents, strides, [&](int64_t i, int64_t offset) { dense.set(i, load(dtype, base, offset)); });
  return dense;
}

bool isContiguous(std::span<const int64_t> extents, std::span<const int64_t> strides) {
  int64_t wanted = 1;
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] > 1 && strides[axis] != wanted)
      return false;
    wanted *= extents[axis];
  }
  return true;
}

void parallelFor(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)> &body) {
  // A thread costs about as much as filling a few thousand elements.
  constexpr int64_t worthAThread = 1 << 14;
  int64_t threads = std::clamp<int64_t>(count / worthAThread, 1, std::max(1u, std::thread::hardware_concurrency()));
  int64_t slice = (count + threads - 1) / threads;
  slice = (slice + grain - 1) / grain * grain;
  std::vector<std::jthread> pool;
  for (int64_t first = slice; first < count; first += slice)
    pool.emplace_back([&body, first, last = std::min(first + slice, count)] { body(first, last); });
  if (count > 0)
    body(0, std::min(slice, count));
}

} // namespace tilec::runtime
