// LINK: compiler_reference compiler_ir MLIRParser
// One op at a time on tiles written by hand: integers, floats, conversions, shapes, reductions.
#include "compiler/reference/numeric.h"
#include "tests/unit/reference_util.h"
#include <bit>
#include <cmath>

namespace tilec::reference {
namespace {

/// What stands for an element type: its dtype and its name in tile IR.
struct Element {
  DType dtype;
  std::string ir;
};
const Element i1{DType::bool_, "i1"}, i8{DType::i8, "i8"}, u8{DType::u8, "i8"}, i16{DType::i16, "i16"},
    i32{DType::i32, "i32"}, u32{DType::u32, "i32"}, i64{DType::i64, "i64"}, u64{DType::u64, "i64"},
    f16{DType::f16, "f16"}, bf16{DType::bf16, "bf16"}, f32{DType::f32, "f32"}, f64{DType::f64, "f64"},
    tf32{DType::tf32, "tf32"}, e4m3{DType::f8e4m3, "f8E4M3FN"}, e5m2{DType::f8e5m2, "f8E5M2"},
    e8m0{DType::f8e8m0, "f8E8M0FNU"};

std::string shaped(const std::vector<int64_t> &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return shape.empty() ? element : text + element + ">";
}

/// A kernel that loads one tile of each input, applies `body` (from %t0, %t1, … to %result) and stores it.
class OpTest {
public:
  template <typename T>
  OpTest &input(const Element &element, const std::vector<int64_t> &shape, std::vector<T> values) {
    auto bytes = std::make_shared<std::vector<T>>(std::move(values));
    add("x" + std::to_string(inputs++), element, shape, "in", reinterpret_cast<std::byte *>(bytes->data()),
        bytes->size());
    keep.push_back(bytes);
    return *this;
  }
  template <typename T>
  std::vector<T> run(const Element &element, const std::vector<int64_t> &shape, const std::string &body,
                     ExecReport *report = nullptr, bool widen = false) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<T> result(static_cast<size_t>(count));
    add("r", element, shape, "out", reinterpret_cast<std::byte *>(result.data()), result.size());
    std::string text = "tile.kernel @k(" + arguments + ") {\n%zero = arith.constant 0 : i32\n" + loads + body + "\n" +
                       store + "tile.return }";
    ExecReport got = runKernel(text, launch, {.widen64 = widen});
    if (report)
      *report = got;
    else
      EXPECT_TRUE(got.findings.empty()) << toString(got.findings.front());
    return result;
  }

private:
  void add(const std::string &name, const Element &element, const std::vector<int64_t> &shape, const std::string &mode,
           std::byte *data, size_t count) {
    std::string dtype(tilec::name(element.dtype));
    std::string rank = std::to_string(shape.size()), array = "!tile.array<" + rank + " x " + element.ir + ">";
    std::string tile, steps, axes, extents, types, zeros;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      std::string comma = axis ? ", " : "", extent = std::to_string(shape[axis]);
      std::string constant = "%" + name + "e" + std::to_string(axis);
      loads += constant + " = arith.constant " + extent + " : i32\n";
      tile += comma + extent;
      steps += comma + extent;
      axes += comma + std::to_string(axis);
      extents += comma + constant;
      types += comma + std::string("i32");
      zeros += comma + std::string("%zero");
    }
    std::string view = "!tile.view<[" + tile + "], " + element.ir + ">";
    loads += "%" + name + "a = tile.array %" + name + " [" + extents + " : " + types + "] {root = \"" + name +
             "\", dtype = \"" + dtype + "\", writable = " + (mode == "out" ? "true" : "false") + "} : !tile.ptr<" +
             element.ir + "> -> " + array + "\n";
    loads += "%" + name + "v = tile.view %" + name + "a step [" + steps + "] axes [" + axes +
             "] padding none : " + array + " -> " + view + "\n";
    if (mode == "in")
      loads += "%t" + name.substr(1) + " = tile.load %" + name + "v [" + zeros + " : " + types + "] site 0 : " + view +
               " -> " + shaped(shape, element.ir) + "\n";
    else
      store = "tile.store %result, %" + name + "v [" + zeros + " : " + types +
              "] site 0 : " + shaped(shape, element.ir) + ", " + view + "\n";
    arguments += (arguments.empty() ? "" : ", ") + reference::array(name, dtype, element.ir, mode);
    launch.buffers[name] = {element.dtype, shape, {}, data, count};
  }

