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

/// Hardware step: 2^x, within 2 ulp for 0 <= x < 1; results below the normal range are 0.
HELPER float hardwareExp2(float x) {
#ifdef __NVPTX__
  return __nvvm_ex2_approx_ftz_f(x);
#else
  float y = (float)__builtin_exp2((double)x);
  return y < 0x1p-126f ? 0 : y;
#endif
}

/// a·b + c held to [0, 1]; 0 for a NaN.
HELPER float saturatedFma(float a, float b, float c) {
#ifdef __NVPTX__
  return __nvvm_fma_rn_sat_f(a, b, c);
#else
  float x = __builtin_fmaf(a, b, c);
  return x > 0 ? (x < 1 ? x : 1) : 0;
#endif
}

/// floor(a·b) + c for integers c near 1.5·2^23 and |a·b| < 2^22: a fused multiply-add that rounds down.
HELPER float floorOfProduct(float a, float b, float c) {
#ifdef __NVPTX__
  return __nvvm_fma_rm_f(a, b, c);
#else
  return (float)__builtin_floor((double)a * (double)b) + c;
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
