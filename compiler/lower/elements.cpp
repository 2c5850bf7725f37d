// Parts of arrays, and accesses to single elements: gather, scatter, atomics.
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/words.h"

using namespace mlir;

namespace tilec::lower {

LogicalResult KernelLowering::lowerArrayPart(Operation *op) {
  ArrayValue part = arrays[op->getOperand(0)];
  auto clampTo = [&](Value value, Value low, Value high) -> Value {
    value = LLVM::SMaxOp::create(b, loc, value, low);
    return LLVM::SMinOp::create(b, loc, value, high);
  };
  Value zero = constant(i64(), 0), offset = zero;
  if (auto at = dyn_cast<tile::AtOp>(op)) {
    Value inside;
    for (auto [axis, index] : llvm::enumerate(at.getIndices())) {
      Value position = resize(scalar(index), i64(), true);
      offset = add(offset, mul(position, part.strides[axis]));
      Value holds = compare(LLVM::ICmpPredicate::ult, position, part.extents[axis]);
      inside = inside ? bitAnd(inside, holds) : holds;
    }
    part.extents.erase(part.extents.begin(), part.extents.begin() + at.getIndices().size());
    part.strides.erase(part.strides.begin(), part.strides.begin() + at.getIndices().size());
    for (Value &extent : part.extents)
      extent = select(inside, extent, zero);
  } else {
    auto slice = cast<tile::SliceOp>(op);
    Value &extent = part.extents[slice.getAxis()], &stride = part.strides[slice.getAxis()];
    Value start = clampTo(resize(scalar(slice.getStart()), i64(), true), zero, extent);
    Value stop = clampTo(resize(scalar(slice.getStop()), i64(), true), zero, extent);
    Value step = resize(scalar(slice.getStep()), i64(), true);
    Value length = LLVM::SMaxOp::create(b, loc, LLVM::SubOp::create(b, loc, stop, start), zero);
    offset = mul(start, stride);
    Value rounded = add(length, LLVM::SubOp::create(b, loc, step, constant(i64(), 1)));
    extent = LLVM::UDivOp::create(b, loc, rounded, step);
    stride = mul(stride, step);
  }
  Type element = memoryType(cast<tile::ArrayType>(op->getResult(0).getType()).getElementType());
  part.base = LLVM::GEPOp::create(b, loc, part.base.getType(), element, part.base, ArrayRef<LLVM::GEPArg>{offset});
  arrays[op->getResult(0)] = std::move(part);
  return success();
}

namespace {

/// Address and guard of each register of an access to single elements.
struct ElementAccess {
  Registers addresses, guards;
};

ElementAccess elementAccess(KernelLowering &k, Value array, ValueRange indices, Value mask, bool inBounds, Type tile) {
  const ArrayValue &memory = k.arrays[array];
  Type element = k.memoryType(getElementTypeOrSelf(tile));
  ElementAccess access;
  for (unsigned reg = 0; reg < k.registerCount(tile); ++reg) {
    Value offset = k.constant(k.i64(), 0), guard = mask ? k.get(mask)[reg] : Value();
    for (auto [axis, index] : llvm::enumerate(indices)) {
      // As an unsigned number an index below 0 lies beyond every extent.
      Value position = k.resize(k.get(index)[reg], k.i64(), true);
      if (!inBounds) {
        Value inside = k.compare(LLVM::ICmpPredicate::ult, position, memory.extents[axis]);
        guard = guard ? k.bitAnd(guard, inside) : inside;
      }
      offset = k.add(offset, k.mul(position, memory.strides[axis]));
    }
    access.addresses.push_back(
        LLVM::GEPOp::create(k.b, k.loc, memory.base.getType(), element, memory.base, ArrayRef<LLVM::GEPArg>{offset}));
    access.guards.push_back(guard);
  }
  return access;
}

/// True in the thread that acts for an element, and which registers repeat another's.
std::pair<Value, uint32_t> owners(KernelLowering &k, Type tile) {
  auto tensor = dyn_cast<RankedTensorType>(tile);
  if (!tensor)
    return {k.compare(LLVM::ICmpPredicate::eq, k.thread, k.constant(k.i32(), 0)), 0};
  LinearLayout layout = tile::layoutOf(tensor);
  return {k.ownerPredicate(layout), layout.freeMask(layout::InDim::Register)};
}

Value both(KernelLowering &k, Value x, Value y) { return !x ? y : !y ? x : k.bitAnd(x, y); }

} // namespace

static StringRef scopeName(tile::MemoryScope scope) {
  switch (scope) {
  case tile::MemoryScope::block:
    return "cta";
  case tile::MemoryScope::device:
    return "gpu";
  case tile::MemoryScope::system:
    return "sys";
  }
  llvm_unreachable("every scope is above");
}

std::string orderedSpace(StringRef space, tile::MemoryOrder order, tile::MemoryScope scope) {
  if (order == tile::MemoryOrder::weak)
    return space.str();
  return (stringifyMemoryOrder(order) + "." + scopeName(scope) + ".global").str();
}

namespace {

/// How PTX names an atomic on a type: `add.f32`, `min.s32`; empty when it has none.
std::string atomicName(tile::AtomicKind kind, Type type, bool isUnsigned, bool hasBf16) {
  unsigned bits = type.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  bool wide = bits == 32 || bits == 64;
  switch (kind) {
  case tile::AtomicKind::add:
    if (type.isF16())
      return "add.noftz.f16";
    if (type.isBF16())
      return hasBf16 ? "add.noftz.bf16" : "";
    if (isa<FloatType>(type))
      return "add.f" + width;
    return wide ? "add.u" + width : "";
  case tile::AtomicKind::max:
  case tile::AtomicKind::min:
    if (isa<FloatType>(type) || !wide)
      return "";
    return (kind == tile::AtomicKind::max ? "max." : "min.") + std::string(isUnsigned ? "u" : "s") + width;
  case tile::AtomicKind::and_:
  case tile::AtomicKind::or_:
  case tile::AtomicKind::xor_:
    return wide ? (stringifyAtomicKind(kind) + ".b").str() + width : "";
  case tile::AtomicKind::xchg:
    return wide ? "exch.b" + width : "";
  case tile::AtomicKind::cas:
    return bits >= 16 ? "cas.b" + width : "";
  }
  llvm_unreachable("every kind is above");
}

/// One atomic of a thread on one element.
class AtomicStep {
public:
  AtomicStep(KernelLowering &k, tile::AtomicKind kind, bool isUnsigned, tile::MemoryOrder order,
             tile::MemoryScope scope, bool hasBf16)
      : k(k), kind(kind), isUnsigned(isUnsigned), hasBf16(hasBf16),
        suffix(("." + stringifyMemoryOrder(order) + "." + scopeName(scope) + ".global.").str()) {}

