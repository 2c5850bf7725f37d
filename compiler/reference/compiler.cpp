#include "compiler/reference/compiler.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec::reference {

static const HandlerTable &handlers() {
  static const HandlerTable table = [] {
    HandlerTable all;
    addControlHandlers(all);
    addDebugHandlers(all);
    addArrayHandlers(all);
    addElementHandlers(all);
    addFloatHandlers(all);
    addIntegerHandlers(all);
    addConvertHandlers(all);
    addShapeHandlers(all);
    addReduceHandlers(all);
    addMemoryHandlers(all);
    addMoveHandlers(all);
    addScanHandlers(all);
    addFoldHandlers(all);
    addProductHandlers(all);
    return all;
  }();
  return table;
}

bool knows(StringRef op) { return handlers().contains(op); }

DType Compiler::storage(Type type) const {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return DType::i64;
  std::optional<DType> dtype = tile::dtypeOf(element);
  if (!dtype)
    return DType::i64; // arrays and the like, which have no tile
  return options.widen64 && isFloat(*dtype) ? DType::f64 : *dtype;
}

Place Compiler::place(Operation *op) {
  Place place;
  op->getLoc()->walk([&](Location loc) {
    auto file = dyn_cast<FileLineColLoc>(loc);
    if (!file)
      return WalkResult::advance();
    place = {file.getFilename().str(), file.getLine(), file.getColumn()};
    return WalkResult::interrupt();
  });
  return place;
}

Taint Compiler::cause(FindingKind kind, Operation *op, std::string array, std::string text) {
  // A byte a lane names 254 causes; later ones share the last.
  if (program.causes.size() + 1 < neverStored)
    program.causes.push_back({kind, order(op), place(op), std::move(array), std::move(text)});
  return Taint(program.causes.size());
}

//===--------------------------------------------------------------------------------------------------------------===//
// Tiles and their buffers
//===--------------------------------------------------------------------------------------------------------------===//

size_t Compiler::in(Value value) const {
  auto found = tiles.find(value);
  assert(found != tiles.end() && "operands are compiled before their users");
  return found->second;
}

Operation *Compiler::lastUse(Value value, Block *block) const {
  Operation *last = nullptr;
  for (Operation *user : value.getUsers())
    if (Operation *ancestor = block->findAncestorOpInBlock(*user))
      if (!last || last->isBeforeInBlock(ancestor))
        last = ancestor;
  return last;
}

size_t Compiler::newTile(Value value, bool shared) {
  size_t count = lanes;
  for (int64_t extent : tile::tileShape(value.getType()))
    count *= size_t(extent);
  size_t bytes = count * tileBytes(storage(value.getType()));
  // Only a buffer of the very size is taken again: tiles come in few sizes, and a larger one would be lost to its own.
  size_t buffer = program.buffers.size();
  auto found = shared ? freeBuffers.find(bytes) : freeBuffers.end();
  if (found != freeBuffers.end()) {
    buffer = found->second;
    freeBuffers.erase(found);
  } else {
    program.buffers.push_back(bytes);
  }
  program.tiles.push_back({count, bytes, buffer});
  tiles[value] = program.tiles.size() - 1;
  return program.tiles.size() - 1;
}

size_t Compiler::out(Value value) {
  size_t tile = newTile(value, true);
  // A value that nothing uses lives until its own op is over, so that it shares no buffer with the op's operands.
  Operation *owner = value.getDefiningOp();
  Operation *last = lastUse(value, owner->getBlock());
  dying[last ? last : owner].push_back(program.tiles[tile].buffer);
  return tile;
}

size_t Compiler::blockArgument(BlockArgument argument, Operation *owner) {
  size_t tile = newTile(argument, true);
  dying[owner].push_back(program.tiles[tile].buffer);
  return tile;
}

void Compiler::releaseAfter(Operation *op) {
  auto found = dying.find(op);
  if (found == dying.end())
    return;
  for (size_t buffer : found->second)
    freeBuffers.emplace(program.buffers[buffer], buffer);
  dying.erase(found);
}

