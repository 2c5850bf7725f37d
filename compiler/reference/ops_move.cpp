// Ops that put the elements of tiles elsewhere: permute, cat, extract, insert; and their bytes: pack, unpack.
#include "compiler/reference/elementwise.h"

using namespace mlir;

namespace tilec::reference {

namespace {

/// Where the elements of a tile are found in another: element (i0, i1, …) at `base` plus the i's times the strides.
struct Walk {
  std::vector<int64_t> shape, strides;
  int64_t base = 0;
};

} // namespace

static std::vector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Calls `row(number of its first element, place of that, stride, length)` for each row of a walk.
template <typename F> static void forRows(const Walk &walk, F row) {
  size_t rank = walk.shape.size();
  if (rank == 0)
    return row(0, walk.base, 1, 1);
  int64_t length = walk.shape[rank - 1], rows = 1;
  for (size_t axis = 0; axis + 1 < rank; ++axis)
    rows *= walk.shape[axis];
  llvm::SmallVector<int64_t, 4> at(rank, 0);
  int64_t place = walk.base;
  for (int64_t r = 0; r < rows; ++r) {
    row(r * length, place, walk.strides[rank - 1], length);
    for (size_t axis = rank - 1; axis-- > 0;) {
      place += walk.strides[axis];
      if (++at[axis] < walk.shape[axis])
        break;
      place -= at[axis] * walk.strides[axis];
      at[axis] = 0;
    }
  }
}

/// to[i] = from[walk(i)].
template <typename T> static void collect(const Walk &walk, const T *from, T *to) {
  forRows(walk, [&](int64_t number, int64_t place, int64_t stride, int64_t length) {
    if (stride == 1)
      std::memcpy(to + number, from + place, size_t(length) * sizeof(T));
    else
      for (int64_t i = 0; i < length; ++i)
        to[number + i] = from[place + i * stride];
  });
}

/// to[walk(i)] = from[i].
template <typename T> static void distribute(const Walk &walk, const T *from, T *to) {
  forRows(walk, [&](int64_t number, int64_t place, int64_t stride, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      to[place + i * stride] = from[number + i];
  });
}

static Status compilePermute(Compiler &c, Operation *op) {
  auto permute = cast<tile::PermuteOp>(op);
  size_t x = c.in(permute.getValue()), result = c.out(permute.getResult());
  std::vector<int64_t> strides = rowMajor(tile::tileShape(permute.getValue().getType()));
  Walk walk{tile::tileShape(permute.getType()).vec(), {}};
  for (int64_t axis : permute.getAxes())
    walk.strides.push_back(strides[size_t(axis)]);
  return withInteger(c.storage(permute.getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x];
      Tile &r = frame.tiles[result];
      collect(walk, a.as<T>(), r.as<T>());
      r.tainted = false;
      if (a.tainted)
        collect(walk, a.taint.data(), r.freshTaint().data());
    });
  });
}

static Status compileCat(Compiler &c, Operation *op) {
  auto cat = cast<tile::CatOp>(op);
  size_t parts[2] = {c.in(cat.getLhs()), c.in(cat.getRhs())}, result = c.out(cat.getResult());
  ArrayRef<int64_t> shape = tile::tileShape(cat.getLhs().getType());
  std::vector<int64_t> strides = rowMajor(tile::tileShape(cat.getType()));
  Walk walks[2] = {{shape.vec(), strides}, {shape.vec(), strides}};
  walks[1].base = shape[cat.getAxis()] * strides[cat.getAxis()];
  return withInteger(c.storage(cat.getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      Tile &r = frame.tiles[result];
      r.tainted = false;
      for (size_t i = 0; i < 2; ++i) {
        const Tile &a = frame.tiles[parts[i]];
        distribute(walks[i], a.as<T>(), r.as<T>());
        if (a.tainted)
          distribute(walks[i], a.taint.data(), r.tainted ? r.taint.data() : r.freshTaint().data());
      }
    });
  });
}

namespace {

/// A part of a tile at an index counted in parts.
struct Part {
  std::vector<size_t> indices; ///< i32 tiles
  std::vector<int64_t> counts; ///< parts along each axis
  Walk walk;
  size_t order;
  Place place;
  std::string word;
};

} // namespace

static Part describePart(Compiler &c, Operation *op, Type whole, Type part, ValueRange indices, std::string word) {
  Part result{{},
              {},
              {tile::tileShape(part).vec(), rowMajor(tile::tileShape(whole))},
              c.order(op),
              Compiler::place(op),
              std::move(word)};
  for (auto [index, all, some] : llvm::zip(indices, tile::tileShape(whole), tile::tileShape(part))) {
    result.indices.push_back(c.in(index));
    result.counts.push_back(all / some);
  }
  return result;
}

/// Where the part lies; null after reporting an index that no part has.
static std::optional<Walk> findPart(Frame &frame, const Part &part) {
  Walk walk = part.walk;
  bool inside = true;
  for (size_t axis = 0; axis < part.indices.size(); ++axis) {
    const Tile &tile = frame.tiles[part.indices[axis]];
    if (Taint taint = tile.taintAt(0))
      frame.reaches(taint, part.order, part.place);
    int64_t index = *tile.as<int32_t>();
    if (index < 0 || index >= part.counts[axis]) {
      std::string text =
          fmt::format("{} of part {} along axis {}, where the tile has {}", part.word, index, axis, part.counts[axis]);
      frame.find({FindingKind::OutOfRange, part.order, part.order},
                 {FindingKind::OutOfRange, part.place, part.place, "", "", frame.block, -1, -1, 1, text});
      inside = false;
    }
    walk.base += index * walk.shape[axis] * walk.strides[axis];
  }
  return inside ? std::optional(std::move(walk)) : std::nullopt;
}

