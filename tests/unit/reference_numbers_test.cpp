// LINK: compiler_reference compiler_ir MLIRParser
// What the executor computes with, against computations of another kind: directed rounding against exact integers,
// matrix products against sums element by element, and how long a product may take.
#include "compiler/reference/directed.h"
#include "compiler/reference/multiply.h"
#include "compiler/reference/order.h"
#include "tests/unit/reference_util.h"
#include <bit>
#include <chrono>
#include <cmath>
#include <random>

namespace tilec::reference {
namespace {

/// The sign of (exact value of a op b) - r, worked out on 53-bit integers of up to 2 · 53 + 100 bits' range by
/// __float128, whose 113 bits hold the exact product of two f64, and the sum of two whose exponents are near.
int signOfError(Exact op, double a, double b, double c, double r) {
  __float128 x = a, y = b, z = c, q = r;
  auto sign = [](__float128 v) { return v > 0 ? 1 : v < 0 ? -1 : 0; };
  switch (op) {
  case Exact::Add:
    return sign(x + y - q);
  case Exact::Sub:
    return sign(x - y - q);
  case Exact::Mul:
    return sign(x * y - q);
  case Exact::Div: // a/b - r has the sign of (a - r·b)/b
    return sign(x - q * y) * sign(y);
  case Exact::Sqrt: // of a - r², r not negative
    return sign(x - q * q);
  case Exact::Fma:
    return sign(x * y + z - q);
  }
  return 0;
}

/// Numbers of 26 bits keep sums and products of the check exact in 113 bits.
double random(std::mt19937_64 &engine) {
  double mantissa = double(int64_t(engine() >> 37)) - double(1 << 26);
  return std::ldexp(mantissa + 0.5, int(engine() % 24) - 12);
}

TEST(Directed, IsTheNeighbourOnTheRightSide) {
  std::mt19937_64 engine(7);
  constexpr size_t count = 4000;
  std::vector<double> a(count), b(count), c(count), result(count);
  for (size_t i = 0; i < count; ++i)
    a[i] = random(engine), b[i] = random(engine), c[i] = random(engine);
  for (Exact op : {Exact::Add, Exact::Sub, Exact::Mul, Exact::Div, Exact::Sqrt, Exact::Fma})
    for (Rounding rounding : {Rounding::Zero, Rounding::Down, Rounding::Up}) {
      std::vector<double> left = a;
      if (op == Exact::Sqrt)
        for (double &x : left)
          x = std::fabs(x);
      computeDirected(op, rounding, count, left.data(), b.data(), c.data(), result.data());
      for (size_t i = 0; i < count; ++i) {
        double r = result[i];
        bool up = rounding == Rounding::Up || (rounding == Rounding::Zero && r < 0);
        int error = signOfError(op, left[i], b[i], c[i], r);
        // r is on the right side, and the next number towards the exact value is past it.
        ASSERT_TRUE(up ? error <= 0 : error >= 0) << int(op) << " " << left[i] << " " << b[i] << " " << c[i];
        double past = std::nextafter(r, up ? -INFINITY : INFINITY);
        if (r != 0) {
          ASSERT_TRUE(up ? signOfError(op, left[i], b[i], c[i], past) > 0
                         : signOfError(op, left[i], b[i], c[i], past) < 0)
              << int(op) << " " << left[i] << " " << b[i] << " " << c[i];
        }
      }
    }
}

TEST(Directed, LeavesTheModeAsItWas) {
  double a = 1, b = 3, r = 0;
  computeDirected(Exact::Div, Rounding::Up, 1, &a, &b, &b, &r);
  EXPECT_EQ(std::bit_cast<uint64_t>(r), 0x3FD5555555555556u);
  volatile double one = 1, three = 3;
  EXPECT_EQ(std::bit_cast<uint64_t>(one / three), 0x3FD5555555555555u);
}

/// add, sub, mul, div of an f16 kernel under a directed rounding, against the exact result in f64 rounded by integers.
TEST(Directed, NarrowFormatsRoundOnce) {
  std::mt19937_64 engine(11);
  constexpr int64_t count = 1024;
  const std::pair<std::string, DType> types[] = {{"f16", DType::f16}, {"bf16", DType::bf16}};
  for (const auto &[type, dtype] : types)
    for (auto [mode, rounding] :
         {std::pair("1", Rounding::Zero), std::pair("2", Rounding::Down), std::pair("3", Rounding::Up)}) {
      Array<uint16_t> x{dtype, {count}, std::vector<uint16_t>(count)}, y = x, z = x;
      for (int64_t i = 0; i < count; ++i) {
        x.data[size_t(i)] = uint16_t(engine());
        y.data[size_t(i)] = uint16_t(engine());
      }
      Launch launch;
      launch.buffers = {{"x", x.view()}, {"y", y.view()}, {"z", z.view()}};
      std::string text = "tile.kernel @k(";
      for (std::string name : {"x", "y", "z"})
        text += (name == "x" ? "" : ", ") + array(name, type, type, name == "z" ? "out" : "in");
      text += ") {\n%n = arith.constant 1024 : i32\n%o = arith.constant 0 : i32\n";
      std::string view = "!tile.view<[1024], " + type + ">", tensor = "tensor<1024x" + type + ">";
      for (std::string name : {"x", "y", "z"})
        text += "%" + name + "a = tile.array %" + name + " [%n : i32] {root = \"" + name + "\", dtype = \"" + type +
                "\", writable = true} : !tile.ptr<" + type + "> -> !tile.array<1 x " + type + ">\n%" + name +
                "v = tile.view %" + name + "a step [1024] axes [0] padding none : !tile.array<1 x " + type + "> -> " +
                view + "\n";
      for (std::string name : {"x", "y"})
        text += "%" + name + "t = tile.load %" + name + "v [%o : i32] site 0 : " + view + " -> " + tensor + "\n";
      text += std::string("%r = arith.mulf %xt, %yt {tile.rounding = ") + mode + " : i32} : " + tensor +
              "\ntile.store %r, %zv [%o : i32] site 0 : " + tensor + ", " + view + "\ntile.return }";
      runKernel(text, launch);
      for (size_t i = 0; i < count; ++i) {
        // Both have at most 11 bits, so the product is exact in f64.
        double exact = decodeFloat(dtype, x.data[i]) * decodeFloat(dtype, y.data[i]);
        uint64_t want = encodeFloat(dtype, exact, rounding);
        ASSERT_EQ(z.data[i], want) << type << " " << mode << " " << exact;
      }
    }
}

template <typename T, typename F>
void checkProduct(size_t m, size_t n, size_t k, F multiply, T (*multiplyAdd)(T, T, T)) {
  std::mt19937_64 engine(m * 131 + n * 17 + k);
  std::vector<T> a(m * k), b(k * n), c(m * n);
  for (std::vector<T> *matrix : {&a, &b, &c})
    for (T &x : *matrix)
      x = T(int64_t(engine() % 2001) - 1000);
  std::vector<T> want = c;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < k; ++l)
        want[i * n + j] = multiplyAdd(a[i * k + l], b[l * n + j], want[i * n + j]);
  multiply(m, n, k, a.data(), b.data(), c.data());
  EXPECT_EQ(c, want) << m << " " << n << " " << k;
}

TEST(Multiply, EveryShapeOfBlockAndEdge) {
  for (size_t m : {1, 2, 3, 4, 8, 16})
    for (size_t n : {1, 2, 4, 8, 12, 16, 32})
      for (size_t k : {1, 2, 16, 64}) {
        checkProduct<double>(m, n, k, multiplyExact, [](double x, double y, double s) { return x * y + s; });
        checkProduct<double>(m, n, k, multiplyFused, [](double x, double y, double s) { return std::fma(x, y, s); });
        checkProduct<int32_t>(m, n, k, multiplyIntegers, [](int32_t x, int32_t y, int32_t s) {
          return int32_t(uint32_t(x) * uint32_t(y) + uint32_t(s));
        });
      }
}

TEST(Clock, KnowsWhatItAcquiredAndForgetsOnlyTowardsOrder) {
  Releases::Clockwork clockwork;
  Releases releases;
  Clock first, second, third;
  uint64_t before = clockwork.now();
  releases.release(5, Releases::begin(1, first, clockwork), false);
  uint64_t after = clockwork.now();
  releases.acquire(5, second);
  EXPECT_TRUE(second.sees(1, before));
  EXPECT_FALSE(second.sees(1, after)) << "a store behind the release";
  EXPECT_FALSE(third.sees(1, before)) << "no acquire";
  // Through a block in between, at another element.
  releases.release(6, Releases::begin(2, second, clockwork), false);
  releases.acquire(6, third);
  EXPECT_TRUE(third.sees(1, before));
  // Many blocks: each stays ordered although only some are remembered one by one.
  Clock all;
  std::vector<uint64_t> times;
  for (int64_t block = 10; block < 60; ++block) {
    Clock clock;
    times.push_back(clockwork.now());
    releases.release(7, Releases::begin(block, clock, clockwork), true);
  }
  releases.acquire(7, all);
  for (int64_t block = 10; block < 60; ++block)
    EXPECT_TRUE(all.sees(block, times[size_t(block - 10)]));
  EXPECT_FALSE(all.sees(10, clockwork.now()));
}

TEST(Writers, PlainAgainstAtomicIsARaceAtomicsAreNot) {
  Writers writers;
  writers.track(2, false);
  Clock clock;
  EXPECT_FALSE(writers.change(0, 3, clock, 0, true).unordered);
  EXPECT_FALSE(writers.change(0, 1, clock, 0, true).unordered);
  Writers::Verdict plain = writers.change(0, 2, clock, 0, false);
  EXPECT_TRUE(plain.unordered);
  EXPECT_EQ(plain.other, 1);
  EXPECT_FALSE(writers.change(1, 2, clock, 0, false).unordered);
  EXPECT_FALSE(writers.change(1, 2, clock, 0, false).unordered) << "program order";
  Writers::Verdict lower = writers.change(1, 0, clock, 0, false);
  EXPECT_TRUE(lower.unordered);
  EXPECT_FALSE(lower.wins);
}

/// C = A · B of 512 x 512 x 512 f16 in tiles of 64 x 64 x 64. The bound is what two cores must keep with much to spare;
/// the executor takes near a fiftieth of it.
TEST(Speed, MatrixProductOf512) {
  const std::string text = "tile.kernel @k(" + array("a", "f16", "f16", "in") + ", " + array("b", "f16", "f16", "in") +
                           ", " + array("c", "f16", "f16", "out") + R"IR() {
  %n = arith.constant 512 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %i = tile.block_id 0 : i32
  %j = tile.block_id 1 : i32
  %aa = tile.array %a [%n, %n : i32, i32] {root = "a", dtype = "f16", writable = false} : !tile.ptr<f16> -> !tile.array<2 x f16>
  %ba = tile.array %b [%n, %n : i32, i32] {root = "b", dtype = "f16", writable = false} : !tile.ptr<f16> -> !tile.array<2 x f16>
  %ca = tile.array %c [%n, %n : i32, i32] {root = "c", dtype = "f16", writable = true} : !tile.ptr<f16> -> !tile.array<2 x f16>
  %av = tile.view %aa step [64, 64] axes [0, 1] padding zero : !tile.array<2 x f16> -> !tile.view<[64, 64], f16>
  %bv = tile.view %ba step [64, 64] axes [0, 1] padding zero : !tile.array<2 x f16> -> !tile.view<[64, 64], f16>
  %cv = tile.view %ca step [64, 64] axes [0, 1] padding zero : !tile.array<2 x f16> -> !tile.view<[64, 64], f16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %at = tile.load %av [%i, %k : i32, i32] site 0 : !tile.view<[64, 64], f16> -> tensor<64x64xf16>
    %bt = tile.load %bv [%k, %j : i32, i32] site 0 : !tile.view<[64, 64], f16> -> tensor<64x64xf16>
    %next = tile.mma %at, %bt, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %r = tile.convert %s "f32" to "f16" rn : tensor<64x64xf32> -> tensor<64x64xf16>
  tile.store %r, %cv [%i, %j : i32, i32] site 0 : tensor<64x64xf16>, !tile.view<[64, 64], f16>
  tile.return })IR";
  constexpr size_t n = 512;
  std::vector<uint16_t> zeros(n * n);
  Array<uint16_t> a{DType::f16, {n, n}, zeros}, b = a, c = a;
  for (size_t i = 0; i < n * n; ++i) {
    a.data[i] = uint16_t(encodeFloat(DType::f16, double(i % 7) - 3));
    b.data[i] = uint16_t(encodeFloat(DType::f16, double(i % 5) - 2));
  }
  Launch launch;
  launch.buffers = {{"a", a.view()}, {"b", b.view()}, {"c", c.view()}};
  launch.grid = {8, 8, 1};
  auto start = std::chrono::steady_clock::now();
  ExecReport report = runKernel(text, launch);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_TRUE(report.findings.empty());
  // One row by hand; integers, so every sum is exact.
  for (size_t j : {size_t(0), size_t(77), n - 1}) {
    int64_t sum = 0;
    for (size_t k = 0; k < n; ++k)
      sum += (int64_t((3 * n + k) % 7) - 3) * (int64_t((k * n + j) % 5) - 2);
    EXPECT_EQ(decodeFloat(DType::f16, c.data[3 * n + j]), double(sum));
  }
  EXPECT_LT(seconds, 2.0);
  RecordProperty("seconds", std::to_string(seconds));
}

} // namespace
} // namespace tilec::reference
