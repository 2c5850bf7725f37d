// LINK: compiler_reference compiler_ir MLIRParser
// Atomics, locks and sampled blocks: what must hold whatever the number of workers.
#include "tests/unit/reference_util.h"

namespace tilec::reference {
namespace {

std::string arrayOp(const std::string &name, const std::string &dtype, const std::string &type, int64_t extent) {
  std::string n = std::to_string(extent);
  return "%" + name + "n = arith.constant " + n + " : i32\n%" + name + "a = tile.array %" + name + " [%" + name +
         "n : i32] {root = \"" + name + "\", dtype = \"" + dtype + "\", writable = true} : !tile.ptr<" + type +
         "> -> !tile.array<1 x " + type + ">\n";
}

/// Each block adds its lanes to a few elements, many lanes to one.
template <typename T> void checkHistogram(DType dtype, const std::string &type, T want, unsigned jobs) {
  std::string name(tilec::name(dtype));
  Array<T> y{dtype, {8}, std::vector<T>(8)};
  Launch launch;
  launch.buffers["y"] = y.view();
  launch.grid = {64, 1, 1};
  std::string literal = isFloat(dtype) ? "1.0" : "1";
  runKernel(
      "tile.kernel @k(" + array("y", name, type, "inout") + ") {\n" + arrayOp("y", name, type, 8) +
          "%i = tile.arange 0 : i32 step 1 : i32 : tensor<32xi32>\n%m = arith.constant dense<3> : tensor<32xi32>\n" +
          "%j = arith.andi %i, %m : tensor<32xi32>\n%one = arith.constant dense<" + literal + "> : tensor<32x" + type +
          ">\n%old = tile.atomic add %ya [%j : tensor<32xi32>] value %one site 0 : " + "!tile.array<1 x " + type +
          ">, tensor<32x" + type + "> -> tensor<32x" + type + ">\ntile.return }",
      launch, {.jobs = jobs});
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(y.data[i], i < 4 ? want : T(0)) << name << " " << jobs;
}

TEST(Atomics, AddInEveryTypeByManyWorkers) {
  // 64 blocks of 8 lanes an element: 512, which every type but the 8-bit ones holds; those wrap to 0.
  for (unsigned jobs : {1u, 2u, 7u}) {
    checkHistogram<uint8_t>(DType::u8, "i8", 0, jobs);
    checkHistogram<int16_t>(DType::i16, "i16", 512, jobs);
    checkHistogram<int32_t>(DType::i32, "i32", 512, jobs);
    checkHistogram<int64_t>(DType::i64, "i64", 512, jobs);
    checkHistogram<float>(DType::f32, "f32", 512, jobs);
    checkHistogram<double>(DType::f64, "f64", 512, jobs);
    checkHistogram<uint16_t>(DType::f16, "f16", uint16_t(encodeFloat(DType::f16, 512)), jobs);
    // bf16 has 8 bits: from 256 on adding 1 rounds back, as it does on a GPU.
    checkHistogram<uint16_t>(DType::bf16, "bf16", uint16_t(encodeFloat(DType::bf16, 256)), jobs);
  }
}

/// 1024 blocks add to plain data under a lock; nothing is lost and nothing is reported.
TEST(Atomics, ALockLetsEveryBlockThroughWithAnyNumberOfWorkers) {
  std::string text = "tile.kernel @k(" + array("lock", "i32", "i32", "inout") + ", " +
                     array("y", "i64", "i64", "inout") + ") {\n" + arrayOp("lock", "i32", "i32", 1) +
                     arrayOp("y", "i64", "i64", 1) + R"IR(
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b = tile.block_id 0 : i64
  scf.while : () -> () {
    %old = tile.atomic cas %locka [%z : i32] expected %z : i32 value %one site 0 {order = 2 : i32} : !tile.array<1 x i32>, i32 -> i32
    %taken = arith.cmpi ne, %old, %z : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %zero = arith.constant 0 : i64
  %t = tile.gather %ya [%z : i32] padding %zero site 0 : !tile.array<1 x i64>, i64 -> i64
  %s = arith.addi %t, %b : i64
  tile.scatter %s, %ya [%z : i32] site 0 : i64, !tile.array<1 x i64>
  %r = tile.atomic xchg %locka [%z : i32] value %z site 0 {order = 3 : i32} : !tile.array<1 x i32>, i32 -> i32
  tile.return })IR";
  for (unsigned jobs : {1u, 2u, 16u}) {
    Array<int32_t> lock{DType::i32, {1}, {0}};
    Array<int64_t> y{DType::i64, {1}, {0}};
    Launch launch;
    launch.buffers = {{"lock", lock.view()}, {"y", y.view()}};
    launch.grid = {1024, 1, 1};
    ExecReport report = runKernel(text, launch, {.jobs = jobs});
    EXPECT_EQ(y.data[0], 1023 * 512) << jobs;
    EXPECT_EQ(lock.data[0], 0);
    EXPECT_TRUE(report.findings.empty()) << toString(report.findings.front());
  }
}

/// A block that waits for one that failed does not wait forever.
TEST(Atomics, WaitingEndsWhenTheLaunchHasFailed) {
  std::string text = "tile.kernel @k(" + array("flag", "i32", "i32", "inout") + ") {\n" +
                     arrayOp("flag", "i32", "i32", 1) +
                     R"IR(
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b = tile.block_id 0 : i32
  %waits = arith.cmpi eq, %b, %z : i32
  scf.if %waits {
    scf.while : () -> () {
      %old = tile.atomic add %flaga [%z : i32] value %z site 0 : !tile.array<1 x i32>, i32 -> i32
      %unset = arith.cmpi eq, %old, %z : i32
      scf.condition(%unset)
    } do {
      scf.yield
    }
  } else {
    tile.assert %waits "block 1 sets the flag" : i1
    %r = tile.atomic xchg %flaga [%z : i32] value %one site 0 : !tile.array<1 x i32>, i32 -> i32
  }
  tile.return })IR";
  Array<int32_t> flag{DType::i32, {1}, {0}};
  Launch launch;
  launch.buffers["flag"] = flag.view();
  launch.grid = {2, 1, 1};
  ExecReport report = runKernel(text, launch, {.jobs = 2});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::Assertion);
  EXPECT_EQ(report.findings[0].block[0], 1);
}

