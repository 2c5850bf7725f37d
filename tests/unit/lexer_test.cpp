// LINK: compiler_syntax compiler_base
#include "compiler/syntax/lexer.h"
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::syntax;
using testing::ElementsAre;

namespace {

struct Lexed {
  SourceManager sources;
  Diagnostics diags;
  TokenList list;

  explicit Lexed(std::string text) {
    FileId file = sources.add("t.tile", std::move(text));
    list = lex(file, sources, diags);
  }
  const Token &operator[](size_t i) const { return list.tokens[i]; }
  /// The spellings without the Eof.
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Token &token : list.tokens)
      if (token.kind != TokenKind::Eof)
        out.emplace_back(sources.text(token.span));
    return out;
  }
  /// `line:column code message` of every diagnostic.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic &diag : diags.all()) {
      LineColumn at = sources.position(diag.span.file, diag.span.begin);
      out.push_back(fmt::format("{}:{} {} {}", at.line, at.column, info(diag.diag).code, diag.message));
    }
    return out;
  }
};

/// The names that open compile-time arguments.
std::vector<std::string> generics(std::string text) {
  Lexed lexed(std::move(text));
  std::vector<std::string> out;
  for (size_t i = 0; i < lexed.list.tokens.size(); ++i)
    if (lexed[i].generic)
      out.emplace_back(lexed.sources.text(lexed[i - 1].span));
  return out;
}

} // namespace

TEST(Lexer, LongestSpellingWins) {
  EXPECT_THAT(Lexed("a**b*=c..=d..e.f<<g<=h<i>>j>=k!=l!m==n=o&&p&q||r|s").texts(),
              ElementsAre("a", "**", "b", "*=", "c", "..=", "d", "..", "e", ".", "f", "<<", "g", "<=", "h", "<", "i",
                          ">>", "j", ">=", "k", "!=", "l", "!", "m", "==", "n", "=", "o", "&&", "p", "&", "q", "||",
                          "r", "|", "s"));
}

TEST(Lexer, WordsAndDTypes) {
  Lexed lexed("kernel kernels f32 f8e4m3 bool int out _ x1");
  std::vector<TokenKind> kinds;
  for (const Token &token : lexed.list.tokens)
    kinds.push_back(token.kind);
  using enum TokenKind;
  EXPECT_THAT(kinds, ElementsAre(KwKernel, Name, DType, DType, DType, Name, Name, Name, Name, Eof));
  EXPECT_EQ(lexed[2].dtype, tilec::DType::f32);
  EXPECT_EQ(lexed[3].dtype, tilec::DType::f8e4m3);
}

TEST(Lexer, Numbers) {
  Lexed lexed("0 1_000 0xFF_ff 0b101 18446744073709551615 0.5 1e5 1_0.2_5e-3 2E+1 1e-400");
  EXPECT_TRUE(lexed.errors().empty());
  uint64_t integers[] = {0, 1000, 0xffff, 5, UINT64_MAX};
  for (size_t i = 0; i < std::size(integers); ++i) {
    EXPECT_EQ(lexed[i].kind, TokenKind::Int);
    EXPECT_EQ(lexed[i].integer, integers[i]);
  }
  double floats[] = {0.5, 1e5, 10.25e-3, 20, 0};
  for (size_t i = 0; i < std::size(floats); ++i) {
    EXPECT_EQ(lexed[5 + i].kind, TokenKind::Float);
    EXPECT_EQ(lexed[5 + i].real, floats[i]);
  }
}

TEST(Lexer, DotsAfterDigits) {
  EXPECT_THAT(Lexed("0..n").texts(), ElementsAre("0", "..", "n"));
  EXPECT_THAT(Lexed("1..=10").texts(), ElementsAre("1", "..=", "10"));
  EXPECT_THAT(Lexed("t.0.1").texts(), ElementsAre("t", ".", "0", ".", "1"));
  EXPECT_THAT(Lexed("t.0.x").texts(), ElementsAre("t", ".", "0", ".", "x"));
  EXPECT_THAT(Lexed("2.to(f32)").texts(), ElementsAre("2", ".", "to", "(", "f32", ")"));
}

TEST(Lexer, NewlineFlag) {
  Lexed lexed("a b # c\n\n  d\r\ne");
  EXPECT_TRUE(lexed[0].newline);
  EXPECT_FALSE(lexed[1].newline);
  EXPECT_TRUE(lexed[2].newline);
  EXPECT_TRUE(lexed[3].newline);
}

