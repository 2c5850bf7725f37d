// LINK: compiler_syntax compiler_base
// What the parser says of faults, and that it goes on behind them, whatever the bytes.
#include "parser_util.h"

//===--------------------------------------------------------------------------------------------------------------===//
// Errors: every code of the grammar, with its text and place
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ParserErrors, ExpectedToken) {
  EXPECT_THAT(bodyErrors("f(a b)"), ElementsAre("1:13 E0110 expected `,` or `)`, found `b`"));
  EXPECT_THAT(bodyErrors("for i of 0..3 { }"), ElementsAre("1:15 E0110 expected `in`, found `of`"));
  EXPECT_THAT(bodyErrors("for i in 0..=3 { }"), ElementsAre("1:19 E0110 a loop's range does not include its end"));
  EXPECT_THAT(bodyErrors("static x"), ElementsAre("1:9 E0110 `static` stands in front of `if` and `for` only"));
  EXPECT_THAT(bodyErrors("else { }"), ElementsAre("1:9 E0110 this `else` has no `if` in front of it"));
  EXPECT_THAT(bodyErrors("{ }"), ElementsAre("1:9 E0110 expected a statement, found `{`"));
  EXPECT_THAT(bodyErrors("let (a, 3) = x"), ElementsAre("1:17 E0110 expected the name of a value, found `3`"));
  EXPECT_THAT(fileErrors("import x"), ElementsAre("1:8 E0110 expected the path of a file in quotes, found `x`"));
  EXPECT_THAT(fileErrors("kernel k<T: f32>() { }"), ElementsAre("1:13 E0110 `f32` is not a kind of parameter"));
  EXPECT_THAT(fileErrors("kernel k<T: t>() { }"),
              ElementsAre("1:13 E0110 expected `int`, `bool`, `float` or `dtype`, found `t`"));
  EXPECT_THAT(fileErrors("kernel k<N: int = 1 < 2>() { }"),
              ElementsAre("1:21 E0110 `<` cannot stand here without parentheses"));
  EXPECT_THAT(fileErrors("kernel k<N: int in 1..3>() { }"),
              ElementsAre("1:21 E0110 the range of a domain includes both ends"));
  EXPECT_THAT(fileErrors("kernel k()\ngird (1)\n{ }"), ElementsAre("2:1 E0110 expected a clause or `{`, found `gird`"));
  EXPECT_THAT(fileErrors("kernel k()\ngrid (1)"), ElementsAre("2:9 E0110 expected `{` before the end of the file"));
  EXPECT_THAT(fileErrors("fn f(): i32 { }"), ElementsAre("1:7 E0110 a `fn` has no written result type"));
}

TEST(ParserErrors, ExpectedExpression) {
  EXPECT_THAT(fileErrors("const A = 1 +\nconst B = 2"),
              ElementsAre("1:14 E0111 expected an expression before the end of the line"));
  EXPECT_THAT(fileErrors("const A ="), ElementsAre("1:10 E0111 expected an expression before the end of the file"));
  EXPECT_THAT(bodyErrors("f(a, , b)"), ElementsAre("1:14 E0111 expected an expression, found `,`"));
  EXPECT_THAT(bodyErrors("let a = +1"), ElementsAre("1:17 E0111 expected an expression, found `+`"));
  EXPECT_THAT(bodyErrors("a\n+ b"), ElementsAre("2:1 E0111 a statement cannot begin with `+`"));
  EXPECT_THAT(fileErrors("kernel k(a: in f32[]) { }"), ElementsAre("1:20 E0111 expected an extent, found `]`"));
  EXPECT_THAT(fileErrors("kernel k<N: int in {}>() { }"),
              ElementsAre("1:21 E0111 expected a value of the domain, found `}`"));
  EXPECT_THAT(bodyErrors("x[]"), ElementsAre("1:11 E0111 expected an index, `:` or `none`, found `]`"));
}

TEST(ParserErrors, Numbers) {
  EXPECT_THAT(bodyErrors("let a = .5"), ElementsAre("1:17 E0103 a float has digits on both sides of its dot"));
}

