// tilec-opt: runs named passes over tile IR, for tests of one pass at a time.
//
//   tilec-opt FILE [--simplify] [--layout[=WARPS]] [--split] [--convert] [--alloc[=LIMIT]] [--barriers] [--tgpu]
//             [--lower] [--ll]
//
// Passes run in the order given; the result goes to stdout, as LLVM IR after --ll. FILE may be `-`. The verifier runs
// after every pass. Exit code 1: the input does not parse or a pass failed.
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/lower/lower.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static int64_t numberOf(StringRef option) {
  int64_t value = 0;
  option.split('=').second.getAsInteger(10, value);
  return value;
}

static LogicalResult runPass(StringRef option, ModuleOp module) {
  StringRef name = option.split('=').first;
  if (name == "--simplify")
    return tilec::transforms::simplify(module);
  if (name == "--layout") {
    tilec::transforms::LayoutOptions options;
    options.warps = numberOf(option);
    return tilec::transforms::assignLayouts(module, options);
  }
  if (name == "--split")
    return tilec::gpu::splitReductions(module);
  if (name == "--convert")
    return tilec::gpu::lowerConversions(module);
  if (name == "--alloc")
    return tilec::gpu::allocateSharedMemory(module, {numberOf(option)});
  if (name == "--barriers")
    return tilec::gpu::insertBarriers(module);
  if (name == "--tgpu")
    return tilec::gpu::lowerToTgpu(module, *tilec::findArch("sm_80"));
  if (name == "--lower")
    return tilec::lower::lowerToLLVM(module, *tilec::findArch("sm_80"));
  llvm::errs() << "tilec-opt: unknown pass " << option << '\n';
  return failure();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  tilec::tile::registerTileDialects(registry);
  registry.insert<tilec::tgpu::TgpuDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (argc < 2) {
    llvm::errs() << "usage: tilec-opt FILE [--PASS...]\n";
    return 2;
  }
  auto module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  for (int i = 2; i < argc; ++i) {
    if (StringRef(argv[i]) == "--ll") {
      llvm::LLVMContext llvmContext;
      auto translated = translateModuleToLLVMIR(*module, llvmContext);
      if (!translated)
        return 1;
      translated->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
      translated->print(llvm::outs(), nullptr);
      return 0;
    }
    if (failed(runPass(argv[i], *module)) || failed(verify(*module)))
      return 1;
  }
  module->print(llvm::outs(), OpPrintingFlags().enableDebugInfo(false));
  llvm::outs() << '\n';
  return 0;
}
