// Arrays that exist under a condition: where a program may use them. What a `static if` has decided is kept as the text
// of its parts, so that a program is legal, or not, whatever the parameters are.
#include "compiler/sema/checker.h"

namespace tilec::sema {

using syntax::BinaryExpr;
using syntax::UnaryExpr;

/// The source of an expression without blanks and without the parentheses around it.
std::string Checker::factText(const syntax::Expr &e) const {
  std::string_view source = sources.text(e.span);
  std::string text;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '#') // a comment runs to the end of its line
      i = std::min(source.find('\n', i), source.size() - 1);
    if (!std::isspace(uint8_t(source[i])))
      text += source[i];
  }
  while (e.parenthesized && text.size() > 1 && text.front() == '(' && text.back() == ')')
    return text.substr(1, text.size() - 2);
  return text;
}

/// The operand of a `!`, or null.
static const syntax::Expr *negated(const syntax::Expr &e) {
  auto *unary = syntax::dynAs<UnaryExpr>(&e);
  return unary && unary->op == syntax::UnaryOp::Not ? unary->operand.get() : nullptr;
}

static const BinaryExpr *logic(const syntax::Expr &e, syntax::BinaryOp op) {
  auto *binary = syntax::dynAs<BinaryExpr>(&e);
  return binary && binary->op == op ? binary : nullptr;
}

/// What a decided condition tells: of `A && B` that holds both parts, of `A || B` that does not both negated.
void Checker::addFacts(const syntax::Expr &condition, bool holds) {
  if (const syntax::Expr *inner = negated(condition))
    return addFacts(*inner, !holds);
  if (auto *both = logic(condition, holds ? syntax::BinaryOp::And : syntax::BinaryOp::Or)) {
    addFacts(*both->lhs, holds);
    addFacts(*both->rhs, holds);
    return;
  }
  facts.push_back((holds ? "" : "!") + factText(condition));
}

bool Checker::implied(const syntax::Expr &condition, bool holds) const {
  if (const syntax::Expr *inner = negated(condition))
    return implied(*inner, !holds);
  if (std::ranges::find(facts, (holds ? "" : "!") + factText(condition)) != facts.end())
    return true;
  if (auto *both = logic(condition, holds ? syntax::BinaryOp::And : syntax::BinaryOp::Or))
    return implied(*both->lhs, holds) && implied(*both->rhs, holds);
  if (auto *either = logic(condition, holds ? syntax::BinaryOp::Or : syntax::BinaryOp::And))
    return implied(*either->lhs, holds) || implied(*either->rhs, holds);
  auto *constant = syntax::dynAs<syntax::BoolExpr>(&condition);
  return constant && constant->value == holds;
}

/// An array argument at a place of the body.
Value Checker::readArray(Binding &binding, Span span) {
  if (binding.existsIf && !implied(*binding.existsIf)) {
    std::string condition = textOf(binding.existsIf->span);
    note(report(Diag::OptionalArray, span, fmt::format("'{}' exists only if {}", binding.name, condition),
                fmt::format("use it inside 'static if {} {{ … }}'", condition)),
         {binding.existsIf->span, "the condition"});
    return Value::error();
  }
  if (binding.absent) // the conditions that a `static if` was decided by say otherwise: its text means something else
    return Value::error();
  Value array = binding.value;
  array.id = builder.emit(ArrayArgInst{array.root}, {}, array.type, span);
  return array;
}

} // namespace tilec::sema
