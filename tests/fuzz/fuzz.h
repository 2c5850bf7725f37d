#pragma once
// One fuzz target a file: a function over bytes that finds its own faults. Built with libFuzzer it is driven by it
// (`make fuzz`); built without, it replays files (tests/fuzz/driver.cpp).
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tilec {

/// Runs the target on one input.
int fuzzOne(std::string_view text);

/// A property that does not hold: stops the process, so that libFuzzer keeps the input.
[[noreturn]] inline int fault(const std::string &message) {
  fprintf(stderr, "fuzz: %s\n", message.c_str());
  abort();
}

} // namespace tilec
