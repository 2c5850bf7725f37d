#pragma once
// What the sources of the device library share. They are plain C, compiled twice: for NVPTX, where a routine ends up
// inlined in a kernel, and for the host, where the tests measure it. Everything but the few `hardware` steps below is
// IEEE arithmetic with explicit fused multiply-adds and no contraction, so that both give the same bits.
#include <stdint.h>

/// A routine of the library. Its definition is external, and every caller inlines it.
#define ROUTINE __attribute__((always_inline))
/// Helpers of one file.
#define HELPER static inline __attribute__((always_inline))

#ifdef __NVPTX__
/// Read-only tables lie in constant memory.
#define TABLE static const __attribute__((address_space(4)))
#else
#define TABLE static const
#endif

HELPER uint32_t bitsOfF32(float x) { return __builtin_bit_cast(uint32_t, x); }
HELPER float f32OfBits(uint32_t b) { return __builtin_bit_cast(float, b); }
HELPER uint64_t bitsOfF64(double x) { return __builtin_bit_cast(uint64_t, x); }
HELPER double f64OfBits(uint64_t b) { return __builtin_bit_cast(double, b); }

/// Hardware step: 1/x of a normal x with a normal result, within 1 ulp. Callers correct it or weigh it little.
HELPER float hardwareRcp(float x) {
#ifdef __NVPTX__
  return __nvvm_rcp_approx_ftz_f(x);
#else
  return 1.0f / x;
#endif
}

/// Hardware step: 1/sqrt(x) within 2 ulp, every special value as IEEE has it.
HELPER float hardwareRsqrt(float x) {
#ifdef __NVPTX__
  return __nvvm_rsqrt_approx_f(x);
#else
  return (float)(1.0 / __builtin_sqrt((double)x));
#endif
}
