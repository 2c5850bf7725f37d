// Layout assignment. Values that must agree (elementwise operands and results, what a loop carries) form classes; a
// class is laid out once, the largest first. Reductions, broadcasts and reshapes relate classes, so a smaller tile
// takes the layout that follows from the larger one and nothing has to move.
#include "compiler/ir/layout_encoding.h"
#include "compiler/transforms/axis.h"
#include "compiler/transforms/op_layouts.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using tilec::layout::LinearLayout;

namespace tilec::transforms {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
RankedTensorType tileOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What the accesses and reductions of a class ask of its layout.
struct Wishes {
  int64_t vector = 0;    ///< elements in a row; 0: nothing is loaded or stored
  int64_t unitAxis = -1; ///< axis the accesses run along
  SmallVector<int64_t> reducedAxes;
};

class Assignment {
public:
  Assignment(tile::KernelOp kernel, const LayoutOptions &options) : kernel(kernel), options(options) {}
  LogicalResult run();

private:
  void cloneCheapSources();
  void collect();
  void tie(Value a, Value b) {
    if (isTile(a))
      classes.unionSets(a, b);
  }
  void tieRegionFlow(Operation *op);
  void chooseWarps();
  void solve();
  bool derive(Value leader);
  LinearLayout coalesced(RankedTensorType type, const Wishes &wish) const;
  LinearLayout coalesced(Value leader) const { return coalesced(tileOf(leader), wishes.lookup(leader)); }
  std::optional<LinearLayout> given(Operation *op, Value result);
  void planProducts();
  void apply();
  void applyOwn(Operation *op);
  void applyStore(tile::StoreOp op);
  void wantOperand(Operation *op, unsigned i, const LinearLayout &wanted);
  void giveResult(Operation *op, unsigned i, const LinearLayout &natural);
  const LinearLayout *known(Value value) {
    auto it = isTile(value) ? layouts.find(classes.getLeaderValue(value)) : layouts.end();
    return it == layouts.end() ? nullptr : &it->second;
  }
  void annotate(Operation *access, const AccessInfo &info);

  tile::KernelOp kernel;
  const LayoutOptions &options;
  int64_t warps = 4;
  llvm::EquivalenceClasses<Value> classes;
  llvm::MapVector<Value, SmallVector<Value>> members; ///< by leader, in program order
  llvm::DenseMap<Value, Wishes> wishes;               ///< by leader
  llvm::DenseMap<Value, LinearLayout> layouts;        ///< by leader
  llvm::DenseMap<Operation *, MmaLayouts> products;   ///< those of matrix units
  llvm::DenseSet<Value> anchored;                     ///< leaders whose layout an op dictates
};

/// Constants, splats and ranges cost nothing to repeat: each user gets its own, so that one never ties two classes.
void Assignment::cloneCheapSources() {
  SmallVector<Operation *> sources;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ConstantOp, tile::SplatOp, tile::ArangeOp>(op) && isTile(op->getResult(0)))
      sources.push_back(op);
  });
  for (Operation *op : sources) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::drop_begin(uses)) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*op)->getResult(0));
    }
  }
}

/// Values that a region op passes in and out have one layout along the way.
void Assignment::tieRegionFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto yielded = loop.getBody()->getTerminator()->getOperands();
    for (auto [init, arg, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), yielded, loop.getResults())) {
      tie(init, arg);
      tie(init, next);
      tie(init, result);
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions())
      if (!region.empty())
        for (auto [value, result] : llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
          tie(value, result);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, arg, next] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
      tie(init, arg);
      tie(init, next);
    }
    for (auto [value, arg, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
      tie(value, arg);
      tie(value, result);
    }
  }
}

