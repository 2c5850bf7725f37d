#pragma once
// A checked kernel, ready to be emitted: monomorphic, every `fn` inlined, every compile-time value known, and variables
// turned into values of structured control flow. The checker builds it instruction by instruction; emission maps it one
// to one onto tile IR. No tuple and no compile-time value is left in it.
#include "compiler/artifact/artifact.h"
#include "compiler/base/dtype.h"
#include "compiler/base/source.h"
#include "compiler/target/target.h"
#include <memory>
#include <variant>

namespace tilec::sema {

/// Number of a value in Program::values.
using ValueId = uint32_t;

enum class TypeKind : uint8_t { Tile, Array, View };

/// Type of a run-time value. A scalar is a tile of rank 0.
struct Type {
  TypeKind kind = TypeKind::Tile;
  DType dtype = DType::i32;
  std::vector<int64_t> shape; ///< Tile and View: extents of a tile, powers of two
  int rank = 0;               ///< Array: number of axes (Tile, View: shape.size())
  bool operator==(const Type &) const = default;
};
/// `f32[4, 128]`, `i32`, `array f32 of rank 2`, `view f32[4, 128]`: as messages print it.
std::string toString(const Type &type);

enum class UnaryOp : uint8_t {
#define UNARY(name) name,
#include "compiler/sema/ops.def"
};
enum class BinaryOp : uint8_t {
#define BINARY(name) name,
#include "compiler/sema/ops.def"
};
enum class CompareOp : uint8_t { Lt, Le, Gt, Ge, Eq, Ne };
enum class ReduceOp : uint8_t { Sum, Prod, Min, Max, Any, All };
enum class AtomicOp : uint8_t { Add, Max, Min, And, Or, Xor, Xchg, Cas };
enum class Padding : uint8_t { None, Zero, NegZero, NaN, Inf, NegInf };
/// Order and scope of an access to memory, as C++ and PTX define them. Weak: a plain access.
enum class MemoryOrder : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel };
enum class MemoryScope : uint8_t { Block, Device, System };
struct Ordering {
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::Device;
  bool operator==(const Ordering &) const = default;
};

// What each instruction carries beside its operands.
struct ConstInst {
  uint64_t bits;
}; ///< rank-0 value in the storage encoding of its dtype
struct ListInst {
  std::vector<uint64_t> bits;
}; ///< a tile of these elements in row-major order, each in the storage encoding of the dtype
struct ArangeInst {
  uint64_t start, step;
}; ///< bits of the result's dtype
struct BlockIdInst {
  int axis;
};
struct NumBlocksInst {
  int axis;
};
struct ArrayArgInst {
  size_t index;
}; ///< Program::arrays[index] as an array value
struct ScalarArgInst {
  size_t index;
}; ///< Program::scalars[index]
struct SymbolInst {
  std::string name;
}; ///< an extent or stride symbol or a clause `let`: i32 or i64; a `let` may be f32 or bool as well
struct ExtentInst {
  int axis;
}; ///< operand: an array
struct AtInst {}; ///< operands array, one index per leading axis; outside: an array of extents 0
struct SliceInst {
  int axis;
}; ///< operands array, start, stop, step (of one integer dtype); clamped to the extent
struct UnaryInst {
  UnaryOp op;
  bool approx = false;
  bool ftz = false;
  Rounding rounding = Rounding::NearestEven; ///< Sqrt of floats
};
struct BinaryInst {
  BinaryOp op;
  bool approx = false;
  bool ftz = false;
  bool propagateNan = false;
  Rounding rounding = Rounding::NearestEven; ///< Add, Sub, Mul, Div of floats
};
struct FmaInst {
  bool ftz = false;
  Rounding rounding = Rounding::NearestEven;
}; ///< operands a, b, c
struct CompareInst {
  CompareOp op;
};
struct SelectInst {}; ///< operands condition, then, else
struct ConvertInst {
  Rounding rounding;
  bool saturate;
};
struct BroadcastInst {}; ///< equal ranks or a scalar operand; the type says to what
struct ReshapeInst {};   ///< row-major order kept; inserts and removes axes of extent 1
struct ReduceInst {
  ReduceOp op;
  std::vector<int64_t> axes;
  bool propagateNan = false;
}; ///< axes removed
/// Lowest position (i32) of the extreme along one axis, which is removed.
struct ArgExtremeInst {
  bool max;
  int64_t axis;
  bool propagateNan = false;
};
/// Reduction by a function: operands x₁ … xₙ (of one shape), identity₁ … identityₙ (scalars); block(l₁ … lₙ, r₁ … rₙ)
/// on scalars, l the accumulated; n results.
struct ReduceFnInst {
  std::vector<int64_t> axes;
};
/// Running sums or products (Sum, Prod) along an axis.
struct ScanInst {
  ReduceOp op;
  int64_t axis;
  bool reverse = false, exclusive = false;
};
/// Scan by a function; operands, block and results as those of ReduceFnInst, shapes kept.
struct ScanFnInst {
  int64_t axis;
  bool reverse = false, exclusive = false;
};
struct PermuteInst {
  std::vector<int64_t> axes;
}; ///< axis i of the result is axis axes[i] of the operand
struct CatInst {
  int64_t axis;
}; ///< operands a, b of one shape
struct ExtractInst {}; ///< operands x, one i32 index per axis, counted in parts of the result's shape
struct InsertInst {};  ///< operands x, indices as those of ExtractInst, y
struct BitcastInst {}; ///< operand and result of equal width
struct PackInst {};    ///< rank 1 to bytes, little-endian, low bits first
struct UnpackInst {};  ///< bytes to rank 1
struct MmaInst {
  bool fastAcc = false;
}; ///< operands a, b, accumulator; rank 2, or 3 with a leading batch axis; exact products, one rounding at most per add
struct AssumeDivisibleInst {
  int64_t divisor;
}; ///< operand a scalar or tile of integers, which is the result
struct ViewInst {
  std::vector<int64_t> step, axes;
  Padding padding;
};
struct NumTilesInst {
  int axis;
};
struct LoadInst {
  size_t site;
  bool inBounds;
  Ordering ordering = {};
}; ///< operands view, indices
struct StoreInst {
  size_t site;
  bool inBounds;
  Ordering ordering = {};
}; ///< operands view, indices, value
struct ViewAtomicInst {
  size_t site;
  AtomicOp op; ///< no Xchg, no Cas
}; ///< operands view, indices, value; relaxed, gives nothing; lanes outside are dropped
/// Element accesses: operands array, one index tile per axis (i32 or i64, all of one shape, the result's), the mask
/// where `masked` (bool), then for a gather the padding and for a scatter the value, of that shape. Outside is < 0 or
/// >= extent.
struct GatherInst {
  size_t site;
  bool masked, inBounds;
  Ordering ordering = {};
};
struct ScatterInst {
  size_t site;
  bool masked, inBounds;
  Ordering ordering = {};
};
/// Like a scatter of the value (Cas: operands … expected, desired); the result is what was there, for lanes outside or
/// masked off 0 (Cas: expected). Each lane happens once, in any order.
struct AtomicInst {
  size_t site;
  AtomicOp op;
  bool masked;
  Ordering ordering = {MemoryOrder::AcqRel, MemoryScope::Device};
};
struct PrintInst {
  std::vector<std::string> pieces; ///< text before, between and behind the operands
}; ///< operands: tiles and scalars
struct AssertInst {
  std::string text;
}; ///< operand: bool tile or scalar; the launch fails where an element is false
struct GridWaitInst {};   ///< grid_dependency_wait()
struct GridLaunchInst {}; ///< grid_dependency_launch()
struct IfInst {};         ///< operand condition; blocks then, else; results = yielded
struct ForInst {};        ///< operands lower, upper, step, carried…; block(i, carried…)
/// Operands: carried values. blocks[0] (carried…) computes and ends with a ConditionInst; blocks[1] (values behind the
/// condition…) is a trip and yields the next carried values. Results: the condition's values when it is false.
struct WhileInst {};
struct ConditionInst {}; ///< operands: a bool scalar, then the values handed on
struct YieldInst {};     ///< ends a block of If, For, a trip of While, and the function of ReduceFn and ScanFn

