// LINK: compiler_emit compiler_reference compiler_transforms compiler_sema compiler_syntax MLIRParser
// From source text to tile IR, and what the reference executor makes of it.
#include "compiler/emit/emit.h"
#include "compiler/sema/check.h"
#include "compiler/syntax/parser.h"
#include "compiler/target/target.h"
#include "compiler/transforms/passes.h"
#include "tests/unit/reference_util.h"
#include <chrono>
#include <gmock/gmock.h>
#include <numeric>

namespace tilec::emit {
namespace {

using reference::Array;
using testing::HasSubstr;
using testing::Not;

/// A kernel on its way: sources, checked program, module.
struct Kernel {
  SourceManager sources;
  Diagnostics diags;
  std::optional<sema::Program> program;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Kernel(const std::string &text, std::map<std::string, LaunchValue, std::less<>> defines = {}) {
    FileId id = sources.add("test.tile", text);
    auto file = syntax::parse(id, sources, diags);
    if (!diags.hasErrors())
      if (auto interface = sema::describe(*file, "", sources, diags))
        program = sema::instantiate(
            *file, *interface, {.defines = std::move(defines), .problem = {}, .hints = {}, .arch = findArch("sm_90")},
            sources, diags);
    EXPECT_TRUE(program) << render(diags, sources, false);
    if (!program)
      return;
    module = emit(*program, sources, context);
    EXPECT_TRUE(module && mlir::succeeded(mlir::verify(*module)));
  }
  std::string text() { return module ? tile::canonicalText(*module) : ""; }
  reference::ExecReport run(reference::Launch launch, const reference::ExecOptions &options = {}) {
    auto report = reference::execute(*module, program->name, launch, options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : reference::ExecReport();
  }
};

/// One block of a kernel `out y: T[N]` that stores `value` as a tile of n elements.
template <typename T>
std::vector<T> evaluate(const std::string &dtype, const std::string &value, int64_t n, const std::string &before = "") {
  Kernel k(
      fmt::format("kernel k(y: out {}[N]) grid (1) {{\n{}\ny.tiled({}).store(0, {})\n}}\n", dtype, before, n, value));
  Array<T> y{*parseDType(dtype), {n}, std::vector<T>(size_t(n))};
  if (k.module)
    k.run({{{"y", y.view()}}, {}, {{"N", n}}, {1, 1, 1}});
  return y.data;
}

const char *vectorAdd = R"(kernel add(a: in f32[N], b: in f32[N], c: out f32[N])
grid (cdiv(N, 1024))
{
    let i = bid(0)
    let x = a.tiled(1024).load(i, latency = 4)
    c.tiled(1024).store(i, x + b.tiled(1024).load(i, site = second))
}
)";

TEST(Emit, ArgumentsAndAttributes) {
  Kernel k(vectorAdd);
  std::string text = k.text();
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(%arg0: !tile.ptr<f32> {tile.align = 16 : i64, tile.dtype = "f32", tile.kind = "array", tile.mode = "in", tile.name = "a"})"));
  EXPECT_THAT(text, HasSubstr(R"(%arg3: i32 {tile.dtype = "i32", tile.kind = "symbol", tile.name = "N"})"));
  EXPECT_THAT(text, HasSubstr("latency = 4"));
  EXPECT_THAT(text, HasSubstr(R"(name = "second")"));
  EXPECT_THAT(text, Not(HasSubstr("fastmath")));
  // The text is accepted again and says the same.
  auto again = mlir::parseSourceString<mlir::ModuleOp>(text, &k.context);
  ASSERT_TRUE(again);
  EXPECT_EQ(tile::canonicalText(*again), text);
}

TEST(Emit, PlacesComeFromTheSource) {
  Kernel k(vectorAdd);
  std::string place;
  k.module->walk([&](tile::LoadOp load) {
    if (auto at = mlir::dyn_cast<mlir::FileLineColLoc>(load.getLoc()); at && place.empty())
      place = fmt::format("{}:{}", at.getFilename().str(), at.getLine());
  });
  EXPECT_EQ(place, "test.tile:5");
}

TEST(Emit, ContractionOnlyWhenAsked) {
  std::string body =
      "(a: in f32[N], c: out f32[N]) grid (1) {} {{ let x = a.tiled(8).load(0)\nc.tiled(8).store(0, x * x + x) }}\n";
  EXPECT_THAT(Kernel("kernel k" + fmt::format(fmt::runtime(body), "options (contract = true)")).text(),
              HasSubstr("fastmath<contract>"));
  EXPECT_THAT(Kernel("kernel k" + fmt::format(fmt::runtime(body), "")).text(), Not(HasSubstr("contract>")));
}

TEST(Emit, FoldedSymbolsAreConstants) {
  Kernel k(vectorAdd, {{"N", int64_t(5000)}});
  EXPECT_THAT(k.text(), HasSubstr("arith.constant 5000 : i32"));
  EXPECT_THAT(k.text(), Not(HasSubstr(R"(tile.kind = "symbol")")));
}

TEST(Emit, ExtentsOfSymbolsAndStrides) {
  Kernel k(R"(kernel k(a: in f32[N, 2 * N + 1] strides (lda, 1), c: out f32[N]) grid (1) {
    c.tiled(4).store(0, sum(a.tiled(4, 16, padding = 0).load(0, 0), axis = 1))
}
)");
  Array<float> a{DType::f32, {4, 9}, std::vector<float>(48, 1.0f)}, c{DType::f32, {4}, std::vector<float>(4)};
  for (size_t i = 0; i < 48; ++i)
    a.data[i] = i % 12 < 9 ? float(i / 12) : 1000.0f;
  a.strides = {12, 1};
  k.run({{{"a", a.view()}, {"c", c.view()}}, {}, {{"N", 4}, {"lda", 12}}, {1, 1, 1}});
  EXPECT_EQ(c.data, (std::vector<float>{0, 9, 18, 27}));
}

TEST(Emit, IntegerDivisionFloors) {
  std::string tiles = "let a = tile<i32>([-7, 7, -7, 7])\nlet b = tile<i32>([2, 2, -2, -2])";
  // Without tile literals the same values come from arithmetic.
  tiles = "let i = arange(4)\nlet a = where(i % 2 == 0, -7, 7)\nlet b = where(i < 2, 2, -2)";
  EXPECT_EQ(evaluate<int32_t>("i32", "a / b", 4, tiles), (std::vector<int32_t>{-4, 3, 3, -4}));
  EXPECT_EQ(evaluate<int32_t>("i32", "a % b", 4, tiles), (std::vector<int32_t>{1, 1, -1, -1}));
  EXPECT_EQ(evaluate<int32_t>("i32", "a / b * b + a % b", 4, tiles), (std::vector<int32_t>{-7, 7, -7, 7}));
  EXPECT_EQ(evaluate<int32_t>("i32", "cdiv(a, b)", 4, tiles), (std::vector<int32_t>{-3, 4, 4, -3}));
  EXPECT_EQ(evaluate<int32_t>("i32", "truncdiv(a, b)", 4, tiles), (std::vector<int32_t>{-3, 3, 3, -3}));
  EXPECT_EQ(evaluate<int32_t>("i32", "truncmod(a, b)", 4, tiles), (std::vector<int32_t>{-1, 1, -1, 1}));
}

TEST(Emit, ShiftsPastTheWidthAtRunTime) {
  std::string amounts = "let by = arange(4) * 16\nlet one = zeros<i32>(4) + 1\nlet minus = zeros<i32>(4) - 1";
  EXPECT_EQ(evaluate<int32_t>("i32", "one << by", 4, amounts), (std::vector<int32_t>{1, 65536, 0, 0}));
  EXPECT_EQ(evaluate<int32_t>("i32", "minus >> by", 4, amounts), (std::vector<int32_t>{-1, -1, -1, -1}));
  EXPECT_EQ(evaluate<uint32_t>("u32", "minus.to(u32) >> by", 4, amounts),
            (std::vector<uint32_t>{0xFFFFFFFF, 0xFFFF, 0, 0}));
}

TEST(Emit, SmallSumsWiden) {
  EXPECT_EQ(evaluate<int32_t>("i32", "sum((arange(8) * 0 + 100).to(i8), keepdims = true)", 1),
            (std::vector<int32_t>{800}));
  EXPECT_EQ(evaluate<int32_t>("i32", "sum(arange(256) >= 0, keepdims = true)", 1), (std::vector<int32_t>{256}));
}

TEST(Emit, LoopsCarryValues) {
  EXPECT_EQ(evaluate<int32_t>("i32", "v", 1, "var v = zeros<i32>(1)\nfor i in range(1, 11, 2) { v = v * 10 + i }"),
            (std::vector<int32_t>{13579}));
  EXPECT_EQ(
      evaluate<int32_t>("i32", "v", 1, "var v = zeros<i32>(1)\nlet n = bid(0)\nfor i in range(0, 5, n) { v = v + 1 }"),
      (std::vector<int32_t>{0}));
  EXPECT_EQ(evaluate<int32_t>("i32", "v", 4,
                              "var v = arange(4)\nfor i in 0..3 { if i == 1 { v = v + 10 } else { v = v * 2 } }"),
            (std::vector<int32_t>{20, 24, 28, 32}));
}

TEST(Emit, EveryFloatFunction) {
  const char *functions[] = {"exp",  "exp2", "log",  "log2", "sqrt",  "rsqrt", "sin",   "cos", "tan",
                             "sinh", "cosh", "tanh", "erf",  "floor", "ceil",  "round", "abs"};
  double (*truth[])(double) = {
      std::exp, std::exp2,  std::log,  std::log2,      std::sqrt, [](double x) { return 1 / std::sqrt(x); },
      std::sin, std::cos,   std::tan,  std::sinh,      std::cosh, std::tanh,
      std::erf, std::floor, std::ceil, std::nearbyint, std::fabs};
  for (size_t f = 0; f < std::size(functions); ++f) {
    std::vector<float> got = evaluate<float>("f32", fmt::format("{}(arange<f32>(4) * 0.75 + 0.5)", functions[f]), 4);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(got[i], float(truth[f](float(i) * 0.75 + 0.5))) << functions[f] << " of element " << i;
  }
}

TEST(Emit, IntegersWrapByTheirSign) {
  EXPECT_EQ(evaluate<uint8_t>("u8", "full<u8>(1, value = 150) + full<u8>(1, value = 110)", 1),
            (std::vector<uint8_t>{4}));
  EXPECT_EQ(evaluate<uint32_t>("u32", "~full<u32>(1, value = 3)", 1), (std::vector<uint32_t>{0xFFFFFFFC}));
  EXPECT_EQ(evaluate<uint32_t>("u32", "-full<u32>(1, value = 3)", 1), (std::vector<uint32_t>{0xFFFFFFFD}));
  EXPECT_EQ(evaluate<uint32_t>("u32", "max(full<u32>(1, value = 1), full<u32>(1, value = 0x80000000))", 1),
            (std::vector<uint32_t>{0x80000000}));
  EXPECT_EQ(evaluate<uint8_t>("u8", "full<u8>(1, value = 200) / full<u8>(1, value = 7)", 1),
            (std::vector<uint8_t>{28}));
  EXPECT_EQ(evaluate<uint8_t>("bool", "full<u8>(1, value = 200) > full<u8>(1, value = 100)", 1),
            (std::vector<uint8_t>{1}));
  EXPECT_EQ(evaluate<uint8_t>("u8", "min(full<u8>(2, value = 200), keepdims = true)", 1), (std::vector<uint8_t>{200}));
  EXPECT_EQ(evaluate<int32_t>("i32", "(arange(4) - 2) ** 3", 4), (std::vector<int32_t>{-8, -1, 0, 1}));
}

TEST(Emit, TilesMeetByBroadcasting) {
  Kernel k(R"(kernel k(y: out i32[4, 8]) grid (1) {
    let table = arange(4)[:, none] * 10 + arange(8)
    y.tiled(4, 8).store(0, 0, where(table % 2 == 0, table, -1))
}
)");
  Array<int32_t> y{DType::i32, {4, 8}, std::vector<int32_t>(32)};
  k.run({{{"y", y.view()}}, {}, {}, {1, 1, 1}});
  for (int32_t r = 0; r < 4; ++r)
    for (int32_t c = 0; c < 8; ++c)
      EXPECT_EQ(y.data[size_t(8 * r + c)], c % 2 ? -1 : 10 * r + c);
}

