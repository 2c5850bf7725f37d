// LINK: compiler_sema compiler_syntax
// Programs that check: what is built of them.
#include "compiler/base/files.h"
#include "compiler/sema/builtins.h"
#include "tests/unit/sema_util.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::sema;
using testing::HasSubstr;

namespace {

/// The dump of a kernel's body under a fixed signature.
std::string body(const std::string &text, const std::vector<std::string> &options = {}) {
  Checked checked("kernel k<TN: int = 16>(a: in f32[N], c: out f32[N], n: i32) {\n" + text + "\n}\n", options);
  return checked.program ? dump(*checked.program) : checked.rendered();
}

/// Whether an expression holds while compiling.
void holds(const std::string &condition) {
  Checked checked("kernel k(a: in f32[N]) { static_assert(" + condition + ") }\n");
  EXPECT_TRUE(checked.program.has_value()) << checked.rendered();
}

constexpr std::string_view vectorAdd = R"(## c = a + b.
kernel vector_add<
    T: dtype = f32 in {f16, bf16, f32},
    TN: int = 1024 in pow2(256, 4096),
>(
    a: in T[N],
    b: in T[N],
    c: out T[N],
)
grid (cdiv(N, TN))
hints (occupancy = 1 in {1, 2})
{
    let i = bid(0)
    let x = a.tiled(TN, padding = 0).load(i, latency = 4 in {2, 4, 6})
    let y = b.tiled(TN, padding = 0).load(i)
    c.tiled(TN).store(i, x + y)
}
)";

TEST(Sema, VectorAdd) {
  Checked checked{std::string(vectorAdd), {"-DT=f16"}};
  ASSERT_TRUE(checked.program) << checked.rendered();
  EXPECT_TRUE(checked.lines().empty());
  std::string text = dump(*checked.program);
  size_t hints = text.find("  hint "), sites = text.find("  site ");
  EXPECT_EQ(text.substr(0, hints), R"(kernel vector_add<T = f16, TN = 1024>
  array a: in f16[N] align 16
  array b: in f16[N] align 16
  array c: out f16[N] align 16
  symbols N
  grid (cdiv(N, 1024))
)");
  EXPECT_EQ(text.substr(sites), R"(  site a.load latency = 4 latency in {2, 4, 6}
  site b.load
  site c.store
  %0 = block_id 0 : i32
  %1 = array a : array f16 of rank 1
  %2 = view step [1024] axes [0] padding zero %1 : view f16[1024]
  %3 = load a.load %2, %0 : f16[1024]
  %4 = array b : array f16 of rank 1
  %5 = view step [1024] axes [0] padding zero %4 : view f16[1024]
  %6 = load b.load %5, %0 : f16[1024]
  %7 = array c : array f16 of rank 1
  %8 = view step [1024] axes [0] padding none %7 : view f16[1024]
  %9 = add %3, %6 : f16[1024]
  store c.store %8, %0, %9
)");
}

TEST(Sema, InterfaceOfVectorAdd) {
  Checked checked{std::string(vectorAdd)};
  ASSERT_TRUE(checked.interface);
  const KernelInterface &k = *checked.interface;
  EXPECT_EQ(k.doc, "c = a + b.");
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_TRUE(k.params[0].boundByLaunch);
  EXPECT_FALSE(k.params[1].boundByLaunch);
  EXPECT_EQ(k.params[1].domain->values.size(), 5u);
  EXPECT_EQ(k.symbols, std::vector<std::string>{"N"});
  EXPECT_EQ(toString(k.grid[0]), "cdiv(N, TN)");
  EXPECT_EQ(toString(k.arrayDTypes[0]), "T");
  ASSERT_EQ(k.hints.size(), 1u);
  EXPECT_EQ(k.hints[0].domain->values.size(), 2u);
}

TEST(Sema, AlignmentIsNoLessThanAnElement) {
  Checked checked{"kernel k<T: dtype>(a: in T[N] align (4)) grid (1) { }\n", {"-DT=f64"}};
  ASSERT_TRUE(checked.program) << checked.rendered();
  EXPECT_EQ(checked.program->arrays[0].align, 8);
  Checked bytes{"kernel k(a: in i8[N] align (1)) grid (1) { }\n"};
  ASSERT_TRUE(bytes.program) << bytes.rendered();
  EXPECT_EQ(bytes.program->arrays[0].align, 1);
}

