#include "cli/commands.h"
#include "cli/figures.h"
#include "cli/kernel_options.h"
#include "compiler/base/text.h"
#include "tuner/session.h"
#include "tuner/worker.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace tilec::cli {
namespace {

std::atomic<bool> stopRequested{false};

/// First Ctrl-C: finish with what there is. Second: end at once.
void onInterrupt(int) {
  if (stopRequested.exchange(true))
    _exit(130);
}

/// The live line on a terminal; elsewhere a line now and then.
class Bar : public tuner::Progress {
public:
  explicit Bar(Context &context) : context(context) {}

  void begin(const tuner::Values &problem, const tuner::Space &, size_t total, size_t known) override {
    title = tuner::toString(problem);
    last = failures = 0;
    already = known;
    start = Clock::now();
    if (!context.json && known < total)
      context.err.print(fmt::format("{}: {} configurations, {} of them known\n", title, total, known));
  }
  void trial(const tuner::TrialRow &row, size_t done, size_t total, const tuner::TrialRow *best) override {
    failures += tuner::isFailure(row.status);
    std::string line = fmt::format("{}  {}/{}", title, done, total);
    if (best)
      line +=
          fmt::format("  best {} {}{}", timeText(best->median), rateText(best->bytesPerSecond, best->flopsPerSecond),
                      best->roofline > 0 ? fmt::format(" ({:.0f} % of the roofline)", best->roofline * 100) : "");
    if (failures)
      line += fmt::format("  {} failed", failures);
    line += timeLeft(done, total);
    context.err.live(line);
    if (!context.err.isTerminal() && !context.json && done * 4 / total > last * 4 / total) {
      context.err.print(line + "\n");
      last = done;
    }
  }
  void finals(size_t count) override { context.err.live(fmt::format("{}  finals of {}", title, count)); }
  void end(const tuner::ProblemResult &) override { context.err.endLive(); }

private:
  using Clock = std::chrono::steady_clock;

  /// As long for each configuration as for those so far; what came from the cache took no time.
  std::string timeLeft(size_t done, size_t total) const {
    if (done >= total || done <= already)
      return "";
    double passed = std::chrono::duration<double>(Clock::now() - start).count();
    double left = passed / double(done - already) * double(total - done);
    return left < 90 ? fmt::format("  {:.0f} s left", std::ceil(left)) : fmt::format("  {:.0f} min left", left / 60);
  }

  Context &context;
  std::string title;
  size_t last = 0, failures = 0, already = 0;
  Clock::time_point start;
};

class Tune : public Command {
  std::vector<std::string> paths, problems, inputs, sets, ranges;
  std::string arch, kernel, cache, policy = "cold";
  int64_t jobs = 0, seed = 0, device = 0, rows = 12;
  double timeout = 60;
  bool fresh = false, predict = false, accesses = false;

public:
  void options(std::vector<OptionRow> &options) override {
    options.push_back({"PATH", "", "recipes or .tile files, or nothing: the recipes of this folder", &paths});
    options.push_back({"--arch", "ARCH", "architecture, such as sm_90; the GPU's by default", &arch});
    options.push_back({"--kernel", "NAME", "the kernel, where a file has several", &kernel});
    options.push_back(
        {"--problem", "M=…,N=…", "a problem to tune for, instead of the recipe's (repeatable)", &problems});
    options.push_back({"--input", "ARRAY=SPEC", "what an input holds, instead of the recipe's (repeatable)", &inputs});
    options.push_back({"--set", "NAME=V,…", "values of an axis, instead of its own (repeatable)", &sets});
    options.push_back({"--range", "NAME=LO..=HI", "the same as a range, or NAME=pow2(LO, HI) (repeatable)", &ranges});
    options.push_back(
        {"--tune-accesses", "", "try latency and allow_tma of every load and store, one at a time", &accesses});
    options.push_back({"--device", "N", "the GPU to measure on", &device});
    options.push_back({"--policy",
                       "POLICY",
                       "how times are taken: cold (empty L2), hot, graph (runs in a row)",
                       &policy,
                       {"cold", "hot", "graph"}});
    options.push_back({"--predict", "", "do not measure, even where a GPU could", &predict});
    options.push_back({"--fresh", "", "measure again what is known", &fresh});
    options.push_back({"--cache", "FILE", "the cache, instead of the user's", &cache});
    options.push_back({"--jobs", "N", "compiles at a time; 0: one for each core", &jobs});
    options.push_back({"--timeout", "SECONDS", "for one configuration on the GPU", &timeout});
    options.push_back({"--seed", "N", "seed of inputs and samples", &seed});
    options.push_back({"--rows", "N", "rows of the table; 0: all", &rows});
  }

