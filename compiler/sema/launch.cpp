// Lowering of clause expressions. Their arithmetic is not done here: compiler/artifact evaluates it at each launch.
#include "compiler/sema/launch.h"
#include "compiler/base/text.h"

namespace tilec::sema {

using syntax::ExprKind;

std::string_view kindName(LaunchKind kind) {
  constexpr std::string_view names[] = {"an integer", "a float", "a bool", "a dtype", "a value"};
  return names[size_t(kind)];
}

std::optional<LaunchTerm> termOf(const Value &value) {
  LaunchTerm term;
  auto literal = [&](LaunchKind kind, LaunchValue v) {
    term.kind = kind;
    term.expr = LaunchExpr::constant(v);
    return term;
  };
  switch (value.kind) {
  case ValueKind::Int:
    if (value.integer < INT64_MIN || value.integer > INT64_MAX)
      return std::nullopt;
    return literal(LaunchKind::Int, int64_t(value.integer));
  case ValueKind::Float:
    return literal(LaunchKind::Float, value.real);
  case ValueKind::DType:
    return literal(LaunchKind::DType, value.dtype);
  case ValueKind::Typed:
    if (value.isBool())
      return literal(LaunchKind::Bool, value.bits != 0);
    if (isFloat(value.dtype))
      return literal(LaunchKind::Float, realOf(value));
    return termOf(Value::ofInt(integerOf(value)));
  case ValueKind::Tuple:
    term.isTuple = true;
    for (const Value &element : value.elements) {
      auto part = termOf(element);
      if (!part)
        return std::nullopt;
      term.elements.push_back(std::move(*part));
    }
    return term;
  default:
    return std::nullopt;
  }
}

Diagnostic &LaunchLowering::report(Diag diag, Span span, std::string message, std::string help) {
  Diagnostic &d = diags.report(diag, span, std::move(message));
  d.help = std::move(help);
  return d;
}

LaunchTerm LaunchLowering::failed() {
  LaunchTerm term;
  term.failed = true;
  return term;
}

LaunchTerm LaunchLowering::refuse(Span span, std::string_view what) {
  report(Diag::LaunchExpression, span, fmt::format("{} is not possible here, where a launch computes the value", what),
         "clauses and extents take arithmetic on parameters, extents and scalars");
  return failed();
}

/// Lowers one expression; kinds are checked here, values at the launch.
LaunchTerm LaunchLowering::lower(const syntax::Expr &e) {
  auto literal = [](LaunchKind kind, LaunchValue v) {
    LaunchTerm term;
    term.kind = kind;
    term.expr = LaunchExpr::constant(v);
    return term;
  };
  switch (e.kind) {
  case ExprKind::Int: {
    uint64_t value = syntax::as<syntax::IntExpr>(e).value;
    if (value <= uint64_t(INT64_MAX))
      return literal(LaunchKind::Int, int64_t(value));
    report(Diag::LiteralDoesNotFit, e.span, fmt::format("{} does not fit in i64", value));
    return failed();
  }
  case ExprKind::Float:
    return literal(LaunchKind::Float, syntax::as<syntax::FloatExpr>(e).value);
  case ExprKind::Bool:
    return literal(LaunchKind::Bool, syntax::as<syntax::BoolExpr>(e).value);
  case ExprKind::DType:
    return literal(LaunchKind::DType, syntax::as<syntax::DTypeExpr>(e).dtype);
  case ExprKind::Name:
    return name(syntax::as<syntax::NameExpr>(e));
  case ExprKind::Unary:
    return unary(syntax::as<syntax::UnaryExpr>(e));
  case ExprKind::Binary:
    return binary(syntax::as<syntax::BinaryExpr>(e));
  case ExprKind::Call:
    return call(syntax::as<syntax::CallExpr>(e));
  case ExprKind::Member:
    return member(syntax::as<syntax::MemberExpr>(e));
  case ExprKind::If:
    return branch(syntax::as<syntax::IfExpr>(e));
  case ExprKind::Tuple: {
    LaunchTerm term;
    term.isTuple = true;
    for (const syntax::ExprPtr &element : syntax::as<syntax::TupleExpr>(e).elements) {
      term.elements.push_back(lower(*element));
      term.failed |= term.elements.back().failed;
    }
    if (tupleParts(term.elements) > maxTupleParts) {
      report(Diag::TupleTooLarge, e.span, "this tuple has over 65,536 parts");
      return failed();
    }
    return term;
  }
  case ExprKind::TupleItem: {
    auto &item = syntax::as<syntax::TupleItemExpr>(e);
    LaunchTerm tuple = lower(*item.tuple);
    if (tuple.failed)
      return tuple;
    if (tuple.isTuple && item.index < tuple.elements.size())
      return tuple.elements[item.index];
    report(Diag::AxisOutOfRange, item.indexSpan, fmt::format("there is no item {} here", item.index));
    return failed();
  }
  case ExprKind::Error:
    return failed();
  case ExprKind::Wildcard:
    return refuse(e.span, "'_'");
  case ExprKind::String:
    return refuse(e.span, "a string");
  case ExprKind::Index:
    return refuse(e.span, "indexing");
  case ExprKind::List:
    return refuse(e.span, "a list");
  case ExprKind::Closure:
    return refuse(e.span, "a function");
  }
  return failed();
}

/// Lowers and demands a kind. `what` names the place for the message.
std::optional<LaunchExpr> LaunchLowering::lowerAs(const syntax::Expr &e, LaunchKind kind, std::string_view what) {
  LaunchTerm term = lower(e);
  if (term.failed)
    return std::nullopt;
  bool fits = !term.isTuple && (term.kind == kind || term.kind == LaunchKind::Unknown || kind == LaunchKind::Unknown ||
                                (kind == LaunchKind::Float && term.kind == LaunchKind::Int));
  if (fits)
    return std::move(term.expr);
  report(Diag::ConstantKind, e.span,
         fmt::format("{} must be {}, not {}", what, kindName(kind), term.isTuple ? "a tuple" : kindName(term.kind)));
  return std::nullopt;
}

/// Parameters, extents, scalars and `let`s by name; constants of the file by value.
LaunchTerm LaunchLowering::name(const syntax::NameExpr &e) {
  if (auto it = names.find(e.name); it != names.end())
    return it->second;
  if (auto it = files.consts.find(e.name); it != files.consts.end()) {
    Value value = constants.constant(*it->second);
    if (value.isError())
      return failed();
    auto term = termOf(value);
    return term ? *term : refuse(e.span, fmt::format("the constant '{}'", e.name));
  }
  if (auto it = laterParams.find(e.name); it != laterParams.end()) {
    report(Diag::UnknownName, e.span, fmt::format("'{}' is declared further on", e.name),
           "a default uses parameters in front of it")
        .notes.push_back({it->second, "the declaration"});
    return failed();
  }
  if (files.hasImports)
    return failed();
  std::vector<std::string> known;
  for (const auto &[text, term] : names)
    known.push_back(text);
  for (const auto &[text, decl] : files.consts)
    known.push_back(text);
  report(Diag::UnknownName, e.span, fmt::format("there is no name '{}' here", e.name), suggest(e.name, known));
  return failed();
}

LaunchTerm LaunchLowering::unary(const syntax::UnaryExpr &e) {
  LaunchTerm v = lower(*e.operand);
  if (v.failed)
    return v;
  LaunchKind wanted = e.op == syntax::UnaryOp::Not ? LaunchKind::Bool : LaunchKind::Int;
  bool fits = !v.isTuple && (v.kind == wanted || v.kind == LaunchKind::Unknown ||
                             (e.op == syntax::UnaryOp::Neg && v.kind == LaunchKind::Float));
  if (!fits) {
    report(Diag::OperandType, e.span,
           fmt::format("'{}' does not take {}", syntax::spelling(e.op), v.isTuple ? "a tuple" : kindName(v.kind)));
    return failed();
  }
  LaunchOp op = e.op == syntax::UnaryOp::Neg   ? LaunchOp::Neg
                : e.op == syntax::UnaryOp::Not ? LaunchOp::Not
                                               : LaunchOp::BitNot;
  v.expr = substitute(LaunchExpr::call(op, {std::move(v.expr)}), {});
  return v;
}

/// The launch operation of an operator; nothing for `@`.
static std::optional<LaunchOp> launchOp(syntax::BinaryOp op) {
  using B = syntax::BinaryOp;
  constexpr std::pair<B, LaunchOp> table[] = {
      {B::Pow, LaunchOp::Pow},       {B::Mul, LaunchOp::Mul},     {B::Div, LaunchOp::Div},
      {B::Mod, LaunchOp::Mod},       {B::Add, LaunchOp::Add},     {B::Sub, LaunchOp::Sub},
      {B::Shl, LaunchOp::Shl},       {B::Shr, LaunchOp::Shr},     {B::BitAnd, LaunchOp::BitAnd},
      {B::BitXor, LaunchOp::BitXor}, {B::BitOr, LaunchOp::BitOr}, {B::Lt, LaunchOp::Lt},
      {B::Le, LaunchOp::Le},         {B::Gt, LaunchOp::Gt},       {B::Ge, LaunchOp::Ge},
      {B::Eq, LaunchOp::Eq},         {B::Ne, LaunchOp::Ne},       {B::And, LaunchOp::And},
      {B::Or, LaunchOp::Or},
  };
  for (auto [from, to] : table)
    if (from == op)
      return to;
  return std::nullopt;
}

/// A chain of operators, from its first operand on: descending to it would take a call for each.
LaunchTerm LaunchLowering::binary(const syntax::BinaryExpr &e) {
  std::vector<const syntax::BinaryExpr *> links = syntax::leftSpine(e);
  // A launch plan holds it as a tree, which readers of plans descend.
  constexpr size_t longest = 200;
  if (links.size() > longest) {
    report(Diag::TooDeep, e.span, fmt::format("a launch computes at most {} operators in a row", longest));
    return failed();
  }
  LaunchTerm term = lower(*links.front()->lhs);
  for (const syntax::BinaryExpr *link : links)
    term = binaryLink(*link, std::move(term));
  return term;
}

/// One operator whose left operand is known. Arithmetic of constants is done at once, so that its faults are reported
/// where they stand.
LaunchTerm LaunchLowering::binaryLink(const syntax::BinaryExpr &e, LaunchTerm a) {
  auto op = launchOp(e.op);
  if (!op)
    return refuse(e.opSpan, "a matrix product");
  LaunchTerm b = lower(*e.rhs);
  if (a.failed || b.failed)
    return failed();
  using K = LaunchKind;
  bool logic = *op == LaunchOp::And || *op == LaunchOp::Or;
  bool equality = *op == LaunchOp::Eq || *op == LaunchOp::Ne;
  bool bits = *op >= LaunchOp::Shl && *op <= LaunchOp::BitXor;
  bool compare = *op >= LaunchOp::Lt && *op <= LaunchOp::Ne;
  auto number = [](const LaunchTerm &t) {
    return !t.isTuple && (t.kind == K::Int || t.kind == K::Float || t.kind == K::Unknown);
  };
  auto is = [](const LaunchTerm &t, K kind) { return !t.isTuple && (t.kind == kind || t.kind == K::Unknown); };
  bool fits = logic      ? is(a, K::Bool) && is(b, K::Bool)
              : bits     ? (is(a, K::Int) && is(b, K::Int)) || (is(a, K::Bool) && is(b, K::Bool))
              : equality ? (number(a) && number(b)) || (!a.isTuple && !b.isTuple && a.kind == b.kind)
                         : number(a) && number(b);
  if (*op == LaunchOp::Mod)
    fits = is(a, K::Int) && is(b, K::Int);
  if (!fits) {
    report(Diag::OperandType, e.span,
           fmt::format("'{}' does not take {} and {}", syntax::spelling(e.op), a.isTuple ? "a tuple" : kindName(a.kind),
                       b.isTuple ? "a tuple" : kindName(b.kind)));
    return failed();
  }
  LaunchTerm result;
  result.kind = logic || compare                           ? K::Bool
                : a.kind == K::Float || b.kind == K::Float ? K::Float
                : a.kind == K::Unknown                     ? b.kind
                                                           : a.kind;
  result.expr = LaunchExpr::call(*op, {std::move(a.expr), std::move(b.expr)});
  // Constants that cannot be computed are faults of the program, wherever the launch.
  bool known = result.expr.args[0].isLiteral() && result.expr.args[1].isLiteral();
  if (known)
    if (auto value = evaluate(result.expr, {}); !value) {
      report(Diag::ConstantArithmetic, e.span, value.error().message);
      return failed();
    }
  result.expr = substitute(result.expr, {});
  return result;
}

LaunchTerm LaunchLowering::member(const syntax::MemberExpr &e) {
  LaunchTerm object = lower(*e.object);
  if (object.failed)
    return object;
  if (object.kind == LaunchKind::DType && !object.isTuple) {
    LaunchTerm term;
    if (e.member.text == "bits") {
      term.kind = LaunchKind::Int;
      term.expr = substitute(LaunchExpr::call(LaunchOp::Bits, {std::move(object.expr)}), {});
      return term;
    }
    if (e.member.text == "is_float" || e.member.text == "is_signed") {
      // A launch expression knows dtypes only by equality.
      term.kind = LaunchKind::Bool;
      term.expr = LaunchExpr::constant(false);
      for (const DTypeInfo &row : allDTypes()) {
        if (e.member.text == "is_float" ? !isFloat(row.dtype) : !row.isSigned)
          continue;
        LaunchExpr equal = LaunchExpr::call(LaunchOp::Eq, {object.expr, LaunchExpr::constant(row.dtype)});
        term.expr = substitute(LaunchExpr::call(LaunchOp::Or, {std::move(term.expr), std::move(equal)}), {});
      }
      return term;
    }
  }
  return refuse(e.span, fmt::format("'.{}'", e.member.text));
}

/// The value of a block that holds `let`s and ends in an expression.
LaunchTerm LaunchLowering::statements(const syntax::Block &block) {
  auto saved = names;
  LaunchTerm result = failed();
  bool valued = false;
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const syntax::Stmt &s = *block.stmts[i];
    auto *bindStmt = syntax::dynAs<syntax::BindStmt>(&s);
    auto *value = syntax::dynAs<syntax::ExprStmt>(&s);
    if (bindStmt && !bindStmt->isVar && bindStmt->value) {
      std::vector<std::pair<std::string, LaunchTerm>> bound;
      bind(bindStmt->pattern, lower(*bindStmt->value), bindStmt->value->span, bound);
      for (auto &[text, term] : bound)
        names[text] = term;
    } else if (value && i + 1 == block.stmts.size()) {
      result = lower(*value->expr);
      valued = true;
    } else {
      result = refuse(s.span, "this statement");
      valued = true;
      break;
    }
  }
  if (!valued)
    result = refuse(block.span, "a block without a value");
  names = std::move(saved);
  return result;
}

