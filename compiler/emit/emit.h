#pragma once
// A checked program as tile IR, one instruction after the other.
#include "compiler/base/source.h"
#include "compiler/sema/program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilec::emit {

/// Emits a module with one tile.kernel of the program's name. `sources` gives locations; the context needs the dialects
/// of tile::registerTileDialects, which are loaded. Null, with MLIR diagnostics in the context, for a program that the
/// checker should have refused.
///
/// Meaning that arith leaves open is written out: shifts by the width or more, steps that are not positive. Float ops
/// carry `fastmath<contract>` only under options(contract = true), `fastmath<afn>` where the program says approx, and
/// the unit attribute tile.ftz where it says ftz.
mlir::OwningOpRef<mlir::ModuleOp> emit(const sema::Program &program, const SourceManager &sources,
                                       mlir::MLIRContext &context);

} // namespace tilec::emit
