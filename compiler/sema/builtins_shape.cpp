// Shapes: what moves elements and leaves them as they are. Every dtype can be moved.
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

/// Whether an argument is a tile or a scalar, as the built-in demands.
bool Checker::tileArg(const BuiltinCall &call, const BoundArg &arg) {
  if (arg.value.isTileLike())
    return true;
  report(Diag::OperandType, arg.span, fmt::format("'{}' takes a tile, not {}", call.info->name, typeName(arg.value)));
  return false;
}

/// The same elements in row-major order under another shape; scalars are repeated into tiles of one element.
Value Checker::reshaped(Value v, const std::vector<int64_t> &shape, Span span) {
  if (v.isError() || v.type.shape == shape)
    return v;
  bool scalar = v.type.shape.empty();
  v.type.shape = shape;
  v.id = builder.emit(scalar ? Payload(BroadcastInst{}) : Payload(ReshapeInst{}), {v.id}, v.type, span);
  if (!v.origin)
    v.origin = origin(span, "a tile is a run-time value");
  return v;
}

Value Checker::callReshape(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  auto shape = tileShape(call.many("shape"), call.span);
  if (!tileArg(call, x) || !shape)
    return Value::error();
  const std::vector<int64_t> &old = shapeOf(x.value);
  if (elementCount(*shape) != elementCount(old))
    return fail(Diag::ElementCount, call.span,
                fmt::format("a tile {} of {} elements does not take the shape {} of {}", shapeText(old),
                            elementCount(old), shapeText(*shape), elementCount(*shape)));
  return *shape == old ? x.value : reshaped(materialize(x.value, x.span), *shape, call.span);
}

