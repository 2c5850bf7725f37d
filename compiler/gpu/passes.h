#pragma once
// Tile IR with layouts → tile and tgpu IR in which every element has its place: reductions split by warps, conversions
// through shared memory spelt out, buffers placed, barriers inserted.
#include "mlir/IR/BuiltinOps.h"

namespace tilec::gpu {

/// Splits each tile.reduce into a tgpu.warp_reduce and, where its elements lie in several warps, an exchange of the
/// partial results through shared memory that every thread finishes for itself: the result is replicated as its layout
/// says. Partial results combine in a fixed order, so equal inputs give equal bits.
mlir::LogicalResult splitReductions(mlir::ModuleOp module);

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

/// The four above in order.
mlir::LogicalResult lowerToTgpu(mlir::ModuleOp module, const SharedMemoryOptions &options = {});

} // namespace tilec::gpu
