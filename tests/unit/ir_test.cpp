// LINK: compiler_ir MLIRParser MLIRTransforms
// The tile dialect: text that parses again, what verifiers refuse and what folds.
#include "compiler/ir/tile_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilec::tile {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ir : testing::Test {
  Ir() {
    mlir::DialectRegistry registry;
    registerTileDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) { messages += diag.str() + "\n"; });
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    messages.clear();
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  /// What the verifier says of a body in a kernel with an array x of f32 and a symbol n.
  std::string refusal(const std::string &body) {
    EXPECT_FALSE(parse(kernel(body))) << body;
    return messages;
  }
  static std::string kernel(const std::string &body, const std::string &attributes = "") {
    return R"(tile.kernel @k(%x: !tile.ptr<f32> {tile.name = "x", tile.kind = "array", tile.dtype = "f32"},
                 %n: i32 {tile.name = "n", tile.kind = "symbol", tile.dtype = "i32"}) )" +
           attributes + R"( {
    %c0 = arith.constant 0 : i32
    %a = tile.array %x [%n, %n : i32, i32] {root = "x", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<2 x f32>
    %t = arith.constant dense<1.5> : tensor<2x4xf32>
)" + body + "\ntile.return }";
  }
  /// The module after canonicalisation.
  std::string folded(const std::string &body) {
    auto module = parse(kernel(body));
    EXPECT_TRUE(module) << messages;
    mlir::PassManager passes(&context);
    passes.addPass(mlir::createCanonicalizerPass());
    EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
    return canonicalText(*module);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string messages;
};

/// Every op once.
const char *everyOp = R"(
    %b = tile.block_id 0 : i32
    %g = tile.num_blocks 2 : i32
    %e = tile.extent %a, 1 : !tile.array<2 x f32> -> i32
    %w = tile.array %x [%n : i32] strides [%e : i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %a step [2, 4] axes [1, 0] padding neginf : !tile.array<2 x f32> -> !tile.view<[2, 4], f32>
    %u = tile.view %w step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    %m = tile.num_tiles %v, 0 : !tile.view<[2, 4], f32> -> i32
    %l = tile.load %v [%b, %c0 : i32, i32] site 0 : !tile.view<[2, 4], f32> -> tensor<2x4xf32>
    %k = tile.load %v [%b, %c0 : i32, i32] site 0 in_bounds : !tile.view<[2, 4], f32> -> tensor<2x4xf32>
    %r = tile.reshape %l : tensor<2x4xf32> -> tensor<8xf32>
    tile.store %r, %u [%g : i32] site 1 in_bounds : tensor<8xf32>, !tile.view<[8], f32>
    %i = tile.arange 0 : i32 step 2 : i32 : tensor<8xi32>
    %s = tile.splat %n : i32 -> tensor<1x4xi32>
    %o = tile.broadcast %s : tensor<1x4xi32> -> tensor<8x4xi32>
    %q = tile.reduce max %o axes [0, 1] unsigned : tensor<8x4xi32> -> i32
    %p = tile.reduce min %k axes [1] propagate_nan : tensor<2x4xf32> -> tensor<2xf32>
    %h = tile.convert %p "f32" to "f8e4m3" rn : tensor<2xf32> -> tensor<2xf8E4M3FN>
    %j = tile.convert %q "u32" to "i8" rz saturate : i32 -> i8
    %f = tile.fmin %l, %k propagate_nan : tensor<2x4xf32>
    %d = tile.fmax %l, %f : tensor<2x4xf32>
)";

TEST_F(Ir, TextParsesAgain) {
  auto module = parse(kernel(everyOp, R"(attributes {tile.hints = {occupancy = 2 : i64}, tile.options = {contract},
    tile.sites = [{array = "x", hints = {}, name = "x.load", op = "load"}, {name = "x.store"}]})"));
  ASSERT_TRUE(module) << messages;
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
  std::string text = canonicalText(*module);
  auto again = parse(text);
  ASSERT_TRUE(again) << messages << text;
  EXPECT_EQ(canonicalText(*again), text);
}

TEST_F(Ir, CanonicalTextHasNoPlaces) {
  auto module = parse(kernel(everyOp)), shifted = parse("\n\n\n" + kernel(everyOp));
  EXPECT_EQ(canonicalText(*module), canonicalText(*shifted));
  EXPECT_THAT(canonicalText(*module), Not(HasSubstr("loc(")));
}