  /// What was there before; `otherwise` where the guard is false.
  Value run(Value address, Value guard, Value expected, Value value, Value otherwise) {
    Type type = value.getType();
    std::string name = atomicName(kind, type, isUnsigned, hasBf16);
    if (!name.empty())
      return direct(name, address, guard, expected, value, otherwise);
    return loop(address, guard, expected, value, otherwise);
  }

private:
  KernelLowering &k;
  tile::AtomicKind kind;
  bool isUnsigned, hasBf16;
  std::string suffix;

  Value asBits(Value value) {
    Type bits = k.b.getIntegerType(value.getType().getIntOrFloatBitWidth());
    return value.getType() == bits ? value : LLVM::BitcastOp::create(k.b, k.loc, bits, value).getResult();
  }
  Value fromBits(Value bits, Type type) {
    return bits.getType() == type ? bits : LLVM::BitcastOp::create(k.b, k.loc, type, bits).getResult();
  }
  static char constraint(Type type) {
    unsigned bits = type.getIntOrFloatBitWidth();
    return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
  }

  /// One instruction under a predicate; its registers hold bits.
  Value instruction(const std::string &name, Value address, Value guard, ArrayRef<Value> operands, Value otherwise) {
    Type type = operands.front().getType();
    char c = constraint(type);
    std::string text = "atom" + suffix + name + " $0, [$1]", constraints = std::string("=") + c + ",l";
    SmallVector<Value> all = {address};
    for (Value operand : operands) {
      text += ", $" + std::to_string(all.size() + 1);
      constraints += std::string(",") + c;
      all.push_back(operand);
    }
    text += ";";
    if (guard) {
      text = "@$" + std::to_string(all.size() + 1) + " " + text;
      constraints += ",b";
      all.push_back(guard);
      constraints += ",0";
      all.push_back(otherwise);
    }
    return k.assembly(text, constraints + ",~{memory}", {type}, all, /*sideEffects=*/true).front();
  }

