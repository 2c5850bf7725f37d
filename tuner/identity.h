#pragma once
// The identity of trials and artifacts: everything that can change a result or its validity, and nothing else.
#include "tuner/builder.h"
#include "tuner/cache.h"

namespace tilec::tuner {

struct IdentityParts {
  std::string irHash;
  const ProblemId &problem;
  const Environment &environment;
  const Configuration &configuration;
  std::string policy, verification;
};
TrialKey trialKey(const IdentityParts &parts);
/// Identity of machine code: IR, configuration, tool versions, full architecture.
std::string artifactKey(std::string_view irHash, const Environment &environment, const Configuration &configuration);

/// The kernel's identity over all problems: the hash of its tile IR under its own defaults, extents open; where those
/// alone do not make a program, of its source text.
Result<KernelId> kernelId(Builder &builder, const Arch &arch, const Values &problem);

/// Alignment that every problem's arrays have here, and the class of their strides.
ProblemId problemId(KernelId kernel, const Values &problem);

} // namespace tilec::tuner
