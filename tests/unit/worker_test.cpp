// LINK: tuner
// The evaluator that measures, with a scripted worker that dies, hangs and loses its context on command.
#include "compiler/base/files.h"
#include "compiler/target/target.h"
#include "tuner/session.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// Speaks the protocol; what it does with a configuration is the artifact's name, whose time is the last number in it.
/// Each start adds a line to `starts`, each race its size to `races`.
constexpr std::string_view script = R"(#!/usr/bin/env python3
import json, os, signal, sys, time
folder = os.path.dirname(os.path.abspath(sys.argv[0]))
open(folder + "/starts", "a").write("start\n")
held = {}
def good(samples):
    return {"ok": True, "status": "ok", "reason": "", "samples": samples, "clocks": {"cool": True}, "sticky": False}
def fault():
    return {"ok": True, "status": "faulted", "reason": "illegal address", "samples": [], "clocks": {}, "sticky": True}
def misbehave(name):
    if name == "die":
        sys.stderr.write("a fault"); sys.stderr.flush(); os.kill(os.getpid(), signal.SIGSEGV)
    if name == "hang":
        time.sleep(100)
    if name == "garble":
        print("no JSON", flush=True)
        return True
def answer(r):
    if r["op"] == "hello":
        return {"ok": True, "protocol": 2, "gpu": {}}
    if r["op"] == "load":
        name = r["artifact"]["name"]
        if not r["golden"] and misbehave(name):
            return None
        if name == "sticky" and not r["golden"]:
            return fault()
        held[r["id"]] = name
        return good([])
    if r["op"] == "unload":
        for i in r["ids"]:
            held.pop(i)
        return {"ok": True}
    if r["op"] == "time":
        names = [held[i] for i in r["ids"]]
        open(folder + "/races", "a").write(f"{len(names)}\n")
        for name in names:
            if name.startswith("late ") and misbehave(name[5:]):
                return None
        if "late sticky" in names:
            lost = dict(fault(), status="died", reason="another")
            return {"ok": True, "sticky": True, "results": [fault() if n == "late sticky" else lost for n in names]}
        times = {"late zero": [0.0], "late none": []}
        results = [good(times[n] if n in times else [float(n.split()[-1]) * 1e-3] * 9) for n in names]
        return {"ok": True, "sticky": False, "results": results}
    return {"ok": True}
for line in sys.stdin:
    a = answer(json.loads(line))
    if a is not None:
        print(json.dumps(a), flush=True)
)";

/// The kernel is real; its code is a name that tells the worker what to do.
class NamingBuilder final : public Builder {
public:
  std::unique_ptr<Builder> real;
  std::map<int64_t, std::string> names; ///< by TN

  const sema::KernelInterface &interface() const override { return real->interface(); }
  std::string file() const override { return real->file(); }
  std::string tool() const override { return "tool"; }
  Result<std::string> assembler() const override { return "none"; }
  Result<Prepared> prepare(const Configuration &c, const Values &problem, const Arch &arch) override {
    return real->prepare(c, problem, arch);
  }
  Result<Artifact> compile(const Prepared &p) override {
    Artifact a = driver::plan(*p.source, *p.program);
    int64_t tn = std::get<int64_t>(p.program->parameters.at("TN"));
    a.name = names.contains(tn) ? names[tn] : fmt::format("good {}", tn);
    a.binaries = {fmt::format("code of {}", tn)};
    return a;
  }
};

