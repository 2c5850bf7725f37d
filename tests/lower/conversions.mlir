// One exact instruction where there is one, else a routine of the device library; integers saturate in a wider type.
// RUN: %tilec-opt %s --layout --tgpu --lower | %FileCheck %s
module {
  // CHECK-LABEL: @conversions
  tile.kernel @conversions(%x: f32 {tile.name = "x", tile.kind = "scalar", tile.dtype = "f32"},
                           %i: i32 {tile.name = "i", tile.kind = "scalar", tile.dtype = "u32"},
                           %b: i1 {tile.name = "b", tile.kind = "scalar", tile.dtype = "bool"},
                           %d: f64 {tile.name = "d", tile.kind = "scalar", tile.dtype = "f64"}) {
    // CHECK: llvm.fptrunc %{{.*}} : f32 to f16
    %0 = tile.convert %x "f32" to "f16" rn : f32 -> f16
    // CHECK: llvm.call @__tilec_cvt_f64_bf16(%{{.*}}) : (f64) -> i16
    // CHECK: llvm.bitcast %{{.*}} : i16 to bf16
    %1 = tile.convert %d "f64" to "bf16" rn : f64 -> bf16
    // CHECK: llvm.call @__tilec_cvt_f32_i32(%{{.*}}) : (f32) -> i32
    %2 = tile.convert %x "f32" to "i32" rn : f32 -> i32
    // CHECK: llvm.call @__tilec_cvt_f32_f8e4m3(%{{.*}}) : (f32) -> i8
    %3 = tile.convert %x "f32" to "f8e4m3" rn : f32 -> f8E4M3FN
    // CHECK: llvm.call @__tilec_cvt_f8e4m3_f32(%{{.*}}) : (i8) -> f32
    // CHECK: llvm.fptrunc %{{.*}} : f32 to bf16
    %4 = tile.convert %3 "f8e4m3" to "bf16" rn : f8E4M3FN -> bf16
    // CHECK: llvm.uitofp %{{.*}} : i32 to f32
    %5 = tile.convert %i "u32" to "f32" rn : i32 -> f32
    // CHECK: llvm.zext %{{.*}} : i32 to i33
    // CHECK: llvm.intr.smax
    // CHECK: llvm.intr.smin
    // CHECK: llvm.trunc %{{.*}} : i33 to i8
    %6 = tile.convert %i "u32" to "i8" rn saturate : i32 -> i8
    // CHECK: llvm.zext %{{.*}} : i1 to i64
    %7 = tile.convert %b "bool" to "i64" rn : i1 -> i64
    // CHECK: llvm.fcmp "une"
    %8 = tile.convert %x "f32" to "bool" rn : f32 -> i1
    tile.return
  }
}
