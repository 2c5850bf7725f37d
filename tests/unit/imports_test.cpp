// LINK: compiler_syntax
// Which files `import` reads, and what it says of those that it cannot read.
#include "compiler/syntax/imports.h"
#include "compiler/syntax/parser.h"
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::syntax;
namespace fs = std::filesystem;

namespace {

class Imports : public testing::Test {
protected:
  fs::path folder = fs::path(testing::TempDir()) /
                    fmt::format("imports_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
  SourceManager sources;
  Diagnostics diags;
  std::unique_ptr<File> file;

  void write(const std::string &name, const std::string &text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  /// The names of the files that a program is made of, relative to the folder.
  std::vector<std::string> read(const std::string &name) {
    file = parse(*sources.load((folder / name).string()), sources, diags);
    loadImports(*file, sources, diags);
    std::vector<std::string> names;
    for (const File *part : filesOf(*file)) {
      std::string whole(sources.name(part->id));
      names.push_back(whole.starts_with("std/") ? whole : fs::path(whole).lexically_relative(folder).string());
    }
    return names;
  }
  void TearDown() override { fs::remove_all(folder); }
};

using testing::ElementsAre;

TEST_F(Imports, EachFileOnce) {
  write("a.tile", "import \"sub/b.tile\"\nimport \"c.tile\"\nimport \"std/softmax.tile\"\n");
  write("sub/b.tile", "import \"../c.tile\"\nimport \"./../sub/../c.tile\"\nimport \"std/softmax.tile\"\n");
  write("c.tile", "const C = 1\n");
  EXPECT_THAT(read("a.tile"), ElementsAre("a.tile", "sub/b.tile", "c.tile", "std/softmax.tile"));
  EXPECT_FALSE(diags.hasErrors()) << render(diags, sources, false);
}

TEST_F(Imports, AbsolutePaths) {
  write("c.tile", "const C = 1\n");
  write("a.tile", fmt::format("import \"{}\"\n", (folder / "c.tile").string()));
  EXPECT_THAT(read("a.tile"), ElementsAre("a.tile", "c.tile"));
}

TEST_F(Imports, Cycles) {
  write("self.tile", "import \"self.tile\"\n");
  EXPECT_THAT(read("self.tile"), ElementsAre("self.tile"));
  write("a.tile", "import \"b.tile\"\n");
  write("b.tile", "import \"c.tile\"\n");
  write("c.tile", "import \"a.tile\"\nconst C = 1\n");
  EXPECT_THAT(read("a.tile"), ElementsAre("a.tile", "b.tile", "c.tile"));
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(diags.all()[0].message, "this file imports itself");
  EXPECT_EQ(diags.all()[1].message, "'a.tile' imports this file, directly or through others");
}

TEST_F(Imports, FilesThatCannotBeRead) {
  write("a.tile", "import \"gone.tile\"\nimport \"sub\"\nimport \"std/sofmax.tile\"\nimport \"gone.tile\"\n");
  fs::create_directories(folder / "sub");
  EXPECT_THAT(read("a.tile"), ElementsAre("a.tile"));
  EXPECT_EQ(diags.errorCount(), 3u) << "a file that is not there is told once";
  std::string text = render(diags, sources, false);
  EXPECT_THAT(text, testing::HasSubstr("'sub' cannot be imported"));
  EXPECT_THAT(text, testing::HasSubstr("did you mean 'std/softmax.tile'?"));
}

TEST_F(Imports, FaultsOfAnImportedFile) {
  write("a.tile", "import \"b.tile\"\n");
  write("b.tile", "fn f(x) { x + }\n");
  read("a.tile");
  EXPECT_THAT(render(diags, sources, false), testing::HasSubstr("b.tile:1:15: error["));
}

TEST(StdLibrary, EveryFunctionIsDocumented) {
  for (const StdFile &standard : stdLibrary()) {
    SourceManager sources;
    Diagnostics diags;
    auto file = parse(sources.add("s", std::string(standard.text)), sources, diags);
    EXPECT_FALSE(diags.hasErrors()) << render(diags, sources, false);
    for (const DeclPtr &decl : file->decls) {
      ASSERT_EQ(decl->kind, DeclKind::Fn);
      EXPECT_FALSE(decl->doc.empty()) << as<FnDecl>(*decl).name.text;
    }
  }
}

} // namespace