  int inputs = 0;
  std::string arguments, loads, store;
  std::vector<std::shared_ptr<void>> keep;
  Launch launch;
};

/// `op` on two rows of equal type.
template <typename T>
std::vector<T> binary(const std::string &op, const Element &e, std::vector<T> a, std::vector<T> b,
                      ExecReport *report = nullptr) {
  int64_t n = int64_t(a.size());
  return OpTest()
      .input(e, {n}, std::move(a))
      .input(e, {n}, std::move(b))
      .template run<T>(e, {n}, "%result = " + op + " %t0, %t1 : " + shaped({n}, e.ir), report);
}
template <typename T> std::vector<T> unary(const std::string &op, const Element &e, std::vector<T> a) {
  int64_t n = int64_t(a.size());
  return OpTest()
      .input(e, {n}, std::move(a))
      .template run<T>(e, {n}, "%result = " + op + " %t0 : " + shaped({n}, e.ir));
}
template <typename From, typename To>
std::vector<To> converted(const Element &from, const Element &to, std::vector<From> values,
                          const std::string &how = "rn") {
  int64_t n = int64_t(values.size());
  return OpTest()
      .input(from, {n}, std::move(values))
      .template run<To>(to, {n},
                        "%result = tile.convert %t0 \"" + std::string(name(from.dtype)) + "\" to \"" +
                            std::string(name(to.dtype)) + "\" " + how + " : " + shaped({n}, from.ir) + " -> " +
                            shaped({n}, to.ir));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Integers
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ReferenceOps, DivisionTable) {
  std::vector<int32_t> a{-7, 7, -7, 7, 100, -36, 0, 6}, b{2, -2, -2, 2, -13, 5, 3, 3};
  using V = std::vector<int32_t>;
  EXPECT_EQ(binary<int32_t>("arith.floordivsi", i32, a, b), (V{-4, -4, 3, 3, -8, -8, 0, 2}));
  EXPECT_EQ(binary<int32_t>("arith.ceildivsi", i32, a, b), (V{-3, -3, 4, 4, -7, -7, 0, 2}));
  EXPECT_EQ(binary<int32_t>("arith.divsi", i32, a, b), (V{-3, -3, 3, 3, -7, -7, 0, 2}));
  EXPECT_EQ(binary<int32_t>("arith.remsi", i32, a, b), (V{-1, 1, -1, 1, 9, -1, 0, 0}));
  EXPECT_EQ(binary<uint8_t>("arith.divui", u8, {200, 255, 7, 1}, {7, 2, 8, 1}), (std::vector<uint8_t>{28, 127, 0, 1}));
  EXPECT_EQ(binary<uint8_t>("arith.ceildivui", u8, {200, 255, 0, 1}, {7, 2, 8, 1}),
            (std::vector<uint8_t>{29, 128, 0, 1}));
  EXPECT_EQ(binary<int8_t>("arith.floordivsi", i8, {-128, 127}, {3, -5}), (std::vector<int8_t>{-43, -26}));
}

TEST(ReferenceOps, DivisionByZeroIsReportedWhereItMatters) {
  ExecReport report;
  std::vector<int32_t> q = binary<int32_t>("arith.divsi", i32, {5, INT32_MIN, 8, 9}, {0, -1, 2, 3}, &report);
  EXPECT_EQ(q[2], 4);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::DivisionByZero);
  EXPECT_EQ(report.findings[0].element, 0);
  EXPECT_EQ(report.findings[0].count, 2u);
  // A quotient that is not used is nobody's business.
  OpTest test;
  test.input<int32_t>(i32, {2}, {1, 2}).input<int32_t>(i32, {2}, {0, 1});
  EXPECT_EQ(test.run<int32_t>(i32, {2}, R"(
    %q = arith.divsi %t0, %t1 : tensor<2xi32>
    %z = arith.constant dense<0> : tensor<2xi32>
    %p = arith.cmpi ne, %t1, %z : tensor<2xi32>
    %result = arith.select %p, %q, %z : tensor<2xi1>, tensor<2xi32>)"),
            (std::vector<int32_t>{0, 2}));
}

