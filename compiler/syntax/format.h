#pragma once
// The canonical style of .tile files: `tilec fmt`.
//
// Lines are made from the structure of the program, not from the lines it had: 120 columns, 4 spaces a level, one
// declaration, clause and statement a line. What the author decides is kept:
//   - a list stays broken, one item a line, where a new line followed its bracket; else it breaks only when too long;
//   - a block stays on one line where it was on one and fits; the arms of one `if` break together;
//   - blank lines between statements, items and declarations, at most one at a time;
//   - comments: those behind code stay behind it, those on lines of their own stay there.
// Line ends become LF, whatever they were; a byte order mark goes.
#include "compiler/base/diag.h"
#include <optional>
#include <string>

namespace tilec::syntax {

/// The file in the canonical style; nothing when it has syntax errors, which are reported. The result is read again and
/// compared with the original: the same tokens but for trailing commas and semicolons, the same comments, the same
/// tree. Error: Internal when one of them differs, so that a fault of the formatter costs nobody their program.
Result<std::optional<std::string>> format(FileId file, const SourceManager &sources, Diagnostics &diags);

} // namespace tilec::syntax
