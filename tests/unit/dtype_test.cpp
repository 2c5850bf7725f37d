// LINK: compiler_base
#include "compiler/base/dtype.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tilec;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr Rounding allRoundings[] = {Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up};

uint64_t fromF32(uint32_t bits, DType to) { return convert(DType::f32, to, bits); }
uint64_t f32Bits(float value) { return std::bit_cast<uint32_t>(value); }

/// All finite values of a format in rising order, by the textbook formula and so apart from what is tested.
struct Value {
  double value;
  uint64_t code;
};
std::vector<Value> valuesOf(int exponentBits, int mantissaBits, uint64_t maxCode) {
  std::vector<Value> values;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint64_t sign = uint64_t(1) << (exponentBits + mantissaBits);
  for (uint64_t code = 0; code <= maxCode; ++code) {
    double fraction = double(code & ((1u << mantissaBits) - 1)) / double(1u << mantissaBits);
    int field = int(code >> mantissaBits);
    double value = field ? std::ldexp(1 + fraction, field - bias) : std::ldexp(fraction, 1 - bias);
    values.push_back({value, code});
    if (code != 0)
      values.push_back({-value, code | sign});
  }
  std::sort(values.begin(), values.end(), [](const Value &a, const Value &b) { return a.value < b.value; });
  return values;
}

/// Rounds by searching the list; the input lies within it.
double roundBySearch(const std::vector<Value> &values, double x, Rounding rounding) {
  auto above =
      std::lower_bound(values.begin(), values.end(), x, [](const Value &v, double want) { return v.value < want; });
  if (above->value == x)
    return x;
  auto below = above - 1;
  switch (rounding) {
  case Rounding::Zero:
    return x > 0 ? below->value : above->value;
  case Rounding::Down:
    return below->value;
  case Rounding::Up:
    return above->value;
  case Rounding::NearestEven:
    break;
  }
  double low = x - below->value, high = above->value - x;
  if (low != high)
    return low < high ? below->value : above->value;
  return below->code % 2 == 0 ? below->value : above->value;
}

struct Small {
  DType dtype;
  int exponentBits, mantissaBits;
  uint64_t maxCode;
};
constexpr Small smallFormats[] = {
    {DType::f16, 5, 10, 0x7BFF}, {DType::bf16, 8, 7, 0x7F7F}, {DType::f8e4m3, 4, 3, 0x7E},
    {DType::f8e5m2, 5, 2, 0x7B}, {DType::f4e2m1, 2, 1, 0x7},
};

} // namespace

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(name(DType::bool_), "bool");
  EXPECT_EQ(parseDType("bool"), DType::bool_);
  EXPECT_EQ(parseDType("f8e4m3"), DType::f8e4m3);
  EXPECT_FALSE(parseDType("bool_"));
  EXPECT_FALSE(parseDType("float"));
  EXPECT_EQ(allDTypes().size(), 18u);
  for (const DTypeInfo &row : allDTypes())
    EXPECT_EQ(parseDType(row.name), row.dtype);
  EXPECT_EQ(byteSize(DType::f4e2m1, 3), 2u);
  EXPECT_EQ(byteSize(DType::tf32, 3), 12u);
  EXPECT_FALSE(hasArithmetic(DType::tf32));
  EXPECT_FALSE(hasArithmetic(DType::f8e8m0));
  EXPECT_TRUE(hasArithmetic(DType::bf16));
}

TEST(DType, EveryCodeDecodesByTheFormula) {
  for (const Small &f : smallFormats)
    for (const Value &v : valuesOf(f.exponentBits, f.mantissaBits, f.maxCode))
      ASSERT_EQ(decodeFloat(f.dtype, v.code), v.value) << name(f.dtype) << " code " << v.code;
}

