#pragma once
// A tile against a buffer in shared memory: where each register of a layout lies.
#include "compiler/lower/kernel_lowering.h"

namespace tilec::lower {

class SharedTile {
public:
  /// `stage` (i32, may be null) picks one of the buffer's stages.
  SharedTile(KernelLowering &k, tgpu::AllocSharedOp buffer, Value stage, const LinearLayout &layout, Type element);
  /// Elements that lie in a row in the registers of a thread and in memory, 16 bytes at most.
  int64_t vector() const { return int64_t(1) << vectorRegisters.size(); }
  /// First registers of the vectors; the others follow by vectorRegister().
  llvm::SmallVector<uint32_t> leaders() const;
  uint32_t vectorRegister(uint32_t leader, int64_t element) const;
  Value address(uint32_t leader);

  Type elementType; ///< in memory

private:
  KernelLowering &k;
  LinearLayout offsets; ///< places → element offset in the buffer, swizzle included
  std::vector<int> vectorRegisters;
  Value base, threadPart;
  uint64_t reached = 0;
};

/// ldmatrix for a tile: each instruction gives 2^(1 + chosen) registers.
struct MatrixLoad {
  SharedTile tile; ///< the address of each instruction
  size_t chosen;
  std::string text, constraints;
  /// Loads the instruction's registers that `reg` is among.
  void load(KernelLowering &k, Registers &registers, uint32_t reg);
};

} // namespace tilec::lower
