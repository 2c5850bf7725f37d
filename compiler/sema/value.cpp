// Values and types: construction, comparison and their text in messages.
#include "compiler/sema/value.h"
#include "compiler/base/text.h"
#include <cmath>
#include <fmt/ranges.h>

namespace tilec::sema {

std::string toString(BigInt value) {
  bool negative = value < 0;
  std::string digits;
  do {
    int digit = int(value % 10);
    digits.insert(digits.begin(), char('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + digits : digits;
}

std::string shapeText(const std::vector<int64_t> &shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string toString(const Type &type) {
  std::string dtype(name(type.dtype));
  switch (type.kind) {
  case TypeKind::Tile:
    return type.shape.empty() ? dtype : dtype + shapeText(type.shape);
  case TypeKind::Array:
    return fmt::format("array {} of rank {}", dtype, type.rank);
  case TypeKind::View:
    return fmt::format("view {}{}", dtype, shapeText(type.shape));
  }
  return dtype;
}

Value Value::unit() {
  Value v;
  v.kind = ValueKind::Unit;
  return v;
}
Value Value::ofInt(BigInt value) {
  Value v;
  v.kind = ValueKind::Int;
  v.integer = value;
  return v;
}
Value Value::ofFloat(double value) {
  Value v;
  v.kind = ValueKind::Float;
  v.real = value;
  return v;
}
Value Value::ofBool(bool value) { return typed(DType::bool_, value); }
Value Value::ofDType(DType value) {
  Value v;
  v.kind = ValueKind::DType;
  v.dtype = value;
  return v;
}
Value Value::ofString(std::string text) {
  Value v;
  v.kind = ValueKind::String;
  v.text = std::move(text);
  return v;
}
Value Value::typed(DType dtype, uint64_t bits) {
  Value v;
  v.kind = ValueKind::Typed;
  v.dtype = dtype;
  v.bits = bits;
  return v;
}
Value Value::tile(ValueId id, Type type, const Origin *origin) {
  Value v;
  v.kind = ValueKind::Tile;
  v.id = id;
  v.type = std::move(type);
  v.origin = origin;
  return v;
}
Value Value::tuple(std::vector<Value> elements) {
  Value v;
  v.kind = ValueKind::Tuple;
  v.elements = std::move(elements);
  return v;
}

bool Value::isConst() const {
  if (kind == ValueKind::Tuple)
    return std::ranges::all_of(elements, [](const Value &e) { return e.isConst(); });
  return isConstScalar() || kind == ValueKind::DType || kind == ValueKind::String;
}

bool equalConst(const Value &a, const Value &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case ValueKind::Int:
    return a.integer == b.integer;
  case ValueKind::Float:
    // −0 and +0 are different constants: a division tells them apart.
    return std::isnan(a.real) ? std::isnan(b.real) : a.real == b.real && std::signbit(a.real) == std::signbit(b.real);
  case ValueKind::String:
    return a.text == b.text;
  case ValueKind::DType:
    return a.dtype == b.dtype;
  case ValueKind::Typed:
    return a.dtype == b.dtype && a.bits == b.bits;
  case ValueKind::Tuple:
    return std::ranges::equal(a.elements, b.elements, equalConst);
  default:
    return false;
  }
}

double realOf(const Value &typed) { return decodeFloat(typed.dtype, typed.bits); }

BigInt integerOf(const Value &typed) {
  int64_t value = decodeInt(typed.dtype, typed.bits);
  return typed.dtype == DType::u64 ? BigInt(uint64_t(value)) : BigInt(value);
}

static std::string tupleText(const Value &value, std::string (*part)(const Value &)) {
  std::vector<std::string> parts;
  for (const Value &element : value.elements)
    parts.push_back(part(element));
  return fmt::format("({}{})", join(parts, ", "), parts.size() == 1 ? "," : "");
}

std::string describe(const Value &value) {
  switch (value.kind) {
  case ValueKind::Int:
    return toString(value.integer);
  case ValueKind::Float:
    return toString(LaunchValue(value.real));
  case ValueKind::String:
    return fmt::format("\"{}\"", value.text);
  case ValueKind::DType:
    return std::string(name(value.dtype));
  case ValueKind::Typed:
    if (value.dtype == DType::bool_)
      return value.bits ? "true" : "false";
    return fmt::format("{} {}", name(value.dtype),
                       isFloat(value.dtype) ? toString(LaunchValue(realOf(value))) : toString(integerOf(value)));
  case ValueKind::Tuple:
    return tupleText(value, describe);
  default:
    return typeName(value);
  }
}

std::string typeName(const Value &value) {
  switch (value.kind) {
  case ValueKind::Error:
    return "an erroneous value";
  case ValueKind::Unit:
    return "nothing";
  case ValueKind::Int:
    return "an untyped integer";
  case ValueKind::Float:
    return "an untyped float";
  case ValueKind::String:
    return "a string";
  case ValueKind::DType:
    return "a dtype";
  case ValueKind::Typed:
    return std::string(name(value.dtype));
  case ValueKind::Tuple:
    return tupleText(value, typeName);
  default:
    return (value.sparseAxis >= 0 ? "sparse " : "") + toString(value.type);
  }
}

} // namespace tilec::sema
