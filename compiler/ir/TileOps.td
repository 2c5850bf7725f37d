//===- TileOps.td - the tile dialect ------------------------------------===//
// The only definition of the dialect's ops, types and attributes.
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

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string mnem> : TypeDef<Tile_Dialect, name> { let mnemonic = mnem; }

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "base address of an array in device memory";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Tile_ArrayType : Tile_Type<"Array", "array"> {
  let summary = "an array: base address, extents and strides known at run time";
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `x` $elementType `>`";
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "an array cut into tiles of one shape";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` `[` (`]`) : ($shape^ `]`)? `,` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_AnyTile : AnyTypeOf<[AnyRankedTensor, AnyInteger, AnyFloat], "tile or scalar">;
def Tile_AnyScalar : AnyTypeOf<[AnyInteger, AnyFloat], "scalar">;
def Tile_FloatTile : AnyTypeOf<[RankedTensorOf<[AnyFloat]>, AnyFloat], "float tile or scalar">;
def Tile_Index : AnyTypeOf<[I32, I64], "i32 or i64">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// The layout of a tile over registers, lanes and warps of a block: basis vectors (one coordinate per tile axis) for
// each bit of the register number, the lane and the warp. It is the encoding of a ranked tensor.
def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "linear layout over GF(2): register, lane and warp bits to tile coordinates";
  let parameters = (ins
    "int64_t":$rank,
    OptionalArrayRefParameter<"int64_t">:$reg,   // rank numbers per register bit, flattened
    OptionalArrayRefParameter<"int64_t">:$lane,  // rank numbers per lane bit, flattened (5 bits)
    OptionalArrayRefParameter<"int64_t">:$warp); // rank numbers per warp bit, flattened
  let assemblyFormat = [{
    `<` $rank `,` `reg` `=` `[` (`]`) : ($reg^ `]`)? `,` `lane` `=` `[` (`]`) : ($lane^ `]`)? `,`
    `warp` `=` `[` (`]`) : ($warp^ `]`)? `>`
  }];
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "combining operation of a reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>]> {
  let cppNamespace = "::tilec::tile";
}

def Tile_Padding : I32EnumAttr<"Padding", "what lanes outside an array read", [
    I32EnumAttrCase<"none", 0>,  // any bits
    I32EnumAttrCase<"zero", 1>, I32EnumAttrCase<"negzero", 2>, I32EnumAttrCase<"nan", 3>,
    I32EnumAttrCase<"inf", 4>, I32EnumAttrCase<"neginf", 5>]> {
  let cppNamespace = "::tilec::tile";
}

def Tile_RoundingAttr : I32EnumAttr<"RoundingMode", "rounding of a conversion", [
    I32EnumAttrCase<"rn", 0>, I32EnumAttrCase<"rz", 1>, I32EnumAttrCase<"rm", 2>, I32EnumAttrCase<"rp", 3>]> {
  let cppNamespace = "::tilec::tile";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol, AutomaticAllocationScope]> {
  let summary = "entry point, run once for each block of the grid";
  let description = [{
    Arguments, in order: one !tile.ptr per array, one scalar per scalar, one i32 or i64 per extent or stride symbol that
    the body uses. Argument attributes: tile.name (string), tile.kind ("array", "scalar", "symbol"), tile.dtype (the
    language's dtype, e.g. "u32"), tile.mode ("in", "out", "inout", "scratch"), tile.align (bytes).
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

//===----------------------------------------------------------------------===//
// Grid, arrays and views
//===----------------------------------------------------------------------===//

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure]> {
  let summary = "number of this block along a grid axis";
  let arguments = (ins I32Attr:$axis);
  let results = (outs Tile_Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_NumBlocksOp : Tile_Op<"num_blocks", [Pure]> {
  let summary = "number of blocks along a grid axis";
  let arguments = (ins I32Attr:$axis);
  let results = (outs Tile_Index:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_ArrayOp : Tile_Op<"array", [Pure, AttrSizedOperandSegments]> {
  let summary = "an array from its base address, extents and strides";
  let description = [{
    Extents and strides count elements. Without strides the array is row-major and contiguous. `root` is the name of the
    kernel's array argument; it survives slicing and names access sites.
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<Tile_Index>:$extents, Variadic<Tile_Index>:$strides,
                       StrAttr:$root, StrAttr:$dtype, BoolAttr:$writable);
  let results = (outs Tile_ArrayType:$result);
  let assemblyFormat = [{
    $base `[` $extents `:` type($extents) `]` (`strides` `[` $strides^ `:` type($strides) `]`)? attr-dict
    `:` type($base) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "extent of an array along an axis";
  let arguments = (ins Tile_ArrayType:$array, I32Attr:$axis);
  let results = (outs Tile_Index:$result);
  let assemblyFormat = "$array `,` $axis attr-dict `:` type($array) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "cuts an array into tiles";
  let description = [{
    View axis k runs along array axis axes[k]; tile extents, step (distance between tile starts, in elements) and
    indices count in view axes. Tile i starts at i * step.
  }];
  let arguments = (ins Tile_ArrayType:$array, DenseI64ArrayAttr:$step, DenseI64ArrayAttr:$axes, Tile_Padding:$padding);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $array `step` $step `axes` $axes `padding` $padding attr-dict `:` type($array) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_NumTilesOp : Tile_Op<"num_tiles", [Pure]> {
  let summary = "ceil(extent / step) along a view axis";
  let arguments = (ins Tile_ViewType:$view, I32Attr:$axis);
  let results = (outs Tile_Index:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the tile of a view at an index";
  let description = [{
    Lanes outside the array read the view's padding. `site` is an index into the kernel's tile.sites; `in_bounds`
    promises that the tile lies inside (check_bounds = false).
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Index>:$indices, I32Attr:$site, UnitAttr:$in_bounds);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $view `[` $indices `:` type($indices) `]` `site` $site (`in_bounds` $in_bounds^)? attr-dict
    `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile of a view; lanes outside the array are dropped";
  let arguments = (ins Tile_AnyTile:$value, Tile_ViewType:$view, Variadic<Tile_Index>:$indices, I32Attr:$site,
                       UnitAttr:$in_bounds);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `:` type($indices) `]` `site` $site (`in_bounds` $in_bounds^)? attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

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

class Tile_FloatMinMax<string mnemonic> : Tile_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let description = "A number wins over NaN and +0 > -0; with propagate_nan any NaN wins.";
  let arguments = (ins Tile_FloatTile:$lhs, Tile_FloatTile:$rhs, UnitAttr:$propagate_nan);
  let results = (outs Tile_FloatTile:$result);
  let assemblyFormat = "$lhs `,` $rhs (`propagate_nan` $propagate_nan^)? attr-dict `:` type($result)";
}
def Tile_FMinOp : Tile_FloatMinMax<"fmin"> { let summary = "smaller of two floats"; }
def Tile_FMaxOp : Tile_FloatMinMax<"fmax"> { let summary = "larger of two floats"; }

#endif
