// A checked program as text.
#include "compiler/base/text.h"
#include "compiler/sema/program.h"
#include <fmt/ranges.h>

namespace tilec::sema {
namespace {

constexpr std::string_view unaryNames[] = {
#define UNARY(name) #name,
#include "compiler/sema/ops.def"
};
constexpr std::string_view binaryNames[] = {
#define BINARY(name) #name,
#include "compiler/sema/ops.def"
};
constexpr std::string_view compareNames[] = {"lt", "le", "gt", "ge", "eq", "ne"};
constexpr std::string_view reduceNames[] = {"sum", "prod", "min", "max", "any", "all"};
constexpr std::string_view atomicNames[] = {"add", "max", "min", "and", "or", "xor", "xchg", "cas"};
constexpr std::string_view orderNames[] = {"weak", "relaxed", "acquire", "release", "acq_rel"};
constexpr std::string_view scopeNames[] = {"block", "device", "system"};
constexpr std::string_view paddingNames[] = {"none", "zero", "negzero", "nan", "inf", "neginf"};
constexpr std::string_view roundingNames[] = {"rn", "rz", "rm", "rp"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = char(std::tolower(uint8_t(c)));
  return result;
}

std::string constantText(DType t, uint64_t bits) {
  if (t == DType::bool_)
    return bits ? "true" : "false";
  if (isFloat(t))
    return toString(LaunchValue(decodeFloat(t, bits)));
  int64_t value = decodeInt(t, bits);
  return t == DType::u64 ? fmt::format("{}", uint64_t(value)) : fmt::format("{}", value);
}

template <typename... F> struct Overloaded : F... {
  using F::operator()...;
};

class Dumper {
public:
  explicit Dumper(const Program &program) : program(program) {}

  std::string run() {
    text += fmt::format("kernel {}", program.name);
    std::vector<std::string> parts;
    for (const auto &[name, value] : program.parameters)
      parts.push_back(fmt::format("{} = {}", name, toString(value)));
    text += parts.empty() ? "\n" : fmt::format("<{}>\n", join(parts, ", "));
    for (const ArraySpec &array : program.arrays)
      text += fmt::format("  array {}: {} {}[{}]{} align {}\n", array.name, name(array.mode), name(array.dtype),
                          list(array.extents), array.strides.empty() ? "" : " strides [" + list(array.strides) + "]",
                          array.align);
    for (const ScalarSpec &scalar : program.scalars)
      text += fmt::format("  scalar {}: {}\n", scalar.name, name(scalar.dtype));
    if (!program.symbols.empty())
      text += fmt::format("  symbols {}\n", join(program.symbols, ", "));
    for (const auto &[name, value] : program.folded)
      text += fmt::format("  folded {} = {}\n", name, value);
    for (const auto &[name, value] : program.multiples)
      text += fmt::format("  multiple {} of {}\n", name, value);
    for (const auto &[name, expr] : program.lets)
      text += fmt::format("  let {} = {}\n", name, toString(expr));
    for (const Condition &condition : program.requirements)
      text += fmt::format("  requires {}\n", toString(condition.expr));
    text += fmt::format("  grid ({})\n", list({program.grid.begin(), program.grid.begin() + program.gridRank}));
    if (program.contract || program.index64)
      text += fmt::format("  options{}{}\n", program.contract ? " contract" : "", program.index64 ? " index64" : "");
    for (const auto &[name, value] : program.hints)
      text += fmt::format("  hint {} = {}\n", name, value);
    for (const Site &site : program.sites) {
      text += fmt::format("  site {}", site.name);
      for (const auto &[name, value] : site.hints)
        text += fmt::format(" {} = {}", name, value);
      for (const auto &[name, values] : site.domains)
        text += fmt::format(" {} in {{{}}}", name, fmt::join(values, ", "));
      text += '\n';
    }
    block(program.body, 1);
    return std::move(text);
  }

private:
  const Program &program;
  std::string text;

