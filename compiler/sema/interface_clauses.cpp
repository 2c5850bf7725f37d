// The clauses of a kernel: let, requires, grid, options, hints, tune.
#include "compiler/base/text.h"
#include "compiler/sema/interface.h"
#include "compiler/syntax/imports.h"

namespace tilec::sema {

using syntax::Clause;
using syntax::ClauseKind;

void InterfaceBuilder::clauses() {
  const Clause *grid = nullptr;
  for (const Clause &clause : kernel.clauses) {
    switch (clause.kind) {
    case ClauseKind::Let:
      letClause(clause);
      break;
    case ClauseKind::Requires:
      for (const syntax::ExprPtr &condition : clause.exprs)
        if (auto expr = lowering.lowerAs(*condition, LaunchKind::Bool, "a condition of 'requires'"))
          result.requirements.push_back({std::move(*expr), std::string(sources.text(condition->span))});
      break;
    case ClauseKind::Grid:
      if (grid)
        report(Diag::DuplicateName, clause.keyword, "a kernel has one 'grid'")
            .notes.push_back({grid->keyword, "the other one"});
      grid = &clause;
      gridClause(clause);
      break;
    case ClauseKind::Options:
      optionsClause(clause);
      break;
    case ClauseKind::Hints:
      hintsClause(clause);
      break;
    case ClauseKind::Tune:
      tuneClause(clause);
      break;
    }
  }
}

/// A tuple is kept as its parts, `name.0` and so on: launch expressions have no tuples.
void InterfaceBuilder::addLet(const std::string &name, const LaunchTerm &term) {
  if (!term.isTuple) {
    result.lets.emplace_back(name, term.expr);
    for (ParamKind kind : {ParamKind::Int, ParamKind::Bool, ParamKind::Float, ParamKind::DType})
      if (kindOf(kind) == term.kind)
        result.letKinds.emplace(name, kind);
    return;
  }
  for (size_t i = 0; i < term.elements.size(); ++i)
    addLet(fmt::format("{}.{}", name, i), term.elements[i]);
}

/// The term by which later expressions name what a `let` has bound.
static LaunchTerm named(const std::string &name, const LaunchTerm &term) {
  LaunchTerm result = term;
  if (!term.isTuple) {
    result.expr = LaunchExpr::name(name);
    return result;
  }
  for (size_t i = 0; i < term.elements.size(); ++i)
    result.elements[i] = named(fmt::format("{}.{}", name, i), term.elements[i]);
  return result;
}

void InterfaceBuilder::letClause(const Clause &clause) {
  LaunchTerm term = lowering.lower(*clause.exprs[0]);
  std::vector<std::pair<std::string, LaunchTerm>> bound;
  lowering.bind(clause.pattern, term, clause.exprs[0]->span, bound);
  for (const auto &[name, part] : bound) {
    declare({name, clause.pattern.span});
    // A symbol of the same name would make both meanings look alike.
    if (std::ranges::find(result.symbols, name) != result.symbols.end())
      report(Diag::DuplicateName, clause.pattern.span, fmt::format("'{}' is already the name of an extent", name));
    if (!part.failed)
      addLet(name, part);
    lowering.names[name] = named(name, part);
  }
}

/// The only place that may ask for facts of the device.
void InterfaceBuilder::gridClause(const Clause &clause) {
  lowering.deviceFacts = true;
  size_t axes = 0;
  for (const syntax::ExprPtr &axis : clause.exprs) {
    if (axes == 3) {
      report(Diag::GridAxes, axis->span, fmt::format("a grid has at most 3 axes, not {}", clause.exprs.size()),
             "fold axes into one and take it apart with '/' and '%'");
      break;
    }
    if (auto expr = lowering.lowerAs(*axis, LaunchKind::Int, "an axis of the grid"))
      result.grid[axes] = std::move(*expr);
    ++axes;
  }
  result.gridRank = int(std::max<size_t>(axes, 1));
  lowering.deviceFacts = false;
}

void InterfaceBuilder::optionsClause(const Clause &clause) {
  static const std::vector<std::string> known = {"contract", "index64"};
  for (const syntax::Setting &setting : clause.settings) {
    bool isContract = setting.name.text == "contract";
    if (!isContract && setting.name.text != "index64") {
      report(Diag::UnknownOption, setting.name.span, fmt::format("there is no option '{}'", setting.name.text),
             suggest(setting.name.text, known));
      continue;
    }
    if (setting.domain)
      report(Diag::BadDomain, setting.domain->span, "an option takes no domain: options change what a kernel means");
    if (!setting.value) {
      report(Diag::UnknownOption, setting.span, fmt::format("the option '{}' has no value", setting.name.text),
             fmt::format("write '{} = true'", setting.name.text));
      continue;
    }
    auto value = lowering.lowerAs(*setting.value, LaunchKind::Bool, fmt::format("the option '{}'", setting.name.text));
    if (!value)
      continue;
    if (!value->isLiteral()) {
      report(Diag::NeedsCompileTime, setting.value->span,
             fmt::format("the option '{}' must be true or false as written", setting.name.text));
      continue;
    }
    (isContract ? result.contract : result.index64) = std::get<bool>(value->literal);
  }
}

bool InterfaceBuilder::archName(const std::optional<syntax::Ident> &name) {
  if (!name || findArch(name->text))
    return true;
  std::vector<std::string> known;
  for (const Arch &arch : allArchs())
    known.emplace_back(arch.name);
  report(Diag::UnknownArch, name->span, fmt::format("there is no architecture '{}'", name->text),
         suggest(name->text, known));
  return false;
}

/// A hint's value as an expression; a literal is checked against the table at once. A bool counts as 0 or 1.
std::optional<LaunchExpr> InterfaceBuilder::hintValue(const HintInfo &hint, const syntax::Expr &e, const Arch *arch) {
  LaunchKind kind = hint.kind == HintKind::Bool ? LaunchKind::Bool : LaunchKind::Int;
  auto value = lowering.lowerAs(e, kind, fmt::format("the hint '{}'", hint.name));
  if (!value || !value->isLiteral())
    return value;
  int64_t number = kind == LaunchKind::Bool ? std::get<bool>(value->literal) : std::get<int64_t>(value->literal);
  if (checkHint(hint, arch, number))
    return LaunchExpr::constant(number);
  report(Diag::HintValue, e.span, fmt::format("'{}' cannot be {}", hint.name, number),
         fmt::format("legal values{}: {}", arch ? fmt::format(" on {}", arch->name) : "", legalText(hint, arch)));
  return std::nullopt;
}

std::optional<Domain> InterfaceBuilder::hintDomain(const HintInfo &hint, const syntax::Domain &d, const Arch *arch) {
  auto domain = lowering.domain(d, hint.kind == HintKind::Bool ? LaunchKind::Bool : LaunchKind::Int);
  if (!domain)
    return std::nullopt;
  for (LaunchExpr &value : domain->values) {
    if (!value.isLiteral())
      continue;
    auto *flag = std::get_if<bool>(&value.literal);
    int64_t number = flag ? *flag : std::get<int64_t>(value.literal);
    if (!checkHint(hint, arch, number)) {
      report(Diag::HintValue, d.span, fmt::format("'{}' cannot be {}", hint.name, number),
             fmt::format("legal values{}: {}", arch ? fmt::format(" on {}", arch->name) : "", legalText(hint, arch)));
      return std::nullopt;
    }
    value = LaunchExpr::constant(number);
  }
  return domain;
}

/// Values and domains written as literals are checked here, others when they are known.
void InterfaceBuilder::hintsClause(const Clause &clause) {
  if (!archName(clause.arch))
    return;
  const Arch *arch = clause.arch ? findArch(clause.arch->text) : nullptr;
  for (const syntax::Setting &setting : clause.settings) {
    const HintInfo *hint = findHint(setting.name.text);
    if (!hint || !hint->allowedOn(HintPlace::Kernel)) {
      report(Diag::UnknownHint, setting.name.span,
             hint ? fmt::format("'{}' is a hint of single loads and stores", setting.name.text)
                  : fmt::format("there is no hint '{}'", setting.name.text),
             hint ? fmt::format("write it at the access: 'v.load(i, {} = …)'", setting.name.text)
                  : suggest(setting.name.text, hintNames(HintPlace::Kernel)));
      continue;
    }
    HintDecl decl;
    decl.name = setting.name.text;
    decl.arch = arch ? std::string(arch->name) : "";
    decl.span = setting.span;
    for (const HintDecl &other : result.hints)
      if (other.name == decl.name && other.arch == decl.arch)
        report(Diag::DuplicateName, setting.name.span, fmt::format("the hint '{}' is given twice", decl.name))
            .notes.push_back({other.span, "the other one"});
    bool good = true;
    if (setting.domain) {
      decl.domain = hintDomain(*hint, *setting.domain, arch);
      good = decl.domain.has_value();
    }
    if (setting.value) {
      auto value = hintValue(*hint, *setting.value, arch);
      good &= value.has_value();
      if (value)
        decl.value = std::move(*value);
    } else if (hint->defaultValue) {
      decl.value = LaunchExpr::constant(*hint->defaultValue);
    } else if (decl.domain && !decl.domain->values.empty()) {
      decl.value = decl.domain->values.front();
    }
    if (!setting.value && !setting.domain) {
      report(Diag::HintValue, setting.span, fmt::format("the hint '{}' has no value", decl.name),
             fmt::format("legal values: {}", legalText(*hint, arch)));
      good = false;
    }
    if (good)
      result.hints.push_back(std::move(decl));
  }
}

/// `NAME in domain` replaces an axis, `NAME = value` belongs to a configuration to measure.
void InterfaceBuilder::tuneClause(const Clause &clause) {
  if (!archName(clause.arch))
    return;
  const Arch *arch = clause.arch ? findArch(clause.arch->text) : nullptr;
  TuneDecl decl;
  decl.arch = arch ? std::string(arch->name) : "";
  std::vector<std::string> known = hintNames(HintPlace::Kernel);
  for (const ParamDecl &param : result.params)
    known.push_back(param.name);
  for (const syntax::Setting &setting : clause.settings) {
    const std::string &name = setting.name.text;
    auto param = std::ranges::find(result.params, name, &ParamDecl::name);
    const HintInfo *hint = findHint(name);
    bool isParam = param != result.params.end(), isHint = hint && hint->allowedOn(HintPlace::Kernel);
    if (!isParam && !isHint) {
      report(Diag::UnknownName, setting.name.span, fmt::format("'{}' is neither a parameter nor a hint", name),
             suggest(name, known));
      continue;
    }
    if (isParam && param->kind == ParamKind::DType) {
      report(Diag::BadDomain, setting.name.span, fmt::format("'{}' is a dtype, which tuning does not choose", name));
      continue;
    }
    if (!setting.domain && !setting.value)
      report(Diag::BadDomain, setting.span, fmt::format("'{}' has neither a domain nor a value", name),
             "write 'NAME in {a, b}' or 'NAME = value'");
    LaunchKind kind = isParam ? kindOf(param->kind) : LaunchKind::Int;
    if (setting.domain)
      if (auto domain = isHint ? hintDomain(*hint, *setting.domain, arch) : lowering.domain(*setting.domain, kind))
        decl.axes.emplace(name, std::move(*domain));
    if (setting.value)
      if (auto value = isHint ? hintValue(*hint, *setting.value, arch)
                              : lowering.lowerAs(*setting.value, kind, fmt::format("the value of '{}'", name)))
        decl.configuration.emplace(name, std::move(*value));
  }
  result.tunes.push_back(std::move(decl));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Declarations of a file
//===--------------------------------------------------------------------------------------------------------------===//

void checkDeclarations(const syntax::File &file, Diagnostics &diags) {
  std::map<std::string, Span> values, fns, kernels;
  auto declare = [&](std::map<std::string, Span> &space, const syntax::Ident &name, std::string_view what) {
    auto [it, fresh] = space.emplace(name.text, name.span);
    if (fresh)
      return;
    // Of an imported name and one of this file, it is the latter that can be changed.
    bool own = it->second.file == file.id;
    Span place = own ? it->second : name.span, other = own ? name.span : it->second;
    if (own && name.span.file == file.id)
      std::swap(place, other);
    diags.report(Diag::DuplicateName, place, fmt::format("the {} '{}' is declared twice", what, name.text))
        .notes.push_back({other, "the other declaration"});
  };
  for (const syntax::File *part : syntax::filesOf(file))
    for (const syntax::DeclPtr &decl : part->decls) {
      if (auto *constant = syntax::dynAs<syntax::ConstDecl>(decl)) {
        declare(values, constant->name, "constant");
      } else if (auto *kernel = syntax::dynAs<syntax::KernelDecl>(decl); kernel && part == &file) {
        declare(kernels, kernel->name, "kernel");
      } else if (auto *fn = syntax::dynAs<syntax::FnDecl>(decl)) {
        declare(fns, fn->name, "function");
        if (findBuiltin(fn->name.text) >= 0)
          diags.report(Diag::BuiltinRedefined, fn->name.span, fmt::format("'{}' is a built-in function", fn->name.text))
              .help = "give the function another name";
      }
    }
}

std::vector<std::string> kernelNames(const syntax::File &file) {
  std::vector<std::string> result;
  for (const syntax::DeclPtr &decl : file.decls)
    if (auto *kernel = syntax::dynAs<syntax::KernelDecl>(decl))
      result.push_back(kernel->name.text);
  return result;
}

std::optional<KernelInterface> describe(const syntax::File &file, std::string_view kernel, const SourceManager &sources,
                                        Diagnostics &diags) {
  size_t before = diags.errorCount();
  checkDeclarations(file, diags);
  FileNames names(file);
  std::vector<std::string> known = kernelNames(file);
  Span top{file.id, 0, 0};
  const syntax::KernelDecl *decl = nullptr;
  if (kernel.empty() && names.kernels.size() == 1)
    decl = names.kernels.begin()->second;
  else if (auto it = names.kernels.find(kernel); !kernel.empty() && it != names.kernels.end())
    decl = it->second;
  if (!decl) {
    Diagnostic &d = diags.report(Diag::KernelChoice, top,
                                 known.empty()    ? "this file has no kernel"
                                 : kernel.empty() ? "this file has several kernels"
                                                  : fmt::format("this file has no kernel '{}'", kernel));
    if (!known.empty())
      d.help = kernel.empty() ? fmt::format("choose one with --kernel: {}", join(known, ", ")) : suggest(kernel, known);
    return std::nullopt;
  }
  auto result = InterfaceBuilder(file, *decl, sources, diags).build();
  return diags.errorCount() == before ? std::move(result) : std::nullopt;
}

} // namespace tilec::sema
