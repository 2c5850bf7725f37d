#pragma once
// What turns a compiled configuration into a verdict and a time. `gpu` measures in a worker process, `model` predicts;
// tests bring their own.
#include "runtime/device.h"
#include "runtime/timing.h"
#include "tuner/builder.h"
#include "tuner/cache.h"
#include "tuner/recipe.h"
#include <optional>
#include <span>

namespace tilec::tuner {

struct Candidate {
  const Configuration &configuration;
  const Prepared &prepared;
  const Artifact &artifact;
};

/// A configuration that is going to be evaluated.
struct Pending {
  const Configuration &configuration;
  const Prepared &prepared;
};

class Evaluator {
public:
  virtual ~Evaluator() = default;
  /// Timing policy (`cold`, `hot`, `graph`, `model`) and the way results are checked: both are parts of a trial's key.
  virtual std::string policy() const = 0;
  virtual std::string verification(const Values &problem) const = 0;
  virtual Environment environment() const = 0;
  /// False: times are predictions, stored and shown as such.
  virtual bool measures() const = 0;
  /// Prepares a problem: inputs, expected outputs. `own` is the kernel's own configuration, whose program stands for
  /// the meaning; `pending` is what evaluate() will get. Called only when there is something to evaluate, and before
  /// anything is compiled. An error ends the problem.
  virtual Status begin(const Values &problem, const Configuration &own, std::span<const Pending> pending) = 0;
  /// Verifies, then times. Every failure is a Measurement; the next configuration is evaluated all the same.
  virtual Measurement evaluate(const Candidate &candidate) = 0;
  /// How many candidates are best evaluated together, and that: one Measurement for each.
  virtual size_t groupSize() const { return 1; }
  virtual std::vector<Measurement> evaluateGroup(std::span<const Candidate> group) {
    std::vector<Measurement> results;
    for (const Candidate &c : group)
      results.push_back(evaluate(c));
    return results;
  }
  /// Times candidates that evaluateGroup() found right once more, in one race of at least `rounds` rounds, and how they
  /// do without pauses (`sustained_seconds` among the clocks). Empty where times do not vary.
  virtual std::vector<Measurement> finals(std::span<const Candidate>, int /*rounds*/) { return {}; }
  virtual void end() {}
  /// What there is to know of the checks of the problem that was begun last: what was run, what was left out and why.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// What a GPU can do, for the static model and for fractions of the roofline.
struct Machine {
  std::string name;
  const Arch *arch = nullptr;
  int64_t sms = 0, l2Bytes = 0;
  double bandwidth = 0; ///< bytes/s of device memory, peak
  double f32 = 0;       ///< flop/s of fused multiply-adds in f32, peak
};
Machine machineOf(const runtime::DeviceFacts &facts, const Arch &arch);
/// The product that stands for an architecture when there is no such GPU (products.def).
Machine typicalMachine(const Arch &arch);

/// What a problem moves and computes, by the recipe's figures; without them, the bytes of every argument once.
struct Work {
  double bytes = 0, flops = 0;
  double written = 0, stored = 0; ///< bytes of arrays that are written through, and of all that are written to
  bool given = false;             ///< bytes are the recipe's: a claim of how much there is to do
  /// Seconds of the roofline: all bytes from and to memory, all flops as f32 multiply-adds.
  double floor(const Machine &machine) const;
  /// Seconds that no run can stay below, even where tensor cores compute and L2 keeps what is written (`cold`) or
  /// whatever it can hold. Without figures of a recipe, outputs alone are known to be moved.
  double least(const Machine &machine, bool cold) const;
};
/// Why a measured time is none: it is clearly below Work::least(). Empty when it may be true.
std::string impossible(double seconds, const Work &work, const Machine &machine, bool cold);
Result<Work> workOf(const Recipe &recipe, const Artifact &plan, const Values &problem);

/// The static model: seconds of an artifact for a problem. Bytes over the bandwidth that the loads in flight can fill,
/// whole waves of resident blocks, spills as traffic. Error (Program): the artifact refuses the problem.
Result<double> predictSeconds(const Artifact &artifact, const Machine &machine, const Values &problem,
                              const Work &work);

/// Finals are between so many of the fastest and the kernel's own configuration, in at least so many rounds.
inline constexpr size_t finalists = 5;
inline constexpr int finalRounds = 30;

struct EvaluatorOptions {
  uint64_t seed = 0;
  unsigned jobs = 0;
  double trialTimeoutSeconds = 60;
  runtime::TimingPolicy policy = runtime::TimingPolicy::Cold;
  std::string workerPath = "/proc/self/exe"; ///< run as `PATH __worker`
};

/// Compiles and verifies on the CPU, predicts by the model.
std::unique_ptr<Evaluator> modelEvaluator(const Recipe &recipe, Builder &builder, const Arch &arch,
                                          const EvaluatorOptions &options);
/// Measures on a GPU in a worker process, which alone has a CUDA context; it is started at the first problem.
std::unique_ptr<Evaluator> gpuEvaluator(const Recipe &recipe, Builder &builder, const runtime::DeviceFacts &device,
                                        const Arch &arch, const EvaluatorOptions &options);

} // namespace tilec::tuner
