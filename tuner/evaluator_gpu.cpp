// Measuring on a GPU. This process never has a CUDA context: a worker has it, and is replaced when a configuration
// breaks it.
#include "compiler/base/files.h"
#include "compiler/target/target.h"
#include "tuner/evaluator.h"
#include "tuner/process.h"
#include "tuner/protocol.h"
#include <filesystem>
#include <optional>
#include <set>
#include <unistd.h>

namespace tilec::tuner {
namespace fs = std::filesystem;
namespace {

/// Context, clocks and the buffers of a large problem.
constexpr double setupTimeout = 300;
/// Workers that may die in a row before anything was measured: then the machine is at fault, not the configurations.
constexpr int hopelessStarts = 3;
/// Candidates in one race: enough to compare, few enough that little is lost with a race and modules stay small.
constexpr size_t raceSize = 8;
/// Longest race, for each candidate in it.
constexpr double raceSeconds = 0.5, sustainedSeconds = 0.2;
/// What the session calls the kernel's own configuration before its turn comes.
constexpr int standard = -1;

/// A folder for cubins and expected values, removed at the end.
class ScratchFolder {
public:
  Result<std::string> path() {
    if (!folder.empty())
      return folder;
    std::error_code ec;
    std::string pattern = (fs::temp_directory_path(ec) / "tilec-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      return usageError("cannot make a folder in {}", fs::temp_directory_path(ec).string());
    return folder = pattern;
  }
  ~ScratchFolder() {
    std::error_code ec;
    if (!folder.empty())
      fs::remove_all(folder, ec);
  }

private:
  std::string folder;
};

class GpuEvaluator final : public Evaluator {
public:
  GpuEvaluator(const Recipe &recipe, Builder &builder, const runtime::DeviceFacts &device, const Arch &arch,
               const EvaluatorOptions &options)
      : recipe(recipe), builder(builder), device(device), arch(arch), options(options) {}

  std::string policy() const override { return std::string(runtime::name(options.policy)); }
  std::string verification(const Values &) const override {
    return fmt::format("executor, then every element, seed {}, rules {}", options.seed, rulesId(recipe));
  }
  bool measures() const override { return true; }

  Environment environment() const override {
    auto assembler = builder.assembler();
    return {.gpu = device.name,
            .arch = std::string(arch.compiledAs),
            .capability = fmt::format("{}.{}", device.major, device.minor),
            .sms = device.multiprocessors,
            .l2Bytes = device.l2Bytes,
            .driver = fmt::format("{}.{}", device.driverVersion / 1000, device.driverVersion % 1000 / 10),
            .toolkit = "",
            .assembler = assembler ? *assembler : "",
            .tool = builder.tool()};
  }

  Status begin(const Values &problem, const Configuration &own, std::span<const Pending> pending) override {
    setups.clear();
    refused.clear();
    remarks.clear();
    ownTrial.reset();
    TILEC_ASSIGN(Prepared prepared, builder.prepare(own, problem, arch));
    TILEC_TRY(addProblem("timed", prepared, problem));
    addChecks(prepared.irHash, own, problem, pending);
    // The kernel's own configuration gives the outputs that others are compared with in full.
    if (auto artifact = builder.compile(prepared))
      ownTrial = std::move(*artifact);
    return start();
  }

  Measurement evaluate(const Candidate &c) override { return evaluateGroup({&c, 1}).front(); }

  size_t groupSize() const override { return raceSize; }

  std::vector<Measurement> evaluateGroup(std::span<const Candidate> group) override {
    std::vector<Measurement> results;
    std::vector<size_t> right;
    for (size_t i = 0; i < group.size(); ++i) {
      results.push_back(load(group[i], true));
      if (!isFailure(results.back().status))
        right.push_back(i);
    }
    Json rules = {{"cool", true}, {"drop", true}, {"budget_seconds", raceSeconds * double(right.size())}};
    timeTogether(group, right, rules, results);
    for (size_t i : right)
      if (!isFailure(results[i].status))
        results[i].checks = 1 + int(served[group[i].configuration.id].size());
    unload();
    return results;
  }

  std::vector<std::string> notes() const override { return remarks; }

