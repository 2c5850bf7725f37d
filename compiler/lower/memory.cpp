// Grid, arrays, views and accesses to global memory.
#include "compiler/lower/kernel_lowering.h"
#include "compiler/lower/shared_tile.h"
#include "compiler/lower/words.h"

using namespace mlir;
using tilec::layout::InDim;

namespace tilec::lower {

static constexpr const char *axisNames = "xyz";

LogicalResult KernelLowering::lowerGrid(Operation *op) {
  auto special = [&](StringRef which, uint32_t axis, Type type) {
    std::string name = ("llvm.nvvm.read.ptx.sreg." + which + "." + Twine(axisNames[axis])).str();
    set(op->getResult(0), {resize(intrinsic(name, i32(), {}), type, false)});
  };
  if (auto id = dyn_cast<tile::BlockIdOp>(op)) {
    special("ctaid", id.getAxis(), id.getType());
  } else if (auto count = dyn_cast<tile::NumBlocksOp>(op)) {
    special("nctaid", count.getAxis(), count.getType());
  } else if (auto array = dyn_cast<tile::ArrayOp>(op)) {
    ArrayValue value;
    value.base = scalar(array.getBase());
    for (Value extent : array.getExtents())
      value.extents.push_back(resize(scalar(extent), i64(), true));
    for (Value stride : array.getStrides())
      value.strides.push_back(resize(scalar(stride), i64(), true));
    if (array.getStrides().empty()) {
      Value stride = constant(i64(), 1);
      value.strides.resize(value.extents.size());
      for (size_t axis = value.extents.size(); axis-- > 0;) {
        value.strides[axis] = stride;
        if (axis)
          stride = axis + 1 == value.extents.size() ? value.extents[axis] : mul(stride, value.extents[axis]);
      }
    }
    arrays[array.getResult()] = std::move(value);
  } else if (auto extent = dyn_cast<tile::ExtentOp>(op)) {
    set(extent, {resize(arrays[extent.getArray()].extents[extent.getAxis()], extent.getType(), true)});
  } else if (auto tiles = dyn_cast<tile::NumTilesOp>(op)) {
    auto view = tiles.getView().getDefiningOp<tile::ViewOp>();
    Value length = arrays[view.getArray()].extents[size_t(view.getAxes()[tiles.getAxis()])];
    int64_t step = view.getStep()[tiles.getAxis()];
    Value count = LLVM::UDivOp::create(b, loc, add(length, constant(i64(), step - 1)), constant(i64(), step));
    set(tiles, {resize(count, tiles.getType(), true)});
  } else if (auto view = dyn_cast<tile::ViewOp>(op)) {
    arrays[view.getResult()] = arrays[view.getArray()];
  }
  return success();
}

namespace {

/// One tile access: addresses and predicates of its registers.
class Access {
public:
  Access(KernelLowering &k, Operation *op, Value view, ValueRange indices, bool inBounds, Type tile);

  int64_t vector() const { return width; }
  /// First registers of the vectors a thread moves; the others follow by vectorRegister().
  ArrayRef<uint32_t> leaders() const { return leading; }
  uint32_t vectorRegister(uint32_t leader, int64_t element) const;
  Value address(uint32_t leader);
  /// Whether the vector lies inside the array; no value when it is known to.
  Value inside(uint32_t leader);
  /// The layout that registers are moved in, and the way to it from the tile's own layout and back. They differ where
  /// elements go one by one: lanes then hold neighbours, so that each access of a warp stays coalesced.
  const LinearLayout &movedLayout() const { return layout; }
  Registers exchange(Registers registers);

private:
  uint64_t registerPart(uint32_t reg, size_t axis) const {
    uint64_t element = hasTile ? layout.apply({reg, 0, 0, 0}) : 0;
    return element >> layout.dimShift(int(axis)) & uint64_t(layout.shape()[axis] - 1);
  }
  Value coordinate(size_t axis, uint64_t part) { return k.withRegister(threadPart[axis], reached[axis], part); }

