#pragma once
// The space of configurations of a kernel: one axis for each parameter with a domain and each hint with one, walked in
// declaration order with `requires` applied as soon as its names are known.
#include "compiler/sema/check.h"
#include "tuner/recipe.h"

namespace tilec::tuner {

/// One choice for every axis.
struct Configuration {
  int id = 0; ///< number in its space; 0 is the file's own defaults
  Values parameters;
  std::map<std::string, int64_t> hints;
};
/// `TN=1024 occupancy=2`; `defaults` for a space without axes.
std::string toString(const Configuration &configuration);
Json toJson(const Configuration &configuration);
Result<Configuration> configurationFromJson(const Json &json);

/// One axis, for display.
struct Axis {
  std::string name;
  bool hint = false;
  std::vector<LaunchValue> values; ///< under the defaults of the axes before it
  LaunchValue otherwise;           ///< the file's own value
  bool open = false;               ///< hints: compilersChoice is among the values
};
/// Value of an axis for a hint that is left to the compiler; no hint has it as a legal value. Configurations leave such
/// a hint out.
inline constexpr int64_t compilersChoice = 0;

/// How many configurations one condition removed, counted in full products of the axes below the cut.
struct Cut {
  std::string condition;
  uint64_t removed = 0;
};

struct Space {
  std::vector<Axis> axes;
  std::vector<Configuration> configurations; ///< by id
  uint64_t product = 0;                      ///< before any condition
  std::vector<Cut> cuts;                     ///< one for each condition that removed some, in source order
  std::vector<std::string> notes;            ///< axes that were narrowed, and why
};

struct SpaceRequest {
  const sema::KernelInterface *interface = nullptr;
  const Arch *arch = nullptr;
  Values problem;                  ///< complete: see completeProblem()
  std::vector<Override> overrides; ///< a later one of a name replaces an earlier one
  std::vector<sema::Site> sites;   ///< of the default program: their hints with domains are axes
  /// Every hint of every site is an axis, with a domain or without. Those without vary one at a time, while the others
  /// have the file's own value: together they would make too many.
  bool accesses = false;
  size_t limit = 100000; ///< more configurations are an error
};

/// The problem with every dtype parameter that it leaves open set to its default.
Values completeProblem(const sema::KernelInterface &interface, Values problem);

/// Enumerates. Errors: Usage (an override of something that is no axis, an illegal hint value, a space over the limit),
/// Program (a domain or condition that cannot be evaluated, a space that the conditions leave empty).
Result<Space> enumerateSpace(const SpaceRequest &request);

/// Why a configuration is not in the space: the value outside its axis, or the condition that fails (beginning with
/// requiresPrefix); empty when it is. Axes that it leaves out have the file's own values.
inline constexpr std::string_view requiresPrefix = "`requires ";
Result<std::string> whyNot(const SpaceRequest &request, const Configuration &configuration);

} // namespace tilec::tuner
