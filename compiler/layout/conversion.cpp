#include "compiler/layout/conversion.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <set>
#include <tuple>

namespace tilec::layout {

std::string_view name(ConversionKind kind) {
  static constexpr std::array<std::string_view, 4> names = {"registers", "shuffles", "shared memory", "cluster"};
  return names[size_t(kind)];
}

std::optional<std::vector<uint32_t>> registerSources(const LinearLayout &src, const LinearLayout &dst) {
  for (InDim dim : {InDim::Lane, InDim::Warp, InDim::Block})
    if (src.bases(dim) != dst.bases(dim))
      return std::nullopt;
  Span span;
  for (uint64_t basis : src.bases(InDim::Register))
    span.add(basis);
  BitMatrix map;
  for (uint64_t basis : dst.bases(InDim::Register)) {
    auto from = span.combination(basis);
    if (!from)
      return std::nullopt;
    map.columns.push_back(*from);
  }
  std::vector<uint32_t> result;
  for (uint32_t reg = 0; reg < dst.registers(); ++reg)
    result.push_back(uint32_t(map.apply(reg)));
  return result;
}

/// The map of a conversion within warps, or nothing when an element lies in another warp.
static std::optional<BitMatrix> withinWarps(const LinearLayout &src, const LinearLayout &dst) {
  Span span;
  for (InDim dim : {InDim::Register, InDim::Lane})
    for (uint64_t basis : src.bases(dim))
      span.add(basis);
  BitMatrix map;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (size_t bit = 0; bit < dst.bases(dim).size(); ++bit) {
      // A warp reads from itself, so what its own bits contribute in the source is already there.
      uint64_t wanted = dst.bases(dim)[bit] ^ (dim == InDim::Warp ? src.bases(dim)[bit] : 0);
      auto from = span.combination(wanted);
      if (!from)
        return std::nullopt;
      map.columns.push_back(*from);
    }
  return map;
}

Conversion classify(const LinearLayout &src, const LinearLayout &dst, int maxShuffles) {
  assert(src.shape() == dst.shape() && src.inBits(InDim::Lane) == dst.inBits(InDim::Lane) &&
         src.inBits(InDim::Warp) == dst.inBits(InDim::Warp));
  Conversion result;
  if (auto registers = registerSources(src, dst)) {
    result.registers = std::move(*registers);
    return result;
  }
  if (src.bases(InDim::Block) != dst.bases(InDim::Block)) {
    result.kind = ConversionKind::Cluster;
    return result;
  }
  result.kind = ConversionKind::Shared;
  if (auto map = withinWarps(src, dst)) {
    uint64_t registerMask = src.registers() - 1;
    Span varying; // the part of the source register that depends on lane and warp
    for (size_t bit = size_t(dst.inBits(InDim::Register)); bit < map->columns.size(); ++bit)
      varying.add(map->columns[bit] & registerMask);
    int shuffles = int(dst.registers()) << varying.rank();
    if (shuffles <= maxShuffles) {
      result.kind = ConversionKind::Shuffles;
      result.source = std::move(*map);
      result.shuffles = shuffles;
    }
  }
  return result;
}

int wavefronts(std::span<const uint64_t> offsets, int bytes) {
  size_t group = bytes <= 4 ? 32 : size_t(32 * 4 / bytes);
  int total = 0;
  for (size_t first = 0; first < offsets.size(); first += group) {
    std::array<std::set<uint64_t>, 32> words;
    for (uint64_t offset : offsets.subspan(first, std::min(group, offsets.size() - first)))
      for (uint64_t word = offset / 4; word <= (offset + uint64_t(bytes) - 1) / 4; ++word)
        words[word % 32].insert(word);
    size_t most = 0;
    for (const auto &bank : words)
      most = std::max(most, bank.size());
    total += int(most);
  }
  return total;
}

int sharedWavefronts(const LinearLayout &layout, const Swizzle &swizzle, int vectorBits, int elementBytes) {
  // The map is linear, so another register or warp only XORs a constant into every offset: one access stands for all.
  std::vector<uint64_t> offsets;
  for (uint32_t lane = 0; lane < layout.size(InDim::Lane); ++lane)
    offsets.push_back(swizzle.apply(layout.apply({0, lane, 0, 0})) * uint64_t(elementBytes));
  int accesses = int(layout.registers()) >> vectorBits;
  return accesses * wavefronts(offsets, elementBytes << vectorBits);
}

SharedPlan planShared(const LinearLayout &src, const LinearLayout &dst, int elementBytes) {
  int64_t flat = src.numElements();
  int total = src.elementBits(), widest = std::countr_zero(unsigned(16 / elementBytes));
  int srcRun = std::min(src.reshape({flat}).contiguousBits(0), widest);
  int dstRun = std::min(dst.reshape({flat}).contiguousBits(0), widest);

  SharedPlan best;
  std::tuple<int, int, int> bestCost{INT32_MAX, 0, 0};
  auto consider = [&](Swizzle swizzle) {
    // A vector must stay whole: with mixed bits it ends where the mixing begins.
    SharedPlan plan{swizzle, srcRun, dstRun, 0, 0};
    if (swizzle.bits) {
      plan.storeVectorBits = std::min(srcRun, swizzle.base);
      plan.loadVectorBits = std::min(dstRun, swizzle.base);
    }
    plan.storeWavefronts = sharedWavefronts(src, swizzle, plan.storeVectorBits, elementBytes);
    plan.loadWavefronts = sharedWavefronts(dst, swizzle, plan.loadVectorBits, elementBytes);
    int instructions = int(src.registers() >> plan.storeVectorBits) + int(dst.registers() >> plan.loadVectorBits);
    std::tuple cost{plan.storeWavefronts + plan.loadWavefronts, instructions, swizzle.bits};
    if (cost < bestCost) {
      bestCost = cost;
      best = plan;
    }
  };
  consider({});
  for (int base = 0; base <= std::max(srcRun, dstRun); ++base)
    for (int bits = 1; bits <= 5; ++bits)
      for (int distance = bits; base + bits + distance <= total; ++distance)
        consider({base, bits, distance});
  return best;
}

} // namespace tilec::layout
