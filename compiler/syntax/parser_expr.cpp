// Expressions: operators by precedence climbing over the BINARY rows, and what follows an operand.
#include "compiler/syntax/parser_impl.h"
#include <fmt/format.h>

namespace tilec::syntax {

namespace {

struct BinaryRow {
  TokenKind token;
  BinaryOp op;
  int precedence;
};
constexpr BinaryRow binaryRows[] = {
#define BINARY(op, token, spelling, precedence) {TokenKind::token, BinaryOp::op, precedence},
#include "compiler/syntax/tokens.def"
};

const int comparison = precedence(BinaryOp::Lt);

const BinaryRow *binaryRow(TokenKind kind) {
  for (const BinaryRow &row : binaryRows)
    if (row.token == kind)
      return &row;
  return nullptr;
}

std::optional<UnaryOp> unaryOp(TokenKind kind) {
  switch (kind) {
#define UNARY(op, token, spelling)                                                                                     \
  case TokenKind::token:                                                                                               \
    return UnaryOp::op;
#include "compiler/syntax/tokens.def"
  default:
    return std::nullopt;
  }
}

/// The built-ins that take strings.
bool takesStrings(std::string_view callee) {
  return callee == "print" || callee == "assert" || callee == "static_assert";
}

} // namespace

//===--------------------------------------------------------------------------------------------------------------===//
// Operators
//===--------------------------------------------------------------------------------------------------------------===//

bool Parser::atBinary() const { return binaryRow(tok().kind) != nullptr; }

bool Parser::beginsExpr() const {
  switch (tok().kind) {
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::String:
  case TokenKind::DType:
  case TokenKind::Name:
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::Dot: // of a float without digits in front
  case TokenKind::KwIf:
  case TokenKind::KwStatic:
  case TokenKind::KwFn:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::KwInf:
  case TokenKind::KwNan:
  case TokenKind::KwNone:
    return true;
  default:
    return unaryOp(tok().kind).has_value();
  }
}

ExprPtr Parser::parseSum() {
  ExprPtr sum = parseBinary(precedence(BinaryOp::Add));
  // Domains, defaults and compile-time arguments take sums only, so that `>` and `in` end them.
  const BinaryRow *row = lineEnds() ? nullptr : binaryRow(tok().kind);
  if (row && row->op != BinaryOp::Gt)
    fail(Diag::ExpectedToken, here(), fmt::format("`{}` cannot stand here without parentheses", text(tok())),
         "put the whole value in parentheses");
  return sum;
}

// Reads operators that bind at least as tight as `minPrecedence`; the right operand takes only tighter ones, which
// makes all of them left associative.
ExprPtr Parser::parseBinary(int minPrecedence) {
  Span begin = here();
  ExprPtr lhs = parseUnary();
  int comparisons = 0;
  while (!lineEnds()) {
    const BinaryRow *row = binaryRow(tok().kind);
    if (!row || row->precedence < minPrecedence)
      break;
    Token op = take();
    if (row->precedence == comparison && ++comparisons == 2)
      complain(Diag::ComparisonChain, op.span, "comparisons do not chain",
               op.kind == TokenKind::Greater && at(TokenKind::LParen)
                   ? "compile-time arguments touch the name and the `(`: `name<...>(...)`"
                   : "write `a < b && b < c`");
    auto node = std::make_unique<BinaryExpr>();
    node->op = row->op;
    node->opSpan = op.span;
    node->rhs = parseBinary(row->precedence + 1);
    node->lhs = std::move(lhs);
    // A chain is one level, however long: its operands stand beside each other.
    grow(*node, node->lhs->height + !node->continues(), node->lhs->depth + 1);
    grow(*node, node->rhs);
    lhs = finish(std::move(node), begin);
  }
  return lhs;
}

// unary = ("-"|"!"|"~") unary | post ["**" unary] . So `-x ** 2` is -(x ** 2), and ** is right associative.
ExprPtr Parser::parseUnary() {
  Nest nest(*this);
  Span begin = here();
  if (std::optional<UnaryOp> op = unaryOp(tok().kind)) {
    auto node = std::make_unique<UnaryExpr>();
    node->op = *op;
    node->opSpan = take().span;
    node->operand = parseUnary();
    grow(*node, node->operand);
    return finish(std::move(node), begin);
  }
  ExprPtr base = parsePostfix();
  if (!at(TokenKind::StarStar) || lineEnds())
    return base;
  auto node = std::make_unique<BinaryExpr>();
  node->op = BinaryOp::Pow;
  node->opSpan = take().span;
  node->lhs = std::move(base);
  node->rhs = parseUnary();
  grow(*node, node->lhs);
  grow(*node, node->rhs);
  return finish(std::move(node), begin);
}

// post = prim { "." NAME [cargs] [args] | "." DIGITS | "[" sub {"," sub} [","] "]" } .
ExprPtr Parser::parsePostfix() {
  ExprPtr expr = parsePrimary();
  while (!lineEnds()) {
    if (at(TokenKind::Dot)) {
      expr = parseMember(std::move(expr));
    } else if (at(TokenKind::LBracket)) {
      expr = parseIndex(std::move(expr));
    } else if (at(TokenKind::LParen)) {
      bool dtype = expr->kind == ExprKind::DType;
      fail(Diag::NotCallable, expr->span, "only a name can be called",
           dtype ? fmt::format("a conversion is `x.to({})`", sources.text(expr->span)) : "");
    } else {
      break;
    }
  }
  return expr;
}

//===--------------------------------------------------------------------------------------------------------------===//
// What follows an operand
//===--------------------------------------------------------------------------------------------------------------===//

ExprPtr Parser::parseMember(ExprPtr object) {
  Span begin = object->span;
  take();
  if (at(TokenKind::Int)) {
    auto node = std::make_unique<TupleItemExpr>();
    Token index = take();
    node->index = index.integer;
    node->indexSpan = index.span;
    node->tuple = std::move(object);
    grow(*node, node->tuple);
    return finish(std::move(node), begin);
  }
  if (at(TokenKind::DType)) {
    fail(Diag::ReservedWord, here(), fmt::format("`{}` is a reserved word and cannot name a member", text(tok())),
         fmt::format("a conversion is `x.to({})`", text(tok())));
    return object;
  }
  Ident name = expectName("a member");
  if (panicking)
    return object;
  if (atCall())
    return parseCall(std::move(object), std::move(name), begin);
  auto node = std::make_unique<MemberExpr>();
  node->object = std::move(object);
  node->member = std::move(name);
  grow(*node, node->object);
  return finish(std::move(node), begin);
}

bool Parser::atCall() const { return (at(TokenKind::Less) && tok().generic) || (at(TokenKind::LParen) && !lineEnds()); }

// cargs = "<" sum {"," sum} ">" .   args = "(" [arg {"," arg} [","]] ")" .
ExprPtr Parser::parseCall(ExprPtr receiver, Ident callee, Span begin) {
  auto node = std::make_unique<CallExpr>();
  node->receiver = std::move(receiver);
  grow(*node, node->receiver);
  if (at(TokenKind::Less)) {
    InBrackets scope(*this);
    Span open = take().span;
    if (at(TokenKind::Greater))
      expected("a compile-time argument", Diag::ExpectedExpression);
    parseItems(TokenKind::Greater, open, [&] { node->constArgs.push_back(parseSum()); });
    growAll(*node, node->constArgs);
  }
  Span open = here();
  if (expect(TokenKind::LParen, "`(`")) {
    InBrackets scope(*this);
    bool strings = takesStrings(callee.text), named = false;
    parseItems(TokenKind::RParen, open, [&] {
      Arg arg = parseArg(strings);
      if (arg.name)
        named = true;
      else if (named && arg.value)
        complain(Diag::PositionalAfterNamed, arg.span, "a positional argument follows a named one",
                 "put it in front of the named ones, or name it");
      node->args.push_back(std::move(arg));
    });
    node->argsSpan = from(open);
    for (const Arg &arg : node->args) {
      grow(*node, arg.value);
      grow(*node, arg.domain);
    }
  }
  node->callee = std::move(callee);
  return finish(std::move(node), begin);
}

// arg = NAME "=" value ["in" domain] | value .   value = expr | closure .
Arg Parser::parseArg(bool strings) {
  Arg arg;
  Span begin = here();
  if (ahead().kind == TokenKind::Equal && (at(TokenKind::Name) || atReserved())) {
    arg.name = expectName("an argument");
    accept(TokenKind::Equal);
  }
  if (at(TokenKind::KwFn))
    arg.value = parseClosure();
  else if (at(TokenKind::String) && strings)
    arg.value = parseString();
  else
    arg.value = parseExpr();
  if (arg.name)
    arg.domain = parseOptionalDomain();
  arg.span = from(begin);
  return arg;
}

ExprPtr Parser::parseIndex(ExprPtr base) {
  Span begin = base->span, open = here();
  auto node = std::make_unique<IndexExpr>();
  node->base = std::move(base);
  grow(*node, node->base);
  InBrackets scope(*this);
  take();
  if (at(TokenKind::RBracket))
    expected("an index, `:` or `none`", Diag::ExpectedExpression);
  parseItems(TokenKind::RBracket, open, [&] {
    Subscript subscript = parseSubscript();
    grow(*node, subscript.value);
    node->subscripts.push_back(std::move(subscript));
  });
  return finish(std::move(node), begin);
}

// sub = ":" | "none" | expr .
Subscript Parser::parseSubscript() {
  Subscript subscript;
  Span begin = here();
  if (accept(TokenKind::Colon)) {
    subscript.kind = Subscript::Kind::All;
  } else if (accept(TokenKind::KwNone)) {
    subscript.kind = Subscript::Kind::NewAxis;
  } else {
    subscript.value = parseExpr();
  }
  bool range = at(TokenKind::Colon) || at(TokenKind::DotDot) || at(TokenKind::DotDotEqual) ||
               (subscript.kind == Subscript::Kind::All && !at(TokenKind::Comma) && !at(TokenKind::RBracket) &&
                !at(TokenKind::Eof));
  if (range)
    fail(Diag::SliceSyntax, here(), "brackets take no ranges",
         "a part of an array is `a.slice(axis, start, stop)`, of a tile `extract(x, index..., shape = (...))`");
  subscript.span = from(begin);
  return subscript;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Domains
//===--------------------------------------------------------------------------------------------------------------===//

std::optional<Domain> Parser::parseOptionalDomain() {
  if (lineEnds() || !accept(TokenKind::KwIn))
    return std::nullopt;
  return parseDomain();
}

// domain = "{" sum {"," sum} [","] "}" | sum ["..=" sum] .
Domain Parser::parseDomain() {
  Domain domain;
  Span begin = here();
  if (accept(TokenKind::LBrace)) {
    InBrackets scope(*this);
    if (at(TokenKind::RBrace))
      expected("a value of the domain", Diag::ExpectedExpression);
    parseItems(TokenKind::RBrace, begin, [&] { domain.values.push_back(parseSum()); });
  } else {
    domain.kind = Domain::Kind::Value;
    domain.values.push_back(parseSum());
    if (at(TokenKind::DotDot))
      fail(Diag::ExpectedToken, here(), "the range of a domain includes both ends", "write `lo..=hi`");
    if (accept(TokenKind::DotDotEqual)) {
      domain.kind = Domain::Kind::Range;
      domain.values.push_back(parseSum());
    }
  }
  domain.span = from(begin);
  return domain;
}

} // namespace tilec::syntax
