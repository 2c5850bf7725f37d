#pragma once
// What kernels printed and which of their assertions failed, from the bytes of the print buffer.
#include "compiler/artifact/artifact.h"
#include <span>

namespace tilec::runtime {

class Plan;

struct Reports {
  std::string printed;               ///< in the order of blocks, and of the program within a block
  std::vector<std::string> failures; ///< one for each assert that failed, of the lowest block: place, element, block
  uint64_t lostBytes = 0;            ///< of records that the buffer had no room for
};

/// Reads a buffer: u64 bytes asked for, 8 of padding, then records of u32 size, u32 message, u32 block, u32 0 and the
/// values, row-major, each at a multiple of 8, 16 bytes or a multiple long; those of an assertion are u32 first false
/// element and u32 their count. `grid` gives block numbers their coordinates. Error (Internal): a record that no kernel
/// writes.
Result<Reports> readReports(std::span<const std::byte> buffer, const std::vector<MessageSpec> &messages,
                            std::array<int64_t, 3> grid);
/// Of a plan's first launch, which has finished; nothing where it has no print buffer.
Result<Reports> readReports(const Plan &plan, const Artifact &artifact);

} // namespace tilec::runtime
