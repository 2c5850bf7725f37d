// The fake driver of fake_cuda.h: one exported function per row of runtime/cuda_api.def.
#include "fake_cuda.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilec::runtime;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
FakeCuda state;
/// Entry points handed out, by name; their addresses are the handles.
std::map<std::string, int> functions;
bool capturing = false;

template <class Handle> Handle handle(uintptr_t value) { return reinterpret_cast<Handle>(value); }
const std::string &nameOf(cu::Function function) {
  for (auto &[name, cell] : functions)
    if (handle<cu::Function>(uintptr_t(&cell)) == function)
      return name;
  static const std::string none;
  return none;
}
} // namespace

EXPORT FakeCuda *tilecFakeCudaState() { return &state; }

EXPORT int cuInit(unsigned) { return state.devices < 0 ? 999 : 0; }
EXPORT int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
EXPORT int cuGetErrorName(int code, const char **text) {
  *text = code == cu::illegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == cu::outOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                     : nullptr;
  return 0;
}
EXPORT int cuGetErrorString(int code, const char **text) {
  *text = code == cu::illegalAddress ? "an illegal memory access was encountered" : nullptr;
  return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
  *count = state.devices;
  return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, size_t(length), "Fake GPU");
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  const std::map<int, int> facts = {{cu::computeMajor, state.major},
                                    {cu::computeMinor, state.minor},
                                    {cu::multiprocessorCount, state.multiprocessors},
                                    {cu::l2CacheBytes, 1 << 20},
                                    {cu::maxSharedPerBlock, 48 << 10},
                                    {cu::maxSharedPerBlockOptin, 227 << 10},
                                    {cu::maxSharedPerMultiprocessor, 228 << 10},
                                    {cu::maxRegistersPerMultiprocessor, 65536},
                                    {cu::maxThreadsPerMultiprocessor, 2048},
                                    {cu::clockRateKHz, 1980000},
                                    {cu::memoryClockRateKHz, 3201000},
                                    {cu::memoryBusBits, 6144},
                                    {cu::clusterLaunch, state.clusters}};
  auto it = facts.find(attribute);
  if (it == facts.end())
    return cu::invalidValue;
  *value = it->second;
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(1) << 33;
  return 0;
}
EXPORT int cuDeviceGetUuid(cu::Uuid *uuid, int) {
  for (int i = 0; i < 16; ++i)
    uuid->bytes[i] = uint8_t(i);
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &state;
  ++state.contexts;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORT int cuCtxSetCurrent(void *) { return 0; }
EXPORT int cuCtxSynchronize() { return state.synchronizeResult; }

EXPORT int cuModuleLoadData(void **module, const void *image) {
  if (std::memcmp(image, ".version", 8) == 0 && !state.compilesPtx)
    return 221;
  *module = &functions;
  return state.loadResult;
}
EXPORT int cuModuleUnload(void *) { return 0; }
EXPORT int cuModuleGetFunction(void **function, void *, const char *name) {
  *function = &functions[name];
  return 0;
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *) {
  *value = attribute == cu::funcMaxThreads ? 1024 : attribute == cu::funcSharedBytes ? state.sharedStatic : 32;
  return 0;
}
EXPORT int cuFuncSetAttribute(void *, int attribute, int value) {
  state.functionAttributes[attribute] = value;
  return 0;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t) {
  *blocks = state.blocksPerMultiprocessor;
  return 0;
}
EXPORT int cuOccupancyMaxActiveClusters(int *clusters, void *, const cu::LaunchConfig *config) {
  const auto &c = config->attributes[0].value.cluster;
  *clusters = state.blocksPerMultiprocessor * state.multiprocessors / int(c.x * c.y * c.z);
  return 0;
}
EXPORT int cuLaunchKernelEx(const cu::LaunchConfig *config, cu::Function function, void **params, void **) {
  FakeLaunch launch{nameOf(function), *config, {config->attributes, config->attributes + config->attributeCount}};
  launch.config.attributes = nullptr; // its memory ends with the call
  state.launches.push_back(launch);
  if (state.onLaunch && !capturing)
    state.onLaunch(launch, params);
  return state.launchResult;
}
EXPORT int cuTensorMapEncodeTiled(cu::TensorMap *map, int dataType, uint32_t rank, void *base, const uint64_t *dims,
                                  const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle,
                                  int l2Promotion, int fill) {
  state.maps.push_back({dataType,
                        uint64_t(base),
                        {dims, dims + rank},
                        {strides, strides + rank - 1},
                        {box, box + rank},
                        swizzle,
                        l2Promotion,
                        fill});
  map->opaque[0] = state.maps.size();
  return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  if (bytes > size_t(1) << 32)
    return cu::outOfMemory;
  void *memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  *pointer = uint64_t(memory);
  state.memory[*pointer] = bytes;
  return 0;
}
EXPORT int cuMemFree_v2(uint64_t pointer) {
  state.memory.erase(pointer);
  std::free(reinterpret_cast<void *>(pointer));
  return 0;
}
EXPORT int cuMemGetInfo_v2(size_t *available, size_t *total) {
  *available = *total = size_t(1) << 33;
  return 0;
}
EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return 0;
}
EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) {
  std::memset(reinterpret_cast<void *>(to), value, count);
  return 0;
}
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *) {
  ++state.memsets;
  std::memset(reinterpret_cast<void *>(to), value, count);
  return 0;
}

EXPORT int cuStreamCreate(void **stream, unsigned) {
  *stream = &capturing;
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *) { return 0; }
EXPORT int cuStreamSynchronize(void *) { return state.synchronizeResult; }
EXPORT int cuStreamBeginCapture_v2(void *, int) {
  capturing = true;
  return 0;
}
EXPORT int cuStreamEndCapture(void *, void **graph) {
  capturing = false;
  *graph = &state.graphs;
  return 0;
}
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *, unsigned long long) {
  ++state.graphs;
  *exec = &state.graphLaunches;
  return 0;
}
EXPORT int cuGraphLaunch(void *, void *) {
  ++state.graphLaunches;
  return 0;
}
EXPORT int cuGraphExecDestroy(void *) { return 0; }
EXPORT int cuGraphDestroy(void *) { return 0; }

EXPORT int cuEventCreate(void **event, unsigned) {
  *event = &state.times;
  return 0;
}
EXPORT int cuEventDestroy_v2(void *) { return 0; }
EXPORT int cuEventRecord(void *, void *) { return 0; }
EXPORT int cuEventSynchronize(void *) { return state.synchronizeResult; }
EXPORT int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 0.01f;
  if (!state.times.empty()) {
    *milliseconds = state.times.front();
    state.times.pop_front();
  }
  return 0;
}
