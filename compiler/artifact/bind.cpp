// Binding symbols from the arrays of a launch and planning its grids.
#include "compiler/artifact/artifact.h"
#include <algorithm>
#include <limits>
#include <set>

namespace tilec {
namespace {

constexpr int64_t index32Limit = int64_t(1) << 31;
constexpr std::array<int64_t, 3> gridLimits = {index32Limit - 1, 65535, 65535};

/// Binds symbols, remembering where each got its value.
struct Binder {
  const Artifact &artifact;
  LaunchEnv &env;
  std::map<std::string, std::string, std::less<>> origins{};

  /// ` bound by extent 0 of 'a'`, for messages.
  std::string origin(std::string_view symbol) const {
    auto it = origins.find(symbol);
    return it == origins.end() ? "as given" : it->second;
  }

  /// `M is 100, bound by extent 0 of 'a'` for each symbol of an expression.
  std::string facts(const LaunchExpr &e) const {
    std::string text;
    for (const std::string &s : symbols(e))
      if (auto it = env.values.find(s); it != env.values.end())
        text += fmt::format("{}{} is {}, {}", text.empty() ? "" : "; ", s, toString(it->second), origin(s));
    return text;
  }

  Status bindFolded() {
    for (const auto &[symbol, value] : artifact.folded) {
      auto [it, added] = env.values.try_emplace(symbol, value);
      if (added)
        origins[symbol] = "fixed when the kernel was built";
      else if (it->second != LaunchValue(value))
        return withHelp(
            programError("{} is {} but the kernel was built for {} = {}", symbol, toString(it->second), symbol, value),
            fmt::format("build without -D {}=…, or with the value of this launch", symbol));
    }
    return {};
  }

  /// First pass: a symbol that stands alone takes the value, unless it has one.
  void bindAlone(const LaunchExpr &e, int64_t value, const std::string &place) {
    if (e.op == LaunchOp::Symbol && e.symbol != "_" && env.values.try_emplace(e.symbol, value).second)
      origins[e.symbol] = "bound by " + place;
  }

  /// Second pass: every value equals its expression.
  Status compare(const LaunchExpr &e, int64_t value, const std::string &place) const {
    if (e.op == LaunchOp::Symbol && e.symbol == "_")
      return {};
    TILEC_ASSIGN(int64_t wanted, evaluateInt(e, env));
    if (wanted == value)
      return {};
    if (e.op == LaunchOp::Symbol)
      return programError("{} is {} but {} is {}, {}", place, value, e.symbol, wanted, origin(e.symbol));
    if (e.isLiteral())
      return programError("{} is {} but the kernel was built for {}", place, value, wanted);
    std::string from = facts(e);
    return programError("{} is {} but {} is {}{}", place, value, toString(e), wanted,
                        from.empty() ? "" : fmt::format(" ({})", from));
  }
};

std::string place(std::string_view what, size_t axis, const ArraySpec &array) {
  return fmt::format("{} {} of '{}'", what, axis, array.name);
}

const std::vector<int64_t> *lookUp(const std::map<std::string, std::vector<int64_t>> &map, const std::string &name) {
  auto it = map.find(name);
  return it == map.end() ? nullptr : &it->second;
}

/// Row-major strides of given extents where the spec says contiguous. Along an extent of 1 any stride will do, and an
/// empty array has no strides to speak of.
Status compareContiguous(const ArraySpec &array, const std::vector<int64_t> &extents,
                         const std::vector<int64_t> &strides) {
  int64_t wanted = 1;
  if (std::ranges::count(extents, 0))
    return {};
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] != 1 && strides[axis] != wanted)
      return withHelp(programError("stride {} of '{}' is {} but a row-major array has {} there", axis, array.name,
                                   strides[axis], wanted),
                      fmt::format("make '{}' contiguous, or declare its strides", array.name));
    wanted = int64_t(uint64_t(wanted) * uint64_t(extents[axis])); // wraps only where no such array fits memory
  }
  return {};
}

} // namespace

