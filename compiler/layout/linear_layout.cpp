#include "compiler/layout/linear_layout.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace tilec::layout {

std::string_view name(InDim dim) {
  static constexpr std::array<std::string_view, 4> names = {"register", "lane", "warp", "block"};
  return names[size_t(dim)];
}

LinearLayout::LinearLayout(Shape shape, Bases bases) : extents(std::move(shape)), in(std::move(bases)) {
  assert(std::ranges::all_of(extents, [](int64_t e) { return e > 0 && std::has_single_bit(uint64_t(e)); }));
  assert(std::ranges::all_of(in, [&](const auto &list) {
    return std::ranges::all_of(list, [&](uint64_t basis) { return basis < uint64_t(numElements()); });
  }));
}

int64_t LinearLayout::numElements() const {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}
int LinearLayout::elementBits() const { return std::countr_zero(uint64_t(numElements())); }
int LinearLayout::dimBits(int dim) const { return std::countr_zero(uint64_t(extents[size_t(dim)])); }
int LinearLayout::dimShift(int dim) const {
  int shift = 0;
  for (int d = rank() - 1; d > dim; --d)
    shift += dimBits(d);
  return shift;
}

uint64_t LinearLayout::apply(const Place &place) const { return matrix().apply(pack(place)); }

std::vector<int64_t> LinearLayout::coords(uint64_t element) const {
  std::vector<int64_t> result;
  for (int dim = 0; dim < rank(); ++dim)
    result.push_back(int64_t(element >> dimShift(dim)) & (extents[size_t(dim)] - 1));
  return result;
}

uint64_t LinearLayout::index(std::span<const int64_t> coordinates) const {
  uint64_t element = 0;
  for (int dim = 0; dim < rank(); ++dim)
    element |= uint64_t(coordinates[size_t(dim)]) << dimShift(dim);
  return element;
}

BitMatrix LinearLayout::matrix() const {
  BitMatrix result;
  for (const auto &list : in)
    result.columns.insert(result.columns.end(), list.begin(), list.end());
  return result;
}

uint64_t LinearLayout::pack(const Place &place) const {
  uint64_t input = 0;
  int shift = 0;
  for (auto [dim, value] : {std::pair{InDim::Register, place.reg},
                            {InDim::Lane, place.lane},
                            {InDim::Warp, place.warp},
                            {InDim::Block, place.block}}) {
    input |= uint64_t(value) << shift;
    shift += inBits(dim);
  }
  return input;
}

Place LinearLayout::unpack(uint64_t input) const {
  auto take = [&](InDim dim) {
    uint32_t value = uint32_t(input) & (size(dim) - 1);
    input >>= inBits(dim);
    return value;
  };
  Place place;
  place.reg = take(InDim::Register);
  place.lane = take(InDim::Lane);
  place.warp = take(InDim::Warp);
  place.block = take(InDim::Block);
  return place;
}

BitMatrix LinearLayout::inverse() const { return matrix().pseudoInverse(elementBits()); }
bool LinearLayout::isSurjective() const { return matrix().rank() == elementBits(); }
bool LinearLayout::isInjective() const { return matrix().dependentInputs() == 0; }

uint32_t LinearLayout::freeMask(InDim dim) const {
  uint64_t dependent = matrix().dependentInputs();
  for (InDim before : allInDims) {
    if (before == dim)
      break;
    dependent >>= inBits(before);
  }
  return uint32_t(dependent) & (size(dim) - 1);
}

int LinearLayout::contiguousBits(int dim) const {
  int bits = 0;
  while (bits < dimBits(dim) && std::ranges::count(bases(InDim::Register), uint64_t(1) << (dimShift(dim) + bits)))
    ++bits;
  return bits;
}

std::vector<int> LinearLayout::contiguousRegisterBits(int dim, int bits) const {
  const auto &registerBases = bases(InDim::Register);
  std::vector<int> result;
  for (int bit = 0; bit < bits; ++bit)
    result.push_back(
        int(std::ranges::find(registerBases, uint64_t(1) << (dimShift(dim) + bit)) - registerBases.begin()));
  return result;
}

LinearLayout LinearLayout::withoutRegisterReplicas() const {
  // Only redundancy among the registers themselves counts: a register that repeats another lane's element stays.
  LinearLayout result = *this;
  std::vector<uint64_t> kept;
  Span span;
  for (uint64_t basis : bases(InDim::Register))
    if (span.add(basis))
      kept.push_back(basis);
  result.in[size_t(InDim::Register)] = std::move(kept);
  return result;
}

