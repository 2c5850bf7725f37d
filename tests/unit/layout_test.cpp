// LINK: compiler_layout
// Every claim of a layout is held against plain enumeration of all places and elements.
#include "compiler/layout/conversion.h"
#include "compiler/layout/print.h"
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace tilec::layout;

namespace {

std::vector<Place> allPlaces(const LinearLayout &l) {
  std::vector<Place> places;
  for (uint32_t block = 0; block < l.size(InDim::Block); ++block)
    for (uint32_t warp = 0; warp < l.size(InDim::Warp); ++warp)
      for (uint32_t lane = 0; lane < l.size(InDim::Lane); ++lane)
        for (uint32_t reg = 0; reg < l.registers(); ++reg)
          places.push_back({reg, lane, warp, block});
  return places;
}

/// A random layout: any bases, so replicas and holes occur.
LinearLayout randomLayout(std::mt19937 &rng, LinearLayout::Shape shape, std::array<int, 4> bits) {
  LinearLayout frame(shape, {});
  LinearLayout::Bases bases;
  for (size_t dim = 0; dim < 4; ++dim)
    for (int bit = 0; bit < bits[dim]; ++bit)
      bases[dim].push_back(rng() % uint64_t(frame.numElements()));
  return LinearLayout(shape, bases);
}

const std::vector<BlockedSpec> blockedSpecs = {
    {.shape = {}},
    {.shape = {1}},
    {.shape = {1024}, .vector = 4},
    {.shape = {64}, .vector = 4},
    {.shape = {2}, .vector = 8},
    {.shape = {8, 256}, .vector = 8, .warps = 8},
    {.shape = {256, 8}, .vector = 4, .order = {0, 1}},
    {.shape = {16, 64}, .vector = 4, .warpOrder = {0, 1}},
    {.shape = {1, 4096}, .vector = 8, .warps = 16},
    {.shape = {4, 2, 32}, .vector = 2, .warps = 2},
    {.shape = {1, 1}, .vector = 4, .warps = 1},
};

TEST(BitMatrix, SpanFindsCombinations) {
  std::mt19937 rng(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> vectors;
    Span span;
    std::set<uint64_t> reached = {0};
    for (int i = 0; i < 5; ++i) {
      uint64_t v = rng() % 32;
      vectors.push_back(v);
      EXPECT_EQ(span.add(v), !reached.contains(v));
      for (uint64_t r : std::set<uint64_t>(reached))
        reached.insert(r ^ v);
    }
    EXPECT_EQ(size_t(1) << span.rank(), reached.size());
    for (uint64_t v = 0; v < 32; ++v) {
      auto combination = span.combination(v);
      ASSERT_EQ(combination.has_value(), reached.contains(v));
      if (combination)
        EXPECT_EQ(BitMatrix{vectors}.apply(*combination), v);
    }
  }
}

TEST(BitMatrix, PseudoInverseIsARightInverseOnTheImage) {
  std::mt19937 rng(2);
  for (int round = 0; round < 300; ++round) {
    BitMatrix m;
    for (int i = int(rng() % 8); i > 0; --i)
      m.columns.push_back(rng() % 64);
    BitMatrix inverse = m.pseudoInverse(6);
    uint64_t dependent = m.dependentInputs();
    std::map<uint64_t, int> owners;
    for (uint64_t x = 0; x < uint64_t(1) << m.inBits(); ++x) {
      EXPECT_EQ(m.apply(inverse.apply(m.apply(x))), m.apply(x));
      EXPECT_EQ(inverse.apply(m.apply(x)) & dependent, 0u);
      if (!(x & dependent))
        ++owners[m.apply(x)];
    }
    EXPECT_EQ(owners.size(), size_t(1) << m.rank());
    for (auto [value, count] : owners)
      EXPECT_EQ(count, 1);
  }
}

TEST(BitMatrix, ComposeIsApplicationInTurn) {
  BitMatrix a{{5, 2, 7}}, b{{3, 6, 1, 4}};
  BitMatrix ab = a.compose(b);
  for (uint64_t x = 0; x < 16; ++x)
    EXPECT_EQ(ab.apply(x), a.apply(b.apply(x)));
  EXPECT_EQ(a.compose(BitMatrix::identity(3)), a);
}

TEST(LinearLayout, CoordinatesAreRowMajor) {
  LinearLayout l({4, 2, 8}, {});
  for (uint64_t element = 0; element < 64; ++element) {
    auto c = l.coords(element);
    EXPECT_EQ(uint64_t((c[0] * 2 + c[1]) * 8 + c[2]), element);
    EXPECT_EQ(l.index(c), element);
  }
}

TEST(LinearLayout, PropertiesAgreeWithEnumeration) {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    LinearLayout l = randomLayout(rng, {4, 8}, {int(rng() % 4), int(rng() % 4), int(rng() % 3), int(rng() % 2)});
    std::map<uint64_t, int> holders, owners;
    for (const Place &p : allPlaces(l)) {
      EXPECT_EQ(l.unpack(l.pack(p)), p);
      ++holders[l.apply(p)];
      bool owner = !(p.reg & l.freeMask(InDim::Register)) && !(p.lane & l.freeMask(InDim::Lane)) &&
                   !(p.warp & l.freeMask(InDim::Warp)) && !(p.block & l.freeMask(InDim::Block));
      owners[l.apply(p)] += owner;
    }
    EXPECT_EQ(l.isSurjective(), holders.size() == 32);
    EXPECT_EQ(l.isInjective(), holders.begin()->second == 1);
    BitMatrix inverse = l.inverse();
    for (auto [element, count] : owners) {
      EXPECT_EQ(count, 1);
      EXPECT_EQ(l.apply(l.unpack(inverse.apply(element))), element);
    }
  }
}

