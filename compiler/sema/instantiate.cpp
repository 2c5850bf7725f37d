// A kernel with values: parameters, the head of its program, and what launches must not leave open.
#include "compiler/sema/instantiate.h"
#include "compiler/base/text.h"
#include "compiler/sema/interface.h"

namespace tilec::sema {

static constexpr Span nowhere{UINT32_MAX, 0, 0}; ///< values from the command line have no place in a file

Instantiation::Instantiation(const syntax::File &file, const KernelInterface &interface, const Bindings &bindings,
                             const SourceManager &sources, Diagnostics &diags)
    : file(file), interface(interface), bindings(bindings), diags(diags), checker(file, sources, diags),
      program(checker.program) {
  if (bindings.arch)
    env.arch = bindings.arch->name;
}

Diagnostic &Instantiation::report(Diag diag, Span span, std::string message, std::string help) {
  Diagnostic &d = diags.report(diag, span, std::move(message));
  d.help = std::move(help);
  return d;
}

/// -D names a parameter, an extent (which it folds) or a scalar (which a launch needs, and compiling does not).
void Instantiation::checkDefines() {
  std::vector<std::string> known;
  for (const ParamDecl &param : interface.params)
    known.push_back(param.name);
  known.insert(known.end(), interface.symbols.begin(), interface.symbols.end());
  for (const ScalarSpec &scalar : interface.scalars)
    known.push_back(scalar.name);
  for (const auto &[name, value] : bindings.defines) {
    if (std::ranges::find(known, name) == known.end())
      report(Diag::UnknownDefine, nowhere,
             fmt::format("kernel '{}' has no parameter, extent or scalar '{}'", interface.name, name),
             suggest(name, known));
    if (std::ranges::find(interface.symbols, name) == interface.symbols.end())
      continue;
    if (auto *number = std::get_if<int64_t>(&value))
      program.folded[name] = *number;
    else
      report(Diag::DefineKind, nowhere, fmt::format("the extent '{}' is an integer, not {}", name, toString(value)));
  }
}

/// The value as the parameter's kind, or nothing: an integer serves as a float, 0 and 1 as a bool.
static std::optional<LaunchValue> ofKind(const LaunchValue &value, ParamKind kind) {
  auto *number = std::get_if<int64_t>(&value);
  if (kind == ParamKind::Float && number)
    return double(*number);
  if (kind == ParamKind::Bool && number && (*number == 0 || *number == 1))
    return *number == 1;
  bool fits = (kind == ParamKind::Int && number) || (kind == ParamKind::Bool && std::holds_alternative<bool>(value)) ||
              (kind == ParamKind::Float && std::holds_alternative<double>(value)) ||
              (kind == ParamKind::DType && std::holds_alternative<DType>(value));
  return fits ? std::optional(value) : std::nullopt;
}

/// The default in an environment; for extents that nobody gave, the first value of the domain, else extents of 1024.
std::optional<LaunchValue> Instantiation::defaultOf(const ParamDecl &param) {
  if (param.otherwise) {
    bool known =
        std::ranges::all_of(symbols(*param.otherwise), [&](const std::string &s) { return env.values.contains(s); });
    if (known) {
      auto value = evaluate(*param.otherwise, env);
      if (value) {
        derived(param, *value);
        return *value;
      }
      report(Diag::ConstantArithmetic, param.span,
             fmt::format("the default of '{}' has no value: {}", param.name, value.error().message),
             value.error().help);
      return std::nullopt;
    }
  }
  LaunchEnv guess = env;
  for (const std::string &symbol : interface.symbols)
    guess.values.emplace(symbol, int64_t(1024));
  for (const ScalarSpec &scalar : interface.scalars)
    guess.values.emplace(scalar.name, int64_t(1024));
  if (param.domain && (param.otherwise || param.boundByLaunch || checking))
    if (auto values = enumerate(*param.domain, guess))
      return values->front();
  if (param.otherwise)
    if (auto value = evaluate(*param.otherwise, guess)) {
      derived(param, *value);
      return *value;
    }
  report(Diag::ParameterWithoutValue, param.span,
         fmt::format("the parameter '{}' has no default and was given no value", param.name),
         fmt::format("give it with -D {}=…", param.name));
  return std::nullopt;
}

/// A default made of extents or scalars holds for launches that give the same value: the others are refused.
void Instantiation::derived(const ParamDecl &param, const LaunchValue &value) {
  auto fromLaunch = [&](const std::string &name) {
    return std::ranges::find(interface.symbols, name) != interface.symbols.end() ||
           std::ranges::find(interface.scalars, name, &ScalarSpec::name) != interface.scalars.end();
  };
  if (std::ranges::none_of(symbols(*param.otherwise), fromLaunch))
    return;
  LaunchEnv fixed;
  fixed.arch = env.arch;
  fixed.values.insert(program.parameters.begin(), program.parameters.end());
  LaunchExpr wanted = substitute(*param.otherwise, fixed);
  program.requirements.push_back({LaunchExpr::call(LaunchOp::Eq, {wanted, LaunchExpr::constant(value)}),
                                  fmt::format("{} == {}", toString(wanted), toString(value))});
}

/// Values of all parameters in order: given, else the default. False: one has none, and nothing else can be checked.
bool Instantiation::parameters() {
  bool good = true;
  for (const auto &[name, value] : bindings.problem)
    env.values[name] = value;
  for (const auto &[name, value] : bindings.defines)
    env.values[name] = value;
  for (const ParamDecl &param : interface.params) {
    std::optional<LaunchValue> value;
    auto given = bindings.defines.find(param.name);
    if (given != bindings.defines.end()) {
      constexpr std::string_view kinds[] = {"an integer", "a bool", "a float", "a dtype"};
      value = ofKind(given->second, param.kind);
      if (!value)
        report(Diag::DefineKind, nowhere,
               fmt::format("the parameter '{}' is {}, not {}", param.name, kinds[size_t(param.kind)],
                           toString(given->second)))
            .notes.push_back({param.span, "declared here"});
    } else {
      value = defaultOf(param);
      if (value)
        value = ofKind(*value, param.kind).value_or(*value);
    }
    if (!value) {
      good = false;
      continue;
    }
    env.values[param.name] = *value;
    program.parameters[param.name] = *value;
    if (given == bindings.defines.end() || !param.domain)
      continue;
    auto values = enumerate(*param.domain, env);
    if (!values || std::ranges::find(*values, *value) != values->end())
      continue;
    std::vector<std::string> texts;
    for (const LaunchValue &v : *values)
      texts.push_back(toString(v));
    bool isDType = param.kind == ParamKind::DType;
    report(isDType ? Diag::DTypeOutsideDomain : Diag::OutsideDomain, nowhere,
           fmt::format("{} is outside the domain of '{}'", toString(*value), param.name),
           fmt::format("the domain: {}", join(texts, ", ")))
        .notes.push_back({param.span, "declared here"});
    good &= !isDType;
  }
  return good;
}

/// The head of the program with parameters replaced. What an untaken arm of an `if` would bind is bound no more.
bool Instantiation::arrays() {
  LaunchEnv fixed; // parameters alone: extents stay symbols even where -D gives them
  fixed.arch = env.arch;
  fixed.values.insert(program.parameters.begin(), program.parameters.end());
  auto dtype = [&](const LaunchExpr &expr) {
    LaunchExpr known = substitute(expr, fixed);
    return known.isLiteral() ? std::get<DType>(known.literal) : DType::f32;
  };
  std::vector<std::string> bound, used;
  auto exists = [&](size_t i) {
    LaunchExpr known = substitute(interface.arrayConditions[i], fixed);
    return !known.isLiteral() || std::get<bool>(known.literal);
  };
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    if (!exists(i))
      continue;
    ArraySpec spec = interface.arrays[i];
    std::erase_if(spec.aliases, [&](const std::string &name) {
      return !exists(size_t(std::ranges::find(interface.arrays, name, &ArraySpec::name) - interface.arrays.begin()));
    });
    spec.dtype = dtype(interface.arrayDTypes[i]);
    // Whatever `align` says, an element itself is never split.
    spec.align = std::max<int64_t>(spec.align, info(spec.dtype).bits / 8);
    for (auto *list : {&spec.extents, &spec.strides})
      for (LaunchExpr &expr : *list) {
        expr = substitute(expr, fixed);
        std::vector<std::string> names = symbols(expr);
        auto &into = expr.op == LaunchOp::Symbol && spec.mode != ArrayMode::Scratch ? bound : used;
        into.insert(into.end(), names.begin(), names.end());
      }
    program.arrays.push_back(std::move(spec));
  }
  for (size_t i = 0; i < interface.scalars.size(); ++i) {
    ScalarSpec spec = interface.scalars[i];
    spec.dtype = dtype(interface.scalarDTypes[i]);
    bound.push_back(spec.name);
    program.scalars.push_back(std::move(spec));
  }
  auto take = [&](LaunchExpr expr) {
    expr = substitute(expr, fixed);
    for (const std::string &name : symbols(expr))
      used.push_back(name);
    return expr;
  };
  for (const auto &[name, expr] : interface.lets) {
    program.lets.emplace_back(name, take(expr));
    if (program.lets.back().second.isLiteral())
      fixed.values[name] = program.lets.back().second.literal;
    bound.push_back(name);
  }
  for (const Condition &condition : interface.requirements)
    program.requirements.push_back({take(condition.expr), condition.text});
  for (size_t i = 0; i < 3; ++i)
    program.grid[i] = take(interface.grid[i]);
  bool good = true;
  for (const std::string &symbol : interface.symbols) {
    bool isBound = std::ranges::find(bound, symbol) != bound.end();
    bool isUsed = std::ranges::find(used, symbol) != used.end();
    if (isBound)
      program.symbols.push_back(symbol);
    else if (isUsed) {
      report(Diag::UnboundSymbol, interface.span,
             fmt::format("with these parameters no array binds the symbol '{}'", symbol));
      good = false;
    }
  }
  return good;
}

