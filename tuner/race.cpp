#include "tuner/race.h"
#include "runtime/cuda.h"
#include "runtime/stats.h"
#include <chrono>
#include <cmath>

namespace tilec::tuner {
namespace {

/// How often rounds on a low clock are run again.
constexpr int throttleRetries = 5;
constexpr double lowClock = 0.75;
/// Samples between two looks at the clock: a look costs about as much as a sample.
constexpr size_t samplesPerLook = 8;
/// A candidate is dropped only when it is this much slower for certain: what is near the best stays for the finals.
constexpr double clearlySlower = 1.02;

class Race {
public:
  Race(std::span<const Sampler> candidates, const RaceRules &rules, const RaceTrack &track)
      : candidates(candidates), rules(rules), track(track), last(candidates.size(), 0.0), done(candidates.size()),
        kept(candidates.size(), 0) {
    result.lanes.resize(candidates.size());
  }

  RaceResult run() {
    for (int i = 0; i < rules.warmups && !result.broken; ++i)
      for (size_t c = 0; c < candidates.size() && !result.broken; ++c)
        if (!done[c])
          sample(c);
    auto start = std::chrono::steady_clock::now();
    for (size_t round = 0; !result.broken && active(); ++round) {
      for (size_t i = 0; i < candidates.size() && !result.broken; ++i)
        if (size_t c = (round + i) % candidates.size(); !done[c])
          if (auto seconds = sample(c))
            result.lanes[c].samples.push_back(*seconds), ++sinceLook;
      if (!result.broken && sinceLook >= samplesPerLook)
        look();
      bool spent =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > rules.budgetSeconds;
      retire(spent);
    }
    result.clockMHz = runtime::median(clocks);
    return std::move(result);
  }

private:
  bool active() const {
    for (size_t c = 0; c < candidates.size(); ++c)
      if (!done[c])
        return true;
    return false;
  }

  std::optional<double> sample(size_t c) {
    if (track.idle)
      track.idle(last[c]);
    auto seconds = candidates[c]();
    if (!seconds) {
      result.broken = runtime::isSticky(seconds.error());
      result.lanes[c].failure = std::move(seconds).error();
      done[c] = true;
      return std::nullopt;
    }
    last[c] = std::isfinite(*seconds) && *seconds > 0 ? *seconds : 0;
    return *seconds;
  }

  void look() {
    sinceLook = 0;
    if (!track.clock)
      return;
    auto mhz = track.clock();
    if (!mhz) {
      result.broken = runtime::isSticky(mhz.error());
      return;
    }
    bool slow = !clocks.empty() && *mhz > 0 && *mhz < lowClock * runtime::median(clocks);
    if (slow && retries < throttleRetries) {
      ++retries;
      for (size_t c = 0; c < candidates.size(); ++c)
        if (result.lanes[c].samples.size() > kept[c]) {
          result.lanes[c].samples.resize(kept[c]);
          done[c] = result.lanes[c].failure.has_value();
        }
      return;
    }
    result.throttled |= slow;
    if (*mhz > 0)
      clocks.push_back(*mhz);
    for (size_t c = 0; c < candidates.size(); ++c)
      kept[c] = result.lanes[c].samples.size();
  }

  void retire(bool spent) {
    std::vector<runtime::TimeSummary> now;
    double bestHigh = INFINITY;
    for (const Lane &lane : result.lanes) {
      now.push_back(runtime::summarize(lane.samples));
      if (now.back().samples >= fewestRounds && !lane.failure)
        bestHigh = std::min(bestHigh, now.back().interval.high);
    }
    for (size_t c = 0; c < candidates.size(); ++c) {
      Lane &lane = result.lanes[c];
      int rounds = int(lane.samples.size());
      if (done[c] || rounds < fewestRounds)
        continue;
      double width = std::max(rules.relativeHalfWidth * now[c].median, rules.absoluteHalfWidth);
      bool narrow = rounds >= rules.minRounds && now[c].samples > 0 && now[c].interval.halfWidth() <= width;
      lane.dropped = rules.drop && now[c].samples > 0 && now[c].interval.low > clearlySlower * bestHigh;
      done[c] = narrow || lane.dropped || spent || rounds >= rules.maxRounds;
    }
  }

  std::span<const Sampler> candidates;
  const RaceRules &rules;
  const RaceTrack &track;
  RaceResult result;
  std::vector<double> last;
  std::vector<bool> done;
  std::vector<size_t> kept; ///< samples of each lane up to the last look at the clock
  std::vector<double> clocks;
  size_t sinceLook = 0;
  int retries = 0;
};

} // namespace

RaceResult race(std::span<const Sampler> candidates, const RaceRules &rules, const RaceTrack &track) {
  return Race(candidates, rules, track).run();
}

} // namespace tilec::tuner
