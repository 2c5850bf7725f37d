// NVIDIA's nvJitLink library as the assembler. It is opened at run time: neither its header nor a CUDA toolkit is
// needed to build, and any release from 12.0 on will do, since the plain symbol names have stayed the same.
#include "compiler/base/env.h"
#include "compiler/base/text.h"
#include "compiler/codegen/toolkit.h"
#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <memory>

namespace tilec::codegen {

namespace {
namespace fs = std::filesystem;

using Handle = struct nvJitLink *;
using Code = int;
constexpr Code success = 0;
constexpr int inputPtx = 2;

/// The functions in use, as nvJitLink.h declares them.
#define NVJITLINK_FUNCTIONS(F)                                                                                         \
  F(nvJitLinkVersion, Code (*)(unsigned *, unsigned *))                                                                \
  F(nvJitLinkCreate, Code (*)(Handle *, uint32_t, const char **))                                                      \
  F(nvJitLinkDestroy, Code (*)(Handle *))                                                                              \
  F(nvJitLinkAddData, Code (*)(Handle, int, const void *, size_t, const char *))                                       \
  F(nvJitLinkComplete, Code (*)(Handle))                                                                               \
  F(nvJitLinkGetLinkedCubinSize, Code (*)(Handle, size_t *))                                                           \
  F(nvJitLinkGetLinkedCubin, Code (*)(Handle, void *))                                                                 \
  F(nvJitLinkGetErrorLogSize, Code (*)(Handle, size_t *))                                                              \
  F(nvJitLinkGetErrorLog, Code (*)(Handle, char *))                                                                    \
  F(nvJitLinkGetInfoLogSize, Code (*)(Handle, size_t *))                                                               \
  F(nvJitLinkGetInfoLog, Code (*)(Handle, char *))

struct Api {
#define MEMBER(name, type) std::type_identity_t<type> name = nullptr;
  NVJITLINK_FUNCTIONS(MEMBER)
#undef MEMBER
};

/// The library's result codes in words; a code past the end is from a newer release.
std::string describe(Code code) {
  static constexpr std::string_view names[] = {"success",
                                               "unrecognised option",
                                               "missing architecture",
                                               "invalid input",
                                               "the PTX was refused",
                                               "NVVM failed",
                                               "internal error",
                                               "the thread pool failed",
                                               "unrecognised input",
                                               "finalising failed",
                                               "empty input",
                                               "incompatible options",
                                               "wrong input type",
                                               "wrong architecture",
                                               "the library is too old",
                                               "missing fatbin",
                                               "unrecognised architecture",
                                               "unsupported architecture",
                                               "LTO is not enabled"};
  bool known = code >= 0 && size_t(code) < std::size(names);
  return known ? std::string(names[code]) : fmt::format("result code {}", code);
}

/// One link: destroyed with its scope, logs readable until then.
class Link {
public:
  explicit Link(const Api &api) : api(api) {}
  ~Link() {
    if (handle)
      api.nvJitLinkDestroy(&handle);
  }
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  Code create(std::vector<const char *> options) {
    return api.nvJitLinkCreate(&handle, uint32_t(options.size()), options.data());
  }
  Code add(std::string_view ptx) {
    return api.nvJitLinkAddData(handle, inputPtx, ptx.data(), ptx.size(), "kernel.ptx");
  }
  Code complete() { return api.nvJitLinkComplete(handle); }
  Code cubin(std::string &bytes) {
    size_t size = 0;
    if (Code code = api.nvJitLinkGetLinkedCubinSize(handle, &size); code != success)
      return code;
    bytes.resize(size);
    return api.nvJitLinkGetLinkedCubin(handle, bytes.data());
  }
  std::string errorLog() { return log(api.nvJitLinkGetErrorLogSize, api.nvJitLinkGetErrorLog); }
  std::string infoLog() { return log(api.nvJitLinkGetInfoLogSize, api.nvJitLinkGetInfoLog); }

private:
  std::string log(Code (*sizeOf)(Handle, size_t *), Code (*get)(Handle, char *)) {
    size_t size = 0;
    std::string text;
    if (!handle || sizeOf(handle, &size) != success || size == 0)
      return text;
    text.resize(size);
    if (get(handle, text.data()) != success)
      return "";
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }

