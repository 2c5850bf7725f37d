// Folds by functions of the program. A function may not commute, so what is combined stays in the order of the axis:
// neighbours first, bit by bit of the position, the lower position on the left.
#include "compiler/lower/kernel_lowering.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

FailureOr<Registers> KernelLowering::applyFunction(Block &block, ArrayRef<Value> left, ArrayRef<Value> right) {
  for (auto [i, value] : llvm::enumerate(left)) {
    set(block.getArgument(unsigned(i)), {value});
    set(block.getArgument(unsigned(left.size() + i)), {right[i]});
  }
  Location outer = loc;
  if (failed(lowerBlock(block)))
    return failure();
  loc = outer;
  Registers result;
  for (Value value : block.getTerminator()->getOperands())
    result.push_back(scalar(value));
  return result;
}

namespace {

/// Who holds each bit of a position along the folded axes, lowest bit first.
struct Holder {
  InDim dim = InDim::Register;
  int bit = -1; ///< -1: nobody does
};

SmallVector<Holder> holders(const LinearLayout &layout, ArrayRef<int64_t> axes) {
  SmallVector<Holder> result;
  for (int axis = layout.rank() - 1; axis >= 0; --axis) {
    if (!llvm::is_contained(axes, axis))
      continue;
    for (int bit = 0; bit < layout.dimBits(axis); ++bit) {
      uint64_t basis = uint64_t(1) << (layout.dimShift(axis) + bit);
      Holder holder;
      for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
        for (auto [i, candidate] : llvm::enumerate(layout.bases(dim)))
          if (candidate == basis && holder.bit < 0)
            holder = {dim, int(i)};
      result.push_back(holder);
    }
  }
  return result;
}

} // namespace

LogicalResult KernelLowering::lowerWarpFold(tgpu::WarpFoldOp op) {
  LinearLayout src = tile::layoutOf(cast<RankedTensorType>(op.getValues()[0].getType()));
  LinearLayout dst = tile::layoutOf(cast<RankedTensorType>(op.getResults()[0].getType()));
  Block &function = op.getCombine().front();
  size_t count = op.getValues().size();
  SmallVector<Registers> values; // by register, then by value
  for (uint32_t reg = 0; reg < src.registers(); ++reg) {
    Registers all;
    for (Value value : op.getValues())
      all.push_back(get(value)[reg]);
    values.push_back(std::move(all));
  }
  uint32_t dead = src.freeMask(InDim::Register); // registers that are combined away, or repeat others
  for (Holder holder : holders(src, op.getAxes())) {
    uint32_t bit = uint32_t(1) << std::max(holder.bit, 0);
    for (uint32_t reg = 0; reg < src.registers(); ++reg) {
      if (reg & dead || holder.bit < 0 || holder.dim == InDim::Warp)
        continue;
      if (holder.dim == InDim::Register) {
        if (reg & bit)
          continue;
        auto combined = applyFunction(function, values[reg], values[reg | bit]);
        if (failed(combined))
          return failure();
        values[reg] = *combined;
        continue;
      }
      Value distance = constant(i32(), bit);
      Value upper = compare(LLVM::ICmpPredicate::ne, bitAnd(lane, distance), constant(i32(), 0));
      Registers left, right;
      for (size_t i = 0; i < count; ++i) {
        Value other = shuffle("bfly", values[reg][i], distance);
        left.push_back(select(upper, other, values[reg][i]));
        right.push_back(select(upper, values[reg][i], other));
      }
      auto combined = applyFunction(function, left, right);
      if (failed(combined))
        return failure();
      values[reg] = *combined;
    }
    if (holder.dim == InDim::Register && holder.bit >= 0)
      dead |= bit;
  }

  // A register of the result is a kept element; the partial's number is given by the warp alone.
  auto kept = [&](uint32_t reg) {
    std::vector<int64_t> coords = src.coords(src.apply({reg, 0, 0, 0})), rest;
    LinearLayout::Shape shape;
    for (int axis = 0; axis < src.rank(); ++axis)
      if (!llvm::is_contained(op.getAxes(), axis)) {
        rest.push_back(coords[size_t(axis)]);
        shape.push_back(src.shape()[size_t(axis)]);
      }
    return LinearLayout(shape, {}).index(rest);
  };
  llvm::DenseMap<uint64_t, uint32_t> holderOf;
  for (uint32_t reg = 0; reg < src.registers(); ++reg)
    if (!(reg & dead))
      holderOf[kept(reg)] = reg;
  uint64_t partials = uint64_t(dst.shape().back());
  for (size_t i = 0; i < count; ++i) {
    Registers result;
    for (uint32_t reg = 0; reg < dst.registers(); ++reg)
      result.push_back(values[holderOf.at(dst.apply({reg, 0, 0, 0}) / partials)][i]);
    set(op.getResult(unsigned(i)), std::move(result));
  }
  return success();
}

