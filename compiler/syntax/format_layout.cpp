// The syntax tree as regions: where a file may be broken over lines, and which tokens touch.
#include "compiler/syntax/format_layout.h"
#include <algorithm>
#include <utility>

namespace tilec::syntax {

namespace {

Role usualRole(TokenKind kind) {
  switch (kind) {
  case TokenKind::LParen:
  case TokenKind::LBracket:
    return Role::Open;
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::Comma:
  case TokenKind::Semicolon:
  case TokenKind::Colon:
    return Role::Close;
  case TokenKind::Dot:
    return Role::Glue;
  default:
    return Role::Plain;
  }
}

class Reader {
public:
  Reader(const File &tree, const SourceManager &sources) : file(tree) {
    Diagnostics known; // the parser has reported them
    out.tokens = lex(file.id, sources, known).tokens;
    out.pieces.resize(out.tokens.size());
    pairBrackets();
  }

  Layout run() {
    out.root.last = uint32_t(out.tokens.size()) - 1;
    current = &out.root;
    for (const DeclPtr &d : file.decls) {
      out.root.starts.push_back(at(d->span));
      decl(*d);
    }
    return std::move(out);
  }

private:
  using Starts = std::vector<uint32_t>;

  //===------------------------------------------------------------------------------------------------------------===//
  // Tokens
  //===------------------------------------------------------------------------------------------------------------===//

  void pairBrackets() {
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < out.tokens.size(); ++i) {
      TokenKind kind = out.tokens[i].kind;
      out.pieces[i].role = usualRole(kind);
      if (kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace) {
        open.push_back(i);
      } else if ((kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace) &&
                 !open.empty()) {
        pair(open.back(), i);
        open.pop_back();
      }
    }
  }

  void pair(uint32_t open, uint32_t close) {
    out.pieces[open].partner = close;
    out.pieces[close].partner = open;
  }

  uint32_t find(uint32_t offset) const {
    auto it = std::ranges::lower_bound(out.tokens, offset, {}, [](const Token &t) { return t.span.begin; });
    return uint32_t(std::min<size_t>(size_t(it - out.tokens.begin()), out.tokens.size() - 1));
  }
  uint32_t at(Span span) const { return find(span.begin); }
  uint32_t lastOf(Span span) const { return find(span.end) - 1; }
  bool is(uint32_t token, TokenKind kind) const { return out.tokens[token].kind == kind; }
  void role(uint32_t token, Role role) { out.pieces[token].role = role; }

  //===------------------------------------------------------------------------------------------------------------===//
  // Regions
  //===------------------------------------------------------------------------------------------------------------===//

  template <typename F> void region(Region r, F inside) {
    Region *outer = std::exchange(current, &r);
    inside();
    current = outer;
    outer->inside.push_back(std::move(r));
  }

  /// A bracket of the token `open` with items. A single item keeps a comma of its own where that makes a tuple.
  template <typename F> void list(uint32_t open, Starts starts, bool comma, F inside, bool declares = false) {
    Region r{.shape = Shape::List, .first = open, .last = out.pieces[open].partner, .starts = std::move(starts)};
    r.comma = comma;
    r.declares = declares;
    if (!r.starts.empty())
      region(std::move(r), inside);
  }
  template <typename Items> Starts startsOf(const Items &items) const {
    Starts starts;
    for (const auto &item : items)
      starts.push_back(at(item.span));
    return starts;
  }
  Starts startsOf(const std::vector<ExprPtr> &items) const {
    Starts starts;
    for (const ExprPtr &item : items)
      starts.push_back(at(item->span));
    return starts;
  }
  void exprList(uint32_t open, const std::vector<ExprPtr> &items, bool tuple = false) {
    list(open, startsOf(items), !tuple || items.size() > 1, [&] {
      for (const ExprPtr &item : items)
        expr(item.get());
    });
  }