TEST_F(Ir, KernelTellsHintsAndOptions) {
  auto module =
      parse(kernel("", "attributes {tile.hints = {occupancy = 2 : i64}, tile.options = {contract, index64 = false}}"));
  auto k = *module->getOps<KernelOp>().begin();
  EXPECT_EQ(k.hint("occupancy", 1), 2);
  EXPECT_EQ(k.hint("num_worker_warps", 4), 4);
  EXPECT_TRUE(k.option("contract"));
  EXPECT_FALSE(k.option("index64"));
  EXPECT_EQ(k.argName(1), "n");
  EXPECT_EQ(k.argKind(0), "array");
  EXPECT_EQ(k.argDType(0), "f32");
}

TEST_F(Ir, DTypesHaveElementTypes) {
  for (const DTypeInfo &row : allDTypes()) {
    std::optional<DType> back = dtypeOf(elementType(&context, row.dtype));
    ASSERT_TRUE(back) << row.name;
    if (row.kind != DTypeKind::Int || row.isSigned)
      EXPECT_EQ(*back, row.dtype);
    else
      EXPECT_EQ(info(*back).bits, row.bits);
  }
  EXPECT_FALSE(dtypeOf(mlir::IndexType::get(&context)));
}

TEST_F(Ir, RefusedArrays) {
  EXPECT_THAT(
      refusal(
          R"(%w = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<2 x f32>)"),
      HasSubstr("has 1 extents, but rank 2"));
  EXPECT_THAT(
      refusal(
          R"(%w = tile.array %x [%n : i32] {root = "x", dtype = "f16", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>)"),
      HasSubstr("dtype 'f16' is not held by elements of type 'f32'"));
  EXPECT_THAT(refusal("%w = tile.extent %a, 2 : !tile.array<2 x f32> -> i32"),
              HasSubstr("axis 2 of an array of rank 2"));
}

TEST_F(Ir, RefusedViews) {
  auto view = [&](const std::string &how, const std::string &shape) {
    return refusal("%v = tile.view %a " + how + " : !tile.array<2 x f32> -> !tile.view<[" + shape + "], f32>");
  };
  EXPECT_THAT(view("step [2, 0] axes [0, 1] padding zero", "2, 4"), HasSubstr("steps are positive, not 0"));
  EXPECT_THAT(view("step [2, 2] axes [1, 1] padding zero", "2, 4"), HasSubstr("axis 1 is wrong"));
  EXPECT_THAT(view("step [2] axes [0] padding zero", "2"), HasSubstr("tiles of rank 1 on an array of rank 2"));
  EXPECT_THAT(view("step [2, 2] axes [0, 1] padding zero", "2, 3"), HasSubstr("tile extents are powers of two, not 3"));
}

TEST_F(Ir, RefusedAccesses) {
  std::string view =
      "%v = tile.view %a step [2, 4] axes [0, 1] padding none : !tile.array<2 x f32> -> !tile.view<[2, 4], f32>\n";
  EXPECT_THAT(refusal(view + "%l = tile.load %v [%n : i32] site 0 : !tile.view<[2, 4], f32> -> tensor<2x4xf32>"),
              HasSubstr("1 indices into a view of rank 2"));
  EXPECT_THAT(
      refusal(view + "%l = tile.load %v [%n, %n : i32, i32] site 0 : !tile.view<[2, 4], f32> -> tensor<4x2xf32>"),
      HasSubstr("holds no tile"));
  EXPECT_THAT(refusal(view + "tile.store %t, %v [%n, %n : i32, i32] site 0 : tensor<2x4xf32>, !tile.view<[2, 4], f32>"),
              HasSubstr("'x' is not writable"));
  EXPECT_FALSE(
      parse(kernel(view + "%l = tile.load %v [%n, %n : i32, i32] site 1 : !tile.view<[2, 4], f32> -> tensor<2x4xf32>",
                   "attributes {tile.sites = [{}]}")));
  EXPECT_THAT(messages, HasSubstr("site 1, but the kernel lists 1"));
}

TEST_F(Ir, RefusedTiles) {
  EXPECT_THAT(refusal("%r = tile.reshape %t : tensor<2x4xf32> -> tensor<4xf32>"), HasSubstr("from 8 to 4 elements"));
  EXPECT_THAT(refusal("%r = tile.broadcast %t : tensor<2x4xf32> -> tensor<4x4xf32>"),
              HasSubstr("axis 0 has extent 2: only extent 1 can become 4"));
  EXPECT_THAT(refusal("%r = tile.reduce sum %t axes [1, 1] : tensor<2x4xf32> -> tensor<2xf32>"),
              HasSubstr("axis 1 is named twice"));
  EXPECT_THAT(refusal("%r = tile.reduce sum %t axes [1] : tensor<2x4xf32> -> tensor<4xf32>"),
              HasSubstr("the kept axes are (2)"));
  EXPECT_THAT(refusal("%r = tile.reduce any %t axes [1] : tensor<2x4xf32> -> tensor<2xf32>"),
              HasSubstr("any of elements of type 'f32'"));
  EXPECT_THAT(refusal("%r = tile.reduce max %t axes [1] unsigned : tensor<2x4xf32> -> tensor<2xf32>"),
              HasSubstr("unsigned is for min and max of integers"));
  EXPECT_THAT(refusal(R"(%r = tile.convert %t "f16" to "f64" rn : tensor<2x4xf32> -> tensor<2x4xf64>)"),
              HasSubstr("dtype 'f16' is not held by"));
  EXPECT_THAT(refusal("%r = tile.arange 0 : i64 step 1 : i64 : tensor<4xi32>"),
              HasSubstr("start and step have the element type"));
}