TEST(ParserErrors, ReservedWord) {
  EXPECT_THAT(bodyErrors("let in = 3"), ElementsAre("1:13 E0112 `in` is a reserved word and cannot name a value"));
  EXPECT_THAT(bodyErrors("x.f32"), ElementsAre("1:11 E0112 `f32` is a reserved word and cannot name a member"));
  EXPECT_THAT(bodyErrors("f(in = 3)"), ElementsAre("1:11 E0112 `in` is a reserved word and cannot name an argument"));
  EXPECT_THAT(fileErrors("fn while() { }"),
              ElementsAre("1:4 E0112 `while` is a reserved word and cannot name a function"));
}

TEST(ParserErrors, UnclosedBracket) {
  Parsed paren("fn f() {\n  let a = (1 + 2\n  let b = 3\n}");
  EXPECT_THAT(paren.errors(), ElementsAre("2:17 E0113 expected `)` before the end of the line"));
  EXPECT_EQ(paren.diags.all()[0].notes.at(0).message, "the `(` opens here");
  EXPECT_THAT(bodyErrors("f(a, [b, c)"), ElementsAre("1:19 E0113 expected `]`, found `)`"));

  Parsed brace("kernel a() {\n  if b {\n    c\n}\nkernel d() { }");
  EXPECT_THAT(brace.errors(), ElementsAre("4:2 E0113 expected `}` before `kernel`"));
  const auto &notes = brace.diags.all()[0].notes;
  EXPECT_EQ(notes.at(0).message, "the block opens here");
  EXPECT_EQ(brace.sources.position(0, notes.at(0).span->begin).line, 1u);
  EXPECT_EQ(notes.at(1).message, "perhaps this `{` is the one without a partner: its `}` is indented differently");
  EXPECT_EQ(brace.sources.position(0, notes.at(1).span->begin).line, 2u);
  EXPECT_EQ(brace.file->decls.size(), 2u);
  EXPECT_THAT(fileErrors("fn f() { if a { while b {"),
              ElementsAre("1:26 E0113 expected `}` before the end of the file"));
}

TEST(ParserErrors, UnmatchedBracket) {
  EXPECT_THAT(fileErrors("}\nfn f() { }"), ElementsAre("1:1 E0114 `}` closes nothing"));
  EXPECT_THAT(bodyErrors("a)"), ElementsAre("1:10 E0114 `)` closes nothing"));
  EXPECT_THAT(bodyErrors("\n]"), ElementsAre("2:1 E0114 `]` closes nothing"));
}

TEST(ParserErrors, StatementEnd) {
  auto help = [](std::string text) { return Parsed("fn f() {" + text + "}").diags.all().at(0).help; };
  EXPECT_THAT(bodyErrors("a b"), ElementsAre("1:11 E0115 expected the end of the statement, found `b`"));
  EXPECT_EQ(help("a b"), "write the next statement on a line of its own, or a `;` between the two");
  EXPECT_EQ(help("if a { } + 3"),
            "an `if` that begins a statement is a whole statement; to use its value put it in parentheses");
  EXPECT_EQ(help("retrun x"), "did you mean `return`?");
  EXPECT_EQ(help("a and b"), "logical and is `&&`");
  EXPECT_EQ(help("elif b { }"), "write `else if`");
  EXPECT_EQ(help("x: i32 = 3"), "a variable is declared with `var x: ...`");
}

TEST(ParserErrors, ComparisonChain) {
  EXPECT_THAT(bodyErrors("a < b < c < d"), ElementsAre("1:15 E0116 comparisons do not chain"));
  EXPECT_THAT(bodyErrors("a == b != c"), ElementsAre("1:16 E0116 comparisons do not chain"));
  EXPECT_EQ(expr("(a < b) == c"), "(== (< a b) c)");
  Parsed spaced("const X = f<2> (3)");
  EXPECT_EQ(spaced.diags.all().at(0).help, "compile-time arguments touch the name and the `(`: `name<...>(...)`");
}

