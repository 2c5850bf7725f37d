#include "compiler/reference/executor.h"
#include "compiler/reference/compiler.h"
#include <thread>

using namespace mlir;

namespace tilec::reference {

std::string_view name(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::Uninitialised:
    return "uninitialised";
  case FindingKind::OutOfRange:
    return "out-of-bounds";
  case FindingKind::DivisionByZero:
    return "division-by-zero";
  }
  return "";
}

static std::string toString(const Place &place) {
  return place.file.empty() ? "unknown place" : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

/// What an undefined value reaches, and how often.
static std::string effect(const Finding &f) {
  std::string where = f.reached == f.place ? "" : fmt::format(" at {}", toString(f.reached));
  if (f.element < 0)
    return fmt::format("decides what runs or where it stores{}", where);
  std::string others = f.count > 1 ? fmt::format(" and {} more", f.count - 1) : "";
  return fmt::format("reaches element {} of '{}'{}{}", f.element, f.array, others, where);
}

std::string toString(const Finding &f) {
  std::string block = fmt::format("block ({}, {}, {})", f.block[0], f.block[1], f.block[2]);
  std::string text = toString(f.place) + ": ";
  switch (f.kind) {
  case FindingKind::Race:
    text += fmt::format("{} and another block store different values to element {} of '{}'", block, f.element, f.array);
    if (f.otherBlock >= 0)
      text += fmt::format(", the other is number {}", f.otherBlock);
    return text + (f.count > 1 ? fmt::format("; {} such stores", f.count) : "");
  case FindingKind::Uninitialised:
    return text + fmt::format("what '{}' has outside its extents is undefined without padding, and {}, {}", f.source,
                              effect(f), block);
  case FindingKind::OutOfRange:
    return text +
           fmt::format("check_bounds = false promises a tile inside '{}', but it crosses the edge, {}", f.array, block);
  case FindingKind::DivisionByZero:
    return text + fmt::format("a division by zero, or of the lowest integer by -1, {}, {}", effect(f), block);
  }
  return text;
}

void Frame::find(FindingKey key, Finding finding) {
  auto [found, added] = findings.try_emplace(key, LocatedFinding{finding, linearBlock});
  if (added)
    return;
  uint64_t count = found->second.finding.count + finding.count;
  if (linearBlock < found->second.block)
    found->second = {std::move(finding), linearBlock};
  found->second.finding.count = count;
}

void Frame::reaches(Taint taint, size_t order, const Place &place, const std::string &array, int64_t element) {
  const Cause &cause = (*causes)[taint - 1];
  find({cause.kind, cause.order, order}, {cause.kind, cause.place, place, cause.array, array, block, -1, element, 1});
}

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
    const auto &grid = frame.launch->grid;
    frame.linearBlock = linear;
    frame.block = {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
    frame.hit = false;
    run(program.steps, frame);
  }

  Frame frame;

private:
  const Program &program;
  Arena arena;
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

/// Runs `work(worker, block)` for every block in the list on several workers. Blocks are handed out in small runs; what
/// they find is merged by block number, so the result does not depend on who ran what.
static Status runBlocks(const Program &program, LaunchState &state, const std::vector<int64_t> *chosen, int64_t total,
                        const ExecOptions &options, Findings &findings) {
  // Few blocks a turn keep workers equally busy at the end; many save trips to the counter.
  unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (program.storesNibbles)
    jobs = 1;
  jobs = unsigned(std::clamp<int64_t>(total, 1, jobs));
  const int64_t run = std::clamp<int64_t>(total / (int64_t(jobs) * 16), 1, 64);
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex lock; // guards done, findings, firstError
  int64_t done = 0, errorBlock = 0;
  std::optional<Error> firstError;

  auto work = [&] {
    Worker worker(program, state);
    while (!failed) {
      int64_t begin = next.fetch_add(run), end = std::min(begin + run, total);
      if (begin >= total)
        break;
      for (int64_t i = begin; i < end && !worker.frame.error; ++i)
        worker.block(chosen ? (*chosen)[size_t(i)] : i);
      std::lock_guard guard(lock);
      done += end - begin;
      if (options.progress && !worker.frame.error)
        options.progress(done, total);
      if (worker.frame.error) {
        failed = true;
        if (!firstError || worker.frame.linearBlock < errorBlock)
          firstError = worker.frame.error, errorBlock = worker.frame.linearBlock;
        break;
      }
    }
    std::lock_guard guard(lock);
    for (auto &[key, located] : worker.frame.findings) {
      auto [found, added] = findings.try_emplace(key, located);
      if (added)
        continue;
      uint64_t count = found->second.finding.count + located.finding.count;
      if (located.block < found->second.block)
        found->second = located;
      found->second.finding.count = count;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < jobs; ++i)
    threads.emplace_back(work);
  work();
  threads.clear();
  if (firstError)
    return std::unexpected(*firstError);
  return {};
}

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
  // One block cannot race, and more blocks than a writer's number can tell apart are not checked.
  if (options.checkRaces && report.blocks > 1 && total < int64_t(sharedWriters) - 1) {
    state.checkRaces = true;
    kernel.walk([&](tile::ArrayOp array) {
      auto memory = llvm::find_if(state.memories, [&](const auto &m) { return m->name == array.getRoot(); });
      if (array.getWritable() && memory != state.memories.end())
        (*memory)->writers.assign(size_t((*memory)->high - (*memory)->low + 1), 0);
    });
  }
  Findings findings;
  TILEC_TRY(runBlocks(program, state, chosen ? &*chosen : nullptr, report.blocks, options, findings));
  for (auto &[key, located] : findings)
    report.findings.push_back(std::move(located.finding));
  llvm::stable_sort(report.findings, [](const Finding &a, const Finding &b) {
    return std::tie(a.place.file, a.place.line, a.place.column) < std::tie(b.place.file, b.place.line, b.place.column);
  });
  return report;
}

} // namespace tilec::reference
