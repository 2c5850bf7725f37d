#pragma once
// The state of one kernel's lowering, shared by the files of this folder (one for each op family). A tile becomes one
// scalar per register of its layout; a scalar is a tile of one register.
#include "compiler/gpu/tgpu_dialect.h"
#include "compiler/layout/linear_layout.h"
#include "compiler/target/target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <memory>
#include <unordered_map>

namespace tilec::lower {

using layout::LinearLayout;
using mlir::Location;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using Registers = llvm::SmallVector<Value>;

/// An array in registers: everything in 64 bits, elements.
struct ArrayValue {
  Value base; ///< !llvm.ptr<1>
  llvm::SmallVector<Value> extents, strides;
};

struct HashValue {
  size_t operator()(Value value) const { return mlir::hash_value(value); }
};

struct MatrixLoad;

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, const Arch &arch, mlir::OpBuilder &builder)
      : kernel(kernel), arch(arch), b(builder), hasBf16Atomics(arch.has(Feature::bf16_arithmetic)) {}
  mlir::LogicalResult run();
  mlir::LLVM::LLVMFuncOp function() const { return func; }

private:
  // Entry and the two versions (lower.cpp).
  void createFunction();
  void lowerPrologue(llvm::SmallPtrSetImpl<Operation *> &done);
  Value vectorCondition();

  // One op each; failure means that the op was diagnosed.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(Operation *op);
  mlir::LogicalResult lowerElementwise(Operation *op); // elementwise.cpp
  mlir::LogicalResult lowerWideProduct(Operation *op);
  mlir::LogicalResult lowerConvert(tile::ConvertOp op); // convert.cpp
  mlir::LogicalResult lowerShape(Operation *op);        // shape.cpp
  mlir::LogicalResult lowerGrid(Operation *op);         // memory.cpp
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::LogicalResult lowerArrayPart(Operation *op); // elements.cpp
  mlir::LogicalResult lowerGather(tile::GatherOp op);
  mlir::LogicalResult lowerScatter(tile::ScatterOp op);
  mlir::LogicalResult lowerAtomic(tile::AtomicOp op);
  mlir::LogicalResult lowerViewAtomic(tile::ViewAtomicOp op); // memory.cpp
  mlir::LogicalResult lowerMove(Operation *op);               // move.cpp
  mlir::LogicalResult lowerWarpFold(tgpu::WarpFoldOp op);     // fold.cpp
  mlir::LogicalResult lowerScan(tile::ScanFnOp op);
  mlir::LogicalResult lowerMma(tile::MmaOp op); // product.cpp
  mlir::LogicalResult lowerFmaProduct(tgpu::FmaProductOp op);
  mlir::LogicalResult lowerSharedStore(tgpu::StoreSharedOp op); // shared.cpp
  mlir::LogicalResult lowerSharedLoad(tgpu::LoadSharedOp op);
  bool lowerMatrixLoad(tgpu::LoadSharedOp op);
  mlir::LogicalResult lowerAsyncCopy(tgpu::AsyncCopyOp op); // memory.cpp
  mlir::LogicalResult lowerConvertLayout(tile::ConvertLayoutOp op);
  mlir::LogicalResult lowerPrint(tgpu::PrintOp op); // report.cpp
  mlir::LogicalResult lowerAssert(tgpu::AssertOp op);
  Value reserveRecord(tgpu::AllocSharedOp buffer, int64_t message, int64_t bytes, Value &fits);
  mlir::LogicalResult lowerWarpReduce(tgpu::WarpReduceOp op); // reduce.cpp
  mlir::LogicalResult lowerFor(Operation *op);                // control.cpp
  mlir::LogicalResult lowerIf(Operation *op);
  mlir::LogicalResult lowerWhile(Operation *op);

