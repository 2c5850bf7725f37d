// print and assert: records in the print buffer. The buffer begins with the bytes asked for so far (u64, what does not
// fit is counted as well) and 8 of padding; a record is u32 size, u32 message, u32 block, u32 0, then its values
// row-major, each at a multiple of 8, and is a multiple of 16 long. A failed assertion holds u32 the number of its
// first false element and u32 their count.
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/words.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

constexpr int64_t bufferHeader = 16, recordHeader = 16;

static int64_t padded(int64_t bytes, int64_t to = 8) { return (bytes + to - 1) / to * to; }

static Value offsetBy(KernelLowering &k, Value base, Value bytes) {
  return LLVM::GEPOp::create(k.b, k.loc, base.getType(), k.b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// Thread 0 takes room for a record and tells the others through shared memory. The record's address; `fits` is false
/// where the buffer is full, the same in all threads.
Value KernelLowering::reserveRecord(tgpu::AllocSharedOp buffer, int64_t message, int64_t bytes, Value &fits) {
  Value isFirst = compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0)), shared = sharedAddress(*this, buffer);
  // One thread's atomic, as a predicated instruction: the offset is clamped so that it fits 32 bits.
  SmallVector<Value> taken =
      assembly("{ .reg .pred p; setp.ne.b32 p, $3, 0; mov.b64 $0, 0; @p atom.global.add.u64 $0, [$1], $2; }",
               "=&l,l,l,r,~{memory}", {i64()},
               {printBuffer, constant(i64(), bytes), LLVM::ZExtOp::create(b, loc, i32(), isFirst).getResult()},
               /*sideEffects=*/true);
  Value limit = constant(i64(), printBufferBytes);
  Value clamped = resize(intrinsic("llvm.umin", i64(), {taken.front(), limit}), i32(), false);
  storeVector(*this, {"shared", i32(), 1}, shared, {clamped}, isFirst);
  auto meet = [&] { intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", Type(), {constant(i32(), 0)}); };
  meet();
  VectorAccess kind{"shared", i32(), 1, /*volatileLoad=*/true};
  Value at = fromWords(*this, kind, loadWords(*this, kind, shared, Value(), std::nullopt)).front();
  fits = compare(LLVM::ICmpPredicate::ule, at, constant(i32(), printBufferBytes - bufferHeader - bytes));
  Value record = offsetBy(*this, printBuffer, add(at, constant(i32(), bufferHeader)));
  auto special = [&](StringRef name) { return intrinsic(("llvm.nvvm.read.ptx.sreg." + name).str(), i32(), {}); };
  Value block = add(special("ctaid.x"),
                    mul(special("nctaid.x"), add(special("ctaid.y"), mul(special("nctaid.y"), special("ctaid.z")))));
  storeVector(*this, {"global", i32(), 4}, record,
              {constant(i32(), bytes), constant(i32(), message), block, constant(i32(), 0)}, bitAnd(fits, isFirst));
  return record;
}

LogicalResult KernelLowering::lowerPrint(tgpu::PrintOp op) {
  int64_t bytes = recordHeader;
  SmallVector<int64_t> places;
  auto sizeOf = [&](Type element) { return int64_t(memoryType(element).getIntOrFloatBitWidth() + 7) / 8; };
  for (Value value : op.getValues()) {
    places.push_back(bytes);
    int64_t elements = 1;
    for (int64_t extent : tile::tileShape(value.getType()))
      elements *= extent;
    bytes += padded(elements * sizeOf(getElementTypeOrSelf(value.getType())));
  }
  bytes = padded(bytes, recordHeader); // the head is stored as one vector
  Value fits;
  Value record = reserveRecord(op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>(), op.getMessage(), bytes, fits);
  Value isFirst = compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0));
  for (auto [value, place] : llvm::zip(op.getValues(), places)) {
    Type element = getElementTypeOrSelf(value.getType());
    Value base = offsetBy(*this, record, constant(i32(), place));
    VectorAccess kind{"global", memoryType(element), 1};
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      storeVector(*this, kind, base, {toMemory(scalar(value))}, bitAnd(fits, isFirst));
      continue;
    }
    LinearLayout layout = tile::layoutOf(type);
    Value owner = ownerPredicate(layout), guard = owner ? bitAnd(fits, owner) : fits;
    uint32_t replicas = layout.freeMask(InDim::Register);
    Value threadPart = threadCoordinate(layout, 0, layout.elementBits());
    uint64_t reached = threadBits(layout, 0, layout.elementBits());
    const Registers &registers = get(value);
    for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
      if (reg & replicas)
        continue;
      Value number = withRegister(threadPart, reached, layout.apply({reg, 0, 0, 0}));
      Value address = offsetBy(*this, base, mul(number, constant(i32(), sizeOf(element))));
      storeVector(*this, kind, address, {toMemory(registers[reg])}, guard);
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerAssert(tgpu::AssertOp op) {
  // What this thread holds: how many elements are false, and the first of them.
  Value count = constant(i32(), 0), first = constant(i32(), -1);
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  Value no = constant(i1(), 0);
  auto take = [&](Value holds, Value number, Value owner) {
    Value fails = compare(LLVM::ICmpPredicate::eq, holds, no);
    if (owner)
      fails = bitAnd(fails, owner);
    count = add(count, LLVM::ZExtOp::create(b, loc, i32(), fails));
    first = select(fails, intrinsic("llvm.umin", i32(), {first, number}), first);
  };
  if (type) {
    LinearLayout layout = tile::layoutOf(type);
    Value owner = ownerPredicate(layout), threadPart = threadCoordinate(layout, 0, layout.elementBits());
    uint32_t replicas = layout.freeMask(InDim::Register);
    uint64_t reached = threadBits(layout, 0, layout.elementBits());
    const Registers registers = get(op.getCondition());
    for (uint32_t reg = 0; reg < layout.registers(); ++reg)
      if (!(reg & replicas))
        take(registers[reg], withRegister(threadPart, reached, layout.apply({reg, 0, 0, 0})), owner);
  } else {
    take(scalar(op.getCondition()), constant(i32(), 0), compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0)));
  }
  Value mine = compare(LLVM::ICmpPredicate::ne, count, constant(i32(), 0));
  Value any =
      assembly(
          "{ .reg .pred p, q; setp.ne.b32 p, $1, 0; barrier.cta.red.or.pred.aligned q, 0, p; selp.b32 $0, 1, 0, q; }",
          "=r,r,~{memory}", {i32()}, {LLVM::ZExtOp::create(b, loc, i32(), mine).getResult()},
          /*sideEffects=*/true)
          .front();
  Block *before = b.getInsertionBlock(), *failed, *after;
  {
    OpBuilder::InsertionGuard guard(b);
    failed = b.createBlock(&func.getBody());
    after = b.createBlock(&func.getBody());
  }
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ne, any, constant(i32(), 0)), failed, after);
  b.setInsertionPointToStart(failed);
  Value fits;
  Value record =
      reserveRecord(op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>(), op.getMessage(), 2 * recordHeader, fits);
  Value isFirst = compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0));
  Value fields = offsetBy(*this, record, constant(i32(), recordHeader));
  storeVector(*this, {"global", i32(), 2}, fields, {constant(i32(), -1), constant(i32(), 0)}, bitAnd(fits, isFirst));
  intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", Type(), {constant(i32(), 0)});
  assembly("{ .reg .pred p; setp.ne.b32 p, $0, 0; @p red.global.min.u32 [$1], $2; @p red.global.add.u32 [$1+4], $3; }",
           "r,l,r,r,~{memory}", {},
           {LLVM::ZExtOp::create(b, loc, i32(), bitAnd(fits, mine)).getResult(), fields, first, count},
           /*sideEffects=*/true);
  LLVM::ReturnOp::create(b, loc, ValueRange()); // all threads of the block
  b.setInsertionPointToStart(after);
  return success();
}

} // namespace tilec::lower
