// Loads and stores get lanes along the axis of stride 1 and accesses of 16 bytes; warps follow the size of the tile.
// RUN: %tilec-opt %s --layout | %FileCheck %s
module {
  // CHECK-LABEL: @one_axis
  // CHECK-SAME: tile.threads = 128
  tile.kernel @one_axis(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                        %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %i = tile.block_id 0 : i32
    %x = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [1024] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[1024], f32>
    // CHECK: tile.load {{.*}}tile.nonnegative = array<i1: true>, tile.unit_axis = 0 : i64, tile.vector = 4
    // CHECK-SAME: reg = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]
    %t = tile.load %v [%i : i32] site 0 : !tile.view<[1024], f32> -> tensor<1024xf32>
    // A step that is no multiple of the vector leaves tiles that start between vectors.
    %w = tile.view %x step [34] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[64], f32>
    // CHECK: tile.load {{.*}}tile.vector = 2
    %u = tile.load %w [%i : i32] site 0 : !tile.view<[64], f32> -> tensor<64xf32>
    tile.return
  }

  // The permuted view's unit axis is axis 0: lanes run along it.
  // CHECK-LABEL: @permuted
  tile.kernel @permuted(%a: !tile.ptr<f16> {tile.name = "a", tile.kind = "array", tile.dtype = "f16", tile.mode = "in"},
                        %m: i32 {tile.name = "M", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %x = tile.array %a [%m, %m : i32, i32] {root = "a", dtype = "f16", writable = false} : !tile.ptr<f16> -> !tile.array<2 x f16>
    %v = tile.view %x step [64, 32] axes [1, 0] padding zero : !tile.array<2 x f16> -> !tile.view<[64, 32], f16>
    // CHECK: tile.load {{.*}}tile.unit_axis = 0 : i64, tile.vector = 8
    // CHECK-SAME: reg = [1, 0, 2, 0, 4, 0{{.*}}], lane = [8, 0, 16, 0, 32, 0, 0, 1, 0, 2]
    %t = tile.load %v [%z, %z : i32, i32] site 0 : !tile.view<[64, 32], f16> -> tensor<64x32xf16>
    tile.return
  }

  // CHECK-LABEL: @asked
  // CHECK-SAME: tile.threads = 256
  tile.kernel @asked() attributes {tile.hints = {num_worker_warps = 8 : i64}} {
    tile.return
  }
}
