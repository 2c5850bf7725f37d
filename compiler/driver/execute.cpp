// Running a checked program on the reference executor.
#include "compiler/driver/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/reference/executor.h"

namespace tilec::driver {

/// A launch value in the storage encoding of a dtype.
static uint64_t encode(const LaunchValue &value, DType dtype) {
  if (isFloat(dtype)) {
    if (const int64_t *i = std::get_if<int64_t>(&value))
      return encodeFloatFromInt(dtype, *i);
    return encodeFloat(dtype, std::get<double>(value));
  }
  if (const bool *b = std::get_if<bool>(&value))
    return *b;
  return encodeInt(dtype, std::get<int64_t>(value));
}

Result<std::vector<ReferenceFinding>> runReference(const Source &source, const sema::Program &program,
                                                   std::vector<HostBuffer> &arrays, const LaunchEnv &env,
                                                   std::array<int64_t, 3> grid, const ReferenceOptions &options) {
  auto context = makeContext();
  MlirErrors errors(*context);
  auto module = emit::emit(program, source.sources, *context);
  if (!module)
    return internalError("emission of kernel '{}' failed", program.name);

  reference::Launch launch;
  launch.grid = grid;
  if (arrays.size() != program.arrays.size())
    return internalError("{} buffers for {} arrays", arrays.size(), program.arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    HostBuffer &b = arrays[i];
    reference::BufferView view{b.dtype, b.extents, b.strides, static_cast<std::byte *>(b.data), 1};
    if (options.findUnwritten && program.arrays[i].mode == ArrayMode::Out)
      view.unwritten = &b.unwritten;
    for (size_t axis = 0; axis < b.extents.size(); ++axis) {
      // The farthest element along positive strides; an empty array has none.
      if (b.extents[axis] == 0) {
        view.elements = 0;
        break;
      }
      if (b.strides.empty())
        view.elements *= uint64_t(b.extents[axis]);
      else if (b.strides[axis] > 0)
        view.elements += uint64_t(b.extents[axis] - 1) * uint64_t(b.strides[axis]);
    }
    launch.buffers.emplace(program.arrays[i].name, std::move(view));
  }
  for (const ScalarSpec &scalar : program.scalars) {
    auto at = env.values.find(scalar.name);
    if (at == env.values.end())
      return usageError("scalar '{}' has no value", scalar.name);
    launch.scalars[scalar.name] = encode(at->second, scalar.dtype);
  }
  for (const auto &[name, dtype] : program.letDTypes)
    if (auto at = env.values.find(name); at != env.values.end())
      launch.scalars[name] = encode(at->second, dtype);
  // Extent and stride symbols, and clause `let`s that the body uses.
  for (const auto &[name, value] : env.values)
    if (const int64_t *i = std::get_if<int64_t>(&value))
      launch.symbols[name] = *i;

  reference::ExecOptions exec;
  exec.jobs = options.jobs;
  exec.widen64 = options.widen;
  exec.checkRaces = options.checkRaces;
  exec.progress = options.progress;
  exec.print = options.print;
  exec.blocks = options.blocks;
  TILEC_ASSIGN(reference::ExecReport report, reference::execute(*module, program.name, launch, exec));
  std::vector<ReferenceFinding> findings;
  for (const reference::Finding &f : report.findings)
    findings.push_back({std::string(reference::name(f.kind)), reference::toString(f),
                        fmt::format("{}:{}:{}", f.place.file, f.place.line, f.place.column)});
  return findings;
}

} // namespace tilec::driver
