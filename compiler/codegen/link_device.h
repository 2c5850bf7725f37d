#pragma once
#include "compiler/base/result.h"

namespace llvm {
class Module;
}

namespace tilec::codegen {
/// Links the routines of the device library that the module calls (`__tilec_*`) and makes them internal, with the
/// floating-point mode of the module's kernels. Costs nothing when it calls none. Errors (Internal): a routine that the
/// library does not have.
Status linkDeviceLibrary(llvm::Module &module);
} // namespace tilec::codegen
