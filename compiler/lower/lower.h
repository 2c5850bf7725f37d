#pragma once
// Tile and tgpu IR with layouts → the LLVM dialect, one thread's view of it. No NVVM dialect: special registers,
// shuffles and barriers are intrinsic calls, predicated accesses inline PTX.
#include "compiler/artifact/artifact.h"
#include "compiler/target/target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tilec::lower {

/// Bytes of the print buffer: a header of 16 with the count of bytes asked for, then records of 16 bytes and their
/// values.
inline constexpr int64_t printBufferBytes = int64_t(1) << 22;

enum class ParamKind : uint8_t { Array, Scalar, Symbol, Print };

/// One parameter of an entry point. An array is its base address; a bool scalar is passed as a byte.
struct KernelParam {
  ParamKind kind;
  std::string name;
  DType dtype; ///< element of an array, or the value's own
};

/// What a launch of a lowered kernel has to know.
struct LoweredKernel {
  std::string entry;
  std::vector<KernelParam> params;   ///< in the order of the entry point
  int64_t threads = 0;               ///< of a block
  int64_t sharedBytes = 0;           ///< dynamic shared memory
  std::vector<MessageSpec> messages; ///< where it prints or asserts: the last parameter is then the print buffer
};

/// Replaces every tile.kernel of the module by an llvm.func with the calling convention ptx_kernel. Wants layouts
/// assigned, shared memory allocated and barriers inserted. Math and conversions without an exact instruction become
/// calls of `__tilec_*` routines, which the code generator links.
///
/// Vector accesses need rows that start at a multiple of the vector. Where extents decide that at launch, the entry
/// tests them once and runs one of two versions of the body: one with vectors, one element by element.
mlir::FailureOr<std::vector<LoweredKernel>> lowerToLLVM(mlir::ModuleOp module, const Arch &arch);

/// Gives kernels that were lowered a line table: `.loc` and `.file` in the PTX, where locations of operations have
/// places. Files are named as the program's diagnostics name them. The instructions
/// of the PTX stay the same; an assembler may order a few of them in another way.
void addLineTable(mlir::ModuleOp module);

} // namespace tilec::lower
