#include "runtime/device.h"

namespace tilec::runtime {
namespace {

std::string uuidText(const cu::Uuid &uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
  return text;
}

Result<DeviceFacts> describe(const Driver &d, int ordinal) {
  DeviceFacts f;
  f.ordinal = ordinal;
  f.driverVersion = d.version;
  cu::Device device = 0;
  std::string what = fmt::format("read the facts of GPU {}", ordinal);
  TILEC_TRY(check(d, d.deviceGet(&device, ordinal), what));
  char name[256] = "";
  TILEC_TRY(check(d, d.deviceGetName(name, sizeof(name), device), what));
  f.name = name;
  cu::Uuid uuid{};
  TILEC_TRY(check(d, d.deviceGetUuid(&uuid, device), what));
  f.uuid = uuidText(uuid);
  size_t memory = 0;
  TILEC_TRY(check(d, d.deviceTotalMem(&memory, device), what));
  f.memoryBytes = int64_t(memory);
  int l2 = 0, clusters = 0;
  const std::pair<int, int *> attributes[] = {
      {cu::computeMajor, &f.major},
      {cu::computeMinor, &f.minor},
      {cu::multiprocessorCount, &f.multiprocessors},
      {cu::l2CacheBytes, &l2},
      {cu::maxSharedPerBlock, &f.sharedPerBlock},
      {cu::maxSharedPerBlockOptin, &f.sharedPerBlockOptin},
      {cu::maxSharedPerMultiprocessor, &f.sharedPerMultiprocessor},
      {cu::maxRegistersPerMultiprocessor, &f.registersPerMultiprocessor},
      {cu::maxThreadsPerMultiprocessor, &f.threadsPerMultiprocessor},
      {cu::clockRateKHz, &f.clockKHz},
      {cu::memoryClockRateKHz, &f.memoryClockKHz},
      {cu::memoryBusBits, &f.memoryBusBits},
      {cu::clusterLaunch, &clusters},
  };
  for (auto [attribute, value] : attributes)
    // An attribute that the driver does not know (clocks in virtual machines) stays 0.
    if (cu::Code code = d.deviceGetAttribute(value, attribute, device); code && code != cu::invalidValue)
      TILEC_TRY(check(d, code, what));
  f.l2Bytes = l2;
  f.clusters = clusters != 0;
  return f;
}

} // namespace

Json toJson(const DeviceFacts &f) {
  return {{"ordinal", f.ordinal},
          {"name", f.name},
          {"uuid", f.uuid},
          {"arch", f.arch()},
          {"multiprocessors", f.multiprocessors},
          {"l2_bytes", f.l2Bytes},
          {"memory_bytes", f.memoryBytes},
          {"shared_bytes_per_block", f.sharedPerBlockOptin},
          {"shared_bytes_per_multiprocessor", f.sharedPerMultiprocessor},
          {"registers_per_multiprocessor", f.registersPerMultiprocessor},
          {"threads_per_multiprocessor", f.threadsPerMultiprocessor},
          {"clock_khz", f.clockKHz},
          {"memory_clock_khz", f.memoryClockKHz},
          {"memory_bus_bits", f.memoryBusBits},
          {"clusters", f.clusters},
          {"driver_cuda", fmt::format("{}.{}", f.driverVersion / 1000, f.driverVersion % 1000 / 10)}};
}

Result<std::vector<DeviceFacts>> listDevices(const Driver &d) {
  int count = 0;
  if (cu::Code code = d.deviceGetCount(&count); code && code != cu::noDevice)
    TILEC_TRY(check(d, code, "count the GPUs"));
  std::vector<DeviceFacts> all;
  for (int i = 0; i < count; ++i) {
    TILEC_ASSIGN(DeviceFacts facts, describe(d, i));
    all.push_back(std::move(facts));
  }
  return all;
}

Result<std::vector<DeviceFacts>> listDevices() {
  TILEC_ASSIGN(const Driver *d, driver());
  TILEC_ASSIGN(auto all, listDevices(*d));
  if (all.empty())
    return withHelp(noDevice("the CUDA driver shows no GPU"), "CUDA_VISIBLE_DEVICES may hide them");
  return all;
}

Result<std::unique_ptr<Device>> Device::open(int ordinal) {
  TILEC_ASSIGN(const Driver *d, driver());
  return open(*d, ordinal);
}

Result<std::unique_ptr<Device>> Device::open(const Driver &d, int ordinal) {
  int count = 0;
  if (cu::Code code = d.deviceGetCount(&count); code && code != cu::noDevice)
    TILEC_TRY(runtime::check(d, code, "count the GPUs"));
  if (ordinal < 0 || ordinal >= count)
    return withHelp(noDevice("there is no GPU {}: the driver shows {}", ordinal, count),
                    "`tilec info` lists the GPUs; CUDA_VISIBLE_DEVICES may hide some");
  TILEC_ASSIGN(DeviceFacts facts, describe(d, ordinal));
  std::unique_ptr<Device> device(new Device(d, std::move(facts)));
  TILEC_TRY(device->check(d.deviceGet(&device->handle, ordinal), "find the GPU"));
  TILEC_TRY(device->check(d.primaryCtxRetain(&device->context, device->handle),
                          fmt::format("open GPU {} ({})", ordinal, device->gpu.name)));
  TILEC_TRY(device->makeCurrent());
  return device;
}

Device::~Device() {
  if (context)
    cuda.primaryCtxRelease(handle);
}

Status Device::makeCurrent() const { return check(cuda.ctxSetCurrent(context), "use the GPU on this thread"); }
Status Device::synchronize() const { return check(cuda.ctxSynchronize(), "finish the work on the GPU"); }

} // namespace tilec::runtime
