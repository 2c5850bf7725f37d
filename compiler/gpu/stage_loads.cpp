// Loads of a loop whose tiles go on through shared memory, to matrix units above all: copied there some trips ahead.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/layout/conversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using tilec::layout::LinearLayout;

namespace tilec::gpu {
namespace {

/// Copies in flight where the access has no hint.
constexpr int64_t defaultStages = 3;
/// Shared memory left to the rest of the kernel, bytes.
constexpr int64_t reserve = 4096;

struct Staged {
  tile::LoadOp load;
  tile::ConvertLayoutOp convert;
  tgpu::AllocSharedOp buffer;
  RankedTensorType type() { return cast<RankedTensorType>(load.getType()); }
  tgpu::SharedType shared() {
    return tgpu::SharedType::get(load.getContext(), type().getShape(), type().getElementType());
  }
};

/// Rows of 16 bytes spread over the banks: eight rows below one another lie apart, whatever the width of the tile.
layout::Swizzle matrixSwizzle(RankedTensorType type, int64_t elementBytes) {
  int base = int(llvm::Log2_64(uint64_t(16 / elementBytes)));
  int columns = int(llvm::Log2_64(uint64_t(type.getShape().back())));
  int bits = std::min(3, columns - base), distance = std::max(3, columns - base);
  int total = int(llvm::Log2_64(uint64_t(type.getNumElements())));
  bits = std::min(bits, total - base - distance);
  return bits > 0 ? layout::Swizzle{base, bits, distance} : layout::Swizzle{};
}

class Stager {
public:
  Stager(scf::ForOp loop, const Arch &arch, int64_t most)
      : loop(loop), kernel(loop->getParentOfType<tile::KernelOp>()), arch(arch), most(most) {}
  void run();

private:
  bool isStable(Value view);
  bool comesFromTrip(Value value, llvm::SetVector<Operation *> &slice);
  std::optional<Staged> candidate(tile::LoadOp load);
  int64_t stagesWanted();
  void copyAhead(OpBuilder &builder, Value iteration, Value stage, Value predicate);

