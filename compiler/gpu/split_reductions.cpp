#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using tilec::layout::InDim;
using tilec::layout::LinearLayout;

namespace tilec::gpu {
namespace {

/// The parts of a basis along kept and reduced axes, each packed without the other's bits.
struct Parts {
  uint64_t kept = 0, reduced = 0;
};

/// How a layout meets the axes of a reduction.
class ReductionLayout {
public:
  ReductionLayout(const LinearLayout &source, ArrayRef<int64_t> axes);
  /// Each input bit moves along kept or along reduced axes, never both: the case this pass handles.
  bool separable() const { return isSeparable; }
  int64_t partials() const { return int64_t(1) << partialBits; }
  /// Layout of (kept axes, partials) after registers and lanes are combined.
  LinearLayout afterWarps() const;
  /// The same tile as each thread reads it back: all partials of its elements in its registers.
  LinearLayout readBack() const;
  LinearLayout::Shape keptShape;

private:
  LinearLayout::Shape shapeWithPartials() const {
    LinearLayout::Shape shape = keptShape;
    shape.push_back(partials());
    return shape;
  }
  std::array<std::vector<Parts>, 4> parts; ///< by InDim; reduced parts of warps: the partial they belong to
  int partialBits = 0;
  bool isSeparable = true;
};

ReductionLayout::ReductionLayout(const LinearLayout &source, ArrayRef<int64_t> axes) {
  LinearLayout::Shape reducedShape;
  for (int axis = 0; axis < source.rank(); ++axis)
    (llvm::is_contained(axes, axis) ? reducedShape : keptShape).push_back(source.shape()[size_t(axis)]);
  LinearLayout keptFrame(keptShape, {}), reducedFrame(reducedShape, {});
  layout::Span combined;      // reduced directions that a thread or a lower bit already walks
  std::vector<int> partialOf; // per added direction: its bit among the partials, or -1
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (uint64_t basis : source.bases(dim)) {
      std::vector<int64_t> coords = source.coords(basis), kept, reduced;
      for (int axis = 0; axis < source.rank(); ++axis)
        (llvm::is_contained(axes, axis) ? reduced : kept).push_back(coords[size_t(axis)]);
      Parts part{keptFrame.index(kept), reducedFrame.index(reduced)};
      isSeparable &= !part.kept || !part.reduced;
      bool fresh = combined.add(part.reduced);
      partialOf.push_back(fresh && dim == InDim::Warp ? partialBits++ : -1);
      if (dim == InDim::Warp) {
        // Which partial result this warp bit selects; directions within warps are combined by then.
        uint64_t combination = *combined.combination(part.reduced);
        part.reduced = 0;
        for (size_t i = 0; i < partialOf.size(); ++i)
          if (combination >> i & 1 && partialOf[i] >= 0)
            part.reduced |= uint64_t(1) << partialOf[i];
      }
      parts[size_t(dim)].push_back(part);
    }
}

LinearLayout ReductionLayout::afterWarps() const {
  LinearLayout::Bases bases;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (const Parts &part : parts[size_t(dim)])
      bases[size_t(dim)].push_back(part.kept << partialBits | (dim == InDim::Warp ? part.reduced : 0));
  return LinearLayout(shapeWithPartials(), bases).withoutRegisterReplicas();
}

LinearLayout ReductionLayout::readBack() const {
  LinearLayout::Bases bases;
  for (int bit = 0; bit < partialBits; ++bit)
    bases[size_t(InDim::Register)].push_back(uint64_t(1) << bit);
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (const Parts &part : parts[size_t(dim)])
      bases[size_t(dim)].push_back(part.kept << partialBits);
  return LinearLayout(shapeWithPartials(), bases).withoutRegisterReplicas();
}

/// The warps' parts of one reduction over several values: `combine` makes the op for one level.
using Level = llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange, ArrayRef<int64_t>, const LinearLayout &)>;

LogicalResult split(Operation *op, ValueRange values, ArrayRef<int64_t> axes, Level combine) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  ReductionLayout plan(tile::layoutOf(cast<RankedTensorType>(values.front().getType())), axes);
  if (!plan.separable())
    return op->emitOpError("the layout mixes kept and reduced axes");

  LinearLayout partial = plan.afterWarps();
  SmallVector<Value> results = combine(builder, values, axes, partial);
  if (plan.partials() > 1) {
    // Partials lie next to each other: every thread reads those of its elements with wide accesses.
    LinearLayout readBack = plan.readBack();
    SmallVector<Value> all;
    for (Value result : results) {
      Type element = getElementTypeOrSelf(result.getType());
      auto type = tgpu::SharedType::get(builder.getContext(), partial.shape(), element);
      Value buffer =
          tgpu::AllocSharedOp::create(builder, loc, type, builder.getDenseI64ArrayAttr({0, 0, 0}), IntegerAttr(), 1);
      tgpu::StoreSharedOp::create(builder, loc, result, buffer);
      all.push_back(tgpu::LoadSharedOp::create(builder, loc, tile::withLayout(element, readBack), buffer, Value()));
    }
    LinearLayout::Shape one = partial.shape(), shape = plan.keptShape;
    one.back() = 1;
    shape.push_back(1);
    results = combine(builder, all, {partial.rank() - 1}, readBack.beforeBroadcast(one).reshape(shape));
  }
  for (auto [result, value] : llvm::zip(op->getResults(), results))
    result.replaceAllUsesWith(tile::ReshapeOp::create(builder, loc, result.getType(), value).getResult());
  op->erase();
  return success();
}

LogicalResult split(tile::ReduceOp op) {
  Type element = getElementTypeOrSelf(op.getValue().getType());
  return split(op, op.getValue(), op.getAxes(),
               [&](OpBuilder &builder, ValueRange values, ArrayRef<int64_t> axes, const LinearLayout &to) {
                 return SmallVector<Value>{
                     tgpu::WarpReduceOp::create(builder, op.getLoc(), tile::withLayout(element, to), values.front(),
                                                op.getKind(), axes, op.getIsUnsigned(), op.getPropagateNan())};
               });
}

LogicalResult split(tile::ReduceFnOp op) {
  SmallVector<Value> values(op.getValues());
  return split(op, values, op.getAxes(),
               [&](OpBuilder &builder, ValueRange from, ArrayRef<int64_t> axes, const LinearLayout &to) {
                 SmallVector<Type> types;
                 for (Value value : from)
                   types.push_back(tile::withLayout(getElementTypeOrSelf(value.getType()), to));
                 auto fold = tgpu::WarpFoldOp::create(builder, op.getLoc(), types, from, axes);
                 IRMapping mapping;
                 op.getCombine().cloneInto(&fold.getCombine(), mapping);
                 Operation *yield = fold.getCombine().front().getTerminator();
                 OpBuilder inner(yield);
                 tgpu::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
                 yield->erase();
                 return SmallVector<Value>(fold.getResults());
               });
}

} // namespace

LogicalResult splitReductions(ModuleOp module) {
  SmallVector<tile::ReduceOp> ops;
  module.walk([&](tile::ReduceOp op) { ops.push_back(op); });
  for (tile::ReduceOp op : ops)
    if (failed(split(op)))
      return failure();
  SmallVector<tile::ReduceFnOp> folds;
  module.walk([&](tile::ReduceFnOp op) { folds.push_back(op); });
  for (tile::ReduceFnOp op : folds)
    if (failed(split(op)))
      return failure();
  return success();
}

} // namespace tilec::gpu
