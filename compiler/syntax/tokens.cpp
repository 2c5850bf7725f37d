// What the table of tokens says, the pass that finds generic calls, and the token dump.
#include "compiler/syntax/ast.h"
#include "compiler/syntax/lexer.h"
#include <array>
#include <fmt/format.h>

namespace tilec::syntax {

namespace {

enum class Class : uint8_t { Token, Keyword, Punct };

struct Row {
  std::string_view name, text;
  Class cls;
};

constexpr Row rows[] = {
#define TOKEN(kind, what) {#kind, what, Class::Token},
#define KEYWORD(kind, word) {#kind, word, Class::Keyword},
#define PUNCT(kind, spelling) {#kind, spelling, Class::Punct},
#include "compiler/syntax/tokens.def"
};

const Row &row(TokenKind kind) { return rows[size_t(kind)]; }

} // namespace

std::string describe(TokenKind kind) {
  const Row &r = row(kind);
  return r.cls == Class::Token ? std::string(r.text) : fmt::format("`{}`", r.text);
}

bool isKeyword(TokenKind kind) { return row(kind).cls == Class::Keyword; }

std::string_view spelling(UnaryOp op) {
  static constexpr std::string_view spellings[] = {
#define UNARY(op, token, spelling) spelling,
#include "compiler/syntax/tokens.def"
  };
  return spellings[size_t(op)];
}

std::string_view spelling(BinaryOp op) {
  static constexpr std::string_view spellings[] = {
#define BINARY(op, token, spelling, precedence) spelling,
#include "compiler/syntax/tokens.def"
  };
  return spellings[size_t(op)];
}

int precedence(BinaryOp op) {
  static constexpr int precedences[] = {
#define BINARY(op, token, spelling, precedence) precedence,
#include "compiler/syntax/tokens.def"
  };
  return precedences[size_t(op)];
}

namespace {

bool beginsOperand(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::DType:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::KwInf:
  case TokenKind::KwNan:
  case TokenKind::KwIf:
  case TokenKind::KwStatic:
    return true;
  default:
    return false;
  }
}

bool endsOperand(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::DType:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::KwInf:
  case TokenKind::KwNan:
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
    return true;
  default:
    return false;
  }
}

/// Whether a token may stand between the sums of compile-time arguments, outside brackets of their own.
bool fitsSums(TokenKind kind) {
  switch (kind) {
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Star:
  case TokenKind::StarStar:
  case TokenKind::Slash:
  case TokenKind::Percent:
  case TokenKind::At:
  case TokenKind::Bang:
  case TokenKind::Tilde:
  case TokenKind::Dot:
  case TokenKind::Comma:
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::LBrace: // of an `if` or `else`; any other follows an operand and is no sum anyway
  case TokenKind::KwElse:
    return true;
  default:
    return beginsOperand(kind);
  }
}

/// Walks the tokens with a stack of what is open. `<` after a name is a candidate until something follows that a list
/// of sums cannot hold.
class GenericMarker {
public:
  explicit GenericMarker(std::vector<Token> &list) : tokens(list) {}

  void run() {
    for (size_t i = 0; i < tokens.size(); ++i)
      visit(i);
  }

private:
  enum class Open : uint8_t { Paren, Bracket, Brace, Condition, Angle };
  struct Entry {
    Open open;
    size_t at;
  };

  bool top(Open open) const { return !stack.empty() && stack.back().open == open; }
  void push(Open open, size_t at) {
    stack.push_back({open, at});
    ++counts[size_t(open)];
  }
  void pop() {
    --counts[size_t(stack.back().open)];
    stack.pop_back();
  }
  /// Gives up the candidates on top of the stack.
  void dropAngles() {
    while (top(Open::Angle))
      pop();
  }
  /// Closes the nearest bracket of a kind and whatever was left open inside it.
  void close(Open open) {
    if (!counts[size_t(open)])
      return;
    while (!top(open))
      pop();
    pop();
  }
  /// Whether line ends count around the candidates on top.
  bool linesCount() const {
    for (size_t i = stack.size(); i-- > 0;)
      if (stack[i].open != Open::Angle)
        return stack[i].open == Open::Brace;
    return true;
  }

  void visit(size_t i) {
    Token &token = tokens[i];
    TokenKind before = i ? tokens[i - 1].kind : TokenKind::Eof;
    if (token.kind == TokenKind::Greater && top(Open::Angle)) {
      if (endsOperand(before) && i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::LParen &&
          tokens[i + 1].touches) {
        tokens[stack.back().at].generic = true;
        pop();
      } else {
        dropAngles();
      }
      return;
    }
    if (token.kind == TokenKind::Less && token.touches && before == TokenKind::Name) {
      push(Open::Angle, i);
      return;
    }
    if (top(Open::Angle)) {
      bool separate = endsOperand(before) &&
                      (beginsOperand(token.kind) || (token.newline && token.kind != TokenKind::Dot && linesCount()));
      if (separate || !fitsSums(token.kind))
        dropAngles();
    }
    switch (token.kind) {
    case TokenKind::LParen:
      return push(Open::Paren, i);
    case TokenKind::LBracket:
      return push(Open::Bracket, i);
    case TokenKind::KwIf: // its condition may hold anything up to the block
      return push(Open::Condition, i);
    case TokenKind::LBrace:
      if (top(Open::Condition))
        pop();
      return push(Open::Brace, i);
    case TokenKind::RParen:
      return close(Open::Paren);
    case TokenKind::RBracket:
      return close(Open::Bracket);
    case TokenKind::RBrace:
      return close(Open::Brace);
    default:
      return;
    }
  }

  std::vector<Token> &tokens;
  std::vector<Entry> stack;
  size_t counts[5] = {};
};

} // namespace

void markGenericCalls(std::vector<Token> &tokens) { GenericMarker(tokens).run(); }

std::string dumpTokens(FileId file, const SourceManager &sources, Diagnostics &diags) {
  std::string out;
  for (const Token &token : lex(file, sources, diags).tokens) {
    LineColumn at = sources.position(file, token.span.begin);
    std::string_view name = row(token.kind).name;
    out += fmt::format("{}:{} {}", at.line, at.column, name);
    if (std::string_view text = sources.text(token.span); !text.empty())
      out += fmt::format(" {}", text);
    if (token.newline)
      out += " newline";
    if (token.generic)
      out += " generic";
    out += '\n';
  }
  return out;
}

} // namespace tilec::syntax
