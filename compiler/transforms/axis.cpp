#include "compiler/transforms/axis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace tilec::transforms {

static constexpr int64_t maxDivisor = 1 << 16;
/// Chains of scalar arithmetic are followed this far; deeper ones are as good as unknown.
static constexpr int maxDepth = 8;

static int64_t divisorOf(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.isZero())
      return maxDivisor;
    return std::min<int64_t>(maxDivisor, int64_t(1) << std::min(16u, constant.countr_zero()));
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto kernel = dyn_cast_or_null<tile::KernelOp>(argument.getOwner()->getParentOp());
    auto known = kernel ? kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tile.divisible") : nullptr;
    return known ? known.getInt() : 1;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return 1;
  auto of = [&](unsigned i) { return divisorOf(op->getOperand(i), depth - 1); };
  if (auto promise = dyn_cast<tile::AssumeDivisibleOp>(op)) {
    uint64_t promised = uint64_t(promise.getDivisor());
    return std::min(maxDivisor, std::max(of(0), int64_t(promised & -promised)));
  }
  if (isa<arith::MulIOp>(op))
    return std::min(maxDivisor, of(0) * of(1));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::SelectOp>(op))
    return std::min(of(1), of(2));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return of(0);
  if (isa<arith::ShLIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return std::min(maxDivisor, of(0) << std::min<uint64_t>(16, constant.getZExtValue()));
  return 1;
}

int64_t knownDivisor(Value value) { return divisorOf(value, maxDepth); }

static bool nonNegative(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  // A loop counts up from its lower bound.
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == argument && depth > 0 && nonNegative(loop.getLowerBound(), depth - 1);
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  auto of = [&](unsigned i) { return nonNegative(op->getOperand(i), depth - 1); };
  // Sums and products may wrap: only operations that cannot are followed.
  if (isa<tile::BlockIdOp, tile::NumBlocksOp, tile::ExtentOp, tile::NumTilesOp, arith::ExtUIOp>(op))
    return true;
  if (isa<arith::ExtSIOp>(op))
    return of(0);
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::MinSIOp>(op))
    return of(0) && of(1);
  if (isa<arith::MaxSIOp>(op))
    return of(0) || of(1);
  if (isa<arith::SelectOp>(op))
    return of(1) && of(2);
  return false;
}

bool knownNonNegative(Value value) { return nonNegative(value, maxDepth); }

/// Whether neighbours along an axis of an array or a part of one lie next to each other.
static bool hasUnitStride(Value array, int64_t axis) {
  if (auto at = array.getDefiningOp<tile::AtOp>())
    return hasUnitStride(at.getArray(), axis + int64_t(at.getIndices().size()));
  if (auto slice = array.getDefiningOp<tile::SliceOp>())
    return (int64_t(slice.getAxis()) != axis || matchPattern(slice.getStep(), m_One())) &&
           hasUnitStride(slice.getArray(), axis);
  auto whole = array.getDefiningOp<tile::ArrayOp>();
  if (!whole)
    return false;
  // Without strides the array is row-major and contiguous: the last axis has stride 1.
  if (whole.getStrides().empty())
    return axis == whole.getType().getRank() - 1;
  return matchPattern(whole.getStrides()[size_t(axis)], m_One());
}

AccessInfo analyseAccess(Value viewValue, ValueRange indices, int64_t accessBytes) {
  AccessInfo info;
  for (Value index : indices)
    info.nonNegative.push_back(knownNonNegative(index));
  auto view = viewValue.getDefiningOp<tile::ViewOp>();
  auto array = view ? tile::rootArray(viewValue) : tile::ArrayOp();
  if (!array)
    return info;
  for (auto [viewAxis, arrayAxis] : llvm::enumerate(view.getAxes()))
    if (info.unitAxis < 0 && hasUnitStride(view.getArray(), arrayAxis))
      info.unitAxis = int64_t(viewAxis);
  if (info.unitAxis < 0)
    return info;

  // In memory: MLIR's tf32 has 19 bits, the language's lies in 32.
  int64_t bits = tilec::info(*tile::dtypeOf(view.getType().getElementType())).bits;
  int64_t elementBytes = std::max<int64_t>(1, bits / 8);
  int64_t align = 16;
  if (auto argument = dyn_cast<BlockArgument>(array.getBase()))
    if (auto kernel = dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()))
      if (auto attr = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tile.align"))
        align = attr.getInt();
  int64_t step = view.getStep()[size_t(info.unitAxis)];
  int64_t origin = knownDivisor(indices[size_t(info.unitAxis)]) * (step & -step);
  int64_t extent = view.getType().getShape()[size_t(info.unitAxis)];
  int64_t most = std::max<int64_t>(1, std::min(accessBytes, align) / elementBytes);
  info.vector = std::min({most, origin, extent});
  return info;
}

} // namespace tilec::transforms
