// Walks along chains of operators.
#include "compiler/syntax/ast.h"
#include <algorithm>

namespace tilec::syntax {

bool BinaryExpr::continues() const {
  const auto *left = dynAs<BinaryExpr>(lhs);
  return left && !left->parenthesized && precedence(left->op) == precedence(op);
}

std::vector<const BinaryExpr *> leftSpine(const BinaryExpr &last) {
  std::vector<const BinaryExpr *> spine = {&last};
  while (spine.back()->continues())
    spine.push_back(&as<BinaryExpr>(*spine.back()->lhs));
  std::ranges::reverse(spine);
  return spine;
}

} // namespace tilec::syntax
