// `for`, `while` and `static for`: variables that the body assigns are carried from trip to trip.
#include "compiler/sema/checker.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

/// Evaluates lower bound, upper bound and step, in both forms of a range.
bool Checker::rangeOf(const syntax::ForStmt &s, std::array<Value, 3> &bounds, std::array<Span, 3> &spans) {
  spans = {s.lo->span, s.lo->span, s.lo->span};
  bounds[2] = Value::ofInt(1);
  if (s.hi) {
    spans[1] = s.hi->span;
    bounds[0] = expr(*s.lo);
    bounds[1] = expr(*s.hi);
    return true;
  }
  auto *call = syntax::dynAs<syntax::CallExpr>(s.lo);
  bool isRange = call && !call->receiver && call->callee.text == "range";
  if (!isRange) {
    report(Diag::LoopRange, s.lo->span, "a 'for' runs over a range of integers",
           "write 'lo..hi' or 'range(lo, hi, step)'");
    return false;
  }
  BuiltinCall range;
  range.info = &allBuiltins()[size_t(findBuiltin("range"))];
  range.expr = call;
  range.span = call->span;
  if (!bindArgs(range))
    return false;
  for (size_t i = 0; i < 3; ++i)
    if (!range.args[i].empty()) {
      bounds[i] = range.args[i][0].value;
      spans[i] = range.args[i][0].span;
    }
  return true;
}

