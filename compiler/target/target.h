#pragma once
// What the compiler knows of architectures (arch.def, features.def) and hints (hints.def). Nothing outside this folder
// compares architecture numbers: passes ask for features and limits.
#include "compiler/base/result.h"
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

enum class Feature : uint8_t {
#define FEATURE(name, doc) name,
#include "compiler/target/features.def"
};
#define FEATURE(name, doc) +1
inline constexpr size_t featureCount = 0
#include "compiler/target/features.def"
    ;

struct FeatureInfo {
  Feature feature;
  std::string_view name, doc;
};
const std::vector<FeatureInfo> &allFeatures();
std::optional<Feature> parseFeature(std::string_view name);

/// One architecture. Shared memory in bytes.
struct Arch {
  std::string_view name;       ///< as users write it: sm_90
  std::string_view compiledAs; ///< what LLVM and the assembler are given: sm_90a
  int major, minor;            ///< compute capability
  int ptxVersion;              ///< oldest PTX that knows the target: 80 is 8.0
  int64_t sharedPerBlock;      ///< the most one block may have, dynamic shared memory with opt-in
  int64_t sharedPerSm;
  int threadsPerSm;
  int blocksPerSm;
  int maxCluster; ///< blocks of a cluster; 1: there are none
  std::bitset<featureCount> features;

  static constexpr int warpSize = 32;
  static constexpr int threadsPerBlock = 1024;
  static constexpr int registersPerSm = 65536;
  static constexpr int registersPerThread = 255;
  static constexpr int schedulersPerSm = 4;
  static constexpr int sharedReserved = 1024; ///< what the driver keeps of an SM's shared memory for each block
  static constexpr int portableCluster = 8;   ///< larger clusters need a launch attribute

  bool has(Feature feature) const { return features[size_t(feature)]; }
  /// By name, for tests and `explain`; false for an unknown one.
  bool has(std::string_view feature) const;
  int warpsPerScheduler() const { return threadsPerSm / warpSize / schedulersPerSm; }
};

/// Newest PTX version that LLVM 22 writes and the assembler of CUDA 13.0 reads.
inline constexpr int newestPtx = 90;
/// LLVM's feature string for a PTX version (`+ptx90`): without it LLVM holds newer instructions back.
std::string ptxFeatures(int version = newestPtx);

const std::vector<Arch> &allArchs();
/// By either name (sm_90, sm_90a); null when there is none.
const Arch *findArch(std::string_view name);
/// The same with a usage error that names the nearest one, or all.
Result<const Arch *> requireArch(std::string_view name);
/// The architecture of a device; null when it is not supported.
const Arch *archForCapability(int major, int minor);

/// Blocks of a kernel that fit on one SM at a time: threads a block, registers a thread (0: unknown) and shared memory
/// a block in bytes. Registers are given out by warps in units of 256, shared memory in units of 128 bytes.
int residentBlocks(const Arch &arch, int threads, int registers, int64_t shared);

enum class HintPlace : uint8_t { Kernel, Load, Store };
enum class HintKind : uint8_t { PowerOfTwo, Range, Bool };
enum class HintRule : uint8_t { Any, Clusters };

struct HintInfo {
  std::string_view name;
  uint8_t places; ///< bits of HintPlace
  bool viewsOnly; ///< of accesses, only those of views take it
  HintKind kind;
  int64_t min, max;
  std::optional<int64_t> defaultValue; ///< empty: the compiler chooses
  HintRule rule;
  std::string_view doc;

  bool allowedOn(HintPlace place) const { return places >> int(place) & 1; }
};
const std::vector<HintInfo> &allHints();
/// Null when there is no such hint.
const HintInfo *findHint(std::string_view name);
/// Names of the hints of a place, for messages.
std::vector<std::string> hintNames(HintPlace place);
/// Names of the hints that an access takes: `load` and `store` of views, `gather` and `scatter` of elements; atomics
/// take none.
std::vector<std::string> accessHints(std::string_view operation);

/// Legal values in rising order; without an architecture, those legal on any.
std::vector<int64_t> legalValues(const HintInfo &hint, const Arch *arch);
/// The same for a message: `1, 2, 4, 8, 16`, `1 to 10` or `true, false`.
std::string legalText(const HintInfo &hint, const Arch *arch);
/// The value itself, or a usage error of one sentence that lists the legal ones.
Result<int64_t> checkHint(const HintInfo &hint, const Arch *arch, int64_t value);

} // namespace tilec
