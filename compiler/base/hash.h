#pragma once
#include <string>
#include <string_view>

namespace tilec {
/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);
} // namespace tilec
