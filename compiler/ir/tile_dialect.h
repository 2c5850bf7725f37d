#pragma once
// The tile dialect: what a Program becomes, what the reference executor runs and what the tile-level passes rewrite.
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/ir/TileDialect.h.inc"
#include "compiler/ir/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.h.inc"