TEST(DType, EveryCodeSurvivesARoundTrip) {
  for (DType t : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f4e2m1, DType::f8e8m0})
    for (uint64_t code = 0; code < uint64_t(1) << info(t).bits; ++code) {
      double value = decodeFloat(t, code);
      // fp8 has infinities to read but never writes one.
      bool saturates = std::isinf(value) && t == DType::f8e5m2;
      for (Rounding rounding : allRoundings) {
        uint64_t back = encodeFloat(t, value, rounding);
        if (std::isnan(value))
          ASSERT_TRUE(std::isnan(decodeFloat(t, back))) << name(t) << " code " << code;
        else
          ASSERT_EQ(back, saturates ? (code & 0x80) | 0x7B : code) << name(t);
      }
    }
}

// Neighbours of values and of ties of each format, and every value of f16, in all roundings.
TEST(DType, RoundingAgreesWithSearch) {
  std::mt19937_64 random(1);
  for (const Small &f : smallFormats) {
    std::vector<Value> values = valuesOf(f.exponentBits, f.mantissaBits, f.maxCode);
    double largest = maxFinite(f.dtype);
    ASSERT_EQ(largest, values.back().value);
    for (int i = 0; i < 40000; ++i) {
      // Neighbours of a random value of the format and of the middle to the next one, on both sides.
      size_t at = random() % (values.size() - 1);
      double middle = values[at].value + (values[at + 1].value - values[at].value) / 2;
      for (double x : {middle, std::nextafter(middle, infinity), std::nextafter(middle, -infinity),
                       std::nextafter(values[at].value, infinity), values[at + 1].value})
        for (Rounding rounding : allRoundings)
          ASSERT_EQ(decodeFloat(f.dtype, encodeFloat(f.dtype, x, rounding)), roundBySearch(values, x, rounding))
              << name(f.dtype) << " of " << x << " rounding " << int(rounding);
    }
    for (uint64_t code = 0; code < 65536; ++code) {
      double x = decodeFloat(DType::f16, code);
      if (std::isnan(x) || std::abs(x) > largest)
        continue;
      for (Rounding rounding : allRoundings)
        ASSERT_EQ(decodeFloat(f.dtype, encodeFloat(f.dtype, x, rounding)), roundBySearch(values, x, rounding))
            << name(f.dtype) << " of " << x;
    }
  }
}

TEST(DType, SignOfZeroAndTinyValues) {
  for (DType t :
       {DType::f16, DType::bf16, DType::tf32, DType::f32, DType::f64, DType::f8e4m3, DType::f8e5m2, DType::f4e2m1}) {
    EXPECT_EQ(encodeFloat(t, 0.0), 0u);
    uint64_t minusZero = uint64_t(1) << (info(t).bits - 1);
    EXPECT_EQ(encodeFloat(t, -0.0), minusZero);
    EXPECT_TRUE(std::signbit(decodeFloat(t, minusZero)));
    if (t == DType::f64)
      continue;
    // Far below half of the smallest subnormal: the sign stays, directed roundings step away from zero.
    double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(encodeFloat(t, -tiny), minusZero);
    EXPECT_EQ(encodeFloat(t, tiny, Rounding::Zero), 0u);
    uint64_t smallest = t == DType::tf32 ? 1u << 13 : 1u;
    EXPECT_EQ(encodeFloat(t, tiny, Rounding::Up), smallest);
    EXPECT_EQ(encodeFloat(t, -tiny, Rounding::Down), minusZero | smallest);
  }
}

TEST(DType, F32AgreesWithTheProcessor) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    // Exponents round the f32 range, with subnormals and overflow at its ends.
    double x = std::ldexp(double(int64_t(random())), int(random() % 300) - 200);
    uint64_t direct = encodeFloat(DType::f32, x);
    ASSERT_EQ(direct, f32Bits(float(x)));
    // The general path, which saturation takes, agrees where nothing saturates.
    if (!std::isinf(float(x)))
      ASSERT_EQ(encodeFloat(DType::f32, x, Rounding::NearestEven, true), direct);
    ASSERT_EQ(encodeFloat(DType::f64, x), std::bit_cast<uint64_t>(x));
  }
}

