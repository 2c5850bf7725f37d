// The one barrier pass: a forward walk over structured control flow that carries the accesses since the last barrier.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::gpu {
namespace {

/// One access that no barrier has followed yet.
struct Access {
  bool writes = false;
  // Shared memory: bytes [begin, end).
  int64_t begin = 0, end = 0;
  // Global memory: the array, the view and the layout it is accessed through.
  StringRef root;
  Value view;
  Type tile;
  Attribute vector;   ///< elements moved at a time: decides which thread of a warp moves which element
  Value staged;       ///< a buffer of several stages: its own copies and reads are ordered by waits
  bool fence = false; ///< an acquire: no access behind it may come before it

  bool operator==(const Access &o) const {
    return writes == o.writes && begin == o.begin && end == o.end && root == o.root && view == o.view &&
           tile == o.tile && vector == o.vector && staged == o.staged && fence == o.fence;
  }
};

class Barriers {
public:
  explicit Barriers(tile::KernelOp kernel) : kernel(kernel) {}
  void run() {
    Pending pending;
    walk(kernel.getBody().front(), pending);
  }

private:
  using Pending = SmallVector<Access>;
  void walk(Block &block, Pending &pending);
  void visit(Operation *op, Pending &pending);
  SmallVector<Access> accessesOf(Operation *op);
  bool conflict(const Access &a, const Access &b);
  bool mayOverlap(StringRef a, StringRef b);
  static bool ownedByOneThread(Value view, Type a, bool aWrites, Type b, bool bWrites);
  static void merge(Pending &into, const Pending &from) {
    for (const Access &access : from)
      if (!llvm::is_contained(into, access))
        into.push_back(access);
  }

  tile::KernelOp kernel;
};

SmallVector<Access> Barriers::accessesOf(Operation *op) {
  auto shared = [](Value buffer, bool writes) {
    auto alloc = buffer.getDefiningOp<tgpu::AllocSharedOp>();
    Access access;
    access.writes = writes;
    access.begin = *alloc.getOffset();
    access.end = access.begin + alloc.byteSize();
    if (alloc.getStages() > 1)
      access.staged = buffer;
    return access;
  };
  // Single elements: no view says which thread touches which.
  auto elements = [](Value array, bool writes) {
    Access access;
    access.writes = writes;
    access.root = tile::rootArray(array).getRoot();
    return access;
  };
  auto global = [&](Value view, Type tile, bool writes) {
    Access access = elements(view, writes);
    access.view = view;
    access.tile = tile;
    access.vector = op->getAttr("tile.vector");
    return access;
  };
  if (auto store = dyn_cast<tgpu::StoreSharedOp>(op))
    return {shared(store.getBuffer(), true)};
  if (auto load = dyn_cast<tgpu::LoadSharedOp>(op))
    return {shared(load.getBuffer(), false)};
  if (auto copy = dyn_cast<tgpu::AsyncCopyOp>(op))
    return {shared(copy.getBuffer(), true), elements(copy.getView(), false)};
  if (auto print = dyn_cast<tgpu::PrintOp>(op))
    return {shared(print.getBuffer(), true)};
  if (auto assertion = dyn_cast<tgpu::AssertOp>(op))
    return {shared(assertion.getBuffer(), true)};
  if (auto product = dyn_cast<tgpu::FmaProductOp>(op))
    return {shared(product.getA(), false), shared(product.getB(), false)};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return {global(store.getView(), store.getValue().getType(), true)};
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return {global(load.getView(), load.getResult().getType(), false)};
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return {elements(gather.getArray(), false)};
  if (auto scatter = dyn_cast<tile::ScatterOp>(op))
    return {elements(scatter.getArray(), true)};
  if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    return {elements(atomic.getArray(), true)};
  if (auto atomic = dyn_cast<tile::ViewAtomicOp>(op))
    return {elements(atomic.getView(), true)};
  return {};
}

/// What the order of an access asks of the block, which is one thread to the memory model: its other threads' accesses
/// come before a release and behind an acquire.
std::pair<bool, bool> releasesAndAcquires(Operation *op) {
  auto order = tile::MemoryOrder::weak;
  llvm::TypeSwitch<Operation *>(op).Case<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp, tile::AtomicOp>(
      [&](auto access) { order = access.getOrder(); });
  bool both = order == tile::MemoryOrder::acq_rel;
  return {both || order == tile::MemoryOrder::release, both || order == tile::MemoryOrder::acquire};
}

/// Whether every element is accessed by one and the same thread both times: one view without overlapping tiles, one
/// layout, and reads that no other thread repeats. Stores are made by the owner alone.
bool Barriers::ownedByOneThread(Value view, Type a, bool aWrites, Type b, bool bWrites) {
  auto op = view.getDefiningOp<tile::ViewOp>();
  for (auto [step, extent] : llvm::zip(op.getStep(), op.getType().getShape()))
    if (step < extent)
      return false;
  if (a != b || !tile::hasLayout(a))
    return a == b && aWrites && bWrites; // scalars are stored by thread 0 and read by all
  if (aWrites && bWrites)
    return true;
  return tile::layoutOf(cast<RankedTensorType>(a)).isInjective();
}

bool Barriers::mayOverlap(StringRef a, StringRef b) {
  if (a == b)
    return true;
  // Arrays are apart unless one names the other as an alias.
  auto names = [&](StringRef array, StringRef other) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (kernel.argName(i) == array)
        if (auto aliases = kernel.getArgAttrOfType<ArrayAttr>(i, "tile.alias"))
          return llvm::any_of(aliases, [&](Attribute name) { return cast<StringAttr>(name).getValue() == other; });
    return false;
  };
  return names(a, b) || names(b, a);
}

