#pragma once
// One configuration of one problem, tried: how it went, how long it took.
#include "compiler/artifact/artifact.h"
#include "tuner/space.h"

namespace tilec::tuner {

enum class TrialStatus : uint8_t {
#define STATUS(name, text, failure, doc) name,
#include "tuner/statuses.def"
};
std::string_view name(TrialStatus status);
bool isFailure(TrialStatus status);
std::optional<TrialStatus> parseTrialStatus(std::string_view text);

/// What an evaluator says of one configuration. Times in seconds.
struct Measurement {
  TrialStatus status = TrialStatus::Died;
  std::string reason;
  std::vector<double> samples;
  double median = 0, low = 0, high = 0; ///< low, high: 95 % interval of the median
  Json clocks = Json::object();
  int checks = 0;         ///< problems on which the results were held against the executor's; 0: not verified
  bool transient = false; ///< a failure of the machine, which says nothing of the configuration: it is never stored

  static Measurement failed(TrialStatus status, std::string reason) {
    Measurement m;
    m.status = status;
    m.reason = std::move(reason);
    return m;
  }
};
/// Median and interval from samples; NoTime when there are none or one is zero, negative, NaN or infinite.
void summarise(Measurement &measurement);

/// What a trial costs of an SM, for ties.
struct Footprint {
  int64_t registers = 0; ///< of a block
  int64_t shared = 0;    ///< bytes of a block
};
Footprint footprint(const Artifact &artifact);

/// Equal for artifacts that run alike: machine code and everything the launcher reads, without names of hints. `plan`
/// is an artifact as JSON.
std::string codeIdentity(const Json &plan);

/// What choosing the winner needs to know of a trial.
struct Ranked {
  int id = 0;
  TrialStatus status{};
  double median = 0;
  Footprint footprint;
  std::vector<double> samples{};
  std::string finals{}; ///< the race of finals that the samples are of; empty: none
};
/// Name of the race of finals that a measurement's samples are of, among its clocks; empty: they are of none.
std::string finalsOf(const Measurement &measurement);
/// Times within this ratio of the fastest are ties.
inline constexpr double tieRatio = 1.005;
/// Index of the winner. Ties with the fastest are the trials within tieRatio of it, and those of the same finals for
/// which the 95 % bootstrap interval of the ratio of medians includes 1. Of them the one with the fewest registers
/// wins, then the least shared memory, then the smallest number. The same trials give the same winner. Nothing when
/// every trial failed.
std::optional<size_t> chooseWinner(const std::vector<Ranked> &trials);

} // namespace tilec::tuner
