// From a checked program to machine code, step by step, in this process or in a child.
#include "compiler/driver/compile.h"
#include "compiler/base/hash.h"
#include "compiler/base/text.h"
#include "compiler/codegen/assembler.h"
#include "compiler/codegen/ptx.h"
#include "compiler/driver/isolate.h"
#include "compiler/driver/wire.h"
#include "compiler/emit/emit.h"
#include "compiler/gpu/passes.h"
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/ir/tile_dialect.h"
#include "compiler/lower/lower.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tilec::driver {

std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  tile::registerTileDialects(registry);
  registry.insert<tgpu::TgpuDialect, mlir::LLVM::LLVMDialect>();
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

MlirErrors::MlirErrors(mlir::MLIRContext &context) : context(context) {
  handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &d) {
    if (d.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    llvm::raw_string_ostream os(collected);
    if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(d.getLocation()))
      os << at.getFilename().getValue() << ":" << at.getLine() << ":" << at.getColumn();
    else
      os << d.getLocation();
    os << ": " << d << "\n";
  });
}

MlirErrors::~MlirErrors() { context.getDiagEngine().eraseHandler(handler); }

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, false);
  module.print(os, flags);
  os << "\n";
  return text;
}

void Clock::lap(std::string step) {
  auto now = std::chrono::steady_clock::now();
  compilation.milliseconds.emplace_back(std::move(step),
                                        std::chrono::duration<double, std::milli>(now - start).count());
  start = now;
}

namespace {

/// A compilation on its way through the stages.
class Pipeline {
public:
  Pipeline(const CompileOptions &options, const Arch &arch, std::string name)
      : options(options), arch(arch), name(std::move(name)), clock(result), context(makeContext()), errors(*context) {
    clock.lap("context");
  }

  Compilation result;
  Status fromProgram(const Source &source, const sema::Program &program) {
    result.artifact = plan(source, program);
    planned = true;
    if (wants(Stage::checked))
      result.dumps[Stage::checked] = sema::dump(program);
    if (done(Stage::checked))
      return {};
    module = emit::emit(program, source.sources, *context);
    TILEC_TRY(passed(module && mlir::succeeded(mlir::verify(*module)), "emit"));
    result.artifact.provenance.irHash = sha256(tile::canonicalText(*module));
    clock.lap("emit");
    return fromModule(Stage::tile);
  }

  Status fromText(Stage stage, const std::string &text) {
    if (stage == Stage::ptx)
      return assemble(text);
    if (stage == Stage::ll) {
      TILEC_ASSIGN(llvmModule, codegen::parseIr(text, name, llvmContext));
      return fromLlvm();
    }
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    if (!module)
      return withDetail(usageError("it is no module"));
    clock.lap("parse");
    return fromModule(stage);
  }

private:
  const CompileOptions &options;
  const Arch &arch;
  std::string name;
  bool planned = false; ///< the artifact has the launch plan of a program
  Clock clock;
  std::unique_ptr<mlir::MLIRContext> context;
  MlirErrors errors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;

  bool wants(Stage stage) const { return std::ranges::find(options.dumps, stage) != options.dumps.end(); }
  bool done(Stage stage) const { return options.last <= stage; }

  /// What a pass refused of the program: its first error, which has the place.
  std::unexpected<Error> refused(std::string_view otherwise) const {
    std::string first = errors.text().substr(0, errors.text().find('\n'));
    return programError("{}", first.empty() ? fmt::format("kernel '{}' {}", name, otherwise) : first);
  }
  std::unexpected<Error> withDetail(std::unexpected<Error> e) const {
    Error error = std::move(e.error());
    error.detail = errors.text();
    return std::unexpected(std::move(error));
  }
  Status passed(bool ok, std::string_view step) const {
    if (ok)
      return {};
    return withDetail(internalError("{} of kernel '{}' for {} failed", step, name, arch.name));
  }
  void keep(Stage stage) {
    if (wants(stage))
      result.dumps[stage] = print(*module);
  }

  /// Spells out what goes through shared memory and places it; where it does not fit, with fewer copies ahead.
  Status placeSharedMemory() {
    for (int64_t mostStages : {INT64_MAX, int64_t(3), int64_t(2), int64_t(0)}) {
      errors.clear();
      mlir::OwningOpRef<mlir::ModuleOp> attempt = module->clone();
      TILEC_TRY(passed(mlir::succeeded(gpu::spellOut(*attempt, arch, mostStages)), "lowering to tgpu"));
      if (mlir::succeeded(gpu::allocateSharedMemory(*attempt, {.limit = arch.sharedPerBlock}))) {
        module = std::move(attempt);
        return {};
      }
    }
    return refused(fmt::format("does not fit the shared memory of {}", arch.name));
  }

