// LINK: runtime
#include "runtime/compare.h"
#include "runtime/inputs.h"
#include "runtime/npy.h"
#include "runtime/stats.h"
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace tilec;
using namespace tilec::runtime;

namespace {

HostArray floats(std::vector<double> values, DType dtype = DType::f32) {
  HostArray a = HostArray::zeros(dtype, {int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    a.set(int64_t(i), encodeFloat(dtype, values[i]));
  return a;
}

Distribution parse(std::string_view text) {
  auto d = parseDistribution(text);
  EXPECT_TRUE(d) << (d ? "" : d.error().message);
  return d.value_or(Distribution{});
}
std::string parseError(std::string_view text) {
  auto d = parseDistribution(text);
  return d ? "parsed" : d.error().message;
}

TEST(Philox, KnownAnswers) {
  // Vectors published with the generator (Random123).
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Normal, InvertsTheDistribution) {
  for (double p : {1e-15, 1e-9, 1e-4, 0.02, 0.0749, 0.0751, 0.3, 0.5, 0.6, 0.95, 0.9999}) {
    double x = inverseNormal(p);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)) / p, 1, 2e-14) << p;
  }
  EXPECT_EQ(inverseNormal(0.5), 0);
  EXPECT_EQ(inverseNormal(0.25), -inverseNormal(0.75));
}

TEST(Inputs, BitsAreFixed) {
  // Golden bits: a change here changes every stored result.
  auto bits = [](const char *text, DType t, uint64_t i) { return inputElement(parse(text), t, 42, 1, i); };
  std::vector<uint64_t> seen;
  for (uint64_t i : {0, 1, 2, 12345678})
    seen.push_back(bits("normal:0,1", DType::f32, i));
  EXPECT_EQ(seen, (std::vector<uint64_t>{0xbf927863, 0x3f0edfcb, 0x4018b6de, 0x3ea3d0a1}));
}

TEST(Inputs, ElementsAreComputableAlone) {
  for (DType t : {DType::f32, DType::f16, DType::f8e4m3, DType::f4e2m1, DType::i8, DType::u64, DType::bool_}) {
    Distribution d = defaultDistribution(t);
    auto array = makeInput(d, t, {50000}, 7, 3, "a");
    ASSERT_TRUE(array) << array.error().message;
    for (int64_t i : {0, 1, 25001, 49999})
      EXPECT_EQ(array->get(i), inputElement(d, t, 7, 3, uint64_t(i))) << name(t);
  }
}

TEST(Inputs, RoundsOnce) {
  // The fast way of a fill rounds exactly as encodeFloat, up to the edges of each format.
  std::mt19937_64 random(3);
  for (DType t :
       {DType::f16, DType::bf16, DType::f32, DType::f8e4m3, DType::f8e5m2, DType::tf32, DType::f64, DType::f4e2m1})
    for (int i = 0; i < 4000; ++i) {
      Distribution d;
      d.kind = DistributionKind::Constant;
      double low = double(random() >> 11) * 0x1p-53;
      d.a = std::ldexp(random() % 2 ? 1 + low : -1 - low, int(random() % 300) - 150);
      if (i % 3 == 0) // halfway between neighbours
        d.a = std::ldexp(double(random() % 4096) + 0.5, int(random() % 24) - 12);
      EXPECT_EQ(inputElement(d, t, 0, 0, 0), encodeFloat(t, d.a)) << name(t) << " " << d.a;
    }
}

TEST(Inputs, Moments) {
  auto a = makeInput(parse("normal:3,2"), DType::f64, {200000}, 1, 0, "a").value();
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    sum += a.value(i);
    squares += (a.value(i) - 3) * (a.value(i) - 3);
  }
  EXPECT_NEAR(sum / 200000, 3, 0.02);
  EXPECT_NEAR(squares / 200000, 4, 0.06);
  auto u = makeInput(parse("uniform:-1,1"), DType::f32, {100000}, 1, 0, "a").value();
  auto r = makeInput(parse("randint:-3,4"), DType::i32, {100000}, 1, 0, "a").value();
  std::map<int64_t, int> counts;
  for (int64_t i = 0; i < 100000; ++i) {
    EXPECT_TRUE(u.value(i) >= -1 && u.value(i) <= 1);
    ++counts[int64_t(r.value(i))];
  }
  EXPECT_EQ(counts.size(), 7u);
  EXPECT_EQ(counts.begin()->first, -3);
  for (auto [v, n] : counts)
    EXPECT_NEAR(n, 100000 / 7, 600);
}

