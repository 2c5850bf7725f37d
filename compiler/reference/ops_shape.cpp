// Ops that make tiles or move their elements: constants, arange, splat, broadcast, reshape, select.
#include "compiler/reference/elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilec::reference {

/// Storage encoding of a constant's element under the type it is kept as.
static uint64_t bitsOf(Compiler &c, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    DType dtype = *tile::dtypeOf(number.getType());
    uint64_t bits = number.getValue().bitcastToAPInt().getZExtValue();
    if (dtype == DType::tf32) // 19 bits in MLIR, the upper ones of an f32 in the language
      bits <<= 13;
    return c.storage(number.getType()) == dtype ? bits : std::bit_cast<uint64_t>(decodeFloat(dtype, bits));
  }
  return cast<IntegerAttr>(value).getValue().getZExtValue();
}

static void append(std::vector<std::byte> &bytes, uint64_t bits, size_t size) {
  size_t at = bytes.size();
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, &bits, size);
}

static Status compileConstant(Compiler &c, Operation *op) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  Type type = op->getResult(0).getType();
  size_t size = tileBytes(c.storage(type));
  std::vector<std::byte> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (dense.isSplat()) {
      uint64_t bits = bitsOf(c, dense.getSplatValue<Attribute>());
      for (int64_t i = 0; i < dense.getNumElements(); ++i)
        append(bytes, bits, size);
    } else {
      for (Attribute element : dense.getValues<Attribute>())
        append(bytes, bitsOf(c, element), size);
    }
  } else if (isa<FloatAttr, IntegerAttr>(value)) {
    append(bytes, bitsOf(c, value), size);
  } else {
    return internalError("the reference executor does not know this kind of constant");
  }
  c.constant(c.lasting(op->getResult(0)), std::move(bytes));
  return {};
}

/// start + step * i with i, the product and the sum each rounded to the element type; integers wrap.
static Status compileArange(Compiler &c, Operation *op) {
  auto arange = cast<tile::ArangeOp>(op);
  Type element = getElementTypeOrSelf(arange.getType());
  int64_t count = cast<RankedTensorType>(arange.getType()).getNumElements();
  std::vector<std::byte> bytes;
  if (isa<FloatType>(element)) {
    DType dtype = c.storage(element);
    double start = decodeFloat(dtype, bitsOf(c, arange.getStart()));
    double step = decodeFloat(dtype, bitsOf(c, arange.getStep()));
    for (int64_t i = 0; i < count; ++i) {
      double position = decodeFloat(dtype, encodeFloatFromInt(dtype, i));
      double scaled = decodeFloat(dtype, encodeFloat(dtype, step * position));
      append(bytes, encodeFloat(dtype, start + scaled), tileBytes(dtype));
    }
  } else {
    uint64_t start = bitsOf(c, arange.getStart()), step = bitsOf(c, arange.getStep());
    for (int64_t i = 0; i < count; ++i)
      append(bytes, start + step * uint64_t(i), tileBytes(c.storage(element)));
  }
  c.constant(c.lasting(arange.getResult()), std::move(bytes));
  return {};
}

static Status compileSplat(Compiler &c, Operation *op) {
  size_t x = c.in(op->getOperand(0)), result = c.out(op->getResult(0));
  return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x];
      Tile &r = frame.tiles[result];
      std::fill_n(r.as<T>(), r.count, *a.as<T>());
      r.tainted = a.tainted;
      if (a.tainted)
        r.taint.assign(r.count, a.taintAt(0));
    });
  });
}

/// Copies rows of the source over the axes of extent 1, outermost axis first.
template <typename T>
static void broadcastRows(const T *from, T *to, ArrayRef<int64_t> source, ArrayRef<int64_t> target) {
  if (source.empty()) {
    *to = *from;
    return;
  }
  int64_t sourceStep = 1, targetStep = 1;
  for (size_t axis = 1; axis < source.size(); ++axis)
    sourceStep *= source[axis], targetStep *= target[axis];
  if (source.size() == 1) {
    if (source[0] == 1)
      std::fill_n(to, target[0], *from);
    else
      std::copy_n(from, target[0], to);
    return;
  }
  int64_t distinct = source[0];
  for (int64_t i = 0; i < distinct; ++i)
    broadcastRows(from + i * sourceStep, to + i * targetStep, source.drop_front(), target.drop_front());
  for (int64_t i = distinct; i < target[0]; ++i)
    std::copy_n(to, targetStep, to + i * targetStep);
}

static Status compileBroadcast(Compiler &c, Operation *op) {
  size_t x = c.in(op->getOperand(0)), result = c.out(op->getResult(0));
  std::vector<int64_t> source = tile::tileShape(op->getOperand(0).getType()).vec();
  std::vector<int64_t> target = tile::tileShape(op->getResult(0).getType()).vec();
  return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x];
      Tile &r = frame.tiles[result];
      broadcastRows(a.as<T>(), r.as<T>(), source, target);
      r.tainted = a.tainted;
      if (a.tainted)
        broadcastRows(a.taint.data(), r.freshTaint().data(), source, target);
    });
  });
}

static Status compileReshape(Compiler &c, Operation *op) {
  size_t x = c.in(op->getOperand(0)), result = c.out(op->getResult(0));
  size_t bytes = tileBytes(c.storage(op->getResult(0).getType()));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    std::memcpy(r.data, a.data, a.count * bytes);
    r.tainted = a.tainted;
    if (a.tainted)
      r.taint = a.taint;
  });
  return {};
}

/// Takes one of two elements; only the one taken need be defined.
static Status compileSelect(Compiler &c, Operation *op) {
  size_t cond = c.in(op->getOperand(0)), x = c.in(op->getOperand(1)), y = c.in(op->getOperand(2));
  size_t result = c.out(op->getResult(0));
  bool single = !isa<RankedTensorType>(op->getOperand(0).getType()) && !c.inLanes();
  return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &p = frame.tiles[cond], &a = frame.tiles[x], &b = frame.tiles[y];
      Tile &r = frame.tiles[result];
      const uint8_t *take = p.as<uint8_t>();
      const T *left = a.as<T>(), *right = b.as<T>();
      T *to = r.as<T>();
      if (single)
        std::copy_n(*take ? left : right, r.count, to);
      else
        for (size_t i = 0; i < r.count; ++i)
          to[i] = take[i] ? left[i] : right[i];
      r.tainted = false;
      if (!(p.tainted || a.tainted || b.tainted))
        return;
      std::vector<Taint> &taint = r.freshTaint();
      for (size_t i = 0; i < r.count; ++i) {
        size_t at = single ? 0 : i;
        Taint chosen = take[at] ? a.taintAt(i) : b.taintAt(i);
        taint[i] = p.taintAt(at) ? p.taintAt(at) : chosen;
      }
    });
  });
}

void addShapeHandlers(HandlerTable &table) {
  table["arith.constant"] = compileConstant;
  table["arith.select"] = compileSelect;
  table["tile.arange"] = compileArange;
  table["tile.splat"] = compileSplat;
  table["tile.broadcast"] = compileBroadcast;
  table["tile.reshape"] = compileReshape;
  table["tile.convert_layout"] = compileReshape; // where a tile lies in a GPU's registers means nothing here
}

} // namespace tilec::reference
