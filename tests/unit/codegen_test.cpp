// LINK: compiler_codegen MLIRParser
//
// LLVM IR → PTX → machine code. Tests that need the assembler are skipped where nvJitLink is not installed.
#include "compiler/codegen/assembler.h"
#include "compiler/codegen/elf.h"
#include "compiler/codegen/ptx.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tilec;
using namespace tilec::codegen;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

const Arch &arch(std::string_view name) {
  const Arch *found = findArch(name);
  EXPECT_TRUE(found) << name;
  return *found;
}

/// PTX of LLVM IR text.
Result<Ptx> ptxOf(std::string_view ir, std::string_view target, const PtxOptions &options = {}) {
  llvm::LLVMContext context;
  auto module = parseIr(ir, "test.ll", context);
  if (!module)
    return std::unexpected(module.error());
  return emitPtx(**module, arch(target), options);
}

constexpr std::string_view expKernel = R"(
declare float @__tilec_exp_f32(float)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = getelementptr float, ptr addrspace(1) %p, i32 %t
  %x = load float, ptr addrspace(1) %a
  %y = call float @__tilec_exp_f32(float %x)
  store float %y, ptr addrspace(1) %a
  ret void
})";

TEST(Ptx, InlinesRoutinesOfTheDeviceLibrary) {
  auto ptx = ptxOf(expKernel, "sm_90");
  ASSERT_TRUE(ptx) << ptx.error().message << ptx.error().detail;
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_90a"));
  EXPECT_THAT(ptx->text, HasSubstr(".version 9.0"));
  EXPECT_THAT(ptx->text, HasSubstr(".visible .entry k"));
  EXPECT_THAT(ptx->text, HasSubstr("fma.rn.f32"));
  EXPECT_THAT(ptx->text, Not(HasSubstr("call")));
  EXPECT_THAT(ptx->text, Not(HasSubstr(".func")));
  EXPECT_THAT(ptx->kernels, ElementsAre("k"));
}

TEST(Ptx, RoutinesFollowTheKernelsTreatmentOfSubnormals) {
  std::string ir(expKernel);
  ir.replace(ir.find("addrspace(1) %p) {"), 17, "addrspace(1) %p) \"denormal-fp-math-f32\"=\"preserve-sign\"");
  auto ptx = ptxOf(ir, "sm_80");
  ASSERT_TRUE(ptx) << ptx.error().message << ptx.error().detail;
  EXPECT_THAT(ptx->text, HasSubstr("fma.rn.ftz.f32"));
  EXPECT_THAT(ptx->text, Not(HasSubstr("call")));
}

TEST(Ptx, AMissingRoutineIsNamed) {
  auto ptx = ptxOf("declare float @__tilec_nothing_f32(float)\n"
                   "define ptx_kernel void @k(ptr %p) {\n"
                   "  %y = call float @__tilec_nothing_f32(float 1.0)\n  store float %y, ptr %p\n  ret void\n}",
                   "sm_80");
  ASSERT_FALSE(ptx);
  EXPECT_THAT(ptx.error().message, HasSubstr("__tilec_nothing_f32"));
}

constexpr std::string_view productKernel = R"(
define ptx_kernel void @k(ptr addrspace(1) %p, float %a, float %b, float %c, float %d) {
  %x = fmul float %a, %b
  %y = fmul float %c, %d
  %z = fsub float %x, %y
  store float %z, ptr addrspace(1) %p
  ret void
})";

TEST(Ptx, ProductsAndSumsAreFusedOnlyOnRequest) {
  auto apart = ptxOf(productKernel, "sm_90");
  ASSERT_TRUE(apart);
  EXPECT_THAT(apart->text, Not(HasSubstr("fma")));
  auto fused = ptxOf(productKernel, "sm_90", {.contract = true});
  ASSERT_TRUE(fused);
  EXPECT_THAT(fused->text, HasSubstr("fma.rn.f32"));
  std::string flagged(productKernel);
  for (size_t at; (at = flagged.find("fmul float")) != flagged.npos;)
    flagged.replace(at, 10, "fmul contract float");
  flagged.replace(flagged.find("fsub float"), 10, "fsub contract float");
  auto byFlag = ptxOf(flagged, "sm_90");
  ASSERT_TRUE(byFlag);
  EXPECT_THAT(byFlag->text, HasSubstr("fma.rn.f32"));
}

