// Parts of arrays: leading axes fixed, slices, and the bytes that elements share.
#include "compiler/sema/checker.h"

namespace tilec::sema {

Value Checker::callAt(BuiltinCall &call) {
  const Value &array = call.receiver;
  const std::string &arrayName = program.arrays[array.root].name;
  const std::vector<BoundArg> &args = call.many("index");
  if (args.empty())
    return fail(Diag::WrongRank, call.span, "'at' takes an index for each leading axis that it fixes");
  if (args.size() >= size_t(array.type.rank))
    return fail(Diag::WrongRank, call.span,
                fmt::format("{} {} leave no axis of '{}', an array of rank {}", args.size(),
                            args.size() == 1 ? "index" : "indices", arrayName, array.type.rank),
                "'at' keeps one axis at least; one element is read with 'a.gather(i, …)'");
  std::vector<ValueId> operands = {array.id};
  bool good = true;
  for (const BoundArg &arg : args) {
    constexpr std::string_view what = "an index of 'at' is one integer";
    Value v = arg.value.isTileLike() && !shapeOf(arg.value).empty()
                  ? fail(Diag::IndexType, arg.span, fmt::format("{}, not {}", what, typeName(arg.value)),
                         "elements at index tiles are read with 'a.gather(i, …)'")
                  : indexValue(arg, what);
    good &= !v.isError();
    operands.push_back(v.id);
  }
  if (!good)
    return Value::error();
  Value result = array;
  result.isPart = true;
  result.type.rank -= int(args.size());
  result.id = builder.emit(AtInst{}, std::move(operands), result.type, call.span);
  return result;
}

Value Checker::callSlice(BuiltinCall &call) {
  const Value &array = call.receiver;
  auto axis = axisOf(*call.find("axis"), array.type.rank, false);
  const BoundArg &start = *call.find("start"), &stop = *call.find("stop");
  const BoundArg *step = call.find("step");
  bool good = axis.has_value();
  for (const BoundArg *arg : {&start, &stop})
    if (arg->value.isTileLike() && !shapeOf(arg->value).empty()) {
      report(Diag::IndexType, arg->span,
             fmt::format("a bound of 'slice' is one integer, not {}", typeName(arg->value)));
      good = false;
    }
  Value from = good ? indexValue(start, "a bound of 'slice' is one integer") : Value::error();
  Value to = good ? indexValue(stop, "a bound of 'slice' is one integer") : Value::error();
  std::optional<int64_t> stride = 1;
  if (step)
    stride = constInt(step->value, step->span, "the step of a slice");
  if (stride && *stride <= 0)
    return fail(Diag::BadStep, step->span, fmt::format("the step of a slice is {}, and steps are positive", *stride));
  if (from.isError() || to.isError() || !stride)
    return Value::error();
  if (start.value.isConstScalar() && stop.value.isConstScalar()) {
    BigInt low = exactOf(start.value), high = exactOf(stop.value);
    if (low > high)
      return fail(Diag::SliceRange, call.span,
                  fmt::format("a slice from {} to {} ends before it starts", toString(low), toString(high)),
                  "the start comes first, then the stop, which is no part of it");
  }
  // One dtype for the three. Bounds past i64 lie behind every array: they are cut, not wrapped.
  bool wide = from.type.dtype == DType::i64 || to.type.dtype == DType::i64 || *stride > INT32_MAX;
  DType t = wide ? DType::i64 : DType::i32;
  auto bound = [&](const BoundArg &arg, const Value &v) {
    bool huge = arg.value.isTile() && arg.value.type.dtype == DType::u64;
    if (!huge)
      return convertTo(v, t, arg.span);
    ValueId id = builder.emit(ConvertInst{Rounding::NearestEven, true}, {arg.value.id}, v.type, arg.span);
    return Value::tile(id, v.type, v.origin);
  };
  from = bound(start, from), to = bound(stop, to);
  Value distance = materialize(Value::typed(t, encodeInt(t, *stride)), call.span);
  if (!evenSlice(call, *axis, start.value, stop.value, *stride))
    return Value::error();
  Value result = array;
  result.isPart = true;
  result.id = builder.emit(SliceInst{int(*axis)}, {array.id, from.id, to.id, distance.id}, array.type, call.span);
  return result;
}

/// The axis along which two elements of f4e2m1 share a byte: that of stride 1. Nothing: there is none, or it is not
/// known while compiling.
std::optional<size_t> Checker::pairedAxis(const Value &array) const {
  if (info(array.type.dtype).bits >= 8 || array.type.rank == 0)
    return std::nullopt;
  const std::vector<LaunchExpr> &strides = program.arrays[array.root].strides;
  size_t rank = size_t(array.type.rank);
  if (strides.empty())
    return rank - 1;
  for (size_t i = 0; i < rank; ++i) // leading axes may have been fixed
    if (strides[strides.size() - rank + i] == LaunchExpr::constant(int64_t(1)))
      return i;
  return std::nullopt;
}

/// A slice keeps whole bytes.
bool Checker::evenSlice(BuiltinCall &call, int64_t axis, const Value &start, const Value &stop, int64_t step) {
  const Value &array = call.receiver;
  if (pairedAxis(array) != size_t(axis))
    return true;
  auto odd = [](const Value &v) { return v.isConstScalar() && ((exactOf(v)) & 1); };
  if (step == 1 && !odd(start) && !odd(stop))
    return true;
  report(Diag::OperandType, call.span,
         fmt::format("a slice of {} along axis {} has even bounds and step 1: two elements share a byte there",
                     name(array.type.dtype), axis));
  return false;
}

/// So does a tile.
bool Checker::evenTiles(BuiltinCall &call, const std::vector<int64_t> &shape, const ViewInst &view) {
  std::optional<size_t> paired = pairedAxis(call.receiver);
  for (size_t i = 0; paired && i < shape.size(); ++i)
    if (size_t(view.axes[i]) == *paired && (shape[i] % 2 != 0 || view.step[i] % 2 != 0)) {
      report(Diag::OperandType, call.span,
             fmt::format("a tile of {} has an even extent and step along axis {}: two elements share a byte there",
                         name(call.receiver.type.dtype), i));
      return false;
    }
  return true;
}

} // namespace tilec::sema
