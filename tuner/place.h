#pragma once
// Where a problem is tuned for, and who judges configurations there.
#include "tuner/evaluator.h"

namespace tilec::tuner {

struct Place {
  const Arch *arch = nullptr;
  std::optional<runtime::DeviceFacts> gpu; ///< to measure on; none: times can only be predicted
  std::string note;                        ///< why nothing is measured
  Machine machine() const { return gpu ? machineOf(*gpu, *arch) : typicalMachine(*arch); }
};
/// `arch`: null for the GPU's. `predict`: do not measure even where a GPU could. No CUDA context is made.
/// Error (NoDevice): no architecture was named and there is no GPU, or an unknown one.
Result<Place> choosePlace(const Arch *arch, int device, bool predict);

/// The GPU's evaluator, or the model's.
std::unique_ptr<Evaluator> evaluatorFor(const Place &place, const Recipe &recipe, Builder &builder,
                                        const EvaluatorOptions &options);

} // namespace tilec::tuner