  const Api &api;
  Handle handle = nullptr;
};

class NvJitLink : public Assembler {
public:
  NvJitLink(Api api, unsigned major, unsigned minor) : api(api), major(major), minor(minor) {}
  std::string_view name() const override { return "nvJitLink"; }
  std::string version() const override { return fmt::format("{}.{}", major, minor); }
  int newestPtxVersion() const override { return newestPtxOfToolkit(major, minor); }
  Result<Assembly> assemble(std::string_view ptx, const Arch &arch, const AssembleOptions &options) override;

private:
  /// A failure with what the library says about it: the log's first error names the line.
  std::unexpected<Error> failed(Link &link, Code code) const {
    std::string log = link.errorLog();
    AsmLog parsed = parseAsmLog(log);
    std::string cause = parsed.errors.empty() ? describe(code) : parsed.errors.front();
    auto error = internalError("{} {} cannot assemble the kernel: {}", name(), version(), cause);
    error.error().detail = log.empty() ? link.infoLog() : log;
    return error;
  }

  const Api api;
  const unsigned major, minor;
};

Result<Assembly> NvJitLink::assemble(std::string_view ptx, const Arch &arch, const AssembleOptions &options) {
  if (arch.ptxVersion > newestPtxVersion())
    return withHelp(usageError("{} {} does not know {}", name(), version(), arch.name),
                    "install a newer one: `pip install --upgrade nvidia-nvjitlink`");
  TILEC_ASSIGN(std::vector<std::string> entries, distinctEntries(ptx));

  // The architecture has to be the text's own target, the letter included. -verbose makes the log tell resources.
  std::vector<std::string> words = {fmt::format("-arch={}", arch.compiledAs), options.optimise ? "-O3" : "-O0",
                                    "-verbose"};
  if (options.lineInfo)
    words.push_back("-lineinfo");
  if (options.maxRegisters > 0)
    words.push_back(fmt::format("-maxrregcount={}", options.maxRegisters));
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());

  Link link(api);
  if (Code code = link.create(arguments); code != success)
    return failed(link, code);
  // Every code counts: completing a link whose only input was refused succeeds, with an empty result.
  if (Code code = link.add(ptx); code != success)
    return failed(link, code);
  if (Code code = link.complete(); code != success)
    return failed(link, code);
  Assembly result;
  if (Code code = link.cubin(result.cubin); code != success)
    return failed(link, code);
  result.log = link.infoLog();

  TILEC_TRY(complete(result, entries, *this));
  return result;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Finding the library
//===--------------------------------------------------------------------------------------------------------------===//

constexpr std::string_view sonames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};

/// Files to try, best first. Names without a folder go through the loader's path.
std::vector<std::string> candidates() {
  std::vector<std::string> list(std::begin(sonames), std::end(sonames));
  for (const fs::path &folder : toolkitFolders("lib", {"nvidia/cu13/lib", "nvidia/nvjitlink/lib"}, "lib64"))
    for (std::string_view soname : sonames) {
      std::error_code ignored;
      if (fs::exists(folder / soname, ignored))
        list.push_back((folder / soname).string());
    }
  return list;
}

/// Opens one file and looks every function up; the reason when that fails.
std::expected<std::unique_ptr<Assembler>, std::string> open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return std::unexpected(std::string(dlerror()));
  Api api;
  std::string missing;
#define LOOK_UP(name, type)                                                                                            \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name));                                              \
  if (!api.name)                                                                                                       \
    missing = #name;
  NVJITLINK_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  unsigned major = 0, minor = 0;
  if (missing.empty() && api.nvJitLinkVersion(&major, &minor) == success)
    return std::make_unique<NvJitLink>(api, major, minor); // the library stays open as long as the process
  dlclose(library);
  return std::unexpected(missing.empty() ? fmt::format("{} does not tell its version", path)
                                         : fmt::format("{} has no function {}", path, missing));
}

} // namespace

Result<std::unique_ptr<Assembler>> openNvJitLink(const std::string &path) {
  std::string named = path;
  if (named.empty())
    if (auto variable = envPath(Env::TILEC_NVJITLINK))
      named = variable->string();
  if (!named.empty()) {
    auto assembler = open(named);
    if (assembler)
      return std::move(*assembler);
    return withHelp(usageError("libnvJitLink cannot be loaded: {}", assembler.error()),
                    path.empty() ? "correct or unset TILEC_NVJITLINK" : "");
  }
  std::string reason;
  for (const std::string &candidate : candidates()) {
    auto assembler = open(candidate);
    if (assembler)
      return std::move(*assembler);
    // A file that is there and does not load tells more than a name that was not found.
    if (reason.empty() || candidate.contains('/'))
      reason = assembler.error();
  }
  return withHelp(usageError("no assembler for PTX: libnvJitLink was not found ({})", reason),
                  "install it with `pip install nvidia-nvjitlink` into .venv or from the CUDA toolkit, or set "
                  "TILEC_NVJITLINK to the file libnvJitLink.so.13");
}

} // namespace tilec::codegen
