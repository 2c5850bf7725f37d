#pragma once
// One sample of the timing loop is: L2 made cold (or not), the launch gap hidden behind work already on the stream,
// then event, work, event. Host time is never in the pair.
#include "runtime/buffers.h"
#include "runtime/stats.h"
#include <functional>

namespace tilec::runtime {

/// Cold: L2 holds nothing of the work's. Hot: what the last run left. Graph: several runs in one CUDA graph, hot; a
/// sample is their mean. Figures of different policies are never comparable.
enum class TimingPolicy : uint8_t { Cold, Hot, Graph };
std::string_view name(TimingPolicy policy);
Result<TimingPolicy> parseTimingPolicy(std::string_view text);

/// Puts the work on a stream. It must not wait for the stream, nor allocate (it may be captured into a graph).
using Work = std::function<Status(cu::Stream)>;

/// Some work several times in one CUDA graph, for what is too short for a pair of events.
class RunGraph {
public:
  static Result<std::unique_ptr<RunGraph>> record(const Device &device, const Work &work, int runs, cu::Stream stream);
  ~RunGraph();
  RunGraph(const RunGraph &) = delete;
  Status launch(cu::Stream stream) const;
  int runs() const { return count; }

private:
  explicit RunGraph(const Device &owner) : device(owner) {}
  const Device &device;
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  int count = 0;
};
/// Runs that make a graph long enough to time, of work that takes so many microseconds.
int graphRuns(double microseconds);

/// Times work on one device. Not for several threads.
class Timer {
public:
  static Result<std::unique_ptr<Timer>> create(const Device &device);
  ~Timer();
  Timer(const Timer &) = delete;

  /// One sample in microseconds, for racing several candidates in turns; it may be invalid (zero). Of a graph, the time
  /// of all its runs. Errors: whatever the work or the device reports.
  Result<double> sample(const Work &work, TimingPolicy policy);
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
