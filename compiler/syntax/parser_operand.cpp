// Operands: literals, names, brackets, `if` as a value, functions as arguments.
#include "compiler/syntax/parser_impl.h"
#include <fmt/format.h>
#include <limits>

namespace tilec::syntax {

ExprPtr Parser::parsePrimary() {
  Span begin = here();
  switch (tok().kind) {
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::KwInf:
  case TokenKind::KwNan:
    return parseNumber();
  case TokenKind::KwTrue:
  case TokenKind::KwFalse: {
    auto node = std::make_unique<BoolExpr>();
    node->value = take().kind == TokenKind::KwTrue;
    return finish(std::move(node), begin);
  }
  case TokenKind::Name:
    return parseNamed();
  case TokenKind::DType: {
    auto node = std::make_unique<DTypeExpr>();
    node->dtype = take().dtype;
    return finish(std::move(node), begin);
  }
  case TokenKind::LParen:
    return parseParen();
  case TokenKind::LBracket:
    return parseList();
  case TokenKind::KwIf:
    return parseIf();
  case TokenKind::KwStatic:
    if (ahead().kind == TokenKind::KwIf)
      return parseIf();
    return missingOperand();
  case TokenKind::KwFn:
    if (ahead().kind != TokenKind::Name)
      complain(Diag::MisplacedFunction, begin, "a function without a name is the value of an argument only",
               "declare it with `fn name(...)` and pass the name");
    return parseClosure();
  case TokenKind::String:
    complain(Diag::StringPlace, begin, "a string is not a value",
             "strings stand in `print`, `assert`, `static_assert` and `import`");
    return parseString();
  case TokenKind::KwNone: {
    complain(Diag::MisplacedNone, begin, "`none` is not a value", "it inserts an axis: `x[:, none]`");
    take();
    return finish(std::make_unique<ErrorExpr>(), begin);
  }
  default:
    return missingOperand();
  }
}

/// Says that an operand is missing here, in the words of the likeliest slip.
ExprPtr Parser::missingOperand() {
  auto node = std::make_unique<ErrorExpr>();
  node->span = here();
  if (at(TokenKind::Dot) && ahead().kind == TokenKind::Int && ahead().touches)
    fail(Diag::BadNumber, {file, here().begin, ahead().span.end}, "a float has digits on both sides of its dot",
         fmt::format("write `0.{}`", text(ahead())));
  else if (at(TokenKind::Plus) && !tok().newline)
    fail(Diag::ExpectedExpression, here(), "expected an expression, found `+`", "a number has no `+` in front");
  else if (at(TokenKind::KwElse) && !tok().newline)
    fail(Diag::ExpectedExpression, here(), "expected an expression, found `else`",
         "an `else` follows the `}` of its `if`");
  else
    expected("an expression", Diag::ExpectedExpression);
  return node;
}

ExprPtr Parser::parseNumber() {
  Token token = take();
  if (token.kind == TokenKind::Int) {
    auto node = std::make_unique<IntExpr>();
    node->value = token.integer;
    return finish(std::move(node), token.span);
  }
  auto node = std::make_unique<FloatExpr>();
  node->text = text(token);
  node->value = token.kind == TokenKind::KwInf   ? std::numeric_limits<double>::infinity()
                : token.kind == TokenKind::KwNan ? std::numeric_limits<double>::quiet_NaN()
                                                 : token.real;
  return finish(std::move(node), token.span);
}

// NAME [cargs] [args] .
ExprPtr Parser::parseNamed() {
  Token token = take();
  Ident name{std::string(text(token)), token.span};
  if (name.text == "_") {
    complain(Diag::WildcardPlace, token.span, "`_` cannot be read", "give the value a name where it is bound");
    return finish(std::make_unique<ErrorExpr>(), token.span);
  }
  if (atCall())
    return parseCall(nullptr, std::move(name), token.span);
  auto node = std::make_unique<NameExpr>();
  node->name = std::move(name.text);
  return finish(std::move(node), token.span);
}

ExprPtr Parser::parseString() {
  Token token = take();
  auto node = std::make_unique<StringExpr>();
  node->value = list.strings[token.index];
  return finish(std::move(node), token.span);
}

// "(" ")" | "(" expr ")" | "(" expr "," [expr {"," expr} [","]] ")": a comma makes a tuple.
ExprPtr Parser::parseParen() {
  InBrackets scope(*this);
  Span open = take().span;
  auto tuple = std::make_unique<TupleExpr>();
  bool commas = at(TokenKind::RParen);
  while (!at(TokenKind::RParen) && !at(TokenKind::Eof)) {
    tuple->elements.push_back(parseExpr());
    if (!accept(TokenKind::Comma))
      break;
    commas = true;
  }
  expectClose(TokenKind::RParen, open);
  if (!commas && tuple->elements.size() == 1) {
    ExprPtr inner = std::move(tuple->elements.front());
    inner->parenthesized = true;
    inner->span = from(open);
    return inner;
  }
  growAll(*tuple, tuple->elements);
  return finish(std::move(tuple), open);
}

// "[" [expr {"," expr} [","]] "]" .
ExprPtr Parser::parseList() {
  InBrackets scope(*this);
  Span open = take().span;
  auto node = std::make_unique<ListExpr>();
  parseItems(TokenKind::RBracket, open, [&] { node->elements.push_back(parseExpr()); });
  growAll(*node, node->elements);
  return finish(std::move(node), open);
}

// if = ["static"] "if" expr block ["else" (if | block)] .
ExprPtr Parser::parseIf() {
  // A chain of `else if` is one node inside the other, so it counts as nesting.
  Nest nest(*this);
  Span begin = here();
  auto node = std::make_unique<IfExpr>();
  node->isStatic = accept(TokenKind::KwStatic);
  take();
  node->condition = parseExpr();
  node->thenBlock = parseBody();
  if (accept(TokenKind::KwElse)) {
    if (at(TokenKind::KwIf) || (at(TokenKind::KwStatic) && ahead().kind == TokenKind::KwIf)) {
      node->elseIf = true;
      node->elseBlock = std::make_unique<Block>();
      auto stmt = std::make_unique<ExprStmt>();
      stmt->expr = parseIf();
      stmt->span = node->elseBlock->span = stmt->expr->span;
      grow(*stmt, stmt->expr);
      grow(*node->elseBlock, *stmt);
      node->elseBlock->stmts.push_back(std::move(stmt));
    } else {
      node->elseBlock = parseBody();
    }
  }
  grow(*node, node->condition);
  grow(*node, node->thenBlock);
  grow(*node, node->elseBlock);
  return finish(std::move(node), begin);
}

// closure = "fn" "(" [pat {"," pat} [","]] ")" block .
ExprPtr Parser::parseClosure() {
  Span begin = take().span;
  auto node = std::make_unique<ClosureExpr>();
  if (at(TokenKind::Name))
    fail(Diag::MisplacedFunction, here(), "a function with a name is declared by a statement of its own",
         "leave out the name, or declare the function before and pass its name");
  Span open = here();
  if (expect(TokenKind::LParen, "`(`")) {
    InBrackets scope(*this);
    parseItems(TokenKind::RParen, open, [&] { node->params.push_back(parsePattern()); });
  }
  node->body = parseBody();
  grow(*node, node->body);
  return finish(std::move(node), begin);
}

} // namespace tilec::syntax