  KernelLowering &k;
  const ArrayValue &array;
  tile::ViewOp viewOp;
  LinearLayout layout;
  bool hasTile, inBounds;
  Type elementType; ///< in memory
  int64_t unitAxis = -1, width = 1;
  std::vector<int> vectorBits;                ///< register bits along a vector
  SmallVector<std::pair<int, int>> exchanged; ///< register and lane bits that change places for the access
  SmallVector<uint32_t> leading;

  Value origin;                     ///< address of the tile's first element
  SmallVector<Value> threadPart;    ///< i32 per view axis
  SmallVector<uint64_t> reached;    ///< coordinate bits that lanes and warps reach
  SmallVector<Value> stride;        ///< i64 per view axis
  SmallVector<Value> first, length; ///< i32 per view axis: coordinates [first, first + length) lie inside
  llvm::DenseMap<std::pair<size_t, uint64_t>, Value> insideAxis; ///< by axis and register part
  llvm::DenseMap<uint64_t, Value> rows;                          ///< address without the unit axis' register part
};

/// Swaps the register bits of a contiguous run with the highest lane bits. Lanes held runs at a distance; now the lower
/// lane bits walk what follows a run and the higher ones the run itself.
LinearLayout exchangedLayout(const LinearLayout &layout, int axis, SmallVectorImpl<std::pair<int, int>> &swaps) {
  int lanes = layout.inBits(InDim::Lane), run = std::min(layout.contiguousBits(axis), lanes);
  LinearLayout::Bases bases;
  for (InDim dim : layout::allInDims)
    bases[size_t(dim)] = layout.bases(dim);
  for (auto [i, registerBit] : llvm::enumerate(layout.contiguousRegisterBits(axis, run))) {
    int laneBit = lanes - run + int(i);
    std::swap(bases[size_t(InDim::Register)][size_t(registerBit)], bases[size_t(InDim::Lane)][size_t(laneBit)]);
    swaps.emplace_back(registerBit, laneBit);
  }
  return LinearLayout(layout.shape(), bases);
}

Access::Access(KernelLowering &kernel, Operation *op, Value view, ValueRange indices, bool bounded, Type tile)
    : k(kernel), array(kernel.arrays[view]), viewOp(view.getDefiningOp<tile::ViewOp>()),
      hasTile(isa<RankedTensorType>(tile)), inBounds(bounded) {
  OpBuilder &b = k.b;
  elementType = k.memoryType(getElementTypeOrSelf(tile));
  if (hasTile)
    layout = tile::layoutOf(cast<RankedTensorType>(tile));
  if (auto axis = op->getAttrOfType<IntegerAttr>("tile.unit_axis"))
    unitAxis = axis.getInt();
  if (k.vectors)
    width = vectorOf(op, tile);
  if (width > 1)
    vectorBits = layout.contiguousRegisterBits(int(unitAxis), int(llvm::Log2_64(uint64_t(width))));
  else if (hasTile && unitAxis >= 0)
    layout = exchangedLayout(layout, int(unitAxis), exchanged);
  uint32_t inVector = 0;
  for (int bit : vectorBits)
    inVector |= uint32_t(1) << bit;
  for (uint32_t reg = 0; reg < layout.registers(); ++reg)
    if (!(reg & inVector))
      leading.push_back(reg);

  auto nonNegative = op->getAttrOfType<DenseBoolArrayAttr>("tile.nonnegative");
  Value offset = k.constant(k.i64(), 0);
  for (auto [axis, arrayAxis] : llvm::enumerate(viewOp.getAxes())) {
    int64_t extent = viewOp.getType().getShape()[axis];
    Value start = k.mul(k.resize(k.scalar(indices[axis]), k.i64(), true), k.constant(k.i64(), viewOp.getStep()[axis]));
    stride.push_back(array.strides[size_t(arrayAxis)]);
    offset = k.add(offset, k.mul(start, stride.back()));

    int shift = hasTile ? layout.dimShift(int(axis)) : 0, bits = hasTile ? layout.dimBits(int(axis)) : 0;
    threadPart.push_back(k.threadCoordinate(layout, shift, bits));
    reached.push_back(KernelLowering::threadBits(layout, shift, bits));
    offset = k.add(offset, k.mul(k.resize(threadPart.back(), k.i64(), false), stride.back()));
    if (inBounds)
      continue;
    // Clamped to the tile, both ends fit in 32 bits whatever the array's extent.
    auto clamp = [&](Value value) {
      value = LLVM::SMaxOp::create(b, k.loc, value, k.constant(k.i64(), 0));
      return k.resize(LLVM::SMinOp::create(b, k.loc, value, k.constant(k.i64(), extent)), k.i32(), true);
    };
    Value end = clamp(LLVM::SubOp::create(b, k.loc, array.extents[size_t(arrayAxis)], start));
    bool fromZero = nonNegative && nonNegative[axis];
    first.push_back(fromZero ? Value() : clamp(LLVM::SubOp::create(b, k.loc, k.constant(k.i64(), 0), start)));
    length.push_back(fromZero ? end : LLVM::SubOp::create(b, k.loc, end, first.back()).getResult());
  }
  origin = LLVM::GEPOp::create(b, k.loc, LLVM::LLVMPointerType::get(k.context(), 1), elementType, array.base,
                               ArrayRef<LLVM::GEPArg>{offset});
}

uint32_t Access::vectorRegister(uint32_t leader, int64_t element) const {
  for (size_t bit = 0; bit < vectorBits.size(); ++bit)
    if (element >> bit & 1)
      leader |= uint32_t(1) << vectorBits[bit];
  return leader;
}

Registers Access::exchange(Registers registers) {
  for (auto [registerBit, laneBit] : exchanged) {
    uint32_t bit = uint32_t(1) << registerBit;
    Value distance = k.constant(k.i32(), int64_t(1) << laneBit);
    Value upper = k.compare(LLVM::ICmpPredicate::ne, k.bitAnd(k.lane, distance), k.constant(k.i32(), 0));
    for (uint32_t reg = 0; reg < registers.size(); ++reg) {
      if (reg & bit)
        continue;
      // A lane keeps the register of its own half and trades the other for the partner's.
      Value &low = registers[reg], &high = registers[reg | bit];
      Value traded = k.shuffle("bfly", k.select(upper, low, high), distance);
      Value kept = k.select(upper, high, low);
      low = k.select(upper, traded, kept);
      high = k.select(upper, kept, traded);
    }
  }
  return registers;
}

Value Access::address(uint32_t leader) {
  Type pointer = LLVM::LLVMPointerType::get(k.context(), 1);
  // `origin` holds the thread's part; a register adds its own, or what XOR makes of it.
  auto delta = [&](size_t axis, uint64_t part) -> Value {
    if (!(part & reached[axis]))
      return k.constant(k.i64(), int64_t(part));
    Value moved = LLVM::SubOp::create(k.b, k.loc, coordinate(axis, part), threadPart[axis]);
    return k.resize(moved, k.i64(), true);
  };
  uint64_t key = hasTile ? layout.apply({leader, 0, 0, 0}) : 0;
  if (unitAxis >= 0 && hasTile)
    key &= ~(uint64_t(layout.shape()[size_t(unitAxis)] - 1) << layout.dimShift(int(unitAxis)));
  Value &row = rows[key];
  if (!row) {
    row = origin;
    for (size_t axis = 0; axis < stride.size(); ++axis)
      if (uint64_t part = registerPart(leader, axis); part && int64_t(axis) != unitAxis)
        row = LLVM::GEPOp::create(k.b, k.loc, pointer, elementType, row,
                                  ArrayRef<LLVM::GEPArg>{k.mul(delta(axis, part), stride[axis])});
  }
  uint64_t part = unitAxis >= 0 && hasTile ? registerPart(leader, size_t(unitAxis)) : 0;
  if (!part)
    return row;
  return LLVM::GEPOp::create(k.b, k.loc, pointer, elementType, row,
                             ArrayRef<LLVM::GEPArg>{delta(size_t(unitAxis), part)});
}

Value Access::inside(uint32_t leader) {
  if (inBounds)
    return {};
  Value all;
  for (size_t axis = 0; axis < length.size(); ++axis) {
    uint64_t part = registerPart(leader, axis);
    Value &test = insideAxis[{axis, part}];
    if (!test) {
      Value c = coordinate(axis, part);
      if (first[axis])
        c = LLVM::SubOp::create(k.b, k.loc, c, first[axis]);
      test = k.compare(LLVM::ICmpPredicate::ult, c, length[axis]);
    }
    all = all ? k.bitAnd(all, test) : test;
  }
  return all;
}

/// Storage bits of one element that lanes outside the array read; nothing: any bits do.
std::optional<APInt> paddingBits(tile::Padding padding, Type element) {
  unsigned bits = std::max(8u, unsigned(info(*tile::dtypeOf(element)).bits));
  auto type = dyn_cast<FloatType>(element);
  auto encode = [&](APFloat value) {
    APInt image = value.bitcastToAPInt().zext(bits);
    return isa<FloatTF32Type>(element) ? image.shl(13) : image; // MLIR's 19 bits are the upper ones of an f32
  };
  switch (padding) {
  case tile::Padding::none:
    return std::nullopt;
  case tile::Padding::zero:
    return APInt::getZero(bits);
  case tile::Padding::negzero:
    return encode(APFloat::getZero(type.getFloatSemantics(), true));
  case tile::Padding::nan:
    return encode(APFloat::getNaN(type.getFloatSemantics()));
  case tile::Padding::inf:
    return encode(APFloat::getInf(type.getFloatSemantics()));
  case tile::Padding::neginf:
    return encode(APFloat::getInf(type.getFloatSemantics(), true));
  }
  return std::nullopt;
}

} // namespace

StringRef KernelLowering::loadSpace(Value arrayOrView) {
  tile::ArrayOp array = tile::rootArray(arrayOrView);
  auto named = [&](unsigned i, StringRef name) {
    auto aliases = kernel.getArgAttrOfType<ArrayAttr>(i, "tile.alias");
    return aliases && llvm::any_of(aliases, [&](Attribute a) { return cast<StringAttr>(a).getValue() == name; });
  };
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (kernel.argName(i) == array.getRoot()) {
      auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
      if (!mode || mode.getValue() != "in" || kernel.getArgAttr(i, "tile.alias"))
        return "global";
    } else if (named(i, array.getRoot())) {
      return "global";
    }
  }
  return "global.nc";
}

