// LINK: compiler_codegen
//
// The text side of code generation: assembler logs, entries of PTX, cubin headers.
#include "compiler/codegen/asm_log.h"
#include "compiler/codegen/assembler.h"
#include "compiler/codegen/defects.h"
#include "compiler/codegen/elf.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::codegen;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

// As nvJitLink 13.0 writes it with -verbose.
constexpr std::string_view verboseLog =
    R"(ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
ptxas         .     328 bytes stack frame, 324 bytes spill stores, 320 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers
ptxas info    : Compile time = 64.834 ms
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for helper
ptxas         .     64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for first
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 2 barriers, 256 bytes smem, 16 bytes cmem[2]
ptxas info    : Compile time = 9.259 ms
info    : 0 bytes gmem
info    : Function properties for 'first':
info    : used 4 registers, used 2 barriers, 0 stack, 1280 bytes smem, 536 bytes cmem[0], 0 bytes lmem
)";

TEST(AsmLog, ReadsResourcesOfEachKernel) {
  AsmLog log = parseAsmLog(verboseLog);
  ASSERT_THAT(log.kernels, SizeIs(2));
  const Resources &second = log.kernels.at("second");
  EXPECT_EQ(second.registers, 32);
  EXPECT_EQ(second.stackBytes, 328);
  EXPECT_EQ(second.spillStoreBytes, 324);
  EXPECT_EQ(second.spillLoadBytes, 320);
  EXPECT_EQ(second.barriers, 1);
  EXPECT_EQ(second.staticSharedBytes, 0);
  const Resources &first = log.kernels.at("first");
  EXPECT_EQ(first.registers, 4);
  EXPECT_EQ(first.stackBytes, 0);
  EXPECT_EQ(first.spillStoreBytes, 0);
  EXPECT_EQ(first.barriers, 2);
  EXPECT_EQ(first.staticSharedBytes, 256) << "not the linker's figure, which counts the driver's part";
  EXPECT_TRUE(log.errors.empty());
}

struct NoteCase {
  std::string_view line, code;
  NoteEffect effect;
  std::string_view kernel;
};

TEST(AsmLog, ReadsWhatPtxasItselfWrites) {
  // Its own log has the properties on a line without its name; those of a helper are not the kernel's.
  AsmLog log = parseAsmLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'attention' for 'sm_90a'
ptxas info    : Function properties for helper
    64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for attention
    88 bytes stack frame, 108 bytes spill stores, 100 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 88 bytes cumulative stack size
)");
  const Resources &kernel = log.kernels.at("attention");
  EXPECT_EQ(kernel.registers, 255);
  EXPECT_EQ(kernel.stackBytes, 88);
  EXPECT_EQ(kernel.spillStoreBytes, 108);
  EXPECT_EQ(kernel.spillLoadBytes, 100);
}

TEST(AsmLog, GivesRemarksTheirMeaning) {
  constexpr NoteCase cases[] = {
      {"ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across "
       "compilation units.",
       "C7504", NoteEffect::Ignored, ""},
      {"ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non "
       "wgmma "
       "instructions reading accumulator registers of a wgmma between start and end of the pipeline stage in the "
       "function 'gemm'",
       "C7514", NoteEffect::Serialises, "gemm"},
      {"ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
       "insufficient register resources for the wgmma pipeline in the function 'gemm'",
       "C7511", NoteEffect::Serialises, "gemm"},
      {"ptxas info    : (C7517) warpgroup.wait is injected in around line 70 by compiler to allow use of registers in "
       "function 'gemm'",
       "C7517", NoteEffect::Mended, "gemm"},
      {"ptxas info    : (C7519) warpgroup.arrive is injected in around line 60 by compiler to allow use of registers "
       "in "
       "function 'gemm'",
       "C7519", NoteEffect::Mended, "gemm"},
      {"ptxas info    : (C7599) something is serialized for a reason nobody knows", "C7599", NoteEffect::Serialises,
       ""},
      {"ptxas info    : (C7999) something new", "C7999", NoteEffect::Other, ""},
      {"ptxas warning : Registers are spilled to local memory in function 'second', 324 bytes spill stores, 324 bytes "
       "spill loads",
       "", NoteEffect::Spills, "second"},
      {"ptxas warning : Value of threads per SM for entry first is out of range", "", NoteEffect::Other, ""},
  };
  for (const NoteCase &c : cases) {
    AsmLog log = parseAsmLog(c.line);
    ASSERT_THAT(log.notes, SizeIs(1)) << c.line;
    EXPECT_EQ(log.notes[0].code, c.code);
    EXPECT_EQ(log.notes[0].effect, c.effect) << c.line;
    EXPECT_EQ(log.notes[0].kernel, c.kernel) << c.line;
    EXPECT_FALSE(log.notes[0].text.empty());
  }
  EXPECT_THAT(noteMeaning("C7512"), HasSubstr("registers"));
  EXPECT_EQ(noteMeaning("C9999"), "");
}

