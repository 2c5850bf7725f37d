// Loads, stores and atomics of the tiles of views.
#include "compiler/reference/atomics.h"
#include "compiler/reference/memory_access.h"

using namespace mlir;

namespace tilec::reference {

namespace {

/// One access, as far as it is known before it runs.
struct Access : AccessPoint {
  size_t array = 0;
  std::vector<int64_t> shape, step, axes;
  std::vector<IndexOperand> indices;
  bool inBounds = false;
};

/// Where an access lands: per view axis the first element, the distance of neighbours and the lanes that are inside.
struct Window {
  const ArrayValue *array = nullptr;
  int64_t base = 0;                                  ///< offset of lane (0, …), which may lie outside
  llvm::SmallVector<int64_t, 4> stride, first, last; ///< lanes first … last - 1 are inside
  bool whole = true, empty = false;
};

} // namespace

template <typename Op> static Result<Access> describe(Compiler &c, Op op, ValueRange indices) {
  auto view = op.getView().template getDefiningOp<tile::ViewOp>();
  tile::ArrayOp array = rootOf(op.getView());
  if (!view || !array)
    return internalError("a view is not the result of tile.view of an array");
  std::string name = array.getRoot().str();
  Access access;
  if constexpr (std::is_same_v<Op, tile::ViewAtomicOp>) {
    static_cast<AccessPoint &>(access) = AccessPoint::plain(c, op, name);
    access.atomic = true; // relaxed
  } else {
    static_cast<AccessPoint &>(access) = AccessPoint::of(c, op, name);
    access.inBounds = op.getInBounds();
  }
  access.array = c.arrayOf(op.getView());
  access.shape = view.getType().getShape().vec();
  access.step = view.getStep().vec();
  access.axes = view.getAxes().vec();
  for (Value index : indices)
    access.indices.push_back(indexOperand(c, index));
  return access;
}

static Window locate(Frame &frame, const Access &access) {
  Window window;
  window.array = &frame.arrays[access.array];
  window.base = window.array->base;
  window.empty = window.array->empty;
  for (size_t axis = 0; axis < access.shape.size(); ++axis) {
    if (Taint taint = frame.tiles[access.indices[axis].tile].taintAt(0))
      frame.reaches(taint, access.order, access.place, access.name);
    int64_t extent = window.array->extents[size_t(access.axes[axis])];
    int64_t start;
    // An index so large that its start does not fit lies outside like any other.
    if (__builtin_mul_overflow(access.indices[axis].read(frame), access.step[axis], &start))
      start = extent;
    int64_t first = start < 0 ? (start > -access.shape[axis] ? -start : access.shape[axis]) : 0;
    int64_t last = std::clamp<int64_t>(start < extent ? extent - start : 0, first, access.shape[axis]);
    int64_t stride = window.array->strides[size_t(access.axes[axis])];
    window.base += int64_t(uint64_t(start) * uint64_t(stride));
    window.stride.push_back(stride);
    window.first.push_back(first);
    window.last.push_back(last);
    window.whole &= first == 0 && last == access.shape[axis];
    window.empty |= first >= last;
  }
  window.whole &= !window.empty;
  if (access.inBounds && !window.whole)
    frame.find({FindingKind::OutOfRange, access.order, access.order},
               {FindingKind::OutOfRange, access.place, access.place, "", access.name, frame.block, -1, -1, 1});
  return window;
}

/// Calls `row(lane, offset, count)` for each run of inside lanes along the last axis: the number of its first lane in
/// the tile, its offset in the array, and its length. Lanes of a run are window.stride.back() apart.
template <typename F> static void forRows(const Access &access, const Window &window, F row) {
  size_t rank = access.shape.size();
  if (window.empty)
    return;
  if (rank == 0)
    return row(0, window.base, 1);
  llvm::SmallVector<int64_t, 4> at(window.first);
  while (true) {
    int64_t lane = 0, offset = window.base;
    for (size_t axis = 0; axis < rank; ++axis) {
      lane = lane * access.shape[axis] + at[axis];
      offset += at[axis] * window.stride[axis];
    }
    row(lane, offset, window.last[rank - 1] - at[rank - 1]);
    size_t axis = rank - 1;
    while (axis-- > 0) {
      if (++at[axis] < window.last[axis])
        break;
      at[axis] = window.first[axis];
    }
    if (axis == size_t(-1))
      return;
  }
}

/// Lets what has been released at the elements of an access order this block, or releases there. The caller holds the
/// memory's lock.
static void acquire(Frame &frame, const Memory &memory, const Access &access, const Window &window) {
  forRows(access, window, [&](int64_t, int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      memory.releases.acquire(offset + i * (window.stride.empty() ? 1 : window.stride.back()), frame.clock);
  });
}
static void release(Frame &frame, Memory &memory, const Access &access, const Window &window) {
  auto snapshot = Releases::begin(frame.linearBlock, frame.clock, frame.launch->clockwork);
  forRows(access, window, [&](int64_t, int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      memory.releases.release(offset + i * (window.stride.empty() ? 1 : window.stride.back()), snapshot, false);
  });
}

static uint64_t paddingBits(DType dtype, tile::Padding padding) {
  switch (padding) {
  case tile::Padding::none:
    return 0;
  case tile::Padding::zero: // f8e8m0 has no zero: its padding is code 0
    return 0;
  case tile::Padding::negzero:
    return encodeFloat(dtype, -0.0);
  case tile::Padding::nan:
    return encodeFloat(dtype, std::numeric_limits<double>::quiet_NaN());
  case tile::Padding::inf:
    return encodeFloat(dtype, std::numeric_limits<double>::infinity());
  case tile::Padding::neginf:
    return encodeFloat(dtype, -std::numeric_limits<double>::infinity());
  }
  return 0;
}

static Status compileLoad(Compiler &c, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  TILEC_ASSIGN(Access access, describe(c, load, load.getIndices()));
  size_t result = c.out(load.getResult());
  tile::Padding padding = load.getView().getDefiningOp<tile::ViewOp>().getPadding();
  Taint outside = 0, unwritten = unwrittenCause(c, op, access.name);
  if (padding == tile::Padding::none)
    outside = c.cause(FindingKind::Uninitialised, op, access.name);
  DType lanes = c.storage(load.getType()), own = *tile::dtypeOf(getElementTypeOrSelf(load.getType()));
  uint64_t pad = paddingBits(own, padding);
  if (lanes != own) // widened
    pad = std::bit_cast<uint64_t>(decodeFloat(own, pad));
  return withElements(c, *memoryBehind(c, load.getView()), load.getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      Window window = locate(frame, access);
      const Memory &memory = *frame.launch->memories[window.array->memory];
      const std::byte *data = memory.view.data;
      std::unique_lock<std::mutex> guard;
      if (access.ordered)
        guard = std::unique_lock(*memory.lock);
      if (access.acquires && frame.launch->tracksOrder)
        acquire(frame, memory, access, window);
      Tile &r = frame.tiles[result];
      L *to = r.as<L>();
      r.tainted = false;
      // Outside lanes first; the rows below then overwrite what is inside, values and taint alike.
      if (!window.whole) {
        std::fill_n(to, r.count, L(pad));
        if (outside) {
          r.taint.assign(r.count, outside);
          r.tainted = true;
        }
      }
      int64_t stride = window.stride.empty() ? 1 : window.stride.back();
      forRows(access, window, [&](int64_t lane, int64_t offset, int64_t count) {
        if (elements.rows && stride == 1)
          std::memcpy(to + lane, data + offset * int64_t(sizeof(L)), size_t(count) * sizeof(L));
        else
          for (int64_t i = 0; i < count; ++i)
            to[lane + i] = elements.load(data, offset + i * stride);
        if (r.tainted)
          std::fill_n(r.taint.begin() + lane, count, Taint(0));
        if (!memory.undefined.empty())
          for (int64_t i = 0; i < count; ++i)
            if (Taint taint = taintOf(memory, offset + i * stride, unwritten))
              r.setTaint(size_t(lane + i), taint);
      });
    });
  });
}

