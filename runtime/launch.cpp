#include "runtime/launch.h"
#include "runtime/encode.h"
#include <algorithm>

namespace tilec::runtime {
namespace {

/// Largest power of two that divides an address.
uint64_t alignmentOf(uint64_t address) { return address & (~address + 1); }

Status checkAlignment(const ArrayView &view) {
  uint64_t align = uint64_t(view.spec->align);
  if (view.isEmpty() || view.base % align == 0)
    return {};
  return withHelp(programError("the base of '{}' must be aligned to {} bytes, but {:#x} is aligned to {}",
                               view.spec->name, align, view.base, alignmentOf(view.base)),
                  "copy the array to an aligned buffer, or declare it with a smaller `align`");
}

Status checkCapacity(const ArrayView &view, const ArrayArgument &argument) {
  if (view.isEmpty() || (argument.begin == 0 && argument.end == 0))
    return {};
  if (view.begin < argument.begin || view.end > argument.end)
    return programError("'{}' covers {} bytes at {:#x}, past its buffer of {} bytes at {:#x}", view.spec->name,
                        view.end - view.begin, view.begin, argument.end - argument.begin, argument.begin);
  return {};
}

bool writes(const ArraySpec &spec) { return spec.mode != ArrayMode::In; }
bool mayAlias(const ArraySpec &a, const ArraySpec &b) {
  auto names = [](const ArraySpec &x, const ArraySpec &y) {
    return std::ranges::find(x.aliases, y.name) != x.aliases.end();
  };
  return names(a, b) || names(b, a);
}

/// An array that is written overlaps no other, except the very buffer of one it may alias.
Status checkOverlap(const std::vector<const ArrayView *> &views) {
  for (size_t i = 0; i < views.size(); ++i)
    for (size_t j = i + 1; j < views.size(); ++j) {
      const ArrayView &a = *views[i], &b = *views[j];
      if (a.isEmpty() || b.isEmpty() || a.end <= b.begin || b.end <= a.begin)
        continue;
      if (!writes(*a.spec) && !writes(*b.spec))
        continue;
      const ArrayView &written = writes(*a.spec) ? a : b, &other = writes(*a.spec) ? b : a;
      bool same = a.base == b.base && a.begin == b.begin && a.end == b.end;
      if (same && mayAlias(*a.spec, *b.spec))
        continue;
      return withHelp(programError("'{}' ({}) and '{}' ({}) {}: {:#x} to {:#x} and {:#x} to {:#x}", written.spec->name,
                                   name(written.spec->mode), other.spec->name, name(other.spec->mode),
                                   same ? "are the same buffer" : "overlap", written.begin, written.end, other.begin,
                                   other.end),
                      fmt::format("'{}' is written and needs a buffer of its own", written.spec->name));
    }
  return {};
}

/// Extents, strides and covered bytes of an array once every symbol is bound.
Result<ArrayView> viewOf(const ArraySpec &spec, const LaunchEnv &env, const std::vector<int64_t> *givenStrides) {
  ArrayView view;
  view.spec = &spec;
  TILEC_ASSIGN(view.extents, arrayExtents(spec, env));
  if (givenStrides && !givenStrides->empty())
    view.strides = *givenStrides;
  else {
    TILEC_ASSIGN(view.strides, arrayStrides(spec, env));
  }
  return view;
}

Status place(ArrayView &view, cu::DevicePtr base) {
  auto bytes = footprint(view.spec->dtype, view.extents, view.strides);
  if (!bytes)
    return programError("'{}' takes more than 2^63 bytes", view.spec->name);
  view.base = base;
  view.begin = base - bytes->before;
  view.end = base + bytes->after;
  return {};
}

/// The grid that the driver gets: every block of the language's grid is a cluster; a persistent entry gets as many as
/// stay resident and loops over the rest.
std::array<int64_t, 3> launchedGrid(const LaunchSpec &spec, const Kernel &kernel, std::array<int64_t, 3> grid) {
  if (spec.persistent && grid[0] * grid[1] * grid[2] > 0) {
    __int128 blocks = __int128(grid[0]) * grid[1] * grid[2];
    grid = {int64_t(std::min<__int128>(blocks, std::max<int64_t>(kernel.residentBlocks, 1))), 1, 1};
  }
  for (size_t i = 0; i < 3; ++i)
    grid[i] *= spec.cluster[i];
  return grid;
}

constexpr uint64_t defaultPrintBytes = uint64_t(1) << 20;

/// Fills a plan: arrays first, then each launch.
class Planner {
public:
  Planner(const Device &gpu, const Artifact &artifact, const LaunchArguments &arguments, LaunchEnv &bound,
          std::vector<std::unique_ptr<DeviceBuffer>> &memory)
      : device(gpu), compiled(artifact), given(arguments), env(bound), owned(memory) {}

