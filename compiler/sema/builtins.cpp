// Look-up in the table of built-ins and the reading of its signatures.
#include "compiler/sema/builtins.h"
#include "compiler/base/text.h"
#include <fmt/format.h>

namespace tilec::sema {

static constexpr BuiltinInfo table[] = {
#define BUILTIN(name, receiver, group, handler, signature, doc)                                                        \
  {#name, Receiver::receiver, BuiltinGroup::group, signature, doc},
#include "compiler/sema/builtins.def"
};

std::string_view receiverName(Receiver receiver) {
  constexpr std::string_view names[] = {"free", "tile", "array", "view", "tile", "array", "view", "dtype", "target"};
  return names[size_t(receiver)];
}

const std::vector<BuiltinInfo> &allBuiltins() {
  static const std::vector<BuiltinInfo> all(std::begin(table), std::end(table));
  return all;
}

int findBuiltin(std::string_view name) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name && (table[i].receiver == Receiver::Free || table[i].receiver == Receiver::Tile))
      return int(i);
  return -1;
}

int findBuiltin(std::string_view name, Receiver receiver) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name && table[i].receiver == receiver)
      return int(i);
  return -1;
}

BuiltinSignature parseSignature(std::string_view text) {
  BuiltinSignature result;
  size_t open = text.find('(');
  result.takesDType = text.substr(0, open).find('<') != std::string_view::npos;
  if (open == std::string_view::npos)
    return result;
  bool keywordOnly = false;
  for (const std::string &piece : split(text.substr(open + 1, text.rfind(')') - open - 1), ',')) {
    std::string_view part = trim(piece);
    if (part.empty())
      continue;
    if (part == "*") {
      keywordOnly = true;
      continue;
    }
    BuiltinParam param;
    param.keywordOnly = keywordOnly;
    size_t equals = part.find('=');
    param.optional = equals != std::string_view::npos;
    part = trim(part.substr(0, equals));
    param.variadic = part.ends_with("...");
    param.name = part.substr(0, part.size() - (param.variadic ? 3 : 0));
    result.params.push_back(std::move(param));
  }
  return result;
}

std::string builtinTable() {
  constexpr std::string_view groups[] = {"grid",  "queries",   "factories", "views",    "arrays", "atomics",
                                         "shape", "reduce",    "scan",      "products", "select", "math",
                                         "bits",  "debugging", "promises",  "launch"};
  std::string text = "| group | built-in | meaning |\n|---|---|---|\n";
  for (const BuiltinInfo &row : table)
    text += fmt::format("| {} | `{}` | {} |\n", groups[size_t(row.group)], row.signature, row.doc);
  return text;
}

} // namespace tilec::sema
