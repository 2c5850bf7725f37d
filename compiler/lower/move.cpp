// Ops that move elements between tiles or between registers of other widths. Layout assignment has made sure that
// nothing leaves its thread.
#include "compiler/lower/kernel_lowering.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {
namespace {

/// The registers of a whole tile that hold a part: those of the part lie below, a bit for each doubling above.
class PartRegisters {
public:
  PartRegisters(KernelLowering &k, Value whole, Value part, ValueRange indices)
      : k(k), partLayout(tile::layoutOf(cast<RankedTensorType>(part.getType()))) {
    LinearLayout::Shape shape = tile::layoutOf(cast<RankedTensorType>(whole.getType())).shape();
    // Number of the part: the extra bits of each axis, the last axis lowest, as LinearLayout::broadcast() adds them.
    Value runTime;
    for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
      int64_t count = shape[size_t(axis)] / partLayout.shape()[size_t(axis)];
      if (count > 1) {
        Value term = k.mul(k.scalar(indices[size_t(axis)]), k.constant(k.i32(), parts));
        runTime = runTime ? k.add(runTime, term) : term;
      }
      parts *= count;
    }
    number = runTime;
  }
  int64_t count() const { return parts; }
  uint32_t registerOf(uint32_t partRegister, int64_t part) const {
    return partRegister + uint32_t(part) * partLayout.registers();
  }
  /// Whether the index names a part; no value where there is only one.
  Value isPart(int64_t part) {
    return number ? k.compare(LLVM::ICmpPredicate::eq, number, k.constant(k.i32(), part)) : Value();
  }
  uint32_t partSize() const { return partLayout.registers(); }

private:
  KernelLowering &k;
  LinearLayout partLayout;
  int64_t parts = 1;
  Value number;
};

Registers extract(KernelLowering &k, tile::ExtractOp op) {
  PartRegisters parts(k, op.getValue(), op.getResult(), op.getIndices());
  const Registers &from = k.get(op.getValue());
  Registers to(from.begin(), from.begin() + parts.partSize());
  for (int64_t part = 1; part < parts.count(); ++part) {
    Value chosen = parts.isPart(part);
    for (uint32_t reg = 0; reg < parts.partSize(); ++reg)
      to[reg] = k.select(chosen, from[parts.registerOf(reg, part)], to[reg]);
  }
  return to;
}

Registers insert(KernelLowering &k, tile::InsertOp op) {
  PartRegisters parts(k, op.getValue(), op.getPart(), op.getIndices());
  Registers to = k.get(op.getValue());
  const Registers &part = k.get(op.getPart());
  for (int64_t i = 0; i < parts.count(); ++i) {
    Value chosen = parts.isPart(i);
    for (uint32_t reg = 0; reg < parts.partSize(); ++reg) {
      Value &place = to[parts.registerOf(reg, i)];
      place = chosen ? k.select(chosen, part[reg], place) : part[reg];
    }
  }
  return to;
}

Value castBits(KernelLowering &k, Value value, Type type) {
  if (value.getType() == type)
    return value;
  // LLVM's NVPTX back end cannot select a test of a bfloat's magnitude whose bits it knows to be a half's, and the
  // other way round; a move that it cannot look into keeps them apart.
  bool halves = isa<FloatType>(value.getType()) && isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16;
  if (halves) {
    Value bits = LLVM::BitcastOp::create(k.b, k.loc, k.b.getI16Type(), value);
    value = k.assembly("mov.b16 $0, $1;", "=h,h", {k.b.getI16Type()}, {bits}, /*sideEffects=*/false).front();
  }
  return LLVM::BitcastOp::create(k.b, k.loc, type, value);
}

Value asInteger(KernelLowering &k, Value value) {
  return castBits(k, value, k.b.getIntegerType(value.getType().getIntOrFloatBitWidth()));
}

/// Bits of an element in memory: fp4 takes half a byte, tf32 a word.
unsigned bitsOf(Type element) { return unsigned(info(*tile::dtypeOf(element)).bits); }

Registers pack(KernelLowering &k, tile::PackOp op) {
  const Registers &from = k.get(op.getValue());
  unsigned bits = bitsOf(getElementTypeOrSelf(op.getValue().getType()));
  Type byte = k.b.getI8Type();
  Registers to;
  for (size_t i = 0; i < from.size(); ++i) {
    if (bits >= 8) {
      Value whole = asInteger(k, from[i]);
      for (unsigned shift = 0; shift < bits; shift += 8)
        to.push_back(
            k.resize(LLVM::LShrOp::create(k.b, k.loc, whole, k.constant(whole.getType(), shift)), byte, false));
    } else if (i % 2 == 0) {
      Value low = k.bitAnd(from[i], k.constant(byte, 15));
      to.push_back(
          LLVM::OrOp::create(k.b, k.loc, low, LLVM::ShlOp::create(k.b, k.loc, from[i + 1], k.constant(byte, 4))));
    }
  }
  return to;
}

Registers unpack(KernelLowering &k, tile::UnpackOp op) {
  const Registers &from = k.get(op.getValue());
  Type element = getElementTypeOrSelf(op.getType());
  unsigned bits = bitsOf(element), bytes = std::max(1u, bits / 8);
  Type byte = k.b.getI8Type();
  Registers to;
  for (size_t i = 0; i < from.size(); i += bytes) {
    if (bits < 8) {
      to.push_back(k.bitAnd(from[i], k.constant(byte, 15)));
      to.push_back(LLVM::LShrOp::create(k.b, k.loc, from[i], k.constant(byte, 4)));
      continue;
    }
    Type word = k.b.getIntegerType(bits);
    Value whole = k.resize(from[i], word, false);
    for (unsigned j = 1; j < bytes; ++j) {
      Value part = LLVM::ShlOp::create(k.b, k.loc, k.resize(from[i + j], word, false), k.constant(word, 8 * j));
      whole = LLVM::OrOp::create(k.b, k.loc, whole, part);
    }
    to.push_back(castBits(k, whole, k.scalarType(element)));
  }
  return to;
}

} // namespace

LogicalResult KernelLowering::lowerMove(Operation *op) {
  Registers to;
  if (auto part = dyn_cast<tile::ExtractOp>(op)) {
    to = extract(*this, part);
  } else if (auto part = dyn_cast<tile::InsertOp>(op)) {
    to = insert(*this, part);
  } else if (auto bytes = dyn_cast<tile::PackOp>(op)) {
    to = pack(*this, bytes);
  } else if (auto bytes = dyn_cast<tile::UnpackOp>(op)) {
    to = unpack(*this, bytes);
  } else if (isa<tile::BitcastOp>(op)) {
    Type type = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
    for (Value value : get(op->getOperand(0)))
      to.push_back(castBits(*this, value, type));
  } else {
    // permute and assume_divisible rename; cat has one more register bit, set for the second tile.
    to = get(op->getOperand(0));
    if (auto cat = dyn_cast<tile::CatOp>(op))
      llvm::append_range(to, get(cat.getRhs()));
  }
  set(op->getResult(0), std::move(to));
  return success();
}

} // namespace tilec::lower