LogicalResult KernelLowering::lowerLoad(tile::LoadOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  Access access(*this, op, op.getView(), op.getIndices(), op.getInBounds(), op.getType());
  std::string space = orderedSpace(loadSpace(op.getView()), op.getOrder(), op.getScope());
  VectorAccess kind{space, memoryType(element), access.vector(), /*volatileLoad=*/space != "global.nc"};
  auto padding = paddingBits(op.getView().getDefiningOp<tile::ViewOp>().getPadding(), element);

  // Addresses and predicates first: the loads then stand together and are all in flight before the first use.
  SmallVector<std::pair<Value, Value>> list;
  for (uint32_t leader : access.leaders())
    list.emplace_back(access.address(leader), access.inside(leader));
  SmallVector<SmallVector<Value>> loaded;
  for (auto [address, inside] : list)
    loaded.push_back(loadWords(*this, kind, address, inside, padding));
  Registers registers(registerCount(op.getType()));
  for (auto [leader, words] : llvm::zip(access.leaders(), loaded))
    for (auto [i, value] : llvm::enumerate(fromWords(*this, kind, words)))
      registers[access.vectorRegister(leader, int64_t(i))] = fromMemory(value, element);
  set(op, access.exchange(std::move(registers)));
  return success();
}

LogicalResult KernelLowering::lowerStore(tile::StoreOp op) {
  Type type = op.getValue().getType();
  Access access(*this, op, op.getView(), op.getIndices(), op.getInBounds(), type);
  std::string space = orderedSpace("global", op.getOrder(), op.getScope());
  VectorAccess kind{space, memoryType(getElementTypeOrSelf(type)), access.vector()};
  // Replicas exist in layouts smaller than the block; a scalar is held by every thread.
  Value owner;
  uint32_t replicaRegisters = 0;
  if (isa<RankedTensorType>(type)) {
    owner = ownerPredicate(access.movedLayout());
    replicaRegisters = access.movedLayout().freeMask(InDim::Register);
  } else {
    owner = compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0));
  }
  Registers registers = access.exchange(get(op.getValue()));
  for (uint32_t leader : access.leaders()) {
    if (leader & replicaRegisters)
      continue;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < access.vector(); ++i)
      elements.push_back(toMemory(registers[access.vectorRegister(leader, i)]));
    Value guard = access.inside(leader);
    if (owner)
      guard = guard ? bitAnd(guard, owner) : owner;
    storeVector(*this, kind, access.address(leader), elements, guard);
  }
  return success();
}

