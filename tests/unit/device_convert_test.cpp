// LINK: tilec_device_host compiler_device compiler_base
//
// The device library's conversions against compiler/base/dtype.h: every value of the 8- and 16-bit types, samples and
// rounding boundaries of the wide ones.
#include "compiler/base/dtype.h"
#include "compiler/device/device.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace tilec;

namespace {
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using f16 = uint16_t;
using bf16 = uint16_t;
using tf32 = float;
using f32 = float;
using f64 = double;
using f8e4m3 = uint8_t;
using f8e5m2 = uint8_t;
using f8e8m0 = uint8_t;
using f4e2m1 = uint8_t;
} // namespace

extern "C" {
#define DEVICE_CVT(from, to) to __tilec_cvt_##from##_##to(from);
#define DEVICE_CVT_RZ(from, to) to __tilec_cvt_##from##_##to##_rz(from);
#include "compiler/device/device.def"
}

namespace {

template <typename T> uint64_t toBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <typename T> T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Conversion {
  DType from, to;
  Rounding rounding;
  uint64_t (*run)(uint64_t bits); ///< storage bits to storage bits
};

const std::vector<Conversion> &conversions() {
  static const std::vector<Conversion> all = {
#define DEVICE_CVT(from, to)                                                                                           \
  {DType::from, DType::to, Rounding::NearestEven,                                                                      \
   [](uint64_t bits) { return toBits(__tilec_cvt_##from##_##to(fromBits<from>(bits))); }},
#define DEVICE_CVT_RZ(from, to)                                                                                        \
  {DType::from, DType::to, Rounding::Zero,                                                                             \
   [](uint64_t bits) { return toBits(__tilec_cvt_##from##_##to##_rz(fromBits<from>(bits))); }},
#include "compiler/device/device.def"
  };
  return all;
}

/// Inputs of a type: all of them up to 16 bits; otherwise values next to every rounding boundary of the target,
/// stratified samples and random patterns.
std::vector<uint64_t> inputs(DType from, DType to) {
  std::vector<uint64_t> all;
  int bits = info(from).bits;
  if (bits <= 16) {
    for (uint64_t i = 0; i < uint64_t(1) << bits; ++i)
      all.push_back(i);
    return all;
  }
  std::mt19937_64 random(uint64_t(from) * 31 + uint64_t(to));
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  auto around = [&](uint64_t pattern) {
    for (int d = -2; d <= 2; ++d)
      all.push_back((pattern + uint64_t(int64_t(d))) & mask);
  };
  around(0);
  around(uint64_t(1) << (bits - 1));
  if (isFloat(from)) {
    // Every narrow value and the middle between neighbours, from both sides.
    int narrow = std::min(info(to).bits, 16);
    if (isFloat(to) && to != DType::tf32)
      for (uint64_t code = 0; code < uint64_t(1) << narrow; ++code) {
        double a = decodeFloat(to, code), b = decodeFloat(to, (code + 1) & ((uint64_t(1) << narrow) - 1));
        for (double v : {a, (a + b) / 2})
          around(encodeFloat(from, v));
      }
    for (int e = -8; e < 70; ++e)
      for (double sign : {1.0, -1.0}) {
        around(encodeFloat(from, sign * std::ldexp(1.0, e)));
        around(encodeFloat(from, sign * (std::ldexp(1.0, e) - 0.5)));
      }
    for (double special :
         {double(INFINITY), -double(INFINITY), double(NAN), 464.0, 1000.0, 448.0, 57344.0, 61440.0, 65520.0})
      around(encodeFloat(from, special));
  } else {
    for (int e = 0; e < bits; ++e)
      for (int f = 0; f <= e; ++f) {
        uint64_t v = uint64_t(1) << e | uint64_t(1) << f;
        around(v);
        around(0 - v);
      }
  }
  for (int i = 0; i < 1 << 16; ++i) {
    uint64_t pattern = random();
    all.push_back(pattern & mask);
    // Integers of every magnitude, floats of every exponent with few mantissa bits.
    all.push_back(isFloat(from) ? pattern & mask & ~uint64_t(0) << (random() % (bits - 12))
                                : (pattern & mask) >> random() % bits);
  }
  return all;
}

TEST(DeviceConvert, AgreesWithTheReferenceBitForBit) {
  for (const Conversion &c : conversions()) {
    int shown = 0;
    for (uint64_t in : inputs(c.from, c.to)) {
      uint64_t got = c.run(in), want = convert(c.from, c.to, in, c.rounding);
      // The payload of an f32 NaN is free.
      bool bothNaN = c.to == DType::f32 && std::isnan(fromBits<float>(got)) && std::isnan(fromBits<float>(want));
      if (got != want && !bothNaN && shown++ < 5)
        ADD_FAILURE() << name(c.from) << " -> " << name(c.to) << " of " << std::hex << in << " gives " << got
                      << " instead of " << want;
    }
  }
}

TEST(DeviceSymbols, NameWhatTheTableHas) {
  EXPECT_EQ(deviceMathSymbol("exp", "f32"), "__tilec_exp_f32");
  EXPECT_EQ(deviceMathSymbol("exp", "f64", true), "__tilec_exp_f64");
  EXPECT_EQ(deviceMathSymbol("exp", "f32", true), "__tilec_exp_f32_approx");
  EXPECT_EQ(deviceMathSymbol("tanh", "f32", true, true), "__tilec_tanh_f32_approx_ftz");
  EXPECT_EQ(deviceMathSymbol("erf", "f32", true), "__tilec_erf_f32");
  EXPECT_EQ(deviceMathSymbol("floor", "f32"), "");
  EXPECT_EQ(deviceMathSymbol("exp", "f16"), "");
  EXPECT_EQ(deviceCvtSymbol("f32", "f8e4m3"), "__tilec_cvt_f32_f8e4m3");
  EXPECT_EQ(deviceCvtSymbol("f64", "f8e8m0", true), "__tilec_cvt_f64_f8e8m0_rz");
  EXPECT_EQ(deviceCvtSymbol("f32", "f16", true), "");
  EXPECT_EQ(deviceCvtSymbol("f32", "f64"), "");
}

TEST(DeviceBitcode, IsEmbedded) { EXPECT_TRUE(deviceBitcode().starts_with("BC\xC0\xDE")); }

} // namespace
