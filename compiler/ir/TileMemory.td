//===- TileMemory.td - ops of the tile dialect that know memory ---------===//
// The grid, arrays and views, accesses, and what debugs or promises.
// Included by TileOps.td, which defines the dialect.
#ifndef TILE_MEMORY
#define TILE_MEMORY

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

#endif
