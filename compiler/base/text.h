#pragma once
// Text helpers shared by every layer.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

/// Edit distance (insert, delete, replace, swap of neighbours), for did-you-mean.
size_t editDistance(std::string_view a, std::string_view b);
/// The candidate nearest to a misspelt name, or an empty string when none is near enough.
std::string nearest(std::string_view name, std::span<const std::string> candidates);
/// ` did you mean 'x'?`-style mend, or `known: a, b, c`; empty without candidates.
std::string suggest(std::string_view name, std::span<const std::string> candidates);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
/// Text fit for a shell command line: quoted only when it must be.
std::string shellQuote(std::string_view text);
/// 1234567 → "1,234,567".
std::string groupDigits(uint64_t value);
/// The text with each word of over 64 letters cut to its ends, so that a name of a megabyte makes no message of one.
std::string shortenWords(std::string_view text);
/// Bytes of the well-formed UTF-8 code point that text starts with; 0 when there is none.
size_t utf8Length(std::string_view text);
/// The text with each byte that is no UTF-8 replaced by U+FFFD; JSON takes nothing else.
std::string validUtf8(std::string_view text);

} // namespace tilec
