#pragma once
// The timing loop. One sample is: L2 made cold (or not), the launch gap hidden behind work already on the stream, then
// event, work, event. Host time is never in the pair.
#include "runtime/buffers.h"
#include "runtime/stats.h"
#include <functional>

namespace tilec::runtime {

/// Cold: L2 holds nothing of the work's. Hot: what the last run left. Graph: several runs in one CUDA graph, hot; a
/// sample is their mean. Figures of different policies are never comparable.
enum class TimingPolicy : uint8_t { Cold, Hot, Graph };
std::string_view name(TimingPolicy policy);
Result<TimingPolicy> parseTimingPolicy(std::string_view text);

struct TimingOptions {
  TimingPolicy policy = TimingPolicy::Cold;
  bool cool = true; ///< idle for a few lengths of the work before each sample; else back to back (sustained)
  int warmups = 3;
  int minSamples = 10, maxSamples = 200;
  double relativeHalfWidth = 0.01;  ///< stop when the 95 % interval of the median is this narrow,
  double absoluteHalfWidthUs = 0.5; ///< or this narrow in microseconds,
  double budgetSeconds = 3;         ///< or after this long
  double shortWorkUs = 5;           ///< hot work under this length is timed as a graph of several runs
};

struct Timing {
  TimingPolicy policy = TimingPolicy::Cold; ///< as measured: hot work that is short counts as Graph
  bool cool = true;
  int runsPerSample = 1;
  std::vector<double> samples; ///< microseconds of one run each, invalid ones included
  TimeSummary summary;
  double clockMHz = 0;    ///< median of the probe; 0 where it is not to be had
  bool throttled = false; ///< samples were kept that ran below 75 % of the median clock
};
Json toJson(const Timing &timing);

/// Puts the work on a stream. It must not wait for the stream, nor allocate (it may be captured into a graph).
using Work = std::function<Status(cu::Stream)>;

/// Times work on one device. Not for several threads.
class Timer {
public:
  static Result<std::unique_ptr<Timer>> create(const Device &device);
  ~Timer();
  Timer(const Timer &) = delete;

  /// Runs the loop. Errors: whatever the work or the device reports; Program when no sample is valid.
  Result<Timing> time(const Work &work, const TimingOptions &options);
  /// One sample in microseconds, for racing several candidates in turns; it may be invalid (zero).
  Result<double> sample(const Work &work, const TimingOptions &options);
  /// Runs for about `milliseconds`, so that the first work timed finds the clock where the last one does.
  Status warmClock(double milliseconds = 200);
  /// Clock of the multiprocessors now, by a probe of fixed length; 0 where the driver cannot compile it.
  Result<double> clockMHz();
  cu::Stream stream() const { return queue; }

private:
  explicit Timer(const Device &owner) : device(owner) {}
  Status flush();
  Status launch(cu::Function function, unsigned blocks, unsigned threads, std::span<void *> params);
  Status spin(uint64_t cycles);
  Result<double> elapsed(const std::function<Status()> &body);

  const Device &device;
  cu::Stream queue = nullptr;
  cu::Event begin = nullptr, end = nullptr;
  cu::Module helpers = nullptr;
  cu::Function readFlush = nullptr, spinner = nullptr;
  DeviceBuffer flushMemory, sink;
};

} // namespace tilec::runtime
