// Grid, queries and factories.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <bit>

namespace tilec::sema {

Value Checker::callGrid(BuiltinCall &call) {
  const BoundArg &arg = *call.find("axis");
  auto axis = axisOf(arg, 3, false);
  if (!axis)
    return Value::error();
  Type type{TypeKind::Tile, indexType(), {}, 0};
  bool isBid = call.info->name == "bid";
  Payload payload = isBid ? Payload(BlockIdInst{int(*axis)}) : Payload(NumBlocksInst{int(*axis)});
  return Value::tile(builder.emit(payload, {}, type, call.span), type,
                     origin(call.span, fmt::format("'{}' is known only at run time", call.info->name)));
}

/// Properties `x.name`. Limits of dtypes are untyped, so that they meet any dtype that holds them.
Value Checker::queryOf(std::string_view name, const Value &object, Span span) {
  auto real = [](double v) { return Value::ofFloat(v); };
  if (name == "dtype") {
    if (!object.isUntyped())
      return Value::ofDType(object.is(ValueKind::Typed) ? object.dtype : object.type.dtype);
    auto dtype = defaultDType(object);
    return dtype ? Value::ofDType(*dtype) : fail(dtype.error(), span);
  }
  if (name == "rank")
    return Value::ofInt(object.is(ValueKind::Array)  ? object.type.rank
                        : object.is(ValueKind::View) ? int64_t(object.type.shape.size())
                                                     : int64_t(shapeOf(object).size()));
  if (name == "T")
    return transposed(object, span);
  DType t = object.dtype;
  if (name == "bits")
    return Value::ofInt(info(t).bits);
  if (name == "is_float")
    return Value::ofBool(isFloat(t));
  if (name == "is_signed")
    return Value::ofBool(info(t).isSigned);
  if (name == "eps")
    return isFloat(t)
               ? real(epsilon(t))
               : fail(Diag::UnknownMember, span, fmt::format("'{}' is no float dtype and has no eps", tilec::name(t)));
  if (t == DType::bool_)
    return fail(Diag::UnknownMember, span, fmt::format("'bool' has no {}", name));
  bool max = name == "max";
  if (isFloat(t))
    return real(max ? maxFinite(t) : lowestFinite(t));
  return Value::ofInt(max ? BigInt(maxInt(t)) : BigInt(minInt(t)));
}

Value Checker::callTileShape(BuiltinCall &call) {
  const BoundArg &x = *call.find("x"), &arg = *call.find("axis");
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span, fmt::format("'shape' takes a tile, not {}", typeName(x.value)));
  auto axis = axisOf(arg, int64_t(shapeOf(x.value).size()), false);
  return axis ? Value::ofInt(shapeOf(x.value)[size_t(*axis)]) : Value::error();
}

Value Checker::callViewTile(BuiltinCall &call) {
  auto axis = axisOf(*call.find("axis"), int64_t(call.receiver.type.shape.size()), false);
  return axis ? Value::ofInt(call.receiver.type.shape[size_t(*axis)]) : Value::error();
}

/// An extent that is a symbol is that symbol; another one is computed by the array.
Value Checker::extentOf(const Value &array, int axis, Span span) {
  const LaunchExpr &extent = program.arrays[array.root].extents[size_t(axis)];
  const std::string &name = program.arrays[array.root].name;
  std::string reason = fmt::format("extent {} of '{}' is known only at a launch", axis, name);
  if (extent.op == LaunchOp::Symbol && !array.isPart)
    return symbolValue(extent.symbol, span, std::move(reason));
  Type type{TypeKind::Tile, indexType(), {}, 0};
  return Value::tile(builder.emit(ExtentInst{axis}, {array.id}, type, span), type, origin(span, std::move(reason)));
}

Value Checker::callArrayShape(BuiltinCall &call) {
  auto axis = axisOf(*call.find("axis"), call.receiver.type.rank, false);
  return axis ? extentOf(call.receiver, int(*axis), call.span) : Value::error();
}

/// The power-of-two helpers share their argument: one integer known while compiling.
Value Checker::callPow2(BuiltinCall &call) {
  const BoundArg &arg = *call.find("n");
  auto n = constInt(arg.value, arg.span, fmt::format("the argument of '{}'", call.info->name));
  if (!n)
    return Value::error();
  std::string_view name = call.info->name;
  bool positive = *n > 0;
  if (name == "is_pow2")
    return Value::ofBool(positive && std::has_single_bit(uint64_t(*n)));
  if (name == "next_pow2")
    return Value::ofInt(!positive                 ? BigInt(1)
                        : *n > (int64_t(1) << 62) ? BigInt(1) << 63
                                                  : BigInt(std::bit_ceil(uint64_t(*n))));
  if (!positive)
    return fail(Diag::ConstantArithmetic, arg.span, fmt::format("'{}' takes a positive integer, not {}", name, *n));
  return Value::ofInt(name == "ilog2" ? int64_t(std::bit_width(uint64_t(*n))) - 1
                                      : int64_t(std::bit_floor(uint64_t(*n))));
}