TEST(Blocked, CoversTheTileWithTheThreadsAsked) {
  for (const BlockedSpec &spec : blockedSpecs) {
    LinearLayout l = blocked(spec);
    SCOPED_TRACE(l.toString());
    EXPECT_TRUE(l.isSurjective());
    EXPECT_EQ(l.size(InDim::Lane), uint32_t(spec.lanes));
    EXPECT_EQ(l.size(InDim::Warp), uint32_t(spec.warps));
    // Replicas only where the tile is smaller than the threads; never in registers.
    EXPECT_EQ(l.freeMask(InDim::Register), 0u);
    uint64_t places = uint64_t(l.registers()) * l.size(InDim::Lane) * l.size(InDim::Warp);
    EXPECT_GE(places, uint64_t(l.numElements()));
    if (l.numElements() >= int64_t(spec.vector) * spec.lanes * spec.warps)
      EXPECT_TRUE(l.isInjective());
  }
}

TEST(Blocked, NeighbourLanesHoldNeighbourVectors) {
  LinearLayout l = blocked({.shape = {2048}, .vector = 4});
  EXPECT_EQ(l.registers(), 16u);
  for (const Place &p : allPlaces(l))
    EXPECT_EQ(l.apply(p), p.reg % 4 + 4 * (p.lane + 32 * (p.warp + 4 * (p.reg / 4))));
  LinearLayout rows = blocked({.shape = {4, 512}, .vector = 4, .warpOrder = {0, 1}});
  for (const Place &p : allPlaces(rows))
    EXPECT_EQ(rows.coords(rows.apply(p)), (std::vector<int64_t>{p.warp, p.reg % 4 + 4 * p.lane + 128 * (p.reg / 4)}));
}

TEST(LinearLayout, ContiguousRunsAgreeWithEnumeration) {
  for (const BlockedSpec &spec : blockedSpecs) {
    LinearLayout l = blocked(spec);
    for (int dim = 0; dim < l.rank(); ++dim) {
      int bits = l.contiguousBits(dim);
      std::vector<int> regBits = l.contiguousRegisterBits(dim, bits);
      int64_t stride = int64_t(1) << l.dimShift(dim);
      for (const Place &p : allPlaces(l)) {
        uint64_t start = l.apply(p);
        if (l.coords(start)[size_t(dim)] & ((1 << bits) - 1))
          continue;
        for (uint32_t step = 0; step < uint32_t(1) << bits; ++step) {
          Place q = p;
          for (int bit = 0; bit < bits; ++bit)
            if (step >> bit & 1)
              q.reg ^= uint32_t(1) << regBits[size_t(bit)];
          EXPECT_EQ(l.apply(q), start + uint64_t(step * stride));
        }
      }
    }
  }
  EXPECT_EQ(blocked({.shape = {8, 256}, .vector = 8}).contiguousBits(1), 3);
}

