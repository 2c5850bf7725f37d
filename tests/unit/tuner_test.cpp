// LINK: tuner
// Sessions with a compiler and an evaluator that misbehave on command.
#include "compiler/base/hash.h"
#include "compiler/target/target.h"
#include "tuner/identity.h"
#include "tuner/process.h"
#include "tuner/protocol.h"
#include "tuner/session.h"
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// A kernel with one axis TN and the hint occupancy; code is text that says which configuration it is of.
class FakeBuilder final : public Builder {
public:
  sema::KernelInterface kernel;
  std::set<int64_t> refusesToCheck, crashes; ///< values of TN
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

  std::string policy() const override { return real ? "cold" : "model"; }
  std::string verification() const override { return "full"; }
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
    if (stopAfterFirst)
      *stopAfterFirst = true;
    int64_t tn = FakeBuilder::tn(c.configuration);
    if (auto it = failures.find(tn); it != failures.end())
      return Measurement::failed(it->second, "as told");
    Measurement m;
    m.status = real ? TrialStatus::Ok : TrialStatus::Predicted;
    double t = times.contains(tn) ? times[tn] : double(tn) * 1e-3;
    m.samples = {t, t, t};
    summarise(m);
    return m;
  }
};

class SessionTest : public testing::Test {
protected:
  FakeBuilder builder;
  FakeEvaluator evaluator;
  Cache cache = std::move(*Cache::inMemory());
  SessionOptions options;
  Machine machine{"Fake GPU", findArch("sm_90"), 132, 50 << 20, 4e12, 60e12};
  Recipe recipe;

  ProblemResult run(std::vector<Override> overrides = {}) {
    recipe.path = "recipes/k";
    options.jobs = 2;
    auto r = tuneProblem(recipe, builder, evaluator, cache, *findArch("sm_90"), machine, *parseValues("N=100"),
                         overrides, options);
    EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message);
    return r ? std::move(*r) : ProblemResult{};
  }
  static std::string winner(const ProblemResult &r) {
    return r.winner ? toString(r.rows[*r.winner].configuration) : "none";
  }
};

TEST_F(SessionTest, FastestWinsAndTheCommandBuildsIt) {
  evaluator.times = {{1, 4e-3}, {2, 3e-3}, {4, 1e-3}, {8, 2e-3}};
  ProblemResult r = run();
  EXPECT_EQ(winner(r), "TN=4");
  EXPECT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.rows[0].configuration.id, r.rows[*r.winner].configuration.id);
  EXPECT_EQ(r.command, "tilec build recipes/k --tuned --problem N=100 --arch sm_90 -o k.cubin");
}

TEST_F(SessionTest, SecondRunDoesNothing) {
  ProblemResult first = run();
  int compiles = builder.compiles, evaluations = evaluator.evaluations, begins = evaluator.begins;
  ProblemResult second = run();
  EXPECT_EQ(builder.compiles, compiles);
  EXPECT_EQ(evaluator.evaluations, evaluations);
  EXPECT_EQ(evaluator.begins, begins) << "no worker, no context";
  EXPECT_EQ(second.reused, 4u);
  EXPECT_EQ(winner(second), winner(first));
  options.fresh = true;
  run();
  EXPECT_EQ(evaluator.evaluations, evaluations + 4);
}

TEST_F(SessionTest, NewValueMeasuresOnlyWhatIsNew) {
  run();
  int before = evaluator.evaluations;
  ProblemResult r = run({*parseOverride("TN=1,2,4,8,16")});
  EXPECT_EQ(evaluator.evaluations, before + 1);
  EXPECT_EQ(r.rows.size(), 5u);
  // A value taken away is no longer a candidate, however good it was.
  r = run({*parseOverride("TN=4,8")});
  EXPECT_EQ(winner(r), "TN=4");
  EXPECT_EQ(evaluator.evaluations, before + 1);
}

TEST_F(SessionTest, AnythingThatMattersIsAMiss) {
  run();
  int before = evaluator.evaluations;
  evaluator.gpu = "Fake GPU"; // the name alone decides nothing
  run();
  EXPECT_EQ(evaluator.evaluations, before);
  evaluator.real = false;
  ProblemResult predicted = run();
  EXPECT_EQ(evaluator.evaluations, before + 4);
  EXPECT_TRUE(predicted.predicted);
  EXPECT_EQ(predicted.rows[0].status, TrialStatus::Predicted);
}

