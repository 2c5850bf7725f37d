#include "compiler/lower/lower.h"
#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::lower {

void KernelLowering::createFunction() {
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(memoryType(argument.getType()));
  func = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(),
                                  LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context()), types),
                                  LLVM::Linkage::External, /*dsoLocal=*/false, LLVM::CConv::PTX_Kernel);

  auto threads = kernel->getAttrOfType<IntegerAttr>("tile.threads").getInt();
  SmallVector<Attribute> attributes;
  auto pass = [&](StringRef key, int64_t value) {
    attributes.push_back(b.getStrArrayAttr({key, std::to_string(value)}));
  };
  // Without the number of threads the assembler would allow 64 registers only.
  pass("nvvm.maxntid", threads);
  if (int64_t occupancy = kernel.hint("occupancy", 1); occupancy > 1)
    pass("nvvm.minctasm", occupancy);
  func.setPassthroughAttr(b.getArrayAttr(attributes));

  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (!isa<tile::PtrType>(kernel.getArgumentTypes()[i]))
      continue;
    auto align = kernel.getArgAttrOfType<IntegerAttr>(i, "tile.align");
    func.setArgAttr(i, "llvm.align", align ? b.getI64IntegerAttr(align.getInt()) : b.getI64IntegerAttr(16));
    auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
    if (mode && mode.getValue() == "in")
      func.setArgAttr(i, "llvm.readonly", b.getUnitAttr());
  }

  Block *entry = func.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  for (auto [argument, value] : llvm::zip(kernel.getBody().getArguments(), entry->getArguments()))
    set(argument, {fromMemory(value, argument.getType())});
  thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32(), {});
  lane = bitAnd(thread, constant(i32(), 31));
  warp = LLVM::LShrOp::create(b, loc, thread, constant(i32(), 5));
}

/// Scalars that only depend on the grid and the parameters are computed once, before the versions part.
void KernelLowering::lowerPrologue(llvm::SmallPtrSetImpl<Operation *> &done) {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    bool scalarOnly = llvm::none_of(op.getOperandTypes(), isTile) && llvm::none_of(op.getResultTypes(), isTile);
    bool known = llvm::all_of(op.getOperands(), [&](Value operand) {
      return isa<BlockArgument>(operand) || done.contains(operand.getDefiningOp());
    });
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && scalarOnly && known && succeeded(lowerOp(&op)))
      done.insert(&op);
  }
}

int64_t vectorOf(Operation *access, Type tileType) {
  auto vector = access->getAttrOfType<IntegerAttr>("tile.vector");
  auto axis = access->getAttrOfType<IntegerAttr>("tile.unit_axis");
  auto tensor = dyn_cast<RankedTensorType>(tileType);
  if (!vector || !axis || axis.getInt() < 0 || !tensor)
    return 1;
  return std::min(vector.getInt(), int64_t(1) << tile::layoutOf(tensor).contiguousBits(int(axis.getInt())));
}

