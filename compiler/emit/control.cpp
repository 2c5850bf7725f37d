// Instructions in order, and the structured control flow they stand in.
#include "compiler/emit/emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec::emit {

TypedAttr Emitter::constantAttr(DType dtype, uint64_t bits) {
  Type element = tile::elementType(builder.getContext(), dtype);
  if (auto type = dyn_cast<FloatType>(element)) {
    if (dtype == DType::tf32) // the language stores the upper 19 bits of an f32
      bits >>= 13;
    return FloatAttr::get(type, APFloat(type.getFloatSemantics(), APInt(type.getWidth(), bits)));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  return IntegerAttr::get(element, APInt(width, bits, false, /*implicitTrunc=*/true));
}

Value Emitter::constant(DType dtype, uint64_t bits) { return make<arith::ConstantOp>(constantAttr(dtype, bits)); }

llvm::SmallVector<Value> Emitter::indices(const sema::Inst &inst, size_t first, size_t count) const {
  llvm::SmallVector<Value> list;
  for (size_t i = 0; i < count; ++i)
    list.push_back(operand(inst, first + i));
  return list;
}

tile::RoundingMode Emitter::roundingMode(Rounding mode) {
  switch (mode) {
  case Rounding::NearestEven:
    return tile::RoundingMode::rn;
  case Rounding::Zero:
    return tile::RoundingMode::rz;
  case Rounding::Down:
    return tile::RoundingMode::rm;
  case Rounding::Up:
    return tile::RoundingMode::rp;
  }
  return tile::RoundingMode::rn;
}

static tile::Padding padding(sema::Padding value) {
  switch (value) {
  case sema::Padding::None:
    return tile::Padding::none;
  case sema::Padding::Zero:
    return tile::Padding::zero;
  case sema::Padding::NegZero:
    return tile::Padding::negzero;
  case sema::Padding::NaN:
    return tile::Padding::nan;
  case sema::Padding::Inf:
    return tile::Padding::inf;
  case sema::Padding::NegInf:
    return tile::Padding::neginf;
  }
  return tile::Padding::none;
}

tile::ReduceKind reduceKind(sema::ReduceOp op) {
  switch (op) {
  case sema::ReduceOp::Sum:
    return tile::ReduceKind::sum;
  case sema::ReduceOp::Prod:
    return tile::ReduceKind::prod;
  case sema::ReduceOp::Min:
    return tile::ReduceKind::min;
  case sema::ReduceOp::Max:
    return tile::ReduceKind::max;
  case sema::ReduceOp::Any:
    return tile::ReduceKind::any;
  case sema::ReduceOp::All:
    return tile::ReduceKind::all;
  }
  return tile::ReduceKind::sum;
}

// The enumerations of a program and of tile IR have their members in one order.
tile::MemoryOrder memoryOrder(sema::MemoryOrder order) { return tile::MemoryOrder(order); }
tile::MemoryScope memoryScope(sema::MemoryScope scope) { return tile::MemoryScope(scope); }
static_assert(int(tile::MemoryOrder::acq_rel) == int(sema::MemoryOrder::AcqRel) &&
              int(tile::MemoryScope::system) == int(sema::MemoryScope::System));

namespace {
template <typename... F> struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F> Overloaded(F...) -> Overloaded<F...>;
} // namespace

/// The value of an instruction; null for those without one, or with several, which define theirs themselves.
Value Emitter::emitInst(const sema::Inst &inst) {
  auto type = [&] { return irType(typeOf(inst.results[0])); };
  auto dtype = [&](size_t i) { return typeOf(inst.operands[i]).dtype; };
  return std::visit(
      Overloaded{
          [&](const sema::ConstInst &i) -> Value { return constant(typeOf(inst.results[0]).dtype, i.bits); },
          [&](const sema::ListInst &i) -> Value {
            llvm::SmallVector<Attribute> elements;
            for (uint64_t bits : i.bits)
              elements.push_back(constantAttr(typeOf(inst.results[0]).dtype, bits));
            return make<arith::ConstantOp>(DenseElementsAttr::get(cast<RankedTensorType>(type()), elements));
          },
          [&](const sema::ArangeInst &i) -> Value {
            DType element = typeOf(inst.results[0]).dtype;
            return make<tile::ArangeOp>(type(), constantAttr(element, i.start), constantAttr(element, i.step));
          },
          [&](const sema::BlockIdInst &i) -> Value { return make<tile::BlockIdOp>(type(), uint32_t(i.axis)); },
          [&](const sema::NumBlocksInst &i) -> Value { return make<tile::NumBlocksOp>(type(), uint32_t(i.axis)); },
          [&](const sema::ArrayArgInst &i) -> Value { return arrays[i.index]; },
          [&](const sema::ScalarArgInst &i) -> Value { return scalars[program.scalars[i.index].name]; },
          [&](const sema::SymbolInst &i) -> Value {
            if (program.letDTypes.contains(i.name))
              return scalars[i.name];
            return launchIndex(LaunchExpr::name(i.name), typeOf(inst.results[0]).dtype == DType::i64);
          },
          [&](const sema::ExtentInst &i) -> Value {
            return make<tile::ExtentOp>(type(), operand(inst, 0), uint32_t(i.axis));
          },
          [&](const sema::AtInst &) -> Value {
            return make<tile::AtOp>(type(), operand(inst, 0), indices(inst, 1, inst.operands.size() - 1));
          },
          [&](const sema::SliceInst &i) -> Value {
            return make<tile::SliceOp>(type(), operand(inst, 0), uint32_t(i.axis), operand(inst, 1), operand(inst, 2),
                                       operand(inst, 3));
          },
          [&](const sema::UnaryInst &i) -> Value { return emitUnary(inst, i); },
          [&](const sema::BinaryInst &i) -> Value { return emitBinary(inst, i); },
          [&](const sema::FmaInst &i) -> Value {
            Value a = flushed(operand(inst, 0), i.ftz), b = flushed(operand(inst, 1), i.ftz);
            Value c = flushed(operand(inst, 2), i.ftz);
            return flushed(mark(make<math::FmaOp>(a, b, c), false, i.rounding), i.ftz);
          },
          [&](const sema::CompareInst &i) -> Value { return emitCompare(inst, i.op); },
          [&](const sema::SelectInst &) -> Value {
            return make<arith::SelectOp>(operand(inst, 0), operand(inst, 1), operand(inst, 2));
          },
          [&](const sema::ConvertInst &i) -> Value {
            return make<tile::ConvertOp>(type(), operand(inst, 0), StringRef(tilec::name(dtype(0))),
                                         StringRef(tilec::name(typeOf(inst.results[0]).dtype)),
                                         roundingMode(i.rounding), i.saturate);
          },
          [&](const sema::BroadcastInst &) -> Value {
            Value x = operand(inst, 0);
            if (x.getType() == type())
              return x;
            if (typeOf(inst.operands[0]).shape.empty())
              return make<tile::SplatOp>(type(), x);
            return make<tile::BroadcastOp>(type(), x);
          },
          [&](const sema::ReshapeInst &) -> Value {
            Value x = operand(inst, 0);
            return x.getType() == type() ? x : make<tile::ReshapeOp>(type(), x).getResult();
          },
          [&](const sema::ReduceInst &i) -> Value {
            bool extreme = i.op == sema::ReduceOp::Min || i.op == sema::ReduceOp::Max;
            bool isUnsigned = extreme && isInt(dtype(0)) && this->isUnsigned(dtype(0));
            bool propagate = extreme && isFloat(dtype(0)) && i.propagateNan;
            return make<tile::ReduceOp>(type(), operand(inst, 0), reduceKind(i.op), i.axes, isUnsigned, propagate);
          },
          [&](const sema::ArgExtremeInst &i) -> Value {
            bool ints = isInt(dtype(0));
            return make<tile::ArgExtremeOp>(type(), operand(inst, 0), i.axis, i.max, ints && isUnsigned(dtype(0)),
                                            !ints && i.propagateNan);
          },
          [&](const sema::ReduceFnInst &i) -> Value {
            emitReduceFn(inst, i);
            return {};
          },
          [&](const sema::ScanInst &i) -> Value {
            return make<tile::ScanOp>(type(), operand(inst, 0), reduceKind(i.op), i.axis, i.reverse, i.exclusive);
          },
          [&](const sema::ScanFnInst &i) -> Value {
            emitScanFn(inst, i);
            return {};
          },
          [&](const sema::PermuteInst &i) -> Value { return make<tile::PermuteOp>(type(), operand(inst, 0), i.axes); },
          [&](const sema::CatInst &i) -> Value {
            return make<tile::CatOp>(type(), operand(inst, 0), operand(inst, 1), i.axis);
          },
          [&](const sema::ExtractInst &) -> Value {
            return make<tile::ExtractOp>(type(), operand(inst, 0), indices(inst, 1, inst.operands.size() - 1));
          },
          [&](const sema::InsertInst &) -> Value {
            return make<tile::InsertOp>(type(), values[inst.operands.back()], operand(inst, 0),
                                        indices(inst, 1, inst.operands.size() - 2));
          },
          [&](const sema::BitcastInst &) -> Value {
            return make<tile::BitcastOp>(type(), operand(inst, 0), StringRef(tilec::name(dtype(0))),
                                         StringRef(tilec::name(typeOf(inst.results[0]).dtype)));
          },
          [&](const sema::PackInst &) -> Value { return make<tile::PackOp>(type(), operand(inst, 0)); },
          [&](const sema::UnpackInst &) -> Value { return make<tile::UnpackOp>(type(), operand(inst, 0)); },
          [&](const sema::MmaInst &i) -> Value { return emitMma(inst, i); },
          [&](const sema::AssumeDivisibleInst &i) -> Value {
            return make<tile::AssumeDivisibleOp>(operand(inst, 0), i.divisor);
          },
          [&](const sema::ViewInst &i) -> Value {
            return make<tile::ViewOp>(type(), operand(inst, 0), i.step, i.axes, padding(i.padding));
          },
          [&](const sema::NumTilesInst &i) -> Value {
            return make<tile::NumTilesOp>(type(), operand(inst, 0), uint32_t(i.axis));
          },
          [&](const sema::LoadInst &i) -> Value {
            return make<tile::LoadOp>(type(), operand(inst, 0), indices(inst, 1, inst.operands.size() - 1),
                                      uint32_t(i.site), i.inBounds, memoryOrder(i.ordering.order),
                                      memoryScope(i.ordering.scope));
          },
          [&](const sema::StoreInst &i) -> Value {
            emitStore(inst, i);
            return {};
          },
          [&](const sema::ViewAtomicInst &i) -> Value {
            emitViewAtomic(inst, i);
            return {};
          },
          [&](const sema::GatherInst &i) -> Value { return emitGather(inst, i); },
          [&](const sema::ScatterInst &i) -> Value {
            emitScatter(inst, i);
            return {};
          },
          [&](const sema::AtomicInst &i) -> Value { return emitAtomic(inst, i); },
          [&](const sema::PrintInst &i) -> Value {
            emitPrint(inst, i);
            return {};
          },
          [&](const sema::AssertInst &i) -> Value {
            make<tile::AssertOp>(operand(inst, 0), i.text);
            return {};
          },
          [&](const sema::GridWaitInst &) -> Value {
            make<tile::GridWaitOp>();
            return {};
          },
          [&](const sema::GridLaunchInst &) -> Value {
            make<tile::GridLaunchOp>();
            return {};
          },
          [&](const sema::IfInst &) -> Value {
            emitIf(inst);
            return {};
          },
          [&](const sema::ForInst &) -> Value {
            emitFor(inst);
            return {};
          },
          [&](const sema::WhileInst &) -> Value {
            emitWhile(inst);
            return {};
          },
          [&](const sema::ConditionInst &) -> Value {
            make<scf::ConditionOp>(operand(inst, 0), indices(inst, 1, inst.operands.size() - 1));
            return {};
          },
          [&](const sema::YieldInst &) -> Value {
            auto all = indices(inst, 0, inst.operands.size());
            bool combines = isa<tile::ReduceFnOp, tile::ScanFnOp>(builder.getBlock()->getParentOp());
            combines ? make<tile::YieldOp>(all).getOperation() : make<scf::YieldOp>(all).getOperation();
            return {};
          }},
      inst.payload);
}

void Emitter::emitBlock(const sema::Block &block) {
  for (const sema::Inst &inst : block.insts) {
    if (failed) // operands after a failure may be missing
      return;
    location = locate(inst.span);
    Value value = emitInst(inst);
    if (value && inst.results.size() == 1)
      values[inst.results[0]] = value;
  }
}

llvm::SmallVector<Type> Emitter::resultTypes(const sema::Inst &inst) {
  llvm::SmallVector<Type> types;
  for (sema::ValueId id : inst.results)
    types.push_back(irType(typeOf(id)));
  return types;
}

void Emitter::defineResults(const sema::Inst &inst, ValueRange results) {
  for (auto [id, result] : llvm::zip(inst.results, results))
    values[id] = result;
}

void Emitter::emitInto(Block *block, const sema::Block &body) {
  for (auto [id, argument] : llvm::zip(body.params, block->getArguments()))
    values[id] = argument;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  emitBlock(body);
}

void Emitter::emitIf(const sema::Inst &inst) {
  llvm::SmallVector<Type> types = resultTypes(inst);
  // An arm without instructions is left out where no value depends on it.
  bool hasElse = !types.empty() || (inst.blocks.size() > 1 && !inst.blocks[1].insts.empty());
  auto branch = make<scf::IfOp>(types, operand(inst, 0), /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  for (size_t arm = 0; arm < inst.blocks.size() && (arm == 0 || hasElse); ++arm) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = arm == 0 ? branch.thenBlock() : branch.elseBlock();
    builder.setInsertionPointToEnd(block);
    emitBlock(inst.blocks[arm]);
    location = locate(inst.span);
    if (!failed && !block->mightHaveTerminator())
      make<scf::YieldOp>();
  }
  defineResults(inst, branch.getResults());
}

void Emitter::emitWhile(const sema::Inst &inst) {
  llvm::SmallVector<Value> carried = indices(inst, 0, inst.operands.size());
  auto loop = make<scf::WhileOp>(resultTypes(inst), carried);
  auto addBlock = [&](Region &region, const sema::Block &body) {
    Block *block = new Block;
    region.push_back(block);
    for (sema::ValueId id : body.params)
      block->addArgument(irType(typeOf(id)), location);
    emitInto(block, body);
  };
  addBlock(loop.getBefore(), inst.blocks[0]);
  addBlock(loop.getAfter(), inst.blocks[1]);
  location = locate(inst.span);
  defineResults(inst, loop.getResults());
}

void Emitter::emitFor(const sema::Inst &inst) {
  Value lower = operand(inst, 0), upper = operand(inst, 1), step = operand(inst, 2);
  APInt known;
  if (!matchPattern(step, m_ConstantInt(&known))) {
    // scf.for leaves a step that is not positive open; in the language it runs no trip.
    Value one = integer(step.getType(), 1);
    Value positive = make<arith::CmpIOp>(arith::CmpIPredicate::sge, step, one);
    upper = make<arith::SelectOp>(positive, upper, lower);
    step = make<arith::MaxSIOp>(step, one);
  }
  auto loop = make<scf::ForOp>(lower, upper, step, indices(inst, 3, inst.operands.size() - 3));
  const sema::Block &body = inst.blocks[0];
  values[body.params[0]] = loop.getInductionVar();
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    values[body.params[i + 1]] = argument;
  OpBuilder::InsertionGuard guard(builder);
  Block *block = loop.getBody();
  // The builder ends the body of a loop without carried values by itself; the program brings its own yield.
  if (block->mightHaveTerminator())
    block->getTerminator()->erase();
  builder.setInsertionPointToEnd(block);
  emitBlock(body);
  location = locate(inst.span);
  if (!failed && !block->mightHaveTerminator())
    make<scf::YieldOp>();
  defineResults(inst, loop.getResults());
}

} // namespace tilec::emit
