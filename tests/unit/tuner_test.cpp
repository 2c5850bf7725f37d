// LINK: tuner
// Sessions with a compiler and an evaluator that misbehave on command.
#include "fake_tuner.h"
#include "tuner/identity.h"
#include "tuner/process.h"
#include "tuner/protocol.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

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
  EXPECT_EQ(r.rows[1].reason, "same code as configuration 0: occupancy without effect");
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

TEST(Winner, AnIntervalWithOneIsATieAmongThoseOfOneRace) {
  // Noise of 3 % around medians 0.8 % apart: nobody can tell them apart.
  auto noisy = [](double middle) {
    std::vector<double> samples;
    for (int i = 0; i < 31; ++i)
      samples.push_back(middle * (1 + 0.03 * ((i * 7) % 31 - 15) / 15.0));
    return samples;
  };
  std::vector<Ranked> trials = {{0, TrialStatus::Ok, 1.000, {4096, 0}, noisy(1.000), "race"},
                                {1, TrialStatus::Ok, 1.008, {2048, 0}, noisy(1.008), "race"}};
  EXPECT_EQ(chooseWinner(trials), 1u) << "fewer registers";
  EXPECT_EQ(chooseWinner(trials), 1u) << "the same again";
  trials[1].finals = "another race";
  EXPECT_EQ(chooseWinner(trials), 0u) << "samples of different times say nothing of each other";
  trials[1].finals = "race";
  trials[1].footprint = trials[0].footprint;
  EXPECT_EQ(chooseWinner(trials), 0u) << "then the smaller number";
  // The same distance with little noise is a difference.
  auto quiet = [](double middle) {
    std::vector<double> samples;
    for (int i = 0; i < 31; ++i)
      samples.push_back(middle * (1 + 0.0005 * (i % 5 - 2)));
    return samples;
  };
  trials = {{0, TrialStatus::Ok, 1.000, {4096, 0}, quiet(1.000), "race"},
            {1, TrialStatus::Ok, 1.008, {2048, 0}, quiet(1.008), "race"}};
  EXPECT_EQ(chooseWinner(trials), 0u);
}

TEST_F(SessionTest, FinalsDecideAndTheSecondRunDecidesAlike) {
  auto around = [](double middle, double noise) {
    std::vector<double> samples;
    for (int i = 0; i < 31; ++i)
      samples.push_back(middle * (1 + noise * ((i * 7) % 31 - 15) / 15.0));
    return samples;
  };
  evaluator.times = {{1, 4e-3}, {2, 1.000e-3}, {4, 1.009e-3}, {8, 1.03e-3}};
  evaluator.finalSamples = {
      {1, around(4e-3, 0.02)}, {2, around(1.009e-3, 0.02)}, {4, around(1.001e-3, 0.02)}, {8, around(1.1e-3, 0.02)}};
  ProblemResult first = run();
  EXPECT_EQ(winner(first), "TN=2") << "cannot be told from TN=4, which was faster, and has the smaller number";
  evaluator.finalSamples = {{1, {1e-9}}};
  EXPECT_EQ(winner(run()), "TN=2");
  EXPECT_EQ(evaluator.evaluations, 4);
}

TEST_F(SessionTest, WhatTheMachineIsShortOfIsTriedAgainAndNeverKept) {
  builder.starved = {{2, 2}, {4, 1000}};
  ProblemResult r = run();
  ASSERT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.failed, 1u) << "two refusals are waited out";
  EXPECT_EQ(r.rows.back().status, TrialStatus::CompileFailed);
  EXPECT_TRUE(r.rows.back().transient);
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("1 failed for want of something")));
  builder.starved.clear();
  int evaluations = evaluator.evaluations;
  r = run();
  EXPECT_EQ(r.failed, 0u);
  EXPECT_EQ(r.reused, 3u);
  EXPECT_EQ(evaluator.evaluations, evaluations + 1);
}

TEST_F(SessionTest, WhatWasNotVerifiedIsSaid) {
  evaluator.verifies = false;
  for (int i = 0; i < 2; ++i) { // the second time from the cache
    ProblemResult r = run();
    EXPECT_THAT(r.notes, testing::Contains("4 of 4 configurations were not verified"));
    EXPECT_FALSE(r.rows[0].verified);
  }
  evaluator.verifies = true;
  options.fresh = true;
  ProblemResult r = run();
  EXPECT_TRUE(r.rows[0].verified);
  EXPECT_TRUE(r.notes.empty());
}

TEST_F(SessionTest, EqualCodeIsKnownFromTheCache) {
  builder.hintMatters = false;
  run({*parseOverride("occupancy=1")});
  int evaluations = evaluator.evaluations;
  ProblemResult r = run({*parseOverride("occupancy=1,2")});
  EXPECT_EQ(evaluator.evaluations, evaluations) << "the new values give code that was timed";
  for (const TrialRow &row : r.rows)
    if (row.configuration.hints.at("occupancy") == 2)
      EXPECT_EQ(row.reason,
                fmt::format("same code as configuration {}: occupancy without effect", row.configuration.id - 1));
  EXPECT_THAT(r.notes, testing::Contains("occupancy without effect: every value gives the same code"));
  // Numbers are those of the space at hand.
  r = run({*parseOverride("occupancy=2,1")});
  for (const TrialRow &row : r.rows)
    if (row.configuration.hints.at("occupancy") == 1)
      EXPECT_EQ(row.reason,
                fmt::format("same code as configuration {}: occupancy without effect", row.configuration.id - 1));
}

TEST_F(SessionTest, ARefusedConfigurationIsARecordToo) {
  builder.refusesToCheck = {8};
  run();
  ASSERT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.list()[0].trials, 4);
  EXPECT_EQ(cache.list()[0].failed, 1);
}

TEST(Roofline, ATimeBelowWhatIsMovedIsImpossible) {
  Machine machine{"M", findArch("sm_90"), 100, 50'000'000, 1e12, 1e13};
  Work work{.bytes = 1e9, .flops = 0, .written = 5e8, .stored = 5e8, .given = true};
  // 1 GB at 1 TB/s, of which L2 may keep 50 MB of what is written.
  EXPECT_DOUBLE_EQ(work.least(machine, true), 0.95e-3);
  EXPECT_EQ(impossible(0.9e-3, work, machine, true), "");
  EXPECT_THAT(impossible(0.5e-3, work, machine, true), testing::AllOf(HasSubstr("needs 950 µs"), HasSubstr("figures")));
  work.stored = work.written = 1e6;
  EXPECT_DOUBLE_EQ(work.least(machine, true), 0.999e-3) << "reads are cold";
  EXPECT_DOUBLE_EQ(work.least(machine, false), 0.95e-3) << "hot ones may be in L2";
  work = {.bytes = 1e9, .flops = 0, .written = 1e8, .stored = 1e8, .given = false};
  EXPECT_DOUBLE_EQ(work.least(machine, true), 0.05e-3) << "without figures outputs alone are known to be moved";
  work = {.bytes = 1e3, .flops = 1e13 * 128, .written = 0, .stored = 0, .given = true};
  EXPECT_DOUBLE_EQ(work.least(machine, true), 1.0);
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
