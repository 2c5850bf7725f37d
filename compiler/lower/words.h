#pragma once
// Vector accesses as inline PTX. LLVM would turn a masked vector access into branches, which keeps loads from being in
// flight together; a predicate in front of the instruction does not.
#include "compiler/lower/kernel_lowering.h"

namespace tilec::lower {

struct VectorAccess {
  llvm::StringRef space;     ///< global, global.nc, shared
  Type element;              ///< in memory
  int64_t elements = 1;      ///< 16 bytes at most, aligned to their size
  bool volatileLoad = false; ///< the memory may change: the load keeps its place among stores
};

/// Loads the words of one vector. Where `guard` (i1, may be null) is false nothing is read and the words have the bits
/// of `padding` in each element, or any bits.
llvm::SmallVector<Value> loadWords(KernelLowering &k, const VectorAccess &access, Value address, Value guard,
                                   const std::optional<llvm::APInt> &padding);
/// The elements of loaded words.
llvm::SmallVector<Value> fromWords(KernelLowering &k, const VectorAccess &access, llvm::ArrayRef<Value> words);
/// Stores one vector where `guard` (i1, may be null) is true.
void storeVector(KernelLowering &k, const VectorAccess &access, Value address, llvm::ArrayRef<Value> elements,
                 Value guard);

} // namespace tilec::lower
