// Elements at index tiles, parts of arrays, atomics.
// RUN: %tile-run %s | %FileCheck %s

// 9: outside and masked-off lanes read the padding; an index of -1 is outside.
// CHECK-LABEL: kernel gather
// CHECK-NEXT: {{\[}}0, 1, -1, -1, 4, -1, -1, 7]
// CHECK-NEXT: {{\[}}7, 9, -2]
tile.kernel @gather(%x: !tile.ptr<i32> {tile.name = "x", tile.kind = "array", tile.dtype = "i32", tile.mode = "in",
    tile.data = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<10xi32>}) {
  %n = arith.constant 10 : i32
  %a = tile.array %x [%n : i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %i = arith.constant dense<[0, 1, 15, 3, 4, 20, 6, 7]> : tensor<8xi32>
  %m = arith.constant dense<[true, true, true, false, true, true, false, true]> : tensor<8xi1>
  %p = arith.constant dense<-1> : tensor<8xi32>
  %g = tile.gather %a [%i : tensor<8xi32>] mask %m : tensor<8xi1> padding %p site 0 : !tile.array<1 x i32>, tensor<8xi32> -> tensor<8xi32>
  tile.print ["", ""] ["i32"] (%g : tensor<8xi32>)
  // i64 indices; the array of two axes is the same memory, its first row fixed by at: element 7 of the row of 8.
  %two = arith.constant 2 : i32
  %five = arith.constant 5 : i32
  %rows = tile.array %x [%two, %five : i32, i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<2 x i32>
  %one = arith.constant 1 : i32
  %row = tile.at %rows [%one : i32] : !tile.array<2 x i32> -> !tile.array<1 x i32>
  %j = arith.constant dense<[2, 4]> : tensor<2xi64>
  %q = arith.constant dense<[-3, -3]> : tensor<2xi32>
  %h = tile.gather %row [%j : tensor<2xi64>] padding %q site 0 : !tile.array<1 x i32>, tensor<2xi32> -> tensor<2xi32>
  %first = arith.constant dense<0> : tensor<1xi32>
  %gone = tile.at %rows [%two : i32] : !tile.array<2 x i32> -> !tile.array<1 x i32>
  %z = arith.constant dense<-2> : tensor<1xi32>
  %o = tile.gather %gone [%first : tensor<1xi32>] padding %z site 0 : !tile.array<1 x i32>, tensor<1xi32> -> tensor<1xi32>
  %os = tile.reshape %o : tensor<1xi32> -> i32
  %z0 = arith.constant 0 : i32
  %h0 = tile.extract %h [%z0] : tensor<2xi32> -> tensor<1xi32>
  %h1 = tile.extract %h [%one] : tensor<2xi32> -> tensor<1xi32>
  %s0 = tile.reshape %h0 : tensor<1xi32> -> i32
  %s1 = tile.reshape %h1 : tensor<1xi32> -> i32
  tile.print ["[", ", ", ", ", "]"] ["i32", "i32", "i32"] (%s0, %s1, %os : i32, i32, i32)
  tile.return
}

// 8: five of the eight lanes hit the array.
// CHECK-LABEL: kernel scatter
// CHECK-NEXT: y = {{\[}}10, 11, 12, 13, 14, 105, 106, 107]
tile.kernel @scatter(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<[100, 101, 102, 103, 104, 105, 106, 107]> : tensor<8xi32>}) {
  %five = arith.constant 5 : i32
  %a = tile.array %y [%five : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %i = tile.arange 0 : i32 step 1 : i32 : tensor<8xi32>
  %v = tile.arange 10 : i32 step 1 : i32 : tensor<8xi32>
  tile.scatter %v, %a [%i : tensor<8xi32>] site 0 : tensor<8xi32>, !tile.array<1 x i32>
  tile.return
}

// Lanes of one scatter that disagree on an element race; those that agree do not. So do blocks.
// CHECK-LABEL: kernel duplicates
// CHECK-NEXT: y = {{\[}}1, 0, 7, 7, 0, 0, 0, 0]
// CHECK-NEXT: race: {{.*}}:[[@LINE+7]]:3: lanes of one scatter store different values to element 0 of 'y', block (0, 0, 0)
tile.kernel @duplicates(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<0> : tensor<8xi32>}) {
  %n = arith.constant 8 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %i = arith.constant dense<[0, 2, 2, 0]> : tensor<4xi32>
  %v = arith.constant dense<[5, 7, 7, 1]> : tensor<4xi32>
  tile.scatter %v, %a [%i : tensor<4xi32>] site 0 : tensor<4xi32>, !tile.array<1 x i32>
  %i3 = arith.constant dense<[3, 3]> : tensor<2xi32>
  %v3 = arith.constant dense<7> : tensor<2xi32>
  tile.scatter %v3, %a [%i3 : tensor<2xi32>] site 0 : tensor<2xi32>, !tile.array<1 x i32>
  tile.return
}

// CHECK-LABEL: kernel blocks_race
// CHECK-NEXT: y = {{\[}}3]
// CHECK-NEXT: race: {{.*}}another block store different values to element 0 of 'y'
tile.kernel @blocks_race(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<0> : tensor<1xi32>}) attributes {tile.grid = array<i64: 4>} {
  %n = arith.constant 1 : i32
  %b = tile.block_id 0 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %z = arith.constant 0 : i32
  tile.scatter %b, %a [%z : i32] site 0 : i32, !tile.array<1 x i32>
  tile.return
}

