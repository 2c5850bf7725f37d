#pragma once
// PTX → machine code, behind one interface: ptxas or nvJitLink. Nothing is loaded before it is needed.
#include "compiler/artifact/artifact.h"
#include "compiler/base/result.h"
#include "compiler/codegen/asm_log.h"
#include "compiler/target/target.h"
#include <string>
#include <string_view>
#include <vector>

namespace tilec::codegen {

struct AssembleOptions {
  bool optimise = true;
  bool lineInfo = false; ///< keep the PTX's line table
  int maxRegisters = 0;  ///< a thread; 0: the assembler chooses
};

/// One kernel of an assembly.
struct AssembledKernel {
  std::string name;
  Resources resources; ///< codeBytes from the cubin, the rest from the log; warnings: the notes' texts
};

struct Assembly {
  std::string cubin;
  std::vector<AssembledKernel> kernels; ///< in the order of their names
  std::vector<AsmNote> notes;           ///< what the assembler remarked, in order
  std::string log;                      ///< all it said

  /// The kernel of a name; null when there is none.
  const AssembledKernel *find(std::string_view name) const;
  /// Whether a note says that matrix instructions wait for each other.
  bool serialises() const;
};

class Assembler {
public:
  virtual ~Assembler() = default;
  /// Such as nvJitLink.
  virtual std::string_view name() const = 0;
  /// Such as 13.0.
  virtual std::string version() const = 0;
  /// Newest PTX version it reads that LLVM writes, major × 10 + minor.
  virtual int newestPtxVersion() const = 0;
  /// Assembles a whole PTX text. Every `.entry` of the text is in the result, or this is an error. Safe to call from
  /// several threads. Errors: Internal, the assembler refused the text, with its log as detail; Usage, it is too old
  /// for the architecture.
  virtual Result<Assembly> assemble(std::string_view ptx, const Arch &arch, const AssembleOptions &options = {}) = 0;
};

/// The assembler of this process, opened by the first call: ptxas, or nvJitLink where there is no ptxas or
/// TILEC_NVJITLINK names it. Error (Usage): none is installed, with the places searched.
Result<Assembler *> openAssembler();

/// Opens nvJitLink from one file, or by searching for it when the path is empty: TILEC_NVJITLINK, the loader's path,
/// the folders beside the executable, Python wheels in a `.venv` above it, the CUDA toolkit.
Result<std::unique_ptr<Assembler>> openNvJitLink(const std::string &path = "");

/// The same for NVIDIA's ptxas, a program that is started for each assembly: TILEC_PTXAS, the search path, the folders
/// beside the executable, Python wheels, the CUDA toolkit. It compiles a kernel as a whole, where nvJitLink compiles it
/// for linking: there a division or square root is a call, which costs registers around it, and `setmaxnreg` is lost.
Result<std::unique_ptr<Assembler>> openPtxas(const std::string &path = "");

/// Names of the `.entry` functions of a PTX text.
std::vector<std::string> entriesOfPtx(std::string_view ptx);

} // namespace tilec::codegen