static Status compileExtract(Compiler &c, Operation *op) {
  auto extract = cast<tile::ExtractOp>(op);
  size_t x = c.in(extract.getValue());
  Part part = describePart(c, op, extract.getValue().getType(), extract.getType(), extract.getIndices(), "extract");
  size_t result = c.out(extract.getResult());
  return withInteger(c.storage(extract.getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x];
      Tile &r = frame.tiles[result];
      r.tainted = false;
      std::optional<Walk> walk = findPart(frame, part);
      if (!walk) {
        std::fill_n(r.as<T>(), r.count, T(0));
        return;
      }
      collect(*walk, a.as<T>(), r.as<T>());
      if (a.tainted)
        collect(*walk, a.taint.data(), r.freshTaint().data());
    });
  });
}

static Status compileInsert(Compiler &c, Operation *op) {
  auto insert = cast<tile::InsertOp>(op);
  size_t x = c.in(insert.getValue()), y = c.in(insert.getPart());
  Part part = describePart(c, op, insert.getType(), insert.getPart().getType(), insert.getIndices(), "insert");
  size_t result = c.out(insert.getResult());
  return withInteger(c.storage(insert.getType()), false, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x], &b = frame.tiles[y];
      Tile &r = frame.tiles[result];
      std::copy_n(a.as<T>(), a.count, r.as<T>());
      r.tainted = a.tainted;
      if (a.tainted)
        r.taint = a.taint;
      std::optional<Walk> walk = findPart(frame, part);
      if (!walk)
        return;
      distribute(*walk, b.as<T>(), r.as<T>());
      if (b.tainted || r.tainted) {
        std::vector<Taint> clean(b.tainted ? 0 : b.count, 0);
        distribute(*walk, b.tainted ? b.taint.data() : clean.data(),
                   r.tainted ? r.taint.data() : r.freshTaint().data());
      }
    });
  });
}

//===--------------------------------------------------------------------------------------------------------------===//
// Bytes
//===--------------------------------------------------------------------------------------------------------------===//

/// Calls `f(element, byte)` for each element of `bits` bits with each byte it lies in.
template <typename F> static void forBytes(size_t elements, size_t bits, F f) {
  size_t perByte = bits < 8 ? 8 / bits : 1, perElement = bits < 8 ? 1 : bits / 8;
  for (size_t i = 0; i < elements; ++i)
    for (size_t k = 0; k < perElement; ++k)
      f(i, i / perByte * perElement + k);
}

static Status compilePack(Compiler &c, Operation *op) {
  auto pack = cast<tile::PackOp>(op);
  size_t x = c.in(pack.getValue()), result = c.out(pack.getResult());
  DType dtype = *tile::dtypeOf(getElementTypeOrSelf(pack.getValue().getType()));
  bool widened = c.storage(pack.getValue().getType()) != dtype;
  size_t bits = size_t(info(dtype).bits), size = tileBytes(dtype), stored = widened ? 8 : size;
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    std::memset(r.data, 0, r.count);
    for (size_t i = 0; i < a.count; ++i) {
      uint64_t value = 0;
      std::memcpy(&value, a.data + i * stored, stored);
      if (widened)
        value = encodeFloat(dtype, std::bit_cast<double>(value));
      if (bits < 8)
        r.data[i / 2] |= std::byte((value & 0xF) << (i % 2 ? 4 : 0));
      else
        std::memcpy(r.data + i * size, &value, size);
    }
    r.tainted = false;
    if (a.tainted)
      forBytes(a.count, bits, [&](size_t element, size_t byte) {
        if (a.taint[element])
          r.setTaint(byte, a.taint[element]);
      });
  });
  return {};
}

static Status compileUnpack(Compiler &c, Operation *op) {
  auto unpack = cast<tile::UnpackOp>(op);
  size_t x = c.in(unpack.getValue()), result = c.out(unpack.getResult());
  DType dtype = *tile::dtypeOf(getElementTypeOrSelf(unpack.getType()));
  bool widened = c.storage(unpack.getType()) != dtype;
  size_t bits = size_t(info(dtype).bits), size = tileBytes(dtype), stored = widened ? 8 : size;
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    for (size_t i = 0; i < r.count; ++i) {
      uint64_t value = 0;
      if (bits < 8)
        value = uint8_t(a.data[i / 2]) >> (i % 2 ? 4 : 0) & 0xF;
      else
        std::memcpy(&value, a.data + i * size, size);
      if (dtype == DType::bool_)
        value = value != 0;
      if (widened)
        value = std::bit_cast<uint64_t>(decodeFloat(dtype, value));
      std::memcpy(r.data + i * stored, &value, stored);
    }
    r.tainted = false;
    if (a.tainted)
      forBytes(r.count, bits, [&](size_t element, size_t byte) {
        if (a.taint[byte] && !r.taintAt(element))
          r.setTaint(element, a.taint[byte]);
      });
  });
  return {};
}

void addMoveHandlers(HandlerTable &table) {
  table["tile.permute"] = compilePermute;
  table["tile.cat"] = compileCat;
  table["tile.extract"] = compileExtract;
  table["tile.insert"] = compileInsert;
  table["tile.pack"] = compilePack;
  table["tile.unpack"] = compileUnpack;
}

} // namespace tilec::reference
