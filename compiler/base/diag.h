#pragma once
// Diagnostics as values. Codes, severities and explanations stand in diag_codes.def, one row a code.
#include "compiler/base/json.h"
#include "compiler/base/source.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tilec {

enum class Severity { Error, Warning };

enum class Diag : uint16_t {
#define DIAG(name, code, severity, title, explanation) name,
#include "compiler/base/diag_codes.def"
};

/// What the table says of a code.
struct DiagInfo {
  Diag diag;
  std::string_view name; ///< CamelCase name of the row
  std::string_view code; ///< what users see, such as E0201
  Severity severity;
  std::string_view title;       ///< a few words
  std::string_view explanation; ///< what `tilec explain CODE` prints, with an example and its mend
};
const DiagInfo &info(Diag diag);
const std::vector<DiagInfo> &allDiags();
/// Looks a code up by what users type (E0201 or its name, any case); null when there is none.
const DiagInfo *findDiag(std::string_view code);

/// A second place that belongs to a diagnostic.
struct DiagNote {
  std::optional<Span> span;
  std::string message;
};

struct Diagnostic {
  Diag diag;
  Span span;
  std::string message; ///< one sentence in the language's own terms, no full stop needed
  std::vector<DiagNote> notes;
  std::string help; ///< the mend, may be empty
};

/// Collects the diagnostics of one run. Identical reports (code, place, text) are kept once, and of one file the first
/// hundred errors and the first hundred warnings: the rest is counted.
class Diagnostics {
public:
  static constexpr size_t mostOfAKind = 100;

  /// Adds a diagnostic and returns it for notes and help; the reference is good until the next report.
  Diagnostic &report(Diag diag, Span span, std::string message);
  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  const std::vector<Diagnostic> &all() const { return list; }
  /// Reports that were counted only.
  size_t leftOut() const { return dropped; }
  /// Whether another report is as good as none: texts that are dear to make need not be made.
  bool crowded() const { return errors >= mostOfAKind; }

private:
  std::vector<Diagnostic> list;
  std::unordered_set<std::string> known; ///< code, place and text of every report
  std::map<std::pair<FileId, Severity>, size_t> kept;
  size_t errors = 0, dropped = 0;
  Diagnostic scratch; ///< stands in for a report that is not kept
};

/// `file:line:column: error[E0201]: …`, the source line with a caret run, notes and help. Ordered by place.
std::string render(const Diagnostics &diags, const SourceManager &sources, bool color);
/// The same as a JSON array; places as file, line, column, endLine, endColumn.
Json toJson(const Diagnostics &diags, const SourceManager &sources);

} // namespace tilec