public:
  // Values.
  const Registers &get(Value value) const { return values.find(value)->second; }
  Value scalar(Value value) const { return get(value).front(); }
  /// One register of a tile, loaded now where that was left to its first use.
  Value get(Value value, uint32_t reg);
  bool isKnown(Value value) const { return values.contains(value); }
  Value extentAtEntry(Value array, int64_t axis);
  int64_t divisor(Value value, int depth = 8);
  void set(Value value, Registers registers) { values[value] = std::move(registers); }
  unsigned registerCount(Type type) const;

  // Building blocks; `loc` is the location of the op being lowered.
  mlir::MLIRContext *context() { return b.getContext(); }
  Type i1() { return b.getI1Type(); }
  Type i32() { return b.getI32Type(); }
  Type i64() { return b.getI64Type(); }
  /// LLVM's type of a scalar of an element type: fp8 and fp4 are i8, tf32 is f32.
  Type scalarType(Type element);
  /// The same in memory, where a bool takes a byte.
  Type memoryType(Type element);
  Value constant(Type type, int64_t value);
  Value constantBits(Type type, llvm::APInt bits);
  Value toMemory(Value value);
  Value fromMemory(Value value, Type element);
  Value intrinsic(llvm::StringRef name, Type result, ValueRange operands);
  /// Calls a routine of the device library, declaring it first.
  Value call(llvm::StringRef routine, Type result, ValueRange operands);
  /// Inline PTX; several results come as one struct.
  llvm::SmallVector<Value> assembly(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<Type> results,
                                    ValueRange operands, bool sideEffects);
  Value add(Value x, Value y) { return mlir::LLVM::AddOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return mlir::LLVM::MulOp::create(b, loc, x, y); }
  Value bitAnd(Value x, Value y) { return mlir::LLVM::AndOp::create(b, loc, x, y); }
  Value compare(mlir::LLVM::ICmpPredicate predicate, Value x, Value y) {
    return mlir::LLVM::ICmpOp::create(b, loc, predicate, x, y);
  }
  Value select(Value c, Value x, Value y) { return mlir::LLVM::SelectOp::create(b, loc, c, x, y); }
  Value resize(Value integer, Type type, bool isSigned);
  mlir::LLVM::FastmathFlags fastmath(Operation *op);

  /// The part of a coordinate that lane and warp give; a register XORs its own part in. `shift` and `bits` cut the
  /// coordinate out of the row-major index.
  Value threadCoordinate(const LinearLayout &layout, int shift, int bits);
  /// Combines a thread's part with a register's; a sum where the bits are apart, which folds into addresses.
  Value withRegister(Value thread, uint64_t threadBits, uint64_t registerPart);
  /// Bits of the coordinate that lanes and warps reach.
  static uint64_t threadBits(const LinearLayout &layout, int shift, int bits);
  /// True in the one thread that owns each element, or no value when every thread does.
  Value ownerPredicate(const LinearLayout &layout);
  /// One value from another lane of the warp; `kind` is bfly or idx.
  Value shuffle(llvm::StringRef kind, Value value, Value lane);

  /// Space of a load: global.nc where no store of the launch can reach the array, so that the read-only path may serve.
  llvm::StringRef loadSpace(Value arrayOrView);
  /// Runs the function of a fold on scalars: the block's arguments are left and right.
  mlir::FailureOr<Registers> applyFunction(mlir::Block &block, llvm::ArrayRef<Value> left, llvm::ArrayRef<Value> right);

  tile::KernelOp kernel;
  const Arch &arch;
  mlir::OpBuilder &b;
  Location loc = kernel.getLoc();
  mlir::LLVM::LLVMFuncOp func;
  Value lane, warp, thread; ///< i32
  Value printBuffer;        ///< of kernels that print or assert
  bool vectors = true;      ///< which version of the body is being lowered
  bool hasBf16Atomics;
  bool contract = false; ///< the kernel permits fusing a product with a sum
  /// References to what a map holds stay good while it grows: lowering an op reads some entries and adds another.
  template <typename T> using ValueMap = std::unordered_map<Value, T, HashValue>;
  ValueMap<Registers> values;
  ValueMap<std::shared_ptr<MatrixLoad>> onDemand; ///< tiles that the product that takes them loads piece by piece
  ValueMap<ArrayValue> arrays;
};

/// The space part of a load or store instruction with its order and scope; `space` itself for a plain access.
std::string orderedSpace(llvm::StringRef space, tile::MemoryOrder order, tile::MemoryScope scope);
struct AtomicSpec {
  tile::AtomicKind kind;
  bool isUnsigned = false;
  tile::MemoryOrder order = tile::MemoryOrder::relaxed;
  tile::MemoryScope scope = tile::MemoryScope::device;
};
/// One atomic of a thread on one element: what was there before; where the guard (may be null) is false the expected
/// value, or 0. `expected` is null but for cas.
Value atomicStep(KernelLowering &k, const AtomicSpec &spec, Value address, Value guard, Value expected, Value value);
/// Address of a buffer in the block's shared memory.
Value sharedAddress(KernelLowering &k, tgpu::AllocSharedOp buffer);
/// Elements per access of a load or store along its unit axis, in the version with vectors.
int64_t vectorOf(Operation *access, Type tile);
/// The combining step of a reduction on two scalars.
Value combine(KernelLowering &k, tile::ReduceKind kind, bool isUnsigned, bool propagateNan, Value x, Value y);
/// Quotients of f32 registers where few divisors serve many of them (the same value in several places), correctly
/// rounded; nothing where that saves nothing. `mayBeNegative` is false for dividends of at least +0.
std::optional<Registers> divideByFew(KernelLowering &k, llvm::ArrayRef<Value> dividends, llvm::ArrayRef<Value> divisors,
                                     bool mayBeNegative);
/// Smaller or larger of two floats by the language's rules.
Value floatExtreme(KernelLowering &k, bool larger, bool propagateNan, Value x, Value y);

} // namespace tilec::lower
