#include "tuner/space.h"
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include <algorithm>
#include <set>

namespace tilec::tuner {
namespace {

/// One step of the walk: a parameter or a hint. A parameter without a domain is a step with one value that later
/// domains and conditions may name, but no axis: instantiation derives it again from the problem.
struct Level {
  std::string name;
  bool hint = false, axis = false;
  std::optional<LaunchExpr> otherwise;
  std::optional<sema::Domain> domain;
  std::vector<LaunchValue> fixed; ///< values given from outside; they take the place of the domain
  bool open = false;              ///< a hint that may be left to the compiler
  bool alone = false;             ///< varies only while all others of its kind have the file's own value
};

/// What is tried for a site's latency where the kernel gives no domain: near steps matter most.
constexpr int64_t latencies[] = {1, 2, 4, 6};

/// A condition with clause `let`s replaced by what they stand for, and the level after which its names are known (-1:
/// before the first). Absent: it names what only a launch knows.
struct Rule {
  const Condition *source;
  LaunchExpr expr;
  std::optional<int> level;
};

LaunchExpr inlineLets(LaunchExpr e, const std::map<std::string, LaunchExpr> &lets) {
  if (e.op == LaunchOp::Symbol) {
    auto it = lets.find(e.symbol);
    return it == lets.end() ? e : it->second;
  }
  for (LaunchExpr &arg : e.args)
    arg = inlineLets(std::move(arg), lets);
  return e;
}

void addSymbols(const LaunchExpr &e, std::set<std::string> &into) {
  for (std::string &s : symbols(e))
    into.insert(std::move(s));
}

class Walk {
public:
  explicit Walk(const SpaceRequest &request) : request(request) {
    env.values = request.problem;
    env.arch = std::string(request.arch->name);
  }

  Status prepare() {
    const sema::KernelInterface &k = *request.interface;
    for (const sema::ParamDecl &p : k.params) {
      if (request.problem.contains(p.name))
        continue; // bound by the problem, like an extent
      bool axis = p.kind != sema::ParamKind::DType && p.domain.has_value();
      levels.push_back({p.name, false, axis, p.otherwise, p.domain, {}});
    }
    addHints();
    for (const sema::TuneDecl &tune : k.tunes)
      if (appliesHere(tune.arch))
        for (const auto &[name, domain] : tune.axes)
          if (Level *level = find(name))
            level->domain = domain, level->axis = true;
    for (const Override &o : request.overrides)
      TILEC_TRY(apply(o));
    prepareRules();
    return {};
  }

  Result<Space> run() {
    TILEC_TRY(describeAxes());
    TILEC_ASSIGN(space.product, count(0));
    if (auto broken = firstBroken(-1); !broken)
      return std::unexpected(broken.error());
    else if (*broken)
      cut((*broken)->source->text, space.product);
    else
      TILEC_TRY(visit(0));
    TILEC_TRY(addTuned());
    if (space.configurations.empty())
      return emptySpace();
    defaultFirst();
    return std::move(space);
  }

  /// Follows one configuration down and says what stops it.
  Result<std::string> why(const Configuration &c) {
    TILEC_TRY(prepare());
    std::string outside;
    for (int i = -1; i < int(levels.size()); ++i) {
      if (i >= 0) {
        Level &level = levels[size_t(i)];
        TILEC_ASSIGN(std::vector<LaunchValue> legal, valuesOf(level));
        std::optional<LaunchValue> wanted = given(c, level);
        if (!wanted) {
          TILEC_ASSIGN(wanted, defaultOf(level, legal));
        }
        if (level.axis && outside.empty() && std::ranges::find(legal, *wanted) == legal.end())
          outside =
              fmt::format("{} = {} is not among its values {}", level.name, tilec::toString(*wanted), list(legal));
        bind(level, *wanted);
      }
      TILEC_ASSIGN(const Rule *broken, firstBroken(i));
      if (broken)
        return fmt::format("{}{}` fails", requiresPrefix, broken->source->text);
    }
    return outside;
  }

private:
  bool appliesHere(std::string_view arch) const { return arch.empty() || arch == request.arch->name; }

