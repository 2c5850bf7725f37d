// LINK: compiler_emit compiler_reference compiler_sema compiler_syntax MLIRParser
// From source text to tile IR, and what the reference executor makes of it.
#include "compiler/emit/emit.h"
#include "compiler/sema/check.h"
#include "compiler/syntax/parser.h"
#include "compiler/target/target.h"
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

std::string readFile(const std::string &path) {
  SourceManager sources;
  Result<FileId> id = sources.load(path);
  EXPECT_TRUE(id) << path;
  return id ? std::string(sources.text(*id)) : "";
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
