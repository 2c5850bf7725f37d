// LINK: compiler_target compiler_base
#include "compiler/target/target.h"
#include <gtest/gtest.h>
#include <set>

using namespace tilec;

TEST(Target, ArchsByName) {
  ASSERT_EQ(allArchs().size(), 11u);
  const Arch *hopper = findArch("sm_90");
  ASSERT_NE(hopper, nullptr);
  EXPECT_EQ(findArch("sm_90a"), hopper);
  EXPECT_EQ(hopper->compiledAs, "sm_90a");
  EXPECT_EQ(hopper->sharedPerBlock, 232448);
  EXPECT_EQ(hopper->sharedPerSm, 233472);
  EXPECT_EQ(hopper->warpsPerScheduler(), 16);
  EXPECT_EQ(findArch("sm_80")->compiledAs, "sm_80");
  EXPECT_EQ(findArch("sm_80a"), nullptr);
  EXPECT_EQ(findArch(""), nullptr);
  EXPECT_EQ(archForCapability(12, 1), findArch("sm_121"));
  EXPECT_EQ(archForCapability(7, 5), nullptr);
  EXPECT_EQ(requireArch("sm_103a").value(), findArch("sm_103"));
  auto missing = requireArch("sm_70");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "there is no architecture 'sm_70'");
  EXPECT_TRUE(missing.error().help.starts_with("known: sm_80, sm_86, ")) << missing.error().help;
}

TEST(Target, RowsAreConsistent) {
  std::set<std::string_view> names;
  for (const Arch &arch : allArchs()) {
    EXPECT_TRUE(names.insert(arch.name).second) << arch.name;
    EXPECT_EQ(arch.name, fmt::format("sm_{}{}", arch.major, arch.minor));
    EXPECT_TRUE(arch.compiledAs == arch.name || arch.compiledAs == fmt::format("{}a", arch.name));
    EXPECT_EQ(archForCapability(arch.major, arch.minor), &arch);
    EXPECT_LE(arch.ptxVersion, newestPtx);
    // The driver's share of every block is what keeps one block from having all.
    EXPECT_EQ(arch.sharedPerBlock + Arch::sharedReserved, arch.sharedPerSm) << arch.name;
    EXPECT_EQ(arch.has(Feature::clusters), arch.maxCluster > 1) << arch.name;
    EXPECT_EQ(arch.has(Feature::clusters), arch.major >= 9) << arch.name;
    EXPECT_FALSE(arch.has(Feature::wgmma) && arch.has(Feature::tcgen05)) << arch.name;
    EXPECT_TRUE(!arch.has(Feature::tma) || arch.has(Feature::mbarrier_tx)) << arch.name;
    EXPECT_TRUE(!arch.has(Feature::mma_fp8) || arch.has(Feature::fp8_cvt)) << arch.name;
  }
  EXPECT_EQ(ptxFeatures(), "+ptx90");
}

TEST(Target, Features) {
  const Arch &ampere = *findArch("sm_80"), &ada = *findArch("sm_89"), &hopper = *findArch("sm_90"),
             &blackwell = *findArch("sm_100"), &small = *findArch("sm_120");
  EXPECT_TRUE(ampere.has("bf16"));
  EXPECT_TRUE(ampere.has("cp_async"));
  EXPECT_FALSE(ampere.has("tma"));
  EXPECT_FALSE(ampere.has("fp8_cvt"));
  EXPECT_TRUE(ada.has(Feature::fp8_cvt));
  EXPECT_TRUE(hopper.has("wgmma"));
  EXPECT_TRUE(hopper.has("tma"));
  EXPECT_FALSE(hopper.has("tcgen05"));
  EXPECT_TRUE(blackwell.has("tcgen05"));
  EXPECT_FALSE(small.has("tcgen05"));
  EXPECT_FALSE(small.has("wgmma"));
  EXPECT_TRUE(small.has("mma_scaled"));
  EXPECT_FALSE(hopper.has("no such thing"));
  for (const FeatureInfo &row : allFeatures()) {
    EXPECT_EQ(parseFeature(row.name), row.feature);
    bool used = false;
    for (const Arch &arch : allArchs())
      used |= arch.has(row.feature);
    EXPECT_TRUE(used) << row.name;
  }
}

