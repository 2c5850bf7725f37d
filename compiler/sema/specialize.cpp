// A program for launches whose extents divide as those of one problem do.
#include "compiler/sema/instantiate.h"

namespace tilec::sema {

/// Vector accesses want rows that start at multiples of a vector. Where the problem's extents say so, the program is
/// made for launches of which that is true: the symbols that row-major strides, or the only extent, are made of.
void Instantiation::specialize() {
  constexpr int64_t widest = 16; // bytes of the widest vector, and so elements of the narrowest dtype
  std::vector<std::string> names;
  for (const ArraySpec &array : program.arrays) {
    size_t first = array.strides.empty() && array.extents.size() > 1 ? 1 : 0;
    for (const LaunchExpr &stride : array.strides)
      std::ranges::copy(symbols(stride), std::back_inserter(names));
    for (size_t axis = first; axis < array.extents.size(); ++axis)
      std::ranges::copy(symbols(array.extents[axis]), std::back_inserter(names));
  }
  for (const std::string &name : names) {
    auto given = bindings.problem.find(name);
    if (given == bindings.problem.end() || program.folded.contains(name) || program.multiples.contains(name) ||
        std::ranges::find(program.symbols, name) == program.symbols.end())
      continue;
    int64_t value = std::get<int64_t>(given->second), multiple = 1;
    while (multiple < widest && value % (2 * multiple) == 0)
      multiple *= 2;
    if (multiple == 1)
      continue;
    program.multiples[name] = multiple;
    LaunchExpr rest = LaunchExpr::call(LaunchOp::Mod, {LaunchExpr::name(name), LaunchExpr::constant(multiple)});
    program.requirements.push_back({LaunchExpr::call(LaunchOp::Eq, {rest, LaunchExpr::constant(int64_t(0))}),
                                    fmt::format("{} % {} == 0", name, multiple)});
  }
}

} // namespace tilec::sema
