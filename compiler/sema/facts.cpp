// Arrays that exist under a condition: where a program may use them. What a `static if` has decided is kept as the text
// of its parts, so that a program is legal, or not, whatever the parameters are.
#include "compiler/sema/checker.h"
#include <algorithm>

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
  if (e.parenthesized && text.size() > 1 && text.front() == '(' && text.back() == ')')
    return text.substr(1, text.size() - 2);
  return text;
}

/// The operand of a `!`, or null.
static const syntax::Expr *negated(const syntax::Expr &e) {
  auto *unary = syntax::dynAs<UnaryExpr>(&e);
  return unary && unary->op == syntax::UnaryOp::Not ? unary->operand.get() : nullptr;
}

/// The two parts of a condition, or of its opposite, that hold both (`All`) or of which one holds (`Any`); null where
/// it is no such thing. The opposite of `A && B` is that one of the opposites holds.
enum class Parts : uint8_t { All, Any };
static const BinaryExpr *partsOf(const syntax::Expr &e, bool holds, Parts parts) {
  auto *binary = syntax::dynAs<BinaryExpr>(&e);
  auto op = (parts == Parts::All) == holds ? syntax::BinaryOp::And : syntax::BinaryOp::Or;
  return binary && binary->op == op ? binary : nullptr;
}

/// The simple conditions of which one holds where a condition does, each as its text, behind a `!` if negated.
std::set<std::string> Checker::clauseOf(const syntax::Expr &e, bool holds) const {
  if (const syntax::Expr *inner = negated(e))
    return clauseOf(*inner, !holds);
  if (auto *either = partsOf(e, holds, Parts::Any)) {
    std::set<std::string> clause = clauseOf(*either->lhs, holds);
    clause.merge(clauseOf(*either->rhs, holds));
    return clause;
  }
  return {(holds ? "" : "!") + factText(e)};
}

/// Keeps what a decided condition tells.
void Checker::addFacts(const syntax::Expr &condition, bool holds) {
  if (const syntax::Expr *inner = negated(condition))
    return addFacts(*inner, !holds);
  if (auto *both = partsOf(condition, holds, Parts::All)) {
    addFacts(*both->lhs, holds);
    addFacts(*both->rhs, holds);
    return;
  }
  facts.push_back(clauseOf(condition, holds));
}

/// Whether a condition follows from what has been decided around this place.
bool Checker::implied(const syntax::Expr &condition, bool holds) const {
  if (const syntax::Expr *inner = negated(condition))
    return implied(*inner, !holds);
  auto *constant = syntax::dynAs<syntax::BoolExpr>(&condition);
  if (constant && constant->value == holds)
    return true;
  std::set<std::string> clause = clauseOf(condition, holds);
  if (std::ranges::any_of(facts, [&](const auto &fact) { return std::ranges::includes(clause, fact); }))
    return true;
  if (auto *both = partsOf(condition, holds, Parts::All))
    return implied(*both->lhs, holds) && implied(*both->rhs, holds);
  auto *either = partsOf(condition, holds, Parts::Any);
  return either && (implied(*either->lhs, holds) || implied(*either->rhs, holds));
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
