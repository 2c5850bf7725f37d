// LINK: compiler_sema
// Any bytes as a program: lexer, parser and, when the text is well formed, the checker. What is reported must render.
#include "compiler/sema/check.h"
#include "compiler/base/diag.h"
#include "compiler/syntax/parser.h"
#include "compiler/target/target.h"
#include "tests/fuzz/fuzz.h"

using namespace tilec;

int tilec::fuzzOne(std::string_view text) {
  SourceManager sources;
  Diagnostics diags;
  FileId file = sources.add("fuzz.tile", std::string(text));
  std::unique_ptr<syntax::File> ast = syntax::parse(file, sources, diags);
  if (!ast)
    return fault("the parser gave no tree");
  bool wellFormed = !diags.hasErrors();
  if (wellFormed)
    sema::checkFile(*ast, sources, &allArchs().front(), diags);
  for (const Diagnostic &d : diags.all())
    if (d.span.file != file || d.span.begin > d.span.end || d.span.end > text.size())
      return fault("a diagnostic lies outside the file: " + d.message);
  if (render(diags, sources, false).empty() && !diags.all().empty())
    return fault("a diagnostic is not shown");
  (void)toJson(diags, sources).dump(-1, ' ', false, Json::error_handler_t::strict);
  return 0;
}
