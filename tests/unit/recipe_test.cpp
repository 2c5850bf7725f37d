// LINK: tuner
// Recipes: keys, problems, places of faults; the recipes that ship, with the sizes of their spaces.
#include "compiler/base/files.h"
#include "compiler/driver/driver.h"
#include "tuner/recipe.h"
#include "tuner/space.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class RecipeTest : public testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / fmt::format("tilec-recipe-{}", getpid());
  SourceManager sources;
  Diagnostics diags;

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  Result<Recipe> load(std::string_view yaml) {
    EXPECT_TRUE(writeFile(folder / "recipe.yaml", yaml).has_value());
    return loadRecipe(folder.string(), sources, diags);
  }
  std::string rendered() { return render(diags, sources, false); }
};

TEST_F(RecipeTest, RulesAreWhatDecidesOfRightAndWrong) {
  auto id = [&](std::string_view more) {
    auto r = load(fmt::format("kernel: k.tile\n{}", more));
    EXPECT_TRUE(r.has_value()) << rendered();
    return r ? rulesId(*r) : "";
  };
  std::string plain = id("tolerance: {c: {ulp: 2}}\n");
  EXPECT_EQ(id("about: other words\nproblems: [{N: 5}]\ntolerance: {c: {ulp: 2}}\n"), plain);
  EXPECT_NE(id("tolerance: {c: {ulp: 3}}\n"), plain);
  EXPECT_NE(id("tolerance: {c: {rel: 2}}\n"), plain);
  EXPECT_NE(id("tolerance: {c: {ulp: 2}}\ninputs: {a: \"uniform:0,1\"}\n"), plain);
  EXPECT_NE(id("tolerance: {c: {ulp: 2}}\ncheck: [{N: 5}]\n"), plain);
}

TEST_F(RecipeTest, ReadsEveryKey) {
  auto r = load(R"(
kernel: k.tile:twice
about: doubles
check:
  - {N: [1, 2**4 + 3], T: [f32, bf16]}
  - N: 7
problems:
  - {N: 2**20, T: f32}
inputs: {a: "uniform:0,1"}
tolerance:
  c: exact
  d: {ulp: 2, rel: 1e-5}
  e: {sum: {terms: N, scale: 2.0}}
figures: {bytes: 2 * N * T.bits / 8, flops: N}
space: {TN: [64, 128], occupancy: 2}
)");
  ASSERT_TRUE(r.has_value()) << rendered();
  EXPECT_EQ(r->kernel, "twice");
  EXPECT_EQ(r->kernelFile, (folder / "k.tile").string());
  ASSERT_EQ(r->check.size(), 5u);
  EXPECT_EQ(toString(r->check[3]), "N=19,T=bf16");
  EXPECT_EQ(toString(r->problems[0]), "N=1048576,T=f32");
  EXPECT_TRUE(r->tolerance["c"].exact());
  auto bound = evaluate(r->tolerance["e"], *parseValues("N=16777216"));
  ASSERT_TRUE(bound.has_value());
  EXPECT_DOUBLE_EQ(bound->abs, 2.0);
  EXPECT_EQ(evaluate(r->tolerance["d"], {})->ulp, 2);
  ASSERT_EQ(r->space.size(), 2u);
  EXPECT_EQ(r->space[0].values.size(), 2u);
  LaunchEnv env;
  env.values = *parseValues("N=100,T=bf16");
  EXPECT_EQ(evaluateInt(*r->bytes, env), 400);
}

TEST_F(RecipeTest, UnknownKeyHasPlaceAndSuggestion) {
  auto r = load("kernel: k.tile\ntolerence:\n  c: exact\n");
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().kind, ErrorKind::Usage);
  EXPECT_THAT(rendered(), HasSubstr("recipe.yaml:2:1: error[E0802]"));
  EXPECT_THAT(rendered(), HasSubstr("did you mean 'tolerance'?"));
}

TEST_F(RecipeTest, SeveralFaultsAreReportedInOneRun) {
  auto r = load("kernel: k.tile\nproblems:\n  - {N: 1 +}\nfigures: {byte: N}\ntolerance: {c: 3}\n");
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(diags.errorCount(), 3u) << rendered();
  EXPECT_THAT(rendered(), HasSubstr("recipe.yaml:3:9"));
}

