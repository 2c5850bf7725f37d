#pragma once
// Steps that compute a tile element by element, and how undefined lanes pass through them.
#include "compiler/reference/compiler.h"

namespace tilec::reference {

/// A lane of the result is undefined when one of the operands' is.
template <typename... T> void mergeTaint(Tile &result, const T &...operands) {
  result.tainted = false;
  if (!(operands.tainted || ...))
    return;
  std::vector<Taint> &taint = result.freshTaint();
  for (size_t i = 0; i < result.count; ++i) {
    Taint lane = 0;
    ((lane = lane ? lane : operands.taintAt(i)), ...);
    taint[i] = lane;
  }
}

template <typename In, typename Out, typename F> void addUnary(Compiler &c, mlir::Operation *op, F f) {
  size_t x = c.in(op->getOperand(0)), result = c.out(op->getResult(0));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    const In *__restrict from = a.as<In>();
    Out *__restrict to = r.as<Out>();
    for (size_t i = 0, n = r.count; i < n; ++i)
      to[i] = f(from[i]);
    mergeTaint(r, a);
  });
}

template <typename In, typename Out, typename F> void addBinary(Compiler &c, mlir::Operation *op, F f) {
  size_t x = c.in(op->getOperand(0)), y = c.in(op->getOperand(1)), result = c.out(op->getResult(0));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x], &b = frame.tiles[y];
    Tile &r = frame.tiles[result];
    const In *__restrict left = a.as<In>(), *__restrict right = b.as<In>();
    Out *__restrict to = r.as<Out>();
    for (size_t i = 0, n = r.count; i < n; ++i)
      to[i] = f(left[i], right[i]);
    mergeTaint(r, a, b);
  });
}

/// Calls `f` with a value of the C++ integer type that holds an element in a tile, taken as signed or unsigned; fp4
/// elements have a byte each.
template <typename F> Status withInteger(DType dtype, bool isSigned, F f) {
  switch (tileBytes(dtype)) {
  case 1:
    isSigned &&dtype != DType::bool_ ? f(int8_t()) : f(uint8_t());
    return {};
  case 2:
    isSigned ? f(int16_t()) : f(uint16_t());
    return {};
  case 4:
    isSigned ? f(int32_t()) : f(uint32_t());
    return {};
  default:
    isSigned ? f(int64_t()) : f(uint64_t());
    return {};
  }
}

} // namespace tilec::reference