TEST(DType, OverflowOfWideFormats) {
  EXPECT_EQ(encodeFloat(DType::f16, 65519.9), 0x7BFFu);
  EXPECT_EQ(encodeFloat(DType::f16, 65520), 0x7C00u); // the tie goes to infinity
  EXPECT_EQ(encodeFloat(DType::f16, -70000), 0xFC00u);
  EXPECT_EQ(encodeFloat(DType::f16, 1e300, Rounding::Zero), 0x7BFFu);
  EXPECT_EQ(encodeFloat(DType::f16, 1e300, Rounding::Down), 0x7BFFu);
  EXPECT_EQ(encodeFloat(DType::f16, -1e300, Rounding::Down), 0xFC00u);
  EXPECT_EQ(encodeFloat(DType::f16, -1e300, Rounding::Up), 0xFBFFu);
  EXPECT_EQ(encodeFloat(DType::f16, infinity, Rounding::Zero), 0x7C00u);
  EXPECT_EQ(encodeFloat(DType::f16, 70000, Rounding::NearestEven, true), 0x7BFFu);
  EXPECT_EQ(encodeFloat(DType::f16, -infinity, Rounding::NearestEven, true), 0xFBFFu);
  EXPECT_EQ(encodeFloat(DType::f32, 1e300), 0x7F800000u);
  EXPECT_EQ(encodeFloat(DType::f32, 1e300, Rounding::NearestEven, true), 0x7F7FFFFFu);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::f16, encodeFloat(DType::f16, notANumber, Rounding::NearestEven, true))));
}

TEST(DType, NarrowFormatsSaturate) {
  for (double x : {464.0, 1000.0, infinity})
    for (Rounding rounding : allRoundings) {
      EXPECT_EQ(encodeFloat(DType::f8e4m3, x, rounding), 0x7Eu);
      EXPECT_EQ(encodeFloat(DType::f8e4m3, -x, rounding), 0xFEu);
    }
  EXPECT_EQ(encodeFloat(DType::f8e5m2, infinity), 0x7Bu);
  EXPECT_EQ(encodeFloat(DType::f8e5m2, -61440.1), 0xFBu);
  EXPECT_EQ(encodeFloat(DType::f8e4m3, notANumber), 0x7Fu);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::f8e5m2, encodeFloat(DType::f8e5m2, notANumber))));
  EXPECT_EQ(encodeFloat(DType::f4e2m1, 1e9), 0x7u);
  EXPECT_EQ(encodeFloat(DType::f4e2m1, -infinity), 0xFu);
  EXPECT_EQ(encodeFloat(DType::f4e2m1, notANumber), 0x7u);
  EXPECT_EQ(encodeFloat(DType::f4e2m1, -notANumber), 0x7u);
  EXPECT_EQ(encodeFloat(DType::f4e2m1, 2.5), 0x4u); // ties: 2, 4
  EXPECT_EQ(encodeFloat(DType::f4e2m1, 5), 0x6u);
  EXPECT_EQ(encodeFloat(DType::f4e2m1, 0.25), 0x0u);
}

TEST(DType, ScalesRoundUp) {
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 1), 127u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, std::nextafter(1.0, 2.0)), 128u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 1.99, Rounding::Zero), 127u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 0.0), 0u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, -0.0), 0u);
  EXPECT_EQ(decodeFloat(DType::f8e8m0, 0), std::ldexp(1.0, -127));
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 1e-300), 0u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 1e-300, Rounding::Zero), 0u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, std::ldexp(1.5, -127)), 1u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, 1e300), 254u);
  EXPECT_EQ(encodeFloat(DType::f8e8m0, infinity), 254u);
  for (double x : {-1.0, -1e-300, -infinity, notANumber})
    EXPECT_EQ(encodeFloat(DType::f8e8m0, x), 0xFFu);
  EXPECT_EQ(encodeFloatFromInt(DType::f8e8m0, 5), 130u);
  EXPECT_EQ(encodeFloatFromInt(DType::f8e8m0, 0), 0u);
  EXPECT_EQ(encodeFloatFromInt(DType::f8e8m0, -4), 0xFFu);
}