/// The explicit form of what operators do by themselves.
Value Checker::callBroadcast(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  auto shape = tileShape(call.many("shape"), call.span);
  if (!tileArg(call, x) || !shape)
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
  if (*shape == old)
    return x.value;
  Value v = materialize(x.value, x.span);
  if (v.isError())
    return v;
  Value result = broadcastTo(v, *shape, call.span);
  if (!result.origin)
    result.origin = origin(call.span, "a tile is a run-time value");
  return result;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Axes in another order
//===--------------------------------------------------------------------------------------------------------------===//

Value Checker::permuted(const Value &x, const std::vector<int64_t> &axes, Span span) {
  if (std::ranges::is_sorted(axes))
    return x;
  Type type = x.type;
  for (size_t i = 0; i < axes.size(); ++i)
    type.shape[i] = x.type.shape[size_t(axes[i])];
  return Value::tile(builder.emit(PermuteInst{axes}, {x.id}, type, span), type, x.origin);
}

Value Checker::callPermute(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  if (!tileArg(call, x))
    return Value::error();
  const std::vector<int64_t> &shape = shapeOf(x.value);
  std::vector<BoundArg> given;
  for (const BoundArg &arg : call.many("axes")) { // the axes may come as a tuple
    if (!arg.value.is(ValueKind::Tuple))
      given.push_back(arg);
    else
      for (const Value &element : arg.value.elements)
        given.push_back({element, arg.span, nullptr, nullptr});
  }
  std::vector<int64_t> axes;
  for (const BoundArg &arg : given) {
    auto axis = axisOf(arg, int64_t(shape.size()), false);
    if (!axis)
      return Value::error();
    if (std::ranges::find(axes, *axis) != axes.end())
      return fail(Diag::AxisOutOfRange, arg.span, fmt::format("axis {} is named twice", *axis),
                  "'permute' names each axis of the tile once");
    axes.push_back(*axis);
  }
  if (axes.size() != shape.size())
    return fail(Diag::WrongRank, call.span,
                fmt::format("{} {} for a tile of rank {}: one for each", axes.size(),
                            axes.size() == 1 ? "axis" : "axes", shape.size()));
  return permuted(x.value, axes, call.span);
}

Value Checker::callTranspose(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  if (!tileArg(call, x))
    return Value::error();
  int64_t rank = int64_t(shapeOf(x.value).size());
  auto i = axisOf(*call.find("i"), rank, false), j = axisOf(*call.find("j"), rank, false);
  if (!i || !j)
    return Value::error();
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    axes.push_back(axis == *i ? *j : axis == *j ? *i : axis);
  return permuted(x.value, axes, call.span);
}

/// `x.T`.
Value Checker::transposed(const Value &x, Span span) {
  size_t rank = shapeOf(x).size();
  if (rank != 2)
    return fail(Diag::WrongRank, span, fmt::format("'.T' exchanges the axes of a tile of rank 2, not of rank {}", rank),
                "'x.transpose(i, j)' exchanges any two axes");
  return permuted(x, {1, 0}, span);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Parts
//===--------------------------------------------------------------------------------------------------------------===//

Value Checker::callCat(BuiltinCall &call) {
  const BoundArg &a = *call.find("a"), &b = *call.find("b");
  if (!tileArg(call, a) || !tileArg(call, b))
    return Value::error();
  const std::vector<int64_t> x = shapeOf(a.value), y = shapeOf(b.value);
  if (x.size() != y.size())
    return fail(Diag::WrongRank, call.span,
                fmt::format("a tile of rank {} and one of rank {} cannot stand after one another", x.size(), y.size()));
  const BoundArg *arg = call.find("axis");
  auto axis = axisOf(arg ? *arg : BoundArg{Value::ofInt(0), call.span, nullptr, nullptr}, int64_t(x.size()), true);
  if (!axis)
    return Value::error();
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && int64_t(i) != *axis)
      return fail(Diag::ShapesDiffer, call.span,
                  fmt::format("tiles {} and {} differ along axis {}, and stand after one another along axis {}",
                              shapeText(x), shapeText(y), i, *axis));
  size_t along = size_t(*axis);
  if (x[along] != y[along])
    return fail(Diag::NotPowerOfTwo, call.span,
                fmt::format("{} and {} elements along axis {} make {}, which is no power of two", x[along], y[along],
                            along, x[along] + y[along]),
                "'cat' takes tiles of one shape; fill the smaller one up");
  auto dtype = commonTileDType(a, b, call.span);
  std::vector<int64_t> shape = x;
  shape[along] *= 2;
  if (!dtype || !checkTileShape(shape, std::vector<Span>(shape.size(), call.span), call.span))
    return Value::error();
  Value l = convertTo(a.value, *dtype, a.span), r = convertTo(b.value, *dtype, b.span);
  Type type{TypeKind::Tile, *dtype, shape, 0};
  ValueId id = builder.emit(CatInst{*axis}, {l.id, r.id}, type, call.span);
  return Value::tile(id, type, l.origin ? l.origin : r.origin);
}

/// Dtype of two tiles that stand in one: equal ones move as they are, others come together as in arithmetic.
std::optional<DType> Checker::commonTileDType(const BoundArg &a, const BoundArg &b, Span span) {
  bool same = !a.value.isUntyped() && !b.value.isUntyped() && dtypeOf(a.value) == dtypeOf(b.value);
  return same ? dtypeOf(a.value) : commonDType(a.value, a.span, b.value, b.span, span);
}

/// Indices of a part, i32, one for each axis of the whole; those known while compiling are inside.
std::optional<std::vector<ValueId>> Checker::partIndices(BuiltinCall &call, const std::vector<int64_t> &whole,
                                                         const std::vector<int64_t> &part) {
  const std::vector<BoundArg> &args = call.many("index");
  if (part.size() != whole.size() || args.size() != whole.size()) {
    report(Diag::WrongRank, call.span,
           part.size() != whole.size()
               ? fmt::format("a part {} of a tile {} has as many axes as the tile", shapeText(part), shapeText(whole))
               : fmt::format("{} {} for a tile of rank {}: one for each axis", args.size(),
                             args.size() == 1 ? "index" : "indices", whole.size()));
    return std::nullopt;
  }
  std::vector<ValueId> ids;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (part[i] > whole[i]) {
      report(Diag::ShapesDiffer, call.span,
             fmt::format("a part {} is larger than the tile {} along axis {}", shapeText(part), shapeText(whole), i));
      return std::nullopt;
    }
    const BoundArg &arg = args[i];
    constexpr std::string_view what = "an index of a part is one integer";
    if (arg.value.isTileLike() && !shapeOf(arg.value).empty()) {
      report(Diag::IndexType, arg.span, fmt::format("{}, not {}", what, typeName(arg.value)));
      return std::nullopt;
    }
    if (arg.value.isConstScalar() && (arg.value.is(ValueKind::Int) || isInt(dtypeOf(arg.value)))) {
      BigInt index = exactOf(arg.value);
      int64_t parts = whole[i] / part[i];
      if (index < 0 || index >= parts) {
        report(Diag::PartIndex, arg.span,
               fmt::format("there is no part {} along axis {}: a tile {} has {} of shape {} there", toString(index), i,
                           shapeText(whole), parts == 1 ? "one" : fmt::format("{}", parts), shapeText(part)),
               parts == 1 ? "indices count parts, from 0; here 0 is the only one"
                          : fmt::format("indices count parts, from 0 to {}", parts - 1));
        return std::nullopt;
      }
    }
    Value v = indexValue(arg, what);
    if (v.isError())
      return std::nullopt;
    if (v.type.dtype == DType::i64) { // what does not fit stays outside
      Type type{TypeKind::Tile, DType::i32, {}, 0};
      ValueId from = arg.value.isTile() ? arg.value.id : v.id;
      v = Value::tile(builder.emit(ConvertInst{Rounding::NearestEven, true}, {from}, type, arg.span), type, v.origin);
    }
    ids.push_back(v.id);
  }
  return ids;
}

