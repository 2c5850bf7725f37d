// One loop nest for all element types: a block of 4 rows by two vectors of columns stays in registers while k runs, and
// the columns of b that it needs are copied next to one another first. Each function exists once for any x86-64 and
// once for processors with AVX2 and fused operations; their results are the same, since products that are exact make
// a·b + c one rounding either way.
#include "compiler/reference/multiply.h"
#include <cmath>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#define TILEC_VERSIONS __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define TILEC_VERSIONS
#endif

namespace tilec::reference {

namespace {

constexpr size_t blockRows = 4, blockVectors = 2;

template <typename T> struct VectorOf;
template <> struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(32)));
};
template <> struct VectorOf<uint32_t> {
  typedef uint32_t Type __attribute__((vector_size(32)));
};

/// One element after another, for the rows and columns that fill no block.
template <typename T, typename F>
[[gnu::always_inline]] inline void multiplyEdge(size_t rows, size_t columns, size_t k, const T *a, const T *b,
                                                size_t bStride, T *c, size_t cStride, F multiplyAdd) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      T sum = c[i * cStride + j];
      for (size_t l = 0; l < k; ++l)
        sum = multiplyAdd(a[i * k + l], b[l * bStride + j], sum);
      c[i * cStride + j] = sum;
    }
}

template <typename T, typename F>
[[gnu::always_inline]] inline void multiply(size_t m, size_t n, size_t k, const T *a, const T *b, T *c, T *panel,
                                            F multiplyAdd) {
  using V = typename VectorOf<T>::Type;
  constexpr size_t length = sizeof(V) / sizeof(T), blockColumns = blockVectors * length;
  size_t wholeRows = m / blockRows * blockRows, wholeColumns = n / blockColumns * blockColumns;
  for (size_t j = 0; j < wholeColumns; j += blockColumns) {
    for (size_t l = 0; l < k; ++l)
      std::memcpy(panel + l * blockColumns, b + l * n + j, blockColumns * sizeof(T));
    for (size_t i = 0; i < wholeRows; i += blockRows) {
      V sums[blockRows][blockVectors];
      for (size_t r = 0; r < blockRows; ++r)
        std::memcpy(sums[r], c + (i + r) * n + j, sizeof(sums[r]));
      for (size_t l = 0; l < k; ++l) {
        V columns[blockVectors];
        std::memcpy(columns, panel + l * blockColumns, sizeof(columns));
        for (size_t r = 0; r < blockRows; ++r) {
          V row = a[(i + r) * k + l] - V{}; // in every lane; a sum would lose the sign of -0
          for (size_t v = 0; v < blockVectors; ++v)
            sums[r][v] = multiplyAdd(row, columns[v], sums[r][v]);
        }
      }
      for (size_t r = 0; r < blockRows; ++r)
        std::memcpy(c + (i + r) * n + j, sums[r], sizeof(sums[r]));
    }
  }
  if (wholeColumns < n)
    multiplyEdge(wholeRows, n - wholeColumns, k, a, b + wholeColumns, n, c + wholeColumns, n, multiplyAdd);
  if (wholeRows < m)
    multiplyEdge(m - wholeRows, n, k, a + wholeRows * k, b, n, c + wholeRows * n, n, multiplyAdd);
}

struct Plain {
  template <typename T> [[gnu::always_inline]] T operator()(const T &x, const T &y, const T &sum) const {
    return x * y + sum;
  }
};

struct Fused {
  [[gnu::always_inline]] double operator()(double x, double y, double sum) const { return std::fma(x, y, sum); }
  template <typename V> [[gnu::always_inline]] V operator()(const V &x, const V &y, const V &sum) const {
    V result = sum;
    for (size_t i = 0; i < sizeof(V) / sizeof(double); ++i)
      result[i] = std::fma(x[i], y[i], sum[i]);
    return result;
  }
};

/// Room for the columns of b that a block needs.
template <typename T> std::vector<T> panelFor(size_t k) {
  return std::vector<T>(k * blockVectors * sizeof(typename VectorOf<T>::Type) / sizeof(T));
}

} // namespace

TILEC_VERSIONS static void multiplyExact(size_t m, size_t n, size_t k, const double *a, const double *b, double *c,
                                         double *panel) {
  multiply(m, n, k, a, b, c, panel, Plain());
}
TILEC_VERSIONS static void multiplyFused(size_t m, size_t n, size_t k, const double *a, const double *b, double *c,
                                         double *panel) {
  multiply(m, n, k, a, b, c, panel, Fused());
}
TILEC_VERSIONS static void multiplyWords(size_t m, size_t n, size_t k, const uint32_t *a, const uint32_t *b,
                                         uint32_t *c, uint32_t *panel) {
  multiply(m, n, k, a, b, c, panel, Plain());
}

void multiplyExact(size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
  multiplyExact(m, n, k, a, b, c, panelFor<double>(k).data());
}

void multiplyFused(size_t m, size_t n, size_t k, const double *a, const double *b, double *c) {
  multiplyFused(m, n, k, a, b, c, panelFor<double>(k).data());
}

void multiplyIntegers(size_t m, size_t n, size_t k, const int32_t *a, const int32_t *b, int32_t *c) {
  multiplyWords(m, n, k, reinterpret_cast<const uint32_t *>(a), reinterpret_cast<const uint32_t *>(b),
                reinterpret_cast<uint32_t *>(c), panelFor<uint32_t>(k).data());
}

} // namespace tilec::reference
