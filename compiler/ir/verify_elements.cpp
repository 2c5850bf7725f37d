// Verifiers of element accesses, sub-arrays, atomics and debugging ops.
#include "compiler/ir/tile_dialect.h"

using namespace mlir;

namespace tilec::tile {

LogicalResult AtOp::verify() {
  int64_t rank = getArray().getType().getRank(), fixed = int64_t(getIndices().size());
  if (fixed == 0 || fixed > rank)
    return emitOpError() << "fixes " << fixed << " axes of an array of rank " << rank;
  if (getType().getRank() != rank - fixed || getType().getElementType() != getArray().getType().getElementType())
    return emitOpError() << "gives an array of rank " << rank - fixed << " and the same elements, not " << getType();
  return success();
}

LogicalResult SliceOp::verify() {
  if (getType() != getArray().getType())
    return emitOpError() << "keeps the array's type";
  if (int64_t(getAxis()) >= getType().getRank())
    return emitOpError() << "axis " << getAxis() << " of an array of rank " << getType().getRank();
  return success();
}

static LogicalResult verifySite(Operation *op, uint32_t site) {
  auto kernel = op->getParentOfType<KernelOp>();
  auto sites = kernel ? kernel->getAttrOfType<ArrayAttr>("tile.sites") : ArrayAttr();
  if (sites && site >= sites.size())
    return op->emitOpError() << "site " << site << ", but the kernel lists " << sites.size();
  return success();
}

static bool isBool(Type tile) { return getElementTypeOrSelf(tile).isInteger(1); }

/// One index for each axis, all of the shape of the values.
template <typename Access> static LogicalResult verifyElements(Access op, Type value) {
  ArrayType array = op.getArray().getType();
  if (int64_t(op.getIndices().size()) != array.getRank())
    return op.emitOpError() << op.getIndices().size() << " indices into an array of rank " << array.getRank();
  if (getElementTypeOrSelf(value) != array.getElementType())
    return op.emitOpError() << array << " holds no elements of " << value;
  for (Value index : op.getIndices()) {
    Type element = getElementTypeOrSelf(index.getType());
    if (!element.isInteger(32) && !element.isInteger(64))
      return op.emitOpError() << "an index is i32 or i64, not " << element;
    if (tileShape(index.getType()) != tileShape(value))
      return op.emitOpError() << "index " << index.getType() << " and value " << value << " differ in shape";
  }
  if (Value mask = op.getMask(); mask && (!isBool(mask.getType()) || tileShape(mask.getType()) != tileShape(value)))
    return op.emitOpError() << "mask " << mask.getType() << " does not go with " << value;
  return verifySite(op, op.getSite());
}

LogicalResult GatherOp::verify() {
  if (getPadding().getType() != getType())
    return emitOpError() << "padding and result have one type";
  return verifyElements(*this, getType());
}

LogicalResult ScatterOp::verify() { return verifyElements(*this, getValue().getType()); }

/// Which elements an atomic combines: floats add and compare, the rest is for integers.
static LogicalResult verifyKind(Operation *op, AtomicKind kind, Type element, bool isUnsigned) {
  bool extreme = kind == AtomicKind::min || kind == AtomicKind::max;
  bool bitwise = kind == AtomicKind::and_ || kind == AtomicKind::or_ || kind == AtomicKind::xor_;
  if (bitwise && !isa<IntegerType>(element))
    return op->emitOpError() << stringifyAtomicKind(kind) << " is for integers";
  if (isUnsigned && !(extreme && isa<IntegerType>(element)))
    return op->emitOpError() << "unsigned is for min and max of integers";
  return success();
}

LogicalResult AtomicOp::verify() {
  if (getValue().getType() != getType())
    return emitOpError() << "value and result have one type";
  if (bool(getExpected()) != (getKind() == AtomicKind::cas))
    return emitOpError() << "cas, and nothing else, has an expected value";
  if (getExpected() && getExpected().getType() != getType())
    return emitOpError() << "expected value and result have one type";
  if (failed(verifyKind(*this, getKind(), getElementTypeOrSelf(getType()), getIsUnsigned())))
    return failure();
  return verifyElements(*this, getType());
}

LogicalResult ViewAtomicOp::verify() {
  ViewType view = getView().getType();
  if (getIndices().size() != view.getShape().size())
    return emitOpError() << getIndices().size() << " indices into a view of rank " << view.getShape().size();
  Type tile = getValue().getType();
  if (getElementTypeOrSelf(tile) != view.getElementType() || tileShape(tile) != view.getShape())
    return emitOpError() << "a view of " << view << " holds no tile " << tile;
  if (getKind() == AtomicKind::xchg || getKind() == AtomicKind::cas)
    return emitOpError() << "a view has no " << stringifyAtomicKind(getKind());
  if (failed(verifyKind(*this, getKind(), view.getElementType(), getIsUnsigned())))
    return failure();
  return verifySite(*this, getSite());
}

LogicalResult PrintOp::verify() {
  if (getPieces().size() != getValues().size() + 1 || getDtypes().size() != getValues().size())
    return emitOpError() << "has a dtype for each value and one piece of text more";
  return success();
}

LogicalResult AssertOp::verify() {
  return isBool(getCondition().getType()) ? success() : emitOpError() << "a condition is i1";
}

} // namespace tilec::tile
