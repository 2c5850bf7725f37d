// Tokens, faults and recovery. The rules of the grammar are in the other parser files.
#include "compiler/base/text.h"
#include "compiler/syntax/parser_impl.h"
#include <fmt/format.h>

namespace tilec::syntax {

namespace {

struct Mend {
  std::string_view word, mend;
};
constexpr Mend foreignWords[] = {
#define FOREIGN_WORD(word, mend) {word, mend},
#include "compiler/syntax/tokens.def"
};

/// Messages of one file: after that many it is no program.
constexpr size_t maxReports = 100;

bool isOpen(TokenKind kind) { return kind == TokenKind::LParen || kind == TokenKind::LBracket; }
bool isClose(TokenKind kind) { return kind == TokenKind::RParen || kind == TokenKind::RBracket; }

} // namespace

std::unique_ptr<File> parse(FileId id, const SourceManager &sources, Diagnostics &diags) {
  return Parser(id, sources, diags).run();
}

Parser::Parser(FileId id, const SourceManager &manager, Diagnostics &d) : file(id), sources(manager), diags(d) {
  list = lex(file, sources, diags);
  stop.span.file = file;
}

std::unique_ptr<File> Parser::run() {
  auto result = std::make_unique<File>();
  result->id = file;
  while (true) {
    while (accept(TokenKind::Semicolon)) {
    }
    if (at(TokenKind::Eof))
      return result;
    reportedBrace = false;
    suspect.reset();
    size_t start = pos;
    if (DeclPtr decl = parseDecl())
      result->decls.push_back(std::move(decl));
    if (panicking)
      recoverDecl(start);
  }
}

//===--------------------------------------------------------------------------------------------------------------===//
// Tokens
//===--------------------------------------------------------------------------------------------------------------===//

Token Parser::take() {
  Token token = tok();
  if (token.kind != TokenKind::Eof) {
    ++pos;
    lastEnd = token.span.end;
  }
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind) || kind == TokenKind::Eof)
    return false;
  take();
  return true;
}

// The newline rule: operands are asked for without looking at lines, so a missing one continues the statement by
// itself.
bool Parser::lineEnds() const {
  if (!linesCount || !tok().newline)
    return false;
  switch (tok().kind) {
  case TokenKind::Dot:
  case TokenKind::AmpAmp:
  case TokenKind::PipePipe:
  case TokenKind::KwElse:
    return false;
  default:
    return true;
  }
}

//===--------------------------------------------------------------------------------------------------------------===//
// Faults
//===--------------------------------------------------------------------------------------------------------------===//

std::string Parser::foreignMend(std::string_view word) {
  for (const Mend &row : foreignWords)
    if (row.word == word)
      return std::string(row.mend);
  return "";
}

// The returned report may be a place-holder, so that callers can add notes and help without asking.
Diagnostic &Parser::complain(Diag diag, Span span, std::string message, std::string help) {
  if (panicking || fatal)
    return dropped = {};
  // A fault right behind one that the lexer reported is its echo. At a line's first token the line before counts too.
  const Token &token = list.tokens[pos];
  bool before = pos && (token.newline || token.kind == TokenKind::Eof);
  if (token.tainted || (before && list.tokens[pos - 1].tainted))
    return dropped = {};
  if (++reports > maxReports) {
    fatal = panicking = true;
    return dropped = {};
  }
  Diagnostic &report = diags.report(diag, span, std::move(message));
  report.help = std::move(help);
  return report;
}

Diagnostic &Parser::fail(Diag diag, Span span, std::string message, std::string help) {
  Diagnostic &report = complain(diag, span, std::move(message), std::move(help));
  if (!panicking) {
    panicking = true;
    panicBrackets = openBrackets;
    stop.span = {file, lastEnd, lastEnd};
  }
  return report;
}