/// An `if` becomes a Select, element by element for tuples.
LaunchTerm LaunchLowering::branch(const syntax::IfExpr &e) {
  LaunchTerm c = lower(*e.condition);
  if (c.failed)
    return c;
  if (c.kind != LaunchKind::Bool || c.isTuple) {
    report(Diag::ConditionType, e.condition->span,
           fmt::format("a condition is one bool, not {}", c.isTuple ? "a tuple" : kindName(c.kind)));
    return failed();
  }
  if (!e.elseBlock)
    return refuse(e.span, "an 'if' without 'else'");
  if (e.isStatic && c.expr.isLiteral())
    return statements(std::get<bool>(c.expr.literal) ? *e.thenBlock : *e.elseBlock);
  LaunchTerm a = statements(*e.thenBlock), b = statements(*e.elseBlock);
  if (a.failed || b.failed)
    return failed();
  auto select = [&](auto &&self, const LaunchTerm &x, const LaunchTerm &y) -> std::optional<LaunchTerm> {
    LaunchTerm term;
    if (x.isTuple != y.isTuple || x.elements.size() != y.elements.size())
      return std::nullopt;
    if (x.isTuple) {
      term.isTuple = true;
      for (size_t i = 0; i < x.elements.size(); ++i) {
        auto part = self(self, x.elements[i], y.elements[i]);
        if (!part)
          return std::nullopt;
        term.elements.push_back(std::move(*part));
      }
      return term;
    }
    bool numbers = x.kind <= LaunchKind::Float && y.kind <= LaunchKind::Float;
    if (x.kind != y.kind && !numbers && x.kind != LaunchKind::Unknown && y.kind != LaunchKind::Unknown)
      return std::nullopt;
    term.kind = x.kind == y.kind ? x.kind : numbers ? LaunchKind::Float : LaunchKind::Unknown;
    term.expr = substitute(LaunchExpr::call(LaunchOp::Select, {c.expr, x.expr, y.expr}), {});
    return term;
  };
  if (auto term = select(select, a, b))
    return *term;
  report(Diag::ArmsDisagree, e.span, "the arms of this 'if' give values of different kinds");
  return failed();
}

} // namespace tilec::sema
