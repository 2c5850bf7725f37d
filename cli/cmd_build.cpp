#include "cli/commands.h"
#include "cli/kernel_options.h"
#include "compiler/base/files.h"
#include "compiler/base/text.h"
#include "compiler/target/products.h"
#include "tuner/tuned.h"
#include <algorithm>
#include <filesystem>

namespace tilec::cli {
namespace {

std::vector<std::string> stageNames() {
  std::vector<std::string> names;
  for (const driver::StageInfo &s : driver::allStages())
    names.emplace_back(s.name);
  return names;
}

std::string resourcesText(const Artifact &artifact) {
  std::vector<std::string> parts;
  for (const LaunchSpec &l : artifact.launches) {
    const Resources &r = l.resources;
    std::string text = fmt::format("{} registers, {} bytes of shared memory, {} threads, {} bytes of code", r.registers,
                                   r.staticSharedBytes + l.dynamicSharedBytes, l.threads, r.codeBytes);
    if (r.spillStoreBytes + r.spillLoadBytes > 0)
      text += fmt::format(", spills {} + {} bytes", r.spillStoreBytes, r.spillLoadBytes);
    parts.push_back(text);
  }
  return join(parts, "; ");
}

class Build : public Command {
  std::string path, output, emit, problem, cache;
  KernelOptions kernelOptions;
  bool lineInfo = false, saveTemps = false, tuned = false, timing = false, dryRun = false;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"PATH", "", "a .tile file, a recipe or a dumped stage", &path});
    kernelOptions.addRows(rows);
    rows.push_back({"-o,--output", "FILE", "where to write; - is standard output", &output});
    rows.push_back({"--emit", "STAGE", "stop at a stage and print it: " + join(stageNames(), ", "), &emit});
    rows.push_back({"--tuned", "", "take the parameters and hints that tuning found", &tuned});
    rows.push_back(
        {"--problem", "M=…,N=…", "build for launches like this one: derived parameters, divisors", &problem});
    rows.push_back({"--cache", "FILE", "the cache that --tuned asks, instead of the user's", &cache});
    rows.push_back({"--lineinfo", "", "tell profilers and sanitizers which line each instruction is of", &lineInfo});
    rows.push_back({"--save-temps", "", "write every stage beside the output", &saveTemps});
    rows.push_back({"--timing", "", "print the time of every step", &timing});
    rows.push_back({"--dry-run", "", "say what would be built, compile nothing", &dryRun});
  }

  Result<int> run(Context &context) override {
    if (!tuned && !cache.empty())
      return withHelp(usageError("--cache is for --tuned, which is not given"), "add --tuned");
    const driver::StageInfo *last = &driver::info(driver::Stage::cubin);
    if (!emit.empty()) {
      last = driver::findStage(emit);
      if (!last)
        return withHelp(usageError("there is no stage '{}' to emit", emit), suggest(emit, stageNames()));
    }
    driver::CompileOptions options;
    options.last = last->stage;
    options.lineInfo = lineInfo;
    if (saveTemps)
      for (const driver::StageInfo &s : driver::allStages())
        options.dumps.push_back(s.stage);
    else if (!emit.empty())
      options.dumps.push_back(last->stage);

    if (const driver::StageInfo *from = driver::stageOfFile(path))
      return buildStage(context, *from, options);
    return buildKernel(context, options);
  }

