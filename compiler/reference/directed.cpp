// The processor rounds in a direction when told to. Compilers take it to round to nearest always, so what is computed
// meanwhile comes from and goes to volatile variables: their accesses stay between the two changes of mode, and what is
// computed from one stays with it.
#include "compiler/reference/directed.h"
#include <cfenv>
#include <cmath>

namespace tilec::reference {

static int modeOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return FE_TONEAREST;
  case Rounding::Zero:
    return FE_TOWARDZERO;
  case Rounding::Down:
    return FE_DOWNWARD;
  case Rounding::Up:
    return FE_UPWARD;
  }
  return FE_TONEAREST;
}

template <typename F>
static void forEach(Rounding rounding, size_t count, const double *a, const double *b, const double *c, double *result,
                    F f) {
  int before = std::fegetround();
  std::fesetround(modeOf(rounding));
  for (size_t i = 0; i < count; ++i) {
    volatile double x = a[i], y = b[i], z = c[i];
    volatile double value = f(x, y, z);
    result[i] = value;
  }
  std::fesetround(before);
}

void computeDirected(Exact op, Rounding rounding, size_t count, const double *a, const double *b, const double *c,
                     double *result) {
  auto each = [&](auto f) { forEach(rounding, count, a, b, c, result, f); };
  switch (op) {
  case Exact::Add:
    return each([](double x, double y, double) { return x + y; });
  case Exact::Sub:
    return each([](double x, double y, double) { return x - y; });
  case Exact::Mul:
    return each([](double x, double y, double) { return x * y; });
  case Exact::Div:
    return each([](double x, double y, double) { return x / y; });
  case Exact::Sqrt:
    return each([](double x, double, double) { return std::sqrt(x); });
  case Exact::Fma:
    return each([](double x, double y, double z) { return std::fma(x, y, z); });
  }
}

} // namespace tilec::reference
