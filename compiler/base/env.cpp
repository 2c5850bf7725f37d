#include "compiler/base/env.h"
#include <cstdlib>

namespace tilec {

const std::vector<EnvInfo> &allEnv() {
  static const std::vector<EnvInfo> all = {
#define ENV(name, kind, doc) {Env::name, #name, EnvKind::kind, doc},
#include "compiler/base/env.def"
  };
  return all;
}

const EnvInfo &info(Env variable) { return allEnv()[size_t(variable)]; }

std::optional<std::string> envText(Env variable) {
  // A row's name comes from a literal, so its view ends in a zero byte.
  const char *value = std::getenv(info(variable).name.data());
  if (!value || !*value)
    return std::nullopt;
  return value;
}

std::optional<std::filesystem::path> envPath(Env variable) { return envText(variable); }

bool envFlag(Env variable) { return envText(variable).has_value(); }

} // namespace tilec
