// In memory and in registers a tf32 is an f32, though MLIR counts 19 bits: a vector holds four, padding has 32 bits.
// RUN: %tilec-opt %s --simplify --layout --tgpu --lower | %FileCheck %s
//
// CHECK: llvm.mlir.constant(2139095040 : i32)
// CHECK: "@$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK-NOT: v8
module {
  tile.kernel @copy(%a: !tile.ptr<tf32> {tile.name = "a", tile.kind = "array", tile.dtype = "tf32", tile.mode = "in"},
                    %b: !tile.ptr<tf32> {tile.name = "b", tile.kind = "array", tile.dtype = "tf32", tile.mode = "out"},
                    %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %i = tile.block_id 0 : i32
    %aa = tile.array %a [%n : i32] {root = "a", dtype = "tf32", writable = false} : !tile.ptr<tf32> -> !tile.array<1 x tf32>
    %ba = tile.array %b [%n : i32] {root = "b", dtype = "tf32", writable = true} : !tile.ptr<tf32> -> !tile.array<1 x tf32>
    %av = tile.view %aa step [1024] axes [0] padding inf : !tile.array<1 x tf32> -> !tile.view<[1024], tf32>
    %bv = tile.view %ba step [1024] axes [0] padding none : !tile.array<1 x tf32> -> !tile.view<[1024], tf32>
    %x = tile.load %av [%i : i32] site 0 : !tile.view<[1024], tf32> -> tensor<1024xtf32>
    tile.store %x, %bv [%i : i32] site 1 : tensor<1024xtf32>, !tile.view<[1024], tf32>
    tile.return
  }
}
