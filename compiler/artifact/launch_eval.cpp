// Evaluation and folding of launch expressions.
#include "compiler/artifact/launch_expr.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace tilec {
namespace {

constexpr int64_t minI64 = std::numeric_limits<int64_t>::min();

using Value = Result<LaunchValue>;

std::string_view kindName(const LaunchValue &v) {
  constexpr std::string_view names[] = {"an integer", "a float", "a bool", "a dtype"};
  return names[v.index()];
}

Error overflow(const LaunchExpr &e) {
  return {ErrorKind::Program, fmt::format("'{}' overflows 64 bits", toString(e)), "", ""};
}
Error byZero(const LaunchExpr &e) {
  return {ErrorKind::Program, fmt::format("'{}' divides by zero", toString(e)), "", ""};
}
Error mistyped(const LaunchExpr &e, const LaunchValue &v) {
  return {ErrorKind::Program, fmt::format("'{}' does not take {} ({})", toString(e), kindName(v), toString(v)), "", ""};
}

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}
int64_t floorMod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
int64_t ceilDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && ((a < 0) == (b < 0)) ? q + 1 : q;
}

/// Exact integer power; nothing on overflow.
std::optional<int64_t> intPower(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (true) {
    if (exponent & 1)
      if (__builtin_mul_overflow(result, base, &result))
        return std::nullopt;
    exponent >>= 1;
    if (exponent == 0)
      return result;
    if (__builtin_mul_overflow(base, base, &base))
      return std::nullopt;
  }
}

Value intBinary(const LaunchExpr &e, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (e.op) {
  case LaunchOp::Add:
    return __builtin_add_overflow(a, b, &r) ? Value(std::unexpected(overflow(e))) : Value(r);
  case LaunchOp::Sub:
    return __builtin_sub_overflow(a, b, &r) ? Value(std::unexpected(overflow(e))) : Value(r);
  case LaunchOp::Mul:
    return __builtin_mul_overflow(a, b, &r) ? Value(std::unexpected(overflow(e))) : Value(r);
  case LaunchOp::Div:
  case LaunchOp::Mod:
  case LaunchOp::CDiv:
  case LaunchOp::TruncDiv:
  case LaunchOp::TruncMod:
    if (b == 0)
      return std::unexpected(byZero(e));
    if (a == minI64 && b == -1) // the quotient does not fit; the remainder is 0
      return e.op == LaunchOp::Mod || e.op == LaunchOp::TruncMod ? Value(int64_t(0))
                                                                 : Value(std::unexpected(overflow(e)));
    switch (e.op) {
    case LaunchOp::Div:
      return floorDiv(a, b);
    case LaunchOp::Mod:
      return floorMod(a, b);
    case LaunchOp::CDiv:
      return ceilDiv(a, b);
    case LaunchOp::TruncDiv:
      return a / b;
    default:
      return a % b;
    }
  case LaunchOp::Pow:
    if (b < 0)
      return programError("'{}' raises an integer to a negative power ({})", toString(e), b);
    if (auto power = intPower(a, b))
      return *power;
    return std::unexpected(overflow(e));
  case LaunchOp::Shl:
  case LaunchOp::Shr:
    if (b < 0)
      return programError("'{}' shifts by a negative amount ({})", toString(e), b);
    if (e.op == LaunchOp::Shr)
      return a >> std::min<int64_t>(b, 63);
    if (a == 0)
      return int64_t(0);
    // a << b is a · 2^b, exact or refused.
    if (b >= 63 || __builtin_mul_overflow(a, int64_t(1) << b, &r))
      return std::unexpected(overflow(e));
    return r;
  case LaunchOp::BitAnd:
    return a & b;
  case LaunchOp::BitOr:
    return a | b;
  case LaunchOp::BitXor:
    return a ^ b;
  case LaunchOp::Lt:
    return a < b;
  case LaunchOp::Le:
    return a <= b;
  case LaunchOp::Gt:
    return a > b;
  case LaunchOp::Ge:
    return a >= b;
  case LaunchOp::Eq:
    return a == b;
  case LaunchOp::Ne:
    return a != b;
  case LaunchOp::Min:
    return std::min(a, b);
  case LaunchOp::Max:
    return std::max(a, b);
  default:
    return std::unexpected(mistyped(e, a));
  }
}

