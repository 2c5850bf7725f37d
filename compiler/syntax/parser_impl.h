#pragma once
// The recursive-descent parser, shared by its source files only: parser.cpp (tokens, faults, recovery),
// parser_decl.cpp, parser_stmt.cpp, parser_expr.cpp, parser_operand.cpp.
//
// Faults: `fail` reports one and makes the parser panic. A panicking parser sees the end of the file at every place, so
// all loops end and every further fault is silent, until a rule that knows where to go on calls one of the `recover`
// functions. `complain` reports without a panic, where the meaning is plain.
//
// Lines: `linesCount` says whether a token on a new line may end the statement; brackets switch it off, blocks on.
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"
#include <algorithm>
#include <utility>

namespace tilec::syntax {

class Parser {
public:
  Parser(FileId file, const SourceManager &sources, Diagnostics &diags);
  std::unique_ptr<File> run();

private:
  // -- tokens (parser.cpp)
  const Token &tok() const { return panicking ? stop : list.tokens[pos]; }
  /// The token after the current one.
  const Token &ahead() const { return panicking || at(TokenKind::Eof) ? stop : list.tokens[pos + 1]; }
  bool at(TokenKind kind) const { return tok().kind == kind; }
  /// Whether the current token is this word, which is reserved only in its place.
  bool atWord(std::string_view word) const { return at(TokenKind::Name) && text(tok()) == word; }
  bool atReserved() const { return isKeyword(tok().kind) || at(TokenKind::DType); }
  std::string_view text(const Token &token) const { return sources.text(token.span); }
  Token take();
  bool accept(TokenKind kind);
  /// Whether the current token stands on a new line that ends the statement.
  bool lineEnds() const;
  /// From a place to the end of the last token taken.
  Span from(Span begin) const { return {begin.file, begin.begin, std::max(begin.begin, lastEnd)}; }
  Span here() const { return tok().span; }
  std::string docOf(const Token &token) const { return token.doc ? list.docs[token.doc - 1] : std::string(); }

  // -- faults (parser.cpp)
  /// The mend for a word of another language; empty for any other.
  static std::string foreignMend(std::string_view word);
  Diagnostic &complain(Diag diag, Span span, std::string message, std::string help = "");
  Diagnostic &fail(Diag diag, Span span, std::string message, std::string help = "");
  /// Fails because something else is wanted here: the one place that knows the usual slips.
  Diagnostic &expected(std::string_view what, Diag diag = Diag::ExpectedToken);
  bool expect(TokenKind kind, std::string_view what);
  /// Takes a name that is declared or used; `what` says of what, such as "a parameter".
  Ident expectName(std::string_view what);
  /// Takes the partner of a bracket, or says which bracket waits for it.
  bool expectClose(TokenKind close, Span open);
  void missingBrace(Span open);
  void tooDeep();
  /// The same of a chain of operators.
  void tooLong();
  void giveUp();

  // -- recovery (parser.cpp); each ends the panic unless the fault is fatal
  /// Goes on at the end of the statement that began at token `start`.
  void recoverStatement(size_t start);
  /// Goes on at the `{` of a compound statement whose head has a fault; false when there is none.
  bool recoverToBlock();
  /// Goes on at the next `,`, the next item or the end of a list of parameters; false when there is none.
  bool recoverInList(TokenKind close);
  /// Whether a parameter begins here, on a line of its own.
  bool atItem() const { return at(TokenKind::Name) && tok().newline && ahead().kind == TokenKind::Colon; }
  /// Goes on at the next clause or the body of a kernel; the panic stays where there is neither.
  void recoverClause();
  void recoverDecl(size_t start);
  /// Steps over a token, a `{` with everything up to its partner.
  void skipBalanced();
  bool beginsStatement(const Token &token) const;
  bool beginsDecl(const Token &token) const;
  bool atClause() const;

  /// Bounds recursion; holds `linesCount` and the count of open brackets for what it encloses.
  struct Nest {
    explicit Nest(Parser &parser) : p(parser), lines(p.linesCount), brackets(p.openBrackets) {
      if (++p.depth > maxNesting)
        p.tooDeep();
    }
    Nest(const Nest &) = delete;
    ~Nest() {
      --p.depth;
      p.linesCount = lines;
      p.openBrackets = brackets;
    }
    Parser &p;
    bool lines;
    uint32_t brackets;
  };
  struct InBrackets : Nest {
    explicit InBrackets(Parser &parser) : Nest(parser) {
      p.linesCount = false;
      ++p.openBrackets;
    }
  };

  /// Items between commas up to `close`, which is taken. `item` parses one.
  template <typename F> void parseItems(TokenKind close, Span open, F item) {
    while (!at(close) && !at(TokenKind::Eof)) {
      item();
      if (!accept(TokenKind::Comma))
        break;
    }
    expectClose(close, open);
  }
  /// The same for lists of declarations, where a fault spoils one item only.
  template <typename F> void parseDeclItems(TokenKind close, Span open, F item) {
    while (!at(close) && !at(TokenKind::Eof)) {
      item();
      if (!panicking && !at(TokenKind::Comma) && !at(close))
        expectClose(close, open);
      bool recovered = panicking;
      if (recovered && !recoverInList(close))
        return;
      if (!accept(TokenKind::Comma) && !(recovered && atItem()))
        break;
    }
    expectClose(close, open);
  }

