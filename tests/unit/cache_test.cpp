// LINK: tuner
// The cache: what it keeps, and what it does when the file, the disk or another process is against it.
#include "compiler/base/files.h"
#include "compiler/base/hash.h"
#include "tuner/cache.h"
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// Changes a database behind the cache's back.
void execute(const fs::path &database, const char *sql) {
  sqlite3 *db = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

Artifact artifactOf(const std::string &code) {
  Artifact a;
  a.name = "k";
  a.arch = "sm_90a";
  a.binaries = {code};
  LaunchSpec launch;
  launch.entry = "k";
  launch.resources.registers = 40;
  a.launches.push_back(launch);
  return a;
}

TrialRecord trial(int id, double median, TrialStatus status = TrialStatus::Ok) {
  TrialRecord r;
  r.key.parts = {{"configuration", id}, {"kernel", "k"}};
  r.problem = {.kernel = {"hash", "k", "k.tile"}, .values = *parseValues("N=100,T=f32")};
  r.environment.gpu = "GPU";
  r.environment.arch = "sm_90a";
  r.environment.sms = 132;
  r.environment.driver = "580.1";
  r.configuration.id = id;
  r.configuration.parameters["TN"] = int64_t(id);
  r.policy = "cold";
  r.measurement.status = status;
  r.measurement.median = median;
  r.measurement.samples = {median};
  r.artifact = artifactOf(fmt::format("code {}", id));
  r.artifactKey = fmt::format("artifact {}", id);
  return r;
}

class CacheTest : public testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / fmt::format("tilec-cache-{}", getpid());
  fs::path file = folder / "tilec.db";

  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override {
    chmod(folder.c_str(), 0700);
    fs::remove_all(folder);
  }
  Cache open() {
    auto cache = Cache::open(file);
    EXPECT_TRUE(cache.has_value()) << (cache ? "" : cache.error().message);
    return std::move(*cache);
  }
};

TEST_F(CacheTest, KeepsTrialsWithArtifacts) {
  {
    Cache cache = open();
    ASSERT_TRUE(cache.insert(trial(1, 2e-3)).has_value());
    ASSERT_TRUE(cache.insert(trial(2, 0, TrialStatus::Wrong)).has_value());
    EXPECT_TRUE(cache.saves());
  }
  Cache cache = open();
  auto found = cache.find(trial(1, 0).key, true);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->measurement.median, 2e-3);
  EXPECT_EQ(found->artifact->binaries[0], "code 1");
  EXPECT_EQ(found->footprint.registers, 40 * 128);
  EXPECT_EQ(toString(found->problem.values), "N=100,T=f32");
  EXPECT_EQ(cache.find(trial(2, 0).key, false)->measurement.status, TrialStatus::Wrong);
  EXPECT_FALSE(cache.find(trial(3, 0).key, false).has_value());
  EXPECT_EQ(cache.notice(), "");
  struct stat info{};
  stat(folder.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, ListNamesTheWinnerOfTheView) {
  Cache cache = open();
  for (auto &t : {trial(3, 1.001e-3), trial(1, 1.0e-3), trial(2, 5e-3), trial(0, 0.5e-3, TrialStatus::Faulted)})
    ASSERT_TRUE(cache.insert(t).has_value());
  auto entries = cache.list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].trials, 4);
  EXPECT_EQ(entries[0].failed, 1);
  EXPECT_EQ(entries[0].winner, "TN=1"); // within half a percent the smaller number wins; the fault never does
  EXPECT_EQ(cache.trials(entries[0].problemId).size(), 4u);
}

TEST_F(CacheTest, SameKeyStaysUnlessReplaced) {
  Cache cache = open();
  ASSERT_TRUE(cache.insert(trial(1, 1e-3)).has_value());
  ASSERT_TRUE(cache.insert(trial(1, 2e-3)).has_value());
  EXPECT_EQ(cache.find(trial(1, 0).key, false)->measurement.median, 1e-3);
  ASSERT_TRUE(cache.insert(trial(1, 3e-3), true).has_value());
  EXPECT_EQ(cache.find(trial(1, 0).key, false)->measurement.median, 3e-3);
}

TEST_F(CacheTest, PinsComeBack) {
  Cache cache = open();
  Configuration c;
  c.hints["occupancy"] = 2;
  ASSERT_TRUE(cache.pin(trial(0, 0).problem, "sm_90a", c, "because").has_value());
  EXPECT_EQ(cache.pinned(trial(0, 0).problem, "sm_90a")->hints["occupancy"], 2);
  EXPECT_FALSE(cache.pinned(trial(0, 0).problem, "sm_80").has_value());
}

TEST_F(CacheTest, DamagedCubinIsAMissAndIsMended) {
  {
    ASSERT_TRUE(open().insert(trial(1, 1e-3)).has_value());
  }
  std::string bytes = *readFile(file);
  size_t at = bytes.find("code 1");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'C';
  {
    std::ofstream(file, std::ios::binary) << bytes;
  }
  chmod(file.c_str(), 0600);
  Cache cache = open();
  EXPECT_FALSE(cache.find(trial(1, 0).key, true).has_value());
  EXPECT_THAT(cache.notice(), HasSubstr("damaged"));
  ASSERT_TRUE(cache.insert(trial(1, 1e-3), true).has_value());
  EXPECT_TRUE(cache.find(trial(1, 0).key, true).has_value());
}