TEST_F(Ir, RefusedKernels) {
  EXPECT_FALSE(parse("tile.kernel @k(%x: i32) { tile.return }"));
  EXPECT_THAT(messages, HasSubstr("argument 0: lacks the string attribute 'tile.name'"));
  EXPECT_FALSE(
      parse(R"(tile.kernel @k(%x: i64 {tile.name = "n", tile.kind = "symbol", tile.dtype = "i32"}) { tile.return })"));
  EXPECT_THAT(messages, HasSubstr("has type 'i64', but dtype i32"));
  EXPECT_FALSE(parse(
      R"(tile.kernel @k(%x: !tile.ptr<f16> {tile.name = "x", tile.kind = "array", tile.dtype = "f32"}) { tile.return })"));
  EXPECT_THAT(messages, HasSubstr("an array of f32 is passed as !tile.ptr<'f32'>"));
}

TEST_F(Ir, SizesFold) {
  std::string text = folded(R"(
    %c42 = arith.constant 42 : i32
    %w = tile.array %x [%c42, %n : i32, i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<2 x f32>
    %v = tile.view %w step [8, 4] axes [1, 0] padding none : !tile.array<2 x f32> -> !tile.view<[8, 4], f32>
    %k = tile.num_tiles %v, 1 : !tile.view<[8, 4], f32> -> i32
    %e = tile.extent %w, 1 : !tile.array<2 x f32> -> i32
    %z = tile.splat %e : i32 -> tensor<4xi32>
    %s = arith.addi %k, %e : i32
    %o = tile.splat %s : i32 -> tensor<8x4xi32>
    %f = tile.convert %o "i32" to "f32" rn : tensor<8x4xi32> -> tensor<8x4xf32>
    tile.store %f, %v [%k, %c0 : i32, i32] site 0 : tensor<8x4xf32>, !tile.view<[8, 4], f32>)");
  EXPECT_THAT(text, HasSubstr("arith.constant 11 : i32"));
  EXPECT_THAT(text, Not(HasSubstr("tile.extent")));
  EXPECT_THAT(text, Not(HasSubstr("tile.num_tiles")));
}

TEST_F(Ir, ConstantTilesFold) {
  std::string text = folded(R"(
    %c = arith.constant 2.5 : f32
    %w = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %w step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    %s = tile.splat %c : f32 -> tensor<1x2xf32>
    %b = tile.broadcast %s : tensor<1x2xf32> -> tensor<4x2xf32>
    %h = tile.convert %b "f32" to "f16" rn : tensor<4x2xf32> -> tensor<4x2xf16>
    %f = tile.convert %h "f16" to "f32" rn : tensor<4x2xf16> -> tensor<4x2xf32>
    %r = tile.reshape %f : tensor<4x2xf32> -> tensor<2x4xf32>
    %q = tile.reshape %r : tensor<2x4xf32> -> tensor<8xf32>
    tile.store %q, %v [%c0 : i32] site 0 : tensor<8xf32>, !tile.view<[8], f32>)");
  EXPECT_THAT(text, HasSubstr("dense<2.500000e+00> : tensor<8xf32>"));
  for (const char *gone : {"tile.splat", "tile.broadcast", "tile.convert", "tile.reshape"})
    EXPECT_THAT(text, Not(HasSubstr(gone)));
}

TEST_F(Ir, ReshapesOfReshapesFold) {
  std::string text = folded(R"(
    %w = tile.array %x [%n : i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %w step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    %l = tile.load %v [%c0 : i32] site 0 : !tile.view<[8], f32> -> tensor<8xf32>
    %r = tile.reshape %l : tensor<8xf32> -> tensor<2x4xf32>
    %q = tile.reshape %r : tensor<2x4xf32> -> tensor<8xf32>
    tile.store %q, %v [%c0 : i32] site 0 : tensor<8xf32>, !tile.view<[8], f32>)");
  EXPECT_THAT(text, Not(HasSubstr("tile.reshape")));
}

} // namespace
} // namespace tilec::tile
