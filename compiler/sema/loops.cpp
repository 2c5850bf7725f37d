// `for` over a range: variables that the body assigns are carried from trip to trip.
#include "compiler/sema/checker.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

/// Evaluates lower bound, upper bound and step to scalars of one signed integer dtype.
bool Checker::loopBounds(const syntax::ForStmt &s, std::array<Value, 3> &bounds, Type &type) {
  std::array<Span, 3> spans{s.lo->span, s.lo->span, s.lo->span};
  bounds[2] = Value::ofInt(1);
  if (s.hi) {
    spans[1] = s.hi->span;
    bounds[0] = expr(*s.lo);
    bounds[1] = expr(*s.hi);
  } else {
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
  }
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
  if (step.isConst() && (step.is(ValueKind::Int) ? step.integer : integerOf(step)) <= 0) {
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

/// Variables assigned in the body are found before it is checked: within the loop they stand for the value at the start
/// of a trip, which is a parameter of the body.
void Checker::forStmt(const syntax::ForStmt &s) {
  if (s.isStatic) {
    notBuilt({s.span.file, s.span.begin, s.var.span.begin}, "'static for'");
    return poison(*s.body);
  }
  std::array<Value, 3> bounds;
  Type type;
  bool good = loopBounds(s, bounds, type);
  std::set<std::string> assigned = assignedNames(*s.body);
  std::vector<Binding *> carried, others;
  for (Binding *var : variables) {
    if (!assigned.contains(var->name) || scope->find(var->name).first != var)
      continue;
    bool whole = var->assigned == Assigned::Yes && !var->value.isError();
    (whole ? carried : others).push_back(var);
  }
  Block body;
  auto param = [&](Type t) {
    body.params.push_back(builder.newValue(std::move(t)));
    return body.params.back();
  };
  Value index = Value::error();
  if (good)
    index = Value::tile(param(type), type,
                        origin(s.var.span, fmt::format("'{}' counts the trips of a loop at run time", s.var.text)));
  std::vector<ValueId> operands, yielded, results;
  if (good)
    operands = {bounds[0].id, bounds[1].id, bounds[2].id};
  std::vector<Value> before;
  for (Binding *var : carried) {
    std::vector<Value> parts;
    before.push_back(var->value);
    leaves(var->value, parts);
    for (Value &part : parts) {
      operands.push_back(part.id);
      part.id = param(part.type);
    }
    auto next = std::vector<Value>::const_iterator(parts.begin());
    var->value = replaceLeaves(var->value, next);
  }
  std::vector<Assigned> earlier;
  for (Binding *var : others)
    earlier.push_back(var->assigned);
  {
    Builder::Into into(builder, body);
    Scope head;
    head.parent = scope;
    head.function = frame->number;
    scope = &head;
    declare(s.var.text, s.var.span, NameKind::LoopVar, index);
    ++frame->loops;
    block(*s.body, false);
    --frame->loops;
    frame->returned.reset(); // a 'return' there has been reported
    scope = head.parent;
    for (size_t i = 0; i < carried.size(); ++i) {
      // An erroneous variable keeps the shape it had: the program is refused anyway.
      if (carried[i]->value.isError())
        carried[i]->value = before[i];
      std::vector<Value> parts;
      leaves(carried[i]->value, parts);
      for (Value &part : parts) {
        yielded.push_back(part.id);
        part.id = builder.newValue(part.type);
        results.push_back(part.id);
      }
      auto next = std::vector<Value>::const_iterator(parts.begin());
      carried[i]->value = replaceLeaves(carried[i]->value, next);
    }
    builder.emitVoid(YieldInst{}, yielded, s.span);
  }
  for (size_t i = 0; i < others.size(); ++i)
    if (Binding &var = *others[i]; var.assigned > earlier[i]) {
      var.assigned = Assigned::Maybe; // the loop may run zero times
      var.gap = s.span;
    }
  if (!good)
    return;
  Inst inst{ForInst{}, s.span, std::move(operands), std::move(results), {}};
  inst.blocks.push_back(std::move(body));
  builder.append(std::move(inst));
}

} // namespace tilec::sema
