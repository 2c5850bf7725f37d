// LINK: tuner
// The real worker on a fake driver, whose "kernels" are functions of this file: what each kind of bad configuration
// costs. This binary is its own worker.
#include "compiler/base/files.h"
#include "compiler/driver/isolate.h"
#include "compiler/target/target.h"
#include "fake_cuda.h"
#include "tuner/session.h"
#include "tuner/worker.h"
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using runtime::FakeCuda;
using runtime::FakeLaunch;
using testing::HasSubstr;
namespace fs = std::filesystem;

FakeCuda &tilec::runtime::fakeCuda(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW);
  return *reinterpret_cast<FakeCuda *(*)()>(dlsym(handle, "tilecFakeCudaState"))();
}

namespace {

FakeCuda *fake = nullptr;
std::map<std::string, int> runs; ///< launches by entry

/// x = c = a + x for n elements, the way the entry's name says.
void onLaunch(const FakeLaunch &launch, void **p) {
  const std::string &entry = launch.entry;
  if (entry.starts_with("tilec_"))
    return;
  float *a, *x, *c;
  int n;
  std::memcpy(&a, p[0], 8);
  std::memcpy(&x, p[1], 8);
  std::memcpy(&c, p[2], 8);
  std::memcpy(&n, p[3], 4);
  int run = ++runs[entry];
  // A kernel that depends on what an earlier run left behind shows it as a fault.
  static float first;
  if (run == 1)
    first = x[0];
  if (entry == "fault" || (entry == "late_fault" && run > 3) || (entry == "restored" && x[0] != first))
    fake->synchronizeResult = runtime::cu::illegalAddress;
  if (entry == "abort" || (entry == "late_abort" && run > 3))
    abort();
  while (entry == "hang")
    sleep(1);
  for (int i = 0; i < (entry == "half" ? n / 2 : n); ++i)
    x[i] = c[i] = a[i] + x[i];
  if (entry == "one_nan")
    c[n - 1] = std::nanf("");
  if (entry == "one_wrong")
    c[n / 2] *= 1.5F;
  if (entry == "outside")
    c[n] = 1;
  if (entry == "before")
    a[-1] = 1;
  static const std::map<std::string, float> times = {
      {"zero", 0.0F}, {"negative", -1.0F}, {"nan_time", std::nanf("")}, {"good", 0.2F}, {"restored", 0.3F}};
  auto it = times.find(entry);
  fake->times = {it == times.end() ? 0.1F : it->second}; // whatever is bad is fast
}

class NamingBuilder final : public Builder {
public:
  std::unique_ptr<Builder> real;
  std::map<int64_t, std::string> entries; ///< by TN

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
    LaunchSpec &l = a.launches.at(0);
    l.entry = entries.contains(tn) ? entries[tn] : "good";
    if (l.entry == "compiler_abort") {
      auto died = driver::runIsolated([]() -> std::string { abort(); }, 60);
      return internalError("code generation {}", died ? "lived" : died.error().text());
    }
    for (const char *name : {"a", "x", "c"}) {
      LaunchParam base;
      base.array = name;
      l.params.push_back(base);
    }
    LaunchParam n;
    n.kind = ParamKind::Value;
    n.value = LaunchExpr::name("N");
    n.dtype = DType::i32;
    l.params.push_back(n);
    a.binaries = {std::string("\x7f"
                              "ELF",
                              4) +
                  l.entry + std::string(100, '\0')};
    return a;
  }
};

constexpr std::string_view kernel = R"(
kernel k<TN: int = 32 in {32, 64, 128, 256, 512}>(a: in f32[N], x: inout f32[N], c: out f32[N])
grid (cdiv(N, TN))
{
    let v = a.tiled(TN).load(bid(0)) + x.tiled(TN).load(bid(0))
    x.tiled(TN).store(bid(0), v)
    c.tiled(TN).store(bid(0), v)
}
)";

