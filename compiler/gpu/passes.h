#pragma once
// Tile IR with layouts → tile and tgpu IR in which every element has its place: reductions split by warps, conversions
// through shared memory spelt out, buffers placed, barriers inserted.
#include "compiler/target/target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilec::gpu {

/// Splits each tile.reduce into a tgpu.warp_reduce and, where its elements lie in several warps, an exchange of the
/// partial results through shared memory that every thread finishes for itself: the result is replicated as its layout
/// says. Partial results combine in a fixed order, so equal inputs give equal bits.
/// Folds by functions (tile.reduce_fn) go the same way; what they combine stays in the order of the axes.
mlir::LogicalResult splitReductions(mlir::ModuleOp module);

/// Puts the operands of products that no matrix unit computes into shared memory (tgpu.fma_product).
mlir::LogicalResult lowerProducts(mlir::ModuleOp module, const Arch &arch);
/// Gives what an atomic or an ordered read found to the threads that hold replicas of the element, through shared
/// memory: all threads of a block go on with one value.
mlir::LogicalResult shareResults(mlir::ModuleOp module);

/// print and assert as records of the print buffer: the texts go to the kernel's attribute `tile.messages`.
mlir::LogicalResult lowerReports(mlir::ModuleOp module);

/// In loops, loads whose tiles go to a matrix unit through shared memory become asynchronous copies some trips ahead:
/// as many as the hint `latency` of the access says, fewer where shared memory is short.
/// `most`: no more stages than that; with fewer than two loads stay where they are.
mlir::LogicalResult stageLoads(mlir::ModuleOp module, const Arch &arch, int64_t most);

/// Replaces each tile.convert_layout that must leave its warps by a store to swizzled shared memory and a load. The
/// others stay: they lower to renamed registers or shuffles.
mlir::LogicalResult lowerConversions(mlir::ModuleOp module);

struct SharedMemoryOptions {
  int64_t limit = 0; ///< bytes a block may have; 0: not checked
};
/// Gives every tgpu.alloc_shared its offset and sets `tile.shared` (bytes) on the kernel. Buffers that never live at
/// the same time may share bytes. Error (diagnosed): the limit is passed.
mlir::LogicalResult allocateSharedMemory(mlir::ModuleOp module, const SharedMemoryOptions &options = {});

/// Puts a tgpu.barrier between accesses of different threads to the same bytes of shared memory, or to the same array,
/// where at least one writes. Run after allocation.
mlir::LogicalResult insertBarriers(mlir::ModuleOp module);

/// Everything before allocation: reductions, products, atomics' results, conversions.
/// `mostStages` bounds the copies ahead, for another try where their buffers leave too little room for others.
mlir::LogicalResult spellOut(mlir::ModuleOp module, const Arch &arch, int64_t mostStages = INT64_MAX);
/// All of the above in order.
mlir::LogicalResult lowerToTgpu(mlir::ModuleOp module, const Arch &arch, const SharedMemoryOptions &options = {});

} // namespace tilec::gpu