TEST(LinearLayout, SliceForgetsADimension) {
  for (const BlockedSpec &spec : blockedSpecs) {
    LinearLayout l = blocked(spec);
    for (int dim = 0; dim < l.rank(); ++dim) {
      LinearLayout kept = l.collapse(dim), dropped = l.slice(dim);
      EXPECT_TRUE(kept.isSurjective());
      EXPECT_EQ(kept.freeMask(InDim::Register), 0u);
      EXPECT_EQ(dropped.rank(), l.rank() - 1);
      // Each thread holds exactly the reduced coordinates of the elements it had.
      for (uint32_t warp = 0; warp < l.size(InDim::Warp); ++warp)
        for (uint32_t lane = 0; lane < l.size(InDim::Lane); ++lane) {
          std::set<std::vector<int64_t>> had, has;
          for (uint32_t reg = 0; reg < l.registers(); ++reg) {
            auto c = l.coords(l.apply({reg, lane, warp, 0}));
            c[size_t(dim)] = 0;
            had.insert(c);
          }
          for (uint32_t reg = 0; reg < kept.registers(); ++reg) {
            has.insert(kept.coords(kept.apply({reg, lane, warp, 0})));
            EXPECT_EQ(kept.apply({reg, lane, warp, 0}), dropped.apply({reg, lane, warp, 0}));
          }
          EXPECT_EQ(had, has);
        }
    }
  }
}

TEST(LinearLayout, BroadcastKeepsReducedValuesInTheirThreads) {
  LinearLayout wide = blocked({.shape = {8, 256}, .vector = 4});
  LinearLayout narrow = wide.beforeBroadcast({8, 1});
  auto sources = registerSources(narrow, wide.project({8, 1}));
  ASSERT_TRUE(sources);
  for (const Place &p : allPlaces(wide)) {
    Place from = p;
    from.reg = (*sources)[p.reg];
    EXPECT_EQ(narrow.coords(narrow.apply(from))[0], wide.coords(wide.apply(p))[0]);
  }
  LinearLayout grown = narrow.broadcast({8, 256});
  EXPECT_TRUE(grown.isSurjective());
  auto grownSources = registerSources(narrow, grown.project({8, 1}));
  ASSERT_TRUE(grownSources);
}

TEST(LinearLayout, ReshapeAndTransposeMoveNothing) {
  std::mt19937 rng(4);
  LinearLayout l = randomLayout(rng, {4, 2, 8}, {3, 5, 2, 0});
  LinearLayout r = l.reshape({8, 8}), t = l.transpose(std::vector{2, 0, 1});
  EXPECT_EQ(t.shape(), (LinearLayout::Shape{8, 4, 2}));
  for (const Place &p : allPlaces(l)) {
    EXPECT_EQ(r.apply(p), l.apply(p));
    auto c = l.coords(l.apply(p));
    EXPECT_EQ(t.coords(t.apply(p)), (std::vector<int64_t>{c[2], c[0], c[1]}));
  }
  EXPECT_EQ(t.transpose(std::vector{1, 2, 0}), l);
}

/// Carries a tile of its own row-major indices through a conversion and checks what every place receives.
void checkConversion(const LinearLayout &src, const LinearLayout &dst, ConversionKind want) {
  Conversion c = classify(src, dst, 64);
  SCOPED_TRACE(src.toString() + " -> " + dst.toString());
  EXPECT_EQ(name(c.kind), name(want));
  for (const Place &p : allPlaces(dst)) {
    Place from = p;
    if (c.kind == ConversionKind::Registers) {
      from.reg = c.registers[p.reg];
    } else if (c.kind == ConversionKind::Shuffles) {
      uint64_t input = p.reg | (uint64_t(p.lane) | uint64_t(p.warp) << dst.inBits(InDim::Lane))
                                   << dst.inBits(InDim::Register);
      uint64_t place = c.source.apply(input);
      from.reg = uint32_t(place) & (src.registers() - 1);
      from.lane = uint32_t(place >> src.inBits(InDim::Register));
      EXPECT_LT(from.lane, src.size(InDim::Lane));
    } else {
      continue;
    }
    EXPECT_EQ(src.apply(from), dst.apply(p));
  }
}

