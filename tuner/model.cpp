// The static model. It ranks configurations where there is no GPU; its times are leads, never claims.
#include "compiler/target/products.h"
#include "compiler/target/target.h"
#include "tuner/evaluator.h"
#include <algorithm>
#include <cmath>

namespace tilec::tuner {
namespace {

/// Round trip to device memory under load, and what a launch costs beside its blocks. Seconds; typical of all rows of
/// arch.def.
constexpr double memoryLatency = 650e-9;
constexpr double launchOverhead = 2e-6;
constexpr double blockOverhead = 0.3e-6;
/// Share of the peak bandwidth that copies reach.
constexpr double copyEfficiency = 0.9;
/// f32 lanes of an SM; two flop each clock.
constexpr double lanesPerSm = 128;
/// What tensor cores do at most in the time of one f32 multiply-add of all lanes: 4-bit floats on the newest.
constexpr double tensorFactor = 128;

} // namespace

Machine machineOf(const runtime::DeviceFacts &facts, const Arch &arch) {
  Machine m{facts.name, &arch, facts.multiprocessors, facts.l2Bytes, facts.peakBandwidth(), 0};
  Machine typical = typicalMachine(arch);
  // Newer drivers hide the memory clock.
  if (m.bandwidth <= 0)
    m.bandwidth = typical.bandwidth;
  m.f32 = double(m.sms) * lanesPerSm * 2 * facts.clockKHz * 1e3;
  return m;
}

Machine typicalMachine(const Arch &arch) {
  const Product &p = typicalProduct(arch);
  return {std::string(p.name),
          &arch,
          p.sms,
          int64_t(p.l2MiB) << 20,
          p.bandwidthGBs * 1e9,
          p.sms * lanesPerSm * 2 * p.clockMHz * 1e6};
}

double Work::floor(const Machine &machine) const {
  double memory = machine.bandwidth > 0 ? bytes / machine.bandwidth : 0;
  double compute = machine.f32 > 0 ? flops / machine.f32 : 0;
  return std::max(memory, compute);
}

double Work::least(const Machine &machine, bool cold) const {
  double moved = given ? bytes : written;
  double kept = std::min({double(machine.l2Bytes), moved, cold ? stored : moved});
  double memory = machine.bandwidth > 0 ? std::max(0.0, moved - kept) / machine.bandwidth : 0;
  double compute = machine.f32 > 0 ? flops / (machine.f32 * tensorFactor) : 0;
  return std::max(memory, compute);
}

std::string impossible(double seconds, const Work &work, const Machine &machine, bool cold) {
  // Peaks are known no better than this.
  constexpr double tooFast = 0.85;
  double least = work.least(machine, cold);
  if (seconds >= tooFast * least)
    return "";
  return fmt::format("{:.3g} µs, and {} needs {:.3g} µs at least: do the inputs leave work to do{}", seconds * 1e6,
                     machine.name, least * 1e6, work.given ? ", are the recipe's figures right?" : "?");
}

Result<Work> workOf(const Recipe &recipe, const Artifact &plan, const Values &problem) {
  LaunchEnv env;
  env.values = problem;
  auto number = [&](const LaunchExpr &expr) -> Result<double> {
    TILEC_ASSIGN(LaunchValue v, tilec::evaluate(expr, env));
    if (auto *i = std::get_if<int64_t>(&v))
      return double(*i);
    if (auto *d = std::get_if<double>(&v))
      return *d;
    return usageError("the figure '{}' is no number", toString(expr));
  };
  Work work;
  if (recipe.flops) {
    TILEC_ASSIGN(work.flops, number(*recipe.flops));
  }
  for (const ArraySpec &a : plan.arrays) {
    double count = 1;
    for (const LaunchExpr &extent : a.extents) {
      TILEC_ASSIGN(double n, number(extent));
      count *= n;
    }
    double bytes = count * info(a.dtype).bits / 8;
    work.bytes += a.mode == ArrayMode::InOut ? 2 * bytes : bytes;
    // An inout array may be written in part; an output that is not written through is wrong.
    if (a.mode == ArrayMode::Out)
      work.written += bytes;
    if (a.mode != ArrayMode::In)
      work.stored += bytes;
  }
  if (recipe.bytes) {
    TILEC_ASSIGN(work.bytes, number(*recipe.bytes));
    work.given = true;
  }
  return work;
}

Result<double> predictSeconds(const Artifact &artifact, const Machine &machine, const Values &problem,
                              const Work &work) {
  LaunchEnv env;
  env.values = problem;
  env.arch = std::string(machine.arch->name);
  env.numSms = machine.sms;
  TILEC_ASSIGN(auto grids, planGrid(artifact, env));
  double seconds = 0;
  for (size_t i = 0; i < artifact.launches.size(); ++i) {
    const LaunchSpec &l = artifact.launches[i];
    double blocks = double(grids[i][0]) * double(grids[i][1]) * double(grids[i][2]);
    if (blocks == 0)
      continue;
    const Resources &r = l.resources;
    int resident =
        std::max(1, residentBlocks(*machine.arch, l.threads, r.registers, l.dynamicSharedBytes + r.staticSharedBytes));
    double slots = double(resident) * double(machine.sms);
    // The last wave is rarely full; with many waves blocks drift apart and hide it.
    double waves = blocks / slots;
    double balance = waves < 1 ? std::max(waves, 1.0 / resident) : waves / std::ceil(waves);
    balance += (1 - balance) * std::min(1.0, std::max(0.0, waves - 1) / 16);
    // Little's law: what is in flight has to cover latency times bandwidth, and comes near it without a sharp bend. A
    // thread keeps about half of the registers it has beyond addresses and temporaries for loads under way.
    double inFlight = std::clamp((r.registers - 16) * 2.0, 16.0, 128.0) * l.threads * resident * double(machine.sms);
    double cover = inFlight / (machine.bandwidth * memoryLatency);
    double filled = cover / (cover + 0.05 + 0.5 * std::exp(-2 * cover));
    double spilled = double(r.spillStoreBytes + r.spillLoadBytes) * l.threads * blocks;
    double share = 1.0 / double(artifact.launches.size());
    double memory = (work.bytes * share + spilled) / (machine.bandwidth * copyEfficiency * filled * balance);
    double compute = work.flops * share / (machine.f32 * balance);
    // Starting a block costs a slot some time that only the others of its SM can hide.
    double starts = waves * blockOverhead / std::max(1, resident);
    seconds += launchOverhead + std::max({memory, compute, std::ceil(waves) * memoryLatency}) + starts;
  }
  return seconds;
}

} // namespace tilec::tuner