/// Brings bounds and step to scalars of one signed integer dtype. `known` is the step where that is a compile-time
/// value.
bool Checker::loopBounds(const syntax::ForStmt &s, std::array<Value, 3> &bounds, Type &type,
                         std::optional<BigInt> &known) {
  std::array<Span, 3> spans;
  if (!rangeOf(s, bounds, spans))
    return false;
  DType dtype = DType::i32;
  bool typed = false, good = true;
  for (size_t i = 0; i < 3; ++i) {
    const Value &v = bounds[i];
    if (!usable(v, spans[i])) {
      good = false;
      continue;
    }
    bool isScalar = v.isTileLike() && shapeOf(v).empty();
    bool isSigned =
        v.is(ValueKind::Int) || (isScalar && !v.isUntyped() && isInt(dtypeOf(v)) && info(dtypeOf(v)).isSigned);
    if (!isScalar || !isSigned) {
      report(Diag::LoopRange, spans[i],
             fmt::format("bounds and step of a 'for' are signed integers, not {}", typeName(v)),
             isScalar && !v.isUntyped() ? "convert it, as in 'x.to(i32)'" : "");
      good = false;
    } else if (!v.isUntyped()) {
      dtype = typed ? *promote(dtype, dtypeOf(v)) : dtypeOf(v);
      typed = true;
    }
  }
  if (!good)
    return false;
  if (!typed) // literals alone: i32 unless one of them needs more
    for (const Value &v : bounds)
      if (v.integer < INT32_MIN || v.integer > INT32_MAX)
        dtype = DType::i64;
  const Value &step = bounds[2];
  if (step.isConst())
    known = step.is(ValueKind::Int) ? step.integer : integerOf(step);
  if (known && *known <= 0) {
    report(Diag::LoopRange, spans[2], fmt::format("the step of a 'for' is positive, not {}", describe(step)),
           "count upwards and compute the position in the body");
    return false;
  }
  type = Type{TypeKind::Tile, dtype, {}, 0};
  for (size_t i = 0; i < 3; ++i) {
    bounds[i] = convertTo(materializeAs(bounds[i], dtype, spans[i]), dtype, spans[i]);
    good &= !bounds[i].isError();
  }
  return good;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Carried variables
//===--------------------------------------------------------------------------------------------------------------===//

/// Variables assigned in a body are found before it is checked: within the loop they stand for the value at the start
/// of a trip.
Checker::Carried Checker::carriedBy(const syntax::Block &body) {
  std::set<std::string> assigned = assignedNames(body);
  Carried carried;
  for (Binding *var : variables) {
    if (!assigned.contains(var->name) || scope->find(var->name).first != var)
      continue;
    if (var->assigned == Assigned::Yes && !var->value.isError()) {
      carried.vars.push_back(var);
      carried.before.push_back(var->value);
    } else {
      carried.others.push_back(var);
      carried.earlier.push_back(var->assigned);
    }
  }
  return carried;
}

/// The tiles that the variables hold.
void Checker::operandsOf(const Carried &carried, std::vector<ValueId> &out) const {
  std::vector<Value> parts;
  for (const Binding *var : carried.vars)
    leaves(var->value, parts);
  for (const Value &part : parts)
    out.push_back(part.id);
}

/// The variables stand for new values of their types, made by `next`.
static void renew(const std::vector<Binding *> &vars, const std::function<Value(const Value &)> &next) {
  auto walk = [&](auto &&self, Value &value) -> void {
    if (!value.is(ValueKind::Tuple))
      value = next(value);
    for (Value &element : value.elements)
      self(self, element);
  };
  for (Binding *var : vars)
    walk(walk, var->value);
}

void Checker::becomeParams(const Carried &carried, Block &block) {
  renew(carried.vars, [&](const Value &old) {
    block.params.push_back(builder.newValue(old.type));
    return Value::tile(block.params.back(), old.type, old.origin);
  });
}

std::vector<ValueId> Checker::becomeResults(const Carried &carried) {
  std::vector<ValueId> results;
  renew(carried.vars, [&](const Value &old) {
    results.push_back(builder.newValue(old.type));
    return Value::tile(results.back(), old.type, old.origin);
  });
  return results;
}

/// Checks one trip of a run-time loop; gives whether the loop goes on behind it.
Checker::Flow Checker::loopBody(const syntax::Block &body, const syntax::Ident *var, const Value &index) {
  Scope head;
  head.parent = scope;
  head.function = frame->number;
  scope = &head;
  Flow outer = std::exchange(frame->flow, Flow());
  LoopKind kind = std::exchange(frame->loop, LoopKind::RunTime);
  int valueIfs = std::exchange(frame->valueIfs, 0);
  size_t kept = std::exchange(frame->kept, variables.size());
  ++frame->loops;
  if (var)
    declare(var->text, var->span, NameKind::LoopVar, index);
  block(body, false, containsExit(body));
  --frame->loops;
  frame->kept = kept;
  frame->valueIfs = valueIfs;
  frame->loop = kind;
  scope = head.parent;
  return std::exchange(frame->flow, std::move(outer));
}

/// Behind the loop: what it gave a value only perhaps, since it may run zero times, and what an error made unknown.
void Checker::leaveLoop(const Carried &carried, Span span) {
  for (size_t i = 0; i < carried.vars.size(); ++i)
    if (carried.vars[i]->value.isError()) // it keeps the shape it had: the program is refused anyway
      carried.vars[i]->value = carried.before[i];
  for (size_t i = 0; i < carried.others.size(); ++i)
    if (Binding &var = *carried.others[i]; var.assigned > carried.earlier[i]) {
      var.assigned = Assigned::Maybe;
      var.gap = span;
    }
}

//===--------------------------------------------------------------------------------------------------------------===//
// Loops
//===--------------------------------------------------------------------------------------------------------------===//

/// A loop that no `break` leaves is a For instruction, any other one a While whose carried values are the counter and
/// whether to go on, in front of the variables.
void Checker::forStmt(const syntax::ForStmt &s) {
  if (s.isStatic)
    return staticFor(s);
  std::array<Value, 3> bounds;
  Type type;
  std::optional<BigInt> step;
  bool good = loopBounds(s, bounds, type, step);
  bool leaves = containsOwn(*s.body, syntax::StmtKind::Break);
  Carried carried = carriedBy(*s.body);
  std::vector<ValueId> carriedIn;
  operandsOf(carried, carriedIn);
  Block head, body;
  Type flag{TypeKind::Tile, DType::bool_, {}, 0};
  auto param = [&](Block &block, const Type &t) {
    block.params.push_back(builder.newValue(t));
    return Value::tile(block.params.back(), t, nullptr);
  };
  // What the head of a While hands on to a trip, or to what stands behind the loop.
  std::vector<ValueId> operands, handed;
  if (good && leaves) {
    Value counter = param(head, type), go = param(head, flag);
    Value start = materialize(Value::ofBool(true), s.span);
    // A step known only at run time may be none: zero trips.
    if (!step)
      start = compareValues(CompareOp::Gt, bounds[2], s.span, Value::ofInt(0), s.span, s.span);
    operands = {bounds[0].id, start.id};
    becomeParams(carried, head);
    Builder::Into into(builder, head);
    Value below = compareValues(CompareOp::Lt, counter, s.span, bounds[1], s.span, s.span);
    handed = {emitBinary({BinaryOp::And}, go, below, s.span).id, counter.id};
    operandsOf(carried, handed);
    builder.emitVoid(ConditionInst{}, handed, s.span);
  } else if (good) {
    operands = {bounds[0].id, bounds[1].id, bounds[2].id};
  }
  operands.insert(operands.end(), carriedIn.begin(), carriedIn.end());
  Value index = good ? param(body, type) : Value::error();
  index.origin = origin(s.var.span, fmt::format("'{}' counts the trips of a loop at run time", s.var.text));
  becomeParams(carried, body);
  std::vector<ValueId> results;
  {
    Builder::Into into(builder, body);
    Flow flow = loopBody(*s.body, &s.var, index);
    leaveLoop(carried, s.span);
    std::vector<ValueId> yielded;
    if (good && leaves) {
      Value next = emitBinary({BinaryOp::Add}, index, bounds[2], s.span);
      Value go = materialize(flow.go, s.span);
      // A counter past the end of its dtype ends the loop. With a step of one it never gets there.
      if (step != BigInt(1))
        go = emitBinary({BinaryOp::And}, go, compareValues(CompareOp::Gt, next, s.span, index, s.span, s.span), s.span);
      yielded = {next.id, go.id};
    }
    operandsOf(carried, yielded);
    builder.emitVoid(YieldInst{}, yielded, s.span);
  }
  if (good && leaves)
    results.push_back(builder.newValue(type));
  std::vector<ValueId> behind = becomeResults(carried);
  results.insert(results.end(), behind.begin(), behind.end());
  if (!good)
    return;
  Inst inst{ForInst{}, s.span, std::move(operands), std::move(results), {}};
  if (leaves) {
    inst.payload = WhileInst{};
    inst.blocks.push_back(std::move(head));
  }
  inst.blocks.push_back(std::move(body));
  builder.append(std::move(inst));
}

/// The condition is computed in front of each trip; behind a `break` it is not computed again.
void Checker::whileStmt(const syntax::WhileStmt &s) {
  bool leaves = containsOwn(*s.body, syntax::StmtKind::Break);
  Carried carried = carriedBy(*s.body);
  std::vector<ValueId> operands, handed;
  Block head, body;
  Type flag{TypeKind::Tile, DType::bool_, {}, 0};
  Span at = s.condition->span;
  Value go;
  if (leaves) {
    operands.push_back(materialize(Value::ofBool(true), s.span).id);
    head.params.push_back(builder.newValue(flag));
    go = Value::tile(head.params.back(), flag, nullptr);
  }
  operandsOf(carried, operands);
  becomeParams(carried, head);
  bool good = true, always = false; // `while true`
  {
    Builder::Into into(builder, head);
    Block test;
    Value c;
    {
      Builder::Into inner(builder, test);
      std::vector<VarState> before = snapshot();
      c = expr(*s.condition);
      good = condition(c, at) && keepsVariables(before, at, "the condition of a 'while'");
      always = good && c.isConst() && c.bits != 0;
      if (good && !(always && leaves))
        c = materialize(c, at);
    }
    if (good && leaves) {
      Arm goes, gone;
      goes.block = std::move(test);
      Join join{at, std::nullopt};
      c = always ? go : mergeFlag(join, goes, gone, c, Value::ofBool(false));
      closeIf(join, go, goes, gone);
    } else {
      builder.splice(test);
    }
    handed = {c.id};
    operandsOf(carried, handed);
    if (good)
      builder.emitVoid(ConditionInst{}, handed, at);
  }
  becomeParams(carried, body);
  {
    Builder::Into into(builder, body);
    Flow flow = loopBody(*s.body, nullptr, Value::unit());
    leaveLoop(carried, s.span);
    std::vector<ValueId> yielded;
    if (leaves)
      yielded.push_back(materialize(flow.go, s.span).id);
    operandsOf(carried, yielded);
    builder.emitVoid(YieldInst{}, yielded, s.span);
  }
  std::vector<ValueId> results = becomeResults(carried);
  if (!good)
    return;
  Inst inst{WhileInst{}, s.span, std::move(operands), std::move(results), {}};
  inst.blocks.push_back(std::move(head));
  inst.blocks.push_back(std::move(body));
  builder.append(std::move(inst));
}

/// Unrolled while compiling: the counter is a compile-time value, and each trip is checked on its own.
void Checker::staticFor(const syntax::ForStmt &s) {
  std::array<Value, 3> bounds;
  std::array<Span, 3> spans;
  std::array<int64_t, 3> numbers{};
  bool good = rangeOf(s, bounds, spans);
  static constexpr std::string_view what[] = {"the lower bound of a 'static for'", "the upper bound of a 'static for'",
                                              "the step of a 'static for'"};
  for (size_t i = 0; i < 3 && good; ++i) {
    auto number = constInt(bounds[i], spans[i], what[i]);
    good &= number.has_value();
    numbers[i] = number.value_or(0);
  }
  if (!good)
    return poison(*s.body);
  auto [low, high, step] = numbers;
  if (step <= 0) {
    report(Diag::LoopRange, spans[2], fmt::format("the step of a 'for' is positive, not {}", step),
           "count upwards and compute the position in the body");
    return poison(*s.body);
  }
  BigInt trips = high > low ? (BigInt(high) - low + step - 1) / step : 0;
  if (trips > maxTrips || unrolled + trips > maxUnrolled) {
    report(Diag::UnrolledTrips, cover(spans[0], spans[1]),
           trips > maxTrips ? fmt::format("this 'static for' has {} trips, more than {}", toString(trips), maxTrips)
                            : fmt::format("more than {} trips are unrolled in this kernel", maxUnrolled),
           "a 'for' runs any number of trips, with a counter known only at run time");
    return poison(*s.body);
  }
  unrolled += int64_t(trips);
  LoopKind kind = std::exchange(frame->loop, LoopKind::Unrolled);
  ++frame->loops;
  size_t errors = diags.errorCount();
  // What is wrong in one trip is wrong in others as well.
  for (int64_t trip = 0; trip < trips && diags.errorCount() == errors; ++trip) {
    Scope head;
    head.parent = scope;
    head.function = frame->number;
    scope = &head;
    declare(s.var.text, s.var.span, NameKind::LoopVar, Value::ofInt(BigInt(low) + BigInt(trip) * step));
    block(*s.body, false);
    scope = head.parent;
  }
  --frame->loops;
  frame->loop = kind;
}

} // namespace tilec::sema