void Assignment::collect() {
  auto add = [&](Value value) {
    if (isTile(value))
      classes.insert(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  kernel.walk([&](Operation *op) {
    tieRegionFlow(op);
    bool elementwise = op->hasTrait<OpTrait::Elementwise>() ||
                       isa<tile::ConvertOp, tile::FMinOp, tile::FMaxOp, tile::FlushOp, tile::BitcastOp,
                           tile::AssumeDivisibleOp, tile::GatherOp, tile::AtomicOp>(op);
    if (elementwise && op->getNumResults() > 0 && isTile(op->getResult(0))) {
      for (Value operand : op->getOperands())
        tie(operand, op->getResult(0));
      for (Value result : op->getResults())
        tie(result, op->getResult(0));
    }
    if (auto scatter = dyn_cast<tile::ScatterOp>(op))
      for (Value operand : op->getOperands())
        tie(operand, scatter.getValue());
    if (auto product = dyn_cast<tile::MmaOp>(op))
      tie(product.getAcc(), product.getResult());
    if (isa<tile::ReduceFnOp, tile::ScanFnOp>(op))
      for (Value value : op->getOperands())
        tie(value, op->getOperand(0));
    for (Value result : op->getResults())
      if (op->getNumResults() > 1 && isa<tile::ReduceFnOp, tile::ScanFnOp>(op))
        tie(result, op->getResult(0));
  });
  auto note = [&](Value value) {
    if (isTile(value))
      members[classes.getLeaderValue(value)].push_back(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), note);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), note);
  });

  kernel.walk([&](Operation *op) {
    Value tile, view;
    ValueRange indices;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      tile = load.getResult(), view = load.getView(), indices = load.getIndices();
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      tile = store.getValue(), view = store.getView(), indices = store.getIndices();
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      llvm::append_range(wishes[classes.getLeaderValue(reduce.getValue())].reducedAxes, reduce.getAxes());
      return;
    } else {
      return;
    }
    AccessInfo info = analyseAccess(view, indices, options.accessBytes);
    annotate(op, info);
    if (!isTile(tile))
      return;
    // The widest vector any access can use: a narrower one then takes several of its own.
    Wishes &wish = wishes[classes.getLeaderValue(tile)];
    wish.vector = std::max(wish.vector, info.vector);
    if (wish.unitAxis < 0)
      wish.unitAxis = info.unitAxis;
  });
}

void Assignment::annotate(Operation *access, const AccessInfo &info) {
  Builder builder(access->getContext());
  access->setAttr("tile.unit_axis", builder.getI64IntegerAttr(info.unitAxis));
  access->setAttr("tile.vector", builder.getI64IntegerAttr(info.vector));
  access->setAttr("tile.nonnegative", builder.getDenseBoolArrayAttr(info.nonNegative));
}

/// Two 16-byte accesses for each thread and input up to four warps, then up to eight: what a block does once, for a
/// reduction above all, is dear next to the work on a few elements.
void Assignment::chooseWarps() {
  int64_t asked = options.warps ? options.warps : kernel.hint("num_worker_warps", 0);
  if (asked) {
    warps = asked;
    return;
  }
  int64_t vectors = 1; // accesses of the largest tile
  for (auto &[leader, list] : members)
    if (wishes[leader].vector)
      vectors = std::max(vectors, tileOf(leader).getNumElements() / wishes[leader].vector);
  warps = 1;
  auto perThread = [&] { return vectors / (warps * 32); };
  while (warps < 4 && perThread() > 2)
    warps *= 2;
  while (warps < 16 && perThread() > 8)
    warps *= 2;
}

LinearLayout Assignment::coalesced(RankedTensorType type, const Wishes &wish) const {
  layout::BlockedSpec spec;
  spec.shape.assign(type.getShape().begin(), type.getShape().end());
  // Few elements: shorter vectors keep every lane at work.
  spec.vector = std::clamp<int64_t>(type.getNumElements() / (32 * warps), 1, std::max<int64_t>(1, wish.vector));
  spec.warps = int(warps);
  int rank = int(type.getRank());
  if (wish.unitAxis >= 0)
    spec.order.push_back(int(wish.unitAxis));
  for (int axis = rank - 1; axis >= 0; --axis)
    if (axis != wish.unitAxis)
      spec.order.push_back(axis);
  // What is reduced stays within a warp where it can: warps spread over the other axes first.
  for (bool reduced : {false, true})
    for (int axis : spec.order)
      if (llvm::is_contained(wish.reducedAxes, axis) == reduced)
        spec.warpOrder.push_back(axis);
  return layout::blocked(spec);
}