/// A number wins over NaN and +0 is above −0, as min and max of the language.
double floatMin(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
double floatMax(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}

Value floatBinary(const LaunchExpr &e, double a, double b) {
  switch (e.op) {
  case LaunchOp::Add:
    return a + b;
  case LaunchOp::Sub:
    return a - b;
  case LaunchOp::Mul:
    return a * b;
  case LaunchOp::Div:
    return a / b;
  case LaunchOp::Pow:
    return std::pow(a, b);
  case LaunchOp::Lt:
    return a < b;
  case LaunchOp::Le:
    return a <= b;
  case LaunchOp::Gt:
    return a > b;
  case LaunchOp::Ge:
    return a >= b;
  case LaunchOp::Eq:
    return a == b;
  case LaunchOp::Ne:
    return a != b;
  case LaunchOp::Min:
    return floatMin(a, b);
  case LaunchOp::Max:
    return floatMax(a, b);
  default:
    return std::unexpected(mistyped(e, a));
  }
}

Value binary(const LaunchExpr &e, const LaunchValue &a, const LaunchValue &b) {
  auto *ia = std::get_if<int64_t>(&a), *ib = std::get_if<int64_t>(&b);
  if (ia && ib)
    return intBinary(e, *ia, *ib);
  auto *fa = std::get_if<double>(&a), *fb = std::get_if<double>(&b);
  if ((ia || fa) && (ib || fb))
    return floatBinary(e, fa ? *fa : double(*ia), fb ? *fb : double(*ib));
  // Bools take part in logic and equality, dtypes in equality alone.
  if (a.index() == b.index()) {
    if (e.op == LaunchOp::Eq)
      return a == b;
    if (e.op == LaunchOp::Ne)
      return a != b;
    if (auto *ba = std::get_if<bool>(&a)) {
      bool x = *ba, y = std::get<bool>(b);
      if (e.op == LaunchOp::BitAnd)
        return x && y;
      if (e.op == LaunchOp::BitOr)
        return x || y;
      if (e.op == LaunchOp::BitXor)
        return x != y;
    }
  }
  return std::unexpected(mistyped(e, ia || fa ? b : a));
}

Value unary(const LaunchExpr &e, const LaunchValue &v) {
  if (auto *i = std::get_if<int64_t>(&v)) {
    bool positive = *i > 0;
    switch (e.op) {
    case LaunchOp::Neg:
      return *i == minI64 ? Value(std::unexpected(overflow(e))) : Value(-*i);
    case LaunchOp::BitNot:
      return ~*i;
    case LaunchOp::Abs:
      return *i == minI64 ? Value(std::unexpected(overflow(e))) : Value(*i < 0 ? -*i : *i);
    case LaunchOp::NextPow2:
      if (*i > (int64_t(1) << 62))
        return std::unexpected(overflow(e));
      return positive ? int64_t(std::bit_ceil(uint64_t(*i))) : int64_t(1);
    case LaunchOp::PrevPow2:
      return positive ? Value(int64_t(std::bit_floor(uint64_t(*i))))
                      : Value(programError("'{}' needs a positive integer, not {}", toString(e), *i));
    case LaunchOp::ILog2:
      return positive ? Value(int64_t(std::bit_width(uint64_t(*i)) - 1))
                      : Value(programError("'{}' needs a positive integer, not {}", toString(e), *i));
    case LaunchOp::IsPow2:
      return positive && std::has_single_bit(uint64_t(*i));
    default:
      return std::unexpected(mistyped(e, v));
    }
  }
  if (auto *f = std::get_if<double>(&v)) {
    if (e.op == LaunchOp::Neg)
      return -*f;
    if (e.op == LaunchOp::Abs)
      return std::fabs(*f);
  }
  if (auto *b = std::get_if<bool>(&v); b && (e.op == LaunchOp::Not || e.op == LaunchOp::BitNot))
    return !*b;
  if (auto *t = std::get_if<DType>(&v); t && e.op == LaunchOp::Bits)
    return int64_t(info(*t).bits);
  return std::unexpected(mistyped(e, v));
}

/// The arm of a ByArch for an architecture; null when neither it nor `default` is listed.
const LaunchExpr *archArm(const LaunchExpr &e, std::string_view arch) {
  const LaunchExpr *fallback = nullptr;
  for (size_t i = 0; i + 1 < e.args.size(); i += 2) {
    if (e.args[i].symbol == arch)
      return &e.args[i + 1];
    if (e.args[i].symbol == "default")
      fallback = &e.args[i + 1];
  }
  return fallback;
}

Value deviceFact(const std::optional<int64_t> &fact, std::string_view call) {
  if (fact)
    return *fact;
  return programError("{} is known only at a launch on a device", call);
}

} // namespace

