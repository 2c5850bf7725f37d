#include "runtime/compare.h"
#include "compiler/base/text.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

namespace tilec::runtime {
namespace {

/// Compares elements of one pair of arrays.
class Judge {
public:
  Judge(const HostArray &left, const HostArray &right, const Tolerance &how)
      : actual(left), expected(right), tolerance(how), floats(isFloat(left.dtype)), same(left.dtype == right.dtype) {}

  /// Whether elements [first, last) have the same bytes, and so need no look at each.
  bool sameBytes(int64_t first, int64_t last) const {
    int bits = info(actual.dtype).bits;
    if (!same || bits < 8)
      return false;
    int64_t bytes = bits / 8;
    return std::memcmp(actual.bytes.data() + first * bytes, expected.bytes.data() + first * bytes,
                       size_t((last - first) * bytes)) == 0;
  }

  void visit(int64_t i, Comparison &c) const {
    uint64_t bits = actual.get(i), wanted = expected.get(i);
    if (same && bits == wanted)
      return;
    if (!floats)
      return visitIntegers(i, c);
    double a = actual.value(i), e = expected.value(i);
    bool nanA = std::isnan(a), nanE = std::isnan(e);
    if (nanA && nanE)
      return;
    if (nanA || nanE) {
      ++c.nanMismatches;
      return mismatch(i, a, e, c);
    }
    bool finite = std::isfinite(a) && std::isfinite(e);
    double difference = a == e ? 0 : std::fabs(a - e);
    // In the actual dtype, whose last place is the unit; a wider expectation is rounded first.
    int64_t ulps = ulpDistance(actual.dtype, bits, same ? wanted : roundExpected(e, wanted));
    if (finite)
      record(i, difference, e, ulps, c);
    bool passes = tolerance.bitExact       ? false
                  : a == e                 ? true
                  : ulps <= tolerance.ulps ? true
                  : !finite                ? false
                                           : difference <= tolerance.abs + tolerance.rel * std::fabs(e) ||
                                                 (!tolerance.bound.empty() && difference <= tolerance.bound[size_t(i)]);
    // Bit-exact across dtypes means: rounding the expectation gives the bits.
    if (tolerance.bitExact && !same)
      passes = bits == roundExpected(e, wanted);
    if (!passes)
      mismatch(i, a, e, c);
  }

private:
  uint64_t roundExpected(double e, uint64_t bits) const {
    return isFloat(expected.dtype) ? encodeFloat(actual.dtype, e) : convert(expected.dtype, actual.dtype, bits);
  }

  void visitIntegers(int64_t i, Comparison &c) const {
    // Exact in 128 bits, whatever the widths and signs.
    auto integer = [i](const HostArray &array) -> __int128 {
      uint64_t bits = array.get(i);
      if (isFloat(array.dtype))
        return __int128(decodeFloat(array.dtype, bits));
      return array.dtype == DType::u64 ? __int128(bits) : __int128(decodeInt(array.dtype, bits));
    };
    __int128 a = integer(actual), e = integer(expected), difference = a < e ? e - a : a - e;
    double magnitude = double(difference);
    record(i, magnitude, double(e), int64_t(std::min<__int128>(difference, INT64_MAX)), c);
    bool passes = difference == 0 ||
                  (!tolerance.bitExact && (magnitude <= tolerance.abs + tolerance.rel * std::fabs(double(e)) ||
                                           (!tolerance.bound.empty() && magnitude <= tolerance.bound[size_t(i)])));
    if (!passes)
      mismatch(i, double(a), double(e), c);
  }

  static void record(int64_t i, double difference, double e, int64_t ulps, Comparison &c) {
    if (difference > c.worstAbs || c.worstAt < 0) {
      c.worstAbs = difference;
      c.worstAt = i;
    }
    if (e != 0)
      c.worstRel = std::max(c.worstRel, difference / std::fabs(e));
    c.worstUlps = std::max(c.worstUlps, ulps);
  }

  static void mismatch(int64_t i, double a, double e, Comparison &c) {
    if (c.mismatches++ == 0) {
      c.first = i;
      c.actual = a;
      c.expected = e;
    }
  }

  const HostArray &actual, &expected;
  const Tolerance &tolerance;
  bool floats, same;
};

constexpr int64_t blockElements = 256;

/// Adds the findings of another slice.
void merge(Comparison &into, const Comparison &part) {
  into.mismatches += part.mismatches;
  into.nanMismatches += part.nanMismatches;
  if (part.first >= 0 && (into.first < 0 || part.first < into.first)) {
    into.first = part.first;
    into.actual = part.actual;
    into.expected = part.expected;
  }
  bool larger = part.worstAbs > into.worstAbs || into.worstAt < 0;
  // On a tie the earlier element, so that the number of threads does not show.
  if (part.worstAt >= 0 && (larger || (part.worstAbs == into.worstAbs && part.worstAt < into.worstAt))) {
    into.worstAbs = part.worstAbs;
    into.worstAt = part.worstAt;
  }
  into.worstRel = std::max(into.worstRel, part.worstRel);
  into.worstUlps = std::max(into.worstUlps, part.worstUlps);
}

} // namespace

Result<Comparison> compare(const HostArray &actual, const HostArray &expected, const Tolerance &tolerance) {
  if (actual.extents != expected.extents)
    return internalError("arrays of different shapes are compared");
  Comparison result;
  result.count = actual.count();
  if (!tolerance.bound.empty() && int64_t(tolerance.bound.size()) != result.count)
    return internalError("a bound of {} elements is given for {}", tolerance.bound.size(), result.count);
  if (isFloat(actual.dtype) != isFloat(expected.dtype))
    return internalError("an array of {} is compared with one of {}", name(actual.dtype), name(expected.dtype));
  Judge judge(actual, expected, tolerance);
  std::mutex guard;
  parallelFor(result.count, 1, [&](int64_t first, int64_t last) {
    Comparison part;
    for (int64_t i = first; i < last;) {
      int64_t stop = std::min(i + blockElements, last);
      if (!judge.sameBytes(i, stop))
        for (int64_t j = i; j < stop; ++j)
          judge.visit(j, part);
      i = stop;
    }
    std::lock_guard lock(guard);
    merge(result, part);
  });
  if (result.first >= 0)
    result.firstAt = coordinates(result.first, actual.extents);
  return result;
}

std::string toString(const Comparison &c) {
  std::string worst = c.worstAt < 0 ? ""
                                    : fmt::format("; largest difference {:.3g} (relative {:.3g}, {} ulp)", c.worstAbs,
                                                  c.worstRel, c.worstUlps);
  if (c.equal())
    return fmt::format("all {} elements agree{}", c.count, c.worstAbs > 0 ? worst : "");
  std::vector<std::string> at;
  for (int64_t i : c.firstAt)
    at.push_back(fmt::format("{}", i));
  return fmt::format("{} of {} elements differ; first at [{}]: {}, expected {}{}", c.mismatches, c.count,
                     join(at, ", "), c.actual, c.expected, worst);
}

Json toJson(const Comparison &c) {
  auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(fmt::format("{}", v)); };
  Json json{{"count", c.count},
            {"mismatches", c.mismatches},
            {"nan_mismatches", c.nanMismatches},
            {"worst_abs", number(c.worstAbs)},
            {"worst_rel", number(c.worstRel)},
            {"worst_ulps", c.worstUlps}};
  if (c.first >= 0)
    json["first"] = {{"index", c.firstAt}, {"actual", number(c.actual)}, {"expected", number(c.expected)}};
  return json;
}

} // namespace tilec::runtime
