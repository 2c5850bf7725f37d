// Correctly rounded division of many f32 by few: a row by its sum, by its norm. The reciprocal and its refinement are
// shared, which leaves five multiply-adds an element where the full operation takes more than twice that.
#include "compiler/lower/kernel_lowering.h"

using namespace mlir;

namespace tilec::lower {
namespace {

/// The quotient refined twice, as the full operation does: the second remainder is exact and decides the rounding.
/// Holds for the ranges that isSafe() tests, where nothing on the way overflows or loses bits below the smallest
/// subnormal.
class SharedDivisor {
public:
  SharedDivisor(KernelLowering &k, Value divisor) : k(k) {
    Type f32 = k.b.getF32Type();
    negated = LLVM::FNegOp::create(k.b, k.loc, divisor);
    Value estimate = k.intrinsic("llvm.nvvm.rcp.approx.ftz.f", f32, divisor);
    Value residual = fma(negated, estimate, number(1.0f));
    reciprocal = fma(estimate, residual, estimate);
    Value size = k.intrinsic("llvm.fabs", f32, divisor);
    safe = k.bitAnd(compare(LLVM::FCmpPredicate::oge, size, number(0x1p-20f)),
                    compare(LLVM::FCmpPredicate::olt, size, number(0x1p26f)));
  }
  Value quotient(Value dividend, bool mayBeNegative) {
    Value first = LLVM::FMulOp::create(k.b, k.loc, dividend, reciprocal), q = first;
    for (int round = 0; round < 2; ++round)
      q = fma(fma(negated, q, dividend), reciprocal, q);
    // A zero remainder turns a quotient of -0 into +0.
    return mayBeNegative ? k.intrinsic("llvm.copysign", q.getType(), {q, first}) : q;
  }
  Value isSafe() const { return safe; }

  Value number(float value) { return k.constantBits(k.b.getF32Type(), APFloat(value).bitcastToAPInt()); }
  Value compare(LLVM::FCmpPredicate predicate, Value x, Value y) {
    return LLVM::FCmpOp::create(k.b, k.loc, predicate, x, y);
  }

private:
  Value fma(Value x, Value y, Value z) { return k.intrinsic("llvm.fma", x.getType(), {x, y, z}); }
  KernelLowering &k;
  Value negated, reciprocal, safe;
};

} // namespace

std::optional<Registers> divideByFew(KernelLowering &k, ArrayRef<Value> dividends, ArrayRef<Value> divisors,
                                     bool mayBeNegative) {
  llvm::MapVector<Value, int> distinct;
  for (Value divisor : divisors)
    distinct[divisor] = 0;
  if (dividends.size() < 4 * distinct.size())
    return std::nullopt;

  OpBuilder &b = k.b;
  Type f32 = b.getF32Type(), i32 = k.i32();
  SmallVector<SharedDivisor> shared;
  Value safe;
  for (auto &[divisor, index] : distinct) {
    index = int(shared.size());
    shared.emplace_back(k, divisor);
    safe = safe ? k.bitAnd(safe, shared.back().isSafe()) : shared.back().isSafe();
  }
  // One test for all dividends of the thread, before any quotient needs a register: none above 2^64, none but zero
  // below 2^-100. Without its sign and less 1 a zero is the largest number; a NaN, which any path hands on, is no
  // obstacle.
  Value largest, smallest;
  for (Value dividend : dividends) {
    Value size = k.intrinsic("llvm.fabs", f32, dividend);
    largest = largest ? k.intrinsic("llvm.maximumnum", f32, {largest, size}) : size;
    Value bits = LLVM::BitcastOp::create(b, k.loc, i32, dividend);
    Value rank = k.add(LLVM::ShlOp::create(b, k.loc, bits, k.constant(i32, 1)), k.constant(i32, -1));
    smallest = smallest ? LLVM::UMinOp::create(b, k.loc, smallest, rank).getResult() : rank;
  }
  uint64_t least = APFloat(0x1p-100f).bitcastToAPInt().getZExtValue() << 1;
  safe = k.bitAnd(safe, shared.front().compare(LLVM::FCmpPredicate::ule, largest, shared.front().number(0x1p64f)));
  safe = k.bitAnd(safe, k.compare(LLVM::ICmpPredicate::uge, smallest, k.constant(i32, int64_t(least - 1))));

  Region &body = k.func.getBody();
  Block *entry = b.getInsertionBlock(), *fast = b.createBlock(&body), *slow = b.createBlock(&body),
        *merge = b.createBlock(&body);
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, k.loc, safe, fast, slow);
  auto branch = [&](Block *block, llvm::function_ref<Value(size_t)> quotient) {
    b.setInsertionPointToStart(block);
    Registers results;
    for (size_t i = 0; i < dividends.size(); ++i)
      results.push_back(quotient(i));
    LLVM::BrOp::create(b, k.loc, results, merge);
  };
  branch(fast, [&](size_t i) { return shared[size_t(distinct[divisors[i]])].quotient(dividends[i], mayBeNegative); });
  branch(slow, [&](size_t i) { return LLVM::FDivOp::create(b, k.loc, dividends[i], divisors[i]).getResult(); });
  b.setInsertionPointToStart(merge);
  Registers results;
  for (size_t i = 0; i < dividends.size(); ++i)
    results.push_back(merge->addArgument(f32, k.loc));
  return results;
}

} // namespace tilec::lower