  static std::string list(const std::vector<LaunchExpr> &exprs) {
    std::vector<std::string> parts;
    for (const LaunchExpr &expr : exprs)
      parts.push_back(toString(expr));
    return join(parts, ", ");
  }
  static std::string values(const std::vector<ValueId> &ids) {
    std::vector<std::string> parts;
    for (ValueId id : ids)
      parts.push_back(fmt::format("%{}", id));
    return join(parts, ", ");
  }
  static std::string flags(std::initializer_list<std::pair<bool, std::string_view>> all) {
    std::string result;
    for (auto [on, name] : all)
      if (on)
        result += fmt::format(" {}", name);
    return result;
  }

  static std::string roundingText(Rounding rounding) {
    return rounding == Rounding::NearestEven ? "" : fmt::format(" {}", roundingNames[size_t(rounding)]);
  }
  /// Nothing for the access's usual ordering.
  static std::string orderingText(Ordering ordering, MemoryOrder usual) {
    if (ordering == Ordering{usual, MemoryScope::Device})
      return "";
    return fmt::format(" {} {}", orderNames[size_t(ordering.order)], scopeNames[size_t(ordering.scope)]);
  }
  std::string access(std::string_view what, size_t site, bool masked, bool inBounds, Ordering ordering) const {
    return fmt::format("{} {}", what, program.sites[site].name) + flags({{masked, "masked"}, {inBounds, "in_bounds"}}) +
           orderingText(ordering, MemoryOrder::Weak);
  }

