#include "compiler/transforms/op_layouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::transforms {
namespace {

LinearLayout::Shape shapeOf(Value value) {
  ArrayRef<int64_t> shape = tile::tileShape(value.getType());
  return LinearLayout::Shape(shape.begin(), shape.end());
}

DType dtypeOfTile(Value value) { return *tile::dtypeOf(getElementTypeOrSelf(value.getType())); }

/// Collects bases under one shape: each call names a coordinate along one axis.
class BasisList {
public:
  explicit BasisList(LinearLayout::Shape shape) : frame(std::move(shape), {}) {}
  void add(InDim dim, int axis, int64_t coordinate) {
    bases[size_t(dim)].push_back(uint64_t(coordinate) << frame.dimShift(axis));
  }
  /// A bit that changes nothing: its holders have replicas.
  void addReplica(InDim dim) { bases[size_t(dim)].push_back(0); }
  int64_t extent(int axis) const { return frame.shape()[size_t(axis)]; }
  LinearLayout layout() const { return LinearLayout(frame.shape(), bases); }

private:
  LinearLayout frame;
  LinearLayout::Bases bases;
};

/// How an operand's fragment lies in a warp: the axes, by their roles, that register and lane bits walk.
struct Step {
  int axis; ///< of the last two: 0 or 1
  int64_t coordinate;
};

} // namespace

std::optional<MmaUnit> mmaUnit(tile::MmaOp op, const Arch &arch) {
  LinearLayout::Shape a = shapeOf(op.getA()), c = shapeOf(op.getAcc());
  if (a.size() != 2)
    return std::nullopt;
  DType from = dtypeOfTile(op.getA()), other = dtypeOfTile(op.getB()), to = dtypeOfTile(op.getAcc());
  struct Row {
    DType from, to;
    Feature feature;
    MmaUnit unit;
  };
  static constexpr Row rows[] = {
      {DType::f16, DType::f32, Feature::mma_f16, {16, 8, 16, 2}},
      {DType::bf16, DType::f32, Feature::mma_f16, {16, 8, 16, 2}},
      {DType::tf32, DType::f32, Feature::mma_tf32, {16, 8, 8, 1}},
      {DType::f8e4m3, DType::f32, Feature::mma_fp8, {16, 8, 32, 4}},
      {DType::f8e5m2, DType::f32, Feature::mma_fp8, {16, 8, 32, 4}},
      {DType::i8, DType::i32, Feature::mma_i8, {16, 8, 32, 4}},
      {DType::f64, DType::f64, Feature::mma_f64, {8, 8, 4, 1}},
  };
  bool fp8Pair = info(from).bits == 8 && info(other).bits == 8 && isFloat(from) && isFloat(other);
  for (const Row &row : rows)
    if (row.from == from && (other == from || fp8Pair) && row.to == to && arch.has(row.feature) && c[0] >= row.unit.m &&
        c[1] >= row.unit.n && a[1] >= row.unit.k)
      return row.unit;
  return std::nullopt;
}

MmaLayouts mmaLayouts(tile::MmaOp op, const MmaUnit &unit, int64_t warps, bool rowsOnly) {
  BasisList a(shapeOf(op.getA())), b(shapeOf(op.getB())), c(shapeOf(op.getAcc()));
  int64_t rows = c.extent(0) / unit.m, columns = c.extent(1) / unit.n;
  constexpr InDim reg = InDim::Register, lane = InDim::Lane, warp = InDim::Warp;

  // Within a fragment lanes form 8 rows (a, acc) or columns (b) of 4; a register holds `packed` elements along k.
  for (int64_t k = 1; k < unit.packed; k *= 2) {
    a.add(reg, 1, k);
    b.add(reg, 0, k);
  }
  for (int64_t k : {1, 2}) {
    a.add(lane, 1, k * unit.packed);
    b.add(lane, 0, k * unit.packed);
    c.add(lane, 1, 2 * k);
  }
  for (int64_t row : {1, 2, 4}) {
    a.add(lane, 0, row);
    b.add(lane, 1, row);
    c.add(lane, 0, row);
  }
  c.add(reg, 1, 1);
  if (unit.m == 16) {
    a.add(reg, 0, 8);
    c.add(reg, 0, 8);
  }
  for (int64_t k = 4 * unit.packed; k < a.extent(1); k *= 2) {
    a.add(reg, 1, k);
    b.add(reg, 0, k);
  }
  // Warps: rows first where a row must stay in one warp, else so that each warp's part is nearly square.
  int64_t row = unit.m, column = unit.n;
  for (int64_t left = warps; left > 1; left /= 2) {
    bool moreRows = row < c.extent(0), moreColumns = column < c.extent(1);
    bool takeRows = moreRows && (rowsOnly || !moreColumns || rows * unit.m >= columns * unit.n);
    if (takeRows) {
      a.add(warp, 0, row);
      c.add(warp, 0, row);
      b.addReplica(warp);
      row *= 2, rows /= 2;
    } else if (moreColumns && !rowsOnly) {
      b.add(warp, 1, column);
      c.add(warp, 1, column);
      a.addReplica(warp);
      column *= 2, columns /= 2;
    } else {
      a.addReplica(warp);
      b.addReplica(warp);
      c.addReplica(warp);
    }
  }
  for (; column < c.extent(1); column *= 2) {
    b.add(reg, 1, column);
    c.add(reg, 1, column);
  }
  for (; row < c.extent(0); row *= 2) {
    a.add(reg, 0, row);
    c.add(reg, 0, row);
  }
  return {a.layout(), b.layout(), c.layout()};
}

