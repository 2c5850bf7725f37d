// Verifiers of ops that move elements, combine them by functions, and multiply matrices.
#include "compiler/ir/tile_dialect.h"

using namespace mlir;

namespace tilec::tile {

static Type element(Value value) { return getElementTypeOrSelf(value.getType()); }

static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return op->emitOpError() << "axis " << axis << " of a tile of rank " << rank;
  return success();
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> from = tileShape(getValue().getType()), to = tileShape(getType());
  if (getAxes().size() != from.size() || to.size() != from.size())
    return emitOpError() << "names each axis once";
  llvm::SmallVector<bool> seen(from.size(), false);
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    if (failed(verifyAxis(*this, axis, int64_t(from.size()))))
      return failure();
    if (seen[size_t(axis)])
      return emitOpError() << "axis " << axis << " is named twice";
    seen[size_t(axis)] = true;
    if (to[i] != from[size_t(axis)])
      return emitOpError() << "axis " << i << " of the result has extent " << from[size_t(axis)] << ", not " << to[i];
  }
  return element(getValue()) == element(getResult()) ? success() : emitOpError() << "keeps the element type";
}

LogicalResult CatOp::verify() {
  auto from = cast<RankedTensorType>(getLhs().getType()), to = cast<RankedTensorType>(getType());
  if (tileShape(getRhs().getType()) != from.getShape() || element(getRhs()) != element(getLhs()))
    return emitOpError() << "joins tiles of one type";
  if (failed(verifyAxis(*this, getAxis(), from.getRank())))
    return failure();
  llvm::SmallVector<int64_t> shape(from.getShape());
  shape[getAxis()] *= 2;
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
    return emitOpError() << "does not give " << to;
  return success();
}

/// A part has the rank of the whole and extents that divide the whole's.
static LogicalResult verifyPart(Operation *op, Value whole, Value part, size_t indices) {
  ArrayRef<int64_t> all = tileShape(whole.getType()), some = tileShape(part.getType());
  if (all.size() != some.size() || indices != all.size() || element(whole) != element(part))
    return op->emitOpError() << part.getType() << " with " << indices << " indices is no part of " << whole.getType();
  for (auto [a, s] : llvm::zip(all, some))
    if (s > a)
      return op->emitOpError() << part.getType() << " is larger than " << whole.getType();
  return success();
}

LogicalResult ExtractOp::verify() { return verifyPart(*this, getValue(), getResult(), getIndices().size()); }

LogicalResult InsertOp::verify() {
  if (tileShape(getValue().getType()) != tileShape(getType()) || element(getValue()) != element(getResult()))
    return emitOpError() << "keeps the type of the whole";
  return verifyPart(*this, getValue(), getPart(), getIndices().size());
}

LogicalResult BitcastOp::verify() {
  std::optional<DType> from = parseDType(getFrom()), to = parseDType(getTo());
  if (!from || !to || elementType(getContext(), *from) != element(getValue()) ||
      elementType(getContext(), *to) != element(getResult()))
    return emitOpError() << "'" << getFrom() << "' and '" << getTo() << "' are not the dtypes of its tiles";
  if (info(*from).bits != info(*to).bits || tileShape(getValue().getType()) != tileShape(getType()))
    return emitOpError() << "keeps width and shape";
  return success();
}

/// Bits of a tile of rank 1, where tf32 takes 32.
static int64_t bitsOf(Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  std::optional<DType> dtype = dtypeOf(tensor.getElementType());
  return tensor.getRank() == 1 && dtype ? tensor.getDimSize(0) * info(*dtype).bits : -1;
}

static LogicalResult verifyBytes(Operation *op, Type tile, Type bytes) {
  if (!getElementTypeOrSelf(bytes).isInteger(8) || bitsOf(tile) < 0 || bitsOf(tile) != bitsOf(bytes))
    return op->emitOpError() << bytes << " are not the bytes of " << tile;
  return success();
}

