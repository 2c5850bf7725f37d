// LINK: runtime
#include "fake_cuda.h"
#include "runtime/launch.h"
#include "runtime/timing.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::runtime;

FakeCuda &tilec::runtime::fakeCuda(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return *reinterpret_cast<FakeCuda *(*)()>(dlsym(handle, "tilecFakeCudaState"))();
}

namespace {

LaunchExpr num(int64_t v) { return LaunchExpr::constant(v); }
LaunchExpr sym(std::string s) { return LaunchExpr::name(std::move(s)); }

ArraySpec array(std::string name, ArrayMode mode, std::vector<LaunchExpr> extents) {
  ArraySpec a;
  a.name = std::move(name);
  a.mode = mode;
  a.extents = std::move(extents);
  return a;
}

LaunchParam value(LaunchExpr e, DType dtype) {
  LaunchParam p;
  p.kind = ParamKind::Value;
  p.value = std::move(e);
  p.dtype = dtype;
  return p;
}
LaunchParam base(std::string name, ParamKind kind = ParamKind::ArrayBase) {
  LaunchParam p;
  p.kind = kind;
  p.array = std::move(name);
  return p;
}

/// c[N] = a[N] scaled by `alpha`.
Artifact scale() {
  Artifact a;
  a.name = "scale";
  a.arch = "sm_90";
  a.arrays = {array("a", ArrayMode::In, {sym("N")}), array("c", ArrayMode::Out, {sym("N")})};
  a.scalars = {{"alpha", DType::f32}};
  a.symbols = {"N"};
  LaunchSpec l;
  l.entry = "scale";
  l.params = {base("a"), base("c"), value(sym("N"), DType::i32), value(sym("alpha"), DType::f32)};
  l.grid[0] = LaunchExpr::call(LaunchOp::CDiv, {sym("N"), num(128)});
  a.launches = {l};
  a.binaries = {std::string("\x7f"
                            "ELF",
                            4) +
                std::string(100, '\0')};
  return a;
}

class Launch : public testing::Test {
protected:
  void SetUp() override {
    auto opened = openDriver(TILEC_FAKE_CUDA);
    ASSERT_TRUE(opened) << opened.error().message;
    driver = *opened;
    fake = &fakeCuda(TILEC_FAKE_CUDA);
    *fake = FakeCuda();
    auto d = Device::open(driver, 0);
    ASSERT_TRUE(d) << d.error().message;
    device = std::move(*d);
  }

  DeviceArray make(std::string label, int64_t n) {
    return DeviceArray::create(*device, std::move(label), DType::f32, {n}, {1}).value();
  }

  /// Plans with `alpha` = 2; the message when refused.
  std::string refusal(const Artifact &artifact, std::map<std::string, ArrayArgument> arrays) {
    auto op = Operation::load(*device, artifact);
    if (!op)
      return op.error().message;
    LaunchArguments arguments{std::move(arrays), {}};
    arguments.env.values["alpha"] = 2.0;
    auto plan = (*op)->plan(arguments);
    return plan ? "planned" : plan.error().message;
  }

  Driver driver;
  FakeCuda *fake = nullptr;
  std::unique_ptr<Device> device;
};

TEST_F(Launch, Facts) {
  EXPECT_EQ(device->facts().arch(), "sm_90");
  EXPECT_EQ(device->facts().uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(device->facts().sharedPerBlockOptin, 227 << 10);
  auto none = Device::open(driver, 3);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::NoDevice);
  EXPECT_EQ(none.error().message, "there is no GPU 3: the driver shows 1");
}

TEST_F(Launch, ParametersAreEncoded) {
  static float *a, *c;
  static int n;
  static float alpha;
  fake->onLaunch = [](const FakeLaunch &, void **p) {
    std::memcpy(&a, p[0], 8);
    std::memcpy(&c, p[1], 8);
    std::memcpy(&n, p[2], 4);
    std::memcpy(&alpha, p[3], 4);
    for (int i = 0; i < n; ++i)
      c[i] = alpha * a[i];
  };
  DeviceArray in = make("a", 300), out = make("c", 300);
  HostArray host = HostArray::zeros(DType::f32, {300});
  for (int i = 0; i < 300; ++i)
    host.set(i, encodeFloat(DType::f32, i));
  ASSERT_TRUE(in.upload(host));
  auto op = Operation::load(*device, scale());
  ASSERT_TRUE(op) << op.error().message;
  LaunchArguments arguments{{{"a", argument(in)}, {"c", argument(out)}}, {}};
  arguments.env.values["alpha"] = 2.5;
  auto plan = (*op)->plan(arguments);
  ASSERT_TRUE(plan) << plan.error().message;
  Plan moved = std::move(*plan); // parameters survive a move
  ASSERT_TRUE(moved.enqueue(nullptr));
  ASSERT_EQ(fake->launches.size(), 1u);
  EXPECT_EQ(fake->launches[0].entry, "scale");
  EXPECT_EQ(fake->launches[0].config.gridX, 3u);
  EXPECT_EQ(fake->launches[0].config.blockX, 128u);
  EXPECT_EQ(n, 300);
  auto result = out.download();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->value(299), 747.5);
  EXPECT_TRUE(out.buffer.checkGuards());
}

