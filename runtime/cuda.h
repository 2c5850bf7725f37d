#pragma once
// The CUDA Driver API, opened at run time: no CUDA header and no CUDA library is needed to build. Functions stand in
// cuda_api.def; the types and constants below are the ones that its ABI fixes.
#include "compiler/base/result.h"
#include <cstddef>
#include <cstdint>

namespace tilec::runtime {

namespace cu {
using Code = int; ///< CUresult; 0 is success
using Device = int;
using DevicePtr = uint64_t;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

struct Uuid {
  unsigned char bytes[16];
};
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

enum Error : int {
  invalidValue = 1,
  outOfMemory = 2,
  noDevice = 100,
  invalidDevice = 101,
  noBinaryForGpu = 209,
  notFound = 500,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPc = 718,
  launchFailed = 719,
};

enum DeviceAttribute : int {
  maxSharedPerBlock = 8,
  clockRateKHz = 13,
  multiprocessorCount = 16,
  memoryClockRateKHz = 36,
  memoryBusBits = 37,
  l2CacheBytes = 38,
  maxThreadsPerMultiprocessor = 39,
  computeMajor = 75,
  computeMinor = 76,
  maxSharedPerMultiprocessor = 81,
  maxRegistersPerMultiprocessor = 82,
  maxSharedPerBlockOptin = 97,
  clusterLaunch = 120,
};

enum FunctionAttribute : int {
  funcMaxThreads = 0,
  funcSharedBytes = 1,
  funcConstBytes = 2,
  funcLocalBytes = 3,
  funcRegisters = 4,
  funcMaxDynamicSharedBytes = 8,
  funcNonPortableClusterAllowed = 14,
};

enum : unsigned { streamNonBlocking = 1 };
enum : int { captureThreadLocal = 1 };

enum LaunchAttributeId : int { launchClusterDimension = 4, launchProgrammaticSerialization = 6 };
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmaticSerialization;
  } value;
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
} // namespace cu

/// The driver's functions.
struct Driver {
#define CUDA_API(member, symbol, need, parameters) cu::Code(*member) parameters = nullptr;
#include "runtime/cuda_api.def"
  int version = 0;  ///< CUDA version that the driver implements: 1000 · major + 10 · minor
  std::string path; ///< library it came from
};

/// Opens a driver library and initialises it. Errors: NoDevice (no library, too old, cuInit refuses), with the mend.
Result<Driver> openDriver(const std::string &path);
/// The driver of this process: TILEC_CUDA_DRIVER, else libcuda.so.1; opened at the first call.
Result<const Driver *> driver();

/// Turns a driver's answer into a Status: `cannot WHAT: CUDA_ERROR_… (text)`. Faults of a running kernel are Program,
/// a missing device NoDevice, memory that runs out Usage, the rest Internal. `detail` holds the name of the code.
Status check(const Driver &driver, cu::Code code, std::string_view what);
/// Whether a failure leaves the context of the process unusable (an illegal access and its kin).
bool isSticky(const Error &error);

} // namespace tilec::runtime