TEST(Sema, DefaultsFromExtents) {
  std::string text = "kernel k<TN: int = next_pow2(C) in pow2(32, 65536)>(a: in f32[R, C]) grid (R) { }\n";
  SourceManager sources;
  Diagnostics diags;
  auto file = syntax::parse(sources.add("t", text), sources, diags);
  auto interface = describe(*file, "", sources, diags);
  ASSERT_TRUE(interface);
  Bindings bindings;
  auto tile = [&] { return toString(instantiate(*file, *interface, bindings, sources, diags)->parameters.at("TN")); };
  EXPECT_EQ(tile(), "32") << "no extent is known: the first value of the domain";
  bindings.problem["C"] = int64_t(1000);
  EXPECT_EQ(tile(), "1024");
  bindings.defines["C"] = int64_t(200);
  EXPECT_EQ(tile(), "256");
}

TEST(Sema, ConstantArithmetic) {
  holds("-7 / 2 == -4 && -7 % 2 == 1 && 7 % -2 == -1 && cdiv(100, -13) == -7 && cdiv(-36, 5) == -7");
  holds("truncdiv(-7, 2) == -3 && truncmod(-7, 2) == -1");
  holds("(150).to(u8) + 110 == (4).to(u8)");
  holds("~(3).to(u32) == 0xFFFFFFFC && -(3).to(u32) == 0xFFFFFFFD");
  holds("2 ** 3 ** 2 == 512 && -2 ** 2 == -4 && (1 << 40) + 1 == 1099511627777");
  holds("i32.max == 2147483647 && u64.max == 0xFFFFFFFFFFFFFFFF && i8.lowest == -128 && f16.max == 65504.0");
  holds("f32.bits == 32 && f32.is_float && !u8.is_signed && f16.eps == 0.0009765625");
  holds("next_pow2(100) == 128 && prev_pow2(100) == 64 && ilog2(64) == 6 && is_pow2(64) && !is_pow2(0)");
  holds("min(1, 2.5) == 1.0 && max(3, 4) == 4 && clamp(7, 0, 5) == 5 && where(1 < 2, 3, 4) == 3");
  holds("(16777217).to(f32) == 16777216.0 && (2.5).to(i32) == 2 && (300).to(u8, saturate = true) == 255");
  holds("(nan != nan) && !(nan == nan) && isnan(nan) && isinf(-inf) && round(2.5) == 2.0");
  holds("(464.0).to(f8e4m3).dtype == f8e4m3 && (1 / 2) == 0 && 1.0 / 2 == 0.5");
  holds("(-8).to(i8) >> 1 == -4 && (0x80).to(u8) >> 7 == 1");
}

TEST(Sema, EqualArmsStayCompileTime) {
  EXPECT_THAT(body("let z = zeros<f32>(if n > 0 { 4 } else { 4 })"), HasSubstr(": f32[4]"));
  EXPECT_THAT(body("let (s, m) = if n > 0 { (8, n) } else { (8, 2) }\nlet z = zeros<f32>(s)"), HasSubstr(": f32[8]"));
  std::string different = body("let z = zeros<f32>(if n > 0 { 4 } else { 8 })");
  EXPECT_THAT(different, HasSubstr("error[E0501]"));
  EXPECT_THAT(different, HasSubstr("the arms of this 'if' give different values, 4 and 8"));
}

TEST(Sema, TheErrorNamesWhereAValueBecameRunTime) {
  std::string text = body("let k = n * 2\nlet z = zeros<f32>(k)");
  EXPECT_THAT(text,
              HasSubstr("test.tile:3:20: error[E0501]: an extent of a tile must be a compile-time value, but 'k' is "
                        "known only at run time"));
  EXPECT_THAT(text, HasSubstr("test.tile:1:53: note: 'n' is a scalar argument, known only at a launch"));
}

TEST(Sema, DefinesFoldWithoutChangingLegality) {
  EXPECT_THAT(body("let m = N + 1", {"-DN=4096"}), HasSubstr("const 4096 : i32"));
  EXPECT_THAT(body("let m = zeros<f32>(N)", {"-DN=4096"}), HasSubstr("error[E0501]"));
}

