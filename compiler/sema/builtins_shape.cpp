// Shapes and reductions.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <algorithm>

namespace tilec::sema {

static int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t n : shape)
    count *= n;
  return count;
}

/// Elements keep their row-major order.
Value Checker::callReshape(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span, fmt::format("'reshape' takes a tile, not {}", typeName(x.value)));
  auto shape = tileShape(call.many("shape"), call.span);
  if (!shape)
    return Value::error();
  const std::vector<int64_t> &old = shapeOf(x.value);
  if (elementCount(*shape) != elementCount(old))
    return fail(Diag::ElementCount, call.span,
                fmt::format("a tile {} of {} elements does not take the shape {} of {}", shapeText(old),
                            elementCount(old), shapeText(*shape), elementCount(*shape)));
  Value v = materialize(x.value, x.span);
  if (v.isError() || v.type.shape == *shape)
    return v;
  if (!v.origin)
    v.origin = origin(call.span, "a tile is a run-time value");
  bool scalar = v.type.shape.empty();
  v.type.shape = *shape;
  v.id = builder.emit(scalar ? Payload(BroadcastInst{}) : Payload(ReshapeInst{}), {v.id}, v.type, call.span);
  if (!shape->empty())
    return v;
  return v;
}

/// The explicit form of what operators do by themselves.
Value Checker::callBroadcast(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span, fmt::format("'broadcast' takes a tile, not {}", typeName(x.value)));
  auto shape = tileShape(call.many("shape"), call.span);
  if (!shape)
    return Value::error();
  const std::vector<int64_t> &old = shapeOf(x.value);
  bool fits = old.size() <= shape->size();
  for (size_t i = 0; fits && i < old.size(); ++i) {
    int64_t wanted = (*shape)[shape->size() - old.size() + i];
    fits = old[i] == wanted || old[i] == 1;
  }
  if (!fits)
    return fail(Diag::ShapesDiffer, call.span,
                fmt::format("a tile {} cannot be repeated to {}", shapeText(old), shapeText(*shape)),
                "an axis of 1 element is repeated, another keeps its extent; new axes lead");
  Value v = materialize(x.value, x.span);
  if (v.isError())
    return v;
  Value result = broadcastTo(v, *shape, call.span);
  if (!result.origin)
    result.origin = origin(call.span, "a tile is a run-time value");
  return result;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Reductions
//===--------------------------------------------------------------------------------------------------------------===//

/// The axes of `axis =`, in rising order; all of them when it is absent.
std::optional<std::vector<int64_t>> Checker::reducedAxes(BuiltinCall &call, int64_t rank) {
  std::vector<int64_t> axes;
  const BoundArg *arg = call.find("axis");
  if (!arg) {
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
    return axes;
  }
  std::vector<Value> items = arg->value.is(ValueKind::Tuple) ? arg->value.elements : std::vector{arg->value};
  for (const Value &item : items) {
    auto axis = axisOf({item, arg->span, nullptr, nullptr}, rank, true);
    if (!axis)
      return std::nullopt;
    if (std::ranges::find(axes, *axis) != axes.end()) {
      report(Diag::AxisOutOfRange, arg->span, fmt::format("axis {} is named twice", *axis));
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  std::ranges::sort(axes);
  return axes;
}

/// What a sum or product of a dtype is computed in.
static DType accumulator(DType t) {
  switch (t) {
  case DType::f16:
  case DType::bf16:
    return DType::f32;
  case DType::i8:
  case DType::i16:
  case DType::bool_:
    return DType::i32;
  case DType::u8:
  case DType::u16:
    return DType::u32;
  default:
    return t;
  }
}

/// Reduces along axes in a dtype wide enough for the sum, and brings floats back with one rounding.
Value Checker::reduceTile(BuiltinCall &call, ReduceOp op) {
  const BoundArg &x = *call.find("x");
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span,
                fmt::format("'{}' takes a tile, not {}", call.info->name, typeName(x.value)));
  auto keepdims = flag(call, "keepdims"), propagate = flag(call, "propagate_nan");
  if (!keepdims || !propagate)
    return Value::error();
  Value v = materialize(x.value, x.span);
  if (v.isError())
    return v;
  DType t = v.type.dtype;
  bool logic = op == ReduceOp::Any || op == ReduceOp::All;
  bool widens = op == ReduceOp::Sum || op == ReduceOp::Prod;
  bool fits = logic ? t == DType::bool_ : hasArithmetic(t) && (t != DType::bool_ || op == ReduceOp::Sum);
  if (!fits)
    return fail(Diag::OperandType, x.span, fmt::format("'{}' does not take {}", call.info->name, typeName(x.value)),
                logic               ? "compare it, as in 'x != 0'"
                : t == DType::bool_ ? "'any' and 'all' reduce bools, 'sum' counts them"
                                    : "convert it first, as in 'x.to(f32)'");
  auto axes = reducedAxes(call, int64_t(v.type.shape.size()));
  if (!axes)
    return Value::error();
  const Origin *why = v.origin ? v.origin : origin(call.span, "a tile is a run-time value");
  DType wide = widens ? accumulator(t) : t;
  v = convertTo(v, wide, call.span);
  Type type = v.type, kept = v.type;
  for (size_t i = axes->size(); i-- > 0;) {
    type.shape.erase(type.shape.begin() + (*axes)[i]);
    kept.shape[size_t((*axes)[i])] = 1;
  }
  ValueId id = v.id;
  if (!axes->empty())
    id = builder.emit(ReduceInst{op, *axes, *propagate}, {id}, type, call.span);
  Value result = Value::tile(id, type, why);
  if (isFloat(t)) // accumulated wide, rounded once
    result = convertTo(result, t, call.span);
  if (*keepdims && result.type.shape != kept.shape) {
    kept.dtype = result.type.dtype;
    Payload payload = result.type.shape.empty() ? Payload(BroadcastInst{}) : Payload(ReshapeInst{});
    result = Value::tile(builder.emit(payload, {result.id}, kept, call.span), kept, why);
  }
  return result;
}

Value Checker::callReduce(BuiltinCall &call) {
  std::string_view name = call.info->name;
  return reduceTile(call, name == "sum"    ? ReduceOp::Sum
                          : name == "prod" ? ReduceOp::Prod
                          : name == "any"  ? ReduceOp::Any
                                           : ReduceOp::All);
}

/// One tile is reduced, two are compared element by element.
Value Checker::callMinMax(BuiltinCall &call) {
  bool isMax = call.info->name == "max";
  const BoundArg &x = *call.find("x");
  const BoundArg *y = call.find("y");
  if (!y) {
    if (x.value.isConstScalar() && !call.find("axis"))
      return x.value;
    return reduceTile(call, isMax ? ReduceOp::Max : ReduceOp::Min);
  }
  for (std::string_view keyword : {"axis", "keepdims"})
    if (const BoundArg *arg = call.find(keyword))
      return fail(Diag::WrongArguments, arg->span,
                  fmt::format("'{}' of two tiles is elementwise and takes no '{}'", call.info->name, keyword),
                  fmt::format("reduce one tile with '{}(x, axis = …)'", call.info->name));
  auto propagate = flag(call, "propagate_nan");
  if (!propagate)
    return Value::error();
  BinaryOp op = isMax ? BinaryOp::Max : BinaryOp::Min;
  return binary(op, x.value, x.span, y->value, y->span, call.span, {op, false, false, *propagate});
}

} // namespace tilec::sema
