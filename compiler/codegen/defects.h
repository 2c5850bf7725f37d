#pragma once
// Defects of the assembler that generated code keeps clear of.
#include "compiler/target/target.h"
#include <string>

namespace tilec::codegen {

/// ptxas 13.0 to 13.3 (nvJitLink as well) make one VIMNMX3 of `max.s32(max.s32(-a, -b), c)`, and of min, and lose the
/// negation of its second operand: the result is max(-a, b, c). Seen from sm_90 on, for s32 alone. A negation is
/// therefore written as complement and increment where the text has signed extremes.
std::string avoidDefects(std::string ptx, const Arch &arch);

} // namespace tilec::codegen
