#pragma once
// Compiles ahead of the one who takes: several at a time, taken in order.
#include "tuner/builder.h"
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tilec::tuner {

class CompilePool {
public:
  struct Built {
    Result<Artifact> artifact = internalError("not compiled");
    double seconds = 0;
  };
  /// Starts on `work`, which outlives the pool. Each compile runs in a process of its own, so a thread here only waits.
  CompilePool(Builder &builder, const std::vector<const Prepared *> &work, unsigned jobs);
  /// Waits for item `index`; an item is taken once.
  Built take(size_t index);
  /// Waits for all of them, or, once `cancelled` says so, for those that run.
  void wait(const std::function<bool()> &cancelled);
  /// Starts no further compile. The destructor waits for those that run.
  void stop();
  ~CompilePool();

private:
  void run();
  Builder &builder;
  std::vector<const Prepared *> work;
  std::vector<std::optional<Built>> results;
  size_t next = 0, taken = 0;
  size_t ahead; ///< at most so many results wait to be taken
  size_t running = 0;
  bool stopped = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::jthread> threads;
};

} // namespace tilec::tuner
