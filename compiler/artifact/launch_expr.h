#pragma once
// Launch expressions: extents, strides, clause `let`s, `requires`, `grid`, parameter defaults and domains, as data.
// They mix parameters, extents, scalars and literals, are evaluated at each launch, and are stored in artifacts.
// Integers are exact in i64 (overflow is an error), floats are f64.
#include "compiler/base/dtype.h"
#include "compiler/base/json.h"
#include "compiler/base/result.h"
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tilec {

/// What a launch expression gives: an integer, a float, a bool or a dtype.
using LaunchValue = std::variant<int64_t, double, bool, DType>;
std::string toString(const LaunchValue &value);
Json toJson(const LaunchValue &value);
Result<LaunchValue> launchValueFromJson(const Json &json);

enum class LaunchOp : uint8_t {
#define LAUNCH_OP(name, arity) name,
#include "compiler/artifact/launch_ops.def"
};

/// One node. Leaves: Literal and Symbol; every other op takes `args`.
struct LaunchExpr {
  LaunchOp op = LaunchOp::Literal;
  LaunchValue literal = int64_t(0); ///< Literal
  std::string symbol; ///< Symbol: parameter, extent, stride, scalar or clause `let`; also the arch of ByArch keys
  std::vector<LaunchExpr> args;

  static LaunchExpr constant(LaunchValue v);
  static LaunchExpr name(std::string symbol);
  static LaunchExpr call(LaunchOp op, std::vector<LaunchExpr> args);

  bool isLiteral() const { return op == LaunchOp::Literal; }
  bool operator==(const LaunchExpr &) const = default;
};

/// Names known while evaluating. `arch` is the user's name of the target (sm_90), for by_arch; `numSms` and
/// `residentBlocks` answer num_sms() and resident_blocks() and are absent while compiling.
struct LaunchEnv {
  std::map<std::string, LaunchValue, std::less<>> values;
  std::string arch;
  std::optional<int64_t> numSms, residentBlocks;
};

/// Evaluates. Errors (Program): unknown symbol, overflow, division by zero, types that do not fit.
Result<LaunchValue> evaluate(const LaunchExpr &expr, const LaunchEnv &env);
Result<int64_t> evaluateInt(const LaunchExpr &expr, const LaunchEnv &env);
Result<bool> evaluateBool(const LaunchExpr &expr, const LaunchEnv &env);
/// Replaces known names and folds; unknown ones stay.
LaunchExpr substitute(const LaunchExpr &expr, const LaunchEnv &env);
/// The names an expression uses, sorted, each once.
std::vector<std::string> symbols(const LaunchExpr &expr);

/// Text in the language's syntax: `cdiv(M, 128) * 2`.
std::string toString(const LaunchExpr &expr);
/// Literals as values, symbols as {"symbol": "M"}, the rest as ["Op", …].
Json toJson(const LaunchExpr &expr);
Result<LaunchExpr> launchExprFromJson(const Json &json);

} // namespace tilec
