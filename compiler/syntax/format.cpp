// The formatter from outside: read, lay out, print, and hold the result against the original.
#include "compiler/syntax/format.h"
#include "compiler/syntax/format_layout.h"
#include "compiler/syntax/parser.h"

namespace tilec::syntax {

namespace {

bool closes(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace ||
         kind == TokenKind::Greater;
}

/// A file in every respect that formatting must leave alone.
struct Content {
  std::vector<std::string_view>
      words;            ///< tokens but for trailing commas, semicolons: where they matter, the tree tells
  std::string comments; ///< in source order, by spaces: two may come to stand on one line
  std::string tree;

  Content(const File &file, const Layout &layout, const SourceManager &sources) : tree(dumpAst(file, sources)) {
    for (size_t i = 0; i + 1 < layout.tokens.size(); ++i) {
      const Token &token = layout.tokens[i];
      bool trailing = token.kind == TokenKind::Comma && closes(layout.tokens[i + 1].kind);
      if (!trailing && token.kind != TokenKind::Semicolon)
        words.push_back(sources.text(token.span));
    }
    for (const Comment &comment : layout.comments)
      (comments += comment.text) += ' ';
  }
};

std::string difference(const Content &before, const Content &after) {
  return before.words != after.words         ? "its tokens would change"
         : before.comments != after.comments ? "its comments would change"
         : before.tree != after.tree         ? "its meaning would change"
                                             : "";
}

Layout layoutOf(const File &file, const SourceManager &sources) {
  Layout layout = readLayout(file, sources);
  measureLayout(layout, sources);
  return layout;
}

} // namespace

Result<std::optional<std::string>> format(FileId id, const SourceManager &sources, Diagnostics &diags) {
  std::unique_ptr<File> file = parse(id, sources, diags);
  if (diags.hasErrors())
    return std::nullopt;
  Layout layout = layoutOf(*file, sources);
  std::string text = printLayout(layout, sources);

  SourceManager resultSources;
  Diagnostics resultDiags;
  FileId resultId = resultSources.add(std::string(sources.name(id)), text);
  std::unique_ptr<File> result = parse(resultId, resultSources, resultDiags);
  std::string fault = "it could not be read any more";
  if (!resultDiags.hasErrors())
    fault =
        difference(Content(*file, layout, sources), Content(*result, layoutOf(*result, resultSources), resultSources));
  if (!fault.empty())
    return internalError("'{}' is left as it is: formatted, {}", sources.name(id), fault);
  return text;
}

} // namespace tilec::syntax