/// Probing: whether the window covers a sampled element.
static bool covers(const Access &access, const Window &window, const std::vector<int64_t> &samples) {
  int64_t stride = window.stride.empty() ? 1 : window.stride.back();
  bool hit = false;
  forRows(access, window, [&](int64_t, int64_t offset, int64_t count) {
    int64_t end = offset + (count - 1) * stride, low = std::min(offset, end), high = std::max(offset, end);
    for (auto it = std::ranges::lower_bound(samples, low); !hit && it != samples.end() && *it <= high; ++it)
      hit = stride == 0 || (*it - offset) % stride == 0;
  });
  return hit;
}

static Status probe(Compiler &c, const Access &access) {
  c.add([=](Frame &frame) {
    if (frame.hit)
      return;
    Window window = locate(frame, access);
    frame.hit = covers(access, window, frame.launch->samples[window.array->memory]);
  });
  return {};
}

static Status compileStore(Compiler &c, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  TILEC_ASSIGN(Access access, describe(c, store, store.getIndices()));
  if (c.probing())
    return probe(c, access);
  size_t value = c.in(store.getValue());
  const Memory &memory = *memoryBehind(c, store.getView());
  if (memory.view.dtype == DType::f4e2m1)
    c.storesNibbles();
  return withElements(c, memory, store.getValue().getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      Window window = locate(frame, access);
      Memory &memory = *frame.launch->memories[window.array->memory];
      std::byte *data = memory.view.data;
      const Tile &a = frame.tiles[value];
      const L *from = a.as<L>();
      int64_t stride = window.stride.empty() ? 1 : window.stride.back();
      bool checks = frame.launch->checkRaces && !memory.writers.empty();
      // Checked stores of one array take turns: what is known of an element and what memory holds must agree.
      std::unique_lock<std::mutex> guard;
      if (checks || access.ordered)
        guard = std::unique_lock(*memory.lock);
      if (access.releases && frame.launch->tracksOrder)
        release(frame, memory, access, window);
      forRows(access, window, [&](int64_t lane, int64_t offset, int64_t count) {
        if (!checks && elements.rows && stride == 1) {
          std::memcpy(data + offset * int64_t(sizeof(L)), from + lane, size_t(count) * sizeof(L));
        } else {
          for (int64_t i = 0; i < count; ++i) {
            int64_t at = offset + i * stride;
            bool differs = checks && elements.stored(data, at) != elements.value(from[lane + i]);
            if (!checks || changes(frame, memory, access, at, differs))
              elements.store(data, at, from[lane + i]);
          }
        }
        if (a.tainted || !memory.undefined.empty())
          for (int64_t i = 0; i < count; ++i)
            storeTaint(frame, memory, access, offset + i * stride, a.taintAt(size_t(lane + i)));
      });
    });
  });
}

