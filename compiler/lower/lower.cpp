#include "compiler/lower/lower.h"
#include "compiler/lower/kernel_lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::lower {

void KernelLowering::createFunction() {
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(memoryType(argument.getType()));
  bool reports = kernel->hasAttr("tile.messages");
  if (reports)
    types.push_back(LLVM::LLVMPointerType::get(context(), 1));
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
  if (reports)
    printBuffer = entry->getArguments().back();
  thread = intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", i32(), {});
  lane = bitAnd(thread, constant(i32(), 31));
  warp = LLVM::LShrOp::create(b, loc, thread, constant(i32(), 5));
}

/// Scalars that only depend on the grid and the parameters are computed once, before the versions part.
void KernelLowering::lowerPrologue(llvm::SmallPtrSetImpl<Operation *> &done) {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    loc = op.getLoc();
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

namespace {

/// What must hold for every vector of every access to be aligned and to lie wholly inside or wholly outside its array.
class VectorConditions {
public:
  explicit VectorConditions(KernelLowering &k) : k(k) {}
  void visit(Operation *op, Value view, Type type, ValueRange indices, bool inBounds);
  /// No value when it always does.
  Value all;

private:
  void require(Value condition) { all = all ? k.bitAnd(all, condition) : condition; }
  Value isMultiple(Value value, int64_t of) {
    return k.compare(LLVM::ICmpPredicate::eq, k.bitAnd(value, k.constant(k.i64(), of - 1)), k.constant(k.i64(), 0));
  }
  bool isKnownMultiple(Value value, int64_t of) const {
    return tested.contains({value, of}) || k.divisor(value) % of == 0;
  }
  void requireMultiple(Value value, int64_t of) {
    if (!isKnownMultiple(value, of)) {
      tested.insert({value, of});
      require(isMultiple(value, of));
    }
  }
  bool requireRows(Value array, int64_t unitAxis, int64_t vector);

  KernelLowering &k;
  llvm::SmallDenseSet<std::pair<Value, int64_t>> tested; ///< values already known to be multiples
};

/// Every row of the array, along the axis of stride 1, starts at a multiple of the vector. False where the entry cannot
/// know.
bool VectorConditions::requireRows(Value array, int64_t unitAxis, int64_t vector) {
  if (auto at = array.getDefiningOp<tile::AtOp>())
    return requireRows(at.getArray(), unitAxis + int64_t(at.getIndices().size()), vector);
  if (auto slice = array.getDefiningOp<tile::SliceOp>()) {
    if (int64_t(slice.getAxis()) == unitAxis) {
      if (!k.isKnown(slice.getStart()) || !k.isKnown(slice.getStop()))
        return false;
      requireMultiple(k.resize(k.scalar(slice.getStart()), k.i64(), true), vector);
      requireMultiple(k.resize(k.scalar(slice.getStop()), k.i64(), true), vector);
    }
    return requireRows(slice.getArray(), unitAxis, vector);
  }
  auto whole = k.arrays.find(array);
  if (whole == k.arrays.end())
    return false;
  for (auto [axis, stride] : llvm::enumerate(whole->second.strides))
    if (int64_t(axis) != unitAxis)
      requireMultiple(stride, vector);
  return true;
}

void VectorConditions::visit(Operation *op, Value view, Type type, ValueRange indices, bool inBounds) {
  int64_t vector = vectorOf(op, type);
  if (vector == 1)
    return;
  auto viewOp = view.getDefiningOp<tile::ViewOp>();
  int64_t unitAxis = op->getAttrOfType<IntegerAttr>("tile.unit_axis").getInt();
  int64_t arrayAxis = viewOp.getAxes()[size_t(unitAxis)];
  Value extent = k.extentAtEntry(viewOp.getArray(), arrayAxis);
  if (!extent || !requireRows(viewOp.getArray(), arrayAxis, vector)) {
    op->setAttr("tile.vector", k.b.getI64IntegerAttr(1));
    return;
  }
  if (inBounds || isKnownMultiple(extent, vector))
    return;
  Value whole = isMultiple(extent, vector);
  Value index = indices[size_t(unitAxis)];
  if (k.isKnown(index)) {
    // A tile that lies inside the array serves as well: only the last block of a row then goes element by element.
    Value step = k.constant(k.i64(), viewOp.getStep()[size_t(unitAxis)]);
    Value origin = k.mul(k.resize(k.scalar(index), k.i64(), true), step);
    int64_t length = viewOp.getType().getShape()[size_t(unitAxis)];
    Value inside = k.compare(LLVM::ICmpPredicate::sle, k.add(origin, k.constant(k.i64(), length)), extent);
    inside = k.bitAnd(inside, k.compare(LLVM::ICmpPredicate::sge, origin, k.constant(k.i64(), 0)));
    whole = LLVM::OrOp::create(k.b, k.loc, whole, inside);
  } else {
    tested.insert({extent, vector});
  }
  require(whole);
}

} // namespace

/// A power of two, at most 16, that an integer made of symbols and constants is known to be a multiple of.
int64_t KernelLowering::divisor(Value value, int depth) {
  constexpr int64_t widest = 16;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero() ? widest : int64_t(1) << std::min(4u, constant.countr_zero());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto known = argument.getOwner() == &func.getBody().front()
                     ? kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tile.divisible")
                     : nullptr;
    return known ? std::min(widest, known.getInt()) : 1;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return 1;
  if (isa<LLVM::MulOp>(op))
    return std::min(widest, divisor(op->getOperand(0), depth - 1) * divisor(op->getOperand(1), depth - 1));
  if (isa<LLVM::AddOp, LLVM::SubOp>(op))
    return std::min(divisor(op->getOperand(0), depth - 1), divisor(op->getOperand(1), depth - 1));
  return isa<LLVM::SExtOp, LLVM::ZExtOp, LLVM::TruncOp>(op) ? divisor(op->getOperand(0), depth - 1) : 1;
}

/// The extent of an array or a part of one along an axis, where the entry knows it. That of a slice may be shorter than
/// the value given: what is asked of it is divisibility, which its bounds have been asked for.
Value KernelLowering::extentAtEntry(Value array, int64_t axis) {
  auto known = arrays.find(array);
  if (known != arrays.end())
    return known->second.extents[size_t(axis)];
  if (auto at = array.getDefiningOp<tile::AtOp>())
    return extentAtEntry(at.getArray(), axis + int64_t(at.getIndices().size()));
  if (auto slice = array.getDefiningOp<tile::SliceOp>(); slice && int64_t(slice.getAxis()) != axis)
    return extentAtEntry(slice.getArray(), axis);
  return {};
}

Value KernelLowering::vectorCondition() {
  VectorConditions conditions(*this);
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      conditions.visit(op, load.getView(), load.getType(), load.getIndices(), load.getInBounds());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      conditions.visit(op, store.getView(), store.getValue().getType(), store.getIndices(), store.getInBounds());
    else if (auto copy = dyn_cast<tgpu::AsyncCopyOp>(op))
      conditions.visit(op, copy.getView(), copy.getTile(), copy.getIndices(), copy.getInBounds());
  });
  return conditions.all;
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
      .Case([&](tile::GatherOp gather) { return lowerGather(gather); })
      .Case([&](tile::ScatterOp scatter) { return lowerScatter(scatter); })
      .Case([&](tile::AtomicOp atomic) { return lowerAtomic(atomic); })
      .Case([&](tile::ViewAtomicOp atomic) { return lowerViewAtomic(atomic); })
      .Case<tile::AtOp, tile::SliceOp>([&](Operation *part) { return lowerArrayPart(part); })
      .Case<tile::PermuteOp, tile::CatOp, tile::ExtractOp, tile::InsertOp, tile::BitcastOp, tile::PackOp,
            tile::UnpackOp, tile::AssumeDivisibleOp>([&](Operation *move) { return lowerMove(move); })
      .Case([&](tile::ScanFnOp scan) { return lowerScan(scan); })
      .Case([&](tile::MmaOp product) { return lowerMma(product); })
      .Case([&](tgpu::FmaProductOp product) { return lowerFmaProduct(product); })
      .Case([&](tgpu::WarpFoldOp fold) { return lowerWarpFold(fold); })
      .Case<tile::BlockIdOp, tile::NumBlocksOp, tile::ArrayOp, tile::ExtentOp, tile::ViewOp, tile::NumTilesOp>(
          [&](Operation *grid) { return lowerGrid(grid); })
      .Case<arith::ConstantOp, tile::ArangeOp, tile::SplatOp, tile::BroadcastOp, tile::ReshapeOp>(
          [&](Operation *shape) { return lowerShape(shape); })
      .Case([&](tgpu::AllocSharedOp) { return success(); })
      .Case([&](tgpu::StoreSharedOp store) { return lowerSharedStore(store); })
      .Case([&](tgpu::LoadSharedOp load) { return lowerSharedLoad(load); })
      .Case([&](tgpu::AsyncCopyOp copy) { return lowerAsyncCopy(copy); })
      .Case([&](tgpu::AsyncCommitOp) {
        if (vectors)
          assembly("cp.async.commit_group;", "~{memory}", {}, {}, /*sideEffects=*/true);
        return success();
      })
      .Case([&](tgpu::AsyncWaitOp wait) {
        if (vectors)
          assembly("cp.async.wait_group " + std::to_string(wait.getPending()) + ";", "~{memory}", {}, {},
                   /*sideEffects=*/true);
        return success();
      })
      .Case([&](tgpu::BarrierOp) {
        intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", Type(), {constant(i32(), 0)});
        return success();
      })
      .Case([&](tgpu::PrintOp print) { return lowerPrint(print); })
      .Case([&](tgpu::AssertOp assertion) { return lowerAssert(assertion); })
      .Case([&](tgpu::WarpReduceOp reduce) { return lowerWarpReduce(reduce); })
      .Case([&](tile::ConvertLayoutOp convert) { return lowerConvertLayout(convert); })
      .Case<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(
          [&](Operation *product) { return lowerWideProduct(product); })
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
  if (auto messages = kernel->getAttrOfType<ArrayAttr>("tile.messages")) {
    lowered.params.push_back({ParamKind::Print, "", DType::u8});
    for (auto message : messages.getAsRange<DictionaryAttr>()) {
      MessageSpec &spec = lowered.messages.emplace_back();
      spec.assertion = message.getAs<BoolAttr>("assertion").getValue();
      spec.place = message.getAs<StringAttr>("place").str();
      for (auto piece : message.getAs<ArrayAttr>("pieces").getAsRange<StringAttr>())
        spec.pieces.push_back(piece.str());
      for (auto dtype : message.getAs<ArrayAttr>("dtypes").getAsRange<StringAttr>())
        spec.dtypes.push_back(*parseDType(dtype.str()));
      for (auto shape : message.getAs<ArrayAttr>("shapes").getAsRange<DenseI64ArrayAttr>())
        spec.shapes.emplace_back(shape.asArrayRef().begin(), shape.asArrayRef().end());
    }
  }
  lowered.threads = kernel->getAttrOfType<IntegerAttr>("tile.threads").getInt();
  if (auto shared = kernel->getAttrOfType<IntegerAttr>("tile.shared"))
    lowered.sharedBytes = shared.getInt();
  return lowered;
}

FailureOr<std::vector<LoweredKernel>> lowerToLLVM(ModuleOp module, const Arch &arch) {
  module.getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  std::vector<LoweredKernel> lowered;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    if (!kernel->hasAttr("tile.threads"))
      return kernel.emitOpError("has no layouts"), failure();
    OpBuilder builder(kernel);
    if (failed(KernelLowering(kernel, arch, builder).run()))
      return failure();
    lowered.push_back(describe(kernel));
    kernel.erase();
  }
  return lowered;
}

} // namespace tilec::lower