LinearLayout LinearLayout::project(const Shape &shape) const {
  uint64_t mask = 0;
  for (int dim = 0; dim < rank(); ++dim) {
    assert(shape[size_t(dim)] == extents[size_t(dim)] || shape[size_t(dim)] == 1);
    if (shape[size_t(dim)] != 1)
      mask |= uint64_t(extents[size_t(dim)] - 1) << dimShift(dim);
  }
  // Dropping the bits of vanished dimensions closes the gaps they leave in the row-major index.
  auto squeeze = [&](uint64_t basis) {
    uint64_t result = 0;
    int to = 0;
    for (int bit = 0; bit < elementBits(); ++bit)
      if (mask >> bit & 1)
        result |= (basis >> bit & 1) << to++;
    return result;
  };
  LinearLayout result(shape, {});
  for (InDim dim : allInDims)
    for (uint64_t basis : bases(dim))
      result.in[size_t(dim)].push_back(squeeze(basis));
  return result;
}

LinearLayout LinearLayout::beforeBroadcast(const Shape &shape) const {
  return project(shape).withoutRegisterReplicas();
}

LinearLayout LinearLayout::collapse(int dim) const {
  Shape shape = extents;
  shape[size_t(dim)] = 1;
  return beforeBroadcast(shape);
}

LinearLayout LinearLayout::slice(int dim) const {
  Shape shape = extents;
  shape.erase(shape.begin() + dim);
  return collapse(dim).reshape(std::move(shape));
}

LinearLayout LinearLayout::broadcast(const Shape &shape) const {
  LinearLayout result(shape, {});
  auto spread = [&](uint64_t element) { return result.index(coords(element)); };
  for (InDim dim : allInDims)
    for (uint64_t basis : bases(dim))
      result.in[size_t(dim)].push_back(spread(basis));
  for (int dim = rank() - 1; dim >= 0; --dim)
    for (int bit = dimBits(dim); bit < result.dimBits(dim); ++bit)
      result.in[size_t(InDim::Register)].push_back(uint64_t(1) << (result.dimShift(dim) + bit));
  return result;
}

LinearLayout LinearLayout::reshape(Shape shape) const {
  LinearLayout result(std::move(shape), in);
  assert(result.numElements() == numElements());
  return result;
}

LinearLayout LinearLayout::transpose(std::span<const int> order) const {
  Shape shape;
  for (int dim : order)
    shape.push_back(extents[size_t(dim)]);
  LinearLayout result(std::move(shape), {});
  for (InDim dim : allInDims)
    for (uint64_t basis : bases(dim)) {
      std::vector<int64_t> from = coords(basis), to;
      for (int d : order)
        to.push_back(from[size_t(d)]);
      result.in[size_t(dim)].push_back(result.index(to));
    }
  return result;
}

std::string LinearLayout::toString() const {
  std::string text = fmt::format("[{}]", fmt::join(extents, ", "));
  for (InDim dim : allInDims)
    text += fmt::format(" {} [{}]", name(dim), fmt::join(bases(dim), ", "));
  return text;
}

LinearLayout blocked(const BlockedSpec &spec) {
  LinearLayout frame(spec.shape, {});
  std::vector<int> order = spec.order;
  if (order.empty())
    for (int dim = frame.rank() - 1; dim >= 0; --dim)
      order.push_back(dim);
  const std::vector<int> &warpOrder = spec.warpOrder.empty() ? order : spec.warpOrder;

  std::vector<int> used(spec.shape.size(), 0); // bits of each dimension that already have an input
  LinearLayout::Bases bases;
  // Gives up to `bits` coordinate bits to an input dimension, walking the dimensions in order; the rest are replicas.
  auto fill = [&](InDim in, int bits, std::span<const int> dims, bool pad) {
    auto &list = bases[size_t(in)];
    for (int dim : dims)
      for (; bits > 0 && used[size_t(dim)] < frame.dimBits(dim); --bits)
        list.push_back(uint64_t(1) << (frame.dimShift(dim) + used[size_t(dim)]++));
    if (pad)
      list.insert(list.end(), size_t(bits), 0);
  };
  auto log2 = [](uint64_t value) { return std::countr_zero(value); };
  if (!order.empty())
    fill(InDim::Register, log2(uint64_t(spec.vector)), std::span(order).first(1), false);
  fill(InDim::Lane, log2(uint64_t(spec.lanes)), order, true);
  fill(InDim::Warp, log2(uint64_t(spec.warps)), warpOrder, true);
  fill(InDim::Register, frame.elementBits(), order, false);
  return LinearLayout(spec.shape, std::move(bases));
}

} // namespace tilec::layout
