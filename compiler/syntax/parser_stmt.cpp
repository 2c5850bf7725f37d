// Blocks and statements.
#include "compiler/base/text.h"
#include "compiler/syntax/parser_impl.h"
#include <fmt/format.h>

namespace tilec::syntax {

//===--------------------------------------------------------------------------------------------------------------===//
// Blocks
//===--------------------------------------------------------------------------------------------------------------===//

BlockPtr Parser::parseBody() {
  if (at(TokenKind::LBrace))
    return parseBlock();
  uint32_t indent = indentAt(lastEnd);
  bool indented = tok().newline && sources.position(file, here().begin).column > indent;
  expected("`{`");
  if (!indented) {
    if (recoverToBlock())
      return parseBlock();
    return std::make_unique<Block>();
  }
  // Only the `{` was forgotten: the indented lines are the block, with their `}` if they have one.
  panicking = fatal;
  auto block = std::make_unique<Block>();
  Nest nest(*this);
  linesCount = true;
  parseStmts(*block, indent + 1);
  if (at(TokenKind::RBrace) && sources.position(file, here().begin).column == indent)
    take();
  return block;
}

// block = "{" [stmt {end stmt}] [end] "}" .   end = ";" | the next token is on a new line .
BlockPtr Parser::parseBlock() {
  auto block = std::make_unique<Block>();
  Nest nest(*this);
  linesCount = true;
  Span open = take().span;
  Span outer = std::exchange(blockOpen, open);
  parseStmts(*block, 0);
  blockOpen = outer;
  if (at(TokenKind::RBrace))
    checkIndent(open, take());
  else
    missingBrace(open);
  block->span = from(open);
  return block;
}

void Parser::parseStmts(Block &block, uint32_t column) {
  while (true) {
    while (accept(TokenKind::Semicolon)) {
    }
    // No block holds a kernel: one that begins here tells that a `}` is missing.
    if (at(TokenKind::RBrace) || at(TokenKind::Eof) || at(TokenKind::KwKernel) || at(TokenKind::KwImport) ||
        atHeadLine() || (column && tok().newline && sources.position(file, here().begin).column < column))
      return;
    size_t start = pos;
    StmtPtr stmt = parseStmt();
    if (!panicking)
      expectStatementEnd(stmt.get());
    if (panicking)
      recoverStatement(start);
    grow(block, *stmt);
    block.stmts.push_back(std::move(stmt));
  }
}

uint32_t Parser::indentAt(uint32_t offset) const {
  std::string_view line = sources.line(file, sources.position(file, offset).line);
  return uint32_t(std::min(line.find_first_not_of(" \t"), line.size())) + 1;
}

// The file ends inside the outermost block whichever `}` was forgotten; indentation tells which one it was.
void Parser::checkIndent(Span open, const Token &close) {
  if (!suspect && close.newline && indentAt(open.begin) != sources.position(file, close.span.begin).column)
    suspect = open;
}

// What stands behind a statement on its line is a fault; the statement itself often tells what was meant.
void Parser::expectStatementEnd(const Stmt *before) {
  if (at(TokenKind::Semicolon) || at(TokenKind::RBrace) || at(TokenKind::Eof) || tok().newline)
    return;
  std::string_view found = text(tok());
  if (at(TokenKind::Equal)) {
    expected("the end of the statement");
    return;
  }
  if (at(TokenKind::RParen) || at(TokenKind::RBracket)) {
    fail(Diag::UnmatchedBracket, here(), fmt::format("`{}` closes nothing", found));
    return;
  }
  const auto *stmt = dynAs<ExprStmt>(before);
  const Expr *expr = stmt ? stmt->expr.get() : nullptr;
  const auto *word = dynAs<NameExpr>(expr); // perhaps meant as a keyword
  std::string help = foreignMend(found);
  if (help.empty() && dynAs<IfExpr>(expr))
    help = "an `if` that begins a statement is a whole statement; to use its value put it in parentheses";
  if (help.empty() && word) {
    static const std::string keywords[] = {"let", "var", "for", "while", "return", "static", "const", "if"};
    std::string near = nearest(word->name, keywords);
    help = foreignMend(word->name);
    if (at(TokenKind::Colon))
      help = fmt::format("a variable is declared with `var {}: ...`", word->name);
    else if (help.empty() && !near.empty())
      help = fmt::format("did you mean `{}`?", near);
  }
  if (help.empty())
    help = "write the next statement on a line of its own, or a `;` between the two";
  fail(Diag::StatementEnd, here(), fmt::format("expected the end of the statement, found `{}`", found),
       std::move(help));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Statements
//===--------------------------------------------------------------------------------------------------------------===//

StmtPtr Parser::parseStmt() {
  Span begin = here();
  switch (tok().kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
    return parseBind(false);
  case TokenKind::KwConst:
    complain(Diag::MisplacedDeclaration, begin, "`const` stands at file level",
             "`let` binds a compile-time value just as well");
    return parseBind(true);
  case TokenKind::KwReturn:
    return parseReturn();
  case TokenKind::KwBreak:
    take();
    return finish(std::make_unique<BreakStmt>(), begin);
  case TokenKind::KwContinue:
    take();
    return finish(std::make_unique<ContinueStmt>(), begin);
  case TokenKind::KwFor:
    return parseFor();
  case TokenKind::KwWhile:
    return parseWhile();
  case TokenKind::KwFn: {
    if (ahead().kind == TokenKind::LParen)
      return parseExprStmt();
    auto stmt = std::make_unique<FnStmt>();
    stmt->fn = parseFn();
    grow(*stmt, stmt->fn->body);
    return finish(std::move(stmt), begin);
  }
  case TokenKind::KwStatic:
    if (ahead().kind == TokenKind::KwFor)
      return parseFor();
    if (ahead().kind == TokenKind::KwIf)
      return parseExprStmt();
    fail(Diag::ExpectedToken, begin, "`static` stands in front of `if` and `for` only");
    return finish(std::make_unique<ErrorStmt>(), begin);
  case TokenKind::KwElse:
    fail(Diag::ExpectedToken, begin, "this `else` has no `if` in front of it", "an `else` follows the `}` of its `if`");
    return finish(std::make_unique<ErrorStmt>(), begin);
  case TokenKind::RParen:
  case TokenKind::RBracket:
    fail(Diag::UnmatchedBracket, begin, fmt::format("`{}` closes nothing", text(tok())));
    return finish(std::make_unique<ErrorStmt>(), begin);
  default:
    if (placeLength())
      return parseAssign();
    if (beginsExpr())
      return parseExprStmt();
    if (atBinary())
      fail(Diag::ExpectedExpression, begin, fmt::format("a statement cannot begin with `{}`", text(tok())),
           "an operator at the end of a line continues the statement in the next one");
    else
      fail(Diag::ExpectedToken, begin, fmt::format("expected a statement, found `{}`", text(tok())));
    return finish(std::make_unique<ErrorStmt>(), begin);
  }
}

// bind = ("let"|"var") pat [":" type] ["=" expr] .
StmtPtr Parser::parseBind(bool misplacedConst) {
  auto stmt = std::make_unique<BindStmt>();
  Token word = take();
  stmt->isVar = word.kind == TokenKind::KwVar;
  stmt->pattern = parsePattern();
  if (accept(TokenKind::Colon)) {
    stmt->type = parseType();
    growAll(*stmt, stmt->type->extents);
  }
  if (!lineEnds() && accept(TokenKind::Equal)) {
    stmt->value = parseExpr();
    grow(*stmt, stmt->value);
  } else if (!stmt->isVar && !panicking && !misplacedConst) {
    if (lineEnds() || at(TokenKind::Semicolon) || at(TokenKind::RBrace))
      complain(Diag::MissingValue, from(word.span), "a `let` needs a value",
               "write `= ...` behind it, or declare it with `var` to assign it later");
    else
      expected("`=`");
  }
  return finish(std::move(stmt), word.span);
}

// pat = NAME | "(" pat {"," pat} [","] ")" .
Pattern Parser::parsePattern() {
  Nest nest(*this);
  Pattern pattern;
  Span begin = here();
  if (at(TokenKind::LParen)) {
    InBrackets scope(*this);
    take();
    if (at(TokenKind::RParen))
      expected("a name");
    parseItems(TokenKind::RParen, begin, [&] { pattern.elements.push_back(parsePattern()); });
  } else {
    pattern.name = expectName("a value").text;
  }
  pattern.span = from(begin);
  return pattern;
}

std::optional<std::optional<BinaryOp>> Parser::assignment(const Token &token) const {
  switch (token.kind) {
  case TokenKind::Equal:
    return std::optional<BinaryOp>();
  case TokenKind::PlusEqual:
    return BinaryOp::Add;
  case TokenKind::MinusEqual:
    return BinaryOp::Sub;
  case TokenKind::StarEqual:
    return BinaryOp::Mul;
  case TokenKind::SlashEqual:
    return BinaryOp::Div;
  default:
    return std::nullopt;
  }
}

// place = NAME | "(" NAME {"," NAME} [","] ")" . A place is also an expression, so only the operator behind it tells.
size_t Parser::placeLength() const {
  if (panicking)
    return 0;
  auto kind = [&](size_t i) { return list.tokens[std::min(i, list.tokens.size() - 1)].kind; };
  size_t i = pos;
  if (kind(i) == TokenKind::Name) {
    ++i;
  } else if (kind(i) == TokenKind::LParen) {
    ++i;
    while (kind(i) == TokenKind::Name) {
      ++i;
      if (kind(i) != TokenKind::Comma)
        break;
      ++i;
    }
    if (i == pos + 1 || kind(i) != TokenKind::RParen)
      return 0;
    ++i;
  } else {
    return 0;
  }
  const Token &op = list.tokens[std::min(i, list.tokens.size() - 1)];
  return assignment(op) && !op.newline ? i - pos : 0;
}

// assign = place ("="|"+="|"-="|"*="|"/=") expr .
StmtPtr Parser::parseAssign() {
  auto stmt = std::make_unique<AssignStmt>();
  Span begin = here();
  for (size_t end = pos + placeLength(); pos < end;) {
    Token token = take();
    if (token.kind == TokenKind::Name)
      stmt->places.push_back({std::string(text(token)), token.span});
    else if (token.kind == TokenKind::Comma)
      stmt->isTuple = true;
  }
  Token op = take();
  stmt->opSpan = op.span;
  stmt->op = *assignment(op);
  stmt->value = parseExpr();
  grow(*stmt, stmt->value);
  return finish(std::move(stmt), begin);
}

StmtPtr Parser::parseExprStmt() {
  auto stmt = std::make_unique<ExprStmt>();
  Span begin = here();
  // An `if` here is a whole statement: no operator behind it makes it an operand.
  bool whole = at(TokenKind::KwIf) || (at(TokenKind::KwStatic) && ahead().kind == TokenKind::KwIf);
  stmt->expr = whole ? parseIf() : parseExpr();
  if (!lineEnds() && !panicking && assignment(tok()) && !whole) {
    bool index = stmt->expr->kind == ExprKind::Index;
    fail(Diag::NotAPlace, stmt->expr->span, "only a variable can be assigned to",
         index ? "tiles are values: `insert` and `where` make a new one, `store` and `scatter` write memory" : "");
  }
  grow(*stmt, stmt->expr);
  return finish(std::move(stmt), begin);
}

// return = "return" [expr] .
StmtPtr Parser::parseReturn() {
  auto stmt = std::make_unique<ReturnStmt>();
  Span begin = take().span;
  if (!lineEnds() && !at(TokenKind::Semicolon) && !at(TokenKind::RBrace) && !at(TokenKind::Eof)) {
    stmt->value = parseExpr();
    grow(*stmt, stmt->value);
  }
  return finish(std::move(stmt), begin);
}

// for = ["static"] "for" NAME "in" expr [".." expr] block .
StmtPtr Parser::parseFor() {
  auto stmt = std::make_unique<ForStmt>();
  Span begin = here();
  stmt->isStatic = accept(TokenKind::KwStatic);
  take();
  stmt->var = expectName("a loop variable");
  expect(TokenKind::KwIn, "`in`");
  stmt->lo = parseExpr();
  if (at(TokenKind::DotDotEqual))
    fail(Diag::ExpectedToken, here(), "a loop's range does not include its end", "write `lo..hi + 1`");
  if (accept(TokenKind::DotDot))
    stmt->hi = parseExpr();
  stmt->body = parseBody();
  grow(*stmt, stmt->lo);
  grow(*stmt, stmt->hi);
  grow(*stmt, stmt->body);
  return finish(std::move(stmt), begin);
}

// while = "while" expr block .
StmtPtr Parser::parseWhile() {
  auto stmt = std::make_unique<WhileStmt>();
  Span begin = take().span;
  stmt->condition = parseExpr();
  stmt->body = parseBody();
  grow(*stmt, stmt->condition);
  grow(*stmt, stmt->body);
  return finish(std::move(stmt), begin);
}

} // namespace tilec::syntax