TEST(AsmLog, KeepsErrorsWithTheirLines) {
  AsmLog log =
      parseAsmLog("ptxas application ptx input, line 9; error   : Unknown modifier '.bar'\n"
                  "ptxas application ptx input, line 118; error   : Not a name of any known instruction: 'foo'\n"
                  "ptxas fatal   : Ptx assembly aborted due to errors\n"
                  "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (kernel.ptx)\n");
  EXPECT_THAT(log.errors,
              ElementsAre("line 9: Unknown modifier '.bar'", "line 118: Not a name of any known instruction: 'foo'",
                          "Ptx assembly aborted due to errors"));
}

TEST(AsmLog, SkipsWhatItDoesNotKnow) {
  for (std::string_view text :
       {"", "\n\n", "ptxas", "ptxas info", "ptxas info    : ", "info : used 3 registers", "(C7512)",
        "ptxas info    : Used registers", "ptxas info    : (C75", "ptxas         .     99999999999"}) {
    AsmLog log = parseAsmLog(text);
    EXPECT_TRUE(log.kernels.empty() && log.notes.empty() && log.errors.empty()) << text;
  }
}

TEST(PtxText, NegationsBesideSignedExtremesAreSpeltOut) {
  const Arch &hopper = *findArch("sm_90"), &ampere = *findArch("sm_80");
  std::string text = "\tneg.s32 \t%r5, %r1;\n\tmax.s32 \t%r6, %r5, %r2;\n";
  EXPECT_EQ(avoidDefects(text, hopper),
            "\tnot.b32 \t%r5, %r1;\n\tadd.s32 \t%r5, %r5, 1;\n\tmax.s32 \t%r6, %r5, %r2;\n");
  EXPECT_EQ(avoidDefects(text, ampere), text);
  std::string alone = "\tneg.s32 \t%r5, %r1;\n";
  EXPECT_EQ(avoidDefects(alone, hopper), alone);
}

TEST(PtxText, EntriesAreFound) {
  EXPECT_THAT(entriesOfPtx(".visible .entry a(\n.param .u64 p)\n{ ret; }\n// .entry no(\n.entry b\n(){}\n.func c(){}"),
              ElementsAre("a", "b"));
  EXPECT_THAT(entriesOfPtx(""), SizeIs(0));
  EXPECT_THAT(entriesOfPtx(".entry"), SizeIs(0));
}

TEST(Elf, RefusesWhatIsNoCubin) {
  for (std::string bytes : {std::string(),
                            std::string("\x7f"
                                        "ELF"),
                            std::string("\x7f"
                                        "ELF\x02\x01") +
                                std::string(58, '\xff'),
                            std::string(200, 'x')}) {
    auto kernels = listKernels(bytes);
    ASSERT_FALSE(kernels);
    EXPECT_EQ(kernels.error().kind, ErrorKind::Usage);
    EXPECT_THAT(kernels.error().message, HasSubstr("not a cubin"));
  }
}

} // namespace