/// Layouts of the products that a matrix unit computes.
void Assignment::planProducts() {
  if (!options.arch)
    return;
  auto isProduct = [&](Value tile) {
    return llvm::any_of(members[classes.getLeaderValue(tile)],
                        [](Value value) { return isa_and_present<tile::MmaOp>(value.getDefiningOp()); });
  };
  llvm::DenseSet<Value> leftOperands;
  kernel.walk([&](tile::MmaOp op) { leftOperands.insert(classes.getLeaderValue(op.getA())); });
  kernel.walk([&](tile::MmaOp op) {
    std::optional<MmaUnit> unit = mmaUnit(op, *options.arch);
    if (!unit)
      return;
    // A row that is reduced, or comes from one product and goes into another, stays within a warp.
    Value leader = classes.getLeaderValue(op.getResult());
    bool rowsOnly = llvm::is_contained(wishes.lookup(leader).reducedAxes, 1) || leftOperands.contains(leader) ||
                    isProduct(op.getA());
    products.try_emplace(op, mmaLayouts(op, *unit, warps, rowsOnly));
  });
}

/// The layout an op gives a result whatever its users wish; nothing while its seed has none.
std::optional<LinearLayout> Assignment::given(Operation *op, Value result) {
  if (auto product = products.find(op); product != products.end())
    return product->second.acc;
  if (auto scan = dyn_cast<tile::ScanFnOp>(op))
    return foldLayout(tileOf(result).getShape(), {int64_t(scan.getAxis())}, warps, false);
  if (auto fold = dyn_cast<tile::ReduceFnOp>(op)) {
    LinearLayout whole = foldLayout(tileOf(fold.getValues()[0]).getShape(), fold.getAxes(), warps, true);
    LinearLayout::Shape kept = whole.shape();
    for (int64_t axis : fold.getAxes())
      kept[size_t(axis)] = 1;
    return whole.beforeBroadcast(kept).reshape(
        LinearLayout::Shape(tileOf(result).getShape().begin(), tileOf(result).getShape().end()));
  }
  if (movesElements(op))
    if (const LinearLayout *seed = known(seedOf(op)); seed && seedOf(op) != result)
      return moveLayouts(op, *seed).result;
  return std::nullopt;
}

/// Takes the layout that follows from a related class already laid out.
bool Assignment::derive(Value leader) {
  auto shapeOf = [](Value value) {
    return LinearLayout::Shape(tileOf(value).getShape().begin(), tileOf(value).getShape().end());
  };
  for (Value value : members[leader]) {
    for (Operation *user : value.getUsers()) {
      if (auto broadcast = dyn_cast<tile::BroadcastOp>(user))
        if (const LinearLayout *wide = known(broadcast.getResult())) {
          layouts[leader] = wide->beforeBroadcast(shapeOf(value));
          return true;
        }
      if (auto reshape = dyn_cast<tile::ReshapeOp>(user))
        if (const LinearLayout *other = known(reshape.getResult())) {
          layouts[leader] = other->reshape(shapeOf(value));
          return true;
        }
      if (auto permute = dyn_cast<tile::PermuteOp>(user))
        if (const LinearLayout *other = known(permute.getResult())) {
          SmallVector<int> back(permute.getAxes().size());
          for (auto [i, axis] : llvm::enumerate(permute.getAxes()))
            back[size_t(axis)] = int(i);
          layouts[leader] = other->transpose(back);
          return true;
        }
    }
    if (Operation *op = value.getDefiningOp())
      if (auto natural = given(op, value)) {
        layouts[leader] = *natural;
        if (isa<tile::MmaOp, tile::ScanFnOp>(op))
          anchored.insert(leader);
        return true;
      }
    if (auto reduce = value.getDefiningOp<tile::ReduceOp>())
      if (const LinearLayout *whole = known(reduce.getValue())) {
        LinearLayout::Shape kept = whole->shape();
        for (int64_t axis : reduce.getAxes())
          kept[size_t(axis)] = 1;
        layouts[leader] = whole->beforeBroadcast(kept).reshape(shapeOf(value));
        return true;
      }
    if (auto reshape = value.getDefiningOp<tile::ReshapeOp>())
      if (const LinearLayout *other = known(reshape.getValue())) {
        layouts[leader] = other->reshape(shapeOf(value));
        return true;
      }
  }
  return false;
}

