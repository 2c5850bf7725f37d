#include "tuner/trial.h"
#include "compiler/base/hash.h"
#include "runtime/stats.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace tilec::tuner {
namespace {
struct StatusInfo {
  std::string_view text;
  bool failure;
};
constexpr StatusInfo statuses[] = {
#define STATUS(name, text, failure, doc) {text, failure},
#include "tuner/statuses.def"
};
} // namespace

std::string_view name(TrialStatus status) { return statuses[size_t(status)].text; }
bool isFailure(TrialStatus status) { return statuses[size_t(status)].failure; }

std::optional<TrialStatus> parseTrialStatus(std::string_view text) {
  for (size_t i = 0; i < std::size(statuses); ++i)
    if (statuses[i].text == text)
      return TrialStatus(i);
  return std::nullopt;
}

void summarise(Measurement &m) {
  auto unusable = [](double t) { return !(t > 0) || std::isinf(t); };
  if (m.samples.empty() || std::ranges::any_of(m.samples, unusable)) {
    m.status = TrialStatus::NoTime;
    m.reason = m.samples.empty() ? "no sample was taken" : "a sample was zero, negative or no number";
    m.median = m.low = m.high = 0;
    return;
  }
  m.median = runtime::median(m.samples);
  runtime::Interval interval = runtime::medianInterval(m.samples);
  m.low = interval.low;
  m.high = interval.high;
}

Footprint footprint(const Artifact &artifact) {
  Footprint f;
  for (const LaunchSpec &launch : artifact.launches) {
    f.registers = std::max(f.registers, int64_t(launch.resources.registers) * launch.threads);
    f.shared = std::max(f.shared, launch.dynamicSharedBytes + launch.resources.staticSharedBytes);
  }
  return f;
}

std::string codeIdentity(const Json &plan) {
  Json launches = plan.value("launches", Json::array());
  for (Json &launch : launches) {
    launch.erase("sites");
    launch.erase("hints");
  }
  std::string text;
  for (const Json &binary : plan.value("binaries", Json::array()))
    text += binary.value("sha256", "") + "\n";
  for (const Json &part : {launches, plan.value("requirements", Json()), plan.value("lets", Json())})
    text += toText(part, -1) + "\n";
  return sha256(text);
}

std::string finalsOf(const Measurement &m) { return m.clocks.value("finals", ""); }

namespace {

/// Whether a trial can be told from the fastest.
bool ties(const Ranked &trial, const Ranked &fastest) {
  if (trial.median <= fastest.median * tieRatio)
    return true;
  // Samples of other races were taken at other times: their noise is not shared, and an interval would say too little.
  if (trial.finals.empty() || trial.finals != fastest.finals)
    return false;
  constexpr uint64_t seed = 0x71e5;
  return runtime::bootstrapRatio(trial.samples, fastest.samples, seed).low <= 1;
}

} // namespace

std::optional<size_t> chooseWinner(const std::vector<Ranked> &trials) {
  auto usable = [](const Ranked &t) { return !isFailure(t.status) && t.median > 0 && std::isfinite(t.median); };
  const Ranked *fastest = nullptr;
  for (const Ranked &t : trials)
    if (usable(t) && (!fastest || std::tuple(t.median, t.id) < std::tuple(fastest->median, fastest->id)))
      fastest = &t;
  std::optional<size_t> best;
  auto cost = [&](const Ranked &t) { return std::tuple(t.footprint.registers, t.footprint.shared, t.id); };
  for (size_t i = 0; i < trials.size(); ++i)
    if (usable(trials[i]) && ties(trials[i], *fastest) && (!best || cost(trials[i]) < cost(trials[*best])))
      best = i;
  return best;
}

} // namespace tilec::tuner
