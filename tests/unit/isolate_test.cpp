// LINK: compiler_driver
// Work in a forked child: what it gives back, and every way in which it may not.
#include "compiler/driver/isolate.h"
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tilec;
using driver::ChildFailure;
using driver::runIsolated;
using testing::HasSubstr;
using Kind = ChildFailure::Kind;

TEST(Isolate, GivesAnAnswerOfAnySize) {
  std::string large(1 << 20, '\0');
  auto answer = runIsolated([&] { return large; }, 60);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, large);
  EXPECT_EQ(runIsolated([] { return std::string(); }, 60).value(), "");
}

TEST(Isolate, SaysHowTheChildEnded) {
  auto killed = runIsolated(
      []() -> std::string {
        fputs("last words", stderr);
        raise(SIGKILL);
        return "";
      },
      60);
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().kind, Kind::Signal);
  EXPECT_EQ(killed.error().code, SIGKILL);
  EXPECT_EQ(killed.error().output, "last words");
  EXPECT_THAT(killed.error().text(), HasSubstr("signal 9"));

  auto ended = runIsolated([]() -> std::string { _exit(0); }, 60);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, Kind::Exit);

  auto hung = runIsolated(
      []() -> std::string {
        for (;;)
          pause();
      },
      0.2);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().kind, Kind::Timeout);
}

TEST(Isolate, AMachineShortOfFilesOrMemoryIsNotTheWorksFault) {
  // In a child, whose limits are its own.
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit few{3, 3};
    setrlimit(RLIMIT_NOFILE, &few);
    auto none = runIsolated([] { return std::string("x"); }, 60);
    _exit(!none && none.error().kind == Kind::System && none.error().isTransient() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);

  auto killed = runIsolated(
      []() -> std::string {
        kill(getpid(), SIGKILL);
        return "";
      },
      60);
  ASSERT_FALSE(killed);
  EXPECT_TRUE(killed.error().isTransient()) << "as the kernel does it when memory runs out";
  auto aborted = runIsolated([]() -> std::string { abort(); }, 60);
  ASSERT_FALSE(aborted);
  EXPECT_FALSE(aborted.error().isTransient());
}

// A child keeps what was open when it was forked. If that were another child's pipe, the death of the other would be
// seen only when this one ends.
TEST(Isolate, ChildrenOfSeveralThreadsDoNotHoldEachOther) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  std::vector<std::jthread> patient, brief;
  for (int i = 0; i < 8; ++i) {
    brief.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        auto ended = runIsolated([]() -> std::string { _exit(1); }, 60);
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().kind, Kind::Exit);
      }
    });
    patient.emplace_back([&gate] {
      auto answer = runIsolated(
          [&gate] {
            char byte;
            close(gate[1]);
            return std::string(read(gate[0], &byte, 1) == 0 ? "waited" : "");
          },
          600);
      EXPECT_EQ(answer.value_or("nothing"), "waited");
    });
  }
  brief.clear();
  close(gate[1]);
  patient.clear();
  close(gate[0]);
}