TEST(ParserErrors, AssignInExpression) {
  EXPECT_THAT(bodyErrors("if a = 1 { b c }"), ElementsAre("1:14 E0117 `=` cannot stand inside an expression",
                                                          "1:22 E0115 expected the end of the statement, found `c`"));
  EXPECT_THAT(bodyErrors("a = b = c"), ElementsAre("1:15 E0117 `=` cannot stand inside an expression"));
  EXPECT_THAT(bodyErrors("f((a = 1))"), ElementsAre("1:14 E0117 `=` cannot stand inside an expression"));
}

TEST(ParserErrors, NotAPlace) {
  EXPECT_THAT(bodyErrors("x[0] = 1"), ElementsAre("1:9 E0118 only a variable can be assigned to"));
  EXPECT_THAT(bodyErrors("a + b += 1"), ElementsAre("1:9 E0118 only a variable can be assigned to"));
  EXPECT_THAT(bodyErrors("(a, (b, c)) = d"), ElementsAre("1:9 E0118 only a variable can be assigned to"));
}

TEST(ParserErrors, PositionalAfterNamed) {
  EXPECT_THAT(bodyErrors("f(a = 1, 2)"), ElementsAre("1:18 E0119 a positional argument follows a named one"));
}

TEST(ParserErrors, Clauses) {
  EXPECT_THAT(fileErrors("kernel k()\ngrid (1)\nrequires a\n{ }"),
              ElementsAre("3:1 E0120 `requires` stands in front of `grid`"));
  EXPECT_THAT(fileErrors("kernel k()\ngrid (1)\ngrid (2)\n{ }"), ElementsAre("3:1 E0121 `grid` is given twice"));
  EXPECT_THAT(fileErrors("kernel k(a: in f32[N] align (4) align (8)) { }"),
              ElementsAre("1:33 E0121 `align` is given twice"));
}

TEST(ParserErrors, Declarations) {
  EXPECT_THAT(fileErrors("let x = 3\nfn f() { }"),
              ElementsAre("1:1 E0122 expected `import`, `const`, `fn` or `kernel`, found `let`"));
  EXPECT_EQ(Parsed("kernal f() { }").diags.all().at(0).help, "did you mean `kernel`?");
  EXPECT_THAT(bodyErrors("const a = 3"), ElementsAre("1:9 E0123 `const` stands at file level"));
}

TEST(ParserErrors, Values) {
  EXPECT_THAT(bodyErrors("let a = \"b\""), ElementsAre("1:17 E0124 a string is not a value"));
  EXPECT_THAT(bodyErrors("let a = _ + 1"), ElementsAre("1:17 E0125 `_` cannot be read"));
  EXPECT_THAT(bodyErrors("let a"), ElementsAre("1:9 E0127 a `let` needs a value"));
  EXPECT_THAT(fileErrors("const A\n"), ElementsAre("1:1 E0127 a `const` needs a value"));
  EXPECT_THAT(bodyErrors("let f = fn(x) { x }"),
              ElementsAre("1:17 E0128 a function without a name is the value of an argument only"));
  EXPECT_THAT(bodyErrors("f(fn g(x) { x })"),
              ElementsAre("1:14 E0128 a function with a name is declared by a statement of its own"));
  EXPECT_THAT(bodyErrors("let a = none"), ElementsAre("1:17 E0129 `none` is not a value"));
  EXPECT_THAT(bodyErrors("f(x)(y)"), ElementsAre("1:9 E0130 only a name can be called"));
  EXPECT_EQ(Parsed("const X = f32(1)").diags.all().at(0).help, "a conversion is `x.to(f32)`");
  EXPECT_THAT(bodyErrors("x[1:2]"), ElementsAre("1:12 E0131 brackets take no ranges"));
  EXPECT_THAT(bodyErrors("x[:3]"), ElementsAre("1:12 E0131 brackets take no ranges"));
  EXPECT_THAT(bodyErrors("x[0..3]"), ElementsAre("1:12 E0131 brackets take no ranges"));
}

