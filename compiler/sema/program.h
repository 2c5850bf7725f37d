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
enum class Padding : uint8_t { None, Zero, NegZero, NaN, Inf, NegInf };

// What each instruction carries beside its operands.
struct ConstInst {
  uint64_t bits;
}; ///< rank-0 value in the storage encoding of its dtype
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
}; ///< an extent or stride symbol, i32 or i64
struct ExtentInst {
  int axis;
}; ///< operand: an array
struct UnaryInst {
  UnaryOp op;
  bool approx = false;
  bool ftz = false;
};
struct BinaryInst {
  BinaryOp op;
  bool approx = false;
  bool ftz = false;
  bool propagateNan = false;
};
struct FmaInst {}; ///< operands a, b, c
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
}; ///< operands view, indices
struct StoreInst {
  size_t site;
  bool inBounds;
}; ///< operands view, indices, value
struct IfInst {};    ///< operand condition; blocks then, else; results = yielded
struct ForInst {};   ///< operands lower, upper, step, carried…; block(i, carried…)
struct YieldInst {}; ///< ends a block of If or For

using Payload =
    std::variant<ConstInst, ArangeInst, BlockIdInst, NumBlocksInst, ArrayArgInst, ScalarArgInst, SymbolInst, ExtentInst,
                 UnaryInst, BinaryInst, FmaInst, CompareInst, SelectInst, ConvertInst, BroadcastInst, ReshapeInst,
                 ReduceInst, ViewInst, NumTilesInst, LoadInst, StoreInst, IfInst, ForInst, YieldInst>;

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
  std::map<std::string, LaunchValue> parameters; ///< every compile-time parameter with its value
  std::vector<std::pair<std::string, LaunchExpr>> lets;
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
