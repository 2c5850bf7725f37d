// LINK: compiler_base
#include "compiler/base/diag.h"
#include "compiler/base/snippet.h"
#include <gtest/gtest.h>
#include <set>

using namespace tilec;

namespace {

/// The span of the first occurrence of a piece of a buffer's text.
Span find(const SourceManager &sources, FileId file, std::string_view piece) {
  size_t begin = sources.text(file).find(piece);
  EXPECT_NE(begin, std::string_view::npos);
  return {file, uint32_t(begin), uint32_t(begin + piece.size())};
}

} // namespace

TEST(Diag, TableIsWellFormed) {
  std::set<std::string_view> codes;
  for (const DiagInfo &row : allDiags()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code << " stands twice";
    EXPECT_EQ(row.code.size(), row.severity == Severity::Error ? 5u : row.code.size());
    EXPECT_EQ(row.code[0], row.severity == Severity::Error ? 'E' : 'W') << row.code;
    EXPECT_FALSE(row.title.empty()) << row.code;
    EXPECT_GE(row.explanation.size(), row.title.size()) << row.code;
    EXPECT_EQ(findDiag(row.code), &row);
    EXPECT_EQ(findDiag(row.name), &row);
    EXPECT_EQ(&info(row.diag), &row);
  }
  EXPECT_EQ(findDiag("e0901"), &info(Diag::NotBuilt));
  EXPECT_EQ(findDiag("NOTBUILT"), &info(Diag::NotBuilt));
  EXPECT_EQ(findDiag("E"), nullptr);
}

TEST(Diag, Duplicates) {
  Diagnostics diags;
  diags.report(Diag::NotBuilt, {0, 1, 2}, "a").help = "first";
  diags.report(Diag::NotBuilt, {0, 1, 2}, "a").help = "second";
  diags.report(Diag::NotBuilt, {0, 1, 2}, "b");
  EXPECT_EQ(diags.errorCount(), 2u);
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(diags.all()[0].help, "first");
}

TEST(Diag, OfManyErrorsTheFirstAreKept) {
  SourceManager sources;
  FileId file = sources.add("x.tile", std::string(1000, ' '));
  Diagnostics diags;
  for (uint32_t i = 0; i < 250; ++i)
    diags.report(Diag::UnknownName, {file, i, i + 1}, "no such name").help = "a mend";
  diags.report(Diag::UnknownName, {file, 249, 250}, "no such name"); // known, though it was not kept
  EXPECT_EQ(diags.errorCount(), 250u);
  EXPECT_EQ(diags.all().size(), Diagnostics::mostOfAKind);
  EXPECT_EQ(diags.leftOut(), 150u);
  EXPECT_TRUE(diags.crowded());
  EXPECT_TRUE(render(diags, sources, false).ends_with("\n… and 150 more\n"));
}

TEST(Diag, RendersSnippetNotesAndHelp) {
  SourceManager sources;
  FileId file = sources.add("k.tile", "tile kernel f() {\n\tx = yy + 1\n}\n");
  Diagnostics diags;
  Diagnostic &diag = diags.report(Diag::NotBuilt, find(sources, file, "yy"), "unknown name 'yy'");
  diag.notes.push_back({find(sources, file, "f()"), "in this kernel"});
  diag.notes.push_back({std::nullopt, "names are case-sensitive"});
  diag.help = "did you mean 'y'?";
  EXPECT_EQ(render(diags, sources, false), "k.tile:2:6: error[E0901]: unknown name 'yy'\n"
                                           " 2 |     x = yy + 1\n"
                                           "   |         ^^\n"
                                           "k.tile:1:13: note: in this kernel\n"
                                           " 1 | tile kernel f() {\n"
                                           "   |             ^^^\n"
                                           "note: names are case-sensitive\n"
                                           "help: did you mean 'y'?\n");
}

TEST(Diag, OrderedByPlaceWithABlankLineBetween) {
  SourceManager sources;
  FileId file = sources.add("k.tile", "a b");
  Diagnostics diags;
  diags.report(Diag::NotBuilt, find(sources, file, "b"), "second");
  diags.report(Diag::NotBuilt, find(sources, file, "a"), "first");
  EXPECT_EQ(render(diags, sources, false), "k.tile:1:1: error[E0901]: first\n"
                                           " 1 | a b\n"
                                           "   | ^\n"
                                           "\n"
                                           "k.tile:1:3: error[E0901]: second\n"
                                           " 1 | a b\n"
                                           "   |   ^\n");
  EXPECT_EQ(render(Diagnostics(), sources, false), "");
}

