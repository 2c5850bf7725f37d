// `if` in its three forms: decided by `static`, decided by a compile-time condition, and at run time, where variables
// and the arms' values become results of one If instruction.
#include "compiler/sema/checker.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

using syntax::IfExpr;

/// Branches are checked one after the other from the same state: what variables are before an arm is kept and put back.
std::vector<Checker::VarState> Checker::snapshot() const {
  std::vector<VarState> states;
  for (const Binding *var : variables)
    states.push_back({var->value, var->assigned, var->hasType, var->typeSpan, var->gap});
  return states;
}

void Checker::restore(const std::vector<VarState> &states) {
  for (size_t i = 0; i < states.size(); ++i) {
    Binding &var = *variables[i];
    var.value = states[i].value;
    var.assigned = states[i].assigned;
    var.hasType = states[i].hasType;
    var.typeSpan = states[i].typeSpan;
    var.gap = states[i].gap;
  }
}

/// After an error in a condition or a construct that is not built: what the block would have assigned is unknown, and
/// silent from here on.
void Checker::poison(const syntax::Block &block) {
  for (const std::string &name : assignedNames(block))
    if (Binding *var = scope->find(name).first; var && var->isVar()) {
      var->value = Value::error();
      var->hasType = true;
      var->assigned = Assigned::Yes;
    }
}

/// `wanted`: the value is used, so the arms must agree; as a statement they need not.
Value Checker::ifExpr(const IfExpr &e, bool wanted) {
  Value c = expr(*e.condition);
  std::optional<bool> known;
  if (e.isStatic)
    known = constBool(c, e.condition->span, "the condition of 'static if'");
  else if (condition(c, e.condition->span) && c.isConst())
    known = c.bits != 0;
  if (e.isStatic && known) {
    const syntax::Block *taken = *known ? e.thenBlock.get() : e.elseBlock.get();
    return taken ? block(*taken, wanted) : Value::unit();
  }
  if (known)
    return knownIf(e, *known, wanted);
  if (!e.isStatic && c.isTile() && c.type.dtype == DType::bool_ && c.type.shape.empty())
    return runTimeIf(e, c, wanted);
  // The condition is at fault: the arms are still read for errors of their own, and what they assign is unknown.
  if (!e.isStatic) {
    auto before = snapshot();
    checkArm(e.thenBlock.get(), e.span, false, nullptr);
    restore(before);
    checkArm(e.elseBlock.get(), e.span, false, nullptr);
    restore(before);
    frame->returned.reset();
  }
  poison(*e.thenBlock);
  if (e.elseBlock)
    poison(*e.elseBlock);
  return Value::error();
}

Checker::Arm Checker::checkArm(const syntax::Block *b, Span span, bool wanted, bool *returned) {
  Arm arm;
  arm.span = b ? b->span : span;
  Builder::Into into(builder, arm.block);
  arm.value = b ? block(*b, wanted) : Value::unit();
  if (returned && !frame->returned) {
    // An arm of an `if` that returns elsewhere goes on with all that follows in the function.
    for (size_t i = frame->rests.size(); i-- > 0 && !frame->returned;) {
      Frame::Rest rest = frame->rests[i];
      if (rest.from >= rest.block->stmts.size())
        continue;
      // What they declare ends with the arm: the other arm declares it anew.
      Scope *here = std::exchange(scope, rest.scope);
      size_t names = scope->names.size(), fns = scope->fns.size(), vars = variables.size();
      frame->rests.resize(i);
      arm.value = statements(*rest.block, rest.from, rest.wanted);
      variables.resize(vars);
      scope->names.resize(names);
      scope->fns.resize(fns);
      scope = here;
    }
  }
  if (returned && frame->returned) {
    arm.value = *frame->returned;
    frame->returned.reset();
    *returned = true;
  }
  arm.vars = snapshot();
  return arm;
}

/// What a variable is after two branches, by whether each gave it a value.
Assigned Checker::mergeState(Binding &var, const VarState &a, const VarState &b, const Arm &armA, const Arm &armB) {
  var.hasType = a.hasType || b.hasType;
  var.typeSpan = a.hasType ? a.typeSpan : b.typeSpan;
  if (a.assigned == b.assigned) {
    var.gap = a.gap;
    return a.assigned;
  }
  const VarState &less = a.assigned < b.assigned ? a : b;
  var.gap = less.assigned == Assigned::Maybe ? less.gap : a.assigned < b.assigned ? armA.span : armB.span;
  return Assigned::Maybe;
}