class WorkerTest : public testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / fmt::format("tilec-worker-{}", getpid());
  NamingBuilder builder;
  Recipe recipe;
  const Arch &arch = *findArch("sm_90");

  void SetUp() override {
    fs::create_directories(folder);
    ASSERT_TRUE(writeFile(folder / "worker.py", script).has_value());
    fs::permissions(folder / "worker.py", fs::perms::owner_all);
    ASSERT_TRUE(writeFile(folder / "k.tile", R"(
kernel k<TN: int = 32 in {32, 64, 128, 256, 512}>(a: in f32[N], c: out f32[N])
grid (cdiv(N, TN))
{
    c.tiled(TN).store(bid(0), a.tiled(TN).load(bid(0)))
}
)")
                    .has_value());
    recipe.path = recipe.kernelFile = (folder / "k.tile").string();
    auto real = openBuilder(recipe.kernelFile, "");
    ASSERT_TRUE(real.has_value()) << real.error().message;
    builder.real = std::move(*real);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::map<int64_t, TrialRow> tuneAll() {
    runtime::DeviceFacts device;
    device.name = "Scripted GPU";
    device.major = 9;
    device.multiprocessors = 132;
    EvaluatorOptions options;
    options.trialTimeoutSeconds = 0.5;
    options.workerPath = (folder / "worker.py").string();
    auto evaluator = gpuEvaluator(recipe, builder, device, arch, options);
    Cache cache = std::move(*Cache::inMemory());
    session.jobs = 1;
    if (!toCache.empty())
      cache = std::move(*Cache::open(toCache));
    auto r = tuneProblem(recipe, builder, *evaluator, cache, arch, typicalMachine(arch), *parseValues("N=1000"), {},
                         session);
    EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message);
    std::map<int64_t, TrialRow> rows;
    if (r)
      whole = *r;
    if (r)
      for (const TrialRow &row : r->rows)
        rows[std::get<int64_t>(row.configuration.parameters.at("TN"))] = row;
    winner = r && r->winner ? std::get<int64_t>(r->rows[*r->winner].configuration.parameters.at("TN")) : 0;
    return rows;
  }
  int64_t winner = 0;
  fs::path toCache;
  SessionOptions session;
  ProblemResult whole;
  std::string races() const { return *readFile(folder / "races"); }
  long starts() const { return std::ranges::count(*readFile(folder / "starts"), '\n'); }
};

TEST_F(WorkerTest, OneTrialIsTheCostOfAFault) {
  builder.names = {{64, "die"}, {128, "hang"}, {256, "sticky"}};
  auto rows = tuneAll();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[32].status, TrialStatus::Ok);
  EXPECT_EQ(rows[64].status, TrialStatus::Died);
  EXPECT_THAT(rows[64].reason, testing::AllOf(HasSubstr("signal 11"), HasSubstr("a fault")));
  EXPECT_EQ(rows[128].status, TrialStatus::TimedOut);
  EXPECT_EQ(rows[256].status, TrialStatus::Faulted);
  EXPECT_EQ(rows[256].reason, "illegal address");
  EXPECT_EQ(rows[512].status, TrialStatus::Ok);
  EXPECT_EQ(starts(), 4) << "one worker at first, one after each failure";
}

TEST_F(WorkerTest, OneTrialIsTheCostOfAFaultInARace) {
  builder.names = {{64, "late die"}, {128, "late hang"}, {256, "late sticky"}};
  auto rows = tuneAll();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[32].status, TrialStatus::Ok) << rows[32].reason;
  EXPECT_EQ(rows[64].status, TrialStatus::Died);
  EXPECT_THAT(rows[64].reason, testing::AllOf(HasSubstr("signal 11"), HasSubstr("a fault")));
  EXPECT_EQ(rows[128].status, TrialStatus::TimedOut);
  EXPECT_EQ(rows[256].status, TrialStatus::Faulted);
  EXPECT_EQ(rows[512].status, TrialStatus::Ok) << rows[512].reason;
  EXPECT_EQ(winner, 32);
}

TEST_F(WorkerTest, WhoFaultsInARaceIsNotRunTwice) {
  builder.names = {{128, "late sticky"}};
  auto rows = tuneAll();
  EXPECT_EQ(rows[128].status, TrialStatus::Faulted);
  EXPECT_EQ(starts(), 2);
  EXPECT_EQ(races(), "5\n4\n4\n4\n") << "all, the innocent again, finals, sustained";
}

