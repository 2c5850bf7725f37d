// LINK: compiler_reference compiler_ir MLIRParser
// Whole kernels written by hand: edges of views, padding, loops, findings.
#include "compiler/reference/compiler.h"
#include "tests/unit/reference_util.h"
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace tilec::reference {
namespace {

/// y[i] = x[i] + x[i] by tiles of 1024, with n a symbol.
std::string doubleKernel() {
  return "tile.kernel @k(" + array("x", "f32", "f32", "in") + ", " + array("y", "f32", "f32", "out") + ", " +
         symbol("n") + R"() {
    %b = tile.block_id 0 : i32
    %xa = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ya = tile.array %y [%n : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %xv = tile.view %xa step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %yv = tile.view %ya step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %t = tile.load %xv [%b : i32] site 0 : !tile.view<[1024], f32> -> tensor<1024xf32>
    %s = arith.addf %t, %t : tensor<1024xf32>
    tile.store %s, %yv [%b : i32] site 1 : tensor<1024xf32>, !tile.view<[1024], f32>
    tile.return
  })";
}

TEST(Reference, VectorOfOddLength) {
  const int64_t n = (1 << 20) + 3;
  Array<float> x{DType::f32, {n}, std::vector<float>(size_t(n))}, y{DType::f32, {n}, std::vector<float>(size_t(n), -1)};
  std::iota(x.data.begin(), x.data.end(), 0.0f);
  ExecReport report =
      runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", n}}, {(n + 1023) / 1024, 1, 1}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.blocks, 1025);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(y.data[size_t(i)], 2 * float(i));
}

TEST(Reference, EmptyGridRunsNothing) {
  Array<float> x{DType::f32, {4}, std::vector<float>(4)}, y{DType::f32, {4}, std::vector<float>(4, 7)};
  ExecReport report = runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 4}}, {0, 1, 1}});
  EXPECT_EQ(report.blocks, 0);
  EXPECT_EQ(y.data, std::vector<float>(4, 7));
}

TEST(Reference, EmptyArrayIsLegal) {
  Array<float> x{DType::f32, {0}, {}}, y{DType::f32, {0}, {}};
  ExecReport report = runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 0}}, {2, 1, 1}});
  EXPECT_TRUE(report.findings.empty());
}

