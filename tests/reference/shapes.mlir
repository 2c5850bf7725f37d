// Where elements go: reshape, broadcast, permute, cat, extract, insert; and what their bytes are.
// RUN: %tile-run %s | %FileCheck %s
// RUN: %tile-run %s --widen | %FileCheck %s

// A22: iota 2x4x8 permuted (2, 0, 1) is 32i + 8j + k at (k, i, j), and reshaping flattens the permuted order.
// CHECK-LABEL: kernel permutes
// CHECK-NEXT: {{\[\[}}0, 3],
// CHECK-NEXT: {{^}} [1, 4],
// CHECK-NEXT: {{^}} [2, 5],
// CHECK-NEXT: {{^}} [3, 6]]
// CHECK-NEXT: true
// CHECK-NEXT: {{\[}}0, 8, 16, 24, 32, 40, 48, 56, 1, 9
tile.kernel @permutes() {
  // Rows 0 1 2 3 and 3 4 5 6, transposed.
  %w = arith.constant dense<[[0, 1, 2, 3], [3, 4, 5, 6]]> : tensor<2x4xi16>
  %wt = tile.permute %w axes [1, 0] : tensor<2x4xi16> -> tensor<4x2xi16>
  tile.print ["", ""] ["i16"] (%wt : tensor<4x2xi16>)
  %i = tile.arange 0 : i32 step 1 : i32 : tensor<64xi32>
  %x = tile.reshape %i : tensor<64xi32> -> tensor<2x4x8xi32>
  %p = tile.permute %x axes [2, 0, 1] : tensor<2x4x8xi32> -> tensor<8x2x4xi32>
  // 32i + 8j + k, built from three aranges by broadcasting.
  %k8 = tile.arange 0 : i32 step 1 : i32 : tensor<8xi32>
  %i2 = tile.arange 0 : i32 step 32 : i32 : tensor<2xi32>
  %j4 = tile.arange 0 : i32 step 8 : i32 : tensor<4xi32>
  %kr = tile.reshape %k8 : tensor<8xi32> -> tensor<8x1x1xi32>
  %ir = tile.reshape %i2 : tensor<2xi32> -> tensor<1x2x1xi32>
  %jr = tile.reshape %j4 : tensor<4xi32> -> tensor<1x1x4xi32>
  %kb = tile.broadcast %kr : tensor<8x1x1xi32> -> tensor<8x2x4xi32>
  %ib = tile.broadcast %ir : tensor<1x2x1xi32> -> tensor<8x2x4xi32>
  %jb = tile.broadcast %jr : tensor<1x1x4xi32> -> tensor<8x2x4xi32>
  %s = arith.addi %kb, %ib : tensor<8x2x4xi32>
  %t = arith.addi %s, %jb : tensor<8x2x4xi32>
  %eq = arith.cmpi eq, %t, %p : tensor<8x2x4xi32>
  %all = tile.reduce all %eq axes [0, 1, 2] : tensor<8x2x4xi1> -> i1
  tile.print ["", ""] ["bool"] (%all : i1)
  %flat = tile.reshape %p : tensor<8x2x4xi32> -> tensor<64xi32>
  tile.print ["", ""] ["i32"] (%flat : tensor<64xi32>)
  tile.return
}

// 20: four 99s at index 1 of arange(8).
// CHECK-LABEL: kernel parts
// CHECK-NEXT: {{\[}}0, 1, 2, 3, 99, 99, 99, 99]
// CHECK-NEXT: {{\[\[}}0, 1, 8, 9],
// CHECK-NEXT: {{^}} [2, 3, 10, 11]]
// CHECK-NEXT: {{\[\[}}10, 11]]
// CHECK-NEXT: {{\[\[}}0, 1],
// CHECK-NEXT: {{^}} [2, 3],
// CHECK-NEXT: {{^}} [8, 9],
// CHECK-NEXT: {{^}} [10, 11]]
// CHECK-NEXT: out-of-bounds: {{.*}}:[[@LINE+17]]:10: extract of part 2 along axis 1, where the tile has 2, block (0, 0, 0)
tile.kernel @parts() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %x = tile.arange 0 : i32 step 1 : i32 : tensor<8xi32>
  %y = arith.constant dense<99> : tensor<4xi32>
  %in = tile.insert %y into %x [%c1] : tensor<4xi32>, tensor<8xi32> -> tensor<8xi32>
  tile.print ["", ""] ["i32"] (%in : tensor<8xi32>)
  %a = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %b = arith.constant dense<[[8, 9], [10, 11]]> : tensor<2x2xi32>
  %cat = tile.cat %a, %b axis 1 : tensor<2x2xi32>, tensor<2x2xi32> -> tensor<2x4xi32>
  tile.print ["", ""] ["i32"] (%cat : tensor<2x4xi32>)
  %part = tile.extract %cat [%c1, %c1] : tensor<2x4xi32> -> tensor<1x2xi32>
  tile.print ["", ""] ["i32"] (%part : tensor<1x2xi32>)
  %tall = tile.cat %a, %b axis 0 : tensor<2x2xi32>, tensor<2x2xi32> -> tensor<4x2xi32>
  tile.print ["", ""] ["i32"] (%tall : tensor<4x2xi32>)
  %off = tile.extract %cat [%c1, %c2] : tensor<2x4xi32> -> tensor<1x2xi32>
  tile.return
}

