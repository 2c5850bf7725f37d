// Launch expressions as data: construction, text in the language's syntax, JSON.
#include "compiler/artifact/launch_expr.h"
#include <array>
#include <cmath>

namespace tilec {
namespace {

struct OpInfo {
  std::string_view name;
  int arity;
};
constexpr std::array opTable = {
#define LAUNCH_OP(name, arity) OpInfo{#name, arity},
#include "compiler/artifact/launch_ops.def"
};
const OpInfo &info(LaunchOp op) { return opTable[size_t(op)]; }

/// How an operator is written. Levels follow the grammar: 1 `||` … 11 `**`, 12 what needs no parentheses.
struct Spelling {
  LaunchOp op;
  std::string_view text;
  int level;
};
constexpr int unaryLevel = 10, powerLevel = 11, atomLevel = 12;
constexpr Spelling infix[] = {
    {LaunchOp::Or, "||", 1},   {LaunchOp::And, "&&", 2},   {LaunchOp::Lt, "<", 3},     {LaunchOp::Le, "<=", 3},
    {LaunchOp::Gt, ">", 3},    {LaunchOp::Ge, ">=", 3},    {LaunchOp::Eq, "==", 3},    {LaunchOp::Ne, "!=", 3},
    {LaunchOp::BitOr, "|", 4}, {LaunchOp::BitXor, "^", 5}, {LaunchOp::BitAnd, "&", 6}, {LaunchOp::Shl, "<<", 7},
    {LaunchOp::Shr, ">>", 7},  {LaunchOp::Add, "+", 8},    {LaunchOp::Sub, "-", 8},    {LaunchOp::Mul, "*", 9},
    {LaunchOp::Div, "/", 9},   {LaunchOp::Mod, "%", 9},    {LaunchOp::Pow, "**", 11},
};
constexpr Spelling prefix[] = {{LaunchOp::Neg, "-", 10}, {LaunchOp::Not, "!", 10}, {LaunchOp::BitNot, "~", 10}};
constexpr Spelling calls[] = {
    {LaunchOp::CDiv, "cdiv", 12},
    {LaunchOp::TruncDiv, "truncdiv", 12},
    {LaunchOp::TruncMod, "truncmod", 12},
    {LaunchOp::Min, "min", 12},
    {LaunchOp::Max, "max", 12},
    {LaunchOp::Abs, "abs", 12},
    {LaunchOp::NextPow2, "next_pow2", 12},
    {LaunchOp::PrevPow2, "prev_pow2", 12},
    {LaunchOp::ILog2, "ilog2", 12},
    {LaunchOp::IsPow2, "is_pow2", 12},
    {LaunchOp::NumSms, "num_sms", 12},
    {LaunchOp::ResidentBlocks, "resident_blocks", 12},
};

template <size_t N> const Spelling *find(const Spelling (&table)[N], LaunchOp op) {
  for (const Spelling &s : table)
    if (s.op == op)
      return &s;
  return nullptr;
}

int levelOf(const LaunchExpr &e) {
  if (e.isLiteral()) {
    // A negative number is written with a sign, which binds looser than `**`.
    if (auto *i = std::get_if<int64_t>(&e.literal))
      return *i < 0 ? unaryLevel : atomLevel;
    if (auto *d = std::get_if<double>(&e.literal))
      return std::signbit(*d) ? unaryLevel : atomLevel;
    return atomLevel;
  }
  if (auto *s = find(infix, e.op))
    return s->level;
  if (auto *s = find(prefix, e.op))
    return s->level;
  return e.op == LaunchOp::Select ? 0 : atomLevel;
}

/// Text of an operand, in parentheses when it binds looser than its place allows.
std::string operand(const LaunchExpr &e, int level) {
  return levelOf(e) < level ? fmt::format("({})", toString(e)) : toString(e);
}

} // namespace

LaunchExpr LaunchExpr::constant(LaunchValue v) {
  LaunchExpr e;
  e.literal = v;
  return e;
}
LaunchExpr LaunchExpr::name(std::string symbol) {
  LaunchExpr e;
  e.op = LaunchOp::Symbol;
  e.symbol = std::move(symbol);
  return e;
}
LaunchExpr LaunchExpr::call(LaunchOp op, std::vector<LaunchExpr> args) {
  LaunchExpr e;
  e.op = op;
  e.args = std::move(args);
  return e;
}

std::string toString(const LaunchValue &value) {
  if (auto *i = std::get_if<int64_t>(&value))
    return fmt::format("{}", *i);
  if (auto *b = std::get_if<bool>(&value))
    return *b ? "true" : "false";
  if (auto *t = std::get_if<DType>(&value))
    return std::string(tilec::name(*t));
  double d = std::get<double>(value);
  if (std::isnan(d))
    return "nan";
  std::string text = fmt::format("{}", d); // the shortest text that reads back as the same double
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string toString(const LaunchExpr &e) {
  if (e.isLiteral())
    return toString(e.literal);
  if (e.op == LaunchOp::Symbol)
    return e.symbol;
  if (auto *s = find(infix, e.op)) {
    // Comparisons do not chain; `**` groups to the right and takes a sign on its right; the rest group to the left.
    bool power = e.op == LaunchOp::Pow, comparison = s->level == 3;
    int left = power ? atomLevel : s->level + comparison;
    int right = power ? unaryLevel : s->level + 1;
    return fmt::format("{} {} {}", operand(e.args[0], left), s->text, operand(e.args[1], right));
  }
  if (auto *s = find(prefix, e.op))
    return fmt::format("{}{}", s->text, operand(e.args[0], powerLevel));
  if (e.op == LaunchOp::Select)
    return fmt::format("if {} {{ {} }} else {{ {} }}", toString(e.args[0]), toString(e.args[1]), toString(e.args[2]));
  if (e.op == LaunchOp::Bits)
    return operand(e.args[0], atomLevel) + ".bits";
  std::string text;
  if (e.op == LaunchOp::ByArch) {
    for (size_t i = 0; i + 1 < e.args.size(); i += 2)
      text += fmt::format("{}{} = {}", i ? ", " : "", e.args[i].symbol, toString(e.args[i + 1]));
    return fmt::format("by_arch({})", text);
  }
  for (size_t i = 0; i < e.args.size(); ++i)
    text += (i ? ", " : "") + toString(e.args[i]);
  auto *s = find(calls, e.op);
  return fmt::format("{}({})", s ? s->text : info(e.op).name, text);
}

Json toJson(const LaunchValue &value) {
  if (auto *i = std::get_if<int64_t>(&value))
    return *i;
  if (auto *b = std::get_if<bool>(&value))
    return *b;
  if (auto *t = std::get_if<DType>(&value))
    return Json{{"dtype", tilec::name(*t)}};
  double d = std::get<double>(value);
  // JSON has no text for these.
  if (!std::isfinite(d))
    return Json{{"float", std::isnan(d) ? "nan" : d > 0 ? "inf" : "-inf"}};
  return d;
}

Result<LaunchValue> launchValueFromJson(const Json &json) {
  if (json.is_boolean())
    return json.get<bool>();
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX))
    return usageError("{} does not fit a 64-bit integer", json.get<uint64_t>());
  if (json.is_number_integer())
    return json.get<int64_t>();
  if (json.is_number_float())
    return json.get<double>();
  if (json.is_object() && json.size() == 1 && json.begin().value().is_string()) {
    std::string key = json.begin().key(), text = json.begin().value().get<std::string>();
    if (key == "dtype") {
      if (auto dtype = parseDType(text))
        return *dtype;
      return usageError("'{}' is no dtype", text);
    }
    if (key == "float") {
      if (text == "nan")
        return std::nan("");
      if (text == "inf" || text == "-inf")
        return text == "inf" ? HUGE_VAL : -HUGE_VAL;
    }
  }
  return usageError("a value is an integer, a float, a bool or a dtype");
}

