#include "tuner/tuned.h"
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "tuner/identity.h"
#include <algorithm>
#include <cmath>

namespace tilec::tuner {
namespace {

std::string timeText(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6) : fmt::format("{:.4g} ms", seconds * 1e3);
}

/// Distance of two problems: sum of |log2| of the ratios of their numbers. Nothing when they differ in kind.
std::optional<double> distance(const Values &a, const Values &b) {
  if (a.size() != b.size())
    return std::nullopt;
  double sum = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    auto *i = std::get_if<int64_t>(&x->second), *j = std::get_if<int64_t>(&y->second);
    if (x->first != y->first || (!(i && j) && x->second != y->second))
      return std::nullopt;
    if (i && j && *i != *j)
      sum += *i > 0 && *j > 0 ? std::abs(std::log2(double(*i) / double(*j))) : 64;
  }
  return sum;
}

class Lookup {
public:
  Lookup(Cache &cache, Builder &builder, const Arch &arch) : cache(cache), builder(builder), arch(arch) {}

  Result<Tuned> run(const Values &problem) {
    TILEC_ASSIGN(kernel, kernelId(builder, arch, problem));
    if (auto exact = best(problem, problem))
      return std::move(*exact);
    // Nearest first; of equally near ones the one whose text comes first.
    std::vector<std::pair<double, Values>> near;
    for (const CacheEntry &entry : cache.list()) {
      auto stored = parseValues(entry.problem);
      if (entry.kernel != kernel.name || entry.arch != arch.compiledAs || !stored)
        continue;
      if (auto d = distance(*stored, problem); d && *d > 0)
        near.emplace_back(*d, std::move(*stored));
    }
    std::ranges::sort(near, [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first < b.first : toString(a.second) < toString(b.second);
    });
    for (const auto &[d, stored] : near)
      if (auto found = best(stored, problem)) {
        found->exact = false;
        found->text = fmt::format("{}; {} itself was never tuned", found->text, toString(problem));
        return std::move(*found);
      }
    return withHelp(usageError("kernel '{}' was not tuned for {} on {}", kernel.name, toString(problem), arch.name),
                    fmt::format("run tilec tune {} --problem {} --arch {}", shellQuote(builder.file()),
                                shellQuote(toString(problem)), arch.name));
  }

private:
  /// The best choice stored for one problem that `target` can use.
  std::optional<Tuned> best(const Values &stored, const Values &target) {
    ProblemId id = problemId(kernel, stored);
    if (auto pinned = cache.pinned(id, arch.compiledAs); pinned && usable(*pinned, target, nullptr))
      return choice(*pinned, stored, fmt::format("{} for {}, pinned", toString(*pinned), toString(stored)), true);
    std::vector<TrialRecord> trials = cache.trials(id, arch.compiledAs);
    // What any check has called wrong is no choice, even where another run did not check it.
    std::set<std::string> refuted;
    for (const TrialRecord &t : trials)
      if (isFailure(t.measurement.status) && t.verification != notVerified)
        refuted.insert(toString(t.configuration));
    std::erase_if(trials, [&](const TrialRecord &t) { return refuted.contains(toString(t.configuration)); });
    struct Kind {
      bool verified, measured;
    };
    for (Kind kind : {Kind{true, true}, {true, false}, {false, true}, {false, false}}) {
      auto [verified, measured] = kind;
      std::vector<TrialRecord> group;
      // One GPU's times by one policy, those of the newest trial: others do not compare. Cold ones come first.
      for (std::string_view policy : {"cold", "hot", "graph", "model"})
        for (TrialRecord &t : trials)
          if ((t.measurement.status == TrialStatus::Ok) == measured && (t.verification != notVerified) == verified &&
              !isFailure(t.measurement.status) && t.policy == policy &&
              (group.empty() || (group.front().environment.gpu == t.environment.gpu && group.front().policy == policy)))
            group.push_back(t);
      while (!group.empty()) {
        std::vector<Ranked> ranked;
        for (const TrialRecord &t : group)
          ranked.push_back(rankedOf(t));
        std::optional<size_t> first = chooseWinner(ranked);
        if (!first)
          break;
        const TrialRecord &t = group[*first];
        Configuration c = stored == target ? t.configuration : withoutDefaults(t.configuration, stored);
        if (usable(c, target, stored == target ? &t : nullptr))
          return choice(
              c, stored,
              fmt::format("{} for {}, {} {}{}", toString(c), toString(stored),
                          measured ? "measured" : "predicted (not measured)", timeText(t.measurement.median),
                          measured ? " on " + t.environment.gpu + (t.policy == "cold" ? "" : ", " + t.policy) : "") +
                  (verified ? "" : "; not verified"),
              measured);
        group.erase(group.begin() + long(*first));
      }
    }
    return std::nullopt;
  }