  Result<int> run(Context &context) override {
    TILEC_ASSIGN(std::vector<Target> targets, resolveTargets(context, paths));
    const Arch *wanted = nullptr;
    if (!arch.empty()) {
      TILEC_ASSIGN(wanted, requireArch(arch));
    }
    std::vector<tuner::Values> asked;
    for (const std::string &p : problems) {
      TILEC_ASSIGN(tuner::Values values, tuner::parseValues(p));
      asked.push_back(std::move(values));
    }
    std::vector<tuner::Override> overrides;
    for (const std::string &s : sets) {
      TILEC_ASSIGN(overrides.emplace_back(), tuner::parseOverride(s));
    }
    for (const std::string &r : ranges) {
      TILEC_ASSIGN(overrides.emplace_back(), tuner::parseRange(r));
    }
    struct sigaction action{}, old{};
    action.sa_handler = onInterrupt;
    sigaction(SIGINT, &action, &old);
    tuner::TuneResult all;
    for (const Target &target : targets) {
      TILEC_ASSIGN(tuner::Recipe recipe, recipeOf(target));
      Bar bar(context);
      tuner::TuneRequest request;
      request.recipe = std::move(recipe);
      request.arch = wanted;
      request.problems = asked;
      request.overrides = overrides;
      request.inputs = inputs;
      request.cache = cache;
      request.device = int(device);
      request.predict = predict;
      request.evaluator.seed = uint64_t(seed);
      TILEC_ASSIGN(request.evaluator.policy, runtime::parseTimingPolicy(policy));
      request.evaluator.jobs = unsigned(jobs);
      request.evaluator.trialTimeoutSeconds = timeout;
      request.session.jobs = unsigned(jobs);
      request.session.fresh = fresh;
      request.session.accesses = accesses;
      request.session.stop = &stopRequested;
      request.session.progress = &bar;
      Result<tuner::TuneResult> result = tuner::tune(request);
      context.err.endLive();
      if (!result)
        return std::unexpected(result.error());
      if (!cache.empty())
        for (tuner::ProblemResult &p : result->problems)
          if (!p.command.empty())
            p.command += " --cache " + shellQuote(cache);
      if (!context.json)
        print(context, *result);
      add(all, std::move(*result));
      if (all.interrupted)
        break;
    }
    sigaction(SIGINT, &old, nullptr);
    if (context.json)
      context.out.print(toText(toJson(all)) + "\n");
    return all.interrupted ? 130 : all.succeeded() ? 0 : exitCode(ErrorKind::Program);
  }

private:
  Result<tuner::Recipe> recipeOf(const Target &target) {
    if (target.recipe) {
      tuner::Recipe recipe = *target.recipe;
      if (!kernel.empty())
        recipe.kernel = kernel;
      return recipe;
    }
    SourceManager sources;
    Diagnostics diags;
    TILEC_ASSIGN(tuner::Recipe recipe, tuner::loadRecipe(target.path, sources, diags));
    recipe.kernel = kernel;
    return recipe;
  }

