// What of a checked program the GPU code generator cannot do yet. The table says it in the language's words, so that no
// program gets as far as a pass that does not know an op.
#include "compiler/driver/driver.h"

namespace tilec::driver {

/// The word of an instruction that a row means; empty when none does.
static std::string_view missingWord(const sema::Program &program, const sema::Inst &inst) {
  std::string_view word;
  // What rows ask of: dtypes of the first operand and of the result, where there are any.
  auto dtypeOf = [&](const std::vector<sema::ValueId> &ids) {
    return ids.empty() ? DType::i32 : program.values[ids.front()].dtype;
  };
  [[maybe_unused]] DType from = dtypeOf(inst.operands), to = dtypeOf(inst.results);
  [[maybe_unused]] constexpr Rounding nearest = Rounding::NearestEven;
#define GPU_GAP(Instruction, name, condition)                                                                          \
  if (auto *found = std::get_if<sema::Instruction>(&inst.payload); word.empty() && found) {                            \
    [[maybe_unused]] const sema::Instruction &i = *found;                                                              \
    if (condition)                                                                                                     \
      word = name;                                                                                                     \
  }
#include "compiler/driver/gpu_gaps.def"
  return word;
}

static void collect(const sema::Program &program, const sema::Block &block, std::vector<GpuGap> &gaps) {
  for (const sema::Inst &inst : block.insts) {
    if (std::string_view word = missingWord(program, inst); !word.empty())
      gaps.push_back({inst.span, std::string(word)});
    for (const sema::Block &inner : inst.blocks)
      collect(program, inner, gaps);
  }
}

std::vector<GpuGap> gpuGaps(const sema::Program &program) {
  std::vector<GpuGap> gaps;
  collect(program, program.body, gaps);
  return gaps;
}

static std::string sentence(const GpuGap &gap) { return fmt::format("'{}' does not run on a GPU yet", gap.word); }
static constexpr std::string_view mend = "it runs with --device cpu";

Status requireGpu(const Source &source, const sema::Program &program) {
  std::vector<GpuGap> gaps = gpuGaps(program);
  if (gaps.empty())
    return {};
  const Span &span = gaps.front().span;
  LineColumn at = source.sources.position(span.file, span.begin);
  return withHelp(
      programError("{}:{}:{}: {}", source.sources.name(span.file), at.line, at.column, sentence(gaps.front())),
      std::string(mend));
}

bool reportGpuGaps(Source &source, const sema::Program &program) {
  std::vector<GpuGap> gaps = gpuGaps(program);
  for (const GpuGap &gap : gaps)
    source.diags.report(Diag::NotBuilt, gap.span, sentence(gap)).help = mend;
  return !gaps.empty();
}

} // namespace tilec::driver
