#include "tuner/compile_pool.h"
#include "compiler/driver/isolate.h"
#include <chrono>

namespace tilec::tuner {

constexpr int transientRetries = 4;
constexpr std::chrono::milliseconds retryPause(20);

CompilePool::CompilePool(Builder &builder, const std::vector<const Prepared *> &work, unsigned jobs)
    : builder(builder), work(work), results(work.size()) {
  if (jobs == 0)
    jobs = std::max(1u, std::thread::hardware_concurrency());
  ahead = size_t(jobs) * 8;
  for (unsigned i = 0; i < jobs && i < work.size(); ++i)
    threads.emplace_back([this] { run(); });
}

CompilePool::~CompilePool() {
  stop();
  threads.clear();
}

void CompilePool::stop() {
  std::lock_guard lock(mutex);
  stopped = true;
  changed.notify_all();
}

void CompilePool::wait(const std::function<bool()> &cancelled) {
  constexpr std::chrono::milliseconds look(20);
  std::unique_lock lock(mutex);
  ahead = work.size();
  changed.notify_all();
  while (!changed.wait_for(lock, look, [&] { return running == 0 && (stopped || next == work.size()); }))
    stopped |= cancelled();
}

void CompilePool::run() {
  for (;;) {
    size_t index;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || next == work.size() || next < taken + ahead; });
      if (stopped || next == work.size())
        return;
      index = next++;
      ++running;
    }
    auto begin = std::chrono::steady_clock::now();
    Built built;
    built.artifact = builder.compile(*work[index]);
    // What the machine is short of now it may have once others are done.
    for (int retry = 0; retry < transientRetries && !built.artifact && driver::isTransient(built.artifact.error());
         ++retry) {
      std::this_thread::sleep_for(retryPause * (retry + 1));
      built.artifact = builder.compile(*work[index]);
    }
    built.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::lock_guard lock(mutex);
    results[index] = std::move(built);
    --running;
    changed.notify_all();
  }
}

CompilePool::Built CompilePool::take(size_t index) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return results[index].has_value() || (stopped && index >= next); });
  if (!results[index])
    return {};
  Built built = std::move(*results[index]);
  results[index] = Built{};
  taken = std::max(taken, index + 1);
  changed.notify_all();
  return built;
}

} // namespace tilec::tuner
