// Elementwise built-ins: float functions, arithmetic by name, selection and conversion.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"

namespace tilec::sema {
namespace {

std::optional<UnaryOp> unaryOf(std::string_view name) {
  for (size_t i = size_t(UnaryOp::Abs); i <= size_t(UnaryOp::IsInf); ++i)
    if (spelling(UnaryOp(i)) == name)
      return UnaryOp(i);
  return std::nullopt;
}

BinaryOp binaryNamed(std::string_view name) {
  constexpr std::pair<std::string_view, BinaryOp> names[] = {
      {"add", BinaryOp::Add},           {"sub", BinaryOp::Sub},           {"mul", BinaryOp::Mul},
      {"div", BinaryOp::Div},           {"pow", BinaryOp::Pow},           {"cdiv", BinaryOp::CDiv},
      {"truncdiv", BinaryOp::TruncDiv}, {"truncmod", BinaryOp::TruncMod}, {"mulhi", BinaryOp::MulHi},
  };
  for (auto [text, op] : names)
    if (text == name)
      return op;
  return BinaryOp::Add;
}

} // namespace

/// `rounding`, `approx` and `ftz`, as far as the built-in has them.
std::optional<Checker::FloatFlags> Checker::floatFlags(BuiltinCall &call) {
  bool good = true;
  Rounding rounding = roundingOf(call, good);
  auto approx = flag(call, "approx"), ftz = flag(call, "ftz");
  if (!good || !approx || !ftz)
    return std::nullopt;
  if (*approx && call.find("rounding")) {
    report(Diag::WrongArguments, call.find("rounding")->span, "an approximation has no rounding",
           "leave out 'approx' or 'rounding'");
    return std::nullopt;
  }
  return FloatFlags{rounding, *approx, *ftz};
}

/// The keywords of floats go with a float, ftz with f32 alone. `dtype`: nothing for numbers without one.
bool Checker::takesFlags(BuiltinCall &call, std::optional<DType> dtype) {
  for (std::string_view keyword : {"rounding", "approx", "ftz"})
    if (const BoundArg *arg = call.find(keyword); arg && dtype && !isFloat(*dtype)) {
      report(Diag::OperandType, arg->span, fmt::format("'{}' is for floats, and this is {}", keyword, name(*dtype)));
      return false;
    }
  const BoundArg *ftz = call.find("ftz");
  if (!ftz || !dtype || *dtype == DType::f32)
    return true;
  report(Diag::OperandType, ftz->span, fmt::format("'ftz' flushes subnormals of f32, and this is {}", name(*dtype)));
  return false;
}

/// Functions of one float; abs takes integers as well.
Value Checker::callMath(BuiltinCall &call) {
  UnaryOp op = *unaryOf(call.info->name);
  const BoundArg &x = *call.find("x");
  auto flags = floatFlags(call);
  if (!flags)
    return Value::error();
  bool number = x.value.isTileLike() && (x.value.isUntyped() || hasArithmetic(dtypeOf(x.value)));
  bool fits =
      number && (x.value.isUntyped() || isFloat(dtypeOf(x.value)) || (op == UnaryOp::Abs && isInt(dtypeOf(x.value))));
  if (!fits)
    return fail(Diag::OperandType, x.span, fmt::format("'{}' takes floats, not {}", call.info->name, typeName(x.value)),
                x.value.isTileLike() ? "convert it, as in 'x.to(f32)'" : "");
  if (!takesFlags(call, x.value.isUntyped() ? std::nullopt : std::optional(dtypeOf(x.value))))
    return Value::error();
  UnaryInst inst{op, flags->approx, flags->ftz, flags->rounding};
  if (x.value.isConstScalar())
    return *foldMath(op, x.value, inst);
  if (op == UnaryOp::Abs && isInt(x.value.type.dtype) && !info(x.value.type.dtype).isSigned)
    return x.value;
  return unary(op, x.value, call.span, inst);
}

/// Operators by name, which take keywords that the operators cannot.
Value Checker::callArith(BuiltinCall &call) {
  BinaryOp op = binaryNamed(call.info->name);
  const BoundArg &x = *call.find(call.params[0].name), &y = *call.find(call.params[1].name);
  auto flags = floatFlags(call);
  if (!flags)
    return Value::error();
  Value result =
      binary(op, x.value, x.span, y.value, y.span, call.span, {op, flags->approx, flags->ftz, false, flags->rounding});
  bool typed = result.isTile() || result.is(ValueKind::Typed);
  if (result.is(ValueKind::Int) && !takesFlags(call, DType::i32))
    return Value::error();
  return typed && !takesFlags(call, dtypeOf(result)) ? Value::error() : result;
}

/// One rounding, so the three operands must come to one dtype before the operation.
Value Checker::callFma(BuiltinCall &call) {
  auto flags = floatFlags(call);
  if (!flags)
    return Value::error();
  const BoundArg *args[] = {call.find("a"), call.find("b"), call.find("c")};
  for (const BoundArg *arg : args)
    if (!arg->value.isTileLike() ||
        (!arg->value.isUntyped() && (!isFloat(dtypeOf(arg->value)) || !hasArithmetic(dtypeOf(arg->value)))))
      return fail(Diag::OperandType, arg->span, fmt::format("'fma' takes floats, not {}", typeName(arg->value)),
                  arg->value.isTileLike() ? "convert it, as in 'x.to(f32)'" : "");
  std::optional<DType> dtype;
  bool known = true;
  for (const BoundArg *arg : args) {
    known &= arg->value.isConstScalar();
    if (arg->value.isUntyped())
      continue;
    Value sofar = dtype ? Value::typed(*dtype, 0) : arg->value;
    dtype = commonDType(sofar, args[0]->span, arg->value, arg->span, call.span);
    if (!dtype)
      return Value::error();
  }
  if (!takesFlags(call, dtype))
    return Value::error();
  if (known) {
    std::array<double, 3> numbers;
    for (size_t i = 0; i < 3; ++i) {
      const Value &v = args[i]->value;
      Folded typed = dtype && v.isUntyped() ? giveDType(v, *dtype) : Folded(v);
      if (!typed)
        return fail(typed.error(), args[i]->span);
      numbers[i] = typed->is(ValueKind::Typed) ? realOf(*typed)
                   : typed->is(ValueKind::Int) ? double(typed->integer)
                                               : typed->real;
    }
    uint64_t bits = foldFloat(FloatOp::Fma, dtype.value_or(DType::f64), numbers, flags->rounding, flags->ftz);
    return dtype ? Value::typed(*dtype, bits) : Value::ofFloat(decodeFloat(DType::f64, bits));
  }
  std::vector<Value> values;
  std::vector<Span> spans;
  for (const BoundArg *arg : args) {
    Value v = materializeAs(arg->value, *dtype, arg->span);
    if (v.isError())
      return v;
    values.push_back(convertTo(v, *dtype, arg->span));
    spans.push_back(arg->span);
  }
  if (!broadcastAll(values, spans))
    return Value::error();
  const Origin *why = values[0].origin ? values[0].origin : values[1].origin ? values[1].origin : values[2].origin;
  Type type = values[0].type;
  ValueId id =
      builder.emit(FmaInst{flags->ftz, flags->rounding}, {values[0].id, values[1].id, values[2].id}, type, call.span);
  return Value::tile(id, type, why);
}

/// Chooses element by element. All three broadcast to one shape; values come to one dtype as in arithmetic.
Value Checker::callWhere(BuiltinCall &call) {
  const BoundArg &c = *call.find("c"), &x = *call.find("x"), &y = *call.find("y");
  if (!c.value.isTileLike() || c.value.isUntyped() || dtypeOf(c.value) != DType::bool_)
    return fail(Diag::OperandType, c.span,
                fmt::format("the condition of 'where' is of bools, not {}", typeName(c.value)),
                c.value.isTileLike() ? "compare it, as in 'x != 0'" : "");
  for (const BoundArg *arg : {&x, &y})
    if (!arg->value.isTileLike())
      return fail(Diag::OperandType, arg->span,
                  fmt::format("'where' chooses between tiles, not {}", typeName(arg->value)));
  std::optional<DType> dtype = commonTileDType(x, y, call.span);
  if (!dtype)
    return Value::error();
  if (c.value.isConst() && x.value.isConst() && y.value.isConst()) {
    const Value &chosen = c.value.bits ? x.value : y.value;
    if (x.value.isUntyped() && y.value.isUntyped())
      return chosen;
    if (!chosen.isUntyped())
      return Value::typed(*dtype, convert(chosen.dtype, *dtype, chosen.bits));
    Folded typed = giveDType(chosen, *dtype);
    return typed ? *typed : fail(typed.error(), call.span);
  }
  Value a = materializeAs(x.value, *dtype, x.span), b = materializeAs(y.value, *dtype, y.span);
  if (a.isError() || b.isError())
    return Value::error();
  a = convertTo(a, *dtype, x.span), b = convertTo(b, *dtype, y.span);
  auto shape = commonShape(a, b, call.span);
  if (!shape)
    return Value::error();
  a = broadcastTo(a, *shape, x.span), b = broadcastTo(b, *shape, y.span);
  Value condition = materialize(c.value, c.span);
  shape = commonShape(condition, a, call.span);
  if (!shape)
    return Value::error();
  condition = broadcastTo(condition, *shape, c.span);
  a = broadcastTo(a, *shape, x.span), b = broadcastTo(b, *shape, y.span);
  const Origin *why = condition.origin ? condition.origin : a.origin ? a.origin : b.origin;
  return Value::tile(builder.emit(SelectInst{}, {condition.id, a.id, b.id}, a.type, call.span), a.type, why);
}

Value Checker::callClamp(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &low = *call.find("low"), &high = *call.find("high");
  Value raised = binary(BinaryOp::Max, x.value, x.span, low.value, low.span, call.span);
  return raised.isError() ? raised : binary(BinaryOp::Min, raised, call.span, high.value, high.span, call.span);
}

/// The only conversion that may lose: it says so in the program.
Value Checker::callTo(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &t = *call.find("T");
  auto to = constDType(t.value, t.span, "the argument of 'to'");
  bool good = true;
  Rounding rounding = roundingOf(call, good);
  auto saturate = flag(call, "saturate");
  if (!to || !good || !saturate)
    return Value::error();
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span, fmt::format("'to' converts tiles and scalars, not {}", typeName(x.value)));
  if (call.find("rounding") && !isFloat(*to))
    return fail(Diag::OperandType, call.find("rounding")->span,
                fmt::format("a conversion to {} has no rounding: floats are cut towards zero", name(*to)));
  if (x.value.isConstScalar()) {
    Folded folded = foldConvert(x.value, *to, rounding, *saturate);
    return folded ? *folded : fail(folded.error(), call.span);
  }
  Type type = x.value.type;
  if (type.dtype == *to)
    return x.value;
  type.dtype = *to;
  return Value::tile(builder.emit(ConvertInst{rounding, *saturate}, {x.value.id}, type, call.span), type,
                     x.value.origin);
}

} // namespace tilec::sema
