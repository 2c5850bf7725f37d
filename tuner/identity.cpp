#include "tuner/identity.h"
#include "compiler/base/hash.h"

namespace tilec::tuner {

TrialKey trialKey(const IdentityParts &p) {
  Json extents = Json::object(), dtypes = Json::object();
  for (const auto &[name, value] : p.problem.values)
    (std::holds_alternative<DType>(value) ? dtypes : extents)[name] = tilec::toJson(value);
  TrialKey key;
  key.parts = {{"schema", cacheSchema},
               {"ir", p.irHash},
               {"kernel", p.problem.kernel.name},
               {"tool", p.environment.tool},
               {"assembler", p.environment.assembler},
               {"arch", p.environment.arch},
               {"capability", p.environment.capability},
               {"sms", p.environment.sms},
               {"extents", std::move(extents)},
               {"dtypes", std::move(dtypes)},
               {"strides", p.problem.strides},
               {"alignment", p.problem.alignment},
               {"configuration", toJson(p.configuration)},
               {"policy", p.policy},
               {"verification", p.verification}};
  return key;
}

std::string artifactKey(std::string_view irHash, const Environment &environment, const Configuration &configuration) {
  Json parts = {{"ir", irHash},
                {"tool", environment.tool},
                {"assembler", environment.assembler},
                {"arch", environment.arch},
                {"configuration", toJson(configuration)}};
  return sha256(toText(parts, -1));
}

Result<KernelId> kernelId(Builder &builder, const Arch &arch, const Values &problem) {
  KernelId id{"", builder.interface().name, builder.file()};
  // dtypes are part of what the kernel is; extents are not.
  Values dtypes;
  for (const auto &[name, value] : problem)
    if (std::holds_alternative<DType>(value))
      dtypes[name] = value;
  if (auto open = builder.prepare({}, dtypes, arch)) {
    id.hash = open->irHash;
    return id;
  }
  TILEC_ASSIGN(Prepared bound, builder.prepare({}, problem, arch));
  id.hash = bound.source ? "source:" + bound.source->hash : bound.irHash;
  return id;
}

ProblemId problemId(KernelId kernel, const Values &problem) {
  return {.kernel = std::move(kernel), .values = problem, .strides = "contiguous", .alignment = 16};
}

} // namespace tilec::tuner