  std::string head(const Inst &inst) const {
    DType dtype = inst.results.empty() ? DType::i32 : program.values[inst.results[0]].dtype;
    return std::visit(
        Overloaded{
            [&](const ConstInst &i) { return "const " + constantText(dtype, i.bits); },
            [&](const ListInst &i) {
              std::vector<std::string> parts;
              for (uint64_t bits : i.bits)
                parts.push_back(constantText(dtype, bits));
              return fmt::format("list [{}]", join(parts, ", "));
            },
            [&](const ArangeInst &i) {
              return fmt::format("arange start {} step {}", constantText(dtype, i.start), constantText(dtype, i.step));
            },
            [](const BlockIdInst &i) { return fmt::format("block_id {}", i.axis); },
            [](const NumBlocksInst &i) { return fmt::format("num_blocks {}", i.axis); },
            [&](const ArrayArgInst &i) { return "array " + program.arrays[i.index].name; },
            [&](const ScalarArgInst &i) { return "scalar " + program.scalars[i.index].name; },
            [](const SymbolInst &i) { return "symbol " + i.name; },
            [](const ExtentInst &i) { return fmt::format("extent {}", i.axis); },
            [](const AtInst &) { return std::string("at"); },
            [](const SliceInst &i) { return fmt::format("slice {}", i.axis); },
            [](const UnaryInst &i) {
              return lower(unaryNames[size_t(i.op)]) + flags({{i.approx, "approx"}, {i.ftz, "ftz"}}) +
                     roundingText(i.rounding);
            },
            [](const BinaryInst &i) {
              return lower(binaryNames[size_t(i.op)]) +
                     flags({{i.approx, "approx"}, {i.ftz, "ftz"}, {i.propagateNan, "propagate_nan"}}) +
                     roundingText(i.rounding);
            },
            [](const FmaInst &i) { return "fma" + flags({{i.ftz, "ftz"}}) + roundingText(i.rounding); },
            [](const CompareInst &i) { return fmt::format("compare {}", compareNames[size_t(i.op)]); },
            [](const SelectInst &) { return std::string("select"); },
            [](const ConvertInst &i) {
              return fmt::format("convert {}{}", roundingNames[size_t(i.rounding)], i.saturate ? " saturate" : "");
            },
            [](const BroadcastInst &) { return std::string("broadcast"); },
            [](const ReshapeInst &) { return std::string("reshape"); },
            [](const ReduceInst &i) {
              return fmt::format("reduce {} axes [{}]{}", reduceNames[size_t(i.op)], fmt::join(i.axes, ", "),
                                 i.propagateNan ? " propagate_nan" : "");
            },
            [](const ArgExtremeInst &i) {
              return fmt::format("arg{} {}{}", i.max ? "max" : "min", i.axis, i.propagateNan ? " propagate_nan" : "");
            },
            [](const ReduceFnInst &i) { return fmt::format("reduce_fn axes [{}]", fmt::join(i.axes, ", ")); },
            [](const ScanInst &i) {
              return fmt::format("scan {} {}", reduceNames[size_t(i.op)], i.axis) +
                     flags({{i.reverse, "reverse"}, {i.exclusive, "exclusive"}});
            },
            [](const ScanFnInst &i) {
              return fmt::format("scan_fn {}", i.axis) + flags({{i.reverse, "reverse"}, {i.exclusive, "exclusive"}});
            },
            [](const PermuteInst &i) { return fmt::format("permute [{}]", fmt::join(i.axes, ", ")); },
            [](const CatInst &i) { return fmt::format("cat {}", i.axis); },
            [](const ExtractInst &) { return std::string("extract"); },
            [](const InsertInst &) { return std::string("insert"); },
            [](const BitcastInst &) { return std::string("bitcast"); },
            [](const PackInst &) { return std::string("pack"); },
            [](const UnpackInst &) { return std::string("unpack"); },
            [](const MmaInst &i) { return "mma" + flags({{i.fastAcc, "fast_acc"}}); },
            [](const AssumeDivisibleInst &i) { return fmt::format("assume_divisible {}", i.divisor); },
            [](const ViewInst &i) {
              return fmt::format("view step [{}] axes [{}] padding {}", fmt::join(i.step, ", "),
                                 fmt::join(i.axes, ", "), paddingNames[size_t(i.padding)]);
            },
            [](const NumTilesInst &i) { return fmt::format("num_tiles {}", i.axis); },
            [&](const LoadInst &i) { return access("load", i.site, false, i.inBounds, i.ordering); },
            [&](const StoreInst &i) { return access("store", i.site, false, i.inBounds, i.ordering); },
            [&](const ViewAtomicInst &i) {
              return fmt::format("view_atomic {} {}", atomicNames[size_t(i.op)], program.sites[i.site].name);
            },
            [&](const GatherInst &i) { return access("gather", i.site, i.masked, i.inBounds, i.ordering); },
            [&](const ScatterInst &i) { return access("scatter", i.site, i.masked, i.inBounds, i.ordering); },
            [&](const AtomicInst &i) {
              return fmt::format("atomic {} {}{}", atomicNames[size_t(i.op)], program.sites[i.site].name,
                                 i.masked ? " masked" : "") +
                     orderingText(i.ordering, MemoryOrder::AcqRel);
            },
            [](const PrintInst &i) { return fmt::format("print {:?}", join(i.pieces, "{}")); },
            [](const AssertInst &i) { return fmt::format("assert {:?}", i.text); },
            [](const GridWaitInst &) { return std::string("grid_dependency_wait"); },
            [](const GridLaunchInst &) { return std::string("grid_dependency_launch"); },
            [](const IfInst &) { return std::string("if"); },
            [](const ForInst &) { return std::string("for"); },
            [](const WhileInst &) { return std::string("while"); },
            [](const ConditionInst &) { return std::string("condition"); },
            [](const YieldInst &) { return std::string("yield"); },
        },
        inst.payload);
  }

  static std::string_view blockName(const Inst &inst, size_t i) {
    if (std::holds_alternative<IfInst>(inst.payload))
      return i == 0 ? "then" : "else";
    return std::holds_alternative<WhileInst>(inst.payload) && i == 0 ? "test" : "do";
  }

  void block(const Block &b, int depth) {
    std::string indent(size_t(depth) * 2, ' ');
    for (const Inst &inst : b.insts) {
      text += indent;
      if (!inst.results.empty())
        text += values(inst.results) + " = ";
      text += head(inst);
      if (!inst.operands.empty())
        text += " " + values(inst.operands);
      std::vector<std::string> types;
      for (ValueId id : inst.results)
        types.push_back(toString(program.values[id]));
      if (!types.empty())
        text += " : " + join(types, ", ");
      text += '\n';
      for (size_t i = 0; i < inst.blocks.size(); ++i) {
        text += fmt::format("{}{}{}\n", indent, blockName(inst, i),
                            inst.blocks[i].params.empty() ? "" : " " + values(inst.blocks[i].params));
        block(inst.blocks[i], depth + 1);
      }
    }
  }
};

} // namespace

std::string dump(const Program &program) { return Dumper(program).run(); }

} // namespace tilec::sema