Diagnostic &Parser::expected(std::string_view what, Diag diag) {
  if (panicking)
    return dropped = {};
  const Token &token = tok();
  std::string_view word = text(token);
  // What is missing at a line's end is shown there, not at whatever the next line begins with.
  Span behind{file, lastEnd, lastEnd};
  if (token.kind == TokenKind::Eof)
    return fail(diag, behind, fmt::format("expected {} before the end of the file", what));
  if (token.newline)
    return fail(diag, behind, fmt::format("expected {} before the end of the line", what));
  if (token.kind == TokenKind::Equal)
    return fail(Diag::AssignInExpression, token.span, "`=` cannot stand inside an expression",
                "comparison is `==`; an assignment is a statement of its own");
  return fail(diag, token.span, fmt::format("expected {}, found `{}`", what, word), foreignMend(word));
}

bool Parser::expect(TokenKind kind, std::string_view what) {
  if (accept(kind))
    return true;
  expected(what);
  return false;
}

Ident Parser::expectName(std::string_view what) {
  if (at(TokenKind::Name)) {
    Token token = take();
    return {std::string(text(token)), token.span};
  }
  if (atReserved() && !lineEnds())
    fail(Diag::ReservedWord, here(), fmt::format("`{}` is a reserved word and cannot name {}", text(tok()), what),
         "choose another name");
  else
    expected(fmt::format("the name of {}", what));
  return {"", here()};
}

bool Parser::expectClose(TokenKind close, Span open) {
  if (accept(close))
    return true;
  if (panicking)
    return false;
  std::string partner = describe(close);
  // Where the next thing clearly begins something else, the bracket was forgotten; otherwise perhaps a comma was.
  bool forgotten = at(TokenKind::Eof) || at(TokenKind::RBrace) || isClose(tok().kind) || beginsStatement(tok());
  Diagnostic &report =
      forgotten ? expected(partner, Diag::UnclosedBracket) : expected(fmt::format("`,` or {}", partner));
  report.notes.push_back({open, fmt::format("the `{}` opens here", sources.text(open))});
  return false;
}

void Parser::missingBrace(Span open) {
  if (std::exchange(reportedBrace, true))
    return;
  Span behind{file, lastEnd, lastEnd};
  std::string next = at(TokenKind::Eof) ? "the end of the file" : describe(tok().kind);
  Diagnostic &report = fail(Diag::UnclosedBracket, behind, fmt::format("expected `}}` before {}", next));
  report.notes.push_back({open, "the block opens here"});
  if (suspect)
    report.notes.push_back(
        {*suspect, "perhaps this `{` is the one without a partner: its `}` is indented differently"});
}

void Parser::tooDeep() {
  if (!fatal)
    fail(Diag::TooDeep, here(), fmt::format("the program nests more than {} levels deep here", maxNesting),
         "bind parts of it with `let`");
  giveUp();
}

void Parser::tooLong() {
  if (!fatal)
    fail(Diag::TooDeep, here(), fmt::format("more than {} operators follow each other in one expression", maxDepth),
         "bind parts of it with `let`");
  giveUp();
}

