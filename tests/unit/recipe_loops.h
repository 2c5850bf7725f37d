#pragma once
// What each recipe computes, in plain loops over f64: the independent side of recipe_values_test.
#include "compiler/base/dtype.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace tilec::tuner {

/// A problem as numbers: row-major arrays (outputs are written in place), extents and scalars, dtypes.
struct Case {
  std::map<std::string, std::vector<double>> arrays;
  std::map<std::string, double> numbers;
  std::map<std::string, DType> dtypes;
  int64_t n(const std::string &name) const { return int64_t(std::llround(numbers.at(name))); }
  bool flag(const std::string &name) const { return numbers.contains(name) && numbers.at(name) != 0; }
  DType dtype(const std::string &name, DType otherwise) const {
    auto it = dtypes.find(name);
    return it == dtypes.end() ? otherwise : it->second;
  }
};
using Loop = std::function<void(Case &)>;

namespace loops {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Calls `body(row of x, row of y, C)` for each row.
template <typename Body> void forRows(Case &c, const char *x, const char *y, Body body) {
  int64_t rows = c.n("R"), columns = c.n("C");
  for (int64_t r = 0; r < rows; ++r)
    body(c.arrays.at(x).data() + r * columns, c.arrays.at(y).data() + r * columns, columns);
}

inline void vectorAdd(Case &c) {
  for (size_t i = 0; i < c.arrays["c"].size(); ++i)
    c.arrays["c"][i] = c.arrays["a"][i] + c.arrays["b"][i];
}

inline void fusedGelu(Case &c) {
  for (size_t i = 0; i < c.arrays["y"].size(); ++i) {
    double h = c.arrays["x"][i] * c.arrays["w"][i] + c.arrays["b"][i];
    double z = std::sqrt(2 / M_PI) * (h + 0.044715 * h * h * h);
    c.arrays["y"][i] = 0.5 * h * (1 + std::tanh(z));
  }
}

inline void softmax(Case &c) {
  forRows(c, "x", "y", [](const double *x, double *y, int64_t n) {
    double top = *std::max_element(x, x + n), total = 0;
    for (int64_t i = 0; i < n; ++i)
      total += y[i] = std::exp(x[i] - top);
    for (int64_t i = 0; i < n; ++i)
      y[i] /= total;
  });
}

inline void rmsnorm(Case &c) {
  const std::vector<double> &w = c.arrays["w"];
  forRows(c, "x", "y", [&](const double *x, double *y, int64_t n) {
    double squares = std::inner_product(x, x + n, x, 0.0);
    for (int64_t i = 0; i < n; ++i)
      y[i] = x[i] / std::sqrt(squares / double(n) + c.numbers["eps"]) * w[size_t(i)];
  });
}

inline void layernorm(Case &c) {
  const std::vector<double> &w = c.arrays["w"], &b = c.arrays["b"];
  forRows(c, "x", "y", [&](const double *x, double *y, int64_t n) {
    double mean = std::accumulate(x, x + n, 0.0) / double(n), squares = 0;
    for (int64_t i = 0; i < n; ++i)
      squares += (x[i] - mean) * (x[i] - mean);
    double scale = 1 / std::sqrt(squares / double(n) + c.numbers["eps"]);
    for (int64_t i = 0; i < n; ++i)
      y[i] = (x[i] - mean) * scale * w[size_t(i)] + b[size_t(i)];
  });
}

/// dx, and the gradients of weight and bias that row r adds to group r % G.
inline void layernormBackward(Case &c) {
  int64_t rows = c.n("M"), n = c.n("N"), groups = c.n("G");
  for (int64_t r = 0; r < rows; ++r) {
    const double *x = c.arrays["x"].data() + r * n, *dy = c.arrays["dy"].data() + r * n;
    double mean = c.arrays["mean"][size_t(r)], rstd = c.arrays["rstd"][size_t(r)], c1 = 0, c2 = 0;
    for (int64_t i = 0; i < n; ++i) {
      double wg = c.arrays["w"][size_t(i)] * dy[i];
      c1 += (x[i] - mean) * rstd * wg;
      c2 += wg;
    }
    for (int64_t i = 0; i < n; ++i) {
      double xhat = (x[i] - mean) * rstd, wg = c.arrays["w"][size_t(i)] * dy[i];
      c.arrays["dx"][size_t(r * n + i)] = (wg - (xhat * c1 / double(n) + c2 / double(n))) * rstd;
      c.arrays["dw"][size_t(r % groups * n + i)] += dy[i] * xhat;
      c.arrays["db"][size_t(r % groups * n + i)] += dy[i];
    }
  }
}

/// c = op(a) · op(b), one product of a batch; sums in f64.
inline void product(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
      c[i * n + j] = sum;
    }
}

