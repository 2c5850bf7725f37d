//===- TileTypes.td - types and attributes of the tile dialect ----------===//
// Included by TileOps.td, which defines the dialect.
#ifndef TILE_TYPES
#define TILE_TYPES

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

#endif
