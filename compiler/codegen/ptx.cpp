#include "compiler/codegen/ptx.h"
#include "compiler/codegen/defects.h"
#include "compiler/codegen/link_device.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <cstring>
#include <unistd.h>

// The only target of ours; its registration functions have no header of their own.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tilec::codegen {

void installFatalErrorHandler(int fd) {
  auto handler = [](void *data, const char *reason, bool) {
    int fd = int(reinterpret_cast<intptr_t>(data));
    // One line, and no allocation: memory may be what ran out.
    size_t length = std::strcspn(reason, "\n");
    [[maybe_unused]] ssize_t written = ::write(fd, reason, length);
    written = ::write(fd, "\n", 1);
    _exit(fatalExitCode);
  };
  void *data = reinterpret_cast<void *>(intptr_t(fd));
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(handler, data);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(handler, data);
}

namespace {

/// Keeps errors that LLVM reports to its context, whose default is to print them and call exit(1).
class DiagnosticCollector : public llvm::DiagnosticHandler {
public:
  explicit DiagnosticCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream out(errors);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
      out << '\n';
    }
    return true;
  }

private:
  std::string &errors;
};

/// Collects the diagnostics of a context while it lives.
class CollectDiagnostics {
public:
  CollectDiagnostics(llvm::LLVMContext &context, std::string &errors) : context(context) {
    previous = context.getDiagnosticHandler();
    context.setDiagnosticHandler(std::make_unique<DiagnosticCollector>(errors));
  }
  ~CollectDiagnostics() { context.setDiagnosticHandler(std::move(previous)); }

private:
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> previous;
};

const llvm::Target &nvptx() {
  static const llvm::Target *target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
  }();
  return *target;
}

std::unique_ptr<llvm::TargetMachine> targetMachine(const Arch &arch, const PtxOptions &options) {
  llvm::TargetOptions target;
  target.AllowFPOpFusion = options.contract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  target.MCOptions.AsmVerbose = false;
  return std::unique_ptr<llvm::TargetMachine>(nvptx().createTargetMachine(
      llvm::Triple("nvptx64-nvidia-cuda"), arch.compiledAs, ptxFeatures(std::max(options.version, arch.ptxVersion)),
      target, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Barriers, shuffles and matrix instructions written as assembly must not be moved across divergent control flow, and
/// nothing but this attribute tells LLVM so.
void makeAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &f : module)
    for (llvm::Instruction &i : llvm::instructions(f))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i); call && call->isInlineAsm())
        call->addFnAttr(llvm::Attribute::Convergent);
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Writes a time and a size behind every file of a line table: where there are none, assemblers look for the file and
/// copy its own into the cubin, which would then differ from one checkout to the next.
std::string fixFileFacts(llvm::StringRef ptx) {
  std::string result;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    result += line;
    if (line.starts_with("\t.file\t"))
      result += ", 1, 0";
    result += '\n';
    ptx = rest;
  }
  return result;
}

/// Milliseconds since the last call.
class Lap {
public:
  double operator()() {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    return ms;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

std::unexpected<Error> withDetail(std::unexpected<Error> e, std::string detail) {
  Error error = std::move(e.error());
  error.detail = std::move(detail);
  return std::unexpected(std::move(error));
}

} // namespace

Result<std::unique_ptr<llvm::Module>> parseIr(std::string_view text, std::string_view name,
                                              llvm::LLVMContext &context) {
  llvm::SMDiagnostic diagnostic;
  std::string buffer(text), title(name); // the parser wants a terminating NUL
  auto module = llvm::parseIR(llvm::MemoryBufferRef(buffer, title), diagnostic, context);
  if (!module)
    return programError("{}:{}: {}", name, diagnostic.getLineNo(), diagnostic.getMessage().str());
  return module;
}

std::string printIr(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

Result<Ptx> emitPtx(llvm::Module &module, const Arch &arch, const PtxOptions &options) {
  Ptx result;
  Lap lap;
  std::string errors;
  CollectDiagnostics collect(module.getContext(), errors);
  auto machine = targetMachine(arch, options);
  if (!machine)
    return internalError("LLVM has no target machine for {}", arch.compiledAs);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  llvm::raw_string_ostream verifier(errors);
  if (llvm::verifyModule(module, &verifier))
    return withDetail(internalError("the LLVM IR handed to code generation is invalid"), errors);
  for (const llvm::Function &f : module)
    if (!f.isDeclaration() && f.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      result.kernels.push_back(f.getName().str());

  makeAssemblyConvergent(module);
  TILEC_TRY(linkDeviceLibrary(module));
  result.milliseconds.emplace_back("link", lap());
  optimise(module, *machine);
  result.milliseconds.emplace_back("optimise", lap());
  if (options.keepIr)
    result.ir = printIr(module);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return internalError("LLVM cannot write assembly for {}", arch.compiledAs);
  passes.run(module);
  if (!errors.empty())
    return withDetail(internalError("LLVM could not generate code for {}", arch.compiledAs), errors);
  bool lines = module.debug_compile_units_begin() != module.debug_compile_units_end();
  result.text = avoidDefects(lines ? fixFileFacts(text) : text.str().str(), arch);
  result.milliseconds.emplace_back("emit", lap());
  return result;
}

} // namespace tilec::codegen