  Status bind() {
    std::map<std::string, std::vector<int64_t>> extents, strides;
    for (const auto &[name, argument] : given.arrays) {
      extents[name] = argument.extents;
      if (!argument.strides.empty())
        strides[name] = argument.strides;
    }
    TILEC_TRY(bindSymbols(compiled, extents, env, strides));
    for (const ArraySpec &spec : compiled.arrays)
      TILEC_TRY(addArray(spec, spec.mode == ArrayMode::Scratch));
    for (const ArraySpec &spec : compiled.temporaries)
      TILEC_TRY(addArray(spec, true));
    return checkOverlap(arguments);
  }

  Result<PlannedLaunch> launch(size_t index, const Kernel &kernel, std::array<int64_t, 3> grid) {
    const LaunchSpec &spec = compiled.launches[index];
    PlannedLaunch result;
    result.grid = launchedGrid(spec, kernel, grid);
    std::ranges::copy(spec.cluster, result.cluster.begin());
    result.threads = unsigned(spec.threads);
    result.dynamicSharedBytes = unsigned(spec.dynamicSharedBytes);
    result.dependent = spec.dependentLaunch;
    result.function = kernel.function;
    result.entry = spec.entry;
    if (index == 0)
      result.cleared = zeroed;
    // Pointers into these stay good: both are reserved here, and their memory moves along with them.
    result.values.reserve(spec.params.size());
    result.maps.reserve(spec.params.size());
    for (const LaunchParam &param : spec.params)
      TILEC_TRY(encode(param, result));
    return result;
  }

  const DeviceBuffer *printing = nullptr;

private:
  /// Memory of the plan's own, with guard bands.
  Result<cu::DevicePtr> allocate(uint64_t bytes, std::string label) {
    TILEC_ASSIGN(DeviceBuffer buffer, DeviceBuffer::create(device, bytes, std::move(label)));
    owned.push_back(std::make_unique<DeviceBuffer>(std::move(buffer)));
    return owned.back()->base();
  }

  Status addArray(const ArraySpec &spec, bool provided) {
    auto found = given.arrays.find(spec.name);
    const ArrayArgument *argument = found == given.arrays.end() ? nullptr : &found->second;
    if (!argument && !provided)
      return usageError("'{}' of kernel '{}' has no buffer", spec.name, compiled.name);
    TILEC_ASSIGN(ArrayView view, viewOf(spec, env, argument ? &argument->strides : nullptr));
    for (size_t i = 0; i < view.extents.size(); ++i) {
      env.values[fmt::format("{}.shape({})", spec.name, i)] = view.extents[i];
      env.values[fmt::format("{}.stride({})", spec.name, i)] = view.strides[i];
    }
    if (argument) {
      TILEC_TRY(place(view, argument->base));
      TILEC_TRY(checkCapacity(view, *argument));
      TILEC_TRY(checkAlignment(view));
    } else {
      TILEC_ASSIGN(Footprint bytes, footprint(spec.dtype, view.extents, view.strides));
      TILEC_ASSIGN(cu::DevicePtr memory, allocate(bytes.bytes(), spec.name));
      TILEC_TRY(place(view, memory + bytes.before));
    }
    if (spec.zeroed && !view.isEmpty())
      zeroed.emplace_back(view.begin, view.end - view.begin);
    ArrayView &kept = views[spec.name] = std::move(view);
    if (argument)
      arguments.push_back(&kept);
    return {};
  }

  /// What the map of an empty array points to: one element that reads as the fill.
  Result<cu::DevicePtr> standIn(bool nan) {
    cu::DevicePtr &element = nan ? nanElement : zeroElement;
    if (!element) {
      constexpr uint64_t bytes = 128;
      TILEC_ASSIGN(element, allocate(bytes, "the stand-in of an empty array"));
      TILEC_TRY(owned.back()->fill(std::byte(nan ? 0xFF : 0)));
    }
    return element;
  }

  Result<uint64_t> bytesOf(const LaunchParam &param, const std::string &entry) const {
    TILEC_ASSIGN(int64_t bytes, evaluateInt(param.value, env));
    if (bytes < 0)
      return programError("'{}' asks for {} bytes of memory ({})", entry, bytes, toString(param.value));
    return uint64_t(bytes);
  }