TEST(Conversion, ClassesAndSources) {
  LinearLayout a = blocked({.shape = {1024}, .vector = 4});
  checkConversion(a, a, ConversionKind::Registers);
  // Registers in another order.
  LinearLayout swapped({1024}, {{{512, 1, 256, 2}, {4, 8, 16, 32, 64}, {128, 256}, {}}});
  LinearLayout plain({1024}, {{{1, 2, 512}, {4, 8, 16, 32, 64}, {128, 256}, {}}});
  checkConversion(plain, LinearLayout({1024}, {{{512, 1, 2}, {4, 8, 16, 32, 64}, {128, 256}, {}}}),
                  ConversionKind::Registers);
  // Another vector width within a warp, and warps that swap rows they do not share.
  checkConversion(blocked({.shape = {128}, .vector = 4, .warps = 1}),
                  blocked({.shape = {128}, .vector = 2, .warps = 1}), ConversionKind::Shuffles);
  checkConversion(a, blocked({.shape = {1024}, .vector = 2}), ConversionKind::Shared);
  // A replicated value spreads by shuffles or stays.
  LinearLayout stats = blocked({.shape = {8, 256}, .vector = 4}).slice(1);
  checkConversion(stats, stats, ConversionKind::Registers);
  // Within the warp, with a source register that depends on the lane.
  checkConversion(blocked({.shape = {32, 8}, .vector = 8, .warps = 1}),
                  blocked({.shape = {32, 8}, .vector = 2, .warps = 1}), ConversionKind::Shuffles);
}

TEST(Conversion, RandomLayoutsWithinAWarp) {
  std::mt19937 rng(5);
  int shuffles = 0;
  for (int round = 0; round < 300; ++round) {
    LinearLayout src = randomLayout(rng, {64}, {4, 5, 0, 0}), dst = randomLayout(rng, {64}, {3, 5, 0, 0});
    if (!src.isSurjective() || classify(src, dst, 64).kind != ConversionKind::Shuffles)
      continue;
    ++shuffles;
    checkConversion(src, dst, ConversionKind::Shuffles);
  }
  EXPECT_GT(shuffles, 100);
}

TEST(Shared, WavefrontsOfKnownPatterns) {
  auto strided = [](uint64_t stride, int lanes = 32) {
    std::vector<uint64_t> offsets;
    for (int lane = 0; lane < lanes; ++lane)
      offsets.push_back(stride * uint64_t(lane));
    return offsets;
  };
  EXPECT_EQ(wavefronts(strided(4), 4), 1);
  EXPECT_EQ(wavefronts(strided(0), 4), 1);
  EXPECT_EQ(wavefronts(strided(8), 4), 2);
  EXPECT_EQ(wavefronts(strided(128), 4), 32);
  EXPECT_EQ(wavefronts(strided(132), 4), 1);
  EXPECT_EQ(wavefronts(strided(2), 2), 1);
  EXPECT_EQ(wavefronts(strided(8), 8), 2);
  EXPECT_EQ(wavefronts(strided(16), 16), 4);
  EXPECT_EQ(wavefronts(strided(128), 16), 32);
}

TEST(Shared, SwizzleIsABijectionAndTransposesWithoutConflicts) {
  Swizzle s{2, 3, 4};
  std::set<uint64_t> images;
  for (uint64_t e = 0; e < 4096; ++e)
    images.insert(s.apply(e));
  EXPECT_EQ(images.size(), 4096u);
  EXPECT_EQ(*images.rbegin(), 4095u);

  LinearLayout rows = blocked({.shape = {64, 64}});
  LinearLayout columns = blocked({.shape = {64, 64}, .order = {0, 1}});
  SharedPlan plan = planShared(rows, columns, 4);
  // 4096 words, 4 warps: 32 passes each way are the least there can be.
  EXPECT_EQ(plan.storeWavefronts, 32);
  EXPECT_EQ(plan.loadWavefronts, 32);
  EXPECT_EQ(sharedWavefronts(columns, Swizzle{}, 0, 4), 32 * 32);
  // Without a change of order vectors stay whole.
  SharedPlan copy = planShared(blocked({.shape = {64, 64}, .vector = 4}), blocked({.shape = {64, 64}, .vector = 2}), 4);
  EXPECT_EQ(copy.storeVectorBits, 2);
  EXPECT_EQ(copy.loadVectorBits, 1);
}

TEST(Print, Tables) {
  LinearLayout l = blocked({.shape = {2, 4}, .vector = 2, .lanes = 4, .warps = 1});
  EXPECT_EQ(l.toString(), "[2, 4] register [1] lane [2, 4] warp [] block []");
  EXPECT_EQ(elementTable(l), "T0:0 T0:1 T1:0 T1:1\nT2:0 T2:1 T3:0 T3:1\n");
  EXPECT_EQ(threadTable(l, 2), "T0: (0,0) (0,1)\nT1: (0,2) (0,3)\n...\n");
  EXPECT_EQ(elementTable(l, 1, 2), "T0:0 T0:1 ...\n...\n");
  EXPECT_EQ(describe(l), "4 threads x 2 elements, 2 in a row");
  EXPECT_EQ(describe(l.slice(1)), "4 threads x 1 elements, 1 in a row, lane bits 0x1 replicate");
}

} // namespace