TEST(Inputs, Sequences) {
  auto a = makeInput(parse("arange:5,-2"), DType::i16, {4}, 0, 0, "a").value();
  EXPECT_EQ(decodeInt(DType::i16, a.get(3)), -1);
  EXPECT_EQ(makeInput(parse("arange"), DType::f16, {4}, 0, 0, "a")->value(3), 3);
  EXPECT_EQ(makeInput(parse("ones"), DType::bf16, {4}, 0, 0, "a")->value(3), 1);
  EXPECT_TRUE(std::isnan(makeInput(parse("constant:nan"), DType::f32, {1}, 0, 0, "a")->value(0)));
  EXPECT_EQ(makeInput(parse("constant:9223372036854775807"), DType::i64, {1}, 0, 0, "a")->get(0), uint64_t(INT64_MAX));
}

TEST(HostArrays, SizesPast64BitsDoNotWrap) {
  std::vector<int64_t> huge{int64_t(1) << 32, int64_t(1) << 32}, none{int64_t(1) << 32, int64_t(1) << 32, 0};
  EXPECT_EQ(elementCount(huge), INT64_MAX);
  EXPECT_EQ(elementCount(none), 0);
  EXPECT_EQ(byteSize(DType::f64, uint64_t(1) << 62), UINT64_MAX);
  EXPECT_EQ(byteSize(DType::f4e2m1, 3), 2u);
  std::vector<int64_t> strides{INT64_MAX, INT64_MAX, INT64_MAX}, extents{INT64_MAX, INT64_MAX, INT64_MAX};
  EXPECT_FALSE(footprint(DType::f32, extents, strides));
}

TEST(Inputs, TextAndRefusals) {
  for (std::string text : {"normal:0,1", "uniform:-1.5,2", "arange:3,2", "constant:1e-05", "randint:0,7", "x/y.npy"})
    EXPECT_EQ(toString(parse(text)), text);
  EXPECT_EQ(parseError("normle:0,1"), "unknown input 'normle:0,1', did you mean 'normal'?");
  EXPECT_EQ(parseError("normal:x,1"), "'x' in input 'normal:x,1' is no number");
  EXPECT_EQ(parseError("zeros:1"), "input 'zeros:1' has 1 number");
  EXPECT_EQ(parseError("normal:0"), "input 'normal:0' has 1 number");
  EXPECT_EQ(parseError("randint:4,4"), "input 'randint:4,4' needs two integers, the first one below the second");
  EXPECT_EQ(checkDistribution(parse("normal"), DType::i32).error().message,
            "input 'normal:0,1' needs a float dtype, not i32");
  EXPECT_EQ(checkDistribution(parse("randint:0,300"), DType::i8).error().message,
            "input 'randint:0,300' does not fit i8");
  EXPECT_EQ(checkDistribution(parse("constant:0.5"), DType::u8).error().message,
            "input 'constant:0.5' has a fraction, and the array holds u8");
}

TEST(Npy, BothWays) {
  auto path = std::filesystem::temp_directory_path() / fmt::format("tilec-{}.npy", ::getpid());
  for (const DTypeInfo &t : allDTypes())
    for (std::vector<int64_t> extents : {std::vector<int64_t>{3, 4}, {2}, {0, 6}}) {
      auto a = makeInput(parse("zeros"), t.dtype, extents, 0, 0, "a").value();
      for (int64_t i = 0; i < a.count(); ++i)
        a.set(i, uint64_t(i % 2));
      if (t.dtype == DType::tf32)
        a = makeInput(parse("ones"), t.dtype, extents, 0, 0, "a").value();
      ASSERT_TRUE(saveNpy(path, a));
      auto back = loadNpy(path, t.dtype, extents, "a");
      ASSERT_TRUE(back) << t.name << ": " << back.error().message;
      EXPECT_EQ(back->bytes, a.bytes) << t.name;
    }
  std::filesystem::remove(path);
  std::string bytes = npyBytes(HostArray::zeros(DType::f32, {5}));
  EXPECT_EQ((bytes.size() - 20) % 64, 0u);
  EXPECT_NE(bytes.find("'shape': (5,)"), std::string::npos);
  EXPECT_NE(npyBytes(HostArray::zeros(DType::f32, {})).find("'shape': ()"), std::string::npos);
}

