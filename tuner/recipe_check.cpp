// A recipe against its kernel, and tolerances as numbers.
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "runtime/inputs.h"
#include "tuner/recipe.h"
#include <cmath>

namespace tilec::tuner {
namespace {

template <typename T> std::vector<std::string> names(const std::vector<T> &items) {
  std::vector<std::string> result;
  for (const T &item : items)
    result.push_back(item.name);
  return result;
}

std::vector<std::string> inputNames(const sema::KernelInterface &interface) {
  std::vector<std::string> result;
  for (const ArraySpec &a : interface.arrays)
    if (a.mode == ArrayMode::In || a.mode == ArrayMode::InOut)
      result.push_back(a.name);
  return result;
}

std::vector<std::string> outputNames(const sema::KernelInterface &interface) {
  std::vector<std::string> result;
  for (const ArraySpec &a : interface.arrays)
    if (a.mode == ArrayMode::Out || a.mode == ArrayMode::InOut)
      result.push_back(a.name);
  return result;
}

bool has(const std::vector<std::string> &list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

} // namespace

Tolerance defaultTolerance(DType dtype) {
  Tolerance t;
  if (!isFloat(dtype))
    return t;
  t.ulp = LaunchExpr::constant(int64_t(4));
  t.rel = LaunchExpr::constant(16 * epsilon(DType::f32));
  t.abs = LaunchExpr::constant(16 * epsilon(DType::f32));
  return t;
}

Result<Bound> evaluate(const Tolerance &tolerance, const Values &problem) {
  LaunchEnv env;
  env.values = problem;
  auto number = [&](const std::optional<LaunchExpr> &expr) -> Result<double> {
    if (!expr)
      return 0.0;
    TILEC_ASSIGN(LaunchValue value, tilec::evaluate(*expr, env));
    auto *integer = std::get_if<int64_t>(&value);
    auto *real = std::get_if<double>(&value);
    double x = integer ? double(*integer) : real ? *real : NAN;
    if (!(x >= 0) || std::isinf(x))
      return usageError("the tolerance '{}' is no finite number from 0 on", toString(*expr));
    return x;
  };
  Bound bound;
  TILEC_ASSIGN(double ulp, number(tolerance.ulp));
  bound.ulp = int64_t(std::min(ulp, 1e15));
  TILEC_ASSIGN(bound.rel, number(tolerance.rel));
  TILEC_ASSIGN(bound.abs, number(tolerance.abs));
  TILEC_ASSIGN(double terms, number(tolerance.terms));
  TILEC_ASSIGN(double scale, number(tolerance.scale));
  bound.abs += terms * std::ldexp(1.0, -24) * scale;
  return bound;
}

Result<Override> parseOverride(std::string_view text) {
  size_t eq = text.find('=');
  Override result{std::string(trim(text.substr(0, eq))), {}};
  if (eq == std::string_view::npos || result.name.empty())
    return withHelp(usageError("'{}' gives no axis its values", text), "write NAME=VALUE or NAME=VALUE,VALUE");
  for (const std::string &part : split(text.substr(eq + 1), ',')) {
    TILEC_ASSIGN(result.values.emplace_back(), parseValue(part));
  }
  return result;
}

Result<Override> parseRange(std::string_view text) {
  constexpr int64_t most = 10'000;
  constexpr std::string_view help = "write NAME=LO..=HI or NAME=pow2(LO, HI); --set NAME=VALUE,VALUE lists values";
  size_t eq = text.find('=');
  Override result{std::string(trim(text.substr(0, eq))), {}, true};
  std::string_view rest = eq == std::string_view::npos ? "" : trim(text.substr(eq + 1));
  bool powers = rest.starts_with("pow2(") && rest.ends_with(')');
  std::string_view ends = powers ? rest.substr(5, rest.size() - 6) : rest;
  std::string_view between = powers ? "," : "..=";
  size_t middle = ends.find(between);
  if (result.name.empty() || middle == std::string_view::npos)
    return withHelp(usageError("'{}' gives no axis a range", text), std::string(help));
  TILEC_ASSIGN(LaunchValue low, parseValue(ends.substr(0, middle)));
  TILEC_ASSIGN(LaunchValue high, parseValue(ends.substr(middle + between.size())));
  auto *from = std::get_if<int64_t>(&low), *to = std::get_if<int64_t>(&high);
  if (!from || !to)
    return withHelp(usageError("the ends of the range '{}' are no integers", rest), std::string(help));
  if (powers)
    for (int64_t v = 1; v > 0 && v <= *to; v = v > INT64_MAX / 2 ? 0 : v * 2) {
      if (v >= *from)
        result.values.push_back(v);
    }
  else if (*from <= *to && *to - *from >= most)
    return usageError("the range '{}' has more than {} values", rest, most);
  else
    for (int64_t v = *from; v <= *to; ++v)
      result.values.push_back(v);
  if (result.values.empty())
    return withHelp(usageError("the range '{}' is empty", rest), std::string(help));
  return result;
}

namespace {

/// Holds one recipe against one kernel.
class RecipeCheck {
public:
  RecipeCheck(const Recipe &recipe, const sema::KernelInterface &interface, Diagnostics &diags)
      : recipe(recipe), interface(interface), diags(diags) {}

