#include "tuner/outcome.h"
#include "compiler/base/text.h"
#include <algorithm>

namespace tilec::tuner {
namespace {

/// Hints that two configurations of the same parameters differ in.
std::vector<std::string> differingHints(const Configuration &a, const Configuration &b) {
  std::vector<std::string> names;
  auto value = [](const Configuration &c, const std::string &hint) {
    auto it = c.hints.find(hint);
    return it == c.hints.end() ? std::optional<int64_t>() : it->second;
  };
  for (const Configuration *c : {&a, &b})
    for (const auto &[hint, ignored] : c->hints)
      if (value(a, hint) != value(b, hint) && std::ranges::find(names, hint) == names.end())
        names.push_back(hint);
  return names;
}

} // namespace

void nameSharedCode(std::vector<TrialRow> &rows) {
  std::map<std::string, const TrialRow *> first;
  for (const TrialRow &row : rows) {
    const TrialRow *&holder = first[row.code];
    if (!row.code.empty() && (!holder || row.configuration.id < holder->configuration.id))
      holder = &row;
  }
  for (TrialRow &row : rows) {
    if (row.code.empty() || isFailure(row.status) || first[row.code] == &row)
      continue;
    const Configuration &other = first[row.code]->configuration;
    row.reason = fmt::format("same code as configuration {}", other.id);
    if (std::vector<std::string> hints = differingHints(other, row.configuration);
        other.parameters == row.configuration.parameters && !hints.empty())
      row.reason += fmt::format(": {} without effect", join(hints, ", "));
  }
}

std::vector<std::string> hintsWithoutEffect(const std::vector<TrialRow> &rows, const Space &space) {
  std::vector<std::string> result;
  for (const Axis &axis : space.axes) {
    if (!axis.hint || axis.values.size() < 2)
      continue;
    std::map<std::string, std::string> codes; // of what is the same beside this hint
    bool compared = false, acts = false;
    for (const TrialRow &row : rows) {
      if (row.code.empty())
        continue;
      Configuration rest = row.configuration;
      rest.hints.erase(axis.name);
      auto [it, isNew] = codes.try_emplace(toString(rest), row.code);
      compared |= !isNew;
      acts |= it->second != row.code;
    }
    if (compared && !acts)
      result.push_back(axis.name);
  }
  return result;
}

std::optional<size_t> rankRows(std::vector<TrialRow> &rows) {
  std::ranges::sort(rows, {}, [](const TrialRow &r) {
    return std::tuple(isFailure(r.status), isFailure(r.status) ? 0.0 : r.median, r.configuration.id);
  });
  std::vector<Ranked> ranked;
  for (const TrialRow &row : rows)
    ranked.push_back({row.configuration.id, row.status, row.median, row.footprint, row.times, row.finals});
  return chooseWinner(ranked);
}

} // namespace tilec::tuner
