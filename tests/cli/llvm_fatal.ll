; A failure inside LLVM ends the child that compiles, never the tool.
; RUN: %exits 101 %tilec build %s --arch sm_90 2>&1 | %FileCheck %s
; CHECK:      internal error: code generation of '{{.*}}llvm_fatal.ll' for sm_90a met a fatal error of LLVM
; CHECK:      | {{.*}}Cannot select
; CHECK:      help: reproduce with: tilec build {{.*}}llvm_fatal.ll --arch sm_90
; CHECK-NOT:  Stack dump
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.x86.sse42.crc32.32.32(i32, i32)

define ptx_kernel void @k(ptr addrspace(1) %p) {
  %x = load i32, ptr addrspace(1) %p
  %y = call i32 @llvm.x86.sse42.crc32.32.32(i32 %x, i32 %x)
  store i32 %y, ptr addrspace(1) %p
  ret void
}