TEST_F(Launch, GuardBandsShowOverruns) {
  DeviceArray c = make("c", 3);
  EXPECT_TRUE(c.buffer.checkGuards());
  *reinterpret_cast<char *>(c.base() + 12) = 1;
  *reinterpret_cast<char *>(c.base() + 14) = 1;
  *reinterpret_cast<char *>(c.base() - 2) = 1;
  EXPECT_EQ(c.buffer.checkGuards().error().message,
            "the kernel wrote outside 'c': 1 bytes before its start (nearest at "
            "-2) and 2 bytes behind its end (nearest at +0)");
  EXPECT_EQ(countPoisoned(*c.download()), 3);
}

TEST_F(Launch, MisalignedBaseIsRefused) {
  DeviceArray a = make("a", 10), c = make("c", 10);
  ArrayArgument shifted = argument(a);
  shifted.base += 4;
  shifted.extents = {9};
  ArrayArgument out = argument(c);
  out.extents = {9};
  std::string message = refusal(scale(), {{"a", shifted}, {"c", out}});
  EXPECT_EQ(message,
            fmt::format("the base of 'a' must be aligned to 16 bytes, but {:#x} is aligned to 4", shifted.base));
}

TEST_F(Launch, OverlapIsRefused) {
  DeviceArray a = make("a", 100);
  ArrayArgument whole = argument(a);
  EXPECT_NE(refusal(scale(), {{"a", whole}, {"c", whole}}).find("'c' (out) and 'a' (in) are the same buffer"),
            std::string::npos);
  ArrayArgument half = whole, rest = whole;
  half.extents = rest.extents = {52};
  rest.base += 48 * 4;
  EXPECT_NE(refusal(scale(), {{"a", half}, {"c", rest}}).find("'c' (out) and 'a' (in) overlap"), std::string::npos);
  rest.base += 4 * 4;
  EXPECT_NE(refusal(scale(), {{"a", half}, {"c", rest}}).find("'c' covers 208 bytes"), std::string::npos);
  half.extents = rest.extents = {48};
  EXPECT_EQ(refusal(scale(), {{"a", half}, {"c", rest}}), "planned");
  Artifact alias = scale();
  alias.arrays[1].aliases = {"a"};
  EXPECT_EQ(refusal(alias, {{"a", whole}, {"c", whole}}), "planned");
}

TEST_F(Launch, RefusalsNameTheArgument) {
  DeviceArray a = make("a", 100), c = make("c", 99);
  EXPECT_EQ(refusal(scale(), {{"a", argument(a)}}), "'c' of kernel 'scale' has no buffer");
  EXPECT_EQ(refusal(scale(), {{"a", argument(a)}, {"c", argument(c)}}),
            "extent 0 of 'c' is 99 but N is 100, bound by extent 0 of 'a'");
  Artifact narrow = scale();
  narrow.launches[0].params[2].dtype = DType::i8;
  DeviceArray big = make("a", 200), bigOut = make("c", 200);
  EXPECT_EQ(refusal(narrow, {{"a", argument(big)}, {"c", argument(bigOut)}}), "'N' is 200, which is no value of i8");
}

TEST_F(Launch, SharedMemory) {
  Artifact a = scale();
  a.launches[0].dynamicSharedBytes = 100'000;
  ASSERT_TRUE(Operation::load(*device, a));
  EXPECT_EQ(fake->functionAttributes.at(cu::funcMaxDynamicSharedBytes), 100'000);
  a.launches[0].dynamicSharedBytes = 232'448;
  EXPECT_EQ(refusal(a, {}), "'scale' needs 233472 bytes of shared memory per block, and Fake GPU has 232448");
}

TEST_F(Launch, WrongArchitectureNamesBoth) {
  fake->loadResult = cu::noBinaryForGpu;
  EXPECT_EQ(refusal(scale(), {}), "the cubin is for sm_90 and GPU 0 (Fake GPU) is sm_90");
}

TEST_F(Launch, EmptyGridLaunchesNothing) {
  auto op = Operation::load(*device, scale());
  LaunchArguments arguments{{{"a", {0, {0}, {}, 0, 0}}, {"c", {0, {0}, {}, 0, 0}}}, {}};
  arguments.env.values["alpha"] = 1.0;
  auto plan = (*op)->plan(arguments);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->enqueue(nullptr));
  EXPECT_TRUE(fake->launches.empty());
}

