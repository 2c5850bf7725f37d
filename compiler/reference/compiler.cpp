#include "compiler/reference/compiler.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec::reference {

static const HandlerTable &handlers() {
  static const HandlerTable table = [] {
    HandlerTable all;
    addControlHandlers(all);
    addFloatHandlers(all);
    addIntegerHandlers(all);
    addConvertHandlers(all);
    addShapeHandlers(all);
    addReduceHandlers(all);
    addMemoryHandlers(all);
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

Taint Compiler::cause(FindingKind kind, Operation *op, std::string array) {
  // A byte a lane names 255 causes; later ones share the last.
  if (program.causes.size() < 255)
    program.causes.push_back({kind, order(op), place(op), std::move(array)});
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
  size_t count = 1;
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

/// Collects the ops that decide which elements stores touch, with the control flow around them. False when that needs a
/// loaded value.
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
  kernel.walk([&](tile::StoreOp store) { need(store); });
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (isa<tile::LoadOp>(op))
      return false;
    need(op->getParentOp());
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      needValue(store.getView());
      llvm::for_each(store.getIndices(), needValue);
      continue;
    }
    llvm::for_each(op->getOperands(), needValue);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          need(block.getTerminator());
  }
  return true;
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