std::string npy(std::string descr, std::string shape, size_t bytes, std::string order = "False") {
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", descr, order, shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string text("\x93NUMPY\1\0", 8);
  text += char(header.size());
  text += '\0';
  return text + header + std::string(bytes, '\0');
}
std::string npyError(const std::string &bytes, DType dtype = DType::f32) {
  auto file = parseNpy(bytes, "x.npy");
  if (!file)
    return file.error().message;
  auto array = fromNpy(std::move(*file), "x.npy", dtype, "a");
  return array ? "read" : array.error().message;
}

TEST(Npy, Refusals) {
  EXPECT_EQ(npyError(npy("'<f4'", "(2, 3)", 24)), "read");
  EXPECT_EQ(npyError(npy("'|V2'", "(2,)", 4), DType::bf16), "read");
  EXPECT_EQ(npyError(npy("'<u2'", "(2,)", 4), DType::f16), "x.npy holds '<u2', and 'a' is f16 ('<f2')");
  EXPECT_EQ(npyError(npy("'<f8'", "(2,)", 16)), "x.npy holds '<f8', and 'a' is f32 ('<f4')");
  EXPECT_EQ(npyError(npy("'>f4'", "(2,)", 8)), "x.npy holds big-endian numbers (>f4)");
  EXPECT_EQ(npyError(npy("'<c8'", "(2,)", 16)), "x.npy holds '<c8', which no dtype of the language matches");
  EXPECT_EQ(npyError(npy("[('a', '<f4')]", "(2,)", 8)),
            "x.npy holds '[('a', '<f4')]', which no dtype of the language matches");
  EXPECT_EQ(npyError(npy("'<f4'", "(2, 3)", 24, "True")), "x.npy is in Fortran order");
  EXPECT_EQ(npyError(npy("'<f4'", "(1, 6)", 24, "True")), "read");
  EXPECT_EQ(npyError(npy("'<f4'", "(2, 3)", 20)),
            "x.npy has 20 bytes of data where its header, <f4 of shape [2, 3], tells 24");
  EXPECT_EQ(npyError(npy("'<f4'", "(4611686018427387904, 3)", 20)),
            "x.npy claims a shape of [4611686018427387904, 3], past 2^63 bytes");
  std::string unpadded = npy("'<f4'", "(2,)", 8);
  unpadded[8] -= 1;
  EXPECT_EQ(npyError(unpadded.erase(20, 1)),
            "the elements of x.npy begin at byte 127, and a buffer is aligned to 16 bytes");
  EXPECT_EQ(npyError("PK"), "x.npy is no .npy file");
  EXPECT_EQ(npyError(std::string("\x93NUMPY\3\0\0\0\0\0", 12)),
            "x.npy is a .npy file of version 3.0; versions 1 and 2 are read");
  EXPECT_EQ(npyError(npy("'<f4'", "(2, 3)", 24).substr(0, 20)), "x.npy ends within its header");
}

TEST(Npy, RandomBytesNeverCrash) {
  std::mt19937 random(5);
  std::string good = npy("'<f4'", "(2, 3)", 24);
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (int edits = 1 + int(random() % 3); edits > 0; --edits)
      text[random() % text.size()] = char(random());
    if (random() % 4 == 0)
      text.resize(random() % text.size());
    (void)npyError(text);
  }
}

TEST(Compare, ExactAndTolerant) {
  HostArray e = floats({1, 2, -0.0, NAN, INFINITY});
  auto same = compare(e, e, {.bitExact = true});
  EXPECT_TRUE(same->equal());
  HostArray a = floats({1, 2, 0.0, NAN, INFINITY});
  EXPECT_TRUE(compare(a, e, {})->equal());
  EXPECT_EQ(compare(a, e, {.bitExact = true})->mismatches, 1);
  EXPECT_EQ(compare(a, e, {.bitExact = true})->first, 2);

  HostArray off = floats({1, 2.0000002384185791, 0, NAN, INFINITY}); // one place above 2
  EXPECT_EQ(compare(off, e, {})->mismatches, 1);
  EXPECT_TRUE(compare(off, e, {.ulps = 1})->equal());
  EXPECT_EQ(compare(off, e, {.ulps = 1})->worstUlps, 1);
  EXPECT_TRUE(compare(off, e, {.abs = 1e-6})->equal());
  EXPECT_TRUE(compare(off, e, {.rel = 1e-6})->equal());
  std::vector<double> bound{0, 1e-6, 0, 0, 0};
  EXPECT_TRUE(compare(off, e, {.bound = bound})->equal());
  bound[1] = 1e-8;
  EXPECT_FALSE(compare(off, e, {.bound = bound})->equal());
}