TEST_F(WorkerTest, TimesThatAreNoneFailAlone) {
  builder.names = {{64, "late zero"}, {256, "late none"}};
  auto rows = tuneAll();
  EXPECT_EQ(rows[64].status, TrialStatus::NoTime);
  EXPECT_EQ(rows[256].status, TrialStatus::NoTime);
  EXPECT_EQ(rows[512].status, TrialStatus::Ok);
  EXPECT_EQ(winner, 32);
  EXPECT_EQ(starts(), 1);
}

TEST_F(WorkerTest, TheFastestAreTimedTogetherOnceMore) {
  auto rows = tuneAll();
  EXPECT_EQ(races(), "5\n5\n5\n");
  EXPECT_EQ(rows[32].sustained, 32e-3);
}

TEST_F(WorkerTest, HintsOfAccessesThatTheCodeIgnoresAreTimedOnceAndNamed) {
  session.accesses = true;
  tuneAll();
  // A load and a store with four latencies beside the compiler's choice, and tensor copies allowed or not.
  EXPECT_EQ(whole.rows.size(), 5u * (1 + 4 + 1 + 4 + 1));
  EXPECT_EQ(whole.evaluated, 5u);
  EXPECT_EQ(races(), "5\n5\n5\n") << "one race of each code, finals, sustained";
  EXPECT_THAT(whole.notes,
              testing::Contains("a.load.latency, a.load.allow_tma, c.store.latency, c.store.allow_tma without effect: "
                                "every value gives the same code"));
  ASSERT_TRUE(whole.winner.has_value());
  EXPECT_EQ(whole.rows[*whole.winner].configuration.id, 0) << "of equal code the file's own";
  size_t named = 0;
  for (const TrialRow &row : whole.rows)
    named += row.reason.ends_with("without effect");
  EXPECT_EQ(named, whole.rows.size() - 5);
}

TEST_F(WorkerTest, ATimeBelowTheRooflineIsAFailureThatIsKept) {
  // 1 TB at 4.8 TB/s takes 208 ms; the scripted worker says 32 to 512 ms.
  recipe.bytes = LaunchExpr::constant(int64_t(1'000'000'000'000));
  toCache = folder / "cache" / "tilec.db";
  for (int i = 0; i < 2; ++i) { // the second time from the cache
    auto rows = tuneAll();
    for (int64_t tn : {32, 64, 128}) {
      EXPECT_EQ(rows[tn].status, TrialStatus::TooFast);
      EXPECT_THAT(rows[tn].reason, HasSubstr("do the inputs leave work to do"));
    }
    EXPECT_EQ(rows[256].status, TrialStatus::Ok);
    EXPECT_EQ(winner, 256);
    EXPECT_EQ(whole.failed, 3u);
  }
  EXPECT_EQ(whole.reused, 5u);
  recipe.bytes = LaunchExpr::constant(int64_t(1) << 60);
  toCache.clear();
  tuneAll();
  EXPECT_EQ(winner, 0) << "nothing wins, and that is a failure";
}

TEST_F(WorkerTest, CheckProblemsThatCannotBeRunAreNamed) {
  recipe.check = {*parseValues("N=-1"), *parseValues("N=100")};
  tuneAll();
  EXPECT_THAT(whole.notes, testing::Contains(HasSubstr("check problem N=-1 was left out: ")));
  EXPECT_TRUE(whole.winner.has_value());
  EXPECT_TRUE(whole.rows[0].verified);
}

TEST_F(WorkerTest, AProblemWithoutWorkIsRefused) {
  auto evaluator = modelEvaluator(recipe, builder, arch, {});
  Cache cache = std::move(*Cache::inMemory());
  auto r =
      tuneProblem(recipe, builder, *evaluator, cache, arch, typicalMachine(arch), *parseValues("N=0"), {}, session);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().kind, ErrorKind::Usage);
  EXPECT_THAT(r.error().message, HasSubstr("leaves kernel 'k' nothing to do: its grid is 0 × 1 × 1 blocks"));
}

