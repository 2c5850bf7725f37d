// Rows in registers: padding waits in the result registers of the load, partial results cross by shuffles and one
// 16-byte read of shared memory.
// RUN: %tilec-opt %s --simplify --layout --tgpu --lower --ll | %FileCheck %s
//
// CHECK: @tilec_shared = external addrspace(3) global [0 x i8], align 1024
// CHECK-LABEL: define ptx_kernel void @softmax(
// CHECK-COUNT-4: asm "@$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3"{{.*}}, i32 -67044352, i32 -67044352, i32 -67044352, i32 -67044352)
// CHECK: call float @llvm.maximumnum.f32(
// CHECK-COUNT-5: call i32 @llvm.nvvm.shfl.sync.bfly.i32(
// CHECK: asm sideeffect "@$2 st.shared.b32 [$0], $1;", "l,r,b,~{memory}"
// CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
// CHECK: asm sideeffect "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK: fsub float
// CHECK: call float @__tilec_exp_f32(float
// CHECK: fdiv float
// CHECK: fptrunc float {{.*}} to half
// CHECK-COUNT-4: asm sideeffect "@$5 st.global.v4.b32
module {
  tile.kernel @softmax(
      %x: !tile.ptr<f16> {tile.name = "x", tile.kind = "array", tile.dtype = "f16", tile.mode = "in"},
      %y: !tile.ptr<f16> {tile.name = "y", tile.kind = "array", tile.dtype = "f16", tile.mode = "out"},
      %r: i32 {tile.name = "R", tile.kind = "symbol", tile.dtype = "i32"},
      %c: i32 {tile.name = "C", tile.kind = "symbol", tile.dtype = "i32"}) {
    %row = tile.block_id 0 : i32
    %zero = arith.constant 0 : i32
    %xa = tile.array %x [%r, %c : i32, i32] {root = "x", dtype = "f16", writable = false} : !tile.ptr<f16> -> !tile.array<2 x f16>
    %ya = tile.array %y [%r, %c : i32, i32] {root = "y", dtype = "f16", writable = true} : !tile.ptr<f16> -> !tile.array<2 x f16>
    %xv = tile.view %xa step [1, 4096] axes [0, 1] padding neginf : !tile.array<2 x f16> -> !tile.view<[1, 4096], f16>
    %yv = tile.view %ya step [1, 4096] axes [0, 1] padding none : !tile.array<2 x f16> -> !tile.view<[1, 4096], f16>
    %v16 = tile.load %xv [%row, %zero : i32, i32] site 0 : !tile.view<[1, 4096], f16> -> tensor<1x4096xf16>
    %v = tile.convert %v16 "f16" to "f32" rn : tensor<1x4096xf16> -> tensor<1x4096xf32>
    %m0 = tile.reduce max %v axes [1] : tensor<1x4096xf32> -> tensor<1xf32>
    %m1 = tile.reshape %m0 : tensor<1xf32> -> tensor<1x1xf32>
    %m = tile.broadcast %m1 : tensor<1x1xf32> -> tensor<1x4096xf32>
    %d = arith.subf %v, %m : tensor<1x4096xf32>
    %e = math.exp %d : tensor<1x4096xf32>
    %s0 = tile.reduce sum %e axes [1] : tensor<1x4096xf32> -> tensor<1xf32>
    %s1 = tile.reshape %s0 : tensor<1xf32> -> tensor<1x1xf32>
    %s = tile.broadcast %s1 : tensor<1x1xf32> -> tensor<1x4096xf32>
    %q = arith.divf %e, %s : tensor<1x4096xf32>
    %q16 = tile.convert %q "f32" to "f16" rn : tensor<1x4096xf32> -> tensor<1x4096xf16>
    tile.store %q16, %yv [%row, %zero : i32, i32] site 1 : tensor<1x4096xf16>, !tile.view<[1, 4096], f16>
    tile.return
  }
}
