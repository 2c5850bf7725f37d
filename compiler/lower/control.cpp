// Structured control flow → blocks. Everything carried is passed as block arguments, one for each register.
#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::lower {

static Registers flatten(KernelLowering &k, ValueRange list) {
  Registers all;
  for (Value value : list)
    llvm::append_range(all, k.get(value));
  return all;
}

/// Adds an argument for each register of each value and makes them the values' registers.
static void bind(KernelLowering &k, Block *block, ValueRange list) {
  for (Value value : list) {
    Type type = k.scalarType(getElementTypeOrSelf(value.getType()));
    Registers registers;
    for (unsigned i = 0; i < k.registerCount(value.getType()); ++i)
      registers.push_back(block->addArgument(type, k.loc));
    k.set(value, std::move(registers));
  }
}

static Block *newBlock(KernelLowering &k) {
  OpBuilder::InsertionGuard guard(k.b);
  return k.b.createBlock(&k.func.getBody());
}

LogicalResult KernelLowering::lowerFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  Value lower = scalar(loop.getLowerBound()), upper = scalar(loop.getUpperBound()), step = scalar(loop.getStep());
  Block *body = newBlock(*this), *exit = newBlock(*this);

  Value enter = compare(LLVM::ICmpPredicate::slt, lower, upper);
  if (!matchPattern(loop.getStep(), m_Constant()))
    enter = bitAnd(enter, compare(LLVM::ICmpPredicate::sgt, step, constant(step.getType(), 0)));
  Registers inits = flatten(*this, loop.getInitArgs());
  Registers first = {lower};
  llvm::append_range(first, inits);
  LLVM::CondBrOp::create(b, loc, enter, body, first, exit, inits);

  b.setInsertionPointToStart(body);
  bind(*this, body, loop.getInductionVar());
  bind(*this, body, loop.getRegionIterArgs());
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  loc = loop.getLoc();
  Value index = scalar(loop.getInductionVar()), next, again;
  if (matchPattern(loop.getStep(), m_One())) {
    next = LLVM::AddOp::create(b, loc, index, step, LLVM::IntegerOverflowFlags::nsw);
    again = compare(LLVM::ICmpPredicate::slt, next, upper);
  } else {
    // What is left, compared without sign, decides: the sum might pass the largest integer.
    next = add(index, step);
    again = compare(LLVM::ICmpPredicate::ugt, LLVM::SubOp::create(b, loc, upper, index), step);
  }
  Registers yielded = flatten(*this, loop.getBody()->getTerminator()->getOperands());
  Registers carried = {next};
  llvm::append_range(carried, yielded);
  auto latch = LLVM::CondBrOp::create(b, loc, again, body, carried, exit, yielded);
  // A trip already works on whole tiles; unrolling it again costs the assembler seconds.
  auto unroll = LLVM::LoopUnrollAttr::get(context(), b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  latch.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(context(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));

  b.setInsertionPointToStart(exit);
  bind(*this, exit, loop.getResults());
  return success();
}

LogicalResult KernelLowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  Block *then = newBlock(*this), *merge = newBlock(*this);
  bool hasElse = !branch.getElseRegion().empty();
  Block *otherwise = hasElse ? newBlock(*this) : merge;
  LLVM::CondBrOp::create(b, loc, scalar(branch.getCondition()), then, otherwise);
  for (auto [region, block] : {std::pair{&branch.getThenRegion(), then}, {&branch.getElseRegion(), otherwise}}) {
    if (region->empty())
      continue;
    b.setInsertionPointToStart(block);
    if (failed(lowerBlock(region->front())))
      return failure();
    LLVM::BrOp::create(b, loc, flatten(*this, region->front().getTerminator()->getOperands()), merge);
  }
  loc = branch.getLoc();
  b.setInsertionPointToStart(merge);
  bind(*this, merge, branch.getResults());
  return success();
}

LogicalResult KernelLowering::lowerWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  Block *before = newBlock(*this), *after = newBlock(*this), *exit = newBlock(*this);
  LLVM::BrOp::create(b, loc, flatten(*this, loop.getInits()), before);

  b.setInsertionPointToStart(before);
  bind(*this, before, loop.getBeforeArguments());
  if (failed(lowerBlock(*loop.getBeforeBody())))
    return failure();
  Registers passed = flatten(*this, loop.getConditionOp().getArgs());
  LLVM::CondBrOp::create(b, loc, scalar(loop.getConditionOp().getCondition()), after, passed, exit, passed);

  b.setInsertionPointToStart(after);
  bind(*this, after, loop.getAfterArguments());
  if (failed(lowerBlock(*loop.getAfterBody())))
    return failure();
  LLVM::BrOp::create(b, loc, flatten(*this, loop.getYieldOp().getOperands()), before);

  loc = loop.getLoc();
  b.setInsertionPointToStart(exit);
  bind(*this, exit, loop.getResults());
  return success();
}

} // namespace tilec::lower