bool Barriers::conflict(const Access &a, const Access &b) {
  if (a.fence)
    return true;
  if (!a.writes && !b.writes)
    return false;
  if (a.root.empty() != b.root.empty())
    return false;
  if (a.staged && a.staged == b.staged)
    return false;
  if (a.root.empty())
    return a.begin < b.end && b.begin < a.end;
  if (!mayOverlap(a.root, b.root))
    return false;
  return !a.view || a.view != b.view || a.vector != b.vector ||
         !ownedByOneThread(a.view, a.tile, a.writes, b.tile, b.writes);
}

void Barriers::visit(Operation *op, Pending &pending) {
  if (isa<tgpu::BarrierOp>(op)) {
    pending.clear();
    return;
  }
  if (SmallVector<Access> accesses = accessesOf(op); !accesses.empty()) {
    auto [releases, acquires] = releasesAndAcquires(op);
    bool meets = llvm::any_of(pending, [&](const Access &before) {
      return releases || llvm::any_of(accesses, [&](const Access &access) { return conflict(before, access); });
    });
    if (meets) {
      OpBuilder builder(op);
      tgpu::BarrierOp::create(builder, op->getLoc());
      pending.clear();
    }
    merge(pending, accesses);
    if (acquires) {
      Access fence;
      fence.fence = true;
      merge(pending, {fence});
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    // Conditions are scalars, and what one thread alone may read is shared: equal in all threads, so that a barrier
    // within an arm is met by all or none.
    Pending after;
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      Pending arm = pending;
      if (!region->empty())
        walk(region->front(), arm);
      merge(after, arm);
    }
    pending = std::move(after);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    // As below; what is behind the loop follows the region of the condition.
    Pending before = pending;
    for (int trip = 0; trip < 2; ++trip) {
      walk(loop.getBefore().front(), pending);
      walk(loop.getAfter().front(), pending);
      merge(pending, before);
    }
    walk(loop.getBefore().front(), pending);
    return;
  }
  if (isa<scf::ForOp>(op)) {
    // Around the back edge come the accesses of the trip before; barriers are only ever added, so twice is enough: the
    // second walk sees all that a trip can leave behind.
    Pending before = pending;
    for (int trip = 0; trip < 2; ++trip) {
      for (Region &region : op->getRegions())
        walk(region.front(), pending);
      merge(pending, before);
    }
    return;
  }
}

void Barriers::walk(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op, pending);
}

} // namespace

LogicalResult insertBarriers(ModuleOp module) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    Barriers(kernel).run();
  return success();
}

} // namespace tilec::gpu
