#include "tuner/bench.h"
#include "compiler/target/target.h"
#include "tuner/reference.h"

namespace tilec::tuner {
namespace {

Json timesJson(const Measurement &m) {
  auto number = [](double x) { return x > 0 ? Json(x) : Json(); };
  return {{"median_seconds", number(m.median)},
          {"low_seconds", number(m.low)},
          {"high_seconds", number(m.high)},
          {"samples", m.samples.size()},
          {"clock_mhz", number(m.clocks.value("mhz", 0.0))},
          {"throttled", m.clocks.value("throttled", false)}};
}

} // namespace

Json toJson(const BenchResult &r) {
  auto number = [](double x) { return x > 0 ? Json(x) : Json(); };
  return {{"kernel", r.kernel},
          {"problem", toJson(r.problem)},
          {"arch", r.environment.arch},
          {"gpu", r.environment.gpu},
          {"driver", r.environment.driver},
          {"policy", r.policy},
          {"configuration", toJson(r.configuration)},
          {"cool", timesJson(r.cool)},
          {"sustained", timesJson(r.sustained)},
          {"bytes_per_second", number(r.bytesPerSecond)},
          {"flops_per_second", number(r.flopsPerSecond)},
          {"roofline_fraction", number(r.roofline)},
          {"registers_per_block", r.footprint.registers},
          {"shared_bytes", r.footprint.shared}};
}

Result<BenchResult> bench(const Recipe &recipe, Builder &builder, const Place &place, const BenchRequest &request,
                          const EvaluatorOptions &options) {
  if (!place.gpu)
    return withHelp(noDevice("there is no GPU to time on: {}", place.note),
                    "run it where the GPU is; `tilec tune --arch` predicts without one");
  BenchResult r;
  r.kernel = builder.interface().name;
  r.problem = completeProblem(builder.interface(), request.problem);
  TILEC_TRY(checkProblem(r.problem, builder.interface()));
  TILEC_TRY(checkInputs(recipe, builder.interface(), r.problem));
  r.configuration = request.configuration;
  TILEC_ASSIGN(Prepared prepared, builder.prepare(r.configuration, r.problem, *place.arch));
  TILEC_TRY(checkWork(prepared, r.problem, *place.arch));
  TILEC_ASSIGN(Artifact artifact, builder.compile(prepared));
  r.footprint = footprint(artifact);

  auto evaluator = evaluatorFor(place, recipe, builder, options);
  r.environment = evaluator->environment();
  r.policy = evaluator->policy();
  Pending pending{r.configuration, prepared};
  TILEC_TRY(evaluator->begin(r.problem, r.configuration, {&pending, 1}));
  Candidate candidate{r.configuration, prepared, artifact};
  r.cool = evaluator->evaluate(candidate);
  if (!isFailure(r.cool.status)) {
    std::vector<Measurement> finals = evaluator->finals({&candidate, 1}, request.rounds);
    if (!finals.empty())
      r.cool = std::move(finals.front());
  }
  evaluator->end();
  if (isFailure(r.cool.status))
    return programError("{} for {}: {}: {}", r.kernel, toString(r.problem), name(r.cool.status), r.cool.reason);
  const Json &clocks = r.cool.clocks;
  r.sustained.status = r.cool.status;
  r.sustained.median = clocks.value("sustained_seconds", 0.0);
  r.sustained.low = clocks.value("sustained_low_seconds", 0.0);
  r.sustained.high = clocks.value("sustained_high_seconds", 0.0);
  r.sustained.samples.resize(clocks.value("sustained_samples", size_t(0)));
  r.sustained.clocks = {{"mhz", clocks.value("sustained_mhz", 0.0)}};
  if (auto work = workOf(recipe, driver::plan(*prepared.source, *prepared.program), r.problem)) {
    if (std::string why = impossible(r.cool.median, *work, place.machine(), r.policy == "cold"); !why.empty())
      return programError("{} for {}: {}: {}", r.kernel, toString(r.problem), name(TrialStatus::TooFast), why);
    r.bytesPerSecond = work->bytes / r.cool.median;
    r.flopsPerSecond = work->flops / r.cool.median;
    r.roofline = work->floor(place.machine()) / r.cool.median;
  }
  return r;
}

} // namespace tilec::tuner
