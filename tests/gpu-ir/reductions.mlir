// A reduction is registers and lanes first, then one exchange of the warps' partial results that all threads finish.
// RUN: %tilec-opt %s --layout=4 --tgpu | %FileCheck %s
module {
  // CHECK-LABEL: @across_warps
  // CHECK-SAME: tile.shared = 16
  tile.kernel @across_warps(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                            %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %x = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [1024] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    %t = tile.load %v [%z : i32] site 0 : !tile.view<[1024], f32> -> tensor<1024xf32>
    // CHECK: %[[P:.*]] = tgpu.warp_reduce sum {{.*}} -> tensor<4xf32, #tile.layout<1, reg = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>>
    // CHECK: %[[B:.*]] = tgpu.alloc_shared {offset = 0 : i64} : <[4], f32>
    // CHECK: tgpu.store_shared %[[P]], %[[B]]
    // CHECK: tgpu.barrier
    // CHECK: %[[A:.*]] = tgpu.load_shared %[[B]] {{.*}} reg = [1, 2], lane = [0, 0, 0, 0, 0], warp = [0, 0]
    // CHECK: tgpu.warp_reduce sum %[[A]]
    %s = tile.reduce sum %t axes [0] : tensor<1024xf32> -> f32
    tile.return
  }

  // CHECK-LABEL: @within_warps
  // CHECK-SAME: tile.shared = 0
  // CHECK: tgpu.warp_reduce max {{.*}} -> tensor<4x1xf32
  // CHECK-NOT: tgpu.
  tile.kernel @within_warps(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                            %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %x = tile.array %a [%n, %n : i32, i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<2 x f32>
    %v = tile.view %x step [4, 256] axes [0, 1] padding zero : !tile.array<2 x f32> -> !tile.view<[4, 256], f32>
    %t = tile.load %v [%z, %z : i32, i32] site 0 : !tile.view<[4, 256], f32> -> tensor<4x256xf32>
    %m = tile.reduce max %t axes [1] : tensor<4x256xf32> -> tensor<4xf32>
    tile.return
  }
}