  std::vector<Measurement> finals(std::span<const Candidate> group, int rounds) override {
    std::vector<Measurement> results(group.size());
    std::vector<size_t> all;
    for (size_t i = 0; i < group.size(); ++i)
      all.push_back(i);
    double n = double(group.size());
    // Ties are decided within 0.5 %, so that is how well the finalists must be known.
    timeTogether(group, all,
                 {{"cool", true},
                  {"min_rounds", rounds},
                  {"max_rounds", std::max(rounds, 100)},
                  {"relative_half_width", 0.005},
                  {"absolute_half_width_seconds", 1e-7},
                  {"budget_seconds", raceSeconds * 2 * n}},
                 results);
    std::vector<Measurement> sustained(group.size());
    timeTogether(
        group, all,
        {{"cool", false}, {"min_rounds", rounds}, {"max_rounds", rounds}, {"budget_seconds", sustainedSeconds * n}},
        sustained);
    for (size_t i = 0; i < group.size(); ++i)
      if (!isFailure(results[i].status) && !isFailure(sustained[i].status))
        results[i].clocks.update({{"sustained_seconds", sustained[i].median},
                                  {"sustained_low_seconds", sustained[i].low},
                                  {"sustained_high_seconds", sustained[i].high},
                                  {"sustained_samples", sustained[i].samples.size()},
                                  {"sustained_mhz", sustained[i].clocks.value("mhz", 0.0)}});
    unload();
    return results;
  }

  void end() override {
    if (worker)
      for (const auto &[name, setup] : setups)
        if (auto done = ask(Json{{"op", "release"}, {"name", name}}, setupTimeout); !done) {
          lose();
          break;
        }
    setups.clear();
  }

private:
  Status addProblem(const std::string &name, const Prepared &prepared, const Values &problem) {
    TILEC_ASSIGN(auto expected, expectedOutputs(recipe, prepared, problem, options.seed, {.jobs = options.jobs}));
    LaunchEnv env;
    env.values = problem;
    env.arch = std::string(arch.name);
    TILEC_ASSIGN(auto plans, planArrays(recipe, driver::plan(*prepared.source, *prepared.program), env));
    TILEC_ASSIGN(std::string folder, scratch.path());
    Json arrays = Json::array(), outputs = Json::array();
    for (const ArrayPlan &a : plans)
      arrays.push_back(toJson(a));
    for (const Expected &e : expected) {
      TILEC_ASSIGN(ExpectedFile file, writeExpected(e, folder, fmt::format("{}-{}", name, e.array)));
      outputs.push_back(toJson(file));
    }
    setups.emplace_back(name, Json{{"op", "problem"},
                                   {"name", name},
                                   {"values", toJson(problem)},
                                   {"arch", arch.name},
                                   {"seed", options.seed},
                                   {"arrays", std::move(arrays)},
                                   {"outputs", std::move(outputs)}});
    return {};
  }

  /// The code of the timed problem may take it that extents are multiples of a vector's elements: so that it can serve
  /// a problem for checking, those are rounded up. They stay ragged to tiles.
  static Values roundedUp(Values problem, const std::map<std::string, int64_t> &multiples) {
    for (auto &[name, value] : problem)
      if (auto of = multiples.find(name); of != multiples.end())
        if (auto *extent = std::get_if<int64_t>(&value); extent && *extent > 0)
          *extent = (*extent + of->second - 1) / of->second * of->second;
    return problem;
  }

  /// Check problems that the very code of the timed problem serves: they show what it does at ragged ends.
  void addChecks(const std::string &irHash, const Configuration &own, const Values &problem,
                 std::span<const Pending> pending) {
    served.clear();
    std::map<std::string, int64_t> multiples;
    if (auto timed = builder.prepare(own, problem, arch); timed && timed->program)
      multiples = timed->program->multiples;
    size_t number = 0;
    for (const Values &given : recipe.check) {
      Values check = roundedUp(completeProblem(builder.interface(), given), multiples);
      auto negative = std::ranges::find_if(builder.interface().symbols, [&](const std::string &symbol) {
        auto given = check.find(symbol);
        return given != check.end() && std::get<int64_t>(given->second) < 0;
      });
      if (negative != builder.interface().symbols.end()) {
        leftOut(check, fmt::format("'{}' is negative", *negative));
        continue;
      }
      auto prepared = builder.prepare(own, check, arch);
      if (!prepared)
        leftOut(check, prepared.error().message);
      if (!prepared || prepared->irHash != irHash || check == problem)
        continue;
      std::string name = fmt::format("check-{}", number++);
      if (auto added = addProblem(name, *prepared, check); !added) {
        leftOut(check, added.error().message);
        continue;
      }
      // A parameter may depend on extents and on an axis at once, so each configuration is asked.
      for (const Pending &p : pending) {
        auto other = builder.prepare(p.configuration, check, arch);
        if (other && other->irHash == p.prepared.irHash)
          served[p.configuration.id].push_back(name);
      }
    }
  }

  void leftOut(const Values &check, std::string_view why) {
    remarks.push_back(fmt::format("check problem {} was left out: {}", toString(check), why));
  }

  /// A failure before the configuration had a part in it.
  static Measurement machineFailed(TrialStatus status, std::string reason) {
    Measurement m = Measurement::failed(status, std::move(reason));
    m.transient = true;
    return m;
  }