TEST(Ptx, AssemblyStaysWhereItIs) {
  // Two equal barriers in the arms of a divergent branch: without the attribute LLVM merges them above the branch.
  auto ptx = ptxOf(R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %t, 64
  br i1 %c, label %a, label %b
a:
  call void asm sideeffect "bar.sync 2, 64;", ""()
  store i32 1, ptr addrspace(1) %p
  br label %e
b:
  call void asm sideeffect "bar.sync 2, 64;", ""()
  store i32 2, ptr addrspace(1) %p
  br label %e
e:
  ret void
})",
                   "sm_90");
  ASSERT_TRUE(ptx);
  size_t first = ptx->text.find("bar.sync 2, 64");
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(ptx->text.find("bar.sync 2, 64", first + 1), std::string::npos) << ptx->text;
}

TEST(Ptx, KeepsTheOptimisedIrOnRequest) {
  auto ptx = ptxOf(expKernel, "sm_80", {.keepIr = true});
  ASSERT_TRUE(ptx);
  EXPECT_THAT(ptx->ir, HasSubstr("define ptx_kernel void @k"));
  EXPECT_THAT(ptx->ir, Not(HasSubstr("__tilec_exp")));
}

TEST(Ptx, WritesTheVersionAskedForOrTheOldestOfTheTarget) {
  auto old = ptxOf(productKernel, "sm_80", {.version = 80});
  ASSERT_TRUE(old);
  EXPECT_THAT(old->text, HasSubstr(".version 8.0"));
  auto raised = ptxOf(productKernel, "sm_100", {.version = 80});
  ASSERT_TRUE(raised);
  EXPECT_THAT(raised->text, HasSubstr(".version 8.6"));
}

TEST(Ptx, TheLlvmDialectIsTranslated) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @__tilec_sin_f32(f32) -> f32
    llvm.func ptx_kernelcc @k(%p: !llvm.ptr<1>, %x: f32) {
      %y = llvm.call @__tilec_sin_f32(%x) : (f32) -> f32
      llvm.store %y, %p : f32, !llvm.ptr<1>
      llvm.return
    })",
                                                        &context);
  ASSERT_TRUE(module);
  llvm::LLVMContext llvmContext;
  auto translated = translate(*module, llvmContext);
  ASSERT_TRUE(translated) << translated.error().detail;
  EXPECT_THAT(printIr(**translated), HasSubstr("define ptx_kernel void @k"));
  auto ptx = emitPtx(**translated, arch("sm_90"));
  ASSERT_TRUE(ptx) << ptx.error().message;
  // The reduction of huge angles reads its digits from constant memory.
  EXPECT_THAT(ptx->text, HasSubstr("ld.const"));
  EXPECT_THAT(ptx->kernels, ElementsAre("k"));
}

TEST(Ptx, BadTextIsAnErrorWithItsLine) {
  llvm::LLVMContext context;
  auto module = parseIr("define void @f() {\n  ret voidd\n}", "x.ll", context);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::Program);
  EXPECT_THAT(module.error().message, HasSubstr("x.ll:2:"));
}

/// Runs work in a child whose fatal errors go to a pipe; gives back the status and what the pipe got.
std::pair<int, std::string> inChild(void (*work)()) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    installFatalErrorHandler(ends[1]);
    work();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {status, text};
}

