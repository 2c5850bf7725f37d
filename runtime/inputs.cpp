#include "runtime/inputs.h"
#include "compiler/base/text.h"
#include "runtime/npy.h"
#include <bit>
#include <charconv>
#include <cmath>

namespace tilec::runtime {
namespace {

struct Form {
  std::string_view name;
  DistributionKind kind;
  int minArgs, maxArgs;
  double a, b; ///< values of missing arguments
};
constexpr Form forms[] = {
    {"normal", DistributionKind::Normal, 0, 2, 0, 1},   {"uniform", DistributionKind::Uniform, 0, 2, 0, 1},
    {"arange", DistributionKind::Arange, 0, 2, 0, 1},   {"zeros", DistributionKind::Constant, 0, 0, 0, 0},
    {"ones", DistributionKind::Constant, 0, 0, 1, 0},   {"constant", DistributionKind::Constant, 1, 1, 0, 0},
    {"randint", DistributionKind::RandInt, 2, 2, 0, 0},
};

constexpr std::string_view formsHelp = "inputs are normal:MEAN,STD uniform:LO,HI arange:START,STEP zeros ones "
                                       "constant:V randint:LO,HI or FILE.npy";

/// Reads a number of either kind; `integral` stays set only when it is an integer of 64 bits.
bool readNumber(std::string_view text, double &value, int64_t &integer, bool &integral) {
  text = trim(text);
  auto whole = [&](auto &out) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (whole(integer)) {
    value = double(integer);
    return true;
  }
  integral = false;
  return whole(value); // inf and nan too
}

} // namespace

Result<Distribution> parseDistribution(std::string_view text) {
  Distribution d;
  if (text.ends_with(".npy")) {
    d.kind = DistributionKind::File;
    d.path = text;
    return d;
  }
  size_t colon = text.find(':');
  std::string head(text.substr(0, colon));
  const Form *form = nullptr;
  std::vector<std::string> names;
  for (const Form &f : forms) {
    names.emplace_back(f.name);
    if (f.name == head)
      form = &f;
  }
  if (!form) {
    std::string near = nearest(head, names);
    return withHelp(
        usageError("unknown input '{}'{}", text, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)),
        std::string(formsHelp));
  }
  std::vector<std::string> args;
  if (colon != std::string_view::npos)
    args = split(text.substr(colon + 1), ',');
  // A mean alone would leave one guessing at the deviation.
  bool half = args.size() == 1 && (form->kind == DistributionKind::Normal || form->kind == DistributionKind::Uniform);
  if (half || int(args.size()) < form->minArgs || int(args.size()) > form->maxArgs)
    return withHelp(usageError("input '{}' has {} number{}", text, args.size(), args.size() == 1 ? "" : "s"),
                    std::string(formsHelp));
  d.kind = form->kind;
  d.a = form->a;
  d.b = form->b;
  d.ia = int64_t(form->a);
  d.ib = int64_t(form->b);
  d.integral = true;
  std::pair<double *, int64_t *> slots[] = {{&d.a, &d.ia}, {&d.b, &d.ib}};
  for (size_t i = 0; i < args.size(); ++i)
    if (!readNumber(args[i], *slots[i].first, *slots[i].second, d.integral))
      return withHelp(usageError("'{}' in input '{}' is no number", args[i], text), std::string(formsHelp));
  if (d.kind == DistributionKind::RandInt && (!d.integral || d.ia >= d.ib))
    return usageError("input '{}' needs two integers, the first one below the second", text);
  if ((d.kind == DistributionKind::Uniform && !(d.a <= d.b)) || (d.kind == DistributionKind::Normal && !(d.b >= 0)))
    return usageError("input '{}' {}", text,
                      d.kind == DistributionKind::Uniform ? "has its lower end above its upper one"
                                                          : "has a negative standard deviation");
  return d;
}

std::string toString(const Distribution &d) {
  if (d.kind == DistributionKind::File)
    return d.path;
  auto number = [&](double f, int64_t i) { return d.integral ? fmt::format("{}", i) : fmt::format("{}", f); };
  std::string a = number(d.a, d.ia), b = number(d.b, d.ib);
  switch (d.kind) {
  case DistributionKind::Normal:
    return fmt::format("normal:{},{}", a, b);
  case DistributionKind::Uniform:
    return fmt::format("uniform:{},{}", a, b);
  case DistributionKind::Arange:
    return fmt::format("arange:{},{}", a, b);
  case DistributionKind::RandInt:
    return fmt::format("randint:{},{}", a, b);
  default:
    return fmt::format("constant:{}", a);
  }
}

Distribution defaultDistribution(DType dtype) {
  auto randint = [](int64_t lo, int64_t hi) {
    return Distribution{DistributionKind::RandInt, double(lo), double(hi), lo, hi, true, ""};
  };
  if (dtype == DType::f8e8m0) // scales: powers of two around 1, none of them negative
    return {DistributionKind::Uniform, 0.125, 8, 0, 0, false, ""};
  if (isFloat(dtype))
    return {DistributionKind::Normal, 0, 1, 0, 1, true, ""};
  if (dtype == DType::bool_)
    return randint(0, 2);
  return info(dtype).isSigned ? randint(-8, 8) : randint(0, 16);
}

