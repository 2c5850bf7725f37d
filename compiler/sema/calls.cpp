// Calls: functions of the program by inlining, built-ins by their table.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

using syntax::CallExpr;
using syntax::FnDecl;

std::vector<std::string> Checker::visibleFns() const {
  std::vector<std::string> result;
  for (Scope *s = scope; s; s = s->parent)
    for (const auto &fn : s->fns)
      result.push_back(fn.decl->name.text);
  for (const auto &[name, decl] : names.fns)
    result.push_back(name);
  for (const BuiltinInfo &row : allBuiltins())
    if (row.receiver == Receiver::Free || row.receiver == Receiver::Tile)
      result.emplace_back(row.name);
  return result;
}

/// Inner functions hide functions of the file, which hide nothing: they cannot have a built-in's name.
Value Checker::callExpr(const CallExpr &e, bool wanted) {
  const std::string &name = e.callee.text;
  if (e.receiver) {
    auto *word = syntax::dynAs<syntax::NameExpr>(e.receiver);
    if (word && word->name == "target" && !(scope && scope->find("target").first))
      return targetQuery(e);
    Value receiver = expr(*e.receiver);
    if (!usable(receiver, e.receiver->span))
      return Value::error();
    Receiver kind = receiver.is(ValueKind::Array)  ? Receiver::Array
                    : receiver.is(ValueKind::View) ? Receiver::View
                    : receiver.isTileLike()        ? Receiver::Tile
                                                   : Receiver::DTypeQuery;
    int index = kind == Receiver::DTypeQuery ? -1 : findBuiltin(name, kind);
    return index < 0 ? unknownMethod(e.callee, receiver) : callBuiltin(index, e, &receiver);
  }
  for (Scope *s = scope; s; s = s->parent)
    for (size_t i = s->fns.size(); i-- > 0;)
      if (s->fns[i].decl->name.text == name)
        return callFn(*s->fns[i].decl, s, e, wanted);
  if (auto it = names.fns.find(name); it != names.fns.end())
    return callFn(*it->second, nullptr, e, wanted);
  if (int index = findBuiltin(name); index >= 0)
    return callBuiltin(index, e, nullptr);
  if ((scope && scope->find(name).first) || names.consts.contains(name))
    return fail(Diag::UnknownFunction, e.callee.span, fmt::format("'{}' is a value, not a function", name));
  if (names.kernels.contains(name))
    return fail(Diag::UnknownFunction, e.callee.span, fmt::format("the kernel '{}' cannot be called", name),
                "move what both need into a 'fn'");
  for (Receiver kind : {Receiver::Array, Receiver::View})
    if (int index = findBuiltin(name, kind); index >= 0)
      return fail(Diag::UnknownFunction, e.callee.span, fmt::format("'{}' is a method", name),
                  fmt::format("write '{}'", allBuiltins()[size_t(index)].signature));
  if (names.hasImports)
    return Value::error();
  return fail(Diag::UnknownFunction, e.callee.span, fmt::format("there is no function '{}'", name),
              diags.crowded() ? "" : mendName(name, visibleFns()));
}

/// `target.has(FEATURE)`: the names are those of the table of features, which grows with the architectures.
Value Checker::targetQuery(const CallExpr &e) {
  if (e.callee.text != "has")
    return fail(Diag::UnknownMember, e.callee.span, fmt::format("'target' has no '{}'", e.callee.text),
                "ask it with 'target.has(FEATURE)'");
  auto *word = e.args.size() == 1 && !e.args[0].name ? syntax::dynAs<syntax::NameExpr>(e.args[0].value) : nullptr;
  auto feature = word ? parseFeature(word->name) : std::nullopt;
  if (feature)
    return Value::ofBool(arch && arch->has(*feature));
  std::vector<std::string> known;
  for (const FeatureInfo &row : allFeatures())
    known.emplace_back(row.name);
  return fail(Diag::UnknownName, word ? word->span : e.argsSpan,
              word ? fmt::format("there is no feature '{}'", word->name) : "'target.has' takes the name of one feature",
              suggest(word ? word->name : "", known));
}

