#include "runtime/npy.h"
#include "compiler/base/files.h"
#include "compiler/base/text.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace tilec::runtime {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
/// NumPy's own writers pad to 64 bytes, the oldest to 16.
constexpr size_t elementAlignment = 16;

/// Width in bytes of one element of a descr we can hold, or nothing.
std::optional<int64_t> descrWidth(std::string_view descr) {
  if (descr.size() < 3)
    return std::nullopt;
  int64_t width = 0;
  auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), width);
  if (error != std::errc() || end != descr.data() + descr.size() || width < 1 || width > 8)
    return std::nullopt;
  return std::string_view("<|").find(descr[0]) != std::string_view::npos &&
                 std::string_view("fiubV").find(descr[1]) != std::string_view::npos
             ? std::optional(width)
             : std::nullopt;
}

/// The header's dictionary: a Python literal with three known keys. Reads exactly that, and nothing of Python's rest.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view header) : text(header) {}

  bool read(NpyFile &file, bool &fortran) {
    if (!eat('{'))
      return false;
    bool descr = false, order = false, shape = false;
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':'))
        return false;
      if (key == "descr")
        descr = structured(file.descr) || string(file.descr);
      else if (key == "fortran_order")
        order = boolean(fortran);
      else if (key == "shape")
        shape = tuple(file.shape);
      else
        return false;
      if (!eat(',') && !peek('}'))
        return false;
    }
    return descr && order && shape;
  }

private:
  void space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool peek(char c) {
    space();
    return at < text.size() && text[at] == c;
  }
  bool eat(char c) { return peek(c) && ++at; }
  bool word(std::string_view w) {
    space();
    if (!text.substr(at).starts_with(w))
      return false;
    at += w.size();
    return true;
  }
  bool string(std::string &out) {
    char quote = peek('\'') ? '\'' : '"';
    if (!eat(quote))
      return false;
    size_t end = text.find(quote, at);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at, end - at);
    at = end + 1;
    return true;
  }
  /// A list of fields: skipped, and reported later as a descr nobody knows.
  bool structured(std::string &out) {
    if (!peek('['))
      return false;
    size_t end = text.find(']', at);
    if (end == std::string_view::npos)
      return false;
    out = text.substr(at, end + 1 - at);
    at = end + 1;
    return true;
  }
  bool boolean(bool &out) {
    out = word("True");
    return out || word("False");
  }
  bool tuple(std::vector<int64_t> &out) {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      space();
      int64_t extent = -1;
      auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
      if (error != std::errc() || extent < 0)
        return false;
      at = size_t(end - text.data());
      out.push_back(extent);
      if (!eat(',') && !peek(')'))
        return false;
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

std::string shapeText(std::span<const int64_t> shape) {
  std::vector<std::string> parts;
  for (int64_t e : shape)
    parts.push_back(fmt::format("{}", e));
  return "[" + join(parts, ", ") + "]";
}

/// What a dtype is made with in NumPy, for mends.
std::string mend(DType dtype) {
  switch (info(dtype).bits) {
  case 4:
    return "fp4 is stored as uint8, two elements in a byte: x.view(numpy.uint8)";
  case 8:
    return isFloat(dtype) ? "8-bit floats are stored as raw uint8: x.view(numpy.uint8)"
                          : fmt::format("save x.astype('{}')", npyDescr(dtype));
  default:
    return dtype == DType::bf16 ? "bf16 is stored as raw uint16: x.view(numpy.uint16)"
                                : fmt::format("save x.astype('{}')", npyDescr(dtype));
  }
}

} // namespace

Result<NpyFile> parseNpy(std::string_view bytes, const std::string &path) {
  if (!bytes.starts_with(magic) || bytes.size() < 10)
    return withHelp(usageError("{} is no .npy file", path), "numpy.save(PATH, array) writes one");
  int major = uint8_t(bytes[6]);
  if (major != 1 && major != 2)
    return withHelp(
        usageError("{} is a .npy file of version {}.{}; versions 1 and 2 are read", path, major, uint8_t(bytes[7])),
        "numpy.save writes version 1 for plain arrays");
  size_t lengthBytes = major == 1 ? 2 : 4, headerLength = 0, start = 8 + lengthBytes;
  if (bytes.size() >= start)
    std::memcpy(&headerLength, bytes.data() + 8, lengthBytes);
  if (bytes.size() < start || headerLength > bytes.size() - start)
    return withHelp(usageError("{} ends within its header", path), "the file was cut short: copy it again");
  // The format pads its header so that the elements can be used in place; what is not padded was not written by it.
  if ((start + headerLength) % elementAlignment != 0)
    return withHelp(usageError("the elements of {} begin at byte {}, and a buffer is aligned to {} bytes", path,
                               start + headerLength, elementAlignment),
                    "save it again with numpy.save, which pads the header");
  NpyFile file;
  bool fortran = false;
  if (!HeaderReader(bytes.substr(start, headerLength)).read(file, fortran))
    return usageError("{} has a damaged header", path);
  if (file.descr.starts_with('>'))
    return withHelp(usageError("{} holds big-endian numbers ({})", path, file.descr),
                    fmt::format("save x.astype('<{}')", file.descr.substr(1)));
  auto width = descrWidth(file.descr);
  if (!width)
    return withHelp(usageError("{} holds '{}', which no dtype of the language matches", path, file.descr),
                    "save an array of plain numbers");
  // Fortran order says the same as C order where at most one extent is over 1.
  if (fortran && std::ranges::count_if(file.shape, [](int64_t e) { return e > 1; }) > 1)
    return withHelp(usageError("{} is in Fortran order", path), "save numpy.ascontiguousarray(x)");
  int64_t wanted = *width;
  for (int64_t extent : file.shape)
    if (__builtin_mul_overflow(wanted, extent, &wanted))
      return usageError("{} claims a shape of {}, past 2^63 bytes", path, shapeText(file.shape));
  std::string_view data = bytes.substr(start + headerLength);
  if (uint64_t(wanted) != data.size())
    return withHelp(usageError("{} has {} bytes of data where its header, {} of shape {}, tells {}", path, data.size(),
                               file.descr, shapeText(file.shape), wanted),
                    data.size() < uint64_t(wanted) ? "the file was cut short: copy it again"
                                                   : "the file has bytes behind its array: save it again");
  file.bytes.resize(data.size());
  if (!data.empty())
    std::memcpy(file.bytes.data(), data.data(), data.size());
  return file;
}

