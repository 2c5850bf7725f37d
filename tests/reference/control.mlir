// Loops with a condition, what a kernel says of itself, and rounding where an op asks for one.
// RUN: %exits 0 %tile-run %s | %FileCheck %s

// 16: Fibonacci numbers until one exceeds 15.
// CHECK-LABEL: kernel fibonacci
// CHECK-NEXT: 21 after 8 trips
tile.kernel @fibonacci() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 15 : i32
  %r:3 = scf.while (%a = %c0, %b = %c1, %n = %c0) : (i32, i32, i32) -> (i32, i32, i32) {
    %go = arith.cmpi sle, %a, %limit : i32
    scf.condition(%go) %b, %a, %n : i32, i32, i32
  } do {
  ^bb0(%b: i32, %a: i32, %n: i32):
    %next = arith.addi %a, %b : i32
    %trips = arith.addi %n, %c1 : i32
    scf.yield %b, %next, %trips : i32, i32, i32
  }
  tile.print ["", " after ", " trips"] ["i32", "i32"] (%r#1, %r#2 : i32, i32)
  tile.return
}

// A26: a condition that is false at once, here one reduced from a tile.
// CHECK-LABEL: kernel no_trip
// CHECK-NEXT: 0, {{\[}}7, 7]
tile.kernel @no_trip() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sevens = arith.constant dense<7> : tensor<2xi32>
  %none = arith.constant dense<false> : tensor<4xi1>
  %r:2 = scf.while (%i = %c0, %t = %sevens) : (i32, tensor<2xi32>) -> (i32, tensor<2xi32>) {
    %any = tile.reduce any %none axes [0] : tensor<4xi1> -> i1
    scf.condition(%any) %i, %t : i32, tensor<2xi32>
  } do {
  ^bb0(%i: i32, %t: tensor<2xi32>):
    %next = arith.addi %i, %c1 : i32
    %more = arith.addi %t, %t : tensor<2xi32>
    scf.yield %next, %more : i32, tensor<2xi32>
  }
  tile.print ["", ", ", ""] ["i32", "i32"] (%r#0, %r#1 : i32, tensor<2xi32>)
  tile.return
}

// Blocks print in their order whoever runs them; an undefined element is a question mark.
// CHECK-LABEL: kernel prints
// CHECK-NEXT: block 0
// CHECK-NEXT: block 1
// CHECK-NEXT: block 2
// CHECK-NEXT: block 3
// CHECK-NEXT: x = {{\[\[}}0, 1],
// CHECK-NEXT: {{^}}     [2, 3]] u8 250 bool true
// CHECK-NEXT: f16 {{\[}}0.1, 1.0, 65500.0, inf] f32 {{\[}}1e-5, -0.0, nan, 3.4028235e38] f64 0.1
// CHECK-NEXT: {{\[}}0, 1, 2, …, 2045, 2046, 2047]
// CHECK-NEXT: {{\[}}5, ?]
tile.kernel @prints() attributes {tile.grid = array<i64: 4>} {
  %b = tile.block_id 0 : i32
  tile.print ["block ", ""] ["i32"] (%b : i32)
  %c3 = arith.constant 3 : i32
  %last = arith.cmpi eq, %b, %c3 : i32
  scf.if %last {
    %x = tile.arange 0 : i32 step 1 : i32 : tensor<4xi32>
    %xx = tile.reshape %x : tensor<4xi32> -> tensor<2x2xi32>
    %u = arith.constant -6 : i8
    tile.print ["x = ", " u8 ", " bool ", "\0A"] ["i32", "u8", "bool"] (%xx, %u, %last : tensor<2x2xi32>, i8, i1)
    %h = arith.constant dense<[0.1, 1.0, 65504.0, 0x7C00]> : tensor<4xf16>
    %f = arith.constant dense<[1.0e-5, -0.0, 0x7FC00000, 0x7F7FFFFF]> : tensor<4xf32>
    %d = arith.constant 0.1 : f64
    tile.print ["f16 ", " f32 ", " f64 ", ""] ["f16", "f32", "f64"] (%h, %f, %d : tensor<4xf16>, tensor<4xf32>, f64)
    %long = tile.arange 0 : i32 step 1 : i32 : tensor<2048xi32>
    tile.print ["", ""] ["i32"] (%long : tensor<2048xi32>)
    %ten = arith.constant dense<10> : tensor<2xi32>
    %by = tile.arange 2 : i32 step -2 : i32 : tensor<2xi32>
    %q = arith.divsi %ten, %by : tensor<2xi32>
    tile.print ["", ""] ["i32"] (%q : tensor<2xi32>)
  }
  tile.return
}

