// Reduced and broadcast tiles follow the layout of the large one; where one tile must serve two layouts, a conversion
// stands between.
// RUN: %tilec-opt %s --layout | %FileCheck %s
module {
  // CHECK-LABEL: @normalise
  // CHECK-NOT: convert_layout
  tile.kernel @normalise(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout"},
                         %b: !tile.ptr<f32> {tile.name = "b", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                         %r: i32 {tile.name = "R", tile.kind = "symbol", tile.dtype = "i32"},
                         %c: i32 {tile.name = "C", tile.kind = "symbol", tile.dtype = "i32"}) {
    %i = tile.block_id 0 : i32
    %z = arith.constant 0 : i32
    %x = tile.array %a [%r, %c : i32, i32] {root = "a", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<2 x f32>
    %y = tile.array %b [%c : i32] {root = "b", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [4, 256] axes [0, 1] padding zero : !tile.array<2 x f32> -> !tile.view<[4, 256], f32>
    %w = tile.view %y step [256] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[256], f32>
    // The reduced axis stays within a warp: warps spread over the rows.
    // CHECK: tile.load {{.*}} -> tensor<4x256xf32, #tile.layout<2, reg = [0, 1, 0, 2, 0, 128], lane = [0, 4, 0, 8, 0, 16, 0, 32, 0, 64], warp = [1, 0, 2, 0]>>
    %t = tile.load %v [%i, %z : i32, i32] site 0 : !tile.view<[4, 256], f32> -> tensor<4x256xf32>
    // CHECK: tile.reduce sum {{.*}} -> tensor<4xf32, #tile.layout<1, reg = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>>
    %s = tile.reduce sum %t axes [1] : tensor<4x256xf32> -> tensor<4xf32>
    %s1 = tile.reshape %s : tensor<4xf32> -> tensor<4x1xf32>
    %sb = tile.broadcast %s1 : tensor<4x1xf32> -> tensor<4x256xf32>
    // CHECK: tile.load {{.*}} -> tensor<256xf32, #tile.layout<1, reg = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = [0, 0]>>
    %b0 = tile.load %w [%z : i32] site 1 : !tile.view<[256], f32> -> tensor<256xf32>
    %b1 = tile.reshape %b0 : tensor<256xf32> -> tensor<1x256xf32>
    %bb = tile.broadcast %b1 : tensor<1x256xf32> -> tensor<4x256xf32>
    %q = arith.divf %t, %sb : tensor<4x256xf32>
    %o = arith.mulf %q, %bb : tensor<4x256xf32>
    tile.store %o, %v [%i, %z : i32, i32] site 2 : tensor<4x256xf32>, !tile.view<[4, 256], f32>
    tile.return
  }

  // CHECK-LABEL: @outer
  // CHECK-COUNT-1: tile.convert_layout
  // CHECK-NOT: tile.convert_layout
  tile.kernel @outer(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout"},
                     %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %x = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [64] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[64], f32>
    %t = tile.load %v [%z : i32] site 0 : !tile.view<[64], f32> -> tensor<64xf32>
    %c = tile.reshape %t : tensor<64xf32> -> tensor<64x1xf32>
    %r = tile.reshape %t : tensor<64xf32> -> tensor<1x64xf32>
    %cb = tile.broadcast %c : tensor<64x1xf32> -> tensor<64x64xf32>
    %rb = tile.broadcast %r : tensor<1x64xf32> -> tensor<64x64xf32>
    %o = arith.addf %cb, %rb : tensor<64x64xf32>
    tile.return
  }

  // What a loop carries keeps one layout from trip to trip.
  // CHECK-LABEL: @carried
  tile.kernel @carried(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout"},
                       %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [512] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[512], f32>
    %k = tile.num_tiles %v, 0 : !tile.view<[512], f32> -> i32
    // CHECK: arith.constant dense<0.000000e+00> : tensor<512xf32, #[[L:.*]]>
    %init = arith.constant dense<0.0> : tensor<512xf32>
    // CHECK: scf.for {{.*}} -> (tensor<512xf32, #[[L]]>)
    %sum = scf.for %i = %z to %k step %one iter_args(%acc = %init) -> (tensor<512xf32>) : i32 {
      %t = tile.load %v [%i : i32] site 0 : !tile.view<[512], f32> -> tensor<512xf32>
      // CHECK: arith.addf {{.*}} : tensor<512xf32, #[[L]]>
      %next = arith.addf %acc, %t : tensor<512xf32>
      scf.yield %next : tensor<512xf32>
    }
    tile.store %sum, %v [%z : i32] site 1 : tensor<512xf32>, !tile.view<[512], f32>
    tile.return
  }
}