  Status fromModule(Stage stage) {
    keep(stage);
    if (done(stage))
      return {};
    if (stage == Stage::tile) {
      TILEC_TRY(passed(mlir::succeeded(transforms::simplify(*module)), "simplification"));
      // What this pass refuses is the program's: a tile that no block could hold, elements that no access can move.
      transforms::expandForThreads(*module, arch);
      if (mlir::failed(transforms::assignLayouts(*module, {.arch = &arch})))
        return refused(fmt::format("cannot be laid out for {}", arch.name));
      clock.lap("layouts");
      return fromModule(Stage::layout);
    }
    if (stage == Stage::layout) {
      TILEC_TRY(placeSharedMemory());
      bool ordered = mlir::succeeded(gpu::insertBarriers(*module)) && mlir::succeeded(mlir::verify(*module));
      TILEC_TRY(passed(ordered, "lowering to tgpu"));
      clock.lap("tgpu");
      return fromModule(Stage::tgpu);
    }
    if (stage == Stage::tgpu) {
      auto kernels = lower::lowerToLLVM(*module, arch);
      TILEC_TRY(passed(mlir::succeeded(kernels), "lowering to LLVM"));
      describeLaunches(*kernels);
      clock.lap("lower");
      return fromModule(Stage::llvm);
    }
    if (options.lineInfo)
      lower::addLineTable(*module);
    TILEC_ASSIGN(llvmModule, codegen::translate(*module, llvmContext));
    clock.lap("translate");
    return fromLlvm();
  }

  /// Completes the launch plan by what lowering decided.
  void describeLaunches(const std::vector<lower::LoweredKernel> &kernels) {
    if (kernels.empty())
      return;
    if (result.artifact.launches.empty())
      result.artifact.launches.emplace_back();
    LaunchSpec &launch = result.artifact.launches.front();
    const lower::LoweredKernel &kernel = kernels.front();
    launch.entry = kernel.entry;
    launch.threads = int(kernel.threads);
    launch.dynamicSharedBytes = kernel.sharedBytes;
    launch.messages = kernel.messages;
    launch.params.clear();
    // The text of a stage says nothing of extents and strides: its launch cannot be planned, only its code looked at.
    if (!planned)
      return;
    for (const lower::KernelParam &p : kernel.params) {
      LaunchParam param;
      if (p.kind == lower::ParamKind::Print) {
        param.kind = ParamKind::PrintBuffer;
        param.value = LaunchExpr::constant(lower::printBufferBytes);
      } else if (p.kind == lower::ParamKind::Array) {
        param.kind = ParamKind::ArrayBase;
        param.array = p.name;
      } else {
        param.kind = ParamKind::Value;
        param.value = LaunchExpr::name(p.name);
      }
      param.dtype = p.dtype;
      launch.params.push_back(std::move(param));
    }
  }

  Status fromLlvm() {
    if (wants(Stage::ll))
      result.dumps[Stage::ll] = codegen::printIr(*llvmModule);
    if (done(Stage::ll))
      return {};
    // PTX no newer than the assembler reads; without an assembler the newest, which --emit=ptx still wants.
    codegen::PtxOptions ptxOptions;
    if (auto assembler = codegen::openAssembler())
      ptxOptions.version = (*assembler)->newestPtxVersion();
    TILEC_ASSIGN(codegen::Ptx ptx, codegen::emitPtx(*llvmModule, arch, ptxOptions));
    for (const auto &[step, ms] : ptx.milliseconds)
      result.milliseconds.emplace_back(step, ms);
    clock.restart();
    return assemble(ptx.text);
  }

