// Float ops of arith, math and tile. Each rounds once to the element type; nothing is contracted.
#include "compiler/reference/directed.h"
#include "compiler/reference/elementwise.h"
#include "compiler/reference/numeric.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilec::reference {

/// Calls `f` with the element of a dtype that has arithmetic.
template <typename F> static Status withFloat(Compiler &c, Operation *op, F f) {
  DType dtype = c.storage(op->getOperand(0).getType());
  switch (dtype) {
  case DType::f64:
    f(F64());
    return {};
  case DType::f32:
    op->hasAttr("tile.ftz") ? f(F32Ftz()) : f(F32());
    return {};
  case DType::f16:
    f(F16());
    return {};
  case DType::bf16:
    f(BF16());
    return {};
  default:
    return internalError("{} has no arithmetic, as {} asks", name(dtype), op->getName().getStringRef().str());
  }
}

/// How an op rounds where it says so.
static Rounding roundingOf(Operation *op) {
  auto mode = op->getAttrOfType<tile::RoundingModeAttr>("tile.rounding");
  return mode ? roundingOf(mode.getValue()) : Rounding::NearestEven;
}

/// An operation of the correctly rounded kind under a directed rounding. The operands are exact in f64, and rounding
/// the f64 result once more in the same direction gives the one rounding to the dtype.
static Status directed(Compiler &c, Operation *op, Exact kind, Rounding rounding) {
  llvm::SmallVector<size_t, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(c.in(operand));
  size_t result = c.out(op->getResult(0));
  DType dtype = c.storage(op->getResult(0).getType());
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    using S = typename E::Storage;
    c.add([=](Frame &frame) {
      Tile &r = frame.tiles[result];
      std::vector<double> values[3];
      const Tile *tiles[3] = {};
      for (size_t i = 0; i < 3; ++i) {
        tiles[i] = &frame.tiles[operands[std::min(i, operands.size() - 1)]];
        values[i].resize(r.count);
        for (size_t lane = 0; lane < r.count; ++lane)
          values[i][lane] = double(E::decode(tiles[i]->template as<S>()[lane]));
      }
      computeDirected(kind, rounding, r.count, values[0].data(), values[1].data(), values[2].data(), values[0].data());
      for (size_t lane = 0; lane < r.count; ++lane) {
        S bits;
        uint64_t encoded = encodeFloat(dtype, values[0][lane], rounding);
        std::memcpy(&bits, &encoded, sizeof(S));
        if constexpr (std::is_same_v<E, F32Ftz>)
          bits = E::encode(bits);
        r.as<S>()[lane] = bits;
      }
      mergeTaint(r, *tiles[0], *tiles[1], *tiles[2]);
    });
  });
}

/// One rounding of what the compute type gives.
template <typename F> static Status binary(Compiler &c, Operation *op, F f) {
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    addBinary<typename E::Storage, typename E::Storage>(
        c, op, [f](auto a, auto b) { return E::encode(f(E::decode(a), E::decode(b))); });
  });
}

/// + - * /, to nearest or as the op says.
template <typename F> static Status arithmetic(Compiler &c, Operation *op, Exact kind, F f) {
  Rounding rounding = roundingOf(op);
  return rounding == Rounding::NearestEven ? binary(c, op, f) : directed(c, op, kind, rounding);
}

/// A function computed in f64 and rounded once.
template <typename F> static Status function(Compiler &c, Operation *op, F f) {
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    addUnary<typename E::Storage, typename E::Storage>(c, op,
                                                       [f](auto x) { return E::fromDouble(f(double(E::decode(x)))); });
  });
}

/// Moves of the value that need no rounding: abs, neg, floor and their kin.
template <typename F> static Status exact(Compiler &c, Operation *op, F f) {
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    addUnary<typename E::Storage, typename E::Storage>(c, op, [f](auto x) { return E::encode(f(E::decode(x))); });
  });
}

/// Only f32 is flushed; in widened precision its values have no subnormals.
static float flushed(float x) { return F32Ftz::flush(x); }
static double flushed(double x) { return x; }

template <typename Op, bool isMax> static Status extreme(Compiler &c, Operation *op) {
  bool propagate = cast<Op>(op).getPropagateNan();
  auto pick = [&](auto f) { return binary(c, op, f); };
  if constexpr (isMax)
    return propagate ? pick([](auto a, auto b) { return maximum<true>(a, b); })
                     : pick([](auto a, auto b) { return maximum<false>(a, b); });
  else
    return propagate ? pick([](auto a, auto b) { return minimum<true>(a, b); })
                     : pick([](auto a, auto b) { return minimum<false>(a, b); });
}

static Status compileFma(Compiler &c, Operation *op) {
  if (Rounding rounding = roundingOf(op); rounding != Rounding::NearestEven)
    return directed(c, op, Exact::Fma, rounding);
  size_t x = c.in(op->getOperand(0)), y = c.in(op->getOperand(1)), z = c.in(op->getOperand(2));
  size_t result = c.out(op->getResult(0));
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    using S = typename E::Storage;
    c.add([=](Frame &frame) {
      const Tile &a = frame.tiles[x], &b = frame.tiles[y], &d = frame.tiles[z];
      Tile &r = frame.tiles[result];
      const S *p = a.as<S>(), *q = b.as<S>(), *s = d.as<S>();
      S *to = r.as<S>();
      for (size_t i = 0; i < r.count; ++i)
        to[i] = fusedMultiplyAdd<E>(p[i], q[i], s[i]);
      mergeTaint(r, a, b, d);
    });
  });
}

