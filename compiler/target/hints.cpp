#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include <algorithm>

namespace tilec {

const std::vector<HintInfo> &allHints() {
  static const std::vector<HintInfo> all = [] {
    // The words of the rows; View is no place but narrows the others.
    constexpr int Kernel = 1 << int(HintPlace::Kernel), Load = 1 << int(HintPlace::Load),
                  Store = 1 << int(HintPlace::Store), View = 1 << 7;
    constexpr std::nullopt_t None = std::nullopt;
    return std::vector<HintInfo>{
#define HINT(name, places, kind, min, max, defaultValue, rule, doc)                                                    \
  {#name, uint8_t((places) & ~View), ((places) & View) != 0, HintKind::kind, min, max, defaultValue, HintRule::rule,   \
   doc},
#include "compiler/target/hints.def"
    };
  }();
  return all;
}

const HintInfo *findHint(std::string_view name) {
  for (const HintInfo &row : allHints())
    if (row.name == name)
      return &row;
  return nullptr;
}

std::vector<std::string> hintNames(HintPlace place) {
  std::vector<std::string> names;
  for (const HintInfo &row : allHints())
    if (row.allowedOn(place))
      names.emplace_back(row.name);
  return names;
}

std::vector<std::string> accessHints(std::string_view operation) {
  bool reads = operation == "load" || operation == "gather", writes = operation == "store" || operation == "scatter";
  bool ofView = operation == "load" || operation == "store";
  std::vector<std::string> names;
  for (const HintInfo &row : allHints())
    if (((reads && row.allowedOn(HintPlace::Load)) || (writes && row.allowedOn(HintPlace::Store))) &&
        (ofView || !row.viewsOnly))
      names.emplace_back(row.name);
  return names;
}

static int64_t largest(const HintInfo &hint, const Arch *arch) {
  if (hint.rule == HintRule::Clusters && arch)
    return std::min<int64_t>(hint.max, arch->maxCluster);
  return hint.max;
}

std::vector<int64_t> legalValues(const HintInfo &hint, const Arch *arch) {
  std::vector<int64_t> values;
  for (int64_t value = hint.min; value <= largest(hint, arch);
       value = hint.kind == HintKind::PowerOfTwo ? value * 2 : value + 1)
    values.push_back(value);
  return values;
}

std::string legalText(const HintInfo &hint, const Arch *arch) {
  if (hint.kind == HintKind::Bool)
    return "true, false";
  if (hint.kind == HintKind::Range)
    return fmt::format("{} to {}", hint.min, largest(hint, arch));
  return fmt::format("{}", fmt::join(legalValues(hint, arch), ", "));
}

Result<int64_t> checkHint(const HintInfo &hint, const Arch *arch, int64_t value) {
  std::vector<int64_t> legal = legalValues(hint, arch);
  if (std::find(legal.begin(), legal.end(), value) != legal.end())
    return value;
  // The architecture is named only where it is what forbids the value.
  bool elsewhere = arch && largest(hint, arch) < hint.max;
  return usageError("{} cannot be {}{}; {} {}", hint.name, value,
                    elsewhere ? fmt::format(" on {}", arch->name) : std::string(),
                    legal.size() == 1 ? "the only legal value is" : "legal values are", legalText(hint, arch));
}

} // namespace tilec