// Every second element of [2, 7) of an array: 2, 4, 6. A start behind the stop leaves nothing.
// CHECK-LABEL: kernel slice
// CHECK-NEXT: 3: {{\[}}2, 4, 6, 0]
// CHECK-NEXT: 0: {{\[}}0, 0, 0, 0]
// CHECK-NEXT: 3: {{\[}}7, 8, 9, 0]
tile.kernel @slice(%x: !tile.ptr<i32> {tile.name = "x", tile.kind = "array", tile.dtype = "i32", tile.mode = "in",
    tile.data = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<10xi32>}) {
  %n = arith.constant 10 : i32
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c7 = arith.constant 7 : i32
  %far = arith.constant 1000 : i32
  %a = tile.array %x [%n : i32] {root = "x", dtype = "i32", writable = false} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %s = tile.slice %a, 0 from %c2 to %c7 step %c2 : !tile.array<1 x i32>, i32, i32, i32 -> !tile.array<1 x i32>
  %v = tile.view %s step [4] axes [0] padding zero : !tile.array<1 x i32> -> !tile.view<[4], i32>
  %t = tile.load %v [%z : i32] site 0 : !tile.view<[4], i32> -> tensor<4xi32>
  %e = tile.extent %s, 0 : !tile.array<1 x i32> -> i32
  tile.print ["", ": ", ""] ["i32", "i32"] (%e, %t : i32, tensor<4xi32>)
  %s2 = tile.slice %a, 0 from %c7 to %c2 step %c1 : !tile.array<1 x i32>, i32, i32, i32 -> !tile.array<1 x i32>
  %v2 = tile.view %s2 step [4] axes [0] padding zero : !tile.array<1 x i32> -> !tile.view<[4], i32>
  %t2 = tile.load %v2 [%z : i32] site 0 : !tile.view<[4], i32> -> tensor<4xi32>
  %e2 = tile.extent %s2, 0 : !tile.array<1 x i32> -> i32
  tile.print ["", ": ", ""] ["i32", "i32"] (%e2, %t2 : i32, tensor<4xi32>)
  %s3 = tile.slice %a, 0 from %c7 to %far step %c1 : !tile.array<1 x i32>, i32, i32, i32 -> !tile.array<1 x i32>
  %v3 = tile.view %s3 step [4] axes [0] padding zero : !tile.array<1 x i32> -> !tile.view<[4], i32>
  %t3 = tile.load %v3 [%z : i32] site 0 : !tile.view<[4], i32> -> tensor<4xi32>
  %e3 = tile.extent %s3, 0 : !tile.array<1 x i32> -> i32
  tile.print ["", ": ", ""] ["i32", "i32"] (%e3, %t3 : i32, tensor<4xi32>)
  tile.return
}