/// cp.async where whole vectors move, which the version with vectors knows; else loads and stores at once.
LogicalResult KernelLowering::lowerAsyncCopy(tgpu::AsyncCopyOp op) {
  auto type = cast<RankedTensorType>(op.getTile());
  Access access(*this, op, op.getView(), op.getIndices(), op.getInBounds(), type);
  auto buffer = op.getBuffer().getDefiningOp<tgpu::AllocSharedOp>();
  SharedTile tile(*this, buffer, scalar(op.getStage()), access.movedLayout(), type.getElementType());
  Value predicate = scalar(op.getPredicate());
  if (Value owner = ownerPredicate(access.movedLayout()))
    predicate = bitAnd(predicate, owner);
  uint32_t replicas = access.movedLayout().freeMask(InDim::Register);
  Type element = memoryType(type.getElementType());
  int64_t bytes = access.vector() * element.getIntOrFloatBitWidth() / 8;
  bool asynchronous = vectors && bytes >= 4;
  VectorAccess from{loadSpace(op.getView()), element, access.vector()}, to{"shared", element, access.vector()};
  for (uint32_t leader : access.leaders()) {
    if (leader & replicas)
      continue;
    Value source = access.address(leader), inside = access.inside(leader), target = tile.address(leader);
    if (!asynchronous) {
      Value guard = inside ? bitAnd(inside, predicate) : predicate;
      SmallVector<Value> words =
          loadWords(*this, from, source, guard, APInt::getZero(std::max(8u, element.getIntOrFloatBitWidth())));
      storeVector(*this, to, target, fromWords(*this, from, words), predicate);
      continue;
    }
    std::string size = std::to_string(bytes);
    std::string text =
        std::string("@$0 cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global [$1], [$2], " + size;
    SmallVector<Value> operands = {predicate, target, source};
    std::string constraints = "b,l,l";
    if (inside) {
      text += ", $3";
      constraints += ",r";
      operands.push_back(select(inside, constant(i32(), bytes), constant(i32(), 0)));
    }
    assembly(text + ";", constraints + ",~{memory}", {}, operands, /*sideEffects=*/true);
  }
  return success();
}

LogicalResult KernelLowering::lowerViewAtomic(tile::ViewAtomicOp op) {
  Type type = op.getValue().getType();
  Access access(*this, op, op.getView(), op.getIndices(), /*inBounds=*/false, type);
  Value owner;
  uint32_t replicas = 0;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    owner = ownerPredicate(tile::layoutOf(tensor));
    replicas = tile::layoutOf(tensor).freeMask(InDim::Register);
  } else {
    owner = compare(LLVM::ICmpPredicate::eq, thread, constant(i32(), 0));
  }
  const Registers values = get(op.getValue());
  for (uint32_t reg : access.leaders()) {
    if (reg & replicas)
      continue;
    Value guard = access.inside(reg);
    if (owner)
      guard = guard ? bitAnd(guard, owner) : owner;
    atomicStep(*this, {op.getKind(), op.getIsUnsigned()}, access.address(reg), guard, Value(), values[reg]);
  }
  return success();
}

} // namespace tilec::lower
