#pragma once
// Layouts as text for people: `tilec explain --layouts` and tests.
#include "compiler/layout/linear_layout.h"

namespace tilec::layout {

/// One line: threads, elements per thread, vector along the last dimension, replication.
std::string describe(const LinearLayout &layout);
/// The tile as a table with the owner of each element, `T<thread>:<register>`; a dimension longer than its limit is cut
/// with an ellipsis. Leading dimensions beyond two become one table each (at most four are shown).
std::string elementTable(const LinearLayout &layout, int64_t maxRows = 16, int64_t maxColumns = 16);
/// One row per thread with the row-major coordinates of its registers in order; cut after the given numbers.
std::string threadTable(const LinearLayout &layout, uint32_t maxThreads = 8, uint32_t maxRegisters = 16);

} // namespace tilec::layout