  Status encode(const LaunchParam &param, PlannedLaunch &into) {
    auto pass = [&](uint64_t value) { into.params.push_back(&into.values.emplace_back(value)); };
    switch (param.kind) {
    case ParamKind::ArrayBase:
      pass(views.at(param.array).base);
      return {};
    case ParamKind::Value: {
      TILEC_ASSIGN(uint64_t value, encodeValue(param.value, param.dtype, env));
      pass(value);
      return {};
    }
    case ParamKind::TensorMap: {
      const ArrayView &view = views.at(param.map->array);
      cu::DevicePtr element = 0;
      if (view.isEmpty()) {
        TILEC_ASSIGN(element, standIn(param.map->nanFill));
      }
      TILEC_TRY(encodeTensorMap(device, *param.map, view, element, into.maps.emplace_back()));
      into.params.push_back(&into.maps.back());
      return {};
    }
    case ParamKind::Scratch: {
      // The memory of a named array, or some of the launch's own.
      if (auto named = views.find(param.array); named != views.end()) {
        pass(named->second.base);
        return {};
      }
      TILEC_ASSIGN(uint64_t bytes, bytesOf(param, into.entry));
      TILEC_ASSIGN(cu::DevicePtr memory, allocate(bytes, "the scratch memory of " + into.entry));
      pass(memory);
      return {};
    }
    case ParamKind::Counter: {
      TILEC_ASSIGN(uint64_t bytes, bytesOf(param, into.entry));
      TILEC_ASSIGN(cu::DevicePtr memory, allocate(bytes, "the counter of " + into.entry));
      into.cleared.emplace_back(memory, bytes);
      pass(memory);
      return {};
    }
    case ParamKind::PrintBuffer: {
      if (!printing) {
        TILEC_ASSIGN(uint64_t bytes, bytesOf(param, into.entry));
        TILEC_TRY(allocate(bytes ? bytes : defaultPrintBytes, "the print buffer"));
        printing = owned.back().get();
        into.cleared.emplace_back(printing->base(), printing->size());
      }
      pass(printing->base());
      return {};
    }
    }
    return internalError("a parameter of '{}' has an unknown kind", into.entry);
  }

  const Device &device;
  const Artifact &compiled;
  const LaunchArguments &given;
  LaunchEnv &env;
  std::vector<std::unique_ptr<DeviceBuffer>> &owned;
  std::map<std::string, ArrayView> views;
  std::vector<const ArrayView *> arguments; ///< into `views`: those of the caller
  std::vector<std::pair<cu::DevicePtr, uint64_t>> zeroed;
  cu::DevicePtr zeroElement = 0, nanElement = 0;
};

} // namespace

ArrayArgument argument(const DeviceArray &array) {
  cu::DevicePtr begin = array.buffer.base();
  return {array.base(), array.extents, array.strides, begin, begin + array.buffer.size()};
}

Result<std::unique_ptr<Operation>> Operation::load(const Device &device, Artifact artifact) {
  std::unique_ptr<Operation> op(new Operation(device, std::move(artifact)));
  for (const std::string &binary : op->compiled.binaries) {
    TILEC_ASSIGN(Module module, Module::load(device, binary, op->compiled.arch));
    op->modules.push_back(std::move(module));
  }
  for (const LaunchSpec &spec : op->compiled.launches) {
    if (spec.binary >= op->modules.size())
      return internalError("launch '{}' has no binary", spec.entry);
    TILEC_ASSIGN(Kernel kernel, op->modules[spec.binary].kernel(spec));
    op->entries.push_back(std::move(kernel));
  }
  return op;
}

Result<Plan> Operation::plan(const LaunchArguments &arguments) const {
  Plan plan;
  plan.device = &device;
  LaunchEnv &env = plan.bound;
  env = arguments.env;
  if (env.arch.empty())
    env.arch = device.facts().arch();
  env.numSms = device.facts().multiprocessors;
  for (const Kernel &kernel : entries)
    env.residentBlocks = std::min(env.residentBlocks.value_or(INT64_MAX), kernel.residentBlocks);

  Planner planner(device, compiled, arguments, env, plan.owned);
  TILEC_TRY(planner.bind());
  TILEC_ASSIGN(auto grids, planGrid(compiled, env));
  for (size_t i = 0; i < compiled.launches.size(); ++i) {
    TILEC_ASSIGN(PlannedLaunch launch, planner.launch(i, entries[i], grids[i]));
    plan.list.push_back(std::move(launch));
  }
  plan.printing = planner.printing;
  return plan;
}

Status Plan::enqueue(cu::Stream stream) const {
  const Driver &api = device->api();
  for (const PlannedLaunch &launch : list) {
    for (auto [memory, bytes] : launch.cleared)
      if (bytes)
        TILEC_TRY(device->check(api.memsetD8Async(memory, 0, bytes, stream),
                                fmt::format("clear the memory of '{}'", launch.entry)));
    if (std::ranges::find(launch.grid, 0) != launch.grid.end())
      continue;
    cu::LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    auto [x, y, z] = launch.cluster;
    if (x * y * z > 1) {
      attributes[count].id = cu::launchClusterDimension;
      attributes[count++].value.cluster = {x, y, z};
    }
    if (launch.dependent) {
      attributes[count].id = cu::launchProgrammaticSerialization;
      attributes[count++].value.programmaticSerialization = 1;
    }
    cu::LaunchConfig config{unsigned(launch.grid[0]),
                            unsigned(launch.grid[1]),
                            unsigned(launch.grid[2]),
                            launch.threads,
                            1,
                            1,
                            launch.dynamicSharedBytes,
                            stream,
                            attributes,
                            count};
    TILEC_TRY(
        device->check(api.launchKernelEx(&config, launch.function, const_cast<void **>(launch.params.data()), nullptr),
                      fmt::format("launch '{}'", launch.entry)));
  }
  return {};
}

Status Plan::checkGuards() const {
  for (const auto &buffer : owned)
    TILEC_TRY(buffer->checkGuards());
  return {};
}

} // namespace tilec::runtime