TEST(DType, Fp8SpecialCodes) {
  for (uint64_t code : {0x7F, 0xFF})
    EXPECT_TRUE(std::isnan(decodeFloat(DType::f8e4m3, code)));
  EXPECT_EQ(decodeFloat(DType::f8e5m2, 0x7C), infinity);
  EXPECT_EQ(decodeFloat(DType::f8e5m2, 0xFC), -infinity);
  for (uint64_t code : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF})
    EXPECT_TRUE(std::isnan(decodeFloat(DType::f8e5m2, code)));
  for (DType t : {DType::f8e4m3, DType::f8e5m2})
    for (uint64_t code = 0; code < 256; ++code) {
      double wide = decodeFloat(DType::f32, convert(t, DType::f32, code));
      double half = decodeFloat(DType::f16, convert(t, DType::f16, code));
      double brain = decodeFloat(DType::bf16, convert(t, DType::bf16, code));
      if (std::isnan(wide)) {
        EXPECT_TRUE(std::isnan(half) && std::isnan(brain));
      } else {
        EXPECT_EQ(half, wide);
        EXPECT_EQ(brain, wide);
        EXPECT_EQ(std::signbit(half), std::signbit(wide));
        EXPECT_EQ(std::signbit(wide), code >= 0x80);
      }
    }
}

TEST(DType, Bf16KeepsNaNAndInfinity) {
  for (uint32_t bits : {0x7FFF8C22u, 0x7FFFFFFFu, 0x7F800001u, 0xFFFFFFFFu})
    EXPECT_TRUE(std::isnan(decodeFloat(DType::bf16, fromF32(bits, DType::bf16))));
  EXPECT_EQ(fromF32(0x7F800000, DType::bf16), 0x7F80u);
  EXPECT_EQ(fromF32(0xFF800000, DType::bf16), 0xFF80u);
  EXPECT_EQ(fromF32(0x7F7FFFFF, DType::bf16), 0x7F80u);
  EXPECT_EQ(fromF32(0x3F808000, DType::bf16), 0x3F80u);
  EXPECT_EQ(fromF32(0x3F818000, DType::bf16), 0x3F82u);
}

TEST(DType, Tf32RoundsToNearestEven) {
  EXPECT_EQ(convert(DType::f32, DType::tf32, f32Bits(1 + std::ldexp(1.0f, -11))), f32Bits(1));
  EXPECT_EQ(convert(DType::f32, DType::tf32, f32Bits(-1 - std::ldexp(1.0f, -11))), f32Bits(-1));
  EXPECT_EQ(convert(DType::f32, DType::tf32, f32Bits(1 + std::ldexp(3.0f, -11))), f32Bits(1 + std::ldexp(1.0f, -9)));
  EXPECT_EQ(convert(DType::f32, DType::tf32, 0x7F7FFFFF), 0x7F800000u);
  EXPECT_EQ(convert(DType::tf32, DType::f32, 0x3F802000), 0x3F802000u);
  uint64_t quiet = fromF32(0x7F800001, DType::tf32);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::tf32, quiet)));
  EXPECT_EQ(quiet & 0x1FFF, 0u);
}

TEST(DType, OneRoundingOnly) {
  // f64 → f16: through f32 the last bit would vanish and the tie go to even.
  double x = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(encodeFloat(DType::f16, x), 0x3C01u);
  EXPECT_EQ(encodeFloat(DType::f16, float(x)), 0x3C00u);
  // f32 → fp8: the same through f16.
  EXPECT_EQ(convert(DType::f32, DType::f8e4m3, f32Bits(1 + std::ldexp(1.0f, -4) + std::ldexp(1.0f, -20))), 0x39u);
  // i64 → f32 and bf16: the same through f64.
  int64_t big = int64_t(1) << 62;
  EXPECT_EQ(encodeFloatFromInt(DType::f32, big + (int64_t(1) << 38) + 1), f32Bits(std::ldexp(1.0f, 62)) + 1);
  EXPECT_EQ(encodeFloatFromInt(DType::f32, big + (int64_t(1) << 38)), f32Bits(std::ldexp(1.0f, 62)));
  EXPECT_EQ(convert(DType::i64, DType::bf16, uint64_t(big + (int64_t(1) << 54) + 1)), 0x5E81u);
  EXPECT_EQ(convert(DType::i64, DType::bf16, uint64_t(big + (int64_t(1) << 54))), 0x5E80u);
  EXPECT_EQ(encodeFloatFromUInt(DType::f64, ~uint64_t(0)), std::bit_cast<uint64_t>(std::ldexp(1.0, 64)));
  EXPECT_EQ(encodeFloatFromUInt(DType::f64, ~uint64_t(0), Rounding::Zero),
            std::bit_cast<uint64_t>(std::nextafter(std::ldexp(1.0, 64), 0.0)));
}

