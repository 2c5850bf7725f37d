#include "compiler/base/json.h"
#include <algorithm>

namespace tilec {

// The library reports the place of a fault only through its exception, so this is the one spot that catches it.
Result<Json> parseJson(std::string_view text, std::string_view what) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error &fault) {
    // `byte` counts from 1 and names the last byte read; at the end of the text it is one past it.
    size_t offset = std::min(fault.byte > 0 ? fault.byte - 1 : 0, text.size());
    std::string_view before = text.substr(0, offset);
    size_t line = 1 + size_t(std::count(before.begin(), before.end(), '\n'));
    size_t lineStart = before.rfind('\n');
    size_t column = 1 + offset - (lineStart == std::string_view::npos ? 0 : lineStart + 1);
    // Its text reads `[json.exception…] parse error at line 1, column 2: …`; the part behind the place is ours to keep.
    std::string_view message = fault.what();
    if (size_t colon = message.find(": "); colon != std::string_view::npos)
      message.remove_prefix(colon + 2);
    return usageError("{}:{}:{}: not valid JSON: {}", what, line, column, message);
  } catch (const Json::exception &fault) {
    std::string_view message = fault.what();
    if (size_t bracket = message.find("] "); bracket != std::string_view::npos)
      message.remove_prefix(bracket + 2);
    return usageError("{}: not valid JSON: {}", what, message);
  }
}

std::string toText(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace tilec
