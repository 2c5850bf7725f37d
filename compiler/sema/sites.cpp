// Access sites: their names and the hints that hold there.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <algorithm>

namespace tilec::sema {

/// The value of a hint as the table counts it: a bool is 0 or 1.
static std::optional<int64_t> hintValue(const Value &value) {
  if (value.isBool())
    return int64_t(value.bits);
  if (value.is(ValueKind::Int) && value.integer >= INT64_MIN && value.integer <= INT64_MAX)
    return int64_t(value.integer);
  return std::nullopt;
}

/// Checks a hint of an access, its domain included, and notes it at the site.
bool Checker::siteHint(Site &site, const BoundArg &arg, std::string_view hintName) {
  const HintInfo &hint = *findHint(hintName);
  auto legal = [&](const Value &value, Span span) -> std::optional<int64_t> {
    if (!needConst(value, span, fmt::format("the hint '{}'", hintName)))
      return std::nullopt;
    auto number = hintValue(value);
    bool kindFits = number && value.isBool() == (hint.kind == HintKind::Bool);
    auto checked = kindFits ? checkHint(hint, arch, *number) : Result<int64_t>(usageError(""));
    if (checked)
      return *checked;
    report(Diag::HintValue, span, fmt::format("'{}' cannot be {}", hintName, describe(value)),
           fmt::format("legal values: {}", legalText(hint, arch)));
    return std::nullopt;
  };
  auto value = legal(arg.value, arg.span);
  if (!value)
    return false;
  site.hints[std::string(hintName)] = *value;
  if (!arg.arg->domain)
    return true;
  const syntax::Domain &domain = *arg.arg->domain;
  std::vector<int64_t> values;
  if (domain.kind == syntax::Domain::Kind::Value) {
    report(Diag::BadDomain, domain.span, "the domain of an access hint is a set or a range",
           "write 'in {2, 4, 6}' or 'in 1..=4'");
    return false;
  }
  for (const syntax::ExprPtr &item : domain.values) {
    auto member = legal(expr(*item), item->span);
    if (!member)
      return false;
    values.push_back(*member);
  }
  if (domain.kind == syntax::Domain::Kind::Range) {
    int64_t low = values[0], high = values[1];
    values.clear();
    for (int64_t v : legalValues(hint, arch))
      if (v >= low && v <= high)
        values.push_back(v);
  }
  site.domains[std::string(hintName)] = std::move(values);
  return true;
}

/// The site of an access; a copy made by inlining finds the one of the first. Nothing: an error was reported.
std::optional<size_t> Checker::site(BuiltinCall &call, std::string operation) {
  SiteKey key{call.receiver.root, operation, call.span.file, call.expr->callee.span.begin};
  auto [it, fresh] = siteIndex.emplace(key, program.sites.size());
  if (!fresh)
    return it->second;
  Site site;
  site.array = program.arrays[call.receiver.root].name;
  site.operation = operation;
  site.span = call.span;
  bool good = true;
  for (std::string_view hint : {"latency", "allow_tma"})
    if (const BoundArg *arg = call.find(hint))
      good &= siteHint(site, *arg, hint);
  if (const BoundArg *arg = call.find("site")) {
    if (auto *word = syntax::dynAs<syntax::NameExpr>(arg->expr)) {
      site.name = word->name;
      siteNames.emplace_back(it->second, arg->span);
    } else {
      report(Diag::BadSiteName, arg->span, "the name of a site is a plain word, as in 'site = first_read'");
      good = false;
    }
  }
  program.sites.push_back(std::move(site));
  if (!good)
    return std::nullopt;
  return it->second;
}

/// Once all sites are known: names in source order, then the hints given from outside.
void Checker::nameSites() {
  std::vector<size_t> order(program.sites.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const Span &x = program.sites[a].span, &y = program.sites[b].span;
    return std::pair(x.file, x.begin) < std::pair(y.file, y.begin);
  });
  std::map<std::string, size_t> used; // by name, for those that `site =` names twice
  for (auto [index, span] : siteNames) {
    auto [it, fresh] = used.emplace(program.sites[index].name, index);
    const Site &first = program.sites[it->second];
    bool samePlace =
        first.span.begin == program.sites[index].span.begin && first.span.file == program.sites[index].span.file;
    if (!fresh && !samePlace)
      note(report(Diag::BadSiteName, span, fmt::format("two sites are named '{}'", first.name)),
           {first.span, "the other one"});
  }
  std::map<std::string, int> counts;
  for (size_t index : order) {
    Site &site = program.sites[index];
    // Sites with a name of their own are counted as well, so that naming one does not rename the others.
    std::string base = fmt::format("{}.{}", site.array, site.operation);
    int count = ++counts[base];
    if (site.name.empty())
      site.name = count == 1 ? base : fmt::format("{}#{}", base, count);
  }
  Span nowhere{UINT32_MAX, 0, 0};
  for (const auto &[key, value] : siteHints) {
    size_t dot = key.rfind('.');
    std::string siteName = key.substr(0, dot), hintName = key.substr(dot + 1);
    std::vector<std::string> known;
    bool found = false;
    for (Site &site : program.sites) {
      known.push_back(site.name);
      if (site.name != siteName)
        continue;
      found = true;
      std::vector<std::string> hints = accessHints(site.operation);
      const HintInfo *hint = findHint(hintName);
      if (std::ranges::find(hints, hintName) == hints.end()) {
        report(Diag::UnknownHint, nowhere, fmt::format("'{}' has no hint '{}'", siteName, hintName),
               hints.empty() ? "atomics have no hints" : suggest(hintName, hints));
      } else if (auto legal = checkHint(*hint, arch, value); !legal) {
        report(Diag::HintValue, nowhere, fmt::format("'{}' cannot be {}", key, value),
               fmt::format("legal values: {}", legalText(*hint, arch)));
      } else {
        site.hints[hintName] = *legal;
      }
    }
    if (!found)
      report(Diag::UnknownSite, nowhere, fmt::format("kernel '{}' has no access site '{}'", program.name, siteName),
             known.empty() ? "it has no loads and stores" : fmt::format("its sites: {}", join(known, ", ")));
  }
}

} // namespace tilec::sema