//===--------------------------------------------------------------------------------------------------------------===//
// Recovery
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ParserRecovery, GoesOnAtTheNextStatement) {
  EXPECT_THAT(bodyErrors("\na b\nlet x = f(1, \nlet y = )\nz w"),
              ElementsAre("2:3 E0115 expected the end of the statement, found `b`",
                          "3:13 E0111 expected an expression before the end of the line",
                          "4:9 E0111 expected an expression, found `)`",
                          "5:3 E0115 expected the end of the statement, found `w`"));
}

TEST(ParserRecovery, GoesOnAtTheNextDeclaration) {
  Parsed parsed("fn f( { }\nconst A = \n## d\nkernel k(a: in, b: f32) { }\nfn g() { a b }");
  EXPECT_THAT(parsed.errors(), ElementsAre("1:7 E0110 expected the name of a parameter, found `{`",
                                           "2:10 E0111 expected an expression before the end of the line",
                                           "4:15 E0110 expected a type, found `,`",
                                           "5:12 E0115 expected the end of the statement, found `b`"));
}

TEST(ParserRecovery, AFaultSpoilsOneParameter) {
  EXPECT_THAT(
      fileErrors("kernel k<\n  N: int = ,\n  M: int in {1 2},\n  K: in,\n>(\n  a: in T[M N],\n  b in T[M]\n  c: in "
                 "T[M]\n  d: f32,\n)\ngrid (1 2)\nhints (a = )\n{ x y }"),
      ElementsAre("2:12 E0111 expected an expression, found `,`", "3:16 E0110 expected `,` or `}`, found `2`",
                  "4:6 E0110 expected `int`, `bool`, `float` or `dtype`, found `in`",
                  "6:13 E0110 expected `,` or `]`, found `N`", "7:5 E0110 expected `:`, found `in`",
                  "8:13 E0110 expected `,` or `)` before the end of the line",
                  "11:9 E0110 expected `,` or `)`, found `2`", "12:12 E0111 expected an expression, found `)`",
                  "13:5 E0115 expected the end of the statement, found `y`"));
}

TEST(ParserRecovery, AForgottenBraceIsAssumed) {
  EXPECT_THAT(
      fileErrors(
          "kernel k()\ngrid (1)\n{\n  if a\n    b = 1\n  }\n  for i in 0..3\n    c = 1\n  d e\n}\nfn f() { g h }"),
      ElementsAre("4:7 E0110 expected `{` before the end of the line",
                  "7:16 E0110 expected `{` before the end of the line",
                  "9:5 E0115 expected the end of the statement, found `e`",
                  "11:12 E0115 expected the end of the statement, found `h`"));
  EXPECT_THAT(fileErrors("kernel k()\ngrid (1)\n  let a = 1\n  let b = 2\n}\nfn f() { }"),
              ElementsAre("2:9 E0110 expected `{` before the end of the line"));
}

TEST(ParserRecovery, ALexicalFaultIsReportedOnce) {
  EXPECT_THAT(bodyErrors("\na $ b c\nlet x = 1 // the first\nf(\"abc)\nx %= 3"),
              ElementsAre("2:3 E0102 the character `$` is not in the language",
                          "3:11 E0107 `//` is not an operator: floor division of integers is `/`",
                          "4:3 E0105 the string is not closed on its line", "5:3 E0108 `%=` is not in the language"));
}

TEST(ParserRecovery, ErrorsAreBounded) {
  std::string text = "fn f() {\n";
  for (int i = 0; i < 1000; ++i)
    text += "a b\n";
  EXPECT_EQ(Parsed(text + "}").diags.errorCount(), 100u);
}

//===--------------------------------------------------------------------------------------------------------------===//
// Any bytes
//===--------------------------------------------------------------------------------------------------------------===//

