// The functions that `combine =` names: functions of the program, closures, and built-ins of two operands.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"

namespace tilec::sema {

using syntax::FnDecl;

/// What a combining function may not do: folds run it any number of times, in an order of their own.
static std::string_view forbidden(const Payload &payload) {
  if (std::holds_alternative<ForInst>(payload) || std::holds_alternative<WhileInst>(payload))
    return "loops";
  bool memory = std::holds_alternative<LoadInst>(payload) || std::holds_alternative<StoreInst>(payload) ||
                std::holds_alternative<ViewAtomicInst>(payload) || std::holds_alternative<GatherInst>(payload) ||
                std::holds_alternative<ScatterInst>(payload) || std::holds_alternative<AtomicInst>(payload);
  if (memory)
    return "accesses memory";
  bool effect = std::holds_alternative<PrintInst>(payload) || std::holds_alternative<AssertInst>(payload) ||
                std::holds_alternative<GridWaitInst>(payload) || std::holds_alternative<GridLaunchInst>(payload);
  return effect ? "has an effect of its own" : "";
}

static const Inst *findForbidden(const Block &block) {
  for (const Inst &inst : block.insts) {
    if (!forbidden(inst.payload).empty())
      return &inst;
    for (const Block &inner : inst.blocks)
      if (const Inst *found = findForbidden(inner))
        return found;
  }
  return nullptr;
}

std::vector<Value> Checker::callCombine(const syntax::Expr &function, std::vector<Value> left, std::vector<Value> right,
                                        Block &into) {
  size_t parts = left.size();
  auto whole = [](std::vector<Value> values) {
    return values.size() == 1 ? std::move(values[0]) : Value::tuple(std::move(values));
  };
  Value result;
  {
    Builder::Into here(builder, into);
    result = combineResult(function, whole(std::move(left)), whole(std::move(right)));
  }
  if (result.isError())
    return {};
  if (const Inst *inst = findForbidden(into)) {
    note(report(Diag::CombineBody, inst->span,
                fmt::format("the function of a fold {} here, which it may not", forbidden(inst->payload)),
                "compute what it needs in front of the fold"),
         {function.span, "the fold applies it any number of times"});
    return {};
  }
  std::vector<Value> values = parts == 1 ? std::vector{result} : result.elements;
  bool fits = parts == 1 ? !result.is(ValueKind::Tuple) && !result.is(ValueKind::Unit)
                         : result.is(ValueKind::Tuple) && values.size() == parts;
  if (fits)
    return values;
  report(Diag::CombineBody, function.span,
         fmt::format("the function of this fold gives {}, not {}", typeName(result),
                     parts == 1 ? "one value" : fmt::format("a tuple of {}", parts)),
         "it gives what it takes: the two operands combined into one");
  return {};
}

/// The value of the function for two operands, checked at the current place.
Value Checker::combineResult(const syntax::Expr &function, const Value &left, const Value &right) {
  auto arity = [&](size_t n) {
    return fail(
        Diag::CombineBody, function.span,
        fmt::format("the function of a fold takes two operands, accumulated and next, and this one takes {}", n));
  };
  if (auto *closure = syntax::dynAs<syntax::ClosureExpr>(&function)) {
    if (closure->params.size() != 2)
      return arity(closure->params.size());
    return inlineBody("fn", function.span, scope, *closure->body, true, [&] {
      bindPattern(closure->params[0], left, function.span, NameKind::Param);
      bindPattern(closure->params[1], right, function.span, NameKind::Param);
      return true;
    });
  }
  auto *name = syntax::dynAs<syntax::NameExpr>(&function);
  if (!name)
    return fail(Diag::CombineBody, function.span, "'combine' is the name of a function, or a closure",
                "write 'combine = NAME' or 'combine = fn(l, r) { … }'");
  auto apply = [&](const FnDecl &fn, Scope *home) {
    size_t needed = std::ranges::count_if(fn.params, [](const syntax::FnParam &p) { return !p.defaultValue; });
    if (fn.params.size() < 2 || needed > 2)
      return arity(fn.params.size());
    FnCall call{function.span, function.span, {}, {}};
    call.given.emplace(fn.params[0].name.text, BoundArg{left, function.span, &function, nullptr});
    call.given.emplace(fn.params[1].name.text, BoundArg{right, function.span, &function, nullptr});
    return applyFn(fn, home, call, true);
  };
  for (Scope *s = scope; s; s = s->parent)
    for (size_t i = s->fns.size(); i-- > 0;)
      if (s->fns[i].decl->name.text == name->name)
        return apply(*s->fns[i].decl, s);
  if (auto it = names.fns.find(name->name); it != names.fns.end())
    return apply(*it->second, nullptr);
  if (int index = findBuiltin(name->name); index >= 0)
    return combineBuiltin(index, *name, left, right);
  return fail(Diag::UnknownFunction, name->span, fmt::format("there is no function '{}'", name->name),
              diags.crowded() ? "" : suggest(name->name, visibleFns()));
}

/// A built-in of two operands, such as `max` or `add`, applied as if it were called with them.
Value Checker::combineBuiltin(int index, const syntax::NameExpr &name, const Value &left, const Value &right) {
  const BuiltinInfo &info = allBuiltins()[size_t(index)];
  BuiltinSignature signature = parseSignature(info.signature);
  auto positional = [&](size_t i) {
    return i < signature.params.size() && !signature.params[i].keywordOnly && !signature.params[i].variadic;
  };
  bool two = positional(0) && positional(1) &&
             (signature.params.size() == 2 || !positional(2) || signature.params[2].optional);
  bool computes = info.group == BuiltinGroup::Math || info.group == BuiltinGroup::Bits ||
                  info.group == BuiltinGroup::Select || info.group == BuiltinGroup::Reduce;
  if (!two || !computes || signature.takesDType)
    return fail(Diag::CombineBody, name.span, fmt::format("'{}' does not combine two values into one", info.name),
                fmt::format("its form is '{}'", info.signature));
  // A call as the parser would give it; the operands are values already.
  syntax::CallExpr call;
  call.span = call.argsSpan = name.span;
  call.callee = {name.name, name.span};
  BuiltinCall bound;
  bound.info = &info;
  bound.expr = &call;
  bound.span = name.span;
  bound.params = std::move(signature.params);
  bound.args.resize(bound.params.size());
  bound.args[0].push_back({left, name.span, &name, nullptr});
  bound.args[1].push_back({right, name.span, &name, nullptr});
  return runBuiltin(size_t(index), bound);
}

} // namespace tilec::sema
