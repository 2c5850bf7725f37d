// LINK: tuner
// Spaces of configurations: axes, early cuts, stable numbers, overrides.
#include "compiler/driver/driver.h"
#include "tuner/space.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::tuner;
using testing::HasSubstr;

namespace {

struct Kernel {
  std::unique_ptr<driver::Source> source;
  sema::KernelInterface interface;

  explicit Kernel(const std::string &text) {
    source = driver::sourceFromText("test.tile", text);
    auto described = driver::describe(*source, "");
    EXPECT_TRUE(described.has_value()) << render(source->diags, source->sources, false);
    if (described)
      interface = std::move(*described);
  }
  SpaceRequest request(const char *problem, const char *arch = "sm_90") const {
    SpaceRequest r;
    r.interface = &interface;
    r.arch = findArch(arch);
    r.problem = completeProblem(interface, *parseValues(problem));
    return r;
  }
};

constexpr const char *tiles = R"(
kernel k<T: dtype = f32 in {f32, f16}, TM: int = 64 in {32, 64, 128}, TN: int = 64 in pow2(32, 128)>(
    a: in T[M, N], c: out T[M, N])
requires TM * TN <= 4096
grid (cdiv(M, TM), cdiv(N, TN))
hints (occupancy = 2 in {1, 2})
{
    c.tiled(TM, TN).store(bid(0), bid(1), a.tiled(TM, TN).load(bid(0), bid(1)))
}
)";

TEST(Space, WalksAxesAndCutsEarly) {
  Kernel k(tiles);
  auto space = enumerateSpace(k.request("M=100,N=100"));
  ASSERT_TRUE(space.has_value()) << space.error().message;
  ASSERT_EQ(space->axes.size(), 3u);
  EXPECT_EQ(space->axes[0].name, "TM");
  EXPECT_EQ(space->axes[2].name, "occupancy");
  EXPECT_TRUE(space->axes[2].hint);
  EXPECT_EQ(space->product, 18u);
  // 64x128, 128x64 and 128x128 are too large: three of nine, with two occupancies each.
  ASSERT_EQ(space->cuts.size(), 1u);
  EXPECT_EQ(space->cuts[0].removed, 6u);
  EXPECT_EQ(space->configurations.size(), 12u);
}

TEST(Space, NumberZeroIsTheFilesOwnAndNumbersAreStable) {
  Kernel k(tiles);
  auto space = enumerateSpace(k.request("M=100,N=100")), again = enumerateSpace(k.request("M=5,N=7"));
  ASSERT_TRUE(space && again);
  EXPECT_EQ(toString(space->configurations[0]), "TM=64 TN=64 occupancy=2");
  for (size_t i = 0; i < space->configurations.size(); ++i) {
    EXPECT_EQ(space->configurations[i].id, int(i));
    EXPECT_EQ(toString(space->configurations[i]), toString(again->configurations[i]));
  }
}

TEST(Space, OverridesNarrowWidenAndRefuse) {
  Kernel k(tiles);
  auto request = k.request("M=100,N=100");
  request.overrides = {*parseOverride("TM=16,32"), *parseOverride("TN=32"), *parseOverride("num_worker_warps=4,8")};
  auto space = enumerateSpace(request);
  ASSERT_TRUE(space.has_value()) << space.error().message;
  EXPECT_EQ(space->configurations.size(), 2u * 1 * 2 * 2);

  request.overrides = {*parseOverride("TQ=16")};
  auto unknown = enumerateSpace(request);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("TQ"));
  EXPECT_EQ(unknown.error().kind, ErrorKind::Usage);

  request.overrides = {*parseOverride("occupancy=99")};
  auto illegal = enumerateSpace(request);
  ASSERT_FALSE(illegal.has_value());
  EXPECT_THAT(illegal.error().message, HasSubstr("occupancy cannot be 99"));
}

TEST(Space, LimitIsAnError) {
  Kernel k(tiles);
  auto request = k.request("M=100,N=100");
  request.limit = 5;
  auto space = enumerateSpace(request);
  ASSERT_FALSE(space.has_value());
  EXPECT_THAT(space.error().message, HasSubstr("more than 5 configurations"));
}

TEST(Space, EmptySpaceSaysWhichConditionsEmptiedIt) {
  Kernel k(R"(
kernel k<TN: int = 32 in {32, 64}>(a: in f32[N], c: out f32[N])
requires TN >= N
grid (1)
{
    c.tiled(TN).store(0, a.tiled(TN).load(0))
}
)");
  auto space = enumerateSpace(k.request("N=1000"));
  ASSERT_FALSE(space.has_value());
  EXPECT_THAT(space.error().message, HasSubstr("TN >= N"));
  auto some = enumerateSpace(k.request("N=50"));
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->configurations.size(), 1u);
  EXPECT_EQ(some->notes.size(), 1u) << "the default is not eligible";
}

TEST(Space, WhyNamesTheConditionOrTheValue) {
  Kernel k(tiles);
  auto request = k.request("M=100,N=100");
  Configuration c;
  c.parameters = *parseValues("TM=128,TN=128");
  c.hints["occupancy"] = 1;
  EXPECT_THAT(*whyNot(request, c), HasSubstr("TM * TN <= 4096"));
  c.parameters = *parseValues("TM=32,TN=48");
  EXPECT_THAT(*whyNot(request, c), HasSubstr("TN = 48"));
  c.parameters = *parseValues("TM=32,TN=32");
  EXPECT_EQ(*whyNot(request, c), "");
}

