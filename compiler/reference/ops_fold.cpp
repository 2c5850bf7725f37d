// Reductions and scans by a function of the program. The function is compiled once for many lanes; elements are brought
// into an order in which its operands lie next to one another, so that each step of it works on thousands at a time.
//
// A reduction combines neighbours (x0·x1)·(x2·x3), over several axes as over their elements in row-major order. A scan
// combines each element with the one 1, 2, 4, … places before, so that it needs as many rounds as the extent has bits.
// Both keep the order of the elements.
#include "compiler/reference/elementwise.h"

using namespace mlir;

namespace tilec::reference {

namespace {

/// A tile being folded: `positions` rows of `width` elements. Rows are folded together, columns are independent.
struct Column {
  size_t size = 0; ///< bytes of an element
  std::vector<std::byte> bytes;
  std::vector<Taint> taint; ///< empty while every element is defined
};

/// What a fold needs to know before it runs.
struct Plan {
  std::vector<size_t> values, identities, results; ///< tiles
  std::vector<size_t> sizes;                       ///< bytes of an element of each
  /// Place in the tile of row p, column q: rowPlaces[p] + columnPlaces[q].
  std::vector<size_t> rowPlaces, columnPlaces;
  LaneSteps combine;
  size_t width() const { return columnPlaces.size(); }
};

/// Elements handled at a time: enough to make steps cheap, few enough to stay in cache.
constexpr size_t chunk = 2048;

/// Places of the elements of some axes of a tile, in row-major order.
std::vector<size_t> placesOf(ArrayRef<int64_t> shape, llvm::function_ref<bool(int64_t)> wanted) {
  std::vector<size_t> places{0};
  size_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    stride *= size_t(shape[i]);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    stride /= size_t(shape[axis]);
    if (!wanted(int64_t(axis)))
      continue;
    std::vector<size_t> next;
    for (size_t place : places)
      for (size_t i = 0; i < size_t(shape[axis]); ++i)
        next.push_back(place + i * stride);
    places = std::move(next);
  }
  return places;
}

} // namespace

template <typename T> static void moveElements(const Plan &plan, bool gather, std::byte *tile, std::byte *rows) {
  T *there = reinterpret_cast<T *>(tile), *here = reinterpret_cast<T *>(rows);
  size_t next = 0;
  for (size_t row : plan.rowPlaces)
    for (size_t column : plan.columnPlaces) {
      T &a = there[row + column], &b = here[next++];
      gather ? b = a : a = b;
    }
}

/// Between a tile and its rows.
static void move(const Plan &plan, size_t size, bool gather, std::byte *tile, std::byte *rows) {
  switch (size) {
  case 1:
    return moveElements<uint8_t>(plan, gather, tile, rows);
  case 2:
    return moveElements<uint16_t>(plan, gather, tile, rows);
  case 4:
    return moveElements<uint32_t>(plan, gather, tile, rows);
  default:
    return moveElements<uint64_t>(plan, gather, tile, rows);
  }
}

static std::vector<Column> collect(Frame &frame, const Plan &plan) {
  std::vector<Column> columns(plan.values.size());
  for (size_t v = 0; v < columns.size(); ++v) {
    Tile &tile = frame.tiles[plan.values[v]];
    columns[v].size = plan.sizes[v];
    columns[v].bytes.resize(tile.count * plan.sizes[v]);
    move(plan, plan.sizes[v], true, tile.data, columns[v].bytes.data());
    if (tile.tainted) {
      columns[v].taint.resize(tile.count);
      move(plan, 1, true, reinterpret_cast<std::byte *>(tile.taint.data()),
           reinterpret_cast<std::byte *>(columns[v].taint.data()));
    }
  }
  return columns;
}

/// Puts `count` elements from `from` on, `every` apart, into a tile of the function.
static void fill(Tile &tile, const Column &column, size_t from, size_t every, size_t run, size_t count) {
  // Runs of `run` elements, whose starts are `every` elements apart.
  for (size_t i = 0, at = from; i < count; i += run, at += every)
    std::memcpy(tile.data + i * column.size, column.bytes.data() + at * column.size, run * column.size);
  tile.tainted = !column.taint.empty();
  if (!tile.tainted)
    return;
  tile.taint.resize(count);
  for (size_t i = 0, at = from; i < count; i += run, at += every)
    std::copy_n(column.taint.begin() + ptrdiff_t(at), run, tile.taint.begin() + ptrdiff_t(i));
}

static void takeBack(Frame &frame, const Plan &plan, std::vector<Column> &columns, size_t to, size_t count) {
  for (size_t v = 0; v < columns.size(); ++v) {
    const Tile &tile = frame.tiles[plan.combine.results[v]];
    Column &column = columns[v];
    std::memcpy(column.bytes.data() + to * column.size, tile.data, count * column.size);
    if (tile.tainted && column.taint.empty())
      column.taint.resize(column.bytes.size() / column.size);
    if (!column.taint.empty())
      for (size_t i = 0; i < count; ++i)
        column.taint[to + i] = tile.taintAt(i);
  }
}

/// Sets tiles of the function to lanes and runs it. `left` and `right` fill an operand of each side.
template <typename L, typename R>
static void combine(Frame &frame, const Plan &plan, const std::vector<Column> &columns, size_t count, L left, R right) {
  size_t n = columns.size();
  for (size_t v = 0; v < n; ++v) {
    left(frame.tiles[plan.combine.arguments[v]], columns[v]);
    right(frame.tiles[plan.combine.arguments[n + v]], columns[v]);
  }
  plan.combine.apply(frame, count);
}

