// RUN: %not %tilec-opt %s --layout=1 2>&1 | %FileCheck %s
module {
  // CHECK: error: a tile of this kernel needs 2048 elements in each of 32 threads, and the most is 1024: take a smaller tile
  tile.kernel @large(%a: !tile.ptr<f32> {tile.name = "a", tile.kind = "array", tile.dtype = "f32", tile.mode = "in"},
                     %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %x = tile.array %a [%n : i32] {root = "a", dtype = "f32", writable = false} : !tile.ptr<f32> -> !tile.array<1 x f32>
    %v = tile.view %x step [65536] axes [0] padding zero : !tile.array<1 x f32> -> !tile.view<[65536], f32>
    %t = tile.load %v [%z : i32] site 0 : !tile.view<[65536], f32> -> tensor<65536xf32>
    tile.return
  }
}