class WorkerCudaTest : public testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / fmt::format("tilec-worker-cuda-{}", getpid());
  NamingBuilder builder;
  Recipe recipe;
  const Arch &arch = *findArch("sm_90");
  std::vector<int64_t> values = {32, 64, 128, 256, 512};

  void SetUp() override {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    ASSERT_TRUE(writeFile(folder / "k.tile", kernel).has_value());
    recipe.path = recipe.kernelFile = (folder / "k.tile").string();
    auto real = openBuilder(recipe.kernelFile, "");
    ASSERT_TRUE(real.has_value()) << real.error().message;
    builder.real = std::move(*real);
    setenv("TILEC_CUDA_DRIVER", TILEC_FAKE_CUDA, 1);
    setenv("WORKER_STARTS", (folder / "starts").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder); }

  long starts() const {
    auto text = readFile(folder / "starts");
    return text ? std::ranges::count(*text, '\n') : 0;
  }

  std::vector<Override> overrides;
  double trialTimeout = 1;
  runtime::TimingPolicy policy = runtime::TimingPolicy::Cold;
  fs::path toCache;

  ProblemResult tuneAll() {
    runtime::DeviceFacts device;
    device.name = "Fake GPU";
    device.major = 9;
    device.multiprocessors = 4;
    EvaluatorOptions options;
    options.trialTimeoutSeconds = trialTimeout;
    options.policy = policy;
    auto evaluator = gpuEvaluator(recipe, builder, device, arch, options);
    Cache cache = std::move(*(toCache.empty() ? Cache::inMemory() : Cache::open(toCache)));
    SessionOptions session;
    session.jobs = 1;
    auto r = tuneProblem(recipe, builder, *evaluator, cache, arch, typicalMachine(arch), *parseValues("N=1000"),
                         overrides, session);
    EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message);
    stored = cache.trials(1);
    return r ? std::move(*r) : ProblemResult{};
  }
  std::vector<TrialRecord> stored; ///< what the cache of tuneAll() held at the end
  static std::map<int64_t, TrialRow> byTile(const ProblemResult &r) {
    std::map<int64_t, TrialRow> rows;
    for (const TrialRow &row : r.rows)
      rows[std::get<int64_t>(row.configuration.parameters.at("TN"))] = row;
    return rows;
  }
};

TEST_F(WorkerCudaTest, WrongResultsNeverWinWhateverTheirOrder) {
  for (size_t shift = 0; shift < values.size(); ++shift) {
    std::vector<std::string> kinds = {"good", "one_nan", "half", "outside", "one_wrong"};
    std::ranges::rotate(kinds, kinds.begin() + long(shift));
    for (size_t i = 0; i < values.size(); ++i)
      builder.entries[values[i]] = kinds[i];
    ProblemResult r = tuneAll();
    ASSERT_EQ(r.rows.size(), values.size());
    EXPECT_EQ(r.failed, values.size() - 1);
    auto rows = byTile(r);
    for (size_t i = 0; i < values.size(); ++i) {
      const TrialRow &row = rows[values[i]];
      EXPECT_EQ(row.status, kinds[i] == "good" ? TrialStatus::Ok : TrialStatus::Wrong) << kinds[i] << row.reason;
      if (kinds[i] == "outside")
        EXPECT_THAT(row.reason, HasSubstr("wrote outside 'c'"));
    }
  }
}