TEST(DType, IntegersToFloatAgreeWithTheProcessor) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random() >> (random() % 64);
    ASSERT_EQ(convert(DType::i64, DType::f32, bits), f32Bits(float(int64_t(bits))));
    ASSERT_EQ(convert(DType::u64, DType::f32, bits), f32Bits(float(bits)));
    ASSERT_EQ(convert(DType::i64, DType::f64, bits), std::bit_cast<uint64_t>(double(int64_t(bits))));
    ASSERT_EQ(convert(DType::i32, DType::f32, bits & 0xFFFFFFFF), f32Bits(float(int32_t(bits))));
  }
  EXPECT_EQ(convert(DType::i64, DType::f32, uint64_t(1) << 63), f32Bits(-std::ldexp(1.0f, 63)));
  EXPECT_EQ(convert(DType::i32, DType::f16, 70000), 0x7C00u);
  EXPECT_EQ(convert(DType::i32, DType::f16, 70000, Rounding::NearestEven, true), 0x7BFFu);
  EXPECT_EQ(convert(DType::i32, DType::f8e4m3, 1000), 0x7Eu);
  EXPECT_EQ(convert(DType::i8, DType::f16, 0x80), encodeFloat(DType::f16, -128));
  EXPECT_EQ(convert(DType::bool_, DType::f16, 1), 0x3C00u);
  EXPECT_EQ(convert(DType::i32, DType::f32, 0), 0u);
}

TEST(DType, FloatToIntegerTruncatesAndSaturates) {
  double values[] = {infinity, 510, -200, notANumber, 3.99, -3.99};
  int64_t asI8[] = {127, 127, -128, 0, 3, -3};
  int64_t asU8[] = {255, 255, 0, 0, 3, 0};
  int64_t asI32[] = {INT32_MAX, 510, -200, 0, 3, -3};
  for (DType from : {DType::f16, DType::f32})
    for (size_t i = 0; i < std::size(values); ++i) {
      uint64_t bits = encodeFloat(from, values[i]);
      EXPECT_EQ(decodeInt(DType::i8, convert(from, DType::i8, bits)), asI8[i]);
      EXPECT_EQ(decodeInt(DType::u8, convert(from, DType::u8, bits)), asU8[i]);
      EXPECT_EQ(decodeInt(DType::i32, convert(from, DType::i32, bits)), asI32[i]);
    }
  auto toInt = [](DType to, double x) { return convert(DType::f64, to, std::bit_cast<uint64_t>(x)); };
  EXPECT_EQ(toInt(DType::i64, std::ldexp(1.0, 63)), uint64_t(INT64_MAX));
  EXPECT_EQ(toInt(DType::i64, -std::ldexp(1.0, 63)), uint64_t(INT64_MIN));
  EXPECT_EQ(toInt(DType::i64, -infinity), uint64_t(INT64_MIN));
  EXPECT_EQ(toInt(DType::u64, std::ldexp(1.0, 64)), UINT64_MAX);
  EXPECT_EQ(toInt(DType::u64, std::ldexp(1.0, 63)), uint64_t(1) << 63);
  EXPECT_EQ(toInt(DType::u64, -0.9), 0u);
  EXPECT_EQ(toInt(DType::bool_, notANumber), 1u);
  EXPECT_EQ(toInt(DType::bool_, 0.1), 1u);
  EXPECT_EQ(toInt(DType::bool_, -0.0), 0u);
}

