// Integer and logic ops of arith. Arithmetic wraps; what has no value (division by zero, MIN / -1) gives an undefined
// lane that names its division.
#include "compiler/reference/elementwise.h"
#include "compiler/reference/numeric.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilec::reference {

/// Arithmetic that wraps, done on 64 unsigned bits whatever the width.
template <typename F> static Status wrapping(Compiler &c, Operation *op, F f) {
  return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
    using T = decltype(zero);
    addBinary<T, T>(c, op, [f](T a, T b) { return T(f(uint64_t(a), uint64_t(b))); });
  });
}

template <bool isSigned, typename F> static Status comparing(Compiler &c, Operation *op, F f) {
  return withInteger(c.storage(op->getResult(0).getType()), isSigned, [&](auto zero) {
    using T = decltype(zero);
    addBinary<T, T>(c, op, [f](T a, T b) { return T(f(a, b)); });
  });
}

/// An operation without a value for some operands; `f` sees only the others.
template <bool isSigned, typename U, typename F> static Status partial(Compiler &c, Operation *op, U undefined, F f) {
  size_t x = c.in(op->getOperand(0)), y = c.in(op->getOperand(1)), result = c.out(op->getResult(0));
  Taint cause = c.cause(FindingKind::DivisionByZero, op);
  return withInteger(c.storage(op->getResult(0).getType()), isSigned, [&](auto zero) {
    using T = decltype(zero);
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x], &b = frame.tiles[y];
      Tile &r = frame.tiles[result];
      mergeTaint(r, a, b);
      const T *left = a.as<T>(), *right = b.as<T>();
      T *to = r.as<T>();
      for (size_t i = 0; i < r.count; ++i) {
        if (!undefined(left[i], right[i])) {
          to[i] = f(left[i], right[i]);
          continue;
        }
        to[i] = 0;
        if (!r.tainted)
          r.freshTaint();
        if (!r.taint[i])
          r.taint[i] = cause;
      }
    });
  });
}

template <bool isSigned, typename F> static Status dividing(Compiler &c, Operation *op, F f) {
  auto undefined = [](auto a, auto b) {
    using T = decltype(a);
    return b == 0 || (isSigned && b == T(-1) && a == std::numeric_limits<T>::min());
  };
  return partial<isSigned>(c, op, undefined, f);
}

/// Shifts by the width or more give 0, or all sign bits; the amount counts as unsigned.
template <bool isSigned, typename F> static Status shifting(Compiler &c, Operation *op, F f) {
  return withInteger(c.storage(op->getResult(0).getType()), isSigned, [&](auto zero) {
    using T = decltype(zero);
    using U = std::make_unsigned_t<T>;
    addBinary<T, T>(c, op, [f](T a, T b) { return T(f(a, U(b), unsigned(sizeof(T) * 8))); });
  });
}

/// and, or on bool: one operand alone can decide, and then the other may be undefined.
template <bool decides> static Status logical(Compiler &c, Operation *op) {
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return wrapping(c, op, [](uint64_t a, uint64_t b) { return decides ? a | b : a & b; });
  size_t x = c.in(op->getOperand(0)), y = c.in(op->getOperand(1)), result = c.out(op->getResult(0));
  c.add([=](Frame &frame) {
    const Tile &a = frame.tiles[x], &b = frame.tiles[y];
    Tile &r = frame.tiles[result];
    const uint8_t *left = a.as<uint8_t>(), *right = b.as<uint8_t>();
    uint8_t *to = r.as<uint8_t>();
    for (size_t i = 0; i < r.count; ++i)
      to[i] = decides ? left[i] | right[i] : left[i] & right[i];
    mergeTaint(r, a, b);
    for (size_t i = 0; r.tainted && i < r.count; ++i)
      if ((left[i] == decides && !a.taintAt(i)) || (right[i] == decides && !b.taintAt(i)))
        r.taint[i] = 0;
  });
  return {};
}

