// LINK: compiler_syntax compiler_base
#include "parser_util.h"

//===--------------------------------------------------------------------------------------------------------------===//
// Whole files
//===--------------------------------------------------------------------------------------------------------------===//

TEST(Parser, ExamplesParse) {
  ASSERT_GE(examples().size(), 5u);
  for (const auto &path : examples()) {
    Parsed parsed(readFile(path).value());
    EXPECT_THAT(parsed.errors(), ElementsAre()) << path;
    EXPECT_EQ(parsed.dump().find("<error>"), std::string::npos) << path;
  }
}

TEST(Parser, EmptyFiles) {
  EXPECT_EQ(Parsed("").dump(), "file\n");
  EXPECT_EQ(Parsed("# nothing\n;;\n").dump(), "file\n");
}

TEST(Parser, Kernel) {
  Parsed parsed(R"(
## Adds.
## Twice.
kernel add<
    ## The dtype.
    T: dtype = f16 in {f16, f32,},
    N: int in 1..=10,
    P: int = by_arch(sm_90 = 128, default = 64) in pow2(16, 256),
    C: bool = false,
    S: float = 0.5,
>(
    ## Read.
    a: in T[M, K] strides (lda, _) align (4),
    b: inout T[if C { M } else { K }] alias (a) if C,
    s: scratch i32[M] zeroed,
    out: out T[M], # `out` means something in its place only
    alpha: f32,
)
let (x, y) = (M, K)
let w = 3
requires M > 0, K % 2 == 0 &&
    M > K
requires x
grid (cdiv(M, 2), 1)
options (contract = true, index64)
hints (occupancy = 1 in {1, 2}, num_worker_warps in pow2(1, 4))
hints sm_90 (num_cta_in_cga = 2)
tune sm_80 (N in 1..=2, T = f16)
{
}
)");
  EXPECT_THAT(parsed.errors(), ElementsAre());
  EXPECT_EQ(parsed.dump(), R"((file
  (kernel add
    (doc "Adds.\nTwice.")
    (cparam T dtype (doc "The dtype.") (= f16) (in-set f16 f32))
    (cparam N int (in-range 1 10))
    (cparam P int (= (call by_arch (= sm_90 128) (= default 64))) (in (call pow2 16 256)))
    (cparam C bool (= false))
    (cparam S float (= 0.5))
    (arg a (in T M K) (doc "Read.") (strides lda _) (align 4))
    (arg b (inout T (if C (block M) (block K))) (alias a) (if C))
    (arg s (scratch i32 M) zeroed)
    (arg out (out T M))
    (arg alpha f32)
    (let (pattern x y) (tuple M K))
    (let w 3)
    (requires (> M 0) (&& (== (% K 2) 0) (> M K)))
    (requires x)
    (grid (call cdiv M 2) 1)
    (options (setting contract true) (setting index64))
    (hints (setting occupancy 1 (in-set 1 2)) (setting num_worker_warps (in (call pow2 1 4))))
    (hints sm_90 (setting num_cta_in_cga 2))
    (tune sm_80 (setting N (in-range 1 2)) (setting T f16))
    (block)))
)");
}

TEST(Parser, Declarations) {
  Parsed parsed(R"(
import "std/math.tile"
## Half.
const H: f32 = 0.5; const G = 1
fn f<N: int = 2>(x: T[M, N], v: view T[TM], p: (i32, f32), a: in f32[K], n = 3, m: i32 = 4,) { }
)");
  EXPECT_THAT(parsed.errors(), ElementsAre());
  EXPECT_EQ(parsed.dump(), R"((file
  (import "std/math.tile")
  (const H (doc "Half.") (: f32) 0.5)
  (const G 1)
  (fn f
    (cparam N int (= 2))
    (param x (: (T M N)))
    (param v (: (view T TM)))
    (param p (: (type i32 f32)))
    (param a (: (in f32 K)))
    (param n (= 3))
    (param m (: i32) (= 4))
    (block)))
)");
}

