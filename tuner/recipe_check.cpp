// A recipe against its kernel, and tolerances as numbers.
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "tuner/recipe.h"
#include <cmath>
#include <set>

namespace tilec::tuner {
namespace {

template <typename T> std::vector<std::string> names(const std::vector<T> &items) {
  std::vector<std::string> result;
  for (const T &item : items)
    result.push_back(item.name);
  return result;
}

/// Names that a problem may give: extents and strides, scalars, parameters.
std::vector<std::string> problemNames(const sema::KernelInterface &interface) {
  std::vector<std::string> known = interface.symbols;
  for (auto &list : {names(interface.scalars), names(interface.params)})
    known.insert(known.end(), list.begin(), list.end());
  return known;
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
    double x = std::holds_alternative<int64_t>(value)  ? double(std::get<int64_t>(value))
               : std::holds_alternative<double>(value) ? std::get<double>(value)
                                                       : NAN;
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

Status checkProblem(const Values &problem, const sema::KernelInterface &interface) {
  std::vector<std::string> known = problemNames(interface);
  for (const auto &[name, value] : problem)
    if (!has(known, name))
      return withHelp(usageError("kernel '{}' has no extent, scalar or parameter '{}'", interface.name, name),
                      suggest(name, known));
  for (const auto &list : {interface.symbols, names(interface.scalars)})
    for (const std::string &name : list)
      if (!problem.contains(name))
        return withHelp(
            usageError("the problem '{}' gives '{}' of kernel '{}' no value", toString(problem), name, interface.name),
            fmt::format("add {}=…", name));
  return {};
}

Status checkRecipe(const Recipe &recipe, const sema::KernelInterface &interface, Diagnostics &diags) {
  using Kind = Recipe::Use::Kind;
  size_t before = diags.errorCount();
  auto inspect = [&](const Recipe::Use &use, const std::vector<std::string> &known, std::string_view what) {
    if (!has(known, use.name))
      diags
          .report(Diag::RecipeName, use.span, fmt::format("kernel '{}' has no {} '{}'", interface.name, what, use.name))
          .help = suggest(use.name, known);
  };
  std::vector<std::string> problem = problemNames(interface), axes = names(interface.params);
  for (std::string &hint : hintNames(HintPlace::Kernel))
    axes.push_back(std::move(hint));
  for (const Recipe::Use &use : recipe.uses) {
    switch (use.kind) {
    case Kind::Problem:
      inspect(use, problem, "extent, scalar or parameter");
      break;
    case Kind::Figure:
      inspect(use, problem, "extent, scalar or parameter");
      break;
    case Kind::Input:
      inspect(use, names(interface.arrays), "array");
      break;
    case Kind::Output:
      inspect(use, outputNames(interface), "output");
      break;
    case Kind::Axis:
      // Hints of access sites (a.load.latency) are known only after instantiation; the space checks them.
      if (use.name.find('.') == std::string::npos)
        inspect(use, axes, "parameter or hint");
      break;
    }
  }
  if (size_t n = diags.errorCount() - before)
    return usageError("{} error{} in recipe {}", n, n == 1 ? "" : "s", recipe.path);
  for (const auto *list : {&recipe.check, &recipe.problems})
    for (const Values &p : *list)
      TILEC_TRY(checkProblem(p, interface));
  return {};
}

} // namespace tilec::tuner
