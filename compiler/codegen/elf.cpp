#include "compiler/codegen/elf.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace tilec::codegen {

namespace {

// The fields of the ELF64 headers that are read here, as offsets from the header's start.
constexpr size_t headerSize = 64, sectionTableAt = 40, sectionSizeAt = 58, sectionCountAt = 60, nameSectionAt = 62;
constexpr size_t sectionHeaderSize = 64, nameAt = 0, offsetAt = 24, sizeAt = 32;

/// An unsigned number at a place, or nothing outside the bytes.
template <typename T> std::optional<T> read(std::string_view bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

} // namespace

Result<std::vector<CubinKernel>> listKernels(std::string_view cubin) {
  auto broken = [](std::string_view what) { return usageError("not a cubin: {}", what); };
  // Magic number, 64 bits, little-endian.
  if (cubin.size() < headerSize || !cubin.starts_with("\x7f"
                                                      "ELF\x02\x01"))
    return broken("no 64-bit ELF header");
  uint64_t table = *read<uint64_t>(cubin, sectionTableAt);
  uint16_t entrySize = *read<uint16_t>(cubin, sectionSizeAt), count = *read<uint16_t>(cubin, sectionCountAt);
  uint16_t namesIndex = *read<uint16_t>(cubin, nameSectionAt);
  if (entrySize < sectionHeaderSize || table > cubin.size() || namesIndex >= count ||
      (cubin.size() - table) / entrySize < count)
    return broken("its section table is cut off");
  uint64_t namesHeader = table + uint64_t(namesIndex) * entrySize;
  uint64_t namesOffset = *read<uint64_t>(cubin, namesHeader + offsetAt);
  uint64_t namesSize = *read<uint64_t>(cubin, namesHeader + sizeAt);
  if (namesOffset > cubin.size() || cubin.size() - namesOffset < namesSize)
    return broken("its section names are cut off");
  std::string_view names = cubin.substr(namesOffset, namesSize);

  std::map<std::string, int64_t, std::less<>> code;
  std::set<std::string, std::less<>> launched;
  for (uint16_t i = 0; i < count; ++i) {
    uint64_t header = table + uint64_t(i) * entrySize;
    uint32_t nameOffset = *read<uint32_t>(cubin, header + nameAt);
    if (nameOffset >= names.size())
      return broken("a section has no name");
    std::string_view name = names.substr(nameOffset);
    name = name.substr(0, name.find('\0'));
    constexpr std::string_view text = ".text.", parameters = ".nv.constant0.";
    if (name.starts_with(text))
      code[std::string(name.substr(text.size()))] = int64_t(*read<uint64_t>(cubin, header + sizeAt));
    // What a launch passes lies in the constant bank 0 of each entry.
    if (name.starts_with(parameters))
      launched.emplace(name.substr(parameters.size()));
  }
  std::vector<CubinKernel> kernels;
  for (const auto &[name, bytes] : code)
    if (launched.contains(name))
      kernels.push_back({name, bytes});
  return kernels;
}

} // namespace tilec::codegen
