// One body with vectors, one element by element; the entry chooses, and the last vector is never split.
// RUN: %tilec-opt %s --simplify --layout --tgpu --lower | %FileCheck %s
//
// CHECK-LABEL: llvm.func ptx_kernelcc @vector_add(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.readonly}
// CHECK-SAME: passthrough = [
// CHECK-SAME: ["nvvm.maxntid", "128"]
// CHECK: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
// CHECK: llvm.cond_br %{{.*}}, ^[[FAST:bb.*]], ^[[SLOW:bb.*]]
// CHECK: ^[[FAST]]:
// CHECK-COUNT-4: "@$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b"
// CHECK-COUNT-8: llvm.fadd
// CHECK-COUNT-2: has_side_effects asm_dialect = att "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b,~{memory}"
// CHECK: llvm.return
// CHECK: ^[[SLOW]]:
// CHECK-COUNT-16: "@$2 ld.global.nc.b32 $0, [$1];", "=r,l,b"
// CHECK-COUNT-8: "@$2 st.global.b32 [$0], $1;"
module {
  tile.kernel @vector_add(
      %a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
      %b: !tile.ptr<f32> {tile.name = "b", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
      %c: !tile.ptr<f32> {tile.name = "c", tile.kind = "array", tile.dtype = "f32", tile.mode = "out"},
      %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %i = tile.block_id 0 : i32
    %aa = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ba = tile.array %b [%n : i32] {root = "b", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ca = tile.array %c [%n : i32] {root = "c", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %av = tile.view %aa step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %bv = tile.view %ba step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %cv = tile.view %ca step [1024] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %x = tile.load %av [%i : i32] site 0 : !tile.view<[1024], f32> -> tensor<1024xf32>
    %y = tile.load %bv [%i : i32] site 1 : !tile.view<[1024], f32> -> tensor<1024xf32>
    %z = arith.addf %x, %y : tensor<1024xf32>
    tile.store %z, %cv [%i : i32] site 2 : tensor<1024xf32>, !tile.view<[1024], f32>
    tile.return
  }
}