/// Halves the rows until one is left.
static void reduceRows(Frame &frame, const Plan &plan, std::vector<Column> &columns) {
  size_t width = plan.width();
  for (size_t rows = plan.rowPlaces.size() / 2; rows > 0; rows /= 2) {
    size_t total = rows * width, step = plan.combine.lanes;
    // Element i of the result comes from rows 2·(i / width) and the one behind; what is written lies before what is
    // still to be read.
    for (size_t i = 0; i < total; i += step) {
      size_t count = std::min(step, total - i);
      size_t run = std::min(width, count), from = i / width * 2 * width + i % width;
      auto side = [&](size_t offset) {
        return
            [&, offset](Tile &tile, const Column &column) { fill(tile, column, from + offset, 2 * width, run, count); };
      };
      combine(frame, plan, columns, count, side(0), side(width));
      takeBack(frame, plan, columns, i, count);
    }
  }
}

/// Combines each row with the one `distance` before it, from the last to the first, until the distance is the extent.
static void scanRows(Frame &frame, const Plan &plan, std::vector<Column> &columns) {
  size_t width = plan.width(), rows = plan.rowPlaces.size(), step = plan.combine.lanes;
  for (size_t distance = 1; distance < rows; distance *= 2)
    for (size_t end = rows * width, first = distance * width; end > first;) {
      // What a chunk reads is copied before it is overwritten, and chunks in front read nothing behind them.
      size_t count = std::min(step, end - first), at = end - count;
      auto from = [&](size_t place) {
        return [&, place](Tile &tile, const Column &column) { fill(tile, column, place, count, count, count); };
      };
      combine(frame, plan, columns, count, from(at - distance * width), from(at));
      takeBack(frame, plan, columns, at, count);
      end = at;
    }
}

template <typename Op> static Result<Plan> makePlan(Compiler &c, Op op, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = tile::tileShape(op.getValues()[0].getType());
  Plan plan;
  auto folded = [&](int64_t axis) { return llvm::is_contained(axes, axis); };
  plan.rowPlaces = placesOf(shape, folded);
  plan.columnPlaces = placesOf(shape, [&](int64_t axis) { return !folded(axis); });
  for (Value value : op.getValues()) {
    plan.values.push_back(c.in(value));
    plan.sizes.push_back(tileBytes(c.storage(value.getType())));
  }
  for (Value identity : op.getIdentities())
    plan.identities.push_back(c.in(identity));
  for (Value result : op.getResults())
    plan.results.push_back(c.out(result));
  // Extents are powers of two, so a chunk holds whole rows or a row whole chunks.
  size_t elements = plan.rowPlaces.size() * plan.columnPlaces.size();
  size_t lanes = std::max<size_t>(2, std::min(chunk, elements));
  TILEC_ASSIGN(plan.combine, c.compileLanes(op.getCombine().front(), lanes));
  return plan;
}

static Status compileReduceFn(Compiler &c, Operation *op) {
  auto reduce = cast<tile::ReduceFnOp>(op);
  TILEC_ASSIGN(Plan plan, makePlan(c, reduce, reduce.getAxes()));
  c.add([plan = std::move(plan)](Frame &frame) {
    std::vector<Column> columns = collect(frame, plan);
    reduceRows(frame, plan, columns);
    for (size_t v = 0; v < columns.size(); ++v) {
      Tile &r = frame.tiles[plan.results[v]];
      std::memcpy(r.data, columns[v].bytes.data(), r.count * columns[v].size);
      r.tainted = !columns[v].taint.empty();
      if (r.tainted)
        r.taint.assign(columns[v].taint.begin(), columns[v].taint.begin() + ptrdiff_t(r.count));
    }
  });
  return {};
}

/// Moves the rows on by one and puts the identity in front.
static void makeExclusive(Column &column, size_t width, const Tile &identity) {
  size_t size = column.size;
  std::memmove(column.bytes.data() + width * size, column.bytes.data(), column.bytes.size() - width * size);
  for (size_t i = 0; i < width; ++i)
    std::memcpy(column.bytes.data() + i * size, identity.data, size);
  if (identity.tainted && column.taint.empty())
    column.taint.resize(column.bytes.size() / size);
  if (column.taint.empty())
    return;
  std::copy_backward(column.taint.begin(), column.taint.end() - ptrdiff_t(width), column.taint.end());
  std::fill_n(column.taint.begin(), width, identity.taintAt(0));
}

static Status compileScanFn(Compiler &c, Operation *op) {
  auto scan = cast<tile::ScanFnOp>(op);
  TILEC_ASSIGN(Plan plan, makePlan(c, scan, {int64_t(scan.getAxis())}));
  if (scan.getReverse())
    std::ranges::reverse(plan.rowPlaces);
  bool exclusive = scan.getExclusive();
  c.add([plan = std::move(plan), exclusive](Frame &frame) {
    std::vector<Column> columns = collect(frame, plan);
    scanRows(frame, plan, columns);
    for (size_t v = 0; v < columns.size(); ++v) {
      Column &column = columns[v];
      if (exclusive)
        makeExclusive(column, plan.width(), frame.tiles[plan.identities[v]]);
      Tile &r = frame.tiles[plan.results[v]];
      move(plan, column.size, false, r.data, column.bytes.data());
      r.tainted = false;
      if (!column.taint.empty())
        move(plan, 1, false, reinterpret_cast<std::byte *>(r.freshTaint().data()),
             reinterpret_cast<std::byte *>(column.taint.data()));
    }
  });
  return {};
}

void addFoldHandlers(HandlerTable &table) {
  table["tile.reduce_fn"] = compileReduceFn;
  table["tile.scan_fn"] = compileScanFn;
}

} // namespace tilec::reference
