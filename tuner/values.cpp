// Named values and launch expressions from text. The language's own parser reads them, so that an expression in a
// recipe means what it means in a kernel.
#include "tuner/values.h"
#include "compiler/base/text.h"
#include "compiler/driver/driver.h"
#include <limits>

namespace tilec::tuner {
namespace {

using syntax::BinaryOp;
using syntax::ExprKind;

struct OpName {
  std::string_view name;
  LaunchOp op;
  size_t arity;
};
constexpr OpName functions[] = {
    {"cdiv", LaunchOp::CDiv, 2},
    {"truncdiv", LaunchOp::TruncDiv, 2},
    {"truncmod", LaunchOp::TruncMod, 2},
    {"min", LaunchOp::Min, 2},
    {"max", LaunchOp::Max, 2},
    {"abs", LaunchOp::Abs, 1},
    {"next_pow2", LaunchOp::NextPow2, 1},
    {"prev_pow2", LaunchOp::PrevPow2, 1},
    {"ilog2", LaunchOp::ILog2, 1},
    {"is_pow2", LaunchOp::IsPow2, 1},
};
/// Operators by spelling: the two tables of operators share no order.
constexpr std::pair<std::string_view, LaunchOp> binaries[] = {
    {"+", LaunchOp::Add},    {"-", LaunchOp::Sub},   {"*", LaunchOp::Mul},    {"/", LaunchOp::Div},
    {"%", LaunchOp::Mod},    {"**", LaunchOp::Pow},  {"<<", LaunchOp::Shl},   {">>", LaunchOp::Shr},
    {"&", LaunchOp::BitAnd}, {"|", LaunchOp::BitOr}, {"^", LaunchOp::BitXor}, {"<", LaunchOp::Lt},
    {"<=", LaunchOp::Le},    {">", LaunchOp::Gt},    {">=", LaunchOp::Ge},    {"==", LaunchOp::Eq},
    {"!=", LaunchOp::Ne},    {"&&", LaunchOp::And},  {"||", LaunchOp::Or},
};
constexpr std::pair<std::string_view, LaunchOp> unaries[] = {
    {"-", LaunchOp::Neg}, {"!", LaunchOp::Not}, {"~", LaunchOp::BitNot}};

Result<LaunchExpr> lower(const syntax::Expr &expr);

Result<LaunchExpr> lowerIf(const syntax::IfExpr &e) {
  auto only = [](const syntax::Block *block) -> const syntax::Expr * {
    if (!block || block->stmts.size() != 1)
      return nullptr;
    auto *stmt = syntax::dynAs<syntax::ExprStmt>(block->stmts.front());
    return stmt ? stmt->expr.get() : nullptr;
  };
  const syntax::Expr *yes = only(e.thenBlock.get()), *no = only(e.elseBlock.get());
  if (!yes || !no)
    return usageError("an `if` needs one value in each arm here");
  TILEC_ASSIGN(LaunchExpr c, lower(*e.condition));
  TILEC_ASSIGN(LaunchExpr y, lower(*yes));
  TILEC_ASSIGN(LaunchExpr n, lower(*no));
  return LaunchExpr::call(LaunchOp::Select, {std::move(c), std::move(y), std::move(n)});
}

Result<LaunchExpr> lowerCall(const syntax::CallExpr &e) {
  for (const OpName &f : functions) {
    if (e.receiver || e.callee.text != f.name)
      continue;
    if (e.args.size() != f.arity)
      return usageError("{} takes {} argument{}", f.name, f.arity, f.arity == 1 ? "" : "s");
    std::vector<LaunchExpr> args;
    for (const syntax::Arg &arg : e.args) {
      TILEC_ASSIGN(args.emplace_back(), lower(*arg.value));
    }
    return LaunchExpr::call(f.op, std::move(args));
  }
  std::vector<std::string> names;
  for (const OpName &f : functions)
    names.emplace_back(f.name);
  return withHelp(usageError("'{}' is no function of launch expressions", e.callee.text),
                  suggest(e.callee.text, names));
}

Result<LaunchExpr> lower(const syntax::Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Int: {
    uint64_t value = syntax::as<syntax::IntExpr>(expr).value;
    if (value > uint64_t(std::numeric_limits<int64_t>::max()))
      return usageError("{} is over the largest 64-bit integer", value);
    return LaunchExpr::constant(int64_t(value));
  }
  case ExprKind::Float:
    return LaunchExpr::constant(syntax::as<syntax::FloatExpr>(expr).value);
  case ExprKind::Bool:
    return LaunchExpr::constant(syntax::as<syntax::BoolExpr>(expr).value);
  case ExprKind::DType:
    return LaunchExpr::constant(syntax::as<syntax::DTypeExpr>(expr).dtype);
  case ExprKind::Name:
    return LaunchExpr::name(syntax::as<syntax::NameExpr>(expr).name);
  case ExprKind::Unary: {
    auto &e = syntax::as<syntax::UnaryExpr>(expr);
    TILEC_ASSIGN(LaunchExpr operand, lower(*e.operand));
    for (auto [text, op] : unaries)
      if (text == syntax::spelling(e.op))
        return LaunchExpr::call(op, {std::move(operand)});
    break;
  }
  case ExprKind::Binary: {
    auto &e = syntax::as<syntax::BinaryExpr>(expr);
    TILEC_ASSIGN(LaunchExpr lhs, lower(*e.lhs));
    TILEC_ASSIGN(LaunchExpr rhs, lower(*e.rhs));
    for (auto [text, op] : binaries)
      if (text == syntax::spelling(e.op))
        return LaunchExpr::call(op, {std::move(lhs), std::move(rhs)});
    break;
  }
  case ExprKind::Member: {
    auto &e = syntax::as<syntax::MemberExpr>(expr);
    if (e.member.text != "bits")
      return usageError("only `.bits` of a dtype is known here, not `.{}`", e.member.text);
    TILEC_ASSIGN(LaunchExpr dtype, lower(*e.object));
    return LaunchExpr::call(LaunchOp::Bits, {std::move(dtype)});
  }
  case ExprKind::Call:
    return lowerCall(syntax::as<syntax::CallExpr>(expr));
  case ExprKind::If:
    return lowerIf(syntax::as<syntax::IfExpr>(expr));
  default:
    break;
  }
  return usageError("launch expressions have numbers, names, operators, and functions such as cdiv and min only");
}

/// Parts between commas outside parentheses.
std::vector<std::string> splitTop(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

} // namespace

Result<LaunchExpr> parseExpression(std::string_view text) {
  auto source = driver::sourceFromText("expression", fmt::format("const value = ({}\n)\n", text));
  if (source->diags.hasErrors())
    return usageError("'{}' is no expression: {}", text, source->diags.all().front().message);
  if (source->ast->decls.size() != 1 || source->ast->decls.front()->kind != syntax::DeclKind::Const)
    return usageError("'{}' is no expression", text);
  auto expr = lower(*syntax::as<syntax::ConstDecl>(*source->ast->decls.front()).value);
  if (!expr)
    return withHelp(usageError("'{}': {}", text, expr.error().message), expr.error().help);
  return expr;
}

Result<LaunchValue> parseValue(std::string_view text) {
  TILEC_ASSIGN(LaunchExpr expr, parseExpression(text));
  auto value = evaluate(expr, {});
  if (!value)
    return usageError("'{}' has no value here: {}", text, value.error().message);
  return value;
}

/// A name of the language, or of an access's hint: a.load.latency, a.load#2.latency.
static bool isName(std::string_view text) {
  auto isWord = [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '#'; };
  return !std::isdigit(uint8_t(text.front())) && std::ranges::all_of(text, isWord);
}

Result<Values> parseValues(std::string_view text) {
  Values values;
  for (const std::string &part : splitTop(text)) {
    size_t eq = part.find('=');
    std::string name(trim(std::string_view(part).substr(0, eq)));
    if (eq == std::string::npos || name.empty())
      return withHelp(usageError("'{}' gives no name a value", part), "write NAME=VALUE,NAME=VALUE");
    if (!isName(name))
      return withHelp(usageError("'{}' is no name", validUtf8(name)), "names are of letters, digits and '_'");
    TILEC_ASSIGN(LaunchValue value, parseValue(std::string_view(part).substr(eq + 1)));
    if (!values.emplace(name, value).second)
      return usageError("'{}' is given twice in '{}'", name, text);
  }
  return values;
}

std::string toString(const Values &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, tilec::toString(value));
  return text;
}

Json toJson(const Values &values) {
  Json json = Json::object();
  for (const auto &[name, value] : values)
    json[name] = tilec::toJson(value);
  return json;
}

Result<Values> valuesFromJson(const Json &json) {
  Values values;
  if (!json.is_object())
    return usageError("values are no JSON object");
  for (const auto &[name, value] : json.items()) {
    TILEC_ASSIGN(values[name], launchValueFromJson(value));
  }
  return values;
}

} // namespace tilec::tuner