// An assertion ends the launch: the lowest block that fails is the one reported.
// CHECK-LABEL: kernel asserts
// CHECK-NEXT: y = {{\[}}5, 0, 0, 0, 0, 0, 0, 0]
// CHECK-NEXT: assertion: {{.*}}control.mlir:[[@LINE+14]]:3: assertion 'positions stay small' fails at element (1, 0) and 1 more, block (1, 0, 0)
tile.kernel @asserts(%y: !tile.ptr<i32> {tile.name = "y", tile.kind = "array", tile.dtype = "i32", tile.mode = "out",
    tile.data = dense<0> : tensor<8xi32>}) attributes {tile.grid = array<i64: 8>} {
  %b = tile.block_id 0 : i32
  %n = arith.constant 8 : i32
  %a = tile.array %y [%n : i32] {root = "y", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
  %v = tile.view %a step [1] axes [0] padding none : !tile.array<1 x i32> -> !tile.view<[1], i32>
  %x = tile.arange 0 : i32 step 1 : i32 : tensor<4xi32>
  %b2 = arith.addi %b, %b : i32
  %bs = tile.splat %b2 : i32 -> tensor<4xi32>
  %s = arith.addi %x, %bs : tensor<4xi32>
  %limit = arith.constant dense<4> : tensor<4xi32>
  %ok = arith.cmpi slt, %s, %limit : tensor<4xi32>
  %oks = tile.reshape %ok : tensor<4xi1> -> tensor<2x2xi1>
  tile.assert %oks "positions stay small" : tensor<2x2xi1>
  %five = arith.constant dense<5> : tensor<1xi32>
  tile.store %five, %v [%b : i32] site 0 : tensor<1xi32>, !tile.view<[1], i32>
  tile.return
}

// CHECK-LABEL: kernel promises
// CHECK-NEXT: {{\[}}16, 24, 32, 40]
// CHECK-NEXT: not-divisible: {{.*}}:[[@LINE+6]]:8: assume_divisible promises a multiple of 16, which the value is not at element (1) and 1 more
tile.kernel @promises() {
  tile.grid_dependency_wait
  %x = tile.arange 16 : i32 step 8 : i32 : tensor<4xi32>
  %minus = arith.constant -32 : i8
  %fine = tile.assume_divisible %minus, 32 : i8
  %y = tile.assume_divisible %x, 16 : tensor<4xi32>
  tile.print ["", ""] ["i32"] (%y : tensor<4xi32>)
  tile.grid_dependency_launch
  tile.return
}

// 1/3 lies between 0.33333331 and 0.33333334; 2049 needs one bit more than f16 has; 1 + 2^-60 that of f64.
// CHECK-LABEL: kernel rounds
// CHECK-NEXT: 0.33333334 0.3333333 0.3333333 0.33333334
// CHECK-NEXT: 2048.0 2050.0
// CHECK-NEXT: 65500.0 inf
// CHECK-NEXT: 1.0 1.0000000000000002
// CHECK-NEXT: 1.4142135 1.4142137
// CHECK-NEXT: -0.0 0.0
// CHECK-NEXT: 1.01
tile.kernel @rounds() {
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %n = arith.divf %one, %three : f32
  %z = arith.divf %one, %three {tile.rounding = 1 : i32} : f32
  %m = arith.divf %one, %three {tile.rounding = 2 : i32} : f32
  %p = arith.divf %one, %three {tile.rounding = 3 : i32} : f32
  tile.print ["", " ", " ", " ", ""] ["f32", "f32", "f32", "f32"] (%n, %z, %m, %p : f32, f32, f32, f32)
  %h0 = arith.constant 2048.0 : f16
  %h1 = arith.constant 1.0 : f16
  %hm = arith.addf %h0, %h1 {tile.rounding = 2 : i32} : f16
  %hp = arith.addf %h0, %h1 {tile.rounding = 3 : i32} : f16
  tile.print ["", " ", ""] ["f16", "f16"] (%hm, %hp : f16, f16)
  %big = arith.constant 60000.0 : f16
  %oz = arith.mulf %big, %big {tile.rounding = 1 : i32} : f16
  %op = arith.mulf %big, %big {tile.rounding = 3 : i32} : f16
  tile.print ["", " ", ""] ["f16", "f16"] (%oz, %op : f16, f16)
  %d1 = arith.constant 1.0 : f64
  %tiny = arith.constant 1.0e-18 : f64
  %dz = math.fma %d1, %d1, %tiny {tile.rounding = 1 : i32} : f64
  %dp = math.fma %d1, %d1, %tiny {tile.rounding = 3 : i32} : f64
  tile.print ["", " ", ""] ["f64", "f64"] (%dz, %dp : f64, f64)
  %two = arith.constant 2.0 : f32
  %sm = math.sqrt %two {tile.rounding = 2 : i32} : f32
  %sp = math.sqrt %two {tile.rounding = 3 : i32} : f32
  tile.print ["", " ", ""] ["f32", "f32"] (%sm, %sp : f32, f32)
  %zm = arith.subf %one, %one {tile.rounding = 2 : i32} : f32
  %zp = arith.subf %one, %one {tile.rounding = 3 : i32} : f32
  tile.print ["", " ", ""] ["f32", "f32"] (%zm, %zp : f32, f32)
  %b1 = arith.constant 1.0 : bf16
  %bt = arith.constant 1.0e-30 : bf16
  %bp = arith.addf %b1, %bt {tile.rounding = 3 : i32} : bf16
  tile.print ["", ""] ["bf16"] (%bp : bf16)
  tile.return
}
