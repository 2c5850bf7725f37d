#include "compiler/base/tile_text.h"
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace tilec {

/// The fewest digits that the dtype rounds back to the same element; no format up to f32 needs more than nine.
static std::string formatFloat(DType dtype, double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  uint64_t bits = encodeFloat(dtype, value);
  for (int digits = 1; digits <= 9 && dtype != DType::f64; ++digits)
    if (double shorter = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
        encodeFloat(dtype, shorter) == bits) {
      value = shorter;
      break;
    }
  std::string text = fmt::format("{}", value);
  // As the language writes numbers: 1e-5, not 1e-05, and a float has a dot or an exponent.
  size_t e = text.find('e');
  if (e == std::string::npos)
    return text.find('.') == std::string::npos ? text + ".0" : text;
  size_t digits = e + 1;
  if (text[digits] == '+')
    text.erase(digits, 1);
  else if (text[digits] == '-')
    ++digits;
  while (digits + 1 < text.size() && text[digits] == '0')
    text.erase(digits, 1);
  return text;
}

std::string formatElement(DType dtype, uint64_t bits) {
  if (dtype == DType::bool_)
    return bits ? "true" : "false";
  if (isFloat(dtype))
    return formatFloat(dtype, decodeFloat(dtype, bits));
  return dtype == DType::u64 ? fmt::format("{}", bits) : fmt::format("{}", decodeInt(dtype, bits));
}

namespace {

class Formatter {
public:
  Formatter(const std::vector<int64_t> &shape, const std::function<std::string(size_t)> &element, size_t indent)
      : shape(shape), element(element), indent(indent) {
    for (int64_t extent : shape)
      count *= size_t(extent);
  }

  std::string text;
  void axis(size_t depth, size_t at) {
    if (depth == shape.size()) {
      text += element(at);
      return;
    }
    size_t extent = size_t(shape[depth]), inner = 1;
    for (size_t i = depth + 1; i < shape.size(); ++i)
      inner *= size_t(shape[i]);
    bool rows = depth + 1 < shape.size(), cut = count > most && extent > 2 * edge;
    std::string separator = rows ? ",\n" + std::string(indent + depth + 1, ' ') : ", ";
    text += '[';
    for (size_t i = 0; i < extent; ++i) {
      if (i)
        text += separator;
      if (cut && i == edge) {
        text += "…" + separator;
        i = extent - edge;
      }
      axis(depth + 1, at + i * inner);
    }
    text += ']';
  }

private:
  static constexpr size_t edge = 3, most = 1000;
  const std::vector<int64_t> &shape;
  const std::function<std::string(size_t)> &element;
  size_t indent, count = 1;
};

} // namespace

std::string formatTile(const std::vector<int64_t> &shape, const std::function<std::string(size_t)> &element,
                       size_t indent) {
  Formatter formatter(shape, element, indent);
  formatter.axis(0, 0);
  return std::move(formatter.text);
}

size_t columnOf(const std::string &text) {
  size_t line = text.rfind('\n');
  return text.size() - (line == std::string::npos ? 0 : line + 1);
}

} // namespace tilec