TEST_F(WorkerTest, APredictionWithoutChecksSaysThatNothingWasVerified) {
  for (auto [check, said] : std::vector<std::pair<const char *, const char *>>{
           {"", "nothing was verified: there is no check problem of this kind"},
           {"N=-1", "nothing was verified: no check problem could be run"},
           {"N=100", "verified on the CPU on 1 check problem"}}) {
    recipe.check.clear();
    if (*check)
      recipe.check = {*parseValues(check)};
    auto evaluator = modelEvaluator(recipe, builder, arch, {});
    Cache cache = std::move(*Cache::inMemory());
    auto r = tuneProblem(recipe, builder, *evaluator, cache, arch, typicalMachine(arch), *parseValues("N=1000"), {},
                         session);
    ASSERT_TRUE(r.has_value()) << r.error().message;
    EXPECT_THAT(r->notes, testing::Contains(said));
    EXPECT_EQ(r->rows[0].verified, std::string_view(check) == "N=100");
    EXPECT_EQ(cache.trials(1)[0].verification == notVerified, !r->rows[0].verified);
  }
}

TEST_F(WorkerTest, IntegersOfWhichNobodySaysWhatTheyAreAreRefused) {
  ASSERT_TRUE(writeFile(folder / "i.tile", R"(
kernel pick<T: dtype = i32 in {i32, f32}>(offsets: in i32[G], x: in T[N], y: out f32[G])
grid (G)
{
    y.tiled(1).store(bid(0), 0.0)
}
)")
                  .has_value());
  auto opened = openBuilder((folder / "i.tile").string(), "");
  ASSERT_TRUE(opened.has_value()) << opened.error().message << opened.error().detail;
  const sema::KernelInterface &kernel = (*opened)->interface();
  Values problem = *parseValues("G=4,N=100,T=f32");
  Recipe r;
  auto refused = checkInputs(r, kernel, problem);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_THAT(refused.error().message, HasSubstr("input 'offsets' holds integers (i32) and nobody says which"));
  EXPECT_THAT(refused.error().help, HasSubstr("--input offsets=arange:0,1"));
  ASSERT_TRUE(giveInput(r, kernel, "offsets=arange:0,25").has_value());
  EXPECT_TRUE(checkInputs(r, kernel, problem).has_value());
  EXPECT_FALSE(checkInputs(r, kernel, *parseValues("G=4,N=100,T=i32")).has_value()) << "then x holds integers as well";
  EXPECT_FALSE(giveInput(r, kernel, "y=zeros").has_value());
  EXPECT_FALSE(giveInput(r, kernel, "offsets").has_value());
  EXPECT_FALSE(giveInput(r, kernel, "offsets=nonsense:1").has_value());
}

TEST_F(WorkerTest, AnAnswerThatIsNoneIsAFailure) {
  builder.names = {{64, "garble"}};
  auto rows = tuneAll();
  EXPECT_TRUE(isFailure(rows[64].status));
  EXPECT_EQ(rows[128].status, TrialStatus::Ok);
}

TEST_F(WorkerTest, AllIsWellWithOneWorker) {
  auto rows = tuneAll();
  for (const auto &[tn, row] : rows)
    EXPECT_EQ(row.status, TrialStatus::Ok) << row.reason;
  EXPECT_EQ(starts(), 1);
}

TEST_F(WorkerTest, AWorkerThatCannotStartIsSaid) {
  ASSERT_TRUE(writeFile(folder / "worker.py", "#!/bin/sh\necho broken >&2\nexit 3\n").has_value());
  fs::permissions(folder / "worker.py", fs::perms::owner_all);
  runtime::DeviceFacts device;
  device.major = 9;
  EvaluatorOptions options;
  options.workerPath = (folder / "worker.py").string();
  auto evaluator = gpuEvaluator(recipe, builder, device, arch, options);
  auto begun = evaluator->begin(*parseValues("N=10"), {}, {});
  ASSERT_FALSE(begun.has_value());
  EXPECT_THAT(begun.error().message, testing::AllOf(HasSubstr("exit code 3"), HasSubstr("broken")));
}

} // namespace