LinearLayout foldLayout(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, int64_t warps, bool warpsFold) {
  BasisList bases(LinearLayout::Shape(shape.begin(), shape.end()));
  // Coordinates of each bit, lowest first, of the folded axes and of the others.
  SmallVector<std::pair<int, int64_t>> folded, kept;
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis)
    for (int64_t bit = 1; bit < shape[size_t(axis)]; bit *= 2)
      (llvm::is_contained(axes, axis) ? folded : kept).emplace_back(axis, bit);
  size_t laneBits = std::min<size_t>(5, folded.size()), warpBits = llvm::Log2_64(uint64_t(warps));
  size_t keptLanes = std::min(5 - laneBits, kept.size());
  size_t keptWarps = std::min(warpBits, kept.size() - keptLanes);
  size_t foldWarps = warpsFold ? std::min(warpBits - keptWarps, folded.size() - laneBits) : 0;
  size_t low = (folded.size() - laneBits - foldWarps + 1) / 2; // registers beneath the lanes
  auto take = [&](InDim dim, ArrayRef<std::pair<int, int64_t>> list) {
    for (auto [axis, coordinate] : list)
      bases.add(dim, axis, coordinate);
  };
  ArrayRef<std::pair<int, int64_t>> f = folded, k = kept;
  take(InDim::Register, f.take_front(low));
  take(InDim::Lane, f.slice(low, laneBits));
  take(InDim::Register, f.drop_front(low + laneBits).drop_back(foldWarps));
  take(InDim::Lane, k.take_front(keptLanes));
  for (size_t bit = laneBits + keptLanes; bit < 5; ++bit)
    bases.addReplica(InDim::Lane);
  take(InDim::Warp, k.slice(keptLanes, keptWarps));
  take(InDim::Warp, f.take_back(foldWarps));
  for (size_t bit = keptWarps + foldWarps; bit < warpBits; ++bit)
    bases.addReplica(InDim::Warp);
  take(InDim::Register, k.drop_front(keptLanes + keptWarps));
  return bases.layout();
}

bool movesElements(Operation *op) {
  return isa<tile::PermuteOp, tile::CatOp, tile::ExtractOp, tile::InsertOp, tile::PackOp, tile::UnpackOp>(op);
}

Value seedOf(Operation *op) {
  if (isa<tile::ExtractOp, tile::UnpackOp>(op))
    return op->getResult(0);
  if (auto insert = dyn_cast<tile::InsertOp>(op))
    return insert.getPart();
  return op->getOperand(0);
}

/// A part's layout in the frame of the whole, with a register for each part above its own.
static LinearLayout wholeOf(const LinearLayout &part, const LinearLayout::Shape &shape) {
  return part.broadcast(shape);
}

/// Widens each element to `count` neighbours (a power of two) of a tile of rank 1, in registers below the rest.
static LinearLayout spreadOut(const LinearLayout &layout, int64_t count) {
  LinearLayout::Bases bases;
  for (int64_t bit = 1; bit < count; bit *= 2)
    bases[size_t(InDim::Register)].push_back(uint64_t(bit));
  for (InDim dim : layout::allInDims)
    for (uint64_t basis : layout.bases(dim))
      bases[size_t(dim)].push_back(basis * uint64_t(count));
  return LinearLayout({layout.numElements() * count}, bases);
}

MoveLayouts moveLayouts(Operation *op, const LinearLayout &seed) {
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    SmallVector<int> order(permute.getAxes().begin(), permute.getAxes().end());
    return {{seed}, seed.transpose(order)};
  }
  if (isa<tile::CatOp>(op))
    return {{seed, seed}, wholeOf(seed, shapeOf(op->getResult(0)))};
  if (isa<tile::ExtractOp>(op))
    return {{wholeOf(seed, shapeOf(op->getOperand(0)))}, seed};
  if (auto insert = dyn_cast<tile::InsertOp>(op)) {
    LinearLayout whole = wholeOf(seed, shapeOf(insert.getValue()));
    return {{seed, whole}, whole};
  }
  // Bytes of an element, or two elements of a byte, stay in one thread.
  bool packs = isa<tile::PackOp>(op);
  Value typed = packs ? op->getOperand(0) : op->getResult(0);
  int bits = info(dtypeOfTile(typed)).bits;
  if (bits >= 8) {
    LinearLayout bytes = spreadOut(seed, bits / 8);
    return packs ? MoveLayouts{{seed}, bytes} : MoveLayouts{{bytes}, seed};
  }
  LinearLayout bytes = seed.reshape({seed.numElements() / 2, 2}).slice(1);
  LinearLayout pairs = spreadOut(bytes, 2);
  return packs ? MoveLayouts{{pairs}, bytes} : MoveLayouts{{bytes}, pairs};
}

} // namespace tilec::transforms
