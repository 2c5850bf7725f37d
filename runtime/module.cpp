#include "runtime/module.h"

namespace tilec::runtime {

Result<Module> Module::load(const Device &device, std::string_view cubin, std::string_view arch) {
  Module m(device);
  // The driver reads a header that tells the length; an image cut short must not reach it.
  if (cubin.size() < 64 || !cubin.starts_with("\x7f"
                                              "ELF"))
    return usageError("the binary of this artifact is no cubin ({} bytes)", cubin.size());
  cu::Code code = device.api().moduleLoadData(&m.handle, cubin.data());
  if (code == cu::noBinaryForGpu)
    return withHelp(programError("the cubin is for {} and GPU {} ({}) is {}", arch, device.facts().ordinal,
                                 device.facts().name, device.facts().arch()),
                    fmt::format("build with --arch {}", device.facts().arch()));
  TILEC_TRY(device.check(code, "load the cubin"));
  return m;
}

Module::~Module() {
  if (handle)
    device->api().moduleUnload(handle);
}

Result<Kernel> Module::kernel(const LaunchSpec &spec) const {
  const Driver &api = device->api();
  const DeviceFacts &gpu = device->facts();
  Kernel k;
  TILEC_TRY(device->check(api.moduleGetFunction(&k.function, handle, spec.entry.c_str()),
                          fmt::format("find '{}' in the cubin", spec.entry)));
  std::string what = fmt::format("read the resources of '{}'", spec.entry);
  int registers = 0, shared = 0, local = 0;
  const std::pair<int, int *> attributes[] = {{cu::funcRegisters, &registers},
                                              {cu::funcSharedBytes, &shared},
                                              {cu::funcLocalBytes, &local},
                                              {cu::funcMaxThreads, &k.maxThreads}};
  for (auto [attribute, value] : attributes)
    TILEC_TRY(device->check(api.funcGetAttribute(value, attribute, k.function), what));
  k.resources.registers = registers;
  k.resources.staticSharedBytes = shared;
  k.resources.stackBytes = local;

  if (spec.threads > k.maxThreads)
    return programError("'{}' has blocks of {} threads, and its {} registers allow {}", spec.entry, spec.threads,
                        registers, k.maxThreads);
  int64_t need = spec.dynamicSharedBytes + shared;
  if (need > gpu.sharedPerBlockOptin)
    return withHelp(programError("'{}' needs {} bytes of shared memory per block, and {} has {}", spec.entry, need,
                                 gpu.name, gpu.sharedPerBlockOptin),
                    "smaller tiles or a lower latency hint need less");
  // Without this the driver refuses whatever passes the default limit (48 KiB).
  if (need > gpu.sharedPerBlock)
    TILEC_TRY(
        device->check(api.funcSetAttribute(k.function, cu::funcMaxDynamicSharedBytes, int(spec.dynamicSharedBytes)),
                      fmt::format("give '{}' {} bytes of shared memory", spec.entry, spec.dynamicSharedBytes)));

  TILEC_TRY(device->check(
      api.occupancyBlocks(&k.blocksPerMultiprocessor, k.function, spec.threads, size_t(spec.dynamicSharedBytes)),
      fmt::format("ask for the occupancy of '{}'", spec.entry)));
  k.residentBlocks = int64_t(k.blocksPerMultiprocessor) * gpu.multiprocessors;

  int size = spec.cluster[0] * spec.cluster[1] * spec.cluster[2];
  if (size == 1)
    return k;
  if (!gpu.clusters || !api.occupancyClusters)
    return programError("'{}' runs in clusters of {}, and {} has none", spec.entry, size, gpu.name);
  // 8 is the size that every GPU with clusters has; a larger one must be asked for.
  constexpr int portableCluster = 8;
  if (size > portableCluster)
    TILEC_TRY(device->check(api.funcSetAttribute(k.function, cu::funcNonPortableClusterAllowed, 1),
                            fmt::format("allow '{}' clusters of {}", spec.entry, size)));
  cu::LaunchAttribute cluster{};
  cluster.id = cu::launchClusterDimension;
  cluster.value.cluster = {unsigned(spec.cluster[0]), unsigned(spec.cluster[1]), unsigned(spec.cluster[2])};
  cu::LaunchConfig config{unsigned(spec.cluster[0]),
                          unsigned(spec.cluster[1]),
                          unsigned(spec.cluster[2]),
                          unsigned(spec.threads),
                          1,
                          1,
                          unsigned(spec.dynamicSharedBytes),
                          nullptr,
                          &cluster,
                          1};
  int clusters = 0;
  TILEC_TRY(device->check(api.occupancyClusters(&clusters, k.function, &config),
                          fmt::format("ask for the clusters of '{}'", spec.entry)));
  if (clusters == 0)
    return programError("no cluster of {} blocks of '{}' fits {}", size, spec.entry, gpu.name);
  k.residentBlocks = clusters;
  return k;
}

} // namespace tilec::runtime