  Level *find(std::string_view name) {
    auto it = std::ranges::find(levels, name, &Level::name);
    return it == levels.end() ? nullptr : &*it;
  }

  void addHints() {
    // A clause for this architecture overrides the general one, hint by hint.
    for (bool general : {true, false})
      for (const sema::HintDecl &h : request.interface->hints) {
        if (h.arch.empty() != general || !appliesHere(h.arch))
          continue;
        Level level{h.name, true, h.domain.has_value(), h.value, h.domain, {}};
        if (Level *existing = find(h.name))
          *existing = std::move(level);
        else
          levels.push_back(std::move(level));
      }
    for (const sema::Site &site : request.sites)
      for (const auto &[hint, values] : site.domains) {
        Level level{fmt::format("{}.{}", site.name, hint), true, true, std::nullopt, std::nullopt, {}};
        level.domain.emplace();
        for (int64_t v : values)
          level.domain->values.push_back(LaunchExpr::constant(v));
        if (auto it = site.hints.find(hint); it != site.hints.end())
          level.otherwise = LaunchExpr::constant(it->second);
        levels.push_back(std::move(level));
      }
    if (request.accesses)
      for (const sema::Site &site : request.sites)
        for (const std::string &hint : accessHints(site.operation))
          if (!site.domains.contains(hint))
            levels.push_back(accessLevel(site, *findHint(hint)));
  }

  /// An axis for a hint that the kernel gives no domain: the kernel's own value, or the compiler's choice, and others.
  Level accessLevel(const sema::Site &site, const HintInfo &hint) const {
    Level level{fmt::format("{}.{}", site.name, hint.name), true, true, std::nullopt, sema::Domain(), {}};
    auto own = site.hints.find(std::string(hint.name));
    std::optional<int64_t> value = own != site.hints.end() ? own->second : hint.defaultValue;
    std::set<int64_t> values;
    for (int64_t v : legalValues(hint, request.arch))
      if (hint.kind != HintKind::Range || std::ranges::find(latencies, v) != std::end(latencies))
        values.insert(v);
    level.alone = true;
    level.open = !value;
    value = value.value_or(compilersChoice);
    values.insert(*value);
    level.otherwise = LaunchExpr::constant(*value);
    for (int64_t v : values)
      level.domain->values.push_back(LaunchExpr::constant(v));
    return level;
  }

  Status apply(const Override &o) {
    Level *level = find(o.name);
    if (!level && findHint(o.name) && findHint(o.name)->allowedOn(HintPlace::Kernel))
      level = &levels.emplace_back(Level{o.name, true, true, std::nullopt, std::nullopt, {}});
    if (!level && o.name.find('.') != std::string::npos) {
      // A hint of an access site without a domain in the source.
      std::string site = o.name.substr(0, o.name.rfind('.'));
      if (std::ranges::find(request.sites, site, &sema::Site::name) != request.sites.end())
        level = &levels.emplace_back(Level{o.name, true, true, std::nullopt, std::nullopt, {}});
    }
    if (!level) {
      std::vector<std::string> known;
      for (const Level &l : levels)
        known.push_back(l.name);
      for (std::string &hint : hintNames(HintPlace::Kernel))
        if (std::ranges::find(known, hint) == known.end())
          known.push_back(std::move(hint));
      return withHelp(usageError("kernel '{}' has no parameter or hint '{}'", request.interface->name, o.name),
                      suggest(o.name, known));
    }
    level->fixed = o.values;
    level->axis = true;
    level->open = level->alone = false;
    // What a person asks for by name is refused with its reason; a domain of the file is only narrowed.
    for (const LaunchValue &v : o.values)
      if (level->hint)
        TILEC_TRY(checkHintValue(*level, v));
    return {};
  }

  void prepareRules() {
    std::map<std::string, LaunchExpr> lets;
    for (const auto &[name, value] : request.interface->lets)
      lets[name] = inlineLets(value, lets);
    for (const Condition &c : request.interface->requirements) {
      Rule rule{&c, inlineLets(c.expr, lets), -1};
      for (const std::string &symbol : symbols(rule.expr)) {
        auto it = std::ranges::find(levels, symbol, &Level::name);
        if (it != levels.end() && rule.level)
          rule.level = std::max(*rule.level, int(it - levels.begin()));
        else if (it == levels.end() && !env.values.contains(symbol))
          rule.level.reset();
      }
      rules.push_back(std::move(rule));
    }
  }

