// Towards zero: the nearest value, or its neighbour where that is larger than what was rounded.
// RUN: %tilec-opt %s --simplify --layout --tgpu --lower | %FileCheck %s
//
// CHECK: %[[NEAR:.*]] = llvm.fptrunc %[[X:.*]] : f32 to f16
// CHECK: %[[BACK:.*]] = llvm.fpext %[[NEAR]] : f16 to f32
// CHECK: llvm.fcmp "ogt"
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[NEAR]] : f16 to i16
// CHECK: llvm.add %[[BITS]], %{{.*}} : i16
// CHECK: llvm.select
module {
  tile.kernel @cut(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                   %b: !tile.ptr<f16> {tile.name = "b", tile.kind = "array", tile.dtype = "f16", tile.mode = "out"},
                   %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %i = tile.block_id 0 : i32
    %aa = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %ba = tile.array %b [%n : i32] {root = "b", dtype = "f16", writable = true} : !tile.ptr<f16> -> !tile.array<1 x f16>
    %av = tile.view %aa step [128] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[128], f32>
    %bv = tile.view %ba step [128] axes [0] padding none : !tile.array<1 x f16> -> !tile.view<[128], f16>
    %x = tile.load %av [%i : i32] site 0 : !tile.view<[128], f32> -> tensor<128xf32>
    %y = tile.convert %x "f32" to "f16" rz : tensor<128xf32> -> tensor<128xf16>
    tile.store %y, %bv [%i : i32] site 1 : tensor<128xf16>, !tile.view<[128], f16>
    tile.return
  }
}