TEST_F(RecipeTest, BrokenYamlHasAPlace) {
  EXPECT_FALSE(load("kernel: [k.tile\n").has_value());
  EXPECT_THAT(rendered(), HasSubstr("error[E0801]"));
}

TEST_F(RecipeTest, DuplicateAndMissingKeys) {
  EXPECT_FALSE(load("kernel: k.tile\nkernel: l.tile\n").has_value());
  EXPECT_THAT(rendered(), HasSubstr("given twice"));
  Diagnostics fresh;
  EXPECT_TRUE(writeFile(folder / "recipe.yaml", "about: nothing\n").has_value());
  EXPECT_FALSE(loadRecipe(folder.string(), sources, fresh).has_value());
  EXPECT_THAT(render(fresh, sources, false), HasSubstr("E0805"));
}

TEST_F(RecipeTest, TileFilesAndFolders) {
  EXPECT_TRUE(writeFile(folder / "x.tile", "").has_value());
  auto file = loadRecipe((folder / "x.tile").string(), sources, diags);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(file->problems.empty());
  auto implicit = loadRecipe(folder.string() + "/", sources, diags);
  ASSERT_TRUE(implicit.has_value());
  EXPECT_EQ(implicit->kernelFile, (folder / "x.tile").string());
  EXPECT_FALSE(loadRecipe((folder / "nothing").string(), sources, diags).has_value());
  EXPECT_GE(findRecipes(std::string(TILEC_SOURCE_DIR)).size(), 3u);
}

TEST(Values, TextGoesBothWays) {
  auto v = parseValues("T=bf16, R=2**12, X=min(3, 4)");
  ASSERT_TRUE(v.has_value()) << v.error().message;
  EXPECT_EQ(toString(*v), "R=4096,T=bf16,X=3");
  EXPECT_EQ(*valuesFromJson(toJson(*v)), *v);
  EXPECT_FALSE(parseValues("R").has_value());
  EXPECT_FALSE(parseValues("R=1,R=2").has_value());
  EXPECT_FALSE(parseValues("R=Q").has_value());
}

/// A recipe that ships, held against its kernel, with the space of one problem.
class Shipped : public testing::TestWithParam<std::tuple<const char *, const char *, size_t>> {};

TEST_P(Shipped, LoadsAndHasTheSpaceItPromises) {
  auto [name, problem, size] = GetParam();
  SourceManager sources;
  Diagnostics diags;
  auto r = loadRecipe(fmt::format("{}/recipes/{}", TILEC_SOURCE_DIR, name), sources, diags);
  ASSERT_TRUE(r.has_value()) << render(diags, sources, false);
  auto source = driver::openSource(r->kernelFile);
  ASSERT_TRUE(source.has_value());
  auto interface = driver::describe(**source, r->kernel);
  ASSERT_TRUE(interface.has_value()) << render((*source)->diags, (*source)->sources, false);
  EXPECT_TRUE(checkRecipe(*r, *interface, diags).has_value()) << render(diags, sources, false);
  SpaceRequest request;
  request.interface = &*interface;
  request.arch = findArch("sm_90");
  request.problem = completeProblem(*interface, *parseValues(problem));
  request.overrides = r->space;
  auto space = enumerateSpace(request);
  ASSERT_TRUE(space.has_value()) << space.error().message;
  EXPECT_EQ(space->configurations.size(), size);
  EXPECT_TRUE(space->notes.empty()) << space->notes.front();
}

INSTANTIATE_TEST_SUITE_P(Recipes, Shipped,
                         testing::Values(std::tuple("vector_add", "N=1000000", 12),
                                         std::tuple("fused_gelu", "N=1000000", 18),
                                         std::tuple("softmax", "R=4096,C=1024", 48),
                                         std::tuple("softmax", "R=32768,C=4096", 24),
                                         std::tuple("softmax", "R=8192,C=6000,T=bf16", 12),
                                         std::tuple("softmax", "R=64,C=100000,T=f16", 24)));

} // namespace