Value Checker::callExtract(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  auto shape = tileShape({*call.find("shape")}, call.find("shape")->span);
  if (!tileArg(call, x) || !shape)
    return Value::error();
  auto at = partIndices(call, shapeOf(x.value), *shape);
  if (!at || x.value.isConstScalar())
    return at ? x.value : Value::error();
  Type type{TypeKind::Tile, x.value.type.dtype, *shape, 0};
  if (*shape == x.value.type.shape) // the whole
    return x.value;
  at->insert(at->begin(), x.value.id);
  return Value::tile(builder.emit(ExtractInst{}, std::move(*at), type, call.span), type, x.value.origin);
}

Value Checker::callInsert(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &y = *call.find("y");
  if (!tileArg(call, x) || !tileArg(call, y))
    return Value::error();
  Value whole = materialize(x.value, x.span);
  if (whole.isError())
    return whole;
  Value part = storable(y.value, whole.type.dtype, y.span, "a tile");
  if (part.isError())
    return part;
  if (part.type.shape.empty() && !whole.type.shape.empty()) // one element
    part = reshaped(part, std::vector<int64_t>(whole.type.shape.size(), 1), y.span);
  auto at = partIndices(call, whole.type.shape, part.type.shape);
  if (!at)
    return Value::error();
  if (part.type.shape == whole.type.shape)
    return part;
  at->insert(at->begin(), whole.id);
  at->push_back(part.id);
  const Origin *why = whole.origin ? whole.origin : part.origin;
  return Value::tile(builder.emit(InsertInst{}, std::move(*at), whole.type, call.span), whole.type, why);
}

Value Checker::callItem(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  if (!tileArg(call, x))
    return Value::error();
  const std::vector<int64_t> &shape = shapeOf(x.value);
  if (elementCount(shape) != 1)
    return fail(
        Diag::ElementCount, x.span,
        fmt::format("'item' takes a tile of one element, and {} has {}", typeName(x.value), elementCount(shape)),
        "one element of many is 'x.extract(i, shape = 1).item()'");
  return shape.empty() ? x.value : reshaped(x.value, {}, call.span);
}

} // namespace tilec::sema
