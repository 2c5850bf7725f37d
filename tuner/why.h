#pragma once
// Why a configuration would be measured again: which part of its key differs from what is stored.
#include "tuner/place.h"

namespace tilec::tuner {

struct KeyDifference {
  std::string part; ///< `assembler`, `extents.N`, `configuration.hints.occupancy`
  Json wanted, stored;
};

struct KeyVerdict {
  std::string kernel;
  Values problem;
  Configuration configuration;
  std::string key;
  bool hit = false;
  std::optional<TrialRecord> nearest;     ///< the trial itself on a hit, else the one with the fewest differences
  std::vector<KeyDifference> differences; ///< causes first: a change of extents or parameters changes the IR as well
};
Json toJson(const KeyVerdict &verdict);
/// What a part of the key means, for people.
std::string describePart(std::string_view part);

/// Parts of a key that differ from a stored one.
std::vector<KeyDifference> keyDifferences(const TrialKey &wanted, const TrialKey &stored);

/// `overrides` name the configuration; without any it is the kernel's own. Errors: as enumerateSpace() and
/// Builder::prepare().
Result<KeyVerdict> explainKey(Cache &cache, const Recipe &recipe, Builder &builder, const Place &place,
                              const Values &problem, const std::vector<Override> &overrides,
                              const EvaluatorOptions &options);

} // namespace tilec::tuner
