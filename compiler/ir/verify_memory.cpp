// Verifiers of arrays, views and accesses.
#include "compiler/ir/tile_dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::tile {

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> error, ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t extent : shape)
    if (extent <= 0 || !llvm::isPowerOf2_64(uint64_t(extent)))
      return error() << "tile extents are powers of two, not " << extent;
  if (!dtypeOf(elementType))
    return error() << elementType << " is no element type of the language";
  return success();
}

LogicalResult ArrayOp::verify() {
  ArrayType type = getType();
  if (int64_t(getExtents().size()) != type.getRank())
    return emitOpError() << "has " << getExtents().size() << " extents, but rank " << type.getRank();
  if (!getStrides().empty() && int64_t(getStrides().size()) != type.getRank())
    return emitOpError() << "has " << getStrides().size() << " strides, but rank " << type.getRank();
  if (getBase().getType().getElementType() != type.getElementType())
    return emitOpError() << "base and array differ in element type: " << getBase().getType().getElementType() << " and "
                         << type.getElementType();
  std::optional<DType> dtype = parseDType(getDtype());
  if (!dtype || elementType(getContext(), *dtype) != type.getElementType())
    return emitOpError() << "dtype '" << getDtype() << "' is not held by elements of type " << type.getElementType();
  return success();
}

LogicalResult ExtentOp::verify() {
  int64_t rank = getArray().getType().getRank();
  if (int64_t(getAxis()) >= rank)
    return emitOpError() << "axis " << getAxis() << " of an array of rank " << rank;
  return success();
}

LogicalResult ViewOp::verify() {
  int64_t rank = getArray().getType().getRank();
  ArrayRef<int64_t> shape = getType().getShape();
  if (int64_t(shape.size()) != rank)
    return emitOpError() << "tiles of rank " << shape.size() << " on an array of rank " << rank;
  if (getStep().size() != shape.size() || getAxes().size() != shape.size())
    return emitOpError() << "wants a step and an array axis for each of " << shape.size() << " view axes";
  for (int64_t step : getStep())
    if (step <= 0)
      return emitOpError() << "steps are positive, not " << step;
  llvm::SmallVector<bool> seen(size_t(rank), false);
  for (int64_t axis : getAxes()) {
    if (axis < 0 || axis >= rank || seen[size_t(axis)])
      return emitOpError() << "axes are a permutation of the array's, axis " << axis << " is wrong";
    seen[size_t(axis)] = true;
  }
  if (getType().getElementType() != getArray().getType().getElementType())
    return emitOpError() << "view and array differ in element type";
  // Which value a float dtype lacks (e4m3 has no infinity) is the checker's to say: here it would only be a second
  // list.
  bool floatOnly = getPadding() != Padding::none && getPadding() != Padding::zero;
  if (floatOnly && !isa<FloatType>(getType().getElementType()))
    return emitOpError() << "padding " << stringifyPadding(getPadding()) << " needs floats";
  return success();
}

LogicalResult NumTilesOp::verify() {
  size_t rank = getView().getType().getShape().size();
  if (getAxis() >= rank)
    return emitOpError() << "axis " << getAxis() << " of a view of rank " << rank;
  return success();
}

/// What load and store share: one index per view axis, the view's tile, a site the kernel lists.
template <typename Access> static LogicalResult verifyAccess(Access op, Type tile) {
  ViewType view = op.getView().getType();
  if (op.getIndices().size() != view.getShape().size())
    return op.emitOpError() << op.getIndices().size() << " indices into a view of rank " << view.getShape().size();
  if (getElementTypeOrSelf(tile) != view.getElementType() || tileShape(tile) != view.getShape())
    return op.emitOpError() << "a view of " << view << " holds no tile " << tile;
  auto kernel = op->template getParentOfType<KernelOp>();
  auto sites = kernel ? kernel->template getAttrOfType<ArrayAttr>("tile.sites") : ArrayAttr();
  if (sites && op.getSite() >= sites.size())
    return op.emitOpError() << "site " << op.getSite() << ", but the kernel lists " << sites.size();
  return success();
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getType()); }

LogicalResult StoreOp::verify() {
  // `in` arrays may overlap each other and are read through paths that see no stores.
  if (auto array = getView().getDefiningOp<ViewOp>())
    if (auto root = array.getArray().getDefiningOp<ArrayOp>(); root && !root.getWritable())
      return emitOpError() << "'" << root.getRoot() << "' is not writable";
  return verifyAccess(*this, getValue().getType());
}

/// An ordered read meets what other blocks do: it is neither repeated nor left out, and keeps its place.
static void addReadEffects(MemoryOrder order,
                           SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (order != MemoryOrder::weak)
    effects.emplace_back(MemoryEffects::Write::get());
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addReadEffects(getOrder(), effects);
}

void GatherOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addReadEffects(getOrder(), effects);
}

} // namespace tilec::tile