static Status compileCompare(Compiler &c, Operation *op) {
  using arith::CmpFPredicate;
  auto compare = [&](auto f) {
    return withFloat(c, op, [&](auto element) {
      using E = decltype(element);
      addBinary<typename E::Storage, uint8_t>(c, op,
                                              [f](auto a, auto b) { return uint8_t(f(E::decode(a), E::decode(b))); });
    });
  };
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case CmpFPredicate::AlwaysFalse:
    return compare([](auto, auto) { return false; });
  case CmpFPredicate::AlwaysTrue:
    return compare([](auto, auto) { return true; });
  case CmpFPredicate::OEQ:
    return compare([](auto a, auto b) { return a == b; });
  case CmpFPredicate::OGT:
    return compare([](auto a, auto b) { return a > b; });
  case CmpFPredicate::OGE:
    return compare([](auto a, auto b) { return a >= b; });
  case CmpFPredicate::OLT:
    return compare([](auto a, auto b) { return a < b; });
  case CmpFPredicate::OLE:
    return compare([](auto a, auto b) { return a <= b; });
  case CmpFPredicate::ONE:
    return compare([](auto a, auto b) { return a < b || a > b; });
  case CmpFPredicate::ORD:
    return compare([](auto a, auto b) { return a == a && b == b; });
  case CmpFPredicate::UEQ:
    return compare([](auto a, auto b) { return !(a < b || a > b); });
  case CmpFPredicate::UGT:
    return compare([](auto a, auto b) { return !(a <= b); });
  case CmpFPredicate::UGE:
    return compare([](auto a, auto b) { return !(a < b); });
  case CmpFPredicate::ULT:
    return compare([](auto a, auto b) { return !(a >= b); });
  case CmpFPredicate::ULE:
    return compare([](auto a, auto b) { return !(a > b); });
  case CmpFPredicate::UNE:
    return compare([](auto a, auto b) { return a != b; });
  case CmpFPredicate::UNO:
    return compare([](auto a, auto b) { return a != a || b != b; });
  }
  return internalError("unknown float comparison");
}

/// pow, in f64 like the functions of one operand.
static Status compilePower(Compiler &c, Operation *op) {
  return withFloat(c, op, [&](auto element) {
    using E = decltype(element);
    addBinary<typename E::Storage, typename E::Storage>(
        c, op, [](auto a, auto b) { return E::fromDouble(std::pow(double(E::decode(a)), double(E::decode(b)))); });
  });
}

static Status compileSqrt(Compiler &c, Operation *op) {
  if (Rounding rounding = roundingOf(op); rounding != Rounding::NearestEven)
    return directed(c, op, Exact::Sqrt, rounding);
  return exact(c, op, [](auto x) { return std::sqrt(x); });
}

void addFloatHandlers(HandlerTable &table) {
  table["arith.addf"] = [](Compiler &c, Operation *op) {
    return arithmetic(c, op, Exact::Add, [](auto a, auto b) { return a + b; });
  };
  table["arith.subf"] = [](Compiler &c, Operation *op) {
    return arithmetic(c, op, Exact::Sub, [](auto a, auto b) { return a - b; });
  };
  table["arith.mulf"] = [](Compiler &c, Operation *op) {
    return arithmetic(c, op, Exact::Mul, [](auto a, auto b) { return a * b; });
  };
  table["arith.divf"] = [](Compiler &c, Operation *op) {
    return arithmetic(c, op, Exact::Div, [](auto a, auto b) { return a / b; });
  };
  table["arith.negf"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return -x; }); };
  table["arith.cmpf"] = compileCompare;
  table["tile.fmin"] = extreme<tile::FMinOp, false>;
  table["tile.fmax"] = extreme<tile::FMaxOp, true>;
  table["math.fma"] = compileFma;
  table["math.powf"] = compilePower;
  table["math.sqrt"] = compileSqrt;
  table["tile.flush"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return flushed(x); }); };
  table["math.absf"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return std::fabs(x); }); };
  table["math.floor"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return std::floor(x); }); };
  table["math.ceil"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return std::ceil(x); }); };
  table["math.trunc"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return std::trunc(x); }); };
  table["math.roundeven"] = [](Compiler &c, Operation *op) {
    return exact(c, op, [](auto x) { return std::nearbyint(x); });
  };
  table["math.round"] = [](Compiler &c, Operation *op) { return exact(c, op, [](auto x) { return std::round(x); }); };
#define FUNCTION(mnemonic, expression)                                                                                 \
  table["math." mnemonic] = [](Compiler &c, Operation *op) {                                                           \
    return function(c, op, [](double x) { return expression; });                                                       \
  };
  FUNCTION("exp", std::exp(x))
  FUNCTION("exp2", std::exp2(x))
  FUNCTION("log", std::log(x))
  FUNCTION("log2", std::log2(x))
  FUNCTION("rsqrt", 1.0 / std::sqrt(x))
  FUNCTION("sin", std::sin(x))
  FUNCTION("cos", std::cos(x))
  FUNCTION("tan", std::tan(x))
  FUNCTION("sinh", std::sinh(x))
  FUNCTION("cosh", std::cosh(x))
  FUNCTION("tanh", std::tanh(x))
  FUNCTION("erf", std::erf(x))
#undef FUNCTION
}

} // namespace tilec::reference
