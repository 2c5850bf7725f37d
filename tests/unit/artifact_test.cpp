// LINK: compiler_artifact
#include "compiler/artifact/artifact.h"
#include "compiler/base/files.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace tilec;

namespace {

LaunchExpr num(int64_t v) { return LaunchExpr::constant(v); }
LaunchExpr sym(std::string s) { return LaunchExpr::name(std::move(s)); }
LaunchExpr op(LaunchOp o, std::vector<LaunchExpr> args) { return LaunchExpr::call(o, std::move(args)); }

ArraySpec array(std::string name, ArrayMode mode, std::vector<LaunchExpr> extents) {
  ArraySpec a;
  a.name = std::move(name);
  a.mode = mode;
  a.extents = std::move(extents);
  return a;
}

/// c[M, N] = a[M, K] · b[K, N] + bias[2 * N], with every kind of parameter.
Artifact sample() {
  Artifact a;
  a.name = "matmul";
  a.arch = "sm_90a";
  a.doc = "C = A · B";
  a.arrays = {array("a", ArrayMode::In, {sym("M"), sym("K")}), array("b", ArrayMode::In, {sym("K"), sym("N")}),
              array("c", ArrayMode::Out, {sym("M"), sym("N")}),
              array("bias", ArrayMode::In, {op(LaunchOp::Mul, {num(2), sym("N")})})};
  a.temporaries = {array("part", ArrayMode::Scratch, {sym("M")})};
  a.scalars = {{"alpha", DType::f32}};
  a.symbols = {"M", "K", "N"};
  a.lets = {{"tiles", op(LaunchOp::CDiv, {sym("M"), num(128)})}};
  a.requirements = {{op(LaunchOp::Eq, {op(LaunchOp::Mod, {sym("K"), num(16)}), num(0)}), "K % 16 == 0"}};
  LaunchSpec l;
  l.entry = "matmul_0";
  l.grid = {sym("tiles"), op(LaunchOp::CDiv, {sym("N"), num(128)}), num(1)};
  l.dynamicSharedBytes = 65536;
  l.cluster = {2, 1, 1};
  LaunchParam map;
  map.kind = ParamKind::TensorMap;
  map.map = TensorMapSpec{"a", {1, 0}, {64, 128}, {1, 1}, 128, true, 256};
  LaunchParam base;
  base.array = "c";
  LaunchParam value;
  value.kind = ParamKind::Value;
  value.value = sym("M");
  l.params = {map, base, value};
  l.resources.registers = 168;
  l.resources.warnings = {"C7512"};
  l.sites = {{"a.load", "a", "x.tile:3:4", {{"latency", 4}}}};
  l.hints = {{"occupancy", 2}};
  a.launches = {l};
  a.provenance.parameters = {{"TM", int64_t(128)}, {"T", DType::f16}};
  a.binaries = {std::string("\x7f"
                            "ELF\0cubin",
                            10)};
  return a;
}

std::string bindError(const Artifact &a, std::map<std::string, std::vector<int64_t>> extents, LaunchEnv env = {},
                      std::map<std::string, std::vector<int64_t>> strides = {}) {
  auto status = bindSymbols(a, extents, env, strides);
  return status ? "bound" : status.error().message;
}

std::string planError(const Artifact &a, LaunchEnv env) {
  auto grids = planGrid(a, env);
  return grids ? "planned" : grids.error().message;
}

LaunchEnv sized(int64_t m, int64_t k, int64_t n) {
  LaunchEnv env;
  env.values = {{"M", m}, {"K", k}, {"N", n}};
  return env;
}

TEST(Artifact, JsonBothWays) {
  Json json = toJson(sample());
  auto back = artifactFromJson(json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->launches[0].params[0].map->swizzleBytes, 128);
  EXPECT_EQ(back->provenance.parameters.at("T"), LaunchValue(DType::f16));
  back->binaries = sample().binaries;
  EXPECT_EQ(toJson(*back).dump(), json.dump());
}

TEST(Artifact, VersionNamesFoundAndSupported) {
  Json json = toJson(sample());
  json["version"] = 7;
  auto r = artifactFromJson(json);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message,
            fmt::format("the artifact has version 7, and this tilec reads version {}", artifactVersion));
}