/// Block b scatters to elements 2b and 2b + 1 of a part of an array and adds to element b of another.
std::string scattering(const std::string &index) {
  return "tile.kernel @k(" + array("y", "i32", "i32", "inout") + ", " + array("c", "i32", "i32", "inout") + ") {\n" +
         arrayOp("y", "i32", "i32", 64) + arrayOp("c", "i32", "i32", 16) + R"IR(
  %b = tile.block_id 0 : i32
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %half = arith.constant 32 : i32
  %all = arith.constant 64 : i32
  %upper = tile.slice %ya, 0 from %half to %all step %one : !tile.array<1 x i32>, i32, i32, i32 -> !tile.array<1 x i32>
  )IR" + index +
         R"IR(
  %two = arith.constant 2 : i32
  %start = arith.muli %at, %two : i32
  %starts = tile.splat %start : i32 -> tensor<2xi32>
  %lanes = tile.arange 0 : i32 step 1 : i32 : tensor<2xi32>
  %i = arith.addi %starts, %lanes : tensor<2xi32>
  tile.scatter %starts, %upper [%i : tensor<2xi32>] site 0 : tensor<2xi32>, !tile.array<1 x i32>
  %old = tile.atomic add %ca [%b : i32] value %one site 0 : !tile.array<1 x i32>, i32 -> i32
  tile.return })IR";
}

TEST(Samples, FollowScattersAndAtomicsIntoParts) {
  auto blocks = [](const std::string &index, std::vector<Sample> samples) {
    Array<int32_t> y{DType::i32, {64}, std::vector<int32_t>(64)}, c{DType::i32, {16}, std::vector<int32_t>(16)};
    Launch launch;
    launch.buffers = {{"y", y.view()}, {"c", c.view()}};
    launch.grid = {16, 1, 1};
    return runKernel(scattering(index), launch, {.samples = std::move(samples)}).blocks;
  };
  const std::string own = "%at = arith.addi %b, %z : i32";
  EXPECT_EQ(blocks(own, {{"y", 37}}), 1) << "block 2 stores elements 36 and 37";
  EXPECT_EQ(blocks(own, {{"y", 36}, {"y", 37}}), 1);
  EXPECT_EQ(blocks(own, {{"y", 32}, {"c", 7}}), 2);
  EXPECT_EQ(blocks(own, {{"y", 5}}), 0) << "nothing is stored below the slice";
  // A place that comes from memory can only be known by running: all blocks run.
  EXPECT_EQ(
      blocks("%at = tile.gather %ca [%b : i32] padding %z site 0 : !tile.array<1 x i32>, i32 -> i32", {{"y", 37}}), 16);
}

} // namespace
} // namespace tilec::reference