static Status compileCompare(Compiler &c, Operation *op) {
  using arith::CmpIPredicate;
  auto compare = [&](bool isSigned, auto f) {
    return withInteger(c.storage(op->getOperand(0).getType()), isSigned, [&](auto zero) {
      using T = decltype(zero);
      addBinary<T, uint8_t>(c, op, [f](T a, T b) { return uint8_t(f(a, b)); });
    });
  };
  auto less = [](auto a, auto b) { return a < b; };
  auto lessEqual = [](auto a, auto b) { return a <= b; };
  auto greater = [](auto a, auto b) { return a > b; };
  auto greaterEqual = [](auto a, auto b) { return a >= b; };
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case CmpIPredicate::eq:
    return compare(false, [](auto a, auto b) { return a == b; });
  case CmpIPredicate::ne:
    return compare(false, [](auto a, auto b) { return a != b; });
  case CmpIPredicate::slt:
    return compare(true, less);
  case CmpIPredicate::sle:
    return compare(true, lessEqual);
  case CmpIPredicate::sgt:
    return compare(true, greater);
  case CmpIPredicate::sge:
    return compare(true, greaterEqual);
  case CmpIPredicate::ult:
    return compare(false, less);
  case CmpIPredicate::ule:
    return compare(false, lessEqual);
  case CmpIPredicate::ugt:
    return compare(false, greater);
  case CmpIPredicate::uge:
    return compare(false, greaterEqual);
  }
  return internalError("unknown integer comparison");
}

static uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/// base ** exponent that wraps; a negative exponent gives the truncated reciprocal, which zero does not have.
static Status compilePower(Compiler &c, Operation *op) {
  auto undefined = [](auto base, auto exponent) { return base == 0 && exponent < 0; };
  return partial<true>(c, op, undefined, [](auto base, auto exponent) -> decltype(base) {
    using T = decltype(base);
    if (exponent >= 0)
      return T(power(uint64_t(base), uint64_t(exponent)));
    return base == 1 ? T(1) : base == T(-1) ? T(exponent % 2 ? -1 : 1) : T(0);
  });
}

/// Low and high half of the product of two integers.
template <bool isSigned> static Status compileExtendedProduct(Compiler &c, Operation *op) {
  size_t x = c.in(op->getOperand(0)), y = c.in(op->getOperand(1));
  size_t low = c.out(op->getResult(0)), high = c.out(op->getResult(1));
  return withInteger(c.storage(op->getResult(0).getType()), isSigned, [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<isSigned, __int128, unsigned __int128>;
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x], &b = frame.tiles[y];
      Tile &l = frame.tiles[low], &h = frame.tiles[high];
      for (size_t i = 0; i < l.count; ++i) {
        Wide product = Wide(a.as<T>()[i]) * b.as<T>()[i];
        l.as<T>()[i] = T(product);
        h.as<T>()[i] = T(product >> (8 * sizeof(T)));
      }
      mergeTaint(l, a, b);
      mergeTaint(h, a, b);
    });
  });
}

/// The width changes of arith that come out of simplification; conversions of the language are tile.convert.
template <bool isSigned> static Status compileResize(Compiler &c, Operation *op) {
  DType from = c.storage(op->getOperand(0).getType()), to = c.storage(op->getResult(0).getType());
  bool fromBool = from == DType::bool_, toBool = to == DType::bool_;
  return withInteger(from, isSigned, [&](auto zeroFrom) {
    using From = decltype(zeroFrom);
    (void)withInteger(to, true, [&](auto zeroTo) {
      using To = decltype(zeroTo);
      addUnary<From, To>(c, op, [=](From x) {
        To value = fromBool && isSigned ? To(-int(x)) : To(x);
        return toBool ? To(value & 1) : value;
      });
    });
  });
}

