#include "runtime/timing.h"
#include "compiler/base/text.h"
#include "runtime/timing_kernels.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace tilec::runtime {
namespace {

constexpr std::string_view policyNames[] = {"cold", "hot", "graph"};

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

} // namespace

std::string_view name(TimingPolicy policy) { return policyNames[size_t(policy)]; }

Result<TimingPolicy> parseTimingPolicy(std::string_view text) {
  std::vector<std::string> known(std::begin(policyNames), std::end(policyNames));
  for (size_t i = 0; i < known.size(); ++i)
    if (text == known[i])
      return TimingPolicy(i);
  return withHelp(usageError("unknown timing policy '{}'", text), suggest(text, known));
}

Result<std::unique_ptr<RunGraph>> RunGraph::record(const Device &device, const Work &work, int runs,
                                                   cu::Stream stream) {
  std::unique_ptr<RunGraph> g(new RunGraph(device));
  const Driver &api = device.api();
  TILEC_TRY(device.check(api.streamBeginCapture(stream, cu::captureThreadLocal), "begin a graph"));
  Status status;
  for (int i = 0; i < runs && status; ++i)
    status = work(stream);
  // The capture ends whether or not the work succeeded; otherwise the stream stays unusable.
  cu::Code ended = api.streamEndCapture(stream, &g->graph);
  TILEC_TRY(status);
  TILEC_TRY(device.check(ended, "end a graph"));
  TILEC_TRY(device.check(api.graphInstantiate(&g->exec, g->graph, 0), "instantiate a graph"));
  g->count = runs;
  return g;
}

RunGraph::~RunGraph() {
  if (exec)
    device.api().graphExecDestroy(exec);
  if (graph)
    device.api().graphDestroy(graph);
}

Status RunGraph::launch(cu::Stream stream) const {
  return device.check(device.api().graphLaunch(exec, stream), "launch a graph");
}

int graphRuns(double microseconds) {
  // Well above the resolution of events.
  constexpr double graphUs = 50, shortest = 0.5;
  return std::clamp(int(std::ceil(graphUs / std::max(microseconds, shortest))), 2, 100);
}

Result<std::unique_ptr<Timer>> Timer::create(const Device &device) {
  std::unique_ptr<Timer> t(new Timer(device));
  const Driver &api = device.api();
  TILEC_TRY(device.check(api.streamCreate(&t->queue, cu::streamNonBlocking), "create a stream"));
  TILEC_TRY(device.check(api.eventCreate(&t->begin, 0), "create an event"));
  TILEC_TRY(device.check(api.eventCreate(&t->end, 0), "create an event"));
  uint64_t bytes = uint64_t(std::max<int64_t>(3 * device.facts().l2Bytes, 16 << 20)) / 16 * 16;
  TILEC_ASSIGN(t->flushMemory, DeviceBuffer::create(device, bytes, "the L2 flush"));
  TILEC_ASSIGN(t->sink, DeviceBuffer::create(device, 16, "the timing kernels"));
  // A driver without its compiler still times: the flush then writes, and the clock stays unknown.
  std::string ptx = fmt::format(".version 7.0\n.target sm_{}\n{}", timingKernelArch, timingKernels);
  if (api.moduleLoadData(&t->helpers, ptx.c_str()) == 0) {
    TILEC_TRY(device.check(api.moduleGetFunction(&t->readFlush, t->helpers, "tilec_read_flush"), "find the L2 flush"));
    TILEC_TRY(device.check(api.moduleGetFunction(&t->spinner, t->helpers, "tilec_spin"), "find the clock probe"));
  }
  return t;
}

Timer::~Timer() {
  const Driver &api = device.api();
  if (helpers)
    api.moduleUnload(helpers);
  if (begin)
    api.eventDestroy(begin);
  if (end)
    api.eventDestroy(end);
  if (queue)
    api.streamDestroy(queue);
}

Status Timer::launch(cu::Function function, unsigned blocks, unsigned threads, std::span<void *> params) {
  cu::LaunchConfig config{blocks, 1, 1, threads, 1, 1, 0, queue, nullptr, 0};
  return device.check(device.api().launchKernelEx(&config, function, params.data(), nullptr),
                      "launch a kernel of the timing loop");
}

Status Timer::flush() {
  if (!readFlush)
    return device.check(device.api().memsetD8Async(flushMemory.base(), 0, flushMemory.size(), queue), "flush L2");
  cu::DevicePtr base = flushMemory.base(), out = sink.base();
  uint64_t count = flushMemory.size() / 16;
  void *params[] = {&base, &count, &out};
  constexpr unsigned threads = 1024, blocksPerMultiprocessor = 2;
  return launch(readFlush, unsigned(device.facts().multiprocessors) * blocksPerMultiprocessor, threads, params);
}

Status Timer::spin(uint64_t cycles) {
  if (!spinner)
    return {};
  cu::DevicePtr out = sink.base();
  void *params[] = {&cycles, &out};
  return launch(spinner, 1, 1, params);
}

Result<double> Timer::clockMHz() {
  if (!spinner)
    return 0.0;
  constexpr uint64_t probeCycles = 200'000; // about 100 µs: long against the steps of the timer
  TILEC_TRY(spin(probeCycles));
  TILEC_TRY(device.check(device.api().streamSynchronize(queue), "probe the clock"));
  std::array<uint64_t, 2> passed{}; // cycles, nanoseconds
  TILEC_TRY(sink.download(std::as_writable_bytes(std::span(passed))));
  return passed[1] > 0 ? 1e3 * double(passed[0]) / double(passed[1]) : 0.0;
}

Status Timer::warmClock(double milliseconds) {
  auto start = Clock::now();
  while (secondsSince(start) * 1e3 < milliseconds) {
    for (int i = 0; i < 16; ++i)
      TILEC_TRY(flush());
    TILEC_TRY(device.check(device.api().streamSynchronize(queue), "warm the GPU"));
  }
  return {};
}

Result<double> Timer::elapsed(const std::function<Status()> &body) {
  const Driver &api = device.api();
  TILEC_TRY(device.check(api.eventRecord(begin, queue), "record an event"));
  TILEC_TRY(body());
  TILEC_TRY(device.check(api.eventRecord(end, queue), "record an event"));
  TILEC_TRY(device.check(api.eventSynchronize(end), "finish the timed work"));
  float milliseconds = 0;
  TILEC_TRY(device.check(api.eventElapsedTime(&milliseconds, begin, end), "read the time"));
  return double(milliseconds) * 1e3;
}

Result<double> Timer::sample(const Work &work, TimingPolicy policy) {
  // What runs before the pair keeps the GPU busy while the host enqueues the pair.
  constexpr uint64_t hideLaunchCycles = 40'000;
  if (policy == TimingPolicy::Cold)
    TILEC_TRY(flush());
  else
    TILEC_TRY(spin(hideLaunchCycles));
  return elapsed([&] { return work(queue); });
}

} // namespace tilec::runtime