  Tuned choice(const Configuration &c, const Values &stored, std::string text, bool measured) const {
    Tuned t;
    t.parameters = c.parameters;
    t.hints = c.hints;
    t.text = std::move(text);
    t.problem = stored;
    t.measured = measured;
    return t;
  }

  /// A configuration for another problem: where it took the file's own value, which may depend on extents, the other
  /// problem takes its own as well.
  Configuration withoutDefaults(Configuration c, const Values &stored) const {
    SpaceRequest request;
    request.interface = &builder.interface();
    request.arch = &arch;
    request.problem = stored;
    if (auto space = enumerateSpace(request))
      for (const Axis &axis : space->axes)
        if (auto it = c.parameters.find(axis.name); it != c.parameters.end() && it->second == axis.otherwise)
          c.parameters.erase(it);
    return c;
  }

  /// Whether a configuration makes a program for the problem, of the very IR that the trial had.
  bool usable(const Configuration &c, const Values &target, const TrialRecord *trial) {
    SpaceRequest request;
    request.interface = &builder.interface();
    request.arch = &arch;
    request.problem = target;
    // What `requires` refuses is no choice; a value outside its axis may have come from --set and is one.
    if (auto why = whyNot(request, c); why && why->starts_with(requiresPrefix))
      return false;
    auto prepared = builder.prepare(c, target, arch);
    return prepared && (!trial || trial->key.parts.value("ir", "") == prepared->irHash);
  }

  Cache &cache;
  Builder &builder;
  const Arch &arch;
  KernelId kernel;
};

} // namespace

Result<Tuned> lookupTuned(Cache &cache, driver::Source &source, const sema::KernelInterface &interface,
                          const sema::Bindings &bindings, const Arch &arch) {
  TILEC_ASSIGN(auto builder, openBuilder(source.path, interface.name));
  Values problem(bindings.problem.begin(), bindings.problem.end()), given = problem;
  for (const auto &[name, value] : bindings.defines) {
    given[name] = value;
    auto param = std::ranges::find(interface.params, name, &sema::ParamDecl::name);
    bool isDType = param != interface.params.end() && param->kind == sema::ParamKind::DType;
    bool isSymbol = std::ranges::find(interface.symbols, name) != interface.symbols.end();
    if (isDType || isSymbol)
      problem[name] = value;
  }
  problem = completeProblem(interface, std::move(problem));
  if (auto ok = checkProblem(problem, interface); !ok)
    return withHelp(usageError("--tuned needs to know the problem: {}", ok.error().message),
                    "give it with --problem NAME=VALUE,…");
  // A parameter may be part of the problem that was tuned (a head size) or of the configuration (a tile).
  Lookup lookup(cache, *builder, arch);
  if (given = completeProblem(interface, std::move(given)); given != problem)
    if (auto found = lookup.run(given))
      return found;
  return lookup.run(problem);
}

Result<Tuned> lookupTuned(driver::Source &source, const sema::KernelInterface &interface,
                          const sema::Bindings &bindings, const Arch &arch) {
  TILEC_ASSIGN(Cache cache, Cache::open(Cache::defaultFile()));
  return lookupTuned(cache, source, interface, bindings, arch);
}

} // namespace tilec::tuner