TEST(Sema, VariablesOfLoopsAndBranches) {
  EXPECT_THAT(body("var v = 0\nfor i in 0..10 { if i >= 3 { v *= 10 } else { v += i } }\nlet q = v"),
              HasSubstr(R"(  %12 = for %1, %2, %3, %0 : i32
  do %4, %5
    %6 = const 3 : i32
    %7 = compare ge %4, %6 : bool
    %11 = if %7 : i32
    then
      %8 = const 10 : i32
      %9 = mul %5, %8 : i32
      yield %9
    else
      %10 = add %5, %4 : i32
      yield %10
    yield %11
)"));
  EXPECT_THAT(body("var (p, q) = (0, 1.5)\nfor i in 0..N { (p, q) = (p + i, q * 2.0) }"),
              HasSubstr(" = for %3, %2, %4, %0, %1 : i32, f32\n"));
  EXPECT_THAT(body("var q\nif n > 0 { q = 1 } else { q = 2 }\nlet z = q + 1"), HasSubstr("= if "));
  EXPECT_THAT(body("for i in range(1, 11, 2) { let q = i }"), HasSubstr("const 11"));
}

TEST(Sema, ReturnGoesOnInTheOtherArm) {
  EXPECT_THAT(body("if n > 3 { return }\nlet q = a.tiled(4).load(n)"), HasSubstr(R"(  then
    yield
  else
    %3 = array a)"));
}

TEST(Sema, EarlyReturnsGiveTheFunctionsValue) {
  for (std::string fn : {"if x > 3 { return 1 }\nx + 1", "if x > 3 { return 1 }\nif x > 2 { 5 } else { 6 }",
                         "if x > 3 { return x * 2 }\nif x > 2 { x } else { return x + 1 }",
                         "if x > 3 { if x > 5 { return 1 }\n2 } else { 3 }",
                         "var v = x\nif x > 3 { v = 2\nif x > 7 { return v } } else { v = 3 }\nv + 1"}) {
    Checked checked("fn f(x) {\n" + fn + "\n}\nkernel k(a: in f32[N], n: i32) { let q = f(n) + 1 }\n");
    EXPECT_TRUE(checked.program) << checked.rendered();
  }
  Checked none("fn f(x) {\nif x > 3 { return 1 }\nlet y = 1\n}\nkernel k(a: in f32[N], n: i32) { let q = f(n) + 1 }\n");
  EXPECT_THAT(none.rendered(), HasSubstr("one way through this function gives a value and another does not"));
}

/// Instructions of a block and of those in it.
static size_t countInsts(const Block &block) {
  size_t count = block.insts.size();
  for (const Inst &inst : block.insts)
    for (const Block &inner : inst.blocks)
      count += countInsts(inner);
  return count;
}

TEST(Sema, EarlyExitsCopyNoStatement) {
  // Each `if` may leave or not, with statements behind it: 2^n ways, and a program of n times as many instructions.
  auto size = [](const std::string &exit, const std::string &head, int n) {
    std::string text = "kernel k(a: in f32[N], n: i32) grid (1) {\nvar v = 0\n" + head + "\n";
    for (int i = 0; i < n; ++i)
      text += fmt::format("if n > {} {{ if n == {} {{ {} }}\nv += 1 }} else {{ v += 2 }}\nv *= 3\n", i, i, exit);
    Checked checked(text + (head.empty() ? "}" : "}\n}"));
    EXPECT_TRUE(checked.program) << checked.rendered();
    return checked.program ? countInsts(checked.program->body) : 0;
  };
  for (auto [exit, head] : {std::pair("return", ""), std::pair("break", "for i in 0..n {"),
                            std::pair("continue", "for i in 0..n {"), std::pair("break", "while n > v {")}) {
    size_t one = size(exit, head, 10) - size(exit, head, 9);
    EXPECT_EQ(size(exit, head, 40) - size(exit, head, 39), one) << exit;
    EXPECT_LT(one, 40u);
  }
}

TEST(Sema, ABreakAloneMakesAWhileOfAFor) {
  EXPECT_THAT(body("for i in 0..n { if i == 3 { continue }\nlet q = i * 2 }"),
              testing::AllOf(HasSubstr("for "), testing::Not(HasSubstr("while"))));
  EXPECT_THAT(body("for i in 0..n { if i == 3 { break }\nlet q = i * 2 }"), HasSubstr("while "));
}

TEST(Sema, DerivedDefaultsHoldForLaunchesThatGiveThem) {
  std::string text =
      "kernel k<TN: int = next_pow2(N), TM: int = TN / 2>(a: in f32[N]) grid (1) { let z = zeros<f32>(TN, TM) }\n";
  Checked known(text, {"-DN=100"});
  ASSERT_TRUE(known.program) << known.rendered();
  ASSERT_EQ(known.program->requirements.size(), 1u);
  EXPECT_EQ(known.program->requirements[0].text, "next_pow2(N) == 128");
  Checked given(text, {"-DTN=256"});
  ASSERT_TRUE(given.program) << given.rendered();
  EXPECT_TRUE(given.program->requirements.empty());
  EXPECT_EQ(toString(given.program->parameters.at("TM")), "128");
}

TEST(Sema, AbsentArraysVanish) {
  std::string text = "kernel k<B: bool = false>(a: in f32[N] alias (b), b: inout f32[M] if B) { static if B { "
                     "b.tiled(4).store(0, 0.0) } }\n";
  Checked absent(text), present(text, {"-DB=true"});
  ASSERT_TRUE(absent.program && present.program) << absent.rendered() << present.rendered();
  EXPECT_EQ(absent.program->arrays.size(), 1u);
  EXPECT_TRUE(absent.program->arrays[0].aliases.empty());
  EXPECT_EQ(absent.program->symbols, std::vector<std::string>{"N"});
  EXPECT_EQ(present.program->arrays.size(), 2u);
  EXPECT_EQ(boundSymbols(*absent.interface, {}), std::vector<std::string>{"N"});
  EXPECT_EQ(boundSymbols(*absent.interface, {{"B", true}}), (std::vector<std::string>{"N", "M"}));
}

TEST(Sema, NestingIsLimitedBeforeTheStackIs) {
  std::string deep = "f(x)";
  for (int i = 0; i < 60; ++i)
    deep = "-(" + deep + ")";
  Checked checked("fn f(x) { " + deep + " }\nkernel k(a: in f32[N], n: i32) { f(n) }\n");
  EXPECT_THAT(checked.rendered(), HasSubstr("expressions and calls are nested too deeply here"));
  // A recursion that branches ends at the limit, not after all of its branches.
  Checked branching(
      "fn f(x) { if x > 1 { max(f(x), f(x + 1)) } else { 1 } }\nkernel k(a: in f32[N], n: i32) { f(n) }\n");
  EXPECT_EQ(branching.lines().size(), 1u) << branching.rendered();
  std::string doubling;
  for (int i = 0; i < 30; ++i)
    doubling += fmt::format("fn g{}(x) {{ g{}(x) + g{}(x) }}\n", i, i + 1, i + 1);
  Checked many(doubling + "fn g30(x) { x }\nkernel k(a: in f32[N], n: i32) { g0(n) }\n");
  EXPECT_THAT(many.rendered(), HasSubstr("more than 65536 calls are inlined into this kernel"));
}

TEST(Sema, ShortCircuit) {
  EXPECT_THAT(body("let b = n > 1 && n < 5"), testing::Not(HasSubstr("= if")));
  EXPECT_THAT(body("let b = n != 0 && 10 / n > 1"), HasSubstr("= if")) << "a division must not run where n is 0";
  EXPECT_THAT(body("let b = n == 0 || a.tiled(1).load(n)[:].sum() > 0.0"), HasSubstr("= if"));
}

TEST(Sema, Reductions) {
  std::string text = body("let h = a.tiled(4).load(0).to(f16)\nlet s = h.sum()\nlet k = h.to(i8).sum(axis = -1, "
                          "keepdims = true)\nlet m = max(h, axis = 0)\nlet b = sum(h > 1.0)");
  EXPECT_THAT(text, HasSubstr("reduce sum axes [0] %5 : f32\n  %7 = convert rn %6 : f16"));
  EXPECT_THAT(text, HasSubstr(": i32\n  %11 = broadcast %10 : i32[1]"));
  EXPECT_THAT(text, HasSubstr("reduce max axes [0] %4 : f16"));
}

TEST(Sema, PromotionIsSymmetric) {
  auto result = [](DType a, DType b) {
    std::string text = fmt::format(
        "kernel k(a: in {}[N], b: in {}[N]) {{ let x = a.tiled(4).load(0) + b.tiled(4).load(0) }}\n", name(a), name(b));
    Checked checked(text);
    return checked.program ? std::string(name(checked.program->values.back().dtype)) : checked.diags.all()[0].message;
  };
  for (const DTypeInfo &a : allDTypes())
    for (const DTypeInfo &b : allDTypes()) {
      std::string ab = result(a.dtype, b.dtype), ba = result(b.dtype, a.dtype);
      EXPECT_EQ(parseDType(ab).has_value(), parseDType(ba).has_value()) << a.name << " " << b.name;
      if (auto t = parseDType(ab)) {
        EXPECT_EQ(ab, ba);
        EXPECT_TRUE(info(*t).kind != a.kind || info(*t).bits >= a.bits);
      }
    }
  EXPECT_EQ(result(DType::u16, DType::u64), "u64");
  EXPECT_EQ(result(DType::i64, DType::f16), "f16");
  EXPECT_THAT(result(DType::f16, DType::bf16), HasSubstr("do not combine"));
}

TEST(Sema, Sites) {
  Checked checked("kernel k(a: in f32[N], b: in f32[N]) { read(b); let v = a.tiled(4); let x = v.load(0) + v.load(1)\n"
                  "read(a); let y = v.load(2, site = last); read(a) }\n"
                  "fn read(m) { m.tiled(8).load(0) }\n",
                  {"-Ha.load#2.latency=4", "-Hlast.latency=2"});
  ASSERT_TRUE(checked.program) << checked.rendered();
  std::vector<std::string> names;
  for (const Site &site : checked.program->sites)
    names.push_back(site.name);
  // In source order; copies by inlining share a site, and each root array has its own.
  EXPECT_EQ(names, (std::vector<std::string>{"b.load", "a.load", "a.load#2", "a.load#4", "last"}));
  EXPECT_EQ(checked.program->sites[2].hints.at("latency"), 4);
  EXPECT_EQ(checked.program->sites[4].hints.at("latency"), 2);
}

TEST(Sema, Functions) {
  EXPECT_THAT(
      body("fn plus(x, y = 2) { fn twice(z) { z * 2 + y }; twice(x) }\nlet q = plus(bid(0))\nlet r = plus(y = 3, x = "
           "4)\nstatic_assert(r == 11)"),
      HasSubstr("block_id"));
  Checked recursion("fn power(x, n) { static if n == 0 { 1 } else { x * power(x, n - 1) } }\n"
                    "kernel k(a: in f32[N]) { let z = zeros<f32>(power(2, 4)) }\n");
  ASSERT_TRUE(recursion.program) << recursion.rendered();
  EXPECT_THAT(dump(*recursion.program), HasSubstr("f32[16]"));
  Checked annotated("fn f(x: T[M, 4], a: in U[K], p: (i32, f32)) { (zeros<T>(M), a.tiled(M).load(p.0), K) }\n"
                    "kernel k(a: inout f16[N]) { let q = f(zeros<f32>(8, 4), a, (bid(0), 2.0)) }\n");
  EXPECT_TRUE(annotated.program) << annotated.rendered();
}

TEST(Sema, HintsInForce) {
  std::string text =
      "kernel k(a: in f32[N])\nhints (occupancy = 2, num_worker_warps in {8, 4})\nhints sm_90 (occupancy = 3)\n{ }\n";
  auto hint = [&](const std::vector<std::string> &options, const std::string &name) {
    Checked checked(text, options);
    EXPECT_TRUE(checked.program) << checked.rendered();
    return checked.program->hints[name];
  };
  EXPECT_EQ(hint({"-asm_80"}, "occupancy"), 2);
  EXPECT_EQ(hint({"-asm_90"}, "occupancy"), 3);
  EXPECT_EQ(hint({"-asm_90", "-Hoccupancy=4"}, "occupancy"), 4);
  EXPECT_EQ(hint({"-asm_80"}, "num_worker_warps"), 8);
}

TEST(Sema, ClauseNamesInTheBody) {
  Checked checked("kernel k(a: in f32[N]) let (rows, rest) = (cdiv(N, 4), N % 4) let t = 8 grid (rows)\n"
                  "{ let x = rows + rest; let z = zeros<f32>(t) }\n");
  ASSERT_TRUE(checked.program) << checked.rendered();
  EXPECT_THAT(dump(*checked.program), HasSubstr("symbol rows : i32"));
}

TEST(Sema, ErrorsShowTheCallChain) {
  Checked checked(
      "fn inner(x) { x + true }\nfn outer(x) { inner(x) }\nkernel k(a: in f32[N]) {\n  let q = outer(bid(0))\n}\n");
  EXPECT_EQ(checked.rendered(),
            R"(test.tile:1:15: error[E0302]: i32 and bool do not combine: bool takes part in logic and comparison only
 1 | fn inner(x) { x + true }
   |               ^^^^^^^^
test.tile:1:15: note: this is i32
 1 | fn inner(x) { x + true }
   |               ^
test.tile:1:19: note: this is bool
 1 | fn inner(x) { x + true }
   |                   ^^^^
test.tile:2:15: note: in 'inner', called here
 2 | fn outer(x) { inner(x) }
   |               ^^^^^^^^
test.tile:4:11: note: in 'outer', called here
 4 |   let q = outer(bid(0))
   |           ^^^^^^^^^^^^^
help: convert it, as in 'x.to(i32)'
)");
}

TEST(Sema, CheckFileReadsUncalledFunctions) {
  SourceManager sources;
  Diagnostics diags;
  auto file = syntax::parse(sources.add("t", "fn unused(x: T[M]) { let y = x + M; zeros<T>(y + nothing) + missing(1) "
                                             "}\nkernel k<N: int>(a: in f32[M]) { }\n"),
                            sources, diags);
  checkFile(*file, sources, nullptr, diags);
  std::string text = render(diags, sources, false);
  EXPECT_THAT(text, HasSubstr("there is no name 'nothing' here"));
  EXPECT_THAT(text, HasSubstr("there is no function 'missing'"));
}

TEST(Sema, BuiltinTable) {
  for (const BuiltinInfo &row : allBuiltins()) {
    EXPECT_FALSE(row.doc.empty()) << row.name;
    BuiltinSignature signature = parseSignature(row.signature);
    for (const BuiltinParam &param : signature.params)
      EXPECT_FALSE(param.name.empty()) << row.signature;
  }
  EXPECT_GE(findBuiltin("exp"), 0);
  EXPECT_LT(findBuiltin("load"), 0) << "a method is no function";
  EXPECT_GE(findBuiltin("load", Receiver::View), 0);
}

/// The errors of a whole file.
std::string errorsOf(std::string text) {
  SourceManager sources;
  Diagnostics diags;
  auto file = syntax::parse(sources.add("file.tile", std::move(text)), sources, diags);
  if (!diags.hasErrors())
    checkFile(*file, sources, nullptr, diags);
  bool fine = true;
  for (const Diagnostic &d : diags.all())
    fine &= info(d.diag).severity == Severity::Warning;
  return fine ? "" : render(diags, sources, false);
}

TEST(Sema, LanguageReference) {
  std::string page = readFile(TILEC_SOURCE_DIR "/docs/language.md").value();
  EXPECT_NE(page.find(builtinTable()), std::string::npos) << "the table of built-ins is out of date; it is now\n"
                                                          << builtinTable();
  for (size_t at = page.find("```tile\n"); at != std::string::npos; at = page.find("```tile\n", at + 1)) {
    size_t begin = at + 8, end = page.find("```", begin);
    EXPECT_EQ(errorsOf(page.substr(begin, end - begin)), "");
  }
}

TEST(Sema, Recipes) {
  for (std::string name : {"vector_add", "fused_gelu", "softmax"}) {
    auto text = readFile(TILEC_SOURCE_DIR "/recipes/" + name + "/kernel.tile");
    ASSERT_TRUE(text);
    EXPECT_EQ(errorsOf(*text), "");
  }
}

TEST(Sema, MatrixProduct) {
  constexpr std::string_view product = R"(
kernel matmul<T: dtype = f16 in {f16, bf16}, TM: int = 128 in {64, 128}, TN: int = 128, TK: int = 64, GROUP: int = 8>(
    a: in T[M, K],
    b: in T[K, N],
    c: out T[M, N],
)
requires TM * TN <= 65536
grid (cdiv(M, TM) * cdiv(N, TN))
hints sm_90 (num_cta_in_cga = 2 in {1, 2})
{
    let (m, n) = grouped(bid(0), cdiv(M, TM), cdiv(N, TN), GROUP)
    let at = a.tiled(TM, TK, padding = 0)
    let bt = b.tiled(TK, TN, padding = 0)
    var acc = zeros<f32>(TM, TN)
    for k in 0..at.num_tiles(1) {
        acc = mma(at.load(m, k, latency = 4 in {2, 4, 6}), bt.load(k, n), acc)
    }
    c.tiled(TM, TN).store(m, n, acc.to(T))
}

fn grouped(id, rows, cols, group) {
    let width = group * cols
    let first = id / width * group
    let height = min(rows - first, group)
    (first + id % width % height, id % width / height)
}
)";
  EXPECT_EQ(errorsOf(std::string(product)), "");
}

} // namespace
