// LINK: compiler_artifact
#include "compiler/artifact/launch_expr.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tilec;

namespace {

LaunchExpr num(int64_t v) { return LaunchExpr::constant(v); }
LaunchExpr real(double v) { return LaunchExpr::constant(v); }
LaunchExpr flag(bool v) { return LaunchExpr::constant(v); }
LaunchExpr sym(std::string s) { return LaunchExpr::name(std::move(s)); }
LaunchExpr op(LaunchOp o, std::vector<LaunchExpr> args) { return LaunchExpr::call(o, std::move(args)); }
LaunchExpr arch(std::string s) {
  LaunchExpr e;
  e.symbol = std::move(s);
  return e;
}

LaunchEnv env() {
  LaunchEnv e;
  e.values = {{"M", int64_t(100)}, {"N", int64_t(7)}, {"x", 2.5}, {"T", DType::bf16}, {"ON", true}};
  e.arch = "sm_90";
  return e;
}

int64_t intOf(const LaunchExpr &e) {
  auto r = evaluateInt(e, env());
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return r.value_or(-999);
}
std::string errorOf(const LaunchExpr &e) {
  auto r = evaluate(e, env());
  return r ? "value " + toString(*r) : r.error().message;
}

TEST(LaunchExpr, DivisionFloors) {
  EXPECT_EQ(intOf(op(LaunchOp::Div, {num(-7), num(2)})), -4);
  EXPECT_EQ(intOf(op(LaunchOp::Mod, {num(-7), num(2)})), 1);
  EXPECT_EQ(intOf(op(LaunchOp::Mod, {num(7), num(-2)})), -1);
  EXPECT_EQ(intOf(op(LaunchOp::CDiv, {num(100), num(-13)})), -7);
  EXPECT_EQ(intOf(op(LaunchOp::CDiv, {num(-36), num(5)})), -7);
  EXPECT_EQ(intOf(op(LaunchOp::TruncDiv, {num(-7), num(2)})), -3);
  EXPECT_EQ(intOf(op(LaunchOp::TruncMod, {num(-7), num(2)})), -1);
  EXPECT_EQ(intOf(op(LaunchOp::Mod, {num(INT64_MIN), num(-1)})), 0);
}

TEST(LaunchExpr, OverflowIsRefused) {
  for (auto [o, a, b] : {std::tuple{LaunchOp::Add, INT64_MAX, int64_t(1)},
                         {LaunchOp::Sub, INT64_MIN, int64_t(1)},
                         {LaunchOp::Mul, int64_t(1) << 32, int64_t(1) << 32},
                         {LaunchOp::Div, INT64_MIN, int64_t(-1)},
                         {LaunchOp::Pow, int64_t(2), int64_t(63)},
                         {LaunchOp::Shl, int64_t(1), int64_t(63)}})
    EXPECT_NE(errorOf(op(o, {num(a), num(b)})).find("overflows 64 bits"), std::string::npos);
  EXPECT_NE(errorOf(op(LaunchOp::Neg, {num(INT64_MIN)})).find("overflows"), std::string::npos);
  EXPECT_NE(errorOf(op(LaunchOp::NextPow2, {num((int64_t(1) << 62) + 1)})).find("overflows"), std::string::npos);
  EXPECT_EQ(intOf(op(LaunchOp::Pow, {num(-2), num(63)})), INT64_MIN);
  EXPECT_EQ(intOf(op(LaunchOp::Shl, {num(-1), num(62)})), -(int64_t(1) << 62));
  EXPECT_EQ(intOf(op(LaunchOp::Shr, {num(-8), num(200)})), -1);
}

TEST(LaunchExpr, MixedTypes) {
  EXPECT_EQ(errorOf(op(LaunchOp::Mul, {sym("M"), sym("x")})), "value 250.0");
  EXPECT_EQ(errorOf(op(LaunchOp::Lt, {sym("x"), sym("N")})), "value true");
  EXPECT_EQ(errorOf(op(LaunchOp::Eq, {sym("T"), LaunchExpr::constant(DType::bf16)})), "value true");
  EXPECT_EQ(intOf(op(LaunchOp::Bits, {sym("T")})), 16);
  EXPECT_EQ(errorOf(op(LaunchOp::Max, {real(NAN), real(1)})), "value 1.0");
  EXPECT_EQ(errorOf(op(LaunchOp::Add, {sym("ON"), num(1)})), "'ON + 1' does not take a bool (true)");
  EXPECT_EQ(errorOf(op(LaunchOp::Div, {num(1), num(0)})), "'1 / 0' divides by zero");
  EXPECT_EQ(errorOf(sym("Q")), "'Q' has no value");
  EXPECT_EQ(errorOf(op(LaunchOp::NumSms, {})), "num_sms() is known only at a launch on a device");
}

TEST(LaunchExpr, LazyOperators) {
  LaunchExpr broken = op(LaunchOp::Eq, {op(LaunchOp::Div, {num(1), num(0)}), num(1)});
  EXPECT_EQ(errorOf(op(LaunchOp::Or, {flag(true), broken})), "value true");
  EXPECT_EQ(errorOf(op(LaunchOp::And, {flag(false), broken})), "value false");
  EXPECT_EQ(errorOf(op(LaunchOp::Select, {flag(true), num(3), broken})), "value 3");
  LaunchExpr by = op(LaunchOp::ByArch, {arch("sm_90"), num(128), arch("default"), num(64)});
  EXPECT_EQ(intOf(by), 128);
  LaunchEnv other = env();
  other.arch = "sm_80";
  EXPECT_EQ(evaluateInt(by, other).value_or(0), 64);
  EXPECT_EQ(toString(by), "by_arch(sm_90 = 128, default = 64)");
}

TEST(LaunchExpr, TextKeepsMeaning) {
  LaunchExpr a = sym("a"), b = sym("b"), c = sym("c");
  EXPECT_EQ(toString(op(LaunchOp::Mul, {op(LaunchOp::Add, {a, b}), c})), "(a + b) * c");
  EXPECT_EQ(toString(op(LaunchOp::Sub, {a, op(LaunchOp::Sub, {b, c})})), "a - (b - c)");
  EXPECT_EQ(toString(op(LaunchOp::Sub, {op(LaunchOp::Sub, {a, b}), c})), "a - b - c");
  EXPECT_EQ(toString(op(LaunchOp::Pow, {num(-2), op(LaunchOp::Pow, {a, b})})), "(-2) ** a ** b");
  EXPECT_EQ(toString(op(LaunchOp::Pow, {op(LaunchOp::Pow, {a, b}), c})), "(a ** b) ** c");
  EXPECT_EQ(toString(op(LaunchOp::Neg, {op(LaunchOp::Pow, {a, b})})), "-a ** b");
  EXPECT_EQ(toString(op(LaunchOp::Neg, {num(-2)})), "-(-2)");
  EXPECT_EQ(toString(op(LaunchOp::Eq, {op(LaunchOp::Lt, {a, b}), c})), "(a < b) == c");
  EXPECT_EQ(toString(op(LaunchOp::Mul, {op(LaunchOp::CDiv, {sym("M"), num(128)}), num(2)})), "cdiv(M, 128) * 2");
  EXPECT_EQ(toString(op(LaunchOp::Add, {op(LaunchOp::Select, {a, b, c}), num(1)})), "(if a { b } else { c }) + 1");
  EXPECT_EQ(toString(real(1)), "1.0");
  EXPECT_EQ(toString(real(-INFINITY)), "-inf");
}

TEST(LaunchExpr, SubstituteFoldsWhatIsKnown) {
  LaunchExpr e = op(LaunchOp::Add, {op(LaunchOp::Mul, {sym("M"), num(2)}), sym("K")});
  EXPECT_EQ(toString(substitute(e, env())), "200 + K");
  EXPECT_EQ(toString(substitute(op(LaunchOp::Select, {sym("ON"), sym("K"), sym("Q")}), env())), "K");
  EXPECT_EQ(toString(substitute(op(LaunchOp::Or, {sym("ON"), sym("K")}), env())), "true");
  EXPECT_EQ(toString(substitute(op(LaunchOp::Div, {sym("M"), num(0)}), env())), "100 / 0");
  EXPECT_EQ(symbols(e), (std::vector<std::string>{"K", "M"}));
}

TEST(LaunchExpr, JsonBothWays) {
  std::vector<LaunchExpr> all = {
      num(INT64_MIN),
      num(INT64_MAX),
      real(0.1),
      real(1),
      real(-0.0),
      real(INFINITY),
      flag(true),
      sym("M"),
      LaunchExpr::constant(DType::f8e4m3),
      op(LaunchOp::NumSms, {}),
      op(LaunchOp::ByArch, {arch("sm_90"), num(1), arch("default"), sym("M")}),
      op(LaunchOp::Select, {op(LaunchOp::Gt, {sym("M"), num(1)}), op(LaunchOp::Neg, {sym("N")}), num(3)})};
  for (const LaunchExpr &e : all) {
    auto parsed = parseJson(toJson(e).dump(), "text");
    ASSERT_TRUE(parsed);
    auto back = launchExprFromJson(*parsed);
    ASSERT_TRUE(back) << toString(e);
    EXPECT_EQ(*back, e) << toString(e);
  }
}

TEST(LaunchExpr, WrongJsonIsRefused) {
  std::string deep = std::string(100000, '[') + std::string(100000, ']');
  std::string nested;
  for (int i = 0; i < 5000; ++i)
    nested += "[\"Neg\",";
  nested += "1" + std::string(5000, ']');
  for (std::string_view text : std::initializer_list<std::string_view>{
           "null", "\"M\"", "{}", "{\"symbol\":3}", "[]", "[1]", "[\"Nope\",1]", "[\"Add\",1]", "[\"Literal\"]",
           "[\"ByArch\",1,2]", "18446744073709551615", "{\"dtype\":\"f17\"}", nested, deep}) {
    auto json = parseJson(text, "text");
    if (json) {
      EXPECT_FALSE(launchExprFromJson(*json)) << text.substr(0, 40);
    }
  }
}

} // namespace
