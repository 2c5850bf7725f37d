#pragma once
// The assembler's log as data: resources of each kernel and remarks that matter. Pure text work.
#include "compiler/artifact/artifact.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::codegen {

enum class NoteEffect : uint8_t {
  Serialises, ///< matrix instructions wait for each other
  Ignored,    ///< a request of ours had no effect
  Mended,     ///< the assembler added what was missing
  Spills,     ///< registers went to memory
  Other,
};

/// One remark or warning.
struct AsmNote {
  std::string code; ///< C7512; empty for a warning without a number
  NoteEffect effect = NoteEffect::Other;
  std::string kernel; ///< where the text names one
  std::string text;   ///< the assembler's sentence
};

struct AsmLog {
  std::map<std::string, Resources> kernels; ///< by entry name; filled by a verbose log only
  std::vector<AsmNote> notes;
  std::vector<std::string> errors; ///< `line 9: Unknown modifier '.bar'`, in order
};

/// What a numbered remark means for generated code, in a few words; empty when the table has no row for it.
std::string_view noteMeaning(std::string_view code);

/// Reads the information and error logs of ptxas or nvJitLink. Lines of no meaning here are skipped.
AsmLog parseAsmLog(std::string_view log);

} // namespace tilec::codegen