  Value direct(const std::string &name, Value address, Value guard, Value expected, Value value, Value otherwise) {
    SmallVector<Value> operands;
    if (expected)
      operands.push_back(asBits(expected));
    operands.push_back(asBits(value));
    return fromBits(instruction(name, address, guard, operands, asBits(otherwise)), value.getType());
  }

  /// The new value of an element that holds `old`.
  Value next(Value old, Value expected, Value value) {
    Type type = value.getType();
    bool isFloat = isa<FloatType>(type);
    switch (kind) {
    case tile::AtomicKind::add:
      return isFloat ? LLVM::FAddOp::create(k.b, k.loc, old, value).getResult() : k.add(old, value);
    case tile::AtomicKind::max:
    case tile::AtomicKind::min:
      return combine(k, kind == tile::AtomicKind::max ? tile::ReduceKind::max : tile::ReduceKind::min, isUnsigned,
                     false, old, value);
    case tile::AtomicKind::and_:
      return k.bitAnd(old, value);
    case tile::AtomicKind::or_:
      return LLVM::OrOp::create(k.b, k.loc, old, value);
    case tile::AtomicKind::xor_:
      return LLVM::XOrOp::create(k.b, k.loc, old, value);
    case tile::AtomicKind::xchg:
      return value;
    case tile::AtomicKind::cas:
      return k.select(k.compare(LLVM::ICmpPredicate::eq, asBits(old), asBits(expected)), value, old);
    }
    llvm_unreachable("every kind is above");
  }