private:
  std::vector<std::string> inputs; ///< files that are read, and so not written

  Result<int> buildStage(Context &context, const driver::StageInfo &from, const driver::CompileOptions &options) {
    if (!from.isInput)
      return usageError("'{}' holds stage {}, which is not accepted as input", path, from.name);
    TILEC_ASSIGN(const Arch *arch, pickArch(kernelOptions.arch));
    TILEC_ASSIGN(std::string text, readFile(path));
    TILEC_ASSIGN(driver::Compilation c, driver::compileStage(from.stage, path, text, *arch, options));
    std::string stem = std::filesystem::path(path).filename().string();
    stem.resize(stem.size() - from.extension.size() - 1);
    inputs = {path};
    return deliver(context, c, options, stem, *arch);
  }

  Result<int> buildKernel(Context &context, const driver::CompileOptions &options) {
    TILEC_ASSIGN(Target target, resolveTarget(context, path, kernelOptions.kernel));
    TILEC_ASSIGN(auto defines, parseDefines(kernelOptions.defines));
    TILEC_ASSIGN(auto hints, parseHints(kernelOptions.hints));
    TILEC_ASSIGN(auto problemValues, parseDefines({problem}));
    // Stages before code generation need no architecture.
    const Arch *arch = nullptr;
    if (!kernelOptions.arch.empty() || options.last > driver::Stage::checked) {
      TILEC_ASSIGN(arch, pickArch(kernelOptions.arch));
    }
    TILEC_ASSIGN(auto source, driver::openSource(target.path));
    inputs = {target.path};
    if (options.last <= driver::Stage::ast) {
      driver::Compilation parsed;
      parsed.dumps[options.last] = driver::dumpSource(*source, options.last);
      bool failed = printDiagnostics(context, *source);
      TILEC_ASSIGN(int code, deliver(context, parsed, options, "", allArchs().front()));
      return failed ? exitCode(ErrorKind::Program) : code;
    }
    Result<driver::Compilation> c =
        compileSource(context, *source, target, defines, problemValues, hints, arch, options);
    if (printDiagnostics(context, *source))
      return exitCode(ErrorKind::Program);
    if (!c)
      return std::unexpected(c.error());
    if (dryRun)
      return 0;
    return deliver(context, *c, options, c->artifact.name, arch ? *arch : allArchs().front());
  }

  Result<driver::Compilation> compileSource(Context &context, driver::Source &source, const Target &target,
                                            const tuner::Values &defines, const tuner::Values &problemValues,
                                            const std::map<std::string, int64_t> &hints, const Arch *arch,
                                            const driver::CompileOptions &options) {
    TILEC_ASSIGN(sema::KernelInterface interface, driver::describe(source, target.kernel));
    TILEC_ASSIGN(SortedDefines checked, sortDefines(interface, defines));
    TILEC_ASSIGN(SortedDefines asked, sortDefines(interface, problemValues));
    sema::Bindings bindings{defines, asked.problem, hints, arch, /*specialize=*/true};
    // A parameter in --problem (a dtype, say) is as good as one in -D.
    for (const auto &[name, value] : asked.parameters)
      bindings.defines.insert_or_assign(name, value);
    if (tuned) {
      std::filesystem::path stored = cache.empty() ? tuner::Cache::defaultFile() : std::filesystem::path(cache);
      TILEC_ASSIGN(tuner::Cache opened, tuner::Cache::open(stored));
      TILEC_ASSIGN(tuner::Tuned found, tuner::lookupTuned(opened, source, interface, bindings, *arch));
      context.err.print(fmt::format("tuned: {}{}\n", found.text, takeTuned(found, bindings)));
    }
    TILEC_ASSIGN(sema::Program program, driver::instantiate(source, interface, bindings));
    TILEC_TRY(checkLaunch(source, program, bindings));
    if (dryRun) {
      std::vector<std::string> parts;
      for (const auto &[name, value] : program.parameters)
        parts.push_back(fmt::format("{}={}", name, toString(value)));
      for (const auto &[name, value] : program.hints)
        parts.push_back(fmt::format("{}={}", name, value));
      context.out.print(
          fmt::format("{} for {}: {}\n", program.name, arch ? arch->compiledAs : "any architecture", join(parts, " ")));
      return driver::Compilation{driver::plan(source, program), {}, {}};
    }
    if (options.last > driver::Stage::tile && driver::reportGpuGaps(source, program))
      return driver::Compilation{}; // the diagnostics say it all
    return driver::compileIsolated(source, program, options);
  }

  /// Adds what tuning found. What the command line says wins, and is named: ` (but TN=64, as given)`.
  static std::string takeTuned(const tuner::Tuned &found, sema::Bindings &bindings) {
    std::vector<std::string> kept;
    for (const auto &[name, value] : found.parameters)
      if (auto [at, added] = bindings.defines.emplace(name, value); !added && at->second != value)
        kept.push_back(fmt::format("{}={}", name, toString(at->second)));
    for (const auto &[name, value] : found.hints)
      if (auto [at, added] = bindings.hints.emplace(name, value); !added && at->second != value)
        kept.push_back(fmt::format("{}={}", name, at->second));
    return kept.empty() ? "" : fmt::format(" (but {}, as given)", join(kept, " "));
  }

  /// Where everything that a launch depends on is fixed, plans that launch: a kernel that can never run is not built.
  static Status checkLaunch(const driver::Source &source, const sema::Program &program,
                            const sema::Bindings &bindings) {
    Artifact plan = driver::plan(source, program);
    LaunchEnv env{bindings.defines, program.arch ? std::string(program.arch->name) : "", {}, {}};
    for (const auto &[name, value] : program.parameters)
      env.values.insert_or_assign(name, value);
    auto isOpen = [&](const LaunchExpr &e) {
      return std::ranges::any_of(symbols(e), [&](const std::string &name) {
        return !env.values.contains(name) &&
               std::ranges::none_of(plan.lets, [&](const auto &let) { return let.first == name; });
      });
    };
    bool open = std::ranges::any_of(plan.symbols, [&](const std::string &s) { return !env.values.contains(s); });
    for (const auto &[name, expr] : plan.lets)
      open |= isOpen(expr);
    for (const Condition &c : plan.requirements)
      open |= isOpen(c.expr);
    for (const LaunchSpec &l : plan.launches)
      open |= std::ranges::any_of(l.grid, isOpen);
    if (open)
      return {};
    if (program.arch) {
      env.numSms = typicalProduct(*program.arch).sms;
      env.residentBlocks = 1;
    }
    auto ok = bindSymbols(plan, {}, env);
    if (ok)
      if (auto grids = planGrid(plan, env); !grids)
        ok = std::unexpected(grids.error());
    if (ok)
      return {};
    return withHelp(programError("with these values no launch is possible: {}", ok.error().message), ok.error().help);
  }

  Status write(const std::string &file, std::string_view bytes) const {
    TILEC_TRY(keepInputs(file, inputs));
    return writeFile(file, bytes);
  }

  Result<int> deliver(Context &context, const driver::Compilation &c, const driver::CompileOptions &options,
                      const std::string &stem, const Arch &arch) {
    std::string base = output;
    if (base.empty() || base == "-")
      base = fmt::format("{}.{}.cubin", stem, arch.name);
    if (saveTemps) {
      std::string prefix = base.ends_with(".cubin") ? base.substr(0, base.size() - 6) : base;
      for (const auto &[stage, text] : c.dumps)
        if (stage != driver::Stage::cubin)
          TILEC_TRY(write(fmt::format("{}.{}", prefix, driver::info(stage).extension), text));
    }
    if (!emit.empty() && options.last != driver::Stage::cubin) {
      auto at = c.dumps.find(options.last);
      if (at == c.dumps.end())
        return usageError("stage {} comes before the input", driver::info(options.last).name);
      if (output.empty() || output == "-")
        context.out.print(at->second);
      else
        TILEC_TRY(write(output, at->second));
    } else if (output == "-") {
      context.out.print(c.artifact.binaries.at(0));
    } else {
      TILEC_TRY(keepInputs(base, inputs));
      TILEC_TRY(keepInputs(base + ".json", inputs));
      TILEC_TRY(writeArtifact(c.artifact, base));
      if (context.json)
        context.out.print(toText(toJson(c.artifact)) + "\n");
      else
        context.err.print(fmt::format("{}: {}\n", base, resourcesText(c.artifact)));
      for (const LaunchSpec &l : c.artifact.launches)
        for (const std::string &w : l.resources.warnings)
          context.err.print(fmt::format("{} assembler: {}\n", context.err.styled(Style::Yellow, "warning:"), w));
    }
    if (timing)
      for (const auto &[step, ms] : c.milliseconds)
        context.err.print(fmt::format("{:>10.2f} ms  {}\n", ms, step));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeBuild() { return std::make_unique<Build>(); }

} // namespace tilec::cli
