#include "compiler/driver/driver.h"

namespace tilec::driver {

std::string_view toolVersion() {
  // Version and the hash of the compiler's sources; written by cmake/ToolHash.cmake before each build.
  return
#include "compiler/driver/tool_version.inc"
      ;
}

} // namespace tilec::driver
