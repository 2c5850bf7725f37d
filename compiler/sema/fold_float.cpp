// Float arithmetic of constants under any rounding: one rounding of the exact result, as the operation does it at run
// time.
#include "compiler/sema/fold.h"
#include <bit>
#include <cfenv>
#include <cmath>

namespace tilec::sema {
namespace {

int modeOf(Rounding rounding) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  return modes[size_t(rounding)];
}

/// The operation in f64 under a mode of the processor. Operands and result are volatile, so that the compiler leaves
/// the operation between the changes of the mode.
double compute(FloatOp op, const std::array<double, 3> &values, int mode, bool &inexact) {
  volatile double a = values[0], b = values[1], c = values[2], result = 0;
  fenv_t saved;
  feholdexcept(&saved);
  fesetround(mode);
  switch (op) {
  case FloatOp::Add:
    result = a + b;
    break;
  case FloatOp::Sub:
    result = a - b;
    break;
  case FloatOp::Mul:
    result = a * b;
    break;
  case FloatOp::Div:
    result = a / b;
    break;
  case FloatOp::Sqrt:
    result = std::sqrt(a);
    break;
  case FloatOp::Fma:
    result = std::fma(a, b, c);
    break;
  }
  inexact = fetestexcept(FE_INEXACT) != 0;
  fesetenv(&saved);
  return result;
}

/// Subnormals of f32 as zeros of their sign.
double flushed(double value) { return std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value; }

} // namespace

uint64_t foldFloat(FloatOp op, DType t, std::array<double, 3> values, Rounding rounding, bool ftz) {
  bool inexact = false;
  if (t == DType::f64)
    return std::bit_cast<uint64_t>(compute(op, values, modeOf(rounding), inexact));
  if (ftz)
    for (double &value : values)
      value = flushed(value);
  // Rounded to odd, an f64 keeps what the one rounding to 24 bits or fewer needs to know of the rest.
  double wide = compute(op, values, FE_TOWARDZERO, inexact);
  if (inexact)
    wide = std::bit_cast<double>(std::bit_cast<uint64_t>(wide) | 1);
  else if (wide == 0) // the sign of an exact zero depends on the mode
    wide = compute(op, values, modeOf(rounding), inexact);
  uint64_t bits = encodeFloat(t, wide, rounding);
  return ftz ? encodeFloat(t, flushed(decodeFloat(t, bits))) : bits;
}

} // namespace tilec::sema