Value Checker::knownIf(const IfExpr &e, bool taken, bool wanted) {
  // Both arms are checked, since the condition does not make the other one another program.
  auto before = snapshot();
  auto rests = frame->rests;
  Arm a = checkArm(e.thenBlock.get(), e.span, wanted, nullptr);
  auto returnedA = std::exchange(frame->returned, std::nullopt);
  restore(before);
  Arm b = checkArm(e.elseBlock.get(), e.span, wanted, nullptr);
  auto returnedB = std::exchange(frame->returned, std::nullopt);
  frame->returned = taken ? returnedA : returnedB;
  Arm &chosen = taken ? a : b;
  builder.splice(chosen.block);
  bool oneLeaves = returnedA.has_value() != returnedB.has_value();
  for (size_t i = 0; i < before.size(); ++i) {
    Binding &var = *variables[i];
    Assigned state = mergeState(var, a.vars[i], b.vars[i], a, b);
    if (oneLeaves) // the other arm alone goes on from here
      state = returnedA ? b.vars[i].assigned : a.vars[i].assigned;
    var.assigned = state;
    var.value = chosen.vars[i].hasType ? chosen.vars[i].value : (taken ? b : a).vars[i].value;
  }
  if (!wanted || frame->returned)
    return Value::unit();
  Value x = a.value, y = b.value;
  if (x.isError() || y.isError())
    return Value::error();
  if (x.isConst() && y.isConst())
    return taken ? x : y;
  if (oneLeaves)
    return chosen.value;
  if (!agree(e, a, b, x, y))
    return Value::error();
  return taken ? x : y;
}

/// Values and variables that the arms leave different become results of one If instruction.
Value Checker::runTimeIf(const IfExpr &e, const Value &c, bool wanted) {
  bool returns = frame->loops == 0 && containsReturn(e); // in a loop it is an error of its own
  bool returned = false;
  if (returns && frame->statementIf != &e)
    return notBuilt(e.span, "a 'return' within an 'if' that is used as a value");
  auto before = snapshot();
  auto rests = frame->rests;
  bool armWanted = wanted;
  if (returns) {
    // The arms give the function's value; their blocks do so themselves where no statement is left behind them.
    wanted = frame->wanted;
    armWanted = wanted && std::ranges::all_of(
                              rests, [](const Frame::Rest &rest) { return rest.from >= rest.block->stmts.size(); });
  }
  Arm a = checkArm(e.thenBlock.get(), e.span, armWanted, returns ? &returned : nullptr);
  restore(before);
  frame->rests = rests;
  Arm b = checkArm(e.elseBlock.get(), e.span, armWanted, returns ? &returned : nullptr);
  frame->rests = rests;
  std::vector<ValueId> yieldA, yieldB, results;
  Value value = Value::unit();
  if (wanted)
    value = mergeValues(e, a, b, a.value, b.value, yieldA, yieldB, results);
  mergeVars(e, before.size(), a, b, yieldA, yieldB, results);
  if (!a.block.insts.empty() || !b.block.insts.empty() || !results.empty()) {
    for (auto [arm, yield] : {std::pair(&a, &yieldA), std::pair(&b, &yieldB)}) {
      Builder::Into into(builder, arm->block);
      builder.emitVoid(YieldInst{}, *yield, arm->span);
    }
    Inst inst{IfInst{}, e.span, {c.id}, results, {}};
    inst.blocks.push_back(std::move(a.block));
    inst.blocks.push_back(std::move(b.block));
    builder.append(std::move(inst));
  }
  if (returns) {
    frame->returned = value;
    return Value::unit();
  }
  return value;
}

/// Gives untyped numbers of one arm the dtype of the other; false (reported) when the arms differ.
bool Checker::agree(const IfExpr &e, Arm &a, Arm &b, Value &x, Value &y) {
  auto disagree = [&](std::string message, std::string help) {
    Diagnostic &d = report(Diag::ArmsDisagree, e.span, std::move(message), std::move(help));
    note(d, DiagNote{a.span, fmt::format("this arm gives {}", typeName(x))});
    note(d, DiagNote{b.span, fmt::format("this arm gives {}", typeName(y))});
    return false;
  };
  if (x.is(ValueKind::Tuple) && y.is(ValueKind::Tuple) && x.elements.size() == y.elements.size()) {
    for (size_t i = 0; i < x.elements.size(); ++i)
      if (!agree(e, a, b, x.elements[i], y.elements[i]))
        return false;
    return true;
  }
  if (x.is(ValueKind::Unit) || y.is(ValueKind::Unit)) {
    if (x.kind == y.kind)
      return true;
    return disagree("one arm of this 'if' gives a value and the other does not",
                    e.elseBlock ? "" : "add an 'else' that gives a value");
  }
  if (!x.isTileLike() || !y.isTileLike())
    return x.kind == y.kind && x.isConst()
               ? true
               : disagree(fmt::format("the arms of this 'if' give {} and {}", typeName(x), typeName(y)), "");
  if (x.isUntyped() && y.isUntyped())
    return true;
  for (auto [untyped, other, arm] : {std::tuple(&x, &y, &a), std::tuple(&y, &x, &b)})
    if (untyped->isUntyped()) {
      Folded typed = giveDType(*untyped, dtypeOf(*other));
      if (!typed) {
        fail(typed.error(), arm->span);
        return false;
      }
      *untyped = *typed;
    }
  if (dtypeOf(x) != dtypeOf(y))
    return disagree(
        fmt::format("the arms of this 'if' give {} and {}: they must agree in dtype", typeName(x), typeName(y)),
        "convert one of them with '.to(T)'");
  if (shapeOf(x) != shapeOf(y))
    return disagree(
        fmt::format("the arms of this 'if' give {} and {}: they must agree in shape", typeName(x), typeName(y)),
        "repeat the smaller one with 'broadcast(x, shape…)' or make it with 'full'");
  return true;
}