TEST(Target, ResidentBlocks) {
  const Arch &hopper = *findArch("sm_90");
  EXPECT_EQ(residentBlocks(hopper, 32, 0, 0), 32);   // the limit of blocks
  EXPECT_EQ(residentBlocks(hopper, 256, 32, 0), 8);  // threads
  EXPECT_EQ(residentBlocks(hopper, 256, 128, 0), 2); // registers
  EXPECT_EQ(residentBlocks(hopper, 384, 168, 0), 1);
  EXPECT_EQ(residentBlocks(hopper, 256, 33, 0), 6); // a warp's registers come in units of 256
  EXPECT_EQ(residentBlocks(hopper, 128, 0, 100 * 1024), 2);
  EXPECT_EQ(residentBlocks(hopper, 128, 0, 232448), 1);
  EXPECT_EQ(residentBlocks(hopper, 128, 0, 232449), 0); // more than a block may have
  EXPECT_EQ(residentBlocks(hopper, 1024, 128, 0), 0);   // does not fit at all
  EXPECT_EQ(residentBlocks(hopper, 1025, 0, 0), 0);
  EXPECT_EQ(residentBlocks(*findArch("sm_86"), 1024, 0, 0), 1);
}

TEST(Hints, Table) {
  const HintInfo *clusters = findHint("num_cta_in_cga"), *latency = findHint("latency"), *tma = findHint("allow_tma");
  ASSERT_TRUE(clusters && latency && tma);
  EXPECT_EQ(findHint("num_ctas"), nullptr);
  EXPECT_TRUE(clusters->allowedOn(HintPlace::Kernel));
  EXPECT_FALSE(clusters->allowedOn(HintPlace::Load));
  EXPECT_TRUE(latency->allowedOn(HintPlace::Store));
  EXPECT_FALSE(latency->allowedOn(HintPlace::Kernel));
  EXPECT_FALSE(latency->viewsOnly);
  EXPECT_TRUE(tma->viewsOnly);
  EXPECT_FALSE(latency->defaultValue);
  EXPECT_EQ(tma->defaultValue, 1);
  EXPECT_EQ(findHint("num_worker_warps")->defaultValue, std::nullopt);
  EXPECT_EQ(hintNames(HintPlace::Kernel),
            (std::vector<std::string>{"num_cta_in_cga", "occupancy", "num_worker_warps"}));
  EXPECT_EQ(hintNames(HintPlace::Load), (std::vector<std::string>{"latency", "allow_tma"}));
  for (const HintInfo &row : allHints()) {
    EXPECT_NE(row.places, 0) << row.name;
    if (row.defaultValue)
      for (const Arch &arch : allArchs())
        EXPECT_TRUE(checkHint(row, &arch, *row.defaultValue)) << row.name << " on " << arch.name;
  }
}

TEST(Hints, LegalValues) {
  const HintInfo &clusters = *findHint("num_cta_in_cga"), &latency = *findHint("latency"),
                 &tma = *findHint("allow_tma");
  EXPECT_EQ(legalValues(clusters, nullptr), (std::vector<int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(legalValues(clusters, findArch("sm_90")), (std::vector<int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(legalValues(clusters, findArch("sm_89")), std::vector<int64_t>{1});
  EXPECT_EQ(legalValues(latency, nullptr).size(), 10u);
  EXPECT_EQ(legalValues(tma, nullptr), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(checkHint(clusters, findArch("sm_90"), 16).value(), 16);
}

TEST(Hints, Messages) {
  auto message = [](std::string_view hint, const char *arch, int64_t value) {
    auto result = checkHint(*findHint(hint), arch ? findArch(arch) : nullptr, value);
    EXPECT_FALSE(result);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message("num_cta_in_cga", "sm_90", 3), "num_cta_in_cga cannot be 3; legal values are 1, 2, 4, 8, 16");
  EXPECT_EQ(message("num_cta_in_cga", "sm_80", 2), "num_cta_in_cga cannot be 2 on sm_80; the only legal value is 1");
  EXPECT_EQ(message("num_worker_warps", nullptr, 32), "num_worker_warps cannot be 32; legal values are 1, 2, 4, 8, 16");
  EXPECT_EQ(message("occupancy", nullptr, 0), "occupancy cannot be 0; legal values are 1 to 32");
  EXPECT_EQ(message("latency", "sm_90", 11), "latency cannot be 11; legal values are 1 to 10");
  EXPECT_EQ(message("allow_tma", nullptr, -1), "allow_tma cannot be -1; legal values are true, false");
}
