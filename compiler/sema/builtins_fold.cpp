// Reductions and scans by functions of the program.
#include "compiler/sema/checker.h"

namespace tilec::sema {

/// The tiles that are combined, of one shape, and the identity of each.
std::optional<Checker::Combined> Checker::combined(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &identity = *call.find("identity");
  bool isTuple = x.value.is(ValueKind::Tuple);
  std::vector<Value> tiles = isTuple ? x.value.elements : std::vector{x.value};
  std::vector<Value> identities =
      isTuple && identity.value.is(ValueKind::Tuple) ? identity.value.elements : std::vector{identity.value};
  if (identities.size() != tiles.size() || (isTuple && !identity.value.is(ValueKind::Tuple))) {
    report(Diag::PatternMismatch, identity.span,
           fmt::format("'{}' combines {} {} and is given {} {}", call.info->name, tiles.size(),
                       tiles.size() == 1 ? "tile" : "tiles", identities.size(),
                       identities.size() == 1 ? "identity" : "identities"),
           "one identity for each tile");
    return std::nullopt;
  }
  if (tiles.empty()) {
    report(Diag::OperandType, x.span, fmt::format("'{}' takes a tile or a tuple of tiles", call.info->name));
    return std::nullopt;
  }
  Combined result;
  result.isTuple = isTuple;
  bool good = true;
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (!tiles[i].isTileLike()) {
      fail(Diag::OperandType, x.span, fmt::format("'{}' combines tiles, not {}", call.info->name, typeName(tiles[i])));
      return std::nullopt;
    }
    Value tile = materialize(tiles[i], x.span);
    if (tile.isError())
      return std::nullopt;
    Value start = storable(identities[i], tile.type.dtype, identity.span, "the identity");
    if (!start.isError() && !start.type.shape.empty())
      start = fail(Diag::OperandType, identity.span, fmt::format("an identity is a scalar, not {}", typeName(start)));
    good &= !start.isError();
    result.tiles.push_back(std::move(tile));
    result.identities.push_back(std::move(start));
  }
  if (!good || !broadcastAll(result.tiles, std::vector<Span>(tiles.size(), x.span)))
    return std::nullopt;
  return result;
}

/// The function as a block on scalars: accumulated ones, then elements. False when something was reported.
bool Checker::combineBlock(BuiltinCall &call, const Combined &all, Block &block) {
  const BoundArg &function = *call.find("combine");
  std::vector<Value> sides[2];
  const Origin *why = origin(function.span, "elements of a tile are known only at run time");
  for (std::vector<Value> &side : sides)
    for (const Value &tile : all.tiles) {
      Type type{TypeKind::Tile, tile.type.dtype, {}, 0};
      block.params.push_back(builder.newValue(type));
      side.push_back(Value::tile(block.params.back(), type, why));
    }
  std::vector<Value> parts = callCombine(*function.expr, sides[0], sides[1], block);
  if (parts.size() != all.tiles.size())
    return false;
  Builder::Into into(builder, block);
  std::vector<ValueId> ids;
  for (size_t i = 0; i < parts.size(); ++i) {
    DType t = all.tiles[i].type.dtype;
    bool scalar = parts[i].isTileLike() && shapeOf(parts[i]).empty();
    bool fits = scalar && (parts[i].isUntyped() || dtypeOf(parts[i]) == t);
    if (!fits) {
      if (!parts[i].isError())
        report(Diag::CombineBody, function.span,
               all.tiles.size() == 1
                   ? fmt::format("the function gives {} for elements of {}", typeName(parts[i]), name(t))
                   : fmt::format("part {} of what the function gives is {}, for elements of {}", i, typeName(parts[i]),
                                 name(t)),
               scalar ? fmt::format("convert it, as in 'x.to({})'", name(t)) : "it gives a scalar for each tile");
      return false;
    }
    Value v = materializeAs(parts[i], t, function.span);
    if (v.isError())
      return false;
    ids.push_back(v.id);
  }
  builder.emitVoid(YieldInst{}, std::move(ids), function.span);
  return true;
}

/// Appends the instruction; its results have `shape`.
Value Checker::emitCombined(BuiltinCall &call, Payload payload, const Combined &all, const std::vector<int64_t> &shape,
                            const std::vector<int64_t> &kept) {
  Inst inst{std::move(payload), call.span, {}, {}, {}};
  inst.blocks.emplace_back();
  if (!combineBlock(call, all, inst.blocks[0]))
    return Value::error();
  for (const std::vector<Value> *list : {&all.tiles, &all.identities})
    for (const Value &v : *list)
      inst.operands.push_back(v.id);
  const Origin *why = nullptr;
  for (const Value &v : all.tiles)
    why = why ? why : v.origin;
  if (!why)
    why = origin(call.span, "a tile is a run-time value");
  std::vector<Value> results;
  for (const Value &tile : all.tiles) {
    Type type{TypeKind::Tile, tile.type.dtype, shape, 0};
    inst.results.push_back(builder.newValue(type));
    results.push_back(Value::tile(inst.results.back(), type, why));
  }
  builder.append(std::move(inst));
  for (Value &v : results)
    v = reshaped(std::move(v), kept, call.span);
  return all.isTuple ? Value::tuple(std::move(results)) : results.front();
}

Value Checker::callReduceFn(BuiltinCall &call) {
  auto all = combined(call);
  auto keepdims = flag(call, "keepdims");
  if (!all || !keepdims)
    return Value::error();
  const std::vector<int64_t> &shape = all->tiles.front().type.shape;
  auto axes = reducedAxes(call, int64_t(shape.size()));
  if (!axes)
    return Value::error();
  if (axes->empty()) // one element each, which is the result; the function is checked all the same
    return combinesNothing(call, *all);
  return emitCombined(call, ReduceFnInst{*axes}, *all, reducedShape(shape, *axes, false),
                      reducedShape(shape, *axes, *keepdims));
}

Value Checker::combinesNothing(BuiltinCall &call, const Combined &all) {
  Block unused;
  if (!combineBlock(call, all, unused))
    return Value::error();
  const Value &x = call.find("x")->value;
  return x.isConst() ? x : all.isTuple ? Value::tuple(all.tiles) : all.tiles.front();
}

Value Checker::callScanFn(BuiltinCall &call) {
  auto all = combined(call);
  auto reverse = flag(call, "reverse"), exclusive = flag(call, "exclusive");
  if (!all || !reverse || !exclusive)
    return Value::error();
  const std::vector<int64_t> shape = all->tiles.front().type.shape;
  auto axis = axisOf(*call.find("axis"), int64_t(shape.size()), true);
  if (!axis)
    return Value::error();
  return emitCombined(call, ScanFnInst{*axis, *reverse, *exclusive}, *all, shape, shape);
}

} // namespace tilec::sema