  scf::ForOp loop;
  tile::KernelOp kernel;
  const Arch &arch;
  const int64_t most;
  SmallVector<Staged> list;
  llvm::DenseSet<Operation *> refused; ///< ops that need more than the counter
  llvm::SetVector<Operation *> slice;  ///< ops of the body that the indices are made of
};

/// No store of the launch reaches the array, so that it may be read at any time.
bool Stager::isStable(Value view) {
  tile::ArrayOp array = tile::rootArray(view);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto aliases = kernel.getArgAttrOfType<ArrayAttr>(i, "tile.alias");
    if (kernel.argName(i) == array.getRoot()) {
      auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
      if (!mode || mode.getValue() != "in" || aliases)
        return false;
    } else if (aliases && llvm::any_of(aliases, [&](Attribute name) {
                 return cast<StringAttr>(name).getValue() == array.getRoot();
               })) {
      return false;
    }
  }
  return true;
}

/// Whether a value follows from the loop's counter and from outside by ops that can be repeated.
bool Stager::comesFromTrip(Value value, llvm::SetVector<Operation *> &ops) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (op && ops.contains(op))
    return true;
  if (!op || refused.contains(op) || op->getBlock() != loop.getBody() || op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  for (Value operand : op->getOperands())
    if (!comesFromTrip(operand, ops)) {
      refused.insert(op);
      return false;
    }
  ops.insert(op);
  return true;
}

std::optional<Staged> Stager::candidate(tile::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  auto view = load.getView().getDefiningOp<tile::ViewOp>();
  if (!type || type.getRank() != 2 || !load->hasOneUse() || !view || load.getOrder() != tile::MemoryOrder::weak)
    return std::nullopt;
  auto convert = dyn_cast<tile::ConvertLayoutOp>(*load->user_begin());
  if (!convert || convert->getBlock() != loop.getBody())
    return std::nullopt;
  LinearLayout from = tile::layoutOf(type), to = tile::layoutOf(cast<RankedTensorType>(convert.getType()));
  if (layout::classify(from, to).kind != layout::ConversionKind::Shared)
    return std::nullopt;
  bool zeros = view.getPadding() == tile::Padding::zero || load.getInBounds();
  auto axis = load->getAttrOfType<IntegerAttr>("tile.unit_axis"),
       vector = load->getAttrOfType<IntegerAttr>("tile.vector");
  Staged staged{load, convert, {}};
  if (!zeros || !axis || axis.getInt() != 1 || vector.getInt() * staged.shared().elementBytes() < 4 ||
      !isStable(load.getView()))
    return std::nullopt;
  llvm::SetVector<Operation *> ops;
  if (!llvm::all_of(load.getIndices(), [&](Value index) { return comesFromTrip(index, ops); }) ||
      !comesFromTrip(load.getView(), ops))
    return std::nullopt;
  slice.insert_range(ops);
  return staged;
}

int64_t Stager::stagesWanted() {
  auto sites = kernel->getAttrOfType<ArrayAttr>("tile.sites");
  int64_t latency = 0, bytes = 0;
  for (Staged &staged : list) {
    bytes += staged.shared().byteSize();
    auto site = dyn_cast<DictionaryAttr>(sites[staged.load.getSite()]);
    auto hints = site ? site.getAs<DictionaryAttr>("hints") : DictionaryAttr();
    if (auto hint = hints ? hints.getAs<IntegerAttr>("latency") : IntegerAttr())
      latency = std::max(latency, hint.getInt());
  }
  int64_t occupancy = std::max<int64_t>(1, kernel.hint("occupancy", 1));
  int64_t budget = std::min(arch.sharedPerBlock, arch.sharedPerSm / occupancy - Arch::sharedReserved) - reserve;
  return std::min({latency ? latency : defaultStages, budget / bytes, most});
}

/// One group of copies for the trip whose counter is `iteration`.
void Stager::copyAhead(OpBuilder &builder, Value iteration, Value stage, Value predicate) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  for (Staged &staged : list) {
    tile::LoadOp load = staged.load;
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(mapping.lookupOrDefault(index));
    auto copy =
        tgpu::AsyncCopyOp::create(builder, load.getLoc(), mapping.lookupOrDefault(load.getView()), indices,
                                  staged.buffer.getResult(), stage, predicate, load.getType(), load.getInBounds());
    for (StringRef name : {"tile.unit_axis", "tile.vector", "tile.nonnegative"})
      if (Attribute value = load->getAttr(name))
        copy->setAttr(name, value);
  }
  tgpu::AsyncCommitOp::create(builder, loop.getLoc());
}