TEST(ReferenceOps, IntegersWrap) {
  EXPECT_EQ(binary<uint8_t>("arith.addi", u8, {150, 0}, {110, 255}), (std::vector<uint8_t>{4, 255}));
  EXPECT_EQ(binary<int8_t>("arith.muli", i8, {100, -128}, {3, -1}), (std::vector<int8_t>{44, -128}));
  EXPECT_EQ(binary<uint32_t>("arith.xori", u32, {3, 0}, {0xFFFFFFFF, 5}), (std::vector<uint32_t>{0xFFFFFFFC, 5}));
  EXPECT_EQ(binary<uint32_t>("arith.subi", u32, {0, 9}, {3, 2}), (std::vector<uint32_t>{0xFFFFFFFD, 7}));
  EXPECT_EQ(binary<int64_t>("arith.addi", i64, {INT64_MAX, 1ll << 40}, {1, 1}),
            (std::vector<int64_t>{INT64_MIN, 1099511627777}));
  EXPECT_EQ(unary<int8_t>("math.absi", i8, {-128, -5}), (std::vector<int8_t>{-128, 5}));
}

TEST(ReferenceOps, ShiftsPastTheWidth) {
  using V = std::vector<int32_t>;
  EXPECT_EQ(binary<int32_t>("arith.shli", i32, {1, 1, 1, -1}, {31, 32, -1, 8}), (V{INT32_MIN, 0, 0, -256}));
  EXPECT_EQ(binary<int32_t>("arith.shrsi", i32, {-65536, -1, 5, -8}, {16, 32, 40, 1}), (V{-1, -1, 0, -4}));
  EXPECT_EQ(binary<int32_t>("arith.shrui", i32, {-65536, -1, 5, -8}, {16, 32, 1, 28}), (V{65535, 0, 2, 15}));
  EXPECT_EQ(binary<int8_t>("arith.shrsi", i8, {-128, 64}, {7, 8}), (std::vector<int8_t>{-1, 0}));
  EXPECT_EQ(binary<int64_t>("arith.shli", i64, {1, 1}, {63, 64}), (std::vector<int64_t>{INT64_MIN, 0}));
}

TEST(ReferenceOps, SignedAndUnsignedOrder) {
  EXPECT_EQ(binary<int8_t>("arith.maxsi", i8, {-1, 5}, {1, -5}), (std::vector<int8_t>{1, 5}));
  EXPECT_EQ(binary<int8_t>("arith.maxui", i8, {-1, 5}, {1, -5}), (std::vector<int8_t>{-1, -5}));
  EXPECT_EQ(binary<int8_t>("arith.minui", i8, {-1, 5}, {1, -5}), (std::vector<int8_t>{1, 5}));
  auto compare = [](const std::string &predicate) {
    OpTest test;
    test.input<int32_t>(i32, {4}, {-1, 0, 1, 5}).input<int32_t>(i32, {4}, {1, 0, -1, 4});
    return test.run<uint8_t>(i1, {4}, "%result = arith.cmpi " + predicate + ", %t0, %t1 : tensor<4xi32>");
  };
  using V = std::vector<uint8_t>;
  EXPECT_EQ(compare("slt"), (V{1, 0, 0, 0}));
  EXPECT_EQ(compare("ult"), (V{0, 0, 1, 0}));
  EXPECT_EQ(compare("sge"), (V{0, 1, 1, 1}));
  EXPECT_EQ(compare("ne"), (V{1, 0, 1, 1}));
}

TEST(ReferenceOps, IntegerPowers) {
  ExecReport report;
  EXPECT_EQ(binary<int32_t>("math.ipowi", i32, {2, -3, 7, 0, -1, 2, 1, 3}, {10, 3, 0, 0, -3, -1, -9, 31}),
            (std::vector<int32_t>{1024, -27, 1, 1, -1, 0, 1, int32_t(617673396283947ull)}));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Floats
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ReferenceOps, NarrowFloatsRoundAsTheTables) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double half = decodeFloat(DType::f16, bits), brain = decodeFloat(DType::bf16, bits);
    float h = decodeF16(uint16_t(bits)), b = decodeBF16(uint16_t(bits));
    ASSERT_TRUE(half != half ? h != h : h == half && std::signbit(h) == std::signbit(half)) << bits;
    ASSERT_TRUE(brain != brain ? b != b : b == brain && std::signbit(b) == std::signbit(brain)) << bits;
  }
  uint64_t state = 12345;
  for (int i = 0; i < 2'000'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float x = std::bit_cast<float>(uint32_t(state >> 32));
    if (i % 2) // numbers that f16 can hold, more often
      x = std::bit_cast<float>(uint32_t(state >> 32 & 0x8FFFFFFF) + 0x32000000);
    ASSERT_EQ(encodeF16(x), encodeFloat(DType::f16, x)) << std::bit_cast<uint32_t>(x);
    ASSERT_EQ(encodeBF16(x), encodeFloat(DType::bf16, x)) << std::bit_cast<uint32_t>(x);
    double y = x * (1 + double(int32_t(uint32_t(state))) * 0x1p-54); // an f64 near an f32, often near a tie
    ASSERT_EQ(F16::fromDouble(y), encodeFloat(DType::f16, y)) << std::bit_cast<uint64_t>(y);
    ASSERT_EQ(BF16::fromDouble(y), encodeFloat(DType::bf16, y)) << std::bit_cast<uint64_t>(y);
  }
}

