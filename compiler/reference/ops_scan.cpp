// Running sums and products, and positions of extremes, along one axis.
#include "compiler/reference/elementwise.h"
#include "compiler/reference/numeric.h"

using namespace mlir;

namespace tilec::reference {

namespace {

/// One axis of a tile seen as (outer, extent, inner).
struct Axis {
  size_t outer = 1, extent = 1, inner = 1;
  Axis(ArrayRef<int64_t> shape, int64_t axis) : extent(size_t(shape[size_t(axis)])) {
    for (int64_t i = 0; i < axis; ++i)
      outer *= size_t(shape[size_t(i)]);
    for (size_t i = size_t(axis) + 1; i < shape.size(); ++i)
      inner *= size_t(shape[i]);
  }
  /// The element at a position of the axis.
  size_t at(size_t o, size_t position, size_t i) const { return (o * extent + position) * inner + i; }
};

/// A scan's axis with its direction.
struct ScanPlan {
  Axis axis;
  bool reverse, exclusive;
};

} // namespace

/// Goes from element to element; an exclusive scan gives what came before, at first the identity.
template <typename T, typename F>
static void scanAxis(const ScanPlan &plan, T identity, const T *from, T *to, F combine) {
  const auto &[axis, reverse, exclusive] = plan;
  std::vector<T> running(axis.inner);
  for (size_t o = 0; o < axis.outer; ++o) {
    std::ranges::fill(running, identity);
    for (size_t k = 0; k < axis.extent; ++k) {
      size_t row = axis.at(o, reverse ? axis.extent - 1 - k : k, 0);
      for (size_t i = 0; i < axis.inner; ++i) {
        T before = running[i];
        // The first element is taken as it is: an identity added to -0 would not leave it.
        running[i] = k == 0 ? from[row + i] : combine(before, from[row + i]);
        to[row + i] = exclusive ? before : running[i];
      }
    }
  }
}

template <typename T, typename F> static void addScan(Compiler &c, tile::ScanOp op, T identity, F combine) {
  size_t x = c.in(op.getValue()), result = c.out(op.getResult());
  ScanPlan plan{Axis(tile::tileShape(op.getType()), int64_t(op.getAxis())), op.getReverse(), op.getExclusive()};
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    scanAxis(plan, identity, a.as<T>(), r.as<T>(), combine);
    r.tainted = false;
    if (a.tainted)
      scanAxis(plan, Taint(0), a.taint.data(), r.freshTaint().data(), [](Taint p, Taint q) { return p ? p : q; });
  });
}

template <typename E> static void scanFloats(Compiler &c, tile::ScanOp op) {
  using S = typename E::Storage;
  auto add = [&](S identity, auto f) {
    addScan<S>(c, op, identity, [f](S a, S b) { return E::encode(f(E::decode(a), E::decode(b))); });
  };
  if (op.getKind() == tile::ReduceKind::sum)
    add(E::fromDouble(0.0), [](auto a, auto b) { return a + b; });
  else
    add(E::fromDouble(1.0), [](auto a, auto b) { return a * b; });
}

static Status compileScan(Compiler &c, Operation *op) {
  auto scan = cast<tile::ScanOp>(op);
  bool sum = scan.getKind() == tile::ReduceKind::sum;
  DType dtype = c.storage(scan.getType());
  switch (dtype) {
  case DType::f64:
    scanFloats<F64>(c, scan);
    return {};
  case DType::f32:
    op->hasAttr("tile.ftz") ? scanFloats<F32Ftz>(c, scan) : scanFloats<F32>(c, scan);
    return {};
  case DType::f16:
    scanFloats<F16>(c, scan);
    return {};
  case DType::bf16:
    scanFloats<BF16>(c, scan);
    return {};
  default:
    if (isFloat(dtype))
      return internalError("{} has no arithmetic, as tile.scan asks", name(dtype));
    return withInteger(dtype, false, [&](auto zero) {
      using T = decltype(zero);
      if (sum)
        addScan<T>(c, scan, T(0), [](T a, T b) { return T(uint64_t(a) + uint64_t(b)); });
      else
        addScan<T>(c, scan, T(1), [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
    });
  }
}

/// Positions of what `beats(new, best)` leaves standing.
template <typename T, typename F> static void addArgExtreme(Compiler &c, tile::ArgExtremeOp op, F beats) {
  size_t x = c.in(op.getValue()), result = c.out(op.getResult());
  Axis axis(tile::tileShape(op.getValue().getType()), int64_t(op.getAxis()));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    r.tainted = false;
    const T *from = a.as<T>();
    int32_t *to = r.as<int32_t>();
    for (size_t o = 0; o < axis.outer; ++o)
      for (size_t i = 0; i < axis.inner; ++i) {
        size_t best = 0;
        for (size_t k = 1; k < axis.extent; ++k)
          if (beats(from[axis.at(o, k, i)], from[axis.at(o, best, i)]))
            best = k;
        to[o * axis.inner + i] = int32_t(best);
        for (size_t k = 0; a.tainted && k < axis.extent; ++k)
          if (Taint taint = a.taint[axis.at(o, k, i)]) {
            r.setTaint(o * axis.inner + i, taint);
            break;
          }
      }
  });
}

/// Whether a float stands before another in the order of min or max: a number before NaN (under `propagate` NaN before
/// every number), +0 above -0.
template <bool isMax, bool propagate, typename T> static bool beats(T value, T best) {
  bool nan = value != value, bestNan = best != best;
  if (nan || bestNan)
    return propagate ? nan && !bestNan : bestNan && !nan;
  if (value == best)
    return isMax ? std::signbit(best) && !std::signbit(value) : std::signbit(value) && !std::signbit(best);
  return isMax ? value > best : value < best;
}

template <typename E> static void argExtremeOfFloats(Compiler &c, tile::ArgExtremeOp op) {
  using S = typename E::Storage;
  auto add = [&](auto f) {
    addArgExtreme<S>(c, op, [f](S value, S best) { return f(E::decode(value), E::decode(best)); });
  };
  bool propagate = op.getPropagateNan();
  if (op.getIsMax())
    propagate ? add([](auto a, auto b) { return beats<true, true>(a, b); })
              : add([](auto a, auto b) { return beats<true, false>(a, b); });
  else
    propagate ? add([](auto a, auto b) { return beats<false, true>(a, b); })
              : add([](auto a, auto b) { return beats<false, false>(a, b); });
}

static Status compileArgExtreme(Compiler &c, Operation *op) {
  auto extreme = cast<tile::ArgExtremeOp>(op);
  DType dtype = c.storage(extreme.getValue().getType());
  switch (dtype) {
  case DType::f64:
    argExtremeOfFloats<F64>(c, extreme);
    return {};
  case DType::f32:
    argExtremeOfFloats<F32>(c, extreme);
    return {};
  case DType::f16:
    argExtremeOfFloats<F16>(c, extreme);
    return {};
  case DType::bf16:
    argExtremeOfFloats<BF16>(c, extreme);
    return {};
  default:
    if (isFloat(dtype))
      return internalError("{} has no order, as tile.arg_extreme asks", name(dtype));
    return withInteger(dtype, !extreme.getIsUnsigned(), [&](auto zero) {
      using T = decltype(zero);
      if (extreme.getIsMax())
        addArgExtreme<T>(c, extreme, [](T value, T best) { return value > best; });
      else
        addArgExtreme<T>(c, extreme, [](T value, T best) { return value < best; });
    });
  }
}

void addScanHandlers(HandlerTable &table) {
  table["tile.scan"] = compileScan;
  table["tile.arg_extreme"] = compileArgExtreme;
}

} // namespace tilec::reference