TEST_F(SessionTest, FailuresNeverWinAndTheGoodOneIsFoundInEveryOrder) {
  std::vector<int64_t> values = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  for (size_t good = 0; good < values.size() - 1; ++good) {
    std::vector<int64_t> order = values;
    std::rotate(order.begin(), order.begin() + long(good), order.end());
    builder.kernel = FakeBuilder(order).kernel;
    builder.crashes = {2};
    builder.refusesToCheck = {8};
    evaluator.failures = {{1, TrialStatus::Faulted},
                          {4, TrialStatus::TimedOut},
                          {16, TrialStatus::Wrong},
                          {32, TrialStatus::Died},
                          {128, TrialStatus::Refused}};
    evaluator.times = {{64, 9e-3}, {256, 0.0}}; // 256 takes no time at all, 512 has not enough shared memory
    cache = std::move(*Cache::inMemory());
    ProblemResult r = run();
    EXPECT_EQ(winner(r), "TN=64");
    EXPECT_EQ(r.failed, 9u);
    std::map<int64_t, TrialStatus> seen;
    for (const TrialRow &row : r.rows) {
      seen[FakeBuilder::tn(row.configuration)] = row.status;
      if (isFailure(row.status))
        EXPECT_FALSE(row.reason.empty());
    }
    EXPECT_EQ(seen[2], TrialStatus::CompileFailed);
    EXPECT_EQ(seen[8], TrialStatus::CompileFailed);
    EXPECT_EQ(seen[256], TrialStatus::NoTime);
    EXPECT_EQ(seen[512], TrialStatus::NoResources);
  }
}

TEST_F(SessionTest, NanAndNegativeTimesAreNoTimes) {
  for (double t : {std::nan(""), -1.0, 0.0, HUGE_VAL}) {
    Measurement m;
    m.status = TrialStatus::Ok;
    m.samples = {1e-3, t};
    summarise(m);
    EXPECT_EQ(m.status, TrialStatus::NoTime);
    EXPECT_EQ(m.median, 0);
  }
}

TEST_F(SessionTest, AllFailingHasNoWinner) {
  evaluator.failures = {
      {1, TrialStatus::Wrong}, {2, TrialStatus::Wrong}, {4, TrialStatus::Wrong}, {8, TrialStatus::Wrong}};
  ProblemResult r = run();
  EXPECT_FALSE(r.winner.has_value());
  TuneResult whole;
  whole.problems.push_back(std::move(r));
  EXPECT_FALSE(whole.succeeded());
}

TEST_F(SessionTest, TiesGoToTheSmallerNumber) {
  evaluator.times = {{1, 1.003e-3}, {2, 1.000e-3}, {4, 1.001e-3}, {8, 1.01e-3}};
  EXPECT_EQ(winner(run()), "TN=1");
}

TEST_F(SessionTest, EqualCodeIsTimedOnce) {
  builder.hintMatters = false;
  ProblemResult r = run({*parseOverride("occupancy=1,2")});
  EXPECT_EQ(r.rows.size(), 8u);
  EXPECT_EQ(evaluator.evaluations, 4);
  size_t shared = 0;
  for (const TrialRow &row : r.rows)
    shared += row.reason.find("same code") != std::string::npos;
  EXPECT_EQ(shared, 4u);
  EXPECT_THAT(r.rows[1].reason, HasSubstr("occupancy without effect"));
}

TEST_F(SessionTest, InterruptKeepsWhatIsMeasured) {
  std::atomic<bool> stop = false;
  options.stop = &stop;
  evaluator.stopAfterFirst = &stop;
  ProblemResult r = run();
  EXPECT_TRUE(r.interrupted);
  EXPECT_EQ(r.rows.size(), 1u);
  EXPECT_TRUE(r.winner.has_value());
  stop = false;
  evaluator.stopAfterFirst = nullptr;
  r = run();
  EXPECT_EQ(r.reused, 1u);
  EXPECT_EQ(evaluator.evaluations, 4);
}

