// Element accesses: gather, scatter and atomics, and what every access shares.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"

namespace tilec::sema {

//===--------------------------------------------------------------------------------------------------------------===//
// What every access shares
//===--------------------------------------------------------------------------------------------------------------===//

/// The word of a keyword such as `order = acquire`, as its place among `words`; nothing when it was reported.
std::optional<size_t> Checker::wordOf(const BoundArg &arg, std::string_view keyword, std::string_view of,
                                      const std::vector<std::string> &words) {
  auto *name = syntax::dynAs<syntax::NameExpr>(arg.expr);
  auto it = name ? std::ranges::find(words, name->name) : words.end();
  if (it != words.end())
    return size_t(it - words.begin());
  report(Diag::UnknownArgument, arg.span,
         name ? fmt::format("'{}' of {} cannot be '{}'", keyword, of, name->name)
              : fmt::format("'{}' takes a plain word", keyword),
         suggest(name ? name->name : "", words));
  return std::nullopt;
}

/// `order` and `scope` of an access. `orders` are the legal ones; without the keyword the usual order holds.
std::optional<Ordering> Checker::orderingOf(BuiltinCall &call, std::string_view of, Ordering usual,
                                            const std::vector<MemoryOrder> &orders) {
  static constexpr std::string_view orderWords[] = {"weak", "relaxed", "acquire", "release", "acq_rel"};
  Ordering result = usual;
  if (const BoundArg *arg = call.find("order")) {
    std::vector<std::string> words;
    for (MemoryOrder order : orders)
      words.emplace_back(orderWords[size_t(order)]);
    auto index = wordOf(*arg, "order", of, words);
    if (!index)
      return std::nullopt;
    result.order = orders[*index];
  }
  if (const BoundArg *arg = call.find("scope")) {
    auto index = wordOf(*arg, "scope", of, {"block", "device", "system"});
    if (!index)
      return std::nullopt;
    result.scope = MemoryScope(*index);
  }
  return result;
}

/// Whether the mode of the receiver's array lets it be read or written. An atomic does both.
bool Checker::mayAccess(const BuiltinCall &call, bool reads, bool writes) {
  const ArraySpec &array = program.arrays[call.receiver.root];
  if (writes && array.mode == ArrayMode::In) {
    report(Diag::InStored, call.span, fmt::format("'{}' is an 'in' array and cannot be stored to", array.name),
           writes && reads ? "declare it 'inout'" : "declare it 'out' or 'inout'");
    return false;
  }
  if (reads && array.mode == ArrayMode::Out) {
    report(Diag::OutLoaded, call.span,
           writes ? fmt::format("'{}' is an 'out' array, and an atomic reads what is there", array.name)
                  : fmt::format("'{}' is an 'out' array and cannot be loaded", array.name),
           "declare it 'inout' to read it");
    return false;
  }
  return true;
}

/// Elements narrower than a byte are reached through views alone.
bool Checker::hasElements(const BuiltinCall &call) {
  if (info(call.receiver.type.dtype).bits >= 8)
    return true;
  report(Diag::OperandType, call.span,
         fmt::format("'{}' does not reach the elements of {}, two of which share a byte", call.info->name,
                     name(call.receiver.type.dtype)),
         "cut the array into tiles with '.tiled(shape…)'");
  return false;
}

/// An index as i32 or i64, whatever integers the program has: what fits goes into the first.
Value Checker::indexValue(const BoundArg &arg, std::string_view what) {
  bool integral =
      arg.value.is(ValueKind::Int) || (arg.value.isTileLike() && !arg.value.isUntyped() && isInt(dtypeOf(arg.value)));
  if (!integral)
    return fail(Diag::IndexType, arg.span, fmt::format("{}, not {}", what, typeName(arg.value)));
  Value v = materialize(arg.value, arg.span);
  if (v.isError())
    return v;
  DType t = v.type.dtype;
  bool narrow = info(t).bits < 32 || t == DType::i32;
  return convertTo(v, narrow ? DType::i32 : DType::i64, arg.span);
}

/// Brings run-time values to the shape that they have together.
bool Checker::broadcastAll(std::vector<Value> &values, const std::vector<Span> &spans) {
  Value together = values.front();
  for (size_t i = 1; i < values.size(); ++i) {
    auto shape = commonShape(together, values[i], spans[i]);
    if (!shape)
      return false;
    together.type.shape = *shape;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = broadcastTo(values[i], together.type.shape, spans[i]);
  return true;
}

/// Operands of an element access: the array, its indices, the mask and `values`, all but the first of one shape.
std::optional<Checker::Lanes> Checker::lanes(BuiltinCall &call, const std::vector<Value> &values,
                                             const std::vector<Span> &valueSpans) {
  const Value &array = call.receiver;
  const std::string &arrayName = program.arrays[array.root].name;
  const std::vector<BoundArg> &indices = call.many("index");
  bool good = true;
  if (indices.size() != size_t(array.type.rank)) {
    report(Diag::WrongRank, call.span,
           fmt::format("{} {} for '{}', an array of rank {}: one for each axis", indices.size(),
                       indices.size() == 1 ? "index" : "indices", arrayName, array.type.rank));
    good = false;
  }
  std::vector<Value> all;
  std::vector<Span> spans;
  for (const BoundArg &arg : indices) {
    all.push_back(indexValue(arg, fmt::format("an index of '{}' is an integer or a tile of them", arrayName)));
    spans.push_back(arg.span);
    good &= !all.back().isError();
  }
  const BoundArg *mask = call.find("mask");
  if (mask) {
    bool isBool = mask->value.isTileLike() && !mask->value.isUntyped() && dtypeOf(mask->value) == DType::bool_;
    if (isBool)
      all.push_back(materialize(mask->value, mask->span));
    else
      fail(Diag::OperandType, mask->span, fmt::format("a mask is of bools, not {}", typeName(mask->value)),
           mask->value.isTileLike() ? "compare it, as in 'x != 0'" : "");
    spans.push_back(mask->span);
    good &= isBool;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    all.push_back(values[i]);
    spans.push_back(valueSpans[i]);
    good &= !values[i].isError();
  }
  if (!good || !broadcastAll(all, spans))
    return std::nullopt;
  Lanes result{{array.id}, all.front().type.shape, mask != nullptr};
  for (const Value &v : all)
    result.operands.push_back(v.id);
  return result;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Gather, scatter, atomics
//===--------------------------------------------------------------------------------------------------------------===//

Value Checker::callGather(BuiltinCall &call) {
  if (!mayAccess(call, true, false) || !hasElements(call))
    return Value::error();
  const std::string &arrayName = program.arrays[call.receiver.root].name;
  DType t = call.receiver.type.dtype;
  Value padding = materialize(Value::typed(t, 0), call.span);
  Span paddingSpan = call.span;
  if (const BoundArg *arg = call.find("padding")) {
    padding = storable(arg->value, t, arg->span, "the padding");
    paddingSpan = arg->span;
  }
  auto at = lanes(call, {padding}, {paddingSpan});
  auto number = site(call, "gather");
  auto checked = flag(call, "check_bounds");
  auto ordering = orderingOf(call, "a gather", {}, {MemoryOrder::Weak, MemoryOrder::Relaxed, MemoryOrder::Acquire});
  if (!at || !number || !checked || !ordering)
    return Value::error();
  Type type{TypeKind::Tile, t, at->shape, 0};
  ValueId id =
      builder.emit(GatherInst{*number, at->masked, !*checked, *ordering}, std::move(at->operands), type, call.span);
  return Value::tile(id, type, origin(call.span, fmt::format("this is loaded from '{}'", arrayName)));
}

Value Checker::callScatter(BuiltinCall &call) {
  if (!mayAccess(call, false, true) || !hasElements(call))
    return Value::error();
  const BoundArg &x = *call.find("x");
  Value v = storable(x.value, call.receiver.type.dtype, x.span,
                     fmt::format("the array '{}'", program.arrays[call.receiver.root].name));
  auto at = lanes(call, {v}, {x.span});
  auto number = site(call, "scatter");
  auto checked = flag(call, "check_bounds");
  auto ordering = orderingOf(call, "a scatter", {}, {MemoryOrder::Weak, MemoryOrder::Relaxed, MemoryOrder::Release});
  if (!at || !number || !checked || !ordering)
    return Value::error();
  builder.emitVoid(ScatterInst{*number, at->masked, !*checked, *ordering}, std::move(at->operands), call.span);
  return Value::unit();
}

namespace {
struct AtomicRow {
  std::string_view name;
  AtomicOp op;
  bool negated = false, integersOnly = false;
};
constexpr AtomicRow atomicRows[] = {
    {"atomic_add", AtomicOp::Add},
    {"atomic_sub", AtomicOp::Add, true},
    {"atomic_max", AtomicOp::Max},
    {"atomic_min", AtomicOp::Min},
    {"atomic_and", AtomicOp::And, false, true},
    {"atomic_or", AtomicOp::Or, false, true},
    {"atomic_xor", AtomicOp::Xor, false, true},
    {"atomic_xchg", AtomicOp::Xchg},
    {"atomic_cas", AtomicOp::Cas},
};
const AtomicRow &atomicRow(std::string_view name) { return *std::ranges::find(atomicRows, name, &AtomicRow::name); }
} // namespace

/// Atomics are for the numbers that have arithmetic, those on bits for integers.
bool Checker::atomicDType(const BuiltinCall &call) {
  DType t = call.receiver.type.dtype;
  bool integersOnly = atomicRow(call.info->name).integersOnly;
  bool fits = integersOnly ? isInt(t) : hasArithmetic(t) && t != DType::bool_;
  if (!fits)
    report(Diag::OperandType, call.receiverSpan,
           fmt::format("'{}' does not take an array of {}", call.info->name, name(t)),
           integersOnly ? "the bits of integers are combined" : "atomics are for integers, f16, bf16, f32 and f64");
  return fits;
}

Value Checker::callAtomic(BuiltinCall &call) {
  const AtomicRow &row = atomicRow(call.info->name);
  if (!atomicDType(call) || !mayAccess(call, true, true))
    return Value::error();
  DType t = call.receiver.type.dtype;
  const std::string &arrayName = program.arrays[call.receiver.root].name;
  std::vector<Value> values;
  std::vector<Span> spans;
  std::vector<std::string_view> names = {"x"};
  if (row.op == AtomicOp::Cas)
    names = {"expected", "desired"};
  for (std::string_view param : names) {
    const BoundArg &arg = *call.find(param);
    Value v = storable(arg.value, t, arg.span, fmt::format("the array '{}'", arrayName));
    if (row.negated && !v.isError())
      v = unary(UnaryOp::Neg, v, arg.span, {});
    values.push_back(std::move(v));
    spans.push_back(arg.span);
  }
  auto at = lanes(call, values, spans);
  auto number = site(call, std::string(call.info->name));
  auto ordering = orderingOf(call, "an atomic", {MemoryOrder::AcqRel, MemoryScope::Device},
                             {MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel});
  if (!at || !number || !ordering)
    return Value::error();
  Type type{TypeKind::Tile, t, at->shape, 0};
  ValueId id =
      builder.emit(AtomicInst{*number, row.op, at->masked, *ordering}, std::move(at->operands), type, call.span);
  return Value::tile(id, type, origin(call.span, fmt::format("this is read from '{}'", arrayName)));
}

/// Atomics of a whole tile. Of a sparse view they become those of elements, whose results nobody sees.
Value Checker::callViewAtomic(BuiltinCall &call) {
  const AtomicRow &row = atomicRow(call.info->name);
  if (!atomicDType(call) || !mayAccess(call, true, true))
    return Value::error();
  const Value &view = call.receiver;
  Value v = tileFor(call);
  auto number = site(call, std::string(call.info->name));
  if (view.sparseAxis >= 0) {
    auto at = sparseLanes(call, v, call.find("x")->span);
    if (!at || !number)
      return Value::error();
    Type type{TypeKind::Tile, view.type.dtype, at->shape, 0};
    Ordering relaxed{MemoryOrder::Relaxed, MemoryScope::Device};
    builder.emit(AtomicInst{*number, row.op, false, relaxed}, std::move(at->operands), type, call.span);
    return Value::unit();
  }
  auto at = indices(call.many("index"), view, call.span);
  if (!at || !number || v.isError())
    return Value::error();
  std::vector<ValueId> operands = {view.id};
  operands.insert(operands.end(), at->begin(), at->end());
  operands.push_back(v.id);
  builder.emitVoid(ViewAtomicInst{*number, row.op}, std::move(operands), call.span);
  return Value::unit();
}

} // namespace tilec::sema
