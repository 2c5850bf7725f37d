// Debugging, promises to the compiler, dependent launches.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"

namespace tilec::sema {

/// The string that an argument must be.
std::optional<std::string> Checker::stringOf(const BoundArg &arg, std::string_view what) {
  if (arg.value.is(ValueKind::String))
    return arg.value.text;
  report(Diag::ConstantKind, arg.span, fmt::format("{} is a string, not {}", what, typeName(arg.value)));
  return std::nullopt;
}

Value Checker::callStaticAssert(BuiltinCall &call) {
  const BoundArg &c = *call.find("c");
  auto holds = constBool(c.value, c.span, "the condition of 'static_assert'");
  const BoundArg *given = call.find("text");
  auto text = given ? stringOf(*given, "the text of 'static_assert'") : std::string();
  if (!holds || !text)
    return Value::error();
  if (*holds)
    return Value::unit();
  return fail(Diag::StaticAssert, call.span,
              given ? fmt::format("static_assert: {}", *text) : fmt::format("'{}' is false", textOf(c.span)));
}

/// A condition that is false while compiling still fails only where it runs.
Value Checker::callAssert(BuiltinCall &call) {
  const BoundArg &c = *call.find("c");
  const BoundArg *given = call.find("text");
  auto text = given ? stringOf(*given, "the text of 'assert'") : fmt::format("'{}' is false", textOf(c.span));
  bool isBool = c.value.isTileLike() && !c.value.isUntyped() && dtypeOf(c.value) == DType::bool_;
  if (!isBool)
    return fail(Diag::OperandType, c.span,
                fmt::format("the condition of 'assert' is of bools, not {}", typeName(c.value)),
                c.value.isTileLike() ? "compare it, as in 'x != 0'" : "");
  if (!text)
    return Value::error();
  if (c.value.isBool() && c.value.bits)
    return Value::unit();
  Value condition = materialize(c.value, c.span);
  builder.emitVoid(AssertInst{*text}, {condition.id}, call.span);
  return Value::unit();
}

/// The text between the places `{}` of a format, one piece more than there are places; `{{` and `}}` are braces.
static std::expected<std::vector<std::string>, std::string> formatPieces(std::string_view format) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < format.size(); ++i) {
    char c = format[i], next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (c != '{' && c != '}') {
      pieces.back() += c;
      continue;
    }
    if (next == c) {
      pieces.back() += c;
    } else if (c == '{' && next == '}') {
      pieces.emplace_back();
    } else {
      size_t end = c == '{' ? format.find('}', i) : i;
      return std::unexpected(std::string(format.substr(i, end == std::string_view::npos ? end : end - i + 1)));
    }
    ++i;
  }
  return pieces;
}

Value Checker::callPrint(BuiltinCall &call) {
  const BoundArg &format = *call.find("format");
  auto text = stringOf(format, "the format of 'print'");
  if (!text)
    return Value::error();
  auto pieces = formatPieces(*text);
  if (!pieces)
    return fail(Diag::BadFormat, format.span, fmt::format("'{}' is no place for a value", pieces.error()),
                "a value goes where '{}' stands; braces themselves are written '{{' and '}}'");
  const std::vector<BoundArg> &values = call.many("values");
  if (values.size() + 1 != pieces->size()) {
    auto count = [](size_t n, std::string_view one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); };
    return fail(Diag::BadFormat, call.span,
                fmt::format("the format has {} and is given {}", count(pieces->size() - 1, "place"),
                            count(values.size(), "value")),
                "each '{}' takes one value");
  }
  PrintInst print{{pieces->front()}};
  std::vector<ValueId> operands;
  bool good = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const BoundArg &arg = values[i];
    if (arg.value.is(ValueKind::DType) || arg.value.is(ValueKind::String)) { // known: it becomes part of the text
      print.pieces.back() += arg.value.is(ValueKind::String) ? arg.value.text : describe(arg.value);
      print.pieces.back() += (*pieces)[i + 1];
      continue;
    }
    print.pieces.push_back((*pieces)[i + 1]);
    Value v = arg.value.isTileLike()
                  ? materialize(arg.value, arg.span)
                  : fail(Diag::OperandType, arg.span,
                         fmt::format("'print' shows tiles and scalars, not {}", typeName(arg.value)),
                         arg.value.is(ValueKind::Tuple) ? "print the parts of a tuple one by one" : "");
    good &= !v.isError();
    operands.push_back(v.id);
  }
  if (good)
    builder.emitVoid(std::move(print), std::move(operands), call.span);
  return good ? Value::unit() : Value::error();
}

/// The value itself. What is known while compiling is checked at once.
Value Checker::callAssumeDivisible(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &n = *call.find("n");
  auto divisor = constInt(n.value, n.span, "the divisor of 'assume_divisible'");
  if (!divisor)
    return Value::error();
  if (*divisor <= 0)
    return fail(Diag::ConstantArithmetic, n.span,
                fmt::format("the divisor of 'assume_divisible' is positive, and this is {}", *divisor));
  bool integral =
      x.value.is(ValueKind::Int) || (x.value.isTileLike() && !x.value.isUntyped() && isInt(dtypeOf(x.value)));
  if (!integral)
    return fail(Diag::OperandType, x.span, fmt::format("'assume_divisible' takes integers, not {}", typeName(x.value)));
  if (!x.value.isConstScalar())
    return Value::tile(builder.emit(AssumeDivisibleInst{*divisor}, {x.value.id}, x.value.type, call.span), x.value.type,
                       x.value.origin);
  BigInt value = exactOf(x.value);
  if (value % *divisor != 0)
    return fail(Diag::StaticAssert, call.span,
                fmt::format("{} is promised to be a multiple of {}, and is none", toString(value), *divisor));
  return x.value;
}

Value Checker::callGridDependency(BuiltinCall &call) {
  bool waits = call.info->name == "grid_dependency_wait";
  builder.emitVoid(waits ? Payload(GridWaitInst{}) : Payload(GridLaunchInst{}), {}, call.span);
  return Value::unit();
}

} // namespace tilec::sema