/// An f32 as tf32, to nearest even.
inline double roundTf32(double x) {
  int exponent;
  double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

inline void matmul(Case &c) {
  product(c.arrays["a"].data(), c.arrays["b"].data(), c.arrays["c"].data(), c.n("M"), c.n("N"), c.n("K"), false, false);
}

inline void matmulPersistent(Case &c) {
  if (c.dtype("T", DType::f16) == DType::f32)
    for (const char *name : {"a", "b"})
      std::ranges::transform(c.arrays[name], c.arrays[name].begin(), roundTf32);
  int64_t m = c.n("M"), n = c.n("N");
  product(c.arrays["a"].data(), c.arrays["b"].data(), c.arrays["c"].data(), m, n, c.n("K"), c.flag("TA"), c.flag("TB"));
  for (int64_t i = 0; c.flag("BIAS") && i < m * n; ++i)
    c.arrays["c"][size_t(i)] += c.arrays["bias"][size_t(i % n)];
}

inline void batchedMatmul(Case &c) {
  int64_t m = c.n("M"), n = c.n("N"), k = c.n("K");
  for (int64_t i = 0; i < c.n("B"); ++i)
    product(c.arrays["a"].data() + i * m * k, c.arrays["b"].data() + i * k * n, c.arrays["c"].data() + i * m * n, m, n,
            k, false, false);
}

inline void attention(Case &c) {
  int64_t hq = c.n("HQ"), hk = c.n("HK"), sq = c.n("SQ"), sk = c.n("SK"), d = c.n("D");
  bool causal = c.flag("CAUSAL");
  std::vector<double> p(static_cast<size_t>(sk));
  for (int64_t row = 0; row < c.n("B") * hq * sq; ++row) {
    int64_t i = row % sq, h = row / sq % hq, b = row / sq / hq;
    const double *q = c.arrays["q"].data() + row * d;
    const double *k = c.arrays["k"].data() + (b * hk + h / (hq / hk)) * sk * d;
    const double *v = c.arrays["v"].data() + (b * hk + h / (hq / hk)) * sk * d;
    double top = -infinity, total = 0;
    for (int64_t j = 0; j < sk; ++j) {
      bool seen = !causal || j <= c.n("pos") + i;
      p[size_t(j)] = seen ? std::inner_product(q, q + d, k + j * d, 0.0) * c.numbers["scale"] : -infinity;
      top = std::max(top, p[size_t(j)]);
    }
    for (double &weight : p)
      total += weight = top == -infinity ? 0 : std::exp(weight - top);
    for (int64_t e = 0; e < d; ++e) {
      double sum = 0;
      for (int64_t j = 0; j < sk; ++j)
        sum += p[size_t(j)] * v[j * d + e];
      c.arrays["o"][size_t(row * d + e)] = total == 0 ? 0 : sum / total;
    }
    c.arrays["lse"][size_t(row)] = top + std::log(total);
  }
}

inline void rope(Case &c) {
  int64_t s = c.n("S"), d = c.n("D"), half = d / 2;
  for (int64_t row = 0; row < c.n("B") * c.n("H") * s; ++row)
    for (int64_t i = 0; i < half; ++i) {
      double a = c.arrays["x"][size_t(row * d + i)], b = c.arrays["x"][size_t(row * d + half + i)];
      double cosine = c.arrays["cosines"][size_t(row % s * half + i)],
             sine = c.arrays["sines"][size_t(row % s * half + i)];
      c.arrays["y"][size_t(row * d + i)] = a * cosine - b * sine;
      c.arrays["y"][size_t(row * d + half + i)] = b * cosine + a * sine;
    }
}

inline void swiglu(Case &c) {
  int64_t columns = c.n("C");
  for (int64_t i = 0; i < c.n("R") * columns; ++i) {
    const double *row = c.arrays["x"].data() + i / columns * 2 * columns;
    double gate = row[i % columns], up = row[columns + i % columns];
    c.arrays["y"][size_t(i)] = gate / (1 + std::exp(-gate)) * up;
  }
}

inline void transpose(Case &c) {
  int64_t m = c.n("M"), n = c.n("N");
  for (int64_t i = 0; i < m * n; ++i)
    c.arrays["y"][size_t(i % n * m + i / n)] = c.arrays["x"][size_t(i)];
}

inline void cumsum(Case &c) {
  forRows(c, "x", "y", [&](const double *x, double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = c.flag("REVERSE") ? n - 1 - i : i;
      y[at] = sum += x[at];
    }
  });
}