  /// Raises a node's height and depth above a child's.
  template <typename N, typename C> void grow(N &node, const C &child) {
    grow(node, child.height + 1, child.depth + 1);
  }
  template <typename N> void grow(N &node, uint32_t height, uint32_t depthBelow) {
    node.height = std::max(node.height, height);
    node.depth = std::max(node.depth, depthBelow);
    if (node.height > maxNesting)
      tooDeep();
    else if (node.depth > maxDepth)
      tooLong();
  }
  template <typename N, typename C> void grow(N &node, const std::unique_ptr<C> &child) {
    if (child)
      grow(node, *child);
  }
  template <typename N> void grow(N &node, const std::optional<Domain> &domain) {
    if (domain)
      for (const ExprPtr &value : domain->values)
        grow(node, value);
  }
  template <typename N> void growAll(N &node, const std::vector<ExprPtr> &children) {
    for (const ExprPtr &child : children)
      grow(node, child);
  }
  template <typename N> std::unique_ptr<N> finish(std::unique_ptr<N> node, Span begin) {
    node->span = from(begin);
    return node;
  }

  // -- declarations (parser_decl.cpp)
  DeclPtr parseDecl();
  std::unique_ptr<ImportDecl> parseImport();
  std::unique_ptr<ConstDecl> parseConst();
  std::unique_ptr<FnDecl> parseFn();
  std::unique_ptr<KernelDecl> parseKernel();
  std::vector<CParam> parseCParams();
  CParam parseCParam();
  FnParam parseFnParam();
  KernelArg parseKernelArg();
  void parseAttributes(KernelArg &arg);
  TypeExpr parseType();
  ExprList parseExprList(bool wildcards = false);
  void parseClauses(KernelDecl &kernel);
  Clause parseClause();
  Setting parseSetting();

  // -- statements (parser_stmt.cpp)
  /// At its `{`.
  BlockPtr parseBlock();
  /// Statements up to a `}` or a line that begins left of a column.
  void parseStmts(Block &block, uint32_t column);
  /// The column of the first word on the line of a place.
  uint32_t indentAt(uint32_t offset) const;
  uint32_t lineAt(Span span) const { return sources.position(file, span.begin).line; }
  /// Whether a block in the head of a kernel was left open: what comes belongs to the head itself.
  bool atHeadLine() const;
  StmtPtr parseStmt();
  StmtPtr parseBind(bool misplacedConst);
  StmtPtr parseFor();
  StmtPtr parseWhile();
  StmtPtr parseReturn();
  StmtPtr parseExprStmt();
  StmtPtr parseAssign();
  /// How many tokens from here form a place with an assignment behind it; 0: none.
  size_t placeLength() const;
  std::optional<std::optional<BinaryOp>> assignment(const Token &token) const;
  void expectStatementEnd(const Stmt *before);
  Pattern parsePattern();
  /// The block of a function, loop or branch, past a fault in its head if there was one.
  BlockPtr parseBody();
  /// Remembers the first block whose braces stand at different indentations.
  void checkIndent(Span open, const Token &close);

  // -- expressions (parser_expr.cpp, parser_operand.cpp)
  ExprPtr parseExpr() { return parseBinary(0); }
  ExprPtr parseSum();
  ExprPtr parseBinary(int minPrecedence);
  ExprPtr parseUnary();
  ExprPtr parsePostfix();
  ExprPtr parsePrimary();
  ExprPtr parseNumber();
  ExprPtr parseNamed();
  ExprPtr parseMember(ExprPtr object);
  ExprPtr parseIndex(ExprPtr base);
  ExprPtr parseParen();
  ExprPtr parseList();
  ExprPtr parseIf();
  ExprPtr parseClosure();
  ExprPtr parseString();
  ExprPtr missingOperand();
  /// The rest of a call whose name was taken: compile-time and other arguments.
  ExprPtr parseCall(ExprPtr receiver, Ident callee, Span begin);
  bool atCall() const;
  bool atBinary() const;
  bool beginsExpr() const;
  Arg parseArg(bool strings);
  Subscript parseSubscript();
  Domain parseDomain();
  std::optional<Domain> parseOptionalDomain();

  FileId file;
  const SourceManager &sources;
  Diagnostics &diags;
  TokenList list;
  size_t pos = 0;
  uint32_t lastEnd = 0; ///< where the last token taken ends
  uint32_t depth = 0;
  uint32_t openBrackets = 0; ///< `(` and `[` around the current token
  bool linesCount = true;

  bool panicking = false, fatal = false;
  bool reportedBrace = false; ///< a missing `}` was reported in this declaration
  uint32_t panicBrackets = 0; ///< openBrackets where the fault lies
  size_t reports = 0;
  bool inHead = false;         ///< between the name of a kernel and its body
  Span blockOpen;              ///< `{` of the block around the current token
  std::optional<Span> suspect; ///< `{` whose `}` is indented differently
  Token stop;                  ///< the Eof that a panicking parser sees
  Diagnostic dropped;          ///< takes what is not reported
};

} // namespace tilec::syntax
