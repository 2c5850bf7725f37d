#pragma once
// A compiler and an evaluator that misbehave on command, for tests of sessions.
#include "compiler/driver/isolate.h"
#include "compiler/target/target.h"
#include "tuner/session.h"
#include <atomic>
#include <functional>
#include <mutex>
#include <set>

namespace tilec::tuner {

/// A kernel with one axis TN and the hint occupancy; code is text that says which configuration it is of.
class FakeBuilder final : public Builder {
public:
  sema::KernelInterface kernel;
  std::set<int64_t> refusesToCheck, crashes; ///< values of TN
  std::map<int64_t, int> starved;            ///< values of TN that so many times find the machine short of something
  std::mutex mutex;
  bool hintMatters = true;
  std::atomic<int> compiles = 0;
  std::string version = "tool 1";

  explicit FakeBuilder(std::vector<int64_t> values = {1, 2, 4, 8}) {
    kernel.name = "k";
    kernel.symbols = {"N"};
    sema::ParamDecl tn;
    tn.name = "TN";
    tn.otherwise = LaunchExpr::constant(values.front());
    tn.domain.emplace();
    for (int64_t v : values)
      tn.domain->values.push_back(LaunchExpr::constant(v));
    kernel.params.push_back(std::move(tn));
  }
  const sema::KernelInterface &interface() const override { return kernel; }
  std::string file() const override { return "k.tile"; }
  std::string tool() const override { return version; }
  Result<std::string> assembler() const override { return "fake 1.0"; }

  static int64_t tn(const Configuration &c) {
    auto it = c.parameters.find("TN");
    return it == c.parameters.end() ? 1 : std::get<int64_t>(it->second);
  }
  Result<Prepared> prepare(const Configuration &c, const Values &, const Arch &) override {
    if (refusesToCheck.contains(tn(c)))
      return programError("k.tile:1:1: TN is wrong");
    return Prepared{nullptr, nullptr, fmt::format("{} {}", tn(c), hintMatters ? toString(c) : "")};
  }
  Result<Artifact> compile(const Prepared &p) override {
    ++compiles;
    int64_t tn = std::stoll(p.irHash);
    if (crashes.contains(tn))
      return internalError("the compiler was killed by signal 11");
    std::lock_guard lock(mutex);
    if (starved[tn]-- > 0)
      return internalError("no process could be made{}", driver::transientMark);
    Artifact a;
    a.binaries = {"code " + p.irHash};
    LaunchSpec launch;
    launch.resources.registers = 32;
    launch.dynamicSharedBytes = tn == 512 ? 1 << 20 : 0;
    a.launches.push_back(launch);
    return a;
  }
};

class FakeEvaluator final : public Evaluator {
public:
  std::map<int64_t, double> times; ///< seconds by TN
  std::map<int64_t, TrialStatus> failures;
  bool real = true;
  int begins = 0, evaluations = 0;
  std::string gpu = "Fake GPU";
  std::atomic<bool> *stopAfterFirst = nullptr;
  std::function<void()> before; ///< each evaluation
  bool verifies = true;
  /// Answers of finals by TN; empty: there are none.
  std::map<int64_t, std::vector<double>> finalSamples;

  std::string policy() const override { return real ? "cold" : "model"; }
  std::string verification(const Values &) const override { return "full"; }
  bool measures() const override { return real; }
  Environment environment() const override {
    Environment e;
    e.gpu = gpu;
    e.arch = "sm_90a";
    e.capability = "9.0";
    e.sms = 132;
    e.driver = "580.1";
    e.assembler = "fake 1.0";
    e.tool = "tool 1";
    return e;
  }
  Status begin(const Values &, const Configuration &, std::span<const Pending>) override {
    ++begins;
    return {};
  }
  Measurement evaluate(const Candidate &c) override {
    ++evaluations;
    if (before)
      before();
    if (stopAfterFirst)
      *stopAfterFirst = true;
    int64_t tn = FakeBuilder::tn(c.configuration);
    if (auto it = failures.find(tn); it != failures.end())
      return Measurement::failed(it->second, "as told");
    Measurement m;
    m.status = real ? TrialStatus::Ok : TrialStatus::Predicted;
    m.checks = verifies;
    double t = times.contains(tn) ? times[tn] : double(tn) * 1e-3;
    m.samples = {t, t, t};
    summarise(m);
    return m;
  }
  std::vector<Measurement> finals(std::span<const Candidate> group, int) override {
    std::vector<Measurement> results;
    for (const Candidate &c : group) {
      if (finalSamples.empty())
        return {};
      Measurement &m = results.emplace_back();
      m.status = TrialStatus::Ok;
      m.samples = finalSamples[FakeBuilder::tn(c.configuration)];
      summarise(m);
    }
    return results;
  }
};

} // namespace tilec::tuner
