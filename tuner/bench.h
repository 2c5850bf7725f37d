#pragma once
// One configuration of one problem, built, verified and timed as `tilec tune` does it.
#include "tuner/place.h"

namespace tilec::tuner {

struct BenchRequest {
  Values problem;              ///< complete but for dtypes with defaults
  Configuration configuration; ///< what it leaves out has the file's own values
  int rounds = finalRounds;
};

struct BenchResult {
  std::string kernel;
  Values problem;
  Environment environment;
  std::string policy; ///< cold, hot or graph
  Configuration configuration;
  Measurement cool;                              ///< with pauses: what code is judged by
  Measurement sustained;                         ///< back to back
  double bytesPerSecond = 0, flopsPerSecond = 0; ///< of the cool median; 0 without figures
  double roofline = 0;                           ///< fraction of what the machine can do at most, 0 when unknown
  Footprint footprint;
};
Json toJson(const BenchResult &result);

/// Errors: as Builder::prepare() and compile(), NoDevice where `place` has no GPU, Program when the configuration is
/// wrong or could not be timed.
Result<BenchResult> bench(const Recipe &recipe, Builder &builder, const Place &place, const BenchRequest &request,
                          const EvaluatorOptions &options);

} // namespace tilec::tuner
