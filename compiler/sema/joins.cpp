// Where two ways of control meet: values, variables and the flow of control itself become results of one instruction.
#include "compiler/sema/checker.h"

namespace tilec::sema {

/// A value of a type that nothing reads, for the way on which there is none.
Value Checker::anyValue(const Type &type, Span span) {
  Type scalar{TypeKind::Tile, type.dtype, {}, 0};
  ValueId id = builder.emit(ConstInst{0}, {}, scalar, span);
  if (!type.shape.empty())
    id = builder.emit(BroadcastInst{}, {id}, type, span);
  return Value::tile(id, type, nullptr);
}

/// One bool of the flow of control; a constant where both ways agree.
Value Checker::mergeFlag(Join &join, Arm &a, Arm &b, const Value &x, const Value &y) {
  if (x.isConst() && y.isConst() && equalConst(x, y))
    return x;
  if (x.isTile() && y.isTile() && x.id == y.id)
    return x;
  for (auto [value, arm] : {std::pair(&x, &a), std::pair(&y, &b)}) {
    Builder::Into into(builder, arm->block);
    arm->yields.push_back(materialize(*value, join.span).id);
  }
  Type type{TypeKind::Tile, DType::bool_, {}, 0};
  join.results.push_back(builder.newValue(type));
  return Value::tile(join.results.back(), type, nullptr);
}

/// The flow of control behind both arms becomes the frame's.
void Checker::mergeFlow(Join &join, Arm &a, Arm &b) {
  Flow &flow = frame->flow;
  auto same = [](const Value &x, const Value &y) { return x.isTile() && y.isTile() ? x.id == y.id : equalConst(x, y); };
  // In loops that `break` alone leaves early both flags are one value.
  bool one = same(a.flow.live, a.flow.go) && same(b.flow.live, b.flow.go);
  flow.live = mergeFlag(join, a, b, a.flow.live, b.flow.live);
  flow.go = one ? flow.live : mergeFlag(join, a, b, a.flow.go, b.flow.go);
  const std::optional<Value> &x = a.flow.returned, &y = b.flow.returned;
  flow.returned.reset();
  if (x && y) {
    join.returns = true;
    flow.returned = mergeValues(join, a, b, *x, *y);
    join.returns = false;
  } else if (x || y) {
    flow.returned = oneSided(join, x ? a : b, x ? b : a, x ? *x : *y);
  }
}

/// What one arm gives, to be read only where control came through it.
Value Checker::oneSided(Join &join, Arm &has, Arm &lacks, const Value &value) {
  if (value.is(ValueKind::Tuple)) {
    std::vector<Value> parts;
    for (const Value &element : value.elements)
      parts.push_back(oneSided(join, has, lacks, element));
    return Value::tuple(std::move(parts));
  }
  if (!value.isTile())
    return value;
  has.yields.push_back(value.id);
  {
    Builder::Into into(builder, lacks.block);
    lacks.yields.push_back(anyValue(value.type, join.span).id);
  }
  join.results.push_back(builder.newValue(value.type));
  return Value::tile(join.results.back(), value.type, value.origin);
}

/// Gives untyped numbers of one arm the dtype of the other; false (reported) when the arms differ.
bool Checker::agree(const Join &join, Arm &a, Arm &b, Value &x, Value &y) {
  std::string what = join.returns ? "the ways through this function" : "the arms of this 'if'";
  std::string way = join.returns ? "this way" : "this arm";
  auto disagree = [&](std::string message, std::string help) {
    Diagnostic &d = report(Diag::ArmsDisagree, join.span, std::move(message), std::move(help));
    note(d, DiagNote{a.span, fmt::format("{} gives {}", way, typeName(x))});
    note(d, DiagNote{b.span, fmt::format("{} gives {}", way, typeName(y))});
    return false;
  };
  if (x.is(ValueKind::Tuple) && y.is(ValueKind::Tuple) && x.elements.size() == y.elements.size()) {
    for (size_t i = 0; i < x.elements.size(); ++i)
      if (!agree(join, a, b, x.elements[i], y.elements[i]))
        return false;
    return true;
  }
  if (x.is(ValueKind::Unit) || y.is(ValueKind::Unit)) {
    if (x.kind == y.kind)
      return true;
    return disagree(join.returns ? "one way through this function gives a value and another does not"
                                 : "one arm of this 'if' gives a value and the other does not",
                    join.hasElse ? "" : "add an 'else' that gives a value");
  }
  if (!x.isTileLike() || !y.isTileLike())
    return x.kind == y.kind && x.isConst()
               ? true
               : disagree(fmt::format("{} give {} and {}", what, typeName(x), typeName(y)), "");
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
    return disagree(fmt::format("{} give {} and {}: they must agree in dtype", what, typeName(x), typeName(y)),
                    "convert one of them with '.to(T)'");
  if (shapeOf(x) != shapeOf(y))
    return disagree(fmt::format("{} give {} and {}: they must agree in shape", what, typeName(x), typeName(y)),
                    "repeat the smaller one with 'broadcast(x, shape…)' or make it with 'full'");
  return true;
}

/// The value of an `if` from those of its arms, part by part for tuples. Equal constants stay constant (and the program
/// may use them as shapes); what differs is yielded by both arms.
Value Checker::mergeValues(Join &join, Arm &a, Arm &b, Value x, Value y) {
  if (x.isError() || y.isError())
    return Value::error();
  if (x.is(ValueKind::Tuple) && y.is(ValueKind::Tuple) && x.elements.size() == y.elements.size()) {
    std::vector<Value> parts;
    for (size_t i = 0; i < x.elements.size(); ++i) {
      parts.push_back(mergeValues(join, a, b, x.elements[i], y.elements[i]));
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
    Diagnostic &d = report(Diag::NotAtRunTime, join.span, fmt::format("{} cannot be chosen at run time", fixed),
                           "decide with 'static if', whose condition is known while compiling");
    if (join.condition)
      note(d, DiagNote{*join.condition, "this condition is known only at run time"});
    return Value::error();
  }
  if (!agree(join, a, b, x, y))
    return Value::error();
  if (x.is(ValueKind::Unit))
    return x;
  std::string place = join.returns ? "function" : "'if'";
  std::string reason = x.isConst() && y.isConst()
                           ? fmt::format("the {} of this {} give different values, {} and {}",
                                         join.returns ? "returns" : "arms", place, describe(x), describe(y))
                           : fmt::format("the value of this {} is chosen at run time", place);
  if (x.isUntyped() && y.isUntyped()) {
    auto dtype = commonDType(x, a.span, y, b.span, join.span);
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
    arm->yields.push_back(value->id);
  }
  join.results.push_back(builder.newValue(x.type));
  return Value::tile(join.results.back(), x.type, origin(join.span, std::move(reason)));
}

/// The first `count` variables were alive before the two ways parted; later ones belong to one of them.
void Checker::mergeVars(Join &join, size_t count, Arm &a, Arm &b) {
  // Where neither way comes here, only what outlives the function or trip is asked for again.
  if (frame->flow.dead())
    count = std::min(count, frame->kept);
  for (size_t i = 0; i < count; ++i) {
    Binding &var = *variables[i];
    const VarState &x = a.vars[i], &y = b.vars[i];
    var.assigned = mergeState(var, x, y, a, b);
    if ((x.hasType && x.value.isError()) || (y.hasType && y.value.isError())) {
      var.value = Value::error();
      continue;
    }
    if (x.hasType && y.hasType && typeName(x.value) != typeName(y.value)) {
      Diagnostic &d = report(Diag::VariableType, join.span,
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
    std::vector<Value> merged;
    leaves(var.value, merged);
    std::vector<Value> parts[2];
    for (auto [state, other, arm, list] : {std::tuple(&x, &y, &a, &parts[0]), std::tuple(&y, &x, &b, &parts[1])}) {
      leaves(state->assigned == Assigned::Yes ? state->value : other->value, *list);
      Builder::Into into(builder, arm->block);
      for (Value &part : *list)
        if (state->assigned != Assigned::Yes) // this way does not come here
          part = anyValue(part.type, join.span);
    }
    for (size_t k = 0; k < merged.size(); ++k) {
      if (parts[0][k].id == parts[1][k].id)
        continue;
      a.yields.push_back(parts[0][k].id);
      b.yields.push_back(parts[1][k].id);
      merged[k].id = builder.newValue(merged[k].type);
      join.results.push_back(merged[k].id);
    }
    auto next = std::vector<Value>::const_iterator(merged.begin());
    var.value = replaceLeaves(var.value, next);
  }
}

} // namespace tilec::sema
