// LINK: runtime
//
// The print buffer as a kernel leaves it.
#include "runtime/reports.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::runtime;

namespace {

class Buffer {
public:
  explicit Buffer(size_t size) : bytes(size) {}
  template <typename T> void put(size_t at, T value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
  /// A record's head behind the others; the place of its values.
  size_t record(uint32_t size, uint32_t message, uint32_t block) {
    size_t at = 16 + used;
    put(at, size), put(at + 4, message), put(at + 8, block);
    used += size;
    put<uint64_t>(0, used);
    return at + 16;
  }
  std::vector<std::byte> bytes;
  uint64_t used = 0;
};

const std::vector<MessageSpec> messages = {
    {.assertion = false,
     .place = "k.tile:3:5",
     .pieces = {"block ", ": ", ""},
     .dtypes = {DType::i32, DType::f16},
     .shapes = {{}, {2, 2}}},
    {.assertion = true, .place = "k.tile:4:5", .pieces = {"small"}, .dtypes = {}, .shapes = {{4, 8}}},
    {.assertion = true, .place = "k.tile:5:5", .pieces = {""}, .dtypes = {}, .shapes = {{}}},
};

TEST(Reports, PrintsComeByBlocksAndLookAsOnTheCpu) {
  Buffer buffer(256);
  for (uint32_t block : {5, 1}) {
    size_t at = buffer.record(32, 0, block);
    buffer.put(at, int32_t(block));
    for (int i = 0; i < 4; ++i)
      buffer.put(at + 8 + size_t(i) * 2, uint16_t(0x3C00 + 0x400 * i)); // 1, 2, 4, 8
  }
  auto reports = readReports(buffer.bytes, messages, {4, 2, 1});
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ(reports->printed, "block 1: [[1.0, 2.0],\n          [4.0, 8.0]]\n"
                              "block 5: [[1.0, 2.0],\n          [4.0, 8.0]]\n");
  EXPECT_TRUE(reports->failures.empty());
  EXPECT_EQ(reports->lostBytes, 0u);
}

TEST(Reports, OfEachAssertTheLowestBlockIsNamed) {
  Buffer buffer(256);
  for (auto [block, first, count] : {std::tuple{6u, 3u, 1u}, {5u, 17u, 3u}}) {
    size_t at = buffer.record(32, 1, block);
    buffer.put(at, first), buffer.put(at + 4, count);
  }
  size_t at = buffer.record(32, 2, 0);
  buffer.put(at, 0u), buffer.put(at + 4, 1u);
  auto reports = readReports(buffer.bytes, messages, {4, 2, 1});
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_THAT(
      reports->failures,
      testing::ElementsAre("k.tile:5:5: assertion '' fails, block (0, 0, 0)",
                           "k.tile:4:5: assertion 'small' fails at element (2, 1) and 2 more, block (1, 1, 0)"));
}

TEST(Reports, WhatHadNoRoomIsCounted) {
  Buffer buffer(16 + 32);
  buffer.record(32, 0, 0);
  buffer.put<uint64_t>(0, 3 * 32);
  auto reports = readReports(buffer.bytes, messages, {1, 1, 1});
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ(reports->lostBytes, 64u);
  EXPECT_FALSE(reports->printed.empty());
}

TEST(Reports, RefusesWhatNoKernelWrites) {
  Buffer buffer(64);
  buffer.record(32, 9, 0);
  EXPECT_FALSE(readReports(buffer.bytes, messages, {1, 1, 1}));
  Buffer other(64);
  other.record(48, 1, 0);
  EXPECT_FALSE(readReports(other.bytes, messages, {1, 1, 1}));
}

} // namespace