  Status start() {
    for (int attempt = 0; attempt < hopelessStarts; ++attempt) {
      TILEC_ASSIGN(Process process, Process::spawn(options.workerPath, {"__worker"}));
      lose();
      worker.emplace(std::move(process));
      auto hello = ask(Json{{"op", "hello"}, {"protocol", protocolVersion}, {"device", device.ordinal}}, setupTimeout);
      if (!hello && worker) {
        // The worker answered: there is nothing to be gained from another.
        lose();
        return std::unexpected(hello.error());
      }
      if (hello && setUp())
        return {};
      lose();
    }
    return internalError("the worker that measures cannot be kept alive{}",
                         lastDeath.empty() ? "" : ": it " + lastDeath);
  }

  /// The worker goes, and with it what it held.
  void lose() {
    worker.reset();
    held.clear();
  }

  bool setUp() {
    for (const auto &[name, setup] : setups) {
      auto done = ask(setup, setupTimeout);
      if (!done && !worker)
        return false;
      if (!done && refused.insert_or_assign(name, done.error().message).second && name != "timed")
        remarks.push_back(fmt::format("a check problem was left out: {}", done.error().message));
    }
    if (!ownTrial)
      return true;
    auto request = loadRequest(standard, *ownTrial, {"timed"}, true);
    if (!request)
      return true;
    Measurement m = exchange(*request);
    // An own configuration that is wrong or breaks the worker is no standard for others.
    if (!worker || isFailure(m.status))
      ownTrial.reset();
    return worker && ask(Json{{"op", "unload"}, {"ids", {standard}}}, setupTimeout);
  }

  Result<Json> loadRequest(int id, const Artifact &artifact, const std::vector<std::string> &problems, bool golden) {
    if (auto it = refused.find("timed"); it != refused.end())
      return usageError("{}", it->second);
    TILEC_ASSIGN(std::string folder, scratch.path());
    Json files = Json::array();
    for (size_t i = 0; i < artifact.binaries.size(); ++i) {
      std::string path = fmt::format("{}/trial-{}.cubin", folder, i);
      TILEC_TRY(writeFile(path, artifact.binaries[i]));
      files.push_back(path);
    }
    return Json{{"op", "load"},
                {"id", id},
                {"artifact", tilec::toJson(artifact)},
                {"binaries", std::move(files)},
                {"problems", problems},
                {"golden", golden}};
  }

  /// Has the worker hold a candidate; verified first, or known to be right.
  Measurement load(const Candidate &c, bool verify) {
    if (!worker)
      if (auto ok = start(); !ok)
        return machineFailed(TrialStatus::Died, ok.error().message);
    std::vector<std::string> problems;
    if (verify) {
      problems = served[c.configuration.id];
      problems.push_back("timed");
    }
    auto request = loadRequest(c.configuration.id, c.artifact, problems, false);
    if (!request)
      return machineFailed(TrialStatus::Refused, request.error().message);
    Measurement m = exchange(*request);
    if (worker && !isFailure(m.status))
      held.insert(c.configuration.id);
    return m;
  }

  void unload() {
    if (worker && !held.empty())
      if (auto done = ask(Json{{"op", "unload"}, {"ids", held}}, setupTimeout); !done)
        lose();
    held.clear();
  }

  /// Times some members of a group in one race and fills in their results. Who fails in company is tried again alone,
  /// and whoever lost the worker through another's fault runs again without the guilty one.
  void timeTogether(std::span<const Candidate> group, std::vector<size_t> members, const Json &rules,
                    std::vector<Measurement> &results) {
    // A worker that was lost took what it held along.
    std::vector<size_t> ready;
    for (size_t i : members)
      if (!held.contains(group[i].configuration.id))
        if (Measurement m = load(group[i], false); isFailure(m.status)) {
          results[i] = std::move(m);
          continue;
        } else
          ready.push_back(i);
      else
        ready.push_back(i);
    if (ready.empty())
      return;
    if (std::ranges::any_of(ready, [&](size_t i) { return !held.contains(group[i].configuration.id); })) {
      // A later member broke the worker while it was loaded.
      for (size_t i : ready)
        timeAlone(group, i, rules, results);
      return;
    }
    std::vector<Measurement> raced = exchangeTiming(group, ready, rules);
    bool guilt = std::ranges::any_of(raced, [](const Measurement &m) { return m.status == TrialStatus::Faulted; });
    std::vector<size_t> others;
    for (size_t k = 0; k < ready.size(); ++k) {
      size_t i = ready[k];
      results[i] = std::move(raced[k]);
      if (isFailure(results[i].status) && ready.size() > 1 && results[i].status != TrialStatus::Faulted)
        others.push_back(i);
    }
    if (guilt && !others.empty())
      timeTogether(group, std::move(others), rules, results);
    else
      for (size_t i : others)
        timeAlone(group, i, rules, results);
  }

