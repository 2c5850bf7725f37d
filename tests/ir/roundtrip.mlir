// Every op of the dialect in its own syntax; what is printed parses again and prints the same.
// RUN: %tilec-opt %s | %FileCheck %s
// RUN: %tilec-opt %s | %tilec-opt - | %FileCheck %s
module {
  // CHECK: tile.kernel @every_op(%arg0: !tile.ptr<f32> {tile.dtype = "f32", tile.kind = "array", tile.name = "x"}, %arg1: i32
  // CHECK-SAME: attributes {tile.hints = {occupancy = 2 : i64}, tile.options = {contract}
  tile.kernel @every_op(%x: !tile.ptr<f32> {tile.name = "x", tile.kind = "array", tile.dtype = "f32"},
                        %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"})
      attributes {tile.hints = {occupancy = 2 : i64}, tile.options = {contract}} {
    %c0 = arith.constant 0 : i32
    // CHECK: %[[B:.*]] = tile.block_id 0 : i32
    %b = tile.block_id 0 : i32
    // CHECK: tile.num_blocks 2 : i32
    %g = tile.num_blocks 2 : i32
    // CHECK: %[[A:.*]] = tile.array %arg0[%arg1, %arg1 : i32, i32] {dtype = "f32", root = "x", writable = true}
    %a = tile.array %x [%n, %n : i32, i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<2 x f32>
    // CHECK: tile.extent %[[A]], 1
    %e = tile.extent %a, 1 : !tile.array<2 x f32> -> i32
    // CHECK: tile.array %arg0[%arg1 : i32] strides[%{{.*}} : i32]
    %w = tile.array %x [%n : i32] strides [%e : i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    // CHECK: %[[V:.*]] = tile.view %[[A]] step [2, 4] axes [1, 0] padding neginf : <2 x f32> -> <[2, 4], f32>
    %v = tile.view %a step [2, 4] axes [1, 0] padding neginf : !tile.array<2 x f32> -> !tile.view<[2, 4], f32>
    %u = tile.view %w step [8] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[8], f32>
    // CHECK: tile.num_tiles %[[V]], 0
    %m = tile.num_tiles %v, 0 : !tile.view<[2, 4], f32> -> i32
    // CHECK: tile.load %[[V]][%[[B]], %{{.*}} : i32, i32] site 0 : <[2, 4], f32> -> tensor<2x4xf32>
    %l = tile.load %v [%b, %c0 : i32, i32] site 0 : !tile.view<[2, 4], f32> -> tensor<2x4xf32>
    // CHECK: tile.load {{.*}} site 1 in_bounds
    %k = tile.load %v [%b, %c0 : i32, i32] site 1 in_bounds : !tile.view<[2, 4], f32> -> tensor<2x4xf32>
    // CHECK: tile.reshape {{.*}} : tensor<2x4xf32> -> tensor<8xf32>
    %r = tile.reshape %l : tensor<2x4xf32> -> tensor<8xf32>
    // CHECK: tile.store {{.*}} site 2 in_bounds : tensor<8xf32>, <[8], f32>
    tile.store %r, %u [%g : i32] site 2 in_bounds : tensor<8xf32>, !tile.view<[8], f32>
    // CHECK: tile.arange 0 : i32 step 2 : i32 : tensor<8xi32>
    %i = tile.arange 0 : i32 step 2 : i32 : tensor<8xi32>
    // CHECK: tile.splat {{.*}} : i32 -> tensor<1x4xi32>
    %s = tile.splat %n : i32 -> tensor<1x4xi32>
    // CHECK: tile.broadcast {{.*}} : tensor<1x4xi32> -> tensor<8x4xi32>
    %o = tile.broadcast %s : tensor<1x4xi32> -> tensor<8x4xi32>
    // CHECK: tile.reduce max {{.*}} axes [0, 1] unsigned : tensor<8x4xi32> -> i32
    %q = tile.reduce max %o axes [0, 1] unsigned : tensor<8x4xi32> -> i32
    // CHECK: tile.reduce min {{.*}} axes [1] propagate_nan : tensor<2x4xf32> -> tensor<2xf32>
    %p = tile.reduce min %k axes [1] propagate_nan : tensor<2x4xf32> -> tensor<2xf32>
    // CHECK: tile.convert {{.*}} "f32" to "f8e4m3" rn : tensor<2xf32> -> tensor<2xf8E4M3FN>
    %h = tile.convert %p "f32" to "f8e4m3" rn : tensor<2xf32> -> tensor<2xf8E4M3FN>
    // CHECK: tile.convert {{.*}} "u32" to "i8" rz saturate : i32 -> i8
    %j = tile.convert %q "u32" to "i8" rz saturate : i32 -> i8
    // CHECK: tile.fmin {{.*}} propagate_nan : tensor<2x4xf32>
    %f = tile.fmin %l, %k propagate_nan : tensor<2x4xf32>
    // CHECK: tile.fmax {{.*}} : tensor<2x4xf32>
    %d = tile.fmax %l, %f : tensor<2x4xf32>
    // CHECK: tile.return
    tile.return
  }
}
