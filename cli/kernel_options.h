#pragma once
// What check, build, run and tune have in common: which kernel, with which values, for which architecture.
#include "cli/command.h"
#include "compiler/driver/driver.h"
#include "tuner/recipe.h"

namespace tilec::cli {

struct KernelOptions {
  std::string kernel, arch;
  std::vector<std::string> defines, hints;

  void addRows(std::vector<OptionRow> &rows);
};

/// One kernel to work on: a .tile file and, when it came from one, its recipe.
struct Target {
  std::string path;   ///< of the .tile file
  std::string kernel; ///< empty: the only one of the file
  std::optional<tuner::Recipe> recipe;
  std::shared_ptr<SourceManager> recipeText; ///< what places in the recipe refer to
};

/// A .tile file, a recipe (a folder or its .yaml), a folder of recipes, or nothing: the recipes of the current folder.
/// Errors (Usage): nothing there, or a recipe that cannot be read; faults in a recipe's text are printed.
Result<std::vector<Target>> resolveTargets(Context &context, const std::vector<std::string> &paths);
/// The same where a command works on one kernel.
Result<Target> resolveTarget(Context &context, const std::string &path, const std::string &kernel);

/// The target's recipe, or that of a bare kernel, for the kernel that was asked for.
Result<tuner::Recipe> recipeOf(const Target &target);

/// `NAME=VALUE` with a constant of the language: an integer, a float, true, false, inf, nan, a dtype, 2**20.
Result<tuner::Values> parseDefines(const std::vector<std::string> &defines);
/// `occupancy=2`, `a.load.latency=4`, `c.store.allow_tma=false`.
Result<std::map<std::string, int64_t>> parseHints(const std::vector<std::string> &hints);

/// The architecture named, or that of the first GPU when the name is empty. Errors: an unknown name (Usage, with the
/// known ones); no name and no GPU (Usage).
Result<const Arch *> pickArch(const std::string &name);

/// Values given by -D sorted by what they are: parameters define, the rest (extents, scalars, strides) is the problem.
/// Errors (Usage): a name the kernel does not have, with the nearest; an extent or scalar of the wrong kind. Parameters
/// are held against their kinds and domains when the kernel is instantiated.
struct SortedDefines {
  tuner::Values parameters, problem;
};
Result<SortedDefines> sortDefines(const sema::KernelInterface &interface, const tuner::Values &defines);

/// Refuses to write over what is read: `output` against the files that the command reads. Error (Usage).
Status keepInputs(const std::string &output, const std::vector<std::string> &inputs);

/// Prints what was reported about a source (faults as JSON where that was asked for) and returns whether there were
/// errors.
bool printDiagnostics(Context &context, const driver::Source &source);

} // namespace tilec::cli
