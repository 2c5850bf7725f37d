#include "compiler/base/hash.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

namespace tilec {

std::string sha256(std::string_view bytes) {
  llvm::SHA256 hasher;
  hasher.update(llvm::StringRef(bytes.data(), bytes.size()));
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (uint8_t byte : hasher.final()) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace tilec