TEST_F(Launch, ClustersPersistenceAndDependence) {
  Artifact a = scale();
  LaunchSpec &l = a.launches[0];
  l.cluster = {2, 1, 1};
  l.dependentLaunch = true;
  DeviceArray in = make("a", 128 * 100), out = make("c", 128 * 100);
  std::map<std::string, ArrayArgument> arrays{{"a", argument(in)}, {"c", argument(out)}};
  auto launched = [&](const Artifact &artifact) {
    fake->launches.clear();
    auto op = Operation::load(*device, artifact);
    LaunchArguments arguments{arrays, {}};
    arguments.env.values["alpha"] = 1.0;
    EXPECT_TRUE((*op)->plan(arguments)->enqueue(nullptr));
    return fake->launches.at(0);
  };
  FakeLaunch plain = launched(a);
  EXPECT_EQ(plain.config.gridX, 200u);
  ASSERT_EQ(plain.attributes.size(), 2u);
  EXPECT_EQ(plain.attributes[0].id, cu::launchClusterDimension);
  EXPECT_EQ(plain.attributes[0].value.cluster.x, 2u);
  EXPECT_EQ(plain.attributes[1].id, cu::launchProgrammaticSerialization);
  l.persistent = true;
  EXPECT_EQ(launched(a).config.gridX, 8u); // 4 multiprocessors of 2 blocks: 4 clusters of 2
}

TEST_F(Launch, TensorMaps) {
  Artifact a = scale();
  a.arrays[0] = array("a", ArrayMode::In, {sym("N"), sym("K")});
  a.arrays[0].dtype = DType::bf16;
  a.symbols = {"N", "K"};
  LaunchParam p;
  p.kind = ParamKind::TensorMap;
  p.map = TensorMapSpec{"a", {1, 0}, {64, 128}, {1, 1}, 128, true, 256};
  a.launches[0].params = {p};
  DeviceArray c = make("c", 20);
  auto with = [&](int64_t n, int64_t k) {
    DeviceArray in = DeviceArray::create(*device, "a", DType::bf16, {n, k}, {k, 1}).value();
    ArrayArgument out = argument(c);
    out.extents = {n};
    return refusal(a, {{"a", argument(in)}, {"c", out}});
  };
  EXPECT_EQ(with(20, 40), "planned");
  const FakeTensorMap &map = fake->maps.back();
  EXPECT_EQ(map.dataType, 9);
  EXPECT_EQ(map.dims, (std::vector<uint64_t>{40, 20}));
  EXPECT_EQ(map.strides, (std::vector<uint64_t>{80}));
  EXPECT_EQ(map.box, (std::vector<uint32_t>{64, 128}));
  EXPECT_EQ(map.swizzle, 3);
  EXPECT_EQ(map.l2Promotion, 3);
  EXPECT_EQ(map.fill, 1);
  EXPECT_EQ(with(20, 41), "'a' goes through a tensor map, so its stride along axis 0 must be a multiple of 16 bytes, "
                          "not 82");
  EXPECT_EQ(with(20, 0), "planned"); // an empty array is one element of the fill
  EXPECT_EQ(fake->maps.back().dims, (std::vector<uint64_t>{1, 1}));
  EXPECT_NE(fake->maps.back().base, 0u);
}

TEST_F(Launch, ScratchAndCounters) {
  Artifact a = scale();
  a.arrays.push_back(array("part", ArrayMode::Scratch, {sym("N")}));
  a.arrays.back().zeroed = true;
  LaunchParam counter;
  counter.kind = ParamKind::Counter;
  counter.value = num(8);
  a.launches[0].params = {base("part", ParamKind::Scratch), counter};
  static uint64_t part, count;
  fake->onLaunch = [](const FakeLaunch &, void **p) {
    std::memcpy(&part, p[0], 8);
    std::memcpy(&count, p[1], 8);
    EXPECT_EQ(*reinterpret_cast<uint64_t *>(count), 0u);
    EXPECT_EQ(*reinterpret_cast<float *>(part), 0.0f);
    *reinterpret_cast<uint64_t *>(count) = 7;
    *reinterpret_cast<float *>(part) = 7;
  };
  DeviceArray in = make("a", 10), out = make("c", 10);
  size_t before = fake->memory.size();
  {
    auto op = Operation::load(*device, a);
    auto plan = (*op)->plan({{{"a", argument(in)}, {"c", argument(out)}}, {}});
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_TRUE(plan->enqueue(nullptr));
    ASSERT_TRUE(plan->enqueue(nullptr)); // cleared again
    EXPECT_EQ(fake->launches.size(), 2u);
    EXPECT_TRUE(plan->checkGuards());
  }
  EXPECT_EQ(fake->memory.size(), before); // nothing leaks
}

