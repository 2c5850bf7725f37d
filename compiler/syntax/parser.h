#pragma once
// Source text to syntax tree. The grammar is in docs/language.md; sema gives the tree its meaning.
#include "compiler/base/diag.h"
#include "compiler/syntax/ast.h"

namespace tilec::syntax {

/// Parses one file. Always returns a tree; every fault is reported once (codes E01xx), and parsing goes on at the next
/// statement or declaration. A tree parsed with errors may hold Error nodes, empty names and null children where a
/// part is missing, so a checker runs only on files without errors.
std::unique_ptr<File> parse(FileId id, const SourceManager &sources, Diagnostics &diags);

} // namespace tilec::syntax
