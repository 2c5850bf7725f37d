#pragma once
// The arguments of `tilec run`: inputs, outputs and tolerances by name.
#include "cli/kernel_options.h"
#include "tuner/reference.h"

namespace tilec::cli {

/// `a=normal:0,1`, `a=file.npy`, `a=file.npy@16` (from element 16 on).
struct InputSpec {
  std::string array, distribution; ///< as runtime::parseDistribution() reads it, without the offset
  int64_t offset = 0;              ///< elements; files only
};
/// Errors (Usage): an unknown array, an output, an array given twice, a malformed text.
Result<std::vector<InputSpec>> parseInputs(const sema::KernelInterface &interface,
                                           const std::vector<std::string> &texts);
/// `c=file.npy`. Errors (Usage): an unknown array, an input, an array given twice.
Result<std::map<std::string, std::string>> parseOutputs(const sema::KernelInterface &interface,
                                                        const std::vector<std::string> &texts);
/// `y=ulp:2`, `y=rel:1e-6,abs:1e-7`, `y=exact`.
Status parseTolerances(const sema::KernelInterface &interface, const std::vector<std::string> &texts,
                       std::map<std::string, tuner::Tolerance> &tolerances);

/// Extents that files give: binds the symbols that stand alone as an extent and have no value yet. Errors (Usage): a
/// file that cannot be read or whose rank or size does not fit.
Status bindFromFiles(const sema::KernelInterface &interface, const std::vector<InputSpec> &inputs,
                     const tuner::Values &parameters, tuner::Values &problem);

/// Replaces the inputs that come from a place inside a file. Errors (Program): the base would not have the alignment
/// that the kernel asks for; (Usage): the file is too short.
Status loadOffsets(const std::vector<InputSpec> &inputs, tuner::HostProblem &problem);

} // namespace tilec::cli
