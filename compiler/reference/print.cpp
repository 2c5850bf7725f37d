#include "compiler/reference/print.h"
#include "compiler/base/tile_text.h"
#include <cstring>

namespace tilec::reference {

std::string formatTile(const Tile &tile, const std::vector<int64_t> &shape, DType dtype, DType stored, size_t indent) {
  DType read = stored == dtype || !isFloat(stored) ? dtype : stored;
  auto element = [&](size_t at) -> std::string {
    if (tile.taintAt(at))
      return "?";
    size_t size = size_t(info(stored).bits + 7) / 8;
    uint64_t bits = 0;
    std::memcpy(&bits, tile.data + at * size, size);
    return formatElement(read, bits);
  };
  return tilec::formatTile(shape, element, indent);
}

} // namespace tilec::reference
