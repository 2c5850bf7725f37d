#include "cli/commands.h"
#include "cli/figures.h"
#include "cli/kernel_options.h"
#include "compiler/base/text.h"
#include "tuner/why.h"
#include <charconv>
#include <set>

namespace tilec::cli {
namespace {

class CacheCommand : public Command {
  std::string action, id, file, policy = "cold";
  std::vector<std::string> problems, inputs;
  KernelOptions kernelOptions;
  int64_t seed = 0;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"ACTION", "", "ls, show, stats or why", &action, {"ls", "show", "stats", "why"}});
    rows.push_back({"ID", "", "show: the problem's number, as ls prints it; why: a .tile file or a recipe", &id});
    rows.push_back({"--cache", "FILE", "the cache, instead of the user's", &file});
    rows.push_back({"--problem", "M=…,N=…", "why: the problem (repeatable); else the recipe's", &problems});
    rows.push_back(
        {"--input", "ARRAY=SPEC", "why: what an input holds, instead of the recipe's (repeatable)", &inputs});
    kernelOptions.addRows(rows);
    rows.push_back(
        {"--policy", "POLICY", "why: how times are taken: cold, hot or graph", &policy, {"cold", "hot", "graph"}});
    rows.push_back({"--seed", "N", "why: the seed of inputs", &seed});
  }

  Result<int> run(Context &context) override {
    if (action.empty())
      return withHelp(usageError("tilec cache needs an action"), "ls, show ID, stats or why PATH");
    std::filesystem::path path = file.empty() ? tuner::Cache::defaultFile() : std::filesystem::path(file);
    std::error_code ec;
    if (action != "why" && !std::filesystem::exists(path, ec)) {
      if (!file.empty())
        return usageError("there is no cache {}", file);
      if (context.json)
        context.out.print(
            toText(Json{{"schema", "tilec.cache.1"}, {"file", path.string()}, {"entries", Json::array()}}) + "\n");
      else
        context.out.print(fmt::format("{}: nothing is stored yet\n", path.string()));
      return 0;
    }
    TILEC_ASSIGN(tuner::Cache cache, tuner::Cache::open(path));
    if (std::string notice = cache.notice(); !notice.empty())
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Yellow, "cache:"), notice));
    if (action == "show")
      return show(context, cache);
    if (action == "why")
      return why(context, cache);
    return action == "ls" ? list(context, cache) : stats(context, cache);
  }

