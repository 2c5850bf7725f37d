// Barriers stand where different threads touch the same bytes and one writes, around loops too, and nowhere else.
// RUN: %tilec-opt %s --barriers | %FileCheck %s
#row = #tile.layout<1, reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#turned = #tile.layout<1, reg = [], lane = [4, 8, 16, 32, 64], warp = [1, 2]>
module {
  // CHECK-LABEL: @straight
  tile.kernel @straight() {
    %t = arith.constant dense<1.0> : tensor<128xf32, #row>
    %a = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.shared<[128], f32>
    %b = tgpu.alloc_shared {offset = 512 : i64} : !tgpu.shared<[128], f32>
    %c = tgpu.alloc_shared {offset = 256 : i64} : !tgpu.shared<[128], f32>
    // CHECK: store_shared
    // CHECK-NEXT: store_shared
    tgpu.store_shared %t, %a : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
    tgpu.store_shared %t, %b : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
    // CHECK-NEXT: tgpu.barrier
    // CHECK-NEXT: load_shared
    // CHECK-NEXT: load_shared
    %x = tgpu.load_shared %a : !tgpu.shared<[128], f32> -> tensor<128xf32, #turned>
    %y = tgpu.load_shared %b : !tgpu.shared<[128], f32> -> tensor<128xf32, #turned>
    // `c` overlaps both.
    // CHECK-NEXT: tgpu.barrier
    // CHECK-NEXT: store_shared
    tgpu.store_shared %t, %c : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
    tile.return
  }

  // The load of one trip comes before the store of the next.
  // CHECK-LABEL: @loop
  tile.kernel @loop(%n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = arith.constant dense<1.0> : tensor<128xf32, #row>
    // CHECK: scf.for
    scf.for %i = %z to %n step %one : i32 {
      // CHECK-NEXT: alloc_shared
      // CHECK-NEXT: tgpu.barrier
      // CHECK-NEXT: store_shared
      // CHECK-NEXT: tgpu.barrier
      // CHECK-NEXT: load_shared
      %a = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.shared<[128], f32>
      tgpu.store_shared %t, %a : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
      %x = tgpu.load_shared %a : !tgpu.shared<[128], f32> -> tensor<128xf32, #turned>
    }
    tile.return
  }

  // Two buffers in turn need one barrier each: the other's barrier parts the trips.
  // CHECK-LABEL: @two_buffers
  tile.kernel @two_buffers(%n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = arith.constant dense<1.0> : tensor<128xf32, #row>
    // CHECK: scf.for
    // CHECK-COUNT-2: tgpu.barrier
    // CHECK-NOT: tgpu.barrier
    // CHECK: tile.return
    scf.for %i = %z to %n step %one : i32 {
      %a = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.shared<[128], f32>
      tgpu.store_shared %t, %a : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
      %x = tgpu.load_shared %a : !tgpu.shared<[128], f32> -> tensor<128xf32, #turned>
      %b = tgpu.alloc_shared {offset = 512 : i64} : !tgpu.shared<[128], f32>
      tgpu.store_shared %t, %b : tensor<128xf32, #row>, !tgpu.shared<[128], f32>
      %y = tgpu.load_shared %b : !tgpu.shared<[128], f32> -> tensor<128xf32, #turned>
    }
    tile.return
  }

  // Global memory: one view and one layout keep every element with its thread, two views do not.
  // CHECK-LABEL: @arrays
  tile.kernel @arrays(%p: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout"},
                      %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %a = tile.array %p [%n : i32] {root = "a", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %a step [128] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[128], f32>
    %w = tile.view %a step [64] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[128], f32>
    // CHECK: tile.load
    // CHECK-NEXT: tile.store
    // CHECK-NEXT: tgpu.barrier
    // CHECK-NEXT: tile.load
    %t = tile.load %v [%z : i32] site 0 : !tile.view<[128], f32> -> tensor<128xf32, #row>
    tile.store %t, %v [%z : i32] site 1 : tensor<128xf32, #row>, !tile.view<[128], f32>
    %u = tile.load %w [%z : i32] site 2 : !tile.view<[128], f32> -> tensor<128xf32, #row>
    tile.return
  }
}
