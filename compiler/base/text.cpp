#include "compiler/base/text.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace tilec {

size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

static std::string lowered(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = char(std::tolower(uint8_t(c)));
  return result;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  // The work must stay small, whatever a program holds: nobody mends a name of 65 letters by a suggestion.
  constexpr size_t longest = 64, most = 2000;
  if (name.size() > longest)
    return "";
  candidates = candidates.first(std::min(most, candidates.size()));
  // A third of the letters may differ, so that short names do not attract everything; case is free.
  std::string wanted = lowered(name);
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string result;
  for (const std::string &candidate : candidates) {
    std::string other = lowered(candidate);
    size_t gap = wanted.size() > other.size() ? wanted.size() - other.size() : other.size() - wanted.size();
    if (gap >= best)
      continue;
    size_t distance = editDistance(wanted, other);
    // Nothing in common is no likeness, however short both are.
    if (distance < best && distance < std::max(wanted.size(), other.size())) {
      best = distance;
      result = candidate;
    }
  }
  return result;
}

std::string suggest(std::string_view name, std::span<const std::string> candidates) {
  if (candidates.empty())
    return "";
  if (std::string found = nearest(name, candidates); !found.empty())
    return fmt::format("did you mean '{}'?", found);
  constexpr size_t most = 20;
  std::string list = join(candidates.first(std::min(most, candidates.size())), ", ");
  return fmt::format("known: {}{}", list, candidates.size() > most ? ", …" : "");
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos)
      return parts;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string shellQuote(std::string_view text) {
  bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(uint8_t(c)) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  });
  if (plain)
    return std::string(text);
  std::string quoted = "'";
  for (char c : text) {
    // A single quote cannot stand inside single quotes: close, escape it, open again.
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string groupDigits(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3;)
    digits.insert(i -= 3, ",");
  return digits;
}

std::string shortenWords(std::string_view text) {
  constexpr size_t most = 64, head = 40, tail = 12;
  auto isWord = [](char c) { return std::isalnum(uint8_t(c)) || c == '_'; };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && isWord(text[end]))
      ++end;
    std::string_view word = text.substr(i, end - i);
    if (word.size() > most)
      result += fmt::format("{}…{}", word.substr(0, head), word.substr(word.size() - tail));
    else
      result += word;
    i = end;
    while (i < text.size() && !isWord(text[i]))
      result += text[i++];
  }
  return result;
}

std::string validUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    size_t length = utf8Length(text.substr(i));
    if (length == 0) {
      result += "\xEF\xBF\xBD"; // U+FFFD, the replacement character
      ++i;
      continue;
    }
    result += text.substr(i, length);
    i += length;
  }
  return result;
}

size_t utf8Length(std::string_view text) {
  if (text.empty())
    return 0;
  uint8_t lead = uint8_t(text[0]);
  if (lead < 0x80)
    return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((uint8_t(text[i]) & 0xC0) != 0x80)
      return 0;
  // The second byte rules out overlong forms, surrogates and values above U+10FFFF.
  uint8_t second = uint8_t(text[1]);
  bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
             (lead == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

} // namespace tilec
