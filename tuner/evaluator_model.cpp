// Without a GPU: a configuration's tile IR is run by the executor on the recipe's check problems and held against the
// kernel's own configuration; its time is the static model's.
#include "compiler/target/target.h"
#include "tuner/evaluator.h"
#include "tuner/reference.h"
#include <set>

namespace tilec::tuner {
namespace {

/// Check problems with more array elements are left to tests and GPUs.
constexpr int64_t largestCheck = int64_t(1) << 23;

/// The check problems that fit a problem: of its dtypes and parameters.
bool sameKind(const Values &check, const Values &problem, const sema::KernelInterface &interface) {
  for (const sema::ParamDecl &p : interface.params) {
    auto a = check.find(p.name), b = problem.find(p.name);
    if ((a == check.end()) != (b == problem.end()) || (a != check.end() && a->second != b->second))
      return false;
  }
  return true;
}

class ModelEvaluator final : public Evaluator {
public:
  ModelEvaluator(const Recipe &recipe, Builder &builder, const Arch &arch, const EvaluatorOptions &options)
      : recipe(recipe), builder(builder), arch(arch), machine(typicalMachine(arch)), options(options) {}

  std::string policy() const override { return "model"; }
  std::string verification(const Values &wanted) const override {
    bool any = std::ranges::any_of(recipe.check, [&](const Values &check) {
      return sameKind(completeProblem(builder.interface(), check), wanted, builder.interface());
    });
    return any ? fmt::format("executor on check problems, seed {}, rules {}", options.seed, rulesId(recipe))
               : std::string(notVerified);
  }
  bool measures() const override { return false; }

  Environment environment() const override {
    auto assembler = builder.assembler();
    return {.gpu = "",
            .arch = std::string(arch.compiledAs),
            .capability = fmt::format("{}.{}", arch.major, arch.minor),
            .sms = machine.sms,
            .l2Bytes = machine.l2Bytes,
            .driver = "",
            .toolkit = "",
            .assembler = assembler ? *assembler : "",
            .tool = builder.tool()};
  }

  Status begin(const Values &wanted, const Configuration &, std::span<const Pending>) override {
    problem = wanted;
    verdicts.clear();
    ran.clear();
    leftOut.clear();
    return {};
  }

  Measurement evaluate(const Candidate &c) override {
    const Verdict &verdict = verify(c);
    if (!verdict.fault.empty())
      return Measurement::failed(TrialStatus::Wrong, verdict.fault);
    auto work = workOf(recipe, driver::plan(*c.prepared.source, *c.prepared.program), problem);
    if (!work)
      return Measurement::failed(TrialStatus::Refused, work.error().message);
    auto seconds = predictSeconds(c.artifact, machine, problem, *work);
    if (!seconds)
      return Measurement::failed(TrialStatus::Refused, seconds.error().message);
    Measurement m;
    m.status = TrialStatus::Predicted;
    m.median = m.low = m.high = *seconds;
    m.checks = verdict.checks;
    return m;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> result;
    if (!ran.empty())
      result.push_back(
          fmt::format("verified on the CPU on {} check problem{}", ran.size(), ran.size() == 1 ? "" : "s"));
    else if (leftOut.empty())
      result.push_back(verification(problem) == notVerified
                           ? "nothing was verified: there is no check problem of this kind"
                           : "nothing was verified: no configuration has passed its checks");
    else
      result.push_back("nothing was verified: no check problem could be run");
    for (const auto &[check, why] : leftOut)
      if (!ran.contains(check))
        result.push_back(fmt::format("check problem {} was left out: {}", check, why));
    return result;
  }

private:
  struct Truth {
    std::vector<Expected> outputs; ///< none: `why` says why there are none
    std::string why;
    std::string fault; ///< what the executor found in the kernel's own configuration
  };
  struct Verdict {
    std::string fault; ///< empty when the configuration agrees with the kernel's own on every check problem that ran
    int checks = 0;
  };

  /// Hints never change results, so configurations that differ in hints alone share the answer.
  const Verdict &verify(const Candidate &c) {
    std::string parameters = toString(c.configuration.parameters);
    auto known = verdicts.find(parameters);
    if (known == verdicts.end())
      known = verdicts.emplace(parameters, run(c.configuration)).first;
    return known->second;
  }

