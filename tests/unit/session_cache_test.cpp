// LINK: tuner
// Sessions on a cache file with the world against them: other processes, kills at any moment, damage, no place to
// write.
#include "compiler/base/files.h"
#include "fake_tuner.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::vector<int64_t> upTo(int64_t n) {
  std::vector<int64_t> values;
  for (int64_t v = 1; v <= n; ++v)
    values.push_back(v);
  return values;
}

/// Changes bytes of a file behind the cache's back.
void overwrite(const fs::path &file, uint64_t at, std::string_view bytes) {
  int fd = ::open(file.c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), off_t(at)), ssize_t(bytes.size()));
  close(fd);
}

class SessionCacheTest : public testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / fmt::format("tilec-session-{}", getpid());
  fs::path file = folder / "tilec.db";
  Machine machine{"Fake GPU", findArch("sm_90"), 132, 50 << 20, 4e12, 60e12};

  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directory(folder);
    chmod(folder.c_str(), 0700);
  }
  void TearDown() override {
    chmod(folder.c_str(), 0700);
    fs::remove_all(folder);
  }

  struct Run {
    ProblemResult result;
    std::string notice;
    int evaluations = 0;
  };
  /// One session over TN = 1 … n on the file.
  std::optional<Run> run(int64_t n, const std::function<void(FakeEvaluator &)> &setUp = {}) {
    FakeBuilder builder(upTo(n));
    FakeEvaluator evaluator;
    if (setUp)
      setUp(evaluator);
    auto cache = Cache::open(file);
    if (!cache)
      return std::nullopt;
    SessionOptions options;
    options.jobs = 2;
    auto r =
        tuneProblem({}, builder, evaluator, *cache, *findArch("sm_90"), machine, *parseValues("N=100"), {}, options);
    if (!r)
      return std::nullopt;
    return Run{std::move(*r), cache->notice(), evaluator.evaluations};
  }
  int64_t rows() {
    auto cache = Cache::open(file);
    EXPECT_TRUE(cache.has_value());
    auto entries = cache->list();
    return entries.empty() ? 0 : entries[0].trials;
  }
  long asides() {
    long n = 0;
    for (const auto &entry : fs::directory_iterator(folder)) {
      std::string name = entry.path().filename().string();
      n += name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm");
    }
    return n;
  }
  static int exitOf(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

TEST_F(SessionCacheTest, ManyProcessesStartOnAnEmptyCache) {
  constexpr int processes = 32, values = 12;
  fs::remove_all(folder);
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto r = run(values);
      _exit(!r ? 1 : !r->notice.empty() ? 2 : r->result.failed || r->result.rows.size() != values ? 3 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children)
    EXPECT_EQ(exitOf(child), 0);
  EXPECT_EQ(rows(), values);
  auto again = run(values);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->result.reused, size_t(values));
  EXPECT_EQ(again->evaluations, 0);
}

/// Measured and predicted sessions alike.
TEST_F(SessionCacheTest, AKillCostsTheTrialInFlight) {
  constexpr int values = 400, kills = 10; // far more than are begun before the last kill
  struct Shared {
    std::atomic<int> begun; ///< evaluations of this run
  };
  auto *shared =
      static_cast<Shared *>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  for (bool real : {true, false}) {
    std::mt19937 random(7);
    fs::remove(file);
    int kept = 0;
    for (int k = 0; k < kills; ++k) {
      shared->begun = 0;
      pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        run(values, [&](FakeEvaluator &e) {
          e.real = real;
          e.before = [&] {
            ++shared->begun;
            usleep(300);
          };
        });
        _exit(0);
      }
      // Somewhere within the next few trials: before, within or after an insert.
      int wanted = 1 + int(random() % 6);
      while (shared->begun < wanted && waitpid(child, nullptr, WNOHANG) == 0)
        ;
      usleep(random() % 1500);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      int now = int(rows());
      EXPECT_GE(now, kept + shared->begun - 1) << "kill " << k;
      EXPECT_LE(now, kept + shared->begun) << "kill " << k;
      kept = now;
    }
    EXPECT_LT(kept, values);
    auto rest = run(values, [&](FakeEvaluator &e) { e.real = real; });
    ASSERT_TRUE(rest.has_value());
    EXPECT_EQ(rest->notice, "");
    EXPECT_EQ(rest->evaluations, values - kept);
    EXPECT_EQ(rest->result.rows.size(), size_t(values));
    EXPECT_EQ(rows(), values);
  }
  munmap(shared, sizeof(Shared));
}

TEST_F(SessionCacheTest, ATruncatedFileIsMovedAsideAndTheRunIsWhole) {
  run(40);
  fs::resize_file(file, fs::file_size(file) / 2);
  auto r = run(40);
  ASSERT_TRUE(r.has_value());
  EXPECT_THAT(r->notice, HasSubstr("moved aside"));
  EXPECT_EQ(r->evaluations, 40);
  EXPECT_TRUE(r->result.winner.has_value());
  EXPECT_EQ(asides(), 1);
  EXPECT_EQ(rows(), 40) << "the new file has it all";
  struct stat info{};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "nobody else reads the new file";
}

