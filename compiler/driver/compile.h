#pragma once
// The MLIR side of the driver, private to this folder.
#include "compiler/driver/driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <chrono>

namespace tilec::driver {

/// A context with the dialects of every stage. One thread: a short-lived process gains nothing from a pool.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Errors that MLIR reports while it lives, as text; nothing reaches standard error.
class MlirErrors {
public:
  explicit MlirErrors(mlir::MLIRContext &context);
  ~MlirErrors();
  const std::string &text() const { return collected; }
  /// Forgets what an attempt met that another has made good.
  void clear() { collected.clear(); }

private:
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
  std::string collected;
};

/// Text of a module, with locations where the stage is read again.
std::string print(mlir::ModuleOp module);

/// Times the steps of a compilation.
class Clock {
public:
  explicit Clock(Compilation &compilation) : compilation(compilation) {}
  /// Ends a step.
  void lap(std::string step);
  /// Starts the next step now; what passed since the last one is accounted for elsewhere.
  void restart() { start = std::chrono::steady_clock::now(); }

private:
  Compilation &compilation;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace tilec::driver
