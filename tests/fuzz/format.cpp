// LINK: compiler_syntax
// Any bytes as a program to format: what is well formed is formatted, the formatter's own check of the result holds,
// and formatting twice is formatting once.
#include "compiler/syntax/format.h"
#include "tests/fuzz/fuzz.h"

using namespace tilec;

static std::optional<std::string> formatted(std::string_view text) {
  SourceManager sources;
  Diagnostics diags;
  FileId file = sources.add("fuzz.tile", std::string(text));
  auto result = syntax::format(file, sources, diags);
  if (!result)
    fault(result.error().message);
  if (result->has_value() == diags.hasErrors())
    fault("a text and an error, or neither");
  return *result;
}

int tilec::fuzzOne(std::string_view text) {
  if (std::optional<std::string> once = formatted(text); once && formatted(*once) != once)
    fault("formatting twice changes the text");
  return 0;
}
