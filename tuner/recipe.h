#pragma once
// A recipe: what a kernel file does not say of itself. Problems to check and to time, inputs, tolerances, figures of
// merit, and changes to the space of configurations.
//
//   kernel: kernel.tile:softmax        # the file, and the kernel where it has several
//   about: softmax of every row
//   check:                             # small and ragged; lists are multiplied out
//     - {R: [1, 3], C: [1, 33], T: [f32, bf16]}
//   problems:                          # what is timed
//     - {R: 4096, C: 2**10, T: f32}
//   inputs: {x: "normal:0,1"}          # distribution of each input array; normal:0,1 for a float array without one
//   tolerance: {y: {ulp: 2, rel: 1e-6}} # of each output; see Tolerance
//   figures: {bytes: 2 * R * C * T.bits / 8, flops: 5 * R * C}
//   space: {TN: [1024, 2048], occupancy: 2}
#include "compiler/base/diag.h"
#include "compiler/sema/check.h"
#include "tuner/values.h"

namespace tilec::tuner {

/// How far an output may be from the executor's answer t: within `ulp` units of the last place, or |x - t| <= rel * |t|
/// + abs + terms * 2^-24 * scale, whose last part is the bound of a sum of `terms` f32 values with absolute values that
/// add up to `scale`. All absent: equal values (any NaN equals any NaN, -0 equals +0).
struct Tolerance {
  std::optional<LaunchExpr> ulp, rel, abs, terms, scale;
  bool exact() const { return !ulp && !rel && !abs && !terms; }
};
/// A tolerance for one problem, all numbers. `abs` includes the bound of a sum.
struct Bound {
  int64_t ulp = 0;
  double rel = 0, abs = 0;
  bool exact() const { return ulp == 0 && rel == 0 && abs == 0; }
};
Result<Bound> evaluate(const Tolerance &tolerance, const Values &problem);
/// Without a recipe: equal for integers and bool; for floats 4 ulp, or 16 units of f32's precision absolute and
/// relative.
Tolerance defaultTolerance(DType dtype);

/// Values that replace an axis of the space or make a new one; one value fixes it.
struct Override {
  std::string name;
  std::vector<LaunchValue> values;
  bool range = false; ///< of a range: values that a hint cannot have are left out, not refused
};
/// `TM=64` and `TM=64,128`, as --set takes them. Error (Usage): no name, no value.
Result<Override> parseOverride(std::string_view text);
/// `TM=1..=8` and `TM=pow2(32, 256)`, as --range takes them. Errors (Usage): no name, no range, an end that is no
/// integer, an empty range or one of more than 10,000 values.
Result<Override> parseRange(std::string_view text);

struct Recipe {
  std::string path;               ///< as the user writes it: the folder, the .yaml or the .tile file
  std::string name;               ///< of the folder, or of the file without its ending
  std::string kernelFile, kernel; ///< `kernel` is empty where the file has one
  std::string about;
  std::vector<Values> check, problems;
  std::map<std::string, std::string> inputs; ///< array → distribution
  std::map<std::string, Tolerance> tolerance;
  std::optional<LaunchExpr> bytes, flops;
  std::vector<Override> space;
  /// Where each name of the recipe that must be known to its kernel stands. `Name`: in an expression.
  struct Use {
    enum class Kind : uint8_t { Problem, Input, Output, Axis, Name } kind;
    std::string name;
    Span span, valueSpan;
    std::vector<LaunchValue> values; ///< Problem, Axis
  };
  std::vector<Use> uses;
  std::vector<Span> checkPlaces, problemPlaces; ///< of each entry of `check` and `problems`
};

/// Short identity of what a recipe calls right and how it fills inputs: a result that was judged by other rules is
/// none.
std::string rulesId(const Recipe &recipe);

/// Reads a recipe: a .yaml file, a folder with recipe.yaml (or with one .tile file), or a .tile file, which is a recipe
/// without problems. Faults of the text go to `diags`. Errors: Usage.
Result<Recipe> loadRecipe(const std::string &path, SourceManager &sources, Diagnostics &diags);
/// Reads the text of a recipe into `recipe`, whose path and name are set. Errors as loadRecipe().
Status parseRecipe(FileId file, SourceManager &sources, Diagnostics &diags, Recipe &recipe);
/// Folders of recipes at or below `directory`: it itself, its subfolders, and those of its folder `recipes`; sorted.
std::vector<std::string> findRecipes(const std::string &directory);
/// Holds the recipe against its kernel and reports, with places: unknown names, values of the wrong kind, problems that
/// leave something without a value, inputs and tolerances that are none. Error (Usage): how many faults there are.
Status checkRecipe(const Recipe &recipe, const sema::KernelInterface &interface, Diagnostics &diags);
/// One value for a parameter, extent, stride or scalar. `others` are the values that stand beside it: dtypes among them
/// say what a scalar is. Errors (Usage): no such name, the wrong kind, out of range.
Status checkValue(const std::string &name, const LaunchValue &value, const Values &others,
                  const sema::KernelInterface &interface);
/// Values for an axis of the space: of the parameter's kind, or legal for the hint (on any architecture where `arch` is
/// null). Errors (Usage).
Status checkOverride(const Override &axis, const sema::KernelInterface &interface, const Arch *arch);
/// Of a range, the values that are legal for the hint it names; others stay as they are. Error (Usage): none is.
Result<Override> legalPart(Override axis, const sema::KernelInterface &interface, const Arch *arch);
/// `a=arange:0,1`: what an input holds, instead of the recipe's word for it. Errors (Usage): no such input, no
/// distribution.
Status giveInput(Recipe &recipe, const sema::KernelInterface &interface, std::string_view text);
/// Refuses arrays of integers of which nobody says what they hold: they may be indices or lengths, and random ones may
/// leave no work to do, so that times mean nothing. Error (Usage).
Status checkInputs(const Recipe &recipe, const sema::KernelInterface &interface, const Values &problem);
/// Names that a problem may give: extents and strides, scalars, parameters.
std::vector<std::string> problemNames(const sema::KernelInterface &interface);
/// A whole problem: checkValue() of each value, and a value for every extent, stride and scalar. Error (Usage) names
/// what is missing, unknown or wrong.
Status checkProblem(const Values &problem, const sema::KernelInterface &interface);
/// The dtype of an array or scalar under the given values, with defaults for dtype parameters that are not given;
/// nothing where it stays open.
std::optional<DType> dtypeUnder(const LaunchExpr &dtype, const Values &values, const sema::KernelInterface &interface);

} // namespace tilec::tuner
