// Verifiers of ops from tiles to tiles. Encodings (layouts) are free: only shapes and element types are compared.
#include "compiler/ir/tile_dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::tile {

static LogicalResult sameElement(Operation *op, Type from, Type to) {
  if (getElementTypeOrSelf(from) != getElementTypeOrSelf(to))
    return op->emitOpError() << "changes the element type from " << getElementTypeOrSelf(from) << " to "
                             << getElementTypeOrSelf(to);
  return success();
}

LogicalResult ArangeOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1)
    return emitOpError() << "has rank 1, not " << type.getRank();
  if (getStart().getType() != type.getElementType() || getStep().getType() != type.getElementType())
    return emitOpError() << "start and step have the element type " << type.getElementType();
  return success();
}

LogicalResult SplatOp::verify() { return sameElement(*this, getValue().getType(), getType()); }

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = tileShape(getValue().getType()), to = tileShape(getType());
  if (from.size() != to.size())
    return emitOpError() << "keeps the rank, but goes from " << getValue().getType() << " to " << getType();
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] != to[axis] && from[axis] != 1)
      return emitOpError() << "axis " << axis << " has extent " << from[axis] << ": only extent 1 can become "
                           << to[axis];
  return sameElement(*this, getValue().getType(), getType());
}

LogicalResult ReshapeOp::verify() {
  auto count = [](Type tile) {
    int64_t product = 1;
    for (int64_t extent : tileShape(tile))
      product *= extent;
    return product;
  };
  int64_t from = count(getValue().getType()), to = count(getType());
  if (from != to)
    return emitOpError() << "from " << from << " to " << to << " elements";
  return sameElement(*this, getValue().getType(), getType());
}

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> from = tileShape(getValue().getType());
  llvm::SmallVector<bool> reduced(from.size(), false);
  for (int64_t axis : getAxes()) {
    if (axis < 0 || axis >= int64_t(from.size()))
      return emitOpError() << "axis " << axis << " of a tile of rank " << from.size();
    if (reduced[size_t(axis)])
      return emitOpError() << "axis " << axis << " is named twice";
    reduced[size_t(axis)] = true;
  }
  llvm::SmallVector<int64_t> wanted;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (!reduced[axis])
      wanted.push_back(from[axis]);
  if (tileShape(getType()) != ArrayRef<int64_t>(wanted))
    return emitOpError() << "gives " << getType() << " where the kept axes are (" << wanted << ")";

  Type element = getElementTypeOrSelf(getValue().getType());
  bool logical = getKind() == ReduceKind::any || getKind() == ReduceKind::all;
  if (logical != element.isInteger(1))
    return emitOpError() << stringifyReduceKind(getKind()) << " of elements of type " << element;
  bool extreme = getKind() == ReduceKind::min || getKind() == ReduceKind::max;
  if (getIsUnsigned() && !(extreme && isa<IntegerType>(element)))
    return emitOpError() << "unsigned is for min and max of integers";
  if (getPropagateNan() && !(extreme && isa<FloatType>(element)))
    return emitOpError() << "propagate_nan is for min and max of floats";
  return sameElement(*this, getValue().getType(), getType());
}

LogicalResult ConvertOp::verify() {
  if (tileShape(getValue().getType()) != tileShape(getType()))
    return emitOpError() << "keeps the shape, but goes from " << getValue().getType() << " to " << getType();
  auto check = [&](StringRef name, Type tile) -> LogicalResult {
    std::optional<DType> dtype = parseDType(name);
    if (!dtype)
      return emitOpError() << "unknown dtype '" << name << "'";
    if (elementType(getContext(), *dtype) != getElementTypeOrSelf(tile))
      return emitOpError() << "dtype '" << name << "' is not held by " << tile;
    return success();
  };
  return success(succeeded(check(getFrom(), getValue().getType())) && succeeded(check(getTo(), getType())));
}

} // namespace tilec::tile