void Assignment::solve() {
  SmallVector<Value> order;
  for (auto &[leader, list] : members)
    order.push_back(leader);
  llvm::stable_sort(order, [](Value a, Value b) { return tileOf(a).getNumElements() > tileOf(b).getNumElements(); });
  // Everything that follows from what is known comes before the next class is laid out afresh.
  for (;;) {
    bool progress = true;
    while (progress) {
      progress = false;
      for (Value leader : order)
        if (!layouts.contains(leader) && derive(leader))
          progress = true;
    }
    // Classes that are accessed come first among equals, since their layout is the one that costs.
    Value next;
    for (Value leader : order) {
      if (layouts.contains(leader))
        continue;
      bool better = !next || (tileOf(leader).getNumElements() == tileOf(next).getNumElements() &&
                              wishes[leader].vector > wishes[next].vector);
      if (better)
        next = leader;
    }
    if (!next)
      return;
    layouts[next] = coalesced(next);
  }
}

void Assignment::wantOperand(Operation *op, unsigned i, const LinearLayout &wanted) {
  OpBuilder builder(op);
  Value value = op->getOperand(i);
  Type type = tile::withLayout(tileOf(value).getElementType(), wanted);
  if (value.getType() != type)
    op->setOperand(i, tile::ConvertLayoutOp::create(builder, op->getLoc(), type, value));
}

/// The op gives a result in its natural layout; users see the one of their class.
void Assignment::giveResult(Operation *op, unsigned i, const LinearLayout &natural) {
  Value result = op->getResult(i);
  Type type = tile::withLayout(tileOf(result).getElementType(), natural), wanted = result.getType();
  if (type == wanted)
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  result.setType(type);
  auto moved = tile::ConvertLayoutOp::create(builder, op->getLoc(), wanted, result);
  result.replaceAllUsesExcept(moved.getResult(), moved);
}

/// Ops that dictate layouts of operands and results.
void Assignment::applyOwn(Operation *op) {
  if (auto product = products.find(op); product != products.end()) {
    const MmaLayouts &own = product->second;
    wantOperand(op, 0, own.a);
    wantOperand(op, 1, own.b);
    wantOperand(op, 2, own.acc);
    giveResult(op, 0, own.acc);
  } else if (isa<tile::ScanFnOp, tile::ReduceFnOp>(op)) {
    auto scan = dyn_cast<tile::ScanFnOp>(op);
    auto fold = dyn_cast<tile::ReduceFnOp>(op);
    SmallVector<int64_t> axes = scan ? SmallVector<int64_t>{int64_t(scan.getAxis())}
                                     : SmallVector<int64_t>(fold.getAxes().begin(), fold.getAxes().end());
    LinearLayout whole = foldLayout(tileOf(op->getOperand(0)).getShape(), axes, warps, bool(fold));
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      wantOperand(op, i, whole);
      if (isTile(op->getResult(i)))
        giveResult(op, i, *given(op, op->getResult(i)));
    }
  } else if (movesElements(op)) {
    Value seed = seedOf(op);
    MoveLayouts own = moveLayouts(op, tile::layoutOf(tileOf(seed)));
    unsigned next = 0;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (isTile(op->getOperand(i)))
        wantOperand(op, i, own.operands[next++]);
    giveResult(op, 0, own.result);
  }
}

