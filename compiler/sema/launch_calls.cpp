// Calls in launch expressions, domains, and names bound by clause `let`s.
#include "compiler/base/text.h"
#include "compiler/sema/launch.h"

namespace tilec::sema {

namespace {

struct LaunchFn {
  std::string_view name;
  LaunchOp op;
  size_t arity;
  LaunchKind result; ///< Unknown: that of the arguments
};
constexpr LaunchFn launchFns[] = {
    {"cdiv", LaunchOp::CDiv, 2, LaunchKind::Int},
    {"truncdiv", LaunchOp::TruncDiv, 2, LaunchKind::Int},
    {"truncmod", LaunchOp::TruncMod, 2, LaunchKind::Int},
    {"min", LaunchOp::Min, 2, LaunchKind::Unknown},
    {"max", LaunchOp::Max, 2, LaunchKind::Unknown},
    {"abs", LaunchOp::Abs, 1, LaunchKind::Unknown},
    {"pow", LaunchOp::Pow, 2, LaunchKind::Unknown},
    {"next_pow2", LaunchOp::NextPow2, 1, LaunchKind::Int},
    {"prev_pow2", LaunchOp::PrevPow2, 1, LaunchKind::Int},
    {"ilog2", LaunchOp::ILog2, 1, LaunchKind::Int},
    {"is_pow2", LaunchOp::IsPow2, 1, LaunchKind::Bool},
    {"num_sms", LaunchOp::NumSms, 0, LaunchKind::Int},
    {"resident_blocks", LaunchOp::ResidentBlocks, 0, LaunchKind::Int},
};

} // namespace

LaunchTerm LaunchLowering::call(const syntax::CallExpr &e) {
  const std::string &callee = e.callee.text;
  if (!e.receiver) {
    if (auto it = files.fns.find(callee); it != files.fns.end())
      return callFn(*it->second, e);
    if (callee == "by_arch")
      return byArch(e);
  }
  const LaunchFn *fn = nullptr;
  for (const LaunchFn &row : launchFns)
    if (row.name == callee)
      fn = &row;
  if (!fn) {
    if (findBuiltin(callee) >= 0 || e.receiver)
      return refuse(e.callee.span, fmt::format("'{}'", callee));
    if (files.hasImports)
      return failed();
    std::vector<std::string> known = {"by_arch"};
    for (const LaunchFn &row : launchFns)
      known.emplace_back(row.name);
    for (const auto &[text, decl] : files.fns)
      known.push_back(text);
    report(Diag::UnknownFunction, e.callee.span, fmt::format("there is no function '{}'", callee),
           suggest(callee, known));
    return failed();
  }
  if (fn->arity == 0 && !deviceFacts) {
    report(Diag::LaunchExpression, e.span, fmt::format("'{}' may be used in 'grid' only", callee),
           "results must not depend on the device");
    return failed();
  }
  std::vector<LaunchTerm> args;
  bool good = true;
  if (e.receiver)
    args.push_back(lower(*e.receiver));
  for (const syntax::Arg &arg : e.args) {
    if (arg.name) {
      report(Diag::UnknownArgument, arg.name->span,
             fmt::format("'{}' has no keyword '{}' here", callee, arg.name->text));
      good = false;
    }
    args.push_back(lower(*arg.value));
  }
  if (args.size() != fn->arity) {
    report(Diag::WrongArguments, e.span,
           fmt::format("'{}' takes {} argument{} here, not {}", callee, fn->arity, fn->arity == 1 ? "" : "s",
                       args.size()));
    return failed();
  }
  LaunchTerm result;
  std::vector<LaunchExpr> exprs;
  bool real = false, known = true;
  for (LaunchTerm &arg : args) {
    good &= !arg.failed;
    bool fits = arg.failed || (!arg.isTuple && (arg.kind == LaunchKind::Int || arg.kind == LaunchKind::Unknown ||
                                                (fn->result == LaunchKind::Unknown && arg.kind == LaunchKind::Float)));
    if (!fits) {
      report(Diag::OperandType, e.span,
             fmt::format("'{}' does not take {}", callee, arg.isTuple ? "a tuple" : kindName(arg.kind)));
      good = false;
    }
    real |= arg.kind == LaunchKind::Float;
    known &= arg.expr.isLiteral();
    exprs.push_back(std::move(arg.expr));
  }
  if (!good)
    return failed();
  result.kind = fn->result != LaunchKind::Unknown ? fn->result : real ? LaunchKind::Float : LaunchKind::Int;
  result.expr = LaunchExpr::call(fn->op, std::move(exprs));
  if (known && fn->arity > 0)
    if (auto value = evaluate(result.expr, {}); !value) {
      report(Diag::ConstantArithmetic, e.span, value.error().message);
      return failed();
    }
  result.expr = substitute(result.expr, {});
  return result;
}

/// Keys and values alternate in the arguments, as compiler/artifact reads them.
LaunchTerm LaunchLowering::byArch(const syntax::CallExpr &e) {
  std::vector<std::string> known = {"default"};
  for (const Arch &arch : allArchs())
    known.emplace_back(arch.name);
  LaunchTerm result;
  result.expr.op = LaunchOp::ByArch;
  bool first = true;
  for (const syntax::Arg &arg : e.args) {
    bool named = arg.name && std::ranges::find(known, arg.name->text) != known.end();
    if (!named) {
      report(Diag::UnknownArch, arg.name ? arg.name->span : arg.span,
             arg.name ? fmt::format("there is no architecture '{}'", arg.name->text)
                      : "'by_arch' takes a value for each architecture by name",
             arg.name ? suggest(arg.name->text, known) : "");
      return failed();
    }
    LaunchTerm value = lower(*arg.value);
    if (value.failed || value.isTuple)
      return value.failed ? value : refuse(arg.value->span, "a tuple");
    LaunchExpr key;
    key.symbol = arg.name->text;
    result.expr.args.push_back(std::move(key));
    result.expr.args.push_back(std::move(value.expr));
    result.kind = first || result.kind == value.kind ? value.kind : LaunchKind::Unknown;
    first = false;
  }
  if (first)
    return refuse(e.span, "'by_arch' without values");
  return result;
}

/// A function of the file made of `let`s and an expression is inlined.
LaunchTerm LaunchLowering::callFn(const syntax::FnDecl &fn, const syntax::CallExpr &e) {
  if (depth >= maxCalls) {
    report(Diag::RecursionLimit, e.span, fmt::format("calls are nested {} deep here, which is the limit", maxCalls));
    return failed();
  }
  if (++inlined > maxInlined) {
    if (inlined == maxInlined + 1)
      report(Diag::RecursionLimit, e.span, fmt::format("functions are called over {} times here", maxInlined));
    return failed();
  }
  std::map<std::string, LaunchTerm, std::less<>> inner;
  size_t position = 0;
  bool good = fn.cparams.empty() && e.constArgs.empty();
  for (const syntax::Arg &arg : e.args) {
    std::string param = arg.name ? arg.name->text : position < fn.params.size() ? fn.params[position++].name.text : "";
    LaunchTerm value = lower(*arg.value);
    if (value.failed)
      return value;
    good &= !param.empty() && inner.emplace(param, value).second;
  }
  auto saved = std::exchange(names, std::move(inner));
  for (const syntax::FnParam &param : fn.params) {
    if (!names.contains(param.name.text) && param.defaultValue)
      names[param.name.text] = lower(*param.defaultValue);
    good &= names.contains(param.name.text);
  }
  good &= names.size() == fn.params.size();
  LaunchTerm result = failed();
  ++depth;
  if (good)
    result = statements(*fn.body);
  --depth;
  names = std::move(saved);
  if (!good)
    report(Diag::WrongArguments, e.span, fmt::format("the arguments do not fit the parameters of '{}'", fn.name.text))
        .notes.push_back({fn.name.span, "declared here"});
  return result;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Domains and patterns
//===--------------------------------------------------------------------------------------------------------------===//

/// A domain whose ends are known is listed at once; one that depends on names is listed by enumerate().
std::optional<Domain> LaunchLowering::domain(const syntax::Domain &d, LaunchKind kind) {
  Domain result;
  if (d.kind == syntax::Domain::Kind::Set) {
    for (const syntax::ExprPtr &item : d.values) {
      auto value = lowerAs(*item, kind, "a value of the domain");
      if (!value)
        return std::nullopt;
      result.values.push_back(std::move(*value));
    }
    return result;
  }
  const syntax::CallExpr *call = nullptr;
  std::pair<const syntax::Expr *, const syntax::Expr *> ends;
  if (d.kind == syntax::Domain::Kind::Range) {
    ends = {d.values[0].get(), d.values[1].get()};
  } else {
    call = syntax::dynAs<syntax::CallExpr>(d.values[0]);
    bool isPow2 = call && !call->receiver && call->callee.text == "pow2" && call->args.size() == 2;
    if (!isPow2) {
      report(Diag::BadDomain, d.span, "this is no domain", "write 'in {a, b}', 'in lo..=hi' or 'in pow2(lo, hi)'");
      return std::nullopt;
    }
    ends = {call->args[0].value.get(), call->args[1].value.get()};
  }
  if (kind != LaunchKind::Int) {
    report(Diag::BadDomain, d.span, fmt::format("a range holds integers, and here {} is wanted", kindName(kind)),
           "list the values: 'in {a, b}'");
    return std::nullopt;
  }
  auto low = lowerAs(*ends.first, LaunchKind::Int, "the lower end of a domain");
  auto high = lowerAs(*ends.second, LaunchKind::Int, "the upper end of a domain");
  if (!low || !high)
    return std::nullopt;
  bool known = low->isLiteral() && high->isLiteral();
  (call ? result.pow2 : result.range) = std::pair(std::move(*low), std::move(*high));
  if (!known)
    return result;
  auto values = enumerate(result, {});
  if (!values) {
    report(Diag::BadDomain, d.span, values.error().message);
    return std::nullopt;
  }
  Domain listed;
  for (const LaunchValue &value : *values)
    listed.values.push_back(LaunchExpr::constant(value));
  return listed;
}

Result<std::vector<LaunchValue>> enumerate(const Domain &domain, const LaunchEnv &env) {
  std::vector<LaunchValue> values;
  for (const LaunchExpr &expr : domain.values) {
    TILEC_ASSIGN(LaunchValue value, evaluate(expr, env));
    if (std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }
  constexpr int64_t most = 1 << 16;
  if (domain.range) {
    TILEC_ASSIGN(int64_t low, evaluateInt(domain.range->first, env));
    TILEC_ASSIGN(int64_t high, evaluateInt(domain.range->second, env));
    if (high >= low && uint64_t(high) - uint64_t(low) >= uint64_t(most))
      return programError("a domain of {} values is too large", uint64_t(high) - uint64_t(low) + 1);
    for (int64_t v = low; v <= high; ++v)
      values.emplace_back(v);
  }
  if (domain.pow2) {
    TILEC_ASSIGN(int64_t low, evaluateInt(domain.pow2->first, env));
    TILEC_ASSIGN(int64_t high, evaluateInt(domain.pow2->second, env));
    for (int shift = 0; shift < 63; ++shift)
      if (int64_t v = int64_t(1) << shift; v >= low && v <= high)
        values.emplace_back(v);
  }
  if (values.empty())
    return programError("the domain is empty");
  return values;
}

void LaunchLowering::bind(const syntax::Pattern &pattern, const LaunchTerm &term, Span span,
                          std::vector<std::pair<std::string, LaunchTerm>> &out) {
  if (!pattern.isTuple()) {
    if (!pattern.isDiscard())
      out.emplace_back(pattern.name, term);
    return;
  }
  bool fits = term.isTuple && term.elements.size() == pattern.elements.size();
  if (!fits && !term.failed)
    report(Diag::PatternMismatch, span,
           fmt::format("{} names are bound to {}", pattern.elements.size(),
                       term.isTuple ? fmt::format("a tuple of {}", term.elements.size())
                                    : std::string(kindName(term.kind))));
  for (size_t i = 0; i < pattern.elements.size(); ++i)
    bind(pattern.elements[i], fits ? term.elements[i] : failed(), span, out);
}

} // namespace tilec::sema