Status bindSymbols(const Artifact &artifact, const std::map<std::string, std::vector<int64_t>> &extents, LaunchEnv &env,
                   const std::map<std::string, std::vector<int64_t>> &strides) {
  Binder binder{artifact, env};
  TILEC_TRY(binder.bindFolded());
  for (const auto *given : {&extents, &strides})
    for (const auto &[name, values] : *given)
      if (std::ranges::none_of(artifact.arrays, [&](const ArraySpec &a) { return a.name == name; }))
        return usageError("kernel '{}' has no array '{}'", artifact.name, name);

  for (const ArraySpec &array : artifact.arrays) {
    const auto *sizes = lookUp(extents, array.name), *steps = lookUp(strides, array.name);
    if (sizes && sizes->size() != array.extents.size())
      return programError("'{}' has {} axes but the kernel declares {}", array.name, sizes->size(),
                          array.extents.size());
    if (steps && steps->size() != array.extents.size())
      return programError("'{}' has {} strides but the kernel declares {} axes", array.name, steps->size(),
                          array.extents.size());
    for (size_t i = 0; sizes && i < sizes->size(); ++i) {
      if ((*sizes)[i] < 0)
        return programError("{} is {}, which is negative", place("extent", i, array), (*sizes)[i]);
      binder.bindAlone(array.extents[i], (*sizes)[i], place("extent", i, array));
    }
    for (size_t i = 0; steps && i < array.strides.size(); ++i)
      binder.bindAlone(array.strides[i], (*steps)[i], place("stride", i, array));
  }

  for (const std::string &symbol : artifact.symbols)
    if (!env.values.contains(symbol))
      return withHelp(
          usageError("'{}' of kernel '{}' has no value: no array of this launch gives it", symbol, artifact.name),
          fmt::format("give it with -D {}=…", symbol));

  for (const ArraySpec &array : artifact.arrays) {
    const auto *sizes = lookUp(extents, array.name), *steps = lookUp(strides, array.name);
    for (size_t i = 0; i < array.extents.size(); ++i) {
      if (sizes) {
        TILEC_TRY(binder.compare(array.extents[i], (*sizes)[i], place("extent", i, array)));
        continue;
      }
      TILEC_ASSIGN(int64_t size, evaluateInt(array.extents[i], env));
      if (size < 0) {
        std::string from = binder.facts(array.extents[i]);
        return programError("{} is {}, which is negative{}", place("extent", i, array), size,
                            from.empty() ? "" : fmt::format(" ({})", from));
      }
    }
    if (!steps)
      continue;
    for (size_t i = 0; i < array.strides.size(); ++i)
      TILEC_TRY(binder.compare(array.strides[i], (*steps)[i], place("stride", i, array)));
    if (array.strides.empty() && sizes)
      TILEC_TRY(compareContiguous(array, *sizes, *steps));
  }
  return {};
}

Result<std::vector<int64_t>> arrayExtents(const ArraySpec &array, const LaunchEnv &env) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < array.extents.size(); ++i) {
    TILEC_ASSIGN(int64_t size, evaluateInt(array.extents[i], env));
    if (size < 0)
      return programError("{} is {}, which is negative", place("extent", i, array), size);
    result.push_back(size);
  }
  return result;
}

Result<std::vector<int64_t>> arrayStrides(const ArraySpec &array, const LaunchEnv &env) {
  TILEC_ASSIGN(std::vector<int64_t> sizes, arrayExtents(array, env));
  std::vector<int64_t> result(sizes.size(), 1);
  // What a contiguous array has there; it also stands in for `_`, which any stride satisfies.
  for (size_t i = sizes.size(); i-- > 1;)
    if (__builtin_mul_overflow(result[i], std::max<int64_t>(sizes[i], 1), &result[i - 1]))
      return programError("array '{}' has more than 2^63 elements", array.name);
  for (size_t i = 0; i < array.strides.size(); ++i) {
    const LaunchExpr &e = array.strides[i];
    if (e.op == LaunchOp::Symbol && e.symbol == "_")
      continue;
    TILEC_ASSIGN(result[i], evaluateInt(e, env));
  }
  return result;
}

Result<std::vector<std::array<int64_t, 3>>> planGrid(const Artifact &artifact, LaunchEnv &env) {
  for (const auto &[name, expr] : artifact.lets) {
    TILEC_ASSIGN(env.values[name], evaluate(expr, env));
  }
  for (const Condition &c : artifact.requirements) {
    TILEC_ASSIGN(bool holds, evaluateBool(c.expr, env));
    if (holds)
      continue;
    std::string values;
    for (const std::string &s : symbols(c.expr))
      if (auto it = env.values.find(s); it != env.values.end())
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", s, toString(it->second));
    return programError("kernel '{}' requires {}{}", artifact.name, c.text.empty() ? toString(c.expr) : c.text,
                        values.empty() ? ", which does not hold" : ", and " + values);
  }

  bool index64 = std::ranges::all_of(artifact.launches, &LaunchSpec::index64);
  for (const auto *list : {&artifact.arrays, &artifact.temporaries})
    for (const ArraySpec &array : *list) {
      TILEC_ASSIGN(std::vector<int64_t> sizes, arrayExtents(array, env));
      for (size_t i = 0; i < sizes.size() && !index64; ++i)
        if (sizes[i] >= index32Limit)
          return withHelp(programError("{} is {}, past the limit of 2^31 - 1", place("extent", i, array), sizes[i]),
                          "options (index64 = true) lifts the limit");
    }

  std::vector<std::array<int64_t, 3>> grids;
  for (const LaunchSpec &launch : artifact.launches) {
    std::array<int64_t, 3> grid{};
    __int128 product = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      const LaunchExpr &e = launch.grid[axis];
      TILEC_ASSIGN(grid[axis], evaluateInt(e, env));
      if (grid[axis] < 0)
        return programError("grid axis {} of '{}', {}, is {}, which is negative", axis, launch.entry, toString(e),
                            grid[axis]);
      if (grid[axis] > gridLimits[axis])
        return withHelp(programError("grid axis {} of '{}', {}, is {}, past the limit of {}", axis, launch.entry,
                                     toString(e), grid[axis], gridLimits[axis]),
                        axis == 0 ? "larger tiles make fewer blocks"
                                  : "put the longest axis first, or use larger tiles");
      product *= grid[axis];
    }
    if (!launch.index64 && product >= index32Limit)
      return withHelp(programError("the grid of '{}', {} x {} x {}, has 2^31 blocks or more", launch.entry, grid[0],
                                   grid[1], grid[2]),
                      "options (index64 = true) lifts the limit");
    grids.push_back(grid);
  }
  return grids;
}

} // namespace tilec
