#pragma once
// Problems in host memory, and what the reference executor says of them.
#include "compiler/base/json.h"
#include "runtime/compare.h"
#include "tuner/builder.h"
#include "tuner/recipe.h"

namespace tilec::tuner {

/// The arguments of one problem: inputs made from the recipe's distributions, outputs poisoned.
struct HostProblem {
  Artifact plan;
  LaunchEnv env; ///< every symbol and scalar
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<runtime::HostArray> arrays;    ///< dense, in the order of plan.arrays
  std::vector<std::vector<int64_t>> strides; ///< elements
  /// Row-major numbers of elements that no block stored, rising; ReferenceOptions::findUnwritten.
  std::vector<std::vector<int64_t>> unwritten;
  int64_t elements() const;
  int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
};

/// How an array of a problem comes to be; what the worker is told as well.
struct ArrayPlan {
  std::string name;
  ArrayMode mode = ArrayMode::In;
  DType dtype = DType::f32;
  std::vector<int64_t> extents, strides;
  std::string distribution; ///< inputs
};
Json toJson(const ArrayPlan &array);
Result<ArrayPlan> arrayPlanFromJson(const Json &json);
/// Contents before a launch: the input's, or poison for an output. `number` is the array's place among the arguments.
Result<runtime::HostArray> makeArray(const ArrayPlan &array, uint64_t seed, uint32_t number);

/// Shapes, grid and inputs for a program. Errors: Program (the problem is refused), Usage (a distribution that does not
/// suit, more memory than the machine has).
Result<std::vector<ArrayPlan>> planArrays(const Recipe &recipe, const Artifact &plan, LaunchEnv &env);
/// Refuses a problem that has no block to run or no output element to write: there is nothing to verify or time.
/// Error (Usage). A problem that is refused for another reason passes: whoever uses it says why.
Status checkWork(const Prepared &prepared, const Values &problem, const Arch &arch);
Result<HostProblem> makeProblem(const Recipe &recipe, const Prepared &prepared, const Values &problem, uint64_t seed);

/// Runs the executor on the problem's own arrays, which then hold the results.
Result<std::vector<driver::ReferenceFinding>> executeProblem(const Prepared &prepared, HostProblem &problem,
                                                             const driver::ReferenceOptions &options);

/// What an output must hold.
struct Expected {
  std::string array;
  bool full = true;             ///< every element; else those of `indices`
  std::vector<int64_t> indices; ///< linear, rising
  runtime::HostArray values;    ///< as large as the array, or as `indices`
  Bound bound;
};

/// Blocks of a grid that stand for all: the first, the last and others spread between them by the seed.
std::vector<int64_t> sampleBlocks(int64_t blocks, int64_t wanted, uint64_t seed);

struct ReferenceLimits {
  int64_t fullElements = int64_t(1) << 21;    ///< problems with more array elements are sampled
  int64_t sampledElements = int64_t(1) << 19; ///< elements that the sampled blocks are to touch
  unsigned jobs = 0;
};
/// Runs the executor in widened precision (unless an output is to be exact), wholly or on sampled blocks.
/// Error (Program), beginning with findingPrefix: the executor found a race, an access outside or its like. Others as
/// makeProblem().
inline constexpr std::string_view findingPrefix = "the executor reports";
Result<std::vector<Expected>> expectedOutputs(const Recipe &recipe, const Prepared &prepared, const Values &problem,
                                              uint64_t seed, const ReferenceLimits &limits);

/// Compares one output with what it must hold; empty when it does, else where and how it differs.
Result<std::string> differences(const runtime::HostArray &actual, const Expected &expected);

} // namespace tilec::tuner
