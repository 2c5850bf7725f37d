#pragma once
// The compiler as a library: source → checked program → artifact, or → results on the CPU. No MLIR type is named here.
#include "compiler/artifact/artifact.h"
#include "compiler/base/diag.h"
#include "compiler/sema/check.h"
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

namespace tilec::driver {

enum class Stage : uint8_t {
#define STAGE(name, ...) name,
#include "compiler/driver/stages.def"
};
struct StageInfo {
  Stage stage;
  std::string_view name, extension;
  bool isInput;
  std::string_view doc;
};
const std::vector<StageInfo> &allStages();
const StageInfo &info(Stage stage);
/// By name (`--emit=ptx`); null when there is none.
const StageInfo *findStage(std::string_view name);
/// The stage a file's name says it holds (x.ptx, x.tile.mlir); null for a .tile source.
const StageInfo *stageOfFile(std::string_view path);

/// One .tile file, read and parsed. Diagnostics of every later step are added to `diags`.
struct Source {
  std::string path;
  SourceManager sources;
  Diagnostics diags;
  FileId file = 0;
  std::unique_ptr<syntax::File> ast;
  std::string hash; ///< sha256 of the text, or of the hashes of all texts where it imports some
};
/// Reads and parses. Error (Usage): the file cannot be read. Syntax errors are in `diags`.
Result<std::unique_ptr<Source>> openSource(const std::string &path);
/// The same from text under a name.
std::unique_ptr<Source> sourceFromText(std::string name, std::string text);

/// Text of a stage before checking: tokens or ast.
std::string dumpSource(Source &source, Stage stage);

/// Picks and describes one kernel; an empty name takes the only one.
/// Errors: Usage (no kernel of that name, or several and no name), Program (errors were reported to source.diags).
Result<sema::KernelInterface> describe(Source &source, std::string_view kernel);
/// Checks the kernel with values. Error (Program): errors were reported to source.diags.
Result<sema::Program> instantiate(Source &source, const sema::KernelInterface &interface,
                                  const sema::Bindings &bindings);

struct CompileOptions {
  Stage last = Stage::cubin;   ///< nothing after this stage is done
  std::vector<Stage> dumps;    ///< stages whose text (or bytes) is kept
  double timeoutSeconds = 120; ///< compileIsolated only
  bool lineInfo = false;       ///< the PTX and the cubin tell which line an instruction is of
};

struct Compilation {
  Artifact artifact; ///< complete when the last stage is cubin
  std::map<Stage, std::string> dumps;
  std::vector<std::pair<std::string, double>> milliseconds; ///< per step, in order
};

/// Compiles in this process: LLVM may abort it on a defect.
Result<Compilation> compile(const Source &source, const sema::Program &program, const CompileOptions &options);
/// Compiles in a forked child: an abort, a crash, a call of exit or a timeout is an Internal error that names stage,
/// kernel, configuration and the command that reproduces it. No thread of the caller may hold a lock the child needs.
Result<Compilation> compileIsolated(const Source &source, const sema::Program &program, const CompileOptions &options);

/// Goes on from a dumped stage (text of a file whose stage is `from`), isolated as above. The artifact it gives has no
/// launch plan beyond what the text itself says.
Result<Compilation> compileStage(Stage from, const std::string &path, const std::string &text, const Arch &arch,
                                 const CompileOptions &options);

/// Identity of a program for caches: sha256 of its canonical tile IR (locations and names of no effect removed).
/// Cheap: no code generation.
Result<std::string> irHash(const Source &source, const sema::Program &program);
/// Version of tilec and the hash of its own code generator's sources, fixed at build time.
std::string_view toolVersion();
/// Name and version of the assembler in use. Error (Usage): none found.
Result<std::string> assemblerVersion();

/// Something of a program that only the executor can do so far.
struct GpuGap {
  Span span;
  std::string word; ///< as the program says it
};
std::vector<GpuGap> gpuGaps(const sema::Program &program);
/// Reports them all (E0901); true when there are any.
bool reportGpuGaps(Source &source, const sema::Program &program);
/// Error (Program): the first one.
Status requireGpu(const Source &source, const sema::Program &program);

/// A host array for the reference executor; row-major unless strides are given (elements).
struct HostBuffer {
  DType dtype = DType::f32;
  std::vector<int64_t> extents, strides;
  void *data = nullptr;
  std::vector<int64_t> unwritten = {}; ///< see ReferenceOptions::findUnwritten
};

struct ReferenceOptions {
  unsigned jobs = 0;  ///< 0: as many as there are cores
  bool widen = false; ///< float arithmetic in f64: the truth that error bounds are measured against
  bool checkRaces = true;
  /// HostBuffer::unwritten takes the offsets of elements of an `out` array that no block stores.
  bool findUnwritten = false;
  std::function<void(int64_t done, int64_t total)> progress;
  /// What blocks print, in the order of block numbers; without it nothing is printed.
  std::function<void(std::string_view text)> print;
  /// Blocks to run (linear numbers); empty: all.
  std::vector<int64_t> blocks;
};

/// A finding of the executor.
struct ReferenceFinding {
  std::string kind; ///< race, uninitialised, out-of-bounds, division-by-zero, assertion, not-divisible
  std::string message, place;
};

/// Runs a program on the CPU, exactly as the language says. `env` holds every symbol and scalar; arrays in the order of
/// Program::arrays.
Result<std::vector<ReferenceFinding>> runReference(const Source &source, const sema::Program &program,
                                                   std::vector<HostBuffer> &arrays, const LaunchEnv &env,
                                                   std::array<int64_t, 3> grid, const ReferenceOptions &options);

/// The launch plan of a program without code: what bindSymbols() and planGrid() need before anything is compiled.
Artifact plan(const Source &source, const sema::Program &program);

} // namespace tilec::driver