TEST(Lexer, Strings) {
  Lexed lexed(R"("a\n\t\"\\ é#")");
  EXPECT_TRUE(lexed.errors().empty());
  EXPECT_EQ(lexed.list.strings.at(lexed[0].index), "a\n\t\"\\ é#");
}

TEST(Lexer, DocumentationIsTheBlockAbove) {
  Lexed lexed("## lost\n\n## first\n##  second\n# between\n\nkernel x ## no\n### rule\ny\n");
  ASSERT_EQ(lexed[0].doc, 1u);
  EXPECT_EQ(lexed.list.docs[0], "first\n second");
  EXPECT_EQ(lexed[1].doc, 0u);
  EXPECT_EQ(lexed[2].doc, 0u);
}

TEST(Lexer, ByteOrderMarkIsSkipped) {
  Lexed lexed("\xef\xbb\xbf"
              "fn");
  EXPECT_EQ(lexed[0].kind, TokenKind::KwFn);
  EXPECT_TRUE(lexed.errors().empty());
}

TEST(Lexer, GenericCalls) {
  EXPECT_THAT(generics("zeros<f32>(16)"), ElementsAre("zeros"));
  EXPECT_THAT(generics("f<g<2>(3) + 1, N * 2>(x)"), ElementsAre("f", "g"));
  EXPECT_THAT(generics("f<if A < B && C { 1 } else { 2 }>(x)"), ElementsAre("f"));
  EXPECT_THAT(generics("x.unpack<f4e2m1>(b)"), ElementsAre("unpack"));
  EXPECT_THAT(generics("f<(a < b)>(x)"), ElementsAre("f"));
  EXPECT_THAT(generics("f<-1>(x)"), ElementsAre("f"));
  EXPECT_THAT(generics("f<x[0].dtype>(x)"), ElementsAre("f"));
  EXPECT_THAT(generics("f<2,\n3\n>(x)"), ElementsAre("f"));
  // Comparisons all.
  EXPECT_THAT(generics("a <b>(c)"), ElementsAre());
  EXPECT_THAT(generics("a<b> (c)"), ElementsAre());
  EXPECT_THAT(generics("a<b && c>(d)"), ElementsAre());
  EXPECT_THAT(generics("(a<b) + c>(d)"), ElementsAre());
  EXPECT_THAT(generics("a<b | c>(d)"), ElementsAre());
  EXPECT_THAT(generics("a<b << 1>(d)"), ElementsAre());
  EXPECT_THAT(generics("f<g<2>>(x)"), ElementsAre());
  EXPECT_THAT(generics("let x = a<b\nc>(d)"), ElementsAre());
  EXPECT_THAT(generics("{ let x = a<b\n-c>(d) }"), ElementsAre());
  EXPECT_THAT(generics("where(a<b, c>(d), e)"), ElementsAre("a")); // the rule's one surprise: a space mends it
  EXPECT_THAT(generics("where(a < b, c>(d), e)"), ElementsAre());
}

TEST(Lexer, DumpHasOneTokenALine) {
  SourceManager sources;
  Diagnostics diags;
  FileId file = sources.add("t.tile", "let x = zeros<f32>(1)\n\"a b\"");
  EXPECT_EQ(dumpTokens(file, sources, diags), "1:1 KwLet let newline\n"
                                              "1:5 Name x\n"
                                              "1:7 Equal =\n"
                                              "1:9 Name zeros\n"
                                              "1:14 Less < generic\n"
                                              "1:15 DType f32\n"
                                              "1:18 Greater >\n"
                                              "1:19 LParen (\n"
                                              "1:20 Int 1\n"
                                              "1:21 RParen )\n"
                                              "2:1 String \"a b\" newline\n"
                                              "2:6 Eof\n");
}

TEST(LexerErrors, Encoding) {
  EXPECT_THAT(Lexed("# \xe9\n\xff").errors(), ElementsAre("1:3 E0101 the byte 0xe9 is not UTF-8"));
  EXPECT_THAT(Lexed("\"\xc0\xaf\"").errors(), ElementsAre("1:2 E0101 the byte 0xc0 is not UTF-8"));
  EXPECT_THAT(Lexed("# \xed\xa0\x80").errors(), ElementsAre("1:3 E0101 the byte 0xed is not UTF-8"));
}

