// LINK: compiler_reference compiler_ir MLIRParser
// Folds by a function on tiles of several thousand elements, against the function applied from element to element.
#include "tests/unit/reference_util.h"

namespace tilec::reference {
namespace {

/// x -> a·x + b; composing two, the left one first, is associative and does not commute.
struct Affine {
  uint32_t a = 1, b = 0;
  bool operator==(const Affine &) const = default;
};
Affine compose(Affine l, Affine r) { return {l.a * r.a, r.a * l.b + r.b}; }

constexpr int64_t outer = 4, middle = 1024, inner = 4, total = outer * middle * inner;
const std::string shape = "4x1024x4";

Affine at(int64_t i) { return {uint32_t(2 * (i % 7) + 3), uint32_t(i * 2654435761u)}; }

/// Runs a fold over the tiles a and b of `shape`; the results have `result` elements.
std::vector<Affine> fold(const std::string &op, const std::string &attributes, const std::string &resultShape,
                         int64_t result) {
  Array<uint32_t> a{DType::u32, {total}, std::vector<uint32_t>(total)}, b = a;
  Array<uint32_t> p{DType::u32, {result}, std::vector<uint32_t>(size_t(result))}, q = p;
  for (int64_t i = 0; i < total; ++i) {
    a.data[size_t(i)] = at(i).a;
    b.data[size_t(i)] = at(i).b;
  }
  Launch launch;
  launch.buffers = {{"a", a.view()}, {"b", b.view()}, {"p", p.view()}, {"q", q.view()}};
  std::string text = "tile.kernel @k(" + array("a", "u32", "i32", "in") + ", " + array("b", "u32", "i32", "in") + ", " +
                     array("p", "u32", "i32", "out") + ", " + array("q", "u32", "i32", "out") +
                     ") {\n%z = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n";
  for (const std::string &name : {"a", "b", "p", "q"}) {
    std::string count = std::to_string(name < "c" ? total : result), view = "!tile.view<[" + count + "], i32>";
    text += "%" + name + "n = arith.constant " + count + " : i32\n%" + name + "a = tile.array %" + name + " [%" + name +
            "n : i32] {root = \"" + name +
            "\", dtype = \"u32\", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>\n%" + name +
            "v = tile.view %" + name + "a step [" + count + "] axes [0] padding none : !tile.array<1 x i32> -> " +
            view + "\n";
    if (name < "c")
      text += "%" + name + "l = tile.load %" + name + "v [%z : i32] site 0 : " + view + " -> tensor<" + count +
              "xi32>\n%" + name + "t = tile.reshape %" + name + "l : tensor<" + count + "xi32> -> tensor<" + shape +
              "xi32>\n";
  }
  std::string tensor = "tensor<" + shape + "xi32>", out = "tensor<" + resultShape + "xi32>",
              flat = "tensor<" + std::to_string(result) + "xi32>";
  text += "%r:2 = tile." + op + " %at, %bt identity %one, %z " + attributes + R"IR( {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %ca = arith.muli %la, %ra : i32
    %t = arith.muli %ra, %lb : i32
    %cb = arith.addi %t, %rb : i32
    tile.yield %ca, %cb : i32, i32
  } : )IR" +
          tensor + ", " + tensor + " identity i32, i32 -> " + out + ", " + out + "\n";
  int index = 0;
  for (const std::string &name : {"p", "q"})
    text += "%" + name + "f = tile.reshape %r#" + std::to_string(index++) + " : " + out + " -> " + flat +
            "\ntile.store %" + name + "f, %" + name + "v [%z : i32] site 0 : " + flat + ", !tile.view<[" +
            std::to_string(result) + "], i32>\n";
  ExecReport report = runKernel(text + "tile.return }", launch);
  EXPECT_TRUE(report.findings.empty());
  std::vector<Affine> results;
  for (size_t i = 0; i < size_t(result); ++i)
    results.push_back({p.data[i], q.data[i]});
  return results;
}

int64_t place(int64_t o, int64_t k, int64_t i) { return (o * middle + k) * inner + i; }

TEST(Folds, ReduceKeepsTheOrderAlongAnyAxes) {
  std::vector<Affine> along = fold("reduce_fn", "axes [1]", "4x4", outer * inner);
  std::vector<Affine> ends = fold("reduce_fn", "axes [0, 2]", "1024", middle);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      Affine want = at(place(o, 0, i));
      for (int64_t k = 1; k < middle; ++k)
        want = compose(want, at(place(o, k, i)));
      EXPECT_EQ(along[size_t(o * inner + i)], want) << o << " " << i;
    }
  for (int64_t k = 0; k < middle; ++k) {
    Affine want;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        want = compose(want, at(place(o, k, i)));
    ASSERT_EQ(ends[size_t(k)], want) << k;
  }
}

TEST(Folds, ScansGoEitherWayAlongAnyAxis) {
  for (bool reverse : {false, true})
    for (bool exclusive : {false, true}) {
      std::string how = std::string(reverse ? " reverse" : "") + (exclusive ? " exclusive" : "");
      std::vector<Affine> got = fold("scan_fn", "axis 1" + how, shape, total);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          Affine running;
          for (int64_t n = 0; n < middle; ++n) {
            int64_t here = place(o, reverse ? middle - 1 - n : n, i);
            Affine before = running;
            running = compose(running, at(here));
            ASSERT_EQ(got[size_t(here)], exclusive ? before : running) << how << " " << o << " " << n << " " << i;
          }
        }
      // Of one row: the innermost axis, where rows of the fold are single elements.
      std::vector<Affine> last = fold("scan_fn", "axis 2" + how, shape, total);
      for (int64_t row = 0; row < outer * middle; ++row) {
        Affine running;
        for (int64_t n = 0; n < inner; ++n) {
          int64_t here = row * inner + (reverse ? inner - 1 - n : n);
          Affine before = running;
          running = compose(running, at(here));
          ASSERT_EQ(last[size_t(here)], exclusive ? before : running) << how << " " << row << " " << n;
        }
      }
    }
}

} // namespace
} // namespace tilec::reference
