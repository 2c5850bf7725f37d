// Statements: blocks, bindings, assignments and `return`.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

using syntax::StmtKind;

/// A block is a scope: its names and variables end with it.
Value Checker::block(const syntax::Block &b, bool wanted, bool tail) {
  Scope inner;
  inner.parent = scope;
  inner.function = frame->number;
  scope = &inner;
  size_t alive = variables.size();
  Value value = statements(b, 0, wanted, tail);
  variables.resize(alive);
  scope = inner.parent;
  return value;
}

/// Reports once that the program is longer than any machine code should be; what follows is not looked at.
bool Checker::isTooLong(Span at) {
  constexpr size_t most = size_t(1) << 17;
  if (program.values.size() <= most)
    return false;
  if (!std::exchange(tooLong, true))
    report(Diag::ProgramTooLong, at, fmt::format("the kernel has more than {} instructions here", most),
           "let a loop that runs, `for` instead of `static for`, do what repeats");
  return true;
}

/// From a statement to the end of the block. The value is that of the last statement, if it is an expression. `tail`:
/// the end of the block is that of a function or trip with other ends as well, and control leaves it there.
Value Checker::statements(const syntax::Block &b, size_t from, bool wanted, bool tail) {
  Value value = Value::unit();
  for (size_t i = from; i < b.stmts.size() && !frame->flow.dead(); ++i) {
    if (frame->flow.open())
      return guarded(b, i, wanted, tail);
    const syntax::Stmt &s = *b.stmts[i];
    if (isTooLong(s.span))
      return Value::error();
    bool last = i + 1 == b.stmts.size();
    value = Value::unit();
    auto *statement = syntax::dynAs<syntax::ExprStmt>(&s);
    if (!statement) {
      stmt(s);
      bool exit = s.kind == StmtKind::Return || s.kind == StmtKind::Break || s.kind == StmtKind::Continue;
      if (exit && !frame->flow.dead()) // refused
        value = Value::error();
    } else if (auto *branch = syntax::dynAs<syntax::IfExpr>(statement->expr)) {
      Rest rest{&b, i + 1, wanted, tail};
      value = ifExpr(*branch, last && wanted, &rest);
      if (rest.consumed)
        return Value::unit();
    } else {
      auto *call = syntax::dynAs<syntax::CallExpr>(statement->expr);
      value = call ? callExpr(*call, last && wanted) : expr(*statement->expr);
    }
  }
  if (!tail || frame->flow.dead())
    return frame->flow.dead() ? Value::unit() : value;
  if (frame->flow.open())
    return guarded(b, b.stmts.size(), wanted, tail);
  leave(value);
  return Value::unit();
}

void Checker::stmt(const syntax::Stmt &s) {
  switch (s.kind) {
  case StmtKind::Bind:
    return bindStmt(syntax::as<syntax::BindStmt>(s));
  case StmtKind::Assign:
    return assignStmt(syntax::as<syntax::AssignStmt>(s));
  case StmtKind::Return:
    return returnStmt(syntax::as<syntax::ReturnStmt>(s));
  case StmtKind::Fn: {
    auto &fn = *syntax::as<syntax::FnStmt>(s).fn;
    if (findBuiltin(fn.name.text) >= 0)
      report(Diag::BuiltinRedefined, fn.name.span, fmt::format("'{}' is a built-in function", fn.name.text),
             "give the function another name");
    for (const auto &known : scope->fns)
      if (known.decl->name.text == fn.name.text)
        note(report(Diag::DuplicateName, fn.name.span,
                    fmt::format("the function '{}' is declared twice in this block", fn.name.text)),
             {known.decl->name.span, "the other declaration"});
    scope->fns.push_back({&fn});
    return;
  }
  case StmtKind::For:
    return forStmt(syntax::as<syntax::ForStmt>(s));
  case StmtKind::While:
    return whileStmt(syntax::as<syntax::WhileStmt>(s));
  case StmtKind::Break:
  case StmtKind::Continue:
    return loopExit(s);
  case StmtKind::Error:
  case StmtKind::Expr:
    return;
  }
}

