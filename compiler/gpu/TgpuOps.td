//===- TgpuOps.td - the tgpu dialect ------------------------------------===//
// What a block does beneath the tile level: shared-memory buffers, barriers
// and the parts of a reduction. Tiles carry layouts here.
#ifndef TGPU_OPS
#define TGPU_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "compiler/ir/TileOps.td"

def Tgpu_Dialect : Dialect {
  let name = "tgpu";
  let cppNamespace = "::tilec::tgpu";
  let useDefaultTypePrinterParser = 1;
  let summary = "shared memory, barriers and warp-level parts of tile operations";
}

def Tgpu_SharedType : TypeDef<Tgpu_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "a buffer in the shared memory of a block, row-major up to its swizzle";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` `[` (`]`) : ($shape^ `]`)? `,` $elementType `>`";
  let extraClassDeclaration = [{
    int64_t numElements() const;
    /// Bytes of one element; a bool takes one.
    int64_t elementBytes() const;
    int64_t byteSize() const { return numElements() * elementBytes(); }
  }];
}

class Tgpu_Op<string mnemonic, list<Trait> traits = []> : Op<Tgpu_Dialect, mnemonic, traits>;

def Tgpu_AllocSharedOp : Tgpu_Op<"alloc_shared"> {
  let summary = "a buffer; its contents begin unspecified at each execution";
  let description = [{
    `swizzle` is (base, bits, distance): bits [base, base + bits) of an element's row-major index are XORed with the bits
    `distance` above. `offset` is the byte offset in the block's shared memory, set by the allocator. With `stages` above
    1 there are as many buffers behind one another.
  }];
  let arguments = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0}">:$swizzle, OptionalAttr<I64Attr>:$offset,
                       DefaultValuedAttr<I64Attr, "1">:$stages);
  let extraClassDeclaration = [{
    int64_t byteSize() { return getType().byteSize() * int64_t(getStages()); }
  }];
  let results = (outs Tgpu_SharedType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tgpu_StoreSharedOp : Tgpu_Op<"store_shared", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to a buffer, each element by its owner";
  let arguments = (ins AnyRankedTensor:$value, Tgpu_SharedType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
}

def Tgpu_LoadSharedOp : Tgpu_Op<"load_shared", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a buffer, or one stage of it, into a tile";
  let arguments = (ins Tgpu_SharedType:$buffer, Optional<I32>:$stage);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$buffer (`stage` $stage^)? attr-dict `:` type($buffer) `->` type($result)";
}

def Tgpu_AsyncCopyOp : Tgpu_Op<"async_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts copying a tile of a view to a stage of a buffer, where the predicate is true";
  let description = [{
    `tile` is the tile's type with the layout it is moved in; lanes outside the array write zeros. The copy has happened
    once its group, ended by tgpu.async_commit, has been waited for.
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Tile_Index>:$indices, Tgpu_SharedType:$buffer, I32:$stage,
                       I1:$predicate, TypeAttr:$tile, UnitAttr:$in_bounds);
  let assemblyFormat = [{
    $view `[` $indices `:` type($indices) `]` `to` $buffer `stage` $stage `if` $predicate (`in_bounds` $in_bounds^)?
    $tile attr-dict `:` type($view) `,` type($buffer)
  }];
}

def Tgpu_AsyncCommitOp : Tgpu_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends a group of copies";
  let assemblyFormat = "attr-dict";
}

def Tgpu_AsyncWaitOp : Tgpu_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` of the newest groups are under way; of this thread's copies only";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tgpu_BarrierOp : Tgpu_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block meet; memory accesses before it are seen after it";
  let assemblyFormat = "attr-dict";
}

def Tgpu_PrintOp : Tgpu_Op<"print", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes a record with the values to the print buffer";
  let description = "`message` is the record's number in the kernel's `tile.messages`; the buffer tells its place to all threads.";
  let arguments = (ins Variadic<AnyType>:$values, Tgpu_SharedType:$buffer, I64Attr:$message);
  let assemblyFormat = "$message $buffer (`(` $values^ `:` type($values) `)`)? attr-dict `:` type($buffer)";
}

def Tgpu_AssertOp : Tgpu_Op<"assert", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes a record and ends the block where an element is false";
  let arguments = (ins AnyType:$condition, Tgpu_SharedType:$buffer, I64Attr:$message);
  let assemblyFormat = "$message $buffer `(` $condition `:` type($condition) `)` attr-dict `:` type($buffer)";
}

def Tgpu_WarpReduceOp : Tgpu_Op<"warp_reduce", [Pure]> {
  let summary = "combines along axes within each warp";
  let description = [{
    The result has the kept axes and one more, last: partial results by the warps that share a row. Its extent is 1 when
    a warp holds all that is combined.
  }];
  let arguments = (ins AnyRankedTensor:$value, Tile_ReduceKind:$kind, DenseI64ArrayAttr:$axes, UnitAttr:$is_unsigned,
                       UnitAttr:$propagate_nan);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $value `axes` $axes (`unsigned` $is_unsigned^)? (`propagate_nan` $propagate_nan^)? attr-dict
    `:` type($value) `->` type($result)
  }];
}

def Tgpu_WarpFoldOp : Tgpu_Op<"warp_fold", [Pure, SingleBlock]> {
  let summary = "tgpu.warp_reduce by a function on several values, neighbours before distant ones, in order";
  let arguments = (ins Variadic<AnyRankedTensor>:$values, DenseI64ArrayAttr:$axes);
  let regions = (region SizedRegion<1>:$combine);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$values `axes` $axes $combine attr-dict `:` type($values) `->` type($results)";
}

def Tgpu_YieldOp : Tgpu_Op<"yield", [Pure, Terminator, HasParent<"WarpFoldOp">]> {
  let summary = "what a combining function gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Tgpu_FmaProductOp : Tgpu_Op<"fma_product", [MemoryEffects<[MemRead]>]> {
  let summary = "a · b + accumulator by multiply-add, the operands read from shared memory";
  let description = "Operands and accumulator have one element type. Each thread computes the elements it holds.";
  let arguments = (ins Tgpu_SharedType:$a, Tgpu_SharedType:$b, AnyRankedTensor:$acc);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `,` type($acc) `->` type($result)
  }];
}

#endif