Result<LaunchValue> evaluate(const LaunchExpr &e, const LaunchEnv &env) {
  switch (e.op) {
  case LaunchOp::Literal:
    return e.literal;
  case LaunchOp::Symbol: {
    auto it = env.values.find(e.symbol);
    if (it == env.values.end())
      return programError("'{}' has no value", e.symbol);
    return it->second;
  }
  case LaunchOp::And:
  case LaunchOp::Or: {
    // Short-circuit, so that `N == 0 || M % N == 0` is well defined.
    TILEC_ASSIGN(bool left, evaluateBool(e.args[0], env));
    if (left == (e.op == LaunchOp::Or))
      return left;
    TILEC_ASSIGN(bool right, evaluateBool(e.args[1], env));
    return right;
  }
  case LaunchOp::Select: {
    TILEC_ASSIGN(bool condition, evaluateBool(e.args[0], env));
    return evaluate(e.args[condition ? 1 : 2], env);
  }
  case LaunchOp::ByArch: {
    const LaunchExpr *arm = archArm(e, env.arch);
    if (!arm)
      return programError("'{}' has no value for {} and no default", toString(e),
                          env.arch.empty() ? "an unknown architecture" : env.arch);
    return evaluate(*arm, env);
  }
  case LaunchOp::NumSms:
    return deviceFact(env.numSms, "num_sms()");
  case LaunchOp::ResidentBlocks:
    return deviceFact(env.residentBlocks, "resident_blocks()");
  default:
    break;
  }
  TILEC_ASSIGN(LaunchValue first, evaluate(e.args[0], env));
  if (e.args.size() == 1)
    return unary(e, first);
  TILEC_ASSIGN(LaunchValue second, evaluate(e.args[1], env));
  return binary(e, first, second);
}

Result<int64_t> evaluateInt(const LaunchExpr &expr, const LaunchEnv &env) {
  TILEC_ASSIGN(LaunchValue v, evaluate(expr, env));
  if (auto *i = std::get_if<int64_t>(&v))
    return *i;
  return programError("'{}' is {} ({}) where an integer is needed", toString(expr), kindName(v), toString(v));
}

Result<bool> evaluateBool(const LaunchExpr &expr, const LaunchEnv &env) {
  TILEC_ASSIGN(LaunchValue v, evaluate(expr, env));
  if (auto *b = std::get_if<bool>(&v))
    return *b;
  return programError("'{}' is {} ({}) where a condition is needed", toString(expr), kindName(v), toString(v));
}

LaunchExpr substitute(const LaunchExpr &e, const LaunchEnv &env) {
  switch (e.op) {
  case LaunchOp::Literal:
    return e;
  case LaunchOp::ByArch:
    if (!env.arch.empty())
      if (const LaunchExpr *arm = archArm(e, env.arch))
        return substitute(*arm, env);
    break;
  default:
    break;
  }
  LaunchExpr result{e.op, e.literal, e.symbol, {}};
  for (const LaunchExpr &arg : e.args)
    result.args.push_back(substitute(arg, env));
  // Lazy operators fold on what decides them, whether or not the rest is known.
  auto decided = [&](size_t i) -> const bool * {
    return result.args[i].isLiteral() ? std::get_if<bool>(&result.args[i].literal) : nullptr;
  };
  if (e.op == LaunchOp::Select) {
    if (auto *condition = decided(0))
      return LaunchExpr(result.args[*condition ? 1 : 2]);
    return result;
  }
  if (e.op == LaunchOp::And || e.op == LaunchOp::Or) {
    if (auto *left = decided(0); left && *left == (e.op == LaunchOp::Or))
      return LaunchExpr::constant(*left);
    else if (left && decided(1))
      return LaunchExpr::constant(*decided(1));
    return result;
  }
  if (e.op == LaunchOp::ByArch)
    return result;
  bool known = std::ranges::all_of(result.args, [](const LaunchExpr &a) { return a.isLiteral(); });
  if (!known)
    return result;
  // What fails (overflow, division by zero, no such name) stays as it is and is reported where it is evaluated.
  if (auto value = evaluate(result, env))
    return LaunchExpr::constant(*value);
  return result;
}

static void collect(const LaunchExpr &e, std::set<std::string> &names) {
  if (e.op == LaunchOp::Symbol)
    names.insert(e.symbol);
  for (const LaunchExpr &arg : e.args)
    collect(arg, names);
}

std::vector<std::string> symbols(const LaunchExpr &expr) {
  std::set<std::string> names;
  collect(expr, names);
  return {names.begin(), names.end()};
}

} // namespace tilec
