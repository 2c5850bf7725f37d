// Calls of built-ins: arguments sorted by the signature, then the handler of the row.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"

namespace tilec::sema {

/// Keywords whose value is a word of its own, not an expression.
static constexpr std::string_view wordParams[] = {"site", "rounding", "order", "scope", "combine"};
/// Built-ins that look at their arguments as they are written.
static constexpr std::string_view ownArguments[] = {"by_arch"};

const BoundArg *BuiltinCall::find(std::string_view param) const {
  const std::vector<BoundArg> &list = many(param);
  return list.empty() ? nullptr : &list[0];
}

const std::vector<BoundArg> &BuiltinCall::many(std::string_view param) const {
  static const std::vector<BoundArg> none;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == param)
      return args[i];
  return none;
}

Value Checker::query(BuiltinCall &call) { return unknownMethod(call.expr->callee, call.receiver); }

Value Checker::runBuiltin(size_t index, BuiltinCall &call) {
  using Handler = Value (Checker::*)(BuiltinCall &);
  static constexpr Handler handlers[] = {
#define BUILTIN(name, receiver, group, handler, signature, doc) &Checker::handler,
#include "compiler/sema/builtins.def"
  };
  return (this->*handlers[index])(call);
}

/// Sorts the arguments and hands them to the handler of the row.
Value Checker::callBuiltin(int index, const syntax::CallExpr &e, const Value *receiver) {
  BuiltinCall call;
  call.info = &allBuiltins()[size_t(index)];
  call.expr = &e;
  call.span = e.span;
  if (receiver) {
    call.receiver = *receiver;
    call.receiverSpan = e.receiver->span;
  }
  bool own = std::ranges::find(ownArguments, call.info->name) != std::end(ownArguments);
  if (!own && !bindArgs(call))
    return Value::error();
  return runBuiltin(size_t(index), call);
}

