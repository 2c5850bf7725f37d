// x.to(T) and bitcasts.
#include "compiler/reference/elementwise.h"
#include "compiler/reference/numeric.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilec::reference {

Rounding roundingOf(tile::RoundingMode mode) {
  switch (mode) {
  case tile::RoundingMode::rn:
    return Rounding::NearestEven;
  case tile::RoundingMode::rz:
    return Rounding::Zero;
  case tile::RoundingMode::rm:
    return Rounding::Down;
  case tile::RoundingMode::rp:
    return Rounding::Up;
  }
  return Rounding::NearestEven;
}

/// The common conversions as plain loops; their results are those of tilec::convert bit for bit.
static bool fastConversion(Compiler &c, Operation *op, DType from, DType to) {
  auto is = [&](DType a, DType b) { return from == a && to == b; };
  if (is(DType::f16, DType::f32))
    addUnary<uint16_t, float>(c, op, [](uint16_t x) { return decodeF16(x); });
  else if (is(DType::bf16, DType::f32))
    addUnary<uint16_t, float>(c, op, [](uint16_t x) { return decodeBF16(x); });
  else if (is(DType::f32, DType::f16))
    addUnary<float, uint16_t>(c, op, [](float x) { return encodeF16(x); });
  else if (is(DType::f32, DType::bf16))
    addUnary<float, uint16_t>(c, op, [](float x) { return encodeBF16(x); });
  else if (is(DType::f32, DType::f64))
    addUnary<float, double>(c, op, [](float x) { return double(x); });
  else if (is(DType::f64, DType::f32))
    addUnary<double, float>(c, op, [](double x) { return float(x); });
  else if (is(DType::i32, DType::f32))
    addUnary<int32_t, float>(c, op, [](int32_t x) { return float(x); });
  else if (is(DType::i32, DType::i64))
    addUnary<int32_t, int64_t>(c, op, [](int32_t x) { return int64_t(x); });
  else if (is(DType::i64, DType::i32))
    addUnary<int64_t, int32_t>(c, op, [](int64_t x) { return int32_t(x); });
  else if (is(DType::bool_, DType::i32))
    addUnary<uint8_t, int32_t>(c, op, [](uint8_t x) { return int32_t(x); });
  else
    return false;
  return true;
}

/// Storage of a dtype as an unsigned integer, for conversions element by element.
template <typename F> static void withStorage(DType dtype, F f) { (void)withInteger(dtype, false, f); }

static Status compileConvert(Compiler &c, Operation *op) {
  auto conversion = cast<tile::ConvertOp>(op);
  DType from = *parseDType(conversion.getFrom()), to = *parseDType(conversion.getTo());
  Rounding rounding = roundingOf(conversion.getRounding());
  bool saturate = conversion.getSaturate();
  bool plain = rounding == Rounding::NearestEven && !saturate;
  // While widening, a float operand is an f64; the result is rounded to the dtype all the same and then kept as f64.
  bool widens = c.widens();
  DType source = widens && isFloat(from) ? DType::f64 : from;
  if (plain && !widens && fastConversion(c, op, from, to))
    return {};
  DType target = widens && isFloat(to) ? DType::f64 : to;
  withStorage(source, [&](auto zeroFrom) {
    using From = decltype(zeroFrom);
    withStorage(target, [&](auto zeroTo) {
      using To = decltype(zeroTo);
      addUnary<From, To>(c, op, [=](From x) {
        uint64_t bits = convert(source, to, uint64_t(x), rounding, saturate);
        return To(target == to ? bits : std::bit_cast<uint64_t>(decodeFloat(to, bits)));
      });
    });
  });
  return {};
}

/// The same bits as another dtype of equal width. While widening, the bits of a float are those of its own dtype.
static Status reinterpret(Compiler &c, Operation *op, DType from, DType to) {
  bool decodes = c.widens() && isFloat(from), encodes = c.widens() && isFloat(to);
  if (!decodes && !encodes)
    return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
      using T = decltype(zero);
      addUnary<T, T>(c, op, [](T x) { return x; });
    });
  if (decodes && encodes) {
    addUnary<double, double>(c, op, [=](double x) { return decodeFloat(to, encodeFloat(from, x)); });
    return {};
  }
  if (decodes)
    return withInteger(to, false, [&](auto zero) {
      using To = decltype(zero);
      addUnary<double, To>(c, op, [from](double x) { return To(encodeFloat(from, x)); });
    });
  return withInteger(from, false, [&](auto zero) {
    using From = decltype(zero);
    addUnary<From, double>(c, op, [to](From x) { return decodeFloat(to, uint64_t(std::make_unsigned_t<From>(x))); });
  });
}

static Status compileBitcast(Compiler &c, Operation *op) {
  auto bitcast = cast<tile::BitcastOp>(op);
  return reinterpret(c, op, *parseDType(bitcast.getFrom()), *parseDType(bitcast.getTo()));
}

/// What simplification makes of a bitcast.
static Status compileArithBitcast(Compiler &c, Operation *op) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  return reinterpret(c, op, *tile::dtypeOf(from), *tile::dtypeOf(to));
}

void addConvertHandlers(HandlerTable &table) {
  table["tile.convert"] = compileConvert;
  table["tile.bitcast"] = compileBitcast;
  table["arith.bitcast"] = compileArithBitcast;
}

} // namespace tilec::reference
