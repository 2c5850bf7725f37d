// Large buffers that never live together share bytes; small ones do not, since sharing would cost a barrier.
// RUN: %tilec-opt %s --alloc | %FileCheck %s
// RUN: %not %tilec-opt %s --alloc=16384 2>&1 | %FileCheck %s --check-prefix=LIMIT
#row = #tile.layout<1, reg = [128, 256, 512, 1024, 2048], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#few = #tile.layout<1, reg = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
module {
  // CHECK-LABEL: @share
  // CHECK-SAME: tile.shared = 16416
  // LIMIT: error: kernel '{{.*}}' needs 16416 bytes of shared memory, and a block may have 16384
  tile.kernel @share() {
    %t = arith.constant dense<1.0> : tensor<4096xf32, #row>
    %s = arith.constant dense<1.0> : tensor<4xf32, #few>
    // CHECK: alloc_shared {offset = 0 : i64} : <[4096], f32>
    %a = tgpu.alloc_shared : !tgpu.shared<[4096], f32>
    tgpu.store_shared %t, %a : tensor<4096xf32, #row>, !tgpu.shared<[4096], f32>
    // CHECK: alloc_shared {offset = 16384 : i64} : <[4], f32>
    %b = tgpu.alloc_shared : !tgpu.shared<[4], f32>
    tgpu.store_shared %s, %b : tensor<4xf32, #few>, !tgpu.shared<[4], f32>
    // CHECK: alloc_shared {offset = 16400 : i64} : <[4], f32>
    %c = tgpu.alloc_shared : !tgpu.shared<[4], f32>
    tgpu.store_shared %s, %c : tensor<4xf32, #few>, !tgpu.shared<[4], f32>
    // CHECK: alloc_shared {offset = 0 : i64} : <[4096], f32>
    %d = tgpu.alloc_shared : !tgpu.shared<[4096], f32>
    tgpu.store_shared %t, %d : tensor<4096xf32, #row>, !tgpu.shared<[4096], f32>
    tile.return
  }
}
