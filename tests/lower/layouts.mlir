// A conversion within warps is shuffles, one that only renames registers is nothing.
// RUN: %tilec-opt %s --tgpu --lower | %FileCheck %s
#four = #tile.layout<1, reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#two = #tile.layout<1, reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#swapped = #tile.layout<1, reg = [2, 1], lane = [4, 8, 16, 32, 64], warp = []>
module {
  // CHECK-LABEL: @shuffles
  // CHECK-COUNT-8: llvm.nvvm.shfl.sync.idx.i32
  // CHECK-NOT: shfl
  tile.kernel @shuffles() attributes {tile.threads = 32 : i64} {
    %t = tile.arange 0 : i32 step 1 : i32 : tensor<128xi32, #four>
    %u = tile.convert_layout %t : tensor<128xi32, #four> -> tensor<128xi32, #two>
    tile.return
  }
  // CHECK-LABEL: @renamed
  // CHECK-NOT: shfl
  tile.kernel @renamed() attributes {tile.threads = 32 : i64} {
    %t = tile.arange 0 : i32 step 1 : i32 : tensor<128xi32, #four>
    %u = tile.convert_layout %t : tensor<128xi32, #four> -> tensor<128xi32, #swapped>
    tile.return
  }
}
