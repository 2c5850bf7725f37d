#pragma once
// Operations of f64 that IEEE 754 defines exactly, rounded in a direction. No MLIR.
#include "compiler/base/dtype.h"
#include <cstddef>

namespace tilec::reference {

enum class Exact : uint8_t { Add, Sub, Mul, Div, Sqrt, Fma };

/// result[i] = a[i] op b[i] (Sqrt: of a; Fma: a·b + c), each rounded once as `rounding` says. `result` may be an
/// operand.
void computeDirected(Exact op, Rounding rounding, size_t count, const double *a, const double *b, const double *c,
                     double *result);

} // namespace tilec::reference