  /// Several recipes give one result: all their problems.
  static void add(tuner::TuneResult &all, tuner::TuneResult one) {
    all.cacheFile = one.cacheFile;
    if (!one.cacheNotice.empty())
      all.cacheNotice = one.cacheNotice;
    all.interrupted |= one.interrupted;
    for (std::string &note : one.notes)
      if (std::ranges::find(all.notes, note) == all.notes.end())
        all.notes.push_back(std::move(note));
    std::ranges::move(one.problems, std::back_inserter(all.problems));
  }

  static std::string sustainedText(const tuner::TrialRow &row) {
    return row.sustained > 0 ? fmt::format(" ({} sustained)", timeText(row.sustained)) : "";
  }

  void print(Context &context, const tuner::TuneResult &result) {
    Terminal &out = context.out;
    for (const std::string &note : result.notes)
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Yellow, "note:"), note));
    for (const tuner::ProblemResult &p : result.problems) {
      out.print(fmt::format("\n{}  {}  {}{}\n", out.styled(Style::Bold, p.kernel), tuner::toString(p.problem),
                            p.environment.arch,
                            p.predicted ? "  (predicted)" : "  " + p.environment.gpu + "  " + p.policy));
      for (const std::string &note : p.notes)
        out.print(fmt::format("  {}\n", note));
      Table table{{{"#", true},
                   {"configuration"},
                   {"time", true},
                   {"spread", true},
                   {"rate", true},
                   {"roofline", true},
                   {"status"}},
                  {}};
      size_t shown = 0, hidden = 0;
      for (size_t i = 0; i < p.rows.size(); ++i) {
        const tuner::TrialRow &row = p.rows[i];
        bool wins = p.winner && *p.winner == i;
        if (rows > 0 && shown >= size_t(rows) && !wins && !tuner::isFailure(row.status)) {
          ++hidden;
          continue;
        }
        ++shown;
        std::string status(tuner::name(row.status));
        if (!row.reason.empty())
          status += ": " + row.reason;
        table.rows.push_back({fmt::format("{}{}", wins ? "* " : "", row.configuration.id),
                              tuner::toString(row.configuration), timeText(row.median),
                              spreadText(row.low, row.median, row.high),
                              rateText(row.bytesPerSecond, row.flopsPerSecond), rooflineText(row.roofline), status});
      }
      out.print(table.text(out));
      if (hidden)
        out.print(fmt::format("  … {} more\n", hidden));
      out.print(fmt::format("{} configurations: {} from the cache, {} compiled, {} {}, {} failed, {:.1f} s\n",
                            p.rows.size(), p.reused, p.compiled, p.evaluated, p.predicted ? "predicted" : "measured",
                            p.failed, p.seconds));
      if (p.interrupted)
        out.print(fmt::format("{} {} of {} configurations are done and kept; the same command goes on with the rest\n",
                              out.styled(Style::Yellow, "interrupted:"), p.rows.size(), p.total));
      if (p.winner)
        out.print(fmt::format("{}: {}  {}{}\nbuild it: {}\n", p.interrupted ? "best so far" : "winner",
                              out.styled(Style::Green, tuner::toString(p.rows[*p.winner].configuration)),
                              timeText(p.rows[*p.winner].median), sustainedText(p.rows[*p.winner]), p.command));
      else if (!p.interrupted)
        out.print(fmt::format("{} every configuration failed\n", out.styled(Style::Red, "no winner:")));
    }
    if (result.interrupted && result.problems.empty())
      out.print(fmt::format("{} nothing was done\n", out.styled(Style::Yellow, "interrupted:")));
    if (!result.cacheNotice.empty())
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Yellow, "cache:"), result.cacheNotice));
  }
};

class Worker : public Command {
public:
  void options(std::vector<OptionRow> &) override {}
  Result<int> run(Context &) override { return tuner::workerMain(0, 1); }
};

} // namespace

std::unique_ptr<Command> makeTune() { return std::make_unique<Tune>(); }
std::unique_ptr<Command> makeWorker() { return std::make_unique<Worker>(); }

} // namespace tilec::cli