/// Everything that can go wrong at once: one recorded failure each, and the one good configuration wins wherever it and
/// they stand in the list.
TEST_F(WorkerCudaTest, TheGoodOneWinsAmongAllThatFailInEveryOrder) {
  std::vector<std::pair<std::string, TrialStatus>> kinds = {
      {"good", TrialStatus::Ok},       {"fault", TrialStatus::Faulted},
      {"hang", TrialStatus::TimedOut}, {"compiler_abort", TrialStatus::CompileFailed},
      {"one_nan", TrialStatus::Wrong}, {"half", TrialStatus::Wrong},
      {"outside", TrialStatus::Wrong}, {"zero", TrialStatus::NoTime}};
  trialTimeout = 0.4;
  overrides = {*parseOverride("TN=8,16,32,64,128,256,512,1024")};
  std::vector<int64_t> tiles = {8, 16, 32, 64, 128, 256, 512, 1024};
  for (size_t shift = 0; shift < kinds.size(); ++shift) {
    for (size_t i = 0; i < tiles.size(); ++i)
      builder.entries[tiles[i]] = kinds[i].first;
    ProblemResult r = tuneAll();
    ASSERT_TRUE(r.winner.has_value()) << "shift " << shift;
    EXPECT_EQ(builder.entries[std::get<int64_t>(r.rows[*r.winner].configuration.parameters.at("TN"))], "good");
    ASSERT_EQ(r.rows.size(), kinds.size());
    EXPECT_EQ(r.failed, kinds.size() - 1);
    EXPECT_EQ(stored.size(), kinds.size());
    auto rows = byTile(r);
    for (const TrialRecord &t : stored) {
      int64_t tn = std::get<int64_t>(t.configuration.parameters.at("TN"));
      size_t kind = size_t(std::ranges::find(tiles, tn) - tiles.begin());
      EXPECT_EQ(t.measurement.status, kinds[kind].second) << kinds[kind].first << ": " << t.measurement.reason;
      EXPECT_EQ(rows[tn].status, kinds[kind].second);
      if (isFailure(t.measurement.status))
        EXPECT_FALSE(t.measurement.reason.empty());
    }
    // Every kind stands at every place once.
    std::ranges::rotate(kinds, kinds.begin() + 1);
  }
}

TEST_F(WorkerCudaTest, WhatWritesOutsideDoesNotMakeOthersWrong) {
  builder.entries = {{32, "outside"}, {128, "before"}};
  auto rows = byTile(tuneAll());
  EXPECT_EQ(rows[32].status, TrialStatus::Wrong);
  EXPECT_EQ(rows[128].status, TrialStatus::Wrong);
  EXPECT_THAT(rows[128].reason, HasSubstr("wrote outside 'a'"));
  for (int64_t tn : {64, 256, 512})
    EXPECT_EQ(rows[tn].status, TrialStatus::Ok) << rows[tn].reason;
}

TEST_F(WorkerCudaTest, FaultsHangsAndAbortsCostOneTrialEach) {
  builder.entries = {{32, "fault"}, {64, "abort"}, {128, "hang"}, {256, "late_fault"}};
  auto rows = byTile(tuneAll());
  EXPECT_EQ(rows[32].status, TrialStatus::Faulted) << rows[32].reason;
  EXPECT_EQ(rows[64].status, TrialStatus::Died) << rows[64].reason;
  EXPECT_EQ(rows[128].status, TrialStatus::TimedOut) << rows[128].reason;
  EXPECT_EQ(rows[256].status, TrialStatus::Faulted) << rows[256].reason;
  EXPECT_EQ(rows[512].status, TrialStatus::Ok) << rows[512].reason;
}

TEST_F(WorkerCudaTest, DeathInARaceIsTheGuiltyOnes) {
  builder.entries = {{64, "late_abort"}};
  ProblemResult r = tuneAll();
  EXPECT_EQ(r.failed, 1u);
  EXPECT_EQ(byTile(r)[64].status, TrialStatus::Died);
}

TEST_F(WorkerCudaTest, NoTimeNeverWins) {
  builder.entries = {{64, "zero"}, {128, "negative"}, {256, "nan_time"}};
  auto rows = byTile(tuneAll());
  for (int64_t tn : {64, 128, 256})
    EXPECT_EQ(rows[tn].status, TrialStatus::NoTime);
  EXPECT_NEAR(rows[32].median, 0.2e-3, 1e-9);
  EXPECT_NEAR(rows[32].sustained, 0.2e-3, 1e-9);
}