/// Conditions that are decided here must hold; the open ones go into the program and are checked at each launch.
bool Instantiation::requirements() {
  LaunchEnv known = env;
  bool good = true;
  std::vector<Condition> open;
  for (const auto &[name, expr] : program.lets)
    if (LaunchExpr value = substitute(expr, known); value.isLiteral())
      known.values[name] = value.literal;
  for (Condition &condition : program.requirements) {
    auto *decided = condition.expr.isLiteral() ? std::get_if<bool>(&condition.expr.literal) : nullptr;
    LaunchExpr here = substitute(condition.expr, known);
    auto *holds = here.isLiteral() ? std::get_if<bool>(&here.literal) : nullptr;
    if (holds && !*holds) {
      std::vector<std::string> values;
      for (const auto &[name, value] : known.values)
        if (condition.text.find(name) != std::string::npos)
          values.push_back(fmt::format("{} = {}", name, toString(value)));
      report(Diag::RequirementFalse, interface.span,
             fmt::format("'requires {}' does not hold{}{}", condition.text, values.empty() ? "" : " with ",
                         join(values, ", ")));
      good = false;
    } else if (!decided) {
      open.push_back(std::move(condition)); // checked at each launch
    }
  }
  program.requirements = std::move(open);
  return good;
}

/// Hints in force: defaults of the table, then `hints`, then those of the architecture, then the command line.
bool Instantiation::hints() {
  const Arch *arch = bindings.arch;
  bool good = true;
  auto set = [&](const HintInfo &hint, int64_t value, Span span) {
    if (checkHint(hint, arch, value)) {
      program.hints[std::string(hint.name)] = value;
      return;
    }
    report(Diag::HintValue, span, fmt::format("'{}' cannot be {}", hint.name, value),
           fmt::format("legal values{}: {}", arch ? fmt::format(" on {}", arch->name) : "", legalText(hint, arch)));
    good = false;
  };
  for (const HintInfo &hint : allHints())
    if (hint.allowedOn(HintPlace::Kernel) && hint.defaultValue)
      program.hints[std::string(hint.name)] = *hint.defaultValue;
  // Those of the architecture come behind the plain ones and override them, hint by hint.
  for (bool own : {false, true})
    for (const HintDecl &decl : interface.hints) {
      bool holds = own ? arch && decl.arch == arch->name : decl.arch.empty();
      bool given = bindings.hints.contains(decl.name);
      bool replaced = !own && arch && std::ranges::any_of(interface.hints, [&](const HintDecl &other) {
        return other.name == decl.name && other.arch == arch->name;
      });
      if (!holds || given || replaced)
        continue;
      auto value = evaluate(decl.value, env);
      if (!value && !arch)
        continue; // by_arch without a default, while no architecture is chosen
      if (!value) {
        report(Diag::HintValue, decl.span,
               fmt::format("the hint '{}' has no value: {}", decl.name, value.error().message));
        good = false;
        continue;
      }
      auto *flag = std::get_if<bool>(&*value);
      auto *number = std::get_if<int64_t>(&*value);
      set(*findHint(decl.name), flag ? *flag : number ? *number : 0, decl.span);
    }
  for (const auto &[name, value] : bindings.hints) {
    if (name.find('.') != std::string::npos) {
      checker.siteHints[name] = value;
      continue;
    }
    const HintInfo *hint = findHint(name);
    if (hint && hint->allowedOn(HintPlace::Kernel)) {
      set(*hint, value, nowhere);
      continue;
    }
    report(Diag::UnknownHint, nowhere,
           hint ? fmt::format("'{}' is a hint of single loads and stores", name)
                : fmt::format("there is no hint '{}'", name),
           hint ? fmt::format("name the access: --hint ARRAY.load.{}={}", name, value)
                : suggest(name, hintNames(HintPlace::Kernel)));
    good = false;
  }
  return good;
}

