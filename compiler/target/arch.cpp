#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include <algorithm>
#include <initializer_list>

namespace tilec {

const std::vector<FeatureInfo> &allFeatures() {
  static const std::vector<FeatureInfo> all = {
#define FEATURE(name, doc) {Feature::name, #name, doc},
#include "compiler/target/features.def"
  };
  return all;
}

std::optional<Feature> parseFeature(std::string_view name) {
  for (const FeatureInfo &row : allFeatures())
    if (row.name == name)
      return row.feature;
  return std::nullopt;
}

static std::bitset<featureCount> makeSet(std::initializer_list<Feature> features) {
  std::bitset<featureCount> set;
  for (Feature feature : features)
    set.set(size_t(feature));
  return set;
}

const std::vector<Arch> &allArchs() {
  static const std::vector<Arch> all = [] {
    using enum Feature; // the rows name features bare
    constexpr int64_t kib = 1024;
    return std::vector<Arch>{
#define FEATURES(...) makeSet({__VA_ARGS__})
#define ARCH(name, compiledAs, major, minor, ptxVersion, sharedPerBlock, sharedPerSm, threadsPerSm, blocksPerSm,       \
             maxCluster, features)                                                                                     \
  {#name,        #compiledAs, major,      minor,   ptxVersion, sharedPerBlock * kib, sharedPerSm * kib,                \
   threadsPerSm, blocksPerSm, maxCluster, features},
#include "compiler/target/arch.def"
#undef FEATURES
    };
  }();
  return all;
}

bool Arch::has(std::string_view feature) const {
  std::optional<Feature> known = parseFeature(feature);
  return known && has(*known);
}

std::string ptxFeatures(int version) { return fmt::format("+ptx{}", version); }

const Arch *findArch(std::string_view name) {
  for (const Arch &arch : allArchs())
    if (name == arch.name || name == arch.compiledAs)
      return &arch;
  return nullptr;
}

Result<const Arch *> requireArch(std::string_view name) {
  if (const Arch *arch = findArch(name))
    return arch;
  // No likeness here: sm_70 is near to every name and meant none of them.
  std::vector<std::string> names;
  for (const Arch &arch : allArchs())
    names.emplace_back(arch.name);
  return withHelp(usageError("there is no architecture '{}'", name), "known: " + join(names, ", "));
}

const Arch *archForCapability(int major, int minor) {
  for (const Arch &arch : allArchs())
    if (arch.major == major && arch.minor == minor)
      return &arch;
  return nullptr;
}

int residentBlocks(const Arch &arch, int threads, int registers, int64_t shared) {
  if (threads <= 0 || threads > Arch::threadsPerBlock || registers > Arch::registersPerThread ||
      shared > arch.sharedPerBlock)
    return 0;
  auto roundUp = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  int warps = (threads + Arch::warpSize - 1) / Arch::warpSize;
  int64_t blocks = std::min(arch.blocksPerSm, arch.threadsPerSm / Arch::warpSize / warps);
  if (registers > 0) {
    // Each scheduler has a quarter of the registers, and a warp stays with its scheduler.
    int64_t perWarp = roundUp(int64_t(registers) * Arch::warpSize, 256);
    int64_t warpsThatFit = Arch::registersPerSm / Arch::schedulersPerSm / perWarp * Arch::schedulersPerSm;
    blocks = std::min(blocks, warpsThatFit / warps);
  }
  int64_t perBlock = roundUp(shared + Arch::sharedReserved, 128);
  return int(std::min(blocks, arch.sharedPerSm / perBlock));
}

} // namespace tilec