  void run() {
    size_t before = diags.errorCount();
    for (const Recipe::Use &use : recipe.uses)
      check(use);
    // A wrong value would be reported again for every problem that it is part of.
    if (diags.errorCount() != before)
      return;
    for (const auto *list : {&recipe.check, &recipe.problems})
      for (size_t i = 0; i < list->size(); ++i)
        problem((*list)[i], (list == &recipe.check ? recipe.checkPlaces : recipe.problemPlaces)[i]);
    if (diags.errorCount() == before)
      for (const Recipe::Use &use : recipe.uses)
        underProblems(use);
  }

private:
  using Use = Recipe::Use;
  using Kind = Recipe::Use::Kind;

  const Recipe &recipe;
  const sema::KernelInterface &interface;
  Diagnostics &diags;

  /// The error of a check, if it failed, at a place.
  bool hold(const Status &status, Diag diag, Span span) {
    if (!status)
      diags.report(diag, span, status.error().message).help = status.error().help;
    return status.has_value();
  }
  bool isKnown(const Use &use, const std::vector<std::string> &known, std::string_view what) {
    if (has(known, use.name))
      return true;
    diags.report(Diag::RecipeName, use.span, fmt::format("kernel '{}' has no {} '{}'", interface.name, what, use.name))
        .help = suggest(use.name, known);
    return false;
  }

  void check(const Use &use) {
    switch (use.kind) {
    case Kind::Problem:
      if (isKnown(use, problemNames(interface), "extent, scalar or parameter"))
        for (const LaunchValue &value : use.values)
          if (!hold(checkValue(use.name, value, {}, interface), Diag::RecipeValue, use.valueSpan))
            break;
      break;
    case Kind::Name:
      isKnown(use, problemNames(interface), "extent, scalar or parameter");
      break;
    case Kind::Input:
      if (isKnown(use, inputNames(interface), "input")) {
        auto d = runtime::parseDistribution(recipe.inputs.at(use.name));
        if (!d)
          hold(std::unexpected(d.error()), Diag::RecipeValue, use.valueSpan);
      }
      break;
    case Kind::Output:
      isKnown(use, outputNames(interface), "output");
      break;
    case Kind::Axis:
      axis(use);
      break;
    }
  }

  /// Which sites a kernel has (a.load.latency) is known only after instantiation; the space checks those.
  void axis(const Use &use) {
    std::vector<std::string> axes = names(interface.params);
    for (std::string &hint : hintNames(HintPlace::Kernel))
      axes.push_back(std::move(hint));
    if (use.name.find('.') == std::string::npos && !isKnown(use, axes, "parameter or hint"))
      return;
    bool isParameter = has(names(interface.params), use.name);
    hold(checkOverride({use.name, use.values}, interface, nullptr),
         isParameter || !use.values.empty() ? Diag::RecipeValue : Diag::RecipeName, use.valueSpan);
  }

  void problem(const Values &values, Span place) { hold(checkProblem(values, interface), Diag::RecipeValue, place); }

  /// Inputs and tolerances depend on the problem: the first one that makes them wrong is named.
  void underProblems(const Use &use) {
    std::vector<Values> problems = recipe.check;
    problems.insert(problems.end(), recipe.problems.begin(), recipe.problems.end());
    if (problems.empty())
      problems.emplace_back();
    for (const Values &values : problems)
      if (use.kind == Kind::Input) {
        size_t i = size_t(std::ranges::find(interface.arrays, use.name, &ArraySpec::name) - interface.arrays.begin());
        auto dtype = dtypeUnder(interface.arrayDTypes[i], values, interface);
        auto d = runtime::parseDistribution(recipe.inputs.at(use.name));
        if (dtype && d && !hold(runtime::checkDistribution(*d, *dtype), Diag::RecipeValue, use.valueSpan))
          return;
      } else if (use.kind == Kind::Output && !values.empty()) {
        auto bound = evaluate(recipe.tolerance.at(use.name), values);
        if (!bound) {
          hold(std::unexpected(bound.error()), Diag::RecipeValue, use.valueSpan);
          return;
        }
      }
  }
};

} // namespace

Status checkRecipe(const Recipe &recipe, const sema::KernelInterface &interface, Diagnostics &diags) {
  size_t before = diags.errorCount();
  RecipeCheck(recipe, interface, diags).run();
  if (size_t n = diags.errorCount() - before)
    return usageError("{} error{} in recipe {}", n, n == 1 ? "" : "s", recipe.path);
  return {};
}

} // namespace tilec::tuner