/// Loads the tile at an index from a 1-D array and stores it as a whole tile elsewhere.
template <typename T>
std::vector<T> loadTile(const std::string &dtype, const std::string &element, DType type, std::vector<T> data,
                        int64_t tile, int64_t index, const std::string &padding) {
  auto t = std::to_string(tile);
  std::string text =
      "tile.kernel @k(" + array("x", dtype, element, "in") + ", " + array("y", dtype, element, "out") + ", " +
      symbol("n") + ", " + symbol("i") + ") {\n" + "%c0 = arith.constant 0 : i32\n%m = arith.constant " + t +
      " : i32\n" + "%xa = tile.array %x [%n : i32] {root = \"x\", dtype = \"" + dtype +
      "\", writable = false} : !tile.ptr<" + element + "> -> !tile.array<1 x " + element + ">\n" +
      "%ya = tile.array %y [%m : i32] {root = \"y\", dtype = \"" + dtype + "\", writable = true} : !tile.ptr<" +
      element + "> -> !tile.array<1 x " + element + ">\n" + "%xv = tile.view %xa step [" + t + "] axes [0] padding " +
      padding + " : !tile.array<1 x " + element + "> -> !tile.view<[" + t + "], " + element + ">\n" +
      "%yv = tile.view %ya step [" + t + "] axes [0] padding none : !tile.array<1 x " + element + "> -> !tile.view<[" +
      t + "], " + element + ">\n" + "%v = tile.load %xv [%i : i32] site 0 : !tile.view<[" + t + "], " + element +
      "> -> tensor<" + t + "x" + element + ">\n" + "tile.store %v, %yv [%c0 : i32] site 1 : tensor<" + t + "x" +
      element + ">, !tile.view<[" + t + "], " + element + ">\ntile.return }";
  int64_t n = int64_t(data.size());
  Array<T> x{type, {n}, std::move(data)}, y{type, {tile}, std::vector<T>(size_t(tile))};
  runKernel(text, {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", n}, {"i", index}}, {1, 1, 1}});
  return y.data;
}

TEST(Reference, TileAcrossTheEdgeReadsZeros) {
  std::vector<int32_t> x(10);
  std::iota(x.begin(), x.end(), 0);
  EXPECT_EQ(loadTile<int32_t>("i32", "i32", DType::i32, x, 4, 2, "zero"), (std::vector<int32_t>{8, 9, 0, 0}));
  EXPECT_EQ(loadTile<int32_t>("i32", "i32", DType::i32, x, 4, -1, "zero"), (std::vector<int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(loadTile<int32_t>("i32", "i32", DType::i32, x, 4, 1 << 29, "zero"), (std::vector<int32_t>{0, 0, 0, 0}));
}

TEST(Reference, TileOutsideReadsPadding) {
  for (auto [padding, value] : {std::pair<std::string, float>{"zero", 0.0f},
                                {"negzero", -0.0f},
                                {"nan", NAN},
                                {"inf", INFINITY},
                                {"neginf", -INFINITY}}) {
    std::vector<float> tile = loadTile<float>("f32", "f32", DType::f32, std::vector<float>(100, 3.0f), 128, 1, padding);
    for (float lane : tile)
      ASSERT_TRUE(value != value ? lane != lane : std::bit_cast<uint32_t>(lane) == std::bit_cast<uint32_t>(value))
          << padding << " gives " << lane;
  }
}

TEST(Reference, PaddingOfNarrowFloats) {
  EXPECT_EQ(loadTile<uint16_t>("f16", "f16", DType::f16, {0x3C00}, 2, 0, "neginf"),
            (std::vector<uint16_t>{0x3C00, 0xFC00}));
  EXPECT_EQ(loadTile<uint16_t>("bf16", "bf16", DType::bf16, {0x3F80}, 2, 0, "negzero"),
            (std::vector<uint16_t>{0x3F80, 0x8000}));
  EXPECT_EQ(loadTile<uint8_t>("f8e4m3", "f8E4M3FN", DType::f8e4m3, {0x38}, 2, 0, "nan"),
            (std::vector<uint8_t>{0x38, 0x7F}));
}

TEST(Reference, BitsOfMovedValuesStay) {
  // A signalling NaN and the codes of fp8 pass unchanged.
  EXPECT_EQ(loadTile<uint16_t>("f16", "f16", DType::f16, {0x7D01, 0xFFFF}, 2, 0, "none"),
            (std::vector<uint16_t>{0x7D01, 0xFFFF}));
  EXPECT_EQ(loadTile<uint32_t>("f32", "f32", DType::f32, {0x7F800001, 0xFFC12345}, 2, 0, "none"),
            (std::vector<uint32_t>{0x7F800001, 0xFFC12345}));
}

TEST(Reference, StoreDropsLanesOutside) {
  std::string text = "tile.kernel @k(" + array("y", "i32", "i32", "out") + ", " + symbol("n") + R"() {
    %one = arith.constant 1 : i32
    %twos = arith.constant dense<2> : tensor<4xi32>
    %ya = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [4] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[4], i32>
    tile.store %twos, %yv [%one : i32] site 0 : tensor<4xi32>, !tile.view<[4], i32>
    tile.return })";
  Array<int32_t> y{DType::i32, {6}, std::vector<int32_t>(6, 1)};
  runKernel(text, {{{"y", y.view()}}, {}, {{"n", 6}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<int32_t>{1, 1, 1, 1, 2, 2}));
}

TEST(Reference, PermutedAxesAndNumberOfTiles) {
  // arange(16) as 4x4 in tiles (1, 4) with axes (1, 0); the tile counts 42x64 in 4x8, 16 in 4 step 2.
  std::string text =
      "tile.kernel @k(" + array("x", "i32", "i32", "in") + ", " + array("y", "i32", "i32", "out") + R"() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %c42 = arith.constant 42 : i32
    %c64 = arith.constant 64 : i32
    %xa = tile.array %x [%c4, %c4 : i32, i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<2 x i32>
    %xv = tile.view %xa step [1, 4] axes [1, 0] padding none : !tile.array<2 x i32> -> !tile.view<[1, 4], i32>
    %t = tile.load %xv [%c1, %c0 : i32, i32] site 0 : !tile.view<[1, 4], i32> -> tensor<1x4xi32>
    %r = tile.reshape %t : tensor<1x4xi32> -> tensor<4xi32>
    %ya = tile.array %y [%c16 : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [4] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[4], i32>
    tile.store %r, %yv [%c0 : i32] site 1 : tensor<4xi32>, !tile.view<[4], i32>

    %big = tile.array %x [%c42, %c64 : i32, i32] strides [%c0, %c0 : i32, i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<2 x i32>
    %bv = tile.view %big step [4, 8] axes [0, 1] padding zero : !tile.array<2 x i32> -> !tile.view<[4, 8], i32>
    %n0 = tile.num_tiles %bv, 0 : !tile.view<[4, 8], i32> -> i32
    %n1 = tile.num_tiles %bv, 1 : !tile.view<[4, 8], i32> -> i32
    %wv = tile.view %ya step [2] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[4], i32>
    %n2 = tile.num_tiles %wv, 0 : !tile.view<[4], i32> -> i32
    %sv = tile.view %ya step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    %s0 = tile.splat %n0 : i32 -> tensor<1xi32>
    %s1 = tile.splat %n1 : i32 -> tensor<1xi32>
    %s2 = tile.splat %n2 : i32 -> tensor<1xi32>
    %p4 = arith.constant 4 : i32
    %p5 = arith.constant 5 : i32
    %p6 = arith.constant 6 : i32
    tile.store %s0, %sv [%p4 : i32] site 1 : tensor<1xi32>, !tile.view<[1], i32>
    tile.store %s1, %sv [%p5 : i32] site 1 : tensor<1xi32>, !tile.view<[1], i32>
    tile.store %s2, %sv [%p6 : i32] site 1 : tensor<1xi32>, !tile.view<[1], i32>
    tile.return })";
  Array<int32_t> x{DType::i32, {4, 4}, std::vector<int32_t>(16)}, y{DType::i32, {16}, std::vector<int32_t>(16, -1)};
  std::iota(x.data.begin(), x.data.end(), 0);
  runKernel(text, {{{"x", x.view()}, {"y", y.view()}}, {}, {}, {1, 1, 1}});
  EXPECT_EQ((std::vector<int32_t>(y.data.begin(), y.data.begin() + 7)), (std::vector<int32_t>{1, 5, 9, 13, 11, 8, 8}));
}

TEST(Reference, NegativeAndZeroStrides) {
  std::string text = "tile.kernel @k(" + array("x", "f32", "f32", "in") + ", " + array("y", "f32", "f32", "out") +
                     ", " + symbol("s", "i64") + R"() {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %xa = tile.array %x [%c4 : i32] strides [%s : i64] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ya = tile.array %y [%c4 : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %xv = tile.view %xa step [4] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[4], f32>
    %yv = tile.view %ya step [4] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[4], f32>
    %t = tile.load %xv [%c0 : i32] site 0 : !tile.view<[4], f32> -> tensor<4xf32>
    tile.store %t, %yv [%c0 : i32] site 1 : tensor<4xf32>, !tile.view<[4], f32>
    tile.return })";
  Array<float> x{DType::f32, {4}, {1, 2, 3, 4}}, y{DType::f32, {4}, std::vector<float>(4)};
  BufferView reversed = x.view();
  reversed.data += 3 * sizeof(float);
  reversed.strides = {-1};
  reversed.elements = 1;
  runKernel(text, {{{"x", reversed}, {"y", y.view()}}, {}, {{"s", -1}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<float>{4, 3, 2, 1}));
  BufferView repeated = x.view();
  repeated.strides = {0};
  runKernel(text, {{{"x", repeated}, {"y", y.view()}}, {}, {{"s", 0}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<float>{1, 1, 1, 1}));
}

TEST(Reference, ArrayPastItsBufferIsRefused) {
  Ir ir;
  auto module = ir.parse(doubleKernel());
  Array<float> x{DType::f32, {4}, std::vector<float>(4)}, y{DType::f32, {4}, std::vector<float>(4)};
  Result<ExecReport> report = execute(*module, "k", {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 5}}, {1, 1, 1}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "array 'x' reaches elements 0 to 4, its buffer holds 0 to 3");
  report = execute(*module, "k", {{{"x", x.view()}}, {}, {{"n", 4}}, {1, 1, 1}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "the launch has no buffer for array 'y'");
  report = execute(*module, "nothing", {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "the module has no kernel 'nothing'");
}

//===--------------------------------------------------------------------------------------------------------------===//
// Findings
//===--------------------------------------------------------------------------------------------------------------===//

TEST(Reference, UndefinedLanesThatReachAStoreAreReported) {
  // Tiles of 1024 over 1500 elements are fine, since outside lanes are dropped. Reversing roles: load 1500, store 2048.
  std::string text = "tile.kernel @k(" + array("x", "f32", "f32", "in") + ", " + array("y", "f32", "f32", "out") +
                     ", " + symbol("n") + R"() {
    %b = tile.block_id 0 : i32
    %m = arith.constant 2048 : i32
    %xa = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ya = tile.array %y [%m : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %xv = tile.view %xa step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %yv = tile.view %ya step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %t = tile.load %xv [%b : i32] site 0 : !tile.view<[1024], f32> -> tensor<1024xf32>
    %s = arith.addf %t, %t : tensor<1024xf32>
    tile.store %s, %yv [%b : i32] site 1 : tensor<1024xf32>, !tile.view<[1024], f32>
    tile.return })";
  Array<float> x{DType::f32, {1500}, std::vector<float>(1500, 1)}, y{DType::f32, {2048}, std::vector<float>(2048)};
  ExecReport report = runKernel(text, {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 1500}}, {2, 1, 1}});
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding &f = report.findings[0];
  EXPECT_EQ(f.kind, FindingKind::Uninitialised);
  EXPECT_EQ(f.place.line, 8u);
  EXPECT_EQ(f.reached.line, 10u);
  EXPECT_EQ(f.block, (std::array<int64_t, 3>{1, 0, 0}));
  EXPECT_EQ(f.element, 1500);
  EXPECT_EQ(f.count, 548u);
  EXPECT_THAT(toString(f), testing::HasSubstr("reaches element 1500 of 'y' and 547 more at"));
}

TEST(Reference, SelectedAwayLanesAreFine) {
  std::string text = "tile.kernel @k(" + array("x", "f32", "f32", "in") + ", " + array("y", "f32", "f32", "out") +
                     ", " + symbol("n") + R"() {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %xa = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ya = tile.array %y [%c8 : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %xv = tile.view %xa step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    %yv = tile.view %ya step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    %t = tile.load %xv [%c0 : i32] site 0 : !tile.view<[8], f32> -> tensor<8xf32>
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    %positive = arith.cmpf ogt, %t, %zero : tensor<8xf32>
    %i = tile.arange 0 : i32 step 1 : i32 : tensor<8xi32>
    %limit = tile.splat %n : i32 -> tensor<8xi32>
    %inside = arith.cmpi slt, %i, %limit : tensor<8xi32>
    %both = arith.andi %inside, %positive : tensor<8xi1>
    %s = arith.select %both, %t, %zero : tensor<8xi1>, tensor<8xf32>
    tile.store %s, %yv [%c0 : i32] site 1 : tensor<8xf32>, !tile.view<[8], f32>
    tile.return })";
  Array<float> x{DType::f32, {3}, {1, -2, 3}}, y{DType::f32, {8}, std::vector<float>(8, 9)};
  ExecReport report = runKernel(text, {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 3}}, {1, 1, 1}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(y.data, (std::vector<float>{1, 0, 3, 0, 0, 0, 0, 0}));
}