/// A tile whose layout an op dictates goes to memory in rows of whole vectors.
void Assignment::applyStore(tile::StoreOp op) {
  Wishes wish;
  wish.vector = op->getAttrOfType<IntegerAttr>("tile.vector").getInt();
  wish.unitAxis = op->getAttrOfType<IntegerAttr>("tile.unit_axis").getInt();
  wantOperand(op, 0, coalesced(tileOf(op.getValue()), wish));
}

void Assignment::apply() {
  auto layoutFor = [&](Value value) { return tile::layoutOf(tileOf(value)); };
  llvm::DenseSet<Operation *> anchoredStores;
  kernel.walk([&](tile::StoreOp op) {
    if (isTile(op.getValue()) && anchored.contains(classes.getLeaderValue(op.getValue())))
      anchoredStores.insert(op);
  });
  for (auto &[leader, list] : members)
    for (Value value : list)
      value.setType(tile::withLayout(tileOf(value).getElementType(), layouts[leader]));
  auto convert = [](OpBuilder &builder, Location loc, Value value, const LinearLayout &to) -> Value {
    Type type = tile::withLayout(tileOf(value).getElementType(), to);
    return value.getType() == type ? value : tile::ConvertLayoutOp::create(builder, loc, type, value).getResult();
  };
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    applyOwn(op);
    if (anchoredStores.contains(op))
      applyStore(cast<tile::StoreOp>(op));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto type = dyn_cast<RankedTensorType>(constant.getType()))
        constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      LinearLayout::Shape shape = layoutFor(broadcast.getValue()).shape();
      LinearLayout wanted = layoutFor(broadcast.getResult()).beforeBroadcast(shape);
      broadcast.getValueMutable().assign(convert(builder, op->getLoc(), broadcast.getValue(), wanted));
    } else if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
      if (isTile(reshape.getValue()) && isTile(reshape.getResult())) {
        LinearLayout wanted = layoutFor(reshape.getResult()).reshape(layoutFor(reshape.getValue()).shape());
        reshape.getValueMutable().assign(convert(builder, op->getLoc(), reshape.getValue(), wanted));
      }
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && isTile(reduce.getResult())) {
      LinearLayout kept = layoutFor(reduce.getValue());
      LinearLayout::Shape shape = kept.shape();
      for (int64_t axis : reduce.getAxes())
        shape[size_t(axis)] = 1;
      LinearLayout wanted = layoutFor(reduce.getResult());
      LinearLayout natural = kept.beforeBroadcast(shape).reshape(wanted.shape());
      if (natural != wanted) {
        builder.setInsertionPointAfter(op);
        reduce.getResult().setType(tile::withLayout(tileOf(reduce.getResult()).getElementType(), natural));
        auto moved = tile::ConvertLayoutOp::create(
            builder, op->getLoc(), tile::withLayout(tileOf(reduce.getResult()).getElementType(), wanted),
            reduce.getResult());
        reduce.getResult().replaceAllUsesExcept(moved.getResult(), moved);
      }
    }
  }
}

/// More elements than this in one thread are no kernel any more: the registers of four threads would not hold them.
static constexpr uint32_t maxElementsPerThread = 1024;

LogicalResult Assignment::run() {
  cloneCheapSources();
  collect();
  chooseWarps();
  planProducts();
  solve();
  for (auto &[leader, list] : members)
    if (uint32_t held = layouts[leader].registers(); held > maxElementsPerThread)
      return kernel.emitError() << "a tile of this kernel needs " << held << " elements in each of " << warps * 32
                                << " threads, and the most is " << maxElementsPerThread << ": take a smaller tile";
  apply();
  kernel->setAttr("tile.threads", Builder(kernel.getContext()).getI64IntegerAttr(warps * 32));
  return success();
}

} // namespace

LogicalResult assignLayouts(ModuleOp module, const LayoutOptions &options) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (failed(Assignment(kernel, options).run()))
      return failure();
  return success();
}

} // namespace tilec::transforms
