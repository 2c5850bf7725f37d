// Matrix products.
#include "compiler/reference/elementwise.h"
#include "compiler/reference/multiply.h"
#include "compiler/reference/numeric.h"

using namespace mlir;

namespace tilec::reference {

namespace {

struct Shape {
  size_t batch, m, n, k;
  size_t a() const { return batch * m * k; }
  size_t b() const { return batch * k * n; }
  size_t c() const { return batch * m * n; }
};

/// A tile's elements as numbers to multiply.
template <typename N> using Decoder = void (*)(const std::byte *from, N *to, size_t count);
template <typename N> using Encoder = void (*)(const N *from, std::byte *to, size_t count);

} // namespace

template <typename S, auto decode> static void decodeAll(const std::byte *from, double *to, size_t count) {
  const S *elements = reinterpret_cast<const S *>(from);
  for (size_t i = 0; i < count; ++i)
    to[i] = double(decode(elements[i]));
}

template <DType dtype> static double decodeByte(uint8_t bits) {
  static const std::array<double, 256> values = [] {
    std::array<double, 256> all{};
    for (uint64_t code = 0; code < all.size(); ++code)
      all[code] = decodeFloat(dtype, code);
    return all;
  }();
  return values[bits];
}

static Result<Decoder<double>> decoderOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return decodeAll<double, F64::decode>;
  case DType::f32:
  case DType::tf32: // the upper bits of an f32
    return decodeAll<float, F32::decode>;
  case DType::f16:
    return decodeAll<uint16_t, F16::decode>;
  case DType::bf16:
    return decodeAll<uint16_t, BF16::decode>;
  case DType::f8e4m3:
    return decodeAll<uint8_t, decodeByte<DType::f8e4m3>>;
  case DType::f8e5m2:
    return decodeAll<uint8_t, decodeByte<DType::f8e5m2>>;
  default:
    return internalError("a matrix product of {}", name(dtype));
  }
}

template <typename E> static void encodeAll(const double *from, std::byte *to, size_t count) {
  auto *elements = reinterpret_cast<typename E::Storage *>(to);
  for (size_t i = 0; i < count; ++i)
    elements[i] = E::fromDouble(from[i]);
}

static Result<Encoder<double>> encoderOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return encodeAll<F64>;
  case DType::f32:
    return encodeAll<F32>;
  case DType::f16:
    return encodeAll<F16>;
  default:
    return internalError("a matrix product accumulated in {}", name(dtype));
  }
}

/// An element is undefined when one of its row of a, of its column of b, or the accumulator's is.
static void productTaint(Tile &r, const Tile &a, const Tile &b, const Tile &acc, const Shape &shape) {
  r.tainted = false;
  if (!a.tainted && !b.tainted && !acc.tainted)
    return;
  std::vector<Taint> rows(shape.batch * shape.m), columns(shape.batch * shape.n);
  for (size_t i = 0; i < shape.a(); ++i)
    if (Taint taint = a.taintAt(i); taint && !rows[i / shape.k])
      rows[i / shape.k] = taint;
  for (size_t i = 0; i < shape.b(); ++i) {
    Taint &column = columns[i / (shape.k * shape.n) * shape.n + i % shape.n];
    if (Taint taint = b.taintAt(i); taint && !column)
      column = taint;
  }
  std::vector<Taint> &taint = r.freshTaint();
  for (size_t i = 0; i < shape.c(); ++i) {
    size_t row = i / shape.n, column = row / shape.m * shape.n + i % shape.n;
    taint[i] = acc.taintAt(i) ? acc.taintAt(i) : rows[row] ? rows[row] : columns[column];
  }
}

static Status compileMma(Compiler &c, Operation *op) {
  auto mma = cast<tile::MmaOp>(op);
  ArrayRef<int64_t> left = tile::tileShape(mma.getA().getType()), right = tile::tileShape(mma.getB().getType());
  size_t rank = left.size();
  Shape shape{rank == 3 ? size_t(left[0]) : 1, size_t(left[rank - 2]), size_t(right[rank - 1]), size_t(left[rank - 1])};
  size_t a = c.in(mma.getA()), b = c.in(mma.getB()), acc = c.in(mma.getAcc()), result = c.out(mma.getResult());
  auto eachProduct = [shape](auto multiply, auto *x, auto *y, auto *sums) {
    for (size_t i = 0; i < shape.batch; ++i)
      multiply(shape.m, shape.n, shape.k, x + i * shape.m * shape.k, y + i * shape.k * shape.n,
               sums + i * shape.m * shape.n);
  };
  auto add = [&](auto compute) {
    c.add([=](Frame &frame) {
      const Tile &x = frame.tiles[a], &y = frame.tiles[b], &z = frame.tiles[acc];
      Tile &r = frame.tiles[result];
      compute(frame, x, y, z, r);
      productTaint(r, x, y, z, shape);
    });
  };
  size_t elements = shape.a() + shape.b() + shape.c();
  DType dtype = c.storage(mma.getA().getType());
  if (!isFloat(dtype)) {
    if (dtype != DType::i8 || c.storage(mma.getType()) != DType::i32)
      return internalError("a matrix product of {} accumulated in {}", name(dtype), name(c.storage(mma.getType())));
    auto decoder = [](bool isUnsigned) -> Decoder<int32_t> {
      if (isUnsigned)
        return [](const std::byte *from, int32_t *to, size_t n) {
          std::copy_n(reinterpret_cast<const uint8_t *>(from), n, to);
        };
      return [](const std::byte *from, int32_t *to, size_t n) {
        std::copy_n(reinterpret_cast<const int8_t *>(from), n, to);
      };
    };
    Decoder<int32_t> decodeA = decoder(mma.getAUnsigned()), decodeB = decoder(mma.getBUnsigned());
    c.needScratch(elements * sizeof(int32_t));
    add([=](Frame &frame, const Tile &x, const Tile &y, const Tile &z, Tile &r) {
      auto *p = reinterpret_cast<int32_t *>(frame.scratch.data()), *q = p + shape.a();
      decodeA(x.data, p, shape.a());
      decodeB(y.data, q, shape.b());
      std::memcpy(r.data, z.data, shape.c() * sizeof(int32_t));
      eachProduct(multiplyIntegers, p, q, r.as<int32_t>());
    });
    return {};
  }
  TILEC_ASSIGN(Decoder<double> decodeA, decoderOf(dtype));
  TILEC_ASSIGN(Decoder<double> decodeB, decoderOf(c.storage(mma.getB().getType())));
  TILEC_ASSIGN(Decoder<double> decodeAcc, decoderOf(c.storage(mma.getType())));
  TILEC_ASSIGN(Encoder<double> encode, encoderOf(c.storage(mma.getType())));
  auto *multiply = dtype == DType::f64 ? multiplyFused : multiplyExact;
  c.needScratch(elements * sizeof(double));
  add([=](Frame &frame, const Tile &x, const Tile &y, const Tile &z, Tile &r) {
    auto *p = reinterpret_cast<double *>(frame.scratch.data()), *q = p + shape.a(), *sums = q + shape.b();
    decodeA(x.data, p, shape.a());
    decodeB(y.data, q, shape.b());
    decodeAcc(z.data, sums, shape.c());
    eachProduct(multiply, p, q, sums);
    encode(sums, r.data, shape.c());
  });
  return {};
}

void addProductHandlers(HandlerTable &table) { table["tile.mma"] = compileMma; }

} // namespace tilec::reference
