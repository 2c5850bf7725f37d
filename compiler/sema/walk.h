#pragma once
// Walks over the syntax tree that need no values.
#include "compiler/syntax/ast.h"
#include <functional>
#include <set>
#include <string>

namespace tilec::sema {

/// Visits statements and expressions below a node in source order. A callback that returns false keeps its subtree out.
struct Walker {
  std::function<bool(const syntax::Stmt &)> onStmt;
  std::function<bool(const syntax::Expr &)> onExpr;
  void walk(const syntax::Block &block) const;
  void walk(const syntax::Stmt &stmt) const;
  void walk(const syntax::Expr *expr) const; ///< null: nothing
  void walkChain(const syntax::BinaryExpr &last) const;
};

/// Names that statements of a block assign, inner functions left out: they assign names of their own only.
std::set<std::string> assignedNames(const syntax::Block &block);
/// Whether a `return` of the function, or a `break` or `continue` of the loop, that holds the node stands in it.
bool containsExit(const syntax::Expr &expr);
bool containsExit(const syntax::Block &block);
/// Whether a statement of a kind stands in the body of a loop and belongs to that loop.
bool containsOwn(const syntax::Block &body, syntax::StmtKind kind);

} // namespace tilec::sema