private:
  Result<int> list(Context &context, tuner::Cache &cache) {
    Json entries = Json::array();
    Table table{
        {{"id", true}, {"kernel"}, {"problem"}, {"on"}, {"trials", true}, {"failed", true}, {"winner"}, {"time", true}},
        {}};
    for (const tuner::CacheEntry &e : cache.list()) {
      entries.push_back(toJson(e));
      table.rows.push_back({fmt::format("{}", e.problemId), e.kernel, e.problem,
                            e.gpu.empty() ? e.arch + " (predicted)" : fmt::format("{} ({})", e.gpu, e.arch),
                            fmt::format("{}", e.trials), fmt::format("{}", e.failed), e.winner, timeText(e.median)});
    }
    if (context.json)
      context.out.print(
          toText(Json{{"schema", "tilec.cache.1"}, {"file", cache.file().string()}, {"entries", entries}}) + "\n");
    else
      context.out.print(table.rows.empty() ? "nothing is stored yet\n" : table.text(context.out));
    return 0;
  }

  Result<int> show(Context &context, tuner::Cache &cache) {
    int64_t number = 0;
    auto r = std::from_chars(id.data(), id.data() + id.size(), number);
    if (id.empty() || r.ec != std::errc() || r.ptr != id.data() + id.size())
      return withHelp(usageError("show needs the number of a problem"), "`tilec cache ls` prints the numbers");
    std::vector<tuner::TrialRecord> trials = tuner::byTime(cache.trials(number));
    if (trials.empty())
      return withHelp(usageError("the cache has no problem {}", number), "`tilec cache ls` prints the numbers");
    Json list = Json::array();
    Table table{
        {{"on"}, {"configuration"}, {"status"}, {"time", true}, {"policy"}, {"verification"}, {"when"}, {"reason"}},
        {}};
    std::set<int64_t> winners = tuner::winners(trials);
    for (const tuner::TrialRecord &t : trials) {
      bool wins = winners.contains(t.id);
      list.push_back(toJson(t));
      list.back()["winner"] = wins;
      table.rows.push_back({(wins ? "* " : "  ") + (t.environment.gpu.empty() ? t.environment.arch : t.environment.gpu),
                            tuner::toString(t.configuration), std::string(tuner::name(t.measurement.status)),
                            timeText(t.measurement.median), t.policy, t.verification, t.created, t.measurement.reason});
    }
    context.out.print(context.json ? toText(Json{{"schema", "tilec.trials.1"}, {"trials", list}}) + "\n"
                                   : table.text(context.out));
    return 0;
  }

  /// For each problem: found, or what differs. Exit code 0 either way: it is an answer, not a failure.
  Result<int> why(Context &context, tuner::Cache &cache) {
    if (id.empty())
      return withHelp(usageError("why needs a .tile file or a recipe"), "tilec cache why PATH --problem M=…,N=…");
    TILEC_ASSIGN(Target target, resolveTarget(context, id, kernelOptions.kernel));
    TILEC_ASSIGN(tuner::Recipe recipe, recipeOf(target));
    TILEC_ASSIGN(auto builder, tuner::openBuilder(target.path, target.kernel));
    for (const std::string &input : inputs)
      TILEC_TRY(tuner::giveInput(recipe, builder->interface(), input));
    TILEC_ASSIGN(tuner::Values defines, parseDefines(kernelOptions.defines));
    TILEC_ASSIGN(auto hints, parseHints(kernelOptions.hints));
    TILEC_ASSIGN(SortedDefines sorted, sortDefines(builder->interface(), defines));
    const Arch *arch = nullptr;
    if (!kernelOptions.arch.empty()) {
      TILEC_ASSIGN(arch, requireArch(kernelOptions.arch));
    }
    TILEC_ASSIGN(tuner::Place place, tuner::choosePlace(arch, 0, false));
    std::vector<tuner::Override> overrides;
    for (const auto &[name, value] : sorted.parameters)
      if (!std::holds_alternative<DType>(value))
        overrides.push_back({name, {value}});
    for (const auto &[name, value] : hints)
      overrides.push_back({name, {LaunchValue(value)}});
    std::vector<tuner::Values> asked;
    for (const std::string &text : problems) {
      TILEC_ASSIGN(asked.emplace_back(), tuner::parseValues(text));
    }
    if (asked.empty())
      asked = sorted.problem.empty() ? recipe.problems : std::vector<tuner::Values>{{}};
    if (asked.empty())
      return withHelp(usageError("there is no problem to ask about"), "give one with --problem NAME=VALUE,…");
    tuner::EvaluatorOptions options;
    options.seed = uint64_t(seed);
    TILEC_ASSIGN(options.policy, runtime::parseTimingPolicy(policy));
    Json all = Json::array();
    for (tuner::Values &problem : asked) {
      problem.insert(sorted.problem.begin(), sorted.problem.end());
      for (const auto &[name, value] : sorted.parameters)
        if (std::holds_alternative<DType>(value))
          problem.insert_or_assign(name, value);
      TILEC_ASSIGN(tuner::KeyVerdict v, tuner::explainKey(cache, recipe, *builder, place, problem, overrides, options));
      if (context.json)
        all.push_back(toJson(v));
      else
        print(context, v);
    }
    if (context.json)
      context.out.print(toText(Json{{"schema", "tilec.cache-why.1"}, {"verdicts", all}}) + "\n");
    return 0;
  }

  static std::string plain(const Json &value) {
    return value.is_null() ? "nothing" : value.is_string() ? value.get<std::string>() : toText(value, -1);
  }

  void print(Context &context, const tuner::KeyVerdict &v) {
    Terminal &out = context.out;
    out.print(fmt::format("{}  {}  {}: ", v.kernel, tuner::toString(v.problem), tuner::toString(v.configuration)));
    if (v.hit) {
      const tuner::Measurement &m = v.nearest->measurement;
      out.print(fmt::format("{}: {} {} of {}\n", out.styled(Style::Green, "a hit"), tuner::name(m.status),
                            m.median > 0 ? timeText(m.median) : m.reason, v.nearest->created));
      return;
    }
    out.print(out.styled(Style::Yellow, "a miss") + "\n");
    if (!v.nearest) {
      out.print("  nothing is stored of a kernel of this name\n");
      return;
    }
    out.print(fmt::format("  nearest: {} for {}, {}\n", tuner::toString(v.nearest->configuration),
                          tuner::toString(v.nearest->problem.values), v.nearest->created));
    // Tile IR is known by its hash alone, which tells nobody anything.
    for (const tuner::KeyDifference &d : v.differences)
      out.print(d.part == "ir" ? fmt::format("  {}: {} is another\n", d.part, tuner::describePart(d.part))
                               : fmt::format("  {}: {} here, {} stored ({})\n", d.part, plain(d.wanted),
                                             plain(d.stored), tuner::describePart(d.part)));
  }

  Result<int> stats(Context &context, tuner::Cache &cache) {
    int64_t problems = 0, trials = 0, failed = 0, predicted = 0;
    for (const tuner::CacheEntry &e : cache.list()) {
      ++problems;
      trials += e.trials;
      failed += e.failed;
      predicted += e.gpu.empty() ? e.trials : 0;
    }
    std::error_code ec;
    uint64_t bytes = std::filesystem::file_size(cache.file(), ec);
    if (context.json)
      context.out.print(toText(Json{{"schema", "tilec.cache-stats.1"},
                                    {"file", cache.file().string()},
                                    {"bytes", ec ? 0 : bytes},
                                    {"problems", problems},
                                    {"trials", trials},
                                    {"failed", failed},
                                    {"predicted", predicted}}) +
                        "\n");
    else
      context.out.print(fmt::format("{}: {} bytes, {} problems, {} trials, {} of them failed, {} predicted\n",
                                    cache.file().string(), groupDigits(ec ? 0 : bytes), problems, trials, failed,
                                    predicted));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeCache() { return std::make_unique<CacheCommand>(); }

} // namespace tilec::cli