Json toJson(const LaunchExpr &e) {
  if (e.isLiteral())
    return e.symbol.empty() ? toJson(e.literal) : Json(e.symbol);
  if (e.op == LaunchOp::Symbol)
    return Json{{"symbol", e.symbol}};
  Json list = Json::array({std::string(info(e.op).name)});
  for (const LaunchExpr &arg : e.args)
    list.push_back(toJson(arg));
  return list;
}

/// Expressions of programs are shallow; the limit keeps a crafted file from exhausting the stack.
constexpr int maxDepth = 256;

static Result<LaunchExpr> read(const Json &json, int depth) {
  if (depth > maxDepth)
    return usageError("an expression is nested deeper than {}", maxDepth);
  if (json.is_object() && json.size() == 1 && json.contains("symbol") && json["symbol"].is_string())
    return LaunchExpr::name(json["symbol"].get<std::string>());
  if (!json.is_array()) {
    TILEC_ASSIGN(LaunchValue value, launchValueFromJson(json));
    return LaunchExpr::constant(value);
  }
  if (json.empty() || !json[0].is_string())
    return usageError("an expression is a value, {{\"symbol\": …}} or [\"Op\", …]");
  std::string opName = json[0].get<std::string>();
  size_t op = 0;
  while (op < opTable.size() && opTable[op].name != opName)
    ++op;
  if (op == opTable.size() || op <= size_t(LaunchOp::Symbol))
    return usageError("unknown operator '{}'", opName);
  LaunchExpr e = LaunchExpr::call(LaunchOp(op), {});
  size_t count = json.size() - 1;
  bool byArch = e.op == LaunchOp::ByArch;
  if (byArch ? count % 2 != 0 : count != size_t(opTable[op].arity))
    return usageError("operator '{}' has {} operands", opName, count);
  for (size_t i = 0; i < count; ++i) {
    const Json &arg = json[i + 1];
    if (byArch && i % 2 == 0) {
      if (!arg.is_string() || arg.get_ref<const std::string &>().empty())
        return usageError("operator 'ByArch' names an architecture before each value");
      e.args.emplace_back().symbol = arg.get<std::string>();
      continue;
    }
    TILEC_ASSIGN(LaunchExpr operandExpr, read(arg, depth + 1));
    e.args.push_back(std::move(operandExpr));
  }
  return e;
}

Result<LaunchExpr> launchExprFromJson(const Json &json) { return read(json, 0); }

} // namespace tilec