void addIntegerHandlers(HandlerTable &table) {
  table["arith.addi"] = [](Compiler &c, Operation *op) {
    return wrapping(c, op, [](auto a, auto b) { return a + b; });
  };
  table["arith.subi"] = [](Compiler &c, Operation *op) {
    return wrapping(c, op, [](auto a, auto b) { return a - b; });
  };
  table["arith.muli"] = [](Compiler &c, Operation *op) {
    return wrapping(c, op, [](auto a, auto b) { return a * b; });
  };
  table["arith.xori"] = [](Compiler &c, Operation *op) {
    return wrapping(c, op, [](auto a, auto b) { return a ^ b; });
  };
  table["arith.andi"] = logical<false>;
  table["arith.ori"] = logical<true>;
  table["arith.maxsi"] = [](Compiler &c, Operation *op) {
    return comparing<true>(c, op, [](auto a, auto b) { return a > b ? a : b; });
  };
  table["arith.maxui"] = [](Compiler &c, Operation *op) {
    return comparing<false>(c, op, [](auto a, auto b) { return a > b ? a : b; });
  };
  table["arith.minsi"] = [](Compiler &c, Operation *op) {
    return comparing<true>(c, op, [](auto a, auto b) { return a < b ? a : b; });
  };
  table["arith.minui"] = [](Compiler &c, Operation *op) {
    return comparing<false>(c, op, [](auto a, auto b) { return a < b ? a : b; });
  };
  table["arith.divsi"] = [](Compiler &c, Operation *op) {
    return dividing<true>(c, op, [](auto a, auto b) { return decltype(a)(a / b); });
  };
  table["arith.divui"] = [](Compiler &c, Operation *op) {
    return dividing<false>(c, op, [](auto a, auto b) { return decltype(a)(a / b); });
  };
  table["arith.remsi"] = [](Compiler &c, Operation *op) {
    return dividing<true>(c, op, [](auto a, auto b) { return decltype(a)(a % b); });
  };
  table["arith.remui"] = [](Compiler &c, Operation *op) {
    return dividing<false>(c, op, [](auto a, auto b) { return decltype(a)(a % b); });
  };
  table["arith.floordivsi"] = [](Compiler &c, Operation *op) {
    return dividing<true>(c, op, [](auto a, auto b) { return floorDivide(a, b); });
  };
  table["arith.ceildivsi"] = [](Compiler &c, Operation *op) {
    return dividing<true>(c, op, [](auto a, auto b) { return ceilDivide(a, b); });
  };
  table["arith.ceildivui"] = [](Compiler &c, Operation *op) {
    return dividing<false>(c, op, [](auto a, auto b) { return ceilDivide(a, b); });
  };
  table["arith.shli"] = [](Compiler &c, Operation *op) {
    return shifting<false>(c, op, [](auto a, auto by, unsigned width) { return by < width ? uint64_t(a) << by : 0; });
  };
  table["arith.shrui"] = [](Compiler &c, Operation *op) {
    return shifting<false>(c, op, [](auto a, auto by, unsigned width) { return by < width ? uint64_t(a) >> by : 0; });
  };
  table["arith.shrsi"] = [](Compiler &c, Operation *op) {
    return shifting<true>(c, op,
                          [](auto a, auto by, unsigned width) { return int64_t(a) >> (by < width ? by : width - 1); });
  };
  table["arith.cmpi"] = compileCompare;
  table["arith.extsi"] = compileResize<true>;
  table["arith.extui"] = compileResize<false>;
  table["arith.trunci"] = compileResize<false>;
  table["arith.index_cast"] = compileResize<true>;
  table["arith.mulsi_extended"] = compileExtendedProduct<true>;
  table["arith.mului_extended"] = compileExtendedProduct<false>;
  table["math.ipowi"] = compilePower;
  table["math.ctpop"] = [](Compiler &c, Operation *op) {
    return withInteger(c.storage(op->getResult(0).getType()), false, [&](auto zero) {
      using T = decltype(zero);
      addUnary<T, T>(c, op, [](T x) { return T(std::popcount(std::make_unsigned_t<T>(x))); });
    });
  };
  table["math.absi"] = [](Compiler &c, Operation *op) {
    return withInteger(c.storage(op->getResult(0).getType()), true, [&](auto zero) {
      using T = decltype(zero);
      addUnary<T, T>(c, op, [](T x) { return T(x < 0 ? -uint64_t(x) : uint64_t(x)); });
    });
  };
}

} // namespace tilec::reference
