// Walks over the syntax tree.
#include "compiler/sema/walk.h"

namespace tilec::sema {

using namespace syntax; // NOLINT: the whole file is about the syntax tree

void Walker::walk(const syntax::Block &block) const {
  for (const StmtPtr &stmt : block.stmts)
    walk(*stmt);
}

void Walker::walk(const Stmt &stmt) const {
  if (onStmt && !onStmt(stmt))
    return;
  switch (stmt.kind) {
  case StmtKind::Bind:
    return walk(as<BindStmt>(stmt).value.get());
  case StmtKind::Assign:
    return walk(as<AssignStmt>(stmt).value.get());
  case StmtKind::Return:
    return walk(as<ReturnStmt>(stmt).value.get());
  case StmtKind::For: {
    auto &loop = as<ForStmt>(stmt);
    walk(loop.lo.get());
    walk(loop.hi.get());
    return walk(*loop.body);
  }
  case StmtKind::While:
    walk(as<WhileStmt>(stmt).condition.get());
    return walk(*as<WhileStmt>(stmt).body);
  case StmtKind::Expr:
    return walk(as<ExprStmt>(stmt).expr.get());
  case StmtKind::Error:
  case StmtKind::Break:
  case StmtKind::Continue:
  case StmtKind::Fn:
    return;
  }
}

void Walker::walk(const Expr *expr) const {
  if (!expr || (onExpr && !onExpr(*expr)))
    return;
  switch (expr->kind) {
  case ExprKind::Unary:
    return walk(as<UnaryExpr>(*expr).operand.get());
  case ExprKind::Binary:
    return walkChain(as<BinaryExpr>(*expr));
  case ExprKind::Call: {
    auto &call = as<CallExpr>(*expr);
    walk(call.receiver.get());
    for (const ExprPtr &arg : call.constArgs)
      walk(arg.get());
    for (const Arg &arg : call.args) {
      walk(arg.value.get());
      if (arg.domain)
        for (const ExprPtr &value : arg.domain->values)
          walk(value.get());
    }
    return;
  }
  case ExprKind::Member:
    return walk(as<MemberExpr>(*expr).object.get());
  case ExprKind::TupleItem:
    return walk(as<TupleItemExpr>(*expr).tuple.get());
  case ExprKind::Index:
    walk(as<IndexExpr>(*expr).base.get());
    for (const Subscript &subscript : as<IndexExpr>(*expr).subscripts)
      walk(subscript.value.get());
    return;
  case ExprKind::Tuple:
    for (const ExprPtr &element : as<TupleExpr>(*expr).elements)
      walk(element.get());
    return;
  case ExprKind::List:
    for (const ExprPtr &element : as<ListExpr>(*expr).elements)
      walk(element.get());
    return;
  case ExprKind::If: {
    auto &branch = as<IfExpr>(*expr);
    walk(branch.condition.get());
    walk(*branch.thenBlock);
    if (branch.elseBlock)
      walk(*branch.elseBlock);
    return;
  }
  case ExprKind::Closure:
    return walk(*as<ClosureExpr>(*expr).body);
  default:
    return;
  }
}

// Along the chain, not down into it: it may be thousands of operators long.
void Walker::walkChain(const BinaryExpr &last) const {
  std::vector<const BinaryExpr *> links = leftSpine(last);
  // The last link was shown by who called; those that it leaves out are a head of the chain.
  size_t first = links.size() - 1;
  while (first > 0 && (!onExpr || onExpr(*links[first - 1])))
    --first;
  if (first == 0)
    walk(links.front()->lhs.get());
  for (size_t i = first; i < links.size(); ++i)
    walk(links[i]->rhs.get());
}

std::set<std::string> assignedNames(const syntax::Block &block) {
  std::set<std::string> names;
  Walker walker;
  walker.onStmt = [&](const Stmt &stmt) {
    if (auto *assign = dynAs<AssignStmt>(&stmt))
      for (const Ident &place : assign->places)
        names.insert(place.text);
    return true;
  };
  walker.onExpr = [](const Expr &expr) { return expr.kind != ExprKind::Closure; };
  walker.walk(block);
  return names;
}

/// Looks for statements of the loop or function that holds a node: other loops and functions have their own.
template <typename Node> static bool finds(const Node &node, const std::function<bool(StmtKind)> &wanted) {
  bool found = false;
  Walker walker;
  walker.onStmt = [&](const Stmt &stmt) {
    found |= wanted(stmt.kind);
    return !found && stmt.kind != StmtKind::For && stmt.kind != StmtKind::While;
  };
  walker.onExpr = [&](const Expr &e) { return !found && e.kind != ExprKind::Closure; };
  if constexpr (std::is_base_of_v<Expr, Node>)
    walker.walk(&node);
  else
    walker.walk(node);
  return found;
}

static bool isExit(StmtKind kind) {
  return kind == StmtKind::Return || kind == StmtKind::Break || kind == StmtKind::Continue;
}

bool containsExit(const Expr &expr) { return finds(expr, isExit); }
bool containsExit(const syntax::Block &block) { return finds(block, isExit); }
bool containsOwn(const syntax::Block &body, StmtKind kind) {
  return finds(body, [kind](StmtKind found) { return found == kind; });
}

} // namespace tilec::sema