/// Every block stores its number to the element 0.
std::string everyBlockStores(const std::string &value) {
  return "tile.kernel @k(" + array("y", "i32", "i32", "out") + R"() {
    %b = tile.block_id 0 : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ya = tile.array %y [%c1 : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    %t = tile.splat )" +
         value + R"( : i32 -> tensor<1xi32>
    tile.store %t, %yv [%c0 : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.return })";
}

TEST(Reference, RacesAreReportedAndEndTheSameWay) {
  for (unsigned jobs : {1u, 2u, 5u}) {
    Array<int32_t> y{DType::i32, {1}, {0}};
    ExecReport report = runKernel(everyBlockStores("%b"), {{{"y", y.view()}}, {}, {}, {100, 1, 1}}, {.jobs = jobs});
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, FindingKind::Race);
    EXPECT_EQ(report.findings[0].element, 0);
    EXPECT_EQ(y.data[0], 99);
  }
}

TEST(Reference, EqualValuesDoNotRace) {
  Array<int32_t> y{DType::i32, {1}, {0}};
  ExecReport report = runKernel(everyBlockStores("%c1"), {{{"y", y.view()}}, {}, {}, {100, 1, 1}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(y.data[0], 1);
}

TEST(Reference, BrokenPromiseOfBounds) {
  std::string text = "tile.kernel @k(" + array("x", "f32", "f32", "in") + R"() {
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %xa = tile.array %x [%c3 : i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %xv = tile.view %xa step [4] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[4], f32>
    %t = tile.load %xv [%c0 : i32] site 0 in_bounds : !tile.view<[4], f32> -> tensor<4xf32>
    tile.return })";
  Array<float> x{DType::f32, {3}, {1, 2, 3}};
  ExecReport report = runKernel(text, {{{"x", x.view()}}, {}, {}, {1, 1, 1}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::OutOfRange);
}

TEST(Reference, SampledBlocksAlone) {
  const int64_t n = 10000;
  Array<float> x{DType::f32, {n}, std::vector<float>(size_t(n), 1)},
      y{DType::f32, {n}, std::vector<float>(size_t(n), -1)};
  ExecReport report =
      runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", n}}, {(n + 1023) / 1024, 1, 1}},
                {.samples = {{"y", 5000}, {"y", 5001}, {"y", 9999}}});
  EXPECT_EQ(report.blocks, 2);
  EXPECT_EQ(y.data[5000], 2);
  EXPECT_EQ(y.data[9999], 2);
  EXPECT_EQ(y.data[0], -1);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Control flow
//===--------------------------------------------------------------------------------------------------------------===//

TEST(Reference, LoopsAndBranches) {
  // v = i; if i >= 3 { v *= 10 }, stored for i in 0..10: 0 1 2 30 40 … 90.
  std::string text = "tile.kernel @k(" + array("y", "i32", "i32", "out") + ", " + symbol("n") + R"() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c10 = arith.constant 10 : i32
    %ya = tile.array %y [%c10 : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %big = arith.cmpi sge, %i, %c3 : i32
      %v = scf.if %big -> i32 {
        %w = arith.muli %i, %c10 : i32
        scf.yield %w : i32
      } else {
        scf.yield %i : i32
      }
      %t = tile.splat %v : i32 -> tensor<1xi32>
      tile.store %t, %yv [%i : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    }
    tile.return })";
  Array<int32_t> y{DType::i32, {10}, std::vector<int32_t>(10, -1)};
  runKernel(text, {{{"y", y.view()}}, {}, {{"n", 10}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<int32_t>{0, 1, 2, 30, 40, 50, 60, 70, 80, 90}));
  Array<int32_t> none{DType::i32, {10}, std::vector<int32_t>(10, -1)};
  runKernel(text, {{{"y", none.view()}}, {}, {{"n", 0}}, {1, 1, 1}});
  EXPECT_EQ(none.data, std::vector<int32_t>(10, -1));
}

TEST(Reference, CarriedValuesMoveAtOnce) {
  // (a, b) = (b, a + b) fifteen times from (0, 1), and (a, b) = (b, a) three times.
  std::string text = "tile.kernel @k(" + array("y", "i32", "i32", "out") + ", " + symbol("n") + R"() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %ya = tile.array %y [%c4 : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32) : i32 {
      %s = arith.addi %a, %b : i32
      scf.yield %b, %s : i32, i32
    }
    %g:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %f#0, %b = %f#1) -> (i32, i32) : i32 {
      scf.yield %b, %a : i32, i32
    }
    %t0 = tile.splat %f#0 : i32 -> tensor<1xi32>
    %t1 = tile.splat %f#1 : i32 -> tensor<1xi32>
    %t2 = tile.splat %g#0 : i32 -> tensor<1xi32>
    %t3 = tile.splat %g#1 : i32 -> tensor<1xi32>
    %c2 = arith.constant 2 : i32
    tile.store %t0, %yv [%c0 : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.store %t1, %yv [%c1 : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.store %t2, %yv [%c2 : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.store %t3, %yv [%c3 : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.return })";
  Array<int32_t> y{DType::i32, {4}, std::vector<int32_t>(4)};
  runKernel(text, {{{"y", y.view()}}, {}, {{"n", 15}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<int32_t>{610, 987, 987, 610}));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Memory of other kinds
//===--------------------------------------------------------------------------------------------------------------===//

/// Copies tiles of 4 elements of x to y.
std::string copyKernel(const std::string &dtype, const std::string &element, const std::string &padding = "none") {
  std::string view = "!tile.view<[4], " + element + ">", array1 = "!tile.array<1 x " + element + ">";
  auto bind = [&](const std::string &name, bool writable, const std::string &pad) {
    return "%" + name + "a = tile.array %" + name + " [%n : i32] {root = \"" + name + "\", dtype = \"" + dtype +
           "\", writable = " + (writable ? "true" : "false") + "} : !tile.ptr<" + element + "> -> " + array1 + "\n%" +
           name + "v = tile.view %" + name + "a step [4] axes [0] padding " + pad + " : " + array1 + " -> " + view +
           "\n";
  };
  return "tile.kernel @k(" + array("x", dtype, element, "in") + ", " + array("y", dtype, element, "out") + ", " +
         symbol("n") + ") {\n%b = tile.block_id 0 : i32\n" + bind("x", false, padding) + bind("y", true, "none") +
         "%t = tile.load %xv [%b : i32] site 0 : " + view + " -> tensor<4x" + element +
         ">\ntile.store %t, %yv [%b : i32] site 1 : tensor<4x" + element + ">, " + view + "\ntile.return }";
}

TEST(Reference, PackedElementsOfFourBits) {
  Array<uint8_t> x{DType::f4e2m1, {10}, {0x10, 0x32, 0x54, 0x76, 0x98}},
      y{DType::f4e2m1, {10}, std::vector<uint8_t>(5, 0xFF)};
  ExecReport report =
      runKernel(copyKernel("f4e2m1", "f4E2M1FN"), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 10}}, {3, 1, 1}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(y.data, x.data);
  Array<uint8_t> part{DType::f4e2m1, {10}, std::vector<uint8_t>(5, 0xFF)};
  runKernel(copyKernel("f4e2m1", "f4E2M1FN"), {{{"x", x.view()}, {"y", part.view()}}, {}, {{"n", 10}}, {1, 1, 1}});
  EXPECT_EQ(part.data, (std::vector<uint8_t>{0x10, 0x32, 0xFF, 0xFF, 0xFF}));
}

TEST(Reference, EveryDTypeMoves) {
  for (const DTypeInfo &row : allDTypes()) {
    Ir ir;
    std::string element;
    llvm::raw_string_ostream(element) << tile::elementType(&ir.context, row.dtype);
    std::vector<uint8_t> bytes(size_t(row.bits) * 6 / 8);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = row.dtype == DType::bool_ ? uint8_t(i % 2) : uint8_t(i * 37 + 11);
    std::vector<uint8_t> out(bytes.size());
    BufferView x{row.dtype, {6}, {}, reinterpret_cast<std::byte *>(bytes.data()), 6}, y = x;
    y.data = reinterpret_cast<std::byte *>(out.data());
    runKernel(copyKernel(std::string(row.name), element), {{{"x", x}, {"y", y}}, {}, {{"n", 6}}, {2, 1, 1}});
    EXPECT_EQ(out, bytes) << row.name;
  }
}

TEST(Reference, WidenedRunsTakeF64Buffers) {
  Array<float> x{DType::f32, {3}, {1, 2, 0.1f}};
  Array<double> y{DType::f64, {3}, std::vector<double>(3)};
  runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 3}}, {1, 1, 1}}, {.widen64 = true});
  EXPECT_EQ(y.data, (std::vector<double>{2, 4, 2 * double(0.1f)}));
  Ir ir;
  auto module = ir.parse(doubleKernel());
  Result<ExecReport> report = execute(*module, "k", {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 3}}, {1, 1, 1}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "the buffer of array 'y' holds f64, the kernel wants f32");
}