TEST(Ptx, AFatalErrorOfLlvmEndsTheProcessWithOneLine) {
  auto [status, text] = inChild([] {
    // sm_80 has no f32 redux: instruction selection gives up.
    (void)ptxOf(
        "declare float @llvm.nvvm.redux.sync.fmin(float, i32)\n"
        "define ptx_kernel void @k(ptr %p, float %x) {\n"
        "  %y = call float @llvm.nvvm.redux.sync.fmin(float %x, i32 -1)\n  store float %y, ptr %p\n  ret void\n}",
        "sm_80");
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), fatalExitCode);
  EXPECT_THAT(text, HasSubstr("annot select"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

//===--------------------------------------------------------------------------------------------------------------===//
// With the assembler
//===--------------------------------------------------------------------------------------------------------------===//

class Assembling : public testing::Test {
protected:
  void SetUp() override {
    auto opened = openAssembler();
    if (!opened)
      GTEST_SKIP() << opened.error().message;
    assembler = *opened;
  }
  Assembler *assembler = nullptr;
};

TEST_F(Assembling, EveryArchitectureTakesAKernel) {
  for (const Arch &target : allArchs()) {
    auto ptx = ptxOf(expKernel, target.name, {.version = assembler->newestPtxVersion()});
    ASSERT_TRUE(ptx) << target.name;
    if (target.ptxVersion > assembler->newestPtxVersion()) {
      // An older release says so instead of failing somewhere inside.
      auto refused = assembler->assemble(ptx->text, target);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
      continue;
    }
    auto assembly = assembler->assemble(ptx->text, target);
    ASSERT_TRUE(assembly) << target.name << ": " << assembly.error().message << "\n" << assembly.error().detail;
    ASSERT_EQ(assembly->kernels.size(), 1u);
    const AssembledKernel &kernel = assembly->kernels.front();
    EXPECT_EQ(kernel.name, "k");
    EXPECT_GT(kernel.resources.registers, 0) << target.name;
    EXPECT_GT(kernel.resources.codeBytes, 0) << target.name;
    EXPECT_EQ(kernel.resources.spillStoreBytes, 0) << target.name;
    auto kernels = listKernels(assembly->cubin);
    ASSERT_TRUE(kernels);
    EXPECT_EQ(kernels->size(), 1u);
  }
}

constexpr std::string_view ptxHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST_F(Assembling, ResourcesAndRemarksAreRead) {
  std::string ptx(ptxHead);
  ptx += ".visible .entry first() .maxntid 128 { .shared .align 16 .b8 s[256]; .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
         "mov.u64 %rd1, s; mov.u32 %r1, %tid.x; st.shared.u32 [%rd1], %r1; bar.sync 0; bar.sync 1, 128; ret; }\n"
         ".visible .entry second() { ret; }\n";
  auto assembly = assembler->assemble(ptx, arch("sm_80"));
  ASSERT_TRUE(assembly) << assembly.error().message << assembly.error().detail;
  const AssembledKernel *first = assembly->find("first");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->resources.staticSharedBytes, 256);
  EXPECT_EQ(first->resources.barriers, 2);
  EXPECT_FALSE(assembly->serialises());
  ASSERT_TRUE(assembly->find("second"));
  EXPECT_EQ(assembly->find("second")->resources.staticSharedBytes, 0);
  EXPECT_EQ(assembly->find("third"), nullptr);
}

TEST_F(Assembling, ErrorsNameTheLine) {
  auto assembly = assembler->assemble(std::string(ptxHead) + ".visible .entry k() { foo.bar; ret; }", arch("sm_80"));
  ASSERT_FALSE(assembly);
  EXPECT_EQ(assembly.error().kind, ErrorKind::Internal);
  EXPECT_THAT(assembly.error().message, HasSubstr("line 4"));
  EXPECT_THAT(assembly.error().detail, HasSubstr("foo"));
}

TEST_F(Assembling, WhatIsNoPtxIsRefused) {
  EXPECT_FALSE(assembler->assemble("", arch("sm_80")));
  EXPECT_FALSE(assembler->assemble("this is .entry k( not PTX", arch("sm_80")));
  auto unresolved = assembler->assemble(
      std::string(ptxHead) + ".extern .func g();\n.visible .entry k() { call g; ret; }", arch("sm_80"));
  EXPECT_FALSE(unresolved);
  auto twice = assembler->assemble(std::string(ptxHead) + ".entry k() { ret; }\n.entry k() { ret; }", arch("sm_80"));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("twice"));
}

TEST_F(Assembling, TheArchitectureHasToBeTheTexts) {
  auto ptx = ptxOf(productKernel, "sm_90", {.version = assembler->newestPtxVersion()});
  ASSERT_TRUE(ptx);
  EXPECT_FALSE(assembler->assemble(ptx->text, arch("sm_100")));
}

TEST(AssemblerSearch, AWrongFileIsAUsageErrorThatNamesIt) {
  auto opened = openNvJitLink("/nonexistent/libnvJitLink.so.13");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::Usage);
  EXPECT_THAT(opened.error().message, HasSubstr("/nonexistent/libnvJitLink.so.13"));
}

} // namespace
