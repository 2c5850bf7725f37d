#pragma once
// LLVM dialect or LLVM IR → PTX, in this process. LLVM may end the process where it meets a defect of the input (an
// intrinsic the target lacks, say): callers that must survive run this in a child and call installFatalErrorHandler().
#include "compiler/base/result.h"
#include "compiler/target/target.h"
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class ModuleOp;
}

namespace tilec::codegen {

/// Exit status of a process that a fatal error of LLVM ended.
inline constexpr int fatalExitCode = 86;
/// From now on a fatal error of LLVM (an allocation failure as well) writes its reason as one line to `fd` and ends the
/// process by _exit(fatalExitCode): no signal, no exit handlers, nothing on other descriptors.
void installFatalErrorHandler(int fd);

struct PtxOptions {
  /// Allows products and sums written apart to be fused everywhere. Otherwise only operations that carry the `contract`
  /// flag are.
  bool contract = false;
  /// PTX version to write, major × 10 + minor; the architecture's own oldest where that is newer.
  int version = newestPtx;
  /// Keeps the optimised LLVM IR as text.
  bool keepIr = false;
};

struct Ptx {
  std::string text;
  std::vector<std::string> kernels;                         ///< entry points in the order of the module
  std::string ir;                                           ///< optimised LLVM IR, with keepIr
  std::vector<std::pair<std::string, double>> milliseconds; ///< per step: link, optimise, emit
};

/// Translates a module of the LLVM dialect. Errors (Internal): an operation without translation, or invalid LLVM IR.
Result<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context);
/// Reads LLVM IR as text; `name` is used in the error (Program), which has the line.
Result<std::unique_ptr<llvm::Module>> parseIr(std::string_view text, std::string_view name, llvm::LLVMContext &context);
/// LLVM IR as text, the `ll` stage.
std::string printIr(const llvm::Module &module);

/// Makes every inline-assembly call convergent (MLIR's operation cannot say so, and LLVM would move barriers), links
/// the device library's routines in, optimises and prints PTX. The module is used up: afterwards it holds the optimised
/// IR. Errors (Internal): invalid IR, a missing routine, or what LLVM reported.
Result<Ptx> emitPtx(llvm::Module &module, const Arch &arch, const PtxOptions &options = {});

} // namespace tilec::codegen
