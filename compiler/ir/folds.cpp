// Cheap folds: sizes that stand in the defining op, and tiles known to be one constant.
#include "compiler/ir/tile_dialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::tile {

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  auto array = getArray().getDefiningOp<ArrayOp>();
  if (!array)
    return {};
  Value extent = array.getExtents()[getAxis()];
  return extent.getType() == getType() ? OpFoldResult(extent) : OpFoldResult();
}

OpFoldResult NumTilesOp::fold(FoldAdaptor) {
  auto view = getView().getDefiningOp<ViewOp>();
  auto array = view ? view.getArray().getDefiningOp<ArrayOp>() : ArrayOp();
  if (!array)
    return {};
  APInt extent;
  if (!matchPattern(array.getExtents()[size_t(view.getAxes()[getAxis()])], m_ConstantInt(&extent)))
    return {};
  int64_t step = view.getStep()[getAxis()], count = extent.getSExtValue();
  return IntegerAttr::get(getType(), count / step + (count % step > 0));
}

/// The constant as a tile of another shape, when all its elements are equal.
static OpFoldResult resplat(Attribute constant, Type type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  Attribute value = splat ? splat.getSplatValue<Attribute>() : dyn_cast_if_present<TypedAttr>(constant);
  if (!value || isa<DenseElementsAttr>(value))
    return {};
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Attribute(SplatElementsAttr::get(tensor, value)) : value;
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) { return resplat(adaptor.getValue(), getType()); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getValue().getType() == getType())
    return getValue();
  return resplat(adaptor.getValue(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getValue().getType() == getType())
    return getValue();
  // Both keep the row-major order, so the outer one can start from what the inner one started from.
  if (auto inner = getValue().getDefiningOp<ReshapeOp>()) {
    if (inner.getValue().getType() == getType())
      return inner.getValue();
    getValueMutable().assign(inner.getValue());
    return getResult();
  }
  return resplat(adaptor.getValue(), getType());
}

static std::optional<Rounding> rounding(RoundingMode mode) {
  switch (mode) {
  case RoundingMode::rn:
    return Rounding::NearestEven;
  case RoundingMode::rz:
    return Rounding::Zero;
  case RoundingMode::rm:
    return Rounding::Down;
  case RoundingMode::rp:
    return Rounding::Up;
  }
  return std::nullopt;
}

/// Constants convert by the same code as the executor's tiles, so folding never changes a bit.
OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  // With saturate an infinity would become finite even without a change of dtype.
  if (getFrom() == getTo() && !getSaturate())
    return getValue();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getValue());
  Attribute value = splat ? splat.getSplatValue<Attribute>() : adaptor.getValue();
  uint64_t bits;
  if (auto number = dyn_cast_if_present<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt().getZExtValue();
  else if (auto number = dyn_cast_if_present<IntegerAttr>(value))
    bits = number.getValue().getZExtValue();
  else
    return {};
  // tf32 constants: MLIR's encoding has 19 bits, the language stores 32.
  DType from = *parseDType(getFrom()), to = *parseDType(getTo());
  if (from == DType::tf32 || to == DType::tf32)
    return {};
  bits = convert(from, to, bits, *rounding(getRounding()), getSaturate());
  Type element = getElementTypeOrSelf(getType());
  Attribute converted;
  if (auto type = dyn_cast<FloatType>(element))
    converted = FloatAttr::get(type, APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)));
  else
    converted = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), bits));
  return resplat(converted, getType());
}

} // namespace tilec::tile
