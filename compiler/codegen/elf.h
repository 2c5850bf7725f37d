#pragma once
// A minimal reader of cubins (64-bit little-endian ELF): which kernels there are and how much code each has.
#include "compiler/base/result.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::codegen {

struct CubinKernel {
  std::string name;
  int64_t codeBytes = 0; ///< of its `.text` section, padding included
};

/// Kernels of a cubin in the order of their names. Functions that are called and not launched are left out. Error
/// (Usage): the bytes are not a cubin.
Result<std::vector<CubinKernel>> listKernels(std::string_view cubin);

} // namespace tilec::codegen
