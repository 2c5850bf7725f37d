#include "runtime/host_array.h"
#include <algorithm>
#include <thread>

namespace tilec::runtime {
namespace {

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

double HostArray::value(int64_t index) const {
  uint64_t bits = get(index);
  if (isFloat(dtype))
    return decodeFloat(dtype, bits);
  return dtype == DType::u64 ? double(bits) : double(decodeInt(dtype, bits));
}

int64_t elementCount(std::span<const int64_t> extents) {
  // An extent of 0 behind others that overflow still makes an empty array.
  if (std::ranges::find(extents, 0) != extents.end())
    return 0;
  int64_t count = 1;
  for (int64_t e : extents)
    if (__builtin_mul_overflow(count, e, &count))
      return INT64_MAX;
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
  constexpr __int128 limit = INT64_MAX;
  __int128 lowest = 0, highest = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    __int128 reach = __int128(extents[i] - 1) * strides[i];
    (reach < 0 ? lowest : highest) += reach;
    if (highest > limit || lowest < -limit)
      return programError("an array takes more than 2^63 bytes");
  }
  int bits = info(dtype).bits;
  __int128 before = (-lowest * bits + 7) / 8, after = ((highest + 1) * bits + 7) / 8;
  if (before > limit || after > limit || before + after > limit)
    return programError("an array takes more than 2^63 bytes");
  return Footprint{uint64_t(before), uint64_t(after)};
}

void spread(const HostArray &dense, std::span<const int64_t> strides, std::span<std::byte> memory) {
  auto place = footprint(dense.dtype, dense.extents, strides);
  if (!place || place->bytes() == 0)
    return;
  std::byte *base = memory.data() + place->before;
  walk(dense.extents, strides,
       [&](int64_t i, int64_t offset) { storeElement(info(dense.dtype).bits, base, offset, dense.get(i)); });
}

HostArray collect(DType dtype, std::span<const int64_t> extents, std::span<const int64_t> strides,
                  std::span<const std::byte> memory) {
  HostArray dense = HostArray::zeros(dtype, {extents.begin(), extents.end()});
  auto place = footprint(dtype, extents, strides);
  if (!place || place->bytes() == 0)
    return dense;
  const std::byte *base = memory.data() + place->before;
  walk(extents, strides, [&](int64_t i, int64_t offset) { dense.set(i, loadElement(info(dtype).bits, base, offset)); });
  return dense;
}

bool isContiguous(std::span<const int64_t> extents, std::span<const int64_t> strides) {
  int64_t wanted = 1;
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] > 1 && strides[axis] != wanted)
      return false;
    if (__builtin_mul_overflow(wanted, extents[axis], &wanted))
      wanted = INT64_MAX; // no array of this machine
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