TEST(Space, HintsOfAnArchitectureOverride) {
  Kernel k(R"(
kernel k<TN: int = 32>(a: in f32[N], c: out f32[N])
grid (1)
hints (occupancy = 1 in {1, 2})
hints sm_90 (occupancy = 4 in {4, 8, 16}, num_cta_in_cga = 1 in {1, 2})
{
    c.tiled(TN).store(0, a.tiled(TN).load(0))
}
)");
  EXPECT_EQ(enumerateSpace(k.request("N=10", "sm_80"))->configurations.size(), 2u);
  EXPECT_EQ(enumerateSpace(k.request("N=10", "sm_90"))->configurations.size(), 6u);
}

TEST(Space, AccessesBecomeAxesAndNumberZeroStaysTheFilesOwn) {
  Kernel k(R"(
kernel k<TN: int = 32 in {32, 64}>(a: in f32[N], c: out f32[N])
grid (1)
{
    c.tiled(TN).store(0, a.tiled(TN).load(0))
}
)");
  auto request = k.request("N=10");
  request.accesses = true;
  sema::Site load, store;
  load.name = "a.load";
  load.operation = "load";
  load.hints = {{"latency", 5}};
  store.name = "c.store";
  store.operation = "store";
  store.domains = {{"allow_tma", {0}}};
  request.sites = {load, store};
  auto space = enumerateSpace(request);
  ASSERT_TRUE(space.has_value()) << space.error().message;
  std::map<std::string, std::vector<LaunchValue>> axes;
  for (const Axis &axis : space->axes)
    axes[axis.name] = axis.values;
  using V = std::vector<LaunchValue>;
  auto of = [](std::vector<int64_t> values) { return V(values.begin(), values.end()); };
  EXPECT_EQ(axes["a.load.latency"], of({1, 2, 4, 5, 6})) << "the file's own value is one";
  EXPECT_EQ(axes["a.load.allow_tma"], of({0, 1}));
  EXPECT_EQ(axes["c.store.latency"], of({compilersChoice, 1, 2, 4, 6}));
  EXPECT_EQ(axes["c.store.allow_tma"], of({0})) << "a domain of the file stays";
  EXPECT_EQ(space->configurations.size(), 2u * (1 + 4 + 1 + 4)) << "one at a time";
  EXPECT_EQ(space->product, space->configurations.size());
  EXPECT_EQ(toString(space->configurations[0]), "TN=32 a.load.allow_tma=1 a.load.latency=5 c.store.allow_tma=0");
  // What is named from outside replaces the axis.
  request.overrides = {*parseOverride("c.store.latency=2,3"), *parseOverride("TN=32")};
  space = enumerateSpace(request);
  ASSERT_TRUE(space.has_value()) << space.error().message;
  EXPECT_EQ(space->configurations.size(), 2u * (1 + 4 + 1)) << "what was asked for goes with all";
  request.overrides = {*parseOverride("c.store.latency=0")};
  EXPECT_FALSE(enumerateSpace(request).has_value()) << "the compiler's choice is no value";
  request.overrides = {};
  request.accesses = false;
  EXPECT_EQ(enumerateSpace(request)->configurations.size(), 2u);
}

TEST(Space, RangesAreRead) {
  auto values = [](const char *text) {
    auto o = parseRange(text);
    EXPECT_TRUE(o.has_value()) << (o ? "" : o.error().message);
    std::vector<int64_t> numbers;
    for (const LaunchValue &v : o ? o->values : std::vector<LaunchValue>())
      numbers.push_back(std::get<int64_t>(v));
    return numbers;
  };
  EXPECT_EQ(values("TN=2..=5"), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(values("TN=2**5..=33"), (std::vector<int64_t>{32, 33}));
  EXPECT_EQ(values("TN=pow2(24, 256)"), (std::vector<int64_t>{32, 64, 128, 256}));
  for (const char *wrong : {"TN=1,2", "TN=4", "=1..=2", "TN", "TN=5..=4", "TN=pow2(5, 7)", "TN=1..=f32",
                            "TN=1..=100000", "TN=..=", "TN=pow2(1)"})
    EXPECT_FALSE(parseRange(wrong).has_value()) << wrong;
  sema::KernelInterface none;
  auto warps = legalPart(*parseRange("num_worker_warps=1..=9"), none, findArch("sm_90"));
  ASSERT_TRUE(warps.has_value());
  EXPECT_EQ(warps->values.size(), 4u) << "powers of two alone are legal";
  EXPECT_FALSE(legalPart(*parseRange("num_worker_warps=9..=15"), none, findArch("sm_90")).has_value());
}

TEST(Space, ConfigurationsGoThroughJson) {
  Configuration c;
  c.parameters = *parseValues("TM=128,FAST=true,EPS=0.5");
  c.hints["a.load.latency"] = 4;
  auto back = configurationFromJson(toJson(c));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(toString(*back), toString(c));
  EXPECT_EQ(back->parameters, c.parameters);
}

} // namespace