  /// The values of a level under the choices made so far; never empty.
  Result<std::vector<LaunchValue>> valuesOf(const Level &level) {
    std::vector<LaunchValue> values = level.fixed;
    if (values.empty() && level.axis && level.domain) {
      TILEC_ASSIGN(values, sema::enumerate(*level.domain, env));
    }
    if (values.empty() && level.otherwise) {
      TILEC_ASSIGN(values.emplace_back(), tilec::evaluate(*level.otherwise, env));
    }
    if (values.empty() && level.domain) {
      TILEC_ASSIGN(values, sema::enumerate(*level.domain, env));
      values.resize(std::min<size_t>(values.size(), 1));
    }
    if (values.empty())
      return withHelp(programError("parameter '{}' of kernel '{}' has neither a default nor a value", level.name,
                                   request.interface->name),
                      fmt::format("give it with --set {}=…", level.name));
    // Values that depend on extents may coincide.
    std::vector<LaunchValue> distinct;
    for (const LaunchValue &v : values)
      if (std::ranges::find(distinct, v) == distinct.end())
        distinct.push_back(v);
    values = std::move(distinct);
    if (!level.hint)
      return values;
    std::vector<LaunchValue> legal;
    std::optional<Error> refused;
    for (const LaunchValue &v : values) {
      if (auto ok = checkHintValue(level, v); ok || isOpen(level, v))
        legal.push_back(v);
      else
        refused = ok.error();
    }
    if (legal.empty())
      return std::unexpected(*refused);
    return legal;
  }

  /// Of an access site's hint, the part after the last dot names it.
  Status checkHintValue(const Level &level, const LaunchValue &v) const {
    const HintInfo *hint = findHint(std::string_view(level.name).substr(level.name.rfind('.') + 1));
    if (!hint)
      return usageError("there is no hint '{}'", level.name);
    if (v.index() > 0 && !std::holds_alternative<bool>(v))
      return usageError("hint {} takes integers, not {}", level.name, tilec::toString(v));
    TILEC_TRY(checkHint(*hint, request.arch, hintValue(v)));
    return {};
  }
  static bool isOpen(const Level &level, const LaunchValue &v) {
    return level.open && v == LaunchValue(compilersChoice);
  }
  static int64_t hintValue(const LaunchValue &v) {
    return std::holds_alternative<bool>(v) ? std::get<bool>(v) : std::get<int64_t>(v);
  }

  /// The file's own value where it is among those allowed here.
  Result<LaunchValue> defaultOf(const Level &level, const std::vector<LaunchValue> &values) {
    if (level.otherwise) {
      TILEC_ASSIGN(LaunchValue own, tilec::evaluate(*level.otherwise, env));
      if (std::ranges::find(values, own) != values.end())
        return own;
    }
    return values.front();
  }

  void bind(const Level &level, const LaunchValue &value) {
    if (!level.hint)
      env.values[level.name] = value;
  }

  static std::string list(const std::vector<LaunchValue> &values) {
    std::string text;
    for (const LaunchValue &v : values)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", tilec::toString(v));
    return "{" + text + "}";
  }

  std::optional<LaunchValue> given(const Configuration &c, const Level &level) const {
    if (auto it = c.hints.find(level.name); level.hint && it != c.hints.end())
      return it->second;
    if (auto it = c.parameters.find(level.name); !level.hint && it != c.parameters.end())
      return it->second;
    return std::nullopt;
  }

  Status describeAxes() {
    LaunchEnv saved = env;
    for (const Level &level : levels) {
      TILEC_ASSIGN(std::vector<LaunchValue> values, valuesOf(level));
      TILEC_ASSIGN(LaunchValue own, defaultOf(level, values));
      bind(level, own);
      if (level.axis)
        space.axes.push_back({level.name, level.hint, std::move(values), own, level.open});
    }
    env = std::move(saved);
    return {};
  }

