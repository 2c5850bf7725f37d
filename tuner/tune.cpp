// The whole of `tilec tune` below the tool: recipe, evaluator, cache, one session for each problem; results as JSON.
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "tuner/place.h"
#include "tuner/reference.h"
#include "tuner/session.h"

namespace tilec::tuner {
namespace {

/// Holds the recipe against its kernel, with places in the recipe's text.
Status checkNames(const Recipe &recipe, const sema::KernelInterface &interface) {
  if (recipe.uses.empty())
    return {};
  SourceManager sources;
  Diagnostics diags;
  // Read again: a recipe that was loaded elsewhere has its places in another source manager.
  TILEC_ASSIGN(Recipe same, loadRecipe(recipe.path, sources, diags));
  auto ok = checkRecipe(same, interface, diags);
  if (ok || !diags.hasErrors())
    return ok;
  Error error = ok.error();
  error.detail = render(diags, sources, false);
  return std::unexpected(std::move(error));
}

} // namespace

bool TuneResult::succeeded() const {
  return std::ranges::all_of(problems, [](const ProblemResult &p) { return p.winner.has_value(); });
}

Result<TuneResult> tune(const TuneRequest &request) {
  Recipe recipe = request.recipe;
  TILEC_ASSIGN(auto builder, openBuilder(recipe.kernelFile, recipe.kernel));
  TILEC_TRY(checkNames(recipe, builder->interface()));
  for (const std::string &input : request.inputs)
    TILEC_TRY(giveInput(recipe, builder->interface(), input));
  const std::vector<Values> &problems = request.problems.empty() ? recipe.problems : request.problems;
  if (problems.empty())
    return withHelp(usageError("there is no problem to tune '{}' for", builder->interface().name),
                    "give one with --problem NAME=VALUE,…, or list problems in a recipe");
  for (const Values &problem : problems) {
    TILEC_TRY(checkProblem(problem, builder->interface()));
    TILEC_TRY(checkInputs(recipe, builder->interface(), problem));
  }
  std::vector<Override> overrides;
  for (const Override &axis : request.overrides) {
    TILEC_ASSIGN(overrides.emplace_back(), legalPart(axis, builder->interface(), request.arch));
    TILEC_TRY(checkOverride(overrides.back(), builder->interface(), request.arch));
  }
  // Without an assembler every configuration would fail, and none of them is at fault.
  TILEC_TRY(builder->assembler());
  TILEC_ASSIGN(Place place, choosePlace(request.arch, request.device, request.predict));
  // A problem that nothing can be done for is refused before others have taken their time.
  for (const Values &problem : problems)
    if (auto own = builder->prepare({}, problem, *place.arch); own && own->program)
      TILEC_TRY(checkWork(*own, problem, *place.arch));
  TILEC_ASSIGN(Cache cache, Cache::open(request.cache.empty() ? Cache::defaultFile() : request.cache));

  TuneResult result;
  result.cacheFile = cache.file().string();
  if (!place.note.empty())
    result.notes.push_back(place.note);
  Machine machine = place.machine();
  auto evaluator = evaluatorFor(place, recipe, *builder, request.evaluator);
  for (const Values &problem : problems) {
    if (request.session.stop && *request.session.stop) {
      result.interrupted = true;
      break;
    }
    TILEC_ASSIGN(result.problems.emplace_back(), tuneProblem(recipe, *builder, *evaluator, cache, *place.arch, machine,
                                                             problem, overrides, request.session));
    if (result.problems.back().interrupted) {
      result.interrupted = true;
      break;
    }
  }
  result.cacheNotice = cache.notice();
  return result;
}

Json toJson(const TrialRow &row) {
  auto number = [](double x) { return x > 0 ? Json(x) : Json(); };
  return {{"configuration_id", row.configuration.id},
          {"configuration", toJson(row.configuration)},
          {"status", name(row.status)},
          {"reason", row.reason},
          {"median_seconds", number(row.median)},
          {"low_seconds", number(row.low)},
          {"high_seconds", number(row.high)},
          {"sustained_seconds", number(row.sustained)},
          {"samples", row.samples},
          {"verified", row.verified},
          {"bytes_per_second", number(row.bytesPerSecond)},
          {"flops_per_second", number(row.flopsPerSecond)},
          {"roofline_fraction", number(row.roofline)},
          {"registers_per_block", row.footprint.registers},
          {"shared_bytes", row.footprint.shared},
          {"reused", row.reused}};
}

Json toJson(const ProblemResult &r) {
  Json rows = Json::array(), axes = Json::array(), cuts = Json::array();
  for (const TrialRow &row : r.rows)
    rows.push_back(toJson(row));
  auto value = [](const Axis &axis, const LaunchValue &v) {
    return axis.open && v == LaunchValue(compilersChoice) ? Json() : tilec::toJson(v);
  };
  for (const Axis &axis : r.space.axes) {
    Json values = Json::array();
    for (const LaunchValue &v : axis.values)
      values.push_back(value(axis, v));
    axes.push_back({{"name", axis.name},
                    {"hint", axis.hint},
                    {"values", std::move(values)},
                    {"default", value(axis, axis.otherwise)}});
  }
  for (const Cut &cut : r.space.cuts)
    cuts.push_back({{"condition", cut.condition}, {"removed", cut.removed}});
  return {{"kernel", r.kernel},
          {"recipe", r.recipe},
          {"problem", toJson(r.problem)},
          {"arch", r.environment.arch},
          {"gpu", r.environment.gpu.empty() ? Json() : Json(r.environment.gpu)},
          {"policy", r.policy},
          {"predicted", r.predicted},
          {"space", {{"product", r.space.product}, {"axes", std::move(axes)}, {"cuts", std::move(cuts)}}},
          {"configurations", r.total},
          {"reused", r.reused},
          {"compiled", r.compiled},
          {"evaluated", r.evaluated},
          {"failed", r.failed},
          {"seconds", r.seconds},
          {"interrupted", r.interrupted},
          {"winner", r.winner ? toJson(r.rows[*r.winner]) : Json()},
          {"command", r.command.empty() ? Json() : Json(r.command)},
          {"notes", r.notes},
          {"rows", std::move(rows)}};
}

Json toJson(const TuneResult &r) {
  Json problems = Json::array();
  for (const ProblemResult &p : r.problems)
    problems.push_back(toJson(p));
  return {{"schema", "tilec.tune.1"},
          {"cache", r.cacheFile},
          {"cache_notice", r.cacheNotice.empty() ? Json() : Json(r.cacheNotice)},
          {"notes", r.notes},
          {"interrupted", r.interrupted},
          {"problems", std::move(problems)}};
}

} // namespace tilec::tuner
