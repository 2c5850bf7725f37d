// Elements of arrays at index tiles: gather, scatter, atomics.
#include "compiler/reference/atomics.h"

using namespace mlir;

namespace tilec::reference {

namespace {

/// One access, as far as it is known before it runs.
struct Access : AccessPoint {
  size_t array = 0, lanes = 0;
  std::vector<std::pair<size_t, bool>> indices; ///< tile, and whether it is of i64
  std::optional<size_t> mask;
  bool inBounds = false;
};

/// A lane that is outside the array or masked off.
constexpr int64_t inactive = std::numeric_limits<int64_t>::min();

} // namespace

template <typename Op> static Result<Access> describe(Compiler &c, Op op, Type value) {
  tile::ArrayOp root = rootOf(op.getArray());
  if (!root)
    return internalError("an array is not the result of tile.array");
  Access access;
  static_cast<AccessPoint &>(access) = AccessPoint::of(c, op, root.getRoot().str());
  access.array = c.arrayOf(op.getArray());
  access.lanes = 1;
  for (int64_t extent : tile::tileShape(value))
    access.lanes *= size_t(extent);
  for (Value index : op.getIndices())
    access.indices.emplace_back(c.in(index), getElementTypeOrSelf(index.getType()).isInteger(64));
  if (Value mask = op.getMask())
    access.mask = c.in(mask);
  if constexpr (!std::is_same_v<Op, tile::AtomicOp>)
    access.inBounds = op.getInBounds();
  return access;
}

template <typename I>
static void addAxis(const I *index, int64_t extent, int64_t stride, std::vector<int64_t> &offsets, uint8_t *outside) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    int64_t at = index[i];
    bool inside = at >= 0 && at < extent;
    outside[i] |= !inside;
    offsets[i] += inside ? at * stride : 0;
  }
}

/// Why a lane's place is undefined: its mask is, or the mask is on and an index is.
static Taint placeTaint(const Frame &frame, const Access &access, size_t lane) {
  if (access.mask) {
    const Tile &mask = frame.tiles[*access.mask];
    if (Taint taint = mask.taintAt(lane))
      return taint;
    if (!mask.as<uint8_t>()[lane])
      return 0;
  }
  for (const auto &[tile, wide] : access.indices)
    if (Taint taint = frame.tiles[tile].taintAt(lane))
      return taint;
  return 0;
}

static bool placesTainted(const Frame &frame, const Access &access) {
  return (access.mask && frame.tiles[*access.mask].tainted) ||
         llvm::any_of(access.indices, [&](const auto &index) { return frame.tiles[index.first].tainted; });
}

/// Fills frame.offsets with where each lane goes.
static const std::vector<int64_t> &locate(Frame &frame, const Access &access) {
  const ArrayValue &array = frame.arrays[access.array];
  std::vector<int64_t> &offsets = frame.offsets;
  offsets.assign(access.lanes, array.base);
  std::vector<uint8_t> outside(access.lanes, array.empty);
  for (size_t axis = 0; axis < access.indices.size(); ++axis) {
    const auto &[tile, wide] = access.indices[axis];
    const Tile &index = frame.tiles[tile];
    if (wide)
      addAxis(index.as<int64_t>(), array.extents[axis], array.strides[axis], offsets, outside.data());
    else
      addAxis(index.as<int32_t>(), array.extents[axis], array.strides[axis], offsets, outside.data());
  }
  const uint8_t *mask = access.mask ? frame.tiles[*access.mask].as<uint8_t>() : nullptr;
  size_t broken = 0;
  for (size_t i = 0; i < access.lanes; ++i) {
    bool on = !mask || mask[i];
    broken += on && outside[i];
    if (!on || outside[i])
      offsets[i] = inactive;
  }
  if (access.inBounds && broken)
    frame.find(
        {FindingKind::OutOfRange, access.order, access.order},
        {FindingKind::OutOfRange, access.place, access.place, "", access.name, frame.block, -1, -1, broken,
         fmt::format("check_bounds = false promises indices inside '{}', but {} lie outside", access.name, broken)});
  return offsets;
}