TEST(LexerErrors, Characters) {
  EXPECT_THAT(Lexed("a $ b $\n$").errors(), ElementsAre("1:3 E0102 the character `$` is not in the language",
                                                        "2:1 E0102 the character `$` is not in the language"))
      << "one message a line";
  EXPECT_THAT(Lexed("a\x01").errors(), ElementsAre("1:2 E0102 the control character 0x01 cannot stand in a program"));
  EXPECT_THAT(Lexed("a\rb").errors(), ElementsAre("1:2 E0102 the control character 0x0d cannot stand in a program"));
  EXPECT_THAT(Lexed("# \x1b").errors(), ElementsAre("1:3 E0102 the control character 0x1b cannot stand in a program"));
  EXPECT_THAT(Lexed(std::string("a\0b", 3)).errors(),
              ElementsAre("1:2 E0102 the control character 0x00 cannot stand in a program"));
  EXPECT_THAT(Lexed("größe").errors(), ElementsAre("1:1 E0102 `größe` is not a name"));
  Lexed times("a×b");
  EXPECT_THAT(times.errors(), ElementsAre("1:2 E0102 the character `×` is not in the language"));
  EXPECT_EQ(times.diags.all()[0].help, "write `*`");
}

TEST(LexerErrors, Numbers) {
  EXPECT_THAT(Lexed("1.").errors(), ElementsAre("1:1 E0103 a float has digits on both sides of its dot"));
  EXPECT_THAT(Lexed("1.)").texts(), ElementsAre("1.", ")"));
  EXPECT_THAT(Lexed("1.0f").errors(), ElementsAre("1:1 E0103 `f` cannot follow a number"));
  EXPECT_THAT(Lexed("1f32").errors(), ElementsAre("1:1 E0103 `f32` cannot follow a number"));
  EXPECT_THAT(Lexed("1e").errors(), ElementsAre("1:1 E0103 `e` cannot follow a number"));
  EXPECT_THAT(Lexed("0x").errors(), ElementsAre("1:1 E0103 `0x` has no digits"));
  EXPECT_THAT(Lexed("0xg").errors(), ElementsAre("1:1 E0103 `g` is not a digit of a hexadecimal number"));
  EXPECT_THAT(Lexed("0b12").errors(), ElementsAre("1:1 E0103 `2` is not a digit of a binary number"));
  for (const char *text : {"1__0", "1_", "0x_1", "1_.5", "1_e5"})
    EXPECT_THAT(Lexed(text).errors(), ElementsAre("1:1 E0103 a `_` in a number stands between two digits")) << text;
  EXPECT_THAT(Lexed("18446744073709551616").errors(),
              ElementsAre("1:1 E0104 `18446744073709551616` does not fit in 64 bits"));
  EXPECT_THAT(Lexed("1e309").errors(), ElementsAre("1:1 E0104 `1e309` is larger than every f64"));
}

TEST(LexerErrors, Strings) {
  EXPECT_THAT(Lexed("\"abc\nx").errors(), ElementsAre("1:1 E0105 the string is not closed on its line"));
  EXPECT_THAT(Lexed("\"\\q\"").errors(), ElementsAre("1:2 E0106 `\\q` is not an escape of strings"));
  EXPECT_THAT(Lexed("\"\\").errors(), ElementsAre("1:2 E0106 `\\` is not an escape of strings",
                                                  "1:1 E0105 the string is not closed on its line"));
}

TEST(LexerErrors, SlashSlash) {
  Lexed division("a // b");
  EXPECT_THAT(division.errors(), ElementsAre("1:3 E0107 `//` is not an operator: floor division of integers is `/`"));
  EXPECT_THAT(division.texts(), ElementsAre("a", "//", "b"));
  Lexed comment("// a comment\nb");
  EXPECT_EQ(comment.diags.errorCount(), 1u);
  EXPECT_EQ(comment.diags.all()[0].help, "a comment begins with `#`");
  EXPECT_THAT(comment.texts(), ElementsAre("b"));
}

TEST(LexerErrors, ForeignOperators) {
  for (const char *op : {"%=", "@=", "&=", "|=", "^=", "**=", "<<=", ">>=", "++", "->", "=>", "::", ":=", "?", "/*",
                         "===", "!==", "..."}) {
    Lexed lexed(fmt::format("a {} b", op));
    EXPECT_THAT(lexed.errors(), ElementsAre(fmt::format("1:3 E0108 `{}` is not in the language", op)));
    EXPECT_FALSE(lexed.diags.all().at(0).help.empty());
  }
}

TEST(LexerErrors, AreBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "\"\\q\"\n";
  EXPECT_EQ(Lexed(text).diags.errorCount(), 100u);
}