  /// The first condition decided at a level that fails there, or null.
  Result<const Rule *> firstBroken(int level) {
    for (const Rule &rule : rules) {
      if (rule.level != level)
        continue;
      TILEC_ASSIGN(bool holds, evaluateBool(rule.expr, env));
      if (!holds)
        return &rule;
    }
    return nullptr;
  }

  void cut(const std::string &condition, uint64_t removed) {
    auto it = std::ranges::find(space.cuts, condition, &Cut::condition);
    if (it == space.cuts.end())
      space.cuts.push_back({condition, removed});
    else
      it->removed += removed;
  }

  /// Configurations from a level on, without conditions. A level that no later domain names multiplies.
  Result<uint64_t> count(size_t from) {
    if (from == levels.size())
      return 1;
    TILEC_ASSIGN(std::vector<LaunchValue> values, valuesOf(levels[from]));
    if (levels[from].alone) {
      TILEC_ASSIGN(uint64_t total, count(from + 1));
      if (!departed && values.size() > 1) {
        departed = true;
        TILEC_ASSIGN(uint64_t below, count(from + 1));
        departed = false;
        total += (values.size() - 1) * below;
      }
      return total;
    }
    if (!namedBelow(from)) {
      bind(levels[from], values.front());
      TILEC_ASSIGN(uint64_t below, count(from + 1));
      return values.size() * below;
    }
    uint64_t total = 0;
    for (const LaunchValue &v : values) {
      bind(levels[from], v);
      TILEC_ASSIGN(uint64_t below, count(from + 1));
      total += below;
    }
    return total;
  }

  bool namedBelow(size_t from) const {
    std::set<std::string> used;
    for (const Level &level : std::span(levels).subspan(from + 1)) {
      if (level.otherwise)
        addSymbols(*level.otherwise, used);
      if (!level.domain)
        continue;
      for (const LaunchExpr &e : level.domain->values)
        addSymbols(e, used);
      for (const auto &ends : {level.domain->range, level.domain->pow2})
        if (ends)
          addSymbols(ends->first, used), addSymbols(ends->second, used);
    }
    return used.contains(levels[from].name);
  }

  Status visit(size_t index) {
    if (index == levels.size()) {
      if (space.configurations.size() == request.limit)
        return withHelp(usageError("the space of kernel '{}' has more than {} configurations", request.interface->name,
                                   request.limit),
                        "narrow it with --set NAME=VALUE,VALUE");
      add(chosen);
      return {};
    }
    const Level &level = levels[index];
    TILEC_ASSIGN(std::vector<LaunchValue> values, valuesOf(level));
    TILEC_ASSIGN(LaunchValue own, defaultOf(level, values));
    bool before = departed;
    for (const LaunchValue &value : values) {
      bool departs = level.alone && value != own;
      if (departs && before)
        continue;
      departed = before || departs;
      bind(level, value);
      choose(level, value);
      TILEC_ASSIGN(const Rule *broken, firstBroken(int(index)));
      if (!broken) {
        TILEC_TRY(visit(index + 1));
        continue;
      }
      TILEC_ASSIGN(uint64_t removed, count(index + 1));
      cut(broken->source->text, removed);
    }
    departed = before;
    env.values.erase(level.name);
    return {};
  }

  void choose(const Level &level, const LaunchValue &value) {
    if (!level.axis)
      return;
    if (!level.hint)
      chosen.parameters[level.name] = value;
    else if (isOpen(level, value))
      chosen.hints.erase(level.name);
    else
      chosen.hints[level.name] = hintValue(value);
  }

  void add(const Configuration &c) {
    space.configurations.push_back(c);
    space.configurations.back().id = int(space.configurations.size()) - 1;
  }

