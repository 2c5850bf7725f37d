// NVIDIA's ptxas as the assembler: a process for each text, which goes through memory.
#include "compiler/base/env.h"
#include "compiler/base/files.h"
#include "compiler/base/text.h"
#include "compiler/codegen/toolkit.h"
#include "llvm/Support/Program.h"
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace tilec::codegen {

namespace {
namespace fs = std::filesystem;

/// Bytes in memory that a child process can open as a file.
class MemoryFile {
public:
  static Result<MemoryFile> create(const char *name) {
    int descriptor = memfd_create(name, 0);
    if (descriptor < 0)
      return usageError("no file can be made in memory: {}", strerror(errno));
    return MemoryFile(descriptor);
  }
  MemoryFile(MemoryFile &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  Status write(std::string_view bytes) const {
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR)
        return usageError("no file can be made in memory: {}", strerror(errno));
      bytes.remove_prefix(size_t(std::max<ssize_t>(count, 0)));
    }
    return {};
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor); }

private:
  explicit MemoryFile(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

struct Run {
  int code = 0;
  std::string output; ///< both streams
};

Result<Run> run(const std::string &program, const std::vector<std::string> &arguments) {
  TILEC_ASSIGN(MemoryFile output, MemoryFile::create("log"));
  std::vector<llvm::StringRef> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string into = output.path();
  std::optional<llvm::StringRef> streams[] = {llvm::StringRef(""), llvm::StringRef(into), llvm::StringRef(into)};
  std::string why;
  bool failed = false;
  int code = llvm::sys::ExecuteAndWait(program, words, std::nullopt, streams, 0, 0, &why, &failed);
  if (failed || code < 0)
    return usageError("{} cannot be run: {}", program, why.empty() ? "it was killed" : why);
  TILEC_ASSIGN(std::string text, readFile(output.path()));
  return Run{code, std::move(text)};
}

class Ptxas : public Assembler {
public:
  Ptxas(std::string program, unsigned major, unsigned minor)
      : program(std::move(program)), major(major), minor(minor) {}
  std::string_view name() const override { return "ptxas"; }
  std::string version() const override { return fmt::format("{}.{}", major, minor); }
  int newestPtxVersion() const override { return newestPtxOfToolkit(major, minor); }

  Result<Assembly> assemble(std::string_view ptx, const Arch &arch, const AssembleOptions &options) override {
    if (arch.ptxVersion > newestPtxVersion())
      return withHelp(usageError("{} {} ({}) does not know {}", name(), version(), program, arch.name),
                      "install a newer CUDA toolkit, or `pip install --upgrade nvidia-cuda-nvcc`");
    TILEC_ASSIGN(std::vector<std::string> entries, distinctEntries(ptx));
    TILEC_ASSIGN(MemoryFile source, MemoryFile::create("ptx"));
    TILEC_ASSIGN(MemoryFile cubin, MemoryFile::create("cubin"));
    TILEC_TRY(source.write(ptx));
    std::vector<std::string> words{fmt::format("--gpu-name={}", arch.compiledAs),
                                   options.optimise ? "-O3" : "-O0",
                                   "--verbose",
                                   source.path(),
                                   "--output-file",
                                   cubin.path()};
    if (options.lineInfo)
      words.emplace_back("--generate-line-info");
    if (options.maxRegisters > 0)
      words.push_back(fmt::format("--maxrregcount={}", options.maxRegisters));
    TILEC_ASSIGN(Run done, run(program, words));
    Assembly result;
    result.log = std::move(done.output);
    if (done.code != 0) {
      AsmLog parsed = parseAsmLog(result.log);
      auto error =
          internalError("{} {} cannot assemble the kernel: {}", name(), version(),
                        parsed.errors.empty() ? fmt::format("exit code {}", done.code) : parsed.errors.front());
      error.error().detail = result.log;
      return error;
    }
    TILEC_ASSIGN(result.cubin, readFile(cubin.path()));
    TILEC_TRY(complete(result, entries, *this));
    return result;
  }

private:
  const std::string program;
  const unsigned major, minor;
};

/// Asks a program for its release: `Cuda compilation tools, release 13.0, V13.0.88`.
Result<std::unique_ptr<Assembler>> open(const std::string &program) {
  TILEC_ASSIGN(Run said, run(program, {"--version"}));
  constexpr std::string_view mark = "release ";
  size_t at = said.output.find(mark);
  unsigned major = 0, minor = 0;
  if (said.code != 0 || at == said.output.npos ||
      std::sscanf(said.output.c_str() + at + mark.size(), "%u.%u", &major, &minor) != 2)
    return usageError("{} does not tell its release", program);
  return std::make_unique<Ptxas>(program, major, minor);
}

} // namespace

Result<std::unique_ptr<Assembler>> openPtxas(const std::string &path) {
  std::string named = path;
  if (named.empty())
    if (auto variable = envPath(Env::TILEC_PTXAS))
      named = variable->string();
  if (!named.empty()) {
    auto assembler = open(named);
    if (!assembler && path.empty())
      return withHelp(std::unexpected(assembler.error()), "correct or unset TILEC_PTXAS");
    return assembler;
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    if (auto assembler = open(*found))
      return assembler;
  for (const fs::path &folder : toolkitFolders("bin", {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"}, "bin")) {
    std::error_code ignored;
    if (fs::exists(folder / "ptxas", ignored))
      if (auto assembler = open((folder / "ptxas").string()))
        return assembler;
  }
  return withHelp(usageError("ptxas was not found"),
                  "install it with `pip install nvidia-cuda-nvcc` into .venv or from the CUDA toolkit");
}

} // namespace tilec::codegen