TEST(ReferenceOps, ProductsOfTinyBrainFloatsRoundOnce) {
  uint64_t state = 7;
  std::vector<uint16_t> a(4096), b(4096), products, quotients;
  for (size_t i = 0; i < a.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a[i] = uint16_t(state >> 48 & 0x9FFF);            // 2^-127 to 2^-64
    b[i] = uint16_t((state >> 32 & 0x9FFF) | 0x1000); // products around 2^-133, where bf16 ends
    products.push_back(uint16_t(encodeFloat(DType::bf16, double(decodeBF16(a[i])) * decodeBF16(b[i]))));
  }
  EXPECT_EQ(binary<uint16_t>("arith.mulf", bf16, a, b), products);
  // 1.0078125 * 2^-67 squared is 2^-134 and a little more: above the tie between 0 and 2^-133.
  EXPECT_EQ(binary<uint16_t>("arith.mulf", bf16, {0x1E01}, {0x1E01}), (std::vector<uint16_t>{1}));
}

TEST(ReferenceOps, OneRoundingAnOperation) {
  // f16: 1 + 2^-11 is a tie, to even; 2048 + 1 likewise; overflow goes to infinity.
  EXPECT_EQ(binary<uint16_t>("arith.addf", f16, {0x3C00, 0x6800, 0x7BFF, 0x3C01}, {0x1000, 0x3C00, 0x7BFF, 0x1000}),
            (std::vector<uint16_t>{0x3C00, 0x6800, 0x7C00, 0x3C02}));
  // a*b - c*d is not contracted: (1+2^-12)^2 - 1 loses the last term of the square.
  float a = 1 + 0x1p-12f;
  OpTest test;
  test.input<float>(f32, {2}, {a, 3}).input<float>(f32, {2}, {-1, -9});
  EXPECT_EQ(test.run<float>(f32, {2}, R"(
    %p = arith.mulf %t0, %t0 fastmath<contract> : tensor<2xf32>
    %result = arith.addf %p, %t1 fastmath<contract> : tensor<2xf32>)"),
            (std::vector<float>{0x1p-11f, 0}));
  OpTest fused;
  fused.input<float>(f32, {2}, {a, 3}).input<float>(f32, {2}, {-1, -9});
  EXPECT_EQ(fused.run<float>(f32, {2}, "%result = math.fma %t0, %t0, %t1 : tensor<2xf32>"),
            (std::vector<float>{0x1p-11f + 0x1p-24f, 0}));
}

TEST(ReferenceOps, FusedMultiplyAddOfF16RoundsOnce) {
  // Against exact sums in __float128: products and sums of f16 values fit its 113 bits in all but far-apart cases,
  // which the random exponents here avoid.
  uint64_t state = 99;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto x = uint16_t((state >> 16 & 0x83FF) | 0x3800), y = uint16_t((state >> 32 & 0x83FF) | 0x3800);
    auto z = uint16_t((state >> 48 & 0x8FFF) | 0x2000);
    long double exact = (long double)(decodeF16(x)) * decodeF16(y) + decodeF16(z);
    uint16_t got = fusedMultiplyAdd<F16>(x, y, z);
    // 22 bits of product and 11 of addend within 2^16 of each other: exact in long double, and in f64.
    ASSERT_EQ(got, uint16_t(encodeFloat(DType::f16, double(exact)))) << x << ' ' << y << ' ' << z;
  }
  // bf16, far apart: 1·1 + 2^-60 rounds as if it were more than 1; a tie broken by a tiny addend goes up.
  EXPECT_EQ(fusedMultiplyAdd<BF16>(0x3F81, 0x3F81, encodeBF16(0x1p-70f)), encodeBF16(float(1.0078125 * 1.0078125)));
  uint16_t tie = fusedMultiplyAdd<BF16>(encodeBF16(1.5f), encodeBF16(1.0078125f), encodeBF16(0x1p-100f));
  EXPECT_EQ(tie, encodeBF16(1.515625f)); // 1.51171875 lies half-way between 1.5078125 and 1.515625
}

