#pragma once
// The table of built-ins and what their signatures say.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::sema {

enum class Receiver : uint8_t { Free, Tile, Array, View, TileQuery, ArrayQuery, ViewQuery, DTypeQuery, Target };
enum class BuiltinGroup : uint8_t {
  Grid,
  Query,
  Factory,
  View,
  Array,
  Atomic,
  Shape,
  Reduce,
  Scan,
  Product,
  Select,
  Math,
  Bits,
  Debug,
  Promise,
  Launch
};

struct BuiltinInfo {
  std::string_view name;
  Receiver receiver;
  BuiltinGroup group;
  std::string_view signature, doc;
};
/// `free`, `tile`, `array`, `view`, `dtype`, `target`: what stands in front of the name, property or method.
std::string_view receiverName(Receiver receiver);
/// Every row of builtins.def, in its order.
const std::vector<BuiltinInfo> &allBuiltins();
/// Index of the row of a plain call; -1 when there is none.
int findBuiltin(std::string_view name);
/// Index of the row of a method or property of a receiver; -1 when there is none.
int findBuiltin(std::string_view name, Receiver receiver);

/// One parameter of a signature.
struct BuiltinParam {
  std::string name;
  bool variadic = false, optional = false, keywordOnly = false;
};
struct BuiltinSignature {
  bool takesDType = false; ///< `<T>`
  std::vector<BuiltinParam> params;
};
BuiltinSignature parseSignature(std::string_view text);

/// The built-ins as a Markdown table for the language reference.
std::string builtinTable();

} // namespace tilec::sema
