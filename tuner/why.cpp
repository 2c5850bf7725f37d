#include "tuner/why.h"
#include "compiler/target/target.h"
#include "tuner/identity.h"
#include <algorithm>

namespace tilec::tuner {
namespace {

/// Leaves of a key's parts by dotted name.
void flatten(const Json &json, const std::string &prefix, std::map<std::string, Json> &into) {
  if (!json.is_object()) {
    into[prefix] = json;
    return;
  }
  for (const auto &[name, value] : json.items())
    flatten(value, prefix.empty() ? name : prefix + "." + name, into);
}

struct PartText {
  std::string_view part, text;
};
constexpr PartText partTexts[] = {
    {"schema", "the layout of the cache"},
    {"ir", "the kernel's code: its tile IR"},
    {"tool", "tilec itself: its version and code generator"},
    {"assembler", "the assembler"},
    {"arch", "the architecture"},
    {"capability", "the GPU's compute capability"},
    {"sms", "the GPU's number of multiprocessors"},
    {"extents", "the problem's size"},
    {"dtypes", "the problem's element types"},
    {"configuration", "the configuration"},
    {"policy", "how times are taken (cold, hot, graph: measured; model: predicted)"},
    {"verification", "how results are checked"},
};

/// Parts that follow from others: the IR is made of extents, dtypes and parameters.
bool follows(const std::string &part) { return part == "ir"; }

} // namespace

std::string describePart(std::string_view part) {
  std::string_view head = part.substr(0, part.find('.'));
  for (const PartText &p : partTexts)
    if (p.part == head)
      return std::string(p.text);
  return std::string(head);
}

std::vector<KeyDifference> keyDifferences(const TrialKey &wanted, const TrialKey &stored) {
  std::map<std::string, Json> a, b;
  flatten(wanted.parts, "", a);
  flatten(stored.parts, "", b);
  std::vector<KeyDifference> result;
  for (const auto &[part, value] : a)
    if (auto it = b.find(part); it == b.end() || it->second != value)
      result.push_back({part, value, it == b.end() ? Json() : it->second});
  for (const auto &[part, value] : b)
    if (!a.contains(part))
      result.push_back({part, Json(), value});
  std::ranges::stable_sort(result, {}, [](const KeyDifference &d) { return follows(d.part); });
  return result;
}

Json toJson(const KeyVerdict &v) {
  Json differences = Json::array();
  for (const KeyDifference &d : v.differences)
    differences.push_back(
        {{"part", d.part}, {"meaning", describePart(d.part)}, {"wanted", d.wanted}, {"stored", d.stored}});
  return {{"kernel", v.kernel},
          {"problem", toJson(v.problem)},
          {"configuration", toJson(v.configuration)},
          {"key", v.key},
          {"hit", v.hit},
          {"nearest", v.nearest ? toJson(*v.nearest) : Json()},
          {"differences", std::move(differences)}};
}

Result<KeyVerdict> explainKey(Cache &cache, const Recipe &recipe, Builder &builder, const Place &place,
                              const Values &given, const std::vector<Override> &overrides,
                              const EvaluatorOptions &options) {
  KeyVerdict v;
  v.kernel = builder.interface().name;
  v.problem = completeProblem(builder.interface(), given);
  TILEC_TRY(checkProblem(v.problem, builder.interface()));
  SpaceRequest request;
  request.interface = &builder.interface();
  request.arch = place.arch;
  request.problem = v.problem;
  request.overrides = recipe.space;
  request.overrides.insert(request.overrides.end(), overrides.begin(), overrides.end());
  if (auto own = builder.prepare({}, v.problem, *place.arch); own && own->program)
    request.sites = own->program->sites;
  TILEC_ASSIGN(Space space, enumerateSpace(request));
  v.configuration = space.configurations.front();

  auto evaluator = evaluatorFor(place, recipe, builder, options);
  TILEC_ASSIGN(Prepared prepared, builder.prepare(v.configuration, v.problem, *place.arch));
  TILEC_ASSIGN(KernelId kernel, kernelId(builder, *place.arch, v.problem));
  TrialKey key = trialKey({prepared.irHash, problemId(std::move(kernel), v.problem), evaluator->environment(),
                           v.configuration, evaluator->policy(), evaluator->verification(v.problem)});
  v.key = key.hash();
  if ((v.nearest = cache.find(key, false))) {
    v.hit = true;
    return v;
  }
  auto causes = [](const std::vector<KeyDifference> &differences) {
    return std::ranges::count_if(differences, [](const KeyDifference &d) { return !follows(d.part); });
  };
  for (TrialRecord &trial : cache.trialsOfKernel(v.kernel)) {
    std::vector<KeyDifference> differences = keyDifferences(key, trial.key);
    auto rank = [&](const std::vector<KeyDifference> &d) { return std::pair(causes(d), d.size()); };
    if (!v.nearest || rank(differences) < rank(v.differences)) {
      v.nearest = std::move(trial);
      v.differences = std::move(differences);
    }
  }
  return v;
}

} // namespace tilec::tuner
