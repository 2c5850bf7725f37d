#pragma once
// Turns a kernel of tile IR into a list of steps. Everything an op can settle before it runs (types, shapes, which
// function, which tiles) is settled here once, so a step is one call over whole tiles.
#include "compiler/ir/tile_dialect.h"
#include "compiler/reference/frame.h"
#include <functional>
#include <map>

namespace tilec::reference {

using Step = std::function<void(Frame &)>;
using Steps = std::vector<Step>;

inline void run(const Steps &steps, Frame &frame) {
  for (const Step &step : steps) {
    if (frame.ended)
      return;
    step(frame);
  }
}

/// A compiled kernel: how big each worker's tiles are and what to do for a block.
struct Program {
  struct TileInfo {
    size_t count = 0, bytes = 0;
    size_t buffer = 0; ///< tiles that do not live at the same time share a buffer
  };
  std::vector<TileInfo> tiles;
  std::vector<size_t> buffers; ///< bytes of each buffer
  size_t arrays = 0, scratch = 0;
  std::vector<std::pair<size_t, std::vector<std::byte>>> constants; ///< tile and contents, set once per worker
  Steps steps;
  std::vector<Cause> causes;
  bool storesNibbles = false; ///< stores to packed arrays: two blocks may share a byte, so blocks run one by one
  bool waits = false;         ///< a block may wait for what others do
};

/// Steps of a block of scalar ops that work on many lanes at once: each scalar of the block is a tile of so many lanes.
struct LaneSteps {
  Steps steps;
  size_t lanes = 0;                       ///< at most
  std::vector<size_t> arguments, results; ///< tiles of the block's arguments and of what it yields
  size_t firstTile = 0, endTile = 0;      ///< tiles of the block
  /// Runs the block on as many lanes as are asked for, up to `lanes`.
  void apply(Frame &frame, size_t count) const {
    for (size_t tile = firstTile; tile < endTile; ++tile)
      frame.tiles[tile].count = count;
    run(steps, frame);
  }
};

/// What to compile for.
struct CompileOptions {
  bool widen64 = false;
  bool probe = false; ///< only what decides where stores go; a store marks the frame when it covers a sample
};

class Compiler {
public:
  Compiler(tile::KernelOp kernel, const Launch &launch, const LaunchState &state, CompileOptions options)
      : kernel(kernel), launch(launch), state(state), options(options) {}
  /// Errors: Usage for arguments, Internal for ops without meaning here. A probe that would need loaded values gives a
  /// program without steps.
  Result<Program> compile();

  // What handlers of ops use.
  /// Tile of a value already defined.
  size_t in(mlir::Value value) const;
  /// Tile for a result, with a buffer of its own until its last use.
  size_t out(mlir::Value value);
  /// Tile for a constant, which keeps its buffer.
  size_t lasting(mlir::Value value) { return newTile(value, false); }
  /// Array of an array or view value.
  size_t arrayOf(mlir::Value value) const { return arrays.at(value); }
  size_t defineArray(mlir::Value value);
  void aliasArray(mlir::Value value, mlir::Value of) { arrays[value] = arrays.at(of); }
  size_t memoryOf(mlir::Value pointer) const { return memories.at(pointer); }
  /// How elements of a type are stored: the dtype's own encoding, or f64 for floats while widening.
  DType storage(mlir::Type type) const;
  void add(Step step) { steps->push_back(std::move(step)); }
  /// Contents that a tile has from the start; those of one element fill it.
  void constant(size_t tile, std::vector<std::byte> contents);
  /// Registers a source of undefined values.
  Taint cause(FindingKind kind, mlir::Operation *op, std::string array = "", std::string text = "");
  void needScratch(size_t bytes) { program.scratch = std::max(program.scratch, bytes); }
  void storesNibbles() { program.storesNibbles = true; }
  void waits() { program.waits = true; }
  size_t order(mlir::Operation *op) const { return orders.at(op); }
  static Place place(mlir::Operation *op);
  bool widens() const { return options.widen64; }
  bool probing() const { return options.probe; }
  const LaunchState &launchState() const { return state; }
  /// Compiles a nested block into steps of its own; `atEnd` sees the terminator while its operands still live.
  Result<Steps> nested(mlir::Block &block, llvm::function_ref<void(mlir::Operation *)> atEnd);
  /// Compiles a block of scalar ops, such as the function of a reduction, for many lanes.
  Result<LaneSteps> compileLanes(mlir::Block &block, size_t lanes);
  /// Whether ops of rank 0 stand for many lanes, which then each have a condition of their own.
  bool inLanes() const { return lanes != 1; }
  /// A tile for a block argument that lives as long as the op around the block.
  size_t blockArgument(mlir::BlockArgument argument, mlir::Operation *owner);
  /// Makes a value another name of a tile.
  void alias(mlir::Value value, size_t tile) { tiles[value] = tile; }

private:
  Status bindArguments();
  Result<int64_t> symbolValue(const std::string &name) const;
  Status compileBlock(mlir::Block &block, llvm::function_ref<void(mlir::Operation *)> atEnd);
  Status compileOp(mlir::Operation *op);
  bool probeSlice();
  void releaseAfter(mlir::Operation *op);
  size_t newTile(mlir::Value value, bool shared);
  mlir::Operation *lastUse(mlir::Value value, mlir::Block *block) const;

  tile::KernelOp kernel;
  const Launch &launch;
  const LaunchState &state;
  CompileOptions options;
  Program program;
  Steps *steps = nullptr;
  size_t lanes = 1; ///< elements that stand for a scalar
  llvm::DenseMap<mlir::Value, size_t> tiles, arrays, memories;
  llvm::DenseMap<mlir::Operation *, size_t> orders;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<size_t>> dying; ///< buffers free after an op
  std::multimap<size_t, size_t> freeBuffers;                          ///< by size
  llvm::DenseSet<mlir::Operation *> slice;                            ///< probing: ops to compile
};

/// Compiles one op into steps.
using Handler = Status (*)(Compiler &, mlir::Operation *);
using HandlerTable = llvm::StringMap<Handler>;
void addControlHandlers(HandlerTable &table);
void addDebugHandlers(HandlerTable &table);
void addArrayHandlers(HandlerTable &table);
void addElementHandlers(HandlerTable &table);
void addFloatHandlers(HandlerTable &table);
void addIntegerHandlers(HandlerTable &table);
void addConvertHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addReduceHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addMoveHandlers(HandlerTable &table);
void addScanHandlers(HandlerTable &table);
void addFoldHandlers(HandlerTable &table);
void addProductHandlers(HandlerTable &table);

/// Whether an op has a meaning here.
bool knows(llvm::StringRef op);

Rounding roundingOf(tile::RoundingMode mode);

/// Bytes an element takes in a tile.
inline size_t tileBytes(DType dtype) { return size_t(info(dtype).bits + 7) / 8; }

/// A read-only operand of one element, for indices and bounds.
struct IndexOperand {
  size_t tile;
  bool wide; ///< i64 (or index) rather than i32
  int64_t read(const Frame &frame) const {
    const Tile &t = frame.tiles[tile];
    return wide ? *t.as<int64_t>() : *t.as<int32_t>();
  }
};
inline IndexOperand indexOperand(const Compiler &c, mlir::Value value) {
  return {c.in(value), !value.getType().isInteger(32)};
}

} // namespace tilec::reference
