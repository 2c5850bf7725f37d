// Reductions and scans by operations of the language.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <algorithm>

namespace tilec::sema {

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

/// The shape without some axes, or with 1 in their places.
std::vector<int64_t> Checker::reducedShape(const std::vector<int64_t> &shape, const std::vector<int64_t> &axes,
                                           bool keepdims) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool reduced = std::ranges::find(axes, int64_t(i)) != axes.end();
    if (!reduced || keepdims)
      result.push_back(reduced ? 1 : shape[i]);
  }
  return result;
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

/// Whether a reduction or scan takes the dtype: numbers with arithmetic; bools where they are counted, or by logic.
bool Checker::reducible(BuiltinCall &call, const BoundArg &x, bool countsBools, bool logic) {
  if (!tileArg(call, x))
    return false;
  std::optional<DType> t;
  if (!x.value.isUntyped())
    t = dtypeOf(x.value);
  bool isBool = t == DType::bool_;
  bool fits = logic ? isBool : !t || (hasArithmetic(*t) && (!isBool || countsBools));
  if (fits)
    return true;
  std::string_view help = logic    ? "compare it, as in 'x != 0'"
                          : isBool ? "'any' and 'all' reduce bools, 'sum' and 'cumsum' count them"
                                   : "convert it first, as in 'x.to(f32)'";
  report(Diag::OperandType, x.span, fmt::format("'{}' does not take {}", call.info->name, typeName(x.value)),
         std::string(help));
  return false;
}

/// Reduces along axes in a dtype wide enough for the sum, and brings floats back with one rounding.
Value Checker::reduceTile(BuiltinCall &call, ReduceOp op) {
  const BoundArg &x = *call.find("x");
  auto keepdims = flag(call, "keepdims"), propagate = flag(call, "propagate_nan");
  bool logic = op == ReduceOp::Any || op == ReduceOp::All;
  bool widens = op == ReduceOp::Sum || op == ReduceOp::Prod;
  if (!keepdims || !propagate || !reducible(call, x, op == ReduceOp::Sum, logic))
    return Value::error();
  auto axes = reducedAxes(call, int64_t(shapeOf(x.value).size()));
  if (!axes)
    return Value::error();
  if (x.value.isConstScalar()) { // its only element
    if (x.value.isUntyped() || !widens || isFloat(x.value.dtype))
      return x.value;
    DType wide = accumulator(x.value.dtype);
    return Value::typed(wide, convert(x.value.dtype, wide, x.value.bits));
  }
  Value v = x.value;
  DType t = v.type.dtype;
  const Origin *why = v.origin ? v.origin : origin(call.span, "a tile is a run-time value");
  v = convertTo(v, widens ? accumulator(t) : t, call.span);
  std::vector<int64_t> kept = reducedShape(v.type.shape, *axes, *keepdims);
  Type type = v.type;
  type.shape = reducedShape(v.type.shape, *axes, false);
  if (!axes->empty())
    v = Value::tile(builder.emit(ReduceInst{op, *axes, *propagate}, {v.id}, type, call.span), type, why);
  if (isFloat(t)) // accumulated wide, rounded once
    v = convertTo(v, t, call.span);
  return reshaped(v, kept, call.span);
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
  if (!y)
    return reduceTile(call, isMax ? ReduceOp::Max : ReduceOp::Min);
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

/// Several axes are one long one, in row-major order: they come last and are joined, then the extreme is looked for.
Value Checker::callArgExtreme(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  auto keepdims = flag(call, "keepdims"), propagate = flag(call, "propagate_nan");
  if (!keepdims || !propagate || !reducible(call, x, false, false))
    return Value::error();
  auto axes = reducedAxes(call, int64_t(shapeOf(x.value).size()));
  if (!axes)
    return Value::error();
  if (x.value.isConstScalar())
    return Value::typed(DType::i32, 0);
  Value v = x.value;
  std::vector<int64_t> whole = v.type.shape, left = reducedShape(whole, *axes, false);
  int64_t axis = 0;
  if (axes->size() == 1) {
    axis = axes->front();
  } else {
    std::vector<int64_t> order, joined = left;
    for (int64_t i = 0; i < int64_t(whole.size()); ++i)
      if (std::ranges::find(*axes, i) == axes->end())
        order.push_back(i);
    int64_t count = 1;
    for (int64_t i : *axes) {
      order.push_back(i);
      count *= whole[size_t(i)];
    }
    axis = int64_t(left.size());
    joined.push_back(count);
    v = reshaped(permuted(v, order, call.span), joined, call.span);
  }
  Type type{TypeKind::Tile, DType::i32, left, 0};
  bool isMax = call.info->name == "argmax";
  const Origin *why = v.origin ? v.origin : origin(call.span, "a tile is a run-time value");
  v = Value::tile(builder.emit(ArgExtremeInst{isMax, axis, *propagate}, {v.id}, type, call.span), type, why);
  return reshaped(v, reducedShape(whole, *axes, *keepdims), call.span);
}

/// cumsum and cumprod: each element widened as in a sum and rounded once.
Value Checker::callCumulative(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  bool isSum = call.info->name == "cumsum";
  auto reverse = flag(call, "reverse"), exclusive = flag(call, "exclusive");
  if (!reverse || !exclusive || !reducible(call, x, isSum, false))
    return Value::error();
  auto axis = axisOf(*call.find("axis"), int64_t(shapeOf(x.value).size()), true);
  if (!axis)
    return Value::error();
  DType t = x.value.type.dtype;
  Value v = convertTo(x.value, accumulator(t), call.span);
  ReduceOp op = isSum ? ReduceOp::Sum : ReduceOp::Prod;
  v.id = builder.emit(ScanInst{op, *axis, *reverse, *exclusive}, {v.id}, v.type, call.span);
  return isFloat(t) ? convertTo(v, t, call.span) : v;
}

} // namespace tilec::sema
