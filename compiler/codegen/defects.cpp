#include "compiler/codegen/defects.h"
#include <string_view>

namespace tilec::codegen {

std::string avoidDefects(std::string ptx, const Arch &arch) {
  constexpr std::string_view negation = "neg.s32 ";
  bool extremes = ptx.contains("max.s32") || ptx.contains("min.s32");
  if (arch.major < 9 || !extremes || !ptx.contains(negation))
    return ptx;
  std::string result;
  size_t from = 0;
  for (size_t at = ptx.find(negation); at != ptx.npos; at = ptx.find(negation, from)) {
    // `neg.s32 %r1, %r2;`: a register is assigned once, so the two differ.
    size_t end = ptx.find(';', at), comma = ptx.find(',', at);
    if (end == ptx.npos || comma > end)
      break;
    std::string_view text = ptx;
    std::string_view target = text.substr(at + negation.size(), comma - at - negation.size());
    target.remove_prefix(std::min(target.find_first_not_of(" \t"), target.size()));
    result += text.substr(from, at - from);
    result += "not.b32 ";
    result += text.substr(at + negation.size(), end - at - negation.size());
    result += ";\n\tadd.s32 \t";
    result += target;
    result += ", ";
    result += target;
    result += ", 1";
    from = end;
  }
  return result + ptx.substr(from);
}

} // namespace tilec::codegen
