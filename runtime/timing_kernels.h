#pragma once
// The two kernels that timing needs, as PTX that the driver compiles for whatever GPU there is.
#include <string_view>

namespace tilec::runtime {

/// The oldest architecture of all; later GPUs run code for it.
inline constexpr int timingKernelArch = 80;

/// To be put behind `.version 7.0` and `.target`.
///
/// tilec_read_flush(base, count, sink) reads `count` 16-byte words past the L1 caches. Reading rather than writing
/// leaves clean lines behind, whose eviction costs the timed kernel nothing. What it reads feeds a store that never
/// happens.
///
/// tilec_spin(cycles, out) waits for a number of clock cycles and stores {cycles, nanoseconds} that passed.
inline constexpr std::string_view timingKernels = R"(
.address_size 64
.visible .entry tilec_read_flush(.param .u64 base, .param .u64 count, .param .u64 sink)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<7>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.lo.u32 %r6, %r4, %r2;
  cvt.u64.u32 %d1, %r5;
  cvt.u64.u32 %d2, %r6;
  ld.param.u64 %d3, [base];
  ld.param.u64 %d4, [count];
  ld.param.u64 %d5, [sink];
  mov.u32 %r7, 0;
next:
  setp.ge.u64 %p1, %d1, %d4;
  @%p1 bra done;
  shl.b64 %d6, %d1, 4;
  add.s64 %d6, %d6, %d3;
  ld.global.cg.v4.u32 {%r8, %r9, %r10, %r11}, [%d6];
  xor.b32 %r7, %r7, %r8;
  xor.b32 %r7, %r7, %r9;
  xor.b32 %r7, %r7, %r10;
  xor.b32 %r7, %r7, %r11;
  add.s64 %d1, %d1, %d2;
  bra next;
done:
  setp.eq.u32 %p2, %r7, 1524089054;
  @%p2 st.global.u32 [%d5], %r7;
  ret;
}
.visible .entry tilec_spin(.param .u64 cycles, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b64 %d<9>;
  ld.param.u64 %d1, [cycles];
  ld.param.u64 %d2, [out];
  mov.u64 %d3, %globaltimer;
  mov.u64 %d4, %clock64;
wait:
  mov.u64 %d5, %clock64;
  sub.u64 %d6, %d5, %d4;
  setp.lt.u64 %p1, %d6, %d1;
  @%p1 bra wait;
  mov.u64 %d7, %globaltimer;
  sub.u64 %d8, %d7, %d3;
  st.global.u64 [%d2], %d6;
  st.global.u64 [%d2+8], %d8;
  ret;
}
)";

} // namespace tilec::runtime
