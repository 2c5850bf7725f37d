#pragma once
// Statistics of timings. Everything is deterministic: the bootstrap draws from the counter-based generator.
#include "compiler/base/json.h"
#include <cstdint>
#include <span>
#include <vector>

namespace tilec::runtime {

struct Interval {
  double low = 0, high = 0;
  double halfWidth() const { return (high - low) / 2; }
};

/// Middle value; of an even number the mean of the two middle ones; 0 of none.
double median(std::vector<double> values);
/// Distribution-free 95 % interval of the median from order statistics (binomial); the whole range below 6 samples.
Interval medianInterval(std::vector<double> values);
/// 95 % bootstrap interval (percentiles of `draws` resamples) of median(a) / median(b).
Interval bootstrapRatio(std::span<const double> a, std::span<const double> b, uint64_t seed, int draws = 2000);

/// Microseconds throughout.
struct TimeSummary {
  int samples = 0;
  int invalid = 0; ///< dropped: zero, negative, NaN or infinite
  double median = 0, min = 0, max = 0, mean = 0;
  Interval interval; ///< 95 % of the median
  double spread = 0; ///< half-width of the interval over the median
};
/// Summary of the valid samples; all zero when there is none.
TimeSummary summarize(std::span<const double> microseconds);
Json toJson(const TimeSummary &summary);

} // namespace tilec::runtime