// 13 and 15: bits of 1.0, bytes of an integer; two fp4 in a byte, the even one low: 1.0 is code 2, -6.0 code 15.
// CHECK-LABEL: kernel bytes
// CHECK-NEXT: 1065353216 1.0
// CHECK-NEXT: {{\[}}1, 2, 3, 4]
// CHECK-NEXT: {{\[}}67305985]
// CHECK-NEXT: {{\[}}242, 0] {{\[}}1.0, -6.0, 0.0, 0.0]
// CHECK-NEXT: {{\[}}0, 60, 0, 192]
// CHECK-NEXT: 126 1.{{(9|875)$}}
tile.kernel @bytes() {
  %one = arith.constant 1.0 : f32
  %bits = tile.bitcast %one "f32" to "i32" : f32 -> i32
  %back = tile.bitcast %bits "i32" to "f32" : i32 -> f32
  tile.print ["", " ", ""] ["i32", "f32"] (%bits, %back : i32, f32)
  %w = arith.constant dense<[0x04030201]> : tensor<1xi32>
  %b = tile.pack %w : tensor<1xi32> -> tensor<4xi8>
  tile.print ["", ""] ["u8"] (%b : tensor<4xi8>)
  %u = tile.unpack %b : tensor<4xi8> -> tensor<1xi32>
  tile.print ["", ""] ["i32"] (%u : tensor<1xi32>)
  %f = arith.constant dense<[1.0, -6.0, 0.0, 0.0]> : tensor<4xf4E2M1FN>
  %fb = tile.pack %f : tensor<4xf4E2M1FN> -> tensor<2xi8>
  %fu = tile.unpack %fb : tensor<2xi8> -> tensor<4xf4E2M1FN>
  tile.print ["", " ", ""] ["u8", "f4e2m1"] (%fb, %fu : tensor<2xi8>, tensor<4xf4E2M1FN>)
  %h = arith.constant dense<[1.0, -2.0]> : tensor<2xf16>
  %hb = tile.pack %h : tensor<2xf16> -> tensor<4xi8>
  tile.print ["", ""] ["u8"] (%hb : tensor<4xi8>)
  // The largest e4m3, 448, is code 126; 63 is 0 0111 111: 1.875; the tile holds it as such while widening, and else prints as 1.9.
  %e = arith.constant 448.0 : f8E4M3FN
  %eb = tile.bitcast %e "f8e4m3" to "u8" : f8E4M3FN -> i8
  %c = arith.constant 0x3F : i8
  %g = tile.bitcast %c "u8" to "f8e4m3" : i8 -> f8E4M3FN
  tile.print ["", " ", ""] ["u8", "f8e4m3"] (%eb, %g : i8, f8E4M3FN)
  tile.return
}

// Elements of four bits move like any other, each through every kind of op that moves.
// CHECK-LABEL: kernel fours
// CHECK-NEXT: {{\[}}0.5, 6.0, -1.5, 3.0, 0.5, 6.0, -1.5, 3.0]
// CHECK-NEXT: {{\[\[}}0.5, -1.5],
// CHECK-NEXT: {{^}} [6.0, 3.0]]
// CHECK-NEXT: {{\[}}0.5, 2.0, -1.5, 2.0] {{\[}}2.0, 2.0]
// CHECK-NEXT: y = {{\[}}1.0, 2.0, 3.0, 4.0, 0.5, 6.0, -1.5, 3.0]
tile.kernel @fours(%y: !tile.ptr<f4E2M1FN> {tile.name = "y", tile.kind = "array", tile.dtype = "f4e2m1", tile.mode = "inout",
    tile.data = dense<[1.0, 2.0, 3.0, 4.0, 6.0, 6.0, 6.0, 6.0]> : tensor<8xf4E2M1FN>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %x = arith.constant dense<[0.5, 6.0, -1.5, 3.0]> : tensor<4xf4E2M1FN>
  %cat = tile.cat %x, %x axis 0 : tensor<4xf4E2M1FN>, tensor<4xf4E2M1FN> -> tensor<8xf4E2M1FN>
  tile.print ["", ""] ["f4e2m1"] (%cat : tensor<8xf4E2M1FN>)
  %sq = tile.reshape %x : tensor<4xf4E2M1FN> -> tensor<2x2xf4E2M1FN>
  %t = tile.permute %sq axes [1, 0] : tensor<2x2xf4E2M1FN> -> tensor<2x2xf4E2M1FN>
  tile.print ["", ""] ["f4e2m1"] (%t : tensor<2x2xf4E2M1FN>)
  %two = arith.constant 2.0 : f4E2M1FN
  %twos = tile.splat %two : f4E2M1FN -> tensor<4xf4E2M1FN>
  %m = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %s = arith.select %m, %x, %twos : tensor<4xi1>, tensor<4xf4E2M1FN>
  %p = tile.extract %twos [%c1] : tensor<4xf4E2M1FN> -> tensor<2xf4E2M1FN>
  tile.print ["", " ", ""] ["f4e2m1", "f4e2m1"] (%s, %p : tensor<4xf4E2M1FN>, tensor<2xf4E2M1FN>)
  // The second half of an array: an even offset.
  %a = tile.array %y [%c8 : i32] {root = "y", dtype = "f4e2m1", writable = true} : !tile.ptr<f4E2M1FN> -> !tile.array<1 x f4E2M1FN>
  %half = tile.slice %a, 0 from %c4 to %c8 step %c1 : !tile.array<1 x f4E2M1FN>, i32, i32, i32 -> !tile.array<1 x f4E2M1FN>
  %v = tile.view %half step [4] axes [0] padding none : !tile.array<1 x f4E2M1FN> -> !tile.view<[4], f4E2M1FN>
  tile.store %x, %v [%c0 : i32] site 0 : tensor<4xf4E2M1FN>, !tile.view<[4], f4E2M1FN>
  tile.return
}
