// x.to(T): one rounding from one dtype to another. What one instruction does exactly is one instruction; the rest are
// routines of the device library, `__tilec_cvt_<from>_<to>`.
#include "compiler/device/device.h"
#include "compiler/lower/kernel_lowering.h"

using namespace mlir;

namespace tilec::lower {
namespace {

bool isNarrowFloat(DType t) { return isFloat(t) && info(t).bits < 32; }

class Conversion {
public:
  Conversion(KernelLowering &k, tile::ConvertOp op)
      : k(k), b(k.b), op(op), from(*parseDType(op.getFrom())), to(*parseDType(op.getTo())),
        cuts(op.getRounding() == tile::RoundingMode::rz) {}
  Value run(Value value);

private:
  Type typeOf(DType t) { return k.scalarType(tile::elementType(k.context(), t)); }
  Value call(DType source, DType target, Value value);
  Value toBool(Value value);
  Value intToInt(Value value);
  Value intToFloat(Value value);
  Value widen(Value value, DType &source);
  Value floatToFloat(Value value, DType source);
  Value towardZero(Value rounded, Value exact);
  Value clampFinite(Value value, DType target);

  KernelLowering &k;
  OpBuilder &b;
  tile::ConvertOp op;
  DType from, to;
  bool cuts; ///< rounds towards zero
};

/// A routine's narrow floats are their bits.
Value Conversion::call(DType source, DType target, Value value) {
  auto storage = [&](DType t) {
    return isNarrowFloat(t) ? b.getIntegerType(unsigned(info(t).bits) < 16 ? 8 : 16) : typeOf(t);
  };
  std::string symbol = deviceCvtSymbol(name(source), name(target), cuts && target == DType::f8e8m0);
  if (value.getType() != storage(source))
    value = LLVM::BitcastOp::create(b, k.loc, storage(source), value);
  assert(!symbol.empty() && "device.def has no routine for this conversion");
  Value result = k.call(symbol, storage(target), value);
  return result.getType() == typeOf(target) ? result
                                            : LLVM::BitcastOp::create(b, k.loc, typeOf(target), result).getResult();
}

Value Conversion::toBool(Value value) {
  DType source = from;
  value = isFloat(from) ? widen(value, source) : value;
  if (auto type = dyn_cast<FloatType>(value.getType()))
    return LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate::une, value,
                                k.constantBits(type, APInt::getZero(type.getWidth())));
  return k.compare(LLVM::ICmpPredicate::ne, value, k.constant(value.getType(), 0));
}

Value Conversion::intToInt(Value value) {
  unsigned toBits = unsigned(info(to).bits);
  bool toSigned = info(to).isSigned, fromSigned = from != DType::bool_ && info(from).isSigned;
  if (op.getSaturate()) {
    // In a type that holds both ranges clamping needs no thought; LLVM narrows it again.
    unsigned fromBits = value.getType().getIntOrFloatBitWidth(), wide = std::max(fromBits, toBits) + 1;
    Type type = b.getIntegerType(wide);
    value = k.resize(value, type, fromSigned);
    APInt low = toSigned ? APInt::getSignedMinValue(toBits).sext(wide) : APInt::getZero(wide);
    APInt high = toSigned ? APInt::getSignedMaxValue(toBits).sext(wide) : APInt::getMaxValue(toBits).zext(wide);
    value = LLVM::SMaxOp::create(b, k.loc, value, k.constantBits(type, low));
    value = LLVM::SMinOp::create(b, k.loc, value, k.constantBits(type, high));
  }
  return k.resize(value, b.getIntegerType(toBits), fromSigned);
}

Value Conversion::intToFloat(Value value) {
  bool isSigned = from != DType::bool_ && info(from).isSigned;
  if (cuts && to != DType::f64) { // an integer of 32 bits is exact in f64
    Type wide = b.getF64Type();
    value = isSigned ? LLVM::SIToFPOp::create(b, k.loc, wide, value).getResult()
                     : LLVM::UIToFPOp::create(b, k.loc, wide, value).getResult();
    return floatToFloat(value, DType::f64);
  }
  if (to == DType::f32 || to == DType::f64)
    return isSigned ? LLVM::SIToFPOp::create(b, k.loc, typeOf(to), value).getResult()
                    : LLVM::UIToFPOp::create(b, k.loc, typeOf(to), value).getResult();
  // Routines take 32 and 64 bits; what is narrower fits in i32 exactly.
  DType source = from;
  if (value.getType().getIntOrFloatBitWidth() < 32) {
    value = k.resize(value, k.i32(), isSigned);
    source = DType::i32;
  }
  return clampFinite(call(source, to, value), to);
}

/// f16, bf16, fp8, fp4 and tf32 as f32, exactly.
Value Conversion::widen(Value value, DType &source) {
  if (source == DType::f32 || source == DType::f64)
    return value;
  if (source == DType::f16 || source == DType::bf16)
    value = LLVM::FPExtOp::create(b, k.loc, b.getF32Type(), value);
  else if (source != DType::tf32)
    value = call(source, DType::f32, value);
  source = DType::f32;
  return value;
}

/// `saturate` of the formats that have infinities: those become the largest finite value.
Value Conversion::clampFinite(Value value, DType target) {
  auto type = dyn_cast<FloatType>(value.getType());
  if (!op.getSaturate() || !type)
    return value;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APFloat largest = APFloat::getLargest(semantics);
  if (target == DType::tf32)
    largest = APFloat(semantics, APInt(32, encodeFloat(DType::f32, maxFinite(DType::tf32))));
  Value magnitude = k.intrinsic("llvm.fabs", type, value);
  Value infinite = LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate::oeq, magnitude,
                                        k.constantBits(type, APFloat::getInf(semantics).bitcastToAPInt()));
  Value limit = k.intrinsic("llvm.copysign", type, {k.constantBits(type, largest.bitcastToAPInt()), value});
  return k.select(infinite, limit, value);
}

