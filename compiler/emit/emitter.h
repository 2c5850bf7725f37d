#pragma once
// State of one emission.
#include "compiler/emit/emit.h"
#include "compiler/ir/tile_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tilec::emit {

class Emitter {
public:
  Emitter(const sema::Program &program, const SourceManager &sources, mlir::MLIRContext &context)
      : program(program), sources(sources), builder(&context), values(program.values.size()) {}
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  // Kernel: arguments, attributes, arrays (emit.cpp).
  void collect(const sema::Block &block);
  void needSymbols(const LaunchExpr &expr);
  tile::KernelOp makeKernel();
  void setAttributes(tile::KernelOp kernel);
  mlir::Value arrayValue(size_t index);

  // Launch expressions in extents and strides, exact in i64 (launch_values.cpp).
  mlir::Value launchValue(const LaunchExpr &expr);
  /// The value as i32, or i64 where `wide`; symbols that -D fixed are constants.
  mlir::Value launchIndex(const LaunchExpr &written, bool wide);

  // Instructions (control.cpp).
  void emitBlock(const sema::Block &block);
  mlir::Value emitInst(const sema::Inst &inst);
  void emitIf(const sema::Inst &inst);
  void emitFor(const sema::Inst &inst);
  void emitWhile(const sema::Inst &inst);
  /// Emits a block into a region's block, whose arguments become its parameters.
  void emitInto(mlir::Block *block, const sema::Block &body);

  // Memory and the functions of reductions and scans (memory.cpp).
  void emitStore(const sema::Inst &inst, const sema::StoreInst &store);
  void emitViewAtomic(const sema::Inst &inst, const sema::ViewAtomicInst &atomic);
  mlir::Value emitGather(const sema::Inst &inst, const sema::GatherInst &gather);
  void emitScatter(const sema::Inst &inst, const sema::ScatterInst &scatter);
  mlir::Value emitAtomic(const sema::Inst &inst, const sema::AtomicInst &atomic);
  void emitPrint(const sema::Inst &inst, const sema::PrintInst &print);
  void emitReduceFn(const sema::Inst &inst, const sema::ReduceFnInst &reduce);
  void emitScanFn(const sema::Inst &inst, const sema::ScanFnInst &scan);
  mlir::Value emitMma(const sema::Inst &inst, const sema::MmaInst &mma);

  // Elementwise operations (elementwise.cpp).
  mlir::Value emitUnary(const sema::Inst &inst, const sema::UnaryInst &op);
  mlir::Value emitBinary(const sema::Inst &inst, const sema::BinaryInst &op);
  mlir::Value emitFloatBinary(const sema::BinaryInst &op, mlir::Value a, mlir::Value b, DType dtype);
  mlir::Value emitIntBinary(const sema::BinaryInst &op, mlir::Value a, mlir::Value b, DType dtype);
  mlir::Value emitFloorMod(mlir::Value a, mlir::Value b);
  mlir::Value signedExponent(mlir::Value exponent, DType dtype);
  mlir::Value emitShift(const sema::BinaryInst &op, mlir::Value a, mlir::Value b, DType dtype);
  mlir::Value emitCompare(const sema::Inst &inst, sema::CompareOp op);
  mlir::arith::FastMathFlags flags(bool approx) const;

  // Helpers.
  mlir::Value flushed(mlir::Value value, bool ftz);
  mlir::Value mark(mlir::Operation *made, bool ftz, Rounding rounding);
  static tile::RoundingMode roundingMode(Rounding rounding);
  llvm::SmallVector<mlir::Type> resultTypes(const sema::Inst &inst);
  void defineResults(const sema::Inst &inst, mlir::ValueRange results);
  const sema::Type &typeOf(sema::ValueId id) const { return program.values[id]; }
  mlir::Type irType(const sema::Type &type);
  mlir::Value operand(const sema::Inst &inst, size_t i) const { return values[inst.operands[i]]; }
  llvm::SmallVector<mlir::Value> indices(const sema::Inst &inst, size_t first, size_t count) const;
  mlir::Location locate(Span span);
  mlir::TypedAttr constantAttr(DType dtype, uint64_t bits);
  mlir::Value constant(DType dtype, uint64_t bits);
  mlir::Value integer(mlir::Type tileOrScalar, int64_t value);
  bool isUnsigned(DType dtype) const { return !info(dtype).isSigned; }
  template <typename Op, typename... A> Op make(A &&...args) {
    return Op::create(builder, location, std::forward<A>(args)...);
  }
  void fail(std::string message) {
    mlir::emitError(location) << message;
    failed = true;
  }

  const sema::Program &program;
  const SourceManager &sources;
  mlir::OpBuilder builder;
  mlir::Location location = builder.getUnknownLoc();
  std::vector<mlir::Value> values;
  std::vector<mlir::Value> arrays;            ///< tile.array of each array used, made at the head of the body
  std::map<std::string, mlir::Value> scalars; ///< scalar arguments, and such `let`s, by name
  std::map<std::string, mlir::Value> symbols; ///< symbol arguments by name
  std::vector<bool> usedArrays;
  std::map<std::string, bool> usedSymbols; ///< whether it is passed as i64
  std::set<std::string> usedLets;          ///< clause `let`s that are no integers
  bool failed = false;
};

tile::ReduceKind reduceKind(sema::ReduceOp op);
tile::MemoryOrder memoryOrder(sema::MemoryOrder order);
tile::MemoryScope memoryScope(sema::MemoryScope scope);

} // namespace tilec::emit