void Parser::giveUp() {
  fatal = panicking = true;
  pos = list.tokens.size() - 1;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Recovery
//===--------------------------------------------------------------------------------------------------------------===//

/// Words that begin a statement and never go on with one.
bool Parser::beginsStatement(const Token &token) const {
  switch (token.kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwFor:
  case TokenKind::KwWhile:
  case TokenKind::KwReturn:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwConst:
  case TokenKind::KwKernel:
  case TokenKind::KwImport:
    return token.newline;
  default:
    return false;
  }
}

bool Parser::beginsDecl(const Token &token) const {
  switch (token.kind) {
  case TokenKind::KwKernel:
  case TokenKind::KwImport:
  case TokenKind::KwConst:
    return token.newline;
  case TokenKind::KwFn: // an indented one stands inside another declaration
    return token.newline && sources.position(file, token.span.begin).column == 1;
  default:
    return false;
  }
}

// A block inside a faulty statement is skipped whole, but never past the beginning of the next kernel.
void Parser::skipBalanced() {
  uint32_t braces = 0;
  do {
    if (at(TokenKind::Eof) || (braces && (at(TokenKind::KwKernel) || at(TokenKind::KwImport)) && tok().newline))
      return;
    if (at(TokenKind::LBrace))
      ++braces;
    else if (at(TokenKind::RBrace) && braces)
      --braces;
    take();
  } while (braces);
}

void Parser::recoverStatement(size_t start) {
  if (fatal)
    return;
  panicking = false;
  uint32_t brackets = panicBrackets > openBrackets ? panicBrackets - openBrackets : 0;
  for (bool first = pos == start;; first = false) {
    // A `}` in the middle of a line closes no block of several lines: it is part of the fault.
    bool strayBrace = at(TokenKind::RBrace) && !tok().newline && lineAt(blockOpen) != lineAt(here());
    if (at(TokenKind::Eof) || at(TokenKind::Semicolon) || (at(TokenKind::RBrace) && !strayBrace))
      return;
    if (!first && tok().newline && (!brackets || beginsStatement(tok())))
      return;
    if (isOpen(tok().kind))
      ++brackets;
    else if (isClose(tok().kind) && brackets)
      --brackets;
    skipBalanced();
  }
}

bool Parser::recoverToBlock() {
  if (fatal)
    return false;
  panicking = false;
  uint32_t brackets = panicBrackets > openBrackets ? panicBrackets - openBrackets : 0;
  size_t start = pos;
  while (!at(TokenKind::Eof) && !at(TokenKind::RBrace) && !at(TokenKind::Semicolon)) {
    if (at(TokenKind::LBrace) && (!brackets || ahead().newline))
      return true;
    if (tok().newline && (!brackets || beginsStatement(tok())))
      break;
    if (isOpen(tok().kind))
      ++brackets;
    else if (isClose(tok().kind) && brackets)
      --brackets;
    skipBalanced();
  }
  panicking = true;
  pos = start;
  return false;
}

bool Parser::recoverInList(TokenKind close) {
  if (fatal)
    return false;
  panicking = false;
  uint32_t brackets = panicBrackets > openBrackets ? panicBrackets - openBrackets : 0;
  // Where a bracket was left open, the next item's name was read as part of it.
  if (at(TokenKind::Colon) && pos && list.tokens[pos - 1].kind == TokenKind::Name && list.tokens[pos - 1].newline)
    --pos;
  size_t start = pos;
  while (!at(TokenKind::Eof) && !beginsDecl(tok())) {
    bool parameters = at(TokenKind::Greater) && ahead().kind == TokenKind::LParen; // ends `<...>` whatever is open
    if (atItem() || (!brackets && (at(TokenKind::Comma) || at(close))) || (parameters && at(close)))
      return true;
    // The list was never closed: what follows is read all the same.
    if (close == TokenKind::Greater && at(TokenKind::LParen) && !brackets && ahead().newline)
      return false;
    if (tok().newline && (at(TokenKind::LBrace) || (atClause() && ahead().kind == TokenKind::LParen)))
      return false;
    if (isOpen(tok().kind))
      ++brackets;
    else if ((isClose(tok().kind) || at(TokenKind::RBrace)) && brackets) // the `}` of a domain
      --brackets;
    skipBalanced();
  }
  panicking = true;
  pos = start;
  return false;
}

void Parser::recoverClause() {
  if (fatal)
    return;
  panicking = false;
  TokenKind before = TokenKind::Eof;
  while (!at(TokenKind::Eof) && !beginsDecl(tok())) {
    bool block = at(TokenKind::LBrace) && before != TokenKind::KwIn;
    if (block || (tok().newline && atClause()))
      return;
    if (tok().newline && at(TokenKind::RBrace))
      break;
    before = tok().kind;
    skipBalanced();
  }
  panicking = true; // neither follows
}

// Braces say little after a fault at this level: a declaration begins where its word begins a line.
void Parser::recoverDecl(size_t start) {
  if (fatal)
    return;
  panicking = false;
  if (pos == start)
    take();
  while (!at(TokenKind::Eof) && !beginsDecl(tok()))
    take();
}

} // namespace tilec::syntax
