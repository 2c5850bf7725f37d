#pragma once
// Trees and errors of pieces of programs, for the tests of the parser.
#include "compiler/base/files.h"
#include "compiler/syntax/parser.h"
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tilec;
using namespace tilec::syntax;
using testing::ElementsAre;

namespace tilec::syntax {

struct Parsed {
  SourceManager sources;
  Diagnostics diags;
  std::unique_ptr<File> file;

  explicit Parsed(std::string text) { file = parse(sources.add("t.tile", std::move(text)), sources, diags); }
  /// `line:column code message` of every diagnostic.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic &diag : diags.all()) {
      LineColumn at = sources.position(diag.span.file, diag.span.begin);
      out.push_back(fmt::format("{}:{} {} {}", at.line, at.column, info(diag.diag).code, diag.message));
    }
    return out;
  }
  std::string dump() const { return dumpAst(*file, sources); }
};

/// The tree of an expression; its errors where there are any.
inline std::string expr(std::string text) {
  Parsed parsed("const X = " + text);
  if (!parsed.errors().empty())
    return parsed.errors()[0];
  std::string dump = parsed.dump();
  constexpr std::string_view head = "(file (const X ";
  return dump.substr(head.size(), dump.size() - head.size() - 3);
}

/// The tree of the body of a function.
inline std::string body(std::string text) {
  Parsed parsed("fn f() {\n" + text + "\n}");
  if (!parsed.errors().empty())
    return parsed.errors()[0];
  const auto &fn = as<FnDecl>(*parsed.file->decls.at(0));
  std::string dump = parsed.dump();
  EXPECT_TRUE(fn.body);
  size_t begin = dump.find("(block");
  return dump.substr(begin, dump.size() - begin - 3);
}

/// Errors of statements inside a function; lines count from the first statement.
inline std::vector<std::string> bodyErrors(std::string text) {
  Parsed parsed("fn f() {" + text + "\n}");
  return parsed.errors();
}
inline std::vector<std::string> fileErrors(std::string text) { return Parsed(std::move(text)).errors(); }

inline std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> out;
  for (const auto &entry : std::filesystem::directory_iterator(TILEC_SOURCE_DIR "/tests/syntax/Inputs"))
    if (entry.path().extension() == ".tile")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace tilec::syntax