  void timeAlone(std::span<const Candidate> group, size_t member, const Json &rules,
                 std::vector<Measurement> &results) {
    if (held.contains(group[member].configuration.id)) {
      results[member] = std::move(exchangeTiming(group, {member}, rules).front());
      return;
    }
    Measurement m = load(group[member], false);
    results[member] = isFailure(m.status) ? std::move(m) : std::move(exchangeTiming(group, {member}, rules).front());
  }

  /// One race in the worker, which holds every member. Without an answer everyone has the same failure.
  std::vector<Measurement> exchangeTiming(std::span<const Candidate> group, const std::vector<size_t> &members,
                                          const Json &rules) {
    Json request = rules;
    request["op"] = "time";
    request["problem"] = "timed";
    request["policy"] = policy();
    request["ids"] = Json::array();
    for (size_t i : members)
      request["ids"].push_back(group[i].configuration.id);
    Measurement failure;
    // A race that takes longer may still be one of slow kernels: they get the whole time each, alone.
    double timeout = options.trialTimeoutSeconds + 2 * rules.value("budget_seconds", 0.0);
    auto answer = answerTo(request, timeout, failure);
    std::vector<Measurement> results;
    if (answer && answer->contains("results") && (*answer)["results"].is_array())
      for (const Json &one : (*answer)["results"]) {
        auto m = measurementFromAnswer(one);
        results.push_back(m ? std::move(*m) : Measurement::failed(TrialStatus::Died, m.error().message));
      }
    if (answer && answer->value("sticky", false))
      lose();
    if (results.size() != members.size()) {
      if (answer)
        failure = Measurement::failed(TrialStatus::Died, "the worker's answer is incomplete");
      results.assign(members.size(), failure);
    }
    return results;
  }

  /// Sends a request for one configuration and gives its verdict.
  Measurement exchange(const Json &request) {
    Measurement failure;
    auto answer = answerTo(request, options.trialTimeoutSeconds, failure);
    if (!answer)
      return failure;
    auto m = measurementFromAnswer(*answer, false);
    if (!m)
      return Measurement::failed(TrialStatus::Died, m.error().message);
    if (answer->value("sticky", false))
      lose();
    return std::move(*m);
  }

  /// The answer, or what its absence says of the configurations of the request.
  std::optional<Json> answerTo(const Json &request, double timeout, Measurement &failure) {
    std::string line;
    Process::Answer how = worker->send(toText(request, -1)) ? worker->receive(line, timeout) : Process::Answer::Closed;
    if (how == Process::Answer::TimedOut) {
      failure = Measurement::failed(TrialStatus::TimedOut, fmt::format("no answer within {} s", timeout));
      lose();
      return std::nullopt;
    }
    if (how == Process::Answer::Closed) {
      lastDeath = worker->finish();
      failure = Measurement::failed(TrialStatus::Died, fmt::format("the process that ran it {}", lastDeath));
      lose();
      return std::nullopt;
    }
    auto answer = checkAnswer(line);
    if (!answer) {
      failure = Measurement::failed(TrialStatus::Refused, answer.error().message);
      return std::nullopt;
    }
    return std::move(*answer);
  }

  /// Any other request. A worker that is gone leaves `worker` empty.
  Result<Json> ask(const Json &request, double timeout) {
    std::string line;
    if (worker->send(toText(request, -1)) && worker->receive(line, timeout) == Process::Answer::Line)
      return checkAnswer(line);
    lastDeath = worker->finish();
    lose();
    return internalError("the worker that measures {}", lastDeath);
  }

  const Recipe &recipe;
  Builder &builder;
  runtime::DeviceFacts device;
  const Arch &arch;
  EvaluatorOptions options;
  ScratchFolder scratch;
  std::optional<Process> worker;
  std::set<int> held;                               ///< configurations that the worker holds
  std::vector<std::pair<std::string, Json>> setups; ///< requests that a new worker gets
  std::map<int, std::vector<std::string>> served;   ///< check problems that a configuration's code serves
  std::map<std::string, std::string> refused;       ///< problems that the worker could not set up, and why
  std::vector<std::string> remarks;                 ///< see notes()
  std::optional<Artifact> ownTrial;
  std::string lastDeath;
};

} // namespace

std::unique_ptr<Evaluator> gpuEvaluator(const Recipe &recipe, Builder &builder, const runtime::DeviceFacts &device,
                                        const Arch &arch, const EvaluatorOptions &options) {
  return std::make_unique<GpuEvaluator>(recipe, builder, device, arch, options);
}

} // namespace tilec::tuner
