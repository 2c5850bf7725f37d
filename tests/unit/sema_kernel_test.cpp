// LINK: compiler_sema compiler_syntax
// Errors and warnings of declarations: parameters, arrays, clauses, functions, values from the command line.
#include "tests/unit/sema_util.h"
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::sema;

namespace {

struct KernelCase {
  std::string text;
  std::vector<std::string> options, lines;
};

const std::vector<KernelCase> kernels = {
    // clang-format off
    {"kernel k(a: in f32[2 * N]) { }\n", {}, {"E0606 1:24 no array binds the symbol 'N'"}},
    {"kernel k(a: in f32[2 * N], n: in f32[N]) { }\n", {}, {}},
    {"kernel k<N: int>(a: in f32[N]) { }\n", {}, {"E0601 1:10 the parameter 'N' has no default and was given no value"}},
    {"kernel k<N: int = 4>(a: in f32[N]) { }\n", {"-DNN=4"}, {"E0602 - kernel 'k' has no parameter, extent or scalar 'NN'"}},
    {"kernel k<N: int = 4>(a: in f32[N]) { }\n", {"-DN=4.5"}, {"E0603 - the parameter 'N' is an integer, not 4.5"}},
    {"kernel k<T: dtype = f32 in {f16, f32}>(a: in T[N]) { }\n", {"-DT=f64"}, {"E0604 - f64 is outside the domain of 'T'"}},
    {"kernel k<TN: int = 128 in {128, 256}>(a: in f32[N]) { }\n", {"-DTN=512"}, {"W1002 - 512 is outside the domain of 'TN'"}},
    {"kernel k<TN: int = 128 in {128, 256}>(a: in f32[N])\nrequires TN <= 256\n{ }\n", {"-DTN=512"}, {"E0605 1:8 'requires TN <= 256' does not hold with TN = 512", "W1002 - 512 is outside the domain of 'TN'"}},
    {"kernel k<TN: int = 128>(a: in f32[N])\nrequires TN <= 64, N > 0\n{ }\n", {}, {"E0605 1:8 'requires TN <= 64' does not hold with TN = 128"}},
    {"kernel k(a: in f32[N])\nhints (occupancyy = 2)\n{ }\n", {}, {"E0607 2:8 there is no hint 'occupancyy'"}},
    {"kernel k(a: in f32[N])\nhints (latency = 2)\n{ }\n", {}, {"E0607 2:8 'latency' is a hint of single loads and stores"}},
    {"kernel k(a: in f32[N])\nhints (num_cta_in_cga = 3)\n{ }\n", {}, {"E0608 2:25 'num_cta_in_cga' cannot be 3"}},
    {"kernel k(a: in f32[N])\nhints (occupancy = 33)\n{ }\n", {}, {"E0608 2:20 'occupancy' cannot be 33"}},
    {"kernel k(a: in f32[N])\nhints (num_worker_warps = 6)\n{ }\n", {}, {"E0608 2:27 'num_worker_warps' cannot be 6"}},
    {"kernel k(a: in f32[N])\nhints sm_91 (occupancy = 2)\n{ }\n", {}, {"E0612 2:7 there is no architecture 'sm_91'"}},
    {"kernel k(a: in f32[N])\nhints (occupancy = 1, occupancy = 2)\n{ }\n", {}, {"E0204 2:23 the hint 'occupancy' is given twice"}},
    {"kernel k(a: in f32[N])\nhints (num_cta_in_cga = 2)\n{ }\n", {"-asm_80"}, {"E0608 2:8 'num_cta_in_cga' cannot be 2"}},
    {"kernel k(a: in f32[N])\nhints sm_90 (num_cta_in_cga = 2)\n{ }\n", {"-asm_80"}, {}},
    {"kernel k(a: in f32[N]) { }\n", {"-Hoccupancy=40"}, {"E0608 - 'occupancy' cannot be 40"}},
    {"kernel k(a: in f32[N]) { }\n", {"-Hoccupanc=4"}, {"E0607 - there is no hint 'occupanc'"}},
    {"kernel k(a: in f32[N]) { let x = a.tiled(4).load(0) }\n", {"-Ha.load.latency=4"}, {}},
    {"kernel k(a: in f32[N]) { let x = a.tiled(4).load(0) }\n", {"-Ha.load#2.latency=4"}, {"E0613 - kernel 'k' has no access site 'a.load#2'"}},
    {"kernel k(a: in f32[N]) { let x = a.tiled(4).load(0) }\n", {"-Ha.load.latenc=4"}, {"E0607 - 'a.load' has no hint 'latenc'"}},
    {"kernel k(a: in f32[N])\noptions (contrac = true)\n{ }\n", {}, {"E0609 2:10 there is no option 'contrac'"}},
    {"kernel k(a: in f32[N])\noptions (contract = 1)\n{ }\n", {}, {"E0504 2:21 the option 'contract' must be a bool, not an integer"}},
    {"kernel k(a: in f32[N])\ngrid (1, 2, 3, 4)\n{ }\n", {}, {"E0614 2:16 a grid has at most 3 axes, not 4"}},
    {"kernel k(a: in f32[N])\ngrid (1.5)\n{ }\n", {}, {"E0504 2:7 an axis of the grid must be an integer, not a float"}},
    {"kernel k(a: in f32[N])\ngrid (cdiv(N, TM))\n{ }\n", {}, {"E0201 2:15 there is no name 'TM' here"}},
    {"kernel k(a: in f32[N])\nrequires N\n{ }\n", {}, {"E0504 2:10 a condition of 'requires' must be a bool, not an integer"}},
    {"kernel k(a: view f32[4]) { }\n", {}, {"E0610 1:13 a kernel takes arrays, and views are made of them in its body"}},
    {"kernel k(a: f32[4]) { }\n", {}, {"E0610 1:13 'a' has extents but no mode"}},
    {"kernel k(a: in f32) { }\n", {}, {"E0610 1:13 the array 'a' has no extents"}},
    {"kernel k(a: in g32[N]) { }\n", {}, {"E0201 1:16 there is no dtype 'g32'"}},
    {"kernel k(a: in f32[N] strides (1, 2)) { }\n", {}, {"E0610 1:31 'a' has 1 extents and 2 strides"}},
    {"kernel k(a: in f32[N] align (3)) { }\n", {}, {"E0610 1:29 an alignment is a power of two in bytes, not 3"}},
    {"kernel k(a: in f32[N] alias (b)) { }\n", {}, {"E0610 1:30 'alias' names another array of the kernel"}},
    {"kernel k(a: in f32[N], a: out f32[N]) { }\n", {}, {"E0204 1:24 'a' is declared twice in this kernel"}},
    {"kernel k<T: int = U, U: int = 4>(a: in f32[N]) { }\n", {}, {"E0201 1:19 'U' is declared further on"}},
    {"kernel k<T: int = 4 in 1..=1000000>(a: in f32[N]) { }\n", {}, {"E0611 1:24 a domain of 1000000 values is too large"}},
    {"kernel k<T: int = 4 in {1.5}>(a: in f32[N]) { }\n", {}, {"E0504 1:25 a value of the domain must be an integer, not a float"}},
    {"kernel k<T: int = 4 in foo(1)>(a: in f32[N]) { }\n", {}, {"E0611 1:24 this is no domain"}},
    {"kernel k<T: int = exp(1.0)>(a: in f32[N]) { }\n", {}, {"E0503 1:19 'exp' is not possible here, where a launch computes the value"}},
    {"kernel k(a: in f32[N])\nlet q = num_sms()\n{ }\n", {}, {"E0503 2:9 'num_sms' may be used in 'grid' only"}},
    {"kernel k(a: in f32[N])\ntune (TMM in {1, 2})\n{ }\n", {}, {"E0201 2:7 'TMM' is neither a parameter nor a hint"}},
    {"const A = B\nconst B = A\nkernel k(a: in f32[N]) { let x = A }\n", {}, {"E0209 1:7 the constant 'A' is made of itself"}},
    {"const A = arange(4)\nkernel k(a: in f32[N]) { let x = A }\n", {}, {"E0501 1:11 the constant 'A' must be a compile-time value, but 'arange(4)' is known only at run time"}},
    {"kernel k(a: in f32[N]) { }\nkernel k(a: in f32[N]) { let x = 1 }\n", {}, {"E0204 2:8 the kernel 'k' is declared twice"}},
    {"kernel k(a: in f32[N]) { }\nkernel j(a: in f32[N]) { }\n", {}, {"E0210 1:1 this file has several kernels"}},
    {"kernel k(a: in f32[N]) { }\nkernel j(a: in f32[N]) { }\n", {"-kz"}, {"E0210 1:1 this file has no kernel 'z'"}},
    {"fn f(x) { f(x) }\nkernel k(a: in f32[N]) { f(1) }\n", {}, {"E0208 1:11 calls are nested 64 deep here, which is the limit"}},
    {"fn f(x, y) { x }\nkernel k(a: in f32[N]) { f(1)\nf(1, 2, 3)\nf(1, x = 2)\nf(1, z = 2) }\n", {}, {"E0308 2:26 'f' needs the argument 'y'", "E0308 3:9 'f' takes 2 arguments", "E0308 4:6 'x' is given twice", "E0308 5:6 'f' has no parameter 'z'"}},
    {"fn f(x: f32[M, 4]) { M }\nkernel k(a: in f32[N]) { let z = zeros<f32>(f(zeros<f32>(8, 4)))\nf(zeros<f32>(8, 2))\nf(1) }\n", {}, {"E0311 3:3 'x' has extent 4 here, not 2", "E0311 4:3 'x' is f32[M, 4] by its annotation, not f32"}},
    {"fn f(a: in T[M]) { a.tiled(4).load(M) }\nkernel k(a: in f32[N], b: out f32[N]) { let z = f(a)\nlet w = f(b) }\n", {}, {"E0311 3:11 'a' is in T[M] by its annotation, not array f32 of rank 1: 'b' is an 'out' array"}},
    {"fn f<K: int>(x) { zeros<f32>(K) + x }\nkernel k(a: in f32[N]) { let z = f<8>(1)\nlet y = f(2)\nlet q = f<N>(1) }\n", {}, {"E0308 3:9 'f' needs the compile-time argument 'K'", "E0501 4:11 the compile-time argument 'K' must be a compile-time value, but 'N' is known only at run time"}},
    {"fn g(x) { x + undefined_thing }\nkernel k(a: in f32[N]) { }\n", {}, {}},
    {"kernel k(a: in f32[N], b: in f32[M])\nlet rows = cdiv(N, 4)\nlet (p, q) = (N, M + 1)\ngrid (rows)\n{ let x = rows + p + q\nlet y = a.shape(0) }\n", {}, {}},
    {"kernel k(a: in f32[N], b: in f32[N / 2])\nlet rows = cdiv(N, 4)\ngrid (rows)\n{ let x = rows + N\nlet y = b.shape(0)\nlet z = zeros<f32>(N) }\n", {"-DN=4096"}, {"E0501 6:20 an extent of a tile must be a compile-time value, but 'N' is known only at run time"}},
    {"import \"std/math.tile\"\nkernel k(a: in f32[N]) { }\n", {}, {"E0211 1:8 the tool ships no 'std/math.tile'"}},
    {"import \"std/activation.tile\"\nkernel k(a: in f32[N]) { let x = gelu(a.tiled(4).load(0)) }\n", {}, {}},
    {"import \"std/activation.tile\"\nimport \"std/activation.tile\"\nfn gelu(x) { x }\nkernel k(a: in f32[N]) { }\n", {}, {"E0204 3:4 the function 'gelu' is declared twice"}},
    {"import \"nowhere/x.tile\"\nkernel k(a: in f32[N]) { }\n", {}, {"E0211 1:8 'nowhere/x.tile' cannot be imported: cannot read nowhere/x.tile: No such file or directory"}},
    {"kernel k(a: in f32[N])\nhints (occupancy = by_arch(sm_90 = 2, default = 1))\n{ }\n", {}, {}},
    {"kernel k<X: float = 1, B: bool = true>(a: in f32[N], s: f32, t: i32)\nrequires t > 0 && B, s > 0.0\n{ let q = s * 2 + X }\n", {}, {}},
    {"kernel k(s: scratch f32[N] zeroed, b: in f32[M] if B, n: (i32, f32)) { }\n", {}, {"E0606 1:25 no array binds the symbol 'N'", "E0201 1:52 there is no name 'B' here", "E0610 1:58 an argument of a kernel is an array or a scalar"}},
    {"kernel k<B: bool = true>(a: in f32[N], b: in f32[N] if B) { let x = b.tiled(4).load(0) }\n", {}, {"E0615 1:69 'b' exists only if B"}},
    {"kernel k<B: bool = false>(a: in f32[N], b: in f32[N] if B) { let x = b.dtype }\n", {}, {"E0615 1:70 'b' exists only if B"}},
    {"kernel k<B: bool = true, C: bool = true>(a: in f32[N], b: in f32[K] if B && C, c: in f32[N] if !B || C)\n{ static if B {\nstatic if (C) { let x = b.tiled(4).load(K) }\nlet y = b.rank }\nstatic if !(B && !C) { let z = c.rank } else { let q = b.rank }\nlet w = K }\n", {}, {"E0615 4:9 'b' exists only if B && C"}},
    {"kernel k<B: bool = false>(a: in f32[N], b: in f32[K] if B) { let w = K }\n", {}, {"E0606 1:70 with these parameters no array binds the symbol 'K'"}},
    {"kernel k(a: in f32[N], b: in f32[N] if N > 4, s: f32 if true) { }\n", {}, {"E0501 1:40 whether 'b' exists must be a compile-time value, but 'N' is known only at a launch", "E0610 1:57 's' is a scalar, and only arrays may be absent"}},
    {"kernel k(a: in f32[N] zeroed, s: scratch f32[N] strides (1)) { }\n", {}, {"E0610 1:23 'a' is no scratch array, and only those start as zeros", "E0610 1:57 a scratch array is row-major memory of its own, which nobody passes"}},
    {"kernel k<B: bool>(a: in f32[if B { N } else { 4 }], c: in f32[2 * N]) { }\n", {}, {"E0601 1:10 the parameter 'B' has no default and was given no value"}},
    {"kernel k<B: bool>(a: in f32[if B { N } else { 4 }], c: in f32[2 * N]) { }\n", {"-DB=false"}, {"E0606 1:8 with these parameters no array binds the symbol 'N'"}},
    {"kernel k<T: dtype>(a: in T[N]) { }\n", {"-DT=f32"}, {}},
    {"kernel k<T: dtype>(a: in T[N]) { }\n", {}, {"E0601 1:10 the parameter 'T' has no default and was given no value"}},
    {"kernel k<TN: int = 16 / (4 - 4)>(a: in f32[N]) { }\n", {}, {"E0316 1:20 '16 / 0' divides by zero"}},
    {"kernel k(a: in f32[N])\nhints (occupancy)\n{ }\n", {}, {"E0608 2:8 the hint 'occupancy' has no value"}},
    {"kernel k(a: in f32[N])\nlet N = 4\n{ }\n", {}, {"E0204 2:5 'N' is already the name of an extent"}},
    {"fn f(n) { if n > 2 { n } else { 2 } }\nkernel k<TN: int = f(4)>(a: in f32[N])\ngrid (f(N))\n{ }\n", {}, {}},
    {"kernel k(a: in f32[N], s: f32)\nrequires s && true, !s, s > 0, s % 2 == 0\n{ }\n", {}, {"E0301 2:10 '&&' does not take a float and a bool", "E0301 2:21 '!' does not take a float", "E0301 2:32 '%' does not take a float and an integer"}},
    {"import \"std/math.tile\"\nkernel k<TN: int = foo(4)>(a: in f32[N])\ngrid (bar(N))\n{ let x = gelu(a.tiled(4).load(0)) + PI }\n", {}, {"E0211 1:8 the tool ships no 'std/math.tile'"}},
    {"kernel k(a: in f32[M, N])\nlet rows = M * 2\nrequires rows > N\n{ let x = a.tiled(1, 4).load(rows, 0)\nlet y = a.shape(0) / N }\n", {}, {}},
    {"kernel k(a: in f32[N], c: inout f32[N])\n{ let v = c.tiled(4)\nlet x = v.load(0)\nv.store(0, x, latency = 3 in 1..=4, site = back)\nlet w = x.to(f16).to(bf16) }\n", {}, {}},
    {"kernel k<F: float = 0.5 in {0.25, 0.5}, B: bool = true in {true, false}>(a: in f32[N])\ntune (F in {0.125})\ntune sm_90 (F = 0.5, occupancy = 2)\n{ let x = a.tiled(4).load(0) * F\nif B { let q = 1 } }\n", {}, {}},
    {"kernel k(a: in u8[N], b: in i64[N], s: u32)\n{ let i = a.tiled(1).load(s).sum()\nlet x = b.tiled(1).load(i)\nlet y = x.sum() + b.shape(0) }\n", {}, {}},
    {"kernel k(a: in f32[N])\n{ let t = (a, a.tiled(4))\nlet x = t.1.load(0)\nlet (q, (r, s)) = (1, (x, 2))\nlet y = r + s * q }\n", {}, {}},
    {"kernel k(a: in f32[N])\n{ var t = (0, zeros<f32>(4))\nfor i in 0..3 { t = (t.0 + 1, t[1] + 1.0) }\nlet y = t.1 * t.0 }\n", {}, {}},
    {"kernel k(a: in f16[N])\n{ let s = zeros<f32>(a.tiled(4).tile(0))\nlet q = a.dtype == f16 && a.rank == 1\nstatic_assert(q) }\n", {}, {}},
    {"kernel k(a: in f32[N])\n{ let x = a.tiled(8).load(0)\nlet y = min(x, 1.0, propagate_nan = true)\nlet z = x.max(propagate_nan = true)\nlet p = x.prod()\nlet w = x.all()\n}\n", {}, {"E0301 6:9 'all' does not take f32[8]"}},
    // clang-format on
};

TEST(SemaErrors, Kernels) {
  for (const KernelCase &c : kernels) {
    Checked checked(c.text, c.options);
    EXPECT_EQ(checked.lines(), c.lines) << c.text << "\n" << checked.rendered();
  }
}

} // namespace
