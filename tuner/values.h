#pragma once
// Named values: a problem (extents, scalars, dtypes), the parameters of a configuration, what `-D` and `--set` give.
#include "compiler/artifact/launch_expr.h"

namespace tilec::tuner {

/// Values by name, ordered, so that every text and key made of them is stable.
using Values = std::map<std::string, LaunchValue, std::less<>>;

/// Reads a launch expression written in the language's syntax: `2 * R * C * T.bits / 8`, `2**28`, `bf16`.
/// Errors (Usage): a syntax error, or something a launch expression cannot hold.
Result<LaunchExpr> parseExpression(std::string_view text);
/// The value of an expression without names.
Result<LaunchValue> parseValue(std::string_view text);
/// `R=4096,C=2**10,T=bf16`. Errors (Usage): a part without `=`, a name given twice, a value that is none.
Result<Values> parseValues(std::string_view text);
/// `C=1024,R=4096,T=bf16`: what parseValues() reads.
std::string toString(const Values &values);
Json toJson(const Values &values);
Result<Values> valuesFromJson(const Json &json);

} // namespace tilec::tuner