std::optional<Program> Instantiation::run() {
  size_t before = diags.errorCount();
  FileNames names(file);
  auto decl = names.kernels.find(interface.name);
  if (decl == names.kernels.end())
    return std::nullopt;
  program.name = interface.name;
  program.doc = interface.doc;
  program.arch = bindings.arch;
  program.gridRank = interface.gridRank;
  program.contract = interface.contract;
  program.index64 = interface.index64;
  checker.arch = bindings.arch;
  checkDefines();
  // Without parameters nothing further can be said; the rest goes on through errors, to report several in one run.
  if (!parameters())
    return std::nullopt;
  bool headed = arrays();
  requirements();
  hints();
  letDTypes();
  if (headed && bindings.specialize)
    specialize();
  if (headed)
    checker.checkBody(*decl->second, interface);
  if (diags.errorCount() != before)
    return std::nullopt;
  return std::move(program);
}

/// Notes what a launch computes for each clause `let`. Where a dtype parameter decides the kind, extents of 1024 tell.
void Instantiation::letDTypes() {
  LaunchEnv guess = env;
  for (const std::string &symbol : interface.symbols)
    guess.values.emplace(symbol, int64_t(1024));
  for (const ScalarSpec &scalar : program.scalars)
    guess.values[scalar.name] = isFloat(scalar.dtype)          ? LaunchValue(1.0)
                                : scalar.dtype == DType::bool_ ? LaunchValue(true)
                                                               : LaunchValue(int64_t(1024));
  constexpr DType dtypes[] = {DType::i64, DType::bool_, DType::f32};
  for (const auto &[name, expr] : program.lets) {
    auto value = evaluate(expr, guess);
    if (value)
      guess.values[name] = *value;
    std::optional<ParamKind> kind;
    if (auto it = interface.letKinds.find(name); it != interface.letKinds.end())
      kind = it->second;
    else if (value)
      kind = std::holds_alternative<int64_t>(*value) ? ParamKind::Int
             : std::holds_alternative<bool>(*value)  ? ParamKind::Bool
                                                     : ParamKind::Float;
    if (kind && *kind != ParamKind::DType)
      checker.letDTypes[name] = dtypes[size_t(*kind)];
  }
}