  /// `tune (NAME = v, …)`: the defaults with some values replaced, where that is not in the space already.
  Status addTuned() {
    for (const sema::TuneDecl &tune : request.interface->tunes) {
      if (!appliesHere(tune.arch) || tune.configuration.empty())
        continue;
      Configuration c = defaults();
      for (const auto &[name, expr] : tune.configuration) {
        TILEC_ASSIGN(LaunchValue value, tilec::evaluate(expr, env));
        Level *level = find(name);
        if (level && !level->hint)
          c.parameters[name] = value;
        else if (auto v = std::get_if<int64_t>(&value))
          c.hints[name] = *v;
      }
      if (std::ranges::none_of(space.configurations, [&](const Configuration &o) { return same(o, c); }))
        add(c);
    }
    return {};
  }

  static bool same(const Configuration &a, const Configuration &b) {
    return a.parameters == b.parameters && a.hints == b.hints;
  }

  Configuration defaults() const {
    Configuration c;
    for (const Axis &axis : space.axes)
      if (!axis.hint)
        c.parameters[axis.name] = axis.otherwise;
      else if (!axis.open || axis.otherwise != LaunchValue(compilersChoice))
        c.hints[axis.name] = hintValue(axis.otherwise);
    return c;
  }

  /// The file's own configuration gets number 0; the others keep their order.
  void defaultFirst() {
    Configuration own = defaults();
    auto &all = space.configurations;
    auto it = std::ranges::find_if(all, [&](const Configuration &c) { return same(c, own); });
    if (it == all.end())
      space.notes.push_back(
          fmt::format("the kernel's own configuration ({}) is not eligible for this problem", toString(own)));
    else
      std::rotate(all.begin(), it, it + 1);
    for (size_t i = 0; i < all.size(); ++i)
      all[i].id = int(i);
  }

  std::unexpected<Error> emptySpace() const {
    std::string reasons;
    for (const Cut &c : space.cuts)
      reasons += fmt::format("{}`requires {}` removes {}", reasons.empty() ? "" : "; ", c.condition, c.removed);
    return withHelp(programError("no configuration of kernel '{}' is eligible for {}: {}", request.interface->name,
                                 toString(request.problem), reasons),
                    "widen an axis with --set NAME=VALUE,VALUE");
  }

  const SpaceRequest &request;
  std::vector<Level> levels;
  std::vector<Rule> rules;
  LaunchEnv env;
  Configuration chosen;
  bool departed = false; ///< an axis that varies alone has another than the file's own value
  Space space;
};

} // namespace

std::string toString(const Configuration &c) {
  std::string text;
  for (const auto &[name, value] : c.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, tilec::toString(value));
  for (const auto &[name, value] : c.hints)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "defaults" : text;
}

Json toJson(const Configuration &c) {
  Json hints = Json::object();
  for (const auto &[name, value] : c.hints)
    hints[name] = value;
  return {{"parameters", toJson(c.parameters)}, {"hints", std::move(hints)}};
}

Result<Configuration> configurationFromJson(const Json &json) {
  Configuration c;
  if (!json.is_object() || !json.contains("parameters") || !json.contains("hints") || !json["hints"].is_object())
    return usageError("this is no configuration: {}", toText(json, -1));
  TILEC_ASSIGN(c.parameters, valuesFromJson(json["parameters"]));
  for (const auto &[name, value] : json["hints"].items()) {
    if (!value.is_number_integer())
      return usageError("hint '{}' of a configuration is no integer", name);
    c.hints[name] = value.get<int64_t>();
  }
  return c;
}

Values completeProblem(const sema::KernelInterface &interface, Values problem) {
  for (const sema::ParamDecl &p : interface.params)
    if (p.kind == sema::ParamKind::DType && !problem.contains(p.name)) {
      std::optional<LaunchExpr> choice = p.otherwise;
      if (!choice && p.domain && !p.domain->values.empty())
        choice = p.domain->values.front();
      if (!choice)
        continue;
      LaunchEnv env;
      env.values = problem;
      if (auto value = tilec::evaluate(*choice, env))
        problem[p.name] = *value;
    }
  return problem;
}

Result<Space> enumerateSpace(const SpaceRequest &request) {
  Walk walk(request);
  TILEC_TRY(walk.prepare());
  return walk.run();
}

Result<std::string> whyNot(const SpaceRequest &request, const Configuration &configuration) {
  return Walk(request).why(configuration);
}

} // namespace tilec::tuner