TEST(Diag, WideGutterAndEndOfFile) {
  SourceManager sources;
  std::string text;
  for (int i = 0; i < 99; ++i)
    text += "line\n";
  FileId file = sources.add("k.tile", text);
  Diagnostics diags;
  uint32_t end = uint32_t(text.size());
  diags.report(Diag::NotBuilt, {file, end, end}, "unexpected end").notes.push_back({Span{file, 0, 4}, "opened here"});
  EXPECT_EQ(render(diags, sources, false), "k.tile:100:1: error[E0901]: unexpected end\n"
                                           " 100 |\n"
                                           "     | ^\n"
                                           "k.tile:1:1: note: opened here\n"
                                           "   1 | line\n"
                                           "     | ^^^^\n");
}

TEST(Diag, SpanOverLinesMarksTheFirst) {
  SourceManager sources;
  FileId file = sources.add("k.tile", "f(a,\r\n  b)\n");
  Diagnostics diags;
  diags.report(Diag::NotBuilt, find(sources, file, "(a,\r\n  b)"), "too many");
  EXPECT_EQ(render(diags, sources, false), "k.tile:1:2: error[E0901]: too many\n"
                                           " 1 | f(a,\n"
                                           "   |  ^^^\n");
}

TEST(Diag, WithoutAFile) {
  SourceManager sources;
  Diagnostics diags;
  diags.report(Diag::NotBuilt, {}, "no kernel").help = "write one";
  EXPECT_EQ(render(diags, sources, false), "error[E0901]: no kernel\nhelp: write one\n");
  EXPECT_EQ(toJson(diags, sources).dump(), R"([{"code":"E0901","name":"NotBuilt","severity":"error",)"
                                           R"("message":"no kernel","notes":[],"help":"write one"}])");
}

TEST(Diag, ColorOnlyWhenAsked) {
  SourceManager sources;
  FileId file = sources.add("k.tile", "x");
  Diagnostics diags;
  diags.report(Diag::NotBuilt, {file, 0, 1}, "bad");
  EXPECT_EQ(render(diags, sources, true), "\x1b[1mk.tile:1:1:\x1b[0m \x1b[1;31merror[E0901]:\x1b[0m \x1b[1mbad\x1b[0m\n"
                                          "\x1b[1;34m 1 |\x1b[0m x\n"
                                          "\x1b[1;34m   |\x1b[0m \x1b[1;31m^\x1b[0m\n");
  EXPECT_EQ(render(diags, sources, false).find('\x1b'), std::string::npos);
}

TEST(Diag, Json) {
  SourceManager sources;
  FileId file = sources.add("k.tile", "é = \xFF\n");
  Diagnostics diags;
  diags.report(Diag::NotBuilt, {file, 5, 6}, "no character: \xFF").notes.push_back({Span{file, 0, 2}, "here"});
  EXPECT_EQ(toJson(diags, sources).dump(),
            R"([{"code":"E0901","name":"NotBuilt","severity":"error","message":"no character: �",)"
            R"("file":"k.tile","line":1,"column":5,"endLine":1,"endColumn":6,)"
            R"("notes":[{"file":"k.tile","line":1,"column":1,"endLine":1,"endColumn":2,"message":"here"}]}])");
}

TEST(Snippet, TabsWideAndInvalidCharacters) {
  Snippet tabs = makeSnippet("\ta\tb", 2, 2);
  EXPECT_EQ(tabs.line, "    a    b");
  EXPECT_EQ(tabs.caretColumn, 5u);
  EXPECT_EQ(tabs.caretWidth, 5u);
  Snippet wide = makeSnippet("漢é x", 6, 1); // three bytes in two cells, two bytes in one
  EXPECT_EQ(wide.caretColumn, 4u);
  EXPECT_EQ(wide.caretWidth, 1u);
  Snippet hostile = makeSnippet("a\x1b[31m\xFFz", 7, 1);
  EXPECT_EQ(hostile.line, "a\uFFFD[31m\uFFFDz");
  EXPECT_EQ(hostile.caretColumn, 7u);
  Snippet past = makeSnippet("ab", 2, 0);
  EXPECT_EQ(past.caretColumn, 2u);
  EXPECT_EQ(past.caretWidth, 1u);
}

TEST(Snippet, LongLinesAreCut) {
  std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  Snippet middle = makeSnippet(line, 500, 1);
  EXPECT_EQ(middle.line, "…" + std::string(60, 'a') + "X" + std::string(99, 'b') + "…");
  EXPECT_EQ(middle.caretColumn, 61u);
  EXPECT_EQ(middle.caretWidth, 1u);
  Snippet all = makeSnippet(line, 0, line.size());
  EXPECT_EQ(all.caretColumn, 0u);
  EXPECT_EQ(all.caretWidth, 160u);
  Snippet end = makeSnippet(line, line.size(), 0);
  EXPECT_EQ(end.line, "…" + std::string(160, 'b'));
  EXPECT_EQ(end.caretColumn, 161u);
}