std::vector<std::string> boundSymbols(const KernelInterface &interface,
                                      const std::map<std::string, LaunchValue, std::less<>> &parameters) {
  LaunchEnv env;
  env.values = parameters;
  for (const ParamDecl &param : interface.params)
    if (param.otherwise && !env.values.contains(param.name))
      if (auto value = evaluate(*param.otherwise, env))
        env.values[param.name] = ofKind(*value, param.kind).value_or(*value);
  std::set<std::string> used;
  for (size_t i = 0; i < interface.arrays.size(); ++i) {
    LaunchExpr exists = substitute(interface.arrayConditions[i], env);
    if (exists.isLiteral() && !std::get<bool>(exists.literal))
      continue;
    for (const auto *list : {&interface.arrays[i].extents, &interface.arrays[i].strides})
      for (const LaunchExpr &expr : *list)
        for (std::string &name : symbols(substitute(expr, env)))
          used.insert(std::move(name));
  }
  std::vector<std::string> bound;
  for (const std::string &symbol : interface.symbols)
    if (used.contains(symbol))
      bound.push_back(symbol);
  return bound;
}

std::optional<Program> instantiate(const syntax::File &file, const KernelInterface &interface, const Bindings &bindings,
                                   const SourceManager &sources, Diagnostics &diags) {
  return Instantiation(file, interface, bindings, sources, diags).run();
}

} // namespace tilec::sema
