// Values from outside (-D, --problem, --set, recipes) against the kernel that they are for.
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "runtime/inputs.h"
#include "tuner/recipe.h"
#include <algorithm>
#include <filesystem>

namespace tilec::tuner {
namespace {

constexpr std::string_view kindNames[] = {"an integer", "a bool", "a float", "a dtype"};

bool isNumber(const LaunchValue &v) { return std::holds_alternative<int64_t>(v) || std::holds_alternative<double>(v); }

Status wrong(std::string_view what, std::string_view name, std::string_view wanted, const LaunchValue &found) {
  return usageError("the {} '{}' is {}, not {}", what, name, wanted, toString(found));
}

/// A parameter has a kind; a dtype parameter has its set as well. (Other domains are advice: tuning tries no more.)
Status checkParameter(const sema::ParamDecl &p, const LaunchValue &value) {
  auto *number = std::get_if<int64_t>(&value);
  bool fits = false;
  switch (p.kind) {
  case sema::ParamKind::Int:
    fits = number;
    break;
  case sema::ParamKind::Bool:
    fits = std::holds_alternative<bool>(value) || (number && (*number == 0 || *number == 1));
    break;
  case sema::ParamKind::Float:
    fits = isNumber(value);
    break;
  case sema::ParamKind::DType:
    fits = std::holds_alternative<DType>(value);
    break;
  }
  if (!fits)
    return wrong("parameter", p.name, kindNames[size_t(p.kind)], value);
  if (p.kind != sema::ParamKind::DType || !p.domain)
    return {};
  auto domain = enumerate(*p.domain, {});
  if (!domain || std::ranges::find(*domain, value) != domain->end())
    return {};
  std::vector<std::string> texts;
  for (const LaunchValue &v : *domain)
    texts.push_back(toString(v));
  return wrong("parameter", p.name, "one of " + join(texts, ", "), value);
}

Status checkScalar(const ScalarSpec &scalar, std::optional<DType> dtype, const LaunchValue &value) {
  if (!dtype)
    return std::holds_alternative<DType>(value) ? wrong("scalar", scalar.name, "a number or a bool", value) : Status();
  auto *number = std::get_if<int64_t>(&value);
  if (*dtype == DType::bool_)
    return std::holds_alternative<bool>(value) ? Status() : wrong("scalar", scalar.name, "true or false", value);
  if (isFloat(*dtype))
    return isNumber(value) ? Status()
                           : wrong("scalar", scalar.name, fmt::format("a number of dtype {}", name(*dtype)), value);
  if (!number)
    return wrong("scalar", scalar.name, fmt::format("an integer of dtype {}", name(*dtype)), value);
  if (!fitsInt(*dtype, *number))
    return wrong("scalar", scalar.name,
                 fmt::format("an integer of dtype {}, from {} to {}", name(*dtype), minInt(*dtype), maxInt(*dtype)),
                 value);
  return {};
}

/// An extent is from 0 on; a stride may be negative.
Status checkSymbol(const sema::KernelInterface &interface, const std::string &name, const LaunchValue &value) {
  bool isExtent = std::ranges::any_of(interface.arrays, [&](const ArraySpec &a) {
    return std::ranges::find(a.extents, LaunchExpr::name(name)) != a.extents.end();
  });
  auto *number = std::get_if<int64_t>(&value);
  if (number && (!isExtent || *number >= 0))
    return {};
  return isExtent ? wrong("extent", name, "an integer from 0 on", value) : wrong("stride", name, "an integer", value);
}

} // namespace

std::vector<std::string> problemNames(const sema::KernelInterface &interface) {
  std::vector<std::string> known = interface.symbols;
  for (const ScalarSpec &s : interface.scalars)
    known.push_back(s.name);
  for (const sema::ParamDecl &p : interface.params)
    known.push_back(p.name);
  return known;
}

std::optional<DType> dtypeUnder(const LaunchExpr &dtype, const Values &values, const sema::KernelInterface &interface) {
  LaunchEnv env;
  env.values = values;
  for (const sema::ParamDecl &p : interface.params)
    if (p.kind == sema::ParamKind::DType && p.otherwise && !values.contains(p.name))
      if (auto value = tilec::evaluate(*p.otherwise, env))
        env.values.emplace(p.name, *value);
  auto value = tilec::evaluate(dtype, env);
  auto *found = value ? std::get_if<DType>(&*value) : nullptr;
  return found ? std::optional(*found) : std::nullopt;
}

Status checkValue(const std::string &name, const LaunchValue &value, const Values &others,
                  const sema::KernelInterface &interface) {
  for (const sema::ParamDecl &p : interface.params)
    if (p.name == name)
      return checkParameter(p, value);
  for (size_t i = 0; i < interface.scalars.size(); ++i)
    if (interface.scalars[i].name == name)
      return checkScalar(interface.scalars[i], dtypeUnder(interface.scalarDTypes[i], others, interface), value);
  if (std::ranges::find(interface.symbols, name) != interface.symbols.end())
    return checkSymbol(interface, name, value);
  return withHelp(usageError("kernel '{}' has no parameter, extent or scalar '{}'", interface.name, name),
                  suggest(name, problemNames(interface)));
}

Status checkOverride(const Override &axis, const sema::KernelInterface &interface, const Arch *arch) {
  auto param = std::ranges::find(interface.params, axis.name, &sema::ParamDecl::name);
  std::string_view last = std::string_view(axis.name).substr(axis.name.rfind('.') + 1);
  bool isSite = last.size() < axis.name.size();
  const HintInfo *hint = param == interface.params.end() ? findHint(last) : nullptr;
  if (param == interface.params.end() && (!hint || (!isSite && !hint->allowedOn(HintPlace::Kernel)))) {
    std::vector<std::string> known = hintNames(HintPlace::Kernel);
    for (const sema::ParamDecl &p : interface.params)
      known.push_back(p.name);
    return withHelp(usageError("kernel '{}' has no parameter or hint '{}'", interface.name, axis.name),
                    suggest(axis.name, known));
  }
  for (const LaunchValue &value : axis.values) {
    if (!hint) {
      TILEC_TRY(checkParameter(*param, value));
      continue;
    }
    auto *flag = std::get_if<bool>(&value);
    auto *number = std::get_if<int64_t>(&value);
    if (!flag && !number)
      return wrong("hint", axis.name, "an integer, true or false", value);
    if (!checkHint(*hint, arch, flag ? *flag : *number))
      return wrong("hint", axis.name, legalText(*hint, arch), value);
  }
  return {};
}

Result<Override> legalPart(Override axis, const sema::KernelInterface &interface, const Arch *arch) {
  const HintInfo *hint = findHint(std::string_view(axis.name).substr(axis.name.rfind('.') + 1));
  if (!axis.range || !hint ||
      std::ranges::find(interface.params, axis.name, &sema::ParamDecl::name) != interface.params.end())
    return axis;
  std::erase_if(axis.values, [&](const LaunchValue &v) {
    auto *number = std::get_if<int64_t>(&v);
    return number && !checkHint(*hint, arch, *number);
  });
  if (axis.values.empty())
    return usageError("the range of {} has no value that it can have: {}", axis.name, legalText(*hint, arch));
  return axis;
}

Status giveInput(Recipe &recipe, const sema::KernelInterface &interface, std::string_view text) {
  size_t eq = text.find('=');
  std::string array(trim(text.substr(0, eq)));
  if (eq == std::string_view::npos || array.empty())
    return withHelp(usageError("'{}' says of no input what it holds", text), "write ARRAY=…, such as a=normal:0,1");
  std::vector<std::string> known;
  for (const ArraySpec &a : interface.arrays)
    if (a.mode == ArrayMode::In || a.mode == ArrayMode::InOut)
      known.push_back(a.name);
  if (std::ranges::find(known, array) == known.end())
    return withHelp(usageError("kernel '{}' has no input '{}'", interface.name, array), suggest(array, known));
  std::string distribution(trim(text.substr(eq + 1)));
  TILEC_TRY(runtime::parseDistribution(distribution));
  recipe.inputs.insert_or_assign(array, std::move(distribution));
  return {};
}

Status checkInputs(const Recipe &recipe, const sema::KernelInterface &interface, const Values &problem) {
  for (const auto &[array, text] : recipe.inputs) {
    TILEC_ASSIGN(runtime::Distribution distribution, runtime::parseDistribution(text));
    std::error_code ec;
    if (distribution.kind == runtime::DistributionKind::File && !std::filesystem::exists(distribution.path, ec))
      return withHelp(usageError("there is no file '{}', which input '{}' is read from", distribution.path, array),
                      "name it from the folder that tilec runs in");
  }
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    const ArraySpec &a = interface.arrays[i];
    auto dtype = dtypeUnder(interface.arrayDTypes[i], problem, interface);
    bool open = (a.mode == ArrayMode::In || a.mode == ArrayMode::InOut) && !recipe.inputs.contains(a.name);
    if (open && dtype && isInt(*dtype))
      return withHelp(
          usageError("input '{}' holds integers ({}) and nobody says which: random ones may leave no work to do, and "
                     "times would mean nothing",
                     a.name, name(*dtype)),
          fmt::format("give them with --input {0}=arange:0,1, --input {0}=randint:0,64 or --input {0}=FILE.npy, or "
                      "under `inputs` in a recipe",
                      a.name));
  }
  return {};
}

Status checkProblem(const Values &problem, const sema::KernelInterface &interface) {
  for (const auto &[name, value] : problem)
    TILEC_TRY(checkValue(name, value, problem, interface));
  auto need = [&](const std::string &name) -> Status {
    if (problem.contains(name))
      return {};
    return withHelp(
        usageError("the problem '{}' gives '{}' of kernel '{}' no value", toString(problem), name, interface.name),
        fmt::format("add {}=…", name));
  };
  for (const std::string &name : sema::boundSymbols(interface, problem))
    TILEC_TRY(need(name));
  for (const ScalarSpec &scalar : interface.scalars)
    TILEC_TRY(need(scalar.name));
  return {};
}

} // namespace tilec::tuner