LogicalResult PackOp::verify() { return verifyBytes(*this, getValue().getType(), getType()); }
LogicalResult UnpackOp::verify() { return verifyBytes(*this, getType(), getValue().getType()); }

LogicalResult ArgExtremeOp::verify() {
  ArrayRef<int64_t> from = tileShape(getValue().getType());
  if (failed(verifyAxis(*this, getAxis(), int64_t(from.size()))))
    return failure();
  llvm::SmallVector<int64_t> shape(from);
  shape.erase(shape.begin() + getAxis());
  if (tileShape(getType()) != ArrayRef(shape) || !element(getResult()).isInteger(32))
    return emitOpError() << "does not give " << getType();
  return success();
}

LogicalResult ScanOp::verify() {
  if (getKind() != ReduceKind::sum && getKind() != ReduceKind::prod)
    return emitOpError() << "runs sums and products";
  return verifyAxis(*this, getAxis(), int64_t(tileShape(getType()).size()));
}

/// Values, identities and the block's arguments go together.
template <typename Op> static LogicalResult verifyCombine(Op op) {
  size_t count = op.getValues().size();
  Block &block = op.getCombine().front();
  if (count == 0 || op.getIdentities().size() != count || op.getResults().size() != count ||
      block.getNumArguments() != 2 * count)
    return op.emitOpError() << "has an identity, a result and two arguments of its function for each value";
  for (size_t i = 0; i < count; ++i) {
    Type type = element(op.getValues()[i]);
    if (tileShape(op.getValues()[i].getType()) != tileShape(op.getValues()[0].getType()))
      return op.emitOpError() << "combines tiles of one shape";
    if (op.getIdentities()[i].getType() != type || block.getArgument(unsigned(i)).getType() != type ||
        block.getArgument(unsigned(count + i)).getType() != type || element(op.getResults()[i]) != type)
      return op.emitOpError() << "value " << i << " keeps its element type throughout";
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != count)
    return op.emitOpError() << "its function yields " << count << " values";
  return success();
}

LogicalResult ReduceFnOp::verify() {
  if (failed(verifyCombine(*this)))
    return failure();
  ArrayRef<int64_t> from = tileShape(getValues()[0].getType());
  llvm::SmallVector<int64_t> left;
  for (int64_t axis : getAxes())
    if (failed(verifyAxis(*this, axis, int64_t(from.size()))))
      return failure();
  for (size_t i = 0; i < from.size(); ++i)
    if (!llvm::is_contained(getAxes(), int64_t(i)))
      left.push_back(from[i]);
  for (Value result : getResults())
    if (tileShape(result.getType()) != ArrayRef(left))
      return emitOpError() << "does not give " << result.getType();
  return success();
}

LogicalResult ScanFnOp::verify() {
  if (failed(verifyCombine(*this)))
    return failure();
  for (auto [value, result] : llvm::zip(getValues(), getResults()))
    if (tileShape(value.getType()) != tileShape(result.getType()))
      return emitOpError() << "keeps shapes";
  return verifyAxis(*this, getAxis(), int64_t(tileShape(getValues()[0].getType()).size()));
}

LogicalResult MmaOp::verify() {
  ArrayRef<int64_t> a = tileShape(getA().getType()), b = tileShape(getB().getType()), c = tileShape(getAcc().getType());
  size_t rank = a.size();
  if ((rank != 2 && rank != 3) || b.size() != rank || c.size() != rank)
    return emitOpError() << "multiplies tiles of rank 2 or 3";
  size_t m = rank - 2, n = rank - 1;
  bool fits = a[n] == b[m] && c[m] == a[m] && c[n] == b[n] && (rank == 2 || (a[0] == b[0] && a[0] == c[0]));
  if (!fits)
    return emitOpError() << getA().getType() << " times " << getB().getType() << " is no " << getAcc().getType();
  if (tileShape(getType()) != c || element(getResult()) != element(getAcc()))
    return emitOpError() << "gives the accumulator's type";
  return success();
}

} // namespace tilec::tile