/// Positional arguments, then named ones; all of them belong to the caller's scope.
Value Checker::callFn(const FnDecl &fn, Scope *home, const CallExpr &e, bool wanted) {
  FnCall call{e.span, e.callee.span, {}, {}};
  bool good = true;
  auto wrong = [&](Span span, std::string message, std::string help = "") {
    note(report(Diag::WrongArguments, span, std::move(message), std::move(help)),
         {fn.name.span, fmt::format("'{}' is declared here", fn.name.text)});
    good = false;
  };
  size_t position = 0;
  for (const syntax::Arg &arg : e.args) {
    if (arg.domain)
      wrong(arg.domain->span, "only hints of loads and stores take a domain");
    std::string name;
    if (arg.name) {
      name = arg.name->text;
      std::vector<std::string> known;
      for (const syntax::FnParam &param : fn.params)
        known.push_back(param.name.text);
      if (std::ranges::find(known, name) == known.end()) {
        wrong(arg.name->span, fmt::format("'{}' has no parameter '{}'", fn.name.text, name), suggest(name, known));
        continue;
      }
    } else if (position < fn.params.size()) {
      name = fn.params[position++].name.text;
    } else {
      wrong(arg.span,
            fmt::format("'{}' takes {} argument{}", fn.name.text, fn.params.size(), fn.params.size() == 1 ? "" : "s"));
      break;
    }
    Value value = expr(*arg.value);
    if (!usable(value, arg.value->span))
      value = Value::error();
    if (!call.given.emplace(name, BoundArg{value, arg.value->span, arg.value.get(), &arg}).second)
      wrong(arg.span, fmt::format("'{}' is given twice", name));
  }
  if (e.constArgs.size() > fn.cparams.size())
    wrong(e.constArgs[fn.cparams.size()]->span, fmt::format("'{}' takes {} compile-time argument{}", fn.name.text,
                                                            fn.cparams.size(), fn.cparams.size() == 1 ? "" : "s"));
  for (const syntax::ExprPtr &arg : e.constArgs)
    call.constants.push_back({expr(*arg), arg->span, arg.get(), nullptr});
  return good ? applyFn(fn, home, call, wanted) : Value::error();
}

Value Checker::applyFn(const FnDecl &fn, Scope *home, const FnCall &call, bool wanted) {
  return inlineBody(fn.name.text, call.span, home, *fn.body, wanted,
                    [&] { return bindConstParams(fn, call) && bindParams(fn, call); });
}

/// Inlines one body in a scope below the one that declares the function. `bind` gives its parameters their values.
Value Checker::inlineBody(const std::string &name, Span call, Scope *home, const syntax::Block &body, bool wanted,
                          const std::function<bool()> &bind) {
  if (tooDeep)
    return Value::error(); // reported; a recursion that branches must not go on in all its branches
  bool deep = calls.size() >= size_t(maxCalls);
  if (deep || ++inlined > maxInlined) {
    tooDeep = true;
    return fail(Diag::RecursionLimit, call,
                deep ? fmt::format("calls are nested {} deep here, which is the limit", maxCalls)
                     : fmt::format("more than {} calls are inlined into this kernel", maxInlined),
                "a function that calls itself ends its recursion with 'static if'");
  }
  Scope inner;
  inner.parent = home;
  inner.function = ++frames;
  Scope *caller = std::exchange(scope, &inner);
  Frame own;
  own.wanted = wanted;
  own.number = inner.function;
  Frame *outer = std::exchange(frame, &own);
  size_t alive = variables.size();
  Value result = Value::error();
  if (bind()) {
    calls.push_back({name, call});
    result = block(body, wanted, containsExit(body));
    if (own.flow.returned)
      result = *own.flow.returned;
    calls.pop_back();
    tooDeep &= !calls.empty();
  }
  variables.resize(alive);
  frame = outer;
  scope = caller;
  return result;
}

/// Compile-time arguments between `<` and `>`; defaults see the parameters in front of them.
bool Checker::bindConstParams(const FnDecl &fn, const FnCall &call) {
  bool good = true;
  for (size_t i = 0; i < fn.cparams.size(); ++i) {
    const syntax::CParam &param = fn.cparams[i];
    Value value;
    Span span = call.span;
    if (i < call.constants.size()) {
      value = call.constants[i].value;
      span = call.constants[i].span;
    } else if (param.defaultValue) {
      value = expr(*param.defaultValue);
      span = param.defaultValue->span;
    } else {
      report(Diag::WrongArguments, call.callee,
             fmt::format("'{}' needs the compile-time argument '{}'", fn.name.text, param.name.text),
             fmt::format("write '{}<…>(…)'", fn.name.text));
      good = false;
      continue;
    }
    std::string what = fmt::format("the compile-time argument '{}'", param.name.text);
    switch (param.kind) {
    case syntax::CParamKind::Int:
      good &= constInt(value, span, what).has_value();
      break;
    case syntax::CParamKind::Bool:
      good &= constBool(value, span, what).has_value();
      break;
    case syntax::CParamKind::DType:
      good &= constDType(value, span, what).has_value();
      break;
    case syntax::CParamKind::Float:
      good &= needConst(value, span, what);
      break;
    }
    declare(param.name.text, param.name.span, NameKind::Param, value);
  }
  return good;
}

