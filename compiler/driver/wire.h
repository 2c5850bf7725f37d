#pragma once
// A Compilation as bytes, for the pipe between a compiling child and its parent.
#include "compiler/driver/driver.h"

namespace tilec::driver {
std::string pack(const Result<Compilation> &compilation);
/// Errors (Internal): the bytes are not a packed compilation; else the packed result itself.
Result<Compilation> unpack(std::string_view bytes);
} // namespace tilec::driver
