// Arrays, their parts, and views.
#include "compiler/reference/memory_access.h"

using namespace mlir;

namespace tilec::reference {

tile::ArrayOp rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto array = dyn_cast<tile::ArrayOp>(op))
      return array;
    if (!isa<tile::ViewOp, tile::AtOp, tile::SliceOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

const Memory *memoryBehind(Compiler &c, Value value) {
  tile::ArrayOp array = rootOf(value);
  return array ? c.launchState().memories[c.memoryOf(array.getBase())].get() : nullptr;
}

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
    value.base = 0;
    value.empty = false;
    value.extents.resize(rank);
    value.strides.resize(rank);
    int64_t contiguous = 1, low = 0, high = 0;
    for (size_t axis = rank; axis-- > 0;) {
      int64_t extent = std::max<int64_t>(extents[axis].read(frame), 0);
      int64_t stride = strides.empty() ? contiguous : strides[axis].read(frame);
      value.extents[axis] = extent;
      value.strides[axis] = stride;
      contiguous *= extent;
      value.empty |= extent == 0;
      (stride < 0 ? low : high) += (extent - 1) * stride;
    }
    const Memory &buffer = *frame.launch->memories[memory];
    if (!value.empty && (low < buffer.low || high > buffer.high))
      frame.fail(usageError("array '{}' reaches elements {} to {}, its buffer holds {} to {}", buffer.name, low, high,
                            buffer.low, buffer.high)
                     .error());
  });
  return {};
}

/// An index that decides which part of an array is meant must be defined.
static int64_t defined(Frame &frame, const IndexOperand &index, const AccessPoint &point) {
  if (Taint taint = frame.tiles[index.tile].taintAt(0))
    frame.reaches(taint, point.order, point.place);
  return index.read(frame);
}

static Status compileAt(Compiler &c, Operation *op) {
  auto at = cast<tile::AtOp>(op);
  size_t from = c.arrayOf(at.getArray()), result = c.defineArray(at.getResult());
  std::vector<IndexOperand> indices;
  for (Value index : at.getIndices())
    indices.push_back(indexOperand(c, index));
  c.add([=, point = AccessPoint::plain(c, op, "")](Frame &frame) {
    const ArrayValue &whole = frame.arrays[from];
    ArrayValue &part = frame.arrays[result];
    size_t fixed = indices.size();
    part.memory = whole.memory;
    part.base = whole.base;
    bool outside = false;
    part.extents.assign(whole.extents.begin() + ptrdiff_t(fixed), whole.extents.end());
    part.strides.assign(whole.strides.begin() + ptrdiff_t(fixed), whole.strides.end());
    for (size_t axis = 0; axis < fixed; ++axis) {
      int64_t index = defined(frame, indices[axis], point);
      if (index < 0 || index >= whole.extents[axis])
        outside = true;
      else
        part.base += index * whole.strides[axis];
    }
    part.empty = whole.empty || outside;
    if (outside)
      std::ranges::fill(part.extents, 0);
  });
  return {};
}

static Status compileSlice(Compiler &c, Operation *op) {
  auto slice = cast<tile::SliceOp>(op);
  size_t from = c.arrayOf(slice.getArray()), result = c.defineArray(slice.getResult()), axis = slice.getAxis();
  IndexOperand start = indexOperand(c, slice.getStart()), stop = indexOperand(c, slice.getStop()),
               step = indexOperand(c, slice.getStep());
  c.add([=, point = AccessPoint::plain(c, op, "")](Frame &frame) {
    ArrayValue &part = frame.arrays[result];
    part = frame.arrays[from];
    int64_t extent = part.extents[axis];
    int64_t first = std::clamp<int64_t>(defined(frame, start, point), 0, extent);
    int64_t end = std::clamp<int64_t>(defined(frame, stop, point), 0, extent);
    int64_t by = std::max<int64_t>(defined(frame, step, point), 1);
    int64_t length = end > first ? (end - first - 1) / by + 1 : 0;
    part.extents[axis] = length;
    part.empty |= length == 0;
    part.base += first * part.strides[axis];
    // Of one element the distance to the next says nothing, and may not fit.
    part.strides[axis] = length > 1 ? part.strides[axis] * by : part.strides[axis];
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

void addArrayHandlers(HandlerTable &table) {
  table["tile.array"] = compileArray;
  table["tile.at"] = compileAt;
  table["tile.slice"] = compileSlice;
  table["tile.extent"] = compileExtent;
  table["tile.view"] = compileView;
  table["tile.num_tiles"] = compileNumTiles;
}

} // namespace tilec::reference
