// The one allocator of shared memory.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::gpu {
namespace {

/// Vector accesses of 16 bytes need it; a swizzle counts banks from the start of its buffer.
constexpr int64_t bufferAlign = 16, swizzledAlign = 128;
/// Buffers up to this size keep bytes of their own: sharing them would save little and cost a barrier each time.
constexpr int64_t neverShared = 1024;

struct Buffer {
  tgpu::AllocSharedOp op;
  int64_t bytes = 0, align = bufferAlign, offset = -1;
  int64_t begin = 0, end = 0; ///< first and last op, numbered in program order, in which it lives
};

/// First and last op where a buffer lives: from its allocation to its last use, both in one block or deeper. A use in a
/// loop that does not hold the allocation keeps the buffer to the end of that loop.
void findLife(Buffer &buffer, const llvm::DenseMap<Operation *, int64_t> &number,
              const llvm::DenseMap<Operation *, int64_t> &lastInside) {
  buffer.begin = buffer.end = number.lookup(buffer.op);
  for (Operation *user : buffer.op->getUsers()) {
    Operation *inBlock = buffer.op->getBlock()->findAncestorOpInBlock(*user);
    buffer.end = std::max(buffer.end, lastInside.lookup(inBlock));
  }
}

LogicalResult allocate(tile::KernelOp kernel, const SharedMemoryOptions &options) {
  llvm::DenseMap<Operation *, int64_t> number, lastInside;
  int64_t next = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { number[op] = next++; });
  kernel.walk([&](Operation *op) { // post-order: what is inside comes first
    int64_t last = number[op];
    op->walk([&](Operation *inner) { last = std::max(last, number[inner]); });
    lastInside[op] = last;
  });

  SmallVector<Buffer> buffers;
  kernel.walk([&](tgpu::AllocSharedOp op) {
    Buffer buffer{op, int64_t(llvm::alignTo(uint64_t(op.byteSize()), uint64_t(bufferAlign))),
                  op.getSwizzle()[1] ? swizzledAlign : bufferAlign};
    findLife(buffer, number, lastInside);
    buffers.push_back(buffer);
  });
  // Large buffers first: small ones fit into what is left.
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](Buffer *a, Buffer *b) { return a->bytes > b->bytes; });

  int64_t total = 0;
  SmallVector<Buffer *> placed;
  for (Buffer *buffer : order) {
    // The lowest gap among the buffers that must not overlap this one.
    SmallVector<Buffer *> others;
    for (Buffer *other : placed) {
      bool apart = other->end < buffer->begin || buffer->end < other->begin;
      bool mayShare = apart && buffer->bytes > neverShared && other->bytes > neverShared;
      if (!mayShare)
        others.push_back(other);
    }
    llvm::sort(others, [](Buffer *a, Buffer *b) { return a->offset < b->offset; });
    int64_t offset = 0;
    for (Buffer *other : others) {
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
      offset = int64_t(llvm::alignTo(uint64_t(offset), uint64_t(buffer->align)));
    }
    buffer->offset = offset;
    buffer->op.setOffset(offset);
    total = std::max(total, offset + buffer->bytes);
    placed.push_back(buffer);
  }
  if (options.limit && total > options.limit)
    return emitError(kernel.getLoc()) << "kernel '" << kernel.getSymName() << "' needs " << total
                                      << " bytes of shared memory, and a block may have " << options.limit;
  kernel->setAttr("tile.shared", Builder(kernel.getContext()).getI64IntegerAttr(total));
  return success();
}

} // namespace

LogicalResult allocateSharedMemory(ModuleOp module, const SharedMemoryOptions &options) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    if (failed(allocate(kernel, options)))
      return failure();
  return success();
}

} // namespace tilec::gpu
