#include "compiler/reference/executor.h"
#include "compiler/reference/compiler.h"
#include "llvm/ADT/TypeSwitch.h"
#include <chrono>
#include <thread>

using namespace mlir;

namespace tilec::reference {

namespace {

/// Buffers of a worker's tiles, one allocation, aligned for vector loads.
class Arena {
public:
  explicit Arena(const std::vector<size_t> &buffers) {
    size_t bytes = 0;
    for (size_t size : buffers) {
      offsets.push_back(bytes);
      bytes += (size + 63) / 64 * 64;
    }
    memory.reset(static_cast<std::byte *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
  }
  std::byte *at(size_t buffer) const { return memory.get() + offsets[buffer]; }

private:
  struct Free {
    void operator()(std::byte *p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> memory;
  std::vector<size_t> offsets;
};

/// A program with the state of one worker.
class Worker {
public:
  Worker(const Program &program, LaunchState &state) : program(program), arena(program.buffers) {
    frame.launch = &state;
    frame.causes = &program.causes;
    frame.tiles.resize(program.tiles.size());
    frame.arrays.resize(program.arrays);
    frame.scratch.resize(program.scratch);
    for (size_t i = 0; i < program.tiles.size(); ++i) {
      frame.tiles[i].data = arena.at(program.tiles[i].buffer);
      frame.tiles[i].count = program.tiles[i].count;
    }
    for (const auto &[tile, bytes] : program.constants)
      std::memcpy(frame.tiles[tile].data, bytes.data(), bytes.size());
  }
  void block(int64_t linear) {
    frame.beginBlock(linear);
    run(program.steps, frame);
  }

  Frame frame;

private:
  const Program &program;
  Arena arena;
};

} // namespace

namespace {

/// Hands what blocks print on in the order in which the blocks were asked for.
class Printer {
public:
  explicit Printer(const std::function<void(std::string_view)> &print) : print(print) {}
  void blockDone(int64_t index, std::string text) {
    std::lock_guard guard(lock);
    waiting.emplace(index, std::move(text));
    while (!waiting.empty() && waiting.begin()->first == next) {
      show();
      ++next;
    }
  }
  /// After the last block: of a launch that failed some never came.
  void finish() {
    while (!waiting.empty())
      show();
  }

private:
  void show() {
    if (std::string &text = waiting.begin()->second; !text.empty())
      print(text);
    waiting.erase(waiting.begin());
  }
  const std::function<void(std::string_view)> &print;
  std::mutex lock;
  std::map<int64_t, std::string> waiting;
  int64_t next = 0;
};

} // namespace

/// Range of offsets a buffer's extents and strides span, held against its size.
static Result<std::unique_ptr<Memory>> bindMemory(const std::string &name, const BufferView &view) {
  auto memory = std::make_unique<Memory>();
  memory->name = name;
  memory->view = view;
  if (!view.strides.empty() && view.strides.size() != view.extents.size())
    return usageError("the buffer of array '{}' has {} extents and {} strides", name, view.extents.size(),
                      view.strides.size());
  int64_t contiguous = 1;
  bool empty = false;
  for (size_t axis = view.extents.size(); axis-- > 0;) {
    int64_t extent = view.extents[axis], stride = view.strides.empty() ? contiguous : view.strides[axis];
    contiguous *= extent;
    empty |= extent <= 0;
    (stride < 0 ? memory->low : memory->high) += (extent - 1) * stride;
  }
  if (empty) {
    memory->low = 0;
    memory->high = -1;
  } else if (memory->high >= int64_t(view.elements)) {
    return usageError("the buffer of array '{}' holds {} elements, its extents and strides reach element {}", name,
                      view.elements, memory->high);
  } else if (!view.data) {
    return usageError("the buffer of array '{}' has no memory", name);
  }
  return memory;
}

/// Runs blocks in threads. They are handed out in small runs; what they find is merged by block number, so the result
/// does not depend on who ran what.
class Crew {
public:
  Crew(const Program &program, LaunchState &state, const std::vector<int64_t> *chosen, int64_t total,
       const ExecOptions &options, Findings &findings)
      : program(program), state(state), chosen(chosen), total(total), options(options), findings(findings),
        printer(options.print) {
    unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    workers = unsigned(std::clamp<int64_t>(total, 1, program.storesNibbles ? 1 : jobs));
    // Few blocks a turn keep workers equally busy at the end; many save trips to the counter. A block that waits may
    // wait for the next one, which must then be another worker's.
    turn = program.waits ? 1 : std::clamp<int64_t>(total / (int64_t(workers) * 16), 1, 64);
  }

  Status run() {
    if (program.waits)
      state.stalled = [this] { return addWorkers(); };
    {
      std::lock_guard guard(lock);
      for (unsigned i = 1; i < workers; ++i)
        threads.emplace_back([this] { work(); });
    }
    work();
    while (join()) // a thread may have started others
      ;
    state.stalled = nullptr;
    printer.finish();
    if (firstError)
      return std::unexpected(*firstError);
    return {};
  }

private:
  using Time = std::chrono::steady_clock;
  const Program &program;
  LaunchState &state;
  const std::vector<int64_t> *chosen;
  int64_t total, turn = 1;
  const ExecOptions &options;
  Findings &findings;
  Printer printer;
  std::atomic<int64_t> next = 0;
  std::mutex lock; ///< guards what follows, and the findings
  unsigned workers = 1;
  std::vector<std::jthread> threads;
  Time::time_point lastChange = Time::now(); ///< when a block ended or a worker came
  int64_t done = 0, errorBlock = 0;
  std::optional<Error> firstError;

  bool failed() const { return state.failedBlock != std::numeric_limits<int64_t>::max(); }

  /// Waits for the threads that there are; false when there are none.
  bool join() {
    std::vector<std::jthread> ending;
    {
      std::lock_guard guard(lock);
      ending.swap(threads);
    }
    return !ending.empty();
  }

  void work() {
    Worker worker(program, state);
    while (!failed()) {
      int64_t begin = next.fetch_add(turn), end = std::min(begin + turn, total);
      if (begin >= total)
        break;
      for (int64_t i = begin; i < end && !worker.frame.error; ++i) {
        int64_t block = chosen ? (*chosen)[size_t(i)] : i;
        if (block > state.failedBlock) // those in front of it still run: which failure comes first is then settled
          continue;
        worker.block(block);
        if (state.prints)
          printer.blockDone(i, std::exchange(worker.frame.output, {}));
      }
      std::lock_guard guard(lock);
      done += end - begin;
      lastChange = Time::now();
      if (options.progress && !failed())
        options.progress(done, total);
      if (worker.frame.error) {
        if (!firstError || worker.frame.linearBlock < errorBlock)
          firstError = worker.frame.error, errorBlock = worker.frame.linearBlock;
        break;
      }
    }
    std::lock_guard guard(lock);
    for (auto &[key, located] : worker.frame.findings)
      addFinding(findings, key, std::move(located));
  }

  /// Some blocks wait, and none has ended for a while: those they wait for may not have started, so there are as many
  /// workers again, whatever `jobs` says.
  Status addWorkers() {
    constexpr auto patience = std::chrono::milliseconds(20);
    constexpr unsigned most = 4096;
    std::lock_guard guard(lock);
    int64_t started = next;
    if (started >= total || failed() || Time::now() - lastChange < patience)
      return {};
    if (program.storesNibbles || workers >= most)
      return programError("{} blocks wait for others and {} have not started, which is more than the executor runs at "
                          "a time{}",
                          workers, total - started,
                          program.storesNibbles ? " where arrays have two elements in a byte" : "");
    int64_t added = std::min({int64_t(workers), total - started, int64_t(most - workers)});
    for (int64_t i = 0; i < added; ++i)
      threads.emplace_back([this] { work(); });
    workers += unsigned(added);
    lastChange = Time::now();
    return {};
  }
};

/// Blocks that store a sampled element; null when that depends on loaded values, so that all must run.
static Result<std::optional<std::vector<int64_t>>> chooseBlocks(tile::KernelOp kernel, const Launch &launch,
                                                                LaunchState &state, const ExecOptions &options,
                                                                int64_t total) {
  // A probe runs only the ops that decide where stores go: scalars, so a whole grid takes little.
  state.samples.resize(state.memories.size());
  for (const Sample &sample : options.samples) {
    auto found = llvm::find_if(state.memories, [&](const auto &memory) { return memory->name == sample.array; });
    if (found == state.memories.end())
      return usageError("a sample names array '{}', which the launch has no buffer for", sample.array);
    state.samples[size_t(found - state.memories.begin())].push_back(sample.element);
  }
  for (std::vector<int64_t> &list : state.samples)
    llvm::sort(list);
  TILEC_ASSIGN(Program probe, Compiler(kernel, launch, state, {.widen64 = options.widen64, .probe = true}).compile());
  if (probe.steps.empty())
    return std::nullopt;
  std::vector<int64_t> chosen;
  Worker worker(probe, state);
  for (int64_t block = 0; block < total; ++block) {
    worker.block(block);
    if (worker.frame.error)
      return std::unexpected(*worker.frame.error);
    if (worker.frame.hit)
      chosen.push_back(block);
  }
  return chosen;
}

/// Whether an access orders what its block does against what other blocks do.
static bool orders(Operation *op, std::initializer_list<tile::MemoryOrder> wanted) {
  auto is = [&](auto access) {
    return llvm::is_contained(wanted, access.getOrder()) && access.getScope() != tile::MemoryScope::block;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp, tile::AtomicOp>(is)
      .Default(false);
}

/// Memory for what the launch is to watch: who changed an element, which elements of scratch memory have a value.
static void prepareChecks(tile::KernelOp kernel, LaunchState &state, bool checkRaces, bool severalBlocks) {
  auto memoryOf = [&](StringRef name) {
    auto memory = llvm::find_if(state.memories, [&](const auto &m) { return m->name == name; });
    return memory == state.memories.end() ? nullptr : memory->get();
  };
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
    Memory *memory = mode && mode.getValue() == "scratch" ? memoryOf(kernel.argName(i)) : nullptr;
    if (!memory || memory->low > memory->high)
      continue;
    if (kernel.getArgAttr(i, "tile.zeroed"))
      std::memset(memory->view.data, 0, byteSize(memory->view.dtype, memory->view.elements));
    else
      memory->undefined.assign(size_t(memory->high - memory->low + 1), neverStored);
  }
  for (const auto &memory : state.memories)
    if (memory->view.unwritten && memory->low <= memory->high) {
      memory->undefined.assign(size_t(memory->high - memory->low + 1), neverStored);
      memory->shows = true;
    }
  state.checkLanes = checkRaces;
  state.checkRaces = checkRaces && severalBlocks; // one block has nobody to race
  if (!state.checkRaces)
    return;
  using tile::MemoryOrder;
  bool acquires = false, releases = false, plain = false;
  kernel.walk([&](Operation *op) {
    acquires |= orders(op, {MemoryOrder::acquire, MemoryOrder::acq_rel});
    releases |= orders(op, {MemoryOrder::release, MemoryOrder::acq_rel});
    plain |= isa<tile::StoreOp, tile::ScatterOp>(op) && orders(op, {MemoryOrder::weak});
  });
  state.tracksOrder = acquires && releases && plain;
  kernel.walk([&](tile::ArrayOp array) {
    if (Memory *memory = array.getWritable() ? memoryOf(array.getRoot()) : nullptr)
      memory->writers.track(size_t(memory->high - memory->low + 1), state.tracksOrder);
  });
}

static Result<tile::KernelOp> findKernel(ModuleOp module, std::string_view name) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (kernel.getSymName() == StringRef(name.data(), name.size()))
      return kernel;
  return usageError("the module has no kernel '{}'", name);
}

Result<ExecReport> execute(ModuleOp module, std::string_view kernelName, const Launch &launch,
                           const ExecOptions &options) {
  TILEC_ASSIGN(tile::KernelOp kernel, findKernel(module, kernelName));
  LaunchState state;
  state.grid = launch.grid;
  for (const auto &[name, view] : launch.buffers) {
    TILEC_ASSIGN(std::unique_ptr<Memory> memory, bindMemory(name, view));
    for (const auto &other : state.memories) // one array may be given as two
      if (other->view.data == view.data)
        memory->lock = other->lock;
    state.memories.push_back(std::move(memory));
  }
  TILEC_ASSIGN(Program program, Compiler(kernel, launch, state, {.widen64 = options.widen64}).compile());

  ExecReport report;
  int64_t total = 1;
  for (int64_t blocks : launch.grid) {
    if (blocks < 0)
      return usageError("a grid axis of {} blocks", blocks);
    if (__builtin_mul_overflow(total, blocks, &total))
      return usageError("the grid has too many blocks");
  }
  if (total == 0)
    return report;

  std::optional<std::vector<int64_t>> chosen;
  if (!options.blocks.empty()) {
    chosen = options.blocks;
    if (llvm::any_of(*chosen, [&](int64_t block) { return block < 0 || block >= total; }))
      return usageError("a block to run is not in the grid of {} blocks", total);
  } else if (!options.samples.empty()) {
    TILEC_ASSIGN(chosen, chooseBlocks(kernel, launch, state, options, total));
  }
  report.blocks = chosen ? int64_t(chosen->size()) : total;
  state.prints = bool(options.print);
  prepareChecks(kernel, state, options.checkRaces, report.blocks > 1 && total <= Writers::mostBlocks);
  Findings findings;
  TILEC_TRY(Crew(program, state, chosen ? &*chosen : nullptr, report.blocks, options, findings).run());
  for (const auto &memory : state.memories)
    for (size_t i = 0; memory->view.unwritten && i < memory->undefined.size(); ++i)
      if (memory->undefined[i] == neverStored)
        memory->view.unwritten->push_back(memory->low + int64_t(i));
  for (auto &[key, located] : findings)
    report.findings.push_back(std::move(located.finding));
  llvm::stable_sort(report.findings, [](const Finding &a, const Finding &b) {
    return std::tie(a.place.file, a.place.line, a.place.column) < std::tie(b.place.file, b.place.line, b.place.column);
  });
  return report;
}

} // namespace tilec::reference
