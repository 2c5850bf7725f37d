// What a kernel says of itself before any value is known: parameters, arrays, scalars and symbols.
#include "compiler/sema/interface.h"
#include "compiler/base/text.h"
#include "compiler/sema/walk.h"
#include <bit>

namespace tilec::sema {

using syntax::Mode;

Diagnostic &InterfaceBuilder::report(Diag diag, Span span, std::string message, std::string help) {
  Diagnostic &d = diags.report(diag, span, std::move(message));
  d.help = std::move(help);
  return d;
}

LaunchKind kindOf(ParamKind kind) {
  constexpr LaunchKind kinds[] = {LaunchKind::Int, LaunchKind::Bool, LaunchKind::Float, LaunchKind::DType};
  return kinds[size_t(kind)];
}

static LaunchTerm symbolTerm(const std::string &name, LaunchKind kind) {
  LaunchTerm term;
  term.expr = LaunchExpr::name(name);
  term.kind = kind;
  return term;
}

/// Names first, since a default may use extents that are declared behind it.
std::optional<KernelInterface> InterfaceBuilder::build() {
  size_t before = diags.all().size();
  result.name = kernel.name.text;
  result.doc = kernel.doc;
  result.span = kernel.name.span;
  for (LaunchExpr &axis : result.grid)
    axis = LaunchExpr::constant(int64_t(1));
  declareAll();
  collectSymbols();
  params();
  arguments();
  clauses();
  for (size_t i = before; i < diags.all().size(); ++i) {
    Diag diag = diags.all()[i].diag;
    if (info(diag).severity == Severity::Error)
      return std::nullopt;
  }
  return std::move(result);
}

void InterfaceBuilder::declare(const syntax::Ident &name) {
  auto [it, fresh] = declared.emplace(name.text, name.span);
  if (!fresh)
    report(Diag::DuplicateName, name.span, fmt::format("'{}' is declared twice in this kernel", name.text))
        .notes.push_back({it->second, "the other declaration"});
}

void InterfaceBuilder::declareAll() {
  for (const syntax::CParam &param : kernel.cparams)
    declare(param.name);
  for (const syntax::KernelArg &arg : kernel.args)
    declare(arg.name);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Symbols
//===--------------------------------------------------------------------------------------------------------------===//

void InterfaceBuilder::symbolsIn(const syntax::Expr &e, std::map<std::string, Span> &used) {
  Walker walker;
  walker.onExpr = [&](const syntax::Expr &inner) {
    if (auto *name = syntax::dynAs<syntax::NameExpr>(&inner))
      used.emplace(name->name, name->span);
    return true;
  };
  walker.walk(&e);
}

/// Names that stand alone in an extent or stride: a symbol itself, or a symbol as an arm of a compile-time `if`.
void InterfaceBuilder::boundBy(const syntax::Expr &e, std::vector<std::string> &bound) {
  if (auto *name = syntax::dynAs<syntax::NameExpr>(&e))
    bound.push_back(name->name);
  auto *branch = syntax::dynAs<syntax::IfExpr>(&e);
  if (!branch)
    return;
  for (const syntax::Block *arm : {branch->thenBlock.get(), branch->elseBlock.get()})
    if (arm && arm->stmts.size() == 1)
      if (auto *value = syntax::dynAs<syntax::ExprStmt>(arm->stmts[0]))
        boundBy(*value->expr, bound);
}

/// A name in an extent or stride that nothing declares is a symbol; one of its places must bind it.
void InterfaceBuilder::collectSymbols() {
  std::map<std::string, Span> used;
  std::vector<std::string> bound;
  for (const syntax::KernelArg &arg : kernel.args) {
    for (const syntax::ExprPtr &extent : arg.type.extents) {
      symbolsIn(*extent, used);
      if (arg.type.mode != Mode::Scratch) // its extents are computed: nobody passes it
        boundBy(*extent, bound);
    }
    if (arg.strides)
      for (const syntax::ExprPtr &stride : arg.strides->items) {
        symbolsIn(*stride, used);
        boundBy(*stride, bound);
      }
  }
  for (const std::string &name : bound) {
    bool isSymbol = !declared.contains(name) && !lowering.files.consts.contains(name);
    if (isSymbol && std::ranges::find(result.symbols, name) == result.symbols.end())
      result.symbols.push_back(name);
  }
  for (const auto &[name, span] : used) {
    bool known = declared.contains(name) || lowering.files.consts.contains(name) ||
                 std::ranges::find(result.symbols, name) != result.symbols.end();
    if (known)
      continue;
    report(Diag::UnboundSymbol, span, fmt::format("no array binds the symbol '{}'", name),
           "a symbol is bound where it stands alone as an extent or a stride, or by a scalar of that name");
    result.symbols.push_back(name); // known from here on, so that it is reported once
  }
  for (const std::string &name : result.symbols)
    lowering.names[name] = symbolTerm(name, LaunchKind::Int);
  for (const syntax::KernelArg &arg : kernel.args) {
    if (arg.type.mode != Mode::None || arg.type.isTuple())
      continue;
    std::optional<DType> dtype = arg.type.dtype;
    LaunchKind kind = !dtype                   ? LaunchKind::Unknown
                      : *dtype == DType::bool_ ? LaunchKind::Bool
                      : isFloat(*dtype)        ? LaunchKind::Float
                                               : LaunchKind::Int;
    lowering.names[arg.name.text] = symbolTerm(arg.name.text, kind);
  }
}

//===--------------------------------------------------------------------------------------------------------------===//
// Parameters
//===--------------------------------------------------------------------------------------------------------------===//

/// A default sees the parameters in front of it; a later one is named in the message.
void InterfaceBuilder::params() {
  for (const syntax::CParam &param : kernel.cparams)
    lowering.laterParams.emplace(param.name.text, param.name.span);
  for (const syntax::CParam &param : kernel.cparams) {
    ParamDecl decl;
    decl.name = param.name.text;
    decl.doc = param.doc;
    decl.kind = ParamKind(param.kind);
    decl.span = param.name.span;
    LaunchKind kind = kindOf(decl.kind);
    if (param.defaultValue)
      decl.otherwise = lowering.lowerAs(*param.defaultValue, kind, fmt::format("the default of '{}'", decl.name));
    if (param.domain)
      decl.domain = lowering.domain(*param.domain, kind);
    lowering.laterParams.erase(decl.name);
    lowering.names[decl.name] = symbolTerm(decl.name, kind);
    result.params.push_back(std::move(decl));
  }
}

/// The dtype of an array or scalar: a word, a dtype parameter, or a constant of the file.
std::optional<LaunchExpr> InterfaceBuilder::dtypeOf(const syntax::TypeExpr &type, std::optional<DType> &fixed,
                                                    bool binds) {
  fixed = type.dtype;
  if (fixed)
    return LaunchExpr::constant(*fixed);
  for (ParamDecl &param : result.params)
    if (param.name == type.name.text && param.kind == ParamKind::DType) {
      param.boundByLaunch |= binds;
      return LaunchExpr::name(param.name);
    }
  if (auto it = lowering.names.find(type.name.text); it != lowering.names.end() || declared.contains(type.name.text)) {
    report(Diag::ConstantKind, type.name.span, fmt::format("'{}' is no dtype", type.name.text));
    return std::nullopt;
  }
  syntax::NameExpr name;
  name.name = type.name.text;
  name.span = type.name.span;
  if (lowering.files.consts.contains(type.name.text)) {
    auto value = lowering.lowerAs(name, LaunchKind::DType, "the dtype of an array");
    if (value && value->isLiteral())
      fixed = std::get<DType>(value->literal);
    return value;
  }
  std::vector<std::string> known;
  for (const ParamDecl &param : result.params)
    if (param.kind == ParamKind::DType)
      known.push_back(param.name);
  for (const DTypeInfo &row : allDTypes())
    known.emplace_back(row.name);
  report(Diag::UnknownName, type.name.span, fmt::format("there is no dtype '{}'", type.name.text),
         suggest(type.name.text, known));
  return std::nullopt;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Arrays and scalars
//===--------------------------------------------------------------------------------------------------------------===//

void InterfaceBuilder::arguments() {
  for (const syntax::KernelArg &arg : kernel.args) {
    if (arg.type.isTuple())
      report(Diag::BadArray, arg.type.span, "an argument of a kernel is an array or a scalar");
    else if (arg.type.mode == Mode::None)
      scalar(arg);
    else
      array(arg);
  }
}

void InterfaceBuilder::scalar(const syntax::KernelArg &arg) {
  if (arg.type.hasExtents)
    report(Diag::BadArray, arg.type.span, fmt::format("'{}' has extents but no mode", arg.name.text),
           "write 'in', 'out' or 'inout' in front of the dtype");
  if (arg.strides || arg.align || arg.alias || arg.zeroed)
    report(Diag::BadArray, arg.span, fmt::format("'{}' is a scalar and has no memory of its own", arg.name.text));
  if (arg.condition)
    report(Diag::BadArray, arg.condition->span,
           fmt::format("'{}' is a scalar, and only arrays may be absent", arg.name.text),
           "leave the scalar unused where it means nothing");
  std::optional<DType> fixed;
  if (auto dtype = dtypeOf(arg.type, fixed, false)) {
    result.scalars.push_back({arg.name.text, fixed.value_or(DType::f32)});
    result.scalarDTypes.push_back(std::move(*dtype));
  }
}

std::optional<int64_t> InterfaceBuilder::literalInt(const syntax::ExprList &list, std::string_view what) {
  if (list.items.size() != 1) {
    report(Diag::BadArray, list.span, fmt::format("{} takes one integer", what));
    return std::nullopt;
  }
  auto value = lowering.lowerAs(*list.items[0], LaunchKind::Int, what);
  if (!value)
    return std::nullopt;
  if (auto *number = value->isLiteral() ? std::get_if<int64_t>(&value->literal) : nullptr)
    return *number;
  report(Diag::NeedsCompileTime, list.items[0]->span, fmt::format("{} takes a number known while compiling", what));
  return std::nullopt;
}

void InterfaceBuilder::array(const syntax::KernelArg &arg) {
  if (arg.type.mode == Mode::View) {
    report(Diag::BadArray, arg.type.modeSpan, "a kernel takes arrays, and views are made of them in its body",
           "write 'in', 'out' or 'inout', and cut it with '.tiled(shape…)'");
    return;
  }
  bool isScratch = arg.type.mode == Mode::Scratch;
  if (arg.zeroed && !isScratch)
    report(Diag::BadArray, *arg.zeroed,
           fmt::format("'{}' is no scratch array, and only those start as zeros", arg.name.text),
           "store zeros into it, or declare it 'scratch'");
  if (isScratch && (arg.strides || arg.alias))
    report(Diag::BadArray, arg.strides ? arg.strides->span : arg.alias->span,
           "a scratch array is row-major memory of its own, which nobody passes");
  ArraySpec spec;
  spec.name = arg.name.text;
  spec.doc = arg.doc;
  spec.zeroed = arg.zeroed && isScratch;
  constexpr std::pair<Mode, ArrayMode> modes[] = {{Mode::In, ArrayMode::In},
                                                  {Mode::Out, ArrayMode::Out},
                                                  {Mode::InOut, ArrayMode::InOut},
                                                  {Mode::Scratch, ArrayMode::Scratch}};
  spec.mode = std::ranges::find(modes, arg.type.mode, &std::pair<Mode, ArrayMode>::first)->second;
  LaunchExpr exists = LaunchExpr::constant(true);
  if (arg.condition)
    exists = existence(*arg.condition, spec.name).value_or(exists);
  std::optional<DType> fixed;
  auto dtype = dtypeOf(arg.type, fixed, true);
  spec.dtype = fixed.value_or(DType::f32);
  if (!arg.type.hasExtents)
    report(Diag::BadArray, arg.type.span, fmt::format("the array '{}' has no extents", spec.name),
           "write them behind the dtype, as in 'f32[M, N]'");
  for (const syntax::ExprPtr &extent : arg.type.extents)
    if (auto value = lowering.lowerAs(*extent, LaunchKind::Int, "an extent"))
      spec.extents.push_back(std::move(*value));
  if (arg.strides) {
    for (const syntax::ExprPtr &stride : arg.strides->items) {
      if (stride->kind == syntax::ExprKind::Wildcard)
        spec.strides.push_back(LaunchExpr::name("_"));
      else if (auto value = lowering.lowerAs(*stride, LaunchKind::Int, "a stride"))
        spec.strides.push_back(std::move(*value));
    }
    if (arg.strides->items.size() != arg.type.extents.size())
      report(Diag::BadArray, arg.strides->span,
             fmt::format("'{}' has {} extents and {} strides", spec.name, arg.type.extents.size(),
                         arg.strides->items.size()),
             "give one stride for each axis; '_' is any");
  }
  if (arg.align) {
    if (auto align = literalInt(*arg.align, "'align'")) {
      if (*align <= 0 || !std::has_single_bit(uint64_t(*align)))
        report(Diag::BadArray, arg.align->span, fmt::format("an alignment is a power of two in bytes, not {}", *align));
      spec.align = *align;
    }
  }
  if (arg.alias)
    for (const syntax::ExprPtr &item : arg.alias->items) {
      auto *name = syntax::dynAs<syntax::NameExpr>(item);
      bool known = false;
      for (const syntax::KernelArg &other : kernel.args)
        known |= name && &other != &arg && other.type.mode != Mode::None && other.name.text == name->name;
      if (known)
        spec.aliases.push_back(name->name);
      else
        report(Diag::BadArray, item->span, "'alias' names another array of the kernel");
    }
  if (!dtype)
    return;
  result.arrays.push_back(std::move(spec));
  result.arrayDTypes.push_back(std::move(*dtype));
  result.arrayConditions.push_back(std::move(exists));
}

/// The condition under which an array exists: parameters alone decide it.
std::optional<LaunchExpr> InterfaceBuilder::existence(const syntax::Expr &e, const std::string &array) {
  auto condition = lowering.lowerAs(e, LaunchKind::Bool, fmt::format("the condition of '{}'", array));
  if (!condition)
    return std::nullopt;
  for (const std::string &name : symbols(*condition))
    if (std::ranges::find(result.params, name, &ParamDecl::name) == result.params.end()) {
      report(Diag::NeedsCompileTime, e.span,
             fmt::format("whether '{}' exists must be a compile-time value, but '{}' is known only at a launch", array,
                         name),
             "decide by a parameter, as in '<BIAS: bool = true>'");
      return std::nullopt;
    }
  return condition;
}

} // namespace tilec::sema