/// An undefined place that is stored to decides what memory holds.
static void reportPlaces(Frame &frame, const Access &access) {
  if (placesTainted(frame, access))
    for (size_t i = 0; i < access.lanes; ++i)
      if (Taint taint = placeTaint(frame, access, i))
        frame.reaches(taint, access.order, access.place);
}

static void acquire(Frame &frame, const Memory &memory, const Access &access) {
  if (!access.acquires || !frame.launch->tracksOrder)
    return;
  for (int64_t offset : frame.offsets)
    if (offset != inactive)
      memory.releases.acquire(offset, frame.clock);
}

static Status compileGather(Compiler &c, Operation *op) {
  auto gather = cast<tile::GatherOp>(op);
  TILEC_ASSIGN(Access access, describe(c, gather, gather.getType()));
  size_t padding = c.in(gather.getPadding()), result = c.out(gather.getResult());
  Taint unwritten = unwrittenCause(c, op, access.name);
  return withElements(c, *memoryBehind(c, gather.getArray()), gather.getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      const std::vector<int64_t> &offsets = locate(frame, access);
      const Memory &memory = *frame.launch->memories[frame.arrays[access.array].memory];
      const std::byte *data = memory.view.data;
      std::unique_lock<std::mutex> guard;
      if (access.ordered)
        guard = std::unique_lock(*memory.lock);
      acquire(frame, memory, access);
      const Tile &pad = frame.tiles[padding];
      Tile &r = frame.tiles[result];
      const L *otherwise = pad.as<L>();
      L *to = r.as<L>();
      for (size_t i = 0; i < access.lanes; ++i)
        to[i] = offsets[i] == inactive ? otherwise[i] : elements.load(data, offsets[i]);
      r.tainted = false;
      bool places = placesTainted(frame, access);
      if (!places && !pad.tainted && memory.undefined.empty())
        return;
      for (size_t i = 0; i < access.lanes; ++i) {
        Taint taint = places ? placeTaint(frame, access, i) : Taint(0);
        if (!taint && offsets[i] == inactive)
          taint = pad.taintAt(i);
        else if (!taint)
          taint = taintOf(memory, offsets[i], unwritten);
        if (taint)
          r.setTaint(i, taint);
      }
    });
  });
}

/// Reports lanes of one scatter that store different values to one element.
template <typename E, typename L>
static void checkLanes(Frame &frame, const Access &access, const E &elements, const L *from) {
  const std::vector<int64_t> &offsets = frame.offsets;
  bool ascending = true;
  for (size_t i = 1; ascending && i < access.lanes; ++i)
    ascending = offsets[i] > offsets[i - 1] || offsets[i] == inactive;
  if (ascending && !llvm::is_contained(offsets, inactive))
    return;
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < access.lanes; ++i)
    if (offsets[i] != inactive)
      order.emplace_back(offsets[i], i);
  llvm::sort(order);
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i].first == order[i - 1].first &&
        elements.value(from[order[i].second]) != elements.value(from[order[i - 1].second]))
      frame.find({FindingKind::Race, access.order, access.order},
                 {FindingKind::Race, access.place, access.place, "", access.name, frame.block, -1, order[i].first, 1,
                  "lanes of one scatter store different values"});
}

static bool coversSample(const Frame &frame, const Access &access) {
  const std::vector<int64_t> &samples = frame.launch->samples[frame.arrays[access.array].memory];
  return llvm::any_of(frame.offsets, [&](int64_t offset) { return std::ranges::binary_search(samples, offset); });
}

static Status probe(Compiler &c, const Access &access) {
  c.add([=](Frame &frame) {
    if (frame.hit)
      return;
    locate(frame, access);
    frame.hit = coversSample(frame, access);
  });
  return {};
}

