// Reductions within a warp: registers in a balanced tree, then lanes by butterfly shuffles.
#include "compiler/lower/kernel_lowering.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

Value floatExtreme(KernelLowering &k, bool larger, bool propagateNan, Value x, Value y) {
  Type type = x.getType();
  StringRef name =
      propagateNan ? (larger ? "llvm.maximum" : "llvm.minimum") : (larger ? "llvm.maximumnum" : "llvm.minimumnum");
  return k.intrinsic(name, type, {x, y});
}

Value combine(KernelLowering &k, tile::ReduceKind kind, bool isUnsigned, bool propagateNan, Value x, Value y) {
  OpBuilder &b = k.b;
  bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case tile::ReduceKind::sum:
    return isFloat ? LLVM::FAddOp::create(b, k.loc, x, y).getResult() : k.add(x, y);
  case tile::ReduceKind::prod:
    return isFloat ? LLVM::FMulOp::create(b, k.loc, x, y).getResult() : k.mul(x, y);
  case tile::ReduceKind::min:
    if (isFloat)
      return floatExtreme(k, false, propagateNan, x, y);
    return isUnsigned ? LLVM::UMinOp::create(b, k.loc, x, y).getResult()
                      : LLVM::SMinOp::create(b, k.loc, x, y).getResult();
  case tile::ReduceKind::max:
    if (isFloat)
      return floatExtreme(k, true, propagateNan, x, y);
    return isUnsigned ? LLVM::UMaxOp::create(b, k.loc, x, y).getResult()
                      : LLVM::SMaxOp::create(b, k.loc, x, y).getResult();
  case tile::ReduceKind::any:
    return LLVM::OrOp::create(b, k.loc, x, y);
  case tile::ReduceKind::all:
    return k.bitAnd(x, y);
  }
  llvm_unreachable("every kind is above");
}

LogicalResult KernelLowering::lowerWarpReduce(tgpu::WarpReduceOp op) {
  LinearLayout src = tile::layoutOf(cast<RankedTensorType>(op.getValue().getType()));
  LinearLayout dst = tile::layoutOf(cast<RankedTensorType>(op.getType()));
  auto merge = [&](Value x, Value y) {
    return combine(*this, op.getKind(), op.getIsUnsigned(), op.getPropagateNan(), x, y);
  };
  // Split a basis into its coordinates along kept and along reduced axes, each packed.
  LinearLayout::Shape keptShape, reducedShape;
  for (int axis = 0; axis < src.rank(); ++axis)
    (llvm::is_contained(op.getAxes(), axis) ? reducedShape : keptShape).push_back(src.shape()[size_t(axis)]);
  LinearLayout keptFrame(keptShape, {}), reducedFrame(reducedShape, {});
  auto parts = [&](uint64_t element) {
    std::vector<int64_t> coords = src.coords(element), kept, reduced;
    for (int axis = 0; axis < src.rank(); ++axis)
      (llvm::is_contained(op.getAxes(), axis) ? reduced : kept).push_back(coords[size_t(axis)]);
    return std::pair(keptFrame.index(kept), reducedFrame.index(reduced));
  };

  // Registers by kept element; one that repeats another's element must not count twice.
  const Registers &values = get(op.getValue());
  uint32_t replicas = 0;
  layout::Span walked, registerSpan;
  for (int bit = 0; bit < src.inBits(InDim::Register); ++bit) {
    uint64_t basis = src.bases(InDim::Register)[size_t(bit)];
    walked.add(parts(basis).second);
    if (!registerSpan.add(basis))
      replicas |= uint32_t(1) << bit;
  }
  llvm::MapVector<uint64_t, SmallVector<Value>> groups;
  for (uint32_t reg = 0; reg < src.registers(); ++reg)
    if (!(reg & replicas))
      groups[parts(src.apply({reg, 0, 0, 0})).first].push_back(values[reg]);

  // Lanes that add a direction of the reduced axes, not yet walked, exchange; others hold replicas or kept elements.
  SmallVector<int64_t> exchanges;
  for (int bit = 0; bit < src.inBits(InDim::Lane); ++bit)
    if (walked.add(parts(src.bases(InDim::Lane)[size_t(bit)]).second))
      exchanges.push_back(int64_t(1) << bit);

  for (auto &[kept, list] : groups)
    while (list.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < list.size(); i += 2)
        next.push_back(merge(list[i], list[i + 1]));
      list = std::move(next);
    }
  for (int64_t distance : exchanges)
    for (auto &[kept, list] : groups)
      list.front() = merge(list.front(), shuffle("bfly", list.front(), constant(i32(), distance)));

  // The partial's number is given by the warp alone: a register of the result is a kept element.
  int64_t partials = dst.shape().back();
  Registers result;
  for (uint32_t reg = 0; reg < dst.registers(); ++reg)
    result.push_back(groups[dst.apply({reg, 0, 0, 0}) / uint64_t(partials)].front());
  set(op, std::move(result));
  return success();
}

} // namespace tilec::lower
