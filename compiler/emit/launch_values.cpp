// Launch expressions inside a kernel: extents and strides that are not symbols alone. They are exact in i64; the launch
// has checked that they do not overflow.
#include "compiler/emit/emitter.h"

using namespace mlir;

namespace tilec::emit {

/// The operators that extents can use and that arith has under the language's meaning.
static Value binary(OpBuilder &b, Location at, LaunchOp op, Value x, Value y) {
  switch (op) {
  case LaunchOp::Add:
    return arith::AddIOp::create(b, at, x, y);
  case LaunchOp::Sub:
    return arith::SubIOp::create(b, at, x, y);
  case LaunchOp::Mul:
    return arith::MulIOp::create(b, at, x, y);
  case LaunchOp::Div:
    return arith::FloorDivSIOp::create(b, at, x, y);
  case LaunchOp::CDiv:
    return arith::CeilDivSIOp::create(b, at, x, y);
  case LaunchOp::TruncDiv:
    return arith::DivSIOp::create(b, at, x, y);
  case LaunchOp::TruncMod:
    return arith::RemSIOp::create(b, at, x, y);
  case LaunchOp::Min:
    return arith::MinSIOp::create(b, at, x, y);
  case LaunchOp::Max:
    return arith::MaxSIOp::create(b, at, x, y);
  case LaunchOp::BitAnd:
    return arith::AndIOp::create(b, at, x, y);
  case LaunchOp::BitOr:
    return arith::OrIOp::create(b, at, x, y);
  case LaunchOp::BitXor:
    return arith::XOrIOp::create(b, at, x, y);
  default:
    return {};
  }
}

static std::optional<arith::CmpIPredicate> comparison(LaunchOp op) {
  switch (op) {
  case LaunchOp::Lt:
    return arith::CmpIPredicate::slt;
  case LaunchOp::Le:
    return arith::CmpIPredicate::sle;
  case LaunchOp::Gt:
    return arith::CmpIPredicate::sgt;
  case LaunchOp::Ge:
    return arith::CmpIPredicate::sge;
  case LaunchOp::Eq:
    return arith::CmpIPredicate::eq;
  case LaunchOp::Ne:
    return arith::CmpIPredicate::ne;
  default:
    return std::nullopt;
  }
}

Value Emitter::launchValue(const LaunchExpr &expr) {
  auto widen = [&](Value value, DType from) -> Value {
    if (value.getType().isInteger(64))
      return value;
    return make<tile::ConvertOp>(builder.getI64Type(), value, StringRef(tilec::name(from)), "i64",
                                 tile::RoundingMode::rn, false);
  };
  if (expr.op == LaunchOp::Literal) {
    if (const int64_t *value = std::get_if<int64_t>(&expr.literal))
      return constant(DType::i64, uint64_t(*value));
    if (const bool *value = std::get_if<bool>(&expr.literal))
      return constant(DType::bool_, *value);
  }
  if (expr.op == LaunchOp::Symbol) {
    if (auto symbol = symbols.find(expr.symbol); symbol != symbols.end())
      return widen(symbol->second, DType::i32);
    for (const ScalarSpec &scalar : program.scalars)
      if (scalar.name == expr.symbol && isInt(scalar.dtype))
        return widen(scalars[scalar.name], scalar.dtype);
  }
  llvm::SmallVector<Value> args;
  for (const LaunchExpr &arg : expr.args)
    args.push_back(launchValue(arg));
  if (llvm::is_contained(args, Value()))
    return {};
  if (args.size() == 2) {
    if (Value value = binary(builder, location, expr.op, args[0], args[1]))
      return value;
    if (auto predicate = comparison(expr.op))
      return make<arith::CmpIOp>(*predicate, args[0], args[1]);
    if (expr.op == LaunchOp::Mod)
      return emitFloorMod(args[0], args[1]);
  }
  if (expr.op == LaunchOp::Neg)
    return make<arith::SubIOp>(constant(DType::i64, 0), args[0]);
  if (expr.op == LaunchOp::Abs)
    return make<math::AbsIOp>(args[0]);
  if (expr.op == LaunchOp::Select)
    return make<arith::SelectOp>(args[0], args[1], args[2]);
  fail(fmt::format("an extent or a stride of kernel '{}' uses '{}', which a kernel cannot compute", program.name,
                   toString(expr)));
  return {};
}

Value Emitter::launchIndex(const LaunchExpr &written, bool wide) {
  LaunchEnv folded;
  folded.values.insert(program.folded.begin(), program.folded.end());
  LaunchExpr expr = substitute(written, folded);
  Type wanted = builder.getIntegerType(wide ? 64 : 32);
  // The common cases stay bare: a symbol of the wanted width, a literal.
  if (auto symbol = symbols.find(expr.symbol); expr.op == LaunchOp::Symbol && symbol != symbols.end())
    if (symbol->second.getType() == wanted)
      return symbol->second;
  if (const int64_t *literal = std::get_if<int64_t>(&expr.literal); expr.isLiteral() && literal)
    return constant(wide ? DType::i64 : DType::i32, encodeInt(wide ? DType::i64 : DType::i32, *literal));
  Value value = launchValue(expr);
  if (!value || wide)
    return value;
  return make<tile::ConvertOp>(wanted, value, "i64", "i32", tile::RoundingMode::rn, false);
}

} // namespace tilec::emit