static Status compileScatter(Compiler &c, Operation *op) {
  auto scatter = cast<tile::ScatterOp>(op);
  TILEC_ASSIGN(Access access, describe(c, scatter, scatter.getValue().getType()));
  if (c.probing())
    return probe(c, access);
  size_t value = c.in(scatter.getValue());
  const Memory *behind = memoryBehind(c, scatter.getArray());
  if (behind->view.dtype == DType::f4e2m1)
    c.storesNibbles();
  return withElements(c, *behind, scatter.getValue().getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      const std::vector<int64_t> &offsets = locate(frame, access);
      Memory &memory = *frame.launch->memories[frame.arrays[access.array].memory];
      std::byte *data = memory.view.data;
      const Tile &a = frame.tiles[value];
      const L *from = a.as<L>();
      reportPlaces(frame, access);
      if (frame.launch->checkLanes)
        checkLanes(frame, access, elements, from);
      bool checks = frame.launch->checkRaces && !memory.writers.empty();
      std::unique_lock<std::mutex> guard;
      if (checks || access.ordered)
        guard = std::unique_lock(*memory.lock);
      Releases::Snapshot snapshot;
      if (access.releases && frame.launch->tracksOrder)
        snapshot = Releases::begin(frame.linearBlock, frame.clock, frame.launch->clockwork);
      for (size_t i = 0; i < access.lanes; ++i) {
        int64_t at = offsets[i];
        if (at == inactive)
          continue;
        if (snapshot)
          memory.releases.release(at, snapshot, false);
        bool differs = checks && elements.stored(data, at) != elements.value(from[i]);
        if (!checks || changes(frame, memory, access, at, differs))
          elements.store(data, at, from[i]);
        if (a.tainted || !memory.undefined.empty())
          storeTaint(frame, memory, access, at, a.taintAt(i));
      }
    });
  });
}

static Status compileAtomic(Compiler &c, Operation *op) {
  auto atomic = cast<tile::AtomicOp>(op);
  TILEC_ASSIGN(Access access, describe(c, atomic, atomic.getType()));
  if (c.probing())
    return probe(c, access);
  size_t value = c.in(atomic.getValue()), result = c.out(atomic.getResult());
  std::optional<size_t> expected;
  if (atomic.getExpected())
    expected = c.in(atomic.getExpected());
  TILEC_ASSIGN(Combiner combine, combiner(c, atomic.getKind(), atomic.getType(), atomic.getIsUnsigned()));
  Change change{combine, atomic.getKind() == tile::AtomicKind::xchg, unwrittenCause(c, op, access.name)};
  return withElements(c, *memoryBehind(c, atomic.getArray()), atomic.getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      const std::vector<int64_t> &offsets = locate(frame, access);
      Memory &memory = *frame.launch->memories[frame.arrays[access.array].memory];
      const Tile &a = frame.tiles[value], *e = expected ? &frame.tiles[*expected] : nullptr;
      Tile &r = frame.tiles[result];
      r.tainted = false;
      reportPlaces(frame, access);
      std::lock_guard guard(*memory.lock);
      acquire(frame, memory, access);
      Releases::Snapshot snapshot;
      if (access.releases && frame.launch->tracksOrder)
        snapshot = Releases::begin(frame.linearBlock, frame.clock, frame.launch->clockwork);
      for (size_t i = 0; i < access.lanes; ++i) {
        int64_t at = offsets[i];
        L &old = r.as<L>()[i];
        if (at == inactive) {
          old = e ? e->as<L>()[i] : L(0);
          if (e && e->taintAt(i))
            r.setTaint(i, e->taintAt(i));
          continue;
        }
        Taint before = taintOf(memory, at, change.unwritten), asked = e ? e->taintAt(i) : Taint(0);
        // cas compares bits: a NaN equals itself, and -0 is not +0.
        if (e && elements.load(memory.view.data, at) != e->as<L>()[i]) {
          old = elements.load(memory.view.data, at);
        } else {
          if (snapshot) // an acquire has put what was released here before into the snapshot
            memory.releases.release(at, snapshot, !access.acquires);
          old =
              changeAtomically(frame, memory, access, elements, at, a.as<L>()[i], asked ? asked : a.taintAt(i), change);
        }
        if (before)
          r.setTaint(i, before);
      }
    });
  });
}

void addElementHandlers(HandlerTable &table) {
  table["tile.gather"] = compileGather;
  table["tile.scatter"] = compileScatter;
  table["tile.atomic"] = compileAtomic;
}

} // namespace tilec::reference