TEST(Parser, SpansCoverWhatWasRead) {
  Parsed parsed("## d\nconst X = (a + b) * c\n");
  const auto &decl = as<ConstDecl>(*parsed.file->decls.at(0));
  EXPECT_EQ(parsed.sources.text(decl.span), "const X = (a + b) * c");
  EXPECT_EQ(parsed.sources.text(decl.name.span), "X");
  EXPECT_EQ(decl.doc, "d");
  const auto &product = as<BinaryExpr>(*decl.value);
  EXPECT_EQ(parsed.sources.text(product.span), "(a + b) * c");
  EXPECT_EQ(parsed.sources.text(product.opSpan), "*");
  EXPECT_EQ(parsed.sources.text(product.lhs->span), "(a + b)");
  EXPECT_TRUE(product.lhs->parenthesized);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Expressions
//===--------------------------------------------------------------------------------------------------------------===//

TEST(Parser, Precedence) {
  // Each operator binds tighter than the one after it, and all but ** go from left to right.
  const char *ladder[] = {"**", "*", "+", "<<", "&", "^", "|", "<", "&&", "||"};
  for (size_t i = 0; i + 1 < std::size(ladder); ++i) {
    std::string tight = ladder[i], loose = ladder[i + 1];
    EXPECT_EQ(expr(fmt::format("a {} b {} c", tight, loose)), fmt::format("({} ({} a b) c)", loose, tight));
    EXPECT_EQ(expr(fmt::format("a {} b {} c", loose, tight)), fmt::format("({} a ({} b c))", loose, tight));
  }
  for (const char *pair : {"*/", "*%", "*@", "+-", "/*", "-+", "--"}) {
    EXPECT_EQ(expr(fmt::format("a {} b {} c", pair[0], pair[1])), fmt::format("({} ({} a b) c)", pair[1], pair[0]));
  }
  EXPECT_EQ(expr("a ** b ** c"), "(** a (** b c))");
  for (const char *op : {"<", "<=", ">", ">=", "==", "!="})
    EXPECT_EQ(expr(fmt::format("a {} b && c", op)), fmt::format("(&& ({} a b) c)", op));
}

TEST(Parser, Signs) {
  EXPECT_EQ(expr("-x ** 2"), "(- (** x 2))");
  EXPECT_EQ(expr("2 ** -x"), "(** 2 (- x))");
  EXPECT_EQ(expr("-a * b"), "(* (- a) b)");
  EXPECT_EQ(expr("!a && ~b == -c"), "(&& (! a) (== (~ b) (- c)))");
  EXPECT_EQ(expr("-x.y"), "(- (member x y))");
  EXPECT_EQ(expr("a - -b"), "(- a (- b))");
}

TEST(Parser, Literals) {
  EXPECT_EQ(expr("0x10"), "16");
  EXPECT_EQ(expr("1e-5"), "1e-5");
  EXPECT_EQ(expr("(true, false, inf, nan)"), "(tuple true false inf nan)");
  Parsed parsed("const X = nan");
  EXPECT_TRUE(std::isnan(as<FloatExpr>(*as<ConstDecl>(*parsed.file->decls[0]).value).value));
}

TEST(Parser, TuplesAndLists) {
  EXPECT_EQ(expr("()"), "(tuple)");
  EXPECT_EQ(expr("(a)"), "a");
  EXPECT_EQ(expr("(a,)"), "(tuple a)");
  EXPECT_EQ(expr("(a, b,)"), "(tuple a b)");
  EXPECT_EQ(expr("[]"), "(list)");
  EXPECT_EQ(expr("[1, 2,]"), "(list 1 2)");
  EXPECT_EQ(expr("t.0.1"), "(item (item t 0) 1)");
  EXPECT_EQ(expr("t[i].x"), "(member (index t i) x)");
}

TEST(Parser, Subscripts) {
  EXPECT_EQ(expr("x[:, none]"), "(index x : none)");
  EXPECT_EQ(expr("x[none, :, i,]"), "(index x none : i)");
}

TEST(Parser, Calls) {
  EXPECT_EQ(expr("f()"), "(call f)");
  EXPECT_EQ(expr("zeros<f32, N + 1>(2, 3,)"), "(call zeros (const f32 (+ N 1)) 2 3)");
  EXPECT_EQ(expr("a.load(m, k, latency = 4 in {2, 4})"), "(method a load m k (= latency 4 (in-set 2 4)))");
  EXPECT_EQ(expr("x.unpack<f4e2m1>(y).T"), "(member (method x unpack (const f4e2m1) y) T)");
  EXPECT_EQ(expr("i32.max"), "(member i32 max)");
  EXPECT_EQ(expr("reduce(x, combine = fn(l, (a, b)) { l })"),
            "(call reduce x (= combine (fn (params l (pattern a b)) (block l))))");
  EXPECT_EQ(expr("assert(c, \"a \\\"b\\\"\")"), R"((call assert c "a \"b\""))");
  EXPECT_EQ(expr("a<b"), "(< a b)");
  EXPECT_EQ(expr("f<2 + g<3>(1)>(x)"), "(call f (const (+ 2 (call g (const 3) 1))) x)");
}

