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
      {"truncdiv", BinaryOp::TruncDiv}, {"truncmod", BinaryOp::TruncMod},
  };
  for (auto [text, op] : names)
    if (text == name)
      return op;
  return BinaryOp::Add;
}

} // namespace

/// `ftz = true` holds for f32 alone.
bool Checker::noFtz(BuiltinCall &call, DType dtype) {
  const BoundArg *ftz = call.find("ftz");
  if (!ftz || dtype == DType::f32)
    return true;
  report(Diag::OperandType, ftz->span, fmt::format("'ftz' flushes subnormals of f32, and this is {}", name(dtype)));
  return false;
}

/// Functions of one float; abs takes integers as well.
Value Checker::callMath(BuiltinCall &call) {
  UnaryOp op = *unaryOf(call.info->name);
  const BoundArg &x = *call.find("x");
  bool good = true;
  if (roundingOf(call, good) != Rounding::NearestEven && good)
    return notBuilt(call.find("rounding")->span, fmt::format("a rounding of '{}'", call.info->name));
  auto approx = flag(call, "approx"), ftz = flag(call, "ftz");
  if (!good || !approx || !ftz)
    return Value::error();
  bool number = x.value.isTileLike() && (x.value.isUntyped() || hasArithmetic(dtypeOf(x.value)));
  bool fits =
      number && (x.value.isUntyped() || isFloat(dtypeOf(x.value)) || (op == UnaryOp::Abs && isInt(dtypeOf(x.value))));
  if (!fits)
    return fail(Diag::OperandType, x.span, fmt::format("'{}' takes floats, not {}", call.info->name, typeName(x.value)),
                x.value.isTileLike() ? "convert it, as in 'x.to(f32)'" : "");
  if (x.value.isConstScalar())
    return *foldMath(op, x.value);
  if (*ftz && !noFtz(call, x.value.type.dtype))
    return Value::error();
  if (op == UnaryOp::Abs && isInt(x.value.type.dtype) && !info(x.value.type.dtype).isSigned)
    return x.value;
  return unary(op, x.value, call.span, {op, *approx, *ftz});
}

/// Operators by name, which take keywords that the operators cannot.
Value Checker::callArith(BuiltinCall &call) {
  BinaryOp op = binaryNamed(call.info->name);
  const BoundArg &x = *call.find(call.params[0].name), &y = *call.find(call.params[1].name);
  bool good = true;
  if (roundingOf(call, good) != Rounding::NearestEven && good)
    return notBuilt(call.find("rounding")->span, fmt::format("a rounding of '{}'", call.info->name));
  auto approx = flag(call, "approx"), ftz = flag(call, "ftz");
  if (!good || !approx || !ftz)
    return Value::error();
  Value result = binary(op, x.value, x.span, y.value, y.span, call.span, {op, *approx, *ftz});
  if (result.isTile() && (*approx || *ftz)) {
    if (!isFloat(result.type.dtype))
      return fail(Diag::OperandType, call.span,
                  fmt::format("'approx' and 'ftz' are of floats, not of {}", typeName(result)));
    if (*ftz && !noFtz(call, result.type.dtype))
      return Value::error();
  }
  return result;
}

/// One rounding, so the three operands must come to one dtype before the operation.
Value Checker::callFma(BuiltinCall &call) {
  bool good = true;
  if (roundingOf(call, good) != Rounding::NearestEven && good)
    return notBuilt(call.find("rounding")->span, "a rounding of 'fma'");
  auto ftz = flag(call, "ftz");
  if (!good || !ftz)
    return Value::error();
  if (*ftz)
    return notBuilt(call.find("ftz")->span, "'ftz' of 'fma'");
  const BoundArg &a = *call.find("a"), &b = *call.find("b"), &c = *call.find("c");
  for (const BoundArg *arg : {&a, &b, &c})
    if (!arg->value.isTileLike() ||
        (!arg->value.isUntyped() && (!isFloat(dtypeOf(arg->value)) || !hasArithmetic(dtypeOf(arg->value)))))
      return fail(Diag::OperandType, arg->span, fmt::format("'fma' takes floats, not {}", typeName(arg->value)));
  if (a.value.isUntyped() && b.value.isUntyped() && c.value.isUntyped()) {
    auto real = [](const Value &v) { return v.is(ValueKind::Float) ? v.real : double(v.integer); };
    return Value::ofFloat(__builtin_fma(real(a.value), real(b.value), real(c.value)));
  }
  // All three come to one dtype and one shape, two at a time.
  std::optional<DType> dtype;
  for (const BoundArg *arg : {&a, &b, &c}) {
    if (arg->value.isUntyped())
      continue;
    Value sofar = dtype ? Value::typed(*dtype, 0) : arg->value;
    dtype = commonDType(sofar, a.span, arg->value, arg->span, call.span);
    if (!dtype)
      return Value::error();
  }
  std::array<Value, 3> v;
  std::array<Span, 3> spans{a.span, b.span, c.span};
  for (size_t i = 0; const BoundArg *arg : {&a, &b, &c}) {
    v[i] = materializeAs(arg->value, *dtype, arg->span);
    if (v[i].isError())
      return Value::error();
    v[i] = convertTo(v[i], *dtype, arg->span);
    ++i;
  }
  auto shape = commonShape(v[0], v[1], call.span);
  if (!shape)
    return Value::error();
  auto all = commonShape(broadcastTo(v[0], *shape, a.span), v[2], call.span);
  if (!all)
    return Value::error();
  const Origin *why = nullptr;
  for (size_t i = 0; i < 3; ++i) {
    v[i] = broadcastTo(v[i], *all, spans[i]);
    why = why ? why : v[i].origin;
  }
  if (!why)
    why = origin(call.span, "'fma' of typed numbers is computed at run time");
  return Value::tile(builder.emit(FmaInst{}, {v[0].id, v[1].id, v[2].id}, v[0].type, call.span), v[0].type, why);
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
  // Dtypes without arithmetic can be moved, so equal ones need no promotion.
  bool same = !x.value.isUntyped() && !y.value.isUntyped() && dtypeOf(x.value) == dtypeOf(y.value);
  std::optional<DType> dtype = same ? dtypeOf(x.value) : commonDType(x.value, x.span, y.value, y.span, call.span);
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
  if (rounding == Rounding::Zero && isInt(type.dtype) && info(type.dtype).bits == 64)
    return notBuilt(call.find("rounding")->span, fmt::format("a rounding of {} to {}", name(type.dtype), name(*to)));
  type.dtype = *to;
  return Value::tile(builder.emit(ConvertInst{rounding, *saturate}, {x.value.id}, type, call.span), type,
                     x.value.origin);
}

} // namespace tilec::sema