TEST(DType, IntegerToInteger) {
  EXPECT_EQ(convert(DType::i32, DType::i8, 300), 44u);
  EXPECT_EQ(convert(DType::i32, DType::i8, 300, Rounding::NearestEven, true), 127u);
  EXPECT_EQ(convert(DType::i8, DType::i32, 0xFF), 0xFFFFFFFFu);
  EXPECT_EQ(convert(DType::u8, DType::i32, 0xFF), 255u);
  EXPECT_EQ(convert(DType::i8, DType::u32, 0xFF), 0xFFFFFFFFu);
  EXPECT_EQ(convert(DType::i8, DType::u32, 0xFF, Rounding::NearestEven, true), 0u);
  EXPECT_EQ(convert(DType::u64, DType::i64, UINT64_MAX, Rounding::NearestEven, true), uint64_t(INT64_MAX));
  EXPECT_EQ(convert(DType::u64, DType::i64, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(convert(DType::i64, DType::i16, uint64_t(INT64_MIN), Rounding::NearestEven, true), 0x8000u);
  EXPECT_EQ(convert(DType::i32, DType::bool_, 256), 1u);
  EXPECT_EQ(convert(DType::bool_, DType::i64, 1), 1u);
  EXPECT_EQ(minInt(DType::i8), -128);
  EXPECT_EQ(minInt(DType::i64), INT64_MIN);
  EXPECT_EQ(maxInt(DType::u64), UINT64_MAX);
  EXPECT_TRUE(fitsInt(DType::u8, 255));
  EXPECT_FALSE(fitsInt(DType::u8, -1));
  EXPECT_FALSE(fitsInt(DType::i8, 128));
  EXPECT_TRUE(fitsInt(DType::u64, INT64_MAX));
}

TEST(DType, LimitsOfFormats) {
  EXPECT_EQ(maxFinite(DType::f16), 65504);
  EXPECT_EQ(maxFinite(DType::f32), std::numeric_limits<float>::max());
  EXPECT_EQ(maxFinite(DType::f64), std::numeric_limits<double>::max());
  EXPECT_EQ(maxFinite(DType::f8e4m3), 448);
  EXPECT_EQ(maxFinite(DType::f8e5m2), 57344);
  EXPECT_EQ(maxFinite(DType::f8e8m0), std::ldexp(1.0, 127));
  EXPECT_EQ(maxFinite(DType::f4e2m1), 6);
  EXPECT_EQ(lowestFinite(DType::f8e8m0), std::ldexp(1.0, -127));
  EXPECT_EQ(lowestFinite(DType::f4e2m1), -6);
  EXPECT_EQ(epsilon(DType::f32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon(DType::tf32), epsilon(DType::f16));
}

TEST(DType, UlpDistance) {
  EXPECT_EQ(ulpDistance(DType::f32, f32Bits(1), f32Bits(std::nextafter(1.0f, 2.0f))), 1);
  EXPECT_EQ(ulpDistance(DType::f32, f32Bits(0.0f), f32Bits(-0.0f)), 0);
  EXPECT_EQ(ulpDistance(DType::f16, 0x0001, 0x8002), 3);
  EXPECT_EQ(ulpDistance(DType::f16, 0x7E00, 0x7E01), 0);
  EXPECT_EQ(ulpDistance(DType::f16, 0x7E00, 0x3C00), INT64_MAX);
  EXPECT_EQ(ulpDistance(DType::tf32, 0x3F800000, 0x3F802000), 1);
  EXPECT_EQ(ulpDistance(DType::f64, std::bit_cast<uint64_t>(1e308), std::bit_cast<uint64_t>(-1e308)), INT64_MAX);
  EXPECT_EQ(ulpDistance(DType::f8e8m0, 3, 7), 4);
  EXPECT_EQ(ulpDistance(DType::f4e2m1, 7, 15), 14);
}
