// Sparse views: tiles whose rows along one axis an index tile chooses. They exist in the checker alone; their accesses
// become accesses of elements.
#include "compiler/sema/checker.h"
#include <limits>

namespace tilec::sema {

Value Checker::callSparse(BuiltinCall &call) {
  const Value &array = call.receiver;
  const std::string &arrayName = program.arrays[array.root].name;
  auto axis = axisOf(*call.find("axis"), array.type.rank, false);
  auto shape = tileShape(call.many("shape"), call.span);
  if (!axis || !shape || !hasElements(call))
    return Value::error();
  if (shape->size() != size_t(array.type.rank))
    return fail(Diag::WrongRank, call.span,
                fmt::format("a tile of rank {} does not cut '{}', an array of rank {}", shape->size(), arrayName,
                            array.type.rank),
                "one extent for each axis; 1 where a tile takes a single row");
  Value result = array;
  result.kind = ValueKind::View;
  result.type = Type{TypeKind::View, array.type.dtype, *shape, 0};
  result.sparseAxis = int(*axis);
  result.padding = Padding::Zero;
  if (const BoundArg *padding = call.find("padding")) {
    auto kind = paddingOf(*padding, array.type.dtype);
    if (!kind)
      return Value::error();
    result.padding = *kind;
  }
  return result;
}

/// The coordinates of every element of a tile: rows from the index tile, elsewhere the start and what follows it.
std::optional<std::vector<Value>> Checker::sparseIndices(BuiltinCall &call) {
  const Value &view = call.receiver;
  const std::vector<int64_t> &shape = view.type.shape;
  const std::vector<BoundArg> &args = call.many("index");
  size_t axis = size_t(view.sparseAxis), rank = shape.size();
  if (args.size() != rank) {
    report(Diag::WrongRank, call.span,
           fmt::format("{} {} for a sparse view of rank {}: its rows, then a start for each other axis", args.size(),
                       args.size() == 1 ? "index" : "indices", rank));
    return std::nullopt;
  }
  std::vector<Value> result(rank);
  bool good = true;
  for (size_t i = 0; i < rank; ++i) {
    const BoundArg &arg = args[i];
    bool isRows = i == 0;
    size_t along = isRows ? axis : i - 1 + (i > axis ? 1 : 0);
    const std::vector<int64_t> &found = shapeOf(arg.value);
    bool fits = arg.value.isTileLike() && (isRows ? found == std::vector{shape[axis]} : found.empty());
    if (!fits && arg.value.isTileLike()) {
      report(isRows ? Diag::StoreShape : Diag::IndexType, arg.span,
             isRows ? fmt::format("the rows of this view are {} integers, not {}", shape[axis], typeName(arg.value))
                    : fmt::format("the start along axis {} is one integer, not {}", along, typeName(arg.value)),
             isRows ? fmt::format("a tile of shape [{}] chooses them", shape[axis]) : "");
      good = false;
      continue;
    }
    Value v = indexValue(arg, isRows ? "the rows of a sparse view are integers" : "a start is one integer");
    if (v.isError()) {
      good = false;
      continue;
    }
    if (program.index64)
      v = convertTo(v, DType::i64, arg.span);
    if (!isRows) {
      Type type{TypeKind::Tile, v.type.dtype, {shape[along]}, 0};
      Value lane = Value::tile(builder.emit(ArangeInst{0, 1}, {}, type, arg.span), type, v.origin);
      v = emitBinary({BinaryOp::Add}, broadcastTo(v, type.shape, arg.span), lane, arg.span);
    }
    // Along its own axis; the others are of extent 1 and repeated with the rest.
    std::vector<int64_t> placed(rank, 1);
    placed[along] = shape[along];
    if (v.type.shape != placed) {
      v.type.shape = placed;
      v.id = builder.emit(ReshapeInst{}, {v.id}, v.type, arg.span);
    }
    result[along] = std::move(v);
  }
  if (!good)
    return std::nullopt;
  return result;
}

/// Operands of the access of elements that one of a sparse view becomes.
std::optional<Checker::Lanes> Checker::sparseLanes(BuiltinCall &call, const Value &value, Span valueSpan) {
  auto all = sparseIndices(call);
  if (!all || value.isError())
    return std::nullopt;
  std::vector<Span> spans(all->size(), call.span);
  all->push_back(value);
  spans.push_back(valueSpan);
  if (!broadcastAll(*all, spans))
    return std::nullopt;
  Lanes result{{call.receiver.id}, call.receiver.type.shape, false};
  for (const Value &v : *all)
    result.operands.push_back(v.id);
  return result;
}

/// The padding of a view as a scalar.
Value Checker::paddingValue(Padding padding, DType dtype, Span span) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto real = [&](double value) { return materializeAs(Value::ofFloat(value), dtype, span); };
  switch (padding) {
  case Padding::NegZero:
    return real(-0.0);
  case Padding::NaN:
    return real(std::numeric_limits<double>::quiet_NaN());
  case Padding::Inf:
    return real(inf);
  case Padding::NegInf:
    return real(-inf);
  case Padding::None:
  case Padding::Zero:
    break;
  }
  return materialize(Value::typed(dtype, 0), span);
}

} // namespace tilec::sema
