// LLVM dialect → LLVM IR; apart from ptx.cpp, since MLIR's headers are slow to compile.
#include "compiler/codegen/ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"

namespace tilec::codegen {

Result<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext &context) {
  mlir::registerBuiltinDialectTranslation(*module->getContext());
  mlir::registerLLVMDialectTranslation(*module->getContext());
  std::string errors;
  mlir::ScopedDiagnosticHandler collect(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + '\n';
    return mlir::success();
  });
  auto translated = mlir::translateModuleToLLVMIR(module, context, module.getName().value_or("tile"));
  if (!translated) {
    auto error = internalError("the LLVM dialect cannot be translated to LLVM IR");
    error.error().detail = errors;
    return error;
  }
  return translated;
}

} // namespace tilec::codegen
