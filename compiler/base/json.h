#pragma once
// JSON with keys in the order of insertion, by nlohmann's library.
#include "compiler/base/result.h"
#include <nlohmann/json.hpp>
#include <string_view>

namespace tilec {
using Json = nlohmann::ordered_json;

/// Parses text without exceptions. `what` names the text in the error (Usage), which has line and column.
Result<Json> parseJson(std::string_view text, std::string_view what);
/// Text of a value; `indent` < 0: on one line. Bytes that are no UTF-8 (names of files, say) become U+FFFD.
std::string toText(const Json &json, int indent = 2);
} // namespace tilec
