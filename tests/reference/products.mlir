// Matrix products: every combination of types, exact where the language says so.
// RUN: %tile-run %s | %FileCheck %s

// 19: ones 2x4 times 4x2; with an accumulator of 10; u8 times i8.
// CHECK-LABEL: kernel small
// CHECK-NEXT: {{\[\[}}4.0, 4.0],
// CHECK-NEXT: {{^}} [4.0, 4.0]]
// CHECK-NEXT: {{\[\[}}14.0, 14.0],
// CHECK-NEXT: {{^}} [14.0, 14.0]]
// CHECK-NEXT: {{\[\[}}-1020, -1020],
// CHECK-NEXT: {{^}} [-1020, -1020]]
tile.kernel @small() {
  %a = arith.constant dense<1.0> : tensor<2x4xf16>
  %b = arith.constant dense<1.0> : tensor<4x2xf16>
  %z = arith.constant dense<0.0> : tensor<2x2xf16>
  %ten = arith.constant dense<10.0> : tensor<2x2xf32>
  %p = tile.mma %a, %b, %z : tensor<2x4xf16>, tensor<4x2xf16>, tensor<2x2xf16> -> tensor<2x2xf16>
  tile.print ["", ""] ["f16"] (%p : tensor<2x2xf16>)
  %q = tile.mma %a, %b, %ten : tensor<2x4xf16>, tensor<4x2xf16>, tensor<2x2xf32> -> tensor<2x2xf32>
  tile.print ["", ""] ["f32"] (%q : tensor<2x2xf32>)
  // 255 as u8 is -1 as i8.
  %u = arith.constant dense<255> : tensor<2x4xi8>
  %i = arith.constant dense<-1> : tensor<4x2xi8>
  %zi = arith.constant dense<0> : tensor<2x2xi32>
  %r = tile.mma %u, %i, %zi a_unsigned : tensor<2x4xi8>, tensor<4x2xi8>, tensor<2x2xi32> -> tensor<2x2xi32>
  tile.print ["", ""] ["i32"] (%r : tensor<2x2xi32>)
  tile.return
}

// A20: [[-44, -20], [-126, 6]] times [[24, -75], [127, -101]]; then 127s with K = 4608 in steps of 64, one entry 126.
// CHECK-LABEL: kernel integers
// CHECK-NEXT: {{\[\[}}-3596, 5320],
// CHECK-NEXT: {{^}} [-2262, 8844]]
// CHECK-NEXT: {{\[\[}}74322305, 74322305, 74322305, 74322305],
// CHECK-NEXT: {{^}} [74322432, 74322432, 74322432, 74322432],
tile.kernel @integers() {
  %a = arith.constant dense<[[-44, -20], [-126, 6]]> : tensor<2x2xi8>
  %b = arith.constant dense<[[24, -75], [127, -101]]> : tensor<2x2xi8>
  %z = arith.constant dense<0> : tensor<2x2xi32>
  %p = tile.mma %a, %b, %z : tensor<2x2xi8>, tensor<2x2xi8>, tensor<2x2xi32> -> tensor<2x2xi32>
  tile.print ["", ""] ["i32"] (%p : tensor<2x2xi32>)
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c72 = arith.constant 72 : i32
  %x = arith.constant dense<127> : tensor<4x64xi8>
  %y = arith.constant dense<127> : tensor<64x4xi8>
  %one = arith.constant dense<126> : tensor<1x1xi8>
  %xc = tile.insert %one into %x [%c0, %c0] : tensor<1x1xi8>, tensor<4x64xi8> -> tensor<4x64xi8>
  %zz = arith.constant dense<0> : tensor<4x4xi32>
  %s = scf.for %k = %c0 to %c72 step %c1 iter_args(%acc = %zz) -> (tensor<4x4xi32>) : i32 {
    %first = arith.cmpi eq, %k, %c0 : i32
    %xs = arith.select %first, %xc, %x : tensor<4x64xi8>
    %n = tile.mma %xs, %y, %acc : tensor<4x64xi8>, tensor<64x4xi8>, tensor<4x4xi32> -> tensor<4x4xi32>
    scf.yield %n : tensor<4x4xi32>
  }
  tile.print ["", ""] ["i32"] (%s : tensor<4x4xi32>)
  tile.return
}

// A21: bf16 ones 64x128 times ones 128x64, cast, times ones 64x128.
// CHECK-LABEL: kernel chained
// CHECK-NEXT: true true
tile.kernel @chained() {
  %a = arith.constant dense<1.0> : tensor<64x128xbf16>
  %b = arith.constant dense<1.0> : tensor<128x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %zz = arith.constant dense<0.0> : tensor<64x128xf32>
  %p = tile.mma %a, %b, %z : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %c = tile.convert %p "f32" to "bf16" rn : tensor<64x64xf32> -> tensor<64x64xbf16>
  %q = tile.mma %c, %a, %zz : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  %w = arith.constant dense<128.0> : tensor<64x64xf32>
  %ww = arith.constant dense<8192.0> : tensor<64x128xf32>
  %e = arith.cmpf oeq, %p, %w : tensor<64x64xf32>
  %ee = arith.cmpf oeq, %q, %ww : tensor<64x128xf32>
  %all = tile.reduce all %e axes [0, 1] : tensor<64x64xi1> -> i1
  %aall = tile.reduce all %ee axes [0, 1] : tensor<64x128xi1> -> i1
  tile.print ["", " ", ""] ["bool", "bool"] (%all, %aall : i1, i1)
  tile.return
}

