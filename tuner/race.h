#pragma once
// Several candidates timed in turns, so that whatever changes with time (clock, temperature, neighbours) changes for
// all of them alike. Knows no GPU: what takes a sample is the caller's.
#include "compiler/base/result.h"
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tilec::tuner {

/// Times in seconds.
struct RaceRules {
  int warmups = 3;
  int minRounds = 15, maxRounds = 100;
  double relativeHalfWidth = 0.01; ///< a candidate is done when the 95 % interval of its median is this narrow,
  double absoluteHalfWidth = 5e-7; ///< or this narrow;
  double budgetSeconds = 0.5;      ///< or when the race took this long and every candidate has fewestRounds
  bool drop = false;               ///< candidates that are certainly slower than the best leave early
};
/// Rounds that every candidate gets whatever the budget: fewer have no interval.
inline constexpr int fewestRounds = 7;

struct RaceTrack {
  /// Waits before a sample of a candidate whose last one took so long; none: back to back.
  std::function<void(double lastSeconds)> idle;
  /// Clock in MHz after a round, 0 when unknown; none: never asked. Rounds that ran below 75 % of the median clock are
  /// run again, a few times, then kept and marked.
  std::function<Result<double>()> clock;
};

struct Lane {
  std::vector<double> samples; ///< invalid ones included
  std::optional<Error> failure;
  bool dropped = false;
};
struct RaceResult {
  std::vector<Lane> lanes;
  double clockMHz = 0; ///< median
  bool throttled = false;
  /// A failure after which nothing more can run; the lane it belongs to carries it. Lanes without it are unfinished.
  bool broken = false;
};

/// One sample in seconds; a zero, negative or NaN one is kept and left to summarise().
using Sampler = std::function<Result<double>()>;

/// Warms up each candidate, then runs rounds whose order rotates: each candidate is first as often as last.
RaceResult race(std::span<const Sampler> candidates, const RaceRules &rules, const RaceTrack &track);

} // namespace tilec::tuner