/// The value of an `if` from those of its arms, part by part for tuples. Equal constants stay constant (and the program
/// may use them as shapes); what differs is yielded by both arms.
Value Checker::mergeValues(const IfExpr &e, Arm &a, Arm &b, Value x, Value y, std::vector<ValueId> &yieldA,
                           std::vector<ValueId> &yieldB, std::vector<ValueId> &results) {
  if (x.isError() || y.isError())
    return Value::error();
  if (x.is(ValueKind::Tuple) && y.is(ValueKind::Tuple) && x.elements.size() == y.elements.size()) {
    std::vector<Value> parts;
    for (size_t i = 0; i < x.elements.size(); ++i) {
      parts.push_back(mergeValues(e, a, b, x.elements[i], y.elements[i], yieldA, yieldB, results));
      if (parts.back().isError())
        return Value::error();
    }
    return Value::tuple(std::move(parts));
  }
  if (x.isConst() && equalConst(x, y))
    return x;
  std::string_view fixed = x.is(ValueKind::DType) ? "a dtype" : x.is(ValueKind::String) ? "a string" : "";
  if (x.is(ValueKind::Array) || y.is(ValueKind::Array))
    fixed = "an array";
  if (x.is(ValueKind::View) || y.is(ValueKind::View))
    fixed = "a view";
  if (!fixed.empty()) {
    Diagnostic &d = report(Diag::NotAtRunTime, e.span, fmt::format("{} cannot be chosen at run time", fixed),
                           "decide with 'static if', whose condition is known while compiling");
    note(d, DiagNote{e.condition->span, "this condition is known only at run time"});
    return Value::error();
  }
  if (!agree(e, a, b, x, y))
    return Value::error();
  if (x.is(ValueKind::Unit))
    return x;
  std::string reason =
      x.isConst() && y.isConst()
          ? fmt::format("the arms of this 'if' give different values, {} and {}", describe(x), describe(y))
          : "the value of this 'if' is chosen at run time";
  if (x.isUntyped() && y.isUntyped()) {
    auto dtype = commonDType(x, a.span, y, b.span, e.span);
    if (!dtype)
      return Value::error();
    Folded typedX = giveDType(x, *dtype), typedY = giveDType(y, *dtype);
    if (!typedX || !typedY)
      return fail(typedX ? typedY.error() : typedX.error(), typedX ? b.span : a.span);
    x = *typedX, y = *typedY;
  }
  if (x.isTile() && y.isTile() && x.id == y.id)
    return x;
  for (auto [value, arm] : {std::pair(&x, &a), std::pair(&y, &b)}) {
    Builder::Into into(builder, arm->block);
    *value = materialize(*value, arm->span);
  }
  yieldA.push_back(x.id);
  yieldB.push_back(y.id);
  results.push_back(builder.newValue(x.type));
  return Value::tile(results.back(), x.type, origin(e.span, std::move(reason)));
}

/// The first `count` variables were alive before the `if`; later ones belong to an arm.
void Checker::mergeVars(const IfExpr &e, size_t count, Arm &a, Arm &b, std::vector<ValueId> &yieldA,
                        std::vector<ValueId> &yieldB, std::vector<ValueId> &results) {
  for (size_t i = 0; i < count; ++i) {
    Binding &var = *variables[i];
    const VarState &x = a.vars[i], &y = b.vars[i];
    var.assigned = mergeState(var, x, y, a, b);
    if ((x.hasType && x.value.isError()) || (y.hasType && y.value.isError())) {
      var.value = Value::error();
      continue;
    }
    if (x.hasType && y.hasType && typeName(x.value) != typeName(y.value)) {
      Diagnostic &d = report(Diag::VariableType, e.span,
                             fmt::format("'{}' is {} after one arm and {} after the other", var.name, typeName(x.value),
                                         typeName(y.value)),
                             "a variable keeps dtype and shape on every path");
      note(d, DiagNote{x.typeSpan, fmt::format("here it becomes {}", typeName(x.value))});
      note(d, DiagNote{y.typeSpan, fmt::format("here it becomes {}", typeName(y.value))});
      var.value = Value::error();
      continue;
    }
    var.value = x.hasType ? x.value : y.value;
    if (var.assigned != Assigned::Yes)
      continue;
    std::vector<Value> leavesX, leavesY;
    leaves(x.value, leavesX);
    leaves(y.value, leavesY);
    for (size_t k = 0; k < leavesX.size(); ++k) {
      if (leavesX[k].id == leavesY[k].id)
        continue;
      yieldA.push_back(leavesX[k].id);
      yieldB.push_back(leavesY[k].id);
      leavesX[k].id = builder.newValue(leavesX[k].type);
      results.push_back(leavesX[k].id);
    }
    auto next = std::vector<Value>::const_iterator(leavesX.begin());
    var.value = replaceLeaves(x.value, next);
  }
}

} // namespace tilec::sema