TEST_F(CacheTest, CorruptFileIsMovedAside) {
  fs::create_directories(folder);
  chmod(folder.c_str(), 0700);
  {
    std::ofstream(file) << std::string("SQLite format 3\0", 16) << std::string(5000, 'x');
  }
  chmod(file.c_str(), 0600);
  Cache cache = open();
  EXPECT_THAT(cache.notice(), HasSubstr("moved aside"));
  EXPECT_TRUE(cache.saves());
  ASSERT_TRUE(cache.insert(trial(1, 1e-3)).has_value());
  size_t aside = 0;
  for (const auto &entry : fs::directory_iterator(folder))
    aside += entry.path().string().find(".corrupt-") != std::string::npos;
  EXPECT_EQ(aside, 1u);
}

TEST_F(CacheTest, FilesOfOthersStay) {
  fs::create_directories(folder);
  chmod(folder.c_str(), 0700);
  {
    std::ofstream(file) << "notes\n";
  }
  chmod(file.c_str(), 0600);
  Result<Cache> cache = Cache::open(file);
  ASSERT_FALSE(cache.has_value());
  EXPECT_THAT(cache.error().message, HasSubstr("is no cache of tilec"));
  std::string text;
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "notes");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(CacheTest, TruncatedFileIsMovedAside) {
  {
    Cache cache = open();
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(cache.insert(trial(i, 1e-3)).has_value());
  }
  fs::resize_file(file, fs::file_size(file) / 2);
  Cache cache = open();
  EXPECT_THAT(cache.notice(), HasSubstr("moved aside"));
  EXPECT_TRUE(cache.list().empty());
}

TEST_F(CacheTest, NewerSchemaAndForeignDatabasesAreRefused) {
  {
    open();
  }
  execute(file, "PRAGMA user_version = 99");
  auto newer = Cache::open(file);
  ASSERT_FALSE(newer.has_value());
  EXPECT_THAT(newer.error().message, HasSubstr("schema 99"));
  fs::path other = folder / "other.db";
  execute(other, "CREATE TABLE t (x)");
  chmod(other.c_str(), 0600);
  auto foreign = Cache::open(other);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().message, HasSubstr("another program"));
}

TEST_F(CacheTest, FilesThatOthersMayWriteAreRefused) {
  {
    open();
  }
  chmod(file.c_str(), 0620);
  EXPECT_FALSE(Cache::open(file).has_value());
  chmod(file.c_str(), 0600);
  chmod(folder.c_str(), 0777);
  auto shared = Cache::open(file);
  ASSERT_FALSE(shared.has_value());
  EXPECT_EQ(shared.error().kind, ErrorKind::Usage);
  EXPECT_THAT(shared.error().help, HasSubstr("--cache"));
}

TEST_F(CacheTest, UnwritablePlaceIsSaidAndWorkGoesOn) {
  // A file stands where the folder should be, so that this holds for root as well.
  fs::create_directories(folder);
  {
    std::ofstream(folder / "file") << "x";
  }
  auto cache = Cache::open(folder / "file" / "tilec.db");
  ASSERT_TRUE(cache.has_value());
  EXPECT_FALSE(cache->saves());
  EXPECT_THAT(cache->notice(), HasSubstr("not saved"));
  ASSERT_TRUE(cache->insert(trial(1, 1e-3)).has_value());
  EXPECT_TRUE(cache->find(trial(1, 0).key, true).has_value());
}

TEST_F(CacheTest, ManyProcessesCreateAndFillItTogether) {
  constexpr int processes = 16, rows = 4;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto cache = Cache::open(file);
      std::string fault = cache ? cache->notice() : cache.error().message;
      auto add = [&](int id) {
        if (auto done = cache->insert(trial(id, 1e-3)); !done)
          fault = done.error().message;
      };
      for (int i = 0; fault.empty() && i < rows; ++i) {
        add(p * rows + i);
        add(1000);
      }
      if (cache && !cache->saves())
        fault += cache->notice();
      fmt::print(stderr, "{}", fault);
      _exit(fault.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open().trials(trial(0, 0).problem, "sm_90a").size(), size_t(processes * rows + 1));
}

TEST_F(CacheTest, KilledWriterLosesAtMostTheRowInFlight) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Cache cache = open();
    for (int i = 0; i < 10000; ++i) {
      if (!cache.insert(trial(i, 1e-3)))
        _exit(1);
      if (write(pipe[1], &i, sizeof i) != sizeof i)
        _exit(1);
    }
    _exit(0);
  }
  int last = -1;
  while (last < 25)
    ASSERT_EQ(read(pipe[0], &last, sizeof last), ssize_t(sizeof last));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  for (int next; read(pipe[0], &next, sizeof next) == sizeof next;)
    last = next;
  close(pipe[0]);
  close(pipe[1]);
  Cache cache = open();
  EXPECT_EQ(cache.notice(), "");
  EXPECT_GE(cache.trials(trial(0, 0).problem, "sm_90a").size(), size_t(last) + 1);
}

} // namespace