TEST(Winner, FewerResourcesBreakTies) {
  std::vector<Ranked> trials = {{0, TrialStatus::Ok, 1.000, {4096, 0}},
                                {1, TrialStatus::Ok, 1.004, {2048, 64}},
                                {2, TrialStatus::Ok, 1.004, {2048, 32}},
                                {3, TrialStatus::Ok, 1.006, {1, 0}},
                                {4, TrialStatus::Wrong, 0.001, {1, 0}}};
  EXPECT_EQ(chooseWinner(trials), 2u);
  EXPECT_FALSE(chooseWinner({}).has_value());
}

TEST(Key, NamesEveryPart) {
  ProblemId problem = problemId({"h", "k", "f"}, *parseValues("N=1,T=f32"));
  Environment e;
  e.gpu = "G";
  e.arch = "sm_90a";
  e.sms = 132;
  Configuration c;
  IdentityParts parts{"ir", problem, e, c, "cold", "full"};
  std::string base = trialKey(parts).hash();
  EXPECT_EQ(base, trialKey(parts).hash());
  Environment driver = e;
  driver.driver = "999";
  EXPECT_EQ(base, trialKey({"ir", problem, driver, c, "cold", "full"}).hash()) << "recorded, no part of the key";
  Environment other = e;
  other.sms = 114;
  Configuration hinted;
  hinted.hints["occupancy"] = 2;
  for (const TrialKey &key :
       {trialKey({"ir2", problem, e, c, "cold", "full"}), trialKey({"ir", problem, other, c, "cold", "full"}),
        trialKey({"ir", problem, e, hinted, "cold", "full"}), trialKey({"ir", problem, e, c, "hot", "full"}),
        trialKey({"ir", problem, e, c, "cold", "none"}),
        trialKey({"ir", problemId({"h", "k", "f"}, *parseValues("N=2,T=f32")), e, c, "cold", "full"})})
    EXPECT_NE(base, key.hash());
}

TEST(Process, SpeaksInLinesAndSaysHowItEnded) {
  auto cat = Process::spawn("/bin/cat", {});
  ASSERT_TRUE(cat.has_value());
  std::string line;
  ASSERT_TRUE(cat->send("one\ntwo"));
  ASSERT_EQ(cat->receive(line, 5), Process::Answer::Line);
  EXPECT_EQ(line, "one");
  ASSERT_EQ(cat->receive(line, 5), Process::Answer::Line);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(cat->receive(line, 0.05), Process::Answer::TimedOut);

  auto dead = Process::spawn("/bin/sh", {"-c", "echo gone wrong >&2; kill -SEGV $$"});
  ASSERT_TRUE(dead.has_value());
  EXPECT_EQ(dead->receive(line, 5), Process::Answer::Closed);
  EXPECT_THAT(dead->finish(), testing::AllOf(HasSubstr("signal 11"), HasSubstr("gone wrong")));
  EXPECT_FALSE(Process::spawn("/nonexistent", {}).has_value());
}

TEST(Protocol, AnswersGoBothWays) {
  Measurement m;
  m.status = TrialStatus::Ok;
  m.samples = {2e-3, 1e-3, 3e-3};
  auto back = measurementFromAnswer(*checkAnswer(trialAnswer(m, false).dump()));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->median, 2e-3);
  auto failed = checkAnswer(failureMessage({ErrorKind::NoDevice, "no GPU", "buy one", ""}).dump());
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ErrorKind::NoDevice);
  EXPECT_FALSE(checkAnswer("{").has_value());
}

TEST(Reference, SampledBlocksCoverTheEnds) {
  EXPECT_EQ(sampleBlocks(3, 8, 1), (std::vector<int64_t>{0, 1, 2}));
  auto some = sampleBlocks(1000000, 16, 7);
  EXPECT_EQ(some.front(), 0);
  EXPECT_EQ(some.back(), 999999);
  EXPECT_EQ(some, sampleBlocks(1000000, 16, 7));
  EXPECT_TRUE(std::ranges::is_sorted(some));
}

} // namespace