void Compiler::constant(size_t tile, std::vector<std::byte> contents) {
  size_t one = contents.size(), bytes = program.tiles[tile].bytes;
  while (contents.size() < bytes)
    contents.insert(contents.end(), contents.begin(), contents.begin() + ptrdiff_t(one));
  program.constants.emplace_back(tile, std::move(contents));
}

size_t Compiler::defineArray(Value value) {
  arrays[value] = program.arrays;
  return program.arrays++;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Compilation
//===--------------------------------------------------------------------------------------------------------------===//

static std::vector<std::byte> bytesOf(uint64_t bits, size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), &bits, size);
  return bytes;
}

/// A symbol of the launch, or a stride written `_`, which is whatever the buffer has.
Result<int64_t> Compiler::symbolValue(const std::string &name) const {
  if (auto found = launch.symbols.find(name); found != launch.symbols.end())
    return found->second;
  for (const auto &[array, view] : launch.buffers)
    for (unsigned axis = 0; axis < view.extents.size(); ++axis)
      if (name == tile::strideSymbol(array, axis)) {
        int64_t contiguous = 1;
        for (size_t i = axis + 1; i < view.extents.size(); ++i)
          contiguous *= view.extents[i];
        return view.strides.empty() ? contiguous : view.strides[axis];
      }
  return usageError("the launch gives no value for symbol '{}'", name);
}

Status Compiler::bindArguments() {
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
    std::string name = kernel.argName(i).str();
    StringRef kind = kernel.argKind(i);
    BlockArgument argument = kernel.getArgument(i);
    if (kind == "array") {
      auto found = llvm::find_if(state.memories, [&](const auto &memory) { return memory->name == name; });
      if (found == state.memories.end())
        return usageError("the launch has no buffer for array '{}'", name);
      DType wanted = *parseDType(kernel.argDType(i)), given = (*found)->view.dtype;
      bool widened = options.widen64 && isFloat(wanted) && given == DType::f64;
      if (given != wanted && !widened)
        return usageError("the buffer of array '{}' holds {}, the kernel wants {}", name, tilec::name(given),
                          tilec::name(wanted));
      memories[argument] = size_t(found - state.memories.begin());
      continue;
    }
    uint64_t bits = 0;
    if (kind == "symbol") {
      TILEC_ASSIGN(int64_t value, symbolValue(name));
      if (argument.getType().isInteger(32) && value != int32_t(value))
        return usageError("symbol '{}' is {}, which needs index64", name, value);
      bits = uint64_t(value);
    } else {
      auto found = launch.scalars.find(name);
      if (found == launch.scalars.end())
        return usageError("the launch gives no value for scalar '{}'", name);
      bits = found->second;
    }
    DType dtype = *parseDType(kernel.argDType(i));
    if (options.widen64 && isFloat(dtype))
      bits = std::bit_cast<uint64_t>(decodeFloat(dtype, bits));
    size_t tile = newTile(argument, false);
    constant(tile, bytesOf(bits, program.tiles[tile].bytes));
  }
  return {};
}

/// Collects the ops that decide which elements stores and atomics touch, with the control flow around them. False when
/// that needs a value from memory, or when a block may wait for others, which a sample of blocks would leave out.
bool Compiler::probeSlice() {
  llvm::SmallVector<Operation *> work;
  auto need = [&](Operation *op) {
    if (op && op != kernel && slice.insert(op).second)
      work.push_back(op);
  };
  auto needValue = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      return need(op);
    need(cast<BlockArgument>(value).getOwner()->getParentOp());
  };
  auto readsMemory = [](Operation *op) {
    return isa<tile::LoadOp, tile::GatherOp>(op) || (isa<tile::AtomicOp>(op) && !op->use_empty());
  };
  bool waits = false;
  kernel.walk([&](Operation *op) {
    if (isa<tile::StoreOp, tile::ScatterOp, tile::ViewAtomicOp, tile::AtomicOp>(op))
      need(op);
    waits |= isa<scf::WhileOp>(op) && op->walk([&](Operation *inner) {
                                          return readsMemory(inner) ? WalkResult::interrupt() : WalkResult::advance();
                                        }).wasInterrupted();
  });
  while (!waits && !work.empty()) {
    Operation *op = work.pop_back_val();
    if (readsMemory(op))
      return false;
    need(op->getParentOp());
    // Which value is stored makes no difference: the first operand of stores, the last of atomics.
    bool first = isa<tile::StoreOp, tile::ScatterOp, tile::ViewAtomicOp>(op), last = isa<tile::AtomicOp>(op);
    for (Value operand : op->getOperands().drop_front(first).drop_back(last))
      needValue(operand);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          need(block.getTerminator());
  }
  return !waits;
}