TEST(Emit, PredicatesAndReductionsOfBool) {
  std::string x = "let x = where(arange(4) == 2, nan, arange<f32>(4))\nlet i = arange(4)";
  EXPECT_EQ(evaluate<uint8_t>("bool", "isnan(x)", 4, x), (std::vector<uint8_t>{0, 0, 1, 0}));
  EXPECT_EQ(evaluate<uint8_t>("bool", "isinf(1.0 / x)", 4, x), (std::vector<uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(evaluate<uint8_t>("bool", "x != x && !(i < 2)", 4, x), (std::vector<uint8_t>{0, 0, 1, 0}));
  EXPECT_EQ(evaluate<uint8_t>("bool", "any(i == 3, keepdims = true)", 1, x), (std::vector<uint8_t>{1}));
  EXPECT_EQ(evaluate<uint8_t>("bool", "all(i == 3, keepdims = true)", 1, x), (std::vector<uint8_t>{0}));
  EXPECT_EQ(evaluate<float>("f32", "max(x, keepdims = true)", 1, x), (std::vector<float>{3}));
  std::vector<float> any = evaluate<float>("f32", "max(x, keepdims = true, propagate_nan = true)", 1, x);
  EXPECT_NE(any[0], any[0]);
}

TEST(Emit, ConversionsSayBothDTypes) {
  std::string x = "let x = arange<f32>(8) * 100.0 - 300.0";
  EXPECT_EQ(evaluate<int8_t>("i8", "x.to(i8)", 8, x), (std::vector<int8_t>{-128, -128, -100, 0, 100, 127, 127, 127}));
  EXPECT_EQ(evaluate<uint8_t>("u8", "x.to(u8)", 8, x), (std::vector<uint8_t>{0, 0, 0, 0, 100, 200, 255, 255}));
  EXPECT_EQ(evaluate<uint8_t>("u8", "x.to(i32).to(u8, saturate = true)", 8, x),
            (std::vector<uint8_t>{0, 0, 0, 0, 100, 200, 255, 255}));
}

TEST(Emit, ScalarChangedInAnIfInALoop) {
  std::string loop = "var c = 5\nfor i in 0..bid(0) + {} {{ if c > i {{ c -= i + 1 }} }}";
  EXPECT_EQ(evaluate<int32_t>("i32", "zeros<i32>(1) + c", 1, fmt::format(fmt::runtime(loop), 4)),
            (std::vector<int32_t>{2}));
  EXPECT_EQ(evaluate<int32_t>("i32", "zeros<i32>(1) + c", 1, fmt::format(fmt::runtime(loop), 0)),
            (std::vector<int32_t>{5}));
}

TEST(Emit, LastTripOfASteppedLoop) {
  Kernel k(R"(kernel k(x: in i32[N], out: out i32[M]) grid (1) {
    let v = x.tiled(1, padding = 0)
    let o = out.tiled(1)
    for i in range(0, 10, 4) { o.store(i / 4, where(zeros<i32>(1) + i < x.shape(0), v.load(i), -1)) }
}
)");
  Array<int32_t> x{DType::i32, {9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, out{DType::i32, {3}, std::vector<int32_t>(3)};
  k.run({{{"x", x.view()}, {"out", out.view()}}, {}, {{"N", 9}, {"M", 3}}, {1, 1, 1}});
  EXPECT_EQ(out.data, (std::vector<int32_t>{1, 5, 9}));
  x.extents = {8};
  k.run({{{"x", x.view()}, {"out", out.view()}}, {}, {{"N", 8}, {"M", 3}}, {1, 1, 1}});
  EXPECT_EQ(out.data, (std::vector<int32_t>{1, 5, -1}));
}

TEST(Emit, ScalarsOfEveryKind) {
  Kernel k(R"(kernel k(y: out f32[4], alpha: f32, n: i64, h: f16, b: bool) grid (1) {
    y.tiled(4).store(0, (arange<f32>(4) * alpha + n.to(f32)) * h.to(f32) + b.to(f32))
}
)");
  Array<float> y{DType::f32, {4}, std::vector<float>(4)};
  k.run({{{"y", y.view()}},
         {{"alpha", std::bit_cast<uint32_t>(0.5f)}, {"n", uint64_t(-3)}, {"h", 0x4000}, {"b", 1}},
         {},
         {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<float>{-5, -4, -3, -2}));
}

TEST(Emit, WideIndices) {
  Kernel k(R"(kernel k(x: in f32[N], y: out f32[N]) grid (cdiv(N, 4)) options (index64 = true) {
    y.tiled(4).store(bid(0), x.tiled(4).load(bid(0)) + x.shape(0).to(f32))
}
)");
  EXPECT_THAT(k.text(), HasSubstr("tile.block_id 0 : i64"));
  Array<float> x{DType::f32, {6}, {1, 2, 3, 4, 5, 6}}, y{DType::f32, {6}, std::vector<float>(6)};
  k.run({{{"x", x.view()}, {"y", y.view()}}, {}, {{"N", 6}}, {2, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<float>{7, 8, 9, 10, 11, 12}));
}

TEST(Emit, ApproximationAndFlushingAreMarked) {
  std::string body = "kernel k(x: in f32[N], y: out f32[N]) grid (1) {{ y.tiled(8).store(0, {}) }}\n";
  auto text = [&](const std::string &value) { return Kernel(fmt::format(fmt::runtime(body), value)).text(); };
  EXPECT_THAT(text("exp(x.tiled(8).load(0), approx = true)"), HasSubstr("math.exp %4 fastmath<afn>"));
  EXPECT_THAT(text("mul(x.tiled(8).load(0), 3.0, ftz = true)"), HasSubstr("tile.flush"));
  EXPECT_THAT(text("x.tiled(8).load(0) * 3.0"), Not(HasSubstr("tile.ftz")));
}

TEST(Emit, StridesLeftOpenComeFromTheBuffer) {
  Kernel k(R"(kernel k(x: in f32[M, N] strides (_, 1), y: out f32[M]) grid (1) {
    y.tiled(2).store(0, sum(x.tiled(2, 4, padding = 0).load(0, 0), axis = 1))
}
)");
  EXPECT_THAT(k.text(), HasSubstr(R"(tile.name = "x.stride.0")"));
  Array<float> x{DType::f32, {2, 3}, {1, 2, 3, 100, 4, 5, 6, 100}}, y{DType::f32, {2}, std::vector<float>(2)};
  x.strides = {4, 1};
  k.run({{{"x", x.view()}, {"y", y.view()}}, {}, {{"M", 2}, {"N", 3}}, {1, 1, 1}});
  EXPECT_EQ(y.data, (std::vector<float>{6, 15}));
}

std::string readFile(const std::string &path) {
  SourceManager sources;
  Result<FileId> id = sources.load(path);
  EXPECT_TRUE(id) << path;
  return id ? std::string(sources.text(*id)) : "";
}

TEST(Emit, SoftmaxByPartsAgreesWithWholeRows) {
  const int64_t rows = 5, columns = 10000;
  std::vector<float> results[2];
  for (bool whole : {false, true}) {
    Kernel k(readFile(TILEC_SOURCE_DIR "/recipes/softmax/kernel.tile"),
             {{"T", DType::f32}, {"TR", int64_t(1)}, {"TC", int64_t(whole ? 16384 : 4096)}, {"WHOLE", whole}});
    ASSERT_TRUE(k.module);
    Array<float> x{DType::f32, {rows, columns}, std::vector<float>(size_t(rows * columns))}, y = x;
    for (size_t i = 0; i < x.data.size(); ++i)
      x.data[i] = i / columns == 3 && i % 2 ? -INFINITY : float(i * 2654435761u % 1000) / 50 - 10;
    EXPECT_TRUE(
        k.run({{{"x", x.view()}, {"y", y.view()}}, {}, {{"R", rows}, {"C", columns}}, {rows, 1, 1}}).findings.empty());
    results[whole] = y.data;
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    ASSERT_NEAR(results[0][i], results[1][i], 1e-9);
}

TEST(Emit, TileLevelPassesKeepEveryBit) {
  // The executor runs the module as emitted, simplified and with layouts; only meaning could change the bits.
  const int64_t rows = 3, columns = 5000;
  Array<float> x{DType::f32, {rows, columns}, std::vector<float>(size_t(rows * columns))}, y = x;
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = float(i * 2654435761u % 1000) / 50 - 10;
  reference::Launch launch{{{"x", x.view()}, {"y", y.view()}}, {}, {{"R", rows}, {"C", columns}}, {rows, 1, 1}};
  for (int64_t part : {4096, 8192}) {
    Kernel k(readFile(TILEC_SOURCE_DIR "/recipes/softmax/kernel.tile"),
             {{"T", DType::f32}, {"TR", int64_t(1)}, {"TC", part}, {"WHOLE", part > columns}});
    ASSERT_TRUE(k.module);
    k.run(launch);
    std::vector<float> emitted = std::exchange(y.data, std::vector<float>(x.data.size()));
    launch.buffers["y"] = y.view();
    ASSERT_TRUE(mlir::succeeded(transforms::simplify(*k.module)));
    EXPECT_TRUE(k.run(launch).findings.empty());
    EXPECT_EQ(y.data, emitted);
    ASSERT_TRUE(mlir::succeeded(transforms::assignLayouts(*k.module)));
    EXPECT_TRUE(k.run(launch).findings.empty());
    EXPECT_EQ(y.data, emitted);
  }
}

TEST(Emit, GeluAtItsEnds) {
  Kernel k(readFile(TILEC_SOURCE_DIR "/recipes/fused_gelu/kernel.tile"));
  Array<float> x{DType::f32, {5}, {0, 1, -1e20f, 1e20f, -2}}, one{DType::f32, {5}, std::vector<float>(5, 1)},
      zero{DType::f32, {5}, std::vector<float>(5, 0)}, y{DType::f32, {5}, std::vector<float>(5, 9)};
  k.run({{{"x", x.view()}, {"w", one.view()}, {"b", zero.view()}, {"y", y.view()}}, {}, {{"N", 5}}, {1, 1, 1}});
  EXPECT_EQ(y.data[0], 0);
  EXPECT_NEAR(y.data[1], 0.841192, 1e-6);
  EXPECT_EQ(y.data[2], 0);
  EXPECT_EQ(y.data[3], 1e20f);
  EXPECT_NEAR(y.data[4], -0.0454023, 1e-6);
}

TEST(Emit, SoftmaxOfLongRowsIsRightAndQuick) {
  const int64_t rows = 4097, columns = 6000;
  Kernel k(readFile(TILEC_SOURCE_DIR "/recipes/softmax/kernel.tile"),
           {{"T", DType::f32}, {"TR", int64_t(1)}, {"TC", int64_t(8192)}, {"WHOLE", true}});
  ASSERT_TRUE(k.module);
  Array<float> x{DType::f32, {rows, columns}, std::vector<float>(size_t(rows * columns))},
      y{DType::f32, {rows, columns}, std::vector<float>(size_t(rows * columns), -1)};
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = float(i * 2654435761u % 1000) / 100 - 5;
  auto start = std::chrono::steady_clock::now();
  reference::ExecReport report =
      k.run({{{"x", x.view()}, {"y", y.view()}}, {}, {{"R", rows}, {"C", columns}}, {rows, 1, 1}});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", fmt::format("{:.2f}", seconds));
  EXPECT_TRUE(report.findings.empty());
  for (int64_t r : {int64_t(0), rows / 2, rows - 1}) {
    double total = 0, largest = -INFINITY;
    for (int64_t c = 0; c < columns; ++c)
      largest = std::max(largest, double(x.data[size_t(r * columns + c)]));
    for (int64_t c = 0; c < columns; ++c)
      total += std::exp(x.data[size_t(r * columns + c)] - largest);
    for (int64_t c = 0; c < columns; ++c)
      ASSERT_NEAR(y.data[size_t(r * columns + c)], std::exp(x.data[size_t(r * columns + c)] - largest) / total, 1e-9);
  }
}

} // namespace
} // namespace tilec::emit
