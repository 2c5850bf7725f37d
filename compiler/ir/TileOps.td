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

def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic does to an element", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"and_", 3, "and">,
    I32EnumAttrCase<"or_", 4, "or">, I32EnumAttrCase<"xor_", 5, "xor">, I32EnumAttrCase<"xchg", 6>,
    I32EnumAttrCase<"cas", 7>]> {
  let cppNamespace = "::tilec::tile";
}

def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "order of an access; weak: a plain one", [
    I32EnumAttrCase<"weak", 0>, I32EnumAttrCase<"relaxed", 1>, I32EnumAttrCase<"acquire", 2>,
    I32EnumAttrCase<"release", 3>, I32EnumAttrCase<"acq_rel", 4>]> {
  let cppNamespace = "::tilec::tile";
}

def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "who sees the order of an access", [
    I32EnumAttrCase<"block", 0>, I32EnumAttrCase<"device", 1>, I32EnumAttrCase<"system", 2>]> {
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

def Tile_AtOp : Tile_Op<"at", [Pure]> {
  let summary = "an array with its leading axes fixed";
  let description = "An index outside gives an array whose every extent is 0.";
  let arguments = (ins Tile_ArrayType:$array, Variadic<Tile_Index>:$indices);
  let results = (outs Tile_ArrayType:$result);
  let assemblyFormat = "$array `[` $indices `:` type($indices) `]` attr-dict `:` type($array) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "elements start, start + step, … < stop of an array along one axis";
  let description = "start and stop are clamped to 0 … extent; stop <= start gives extent 0. The step is positive.";
  let arguments = (ins Tile_ArrayType:$array, I32Attr:$axis, Tile_Index:$start, Tile_Index:$stop, Tile_Index:$step);
  let results = (outs Tile_ArrayType:$result);
  let assemblyFormat = [{
    $array `,` $axis `from` $start `to` $stop `step` $step attr-dict `:` type($array) `,` type($start) `,` type($stop)
    `,` type($step) `->` type($result)
  }];
  let hasVerifier = 1;
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

def Tile_LoadOp : Tile_Op<"load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads the tile of a view at an index";
  let description = [{
    Lanes outside the array read the view's padding. `site` is an index into the kernel's tile.sites; `in_bounds`
    promises that the tile lies inside (check_bounds = false).
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Index>:$indices, I32Attr:$site, UnitAttr:$in_bounds,
                       DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::weak">:$order,
                       DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::device">:$scope);
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
                       UnitAttr:$in_bounds, DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::weak">:$order,
                       DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::device">:$scope);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `:` type($indices) `]` `site` $site (`in_bounds` $in_bounds^)? attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_ViewAtomicOp : Tile_Op<"view_atomic", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combines a tile with a tile of a view, element by element; relaxed, lanes outside are dropped";
  let arguments = (ins Tile_AtomicKind:$kind, Tile_AnyTile:$value, Tile_ViewType:$view, Variadic<Tile_Index>:$indices,
                       I32Attr:$site, UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $kind $value `,` $view `[` $indices `:` type($indices) `]` `site` $site (`unsigned` $is_unsigned^)? attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

class Tile_Element<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat(traits, [AttrSizedOperandSegments])> {
  let description = [{
    One index tile for each axis of the array, i32 or i64, all of one shape, which the mask (i1) and the value have too.
    A lane outside the array (index < 0 or >= extent) or masked off does nothing.
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Element<"gather", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads elements of an array; lanes outside or masked off read the padding";
  let arguments = (ins Tile_ArrayType:$array, Variadic<Tile_AnyTile>:$indices, Optional<Tile_AnyTile>:$mask,
                       Tile_AnyTile:$padding, I32Attr:$site, UnitAttr:$in_bounds, DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::weak">:$order,
                       DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::device">:$scope);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $array `[` $indices `:` type($indices) `]` (`mask` $mask^ `:` type($mask))? `padding` $padding `site` $site
    (`in_bounds` $in_bounds^)? attr-dict `:` type($array) `,` type($padding) `->` type($result)
  }];
}

def Tile_ScatterOp : Tile_Element<"scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes elements of an array";
  let arguments = (ins Tile_AnyTile:$value, Tile_ArrayType:$array, Variadic<Tile_AnyTile>:$indices,
                       Optional<Tile_AnyTile>:$mask, I32Attr:$site, UnitAttr:$in_bounds, DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::weak">:$order,
                       DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::device">:$scope);
  let assemblyFormat = [{
    $value `,` $array `[` $indices `:` type($indices) `]` (`mask` $mask^ `:` type($mask))? `site` $site
    (`in_bounds` $in_bounds^)? attr-dict `:` type($value) `,` type($array)
  }];
}

def Tile_AtomicOp : Tile_Element<"atomic", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combines elements of an array with a tile and gives what was there";
  let description = [{
    Indices and mask as those of gather. Each lane that is inside happens exactly once, in any order. Lanes outside or
    masked off give 0, under cas the expected value. cas writes `value` where `expected` is found.
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_ArrayType:$array, Variadic<Tile_AnyTile>:$indices,
                       Optional<Tile_AnyTile>:$mask, Optional<Tile_AnyTile>:$expected, Tile_AnyTile:$value,
                       I32Attr:$site, UnitAttr:$is_unsigned,
                       DefaultValuedAttr<Tile_MemoryOrder, "::tilec::tile::MemoryOrder::acq_rel">:$order,
                       DefaultValuedAttr<Tile_MemoryScope, "::tilec::tile::MemoryScope::device">:$scope);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $kind $array `[` $indices `:` type($indices) `]` (`mask` $mask^ `:` type($mask))?
    (`expected` $expected^ `:` type($expected))? `value` $value `site` $site (`unsigned` $is_unsigned^)? attr-dict
    `:` type($array) `,` type($value) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Debugging, promises, launches
//===----------------------------------------------------------------------===//

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "prints tiles and scalars between pieces of text";
  let description = "`pieces` has one entry more than operands; `dtypes` are those of the language, one per operand.";
  let arguments = (ins StrArrayAttr:$pieces, StrArrayAttr:$dtypes, Variadic<Tile_AnyTile>:$values);
  let assemblyFormat = "$pieces $dtypes (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasVerifier = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fails the launch where an element is false";
  let arguments = (ins Tile_AnyTile:$condition, StrAttr:$text);
  let assemblyFormat = "$condition $text attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Tile_AssumeDivisibleOp : Tile_Op<"assume_divisible", [Pure, SameOperandsAndResultType]> {
  let summary = "the same integers, which the program promises to be multiples of a number";
  let arguments = (ins Tile_AnyTile:$value, I64Attr:$divisor);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = "$value `,` $divisor attr-dict `:` type($result)";
}

def Tile_GridWaitOp : Tile_Op<"grid_dependency_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the launch before has finished and its writes are seen";
  let assemblyFormat = "attr-dict";
}

def Tile_GridLaunchOp : Tile_Op<"grid_dependency_launch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "lets the launch behind start";
  let assemblyFormat = "attr-dict";
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
