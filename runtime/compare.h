#pragma once
// Comparison of results under a tolerance.
#include "compiler/base/json.h"
#include "runtime/host_array.h"
#include <string>

namespace tilec::runtime {

/// An element passes when one of the bounds holds. All zero: equal values, where −0 equals +0 and NaN equals NaN.
struct Tolerance {
  bool bitExact = false;   ///< the very same bits (any NaN equals any NaN); the other bounds are ignored
  int64_t ulps = 0;        ///< distance in units of the last place of the actual array's dtype
  double abs = 0, rel = 0; ///< |actual − expected| ≤ abs + rel · |expected|
  /// |actual − expected| ≤ bound[i], one for each element, such as n·u·Σ|x| of a sum; empty: none.
  std::span<const double> bound{};
};

/// What a comparison found. NaN against a number is a mismatch, and so is an infinity against anything else unless
/// `ulps` allows it. Worst values are taken over elements finite on both sides; -1 stands for no such element.
struct Comparison {
  int64_t count = 0, mismatches = 0;
  int64_t first = -1; ///< linear index of the first mismatch; -1: none
  std::vector<int64_t> firstAt;
  double actual = 0, expected = 0; ///< values there
  double worstAbs = 0, worstRel = 0;
  int64_t worstUlps = 0;
  int64_t worstAt = -1; ///< linear index of the largest absolute difference
  int64_t nanMismatches = 0;

  bool equal() const { return mismatches == 0; }
};

/// Compares arrays of one shape, in parallel. `expected` may have a wider dtype (f64 for a reference in widened
/// precision); units of the last place are then counted after rounding it to the dtype of `actual`.
/// Error (Internal): shapes differ, or the bound has another number of elements.
Result<Comparison> compare(const HostArray &actual, const HostArray &expected, const Tolerance &tolerance);

/// `3 of 100 elements differ; first at [0, 2]: 1.5, expected 1.25; largest difference 0.25 (relative 0.2, 9 ulp)`.
std::string toString(const Comparison &comparison);
Json toJson(const Comparison &comparison);

} // namespace tilec::runtime