TEST(Artifact, AnOlderVersionIsNamedAsWell) {
  Json json = toJson(sample());
  json["version"] = 0;
  auto r = artifactFromJson(json);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message,
            fmt::format("the artifact has version 0, and this tilec reads version {}", artifactVersion));
}

TEST(Artifact, WrongFieldsAreNamed) {
  Json json = toJson(sample());
  json["launches"][0]["params"][2]["value"] = Json::array({"Nope"});
  EXPECT_EQ(artifactFromJson(json).error().message,
            "artifact field 'launches[0].params[2].value' is wrong: unknown operator 'Nope'");
  json = toJson(sample());
  json["arrays"][1].erase("dtype");
  EXPECT_EQ(artifactFromJson(json).error().message, "artifact field 'arrays[1].dtype' is missing");
  json = toJson(sample());
  json["launches"][0]["binary"] = 3;
  EXPECT_EQ(artifactFromJson(json).error().message, "artifact is inconsistent: launch 'matmul_0' uses binary 3 of 1");
}

TEST(Artifact, FilesAndHashes) {
  auto dir = std::filesystem::temp_directory_path() / fmt::format("tilec-artifact-{}", ::getpid());
  std::filesystem::create_directories(dir);
  std::string path = dir / "k.cubin";
  ASSERT_TRUE(writeArtifact(sample(), path));
  auto back = readArtifact(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->binaries, sample().binaries);
  ASSERT_TRUE(writeFile(path, "other"));
  auto torn = readArtifact(path);
  ASSERT_FALSE(torn);
  EXPECT_NE(torn.error().message.find("sha256 differs"), std::string::npos);
  std::filesystem::remove_all(dir);
}

TEST(Artifact, RandomBytesNeverCrash) {
  std::mt19937 random(1);
  std::string good = toJson(sample()).dump();
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good;
    for (int edits = 1 + int(random() % 4); edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = char(random());
        break;
      case 1:
        text.erase(at, random() % 40);
        break;
      default:
        text.insert(at, good.substr(random() % good.size(), random() % 40));
      }
    }
    if (auto json = parseJson(text, "fuzz"))
      if (auto read = artifactFromJson(*json)) {
        LaunchEnv env = sized(1, 16, 1);
        (void)bindSymbols(*read, {{"a", {1, 16}}}, env);
        (void)planGrid(*read, env);
      }
  }
}

TEST(Bind, SymbolsFromExtents) {
  LaunchEnv env;
  ASSERT_TRUE(bindSymbols(sample(), {{"a", {100, 32}}, {"b", {32, 8}}}, env));
  EXPECT_EQ(env.values.at("M"), LaunchValue(int64_t(100)));
  EXPECT_EQ(env.values.at("N"), LaunchValue(int64_t(8)));
}

TEST(Bind, MismatchNamesBoth) {
  EXPECT_EQ(bindError(sample(), {{"a", {100, 32}}, {"b", {99, 8}}}),
            "extent 0 of 'b' is 99 but K is 32, bound by extent 1 of 'a'");
  EXPECT_EQ(bindError(sample(), {{"a", {100, 32}}, {"b", {32, 8}}, {"bias", {15}}}),
            "extent 0 of 'bias' is 15 but 2 * N is 16 (N is 8, bound by extent 1 of 'b')");
  EXPECT_EQ(bindError(sample(), {{"a", {100, 32}}, {"b", {32, 8}}}, sized(99, 32, 8)),
            "extent 0 of 'a' is 100 but M is 99, as given");
  EXPECT_EQ(bindError(sample(), {{"a", {100, 32, 1}}}), "'a' has 3 axes but the kernel declares 2");
  EXPECT_EQ(bindError(sample(), {{"a", {-1, 32}}}), "extent 0 of 'a' is -1, which is negative");
  EXPECT_EQ(bindError(sample(), {{"z", {1}}}), "kernel 'matmul' has no array 'z'");
  EXPECT_EQ(bindError(sample(), {{"a", {100, 32}}}),
            "'N' of kernel 'matmul' has no value: no array of this launch gives it");
}

