// The counter-based generator and the inverse normal distribution of inputs.h. Contraction is off: a fused multiply-add
// would change bits between machines.
#include "runtime/inputs.h"
#include <bit>
#include <cmath>

#pragma STDC FP_CONTRACT OFF

namespace tilec::runtime {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  constexpr uint64_t m0 = 0xD2511F53, m1 = 0xCD9E8D57;
  constexpr uint32_t w0 = 0x9E3779B9, w1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = m0 * c[0], p1 = m1 * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k = {k[0] + w0, k[1] + w1};
  }
  return c;
}

std::array<uint64_t, 2> randomPair(uint64_t seed, uint32_t array, uint64_t pair) {
  auto r = philox4x32({uint32_t(pair), uint32_t(pair >> 32), array, 0}, {uint32_t(seed), uint32_t(seed >> 32)});
  return {uint64_t(r[1]) << 32 | r[0], uint64_t(r[3]) << 32 | r[2]};
}

uint64_t randomBits(uint64_t seed, uint32_t array, uint64_t element) {
  return randomPair(seed, array, element >> 1)[size_t(element & 1)];
}

namespace {

/// Natural logarithm of a normal positive number, to about an ulp: x = m·2^e with m in [√½, √2), and
/// log m = 2 atanh((m − 1)/(m + 1)) by its series, whose terms fall below 2^-60 after twelve.
double logarithm(double x) {
  int e = 0;
  double m = std::frexp(x, &e); // exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --e;
  }
  double s = (m - 1) / (m + 1), q = s * s, sum = 0;
  for (int n = 23; n >= 1; n -= 2)
    sum = sum * q + 1.0 / n;
  constexpr double ln2 = 0.69314718055994530942;
  return e * ln2 + 2 * s * sum;
}

/// Value of Σ c[i]·x^i.
template <size_t N> double polynomial(const double (&c)[N], double x) {
  double sum = 0;
  for (size_t i = N; i-- > 0;)
    sum = sum * x + c[i];
  return sum;
}

// Coefficients of AS 241 (PPND16): numerator and denominator for |p − ½| ≤ 0.425, the near and the far tail.
constexpr double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                        3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double b[] = {1.0,
                        4.2313330701600911252e1,
                        6.8718700749205790830e2,
                        5.3941960214247511077e3,
                        2.1213794301586595867e4,
                        3.9307895800092710610e4,
                        2.8729085735721942674e4,
                        5.2264952788528545610e3};
constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                        3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double d[] = {1.0,
                        2.05319162663775882187e0,
                        1.67638483018380384940e0,
                        6.89767334985100004550e-1,
                        1.48103976427480074590e-1,
                        1.51986665636164571966e-2,
                        5.47593808499534494600e-4,
                        1.05075007164441684324e-9};
constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double f[] = {1.0,
                        5.99832206555887937690e-1,
                        1.36929880922735805310e-1,
                        1.48753612908506148525e-2,
                        7.86869131145613259100e-4,
                        1.84631831751005468180e-5,
                        1.42151175831644588870e-7,
                        2.04426310338993978564e-15};

} // namespace

double inverseNormal(double p) {
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p));
  double x = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -x : x;
}

} // namespace tilec::runtime
