#include "runtime/stats.h"
#include "runtime/inputs.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilec::runtime {

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

Interval medianInterval(std::vector<double> values) {
  if (values.empty())
    return {};
  std::ranges::sort(values);
  size_t n = values.size();
  // The median lies between the k-th lowest and the k-th highest sample unless fewer than k fall on one side of it:
  // 2·P(Binomial(n, ½) < k). The largest k that keeps this at 5 % or less.
  double term = std::pow(0.5, double(n)), below = 0;
  size_t k = 0;
  if (n <= 1000)
    while (k < n / 2 && 2 * (below + term) <= 0.05) {
      below += term;
      term *= double(n - k) / double(k + 1);
      ++k;
    }
  else // the normal approximation; the powers above underflow
    k = size_t(std::floor(double(n) / 2 - 0.98 * std::sqrt(double(n))));
  if (k == 0)
    return {values.front(), values.back()};
  return {values[k - 1], values[n - k]};
}

Interval bootstrapRatio(std::span<const double> a, std::span<const double> b, uint64_t seed, int draws) {
  if (a.empty() || b.empty() || draws < 1)
    return {};
  uint64_t counter = 0;
  std::vector<double> resample, ratios;
  auto drawMedian = [&](std::span<const double> from) {
    resample.clear();
    for (size_t i = 0; i < from.size(); ++i) {
      uint64_t bits = randomBits(seed, 0, counter++);
      resample.push_back(from[size_t((unsigned __int128)(bits)*from.size() >> 64)]);
    }
    return median(resample);
  };
  for (int i = 0; i < draws; ++i) {
    double top = drawMedian(a), bottom = drawMedian(b);
    if (bottom > 0)
      ratios.push_back(top / bottom);
  }
  if (ratios.empty())
    return {};
  std::ranges::sort(ratios);
  auto quantile = [&](double q) { return ratios[size_t(std::lround(q * double(ratios.size() - 1)))]; };
  return {quantile(0.025), quantile(0.975)};
}

TimeSummary summarize(std::span<const double> microseconds) {
  TimeSummary s;
  std::vector<double> valid;
  for (double t : microseconds)
    if (std::isfinite(t) && t > 0)
      valid.push_back(t);
  s.samples = int(valid.size());
  s.invalid = int(microseconds.size() - valid.size());
  if (valid.empty())
    return s;
  auto [low, high] = std::ranges::minmax(valid);
  s.min = low;
  s.max = high;
  s.mean = std::accumulate(valid.begin(), valid.end(), 0.0) / double(valid.size());
  s.median = median(valid);
  s.interval = medianInterval(std::move(valid));
  s.spread = s.interval.halfWidth() / s.median;
  return s;
}

Json toJson(const TimeSummary &s) {
  return {{"samples", s.samples}, {"invalid", s.invalid}, {"median_us", s.median},    {"min_us", s.min},
          {"max_us", s.max},      {"mean_us", s.mean},    {"low_us", s.interval.low}, {"high_us", s.interval.high},
          {"spread", s.spread}};
}

} // namespace tilec::runtime
