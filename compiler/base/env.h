#pragma once
// Environment variables. Whatever tilec reads stands in env.def, one row a variable, and is read through this header.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

enum class Env : uint8_t {
#define ENV(name, kind, doc) name,
#include "compiler/base/env.def"
};

enum class EnvKind : uint8_t { Text, Path, Flag };

struct EnvInfo {
  Env variable;
  std::string_view name;
  EnvKind kind;
  std::string_view doc;
};
const EnvInfo &info(Env variable);
const std::vector<EnvInfo> &allEnv();

/// The value of a Text or Path row; a variable that is set but empty counts as unset.
std::optional<std::string> envText(Env variable);
std::optional<std::filesystem::path> envPath(Env variable);
/// Whether a Flag row is set and not empty.
bool envFlag(Env variable);

} // namespace tilec
