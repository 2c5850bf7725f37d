#pragma once
// What an expression gives while checking: a compile-time value, a run-time value of the program under construction, or
// a tuple of both. A number without a dtype is untyped: an exact integer or an f64.
#include "compiler/sema/program.h"
#include <string>
#include <vector>

namespace tilec::sema {

/// Exact integer of compile-time arithmetic; results that leave 64 bits are an error only when they get a dtype.
using BigInt = __int128;
std::string toString(BigInt value);

/// Why a value is not known while compiling, and where that began.
struct Origin {
  Span span;
  std::string reason; ///< a sentence, such as `'M' is an extent, known only at a launch`
};

enum class ValueKind : uint8_t {
  Error,  ///< an error was reported: everything made of it stays silent
  Unit,   ///< no value: a call of a function that returns nothing
  Int,    ///< untyped integer
  Float,  ///< untyped float
  String, ///< only an argument of static_assert and the like
  DType,
  Typed, ///< compile-time scalar of a dtype; every bool
  Tile,  ///< run-time tile or scalar
  Array,
  View,
  Tuple,
};

struct Value {
  ValueKind kind = ValueKind::Error;
  BigInt integer = 0;
  double real = 0;
  DType dtype = DType::i32;        ///< DType: the value; Typed: dtype of `bits`
  uint64_t bits = 0;               ///< Typed: storage encoding
  ValueId id = 0;                  ///< Tile, Array, View
  Type type;                       ///< Tile, Array, View
  size_t root = 0;                 ///< Array, View: index of the array argument it comes from
  bool isPart = false;             ///< Array, View: of a part, whose extents are not those of the argument
  int sparseAxis = -1;             ///< View: the axis whose rows an index tile chooses; -1: there is none
  Padding padding = Padding::None; ///< View with a sparse axis
  const Origin *origin = nullptr;  ///< Tile: why it is no compile-time value
  std::vector<Value> elements;     ///< Tuple
  std::string text;                ///< String

  static Value error() { return {}; }
  static Value unit();
  static Value ofInt(BigInt value);
  static Value ofFloat(double value);
  static Value ofBool(bool value);
  static Value ofDType(DType value);
  static Value ofString(std::string text);
  static Value typed(DType dtype, uint64_t bits);
  static Value tile(ValueId id, Type type, const Origin *origin);
  static Value tuple(std::vector<Value> elements);

  bool is(ValueKind k) const { return kind == k; }
  bool isError() const { return kind == ValueKind::Error; }
  bool isUntyped() const { return kind == ValueKind::Int || kind == ValueKind::Float; }
  /// A scalar known while compiling that is a number or a bool.
  bool isConstScalar() const { return isUntyped() || kind == ValueKind::Typed; }
  bool isTile() const { return kind == ValueKind::Tile; }
  /// A number or bool, known or not.
  bool isTileLike() const { return isConstScalar() || isTile(); }
  bool isBool() const { return kind == ValueKind::Typed && dtype == DType::bool_; }
  /// Known while compiling, tuples through and through.
  bool isConst() const;
};

/// Parts of a tuple, nested ones counted as well; counting ends past maxTupleParts.
inline constexpr size_t maxTupleParts = 1 << 16;
template <typename T> size_t tupleParts(const std::vector<T> &elements) {
  size_t parts = elements.size();
  for (const T &element : elements)
    if (parts += tupleParts(element.elements); parts > maxTupleParts)
      break;
  return parts;
}

/// Whether two compile-time values are the same (NaN equals NaN).
bool equalConst(const Value &a, const Value &b);
/// The value as a message shows it: `128`, `0.5`, `f16`, `i8 -3`, `f32[4, 8]`, `(i32, f32)`.
std::string describe(const Value &value);
/// The type as a message shows it: `an untyped integer`, `f32[4, 8]`, `dtype`.
std::string typeName(const Value &value);
/// `[4, 128]`.
std::string shapeText(const std::vector<int64_t> &shape);

/// A typed constant as f64 or as an integer (its dtype must be of that kind).
double realOf(const Value &typed);
BigInt integerOf(const Value &typed);
/// A constant integer, untyped or of a dtype.
inline BigInt exactOf(const Value &v) { return v.is(ValueKind::Int) ? v.integer : integerOf(v); }

} // namespace tilec::sema
