#pragma once
// The device library: math functions and conversions that generated code calls. device.def lists every routine; the
// sources are math_f32.c, math_f64.c and convert.c, compiled once to NVPTX bitcode and once for the host, where the
// tests measure them.
#include <string>
#include <string_view>

namespace tilec {

/// LLVM bitcode with every routine (triple nvptx64-nvidia-cuda); ptx.h links it. Good for the life of the process.
std::string_view deviceBitcode();

/// Symbol of a math routine such as `__tilec_exp_f32_approx`, or an empty string when the library has none.
/// @param function  the built-in's name: exp, pow, …
/// @param dtype     f32 or f64
/// @param approx    asks for the hardware approximation; where there is none (f64, sinh, …) the exact routine is named
/// @param ftz       with `approx`: subnormals may be flushed
std::string deviceMathSymbol(std::string_view function, std::string_view dtype, bool approx = false, bool ftz = false);

/// Symbol of a conversion such as `__tilec_cvt_f32_f8e4m3`, or an empty string when the library has none: device.def
/// says how the others are done.
/// @param towardZero  the `rounding = rz` form, which f8e8m0 has
std::string deviceCvtSymbol(std::string_view from, std::string_view to, bool towardZero = false);

} // namespace tilec