// 18: cas gives what was there and writes where that is the expected value.
// CHECK-LABEL: kernel cas
// CHECK-NEXT: {{\[}}0, 1, 0, 1, 0]
// CHECK-NEXT: y = {{\[}}42, 1, 42, 1]
tile.kernel @cas(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<[0, 1, 0, 1]> : tensor<4xi32>}) {
  %n = arith.constant 4 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %i = tile.arange 0 : i32 step 1 : i32 : tensor<4xi32>
  %e = arith.constant dense<0> : tensor<4xi32>
  %d = arith.constant dense<42> : tensor<4xi32>
  %old = tile.atomic cas %a [%i : tensor<4xi32>] expected %e : tensor<4xi32> value %d site 0 : !tile.array<1 x i32>, tensor<4xi32> -> tensor<4xi32>
  // Outside: nothing happens and the expected value comes back.
  %e0 = arith.constant 0 : i32
  %d0 = arith.constant 9 : i32
  %out = tile.atomic cas %a [%n : i32] expected %e0 : i32 value %d0 site 0 : !tile.array<1 x i32>, i32 -> i32
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %p0 = tile.extract %old [%z] : tensor<4xi32> -> tensor<1xi32>
  %p1 = tile.extract %old [%c1] : tensor<4xi32> -> tensor<1xi32>
  %p2 = tile.extract %old [%c2] : tensor<4xi32> -> tensor<1xi32>
  %p3 = tile.extract %old [%c3] : tensor<4xi32> -> tensor<1xi32>
  %q0 = tile.reshape %p0 : tensor<1xi32> -> i32
  %q1 = tile.reshape %p1 : tensor<1xi32> -> i32
  %q2 = tile.reshape %p2 : tensor<1xi32> -> i32
  %q3 = tile.reshape %p3 : tensor<1xi32> -> i32
  tile.print ["[", ", ", ", ", ", ", ", ", "]"] ["i32", "i32", "i32", "i32", "i32"] (%q0, %q1, %q2, %q3, %out : i32, i32, i32, i32, i32)
  tile.return
}