/// Without an architecture (a plain check) the default stands for all.
Value Checker::callByArch(BuiltinCall &call) {
  Value chosen = Value::error();
  bool found = false, good = true;
  std::vector<std::string> known = {"default"};
  for (const Arch &a : allArchs())
    known.emplace_back(a.name);
  for (const syntax::Arg &arg : call.expr->args) {
    if (!arg.name || std::ranges::find(known, arg.name->text) == known.end()) {
      report(Diag::UnknownArch, arg.name ? arg.name->span : arg.span,
             arg.name ? fmt::format("there is no architecture '{}'", arg.name->text)
                      : "'by_arch' takes a value for each architecture by name",
             arg.name ? suggest(arg.name->text, known) : "");
      good = false;
      continue;
    }
    Value value = expr(*arg.value);
    good &= needConst(value, arg.value->span, "a value of 'by_arch'");
    bool exact = arch && arg.name->text == arch->name;
    if (exact || (!found && arg.name->text == "default")) {
      chosen = value;
      found = true;
    }
    if (exact)
      break;
  }
  if (good && !found)
    return fail(Diag::UnknownArch, call.span,
                fmt::format("'by_arch' has no value for {} and no default", arch ? arch->name : "this architecture"),
                "add 'default = …'");
  return good ? chosen : Value::error();
}

//===--------------------------------------------------------------------------------------------------------------===//
// Factories
//===--------------------------------------------------------------------------------------------------------------===//

/// zeros, ones and full. A scalar of a known value stays known; every tile is a run-time value.
Value Checker::callFill(BuiltinCall &call) {
  if (!call.dtype)
    return fail(Diag::WrongArguments, call.expr->callee.span, fmt::format("'{}' needs a dtype", call.info->name),
                fmt::format("write '{}<f32>(…)'", call.info->name));
  auto shape = tileShape(call.many("shape"), call.span);
  if (!shape)
    return Value::error();
  DType t = *call.dtype;
  const BoundArg *given = call.find("value");
  Value value = Value::ofInt(call.info->name == "ones");
  Span span = call.span;
  if (given) {
    value = given->value;
    span = given->span;
    if (value.isTileLike() && !shapeOf(value).empty())
      return fail(Diag::OperandType, span, fmt::format("'full' repeats a scalar, not {}", typeName(value)),
                  "repeat a tile with 'broadcast(x, shape…)'");
  } else if (t == DType::bool_) {
    value = Value::ofBool(call.info->name == "ones");
  }
  if (shape->empty() && value.isConstScalar()) {
    Folded typed = value.isUntyped() ? giveDType(value, t) : Folded(value);
    if (!typed)
      return fail(typed.error(), span);
    if (typed->dtype == t)
      return *typed;
  }
  value = storable(value, t, span, "a tile");
  if (value.isError())
    return value;
  Value result = broadcastTo(value, *shape, call.span);
  result.origin = origin(call.span, fmt::format("'{}' makes a tile, which is a run-time value", call.info->name));
  return result;
}

/// The elements of a list and the shape that its first elements show; nested lists have one length along each axis.
bool Checker::listElements(const syntax::Expr &e, size_t depth, std::vector<BoundArg> &out,
                           std::vector<int64_t> &shape) {
  auto *list = syntax::dynAs<syntax::ListExpr>(&e);
  if (list && out.empty() && depth == shape.size()) { // on the way to the first element
    shape.push_back(int64_t(list->elements.size()));
    if (!checkTileShape({shape.back()}, {e.span}, e.span))
      return false;
  }
  bool fits = list ? depth < shape.size() && shape[depth] == int64_t(list->elements.size()) : depth == shape.size();
  if (!fits) {
    report(Diag::ShapesDiffer, e.span, "the lists of a tile have one length along each axis",
           fmt::format("the first ones make a tile {}", shapeText(shape)));
    return false;
  }
  if (list)
    return std::ranges::all_of(
        list->elements, [&](const syntax::ExprPtr &element) { return listElements(*element, depth + 1, out, shape); });
  out.push_back({expr(e), e.span, &e, nullptr});
  return usable(out.back().value, e.span);
}