TEST(ParserRobustness, DeepNestingIsAnError) {
  auto repeat = [](std::string_view piece, int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += piece;
    return out;
  };
  for (std::string piece : {"(", "[", "-", "!", "2 ** ", "f(", "x[", "(if a { ", "f(fn(x) { ", "1 + (", "f<2>("}) {
    Parsed parsed("const X = " + repeat(piece, 20000));
    ASSERT_EQ(parsed.diags.errorCount(), 1u) << piece;
    EXPECT_EQ(parsed.diags.all()[0].diag, Diag::TooDeep) << piece;
    EXPECT_EQ(parsed.diags.all()[0].message, "the program nests more than 256 levels deep here");
  }
  for (std::string piece : {" + 1", ".x", "[0]", " && a", ".f()"}) {
    Parsed parsed("const X = a" + repeat(piece, 20000));
    ASSERT_EQ(parsed.diags.errorCount(), 1u) << piece;
    EXPECT_EQ(parsed.diags.all()[0].diag, Diag::TooDeep) << piece;
    EXPECT_TRUE(Parsed("const X = a" + repeat(piece, 200)).errors().empty()) << piece;
  }
  // Operators of one precedence are one level, also in each operand of another chain.
  for (std::string piece : {" + 1", " && a", " / a - 1", " * (a - b)"})
    EXPECT_TRUE(Parsed("const X = a" + repeat(piece, 2000)).errors().empty()) << piece;
  EXPECT_EQ(Parsed("const X = a" + repeat(" + 1", 5000)).diags.all().at(0).message,
            "more than 4096 operators follow each other in one expression");
  for (std::string piece : {"if a { ", "for i in 0..1 { ", "fn g() { ", "if a { } else "}) {
    Parsed parsed("fn f() { " + repeat(piece, 20000));
    ASSERT_EQ(parsed.diags.errorCount(), 1u) << piece;
    EXPECT_EQ(parsed.diags.all()[0].diag, Diag::TooDeep) << piece;
  }
  EXPECT_EQ(Parsed("fn f() { let " + repeat("(", 20000)).diags.all().at(0).diag, Diag::TooDeep);
  EXPECT_EQ(Parsed("fn f(x: " + repeat("(", 20000)).diags.all().at(0).diag, Diag::TooDeep);
}

TEST(ParserRobustness, EveryPrefixParses) {
  for (const auto &path : examples()) {
    std::string text = readFile(path).value();
    for (size_t size = 0; size < text.size(); ++size) {
      Parsed parsed(text.substr(0, size));
      EXPECT_LE(parsed.diags.errorCount(), 3u) << path << " cut after " << size;
      parsed.dump();
    }
  }
}

TEST(ParserRobustness, RandomMutationsParse) {
  std::vector<std::string> texts;
  for (const auto &path : examples())
    texts.push_back(readFile(path).value());
  const std::string_view pieces[] = {"{",
                                     "}",
                                     "(",
                                     ")",
                                     "[",
                                     "]",
                                     "<",
                                     ">",
                                     ",",
                                     "=",
                                     "\n",
                                     "\"",
                                     "#",
                                     "if ",
                                     "fn ",
                                     "else",
                                     "kernel ",
                                     "..",
                                     ".",
                                     "0x",
                                     "1e",
                                     "in ",
                                     "static ",
                                     "let ",
                                     "##",
                                     "//",
                                     ";",
                                     "\xff",
                                     "\xe2\x88",
                                     "\0",
                                     "_",
                                     "for i in 0..1 {",
                                     "grid (",
                                     "**",
                                     "hints sm_90 ("};
  std::mt19937 random(7);
  auto below = [&](size_t n) { return size_t(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[below(texts.size())];
    for (size_t edits = 1 + below(8); edits-- > 0;) {
      size_t at = below(text.size() + 1);
      switch (below(4)) {
      case 0:
        text.erase(at, below(20));
        break;
      case 1:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      case 2:
        text.insert(at, 1, char(below(256)));
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(60)));
      }
    }
    Parsed parsed(text);
    for (const Diagnostic &diag : parsed.diags.all()) {
      EXPECT_LE(diag.span.begin, diag.span.end);
      EXPECT_LE(diag.span.end, text.size());
    }
    bool hole =
        parsed.dump().find("<error>") != std::string::npos || parsed.dump().find("<missing>") != std::string::npos;
    EXPECT_TRUE(!hole || parsed.diags.hasErrors()) << text;
  }
}
