#pragma once
// What `import` brings in: files beside the importing one, and those that ship with the tool.
#include "compiler/base/diag.h"
#include "compiler/syntax/ast.h"

namespace tilec::syntax {

/// Reads and parses what a file imports, and what that imports, each file once, and hangs the trees into the import
/// declarations. What cannot be read, and a cycle, is reported; such a declaration stays without a tree.
void loadImports(File &file, SourceManager &sources, Diagnostics &diags);

/// The files of a program: the given one, then all that it imports, each once.
std::vector<const File *> filesOf(const File &file);

/// A file of the standard library: `import "std/NAME.tile"`.
struct StdFile {
  std::string_view name, text;
};
const std::vector<StdFile> &stdLibrary();

} // namespace tilec::syntax