TEST(Reference, ChosenBlocksAlone) {
  Array<float> x{DType::f32, {5000}, std::vector<float>(5000, 1)}, y{DType::f32, {5000}, std::vector<float>(5000, -1)};
  Launch launch{{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 5000}}, {5, 1, 1}};
  EXPECT_EQ(runKernel(doubleKernel(), launch, {.blocks = {1, 4}}).blocks, 2);
  EXPECT_EQ(y.data[0], -1);
  EXPECT_EQ(y.data[1024], 2);
  EXPECT_EQ(y.data[4999], 2);
  Ir ir;
  auto module = ir.parse(doubleKernel());
  EXPECT_EQ(execute(*module, "k", launch, {.blocks = {5}}).error().message,
            "a block to run is not in the grid of 5 blocks");
}

TEST(Reference, SymbolsMustFitTheirWidth) {
  Ir ir;
  auto module = ir.parse(doubleKernel());
  Array<float> x{DType::f32, {1}, {1}};
  Result<ExecReport> report =
      execute(*module, "k", {{{"x", x.view()}, {"y", x.view()}}, {}, {{"n", int64_t(1) << 31}}, {1, 1, 1}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "symbol 'n' is 2147483648, which needs index64");
  report = execute(*module, "k", {{{"x", x.view()}, {"y", x.view()}}, {}, {}, {1, 1, 1}});
  EXPECT_EQ(report.error().message, "the launch gives no value for symbol 'n'");
}

TEST(Reference, ProgressReachesTheEnd) {
  Array<float> x{DType::f32, {4000}, std::vector<float>(4000)}, y{DType::f32, {4000}, std::vector<float>(4000)};
  int64_t last = 0;
  runKernel(doubleKernel(), {{{"x", x.view()}, {"y", y.view()}}, {}, {{"n", 4000}}, {4, 1, 1}},
            {.progress = [&](int64_t done, int64_t total) {
              EXPECT_EQ(total, 4);
              EXPECT_GT(done, last);
              last = done;
            }});
  EXPECT_EQ(last, 4);
}

TEST(Reference, BlocksOfThreeAxes) {
  std::string text = "tile.kernel @k(" + array("y", "i32", "i32", "out") + R"() {
    %i = tile.block_id 0 : i32
    %j = tile.block_id 1 : i32
    %l = tile.block_id 2 : i32
    %w = tile.num_blocks 0 : i32
    %h = tile.num_blocks 1 : i32
    %c10 = arith.constant 10 : i32
    %n = arith.constant 24 : i32
    %r0 = arith.muli %l, %h : i32
    %r1 = arith.addi %r0, %j : i32
    %r2 = arith.muli %r1, %w : i32
    %at = arith.addi %r2, %i : i32
    %v0 = arith.muli %l, %c10 : i32
    %v1 = arith.addi %v0, %j : i32
    %v2 = arith.muli %v1, %c10 : i32
    %v = arith.addi %v2, %i : i32
    %ya = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %yv = tile.view %ya step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    %t = tile.splat %v : i32 -> tensor<1xi32>
    tile.store %t, %yv [%at : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
    tile.return })";
  Array<int32_t> y{DType::i32, {24}, std::vector<int32_t>(24, -1)};
  runKernel(text, {{{"y", y.view()}}, {}, {}, {4, 3, 2}});
  for (int32_t l = 0, at = 0; l < 2; ++l)
    for (int32_t j = 0; j < 3; ++j)
      for (int32_t i = 0; i < 4; ++i)
        EXPECT_EQ(y.data[size_t(at++)], 100 * l + 10 * j + i);
}