using Payload =
    std::variant<ConstInst, ListInst, ArangeInst, BlockIdInst, NumBlocksInst, ArrayArgInst, ScalarArgInst, SymbolInst,
                 ExtentInst, AtInst, SliceInst, UnaryInst, BinaryInst, FmaInst, CompareInst, SelectInst, ConvertInst,
                 BroadcastInst, ReshapeInst, ReduceInst, ArgExtremeInst, ReduceFnInst, ScanInst, ScanFnInst,
                 PermuteInst, CatInst, ExtractInst, InsertInst, BitcastInst, PackInst, UnpackInst, MmaInst,
                 AssumeDivisibleInst, ViewInst, NumTilesInst, LoadInst, StoreInst, ViewAtomicInst, GatherInst,
                 ScatterInst, AtomicInst, PrintInst, AssertInst, GridWaitInst, GridLaunchInst, IfInst, ForInst,
                 WhileInst, ConditionInst, YieldInst>;

struct Inst;
/// A run of instructions; `params` are values defined at its head.
struct Block {
  std::vector<ValueId> params;
  std::vector<Inst> insts;
};

struct Inst {
  Payload payload;
  Span span;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Block> blocks;
};

/// An access site: root array, operation and place, with the hints that hold there.
struct Site {
  std::string name; ///< a.load, a.load#2, or the name given by `site = NAME`
  std::string array, operation;
  Span span;
  std::map<std::string, int64_t> hints;
  std::map<std::string, std::vector<int64_t>> domains; ///< hints written with a domain
};

struct Program {
  std::string name, doc;
  const Arch *arch = nullptr;
  std::vector<ArraySpec> arrays; ///< extents with parameters replaced
  std::vector<ScalarSpec> scalars;
  std::vector<std::string> symbols;
  std::map<std::string, int64_t> folded;         ///< symbols fixed by -D
  std::map<std::string, int64_t> multiples;      ///< powers of two that symbols are multiples of, checked at launch
  std::map<std::string, LaunchValue> parameters; ///< every compile-time parameter with its value
  std::vector<std::pair<std::string, LaunchExpr>> lets;
  std::map<std::string, DType> letDTypes; ///< of `lets` that the body uses and that are no integers
  std::vector<Condition> requirements;
  std::array<LaunchExpr, 3> grid;
  int gridRank = 1;
  bool contract = false, index64 = false;
  std::map<std::string, int64_t> hints; ///< kernel hints in force, defaults included
  std::vector<Site> sites;
  std::vector<Type> values; ///< type of every value
  Block body;
};

/// Text of a checked program, for `--emit=checked` and tests.
std::string dump(const Program &program);

} // namespace tilec::sema
