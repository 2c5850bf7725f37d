// Views: cutting arrays into tiles, loads and stores.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <cmath>

namespace tilec::sema {

/// Which special values a float dtype has.
static bool hasInfinity(DType t) { return t != DType::f8e4m3 && t != DType::f8e8m0 && t != DType::f4e2m1; }

/// The padding of a view as the few values that hardware and executor can fill in.
std::optional<Padding> Checker::paddingOf(const BoundArg &arg, DType dtype) {
  auto refuse = [&](std::string message) {
    report(Diag::BadPadding, arg.span, std::move(message), "the padding of a view is 0, -0.0, nan, inf or -inf");
    return std::nullopt;
  };
  if (!needConst(arg.value, arg.span, "the padding of a view"))
    return std::nullopt;
  const Value &v = arg.value;
  double real = 0;
  if (v.is(ValueKind::Int) && v.integer == 0)
    return Padding::Zero;
  if (v.is(ValueKind::Typed) && !isFloat(v.dtype) && v.bits == 0)
    return Padding::Zero;
  if (v.is(ValueKind::Float))
    real = v.real;
  else if (v.is(ValueKind::Typed) && isFloat(v.dtype))
    real = realOf(v);
  else
    return refuse(fmt::format("{} is no padding of a view", describe(v)));
  Padding padding = std::isnan(real)     ? Padding::NaN
                    : std::isinf(real)   ? (real > 0 ? Padding::Inf : Padding::NegInf)
                    : real != 0          ? Padding::None
                    : std::signbit(real) ? Padding::NegZero
                                         : Padding::Zero;
  if (padding == Padding::None)
    return refuse(fmt::format("{} is no padding of a view", describe(v)));
  if (padding == Padding::Zero)
    return padding;
  bool has = isFloat(dtype) && (padding == Padding::NaN       ? dtype != DType::f4e2m1
                                : padding == Padding::NegZero ? info(dtype).isSigned
                                                              : hasInfinity(dtype));
  if (!has)
    return refuse(fmt::format("{} has no {}", name(dtype), describe(v)));
  return padding;
}

/// Shape, step and padding are checked here once; loads and stores of the view rely on it.
Value Checker::callTiled(BuiltinCall &call) {
  const Value &array = call.receiver;
  size_t rank = size_t(array.type.rank);
  const std::string &arrayName = program.arrays[array.root].name;
  auto shape = tileShape(call.many("shape"), call.span);
  if (!shape)
    return Value::error();
  if (shape->size() != rank)
    return fail(Diag::WrongRank, call.span,
                fmt::format("a tile of rank {} does not cut '{}', an array of rank {}", shape->size(), arrayName, rank),
                "one extent for each axis; 1 where a tile takes a single row");
  ViewInst view{*shape, {}, Padding::None};
  auto integers = [&](const BoundArg &arg, std::string_view what) -> std::optional<std::vector<int64_t>> {
    std::vector<int64_t> result;
    std::vector<Value> items = arg.value.is(ValueKind::Tuple) ? arg.value.elements : std::vector{arg.value};
    for (const Value &item : items) {
      auto n = constInt(item, arg.span, what);
      if (!n)
        return std::nullopt;
      result.push_back(*n);
    }
    if (result.size() != rank) {
      report(Diag::WrongRank, arg.span,
             fmt::format("{} numbers for '{}', an array of rank {}", result.size(), arrayName, rank));
      return std::nullopt;
    }
    return result;
  };
  if (const BoundArg *step = call.find("step")) {
    auto steps = integers(*step, "the step of a view");
    if (!steps)
      return Value::error();
    for (size_t i = 0; i < rank; ++i)
      if ((*steps)[i] <= 0)
        return fail(Diag::BadStep, step->span,
                    fmt::format("the step along axis {} is {}, and steps are positive", i, (*steps)[i]));
    view.step = *steps;
  }
  for (size_t i = 0; i < rank; ++i)
    view.axes.push_back(int64_t(i));
  if (const BoundArg *axes = call.find("axes")) {
    auto order = integers(*axes, "the axes of a view");
    if (!order)
      return Value::error();
    std::vector<bool> seen(rank);
    for (size_t i = 0; i < rank; ++i) {
      int64_t axis = (*order)[i];
      if (axis < 0 || size_t(axis) >= rank)
        return fail(Diag::AxisOutOfRange, axes->span,
                    fmt::format("there is no axis {}: axes run from 0 to {}", axis, rank - 1));
      if (seen[size_t(axis)])
        return fail(Diag::AxisOutOfRange, axes->span, fmt::format("axis {} is named twice", axis),
                    "'axes' names each axis of the array once");
      seen[size_t(axis)] = true;
    }
    view.axes = *order;
  }
  if (!evenTiles(call, *shape, view))
    return Value::error();
  if (const BoundArg *padding = call.find("padding")) {
    auto kind = paddingOf(*padding, array.type.dtype);
    if (!kind)
      return Value::error();
    view.padding = *kind;
  }
  Value result = array;
  result.kind = ValueKind::View;
  result.type = Type{TypeKind::View, array.type.dtype, *shape, 0};
  result.id = builder.emit(std::move(view), {array.id}, result.type, call.span);
  return result;
}

Value Checker::callNumTiles(BuiltinCall &call) {
  if (call.receiver.sparseAxis >= 0)
    return fail(Diag::UnknownMember, call.expr->callee.span, "a sparse view has no number of tiles",
                "an index tile chooses its rows; extents are those of the array, 'a.shape(axis)'");
  auto axis = axisOf(*call.find("axis"), int64_t(call.receiver.type.shape.size()), false);
  if (!axis)
    return Value::error();
  Type type{TypeKind::Tile, indexType(), {}, 0};
  ValueId id = builder.emit(NumTilesInst{int(*axis)}, {call.receiver.id}, type, call.span);
  return Value::tile(id, type, origin(call.span, "a number of tiles is known only at a launch"));
}

/// Indices count tiles. They are i32 or i64, whatever integers the program has.
std::optional<std::vector<ValueId>> Checker::indices(const std::vector<BoundArg> &args, const Value &view, Span span) {
  size_t rank = view.type.shape.size();
  if (args.size() != rank) {
    report(Diag::WrongRank, span,
           fmt::format("{} {} for a view of rank {}: one for each axis", args.size(),
                       args.size() == 1 ? "index" : "indices", rank));
    return std::nullopt;
  }
  std::vector<ValueId> ids;
  bool good = true;
  for (const BoundArg &arg : args) {
    constexpr std::string_view what = "an index of a view is one integer";
    bool isTile = arg.value.isTileLike() && !shapeOf(arg.value).empty();
    Value v = isTile ? fail(Diag::IndexType, arg.span, fmt::format("{}, not {}", what, typeName(arg.value)),
                            isInt(dtypeOf(arg.value)) ? "elements at index tiles are read with 'a.gather(i, …)'" : "")
                     : indexValue(arg, what);
    good &= !v.isError();
    ids.push_back(v.id);
  }
  if (!good)
    return std::nullopt;
  return ids;
}

Value Checker::callLoad(BuiltinCall &call) {
  if (!mayAccess(call, true, false))
    return Value::error();
  const Value &view = call.receiver;
  const std::string &arrayName = program.arrays[view.root].name;
  bool isSparse = view.sparseAxis >= 0;
  Type type{TypeKind::Tile, view.type.dtype, view.type.shape, 0};
  std::optional<std::vector<ValueId>> at;
  if (!isSparse) {
    at = indices(call.many("index"), view, call.span);
  } else if (auto all = sparseLanes(call, paddingValue(view.padding, type.dtype, call.span), call.span)) {
    at = std::move(all->operands);
  }
  auto number = site(call, "load");
  auto checked = flag(call, "check_bounds");
  auto ordering = orderingOf(call, "a load", {}, {MemoryOrder::Weak, MemoryOrder::Relaxed, MemoryOrder::Acquire});
  if (!at || !number || !checked || !ordering)
    return Value::error();
  const Origin *why = origin(call.span, fmt::format("this is loaded from '{}'", arrayName));
  if (isSparse)
    return Value::tile(builder.emit(GatherInst{*number, false, !*checked, *ordering}, std::move(*at), type, call.span),
                       type, why);
  at->insert(at->begin(), view.id);
  return Value::tile(builder.emit(LoadInst{*number, !*checked, *ordering}, std::move(*at), type, call.span), type, why);
}

/// The value that a store or an atomic brings to a view: of the view's shape, a scalar repeated.
Value Checker::tileFor(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  const Type &view = call.receiver.type;
  Value v =
      storable(x.value, view.dtype, x.span, fmt::format("the array '{}'", program.arrays[call.receiver.root].name));
  if (v.isError())
    return v;
  if (!v.type.shape.empty() && v.type.shape != view.shape)
    return fail(
        Diag::StoreShape, x.span,
        fmt::format("a tile {} does not fit the view's tiles {}", shapeText(v.type.shape), shapeText(view.shape)),
        "the shapes must be the same; a scalar is repeated");
  return broadcastTo(v, view.shape, x.span);
}

Value Checker::callStore(BuiltinCall &call) {
  if (!mayAccess(call, false, true))
    return Value::error();
  const Value &view = call.receiver;
  bool isSparse = view.sparseAxis >= 0;
  Value v = tileFor(call);
  std::optional<std::vector<ValueId>> at;
  if (!isSparse) {
    at = indices(call.many("index"), view, call.span);
  } else if (auto all = sparseLanes(call, v, call.find("x")->span)) {
    at = std::move(all->operands);
  }
  auto number = site(call, "store");
  auto checked = flag(call, "check_bounds");
  auto ordering = orderingOf(call, "a store", {}, {MemoryOrder::Weak, MemoryOrder::Relaxed, MemoryOrder::Release});
  if (!at || !number || !checked || !ordering || v.isError())
    return Value::error();
  if (isSparse) {
    builder.emitVoid(ScatterInst{*number, false, !*checked, *ordering}, std::move(*at), call.span);
    return Value::unit();
  }
  at->insert(at->begin(), view.id);
  at->push_back(v.id);
  builder.emitVoid(StoreInst{*number, !*checked, *ordering}, std::move(*at), call.span);
  return Value::unit();
}

} // namespace tilec::sema
