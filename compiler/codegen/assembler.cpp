#include "compiler/codegen/assembler.h"
#include "compiler/base/env.h"
#include "compiler/codegen/elf.h"
#include "compiler/codegen/toolkit.h"
#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>

namespace tilec::codegen {

namespace fs = std::filesystem;

const AssembledKernel *Assembly::find(std::string_view name) const {
  auto it = std::ranges::find(kernels, name, &AssembledKernel::name);
  return it == kernels.end() ? nullptr : &*it;
}

bool Assembly::serialises() const {
  return std::ranges::any_of(notes, [](const AsmNote &note) { return note.effect == NoteEffect::Serialises; });
}

std::vector<std::string> entriesOfPtx(std::string_view ptx) {
  std::vector<std::string> names;
  constexpr std::string_view keyword = ".entry";
  for (size_t at = ptx.find(keyword); at != ptx.npos; at = ptx.find(keyword, at)) {
    // A mention in a comment is none: entries stand behind nothing but linkage words.
    size_t lineStart = ptx.rfind('\n', at) + 1;
    bool comment = ptx.substr(lineStart, at - lineStart).contains("//");
    at = ptx.find_first_not_of(" \t\r\n", at + keyword.size());
    if (at == ptx.npos)
      break;
    size_t end = std::min(ptx.find_first_of(" \t\r\n(){", at), ptx.size());
    if (!comment)
      names.emplace_back(ptx.substr(at, end - at));
    at = end;
  }
  return names;
}

int newestPtxOfToolkit(unsigned major, unsigned minor) {
  struct Row {
    unsigned major, minor;
    int ptx;
  };
  static constexpr Row rows[] = {{13, 0, 90}, {12, 9, 88}, {12, 8, 87}, {12, 7, 86}, {12, 5, 85},
                                 {12, 4, 84}, {12, 3, 83}, {12, 2, 82}, {12, 1, 81}, {12, 0, 80}};
  for (const Row &row : rows)
    if (std::pair(major, minor) >= std::pair(row.major, row.minor))
      return std::min(row.ptx, newestPtx);
  return 80;
}

Result<std::vector<std::string>> distinctEntries(std::string_view ptx) {
  std::vector<std::string> entries = entriesOfPtx(ptx);
  if (entries.empty())
    return internalError("the PTX has no kernel");
  // nvJitLink keeps the first of two and prints a line to standard error.
  std::ranges::sort(entries);
  if (auto twice = std::ranges::adjacent_find(entries); twice != entries.end())
    return internalError("the PTX defines the kernel {} twice", *twice);
  return entries;
}

Status complete(Assembly &assembly, const std::vector<std::string> &entries, const Assembler &by) {
  TILEC_ASSIGN(std::vector<CubinKernel> found, listKernels(assembly.cubin));
  AsmLog log = parseAsmLog(assembly.log);
  assembly.notes = log.notes;
  for (const std::string &entry : entries) {
    auto kernel = std::ranges::find(found, entry, &CubinKernel::name);
    if (kernel == found.end() || kernel->codeBytes == 0) {
      auto error = internalError("{} {} gave a cubin without the kernel {}", by.name(), by.version(), entry);
      error.error().detail = assembly.log;
      return error;
    }
    Resources resources = log.kernels[entry];
    resources.codeBytes = int(kernel->codeBytes);
    for (const AsmNote &note : log.notes)
      if (note.kernel.empty() || note.kernel == entry)
        resources.warnings.push_back(note.code.empty() ? note.text : fmt::format("{}: {}", note.code, note.text));
    assembly.kernels.push_back({entry, std::move(resources)});
  }
  return {};
}

std::vector<fs::path> toolkitFolders(std::string_view beside, const std::vector<std::string_view> &inWheels,
                                     std::string_view inToolkit) {
  std::error_code ignored;
  fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> list{folder, folder.parent_path() / beside};
  // A virtual environment of the project stands some levels above a build folder.
  for (int level = 0; level < 4 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    for (fs::directory_iterator it(folder / ".venv/lib", ignored), end; !ignored && it != end; it.increment(ignored))
      for (std::string_view wheel : inWheels)
        list.push_back(it->path() / "site-packages" / wheel);
  list.push_back(fs::path("/usr/local/cuda") / inToolkit);
  return list;
}

/// ptxas where there is one: it compiles whole programs, which nvJitLink does not. Whoever names nvJitLink gets that.
static Result<std::unique_ptr<Assembler>> openBest() {
  if (envPath(Env::TILEC_PTXAS) || !envPath(Env::TILEC_NVJITLINK))
    if (auto ptxas = openPtxas(); ptxas || envPath(Env::TILEC_PTXAS))
      return ptxas;
  return openNvJitLink();
}

Result<Assembler *> openAssembler() {
  static std::mutex mutex;
  static std::unique_ptr<Assembler> assembler;
  std::lock_guard lock(mutex);
  // A failure is not kept: the user of a long-lived process may mend it.
  if (!assembler) {
    TILEC_ASSIGN(assembler, openBest());
  }
  return assembler.get();
}

} // namespace tilec::codegen
