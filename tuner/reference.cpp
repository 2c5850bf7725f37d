#include "tuner/reference.h"
#include "compiler/base/text.h"
#include "compiler/target/products.h"
#include "runtime/buffers.h"
#include "runtime/inputs.h"
#include <algorithm>
#include <numeric>
#include <set>
#include <unistd.h>

namespace tilec::tuner {

using runtime::HostArray;

int64_t HostProblem::elements() const {
  int64_t n = 0;
  for (const HostArray &a : arrays)
    n = std::min(INT64_MAX - n, a.count()) + n;
  return n;
}

Json toJson(const ArrayPlan &a) {
  return {{"name", a.name},       {"mode", tilec::name(a.mode)}, {"dtype", tilec::name(a.dtype)},
          {"extents", a.extents}, {"strides", a.strides},        {"distribution", a.distribution}};
}

Result<ArrayPlan> arrayPlanFromJson(const Json &json) {
  ArrayPlan a;
  auto dtype = parseDType(json.value("dtype", ""));
  std::string mode = json.value("mode", "");
  if (!dtype || !json.contains("extents") || !json.contains("strides"))
    return internalError("a message describes no array: {}", toText(json, -1));
  for (ArrayMode m : {ArrayMode::In, ArrayMode::Out, ArrayMode::InOut, ArrayMode::Scratch})
    if (mode == tilec::name(m))
      a.mode = m;
  a.name = json.value("name", "");
  a.dtype = *dtype;
  a.extents = json["extents"].get<std::vector<int64_t>>();
  a.strides = json["strides"].get<std::vector<int64_t>>();
  a.distribution = json.value("distribution", "");
  return a;
}

Result<HostArray> makeArray(const ArrayPlan &a, uint64_t seed, uint32_t number) {
  if (!a.distribution.empty()) {
    TILEC_ASSIGN(runtime::Distribution d, runtime::parseDistribution(a.distribution));
    return runtime::makeInput(d, a.dtype, a.extents, seed, number, a.name);
  }
  HostArray array = HostArray::zeros(a.dtype, a.extents);
  runtime::poisonOutput(array);
  return array;
}

static std::vector<int64_t> rowMajor(const std::vector<int64_t> &extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    if (__builtin_mul_overflow(strides[i], std::max<int64_t>(extents[i], 1), &strides[i - 1]))
      strides[i - 1] = INT64_MAX; // of an array that no memory holds
  return strides;
}

Result<std::vector<ArrayPlan>> planArrays(const Recipe &recipe, const Artifact &plan, LaunchEnv &env) {
  std::vector<ArrayPlan> arrays;
  for (const ArraySpec &spec : plan.arrays) {
    ArrayPlan a{spec.name, spec.mode, spec.dtype, {}, {}, ""};
    for (const LaunchExpr &e : spec.extents) {
      TILEC_ASSIGN(a.extents.emplace_back(), evaluateInt(e, env));
      if (a.extents.back() < 0)
        return programError("array '{}' would have the negative extent {} = {}", spec.name, toString(e),
                            a.extents.back());
    }
    a.strides = rowMajor(a.extents);
    for (size_t i = 0; i < spec.strides.size(); ++i)
      if (!(spec.strides[i] == LaunchExpr::name("_"))) {
        TILEC_ASSIGN(a.strides[i], evaluateInt(spec.strides[i], env));
      }
    auto given = recipe.inputs.find(spec.name);
    bool isInput = spec.mode == ArrayMode::In || spec.mode == ArrayMode::InOut;
    if (spec.zeroed)
      a.distribution = "zeros";
    if (isInput) {
      a.distribution =
          given != recipe.inputs.end() ? given->second : runtime::toString(runtime::defaultDistribution(spec.dtype));
      TILEC_ASSIGN(runtime::Distribution d, runtime::parseDistribution(a.distribution));
      TILEC_TRY(runtime::checkDistribution(d, spec.dtype));
    }
    arrays.push_back(std::move(a));
  }
  return arrays;
}

Status checkWork(const Prepared &prepared, const Values &problem, const Arch &arch) {
  Artifact plan = driver::plan(*prepared.source, *prepared.program);
  LaunchEnv env;
  env.values = problem;
  env.arch = std::string(arch.name);
  env.numSms = typicalProduct(arch).sms;
  env.residentBlocks = 1;
  auto grids = planGrid(plan, env);
  if (!grids)
    return {};
  for (const auto &grid : *grids)
    if (std::ranges::count(grid, 0))
      return usageError("the problem {} leaves kernel '{}' nothing to do: its grid is {} × {} × {} blocks",
                        toString(problem), plan.name, grid[0], grid[1], grid[2]);
  bool writes = false;
  for (const ArraySpec &a : plan.arrays) {
    bool empty = false;
    for (const LaunchExpr &e : a.extents) {
      auto extent = evaluateInt(e, env);
      empty |= extent && *extent == 0;
    }
    writes |= (a.mode == ArrayMode::Out || a.mode == ArrayMode::InOut) && !empty;
  }
  if (!writes)
    return usageError("the problem {} leaves kernel '{}' nothing to do: no output has an element", toString(problem),
                      plan.name);
  return {};
}

/// Refuses arrays that would not fit this machine: dense ones, and the strided copies that the executor works on.
static Status fitsMemory(const std::vector<ArrayPlan> &arrays, const Values &problem) {
  unsigned __int128 bytes = 0; // exact: extents are below 2^63, and arrays have few axes
  bool exact = true;
  for (const ArrayPlan &a : arrays) {
    if (std::ranges::count(a.extents, 0))
      continue;
    unsigned __int128 bits = unsigned(info(a.dtype).bits);
    for (int64_t extent : a.extents)
      exact &= !__builtin_mul_overflow(bits, (unsigned __int128)(extent), &bits);
    exact &= !__builtin_add_overflow(bytes, (bits + 7) / 8, &bytes);
    if (!runtime::isContiguous(a.extents, a.strides)) {
      auto strided = runtime::footprint(a.dtype, a.extents, a.strides);
      bytes += strided ? strided->bytes() : uint64_t(1) << 63;
    }
  }
  uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (exact && bytes <= memory / 2)
    return {};
  return usageError("the arrays of {} take {} MiB, more than half of this machine's memory of {} MiB",
                    toString(problem), exact ? fmt::format("{}", bytes >> 20) : "over 2^107", memory >> 20);
}

Result<HostProblem> makeProblem(const Recipe &recipe, const Prepared &prepared, const Values &problem, uint64_t seed) {
  HostProblem p;
  p.plan = driver::plan(*prepared.source, *prepared.program);
  p.env.values = problem;
  // Results must not depend on the machine; any will do for a grid that asks for its size.
  p.env.numSms = p.env.residentBlocks = 1;
  if (const Arch *arch = prepared.program->arch) {
    p.env.arch = std::string(arch->name);
    p.env.numSms = typicalProduct(*arch).sms;
  }
  TILEC_ASSIGN(auto arrays, planArrays(recipe, p.plan, p.env));
  TILEC_TRY(fitsMemory(arrays, problem));
  std::map<std::string, std::vector<int64_t>> extents;
  for (const ArrayPlan &a : arrays)
    extents[a.name] = a.extents;
  TILEC_TRY(bindSymbols(p.plan, extents, p.env));
  TILEC_ASSIGN(auto grids, planGrid(p.plan, p.env));
  p.grid = grids.front();
  for (const ArrayPlan &a : arrays) {
    TILEC_ASSIGN(p.arrays.emplace_back(), makeArray(a, seed, uint32_t(p.arrays.size())));
    p.strides.push_back(a.strides);
  }
  return p;
}

std::vector<int64_t> sampleBlocks(int64_t blocks, int64_t wanted, uint64_t seed) {
  std::vector<int64_t> all(static_cast<size_t>(std::min(blocks, wanted)));
  if (blocks <= wanted) {
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  // One block from each of `wanted` equal parts; the ends of the grid, where edges lie, are always in.
  std::set<int64_t> chosen{0, blocks - 1};
  for (int64_t part = 0; part < wanted; ++part) {
    int64_t lo = part * (blocks / wanted), width = std::max<int64_t>(1, blocks / wanted);
    chosen.insert(lo + int64_t(runtime::randomBits(seed, 0x5a3b1e, uint64_t(part)) % uint64_t(width)));
  }
  return {chosen.begin(), chosen.end()};
}

namespace {

/// Lends the arrays to the executor with their strides and takes the results back.
struct Lent {
  std::vector<std::vector<std::byte>> spread; ///< strided copies; empty where the array is dense
  std::vector<driver::HostBuffer> buffers;

  Status lend(HostProblem &p) {
    spread.resize(p.arrays.size());
    for (size_t i = 0; i < p.arrays.size(); ++i) {
      HostArray &a = p.arrays[i];
      driver::HostBuffer buffer{a.dtype, a.extents, p.strides[i], a.bytes.data()};
      if (!runtime::isContiguous(a.extents, p.strides[i])) {
        TILEC_ASSIGN(runtime::Footprint f, runtime::footprint(a.dtype, a.extents, p.strides[i]));
        spread[i].resize(f.bytes());
        runtime::spread(a, p.strides[i], spread[i]);
        buffer.data = spread[i].data() + f.before;
      }
      buffers.push_back(std::move(buffer));
    }
    return {};
  }
  void takeBack(HostProblem &p) const {
    for (size_t i = 0; i < p.arrays.size(); ++i)
      if (!spread[i].empty())
        p.arrays[i] = runtime::collect(p.arrays[i].dtype, p.arrays[i].extents, p.strides[i], spread[i]);
  }
};

/// Row-major numbers of the elements whose offsets a buffer names.
std::vector<int64_t> elementsAt(const driver::HostBuffer &buffer) {
  std::vector<int64_t> numbers, index(buffer.extents.size());
  int64_t count = buffer.unwritten.empty() ? 0 : 1;
  for (int64_t extent : buffer.extents)
    count *= extent;
  for (int64_t number = 0; number < count; ++number) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * buffer.strides[axis];
    if (std::ranges::binary_search(buffer.unwritten, offset))
      numbers.push_back(number);
    for (size_t axis = index.size(); axis-- > 0 && ++index[axis] == buffer.extents[axis];)
      index[axis] = 0;
  }
  return numbers;
}

bool isOutput(ArrayMode mode) { return mode == ArrayMode::Out || mode == ArrayMode::InOut; }

} // namespace

Result<std::vector<driver::ReferenceFinding>> executeProblem(const Prepared &prepared, HostProblem &problem,
                                                             const driver::ReferenceOptions &options) {
  Lent lent;
  TILEC_TRY(lent.lend(problem));
  TILEC_ASSIGN(auto findings, driver::runReference(*prepared.source, *prepared.program, lent.buffers, problem.env,
                                                   problem.grid, options));
  lent.takeBack(problem);
  problem.unwritten.resize(problem.arrays.size());
  for (size_t i = 0; i < problem.arrays.size(); ++i)
    problem.unwritten[i] = elementsAt(lent.buffers[i]);
  return findings;
}

Result<std::vector<Expected>> expectedOutputs(const Recipe &recipe, const Prepared &prepared, const Values &problem,
                                              uint64_t seed, const ReferenceLimits &limits) {
  TILEC_ASSIGN(HostProblem p, makeProblem(recipe, prepared, problem, seed));
  std::vector<Expected> outputs;
  driver::ReferenceOptions options;
  options.jobs = limits.jobs;
  options.widen = true;
  std::vector<size_t> places;
  for (size_t i = 0; i < p.plan.arrays.size(); ++i) {
    const ArraySpec &spec = p.plan.arrays[i];
    if (!isOutput(spec.mode))
      continue;
    auto given = recipe.tolerance.find(spec.name);
    Tolerance tolerance = given != recipe.tolerance.end() ? given->second : defaultTolerance(spec.dtype);
    Expected e;
    e.array = spec.name;
    TILEC_ASSIGN(e.bound, evaluate(tolerance, problem));
    // Equal bits are asked of the arithmetic as written, not of a better one.
    options.widen &= !(e.bound.exact() && isFloat(spec.dtype));
    outputs.push_back(std::move(e));
    places.push_back(i);
  }
  int64_t blocks = p.blocks();
  bool full = p.elements() <= limits.fullElements;
  if (!full && blocks > 0) {
    int64_t each = std::max<int64_t>(1, p.elements() / blocks);
    int64_t wanted = std::clamp<int64_t>(limits.sampledElements / each, 4, 256);
    options.blocks = sampleBlocks(blocks, wanted, seed);
    full = int64_t(options.blocks.size()) == blocks;
    if (full)
      options.blocks.clear();
  }
  std::vector<HostArray> before;
  if (!full)
    for (size_t place : places)
      before.push_back(p.arrays[place]);
  TILEC_ASSIGN(auto findings, executeProblem(prepared, p, options));
  if (!findings.empty())
    return programError("{}: {} at {}", findingPrefix, findings.front().message, findings.front().place);
  for (size_t k = 0; k < places.size(); ++k) {
    HostArray &result = p.arrays[places[k]];
    Expected &e = outputs[k];
    e.full = full;
    if (full) {
      e.values = std::move(result);
      continue;
    }
    // What a sampled block wrote is what is no longer as it was.
    for (int64_t i = 0, n = result.count(); i < n; ++i)
      if (result.get(i) != before[k].get(i))
        e.indices.push_back(i);
    e.values = HostArray::zeros(result.dtype, {int64_t(e.indices.size())});
    for (size_t i = 0; i < e.indices.size(); ++i)
      e.values.set(int64_t(i), result.get(e.indices[i]));
  }
  return outputs;
}

Result<std::string> differences(const HostArray &actual, const Expected &expected) {
  runtime::Tolerance tolerance{.ulps = expected.bound.ulp, .abs = expected.bound.abs, .rel = expected.bound.rel};
  HostArray picked;
  const HostArray *have = &actual;
  if (!expected.full) {
    picked = HostArray::zeros(actual.dtype, {int64_t(expected.indices.size())});
    for (size_t i = 0; i < expected.indices.size(); ++i)
      picked.set(int64_t(i), actual.get(expected.indices[i]));
    have = &picked;
  }
  TILEC_ASSIGN(runtime::Comparison c, runtime::compare(*have, expected.values, tolerance));
  if (c.equal())
    return std::string();
  if (expected.full)
    return fmt::format("output '{}': {}", expected.array, toString(c));
  auto at = runtime::coordinates(expected.indices[size_t(c.first)], actual.extents);
  return fmt::format("output '{}': {} of {} sampled elements differ; first at [{}]: {}, expected {}", expected.array,
                     c.mismatches, c.count, fmt::join(at, ", "), c.actual, c.expected);
}

} // namespace tilec::tuner