// A18: extremes and sums in the element's own type; neighbours stay as they are.
// CHECK-LABEL: kernel extremes
// CHECK-NEXT: f = {{\[}}42.0, 42.0, 3.0]
// CHECK-NEXT: h = {{\[}}1024.0, 7.0, 0.0, -0.0]
// CHECK-NEXT: u = {{\[}}2147483648, 1, 5]
tile.kernel @extremes(
    %f: !tile.ptr<bf16> {tile.name = "f", tile.kind = "array", tile.dtype = "bf16", tile.mode = "inout", tile.data = dense<[-10000.0, 10000.0, 3.0]> : tensor<3xbf16>},
    %h: !tile.ptr<f16> {tile.name = "h", tile.kind = "array", tile.dtype = "f16", tile.mode = "inout", tile.data = dense<[0.0, 7.0, -0.0, 0.0]> : tensor<4xf16>},
    %u: !tile.ptr<i32> {tile.name = "u", tile.kind = "array", tile.dtype = "u32", tile.mode = "inout", tile.data = dense<[1, 0x80000000, 5]> : tensor<3xi32>})
    attributes {tile.grid = array<i64: 1024>} {
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %fa = tile.array %f [%c3 : i32] {root = "f", dtype = "bf16", writable = true} : !tile.ptr<bf16> -> !tile.array<1 x bf16>
  %ha = tile.array %h [%c4 : i32] {root = "h", dtype = "f16", writable = true} : !tile.ptr<f16> -> !tile.array<1 x f16>
  %ua = tile.array %u [%c3 : i32] {root = "u", dtype = "u32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %f42 = arith.constant 42.0 : bf16
  %0 = tile.atomic max %fa [%z : i32] value %f42 site 0 : !tile.array<1 x bf16>, bf16 -> bf16
  %1 = tile.atomic min %fa [%c1 : i32] value %f42 site 0 : !tile.array<1 x bf16>, bf16 -> bf16
  %big = arith.constant 0x80000000 : i32
  %2 = tile.atomic max %ua [%z : i32] value %big site 0 unsigned : !tile.array<1 x i32>, i32 -> i32
  %3 = tile.atomic min %ua [%c1 : i32] value %c1 site 0 unsigned : !tile.array<1 x i32>, i32 -> i32
  // Half-masked: lane 1 is off, lanes 2 and 3 meet the other zero.
  %ones = arith.constant dense<[1.0, 1.0]> : tensor<2xf16>
  %i = arith.constant dense<[0, 1]> : tensor<2xi32>
  %m = arith.constant dense<[true, false]> : tensor<2xi1>
  %4 = tile.atomic add %ha [%i : tensor<2xi32>] mask %m : tensor<2xi1> value %ones site 0 : !tile.array<1 x f16>, tensor<2xf16> -> tensor<2xf16>
  %pz = arith.constant 0.0 : f16
  %nz = arith.constant -0.0 : f16
  %5 = tile.atomic max %ha [%c2 : i32] value %pz site 0 : !tile.array<1 x f16>, f16 -> f16
  %6 = tile.atomic min %ha [%c3 : i32] value %nz site 0 : !tile.array<1 x f16>, f16 -> f16
  tile.return
}

// 17: 1024 blocks take a lock, add to plain data under it, and give it back: no race, whatever the number of workers.
// CHECK-LABEL: kernel locked
// CHECK-NEXT: lock = {{\[}}0]
// CHECK-NEXT: y = {{\[}}1027.14
// CHECK-NOT: race
tile.kernel @locked(
    %lock: !tile.ptr<i32> {tile.name = "lock", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout", tile.data = dense<0> : tensor<1xi32>},
    %y: !tile.ptr<f32> {tile.name = "y", tile.kind = "array", tile.dtype = "f32", tile.mode = "inout", tile.data = dense<3.14> : tensor<1xf32>})
    attributes {tile.grid = array<i64: 1024>} {
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = tile.array %lock [%c1 : i32] {root = "lock", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %a = tile.array %y [%c1 : i32] {root = "y", dtype = "f32", writable = true} : !tile.ptr<f32> -> !tile.array<1 x f32>
  %v = tile.view %a step [1] axes [0] padding none : !tile.array<1 x f32> -> !tile.view<[1], f32>
  scf.while : () -> () {
    %old = tile.atomic cas %l [%z : i32] expected %z : i32 value %c1 site 0 {order = 2 : i32} : !tile.array<1 x i32>, i32 -> i32
    %taken = arith.cmpi ne, %old, %z : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %t = tile.load %v [%z : i32] site 0 : !tile.view<[1], f32> -> tensor<1xf32>
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %s = arith.addf %t, %one : tensor<1xf32>
  tile.store %s, %v [%z : i32] site 0 : tensor<1xf32>, !tile.view<[1], f32>
  %r = tile.atomic xchg %l [%z : i32] value %z site 0 {order = 3 : i32} : !tile.array<1 x i32>, i32 -> i32
  tile.return
}

// The same without an order: the lock excludes, but nothing says that a block sees what the one before stored.
// CHECK-LABEL: kernel unordered
// CHECK: race: {{.*}}store different values to element 0 of 'y'
tile.kernel @unordered(
    %lock: !tile.ptr<i32> {tile.name = "lock", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout", tile.data = dense<0> : tensor<1xi32>},
    %y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout", tile.data = dense<0> : tensor<1xi32>})
    attributes {tile.grid = array<i64: 8>} {
  %z = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = tile.array %lock [%c1 : i32] {root = "lock", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %a = tile.array %y [%c1 : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  scf.while : () -> () {
    %old = tile.atomic cas %l [%z : i32] expected %z : i32 value %c1 site 0 {order = 1 : i32} : !tile.array<1 x i32>, i32 -> i32
    %taken = arith.cmpi ne, %old, %z : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %t = tile.gather %a [%z : i32] padding %z site 0 : !tile.array<1 x i32>, i32 -> i32
  %s = arith.addi %t, %c1 : i32
  tile.scatter %s, %a [%z : i32] site 0 : i32, !tile.array<1 x i32>
  %r = tile.atomic xchg %l [%z : i32] value %z site 0 {order = 1 : i32} : !tile.array<1 x i32>, i32 -> i32
  tile.return
}

// Atomics of many blocks do not race; a plain store among them does.
// CHECK-LABEL: kernel adds
// CHECK-NEXT: y = {{\[}}0, 28, 28, 28]
// CHECK-NOT: race
tile.kernel @adds(%y: !tile.ptr<i64> {tile.name = "y", tile.kind = "array", tile.dtype = "i64", tile.mode = "inout",
    tile.data = dense<0> : tensor<4xi64>}) attributes {tile.grid = array<i64: 8>} {
  %n = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i64", writable = true} : !tile.ptr<i64> -> !tile.array<1 x i64>
  %s = tile.slice %a, 0 from %c1 to %n step %c1 : !tile.array<1 x i64>, i32, i32, i32 -> !tile.array<1 x i64>
  %v = tile.view %s step [4] axes [0] padding none : !tile.array<1 x i64> -> !tile.view<[4], i64>
  %b = tile.block_id 0 : i64
  %x = tile.splat %b : i64 -> tensor<4xi64>
  %z = arith.constant 0 : i32
  tile.view_atomic add %x, %v [%z : i32] site 0 : tensor<4xi64>, !tile.view<[4], i64>
  tile.return
}

// CHECK-LABEL: kernel plain_among_atomics
// CHECK: race: {{.*}}store different values to element 0 of 'y'
tile.kernel @plain_among_atomics(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<0> : tensor<1xi32>}) attributes {tile.grid = array<i64: 2>} {
  %n = arith.constant 1 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %b = tile.block_id 0 : i32
  %z = arith.constant 0 : i32
  %first = arith.cmpi eq, %b, %z : i32
  %seven = arith.constant 7 : i32
  scf.if %first {
    tile.scatter %seven, %a [%z : i32] site 0 : i32, !tile.array<1 x i32>
  } else {
    %r = tile.atomic add %a [%z : i32] value %n site 0 {order = 1 : i32} : !tile.array<1 x i32>, i32 -> i32
  }
  tile.return
}

// Scratch memory holds nothing until something is stored; zeroed scratch memory holds zeros, and what is undefined goes
// with the values.
// CHECK-LABEL: kernel scratch
// CHECK-NEXT: {{\[}}?, 5, 5, ?]
// CHECK-NEXT: {{\[}}0, 0]
// CHECK: y = {{\[}}{{.*}}, 5, 5, {{.*}}]
// CHECK: uninitialised: {{.*}}: nothing is stored to 's' before this reads it, and reaches element 0 of 'y' and 1 more
tile.kernel @scratch(
    %s: !tile.ptr<i32> {tile.name = "s", tile.kind = "array", tile.dtype = "i32", tile.mode = "scratch", tile.data = dense<99> : tensor<4xi32>},
    %z: !tile.ptr<i32> {tile.name = "z", tile.kind = "array", tile.dtype = "i32", tile.mode = "scratch", tile.zeroed, tile.data = dense<99> : tensor<2xi32>},
    %y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "out", tile.data = dense<0> : tensor<4xi32>}) {
  %n = arith.constant 4 : i32
  %c2 = arith.constant 2 : i32
  %c0 = arith.constant 0 : i32
  %sa = tile.array %s [%n : i32] {root = "s", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %za = tile.array %z [%c2 : i32] {root = "z", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %ya = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %i = arith.constant dense<[1, 2]> : tensor<2xi32>
  %five = arith.constant dense<5> : tensor<2xi32>
  tile.scatter %five, %sa [%i : tensor<2xi32>] site 0 : tensor<2xi32>, !tile.array<1 x i32>
  %sv = tile.view %sa step [4] axes [0] padding zero : !tile.array<1 x i32> -> !tile.view<[4], i32>
  %t = tile.load %sv [%c0 : i32] site 0 : !tile.view<[4], i32> -> tensor<4xi32>
  tile.print ["", ""] ["i32"] (%t : tensor<4xi32>)
  %j = arith.constant dense<[0, 1]> : tensor<2xi32>
  %pad = arith.constant dense<-1> : tensor<2xi32>
  %g = tile.gather %za [%j : tensor<2xi32>] padding %pad site 0 : !tile.array<1 x i32>, tensor<2xi32> -> tensor<2xi32>
  tile.print ["", ""] ["i32"] (%g : tensor<2xi32>)
  %yv = tile.view %ya step [4] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[4], i32>
  tile.store %t, %yv [%c0 : i32] site 0 : tensor<4xi32>, !tile.view<[4], i32>
  tile.return
}

// A promise of indices inside, broken; an undefined index that decides where a scatter stores.
// CHECK-LABEL: kernel broken_promises
// CHECK: out-of-bounds: {{.*}}check_bounds = false promises indices inside 'y', but 1 lie outside
// CHECK: division-by-zero: {{.*}}decides what runs or where it stores
tile.kernel @broken_promises(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout",
    tile.data = dense<0> : tensor<4xi32>}) {
  %n = arith.constant 4 : i32
  %z = arith.constant 0 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %g = tile.gather %a [%n : i32] padding %z site 0 in_bounds : !tile.array<1 x i32>, i32 -> i32
  %q = arith.divsi %n, %z : i32
  tile.scatter %n, %a [%q : i32] site 0 : i32, !tile.array<1 x i32>
  tile.return
}
