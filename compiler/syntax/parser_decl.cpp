// Declarations: imports, constants, functions, kernels with their parameters and clauses.
#include "compiler/base/text.h"
#include "compiler/syntax/parser_impl.h"
#include <fmt/format.h>

namespace tilec::syntax {

namespace {

struct ClauseRow {
  std::string_view word;
  ClauseKind kind;
  bool repeats;
};
/// In the order the language asks for.
constexpr ClauseRow clauseRows[] = {
    {"let", ClauseKind::Let, true},     {"requires", ClauseKind::Requires, true},
    {"grid", ClauseKind::Grid, false},  {"options", ClauseKind::Options, false},
    {"hints", ClauseKind::Hints, true}, {"tune", ClauseKind::Tune, true},
};

const ClauseRow *clauseRow(std::string_view word) {
  for (const ClauseRow &row : clauseRows)
    if (row.word == word)
      return &row;
  return nullptr;
}

struct KindRow {
  std::string_view word;
  CParamKind kind;
};
constexpr KindRow kindRows[] = {
    {"int", CParamKind::Int}, {"bool", CParamKind::Bool}, {"float", CParamKind::Float}, {"dtype", CParamKind::DType}};

std::optional<Mode> modeOf(std::string_view word) {
  if (word == "in")
    return Mode::In;
  if (word == "out")
    return Mode::Out;
  if (word == "inout")
    return Mode::InOut;
  if (word == "scratch")
    return Mode::Scratch;
  if (word == "view")
    return Mode::View;
  return std::nullopt;
}

} // namespace

// decl = import | const | fn | kernel .
DeclPtr Parser::parseDecl() {
  std::string doc = docOf(tok());
  Span begin = here();
  DeclPtr decl;
  switch (tok().kind) {
  case TokenKind::KwImport:
    decl = parseImport();
    break;
  case TokenKind::KwConst:
    decl = parseConst();
    break;
  case TokenKind::KwFn:
    return parseFn(); // takes its documentation itself, as it may stand in a block
  case TokenKind::KwKernel:
    decl = parseKernel();
    break;
  case TokenKind::RBrace:
    fail(Diag::UnmatchedBracket, begin, "`}` closes nothing");
    return nullptr;
  default: {
    std::string help = "statements stand inside a `kernel` or `fn`";
    if (at(TokenKind::Name)) {
      static const std::string words[] = {"kernel", "fn", "const", "import"};
      if (std::string near = nearest(text(tok()), words); !near.empty())
        help = fmt::format("did you mean `{}`?", near);
    }
    fail(Diag::ExpectedDeclaration, begin,
         fmt::format("expected `import`, `const`, `fn` or `kernel`, found `{}`", text(tok())), help);
    return nullptr;
  }
  }
  decl->doc = std::move(doc);
  return decl;
}

// import = "import" STRING .
std::unique_ptr<ImportDecl> Parser::parseImport() {
  auto decl = std::make_unique<ImportDecl>();
  Span begin = take().span;
  decl->pathSpan = here();
  if (at(TokenKind::String))
    decl->path = list.strings[take().index];
  else
    expected("the path of a file in quotes");
  return finish(std::move(decl), begin);
}

// const = "const" NAME [":" type] "=" expr .
std::unique_ptr<ConstDecl> Parser::parseConst() {
  auto decl = std::make_unique<ConstDecl>();
  Span begin = take().span;
  decl->name = expectName("a constant");
  if (accept(TokenKind::Colon))
    decl->type = parseType();
  if (!accept(TokenKind::Equal) && !panicking) {
    if (at(TokenKind::Eof) || tok().newline)
      fail(Diag::MissingValue, from(begin), "a `const` needs a value", "write `= ...` behind it");
    else
      expected("`=`");
  }
  decl->value = parseExpr();
  return finish(std::move(decl), begin);
}

// fn = "fn" NAME [cparams] "(" [param {"," param} [","]] ")" block .
std::unique_ptr<FnDecl> Parser::parseFn() {
  auto decl = std::make_unique<FnDecl>();
  decl->doc = docOf(tok());
  Span begin = take().span;
  decl->name = expectName("a function");
  decl->cparams = parseCParams();
  Span open = here();
  if (expect(TokenKind::LParen, "`(`")) {
    InBrackets scope(*this);
    parseDeclItems(TokenKind::RParen, open, [&] { decl->params.push_back(parseFnParam()); });
  }
  if (at(TokenKind::Colon))
    fail(Diag::ExpectedToken, here(), "a `fn` has no written result type", "it follows from the body");
  decl->body = parseBody();
  return finish(std::move(decl), begin);
}

// kernel = "kernel" NAME [cparams] "(" [karg {"," karg} [","]] ")" {clause} block .
std::unique_ptr<KernelDecl> Parser::parseKernel() {
  auto decl = std::make_unique<KernelDecl>();
  Span begin = take().span;
  inHead = true;
  decl->name = expectName("a kernel");
  decl->cparams = parseCParams();
  Span open = here();
  if (expect(TokenKind::LParen, "`(`")) {
    InBrackets scope(*this);
    parseDeclItems(TokenKind::RParen, open, [&] { decl->args.push_back(parseKernelArg()); });
  }
  if (panicking)
    recoverClause();
  parseClauses(*decl);
  inHead = false;
  decl->body = parseBody();
  return finish(std::move(decl), begin);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Parameters
//===--------------------------------------------------------------------------------------------------------------===//

// cparams = "<" cparam {"," cparam} [","] ">" .
std::vector<CParam> Parser::parseCParams() {
  std::vector<CParam> params;
  if (!at(TokenKind::Less))
    return params;
  InBrackets scope(*this);
  Span open = take().span;
  if (at(TokenKind::Greater))
    expected("the name of a parameter");
  parseDeclItems(TokenKind::Greater, open, [&] { params.push_back(parseCParam()); });
  return params;
}

// cparam = NAME ":" ("int"|"bool"|"float"|"dtype") ["=" sum] ["in" domain] .
CParam Parser::parseCParam() {
  CParam param;
  param.doc = docOf(tok());
  Span begin = here();
  param.name = expectName("a parameter");
  expect(TokenKind::Colon, "`:`");
  const KindRow *kind = nullptr;
  for (const KindRow &row : kindRows)
    if ((at(TokenKind::Name) || at(TokenKind::DType)) && text(tok()) == row.word)
      kind = &row;
  if (kind) {
    param.kind = kind->kind;
    take();
  } else if (at(TokenKind::DType)) {
    bool real = isFloat(tok().dtype);
    fail(Diag::ExpectedToken, here(), fmt::format("`{}` is not a kind of parameter", text(tok())),
         real ? "a compile-time number is `float`, a parameter that is a dtype `dtype`"
              : "a compile-time number is `int`, a parameter that is a dtype `dtype`");
  } else {
    expected("`int`, `bool`, `float` or `dtype`");
  }
  if (accept(TokenKind::Equal))
    param.defaultValue = parseSum();
  param.domain = parseOptionalDomain();
  param.span = from(begin);
  return param;
}

// param = NAME [":" type] ["=" expr] .
FnParam Parser::parseFnParam() {
  FnParam param;
  Span begin = here();
  param.name = expectName("a parameter");
  if (accept(TokenKind::Colon))
    param.type = parseType();
  if (accept(TokenKind::Equal))
    param.defaultValue = parseExpr();
  param.span = from(begin);
  return param;
}

// karg = NAME ":" type {attribute} .
KernelArg Parser::parseKernelArg() {
  KernelArg arg;
  arg.doc = docOf(tok());
  Span begin = here();
  arg.name = expectName("an array or scalar");
  if (expect(TokenKind::Colon, "`:`"))
    arg.type = parseType();
  parseAttributes(arg);
  arg.span = from(begin);
  return arg;
}

// attribute = "strides" exprs | "align" exprs | "alias" exprs | "zeroed" | "if" expr .
void Parser::parseAttributes(KernelArg &arg) {
  auto once = [&](bool present, Span word) {
    if (present)
      complain(Diag::DuplicateClause, word, fmt::format("`{}` is given twice", sources.text(word)));
  };
  while (true) {
    Span word = here();
    if (atWord("strides")) {
      take();
      once(arg.strides.has_value(), word);
      arg.strides = parseExprList(true);
    } else if (atWord("align")) {
      take();
      once(arg.align.has_value(), word);
      arg.align = parseExprList();
    } else if (atWord("alias")) {
      take();
      once(arg.alias.has_value(), word);
      arg.alias = parseExprList();
    } else if (atWord("zeroed")) {
      once(arg.zeroed.has_value(), word);
      arg.zeroed = take().span;
    } else if (accept(TokenKind::KwIf)) {
      once(arg.condition != nullptr, word);
      arg.condition = parseExpr();
    } else {
      return;
    }
  }
}

// type = [mode] NAME ["[" expr {"," expr} [","] "]"] | "(" type {"," type} [","] ")" .
TypeExpr Parser::parseType() {
  Nest nest(*this);
  TypeExpr type;
  Span begin = here();
  if (at(TokenKind::LParen)) {
    InBrackets scope(*this);
    take();
    if (at(TokenKind::RParen))
      expected("a type");
    parseItems(TokenKind::RParen, begin, [&] { type.elements.push_back(parseType()); });
    type.span = from(begin);
    return type;
  }
  bool word = at(TokenKind::Name) || at(TokenKind::KwIn);
  std::optional<Mode> mode = word ? modeOf(text(tok())) : std::nullopt;
  // `out`, `view` and the like are names of their own where no type follows.
  if (mode && (*mode == Mode::In || ahead().kind == TokenKind::Name || ahead().kind == TokenKind::DType)) {
    type.mode = *mode;
    type.modeSpan = take().span;
  }
  if (at(TokenKind::DType) || at(TokenKind::Name)) {
    Token name = take();
    type.name = {std::string(text(name)), name.span};
    if (name.kind == TokenKind::DType)
      type.dtype = name.dtype;
  } else {
    expected("a type");
  }
  if (at(TokenKind::LBracket) && !lineEnds()) {
    InBrackets scope(*this);
    Span open = take().span;
    type.hasExtents = true;
    if (at(TokenKind::RBracket))
      expected("an extent", Diag::ExpectedExpression);
    parseItems(TokenKind::RBracket, open, [&] { type.extents.push_back(parseExpr()); });
  }
  type.span = from(begin);
  return type;
}

// exprs = "(" expr {"," expr} [","] ")" .
ExprList Parser::parseExprList(bool wildcards) {
  ExprList exprs;
  exprs.span = here();
  if (!expect(TokenKind::LParen, "`(`"))
    return exprs;
  InBrackets scope(*this);
  if (at(TokenKind::RParen))
    expected("an expression", Diag::ExpectedExpression);
  parseItems(TokenKind::RParen, exprs.span, [&] {
    if (wildcards && atWord("_")) {
      Span begin = take().span;
      exprs.items.push_back(finish(std::make_unique<WildcardExpr>(), begin));
    } else {
      exprs.items.push_back(parseExpr());
    }
  });
  exprs.span = from(exprs.span);
  return exprs;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Clauses
//===--------------------------------------------------------------------------------------------------------------===//

bool Parser::atClause() const { return at(TokenKind::KwLet) || (at(TokenKind::Name) && clauseRow(text(tok()))); }

// A block in the head of a kernel chooses an extent or a dtype. When its `}` is missing, the next parameter (`NAME :`),
// clause or body would be read as its statements, one fault each.
bool Parser::atHeadLine() const {
  return inHead && tok().newline &&
         (at(TokenKind::LBrace) ||
          (at(TokenKind::Name) && (ahead().kind == TokenKind::Colon || clauseRow(text(tok())))));
}

void Parser::parseClauses(KernelDecl &kernel) {
  const ClauseRow *last = nullptr;
  while (!panicking && !at(TokenKind::LBrace)) {
    if (!atClause()) {
      if (at(TokenKind::Eof) || beginsDecl(tok()))
        return; // there is no body, which parseBody reports
      static const std::string words[] = {"let", "requires", "grid", "options", "hints", "tune"};
      std::string near = at(TokenKind::Name) ? nearest(text(tok()), words) : "";
      fail(Diag::ExpectedToken, here(), fmt::format("expected a clause or `{{`, found `{}`", text(tok())),
           near.empty() ? "clauses are `let`, `requires`, `grid`, `options`, `hints` and `tune`"
                        : fmt::format("did you mean `{}`?", near));
      recoverClause();
      continue;
    }
    const ClauseRow *row = clauseRow(text(tok()));
    Span word = here();
    // A `let` that is indented behind the other clauses belongs to a body whose `{` is missing.
    if (row->kind == ClauseKind::Let && last && last->kind >= ClauseKind::Grid && tok().newline &&
        sources.position(file, word.begin).column > indentAt(kernel.clauses.back().span.begin))
      return;
    if (last && row->kind < last->kind)
      complain(Diag::ClauseOrder, word, fmt::format("`{}` stands in front of `{}`", row->word, last->word),
               "the order is `let`, `requires`, `grid`, `options`, `hints`, `tune`");
    for (const Clause &known : kernel.clauses)
      if (known.kind == row->kind && !row->repeats) {
        Diagnostic &report = complain(Diag::DuplicateClause, word, fmt::format("`{}` is given twice", row->word));
        report.notes.push_back({known.keyword, "the first one stands here"});
        break;
      }
    if (!last || row->kind > last->kind)
      last = row;
    kernel.clauses.push_back(parseClause());
    if (panicking)
      recoverClause();
  }
}

// clause = "let" pat "=" expr | "requires" expr {"," expr} | "grid" exprs | "options" settings
//        | ("hints"|"tune") [NAME] settings .
Clause Parser::parseClause() {
  Clause clause;
  Token word = take();
  clause.keyword = word.span;
  clause.kind = clauseRow(text(word))->kind;
  switch (clause.kind) {
  case ClauseKind::Let:
    clause.pattern = parsePattern();
    expect(TokenKind::Equal, "`=`");
    clause.exprs.push_back(parseExpr());
    break;
  case ClauseKind::Requires:
    do
      clause.exprs.push_back(parseExpr());
    while (accept(TokenKind::Comma));
    break;
  case ClauseKind::Grid:
    clause.exprs = parseExprList().items;
    break;
  case ClauseKind::Hints:
  case ClauseKind::Tune:
    if (at(TokenKind::Name))
      clause.arch = expectName("an architecture");
    [[fallthrough]];
  case ClauseKind::Options: {
    Span open = here();
    if (!expect(TokenKind::LParen, "`(`"))
      break;
    InBrackets scope(*this);
    if (at(TokenKind::RParen))
      expected("the name of a setting");
    parseItems(TokenKind::RParen, open, [&] { clause.settings.push_back(parseSetting()); });
    break;
  }
  }
  clause.span = from(word.span);
  return clause;
}

// setting = NAME ["=" sum] ["in" domain] .
Setting Parser::parseSetting() {
  Setting setting;
  Span begin = here();
  setting.name = expectName("a setting");
  if (accept(TokenKind::Equal))
    setting.value = parseSum();
  setting.domain = parseOptionalDomain();
  setting.span = from(begin);
  return setting;
}

} // namespace tilec::syntax