/// A tile of listed values. Known ones are one constant; others are put together half by half.
Value Checker::callTileList(BuiltinCall &call) {
  if (!call.dtype)
    return fail(Diag::WrongArguments, call.expr->callee.span, "'tile' needs a dtype", "write 'tile<f32>([…])'");
  const BoundArg &values = *call.find("values");
  std::vector<BoundArg> elements;
  std::vector<int64_t> shape;
  if (values.value.is(ValueKind::Tuple)) {
    for (const Value &element : values.value.elements)
      elements.push_back({element, values.span, nullptr, nullptr});
    shape.push_back(int64_t(elements.size()));
  } else if (values.expr->kind != syntax::ExprKind::List) {
    return fail(Diag::OperandType, values.span,
                fmt::format("'tile' takes a list of values, not {}", typeName(values.value)),
                "write 'tile<T>([a, b])'; a tile of one value is 'full<T>(shape…, value = x)'");
  } else if (!listElements(*values.expr, 0, elements, shape)) {
    return Value::error();
  }
  if (!checkTileShape(shape, std::vector<Span>(shape.size(), values.span), values.span))
    return Value::error();
  DType t = *call.dtype;
  bool known = true, good = true;
  for (BoundArg &element : elements) {
    Value &v = element.value;
    if (v.isTileLike() && !shapeOf(v).empty())
      v = fail(Diag::OperandType, element.span, fmt::format("an element of a tile is a scalar, not {}", typeName(v)));
    else if (v.isUntyped() || (v.is(ValueKind::Typed) && v.dtype == t)) {
      Folded typed = v.isUntyped() ? giveDType(v, t) : Folded(v);
      v = typed ? *typed : fail(typed.error(), element.span);
    } else {
      v = storable(v, t, element.span, "a tile");
    }
    good &= !v.isError();
    known &= v.isConstScalar();
  }
  if (!good)
    return Value::error();
  const Origin *why = origin(call.span, "'tile' makes a tile, which is a run-time value");
  if (known) {
    ListInst list;
    for (const BoundArg &element : elements)
      list.bits.push_back(element.value.bits);
    Type type{TypeKind::Tile, t, shape, 0};
    return Value::tile(builder.emit(std::move(list), {}, type, call.span), type, why);
  }
  std::vector<Value> parts;
  for (const BoundArg &element : elements)
    parts.push_back(reshaped(materialize(element.value, element.span), {1}, element.span));
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      Type type = parts[2 * i].type;
      type.shape[0] *= 2;
      parts[i] =
          Value::tile(builder.emit(CatInst{0}, {parts[2 * i].id, parts[2 * i + 1].id}, type, call.span), type, why);
    }
  Value result = reshaped(parts.front(), shape, call.span);
  result.origin = why;
  return result;
}

Value Checker::callArange(BuiltinCall &call) {
  DType t = call.dtype.value_or(DType::i32);
  if (!hasArithmetic(t) || t == DType::bool_)
    return fail(Diag::OperandType, call.expr->constArgs[0]->span,
                fmt::format("'arange' counts in integers or floats with arithmetic, not in {}", name(t)));
  auto shape = tileShape(call.many("n"), call.span);
  if (!shape)
    return Value::error();
  if (shape->size() != 1)
    return fail(Diag::WrongRank, call.span, "'arange' makes a tile of rank 1");
  Value start = Value::ofInt(0), step = Value::ofInt(1);
  Span startSpan = call.span, stepSpan = call.span;
  if (const BoundArg *arg = call.find("start"))
    start = arg->value, startSpan = arg->span;
  if (const BoundArg *arg = call.find("step")) {
    step = arg->value, stepSpan = arg->span;
    if (!needConst(step, stepSpan, "the step of 'arange'"))
      return Value::error();
  }
  if (!start.isTileLike() || !shapeOf(start).empty())
    return fail(Diag::OperandType, startSpan,
                fmt::format("the start of 'arange' is a scalar, not {}", typeName(start)));
  Type type{TypeKind::Tile, t, *shape, 0};
  const Origin *why = origin(call.span, "'arange' makes a tile, which is a run-time value");
  auto typed = [&](const Value &v, Span span) -> Value {
    if (v.isUntyped()) {
      Folded folded = giveDType(v, t);
      return folded ? *folded : fail(folded.error(), span);
    }
    return dtypeOf(v) == t ? v : storable(v, t, span, "'arange'");
  };
  start = typed(start, startSpan);
  step = typed(step, stepSpan);
  if (start.isError() || step.isError())
    return Value::error();
  if (isInt(t) && start.is(ValueKind::Typed) && step.is(ValueKind::Typed))
    return Value::tile(builder.emit(ArangeInst{start.bits, step.bits}, {}, type, call.span), type, why);
  // Floats, and starts known only at run time: start + i * step, element by element.
  Type counted = type;
  counted.dtype = isInt(t) ? t : DType::i32;
  Value count = Value::tile(builder.emit(ArangeInst{0, 1}, {}, counted, call.span), counted, why);
  count = convertTo(count, t, call.span);
  auto is = [](const Value &v, double number) {
    return v.is(ValueKind::Typed) && (isFloat(v.dtype) ? realOf(v) == number : integerOf(v) == BigInt(number));
  };
  if (!is(step, 1))
    count = binary(BinaryOp::Mul, count, call.span, step, stepSpan, call.span);
  return is(start, 0) ? count : binary(BinaryOp::Add, count, call.span, start, startSpan, call.span);
}

} // namespace tilec::sema