  Status assemble(const std::string &ptx) {
    if (wants(Stage::ptx))
      result.dumps[Stage::ptx] = ptx;
    if (done(Stage::ptx))
      return {};
    TILEC_ASSIGN(codegen::Assembler * assembler, codegen::openAssembler());
    clock.lap("open assembler");
    TILEC_ASSIGN(codegen::Assembly assembly, assembler->assemble(ptx, arch, {.lineInfo = options.lineInfo}));
    clock.lap("assemble");
    Artifact &a = result.artifact;
    a.provenance.assembler = fmt::format("{} {}", assembler->name(), assembler->version());
    a.arch = arch.compiledAs;
    if (a.launches.empty())
      for (const codegen::AssembledKernel &kernel : assembly.kernels)
        a.launches.emplace_back().entry = kernel.name;
    if (a.name.empty() && !a.launches.empty())
      a.name = a.launches.front().entry;
    for (LaunchSpec &launch : a.launches) {
      const codegen::AssembledKernel *kernel = assembly.find(launch.entry);
      if (!kernel)
        return internalError("the assembler gave no code for '{}'", launch.entry);
      launch.resources = kernel->resources;
    }
    if (wants(Stage::cubin))
      result.dumps[Stage::cubin] = assembly.cubin;
    a.binaries = {std::move(assembly.cubin)};
    return {};
  }
};

const Arch &archOf(const sema::Program &program) {
  // Stages before layouts are the same for every architecture.
  return program.arch ? *program.arch : allArchs().front();
}

/// The command that reproduces a failure.
std::string reproduce(const Source &source, const sema::Program &program, const CompileOptions &options) {
  std::string command =
      fmt::format("tilec build {} --kernel {} --arch {}", shellQuote(source.path), program.name, archOf(program).name);
  for (const auto &[name, value] : program.parameters)
    command += fmt::format(" -D {}={}", name, toString(value));
  for (const auto &[name, value] : program.folded)
    command += fmt::format(" -D {}={}", name, value);
  for (const auto &[name, value] : program.hints)
    command += fmt::format(" --hint {}={}", name, value);
  if (options.lineInfo)
    command += " --lineinfo";
  if (options.last != Stage::cubin)
    command += fmt::format(" --emit={}", info(options.last).name);
  return command;
}

Result<Compilation> isolated(const std::function<Result<Compilation>()> &work, double timeout, const std::string &what,
                             const std::string &command) {
  auto answer = runIsolated(
      [&] {
        codegen::installFatalErrorHandler(2);
        return pack(work());
      },
      timeout);
  if (!answer) {
    const ChildFailure &f = answer.error();
    bool fatal = f.kind == ChildFailure::Kind::Exit && f.code == codegen::fatalExitCode;
    Error e{ErrorKind::Internal,
            fmt::format("code generation of {} {}", what, fatal ? "met a fatal error of LLVM" : f.text()),
            fmt::format("reproduce with: {}", command), f.output};
    if (f.isTransient())
      e.message += transientMark;
    return std::unexpected(std::move(e));
  }
  Result<Compilation> result = unpack(*answer);
  if (!result && result.error().kind == ErrorKind::Internal && result.error().help.empty())
    result.error().help = fmt::format("reproduce with: {}", command);
  return result;
}

} // namespace

Result<Compilation> compile(const Source &source, const sema::Program &program, const CompileOptions &options) {
  if (options.last > Stage::tile)
    TILEC_TRY(requireGpu(source, program));
  Pipeline pipeline(options, archOf(program), program.name);
  TILEC_TRY(pipeline.fromProgram(source, program));
  // Stages before the checker's are texts of the source itself.
  return std::move(pipeline.result);
}

Result<Compilation> compileIsolated(const Source &source, const sema::Program &program, const CompileOptions &options) {
  if (options.last > Stage::tile)
    TILEC_TRY(requireGpu(source, program));
  std::vector<std::string> values;
  for (const auto &[name, value] : program.parameters)
    values.push_back(fmt::format("{}={}", name, toString(value)));
  for (const auto &[name, value] : program.hints)
    values.push_back(fmt::format("{}={}", name, value));
  std::string what =
      fmt::format("kernel '{}' ({}) for {}", program.name, join(values, " "), archOf(program).compiledAs);
  return isolated([&] { return compile(source, program, options); }, options.timeoutSeconds, what,
                  reproduce(source, program, options));
}

Result<Compilation> compileStage(Stage from, const std::string &path, const std::string &text, const Arch &arch,
                                 const CompileOptions &options) {
  auto work = [&]() -> Result<Compilation> {
    Pipeline pipeline(options, arch, path);
    pipeline.result.artifact.provenance.file = path;
    pipeline.result.artifact.provenance.sourceHash = sha256(text);
    pipeline.result.artifact.provenance.toolVersion = toolVersion();
    if (Status status = pipeline.fromText(from, text); !status) {
      // A text that is not what its name says is wrong use, not a defect.
      Error error = status.error();
      error.kind = error.kind == ErrorKind::Internal ? ErrorKind::Usage : error.kind;
      error.message = fmt::format("'{}' is no good {} text: {}", path, info(from).name, error.message);
      return std::unexpected(std::move(error));
    }
    return std::move(pipeline.result);
  };
  return isolated(work, options.timeoutSeconds, fmt::format("'{}' for {}", path, arch.compiledAs),
                  fmt::format("tilec build {} --arch {}", shellQuote(path), arch.name));
}

Result<std::string> irHash(const Source &source, const sema::Program &program) {
  auto context = makeContext();
  MlirErrors errors(*context);
  auto module = emit::emit(program, source.sources, *context);
  if (!module)
    return internalError("emission of kernel '{}' failed", program.name);
  return sha256(tile::canonicalText(*module));
}

Result<std::string> assemblerVersion() {
  TILEC_ASSIGN(codegen::Assembler * assembler, codegen::openAssembler());
  return fmt::format("{} {}", assembler->name(), assembler->version());
}

} // namespace tilec::driver
