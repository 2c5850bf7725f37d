#include "compiler/sema/foreign.h"
#include "compiler/base/text.h"
#include <utility>

namespace tilec::sema {

std::string mendName(std::string_view name, std::span<const std::string> candidates) {
  static constexpr std::pair<std::string_view, std::string_view> rows[] = {
#define FOREIGN(word, mend) {word, mend},
#include "compiler/sema/foreign.def"
  };
  for (auto [word, mend] : rows)
    if (word == name)
      return std::string(mend);
  constexpr size_t fewNames = 20;
  if (candidates.size() > fewNames && nearest(name, candidates).empty())
    return "declare it with 'fn', or look among the built-in functions in docs/language.md";
  return suggest(name, candidates);
}

} // namespace tilec::sema
