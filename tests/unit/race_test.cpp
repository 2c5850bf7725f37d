// LINK: tuner
// Racing on a clock that the test holds.
#include "runtime/cuda.h"
#include "tuner/race.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::tuner;

namespace {

/// Candidates whose samples are a function of how often they ran; notes who ran when.
struct Field {
  std::vector<std::function<double(int)>> times;
  std::vector<int> runs;
  std::vector<size_t> order;
  std::vector<Sampler> samplers;

  explicit Field(std::vector<std::function<double(int)>> t) : times(std::move(t)), runs(times.size()) {
    for (size_t c = 0; c < times.size(); ++c)
      samplers.push_back([this, c]() -> Result<double> {
        order.push_back(c);
        return times[c](runs[c]++);
      });
  }
};
/// A time with noise that repeats every five runs.
std::function<double(int)> around(double seconds, double noise = 0.001) {
  return [=](int i) { return seconds * (1 + noise * (i % 5 - 2)); };
}

TEST(Race, OrderRotatesAndWarmupsAreNotKept) {
  Field field({around(1e-3), around(1e-3), around(1e-3)});
  RaceResult r = race(field.samplers, {.warmups = 2, .minRounds = 7, .maxRounds = 7}, {});
  for (const Lane &lane : r.lanes)
    EXPECT_EQ(lane.samples.size(), 7u);
  for (int run : field.runs)
    EXPECT_EQ(run, 9);
  std::vector<size_t> rounds(field.order.begin() + 6, field.order.begin() + 15);
  EXPECT_EQ(rounds, (std::vector<size_t>{0, 1, 2, 1, 2, 0, 2, 0, 1}));
}

TEST(Race, StopsWhenNarrowAndGoesOnWhenNot) {
  Field field({around(1e-3), around(1e-3, 0.2)});
  RaceResult r = race(field.samplers, {.minRounds = 15, .maxRounds = 60, .absoluteHalfWidth = 0}, {});
  EXPECT_EQ(r.lanes[0].samples.size(), 15u);
  EXPECT_EQ(r.lanes[1].samples.size(), 60u);
}

TEST(Race, TheCertainlySlowLeaveEarlyAndTheNearOnesStay) {
  Field field({around(1e-3), around(2e-3), around(1.005e-3)});
  RaceResult r = race(field.samplers, {.minRounds = 30, .maxRounds = 30, .drop = true}, {});
  EXPECT_EQ(r.lanes[0].samples.size(), 30u);
  EXPECT_TRUE(r.lanes[1].dropped);
  EXPECT_EQ(r.lanes[1].samples.size(), size_t(fewestRounds));
  EXPECT_EQ(r.lanes[2].samples.size(), 30u);
}

TEST(Race, ABudgetEndsItButNeverWithoutAnInterval) {
  Field field({around(1e-3, 0.3), around(1e-3, 0.3)});
  RaceResult r = race(field.samplers, {.minRounds = 50, .maxRounds = 100, .budgetSeconds = 0}, {});
  EXPECT_EQ(r.lanes[0].samples.size(), size_t(fewestRounds));
}

TEST(Race, DriftIsSharedByAll) {
  // The machine slows down as time passes: one after the other, the last would look worse.
  int now = 0;
  auto drifting = [&now](int) { return 1e-3 * (1 + 0.001 * now++); };
  Field field({drifting, drifting, drifting, drifting});
  RaceResult r = race(field.samplers, {.minRounds = 40, .maxRounds = 40}, {});
  auto middle = [](std::vector<double> v) {
    std::ranges::nth_element(v, v.begin() + 20);
    return v[20];
  };
  EXPECT_NEAR(middle(r.lanes.front().samples) / middle(r.lanes.back().samples), 1, 0.005);
}

TEST(Race, AFailureEndsOneAFaultAll) {
  auto run = [](Error error) {
    int runs = 0;
    std::vector<Sampler> samplers = {[]() -> Result<double> { return 1e-3; },
                                     [&]() -> Result<double> {
                                       if (++runs == 5)
                                         return std::unexpected(error);
                                       return 1e-3;
                                     }};
    return race(samplers, {.minRounds = 10, .maxRounds = 10}, {});
  };
  RaceResult mild = run({ErrorKind::Program, "no", "", ""});
  EXPECT_FALSE(mild.broken);
  EXPECT_TRUE(mild.lanes[1].failure.has_value());
  EXPECT_EQ(mild.lanes[0].samples.size(), 10u);
}

TEST(Race, LowClocksAreRunAgainThenMarked) {
  Field field({around(1e-3)});
  std::vector<double> clocks = {2000, 1000, 2000};
  size_t looks = 0;
  RaceTrack track;
  track.clock = [&]() -> Result<double> { return clocks[std::min(looks++, clocks.size() - 1)]; };
  RaceResult once = race(field.samplers, {.warmups = 0, .minRounds = 24, .maxRounds = 24}, track);
  EXPECT_FALSE(once.throttled);
  EXPECT_EQ(once.lanes[0].samples.size(), 24u);
  EXPECT_EQ(field.runs[0], 32) << "eight were thrown away";
  looks = 0;
  clocks = {2000, 1000};
  Field slow({around(1e-3)});
  RaceResult always = race(slow.samplers, {.warmups = 0, .minRounds = 24, .maxRounds = 24}, track);
  EXPECT_TRUE(always.throttled);
  EXPECT_EQ(always.lanes[0].samples.size(), 24u);
}

TEST(Race, NobodyIsNoRace) { EXPECT_TRUE(race({}, {}, {}).lanes.empty()); }

TEST(Race, InvalidTimesDoNotGoOnForEver) {
  Field field({[](int) { return std::nan(""); }, [](int) { return 0.0; }});
  RaceResult r = race(field.samplers, {.maxRounds = 20}, {});
  EXPECT_EQ(r.lanes[0].samples.size(), 20u);
  EXPECT_EQ(r.lanes[1].samples.size(), 20u);
}

} // namespace