/// Evaluates the arguments in the order they are written and sorts them by the parameters of the signature.
bool Checker::bindArgs(BuiltinCall &call) {
  const syntax::CallExpr &e = *call.expr;
  BuiltinSignature signature = parseSignature(call.info->signature);
  call.params = std::move(signature.params);
  call.args.resize(call.params.size());
  std::string usage = fmt::format("the form is '{}'", call.info->signature);
  bool good = true;
  auto wrong = [&](Diag diag, Span span, std::string message, std::string help = "") {
    report(diag, span, std::move(message), help.empty() ? usage : std::move(help));
    good = false;
  };

  if (signature.takesDType && e.constArgs.size() == 1) {
    call.dtype = constDType(expr(*e.constArgs[0]), e.constArgs[0]->span, "the dtype between '<' and '>'");
    good &= call.dtype.has_value();
  } else if (!e.constArgs.empty()) {
    wrong(Diag::WrongArguments, e.constArgs.back()->span,
          fmt::format("'{}' takes {} between '<' and '>'", call.info->name,
                      signature.takesDType ? "one dtype" : "nothing"));
  }

  auto bind = [&](size_t param, const syntax::Arg &arg) {
    BoundArg bound{Value::unit(), arg.value->span, arg.value.get(), &arg};
    bool isList = call.params[param].name == "values" && bound.expr->kind == syntax::ExprKind::List;
    bool isWord = isList || std::ranges::find(wordParams, call.params[param].name) != std::end(wordParams);
    if (!isWord) {
      bound.value = expr(*arg.value);
      good &= usable(bound.value, bound.span);
    }
    bool isHint = call.params[param].name == "latency" || call.params[param].name == "allow_tma";
    if (arg.domain && !isHint)
      wrong(Diag::WrongArguments, arg.domain->span, fmt::format("'{}' takes no domain", call.params[param].name),
            "domains stand behind hints, which tuning may choose");
    call.args[param].push_back(std::move(bound));
  };

  size_t first = 0;
  if (e.receiver && call.info->receiver == Receiver::Tile) {
    call.args[0].push_back({call.receiver, call.receiverSpan, e.receiver.get(), nullptr});
    first = 1;
  }
  size_t last = first, variadic = size_t(-1), positional = 0;
  for (; last < call.params.size() && !call.params[last].keywordOnly; ++last)
    if (call.params[last].variadic)
      variadic = last;
  for (const syntax::Arg &arg : e.args)
    positional += !arg.name;
  // A parameter of any number takes what the ones around it leave.
  size_t fixed = last - first - (variadic != size_t(-1));
  size_t many = positional > fixed ? positional - fixed : 0;
  size_t next = first, taken = 0;
  for (const syntax::Arg &arg : e.args) {
    if (arg.name) {
      size_t param = 0;
      while (param < call.params.size() && (call.params[param].name != arg.name->text || call.params[param].variadic))
        ++param;
      if (param == call.params.size()) {
        std::vector<std::string> known;
        for (const BuiltinParam &p : call.params)
          if (!p.variadic && (p.keywordOnly || p.optional))
            known.push_back(p.name);
        const HintInfo *hint = findHint(arg.name->text);
        std::string help = known.empty() ? "" : suggest(arg.name->text, known);
        if (hint && hint->viewsOnly)
          help = fmt::format("'{}' is a hint of loads and stores of views", hint->name);
        wrong(Diag::UnknownArgument, arg.name->span,
              fmt::format("'{}' has no keyword '{}'", call.info->name, arg.name->text), help);
      } else if (!call.args[param].empty()) {
        wrong(Diag::WrongArguments, arg.span, fmt::format("'{}' is given twice", arg.name->text));
      } else {
        bind(param, arg);
      }
      continue;
    }
    while (next == variadic && taken == many)
      ++next, taken = 0;
    if (next >= last) {
      wrong(Diag::WrongArguments, arg.span, fmt::format("'{}' takes no further argument", call.info->name));
      break;
    }
    bind(next, arg);
    if (next == variadic)
      ++taken;
    else
      ++next;
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < call.params.size(); ++i) {
    const BuiltinParam &param = call.params[i];
    // min and max of one tile reduce it.
    bool reduces = call.info->group == BuiltinGroup::Reduce && param.name == "y";
    if (call.args[i].empty() && !param.variadic && !param.optional && !reduces)
      missing.push_back(fmt::format("'{}'", param.name));
  }
  if (!missing.empty())
    wrong(Diag::WrongArguments, e.span,
          fmt::format("'{}' needs the argument{} {}", call.info->name, missing.size() > 1 ? "s" : "",
                      join(missing, " and ")));
  return good;
}

/// A keyword that is true or false; false when it is absent, save `check_bounds`.
std::optional<bool> Checker::flag(BuiltinCall &call, std::string_view param) {
  const BoundArg *arg = call.find(param);
  if (!arg)
    return param == "check_bounds";
  return constBool(arg->value, arg->span, fmt::format("'{}'", param));
}

/// `rounding = rn` and so on; `ok` becomes false when it was reported.
Rounding Checker::roundingOf(BuiltinCall &call, bool &ok) {
  const BoundArg *arg = call.find("rounding");
  if (!arg)
    return Rounding::NearestEven;
  static const std::vector<std::string> words = {"rn", "rz", "rm", "rp"};
  auto *name = syntax::dynAs<syntax::NameExpr>(arg->expr);
  auto it = name ? std::ranges::find(words, name->name) : words.end();
  ok &= it != words.end();
  if (it != words.end())
    return Rounding(it - words.begin()); // in one order
  report(Diag::UnknownArgument, arg->span,
         name ? fmt::format("'{}' is no rounding", name->name) : "a rounding is a plain word",
         "rn: to nearest, ties to even; rz: towards zero; rm: down; rp: up");
  return Rounding::NearestEven;
}

Value Checker::callClauseOnly(BuiltinCall &call) {
  return fail(Diag::LaunchExpression, call.span, fmt::format("'{}' has no value here", call.info->name),
              std::string(call.info->doc));
}

} // namespace tilec::sema