static Status compileViewAtomic(Compiler &c, Operation *op) {
  auto atomic = cast<tile::ViewAtomicOp>(op);
  TILEC_ASSIGN(Access access, describe(c, atomic, atomic.getIndices()));
  if (c.probing())
    return probe(c, access);
  size_t value = c.in(atomic.getValue());
  Type type = atomic.getValue().getType();
  TILEC_ASSIGN(Combiner combine, combiner(c, atomic.getKind(), type, atomic.getIsUnsigned()));
  Change change{combine, false, unwrittenCause(c, op, access.name)};
  return withElements(c, *memoryBehind(c, atomic.getView()), type, [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      Window window = locate(frame, access);
      Memory &memory = *frame.launch->memories[window.array->memory];
      const Tile &a = frame.tiles[value];
      int64_t stride = window.stride.empty() ? 1 : window.stride.back();
      std::lock_guard guard(*memory.lock);
      forRows(access, window, [&](int64_t lane, int64_t offset, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          changeAtomically(frame, memory, access, elements, offset + i * stride, a.as<L>()[lane + i],
                           a.taintAt(size_t(lane + i)), change);
      });
    });
  });
}

void addMemoryHandlers(HandlerTable &table) {
  table["tile.load"] = compileLoad;
  table["tile.store"] = compileStore;
  table["tile.view_atomic"] = compileViewAtomic;
}

} // namespace tilec::reference
