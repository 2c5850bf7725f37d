#pragma once
// What tuning chose, for `build --tuned`.
#include "tuner/cache.h"

namespace tilec::driver {
struct Source;
}

namespace tilec::tuner {

struct Tuned {
  Values parameters;
  std::map<std::string, int64_t> hints;
  std::string text; ///< configuration, time, and whether it was measured, predicted, pinned or tuned for a near problem
  Values problem;   ///< that the choice was made for
  bool measured = false, exact = true;
};

/// The choice for a problem (bindings.problem, with dtypes from bindings.defines) on an architecture: a pin, else the
/// best measured trial, else the best predicted one, whose identity still holds. A problem that was never tuned takes
/// the nearest one of the same dtypes, by the sum of |log2| of the ratios of its extents, and the text says so.
/// Errors (Usage): nothing is stored that could serve, or no problem was given; the help has the command that tunes.
Result<Tuned> lookupTuned(driver::Source &source, const sema::KernelInterface &interface,
                          const sema::Bindings &bindings, const Arch &arch);
/// The same from a given cache.
Result<Tuned> lookupTuned(Cache &cache, driver::Source &source, const sema::KernelInterface &interface,
                          const sema::Bindings &bindings, const Arch &arch);

} // namespace tilec::tuner