Status Compiler::compileOp(Operation *op) {
  auto handler = handlers().find(op->getName().getStringRef());
  if (handler == handlers().end())
    return internalError("the reference executor does not know the op '{}'", op->getName().getStringRef().str());
  return handler->second(*this, op);
}

Status Compiler::compileBlock(Block &block, llvm::function_ref<void(Operation *)> atEnd) {
  for (Operation &op : block) {
    if (options.probe && !slice.contains(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      atEnd(&op);
    } else {
      TILEC_TRY(compileOp(&op));
    }
    releaseAfter(&op);
  }
  return {};
}

Result<Steps> Compiler::nested(Block &block, llvm::function_ref<void(Operation *)> atEnd) {
  Steps inner;
  Steps *outer = std::exchange(steps, &inner);
  Status status = compileBlock(block, atEnd);
  steps = outer;
  TILEC_TRY(status);
  return inner;
}

Result<LaneSteps> Compiler::compileLanes(Block &block, size_t count) {
  if (inLanes())
    return internalError("a function of a fold inside another");
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  LaneSteps result;
  result.lanes = count;
  Steps inner;
  Steps *outer = std::exchange(steps, &inner);
  lanes = count;
  result.firstTile = program.tiles.size();
  Operation *owner = block.getParentOp();
  for (BlockArgument argument : block.getArguments())
    result.arguments.push_back(blockArgument(argument, owner));
  // Scalars from outside are spread over the lanes; to ops of the block they are like its own.
  llvm::DenseMap<Value, size_t> scalars;
  Status status;
  block.walk([&](Operation *op) {
    if (llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getOperandTypes(), isTile))
      status = internalError("the function of a fold has the op '{}' on tiles", op->getName().getStringRef().str());
    for (Value operand : op->getOperands()) {
      auto found = tiles.find(operand);
      if (isTile(operand.getType()) || found == tiles.end() || operand.getParentBlock() == &block ||
          scalars.contains(operand))
        continue;
      size_t from = found->second, bytes = program.tiles[from].bytes;
      scalars[operand] = from;
      size_t to = newTile(operand, true);
      dying[owner].push_back(program.tiles[to].buffer);
      add([=](Frame &frame) {
        const Tile &a = frame.tiles[from];
        Tile &r = frame.tiles[to];
        for (size_t i = 0; i < r.count; ++i)
          std::memcpy(r.data + i * bytes, a.data, bytes);
        r.tainted = a.tainted;
        if (a.tainted)
          r.taint.assign(r.count, a.taintAt(0));
      });
    }
  });
  if (status)
    status = compileBlock(block, [&](Operation *end) {
      for (Value value : end->getOperands())
        result.results.push_back(in(value));
    });
  result.endTile = program.tiles.size();
  lanes = 1;
  for (auto [value, tile] : scalars)
    tiles[value] = tile;
  steps = outer;
  TILEC_TRY(status);
  result.steps = std::move(inner);
  return result;
}

Result<Program> Compiler::compile() {
  size_t next = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { orders[op] = next++; });
  TILEC_TRY(bindArguments());
  if (options.probe && !probeSlice())
    return std::move(program);
  steps = &program.steps;
  TILEC_TRY(compileBlock(kernel.getBody().front(), [](Operation *) {}));
  return std::move(program);
}

} // namespace tilec::reference
