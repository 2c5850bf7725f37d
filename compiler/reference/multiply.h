#pragma once
// Matrix products of plain numbers, all row-major: c (m, n) += a (m, k) · b (k, n), in the order of k. No MLIR.
#include <cstddef>
#include <cstdint>

namespace tilec::reference {

/// Of operands whose products are exact in f64, as those of f32 and narrower are.
void multiplyExact(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);
/// Of any f64: each product is added by one fused operation.
void multiplyFused(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);
/// Wraps.
void multiplyIntegers(size_t m, size_t n, size_t k, const int32_t *a, const int32_t *b, int32_t *c);

} // namespace tilec::reference
