#pragma once
// Runs kernels written as tile IR, for the tests of the dialect and of the reference executor.
#include "compiler/ir/tile_dialect.h"
#include "compiler/reference/executor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace tilec::reference {

/// A context with the dialects of tile IR; diagnostics are collected as text.
struct Ir {
  Ir() {
    mlir::DialectRegistry registry;
    tile::registerTileDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) { messages += diag.str() + "\n"; });
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string messages;
};

/// One array of a test with its memory.
template <typename T> struct Array {
  DType dtype;
  std::vector<int64_t> extents;
  std::vector<T> data;
  std::vector<int64_t> strides = {};

  BufferView view() {
    BufferView view{dtype, extents, strides, reinterpret_cast<std::byte *>(data.data()), data.size()};
    if (dtype == DType::f4e2m1)
      view.elements *= 2;
    return view;
  }
};

/// The attributes of a kernel's argument.
inline std::string array(const std::string &name, const std::string &dtype, const std::string &element,
                         const std::string &mode) {
  return "%" + name + ": !tile.ptr<" + element + "> {tile.name = \"" + name +
         "\", tile.kind = \"array\", tile.dtype = \"" + dtype + "\", tile.mode = \"" + mode + "\"}";
}
inline std::string symbol(const std::string &name, const std::string &type = "i32") {
  return "%" + name + ": " + type + " {tile.name = \"" + name + "\", tile.kind = \"symbol\", tile.dtype = \"" + type +
         "\"}";
}
inline std::string scalar(const std::string &name, const std::string &dtype, const std::string &type) {
  return "%" + name + ": " + type + " {tile.name = \"" + name + "\", tile.kind = \"scalar\", tile.dtype = \"" + dtype +
         "\"}";
}

/// Parses and runs a kernel named k; a failure is a failure of the test.
inline ExecReport runKernel(const std::string &text, const Launch &launch, const ExecOptions &options = {}) {
  Ir ir;
  auto module = ir.parse(text);
  EXPECT_TRUE(module) << ir.messages << text;
  if (!module)
    return {};
  Result<ExecReport> report = execute(*module, "k", launch, options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : ExecReport();
}

} // namespace tilec::reference
