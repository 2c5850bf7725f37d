#pragma once
// A CUDA driver for tests without a GPU: device memory is host memory, launches are recorded and may be answered by a
// function of the test. The library is opened like a real one (TILEC_CUDA_DRIVER); tests reach its state through
// fakeCuda().
#include "runtime/cuda.h"
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace tilec::runtime {

struct FakeLaunch {
  std::string entry;
  cu::LaunchConfig config;
  std::vector<cu::LaunchAttribute> attributes;
};

struct FakeTensorMap {
  int dataType = 0;
  uint64_t base = 0;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box;
  int swizzle = 0, l2Promotion = 0, fill = 0;
};

struct FakeCuda {
  int devices = 1;
  int major = 9, minor = 0, multiprocessors = 4, clusters = 1;
  int blocksPerMultiprocessor = 2;
  int sharedStatic = 1024;
  bool compilesPtx = true;
  cu::Code loadResult = 0, launchResult = 0, synchronizeResult = 0;
  std::deque<float> times; ///< milliseconds that event pairs give, in order; then 0.01
  void (*onLaunch)(const FakeLaunch &launch, void **params) = nullptr;

  std::map<uint64_t, size_t> memory; ///< live allocations
  std::vector<FakeLaunch> launches;
  std::vector<FakeTensorMap> maps;
  std::map<int, int> functionAttributes; ///< as set
  int graphs = 0, graphLaunches = 0, memsets = 0, contexts = 0;
};

/// The state of the fake driver behind a library path that openDriver() has opened.
FakeCuda &fakeCuda(const std::string &library);

} // namespace tilec::runtime