TEST(Reference, UndefinedValuesPassThroughLoopsAndReductions) {
  // The sum of a tile that crosses the edge, carried through a loop, is undefined; its row-wise neighbour is not.
  std::string text =
      "tile.kernel @k(" + array("x", "f32", "f32", "in") + ", " + array("y", "f32", "f32", "out") + R"() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %xa = tile.array %x [%c2, %c3 : i32, i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<2 x f32>
    %xv = tile.view %xa step [4, 2] axes [0, 1] padding none : !tile.array<2 x f32> -> !tile.view<[4, 2], f32>
    %ya = tile.array %y [%c3 : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %yv = tile.view %ya step [4] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[4], f32>
    %t = tile.load %xv [%c0, %c0 : i32, i32] site 0 : !tile.view<[4, 2], f32> -> tensor<4x2xf32>
    %s = tile.reduce sum %t axes [1] : tensor<4x2xf32> -> tensor<4xf32>
    %u = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %s) -> (tensor<4xf32>) : i32 {
      %d = arith.addf %v, %v : tensor<4xf32>
      scf.yield %d : tensor<4xf32>
    }
    tile.store %u, %yv [%c0 : i32] site 1 : tensor<4xf32>, !tile.view<[4], f32>
    tile.return })";
  Array<float> x{DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}}, y{DType::f32, {3}, std::vector<float>(3)};
  ExecReport report = runKernel(text, {{{"x", x.view()}, {"y", y.view()}}, {}, {}, {1, 1, 1}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].element, 2);
  EXPECT_EQ(report.findings[0].count, 1u);
  EXPECT_EQ(y.data[0], 24);
  EXPECT_EQ(y.data[1], 72);
}