TEST(Compare, NanAndInfinity) {
  HostArray e = floats({1, INFINITY, 3}), a = floats({NAN, -INFINITY, INFINITY});
  auto c = compare(a, e, {.abs = 1e30, .rel = 1e30});
  EXPECT_EQ(c->mismatches, 3);
  EXPECT_EQ(c->nanMismatches, 1);
}

TEST(Compare, ReportsPlaces) {
  HostArray e = HostArray::zeros(DType::i32, {300, 400}), a = e;
  a.set(401, encodeInt(DType::i32, -5));
  a.set(100000, encodeInt(DType::i32, 9));
  auto c = compare(a, e, {});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->mismatches, 2);
  EXPECT_EQ(c->firstAt, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(c->actual, -5);
  EXPECT_EQ(c->worstAbs, 9);
  EXPECT_EQ(c->worstAt, 100000);
  EXPECT_EQ(toString(*c),
            "2 of 120000 elements differ; first at [1, 1]: -5, expected 0; largest difference 9 (relative "
            "0, 9 ulp)");
  EXPECT_FALSE(compare(HostArray::zeros(DType::i32, {2}), e, {}));
  // 64-bit integers compare exactly.
  HostArray x = HostArray::zeros(DType::u64, {1}), y = x;
  x.set(0, ~0ull);
  y.set(0, ~0ull - 1);
  EXPECT_EQ(compare(x, y, {})->mismatches, 1);
}

TEST(Compare, WiderExpectation) {
  HostArray e = floats({0.1, 1000.123, NAN}, DType::f64), a = floats({0.1, 1000.123, NAN}, DType::f16);
  EXPECT_TRUE(compare(a, e, {.bitExact = true})->equal()); // correctly rounded
  a.set(0, a.get(0) + 1);
  EXPECT_EQ(compare(a, e, {})->mismatches, 1);
  EXPECT_TRUE(compare(a, e, {.ulps = 1})->equal());
}

TEST(Stats, MedianAndInterval) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  std::vector<double> ten;
  for (int i = 1; i <= 10; ++i)
    ten.push_back(i);
  // P(Binomial(10, ½) < 2) = 11/1024: the second lowest and second highest.
  Interval i = medianInterval(ten);
  EXPECT_EQ(i.low, 2);
  EXPECT_EQ(i.high, 9);
  EXPECT_EQ(medianInterval({5, 1, 3}).low, 1);
  std::vector<double> many(2000);
  for (size_t k = 0; k < many.size(); ++k)
    many[k] = double(k);
  EXPECT_NEAR(medianInterval(many).halfWidth(), 43.8, 1);
}

TEST(Stats, BootstrapIsDeterministic) {
  std::vector<double> a, b;
  for (int i = 0; i < 30; ++i) {
    a.push_back(10 + i % 3 * 0.1);
    b.push_back(20 + i % 5 * 0.1);
  }
  Interval x = bootstrapRatio(a, b, 1), y = bootstrapRatio(a, b, 1), z = bootstrapRatio(a, b, 2);
  EXPECT_EQ(x.low, y.low);
  EXPECT_EQ(x.high, y.high);
  EXPECT_LE(x.low, 0.5);
  EXPECT_GE(x.high, 0.49);
  EXPECT_NEAR(x.low, z.low, 0.01);
}

TEST(Stats, InvalidTimesNeverWin) {
  TimeSummary s = summarize(std::vector<double>{0, -1, NAN, INFINITY, 5, 7, 6});
  EXPECT_EQ(s.samples, 3);
  EXPECT_EQ(s.invalid, 4);
  EXPECT_EQ(s.min, 5);
  EXPECT_EQ(s.median, 6);
  EXPECT_EQ(summarize(std::vector<double>{0}).samples, 0);
}

} // namespace
