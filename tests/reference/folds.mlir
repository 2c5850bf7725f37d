// Reductions, positions of extremes, running sums, and folds by a function of the program.
// RUN: %tile-run %s | %FileCheck %s
// RUN: %tile-run %s --widen | %FileCheck %s

// A03: rows of 2.0, of 2 … 17, of -inf, of -7.5.
// CHECK-LABEL: kernel identities
// CHECK-NEXT: {{\[}}2.0, 2.0, -inf, -7.5]
// CHECK-NEXT: {{\[}}2.0, 17.0, -inf, -7.5]
// CHECK-NEXT: 2147483647 -2147483648
tile.kernel @identities() {
  %r0 = arith.constant dense<2.0> : tensor<1x16xf32>
  %r1a = tile.arange 2.0 : f32 step 1.0 : f32 : tensor<16xf32>
  %r1 = tile.reshape %r1a : tensor<16xf32> -> tensor<1x16xf32>
  %r2 = arith.constant dense<0xFF800000> : tensor<1x16xf32>
  %r3 = arith.constant dense<-7.5> : tensor<1x16xf32>
  %a = tile.cat %r0, %r1 axis 0 : tensor<1x16xf32>, tensor<1x16xf32> -> tensor<2x16xf32>
  %b = tile.cat %r2, %r3 axis 0 : tensor<1x16xf32>, tensor<1x16xf32> -> tensor<2x16xf32>
  %x = tile.cat %a, %b axis 0 : tensor<2x16xf32>, tensor<2x16xf32> -> tensor<4x16xf32>
  %lo = tile.reduce min %x axes [1] : tensor<4x16xf32> -> tensor<4xf32>
  %hi = tile.reduce max %x axes [1] : tensor<4x16xf32> -> tensor<4xf32>
  tile.print ["", ""] ["f32"] (%lo : tensor<4xf32>)
  tile.print ["", ""] ["f32"] (%hi : tensor<4xf32>)
  %big = arith.constant dense<2147483647> : tensor<16xi32>
  %small = arith.constant dense<-2147483648> : tensor<16xi32>
  %m = tile.reduce min %big axes [0] : tensor<16xi32> -> i32
  %n = tile.reduce max %small axes [0] : tensor<16xi32> -> i32
  tile.print ["", " ", ""] ["i32", "i32"] (%m, %n : i32, i32)
  tile.return
}

