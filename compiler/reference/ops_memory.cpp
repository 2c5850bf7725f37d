// Arrays, views, loads and stores.
#include "compiler/reference/elementwise.h"

using namespace mlir;

namespace tilec::reference {

/// Builds an array value and holds it against the buffer behind it.
static Status compileArray(Compiler &c, Operation *op) {
  auto array = cast<tile::ArrayOp>(op);
  size_t memory = c.memoryOf(array.getBase()), result = c.defineArray(array.getResult());
  std::vector<IndexOperand> extents, strides;
  for (Value extent : array.getExtents())
    extents.push_back(indexOperand(c, extent));
  for (Value stride : array.getStrides())
    strides.push_back(indexOperand(c, stride));
  c.add([=](Frame &frame) {
    ArrayValue &value = frame.arrays[result];
    size_t rank = extents.size();
    value.memory = memory;
    value.extents.resize(rank);
    value.strides.resize(rank);
    int64_t contiguous = 1, low = 0, high = 0;
    bool empty = false;
    for (size_t axis = rank; axis-- > 0;) {
      int64_t extent = std::max<int64_t>(extents[axis].read(frame), 0);
      int64_t stride = strides.empty() ? contiguous : strides[axis].read(frame);
      value.extents[axis] = extent;
      value.strides[axis] = stride;
      contiguous *= extent;
      empty |= extent == 0;
      (stride < 0 ? low : high) += (extent - 1) * stride;
    }
    const Memory &buffer = *frame.launch->memories[memory];
    if (!empty && (low < buffer.low || high > buffer.high) && !frame.error)
      frame.error = usageError("array '{}' reaches elements {} to {}, its buffer holds {} to {}", buffer.name, low,
                               high, buffer.low, buffer.high)
                        .error();
  });
  return {};
}

static Status compileExtent(Compiler &c, Operation *op) {
  auto extent = cast<tile::ExtentOp>(op);
  size_t array = c.arrayOf(extent.getArray()), axis = extent.getAxis(), result = c.out(extent.getResult());
  bool wide = !extent.getType().isInteger(32);
  c.add([=](Frame &frame) {
    Tile &tile = frame.tiles[result];
    int64_t value = frame.arrays[array].extents[axis];
    tile.tainted = false;
    wide ? void(*tile.as<int64_t>() = value) : void(*tile.as<int32_t>() = int32_t(value));
  });
  return {};
}

static Status compileView(Compiler &c, Operation *op) {
  auto view = cast<tile::ViewOp>(op);
  c.aliasArray(view.getResult(), view.getArray());
  return {};
}

static Status compileNumTiles(Compiler &c, Operation *op) {
  auto count = cast<tile::NumTilesOp>(op);
  auto view = count.getView().getDefiningOp<tile::ViewOp>();
  if (!view)
    return internalError("a view is not the result of tile.view");
  size_t array = c.arrayOf(count.getView()), result = c.out(count.getResult());
  size_t axis = size_t(view.getAxes()[count.getAxis()]);
  int64_t step = view.getStep()[count.getAxis()];
  bool wide = !count.getType().isInteger(32);
  c.add([=](Frame &frame) {
    Tile &tile = frame.tiles[result];
    int64_t extent = frame.arrays[array].extents[axis], value = extent / step + (extent % step != 0);
    tile.tainted = false;
    wide ? void(*tile.as<int64_t>() = value) : void(*tile.as<int32_t>() = int32_t(value));
  });
  return {};
}

namespace {

/// One access, as far as it is known before it runs.
struct Access {
  size_t array, order;
  Place place;
  std::string name; ///< of the array
  std::vector<int64_t> shape, step, axes;
  std::vector<IndexOperand> indices;
  bool inBounds;
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
  auto array = view ? view.getArray().template getDefiningOp<tile::ArrayOp>() : tile::ArrayOp();
  if (!array)
    return internalError("a view is not the result of tile.view of tile.array");
  Access access{c.arrayOf(op.getView()),
                c.order(op),
                Compiler::place(op),
                array.getRoot().str(),
                view.getType().getShape().vec(),
                view.getStep().vec(),
                view.getAxes().vec(),
                {},
                op.getInBounds()};
  for (Value index : indices)
    access.indices.push_back(indexOperand(c, index));
  return access;
}

static Window locate(Frame &frame, const Access &access) {
  Window window;
  window.array = &frame.arrays[access.array];
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
  if (access.inBounds && !window.whole)
    frame.find({FindingKind::OutOfRange, access.order, access.order},
               {FindingKind::OutOfRange, access.place, access.place, "", access.name, frame.block, -1, -1, 1});
  return window;
}

/// Calls `row(lane, offset, count)` for each run of inside lanes along the last axis: the number of its first lane in
/// the tile, its offset in the array, and its length. Lanes of a run are window.stride.back() apart.
template <typename F> static void forRows(const Access &access, const Window &window, F row) {
  size_t rank = access.shape.size();
  if (rank == 0)
    return row(0, 0, 1);
  if (window.empty)
    return;
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

//===--------------------------------------------------------------------------------------------------------------===//
// Elements in memory
//===--------------------------------------------------------------------------------------------------------------===//

/// Elements of `Memory` type, one by one, as a tile of `Lane` type keeps them: the same bits, or a float widened to f64
/// or rounded from it.
template <typename M, typename L> struct Elements {
  DType dtype; ///< of the memory
  bool converts;
  L load(const std::byte *data, int64_t at) const {
    M bits = reinterpret_cast<const M *>(data)[at];
    return converts ? L(std::bit_cast<uint64_t>(decodeFloat(dtype, uint64_t(bits)))) : L(bits);
  }
  void store(std::byte *data, int64_t at, L lane) const { reinterpret_cast<M *>(data)[at] = value(lane); }
  M value(L lane) const { return converts ? M(encodeFloat(dtype, std::bit_cast<double>(uint64_t(lane)))) : M(lane); }
  M stored(const std::byte *data, int64_t at) const { return reinterpret_cast<const M *>(data)[at]; }
  static constexpr bool rows = std::is_same_v<M, L>; ///< a run may be copied as it is
};

/// fp4: two elements in a byte, the even one in the low nibble.
template <typename L> struct Nibbles {
  bool converts;
  uint8_t stored(const std::byte *data, int64_t at) const { return uint8_t(data[at >> 1]) >> (at & 1 ? 4 : 0) & 0xF; }
  L load(const std::byte *data, int64_t at) const {
    uint64_t bits = stored(data, at);
    return converts ? L(std::bit_cast<uint64_t>(decodeFloat(DType::f4e2m1, bits))) : L(bits);
  }
  uint8_t value(L lane) const {
    return converts ? uint8_t(encodeFloat(DType::f4e2m1, std::bit_cast<double>(uint64_t(lane)))) : uint8_t(lane & 0xF);
  }
  void store(std::byte *data, int64_t at, L lane) const {
    uint8_t &byte = reinterpret_cast<uint8_t &>(data[at >> 1]);
    byte = at & 1 ? uint8_t((byte & 0x0F) | value(lane) << 4) : uint8_t((byte & 0xF0) | value(lane));
  }
  static constexpr bool rows = false;
};

/// Calls `f(elements, lane type)` for the memory of an array and the way tiles of `type` keep its elements.
template <typename F> static Status withElements(Compiler &c, const Memory &memory, Type type, F f) {
  DType dtype = memory.view.dtype, lane = c.storage(type);
  bool converts = dtype != lane && isFloat(dtype);
  if (dtype == DType::f4e2m1) {
    converts ? f(Nibbles<uint64_t>{true}, uint64_t()) : f(Nibbles<uint8_t>{false}, uint8_t());
    return {};
  }
  return withInteger(dtype, false, [&](auto zero) {
    using M = decltype(zero);
    converts ? f(Elements<M, uint64_t>{dtype, true}, uint64_t()) : f(Elements<M, M>{dtype, false}, M());
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

static const Memory &memoryBehind(Compiler &c, Value view) {
  auto array = view.getDefiningOp<tile::ViewOp>().getArray().getDefiningOp<tile::ArrayOp>();
  return *c.launchState().memories[c.memoryOf(array.getBase())];
}

static Status compileLoad(Compiler &c, Operation *op) {
  auto load = cast<tile::LoadOp>(op);
  TILEC_ASSIGN(Access access, describe(c, load, load.getIndices()));
  size_t result = c.out(load.getResult());
  tile::Padding padding = load.getView().getDefiningOp<tile::ViewOp>().getPadding();
  Taint outside = 0;
  if (padding == tile::Padding::none)
    outside = c.cause(FindingKind::Uninitialised, op, access.name);
  DType lanes = c.storage(load.getType()), own = *tile::dtypeOf(getElementTypeOrSelf(load.getType()));
  uint64_t pad = paddingBits(own, padding);
  if (lanes != own) // widened
    pad = std::bit_cast<uint64_t>(decodeFloat(own, pad));
  return withElements(c, memoryBehind(c, load.getView()), load.getType(), [&](auto elements, auto zero) {
    using L = decltype(zero);
    c.add([=](Frame &frame) {
      Window window = locate(frame, access);
      const std::byte *data = frame.launch->memories[window.array->memory]->view.data;
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
      });
    });
  });
}

/// Stores one element under the race check. The block with the highest number wins, so that memory ends the same on
/// every run even when blocks race.
template <typename E, typename L>
static void storeChecked(Frame &frame, Memory &memory, const Access &access, const E &elements, int64_t offset,
                         L lane) {
  uint32_t &writer = memory.writers[size_t(offset - memory.low)];
  uint32_t mine = uint32_t(frame.linearBlock) + 1, last = writer & ~sharedWriters;
  bool shared = writer & sharedWriters;
  std::byte *data = memory.view.data;
  bool foreign = last != 0 && (last != mine || shared);
  if (foreign && elements.stored(data, offset) != elements.value(lane))
    frame.find({FindingKind::Race, access.order, access.order},
               {FindingKind::Race, access.place, access.place, "", access.name, frame.block,
                last == mine ? -1 : int64_t(last) - 1, offset, 1});
  if (mine < last) {
    writer |= sharedWriters;
    return;
  }
  writer = mine | (foreign ? sharedWriters : 0);
  elements.store(data, offset, lane);
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

static Status compileStore(Compiler &c, Operation *op) {
  auto store = cast<tile::StoreOp>(op);
  TILEC_ASSIGN(Access access, describe(c, store, store.getIndices()));
  if (c.probing()) {
    c.add([=](Frame &frame) {
      if (frame.hit)
        return;
      Window window = locate(frame, access);
      frame.hit = covers(access, window, frame.launch->samples[window.array->memory]);
    });
    return {};
  }
  size_t value = c.in(store.getValue());
  const Memory &memory = memoryBehind(c, store.getView());
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
      // Checked stores of one array take turns: what a writer's number says and what memory holds must agree.
      std::unique_lock<std::mutex> guard;
      if (checks)
        guard = std::unique_lock(memory.lock);
      forRows(access, window, [&](int64_t lane, int64_t offset, int64_t count) {
        if (checks)
          for (int64_t i = 0; i < count; ++i)
            storeChecked(frame, memory, access, elements, offset + i * stride, from[lane + i]);
        else if (elements.rows && stride == 1)
          std::memcpy(data + offset * int64_t(sizeof(L)), from + lane, size_t(count) * sizeof(L));
        else
          for (int64_t i = 0; i < count; ++i)
            elements.store(data, offset + i * stride, from[lane + i]);
        if (a.tainted)
          for (int64_t i = 0; i < count; ++i)
            if (Taint taint = a.taint[size_t(lane + i)])
              frame.reaches(taint, access.order, access.place, access.name, offset + i * stride);
      });
    });
  });
}

void addMemoryHandlers(HandlerTable &table) {
  table["tile.array"] = compileArray;
  table["tile.extent"] = compileExtent;
  table["tile.view"] = compileView;
  table["tile.num_tiles"] = compileNumTiles;
  table["tile.load"] = compileLoad;
  table["tile.store"] = compileStore;
}

} // namespace tilec::reference