inline void histogram(Case &c) {
  for (double x : c.arrays["x"])
    if (x >= 0 && x < c.numbers["BINS"])
      c.arrays["counts"][size_t(x)] += 1;
}

inline void embedding(Case &c) {
  int64_t d = c.n("D");
  for (int64_t i = 0; i < c.n("N") * d; ++i) {
    double id = c.arrays["ids"][size_t(i / d)];
    bool inside = id >= 0 && id < c.numbers["V"];
    c.arrays["y"][size_t(i)] = inside ? c.arrays["table"][size_t(int64_t(id) * d + i % d)] : 0;
  }
}

/// A target past the end reads a logit of 0.
inline void crossEntropy(Case &c) {
  int64_t v = c.n("V");
  for (int64_t i = 0; i < c.n("N"); ++i) {
    const double *row = c.arrays["logits"].data() + i * v;
    double top = *std::max_element(row, row + v), total = 0, target = c.arrays["target"][size_t(i)];
    for (int64_t j = 0; j < v; ++j)
      total += std::exp(row[j] - top);
    double chosen = target >= 0 && target < double(v) ? row[int64_t(target)] : 0;
    c.arrays["loss"][size_t(i)] = target < 0 ? 0 : top + std::log(total) - chosen;
  }
}

inline void topk(Case &c) {
  int64_t n = c.n("N"), k = c.n("K");
  for (int64_t r = 0; r < c.n("ROWS"); ++r) {
    const double *row = c.arrays["x"].data() + r * n;
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return row[a] > row[b]; });
    for (int64_t j = 0; j < k; ++j) {
      c.arrays["pos"][size_t(r * k + j)] = double(order[size_t(j)]);
      c.arrays["val"][size_t(r * k + j)] = row[order[size_t(j)]];
    }
  }
}

} // namespace loops

/// The loop of a recipe's folder; null when there is none.
inline const Loop *findLoop(const std::string &recipe) {
  static const std::map<std::string, Loop> table = {
      {"vector_add", loops::vectorAdd},
      {"fused_gelu", loops::fusedGelu},
      {"softmax", loops::softmax},
      {"rmsnorm", loops::rmsnorm},
      {"layernorm", loops::layernorm},
      {"layernorm_backward", loops::layernormBackward},
      {"matmul", loops::matmul},
      {"matmul_persistent", loops::matmulPersistent},
      {"batched_matmul", loops::batchedMatmul},
      {"attention", loops::attention},
      {"rope", loops::rope},
      {"swiglu", loops::swiglu},
      {"transpose", loops::transpose},
      {"cumsum", loops::cumsum},
      {"histogram", loops::histogram},
      {"embedding", loops::embedding},
      {"cross_entropy", loops::crossEntropy},
      {"topk", loops::topk},
  };
  auto it = table.find(recipe);
  return it == table.end() ? nullptr : &it->second;
}

} // namespace tilec::tuner