Result<NpyFile> readNpy(const std::string &path) {
  TILEC_ASSIGN(std::string bytes, readFile(path));
  return parseNpy(bytes, path);
}

std::string_view npyDescr(DType dtype) {
  switch (dtype) {
  case DType::bool_:
    return "|b1";
  case DType::i8:
    return "|i1";
  case DType::i16:
    return "<i2";
  case DType::i32:
    return "<i4";
  case DType::i64:
    return "<i8";
  case DType::u16:
  case DType::bf16:
    return "<u2";
  case DType::u32:
    return "<u4";
  case DType::u64:
    return "<u8";
  case DType::f16:
    return "<f2";
  case DType::f32:
  case DType::tf32:
    return "<f4";
  case DType::f64:
    return "<f8";
  default: // u8 and the floats of 8 bits and less
    return "|u1";
  }
}

Result<std::vector<int64_t>> npyExtents(const NpyFile &file, DType dtype) {
  std::vector<int64_t> extents = file.shape;
  if (info(dtype).bits == 4) {
    if (extents.empty())
      return usageError("a single byte is no array of {}", name(dtype));
    if (__builtin_mul_overflow(extents.back(), int64_t(2), &extents.back()))
      return usageError("an array of {} is too large", name(dtype));
  }
  return extents;
}

Result<HostArray> fromNpy(NpyFile file, const std::string &path, DType dtype, std::string_view label) {
  std::string_view wanted = npyDescr(dtype);
  // Raw bytes of the same width stand for the floats that NumPy lacks.
  bool raw = (wanted == "<u2" || wanted == "|u1") && isFloat(dtype) &&
             file.descr.substr(1) == fmt::format("V{}", wanted.substr(2));
  bool byteOrderAside = file.descr.substr(1) == wanted.substr(1) && wanted[0] == '|';
  if (file.descr != wanted && !raw && !byteOrderAside)
    return withHelp(usageError("{} holds '{}', and '{}' is {} ('{}')", path, file.descr, label, name(dtype), wanted),
                    mend(dtype));
  HostArray array;
  array.dtype = dtype;
  TILEC_ASSIGN(array.extents, npyExtents(file, dtype));
  array.bytes = std::move(file.bytes);
  if (dtype == DType::bool_)
    for (std::byte &b : array.bytes)
      b = std::byte(b != std::byte{0});
  if (dtype == DType::tf32) // the dtype's values are rounded ones
    for (int64_t i = 0, n = array.count(); i < n; ++i)
      array.set(i, convert(DType::f32, DType::tf32, array.get(i)));
  return array;
}

Result<HostArray> loadNpy(const std::string &path, DType dtype, const std::vector<int64_t> &extents,
                          std::string_view label) {
  TILEC_ASSIGN(NpyFile file, readNpy(path));
  TILEC_ASSIGN(HostArray array, fromNpy(std::move(file), path, dtype, label));
  if (array.extents != extents)
    return withHelp(
        usageError("{} has shape {}, and '{}' has {}", path, shapeText(array.extents), label, shapeText(extents)),
        array.extents.size() != extents.size() ? "save it with the right number of axes: x.reshape(…)"
                                               : "extents come from the arrays or from -D NAME=VALUE");
  return array;
}

std::string npyBytes(const HostArray &array) {
  std::vector<int64_t> shape = array.extents;
  if (info(array.dtype).bits == 4 && !shape.empty())
    shape.back() = (shape.back() + 1) / 2;
  std::string dims;
  for (int64_t e : shape)
    dims += fmt::format("{}, ", e);
  if (shape.size() > 1) // NumPy writes (2, 3) and (2,)
    dims.resize(dims.size() - 2);
  else if (shape.size() == 1)
    dims.resize(dims.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", npyDescr(array.dtype), dims);
  // Padded so that the elements start at a multiple of 64; a header never reaches the 64 KiB of version 1.
  constexpr size_t prefix = 10, alignment = 64;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  uint16_t length = uint16_t(header.size());
  std::string bytes(magic);
  bytes += '\1';
  bytes += '\0';
  bytes.append(reinterpret_cast<const char *>(&length), sizeof(length));
  bytes += header;
  bytes.append(reinterpret_cast<const char *>(array.bytes.data()), array.bytes.size());
  return bytes;
}

Status saveNpy(const std::string &path, const HostArray &array) { return writeFile(path, npyBytes(array)); }

} // namespace tilec::runtime