/// Doubling: after the step of bit k every element holds what its aligned run of 2^(k+1) has up to it. The later half
/// of a run takes the total of the earlier one, which the last element there (from the end: the first) holds.
LogicalResult KernelLowering::lowerScan(tile::ScanFnOp op) {
  LinearLayout layout = tile::layoutOf(cast<RankedTensorType>(op.getValues()[0].getType()));
  Block &function = op.getCombine().front();
  size_t count = op.getValues().size();
  bool reverse = op.getReverse(), exclusive = op.getExclusive();
  SmallVector<Registers> running, before; // by register, then by value; `before` excludes the element itself
  Registers identity;
  for (Value value : op.getIdentities())
    identity.push_back(scalar(value));
  for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
    Registers all;
    for (Value value : op.getValues())
      all.push_back(get(value)[reg]);
    running.push_back(std::move(all));
    before.push_back(identity);
  }

  uint32_t lowerRegisters = 0, lowerLanes = 0;
  for (Holder holder : holders(layout, {int64_t(op.getAxis())})) {
    if (holder.bit < 0 || holder.dim == InDim::Warp)
      return op->emitOpError("the axis does not lie within a warp");
    uint32_t bit = uint32_t(1) << holder.bit;
    bool byLane = holder.dim == InDim::Lane;
    // The lane that holds the earlier half's total.
    Value source;
    uint32_t movedLanes = lowerLanes | (byLane ? bit : 0);
    if (movedLanes) {
      uint32_t ones = reverse ? (byLane ? bit : 0) : lowerLanes;
      source =
          LLVM::OrOp::create(b, loc, bitAnd(lane, constant(i32(), int64_t(~movedLanes & 31))), constant(i32(), ones));
    }
    SmallVector<Registers> old = running;
    llvm::DenseMap<uint32_t, Registers> totals;
    auto totalOf = [&](uint32_t reg) -> Registers & {
      Registers &total = totals[reg];
      if (total.empty())
        for (size_t i = 0; i < count; ++i)
          total.push_back(source ? shuffle("idx", old[reg][i], source) : old[reg][i]);
      return total;
    };
    Value later; // whether this lane is in the half that takes
    if (byLane) {
      auto wanted = reverse ? LLVM::ICmpPredicate::eq : LLVM::ICmpPredicate::ne;
      later = compare(wanted, bitAnd(lane, constant(i32(), bit)), constant(i32(), 0));
    }
    Value firstLane; // whether no lower lane bit says that something came before
    if (lowerLanes) {
      Value bits = bitAnd(lane, constant(i32(), lowerLanes));
      firstLane = compare(LLVM::ICmpPredicate::eq, bits, constant(i32(), reverse ? lowerLanes : 0));
    }
    for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
      if (!byLane && bool(reg & bit) == reverse)
        continue;
      uint32_t from = reverse ? reg & ~lowerRegisters : reg | lowerRegisters;
      if (!byLane)
        from ^= bit;
      // Where nothing came before yet, the prefix is the total itself: an identity need not be neutral on this side.
      bool mayBeFirst = (reg & lowerRegisters) == (reverse ? lowerRegisters : 0);
      auto take = [&](Registers &into, bool excludes) {
        Registers total = totalOf(from);
        auto combined = applyFunction(function, total, into);
        if (failed(combined))
          return failure();
        for (size_t i = 0; i < count; ++i) {
          Value taken = (*combined)[i];
          if (excludes && mayBeFirst)
            taken = firstLane ? select(firstLane, total[i], taken) : total[i];
          into[i] = later ? select(later, taken, into[i]) : taken;
        }
        return success();
      };
      if (failed(take(running[reg], false)) || (exclusive && failed(take(before[reg], true))))
        return failure();
    }
    (byLane ? lowerLanes : lowerRegisters) |= bit;
  }
  for (size_t i = 0; i < count; ++i) {
    Registers result;
    for (const Registers &all : exclusive ? before : running)
      result.push_back(all[i]);
    set(op.getResult(unsigned(i)), std::move(result));
  }
  return success();
}

} // namespace tilec::lower
