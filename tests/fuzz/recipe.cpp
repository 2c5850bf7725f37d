// LINK: compiler_sema runtime yaml-cpp
// SOURCES: tuner/recipe.cpp tuner/recipe_check.cpp tuner/problem_check.cpp tuner/values.cpp
// SOURCES: compiler/driver/source.cpp compiler/driver/version.cpp
// Any bytes as a recipe, and as the values of -D.
#include "tuner/recipe.h"
#include "tests/fuzz/fuzz.h"

using namespace tilec;
using namespace tilec::tuner;

int tilec::fuzzOne(std::string_view text) {
  SourceManager sources;
  Diagnostics diags;
  FileId file = sources.add("recipe.yaml", std::string(text));
  Recipe recipe;
  Status read = parseRecipe(file, sources, diags, recipe);
  if (read ? diags.hasErrors() : read.error().message.empty())
    return fault("the outcome and what is reported differ");
  for (const Diagnostic &d : diags.all())
    if (d.span.begin > d.span.end || d.span.end > text.size())
      return fault("a diagnostic lies outside the file: " + d.message);
  if (render(diags, sources, false).empty() && !diags.all().empty())
    return fault("a diagnostic is not shown");
  if (read)
    for (const auto &[array, tolerance] : recipe.tolerance)
      for (const Values &problem : recipe.check)
        (void)evaluate(tolerance, problem);
  if (Result<Values> values = parseValues(text)) {
    Result<Values> again = parseValues(tuner::toString(*values));
    if (!again || tuner::toString(*again) != tuner::toString(*values))
      return fault("values change when they are written and read");
  }
  return 0;
}