  Verdict run(const Configuration &configuration) {
    Verdict verdict;
    for (const Values &given : recipe.check) {
      Values check = completeProblem(builder.interface(), given);
      if (!sameKind(check, problem, builder.interface()))
        continue;
      const Truth &truth = truthOf(check);
      if (!truth.fault.empty())
        return {fmt::format("{} on {}", truth.fault, toString(check)), 0};
      if (truth.outputs.empty()) {
        leftOut.try_emplace(toString(check), truth.why);
        continue;
      }
      // A configuration may be out of bounds of `requires` for a small problem.
      auto prepared = builder.prepare(configuration, check, arch);
      if (!prepared) {
        leftOut.try_emplace(toString(check), prepared.error().message);
        continue;
      }
      ReferenceLimits limits{
          .fullElements = int64_t(1) << 18, .sampledElements = int64_t(1) << 16, .jobs = options.jobs};
      auto got = expectedOutputs(recipe, *prepared, check, options.seed, limits);
      if (!got) {
        if (got.error().message.starts_with(findingPrefix))
          return {fmt::format("{} on {}", got.error().message, toString(check)), 0};
        leftOut.try_emplace(toString(check), got.error().message);
        continue;
      }
      for (size_t i = 0; i < got->size(); ++i)
        if (std::string why = compareParts((*got)[i], truth.outputs[i]); !why.empty())
          return {fmt::format("{} on {}", why, toString(check)), 0};
      ran.insert(toString(check));
      ++verdict.checks;
    }
    return verdict;
  }

  /// The meaning of a check problem: all of it, by the kernel's own configuration.
  const Truth &truthOf(const Values &check) {
    auto [it, isNew] = truths.try_emplace(toString(check));
    Truth &truth = it->second;
    if (!isNew)
      return truth;
    auto prepared = builder.prepare({}, check, arch);
    if (!prepared) {
      truth.why = prepared.error().message;
      return truth;
    }
    LaunchEnv env;
    env.values = check;
    env.arch = std::string(arch.name);
    auto plans = planArrays(recipe, driver::plan(*prepared->source, *prepared->program), env);
    int64_t elements = 0;
    for (const ArrayPlan &a : plans ? *plans : std::vector<ArrayPlan>())
      elements += runtime::elementCount(a.extents);
    if (!plans || elements > largestCheck) {
      truth.why =
          plans ? fmt::format("its {} elements are more than {}", elements, largestCheck) : plans.error().message;
      return truth;
    }
    ReferenceLimits limits{.fullElements = largestCheck, .jobs = options.jobs};
    auto outputs = expectedOutputs(recipe, *prepared, check, options.seed, limits);
    if (outputs)
      truth.outputs = std::move(*outputs);
    else if (outputs.error().message.starts_with(findingPrefix))
      truth.fault = outputs.error().message;
    else
      truth.why = outputs.error().message;
    return truth;
  }

  /// Compares what a configuration computed, wholly or in part, with the whole truth.
  static std::string compareParts(const Expected &got, const Expected &truth) {
    runtime::HostArray whole = truth.values;
    if (got.full)
      whole = got.values;
    else
      for (size_t i = 0; i < got.indices.size(); ++i)
        whole.set(got.indices[i], got.values.get(int64_t(i)));
    auto why = differences(whole, truth);
    return why ? *why : why.error().message;
  }

  const Recipe &recipe;
  Builder &builder;
  const Arch &arch;
  Machine machine;
  EvaluatorOptions options;
  Values problem;
  std::map<std::string, Verdict> verdicts;    ///< by parameters
  std::map<std::string, Truth> truths;        ///< by problem
  std::set<std::string> ran;                  ///< check problems on which a configuration was verified
  std::map<std::string, std::string> leftOut; ///< check problems that some configuration could not run, and why
};

} // namespace

std::unique_ptr<Evaluator> modelEvaluator(const Recipe &recipe, Builder &builder, const Arch &arch,
                                          const EvaluatorOptions &options) {
  return std::make_unique<ModelEvaluator>(recipe, builder, arch, options);
}

} // namespace tilec::tuner
