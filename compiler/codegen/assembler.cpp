#include "compiler/codegen/assembler.h"
#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>

namespace tilec::codegen {

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

Result<Assembler *> openAssembler() {
  static std::mutex mutex;
  static std::unique_ptr<Assembler> assembler;
  std::lock_guard lock(mutex);
  // A failure is not kept: the user of a long-lived process may mend it.
  if (!assembler) {
    TILEC_ASSIGN(assembler, openNvJitLink());
  }
  return assembler.get();
}

} // namespace tilec::codegen
