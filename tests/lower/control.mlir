// Loops and branches become blocks; a step other than 1 compares what is left, since the sum may pass the largest i32.
// RUN: %tilec-opt %s --layout --tgpu --lower | %FileCheck %s
module {
  // CHECK-LABEL: llvm.func ptx_kernelcc @control(
  tile.kernel @control(%p: !tile.ptr<i32> {tile.name = "a", tile.kind = "array", tile.dtype = "i32", tile.mode = "inout"},
                       %n: i32 {tile.name = "N", tile.kind = "symbol", tile.dtype = "i32"}) {
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %a = tile.array %p [%n : i32] {root = "a", dtype = "i32", writable = true} : !tile.ptr<i32> -> !tile.array<1 x i32>
    %v = tile.view %a step [32] axes [0] padding zero : !tile.array<1 x i32> -> !tile.view<[32], i32>
    %init = arith.constant dense<0> : tensor<32xi32>
    // CHECK: %[[ENTER:.*]] = llvm.icmp "slt" %[[LOW:.*]], %[[HIGH:.*]] : i32
    // CHECK: llvm.cond_br %[[ENTER]], ^[[BODY:bb[0-9]+]](%[[LOW]], %{{.*}} : i32, i32), ^[[EXIT:bb[0-9]+]](%{{.*}} : i32)
    // CHECK: ^[[BODY]](%[[I:.*]]: i32, %[[ACC:.*]]: i32):
    // CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %{{.*}} overflow<nsw>
    // CHECK: %[[AGAIN:.*]] = llvm.icmp "slt" %[[NEXT]], %[[HIGH]]
    // CHECK: llvm.cond_br %[[AGAIN]], ^[[BODY]]({{.*}}), ^[[EXIT]]({{.*}}) {loop_annotation = #{{.*}}}
    %s = scf.for %i = %z to %n step %one iter_args(%acc = %init) -> (tensor<32xi32>) : i32 {
      %t = tile.load %v [%i : i32] site 0 : !tile.view<[32], i32> -> tensor<32xi32>
      %u = arith.addi %acc, %t : tensor<32xi32>
      scf.yield %u : tensor<32xi32>
    }
    // CHECK: %[[LEFT:.*]] = llvm.sub
    // CHECK: llvm.icmp "ugt" %[[LEFT]]
    %s2 = scf.for %i = %z to %n step %two iter_args(%acc = %s) -> (tensor<32xi32>) : i32 {
      %u = arith.muli %acc, %acc : tensor<32xi32>
      scf.yield %u : tensor<32xi32>
    }
    %c = arith.cmpi sgt, %n, %two : i32
    // CHECK: llvm.cond_br %{{[0-9]+}}, ^[[THEN:bb[0-9]+]], ^[[ELSE:bb[0-9]+]]{{$}}
    // CHECK: ^[[THEN]]:
    // CHECK: llvm.br ^[[MERGE:bb[0-9]+]](%{{.*}} : i32)
    // CHECK: ^[[MERGE]](
    %r = scf.if %c -> (tensor<32xi32>) {
      // A divisor that is not constant is kept from 0 and from overflow.
      %q = arith.floordivsi %s2, %s : tensor<32xi32>
      scf.yield %q : tensor<32xi32>
    } else {
      scf.yield %s2 : tensor<32xi32>
    }
    tile.store %r, %v [%z : i32] site 1 : tensor<32xi32>, !tile.view<[32], i32>
    tile.return
  }
}