TEST_F(SessionCacheTest, AFlippedBitInAPageIsMovedAside) {
  run(40);
  // The kind of a page, of every page but the first: what SQLite holds to a structure.
  uint64_t pages = fs::file_size(file) / 4096;
  ASSERT_GT(pages, 4u);
  std::string bytes = *readFile(file);
  for (uint64_t page : {pages / 3, pages / 2}) {
    char flipped = char(bytes[page * 4096] ^ 0x10);
    overwrite(file, page * 4096, {&flipped, 1});
  }
  auto r = run(40);
  ASSERT_TRUE(r.has_value());
  EXPECT_THAT(r->notice, HasSubstr("moved aside"));
  EXPECT_EQ(r->evaluations, 40);
  EXPECT_EQ(asides(), 1);
  EXPECT_EQ(rows(), 40);
}

TEST_F(SessionCacheTest, AFlippedBitInACubinIsAMissThatIsBuiltAgain) {
  run(10);
  std::string bytes = *readFile(file);
  size_t at = bytes.find("code 7");
  ASSERT_NE(at, std::string::npos);
  overwrite(file, at, "d");
  auto r = run(10);
  ASSERT_TRUE(r.has_value());
  EXPECT_THAT(r->notice, testing::AllOf(HasSubstr("a cubin"), HasSubstr("damaged"), HasSubstr("built and measured")));
  EXPECT_EQ(r->evaluations, 1);
  EXPECT_EQ(r->result.reused, 9u);
  r = run(10);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->notice, "") << "it is mended";
  EXPECT_EQ(r->evaluations, 0);
}

TEST_F(SessionCacheTest, AFlippedBitInAResultIsAMiss) {
  run(10);
  sqlite3 *db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  for (const char *sql : {"UPDATE trial SET median = median * 0.5 WHERE configuration_id = 3",
                          "UPDATE trial SET configuration = '{\"p' WHERE configuration_id = 4",
                          "UPDATE trial SET status = 'oj' WHERE configuration_id = 5",
                          "UPDATE artifact SET plan = substr(plan, 2) WHERE id = 2"})
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  auto r = run(10);
  ASSERT_TRUE(r.has_value());
  EXPECT_THAT(r->notice, HasSubstr("damaged"));
  EXPECT_EQ(r->evaluations, 4);
  r = run(10);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->notice, "");
  EXPECT_EQ(r->evaluations, 0);
}

/// In a child without the rights of root, which nothing stops.
TEST_F(SessionCacheTest, AReadOnlyFolderIsReadAndNotWritten) {
  constexpr uid_t nobody = 65534;
  run(10);
  if (getuid() == 0 && (chown(folder.c_str(), nobody, nobody) != 0 || chown(file.c_str(), nobody, nobody) != 0))
    GTEST_SKIP() << "files cannot be given away here";
  chmod(file.c_str(), 0400);
  chmod(folder.c_str(), 0500);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (getuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0))
      _exit(77);
    auto r = run(12);
    if (!r)
      _exit(1);
    bool said = r->notice.find("not saved") != std::string::npos;
    bool whole = r->result.rows.size() == 12 && r->result.winner;
    _exit(!said ? 2 : !whole ? 3 : r->result.reused != 10 ? 4 : 0);
  }
  int code = exitOf(child);
  if (code == 77)
    GTEST_SKIP() << "rights cannot be given up here";
  EXPECT_EQ(code, 0);
}

/// A limit on the size of files is a disk that is full: from the beginning, and at some row.
TEST_F(SessionCacheTest, AFullDiskLetsTheWorkGoOn) {
  for (rlim_t limit : {rlim_t(0), rlim_t(8) << 10, rlim_t(160) << 10}) {
    SCOPED_TRACE(fmt::format("{} bytes", limit));
    for (const char *suffix : {"", "-wal", "-shm"})
      fs::remove(file.string() + suffix);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      rlimit size{limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
      auto r = run(60);
      bool said = r && r->notice.find("not saved") != std::string::npos;
      _exit(!r ? 1 : !said ? 2 : r->result.rows.size() != 60 || !r->result.winner || r->result.failed ? 3 : 0);
    }
    EXPECT_EQ(exitOf(child), 0);
    // With room again, what was saved is whole and the rest is measured.
    auto r = run(60);
    ASSERT_TRUE(r.has_value());
    EXPECT_THAT(r->notice, testing::Not(HasSubstr("not saved")));
    EXPECT_EQ(r->evaluations + int(r->result.reused), 60);
    EXPECT_EQ(rows(), 60);
  }
}

TEST_F(SessionCacheTest, AValueMoreIsMeasuredAlone) {
  run(8);
  auto r = run(9);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->evaluations, 1);
  EXPECT_EQ(r->result.reused, 8u);
  EXPECT_EQ(rows(), 9);
}

} // namespace