TEST(ReferenceOps, ExtremesPreferNumbersAndPositiveZero) {
  float nan = NAN;
  auto bits = [](std::vector<float> values) {
    std::vector<uint32_t> list;
    for (float x : values)
      list.push_back(x != x ? 0x7FC00000 : std::bit_cast<uint32_t>(x));
    return list;
  };
  std::vector<float> a{1, nan, nan, -0.0f, 0.0f, INFINITY, -1, 2}, b{nan, 2, nan, 0.0f, -0.0f, nan, -2, 3};
  EXPECT_EQ(bits(binary<float>("tile.fmin", f32, a, b)), bits({1, 2, nan, -0.0f, -0.0f, INFINITY, -2, 2}));
  EXPECT_EQ(bits(binary<float>("tile.fmax", f32, a, b)), bits({1, 2, nan, 0.0f, 0.0f, INFINITY, -1, 3}));
  auto propagating = [&](const std::string &op) {
    OpTest test;
    test.input<float>(f32, {8}, a).input<float>(f32, {8}, b);
    return bits(test.run<float>(f32, {8}, "%result = " + op + " %t0, %t1 propagate_nan : tensor<8xf32>"));
  };
  EXPECT_EQ(propagating("tile.fmin"), bits({nan, nan, nan, -0.0f, -0.0f, nan, -2, 2}));
  EXPECT_EQ(propagating("tile.fmax"), bits({nan, nan, nan, 0.0f, 0.0f, nan, -1, 3}));
}

TEST(ReferenceOps, ComparisonsWithNan) {
  auto compare = [](const std::string &predicate) {
    OpTest test;
    test.input<float>(f32, {4}, {1, NAN, 2, -0.0f}).input<float>(f32, {4}, {NAN, NAN, 1, 0});
    return test.run<uint8_t>(i1, {4}, "%result = arith.cmpf " + predicate + ", %t0, %t1 : tensor<4xf32>");
  };
  using V = std::vector<uint8_t>;
  EXPECT_EQ(compare("olt"), (V{0, 0, 0, 0}));
  EXPECT_EQ(compare("oge"), (V{0, 0, 1, 1}));
  EXPECT_EQ(compare("oeq"), (V{0, 0, 0, 1}));
  EXPECT_EQ(compare("une"), (V{1, 1, 1, 0}));
  EXPECT_EQ(compare("uno"), (V{1, 1, 0, 0}));
}

TEST(ReferenceOps, FunctionsRoundOnce) {
  std::vector<float> x{0.5f, 1.0f, 2.0f, 10.0f}, e = unary<float>("math.exp", f32, x),
                                                 r = unary<float>("math.rsqrt", f32, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(e[i], float(std::exp(double(x[i]))));
    EXPECT_EQ(r[i], float(1 / std::sqrt(double(x[i]))));
  }
  EXPECT_EQ(unary<float>("math.roundeven", f32, {0.5f, 1.5f, -2.5f, 2.4f}), (std::vector<float>{0, 2, -2, 2}));
  EXPECT_EQ(unary<float>("math.sqrt", f32, {4, 2, 0, 9}), (std::vector<float>{2, std::sqrt(2.0f), 0, 3}));
  EXPECT_EQ(unary<uint16_t>("math.exp2", f16, {0x3C00, 0xCC00}), (std::vector<uint16_t>{0x4000, 0x0100}));
}