// 10, the rows as listed there; argmin by the same order. 0x7FC00000 is a NaN.
// CHECK-LABEL: kernel extremes
// CHECK-NEXT: {{\[}}9.0, inf, 8.0, 5.0, nan,
// CHECK-NEXT: {{\[}}5, 1, 5, 0, 0,
// CHECK-NEXT: {{\[}}5, 2, 0, 3, 0,
// CHECK-NEXT: {{\[}}0.0, -2.0, 0.5, -inf, nan,
// CHECK-NEXT: {{\[}}1, 5, 7, 6, 0,
// CHECK-NEXT: 2 1 u8 0
tile.kernel @extremes() {
  %x = arith.constant dense<[
    [3.0, 0.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0],
    [3.0, 0x7F800000, 0x7FC00000, 1.5, 5.0, -2.0, 2.0, 6.0],
    [0x7FC00000, 0x7FC00000, 7.0, 1.0, 0x7FC00000, 8.0, 0x7FC00000, 0.5],
    [5.0, -3.0, 2.0, 0x7FC00000, 4.0, 0.0, 0xFF800000, 1.0],
    [0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<8x8xf32>
  %hi = tile.reduce max %x axes [1] : tensor<8x8xf32> -> tensor<8xf32>
  tile.print ["", ""] ["f32"] (%hi : tensor<8xf32>)
  %am = tile.arg_extreme %x axis 1 max : tensor<8x8xf32> -> tensor<8xi32>
  tile.print ["", ""] ["i32"] (%am : tensor<8xi32>)
  %ap = tile.arg_extreme %x axis 1 max propagate_nan : tensor<8x8xf32> -> tensor<8xi32>
  tile.print ["", ""] ["i32"] (%ap : tensor<8xi32>)
  %lo = tile.reduce min %x axes [1] : tensor<8x8xf32> -> tensor<8xf32>
  tile.print ["", ""] ["f32"] (%lo : tensor<8xf32>)
  %an = tile.arg_extreme %x axis 1 : tensor<8x8xf32> -> tensor<8xi32>
  tile.print ["", ""] ["i32"] (%an : tensor<8xi32>)
  // +0 is above -0; unsigned 200 is above 100.
  %z = arith.constant dense<[-0.0, -0.0, 0.0, 0.0]> : tensor<4xf16>
  %zm = tile.arg_extreme %z axis 0 max : tensor<4xf16> -> i32
  %y = arith.constant dense<[0.0, -0.0, -0.0, 0.0]> : tensor<4xf16>
  %yn = tile.arg_extreme %y axis 0 : tensor<4xf16> -> i32
  %u = arith.constant dense<[200, 100]> : tensor<2xi8>
  %um = tile.arg_extreme %u axis 0 max unsigned : tensor<2xi8> -> i32
  tile.print ["", " ", " u8 ", ""] ["i32", "i32", "i32"] (%zm, %yn, %um : i32, i32, i32)
  tile.return
}

// 11 and A12: sums over two axes; in 64 bits.
// CHECK-LABEL: kernel sums
// CHECK-NEXT: {{\[}}6, 22] {{\[}}6, 22]
// CHECK-NEXT: 274877907440
tile.kernel @sums() {
  %i = tile.arange 0 : i32 step 1 : i32 : tensor<8xi32>
  %x = tile.reshape %i : tensor<8xi32> -> tensor<2x2x2xi32>
  %a = tile.reduce sum %x axes [1, 2] : tensor<2x2x2xi32> -> tensor<2xi32>
  %b = tile.reduce sum %x axes [2, 1] : tensor<2x2x2xi32> -> tensor<2xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%a, %b : tensor<2xi32>, tensor<2xi32>)
  %y = tile.arange 8589934592 : i64 step 1 : i64 : tensor<32xi64>
  %s = tile.reduce sum %y axes [0] : tensor<32xi64> -> i64
  tile.print ["", ""] ["i64"] (%s : i64)
  tile.return
}

// 12, A06.
// CHECK-LABEL: kernel scans
// CHECK-NEXT: {{\[}}0, 1, 3, 6] {{\[}}6, 6, 5, 3] {{\[}}0, 0, 1, 3] {{\[}}6, 5, 3, 0]
// CHECK-NEXT: {{\[}}2.0, 4.0, 8.0, 16.0] {{\[}}1.0, 2.0, 4.0, 8.0]
// CHECK-NEXT: {{\[\[}}1, 1],
// CHECK-NEXT: {{^}} [2, 2],
// CHECK-NEXT: {{^}} [3, 3],
// CHECK-NEXT: {{^}} [4, 4]]
tile.kernel @scans() {
  %x = tile.arange 0 : i32 step 1 : i32 : tensor<4xi32>
  %a = tile.scan sum %x axis 0 : tensor<4xi32>
  %b = tile.scan sum %x axis 0 reverse : tensor<4xi32>
  %c = tile.scan sum %x axis 0 exclusive : tensor<4xi32>
  %d = tile.scan sum %x axis 0 reverse exclusive : tensor<4xi32>
  tile.print ["", " ", " ", " ", ""] ["i32", "i32", "i32", "i32"] (%a, %b, %c, %d : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  %twos = arith.constant dense<2.0> : tensor<4xf32>
  %p = tile.scan prod %twos axis 0 : tensor<4xf32>
  %q = tile.scan prod %twos axis 0 exclusive : tensor<4xf32>
  tile.print ["", " ", ""] ["f32", "f32"] (%p, %q : tensor<4xf32>, tensor<4xf32>)
  %ones = arith.constant dense<1> : tensor<4x2xi64>
  %s = tile.scan sum %ones axis 0 : tensor<4x2xi64>
  tile.print ["", ""] ["i64"] (%s : tensor<4x2xi64>)
  tile.return
}

// Composition of affine maps x -> a·x + b, associative and not commutative: applied in order, first element first. For
// (2, 1) (3, 0) (1, 5) (2, 2): 3(2x + 1), then + 5, then ·2 + 2: 12x + 18.
// CHECK-LABEL: kernel maps
// CHECK-NEXT: 12x + 18
// CHECK-NEXT: {{\[}}2, 6, 6, 12] {{\[}}1, 3, 8, 18]
// CHECK-NEXT: {{\[}}12, 6, 2, 2] {{\[}}43, 21, 7, 2]
// CHECK-NEXT: {{\[}}1, 2, 6, 6] {{\[}}0, 1, 3, 8]
tile.kernel @maps() {
  %a = arith.constant dense<[2, 3, 1, 2]> : tensor<4xi32>
  %b = arith.constant dense<[1, 0, 5, 2]> : tensor<4xi32>
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %r:2 = tile.reduce_fn %a, %b identity %c1, %c0 axes [0] {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %pa = arith.muli %la, %ra : i32
    %t = arith.muli %ra, %lb : i32
    %pb = arith.addi %t, %rb : i32
    tile.yield %pa, %pb : i32, i32
  } : tensor<4xi32>, tensor<4xi32> identity i32, i32 -> i32, i32
  tile.print ["", "x + ", ""] ["i32", "i32"] (%r#0, %r#1 : i32, i32)
  %s:2 = tile.scan_fn %a, %b identity %c1, %c0 axis 0 {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %pa = arith.muli %la, %ra : i32
    %t = arith.muli %ra, %lb : i32
    %pb = arith.addi %t, %rb : i32
    tile.yield %pa, %pb : i32, i32
  } : tensor<4xi32>, tensor<4xi32> identity i32, i32 -> tensor<4xi32>, tensor<4xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%s#0, %s#1 : tensor<4xi32>, tensor<4xi32>)
  %v:2 = tile.scan_fn %a, %b identity %c1, %c0 axis 0 reverse {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %pa = arith.muli %la, %ra : i32
    %t = arith.muli %ra, %lb : i32
    %pb = arith.addi %t, %rb : i32
    tile.yield %pa, %pb : i32, i32
  } : tensor<4xi32>, tensor<4xi32> identity i32, i32 -> tensor<4xi32>, tensor<4xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%v#0, %v#1 : tensor<4xi32>, tensor<4xi32>)
  %e:2 = tile.scan_fn %a, %b identity %c1, %c0 axis 0 exclusive {
  ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
    %pa = arith.muli %la, %ra : i32
    %t = arith.muli %ra, %lb : i32
    %pb = arith.addi %t, %rb : i32
    tile.yield %pa, %pb : i32, i32
  } : tensor<4xi32>, tensor<4xi32> identity i32, i32 -> tensor<4xi32>, tensor<4xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%e#0, %e#1 : tensor<4xi32>, tensor<4xi32>)
  tile.return
}

// The greatest value with its position, by an `if` in the function and a scalar from outside; along either axis, and
// over both in row-major order. A division by zero in the arm that is not taken is none.
// CHECK-LABEL: kernel with_if
// CHECK-NEXT: {{\[}}9, 8] {{\[}}2, 0]
// CHECK-NEXT: {{\[}}8, 5, 9, 7] {{\[}}1, 1, 0, 1]
// CHECK-NEXT: 90
// CHECK-NOT: division
tile.kernel @with_if() {
  %x = arith.constant dense<[[1, 5, 9, 2], [8, 5, 3, 7]]> : tensor<2x4xi32>
  %lowest = arith.constant -100 : i32
  %none = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %c10 = arith.constant 10 : i32
  %j4 = tile.arange 0 : i32 step 1 : i32 : tensor<4xi32>
  %j1 = tile.reshape %j4 : tensor<4xi32> -> tensor<1x4xi32>
  %j = tile.broadcast %j1 : tensor<1x4xi32> -> tensor<2x4xi32>
  %r:2 = tile.reduce_fn %x, %j identity %lowest, %none axes [1] {
  ^bb0(%lv: i32, %lj: i32, %rv: i32, %rj: i32):
    %less = arith.cmpi slt, %lv, %rv : i32
    %o:2 = scf.if %less -> (i32, i32) {
      scf.yield %rv, %rj : i32, i32
    } else {
      scf.yield %lv, %lj : i32, i32
    }
    tile.yield %o#0, %o#1 : i32, i32
  } : tensor<2x4xi32>, tensor<2x4xi32> identity i32, i32 -> tensor<2xi32>, tensor<2xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%r#0, %r#1 : tensor<2xi32>, tensor<2xi32>)
  %i2 = tile.arange 0 : i32 step 1 : i32 : tensor<2xi32>
  %i1 = tile.reshape %i2 : tensor<2xi32> -> tensor<2x1xi32>
  %i = tile.broadcast %i1 : tensor<2x1xi32> -> tensor<2x4xi32>
  %s:2 = tile.reduce_fn %x, %i identity %lowest, %none axes [0] {
  ^bb0(%lv: i32, %li: i32, %rv: i32, %ri: i32):
    %less = arith.cmpi slt, %lv, %rv : i32
    %v = arith.select %less, %rv, %lv : i32
    // The later row wins a tie.
    %p = scf.if %less -> (i32) {
      scf.yield %ri : i32
    } else {
      %equal = arith.cmpi eq, %lv, %rv : i32
      %q = scf.if %equal -> (i32) {
        %m = arith.maxsi %li, %ri : i32
        scf.yield %m : i32
      } else {
        scf.yield %li : i32
      }
      scf.yield %q : i32
    }
    tile.yield %v, %p : i32, i32
  } : tensor<2x4xi32>, tensor<2x4xi32> identity i32, i32 -> tensor<4xi32>, tensor<4xi32>
  tile.print ["", " ", ""] ["i32", "i32"] (%s#0, %s#1 : tensor<4xi32>, tensor<4xi32>)
  %z = tile.reduce_fn %x identity %lowest axes [0, 1] {
  ^bb0(%l: i32, %r0: i32):
    %zero = arith.cmpi eq, %c0, %r0 : i32
    %o = scf.if %zero -> (i32) {
      %bad = arith.divsi %l, %c0 : i32
      scf.yield %bad : i32
    } else {
      %m = arith.maxsi %l, %r0 : i32
      scf.yield %m : i32
    }
    tile.yield %o : i32
  } : tensor<2x4xi32> identity i32 -> i32
  %ten = arith.muli %z, %c10 : i32
  tile.print ["", ""] ["i32"] (%ten : i32)
  tile.return
}

// A08: running sums over the lower half of the rows, in place, upwards; and over 4x5 elements of rows of 8.
// CHECK-LABEL: kernel sub_view
// CHECK-NEXT: x = {{\[\[}}0.0, 1.0, 2.0, 3.0, 4.0, 99.0, 99.0, 99.0],
// CHECK-NEXT: {{^}} [1.0, 1.0, 1.0, 1.0, 1.0, 99.0, 99.0, 99.0],
// CHECK-NEXT: {{^}} [5.0, 5.0, 5.0, 5.0, 4.0, 99.0, 99.0, 99.0],
// CHECK-NEXT: {{^}} [3.0, 3.0, 3.0, 3.0, 2.0, 99.0, 99.0, 99.0]]
tile.kernel @sub_view(%x: !tile.ptr<f32> {tile.name = "x", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout",
    tile.data = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 99.0, 99.0, 99.0], [1.0, 1.0, 1.0, 1.0, 1.0, 99.0, 99.0, 99.0],
                       [2.0, 2.0, 2.0, 2.0, 2.0, 99.0, 99.0, 99.0], [3.0, 3.0, 3.0, 3.0, 2.0, 99.0, 99.0, 99.0]]> : tensor<4x8xf32>}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %a = tile.array %x [%c4, %c5 : i32, i32] strides [%c8, %c1 : i32, i32] {root = "x", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<2 x f32>
  %s = tile.slice %a, 0 from %c2 to %c4 step %c1 : !tile.array<2 x f32>, i32, i32, i32 -> !tile.array<2 x f32>
  %v = tile.view %s step [2, 8] axes [0, 1] padding zero : !tile.array<2 x f32> -> !tile.view<[2, 8], f32>
  %t = tile.load %v [%c0, %c0 : i32, i32] site 0 : !tile.view<[2, 8], f32> -> tensor<2x8xf32>
  %r = tile.scan sum %t axis 0 reverse : tensor<2x8xf32>
  tile.store %r, %v [%c0, %c0 : i32, i32] site 0 : tensor<2x8xf32>, !tile.view<[2, 8], f32>
  tile.return
}