TEST_F(Launch, FaultsAreSticky) {
  fake->synchronizeResult = cu::illegalAddress;
  auto status = device->synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "cannot finish the work on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory "
                                    "access was encountered)");
  EXPECT_TRUE(isSticky(status.error()));
  auto memory = DeviceBuffer::create(*device, uint64_t(1) << 40, "a");
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::Usage);
  EXPECT_FALSE(isSticky(memory.error()));
}

TEST_F(Launch, StridedArrays) {
  // Reversed rows with a gap: the base is inside the buffer.
  auto a = DeviceArray::create(*device, "a", DType::i16, {3, 2}, {-4, 1});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->baseOffset, 16u);
  EXPECT_EQ(a->buffer.size(), 20u);
  HostArray host = HostArray::zeros(DType::i16, {3, 2});
  for (int i = 0; i < 6; ++i)
    host.set(i, uint64_t(i));
  ASSERT_TRUE(a->upload(host));
  EXPECT_EQ(*reinterpret_cast<int16_t *>(a->base() - 8), 2);
  EXPECT_EQ(a->download()->bytes, host.bytes);
}

TEST_F(Launch, ColdSamplesAreFlushedAndHotOnesAreNot) {
  auto timer = Timer::create(*device);
  ASSERT_TRUE(timer) << timer.error().message;
  Work work = [](cu::Stream) { return Status(); };
  auto launches = [&](const char *entry) {
    return std::ranges::count(fake->launches, std::string(entry), &FakeLaunch::entry);
  };
  fake->times = {0.02f, 0.01f, 0.0f};
  EXPECT_NEAR(*(*timer)->sample(work, TimingPolicy::Cold), 20, 0.01);
  EXPECT_EQ(launches("tilec_read_flush"), 1);
  EXPECT_EQ(launches("tilec_spin"), 0);
  EXPECT_NEAR(*(*timer)->sample(work, TimingPolicy::Hot), 10, 0.01);
  EXPECT_EQ(launches("tilec_read_flush"), 1);
  EXPECT_EQ(launches("tilec_spin"), 1) << "the launch is hidden behind it";
  EXPECT_EQ(*(*timer)->sample(work, TimingPolicy::Hot), 0) << "invalid, and the caller's affair";
}

TEST_F(Launch, AGraphRunsTheWorkSeveralTimes) {
  auto timer = Timer::create(*device);
  int runs = 0;
  Work work = [&](cu::Stream) {
    ++runs;
    return Status();
  };
  EXPECT_EQ(graphRuns(2), 25);
  EXPECT_EQ(graphRuns(1000), 2);
  EXPECT_EQ(graphRuns(0), 100);
  {
    auto graph = RunGraph::record(*device, work, graphRuns(2), (*timer)->stream());
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(runs, 25);
    EXPECT_EQ((*graph)->runs(), 25);
    ASSERT_TRUE((*graph)->launch((*timer)->stream()));
    EXPECT_EQ(fake->graphs, 1);
    EXPECT_EQ(fake->graphLaunches, 1);
  }
  auto refused =
      RunGraph::record(*device, [](cu::Stream) -> Status { return usageError("no"); }, 2, (*timer)->stream());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no");
}

TEST_F(Launch, TimingWithoutThePtxCompiler) {
  fake->compilesPtx = false;
  auto timer = Timer::create(*device);
  ASSERT_TRUE(timer);
  int before = fake->memsets;
  ASSERT_TRUE((*timer)->sample([](cu::Stream) { return Status(); }, TimingPolicy::Cold));
  EXPECT_EQ(*(*timer)->clockMHz(), 0);
  EXPECT_GT(fake->memsets, before);
}

TEST(DriverLibrary, NamedByTheEnvironment) {
  setenv("TILEC_CUDA_DRIVER", TILEC_FAKE_CUDA, 1);
  auto opened = driver();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->path, TILEC_FAKE_CUDA);
  fakeCuda(TILEC_FAKE_CUDA) = FakeCuda();
  EXPECT_EQ(listDevices()->size(), 1u);
  fakeCuda(TILEC_FAKE_CUDA).devices = 0;
  EXPECT_EQ(listDevices().error().kind, ErrorKind::NoDevice);
}

TEST(DriverLibrary, MissingAndIncomplete) {
  auto missing = openDriver("/nowhere/libcuda.so.1");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::NoDevice);
  EXPECT_FALSE(missing.error().help.empty());
  auto other = openDriver("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "the CUDA driver libm.so.6 has no cuInit");
}

} // namespace