TEST(ReferenceOps, FlushingSubnormals) {
  OpTest test;
  test.input<float>(f32, {4}, {0x1p-130f, 0x1p-100f, 0x1p-126f, -0x1p-130f})
      .input<float>(f32, {4}, {1, 0x1p-40f, 0.5f, 1});
  EXPECT_EQ(test.run<float>(f32, {4}, "%result = arith.mulf %t0, %t1 {tile.ftz} : tensor<4xf32>"),
            (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(binary<float>("arith.mulf", f32, {0x1p-130f, 0x1p-100f}, {1, 0x1p-40f}),
            (std::vector<float>{0x1p-130f, 0x1p-140f}));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Conversions
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ReferenceOps, FloatToBrainKeepsNanAndInfinity) {
  std::vector<uint32_t> from{0x7FFF8C22, 0x7FFFFFFF, 0x7F800001, 0x7F800000,
                             0xFF800000, 0x7F7FFFFF, 0x3F808000, 0x3F818000};
  std::vector<uint16_t> to = converted<uint32_t, uint16_t>(f32, bf16, from);
  for (int i = 0; i < 3; ++i)
    EXPECT_GT(to[size_t(i)] & 0x7FFF, 0x7F80);
  EXPECT_EQ((std::vector<uint16_t>(to.begin() + 3, to.end())),
            (std::vector<uint16_t>{0x7F80, 0xFF80, 0x7F80, 0x3F80, 0x3F82}));
}

TEST(ReferenceOps, FloatToIntegerSaturates) {
  std::vector<float> x{INFINITY, 510, -200, NAN, 3.99f, -3.99f, -INFINITY, 0};
  EXPECT_EQ((converted<float, int8_t>(f32, i8, x)), (std::vector<int8_t>{127, 127, -128, 0, 3, -3, -128, 0}));
  EXPECT_EQ((converted<float, uint8_t>(f32, u8, x)), (std::vector<uint8_t>{255, 255, 0, 0, 3, 0, 0, 0}));
  std::vector<uint16_t> h;
  for (float value : x)
    h.push_back(encodeF16(value));
  EXPECT_EQ((converted<uint16_t, int8_t>(f16, i8, h)), (std::vector<int8_t>{127, 127, -128, 0, 3, -3, -128, 0}));
}

TEST(ReferenceOps, EveryCodeOfFp8) {
  for (const Element &e : {e4m3, e5m2}) {
    std::vector<uint8_t> codes(256);
    for (int i = 0; i < 256; ++i)
      codes[size_t(i)] = uint8_t(i);
    std::vector<float> wide = converted<uint8_t, float>(e, f32, codes);
    std::vector<uint16_t> half = converted<uint8_t, uint16_t>(e, f16, codes),
                          brain = converted<uint8_t, uint16_t>(e, bf16, codes);
    for (size_t i = 0; i < 256; ++i) {
      float w = wide[i], h = decodeF16(half[i]), b = decodeBF16(brain[i]);
      double truth = decodeFloat(e.dtype, i);
      ASSERT_TRUE(truth != truth ? w != w && h != h && b != b : w == truth && h == truth && b == truth) << i;
    }
    EXPECT_TRUE(std::signbit(wide[0x80]) && wide[0x80] == 0);
  }
  EXPECT_EQ((converted<float, uint8_t>(f32, e4m3, {464, 1000, INFINITY, -0.0f})),
            (std::vector<uint8_t>{0x7E, 0x7E, 0x7E, 0x80}));
  EXPECT_EQ((converted<float, uint8_t>(f32, e5m2, {INFINITY, -INFINITY})), (std::vector<uint8_t>{0x7B, 0xFB}));
}

TEST(ReferenceOps, Tf32RoundsToNearestEven) {
  std::vector<uint32_t> to =
      converted<float, uint32_t>(f32, tf32, {1 + 0x1p-11f, -(1 + 0x1p-11f), 1 + 0x1.8p-10f, 1.5f});
  EXPECT_EQ(to, (std::vector<uint32_t>{0x3F800000, 0xBF800000, 0x3F804000, 0x3FC00000}));
}

TEST(ReferenceOps, RoundingModesAndSaturation) {
  std::vector<float> x{1 + 0x1p-12f, -1 - 0x1p-12f};
  EXPECT_EQ((converted<float, uint16_t>(f32, f16, x, "rp")), (std::vector<uint16_t>{0x3C01, 0xBC00}));
  EXPECT_EQ((converted<float, uint16_t>(f32, f16, x, "rm")), (std::vector<uint16_t>{0x3C00, 0xBC01}));
  EXPECT_EQ((converted<float, uint16_t>(f32, f16, {1e6f, -1e6f}, "rn saturate")),
            (std::vector<uint16_t>{0x7BFF, 0xFBFF}));
  EXPECT_EQ((converted<int32_t, int8_t>(i32, i8, {300, -300}, "rn saturate")), (std::vector<int8_t>{127, -128}));
  EXPECT_EQ((converted<int32_t, int8_t>(i32, i8, {300, -300})), (std::vector<int8_t>{44, -44}));
  EXPECT_EQ((converted<uint64_t, float>(u64, f32, {0xFFFFFFFFFFFFFFFF, 1ull << 63})),
            (std::vector<float>{0x1p64f, 0x1p63f}));
  EXPECT_EQ((converted<uint8_t, uint8_t>(u8, e8m0, {1, 3})), (std::vector<uint8_t>{127, 129}));
  EXPECT_EQ((converted<float, uint8_t>(f32, i1, {0, -0.0f, NAN, 0.25f})), (std::vector<uint8_t>{0, 0, 1, 1}));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Shapes and reductions
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ReferenceOps, BroadcastAndReshape) {
  auto spread = [](const std::vector<int64_t> &from) {
    OpTest test;
    test.input<int32_t>(i32, from, {0, 1, 2, 3});
    return test.run<int32_t>(i32, {4, 4},
                             "%result = tile.broadcast %t0 : " + shaped(from, "i32") + " -> tensor<4x4xi32>");
  };
  EXPECT_EQ(spread({4, 1}), (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(spread({1, 4}), (std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  OpTest test;
  test.input<int16_t>(i16, {2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(test.run<int16_t>(i16, {2, 2, 2}, "%result = tile.broadcast %t0 : tensor<2x1x2xi16> -> tensor<2x2x2xi16>"),
            (std::vector<int16_t>{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(ReferenceOps, ReductionsOverAxes) {
  std::vector<int32_t> x{0, 1, 2, 3, 4, 5, 6, 7};
  auto sum = [&](const std::string &axes, const std::vector<int64_t> &shape) {
    OpTest test;
    test.input<int32_t>(i32, {2, 2, 2}, x);
    return test.run<int32_t>(
        i32, shape, "%result = tile.reduce sum %t0 axes [" + axes + "] : tensor<2x2x2xi32> -> " + shaped(shape, "i32"));
  };
  EXPECT_EQ(sum("1, 2", {2}), (std::vector<int32_t>{6, 22}));
  EXPECT_EQ(sum("2, 1", {2}), (std::vector<int32_t>{6, 22}));
  EXPECT_EQ(sum("0", {2, 2}), (std::vector<int32_t>{4, 6, 8, 10}));
  EXPECT_EQ(sum("0, 2", {2}), (std::vector<int32_t>{10, 18}));
  OpTest wide;
  std::vector<int64_t> large(32);
  for (int i = 0; i < 32; ++i)
    large[size_t(i)] = (1ll << 33) + i;
  wide.input<int64_t>(i64, {32}, large);
  EXPECT_EQ(wide.run<int64_t>(i64, {1}, R"(
    %s = tile.reduce sum %t0 axes [0] : tensor<32xi64> -> i64
    %result = tile.splat %s : i64 -> tensor<1xi64>)"),
            (std::vector<int64_t>{274877907440}));
}

TEST(ReferenceOps, ExtremesOfRows) {
  std::vector<float> x;
  for (int i = 0; i < 16; ++i)
    x.push_back(2);
  for (int i = 2; i < 18; ++i)
    x.push_back(float(i));
  x.insert(x.end(), 16, -INFINITY);
  x.insert(x.end(), 16, -7.5f);
  auto rows = [&](const std::string &kind) {
    OpTest test;
    test.input<float>(f32, {4, 16}, x);
    return test.run<float>(f32, {4},
                           "%result = tile.reduce " + kind + " %t0 axes [1] : tensor<4x16xf32> -> tensor<4xf32>");
  };
  EXPECT_EQ(rows("min"), (std::vector<float>{2, 2, -INFINITY, -7.5f}));
  EXPECT_EQ(rows("max"), (std::vector<float>{2, 17, -INFINITY, -7.5f}));
  OpTest integers;
  integers.input<int32_t>(i32, {2, 2}, {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN});
  EXPECT_EQ(
      integers.run<int32_t>(i32, {2}, "%result = tile.reduce max %t0 axes [1] : tensor<2x2xi32> -> tensor<2xi32>"),
      (std::vector<int32_t>{INT32_MAX, INT32_MIN}));
  OpTest bits;
  bits.input<uint32_t>(u32, {2, 2}, {1, 0x80000000, 3, 2});
  EXPECT_EQ(bits.run<uint32_t>(u32, {2},
                               "%result = tile.reduce max %t0 axes [1] unsigned : tensor<2x2xi32> -> tensor<2xi32>"),
            (std::vector<uint32_t>{0x80000000, 3}));
}

TEST(ReferenceOps, ExtremesOfRowsWithNan) {
  float nan = NAN, inf = INFINITY;
  std::vector<float> x{3,   0, 4,   1.5f, 5, 9,  2, 6,   3, inf, nan,  1.5f, 5,   -2,  2,   6,   nan, nan, 7,   1,
                       nan, 8, nan, .5f,  5, -3, 2, nan, 4, 0,   -inf, 1,    nan, nan, nan, nan, nan, nan, nan, nan};
  x.insert(x.end(), 24, 0.0f);
  auto rows = [&](const std::string &kind, const std::string &how) {
    OpTest test;
    test.input<float>(f32, {8, 8}, x);
    std::vector<float> all = test.run<float>(
        f32, {8}, "%result = tile.reduce " + kind + " %t0 axes [1] " + how + " : tensor<8x8xf32> -> tensor<8xf32>");
    std::string text;
    for (size_t i = 0; i < 5; ++i)
      text += all[i] != all[i] ? "nan " : fmt::format("{} ", all[i]);
    return text;
  };
  EXPECT_EQ(rows("min", ""), "0 -2 0.5 -inf nan ");
  EXPECT_EQ(rows("max", ""), "9 inf 8 5 nan ");
  EXPECT_EQ(rows("min", "propagate_nan"), "0 nan nan nan nan ");
  EXPECT_EQ(rows("max", "propagate_nan"), "9 nan nan nan nan ");
}

TEST(ReferenceOps, SumsAreTreesOverNeighbours) {
  // ((a + b) + (c + d)) and not (((a + b) + c) + d).
  OpTest test;
  test.input<float>(f32, {4}, {1, 0x1p-24f, 0x1p-24f, 0x1p-24f});
  EXPECT_EQ(test.run<float>(f32, {1}, R"(
    %s = tile.reduce sum %t0 axes [0] : tensor<4xf32> -> f32
    %result = tile.splat %s : f32 -> tensor<1xf32>)"),
            (std::vector<float>{1 + 0x1p-23f}));
  OpTest widened;
  widened.input<float>(f32, {4}, {1, 0x1p-24f, 0x1p-24f, -1});
  EXPECT_EQ(widened.run<float>(f32, {1}, R"(
    %s = tile.reduce sum %t0 axes [0] : tensor<4xf32> -> f32
    %result = tile.splat %s : f32 -> tensor<1xf32>)",
                               nullptr, true),
            (std::vector<float>{0x1p-23f}));
}

TEST(ReferenceOps, AnyAndAll) {
  OpTest test;
  test.input<uint8_t>(i1, {2, 2}, {1, 0, 1, 1});
  EXPECT_EQ(test.run<uint8_t>(i1, {2}, "%result = tile.reduce all %t0 axes [1] : tensor<2x2xi1> -> tensor<2xi1>"),
            (std::vector<uint8_t>{0, 1}));
}

TEST(ReferenceOps, ArangeAndConstants) {
  EXPECT_EQ(OpTest().run<int8_t>(i8, {4}, "%result = tile.arange 120 : i8 step 3 : i8 : tensor<4xi8>"),
            (std::vector<int8_t>{120, 123, 126, -127}));
  EXPECT_EQ(OpTest().run<float>(f32, {4}, "%result = tile.arange 1.0 : f32 step 0.5 : f32 : tensor<4xf32>"),
            (std::vector<float>{1, 1.5f, 2, 2.5f}));
  EXPECT_EQ(OpTest().run<uint16_t>(f16, {2}, "%result = arith.constant dense<[1.0, -2.0]> : tensor<2xf16>"),
            (std::vector<uint16_t>{0x3C00, 0xC000}));
  EXPECT_EQ(OpTest().run<uint32_t>(tf32, {2}, "%result = arith.constant dense<1.5> : tensor<2xtf32>"),
            (std::vector<uint32_t>{0x3FC00000, 0x3FC00000}));
}

TEST(ReferenceOps, BitcastsKeepTheBits) {
  OpTest test;
  test.input<float>(f32, {2}, {1, -2});
  EXPECT_EQ(test.run<uint32_t>(i32, {2}, "%result = arith.bitcast %t0 : tensor<2xf32> to tensor<2xi32>"),
            (std::vector<uint32_t>{0x3F800000, 0xC0000000}));
}

} // namespace
} // namespace tilec::reference