void Stager::run() {
  for (auto load : loop.getBody()->getOps<tile::LoadOp>())
    if (auto staged = candidate(load))
      list.push_back(*staged);
  if (list.empty())
    return;
  int64_t stages = stagesWanted();
  if (stages < 2)
    return;

  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  auto number = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  for (Staged &staged : list) {
    tgpu::SharedType shared = staged.shared();
    layout::Swizzle swizzle = matrixSwizzle(staged.type(), shared.elementBytes());
    staged.buffer = tgpu::AllocSharedOp::create(
        builder, loc, shared, builder.getDenseI64ArrayAttr({swizzle.base, swizzle.bits, swizzle.distance}),
        IntegerAttr(), stages);
  }
  // Other warps may still read what an earlier run of the loop left.
  tgpu::BarrierOp::create(builder, loc);
  Type index = loop.getInductionVar().getType(), i32 = builder.getI32Type();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
  // In 64 bits: the counters of trips ahead may pass the end of the loop's dtype.
  Type wide = builder.getI64Type();
  auto widened = [&](Value value) -> Value {
    return value.getType() == wide ? value : arith::ExtSIOp::create(builder, loc, wide, value).getResult();
  };
  Value end = widened(upper), by = widened(step);
  auto ahead = [&](Value from, int64_t trips) -> Value {
    Value distance = arith::MulIOp::create(builder, loc, by, number(wide, trips));
    return arith::AddIOp::create(builder, loc, widened(from), distance);
  };
  auto reaches = [&](Value from, int64_t trips) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, ahead(from, trips), end);
  };
  auto after = [&](Value from, int64_t trips) -> Value {
    Value counter = ahead(from, trips);
    return index == wide ? counter : arith::TruncIOp::create(builder, loc, index, counter).getResult();
  };
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    Value predicate = arith::AndIOp::create(builder, loc, runs, reaches(lower, stage));
    copyAhead(builder, after(lower, stage), number(i32, stage), predicate);
  }

  // The loop once more, with the stage that a trip reads carried along.
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(number(i32, 0));
  auto fresh = scf::ForOp::create(builder, loc, lower, upper, step, inits);
  fresh->setAttrs(loop->getAttrs());
  Block *body = loop.getBody(), *into = fresh.getBody();
  if (into->mightHaveTerminator())
    into->getTerminator()->erase();
  SmallVector<Value> arguments(into->getArguments().drop_back());
  Value stage = into->getArguments().back();

  builder.setInsertionPointToStart(into);
  tgpu::AsyncWaitOp::create(builder, loc, stages - 2);
  tgpu::BarrierOp::create(builder, loc);
  Value counter = into->getArgument(0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stage, number(i32, 0));
  Value before = arith::SubIOp::create(builder, loc, stage, number(i32, 1));
  Value target = arith::SelectOp::create(builder, loc, isFirst, number(i32, stages - 1), before);
  copyAhead(builder, after(counter, stages - 1), target, reaches(counter, stages - 1));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stage, number(i32, stages - 1));
  Value next = arith::SelectOp::create(builder, loc, isLast, number(i32, 0),
                                       arith::AddIOp::create(builder, loc, stage, number(i32, 1)));
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  into->getOperations().splice(into->end(), body->getOperations());
  for (Staged &staged : list) {
    builder.setInsertionPoint(staged.convert);
    Value loaded = tgpu::LoadSharedOp::create(builder, staged.convert.getLoc(), staged.convert.getType(),
                                              staged.buffer.getResult(), stage);
    staged.convert.getResult().replaceAllUsesWith(loaded);
    staged.convert.erase();
    staged.load.erase();
  }
  Operation *yield = into->getTerminator();
  yield->insertOperands(yield->getNumOperands(), next);
  for (auto [old, result] : llvm::zip(loop.getResults(), fresh.getResults()))
    old.replaceAllUsesWith(result);
  loop.erase();
}

/// A conversion behind a permutation goes in front of it: the permutation only renames, and the load is then next to
/// the conversion.
void hoistAbovePermutations(ModuleOp module) {
  SmallVector<tile::ConvertLayoutOp> converts;
  module.walk([&](tile::ConvertLayoutOp op) { converts.push_back(op); });
  for (tile::ConvertLayoutOp convert : converts) {
    auto permute = convert.getValue().getDefiningOp<tile::PermuteOp>();
    if (!permute || !permute->hasOneUse())
      continue;
    SmallVector<int> back(permute.getAxes().size());
    for (auto [i, axis] : llvm::enumerate(permute.getAxes()))
      back[size_t(axis)] = int(i);
    auto to = cast<RankedTensorType>(convert.getType());
    Type type = tile::withLayout(to.getElementType(), tile::layoutOf(to).transpose(back));
    OpBuilder builder(permute);
    Value moved = tile::ConvertLayoutOp::create(builder, convert.getLoc(), type, permute.getValue());
    Value permuted = tile::PermuteOp::create(builder, permute.getLoc(), to, moved, permute.getAxes());
    convert.getResult().replaceAllUsesWith(permuted);
    convert.erase();
    permute.erase();
  }
}

} // namespace

LogicalResult stageLoads(ModuleOp module, const Arch &arch, int64_t most) {
  hoistAbovePermutations(module);
  if (!arch.has(Feature::cp_async) || most < 2)
    return success();
  SmallVector<scf::ForOp> loops;
  module.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    Stager(loop, arch, most).run();
  return success();
}

} // namespace tilec::gpu