Status checkDistribution(const Distribution &d, DType dtype) {
  if (isFloat(dtype) || d.kind == DistributionKind::File)
    return {};
  if (d.kind == DistributionKind::Normal)
    return withHelp(usageError("input '{}' needs a float dtype, not {}", toString(d), name(dtype)),
                    "randint:LO,HI gives random integers");
  if (!d.integral)
    return usageError("input '{}' has a fraction, and the array holds {}", toString(d), name(dtype));
  auto fits = [&](int64_t v) { return dtype == DType::bool_ ? v == 0 || v == 1 : fitsInt(dtype, v); };
  bool range = d.kind == DistributionKind::RandInt || d.kind == DistributionKind::Uniform;
  bool empty = range && d.ia >= d.ib;
  // An arange may wrap, as integer arithmetic does.
  if (empty || (range && (!fits(d.ia) || !fits(d.ib - 1))) || (d.kind == DistributionKind::Constant && !fits(d.ia)))
    return usageError("input '{}' does not fit {}", toString(d), name(dtype));
  return {};
}

namespace {

/// encodeFloat for values whose result is a normal number, at the speed of a fill; the rest goes there.
class FloatEncoder {
public:
  explicit FloatEncoder(DType t) : dtype(t) {
    const DTypeInfo &format = info(t);
    int bias = (1 << (format.exponentBits - 1)) - 1;
    // f64 itself, and formats without a sign or with fewer than 8 bits, take the general way.
    if (format.bits >= 8 && format.mantissaBits > 0 && t != DType::f64 && t != DType::tf32) {
      mantissa = format.mantissaBits;
      sign = format.bits - 1;
      rebias = uint64_t(1023 - bias) << mantissa;
      // Below half the largest exponent nothing rounds up into the codes of infinity, NaN or saturation.
      lowest = uint64_t(1023 - bias + 1) << 52;
      beyond = uint64_t(1023 + bias - 1) << 52;
    }
  }
  uint64_t operator()(double value) const {
    uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~(uint64_t(1) << 63);
    if (magnitude < lowest || magnitude >= beyond)
      return encodeFloat(dtype, value);
    int cut = 52 - mantissa;
    uint64_t odd = (magnitude >> cut) & 1;
    uint64_t rounded = (magnitude + (uint64_t(1) << (cut - 1)) - 1 + odd) >> cut; // to nearest even
    return (rounded - rebias) | (bits >> 63) << sign;
  }

private:
  DType dtype;
  int mantissa = 0, sign = 0;
  uint64_t rebias = 0, lowest = 1, beyond = 0; ///< an empty range
};

/// Makes elements of one array from their random bits.
class ElementMaker {
public:
  ElementMaker(const Distribution &distribution, DType t) : d(distribution), dtype(t), encode(t) {}

  bool isRandom() const {
    return d.kind == DistributionKind::Normal || d.kind == DistributionKind::Uniform ||
           d.kind == DistributionKind::RandInt;
  }

  uint64_t operator()(uint64_t element, uint64_t random) const {
#pragma STDC FP_CONTRACT OFF
    // The upper 52 bits as a number of [0, 1); adding half a step keeps clear of both ends, and stays exact.
    constexpr double step = 0x1p-52;
    switch (d.kind) {
    case DistributionKind::Constant:
      return d.integral ? fromInt(d.ia) : encode(d.a);
    case DistributionKind::Arange:
      return d.integral ? fromInt(int64_t(uint64_t(d.ia) + element * uint64_t(d.ib)))
                        : encode(d.a + double(element) * d.b);
    case DistributionKind::Normal:
      return encode(d.a + d.b * inverseNormal((double(random >> 12) + 0.5) * step));
    case DistributionKind::Uniform:
      if (isFloat(dtype))
        return encode(d.a + (d.b - d.a) * (double(random >> 12) * step));
      [[fallthrough]];
    default:
      uint64_t range = uint64_t(d.ib) - uint64_t(d.ia);
      return fromInt(int64_t(uint64_t(d.ia) + uint64_t((unsigned __int128)(random)*range >> 64)));
    }
  }

private:
  uint64_t fromInt(int64_t v) const {
    if (dtype == DType::bool_)
      return uint64_t(v != 0);
    return isFloat(dtype) ? encodeFloatFromInt(dtype, v) : encodeInt(dtype, v);
  }

  const Distribution &d;
  DType dtype;
  FloatEncoder encode;
};

} // namespace

uint64_t inputElement(const Distribution &d, DType dtype, uint64_t seed, uint32_t array, uint64_t element) {
  return ElementMaker(d, dtype)(element, randomBits(seed, array, element));
}

Result<HostArray> makeInput(const Distribution &d, DType dtype, std::vector<int64_t> extents, uint64_t seed,
                            uint32_t array, std::string_view label) {
  if (d.kind == DistributionKind::File)
    return loadNpy(d.path, dtype, extents, label);
  TILEC_TRY(checkDistribution(d, dtype));
  HostArray result = HostArray::zeros(dtype, std::move(extents));
  ElementMaker make(d, dtype);
  // Slices begin at even elements: two share the 128 bits of one draw.
  parallelFor(result.count(), 2, [&](int64_t first, int64_t last) {
    std::array<uint64_t, 2> random{};
    for (int64_t i = first; i < last; ++i) {
      if (i % 2 == 0 && make.isRandom())
        random = randomPair(seed, array, uint64_t(i) / 2);
      result.set(i, make(uint64_t(i), random[size_t(i % 2)]));
    }
  });
  return result;
}

} // namespace tilec::runtime
