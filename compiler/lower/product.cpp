// Matrix products: fragments of mma.sync, or multiply-add on operands in shared memory.
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/words.h"
#include "compiler/transforms/op_layouts.h"
#include <fmt/format.h>

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {
namespace {

/// Registers of a tile by the coordinates that a register alone gives.
class Fragments {
public:
  Fragments(KernelLowering &k, Value tile)
      : k(k), tile(tile), layout(tile::layoutOf(cast<RankedTensorType>(tile.getType()))) {
    for (uint32_t reg = 0; reg < layout.registers(); ++reg)
      registers.try_emplace(layout.apply({reg, 0, 0, 0}), reg);
  }
  uint32_t at(int64_t row, int64_t column) const {
    int64_t coords[] = {row, column};
    return registers.at(layout.index(coords));
  }
  Value value(int64_t row, int64_t column) const { return k.get(tile, at(row, column)); }
  bool holds(int64_t row, int64_t column) const {
    int64_t coords[] = {row, column};
    return registers.contains(layout.index(coords));
  }
  const LinearLayout::Shape &shape() const { return layout.shape(); }

private:
  KernelLowering &k;
  Value tile;
  LinearLayout layout;
  llvm::DenseMap<uint64_t, uint32_t> registers;
};

/// Narrow elements of one 32-bit register, the first lowest.
Value packed(KernelLowering &k, ArrayRef<Value> elements) {
  if (elements.size() == 1) {
    Type type = elements.front().getType();
    return type.isF32() ? LLVM::BitcastOp::create(k.b, k.loc, k.i32(), elements.front()).getResult() : elements.front();
  }
  Value whole =
      LLVM::UndefOp::create(k.b, k.loc, VectorType::get(int64_t(elements.size()), elements.front().getType()));
  for (auto [i, element] : llvm::enumerate(elements))
    whole = LLVM::InsertElementOp::create(k.b, k.loc, whole, element, k.constant(k.i32(), int64_t(i)));
  return LLVM::BitcastOp::create(k.b, k.loc, k.i32(), whole);
}

/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.
std::string instructionName(tile::MmaOp op, const transforms::MmaUnit &unit) {
  auto operand = [](Value tile, bool isUnsigned) -> std::string {
    switch (*tile::dtypeOf(getElementTypeOrSelf(tile.getType()))) {
    case DType::f8e4m3:
      return "e4m3";
    case DType::f8e5m2:
      return "e5m2";
    case DType::i8:
      return isUnsigned ? "u8" : "s8";
    case DType::i32:
      return "s32";
    default:
      return std::string(name(*tile::dtypeOf(getElementTypeOrSelf(tile.getType()))));
    }
  };
  std::string acc = operand(op.getAcc(), false);
  return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{}", unit.m, unit.n, unit.k, acc,
                     operand(op.getA(), op.getAUnsigned()), operand(op.getB(), op.getBUnsigned()), acc);
}

/// `{$4, $5}` and moves on.
std::string registerList(int &next, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(next++);
  return text + "}";
}

} // namespace

LogicalResult KernelLowering::lowerMma(tile::MmaOp op) {
  auto unit = transforms::mmaUnit(op, arch);
  if (!unit)
    return op->emitOpError("has no matrix unit");
  Fragments a(*this, op.getA()), b_(*this, op.getB()), acc(*this, op.getAcc());
  Registers result = get(op.getAcc());
  Type accType = result.front().getType();
  bool wide = accType.isF64(), ints = isa<IntegerType>(accType);
  char accConstraint = wide ? 'd' : ints ? 'r' : 'f', wordConstraint = wide ? 'd' : 'r';
  std::string instruction = instructionName(op, *unit);

  auto wordsOf = [&](const Fragments &from, int64_t row, int64_t column, bool alongRows) {
    SmallVector<Value> elements;
    for (int j = 0; j < unit->packed; ++j)
      elements.push_back(alongRows ? from.value(row + j, column) : from.value(row, column + j));
    return packed(*this, elements);
  };
  // Words of a fragment: halves along k, and for a also along the rows, as the instruction wants them.
  int64_t half = 4 * unit->packed;
  llvm::DenseMap<std::pair<int64_t, int64_t>, SmallVector<Value>> left, right;
  auto leftAt = [&](int64_t row, int64_t k) -> SmallVector<Value> & {
    SmallVector<Value> &words = left[{row, k}];
    if (words.empty())
      for (int64_t kk = 0; kk < unit->k; kk += half)
        for (int64_t r = 0; r < unit->m; r += 8)
          words.push_back(wordsOf(a, row + r, k + kk, false));
    return words;
  };
  auto rightAt = [&](int64_t k, int64_t column) -> SmallVector<Value> & {
    SmallVector<Value> &words = right[{k, column}];
    if (words.empty())
      for (int64_t kk = 0; kk < unit->k; kk += half)
        words.push_back(wordsOf(b_, k + kk, column, true));
    return words;
  };

  for (int64_t k = 0; k < a.shape()[1]; k += unit->k)
    for (int64_t row = 0; row < acc.shape()[0]; row += unit->m)
      for (int64_t column = 0; column < acc.shape()[1]; column += unit->n) {
        if (!acc.holds(row, column))
          continue; // other warps compute it
        SmallVector<uint32_t> places;
        for (int64_t r = 0; r < unit->m; r += 8)
          for (int64_t c : {0, 1})
            places.push_back(acc.at(row + r, column + c));
        SmallVector<Value> operands = leftAt(row, k), more = rightAt(k, column);
        size_t leftWords = operands.size();
        llvm::append_range(operands, more);
        for (uint32_t place : places)
          operands.push_back(result[place]);
        int next = 0;
        std::string text = instruction + " " + registerList(next, places.size()) + ", ";
        text += registerList(next, leftWords) + ", " + registerList(next, more.size()) + ", ";
        text += registerList(next, places.size()) + ";";
        std::string constraints;
        for (size_t i = 0; i < places.size(); ++i)
          constraints += std::string(i ? ",=" : "=") + accConstraint;
        for (size_t i = 0; i < operands.size(); ++i)
          constraints += std::string(",") + (i < leftWords + more.size() ? wordConstraint : accConstraint);
        SmallVector<Value> sums = assembly(text, constraints, SmallVector<Type>(places.size(), accType), operands,
                                           /*sideEffects=*/true); // all lanes take part: it must stay where it is
        for (auto [place, sum] : llvm::zip(places, sums))
          result[place] = sum;
      }
  set(op, std::move(result));
  return success();
}

