#pragma once
// Times and rates as tune, bench and cache print them.
#include <fmt/format.h>
#include <string>

namespace tilec::cli {

/// Empty for no time.
inline std::string timeText(double seconds) {
  if (!(seconds > 0))
    return "";
  return seconds < 1e-3 ? fmt::format("{:.2f} µs", seconds * 1e6) : fmt::format("{:.3f} ms", seconds * 1e3);
}

/// Half of an interval relative to its middle: `±0.3 %`.
inline std::string spreadText(double low, double median, double high) {
  return median > 0 && high > low ? fmt::format("±{:.1f} %", (high - low) / 2 / median * 100) : "";
}

inline std::string rateText(double bytesPerSecond, double flopsPerSecond) {
  if (flopsPerSecond > 0 && bytesPerSecond <= 0)
    return fmt::format("{:.1f} TFLOP/s", flopsPerSecond / 1e12);
  return bytesPerSecond > 0 ? fmt::format("{:.0f} GB/s", bytesPerSecond / 1e9) : "";
}

inline std::string rooflineText(double fraction) { return fraction > 0 ? fmt::format("{:.0f} %", fraction * 100) : ""; }

} // namespace tilec::cli