Value Conversion::floatToFloat(Value value, DType source) {
  if (source == to)
    return value;
  if (source == DType::f32 && to == DType::f64)
    return LLVM::FPExtOp::create(b, k.loc, typeOf(to), value);
  bool oneInstruction = (source == DType::f64 && (to == DType::f32 || to == DType::f16)) ||
                        (source == DType::f32 && (to == DType::f16 || to == DType::bf16));
  Value result =
      oneInstruction ? LLVM::FPTruncOp::create(b, k.loc, typeOf(to), value).getResult() : call(source, to, value);
  return clampFinite(cuts && to != DType::f8e8m0 ? towardZero(result, value) : result, to);
}

/// From the nearest value to the next one towards zero, where the nearest is the larger in size: an infinity that
/// rounding made becomes the largest finite value, one that was there stays.
Value Conversion::towardZero(Value rounded, Value exact) {
  DType wide = to;
  Value back = widen(rounded, wide);
  if (back.getType() != exact.getType())
    back = LLVM::FPExtOp::create(b, k.loc, exact.getType(), back);
  auto size = [&](Value x) { return k.intrinsic("llvm.fabs", x.getType(), x); };
  Value larger = LLVM::FCmpOp::create(b, k.loc, LLVM::FCmpPredicate::ogt, size(back), size(exact));
  Type storage = b.getIntegerType(rounded.getType().getIntOrFloatBitWidth());
  bool isInteger = rounded.getType() == storage;
  Value bits = isInteger ? rounded : LLVM::BitcastOp::create(b, k.loc, storage, rounded).getResult();
  // tf32 counts in the upper bits of an f32.
  Value less = k.add(bits, k.constant(storage, to == DType::tf32 ? -(1 << 13) : -1));
  Value chosen = k.select(larger, less, bits);
  return isInteger ? chosen : LLVM::BitcastOp::create(b, k.loc, rounded.getType(), chosen).getResult();
}

Value Conversion::run(Value value) {
  if (to == DType::bool_)
    return toBool(value);
  if (!isFloat(from))
    return isFloat(to) ? intToFloat(value) : intToInt(value);
  DType source = from;
  value = widen(value, source);
  if (isFloat(to))
    return floatToFloat(value, source);
  return call(source, to, value);
}

} // namespace

LogicalResult KernelLowering::lowerConvert(tile::ConvertOp op) {
  DType from = *parseDType(op.getFrom()), to = *parseDType(op.getTo());
  bool cuts = op.getRounding() == tile::RoundingMode::rz;
  bool isWideInteger = !isFloat(from) && info(from).bits == 64;
  if (!(op.getRounding() == tile::RoundingMode::rn || (cuts && !(isWideInteger && isFloat(to)))))
    return op.emitOpError("this rounding has no lowering");
  Conversion conversion(*this, op);
  Registers registers;
  for (Value value : get(op.getValue()))
    registers.push_back(conversion.run(value));
  set(op, std::move(registers));
  return success();
}

} // namespace tilec::lower