TEST(Reference, UndefinedConditionsAreReported) {
  std::string text = "tile.kernel @k(" + array("x", "i32", "i32", "in") + R"() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %xa = tile.array %x [%c1 : i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %xv = tile.view %xa step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
    %t = tile.load %xv [%c1 : i32] site 0 : !tile.view<[1], i32> -> tensor<1xi32>
    %s = tile.reshape %t : tensor<1xi32> -> i32
    %p = arith.cmpi eq, %s, %c0 : i32
    scf.if %p {
    }
    tile.return })";
  Array<int32_t> x{DType::i32, {1}, {1}};
  ExecReport report = runKernel(text, {{{"x", x.view()}}, {}, {}, {1, 1, 1}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].reached.line, 9u);
  EXPECT_EQ(report.findings[0].source, "x");
  EXPECT_THAT(
      toString(report.findings[0]),
      testing::HasSubstr("what 'x' has outside its extents is undefined without padding, and decides what runs"));
}

TEST(Reference, EveryOpOfTheDialectHasAMeaning) {
  Ir ir;
  for (mlir::RegisteredOperationName op : ir.context.getRegisteredOperationsByDialect("tile")) {
    if (op.getStringRef() != "tile.kernel" && op.getStringRef() != "tile.return")
      EXPECT_TRUE(knows(op.getStringRef())) << op.getStringRef().str();
  }
}

} // namespace
} // namespace tilec::reference