TEST(Parser, If) {
  EXPECT_EQ(expr("if a { 1 } else if b { 2 } else { 3 }"), "(if a (block 1) (block (if b (block 2) (block 3))))");
  EXPECT_EQ(expr("static if a { 1 } else { 2 } + 3"), "(+ (static-if a (block 1) (block 2)) 3)");
  EXPECT_EQ(expr("if a { 1 }\n  else { 2 }"), "(if a (block 1) (block 2))");
}

//===--------------------------------------------------------------------------------------------------------------===//
// Statements and lines
//===--------------------------------------------------------------------------------------------------------------===//

TEST(Parser, Statements) {
  EXPECT_EQ(body("let a = 1; var b: i64 = 2; var c; let (d, (_, e)) = f"),
            "(block (let a 1) (var b (: i64) 2) (var c) (let (pattern d (pattern _ e)) f))");
  EXPECT_EQ(body("a = 1; a += 2; a -= 3; a *= 4; a /= 5; (a, b) = c; (a,) = c; (a) = c"),
            "(block (= a 1) (+= a 2) (-= a 3) (*= a 4) (/= a 5) (= (places a b) c) (= (places a) c) (= a c))");
  EXPECT_EQ(body("for i in 0..n { break }; static for j in range(0, n, 2) { continue }"),
            "(block (for i 0 n (block (break))) (static-for j (call range 0 n 2) (block (continue))))");
  EXPECT_EQ(body("while a < b { return }; return a"), "(block (while (< a b) (block (return))) (return a))");
  EXPECT_EQ(body("fn g(x) { x }; g(1)"), "(block (fn g (param x) (block x)) (call g 1))");
  EXPECT_EQ(body("for k in s * e .. min(a, b) { }"), "(block (for k (* s e) (call min a b) (block)))");
}

TEST(Parser, AnIfThatBeginsAStatementIsWhole) {
  EXPECT_EQ(body("if a { 1 } else { 2 }\n-3"), "(block (if a (block 1) (block 2)) (- 3))");
  EXPECT_EQ(body("(if a { 1 } else { 2 }) + 3"), "(block (+ (if a (block 1) (block 2)) 3))");
  EXPECT_EQ(body("static if a { b = 1 }\n(c, d) = e"), "(block (static-if a (block (= b 1))) (= (places c d) e))");
}

TEST(Parser, NewLineEndsAStatement) {
  EXPECT_EQ(body("a\n-b"), "(block a (- b))");
  EXPECT_EQ(body("a\n(b)"), "(block a b)");
  EXPECT_EQ(body("a\n[b]"), "(block a (list b))");
  EXPECT_EQ(body("return\na"), "(block (return) a)");
  EXPECT_EQ(body("f\n(a, b) = c"), "(block f (= (places a b) c))");
  EXPECT_EQ(body("let x = a<b\nc>(d)"), "(block (let x (< a b)) (> c d))");
}

TEST(Parser, NewLineContinuesAStatement) {
  EXPECT_EQ(body("let a =\n1 +\n2"), "(block (let a (+ 1 2)))");             // an operand is missing
  EXPECT_EQ(body("a\n.b()\n.c"), "(block (member (method a b) c))");         // begins with a dot
  EXPECT_EQ(body("a\n&& b\n|| c"), "(block (|| (&& a b) c))");               // or with a logical operator
  EXPECT_EQ(body("let a = (1\n+ 2\n- 3)"), "(block (let a (- (+ 1 2) 3)))"); // a bracket is open
  EXPECT_EQ(body("f(a\n, b\n- c)"), "(block (call f a (- b c)))");
  EXPECT_EQ(body("x[a\n- b]"), "(block (index x (- a b)))");
  EXPECT_EQ(body("if a { }\nelse { }"), "(block (if a (block) (block)))");
  EXPECT_EQ(body("while a\n{ }"), "(block (while a (block)))");
}

TEST(Parser, LinesCountAgainInsideBraces) {
  EXPECT_EQ(body("f(fn(x) { a\n-b })"), "(block (call f (fn (params x) (block a (- b)))))");
  EXPECT_EQ(body("f(if c { a\n-b } else { d }\n- e)"), "(block (call f (- (if c (block a (- b)) (block d)) e)))");
}
