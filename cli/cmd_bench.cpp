#include "cli/commands.h"
#include "cli/figures.h"
#include "cli/kernel_options.h"
#include "compiler/base/text.h"
#include "tuner/bench.h"
#include "tuner/tuned.h"

namespace tilec::cli {
namespace {

class Bench : public Command {
  std::string path, cache, policy = "cold";
  std::vector<std::string> problems, inputs;
  KernelOptions kernelOptions;
  int64_t device = 0, rounds = tuner::finalRounds, seed = 0;
  double timeout = 60;
  bool tuned = false;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"PATH", "", "a .tile file or a recipe", &path});
    kernelOptions.addRows(rows);
    rows.push_back({"--problem", "M=…,N=…", "a problem to time, instead of the recipe's (repeatable)", &problems});
    rows.push_back({"--input", "ARRAY=SPEC", "what an input holds, instead of the recipe's (repeatable)", &inputs});
    rows.push_back({"--tuned", "", "take the parameters and hints that tuning found", &tuned});
    rows.push_back({"--cache", "FILE", "the cache of --tuned, instead of the user's", &cache});
    rows.push_back({"--device", "N", "the GPU to time on", &device});
    rows.push_back({"--policy",
                    "POLICY",
                    "how times are taken: cold (empty L2), hot, graph (runs in a row)",
                    &policy,
                    {"cold", "hot", "graph"}});
    rows.push_back({"--rounds", "N", "samples to take at least", &rounds});
    rows.push_back({"--timeout", "SECONDS", "for the kernel on the GPU", &timeout});
    rows.push_back({"--seed", "N", "seed of inputs and samples", &seed});
  }

  Result<int> run(Context &context) override {
    constexpr int64_t fewest = 7, most = 100'000;
    if (rounds < fewest || rounds > most)
      return usageError("--rounds takes {} to {}, not {}", fewest, most, rounds);
    TILEC_ASSIGN(Target target, resolveTarget(context, path, kernelOptions.kernel));
    TILEC_ASSIGN(tuner::Recipe recipe, recipeOf(target));
    const Arch *arch = nullptr;
    if (!kernelOptions.arch.empty()) {
      TILEC_ASSIGN(arch, requireArch(kernelOptions.arch));
    }
    TILEC_ASSIGN(tuner::Values defines, parseDefines(kernelOptions.defines));
    TILEC_ASSIGN(auto hints, parseHints(kernelOptions.hints));
    TILEC_ASSIGN(auto builder, tuner::openBuilder(recipe.kernelFile, recipe.kernel));
    for (const std::string &input : inputs)
      TILEC_TRY(tuner::giveInput(recipe, builder->interface(), input));
    TILEC_ASSIGN(SortedDefines sorted, sortDefines(builder->interface(), defines));
    TILEC_ASSIGN(std::vector<tuner::Values> asked, problemsOf(recipe, *builder, sorted));
    TILEC_ASSIGN(tuner::Place place, gpu(arch));

    tuner::EvaluatorOptions options;
    options.seed = uint64_t(seed);
    TILEC_ASSIGN(options.policy, runtime::parseTimingPolicy(policy));
    options.trialTimeoutSeconds = timeout;
    Json rows = Json::array();
    Table table{{{"problem"},
                 {"configuration"},
                 {"time", true},
                 {"spread", true},
                 {"sustained", true},
                 {"rate", true},
                 {"roofline", true}},
                {}};
    for (const tuner::Values &problem : asked) {
      tuner::BenchRequest request{problem, {0, sorted.parameters, hints}, int(rounds)};
      if (tuned)
        TILEC_TRY(takeTuned(context, target, builder->interface(), *place.arch, request));
      TILEC_ASSIGN(tuner::BenchResult r, tuner::bench(recipe, *builder, place, request, options));
      rows.push_back(toJson(r));
      table.rows.push_back({tuner::toString(r.problem), tuner::toString(r.configuration), timeText(r.cool.median),
                            spreadText(r.cool.low, r.cool.median, r.cool.high), timeText(r.sustained.median),
                            rateText(r.bytesPerSecond, r.flopsPerSecond), rooflineText(r.roofline)});
      if (!r.cool.reason.empty())
        context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Yellow, "note:"), r.cool.reason));
    }
    if (context.json)
      context.out.print(toText(Json{{"schema", "tilec.bench.1"}, {"rows", std::move(rows)}}) + "\n");
    else
      context.out.print(fmt::format("{}  {}  {}  {}\n{}", context.out.styled(Style::Bold, builder->interface().name),
                                    place.arch->compiledAs, place.gpu->name, policy, table.text(context.out)));
    return 0;
  }

