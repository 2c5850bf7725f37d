#include "cli/commands.h"
#include "cli/run_inputs.h"
#include "compiler/base/text.h"
#include "runtime/buffers.h"
#include "runtime/inputs.h"
#include "runtime/launch.h"
#include "runtime/npy.h"
#include "runtime/reports.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>

namespace tilec::cli {
namespace {

bool isOutput(ArrayMode mode) { return mode == ArrayMode::Out || mode == ArrayMode::InOut; }

std::string formatElement(const runtime::HostArray &array, int64_t index, const std::vector<int64_t> &unwritten) {
  if (std::ranges::binary_search(unwritten, index))
    return "?";
  if (isFloat(array.dtype))
    return fmt::format("{:.6g}", array.value(index));
  if (array.dtype == DType::bool_)
    return array.get(index) ? "true" : "false";
  if (array.dtype == DType::u64)
    return fmt::format("{}", array.get(index));
  return fmt::format("{}", decodeInt(array.dtype, array.get(index)));
}

/// `y f32[3, 33]: 0.0134 0.122 … (min 1e-3, max 0.4, 2 NaN)`; what nothing was stored to is `?`.
std::string preview(const std::string &name, const runtime::HostArray &array, const std::vector<int64_t> &unwritten) {
  std::vector<std::string> extents;
  for (int64_t e : array.extents)
    extents.push_back(fmt::format("{}", e));
  std::string s = fmt::format("{} {}[{}]:", name, tilec::name(array.dtype), join(extents, ", "));
  int64_t n = array.count();
  for (int64_t i = 0; i < std::min<int64_t>(n, 6); ++i)
    s += " " + formatElement(array, i, unwritten);
  if (n > 6)
    s += " …";
  if (n > int64_t(unwritten.size()) && array.dtype != DType::bool_) {
    double lo = INFINITY, hi = -INFINITY;
    int64_t nans = 0;
    auto skipped = unwritten.begin();
    for (int64_t i = 0; i < n; ++i) {
      if (skipped != unwritten.end() && *skipped == i) {
        ++skipped;
        continue;
      }
      double v = array.value(i);
      nans += std::isnan(v);
      lo = std::fmin(lo, v);
      hi = std::fmax(hi, v);
    }
    s += nans == n - int64_t(unwritten.size())
             ? "  (all NaN)"
             : fmt::format("  (min {:.6g}, max {:.6g}{})", lo, hi, nans ? fmt::format(", {} NaN", nans) : "");
  }
  if (!unwritten.empty())
    s += fmt::format("  ({} never stored)", groupDigits(unwritten.size()));
  return s + "\n";
}

class Run : public Command {
  std::string path, device = "cpu", widen;
  std::vector<std::string> arguments, outs, tolerances;
  KernelOptions kernelOptions;
  int64_t seed = 0, jobs = 0;
  bool noCompare = false, lineInfo = false;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"PATH", "", "a .tile file or a recipe", &path});
    rows.push_back({"ARGUMENTS", "", "inputs: a=normal:0,1  a=arange  a=file.npy  a=file.npy@64", &arguments});
    rows.push_back({"--device", "DEVICE", "cpu (the reference executor) or cuda:N", &device});
    kernelOptions.addRows(rows);
    rows.push_back({"--out", "ARRAY=FILE", "write an output as .npy (repeatable)", &outs});
    rows.push_back(
        {"--tolerance", "ARRAY=SPEC", "exact, ulp:N, rel:X, abs:X, joined by commas (repeatable)", &tolerances});
    rows.push_back({"--no-compare", "", "on a GPU, do not compare with the executor", &noCompare});
    rows.push_back(
        {"--lineinfo", "", "on a GPU, tell profilers and sanitizers which line each instruction is of", &lineInfo});
    rows.push_back(
        {"--widen", "DTYPE", "f64: on the CPU, floats are f64 from loads to stores and in the outputs", &widen});
    rows.push_back({"--seed", "N", "seed of generated inputs", &seed});
    rows.push_back({"--jobs", "N", "threads of the executor; 0: one per core", &jobs});
  }

  Result<int> run(Context &context) override {
    int ordinal = -1;
    if (device != "cpu") {
      TILEC_ASSIGN(ordinal, parseDevice());
    }
    if (!widen.empty() && widen != "f64")
      return withHelp(usageError("floats cannot be widened to '{}'", widen), "write --widen f64");
    if (!widen.empty() && ordinal >= 0)
      return withHelp(usageError("--widen is the reference executor's"), "leave it out, or run with --device cpu");
    TILEC_ASSIGN(Target target, resolveTarget(context, path, kernelOptions.kernel));
    TILEC_ASSIGN(auto opened, driver::openSource(target.path));
    std::shared_ptr<driver::Source> source = std::move(opened);
    Result<int> code = runSource(context, source, target, ordinal);
    if (printDiagnostics(context, *source))
      return exitCode(ErrorKind::Program);
    return code;
  }