  /// Compare-and-swap until nobody came between; a byte goes with the word around it.
  Value loop(Value address, Value guard, Value expected, Value value, Value otherwise) {
    OpBuilder &b = k.b;
    Type type = value.getType();
    bool isByte = type.getIntOrFloatBitWidth() == 8;
    Type word = isByte ? k.i32() : b.getIntegerType(type.getIntOrFloatBitWidth());
    auto block = [&] {
      OpBuilder::InsertionGuard insertion(b);
      return b.createBlock(&k.func.getBody());
    };
    Block *start = block(), *repeat = block(), *exit = block();
    Value result = exit->addArgument(type, k.loc), seen = repeat->addArgument(word, k.loc);
    if (guard)
      LLVM::CondBrOp::create(b, k.loc, guard, start, ValueRange(), exit, ValueRange{otherwise});
    else
      LLVM::BrOp::create(b, k.loc, ValueRange(), start);

    b.setInsertionPointToStart(start);
    Value place = address, shift;
    if (isByte) {
      Value number = LLVM::PtrToIntOp::create(b, k.loc, k.i64(), address);
      Value within = k.bitAnd(number, k.constant(k.i64(), 3));
      shift = k.resize(LLVM::ShlOp::create(b, k.loc, within, k.constant(k.i64(), 3)), k.i32(), false);
      Value aligned = LLVM::SubOp::create(b, k.loc, number, within);
      place = LLVM::IntToPtrOp::create(b, k.loc, address.getType(), aligned);
    }
    char c = constraint(word);
    std::string width = std::to_string(word.getIntOrFloatBitWidth());
    Value first = k.assembly("ld.relaxed.gpu.global.b" + width + " $0, [$1];", std::string("=") + c + ",l,~{memory}",
                             {word}, {place}, true)
                      .front();
    LLVM::BrOp::create(b, k.loc, ValueRange{first}, repeat);

    b.setInsertionPointToStart(repeat);
    Value element = seen;
    if (isByte)
      element = k.resize(LLVM::LShrOp::create(b, k.loc, seen, shift), k.b.getI8Type(), false);
    element = fromBits(element, type);
    Value changed = asBits(next(element, expected, value));
    if (isByte) {
      Value cleared =
          k.bitAnd(seen, LLVM::XOrOp::create(b, k.loc, LLVM::ShlOp::create(b, k.loc, k.constant(word, 255), shift),
                                             k.constant(word, -1)));
      changed =
          LLVM::OrOp::create(b, k.loc, cleared, LLVM::ShlOp::create(b, k.loc, k.resize(changed, word, false), shift));
    }
    Value found = instruction("cas.b" + width, place, Value(), {seen, changed}, Value());
    LLVM::CondBrOp::create(b, k.loc, k.compare(LLVM::ICmpPredicate::eq, found, seen), exit, ValueRange{element}, repeat,
                           ValueRange{found});
    b.setInsertionPointToStart(exit);
    return result;
  }
};

} // namespace

Value atomicStep(KernelLowering &k, const AtomicSpec &spec, Value address, Value guard, Value expected, Value value) {
  Value otherwise =
      expected ? expected : k.constantBits(value.getType(), APInt(value.getType().getIntOrFloatBitWidth(), 0));
  AtomicStep step(k, spec.kind, spec.isUnsigned, spec.order, spec.scope, k.hasBf16Atomics);
  return step.run(address, guard, expected, value, otherwise);
}

LogicalResult KernelLowering::lowerGather(tile::GatherOp op) {
  Type element = getElementTypeOrSelf(op.getType()), memory = memoryType(element);
  ElementAccess access =
      elementAccess(*this, op.getArray(), op.getIndices(), op.getMask(), op.getInBounds(), op.getType());
  std::string space = orderedSpace(loadSpace(op.getArray()), op.getOrder(), op.getScope());
  VectorAccess kind{space, memory, 1, /*volatileLoad=*/space != "global.nc"};
  SmallVector<SmallVector<Value>> loaded;
  for (auto [address, guard] : llvm::zip(access.addresses, access.guards))
    loaded.push_back(loadWords(*this, kind, address, guard, std::nullopt));
  Registers registers;
  for (auto [reg, words] : llvm::enumerate(loaded)) {
    Value value = fromMemory(fromWords(*this, kind, words).front(), element);
    Value guard = access.guards[reg];
    registers.push_back(guard ? select(guard, value, get(op.getPadding())[reg]) : value);
  }
  set(op, std::move(registers));
  return success();
}

LogicalResult KernelLowering::lowerScatter(tile::ScatterOp op) {
  Type type = op.getValue().getType();
  ElementAccess access = elementAccess(*this, op.getArray(), op.getIndices(), op.getMask(), op.getInBounds(), type);
  auto [owner, replicas] = owners(*this, type);
  std::string space = orderedSpace("global", op.getOrder(), op.getScope());
  VectorAccess kind{space, memoryType(getElementTypeOrSelf(type)), 1};
  const Registers values = get(op.getValue());
  for (unsigned reg = 0; reg < values.size(); ++reg)
    if (!(reg & replicas))
      storeVector(*this, kind, access.addresses[reg], {toMemory(values[reg])}, both(*this, access.guards[reg], owner));
  return success();
}

LogicalResult KernelLowering::lowerAtomic(tile::AtomicOp op) {
  Type type = op.getType();
  ElementAccess access = elementAccess(*this, op.getArray(), op.getIndices(), op.getMask(), false, type);
  auto [owner, replicas] = owners(*this, type);
  AtomicSpec spec{op.getKind(), op.getIsUnsigned(), op.getOrder(), op.getScope()};
  const Registers values = get(op.getValue());
  const Registers expected = op.getExpected() ? get(op.getExpected()) : Registers();
  Registers registers(values.size());
  for (unsigned reg = 0; reg < values.size(); ++reg) {
    if (reg & replicas) {
      registers[reg] = registers[reg & ~replicas];
      continue;
    }
    registers[reg] = atomicStep(*this, spec, access.addresses[reg], both(*this, access.guards[reg], owner),
                                expected.empty() ? Value() : expected[reg], values[reg]);
  }
  set(op, std::move(registers));
  return success();
}

} // namespace tilec::lower