  void block(const Block &b, uint32_t anchor, bool forced = false) {
    Region r{.shape = Shape::Block, .first = at(b.span), .last = lastOf(b.span), .anchor = anchor};
    for (const StmtPtr &s : b.stmts)
      r.starts.push_back(at(s->span));
    r.forced = forced && !b.stmts.empty();
    region(std::move(r), [&] {
      for (const StmtPtr &s : b.stmts)
        stmt(*s);
    });
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Expressions
  //===------------------------------------------------------------------------------------------------------------===//

  void expr(const Expr *e) {
    if (e)
      inParens(*e, at(e->span), lastOf(e->span));
  }

  // The tree says only that there are parentheses; how many pairs, the tokens tell. The innermost of a tuple is its
  // own.
  void inParens(const Expr &e, uint32_t first, uint32_t last) {
    bool pair = is(first, TokenKind::LParen) && out.pieces[first].partner == last;
    bool own =
        e.kind == ExprKind::Tuple && !(is(first + 1, TokenKind::LParen) && out.pieces[first + 1].partner == last - 1);
    if (pair && !own)
      return list(first, {first + 1}, false, [&] { inParens(e, first + 1, last - 1); });
    bare(e, first, last);
  }

  void bare(const Expr &e, uint32_t first, uint32_t last) {
    switch (e.kind) {
    case ExprKind::Unary:
      role(at(as<UnaryExpr>(e).opSpan), Role::Open);
      return expr(as<UnaryExpr>(e).operand.get());
    case ExprKind::Binary:
      return chain(as<BinaryExpr>(e), first, last);
    case ExprKind::Call:
      return call(as<CallExpr>(e));
    case ExprKind::Member:
      return expr(as<MemberExpr>(e).object.get());
    case ExprKind::TupleItem: {
      const auto &item = as<TupleItemExpr>(e);
      // `1 .0` is an item, `1.0` a float.
      if (dynAs<IntExpr>(item.tuple) && !item.tuple->parenthesized)
        role(at(item.indexSpan) - 1, Role::Open);
      return expr(item.tuple.get());
    }
    case ExprKind::Index: {
      const auto &index = as<IndexExpr>(e);
      expr(index.base.get());
      role(out.pieces[last].partner, Role::Glue);
      return list(out.pieces[last].partner, startsOf(index.subscripts), true, [&] {
        for (const Subscript &s : index.subscripts) {
          if (s.kind == Subscript::Kind::All)
            role(at(s.span), Role::Plain);
          expr(s.value.get());
        }
      });
    }
    case ExprKind::Tuple:
      return exprList(first, as<TupleExpr>(e).elements, true);
    case ExprKind::List:
      return exprList(first, as<ListExpr>(e).elements);
    case ExprKind::If:
      return region({.shape = Shape::Arms, .first = first, .last = last}, [&] { arms(as<IfExpr>(e), first); });
    case ExprKind::Closure: {
      const auto &closure = as<ClosureExpr>(e);
      role(first + 1, Role::Glue);
      patterns(first + 1, closure.params, true);
      return block(*closure.body, first);
    }
    default:
      return;
    }
  }

  /// Operators of one precedence are one region, however many: the left spine is walked, not descended.
  void chain(const BinaryExpr &e, uint32_t first, uint32_t last) {
    std::vector<const BinaryExpr *> spine = leftSpine(e);
    Region r{.shape = Shape::Chain, .first = first, .last = last};
    for (const BinaryExpr *node : spine)
      r.starts.push_back(at(node->rhs->span));
    region(std::move(r), [&] {
      expr(spine.front()->lhs.get());
      for (const BinaryExpr *node : spine)
        expr(node->rhs.get());
    });
  }

  void arms(const IfExpr &e, uint32_t anchor) {
    for (const IfExpr *branch = &e; branch;) {
      expr(branch->condition.get());
      block(*branch->thenBlock, anchor);
      if (branch->elseBlock && !branch->elseIf)
        block(*branch->elseBlock, anchor);
      branch = branch->elseIf ? dynAs<IfExpr>(as<ExprStmt>(*branch->elseBlock->stmts.front()).expr.get()) : nullptr;
    }
  }

  void call(const CallExpr &e) {
    expr(e.receiver.get());
    uint32_t open = at(e.argsSpan);
    if (!e.constArgs.empty()) {
      role(at(e.callee.span) + 1, Role::Glue);
      role(open - 1, Role::Glue);
      for (const ExprPtr &arg : e.constArgs)
        expr(arg.get());
    }
    role(open, Role::Glue);
    list(open, startsOf(e.args), true, [&] {
      for (const Arg &arg : e.args) {
        expr(arg.value.get());
        domain(arg.domain);
      }
    });
  }

  void domain(const std::optional<Domain> &d) {
    if (!d)
      return;
    if (d->kind == Domain::Kind::Set) {
      role(at(d->span), Role::Open);
      role(out.pieces[at(d->span)].partner, Role::Close);
      return exprList(at(d->span), d->values);
    }
    if (d->kind == Domain::Kind::Range)
      range(*d->values[0], *d->values[1]);
    for (const ExprPtr &value : d->values)
      expr(value.get());
  }

  /// The `..` between two ends stands close, unless one of them has spaces of its own.
  void range(const Expr &lo, const Expr &hi) {
    auto spaced = [](const Expr &e) { return e.kind == ExprKind::Binary && !e.parenthesized; };
    if (!spaced(lo) && !spaced(hi))
      role(lastOf(lo.span) + 1, Role::Glue);
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Statements
  //===------------------------------------------------------------------------------------------------------------===//

  void pattern(const Pattern &p) {
    if (p.isTuple())
      patterns(at(p.span), p.elements, p.elements.size() > 1);
  }
  void patterns(uint32_t open, const std::vector<Pattern> &elements, bool comma) {
    list(open, startsOf(elements), comma, [&] {
      for (const Pattern &p : elements)
        pattern(p);
    });
  }

  void type(const std::optional<TypeExpr> &t) {
    if (t)
      type(*t);
  }
  void type(const TypeExpr &t) {
    if (t.isTuple()) {
      list(at(t.span), startsOf(t.elements), t.elements.size() > 1, [&] {
        for (const TypeExpr &e : t.elements)
          type(e);
      });
    } else if (t.hasExtents) {
      uint32_t open = at(t.name.span) + 1;
      role(open, Role::Glue);
      exprList(open, t.extents);
    }
  }

  void stmt(const Stmt &s) {
    uint32_t first = at(s.span);
    switch (s.kind) {
    case StmtKind::Bind: {
      const auto &bind = as<BindStmt>(s);
      pattern(bind.pattern);
      type(bind.type);
      return expr(bind.value.get());
    }
    case StmtKind::Assign: {
      const auto &assign = as<AssignStmt>(s);
      if (is(first, TokenKind::LParen))
        list(first, startsOf(assign.places), assign.places.size() > 1, [] {});
      return expr(assign.value.get());
    }
    case StmtKind::Return:
      return expr(as<ReturnStmt>(s).value.get());
    case StmtKind::Fn:
      return fn(*as<FnStmt>(s).fn);
    case StmtKind::For: {
      const auto &loop = as<ForStmt>(s);
      if (loop.hi)
        range(*loop.lo, *loop.hi);
      expr(loop.lo.get());
      expr(loop.hi.get());
      return block(*loop.body, first);
    }
    case StmtKind::While:
      expr(as<WhileStmt>(s).condition.get());
      return block(*as<WhileStmt>(s).body, first);
    case StmtKind::Expr:
      return expr(as<ExprStmt>(s).expr.get());
    case StmtKind::Error:
    case StmtKind::Break:
    case StmtKind::Continue:
      return;
    }
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Declarations
  //===------------------------------------------------------------------------------------------------------------===//

  void decl(const Decl &d) {
    switch (d.kind) {
    case DeclKind::Import:
      return;
    case DeclKind::Const:
      type(as<ConstDecl>(d).type);
      return expr(as<ConstDecl>(d).value.get());
    case DeclKind::Fn:
      return fn(as<FnDecl>(d));
    case DeclKind::Kernel:
      return kernel(as<KernelDecl>(d));
    }
  }

  /// Compile-time parameters behind a name; the token of the `(` that follows.
  uint32_t cparams(const Ident &name, const std::vector<CParam> &params) {
    uint32_t open = at(name.span) + 1;
    if (params.empty())
      return open;
    uint32_t close = lastOf(params.back().span) + 1;
    close += is(close, TokenKind::Comma);
    pair(open, close);
    role(open, Role::Glue);
    role(close, Role::Glue);
    list(
        open, startsOf(params), true,
        [&] {
          for (const CParam &p : params) {
            expr(p.defaultValue.get());
            domain(p.domain);
          }
        },
        true);
    return close + 1;
  }

  void fn(const FnDecl &d) {
    uint32_t open = cparams(d.name, d.cparams);
    role(open, Role::Glue);
    list(
        open, startsOf(d.params), true,
        [&] {
          for (const FnParam &p : d.params) {
            type(p.type);
            expr(p.defaultValue.get());
          }
        },
        true);
    block(*d.body, at(d.span));
  }

  void kernel(const KernelDecl &d) {
    uint32_t open = cparams(d.name, d.cparams);
    role(open, Role::Glue);
    list(
        open, startsOf(d.args), true,
        [&] {
          for (const KernelArg &a : d.args) {
            type(a.type);
            attributes(a);
          }
        },
        true);
    for (const Clause &c : d.clauses) {
      current->starts.push_back(at(c.span));
      clause(c);
    }
    if (!d.clauses.empty())
      current->starts.push_back(at(d.body->span));
    block(*d.body, at(d.span), true);
  }

  // They may stand in any order, regions only in that of the source. Without a list it is the condition.
  void attributes(const KernelArg &a) {
    std::vector<std::pair<uint32_t, const ExprList *>> parts;
    for (const auto *each : {&a.strides, &a.align, &a.alias})
      if (*each)
        parts.emplace_back(at((*each)->span), &**each);
    if (a.condition)
      parts.emplace_back(at(a.condition->span), nullptr);
    std::ranges::sort(parts);
    for (auto [first, each] : parts)
      each ? exprList(first, each->items) : expr(a.condition.get());
  }

  void clause(const Clause &c) {
    uint32_t open = at(c.keyword) + 1 + c.arch.has_value();
    switch (c.kind) {
    case ClauseKind::Let:
      pattern(c.pattern);
      return expr(c.exprs.front().get());
    case ClauseKind::Requires: {
      Region r{.shape = Shape::Chain, .first = at(c.exprs.front()->span), .last = lastOf(c.span)};
      for (size_t i = 1; i < c.exprs.size(); ++i)
        r.starts.push_back(at(c.exprs[i]->span));
      return region(std::move(r), [&] {
        for (const ExprPtr &e : c.exprs)
          expr(e.get());
      });
    }
    case ClauseKind::Grid:
      return exprList(open, c.exprs);
    case ClauseKind::Options:
    case ClauseKind::Hints:
    case ClauseKind::Tune:
      return list(open, startsOf(c.settings), true, [&] {
        for (const Setting &s : c.settings) {
          expr(s.value.get());
          domain(s.domain);
        }
      });
    }
  }

  const File &file;
  Layout out;
  Region *current = nullptr;
};

} // namespace

bool Layout::spaceBefore(uint32_t token) const {
  if (token == 0)
    return false;
  Role left = pieces[token - 1].role, right = pieces[token].role;
  return left != Role::Open && left != Role::Glue && right != Role::Close && right != Role::Glue;
}

Layout readLayout(const File &file, const SourceManager &sources) { return Reader(file, sources).run(); }

} // namespace tilec::syntax