private:
  Result<int> parseDevice() const {
    std::string_view text = device;
    if (text == "cuda")
      return 0;
    if (text.starts_with("cuda:") && text.size() > 5 && text.size() < 9 &&
        text.find_first_not_of("0123456789", 5) == std::string_view::npos)
      return std::stoi(std::string(text.substr(5)));
    return withHelp(usageError("there is no device '{}'", device), "devices are cpu and cuda:N, such as cuda:0");
  }

  Result<int> runSource(Context &context, const std::shared_ptr<driver::Source> &source, const Target &target,
                        int ordinal) {
    TILEC_ASSIGN(sema::KernelInterface interface, driver::describe(*source, target.kernel));
    TILEC_ASSIGN(tuner::Values defines, parseDefines(kernelOptions.defines));
    TILEC_ASSIGN(auto hints, parseHints(kernelOptions.hints));
    TILEC_ASSIGN(SortedDefines sorted, sortDefines(interface, defines));
    TILEC_ASSIGN(std::vector<InputSpec> inputs, parseInputs(interface, arguments));
    TILEC_ASSIGN(auto outputFiles, parseOutputs(interface, outs));
    std::vector<std::string> files{target.path};
    for (const InputSpec &input : inputs)
      files.push_back(input.distribution);
    for (const auto &[array, file] : outputFiles)
      TILEC_TRY(keepInputs(file, files));
    tuner::Recipe recipe = target.recipe.value_or(tuner::Recipe{});
    TILEC_TRY(parseTolerances(interface, tolerances, recipe.tolerance));
    for (const InputSpec &input : inputs)
      recipe.inputs[input.array] = input.offset ? "zeros" : input.distribution;
    TILEC_TRY(bindFromFiles(interface, inputs, sorted.parameters, sorted.problem));

    // The GPU comes first: without it nothing else is worth doing.
    std::unique_ptr<runtime::Device> gpu;
    const Arch *arch = nullptr;
    if (ordinal >= 0) {
      TILEC_ASSIGN(gpu, runtime::Device::open(ordinal));
      TILEC_ASSIGN(arch, requireArch(gpu->facts().arch()));
    } else if (!kernelOptions.arch.empty()) {
      TILEC_ASSIGN(arch, requireArch(kernelOptions.arch));
    }
    sema::Bindings bindings{sorted.parameters, sorted.problem, hints, arch};
    tuner::Values problem = sorted.problem;
    problem.insert(sorted.parameters.begin(), sorted.parameters.end());
    TILEC_TRY(requireProblem(interface, sorted.parameters, sorted.problem));
    TILEC_ASSIGN(sema::Program checked, driver::instantiate(*source, interface, bindings));
    for (const InputSpec &input : inputs)
      if (std::ranges::find(checked.arrays, input.array, &ArraySpec::name) == checked.arrays.end())
        return usageError("array '{}' does not exist with these parameters and takes no input", input.array);
    tuner::Prepared prepared{source, std::make_shared<sema::Program>(std::move(checked)), ""};
    TILEC_ASSIGN(tuner::HostProblem host, tuner::makeProblem(recipe, prepared, problem, uint64_t(seed)));
    TILEC_TRY(loadOffsets(inputs, host));

    Json json{{"schema", "tilec.run.1"}, {"kernel", prepared.program->name}, {"device", device}};
    int verdict = 0;
    if (gpu && driver::reportGpuGaps(*source, *prepared.program))
      return exitCode(ErrorKind::Program);
    if (gpu) {
      TILEC_ASSIGN(verdict, runGpu(context, *gpu, recipe, prepared, host, problem, json));
    } else {
      TILEC_ASSIGN(verdict, runCpu(context, prepared, host, json));
    }
    json["outputs"] = Json::array();
    for (size_t i = 0; i < host.plan.arrays.size(); ++i) {
      const ArraySpec &spec = host.plan.arrays[i];
      if (!isOutput(spec.mode))
        continue;
      const runtime::HostArray &array = host.arrays[i];
      const std::vector<int64_t> unwritten = gpu || host.unwritten.empty() ? std::vector<int64_t>() : host.unwritten[i];
      if (auto file = outputFiles.find(spec.name); file != outputFiles.end())
        TILEC_TRY(runtime::saveNpy(file->second, array));
      if (!context.json)
        context.out.print(preview(spec.name, array, unwritten));
      Json first = Json::array();
      for (int64_t k = 0; k < std::min<int64_t>(array.count(), 16); ++k)
        first.push_back(formatElement(array, k, unwritten));
      json["outputs"].push_back(
          {{"name", spec.name}, {"dtype", tilec::name(spec.dtype)}, {"extents", array.extents}, {"first", first}});
    }
    if (context.json)
      context.out.print(toText(json) + "\n");
    return verdict;
  }

  /// Every extent and scalar has a value.
  Status requireProblem(const sema::KernelInterface &interface, const tuner::Values &parameters,
                        const tuner::Values &problem) const {
    std::vector<std::string> missing;
    auto need = [&](const std::string &name) {
      if (!problem.contains(name) && std::ranges::find(missing, name) == missing.end())
        missing.push_back(name);
    };
    for (const std::string &symbol : sema::boundSymbols(interface, parameters))
      need(symbol);
    for (const ScalarSpec &scalar : interface.scalars)
      need(scalar.name);
    if (missing.empty())
      return {};
    std::string example = missing.front() + "=1000";
    for (size_t i = 1; i < missing.size(); ++i)
      example += "," + missing[i] + "=1000";
    return withHelp(usageError("kernel '{}' needs a value for {}", interface.name, join(missing, ", ")),
                    fmt::format("give them with -D {}, or extents by an input file", example));
  }

  Result<int> runCpu(Context &context, const tuner::Prepared &prepared, tuner::HostProblem &host, Json &json) {
    TILEC_ASSIGN(double ms, execute(context, prepared, host));
    json["milliseconds"] = ms;
    json["findings"] = Json::array();
    for (const driver::ReferenceFinding &f : findings) {
      json["findings"].push_back({{"kind", f.kind}, {"message", f.message}, {"place", f.place}});
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Red, "error:"), f.message));
    }
    if (!context.json)
      context.err.print(fmt::format("{} on the CPU: {} blocks in {:.1f} ms\n", prepared.program->name,
                                    groupDigits(uint64_t(host.blocks())), ms));
    return findings.empty() ? 0 : exitCode(ErrorKind::Program);
  }

  std::vector<driver::ReferenceFinding> findings;

  /// Floats as f64, so that no load or store rounds.
  static void widenArrays(tuner::HostProblem &host) {
    for (runtime::HostArray &array : host.arrays) {
      if (!isFloat(array.dtype))
        continue;
      auto wide = runtime::HostArray::zeros(DType::f64, array.extents);
      for (int64_t i = 0, n = array.count(); i < n; ++i)
        wide.set(i, encodeFloat(DType::f64, array.value(i)));
      array = std::move(wide);
    }
  }

  /// Runs the executor on the problem's own arrays; milliseconds.
  Result<double> execute(Context &context, const tuner::Prepared &prepared, tuner::HostProblem &host) {
    driver::ReferenceOptions options;
    options.jobs = unsigned(jobs);
    options.widen = !widen.empty();
    if (options.widen)
      widenArrays(host);
    options.findUnwritten = device == "cpu";
    options.progress = [&](int64_t done, int64_t total) {
      context.err.live(fmt::format("{} of {} blocks", groupDigits(uint64_t(done)), groupDigits(uint64_t(total))));
    };
    // What the kernel prints is its output; where that is JSON, it goes beside it.
    options.print = [&](std::string_view text) {
      if (device != "cpu")
        return; // the GPU's have been shown
      context.err.endLive();
      (context.json ? context.err : context.out).print(std::string(text));
    };
    auto start = std::chrono::steady_clock::now();
    TILEC_ASSIGN(findings, tuner::executeProblem(prepared, host, options));
    context.err.endLive();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

  Result<int> runGpu(Context &context, const runtime::Device &gpu, const tuner::Recipe &recipe,
                     const tuner::Prepared &prepared, tuner::HostProblem &host, const tuner::Values &problem,
                     Json &json) {
    driver::CompileOptions options;
    options.lineInfo = lineInfo;
    TILEC_ASSIGN(driver::Compilation compilation,
                 driver::compileIsolated(*prepared.source, *prepared.program, options));
    TILEC_ASSIGN(auto operation, runtime::Operation::load(gpu, compilation.artifact));
    std::vector<runtime::DeviceArray> arrays;
    runtime::LaunchArguments launch;
    launch.env = host.env;
    for (size_t i = 0; i < host.arrays.size(); ++i) {
      const ArraySpec &spec = host.plan.arrays[i];
      TILEC_ASSIGN(runtime::DeviceArray array,
                   runtime::DeviceArray::create(gpu, spec.name, spec.dtype, host.arrays[i].extents, host.strides[i]));
      // Outputs as well: what no block writes stays what it is on the CPU.
      TILEC_TRY(array.upload(host.arrays[i]));
      launch.arrays[spec.name] = runtime::argument(array);
      arrays.push_back(std::move(array));
    }
    TILEC_ASSIGN(runtime::Plan plan, operation->plan(launch));
    TILEC_TRY(plan.enqueue(nullptr));
    TILEC_TRY(gpu.synchronize());
    for (const runtime::DeviceArray &array : arrays)
      TILEC_TRY(array.buffer.checkGuards());

    TILEC_ASSIGN(runtime::Reports reports, runtime::readReports(plan, compilation.artifact));
    if (!reports.printed.empty())
      (context.json ? context.err : context.out).print(reports.printed);
    if (reports.lostBytes)
      context.err.print(fmt::format("note: {} bytes of what the kernel prints had no room in the print buffer\n",
                                    groupDigits(reports.lostBytes)));
    for (const std::string &failure : reports.failures)
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Red, "error:"), failure));
    if (!reports.failures.empty())
      return exitCode(ErrorKind::Program);

    // The executor starts from the same inputs; its own outputs are compared in place.
    tuner::HostProblem expected = host;
    for (size_t i = 0; i < arrays.size(); ++i)
      if (isOutput(host.plan.arrays[i].mode)) {
        TILEC_ASSIGN(host.arrays[i], arrays[i].download());
      }
    if (!context.json)
      context.err.print(fmt::format("{} on {}: {} blocks\n", prepared.program->name, gpu.facts().name,
                                    groupDigits(uint64_t(host.blocks()))));
    if (noCompare)
      return 0;
    TILEC_ASSIGN(double ms, execute(context, prepared, expected));
    json["milliseconds_reference"] = ms;
    json["compared"] = Json::array();
    int verdict = 0;
    for (size_t i = 0; i < host.arrays.size(); ++i) {
      const ArraySpec &spec = host.plan.arrays[i];
      if (!isOutput(spec.mode))
        continue;
      auto given = recipe.tolerance.find(spec.name);
      // Without a stated tolerance the executor's bits are asked for.
      tuner::Bound bound;
      if (given != recipe.tolerance.end()) {
        TILEC_ASSIGN(bound, tuner::evaluate(given->second, problem));
      }
      TILEC_ASSIGN(runtime::Comparison c,
                   runtime::compare(host.arrays[i], expected.arrays[i],
                                    {.ulps = int64_t(bound.ulp), .abs = bound.abs, .rel = bound.rel}));
      Json row = runtime::toJson(c);
      row["array"] = spec.name;
      json["compared"].push_back(row);
      if (!c.equal()) {
        verdict = exitCode(ErrorKind::Program);
        context.err.print(fmt::format("{} {} differs from the executor: {}\n", context.err.styled(Style::Red, "error:"),
                                      spec.name, runtime::toString(c)));
      } else if (!context.json) {
        context.err.print(
            fmt::format("{}: {} elements equal the executor's{}\n", spec.name, groupDigits(uint64_t(c.count)),
                        bound.exact() ? "" : fmt::format(" within the bound (worst: {} ulp)", c.worstUlps)));
      }
    }
    for (const driver::ReferenceFinding &f : findings) {
      verdict = exitCode(ErrorKind::Program);
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Red, "error:"), f.message));
    }
    return verdict;
  }
};

} // namespace

std::unique_ptr<Command> makeRun() { return std::make_unique<Run>(); }

} // namespace tilec::cli
