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

/// Speaks the protocol; what it does with a trial is the artifact's name. Each start adds a line to `starts`.
constexpr std::string_view script = R"(#!/bin/sh
echo start >> "$(dirname "$0")/starts"
ok='{"ok":true,"status":"ok","reason":"","samples":[0.001,0.001,0.001],"clocks":{},"sticky":false}'
while read -r line; do
  case "$line" in
    *'"op":"hello"'*) echo '{"ok":true,"protocol":1,"gpu":{}}' ;;
    *'"op":"trial"'*'"name":"die"'*'"golden":false'*) echo 'a fault' >&2; kill -SEGV $$ ;;
    *'"op":"trial"'*'"name":"hang"'*'"golden":false'*) sleep 100 ;;
    *'"op":"trial"'*'"name":"garble"'*'"golden":false'*) echo 'no JSON' ;;
    *'"op":"trial"'*'"name":"sticky"'*'"golden":false'*)
      echo '{"ok":true,"status":"faulted","reason":"illegal address","samples":[],"clocks":{},"sticky":true}' ;;
    *'"op":"trial"'*) echo "$ok" ;;
    *) echo '{"ok":true}' ;;
  esac
done
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
    a.name = names.contains(tn) ? names[tn] : "good";
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
    ASSERT_TRUE(writeFile(folder / "worker.sh", script).has_value());
    fs::permissions(folder / "worker.sh", fs::perms::owner_all);
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
    options.workerPath = (folder / "worker.sh").string();
    auto evaluator = gpuEvaluator(recipe, builder, device, arch, options);
    Cache cache = std::move(*Cache::inMemory());
    SessionOptions session;
    session.jobs = 1;
    auto r = tuneProblem(recipe, builder, *evaluator, cache, arch, typicalMachine(arch), *parseValues("N=1000"), {},
                         session);
    EXPECT_TRUE(r.has_value()) << (r ? "" : r.error().message);
    std::map<int64_t, TrialRow> rows;
    if (r)
      for (const TrialRow &row : r->rows)
        rows[std::get<int64_t>(row.configuration.parameters.at("TN"))] = row;
    return rows;
  }
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
  ASSERT_TRUE(writeFile(folder / "worker.sh", "#!/bin/sh\necho broken >&2\nexit 3\n").has_value());
  fs::permissions(folder / "worker.sh", fs::perms::owner_all);
  runtime::DeviceFacts device;
  device.major = 9;
  EvaluatorOptions options;
  options.workerPath = (folder / "worker.sh").string();
  auto evaluator = gpuEvaluator(recipe, builder, device, arch, options);
  auto begun = evaluator->begin(*parseValues("N=10"), {}, {});
  ASSERT_FALSE(begun.has_value());
  EXPECT_THAT(begun.error().message, testing::AllOf(HasSubstr("exit code 3"), HasSubstr("broken")));
}

} // namespace