private:
  /// The problems asked for, each with the extents and dtypes of -D; else the recipe's.
  Result<std::vector<tuner::Values>> problemsOf(const tuner::Recipe &recipe, tuner::Builder &builder,
                                                const SortedDefines &sorted) const {
    std::vector<tuner::Values> asked;
    for (const std::string &text : problems) {
      TILEC_ASSIGN(asked.emplace_back(), tuner::parseValues(text));
    }
    if (asked.empty() && sorted.problem.empty())
      asked = recipe.problems;
    if (asked.empty())
      asked.emplace_back();
    for (tuner::Values &problem : asked) {
      problem.insert(sorted.problem.begin(), sorted.problem.end());
      for (const auto &[name, value] : sorted.parameters)
        if (std::holds_alternative<DType>(value))
          problem.insert_or_assign(name, value);
      if (auto ok = tuner::checkProblem(tuner::completeProblem(builder.interface(), problem), builder.interface()); !ok)
        return withHelp(std::unexpected(ok.error()), "give it with --problem NAME=VALUE,… or -D NAME=VALUE");
    }
    return asked;
  }

  /// The GPU to time on; a prediction is no answer here.
  Result<tuner::Place> gpu(const Arch *arch) const {
    auto devices = runtime::listDevices();
    bool present = false;
    if (devices)
      for (const runtime::DeviceFacts &d : *devices)
        present |= d.ordinal == device;
    if (!present)
      return withHelp(noDevice("there is no GPU {} to time on{}", device,
                               devices ? "" : fmt::format(": {}", devices.error().message)),
                      "run it where the GPU is; `tilec tune --arch ARCH` predicts without one");
    TILEC_ASSIGN(tuner::Place place, tuner::choosePlace(arch, int(device), false));
    if (!place.gpu)
      return withHelp(noDevice("{}", place.note), "leave --arch away to time on the GPU that is here");
    return place;
  }

  Status takeTuned(Context &context, const Target &target, const sema::KernelInterface &interface, const Arch &arch,
                   tuner::BenchRequest &request) const {
    TILEC_ASSIGN(auto source, driver::openSource(target.path));
    TILEC_ASSIGN(SortedDefines sorted, sortDefines(interface, request.problem));
    sema::Bindings bindings{request.configuration.parameters, sorted.problem, request.configuration.hints, &arch};
    for (const auto &[name, value] : sorted.parameters)
      bindings.defines.insert_or_assign(name, value);
    TILEC_ASSIGN(tuner::Cache opened,
                 tuner::Cache::open(cache.empty() ? tuner::Cache::defaultFile() : std::filesystem::path(cache)));
    TILEC_ASSIGN(tuner::Tuned found, tuner::lookupTuned(opened, *source, interface, bindings, arch));
    context.err.print(fmt::format("tuned: {}\n", found.text));
    for (const auto &[name, value] : found.parameters)
      request.configuration.parameters.emplace(name, value);
    for (const auto &[name, value] : found.hints)
      request.configuration.hints.emplace(name, value);
    return {};
  }
};

} // namespace

std::unique_ptr<Command> makeBench() { return std::make_unique<Bench>(); }

} // namespace tilec::cli