/// Parameters in order, so that an annotation or a default may use names bound by the ones in front.
bool Checker::bindParams(const FnDecl &fn, const FnCall &call) {
  bool good = true;
  for (const syntax::FnParam &param : fn.params) {
    Value value;
    Span span = call.span;
    if (auto it = call.given.find(param.name.text); it != call.given.end()) {
      value = it->second.value;
      span = it->second.span;
    } else if (param.defaultValue) {
      value = expr(*param.defaultValue);
      span = param.defaultValue->span;
    } else {
      note(report(Diag::WrongArguments, call.span,
                  fmt::format("'{}' needs the argument '{}'", fn.name.text, param.name.text)),
           {param.name.span, "the parameter"});
      good = false;
      continue;
    }
    // Without a fitting argument the names that an annotation binds have no meaning: the body is not looked at.
    if (param.type && (value.isError() || !annotated(*param.type, value, span, param.name.text, true)))
      good = false;
    declare(param.name.text, param.name.span, NameKind::Param, value);
  }
  return good;
}

/// Reports a method or property that a value does not have, with the form that would do.
Value Checker::unknownMethod(const syntax::Ident &name, const Value &receiver) {
  bool isArray = receiver.is(ValueKind::Array), isView = receiver.is(ValueKind::View);
  bool isDType = receiver.is(ValueKind::DType);
  Receiver method = isArray ? Receiver::Array : isView ? Receiver::View : Receiver::Tile;
  Receiver property = isArray   ? Receiver::ArrayQuery
                      : isView  ? Receiver::ViewQuery
                      : isDType ? Receiver::DTypeQuery
                                : Receiver::TileQuery;
  bool isTuple = receiver.is(ValueKind::Tuple) || receiver.is(ValueKind::String);
  std::vector<std::string> known;
  std::string help;
  for (const BuiltinInfo &row : allBuiltins()) {
    bool fits = !isTuple && ((row.receiver == method && !isDType) || row.receiver == property);
    if (fits)
      known.emplace_back(row.name);
    if (fits && row.name == name.text)
      help = fmt::format("write '{}'", row.signature);
  }
  for (Receiver other : {Receiver::Array, Receiver::View})
    if (help.empty() && other != method && findBuiltin(name.text, other) >= 0)
      help = fmt::format("'{}' is a method of {}", name.text,
                         other == Receiver::Array ? "arrays" : "views; make one with '.tiled(shape…)'");
  if (help.empty() && names.fns.contains(name.text))
    help = fmt::format("functions of the program are called as '{}(x, …)'", name.text);
  if (help.empty())
    help = isTuple ? "the items of a tuple are '.0', '.1' and so on" : suggest(name.text, known);
  std::string what = isArray ? "an array" : isView ? "a view" : isDType ? "a dtype" : isTuple ? "a tuple" : "a tile";
  return fail(Diag::UnknownMember, name.span, fmt::format("{} has no '{}' used like this", what, name.text), help);
}

Value Checker::memberExpr(const syntax::MemberExpr &e) {
  Value object = expr(*e.object);
  if (!usable(object, e.object->span))
    return Value::error();
  Receiver kind = object.is(ValueKind::Array)   ? Receiver::ArrayQuery
                  : object.is(ValueKind::View)  ? Receiver::ViewQuery
                  : object.is(ValueKind::DType) ? Receiver::DTypeQuery
                                                : Receiver::TileQuery;
  bool hasMembers = object.isTileLike() || kind != Receiver::TileQuery;
  int index = hasMembers ? findBuiltin(e.member.text, kind) : -1;
  if (index < 0)
    return unknownMethod(e.member, object);
  const BuiltinInfo &row = allBuiltins()[size_t(index)];
  return queryOf(row.name, object, e.span);
}

} // namespace tilec::sema