/// What must hold for every vector of every access to be aligned and to lie wholly inside or wholly outside its array;
/// no value when it always does. An access whose array is not known at entry falls back to single elements.
Value KernelLowering::vectorCondition() {
  Value all;
  llvm::SmallDenseSet<std::pair<Value, int64_t>> tested; // values already known to be multiples
  auto require = [&](Value condition) { all = all ? bitAnd(all, condition) : condition; };
  auto isMultiple = [&](Value value, int64_t of) {
    return compare(LLVM::ICmpPredicate::eq, bitAnd(value, constant(i64(), of - 1)), constant(i64(), 0));
  };
  kernel.walk([&](Operation *op) {
    Value view;
    Type type;
    ValueRange indices;
    bool inBounds = false;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      view = load.getView(), type = load.getType(), indices = load.getIndices(), inBounds = load.getInBounds();
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      view = store.getView(), type = store.getValue().getType(), indices = store.getIndices(),
      inBounds = store.getInBounds();
    else
      return;
    int64_t vector = vectorOf(op, type);
    if (vector == 1)
      return;
    auto viewOp = view.getDefiningOp<tile::ViewOp>();
    auto array = arrays.find(viewOp.getArray());
    if (array == arrays.end()) {
      op->setAttr("tile.vector", b.getI64IntegerAttr(1));
      return;
    }
    int64_t unitAxis = op->getAttrOfType<IntegerAttr>("tile.unit_axis").getInt();
    for (auto [axis, arrayAxis] : llvm::enumerate(viewOp.getAxes())) {
      Value stride = array->second.strides[size_t(arrayAxis)];
      if (int64_t(axis) != unitAxis && tested.insert({stride, vector}).second)
        require(isMultiple(stride, vector));
    }
    Value extent = array->second.extents[size_t(viewOp.getAxes()[size_t(unitAxis)])];
    if (inBounds || tested.contains({extent, vector}))
      return;
    Value whole = isMultiple(extent, vector);
    Value index = indices[size_t(unitAxis)];
    if (values.contains(index)) {
      // A tile that lies inside the array serves as well: only the last block of a row then goes element by element.
      Value origin = mul(resize(scalar(index), i64(), true), constant(i64(), viewOp.getStep()[size_t(unitAxis)]));
      int64_t length = viewOp.getType().getShape()[size_t(unitAxis)];
      Value inside = compare(LLVM::ICmpPredicate::sle, add(origin, constant(i64(), length)), extent);
      inside = bitAnd(inside, compare(LLVM::ICmpPredicate::sge, origin, constant(i64(), 0)));
      whole = LLVM::OrOp::create(b, loc, whole, inside);
    } else {
      tested.insert({extent, vector});
    }
    require(whole);
  });
  return all;
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
  }
  loc = block.getTerminator()->getLoc();
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  // What the prologue computed stands for both versions.
  if (op->getNumResults() == 1 && (values.contains(op->getResult(0)) || arrays.contains(op->getResult(0))) &&
      op->getBlock() == &kernel.getBody().front() && isMemoryEffectFree(op))
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp load) { return lowerLoad(load); })
      .Case([&](tile::StoreOp store) { return lowerStore(store); })
      .Case([&](tile::ConvertOp convert) { return lowerConvert(convert); })
      .Case<tile::BlockIdOp, tile::NumBlocksOp, tile::ArrayOp, tile::ExtentOp, tile::ViewOp, tile::NumTilesOp>(
          [&](Operation *grid) { return lowerGrid(grid); })
      .Case<arith::ConstantOp, tile::ArangeOp, tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp>(
          [&](Operation *shape) { return lowerShape(shape); })
      .Case([&](tgpu::AllocSharedOp) { return success(); })
      .Case([&](tgpu::StoreSharedOp store) { return lowerSharedStore(store); })
      .Case([&](tgpu::LoadSharedOp load) { return lowerSharedLoad(load); })
      .Case([&](tgpu::BarrierOp) {
        intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", Type(), {constant(i32(), 0)});
        return success();
      })
      .Case([&](tgpu::WarpReduceOp reduce) { return lowerWarpReduce(reduce); })
      .Case([&](tile::ConvertLayoutOp convert) { return lowerConvertLayout(convert); })
      .Case([&](scf::ForOp loop) { return lowerFor(loop); })
      .Case([&](scf::IfOp branch) { return lowerIf(branch); })
      .Case([&](scf::WhileOp loop) { return lowerWhile(loop); })
      .Default([&](Operation *other) { return lowerElementwise(other); });
}

LogicalResult KernelLowering::run() {
  contract = kernel.option("contract");
  createFunction();
  llvm::SmallPtrSet<Operation *, 16> prologue;
  lowerPrologue(prologue);
  loc = kernel.getLoc();

  auto lowerVersion = [&](bool withVectors) {
    vectors = withVectors;
    if (failed(lowerBlock(kernel.getBody().front())))
      return failure();
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return success();
  };
  Value condition = vectorCondition();
  if (!condition)
    return lowerVersion(true);
  Region &body = func.getBody();
  Block *entry = b.getInsertionBlock(), *fast = b.createBlock(&body), *slow = b.createBlock(&body);
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, loc, condition, fast, slow);
  auto entryValues = values;
  auto entryArrays = arrays;
  b.setInsertionPointToStart(fast);
  if (failed(lowerVersion(true)))
    return failure();
  values = std::move(entryValues);
  arrays = std::move(entryArrays);
  b.setInsertionPointToStart(slow);
  return lowerVersion(false);
}

static LoweredKernel describe(tile::KernelOp kernel) {
  LoweredKernel lowered;
  lowered.entry = kernel.getSymName().str();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    StringRef kind = kernel.argKind(i);
    lowered.params.push_back({kind == "array"    ? ParamKind::Array
                              : kind == "scalar" ? ParamKind::Scalar
                                                 : ParamKind::Symbol,
                              kernel.argName(i).str(), *parseDType(kernel.argDType(i).str())});
  }
  lowered.threads = kernel->getAttrOfType<IntegerAttr>("tile.threads").getInt();
  if (auto shared = kernel->getAttrOfType<IntegerAttr>("tile.shared"))
    lowered.sharedBytes = shared.getInt();
  return lowered;
}

FailureOr<std::vector<LoweredKernel>> lowerToLLVM(ModuleOp module) {
  module.getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  std::vector<LoweredKernel> lowered;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    if (!kernel->hasAttr("tile.threads"))
      return kernel.emitOpError("has no layouts"), failure();
    OpBuilder builder(kernel);
    if (failed(KernelLowering(kernel, builder).run()))
      return failure();
    lowered.push_back(describe(kernel));
    kernel.erase();
  }
  return lowered;
}

} // namespace tilec::lower
