#pragma once
// Source text to tokens. Comments and white space are dropped; what the parser needs of them stays as flags.
#include "compiler/base/diag.h"
#include "compiler/base/dtype.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::syntax {

enum class TokenKind : uint8_t {
#define TOKEN(kind, what) kind,
#define KEYWORD(kind, word) kind,
#define PUNCT(kind, spelling) kind,
#include "compiler/syntax/tokens.def"
};

/// What a message calls a kind of token: "a name", or the spelling in backquotes.
std::string describe(TokenKind kind);
bool isKeyword(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::Eof;
  bool newline = false; ///< first on its line
  bool touches = false; ///< nothing stands between it and the token before
  bool generic = false; ///< a `<` that opens compile-time arguments
  bool tainted = false; ///< an error was reported earlier on its line, so one here may be its echo
  DType dtype{};        ///< of DType
  uint32_t index = 0;   ///< of String: place in TokenList::strings
  uint32_t doc = 0;     ///< 1 + place in TokenList::docs of the `##` lines above; 0: none
  uint64_t integer = 0; ///< of Int
  double real = 0;      ///< of Float
  Span span;
};

/// The tokens of a file; the last one is Eof.
struct TokenList {
  std::vector<Token> tokens;
  std::vector<std::string> strings; ///< string literals, escapes resolved
  std::vector<std::string> docs;    ///< documentation, marks removed, lines joined by newlines
};

/// Splits a file into tokens. Each fault is reported (E0101 to E0109) and stands in the list as an Invalid token or as
/// the literal it was meant to be.
TokenList lex(FileId file, const SourceManager &sources, Diagnostics &diags);

/// Sets `generic` on every `<` that opens compile-time arguments: it touches the name before it, its `>` touches a `(`,
/// and only sums lie between them. One pass over the tokens. `lex` has done it.
void markGenericCalls(std::vector<Token> &tokens);

/// One token a line, `LINE:COLUMN KIND TEXT` and the flags newline and generic: what `--emit=tokens` prints.
std::string dumpTokens(FileId file, const SourceManager &sources, Diagnostics &diags);

} // namespace tilec::syntax