/// The value is kept in the frame: `statements` stops there, and the call takes it.
void Checker::returnStmt(const syntax::ReturnStmt &s) {
  Value value = s.value ? expr(*s.value) : Value::unit();
  if (frame->loops > 0) {
    report(Diag::ReturnPlace, s.span, "'return' cannot leave a loop",
           "carry the result in a variable and return it behind the loop");
    return;
  }
  if (frame->valueIfs > 0) {
    report(Diag::ReturnPlace, s.span, "'return' cannot leave an 'if' whose value is used",
           "make the 'if' a statement of its own that assigns a variable");
    return;
  }
  if (frame->isKernel && s.value)
    report(Diag::ReturnPlace, s.span, "a kernel returns nothing", "store the result into an 'out' array");
  frame->flow.returned = value;
  frame->flow.live = Value::ofBool(false);
}

/// `break` and `continue` end the trip; the first one the loop as well.
void Checker::loopExit(const syntax::Stmt &s) {
  bool isBreak = s.kind == StmtKind::Break;
  std::string_view word = isBreak ? "break" : "continue";
  if (frame->loop == LoopKind::None) {
    report(Diag::LoopControl, s.span, fmt::format("'{}' stands in no loop", word),
           isBreak ? fmt::format("a {} is left by 'return'", frame->isKernel ? "kernel" : "function") : "");
    return;
  }
  if (frame->loop == LoopKind::Unrolled) {
    report(Diag::LoopControl, s.span, fmt::format("'{}' cannot leave a 'static for', which is unrolled", word),
           "guard the rest of the trip with 'if', or use a 'for'");
    return;
  }
  if (frame->valueIfs > 0) {
    report(Diag::LoopControl, s.span, fmt::format("'{}' cannot leave an 'if' whose value is used", word),
           "make the 'if' a statement of its own that assigns a variable");
    return;
  }
  frame->flow.live = Value::ofBool(false);
  if (isBreak)
    frame->flow.go = Value::ofBool(false);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Bindings
//===--------------------------------------------------------------------------------------------------------------===//

/// Adds a name to the innermost scope and checks the rules of rebinding and hiding. Null: the name discards.
Binding *Checker::declare(const std::string &name, Span span, NameKind kind, Value value) {
  if (name == "_" || name.empty())
    return nullptr;
  if (Binding *here = scope->findHere(name)) {
    if (here->kind != NameKind::Let || kind != NameKind::Let)
      note(report(Diag::DuplicateName, span, fmt::format("'{}' is declared twice in this block", name),
                  "only a 'let' may be bound anew, by another 'let'"),
           {here->span, "the other declaration"});
  } else if (Binding *outer = scope->parent ? scope->parent->find(name).first : nullptr; outer && outer->isVar()) {
    note(report(Diag::ShadowsVariable, span, fmt::format("'{}' hides a variable of a block around it", name),
                "choose another name"),
         {outer->span, "the variable"});
  }
  auto binding = std::make_unique<Binding>();
  binding->name = name;
  binding->kind = kind;
  binding->span = span;
  binding->value = std::move(value);
  binding->typeSpan = span;
  if (kind == NameKind::Var) {
    binding->hasType = true;
    binding->origin = origin(span, fmt::format("'{}' is a variable, which is never a compile-time value", name));
    variables.push_back(binding.get());
  }
  scope->names.push_back(std::move(binding));
  return scope->names.back().get();
}

/// Takes a value apart by a pattern. After an error all names are bound to erroneous values, so that their uses stay
/// silent.
void Checker::bindPattern(const syntax::Pattern &pattern, const Value &value, Span valueSpan, NameKind kind) {
  if (!pattern.isTuple()) {
    if (pattern.isDiscard())
      return;
    Value held = kind == NameKind::Var ? varValue(value, valueSpan) : value;
    Binding *binding = declare(pattern.name, pattern.span, kind, std::move(held));
    if (binding && kind == NameKind::Var)
      binding->value = withOrigin(binding->value, binding->origin);
    return;
  }
  bool fits = value.is(ValueKind::Tuple) && value.elements.size() == pattern.elements.size();
  if (!fits && !value.isError()) {
    std::string found =
        value.is(ValueKind::Tuple) ? fmt::format("a tuple of {}", value.elements.size()) : typeName(value);
    note(report(Diag::PatternMismatch, valueSpan,
                fmt::format("{} does not fit the {} names it is bound to", found, pattern.elements.size())),
         {pattern.span, "the names"});
  }
  for (size_t i = 0; i < pattern.elements.size(); ++i)
    bindPattern(pattern.elements[i], fits ? value.elements[i] : Value::error(), valueSpan, kind);
}

void Checker::bindStmt(const syntax::BindStmt &s) {
  NameKind kind = s.isVar ? NameKind::Var : NameKind::Let;
  if (!s.value) {
    Binding *var = s.pattern.isTuple() ? nullptr : declare(s.pattern.name, s.pattern.span, kind, Value::error());
    if (!var) {
      bindPattern(s.pattern, Value::error(), s.pattern.span, kind);
      return;
    }
    var->assigned = Assigned::No;
    var->hasType = false;
    if (s.type)
      if (auto type = annotationType(*s.type)) {
        var->value = Value::tile(0, *type, var->origin);
        var->hasType = true;
        var->typeSpan = s.type->span;
      }
    return;
  }
  Value value = expr(*s.value);
  if (!usable(value, s.value->span))
    value = Value::error();
  if (s.type && !value.isError() && !annotated(*s.type, value, s.value->span, s.pattern.name, false))
    value = Value::error();
  bindPattern(s.pattern, value, s.value->span, kind);
}

Value Checker::withOrigin(Value value, const Origin *why) const {
  value.origin = why;
  for (Value &element : value.elements)
    element = withOrigin(std::move(element), why);
  return value;
}

/// What a variable holds: never a compile-time value, since its next value need not be one.
Value Checker::varValue(const Value &value, Span span) {
  if (value.isError())
    return value;
  if (value.is(ValueKind::Tuple)) {
    std::vector<Value> parts;
    for (const Value &element : value.elements) {
      parts.push_back(varValue(element, span));
      if (parts.back().isError())
        return Value::error();
    }
    return Value::tuple(std::move(parts));
  }
  if (value.isTileLike())
    return materialize(value, span);
  return fail(Diag::NotAtRunTime, span, fmt::format("a variable holds tiles and scalars, not {}", typeName(value)),
              "bind it with 'let'");
}

//===--------------------------------------------------------------------------------------------------------------===//
// Assignments
//===--------------------------------------------------------------------------------------------------------------===//

/// The tiles of a value in order: a tuple is carried by loops and branches as its parts.
void Checker::leaves(const Value &value, std::vector<Value> &out) const {
  if (!value.is(ValueKind::Tuple)) {
    out.push_back(value);
    return;
  }
  for (const Value &element : value.elements)
    leaves(element, out);
}

Value Checker::replaceLeaves(const Value &value, std::vector<Value>::const_iterator &next) const {
  if (!value.is(ValueKind::Tuple))
    return *next++;
  Value result = value;
  for (Value &element : result.elements)
    element = replaceLeaves(element, next);
  return result;
}

void Checker::assignStmt(const syntax::AssignStmt &s) {
  Value value = expr(*s.value);
  if (!usable(value, s.value->span))
    value = Value::error();
  std::vector<Binding *> vars;
  for (const syntax::Ident &place : s.places) {
    if (place.text == "_") {
      vars.push_back(nullptr);
      continue;
    }
    auto [binding, home] = scope->find(place.text);
    if (!binding) {
      bool isConst = names.consts.contains(place.text);
      std::vector<std::string> known;
      for (const Binding *var : variables)
        known.push_back(var->name);
      report(isConst ? Diag::NotAssignable : Diag::UnknownName, place.span,
             isConst ? fmt::format("'{}' is a constant and cannot be assigned", place.text)
                     : fmt::format("there is no variable '{}' here", place.text),
             isConst         ? ""
             : known.empty() ? fmt::format("declare it with 'var {}'", place.text)
                             : suggest(place.text, known));
    } else if (!binding->isVar()) {
      note(report(Diag::NotAssignable, place.span,
                  fmt::format("'{}' is no variable and cannot be assigned", place.text),
                  binding->kind == NameKind::Let ? fmt::format("declare it with 'var {}'", place.text) : ""),
           {binding->span, "declared here"});
    } else if (home->function != frame->number) {
      note(report(Diag::NotAssignable, place.span,
                  fmt::format(
                      "'{}' belongs to the function around this one, which an inner function sees but does not assign",
                      place.text),
                  "return the new value and assign it outside"),
           {binding->span, "declared here"});
    } else {
      vars.push_back(binding);
      continue;
    }
    vars.push_back(nullptr);
  }
  if (!s.isTuple) {
    if (!vars[0])
      return;
    if (s.op) {
      Value old = readBinding(*vars[0], s.places[0].span);
      Span whole = cover(s.places[0].span, s.value->span);
      value = value.isError() ? value : binaryOf(*s.op, old, s.places[0].span, value, s.value->span, whole);
    }
    return assign(*vars[0], value, s.places[0].span, s.value->span);
  }
  bool fits = value.is(ValueKind::Tuple) && value.elements.size() == vars.size();
  if (!fits && !value.isError()) {
    std::string found =
        value.is(ValueKind::Tuple) ? fmt::format("a tuple of {}", value.elements.size()) : typeName(value);
    report(Diag::PatternMismatch, s.value->span,
           fmt::format("{} does not fit the {} variables it is assigned to", found, vars.size()));
  }
  for (size_t i = 0; i < vars.size(); ++i)
    if (vars[i])
      assign(*vars[i], fits ? value.elements[i] : Value::error(), s.places[i].span, s.value->span);
}

/// Puts a value into a variable. The first one gives it dtype and shape, unless an annotation did.
void Checker::assign(Binding &var, const Value &value, Span place, Span valueSpan) {
  Value held;
  if (value.isError() || (var.hasType && var.value.isError())) {
    held = Value::error();
  } else if (var.hasType) {
    held = sameType(var, var.value, value, place, valueSpan);
  } else {
    held = varValue(value, valueSpan);
    var.typeSpan = place;
  }
  // A refused assignment leaves the variable's type as it was, so that the rest of the program is still checked.
  bool known = !held.isError() || !var.hasType || var.value.isError();
  if (known)
    var.value = withOrigin(std::move(held), var.origin);
  var.hasType = true;
  var.assigned = Assigned::Yes;
}

/// The value as the variable can take it: an untyped number takes the dtype, everything else must have it already.
Value Checker::sameType(Binding &var, const Value &old, const Value &value, Span place, Span valueSpan) {
  auto refuse = [&](std::string help) {
    Diagnostic &d = report(Diag::VariableType, place,
                           fmt::format("'{}' is {} and cannot become {}", var.name, typeName(old), typeName(value)),
                           std::move(help));
    note(d, DiagNote{var.typeSpan, fmt::format("'{}' got its dtype and shape here", var.name)});
    return Value::error();
  };
  if (old.is(ValueKind::Tuple)) {
    if (!value.is(ValueKind::Tuple) || value.elements.size() != old.elements.size())
      return refuse("a variable keeps the parts of its tuple");
    std::vector<Value> parts;
    for (size_t i = 0; i < old.elements.size(); ++i) {
      parts.push_back(sameType(var, old.elements[i], value.elements[i], place, valueSpan));
      if (parts.back().isError())
        return Value::error();
    }
    return Value::tuple(std::move(parts));
  }
  if (!value.isTileLike())
    return refuse("");
  if (shapeOf(value) != old.type.shape)
    return refuse(shapeOf(value).empty()
                      ? fmt::format("make a tile of it, as in 'full<{}>(shape…, value = v)'", name(old.type.dtype))
                      : "a variable keeps its shape on every path");
  if (value.isUntyped())
    return materializeAs(value, old.type.dtype, valueSpan);
  if (dtypeOf(value) != old.type.dtype)
    return refuse(fmt::format("convert it, as in 'x.to({})'", name(old.type.dtype)));
  return materialize(value, valueSpan);
}

/// Whether a value can decide: one bool. Otherwise reports.
bool Checker::condition(const Value &value, Span span) {
  if (!usable(value, span))
    return false;
  bool isBool = value.isTileLike() && !value.isUntyped() && dtypeOf(value) == DType::bool_;
  if (isBool && shapeOf(value).empty())
    return true;
  report(Diag::ConditionType, span, fmt::format("a condition is one bool, not {}", typeName(value)),
         isBool ? "reduce it with 'any(x)' or 'all(x)', or choose elements with 'where'"
         : value.isTileLike() && shapeOf(value).empty() ? "compare it, as in 'x != 0'"
                                                        : "");
  return false;
}

} // namespace tilec::sema
