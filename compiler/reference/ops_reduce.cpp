// Reductions: a balanced tree over neighbours along one axis after the other, from the last axis named to the first.
#include "compiler/reference/elementwise.h"
#include "compiler/reference/numeric.h"

using namespace mlir;

namespace tilec::reference {

/// One axis of a tile seen as (outer, extent, inner); the result is (outer, inner).
struct AxisFold {
  size_t outer, extent, inner;
};

/// Halves the axis until one element is left: pairs (0, 1), (2, 3), … so operands keep their order.
template <typename T, typename F> static void foldAxis(const T *from, T *scratch, T *to, AxisFold axis, F f) {
  for (size_t o = 0; o < axis.outer; ++o) {
    const T *row = from + o * axis.extent * axis.inner;
    for (size_t left = axis.extent; left > 1; left /= 2, row = scratch)
      for (size_t k = 0; k < left / 2; ++k) {
        const T *first = row + 2 * k * axis.inner, *second = first + axis.inner;
        T *into = scratch + k * axis.inner;
        for (size_t i = 0; i < axis.inner; ++i)
          into[i] = f(first[i], second[i]);
      }
    std::copy_n(row, axis.inner, to + o * axis.inner);
  }
}

/// Axes to fold, in order, with the shape each meets.
static std::vector<AxisFold> planFolds(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> extents(shape), order(axes);
  llvm::sort(order, std::greater<>());
  std::vector<AxisFold> folds;
  for (int64_t axis : order) {
    AxisFold fold{1, size_t(extents[size_t(axis)]), 1};
    for (int64_t i = 0; i < axis; ++i)
      fold.outer *= size_t(extents[size_t(i)]);
    for (size_t i = size_t(axis) + 1; i < extents.size(); ++i)
      fold.inner *= size_t(extents[i]);
    extents.erase(extents.begin() + axis);
    folds.push_back(fold);
  }
  return folds;
}

template <typename T, typename F> static void addReduction(Compiler &c, Operation *op, F f) {
  auto reduce = cast<tile::ReduceOp>(op);
  size_t x = c.in(reduce.getValue()), result = c.out(reduce.getResult());
  std::vector<AxisFold> folds = planFolds(tile::tileShape(reduce.getValue().getType()), reduce.getAxes());
  // Room for one axis being halved and for what earlier axes left.
  size_t count = size_t(cast<RankedTensorType>(reduce.getValue().getType()).getNumElements());
  c.needScratch(2 * count * sizeof(T));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    T *halves = reinterpret_cast<T *>(frame.scratch.data()), *kept = halves + count;
    const T *from = a.as<T>();
    for (size_t i = 0; i < folds.size(); ++i) {
      T *to = i + 1 == folds.size() ? r.as<T>() : kept;
      foldAxis(from, halves, to, folds[i], f);
      from = to;
    }
    if (folds.empty())
      std::copy_n(from, r.count, r.as<T>());
    r.tainted = a.tainted;
    if (!a.tainted)
      return;
    auto either = [](Taint p, Taint q) { return p ? p : q; };
    std::vector<Taint> lanes = a.taint, scratch(count);
    for (const AxisFold &fold : folds) {
      std::vector<Taint> next(fold.outer * fold.inner);
      foldAxis(lanes.data(), scratch.data(), next.data(), fold, either);
      lanes = std::move(next);
    }
    r.taint = std::move(lanes);
  });
}

template <typename E> static void reduceFloats(Compiler &c, Operation *op) {
  auto reduce = cast<tile::ReduceOp>(op);
  using S = typename E::Storage;
  auto add = [&](auto f) {
    addReduction<S>(c, op, [f](S a, S b) { return E::encode(f(E::decode(a), E::decode(b))); });
  };
  bool propagate = reduce.getPropagateNan();
  switch (reduce.getKind()) {
  case tile::ReduceKind::sum:
    return add([](auto a, auto b) { return a + b; });
  case tile::ReduceKind::prod:
    return add([](auto a, auto b) { return a * b; });
  case tile::ReduceKind::min:
    return propagate ? add([](auto a, auto b) { return minimum<true>(a, b); })
                     : add([](auto a, auto b) { return minimum<false>(a, b); });
  case tile::ReduceKind::max:
    return propagate ? add([](auto a, auto b) { return maximum<true>(a, b); })
                     : add([](auto a, auto b) { return maximum<false>(a, b); });
  case tile::ReduceKind::any:
  case tile::ReduceKind::all:
    llvm_unreachable("any and all are of bool");
  }
}

static Status reduceIntegers(Compiler &c, Operation *op) {
  auto reduce = cast<tile::ReduceOp>(op);
  return withInteger(c.storage(reduce.getType()), !reduce.getIsUnsigned(), [&](auto zero) {
    using T = decltype(zero);
    switch (reduce.getKind()) {
    case tile::ReduceKind::sum:
      return addReduction<T>(c, op, [](T a, T b) { return T(uint64_t(a) + uint64_t(b)); });
    case tile::ReduceKind::prod:
      return addReduction<T>(c, op, [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
    case tile::ReduceKind::min:
      return addReduction<T>(c, op, [](T a, T b) { return a < b ? a : b; });
    case tile::ReduceKind::max:
      return addReduction<T>(c, op, [](T a, T b) { return a > b ? a : b; });
    case tile::ReduceKind::any:
      return addReduction<T>(c, op, [](T a, T b) { return T(a | b); });
    case tile::ReduceKind::all:
      return addReduction<T>(c, op, [](T a, T b) { return T(a & b); });
    }
  });
}

static Status compileReduce(Compiler &c, Operation *op) {
  DType dtype = c.storage(op->getResult(0).getType());
  switch (dtype) {
  case DType::f64:
    reduceFloats<F64>(c, op);
    return {};
  case DType::f32:
    op->hasAttr("tile.ftz") ? reduceFloats<F32Ftz>(c, op) : reduceFloats<F32>(c, op);
    return {};
  case DType::f16:
    reduceFloats<F16>(c, op);
    return {};
  case DType::bf16:
    reduceFloats<BF16>(c, op);
    return {};
  default:
    if (isFloat(dtype))
      return internalError("{} has no arithmetic, as {} asks", name(dtype), op->getName().getStringRef().str());
    return reduceIntegers(c, op);
  }
}

void addReduceHandlers(HandlerTable &table) { table["tile.reduce"] = compileReduce; }

} // namespace tilec::reference
