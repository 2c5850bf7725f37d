// Measuring on a GPU. This process never has a CUDA context: a worker has it, and is replaced when a configuration
// breaks it.
#include "compiler/base/files.h"
#include "compiler/target/target.h"
#include "tuner/evaluator.h"
#include "tuner/process.h"
#include "tuner/protocol.h"
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace tilec::tuner {
namespace fs = std::filesystem;
namespace {

/// Context, clocks and the buffers of a large problem.
constexpr double setupTimeout = 300;
/// Workers that may die in a row before anything was measured: then the machine is at fault, not the configurations.
constexpr int hopelessStarts = 3;

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

  std::string policy() const override { return "cold"; }
  std::string verification() const override {
    return fmt::format("executor, then every element, seed {}", options.seed);
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
    ownTrial.reset();
    TILEC_ASSIGN(Prepared prepared, builder.prepare(own, problem, arch));
    TILEC_TRY(addProblem("timed", prepared, problem));
    addChecks(prepared.irHash, own, problem, pending);
    // The kernel's own configuration gives the outputs that others are compared with in full.
    if (auto artifact = builder.compile(prepared))
      ownTrial = std::move(*artifact);
    return start();
  }

  Measurement evaluate(const Candidate &c) override {
    if (!worker)
      if (auto ok = start(); !ok)
        return Measurement::failed(TrialStatus::Died, ok.error().message);
    auto request = trialRequest(c.artifact, served[c.configuration.id], true, false);
    if (!request)
      return Measurement::failed(TrialStatus::Refused, request.error().message);
    return exchange(*request, options.trialTimeoutSeconds);
  }

  void end() override {
    if (worker)
      for (const auto &[name, setup] : setups)
        if (auto done = ask(Json{{"op", "release"}, {"name", name}}, setupTimeout); !done) {
          worker.reset();
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

  /// Check problems that the very code of the timed problem serves: they show what it does at ragged ends.
  void addChecks(const std::string &irHash, const Configuration &own, const Values &problem,
                 std::span<const Pending> pending) {
    served.clear();
    size_t number = 0;
    for (const Values &given : recipe.check) {
      Values check = completeProblem(builder.interface(), given);
      auto prepared = builder.prepare(own, check, arch);
      if (!prepared || prepared->irHash != irHash || check == problem)
        continue;
      std::string name = fmt::format("check-{}", number++);
      if (!addProblem(name, *prepared, check))
        continue;
      // A parameter may depend on extents and on an axis at once, so each configuration is asked.
      for (const Pending &p : pending) {
        auto other = builder.prepare(p.configuration, check, arch);
        if (other && other->irHash == p.prepared.irHash)
          served[p.configuration.id].push_back(name);
      }
    }
  }

  Status start() {
    for (int attempt = 0; attempt < hopelessStarts; ++attempt) {
      TILEC_ASSIGN(Process process, Process::spawn(options.workerPath, {"__worker"}));
      worker.emplace(std::move(process));
      auto hello = ask(Json{{"op", "hello"}, {"protocol", protocolVersion}, {"device", device.ordinal}}, setupTimeout);
      if (!hello && worker) {
        // The worker answered: there is nothing to be gained from another.
        worker.reset();
        return std::unexpected(hello.error());
      }
      if (hello && setUp())
        return {};
      worker.reset();
    }
    return internalError("the worker that measures cannot be kept alive{}",
                         lastDeath.empty() ? "" : ": it " + lastDeath);
  }

  bool setUp() {
    for (const auto &[name, setup] : setups) {
      auto done = ask(setup, setupTimeout);
      if (!done && !worker)
        return false;
      if (!done)
        refused.insert_or_assign(name, done.error().message);
    }
    if (!ownTrial)
      return true;
    std::vector<std::string> none;
    auto request = trialRequest(*ownTrial, none, false, true);
    if (!request)
      return true;
    Measurement m = exchange(*request, options.trialTimeoutSeconds);
    // An own configuration that is wrong or breaks the worker is no standard for others.
    if (!worker || isFailure(m.status))
      ownTrial.reset();
    return worker.has_value();
  }

  /// A trial on some check problems and the timed one; only verified without `timed`.
  Result<Json> trialRequest(const Artifact &artifact, const std::vector<std::string> &checkNames, bool timed,
                            bool golden) {
    if (auto it = refused.find("timed"); it != refused.end())
      return usageError("{}", it->second);
    TILEC_ASSIGN(std::string folder, scratch.path());
    Json files = Json::array(), problems = Json::array();
    for (size_t i = 0; i < artifact.binaries.size(); ++i) {
      std::string path = fmt::format("{}/trial-{}.cubin", folder, i);
      TILEC_TRY(writeFile(path, artifact.binaries[i]));
      files.push_back(path);
    }
    for (const std::string &name : checkNames)
      problems.push_back(name);
    problems.push_back("timed");
    return Json{{"op", "trial"},
                {"artifact", tilec::toJson(artifact)},
                {"binaries", std::move(files)},
                {"problems", std::move(problems)},
                {"timed", timed ? "timed" : ""},
                {"golden", golden},
                {"budget_seconds", 0.5}};
  }

  /// Sends a trial. A worker that dies or hangs is the configuration's failure.
  Measurement exchange(const Json &request, double timeout) {
    std::string line;
    if (!worker->send(request.dump()))
      return died(TrialStatus::Died);
    switch (worker->receive(line, timeout)) {
    case Process::Answer::TimedOut:
      worker.reset();
      return Measurement::failed(TrialStatus::TimedOut, fmt::format("no answer within {} s", timeout));
    case Process::Answer::Closed:
      return died(TrialStatus::Died);
    case Process::Answer::Line:
      break;
    }
    auto answer = checkAnswer(line);
    if (!answer)
      return Measurement::failed(TrialStatus::Refused, answer.error().message);
    auto m = measurementFromAnswer(*answer);
    if (!m)
      return Measurement::failed(TrialStatus::Died, m.error().message);
    if (answer->value("sticky", false))
      worker.reset();
    return std::move(*m);
  }

  Measurement died(TrialStatus status) {
    lastDeath = worker->finish();
    worker.reset();
    return Measurement::failed(status, fmt::format("the process that ran it {}", lastDeath));
  }

  /// Any other request. A worker that is gone leaves `worker` empty.
  Result<Json> ask(const Json &request, double timeout) {
    std::string line;
    if (worker->send(request.dump()) && worker->receive(line, timeout) == Process::Answer::Line)
      return checkAnswer(line);
    lastDeath = worker->finish();
    worker.reset();
    return internalError("the worker that measures {}", lastDeath);
  }

  const Recipe &recipe;
  Builder &builder;
  runtime::DeviceFacts device;
  const Arch &arch;
  EvaluatorOptions options;
  ScratchFolder scratch;
  std::optional<Process> worker;
  std::vector<std::pair<std::string, Json>> setups; ///< requests that a new worker gets
  std::map<int, std::vector<std::string>> served;   ///< check problems that a configuration's code serves
  std::map<std::string, std::string> refused;       ///< problems that the worker could not set up, and why
  std::optional<Artifact> ownTrial;
  std::string lastDeath;
};

} // namespace

std::unique_ptr<Evaluator> gpuEvaluator(const Recipe &recipe, Builder &builder, const runtime::DeviceFacts &device,
                                        const Arch &arch, const EvaluatorOptions &options) {
  return std::make_unique<GpuEvaluator>(recipe, builder, device, arch, options);
}

} // namespace tilec::tuner
