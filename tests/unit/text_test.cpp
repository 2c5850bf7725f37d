// LINK: compiler_base
#include "compiler/base/env.h"
#include "compiler/base/files.h"
#include "compiler/base/hash.h"
#include "compiler/base/json.h"
#include "compiler/base/log.h"
#include "compiler/base/text.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilec;
namespace fs = std::filesystem;

TEST(Text, EditDistance) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("sotre", "store"), 1u); // a swap counts once
  EXPECT_EQ(editDistance("same", "same"), 0u);
}

TEST(Text, Nearest) {
  std::vector<std::string> names = {"load", "store", "gather", "num_worker_warps"};
  EXPECT_EQ(nearest("laod", names), "load");
  EXPECT_EQ(nearest("STORE", names), "store");
  EXPECT_EQ(nearest("num_warps", names), "");
  EXPECT_EQ(nearest("num_worker_wraps", names), "num_worker_warps");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(suggest("laod", names), "did you mean 'load'?");
  EXPECT_EQ(suggest("q", names), "known: load, store, gather, num_worker_warps");
  EXPECT_EQ(suggest("q", {}), "");
}

TEST(Text, JoinSplitTrim) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Text, ShellQuote) {
  EXPECT_EQ(shellQuote("a/b-c.tile"), "a/b-c.tile");
  EXPECT_EQ(shellQuote(""), "''");
  EXPECT_EQ(shellQuote("M=1 N"), "'M=1 N'");
  EXPECT_EQ(shellQuote("it's"), "'it'\\''s'");
}

TEST(Text, GroupDigits) {
  EXPECT_EQ(groupDigits(0), "0");
  EXPECT_EQ(groupDigits(999), "999");
  EXPECT_EQ(groupDigits(1000), "1,000");
  EXPECT_EQ(groupDigits(1234567), "1,234,567");
  EXPECT_EQ(groupDigits(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Text, ShortenWords) {
  EXPECT_EQ(shortenWords("there is no 'x' here"), "there is no 'x' here");
  EXPECT_EQ(shortenWords("'" + std::string(64, 'a') + "'"), "'" + std::string(64, 'a') + "'");
  EXPECT_EQ(shortenWords("'" + std::string(500, 'a') + "b' is long"),
            "'" + std::string(40, 'a') + "…" + std::string(11, 'a') + "b' is long");
}

TEST(Text, ValidUtf8) {
  EXPECT_EQ(validUtf8("añ€😀"), "añ€😀");
  EXPECT_EQ(validUtf8("a\xFF"), "a\uFFFD");
  EXPECT_EQ(validUtf8("\xE2\x82"), "\uFFFD\uFFFD");           // cut short
  EXPECT_EQ(validUtf8("\xC0\xAF"), "\uFFFD\uFFFD");           // overlong
  EXPECT_EQ(validUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD"); // surrogate
  EXPECT_EQ(utf8Length("€"), 3u);
  EXPECT_EQ(utf8Length(""), 0u);
}

TEST(Hash, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(JsonText, TakesAnyBytes) { EXPECT_EQ(toText(Json{{"file", "a\xff"}}, -1), "{\"file\":\"a\uFFFD\"}"); }

TEST(JsonText, ErrorsHaveAPlace) {
  auto good = parseJson(R"({"b": 1, "a": [true]})", "x.json");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->dump(), R"({"b":1,"a":[true]})");
  auto bad = parseJson("{\n  \"a\": ?\n}", "x.json");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::Usage);
  EXPECT_TRUE(bad.error().message.starts_with("x.json:2:8: not valid JSON: ")) << bad.error().message;
  auto empty = parseJson("", "stdin");
  ASSERT_FALSE(empty);
  EXPECT_TRUE(empty.error().message.starts_with("stdin:1:1: not valid JSON: ")) << empty.error().message;
}

namespace {
/// A folder of its own for each test, removed at the end.
class Files : public testing::Test {
protected:
  fs::path dir = fs::temp_directory_path() / fmt::format("tilec-files-{}", ::getpid());
  void SetUp() override { fs::create_directories(dir); }
  void TearDown() override { fs::remove_all(dir); }
};
} // namespace

TEST_F(Files, WriteReadReplace) {
  fs::path path = dir / "a.txt";
  ASSERT_TRUE(writeFile(path, std::string_view("x\0y", 3)));
  EXPECT_EQ(readFile(path).value(), std::string("x\0y", 3));
  ::chmod(path.c_str(), 0600);
  ASSERT_TRUE(writeFile(path, "new"));
  EXPECT_EQ(readFile(path).value(), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
  // No temporary file is left behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), 1);
}

TEST_F(Files, LinksAndDevices) {
  ASSERT_TRUE(writeFile(dir / "real", "old"));
  fs::create_symlink("real", dir / "link");
  ASSERT_TRUE(writeFile(dir / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(readFile(dir / "real").value(), "new");
  EXPECT_TRUE(writeFile("/dev/null", "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, Errors) {
  auto missing = readFile(dir / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Usage);
  EXPECT_EQ(missing.error().message, fmt::format("cannot read {}: No such file or directory", (dir / "none").string()));
  EXPECT_FALSE(readFile(dir));
  EXPECT_FALSE(writeFile(dir, "x"));
  EXPECT_FALSE(writeFile(dir / "none" / "x", "x"));
}

TEST_F(Files, StandardFolders) {
  ::unsetenv("TILEC_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/c", 1);
  ::setenv("HOME", "/h", 1);
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(cacheDir(), "/c/tilec");
  EXPECT_EQ(configDir(), "/h/.config/tilec");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cacheDir(), "/h/.cache/tilec");
  ::setenv("TILEC_CACHE_DIR", "/t", 1);
  EXPECT_EQ(cacheDir(), "/t");
  ::unsetenv("TILEC_CACHE_DIR");
  ::unsetenv("HOME");
  EXPECT_NE(cacheDir().string().find(fmt::format("/tilec-{}", ::getuid())), std::string::npos);
  ::setenv("HOME", "/h", 1);
}

TEST(Environment, EmptyIsUnset) {
  ::setenv("NO_COLOR", "", 1);
  EXPECT_FALSE(envFlag(Env::NO_COLOR));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(envFlag(Env::NO_COLOR));
  EXPECT_EQ(info(Env::TILEC_NVJITLINK).name, "TILEC_NVJITLINK");
}

TEST(Log, LevelsByName) {
  EXPECT_EQ(parseLogLevel("debug"), LogLevel::Debug);
  EXPECT_FALSE(parseLogLevel("loud"));
  setLogLevel(LogLevel::Info);
  EXPECT_TRUE(logs(LogLevel::Info));
  EXPECT_FALSE(logs(LogLevel::Debug));
  testing::internal::CaptureStderr();
  logDebug("hidden {}", 1);
  logWarn("seen {}", "{}");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tilec: warning: seen {}\n");
  setLogLevel(LogLevel::Off);
  EXPECT_FALSE(logs(LogLevel::Error));
}