// Two products at once: [[1, 2]] [[5], [7]] = 19 and [[3, 4]] [[-1], [1]] = 1. Mixed fp8: 448 · 0.25 + 2 · 57344 =
// 114800. tf32 keeps 1 + 2^-10. f32 is full f32: (1 + 2^-23)^2 rounds to 1 + 2^-22. f64 is fused: the product of
// 1 + 2^-27 with itself less 1 + 2^-26 is 2^-54.
// CHECK-LABEL: kernel types
// CHECK-NEXT: {{\[\[\[}}19.0]],
// CHECK-NEXT: {{^}} {{\[\[}}1.0]]]
// CHECK-NEXT: {{\[\[}}114800.0]]
// CHECK-NEXT: {{\[\[}}1.0009766]]
// CHECK-NEXT: {{\[\[}}1.0000002]]
// CHECK-NEXT: {{\[\[}}5.551115123125783e-17]]
tile.kernel @types() {
  %a = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = arith.constant dense<[[[5.0], [7.0]], [[-1.0], [1.0]]]> : tensor<2x2x1xf32>
  %z = arith.constant dense<0.0> : tensor<2x1x1xf32>
  %p = tile.mma %a, %b, %z : tensor<2x1x2xf32>, tensor<2x2x1xf32>, tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  tile.print ["", ""] ["f32"] (%p : tensor<2x1x1xf32>)
  %e = arith.constant dense<[[448.0, 2.0]]> : tensor<1x2xf8E4M3FN>
  %g = arith.constant dense<[[0.25], [57344.0]]> : tensor<2x1xf8E5M2>
  %z1 = arith.constant dense<0.0> : tensor<1x1xf32>
  %q = tile.mma %e, %g, %z1 fast_acc : tensor<1x2xf8E4M3FN>, tensor<2x1xf8E5M2>, tensor<1x1xf32> -> tensor<1x1xf32>
  tile.print ["", ""] ["f32"] (%q : tensor<1x1xf32>)
  %ta = arith.constant dense<1.0009765625> : tensor<1x1xtf32>
  %tb = arith.constant dense<1.0> : tensor<1x1xtf32>
  %t = tile.mma %ta, %tb, %z1 : tensor<1x1xtf32>, tensor<1x1xtf32>, tensor<1x1xf32> -> tensor<1x1xf32>
  tile.print ["", ""] ["f32"] (%t : tensor<1x1xf32>)
  %f = arith.constant dense<1.00000011920928955078125> : tensor<1x1xf32>
  %ff = tile.mma %f, %f, %z1 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>
  tile.print ["", ""] ["f32"] (%ff : tensor<1x1xf32>)
  %d = arith.constant dense<1.000000007450580596923828125> : tensor<1x1xf64>
  %m = arith.constant dense<-1.00000001490116119384765625> : tensor<1x1xf64>
  %dd = tile.mma %d, %d, %m : tensor<1x1xf64>, tensor<1x1xf64>, tensor<1x1xf64> -> tensor<1x1xf64>
  tile.print ["", ""] ["f64"] (%dd : tensor<1x1xf64>)
  tile.return
}

// What is undefined spreads along its row and its column.
// CHECK-LABEL: kernel undefined
// CHECK-NEXT: {{\[\[}}2.0, ?],
// CHECK-NEXT: {{^}} [2.0, ?]]
tile.kernel @undefined(%x: !tile.ptr<f16> {tile.name = "x", tile.kind = "array", tile.dtype = "f16", tile.mode = "in",
    tile.data = dense<1.0> : tensor<2x1xf16>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = tile.array %x [%c2, %c1 : i32, i32] {root = "x", dtype = "f16", writable = false} : !tile.ptr<f16> -> !tile.array<2 x f16>
  %v = tile.view %a step [2, 2] axes [0, 1] padding none : !tile.array<2 x f16> -> !tile.view<[2, 2], f16>
  %b = tile.load %v [%c0, %c0 : i32, i32] site 0 : !tile.view<[2, 2], f16> -> tensor<2x2xf16>
  %one = arith.constant dense<1.0> : tensor<2x2xf16>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %p = tile.mma %one, %b, %z : tensor<2x2xf16>, tensor<2x2xf16>, tensor<2x2xf32> -> tensor<2x2xf32>
  tile.print ["", ""] ["f32"] (%p : tensor<2x2xf32>)
  tile.return
}
