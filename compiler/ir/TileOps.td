//===- TileOps.td - the tile dialect ------------------------------------===//
// With TileTypes.td and TileMemory.td, which it includes, the only definition of the dialect's ops, types and attributes.
//
// Tiles are ranked tensors with power-of-two extents, scalars are plain
// element types, so arith, math and scf serve as they are. The dialect holds
// what they lack: kernels, arrays, views, memory, grid, shape, reductions and
// the float operations whose meaning the language fixes.
//
// Integers are signless; where the sign matters an op says so (arith's divsi
// and divui, `from`/`to` dtypes of convert, `unsigned` of reduce). A bool tile
// is i1; in memory a bool is a byte.
#ifndef TILE_OPS
#define TILE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilec::tile";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let summary = "block-level programs over tiles";
}

include "compiler/ir/TileTypes.td"

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol, AutomaticAllocationScope]> {
  let summary = "entry point, run once for each block of the grid";
  let description = [{
    Arguments, in order: one !tile.ptr per array, one scalar per scalar, one i32 or i64 per extent or stride symbol that
    the body uses. Argument attributes: tile.name (string), tile.kind ("array", "scalar", "symbol"), tile.dtype (the
    language's dtype, e.g. "u32"), tile.mode ("in", "out", "inout", "scratch"), tile.align (bytes), tile.zeroed (scratch
    that starts as zeros).
    Attributes of the kernel: tile.options (dictionary of contract, index64), tile.hints (dictionary of kernel hints
    in force, i64), tile.sites (array of dictionaries name, array, op, hints), tile.threads and tile.shared once known.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The language's name, kind and dtype of an argument.
    ::llvm::StringRef argName(unsigned i) { return getArgAttrOfType<::mlir::StringAttr>(i, "tile.name").getValue(); }
    ::llvm::StringRef argKind(unsigned i) { return getArgAttrOfType<::mlir::StringAttr>(i, "tile.kind").getValue(); }
    ::llvm::StringRef argDType(unsigned i) { return getArgAttrOfType<::mlir::StringAttr>(i, "tile.dtype").getValue(); }
    /// Value of a kernel hint, or the default given.
    int64_t hint(::llvm::StringRef name, int64_t otherwise);
    /// Whether an option of the kernel (contract, index64) is on.
    bool option(::llvm::StringRef name);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, HasParent<"KernelOp">, Pure]> {
  let summary = "ends a block's work";
  let assemblyFormat = "attr-dict";
}
include "compiler/ir/TileMemory.td"

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "start + step * i as a tile of rank 1";
  let arguments = (ins TypedAttrInterface:$start, TypedAttrInterface:$step);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$start `step` $step attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile whose every element is one scalar";
  let arguments = (ins Tile_AnyScalar:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along axes of extent 1; the ranks are equal";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape; a scalar and a tile of one element convert";
  let arguments = (ins Tile_AnyTile:$value);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements along axes, which disappear from the shape";
  let description = [{
    Operand and result have one element type: sums that widen are converted before. `unsigned` is for min and max of
    integers, `propagate_nan` for those of floats. All axes reduced gives a scalar.
  }];
  let arguments = (ins AnyRankedTensor:$value, Tile_ReduceKind:$kind, DenseI64ArrayAttr:$axes, UnitAttr:$is_unsigned,
                       UnitAttr:$propagate_nan);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $kind $value `axes` $axes (`unsigned` $is_unsigned^)? (`propagate_nan` $propagate_nan^)? attr-dict
    `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ArgExtremeOp : Tile_Op<"arg_extreme", [Pure]> {
  let summary = "lowest position (i32) of the least or greatest element along an axis, which disappears from the shape";
  let description = [{
    `max` or `min` by the language's order: a number beats NaN and +0 > -0, equal elements go to the lower position; all
    NaN gives 0. With propagate_nan the first NaN wins.
  }];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$axis, UnitAttr:$is_max, UnitAttr:$is_unsigned,
                       UnitAttr:$propagate_nan);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $value `axis` $axis (`max` $is_max^)? (`unsigned` $is_unsigned^)? (`propagate_nan` $propagate_nan^)? attr-dict
    `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

class Tile_Fold<string mnemonic> : Tile_Op<mnemonic, [Pure, AttrSizedOperandSegments, SingleBlock]> {
  let description = [{
    Values x1 … xn of one shape with a scalar identity for each. The block takes the accumulated l1 … ln, then the
    elements r1 … rn, all scalars, and yields the combination. It is associative; it need not commute.
  }];
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
}

def Tile_ReduceFnOp : Tile_Fold<"reduce_fn"> {
  let summary = "reduces along axes, which disappear from the shape, by a function";
  let arguments = (ins Variadic<AnyRankedTensor>:$values, Variadic<Tile_AnyScalar>:$identities,
                       DenseI64ArrayAttr:$axes);
  let results = (outs Variadic<Tile_AnyTile>:$results);
  let assemblyFormat = [{
    $values `identity` $identities `axes` $axes $combine attr-dict
    `:` type($values) `identity` type($identities) `->` type($results)
  }];
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "running sums or products along an axis";
  let arguments = (ins AnyRankedTensor:$value, Tile_ReduceKind:$kind, I64Attr:$axis, UnitAttr:$reverse,
                       UnitAttr:$exclusive);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $value `axis` $axis (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScanFnOp : Tile_Fold<"scan_fn"> {
  let summary = "scans along an axis by a function";
  let arguments = (ins Variadic<AnyRankedTensor>:$values, Variadic<Tile_AnyScalar>:$identities, I64Attr:$axis,
                       UnitAttr:$reverse, UnitAttr:$exclusive);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $values `identity` $identities `axis` $axis (`reverse` $reverse^)? (`exclusive` $exclusive^)? $combine attr-dict
    `:` type($values) `identity` type($identities) `->` type($results)
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceFnOp", "ScanFnOp"]>]> {
  let summary = "what a combining function gives";
  let arguments = (ins Variadic<Tile_AnyScalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "axis i of the result is axis axes[i] of the operand";
  let arguments = (ins AnyRankedTensor:$value, DenseI64ArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `axes` $axes attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CatOp : Tile_Op<"cat", [Pure]> {
  let summary = "two tiles of one shape after one another along an axis";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `axis` $axis attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "the part of a tile at an index counted in parts of the result's shape";
  let arguments = (ins AnyRankedTensor:$value, Variadic<I32>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `[` $indices `]` attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_InsertOp : Tile_Op<"insert", [Pure]> {
  let summary = "a tile with the part at an index, counted in parts, replaced";
  let arguments = (ins AnyRankedTensor:$part, AnyRankedTensor:$value, Variadic<I32>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$part `into` $value `[` $indices `]` attr-dict `:` type($part) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [Pure]> {
  let summary = "a · b + accumulator, for (M, K)(K, N)(M, N) or with one leading batch axis";
  let description = [{
    Products are exact; sums are in the accumulator's type, in an order the language leaves open. i8 operands say
    whether they are unsigned. fast_acc allows fp8 products to be summed in fewer bits.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$acc, UnitAttr:$a_unsigned,
                       UnitAttr:$b_unsigned, UnitAttr:$fast_acc);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`a_unsigned` $a_unsigned^)? (`b_unsigned` $b_unsigned^)? (`fast_acc` $fast_acc^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "the same tile held in another layout";
  let description = "Only layout assignment makes it; to the meaning of a program it is the identity.";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Conversions and float operations whose meaning the language fixes
//===----------------------------------------------------------------------===//

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "x.to(T): one rounding from one dtype of the language to another";
  let description = "`from` and `to` are dtypes of the language, since signless types do not say them.";
  let arguments = (ins Tile_AnyTile:$value, StrAttr:$from, StrAttr:$to, Tile_RoundingAttr:$rounding, UnitAttr:$saturate);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $value $from `to` $to $rounding (`saturate` $saturate^)? attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure]> {
  let summary = "the same bits as another dtype of equal width";
  let description = "`from` and `to` are dtypes of the language: tf32 is stored in 32 bits.";
  let arguments = (ins Tile_AnyTile:$value, StrAttr:$from, StrAttr:$to);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$value $from `to` $to attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PackOp : Tile_Op<"pack", [Pure]> {
  let summary = "the bytes of a tile of rank 1, little-endian; of two fp4 elements the even one is the low nibble";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_UnpackOp : Tile_Op<"unpack", [Pure]> {
  let summary = "a tile of rank 1 from its bytes, the reverse of pack";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_FlushOp : Tile_Op<"flush", [Pure, SameOperandsAndResultType]> {
  let summary = "subnormals of an f32 become zeros of their sign, as `ftz = true` asks of operands and results";
  let arguments = (ins Tile_FloatTile:$value);
  let results = (outs Tile_FloatTile:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

class Tile_FloatMinMax<string mnemonic> : Tile_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let description = "A number wins over NaN and +0 > -0; with propagate_nan any NaN wins.";
  let arguments = (ins Tile_FloatTile:$lhs, Tile_FloatTile:$rhs, UnitAttr:$propagate_nan);
  let results = (outs Tile_FloatTile:$result);
  let assemblyFormat = "$lhs `,` $rhs (`propagate_nan` $propagate_nan^)? attr-dict `:` type($result)";
}
def Tile_FMinOp : Tile_FloatMinMax<"fmin"> { let summary = "smaller of two floats"; }
def Tile_FMaxOp : Tile_FloatMinMax<"fmax"> { let summary = "larger of two floats"; }

#endif
