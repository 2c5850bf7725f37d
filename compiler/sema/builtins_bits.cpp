// Bits of numbers: reinterpretation, bytes, counts.
#include "compiler/sema/checker.h"
#include <bit>

namespace tilec::sema {

/// What the bits of `x` may be: a tile or scalar that is no bool. Numbers without a dtype take their own.
Value Checker::bitsOperand(BuiltinCall &call, const BoundArg &x) {
  if (!x.value.isTileLike())
    return fail(Diag::OperandType, x.span,
                fmt::format("'{}' takes a tile or a scalar, not {}", call.info->name, typeName(x.value)));
  if (!x.value.isUntyped() && dtypeOf(x.value) == DType::bool_)
    return fail(Diag::OperandType, x.span,
                fmt::format("a bool has no bits to speak of: '{}' does not take it", call.info->name),
                "convert it, as in 'x.to(u8)'");
  Folded typed = x.value.isConstScalar() ? defaultTyped(x.value) : Folded(x.value);
  return typed ? *typed : fail(typed.error(), x.span);
}

std::optional<DType> Checker::bitsDType(BuiltinCall &call) {
  if (!call.dtype) {
    report(Diag::WrongArguments, call.expr->callee.span, fmt::format("'{}' needs a dtype", call.info->name),
           fmt::format("write '{}<u32>(…)'", call.info->name));
  } else if (*call.dtype == DType::bool_) {
    report(Diag::OperandType, call.expr->constArgs[0]->span, fmt::format("'{}' does not give bools", call.info->name),
           "compare what it gives, as in 'x != 0'");
    return std::nullopt;
  }
  return call.dtype;
}

Value Checker::callBitcast(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  auto to = bitsDType(call);
  Value v = bitsOperand(call, x);
  if (!to || v.isError())
    return Value::error();
  DType from = dtypeOf(v);
  if (info(from).bits != info(*to).bits)
    return fail(Diag::WidthsDiffer, call.span,
                fmt::format("{} has {} bits and {} has {}: 'bitcast' keeps the width", name(from), info(from).bits,
                            name(*to), info(*to).bits),
                info(from).bits % info(*to).bits && info(*to).bits % info(from).bits
                    ? ""
                    : "tiles are cut into bytes with 'pack(x)' and put together with 'unpack<T>(bytes)'");
  if (from == *to)
    return v;
  if (v.is(ValueKind::Typed)) // a tf32 has 19 bits: the others are cut
    return Value::typed(*to, *to == DType::tf32 ? v.bits & ~uint64_t(0x1FFF) : v.bits);
  Type type = v.type;
  type.dtype = *to;
  return Value::tile(builder.emit(BitcastInst{}, {v.id}, type, call.span), type, v.origin);
}

/// The one tile of `pack` and `unpack`, which is of rank 1.
Value Checker::lineOperand(BuiltinCall &call, const BoundArg &x) {
  Value v = bitsOperand(call, x);
  if (!v.isError() && shapeOf(v).size() != 1)
    return fail(Diag::WrongRank, x.span,
                fmt::format("'{}' takes a tile of rank 1, not {}", call.info->name, typeName(v)),
                "put the elements in a row with 'x.reshape(n)'");
  return v;
}

Value Checker::callPack(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  Value v = lineOperand(call, x);
  if (v.isError())
    return v;
  int64_t bits = v.type.shape[0] * info(v.type.dtype).bits;
  if (bits % 8 != 0)
    return fail(Diag::WidthsDiffer, x.span, fmt::format("{} is half a byte", typeName(v)));
  Type type{TypeKind::Tile, DType::u8, {bits / 8}, 0};
  if (!checkTileShape(type.shape, {call.span}, call.span))
    return Value::error();
  return Value::tile(builder.emit(PackInst{}, {v.id}, type, call.span), type, v.origin);
}

Value Checker::callUnpack(BuiltinCall &call) {
  const BoundArg &x = *call.find("bytes");
  auto to = bitsDType(call);
  Value v = lineOperand(call, x);
  if (!to || v.isError())
    return Value::error();
  if (v.type.dtype != DType::u8)
    return fail(Diag::OperandType, x.span, fmt::format("'unpack' takes bytes, a tile of u8, not {}", typeName(v)),
                "'pack(x)' gives the bytes of a tile");
  int64_t bits = v.type.shape[0] * 8;
  if (bits % info(*to).bits != 0)
    return fail(Diag::WidthsDiffer, x.span,
                fmt::format("{} byte{} make no {}, which takes {}", bits / 8, bits == 8 ? "" : "s", name(*to),
                            info(*to).bits / 8));
  Type type{TypeKind::Tile, *to, {bits / info(*to).bits}, 0};
  if (!checkTileShape(type.shape, {call.span}, call.span))
    return Value::error();
  return Value::tile(builder.emit(UnpackInst{}, {v.id}, type, call.span), type, v.origin);
}

Value Checker::callPopcount(BuiltinCall &call) {
  const BoundArg &x = *call.find("x");
  bool integral =
      x.value.is(ValueKind::Int) || (x.value.isTileLike() && !x.value.isUntyped() && isInt(dtypeOf(x.value)));
  if (!integral)
    return fail(Diag::OperandType, x.span, fmt::format("'popcount' takes integers, not {}", typeName(x.value)),
                x.value.isTileLike() && !x.value.isUntyped() ? "the bits of a float are 'bitcast<u32>(x)'" : "");
  Value v = bitsOperand(call, x);
  if (v.is(ValueKind::Typed)) {
    int64_t count = std::popcount(v.bits);
    return x.value.isUntyped() ? Value::ofInt(count) : Value::typed(v.dtype, encodeInt(v.dtype, count));
  }
  return v.isError() ? v : unary(UnaryOp::Popcount, v, call.span, {});
}

} // namespace tilec::sema