LogicalResult KernelLowering::lowerFmaProduct(tgpu::FmaProductOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  LinearLayout layout = tile::layoutOf(type);
  Type element = scalarType(type.getElementType());
  int rank = layout.rank(), rowAxis = rank - 2, columnAxis = rank - 1;
  auto bufferA = op.getA().getDefiningOp<tgpu::AllocSharedOp>(),
       bufferB = op.getB().getDefiningOp<tgpu::AllocSharedOp>();
  int64_t depth = bufferA.getType().getShape().back();
  int64_t rows = layout.shape()[size_t(rowAxis)], columns = layout.shape()[size_t(columnAxis)];
  auto pointer = LLVM::LLVMPointerType::get(context(), 3);

  // A coordinate of each register, with the thread's part.
  auto coordinate = [&](uint32_t reg, int axis) {
    int shift = layout.dimShift(axis), bits = layout.dimBits(axis);
    uint64_t part = layout.apply({reg, 0, 0, 0}) >> shift & ((uint64_t(1) << bits) - 1);
    return std::pair(part, [this, &layout, shift, bits, part] {
      return withRegister(threadCoordinate(layout, shift, bits), threadBits(layout, shift, bits), part);
    });
  };
  // Addresses of the rows of a and the columns of b that a thread needs, each once.
  Value baseA = sharedAddress(*this, bufferA), baseB = sharedAddress(*this, bufferB);
  llvm::MapVector<std::pair<uint64_t, uint64_t>, Value> rowsOfA, columnsOfB;
  SmallVector<std::pair<unsigned, unsigned>> operandsOf;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg) {
    auto [row, rowValue] = coordinate(reg, rowAxis);
    auto [column, columnValue] = coordinate(reg, columnAxis);
    uint64_t batch = 0;
    Value batchValue;
    if (rank == 3) {
      auto [part, value] = coordinate(reg, 0);
      batch = part;
      batchValue = value();
    }
    auto address = [&](Value base, Value offset, int64_t perBatch) -> Value {
      if (batchValue)
        offset = add(offset, mul(batchValue, constant(i32(), perBatch)));
      return LLVM::GEPOp::create(b, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{offset});
    };
    Value &fromA = rowsOfA[{batch, row}];
    if (!fromA)
      fromA = address(baseA, mul(rowValue(), constant(i32(), depth)), rows * depth);
    Value &fromB = columnsOfB[{batch, column}];
    if (!fromB)
      fromB = address(baseB, columnValue(), columns * depth);
    operandsOf.emplace_back(rowsOfA.find({batch, row}) - rowsOfA.begin(),
                            columnsOfB.find({batch, column}) - columnsOfB.begin());
  }

  Registers sums = get(op.getAcc());
  Block *body, *exit;
  {
    OpBuilder::InsertionGuard guard(b);
    body = b.createBlock(&func.getBody());
    exit = b.createBlock(&func.getBody());
  }
  Registers carried = {constant(i32(), 0)};
  llvm::append_range(carried, sums);
  LLVM::BrOp::create(b, loc, carried, body);

  b.setInsertionPointToStart(body);
  Value k = body->addArgument(i32(), loc);
  Registers inside;
  for (Value sum : sums)
    inside.push_back(body->addArgument(sum.getType(), loc));
  VectorAccess kind{"shared", element, 1, /*volatileLoad=*/true};
  auto load = [&](Value address, Value offset) {
    address = LLVM::GEPOp::create(b, loc, pointer, element, address, ArrayRef<LLVM::GEPArg>{offset});
    return fromWords(*this, kind, loadWords(*this, kind, address, Value(), std::nullopt)).front();
  };
  Registers left, right;
  for (auto &[key, address] : rowsOfA)
    left.push_back(load(address, k));
  Value rowOfB = mul(k, constant(i32(), columns));
  for (auto &[key, address] : columnsOfB)
    right.push_back(load(address, rowOfB));
  for (auto [sum, places] : llvm::zip(inside, operandsOf)) {
    Value x = left[places.first], y = right[places.second];
    sum = isa<FloatType>(element) ? intrinsic("llvm.fma", element, {x, y, sum}) : add(mul(x, y), sum);
  }
  Value next = add(k, constant(i32(), 1));
  Registers again = {next};
  llvm::append_range(again, inside);
  LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::slt, next, constant(i32(), depth)), body, again, exit,
                         inside);
  b.setInsertionPointToStart(exit);
  Registers result;
  for (Value sum : sums)
    result.push_back(exit->addArgument(sum.getType(), loc));
  set(op, std::move(result));
  return success();
}

} // namespace tilec::lower
