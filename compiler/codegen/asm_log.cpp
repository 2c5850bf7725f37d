#include "compiler/codegen/asm_log.h"
#include "compiler/base/text.h"
#include <charconv>
#include <optional>

namespace tilec::codegen {

namespace {

/// Counts of a resource line: parts between commas, each a number and words (`324 bytes spill stores`, `used 2
/// barriers`).
struct Count {
  std::string_view words; ///< what stands behind the number
  int Resources::*field;
};
constexpr Count counts[] = {
    {"bytes stack frame", &Resources::stackBytes},
    {"bytes spill stores", &Resources::spillStoreBytes},
    {"bytes spill loads", &Resources::spillLoadBytes},
    {"registers", &Resources::registers},
    {"barriers", &Resources::barriers},
    {"bytes smem", &Resources::staticSharedBytes},
};

struct NoteRow {
  std::string_view code;
  NoteEffect effect;
  std::string_view meaning;
};
constexpr NoteRow noteRows[] = {
#define ASM_NOTE(code, effect, meaning) {#code, NoteEffect::effect, meaning},
#include "compiler/codegen/asm_notes.def"
};

/// Cuts `prefix` off; false when the text starts otherwise.
bool consume(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The text between the first pair of single quotes behind `before`.
std::string quotedAfter(std::string_view text, std::string_view before) {
  size_t at = text.find(before);
  if (at == text.npos)
    return "";
  size_t open = text.find('\'', at), close = open == text.npos ? open : text.find('\'', open + 1);
  return close == text.npos ? "" : std::string(text.substr(open + 1, close - open - 1));
}

void readCounts(std::string_view line, Resources &into) {
  for (const std::string &part : split(line, ',')) {
    size_t digit = part.find_first_of("0123456789");
    if (digit == part.npos)
      continue;
    int value = 0;
    const char *end = part.data() + part.size();
    auto [rest, error] = std::from_chars(part.data() + digit, end, value);
    std::string_view words = trim(std::string_view(rest, size_t(end - rest)));
    for (const Count &count : counts)
      if (error == std::errc() && words == count.words)
        into.*count.field = value;
  }
}

/// `(C7512) Potential Performance Loss: …` of an information line, or a warning.
std::optional<AsmNote> readNote(std::string_view text, bool warning) {
  AsmNote note;
  note.kernel = quotedAfter(text, "function");
  if (text.starts_with("(C") && text.find(')') != text.npos) {
    size_t close = text.find(')');
    note.code = text.substr(1, close - 1);
    note.text = trim(text.substr(close + 1));
    for (const NoteRow &row : noteRows)
      if (row.code == note.code)
        note.effect = row.effect;
    // Numbers come and go with versions; the word has stayed.
    if (note.effect == NoteEffect::Other && note.text.contains("serialized"))
      note.effect = NoteEffect::Serialises;
    return note;
  }
  if (!warning)
    return std::nullopt;
  note.text = text;
  note.effect = text.contains("spilled") ? NoteEffect::Spills : NoteEffect::Other;
  return note;
}

/// `application ptx input, line 9; error   : text` → `line 9: text`.
std::string readError(std::string_view place, std::string_view text) {
  size_t line = place.find("line ");
  if (line == place.npos)
    return std::string(text);
  std::string_view number = place.substr(line, place.find(';', line) - line);
  return fmt::format("{}: {}", number, text);
}

} // namespace

std::string_view noteMeaning(std::string_view code) {
  for (const NoteRow &row : noteRows)
    if (row.code == code)
      return row.meaning;
  return "";
}

AsmLog parseAsmLog(std::string_view log) {
  AsmLog result;
  std::string entry, function;
  for (const std::string &whole : split(log, '\n')) {
    std::string_view line = trim(whole);
    // ptxas itself puts a function's properties on a line without its name.
    if (line.contains("bytes stack frame") && !line.starts_with("ptxas")) {
      if (!entry.empty() && function == entry)
        readCounts(line, result.kernels[entry]);
      continue;
    }
    // The linker's own summary repeats the numbers with its reserved shared memory added: only ptxas lines count.
    if (!consume(line, "ptxas"))
      continue;
    size_t colon = line.find(" : ");
    std::string_view head = trim(line.substr(0, colon == line.npos ? line.find(" .") : colon));
    std::string_view text = colon == line.npos ? trim(line) : trim(line.substr(colon + 3));
    if (head.ends_with("error") || head.ends_with("fatal")) {
      result.errors.push_back(readError(head, text));
      continue;
    }
    if (auto note = readNote(text, head.ends_with("warning"))) {
      result.notes.push_back(std::move(*note));
      continue;
    }
    if (consume(text, "Compiling entry function ")) {
      entry = quotedAfter(text, "");
      function = entry;
      result.kernels[entry];
    } else if (consume(text, "Function properties for ")) {
      function = trim(text);
    } else if (!entry.empty() && (text.starts_with("Used ") || (function == entry && text.contains("stack frame")))) {
      readCounts(text, result.kernels[entry]);
    }
  }
  return result;
}

} // namespace tilec::codegen