TEST(Bind, FoldedSymbols) {
  Artifact a = sample();
  a.folded = {{"K", 4096}};
  EXPECT_EQ(bindError(a, {{"a", {100, 32}}, {"b", {32, 8}}}),
            "extent 1 of 'a' is 32 but K is 4096, fixed when the kernel was built");
  EXPECT_EQ(bindError(a, {}, sized(1, 2, 3)), "K is 2 but the kernel was built for K = 4096");
}

TEST(Bind, Strides) {
  Artifact a = sample();
  EXPECT_EQ(bindError(a, {{"a", {100, 32}}, {"b", {32, 8}}}, {}, {{"a", {32, 1}}}), "bound");
  EXPECT_EQ(bindError(a, {{"a", {100, 32}}, {"b", {32, 8}}}, {}, {{"a", {40, 1}}}),
            "stride 0 of 'a' is 40 but a row-major array has 32 there");
  EXPECT_EQ(bindError(a, {{"a", {1, 32}}, {"b", {32, 8}}}, {}, {{"a", {40, 1}}}), "bound");
  a.arrays[0].strides = {sym("lda"), num(1)};
  a.symbols.push_back("lda");
  LaunchEnv env;
  ASSERT_TRUE(bindSymbols(a, {{"a", {100, 32}}, {"b", {32, 8}}}, env, {{"a", {40, 1}}}));
  EXPECT_EQ(env.values.at("lda"), LaunchValue(int64_t(40)));
  EXPECT_EQ(arrayStrides(a.arrays[0], env).value(), (std::vector<int64_t>{40, 1}));
  EXPECT_EQ(bindError(a, {{"a", {100, 32}}, {"b", {32, 8}}}, {}, {{"a", {40, 2}}}),
            "stride 1 of 'a' is 2 but the kernel was built for 1");
}

TEST(Plan, Grid) {
  LaunchEnv env = sized(300, 16, 1000);
  auto grids = planGrid(sample(), env);
  ASSERT_TRUE(grids);
  EXPECT_EQ((*grids)[0], (std::array<int64_t, 3>{3, 8, 1}));
  LaunchEnv empty = sized(0, 16, 1000);
  EXPECT_EQ(planGrid(sample(), empty).value()[0][0], 0);
}

TEST(Plan, Refusals) {
  EXPECT_EQ(planError(sample(), sized(300, 17, 8)), "kernel 'matmul' requires K % 16 == 0, and K = 17");
  EXPECT_EQ(planError(sample(), sized(int64_t(1) << 31, 16, 8)),
            "extent 0 of 'a' is 2147483648, past the limit of 2^31 - 1");
  EXPECT_EQ(planError(sample(), sized(1, 16, 65536 * 128)),
            "grid axis 1 of 'matmul_0', cdiv(N, 128), is 65536, past the limit of 65535");
  Artifact a = sample();
  a.launches[0].grid = {num(65536), num(65535), num(1)};
  EXPECT_EQ(planError(a, sized(1, 16, 8)), "the grid of 'matmul_0', 65536 x 65535 x 1, has 2^31 blocks or more");
  a.launches[0].index64 = true;
  EXPECT_EQ(planError(a, sized(int64_t(1) << 31, 16, 8)), "planned");
  a.launches[0].grid[0] = num(-1);
  EXPECT_EQ(planError(a, sized(1, 16, 8)), "grid axis 0 of 'matmul_0', -1, is -1, which is negative");
  a.launches[0].grid[0] = op(LaunchOp::Mul, {sym("M"), num(INT64_MAX)});
  EXPECT_EQ(planError(a, sized(2, 16, 8)), "'M * 9223372036854775807' overflows 64 bits");
}

} // namespace