TEST_F(WorkerCudaTest, InputsThatAKernelWritesAreRestoredBetweenSamples) {
  builder.entries = {{64, "restored"}};
  auto rows = byTile(tuneAll());
  EXPECT_EQ(rows[64].status, TrialStatus::Ok) << rows[64].reason;
  EXPECT_GE(rows[64].samples, finalRounds);
}

TEST_F(WorkerCudaTest, PoliciesAreRowsOfTheirOwn) {
  toCache = folder / "tilec.db";
  overrides = {*parseOverride("TN=32,64")};
  using runtime::TimingPolicy;
  // The fake driver's "good" takes 0.2 ms when it is launched, and a graph 0.01 ms, whatever is in it.
  for (auto [how, seconds] : {std::pair(TimingPolicy::Cold, 0.2e-3), std::pair(TimingPolicy::Hot, 0.2e-3),
                              std::pair(TimingPolicy::Graph, 0.01e-3 / runtime::graphRuns(200))}) {
    policy = how;
    for (size_t reused : {0, 2}) {
      ProblemResult r = tuneAll();
      EXPECT_EQ(r.policy, runtime::name(how));
      EXPECT_EQ(r.reused, reused);
      ASSERT_TRUE(r.winner.has_value());
      EXPECT_NEAR(r.rows[*r.winner].median, seconds, seconds * 1e-3);
    }
  }
  EXPECT_EQ(stored.size(), 6u);
  Cache cache = std::move(*Cache::open(toCache));
  EXPECT_EQ(cache.list().size(), 3u);
  EXPECT_EQ(winners(cache.trials(1)).size(), 3u) << "one of each policy";
}

TEST_F(WorkerCudaTest, AllWrongHasNoWinner) {
  for (int64_t v : values)
    builder.entries[v] = "half";
  ProblemResult r = tuneAll();
  EXPECT_FALSE(r.winner.has_value());
  EXPECT_EQ(r.failed, values.size());
}

/// The whole of `tilec tune` with the real compiler: the parent has no CUDA context, a second run starts no worker.
TEST_F(WorkerCudaTest, OnlyTheWorkerHasAContextAndASecondRunHasNone) {
  TuneRequest request;
  request.recipe = recipe;
  request.problems = {*parseValues("N=1000")};
  request.cache = folder / "tilec.db";
  request.session.jobs = 1;
  auto first = tune(request);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_FALSE(first->problems[0].predicted);
  EXPECT_GT(starts(), 0);
  long before = starts();
  auto second = tune(request);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->problems[0].reused, values.size());
  EXPECT_EQ(second->problems[0].evaluated, 0u);
  EXPECT_EQ(starts(), before);
  EXPECT_EQ(runtime::fakeCuda(TILEC_FAKE_CUDA).contexts, 0);
}

/// Another architecture than the GPU's is predicted, and says so.
TEST_F(WorkerCudaTest, AnotherArchitectureIsPredicted) {
  TuneRequest request;
  request.recipe = recipe;
  request.arch = findArch("sm_100");
  request.problems = {*parseValues("N=1000")};
  request.overrides = {*parseOverride("TN=128")};
  request.cache = folder / "tilec.db";
  request.session.jobs = 1;
  auto r = tune(request);
  ASSERT_TRUE(r.has_value()) << r.error().message;
  EXPECT_TRUE(r->problems[0].predicted);
  EXPECT_EQ(starts(), 0);
  ASSERT_EQ(r->notes.size(), 1u);
  EXPECT_THAT(r->notes[0], HasSubstr("times for sm_100 are predicted, not measured"));
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "__worker") == 0) {
    if (FILE *starts = std::fopen(getenv("WORKER_STARTS"), "a")) {
      std::fputs("start\n", starts);
      std::fclose(starts);
    }
    fake = &runtime::fakeCuda(TILEC_FAKE_CUDA);
    fake->onLaunch = onLaunch;
    return workerMain(0, 1);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
