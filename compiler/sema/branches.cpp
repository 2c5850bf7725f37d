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

static bool sameValue(const Value &a, const Value &b) {
  return a.kind == b.kind && a.id == b.id && a.bits == b.bits && a.integer == b.integer && a.dtype == b.dtype &&
         a.elements.size() == b.elements.size() &&
         std::ranges::equal(a.elements, b.elements, [](const Value &x, const Value &y) { return sameValue(x, y); });
}

bool Checker::keepsVariables(const std::vector<VarState> &before, Span span, std::string_view where) {
  for (size_t i = 0; i < before.size(); ++i)
    if (Binding &variable = *variables[i]; !sameValue(variable.value, before[i].value)) {
      report(Diag::ConditionAssigns, span, fmt::format("'{}' is assigned in {}", variable.name, where),
             "compute the condition in a 'let' of its own, and assign in a statement");
      restore(before);
      return false;
    }
  return true;
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

/// After an error in a condition or a loop's head: what the block would have assigned is unknown, and silent from here
/// on.
void Checker::poison(const syntax::Block &block) {
  for (const std::string &name : assignedNames(block))
    if (Binding *var = scope->find(name).first; var && var->isVar()) {
      var->value = Value::error();
      var->hasType = true;
      var->assigned = Assigned::Yes;
    }
}

/// `wanted`: the value is used, so the arms must agree; as a statement they need not. `rest`: given for a statement,
/// which alone may leave the function or a trip.
Value Checker::ifExpr(const IfExpr &e, bool wanted, Rest *rest) {
  Value c = expr(*e.condition);
  std::optional<bool> known;
  if (e.isStatic)
    known = constBool(c, e.condition->span, "the condition of 'static if'");
  else if (condition(c, e.condition->span) && c.isConst())
    known = c.bits != 0;
  frame->valueIfs += !rest;
  bool tail = rest && rest->tail && rest->last() && containsExit(e);
  Value value = Value::error();
  if (e.isStatic && known) {
    const syntax::Block *taken = *known ? e.thenBlock.get() : e.elseBlock.get();
    size_t outer = facts.size();
    addFacts(*e.condition, *known);
    value = taken ? block(*taken, wanted, tail) : Value::unit();
    facts.resize(outer);
  } else if (known) {
    value = knownIf(e, *known, wanted, tail);
  } else if (!e.isStatic && c.isTile() && c.type.dtype == DType::bool_ && c.type.shape.empty()) {
    value = runTimeIf(e, c, wanted, rest);
  } else {
    // The condition is at fault: the arms are still read for errors of their own, and what they assign is unknown.
    if (!e.isStatic) {
      auto before = snapshot();
      checkArm(e.thenBlock.get(), e.span, false, false);
      restore(before);
      checkArm(e.elseBlock.get(), e.span, false, false);
      restore(before);
    }
    poison(*e.thenBlock);
    if (e.elseBlock)
      poison(*e.elseBlock);
  }
  frame->valueIfs -= !rest;
  return value;
}

/// Checks a block into instructions of its own. The flow of control behind it is kept in the arm alone.
Checker::Arm Checker::checkArm(const syntax::Block *b, Span span, bool wanted, bool tail) {
  Arm arm;
  arm.span = b ? b->span : span;
  Flow outer = frame->flow;
  Builder::Into into(builder, arm.block);
  arm.value = b ? block(*b, wanted, tail) : Value::unit();
  if (!b && tail)
    leave(Value::unit());
  arm.vars = snapshot();
  arm.flow = std::exchange(frame->flow, std::move(outer));
  return arm;
}

/// The arm alone goes on behind the `if`: the statements there are its own.
void Checker::appendRest(Arm &arm, const Rest &rest) {
  Flow outer = std::exchange(frame->flow, arm.flow);
  Builder::Into into(builder, arm.block);
  restore(arm.vars);
  arm.value = statements(*rest.list, rest.next, rest.wanted, rest.tail);
  arm.vars = snapshot();
  arm.flow = std::exchange(frame->flow, std::move(outer));
}

/// What a variable is after two branches, by whether each gave it a value.
Assigned Checker::mergeState(Binding &var, const VarState &a, const VarState &b, const Arm &armA, const Arm &armB) {
  var.hasType = a.hasType || b.hasType;
  var.typeSpan = a.hasType ? a.typeSpan : b.typeSpan;
  // An arm that does not come here says nothing of what is assigned here.
  if (a.assigned == b.assigned || armA.flow.dead() != armB.flow.dead()) {
    const VarState &state = armA.flow.dead() ? b : a;
    var.gap = state.gap;
    return state.assigned;
  }
  const VarState &less = a.assigned < b.assigned ? a : b;
  var.gap = less.assigned == Assigned::Maybe ? less.gap : a.assigned < b.assigned ? armA.span : armB.span;
  return Assigned::Maybe;
}

Value Checker::knownIf(const IfExpr &e, bool taken, bool wanted, bool tail) {
  // Both arms are checked, since the condition does not make the other one another program.
  auto before = snapshot();
  Arm a = checkArm(e.thenBlock.get(), e.span, wanted, tail);
  restore(before);
  Arm b = checkArm(e.elseBlock.get(), e.span, wanted, tail);
  Arm &chosen = taken ? a : b;
  builder.splice(chosen.block);
  frame->flow = chosen.flow;
  for (size_t i = 0; i < before.size(); ++i) {
    Binding &var = *variables[i];
    var.assigned = mergeState(var, a.vars[i], b.vars[i], a, b);
    var.value = chosen.vars[i].hasType ? chosen.vars[i].value : (taken ? b : a).vars[i].value;
  }
  if (!wanted || frame->flow.dead())
    return Value::unit();
  Value x = a.value, y = b.value;
  if (x.isError() || y.isError())
    return Value::error();
  if ((x.isConst() && y.isConst()) || a.flow.dead() || b.flow.dead())
    return chosen.value;
  Join join{e.span, e.condition->span, e.elseBlock != nullptr};
  if (!agree(join, a, b, x, y))
    return Value::error();
  return taken ? x : y;
}

/// Values and variables that the arms leave different become results of one If instruction. Where one arm leaves the
/// function or trip, the other goes on with the statements behind the `if`; where an arm may leave, or not, they stand
/// under another `if`: no statement is checked twice.
Value Checker::runTimeIf(const IfExpr &e, const Value &c, bool wanted, Rest *rest) {
  bool exits = rest && containsExit(e);
  bool tail = exits && rest->tail && rest->last();
  auto before = snapshot();
  Arm a = checkArm(e.thenBlock.get(), e.span, wanted, tail);
  restore(before);
  Arm b = checkArm(e.elseBlock.get(), e.span, wanted, tail);
  if (exits && !rest->last() && a.flow.dead() != b.flow.dead()) {
    appendRest(a.flow.dead() ? b : a, *rest);
    rest->consumed = true;
  }
  Join join{e.span, e.condition->span, e.elseBlock != nullptr};
  mergeFlow(join, a, b);
  Value value = wanted && exits && !tail ? Value::error() : Value::unit();
  if (wanted && !exits)
    value = mergeValues(join, a, b, a.value, b.value);
  mergeVars(join, before.size(), a, b);
  closeIf(join, c, a, b);
  return value;
}

/// The statements of a list from one on, where control may not reach them.
Value Checker::guarded(const syntax::Block &b, size_t from, bool wanted, bool tail) {
  Span span = from < b.stmts.size() ? cover(b.stmts[from]->span, b.stmts.back()->span)
                                    : Span{b.span.file, b.span.end - 1, b.span.end};
  Flow left = std::exchange(frame->flow, Flow());
  Value live = std::exchange(left.live, Value::ofBool(false));
  auto before = snapshot();
  Arm goes, gone;
  goes.span = gone.span = span;
  {
    Builder::Into into(builder, goes.block);
    goes.value = statements(b, from, wanted, tail);
  }
  goes.vars = snapshot();
  goes.flow = frame->flow;
  gone.value = Value::unit();
  gone.vars = before;
  gone.flow = left;
  restore(before);
  Join join{span, std::nullopt};
  mergeFlow(join, goes, gone);
  mergeVars(join, before.size(), goes, gone);
  closeIf(join, live, goes, gone);
  return Value::unit();
}

void Checker::closeIf(Join &join, const Value &condition, Arm &a, Arm &b) {
  if (a.block.insts.empty() && b.block.insts.empty() && join.results.empty())
    return;
  for (Arm *arm : {&a, &b}) {
    Builder::Into into(builder, arm->block);
    builder.emitVoid(YieldInst{}, arm->yields, arm->span);
  }
  Inst inst{IfInst{}, join.span, {condition.id}, std::move(join.results), {}};
  inst.blocks.push_back(std::move(a.block));
  inst.blocks.push_back(std::move(b.block));
  builder.append(std::move(inst));
}

/// The end of a function or trip, reached by `return`, `continue` or the last statement.
void Checker::leave(Value value) {
  if (frame->loop == LoopKind::None)
    frame->flow.returned = frame->wanted ? std::move(value) : Value::unit();
  frame->flow.live = Value::ofBool(false);
}

} // namespace tilec::sema
