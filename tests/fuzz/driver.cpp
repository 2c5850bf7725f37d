// The two ways into a fuzz target: libFuzzer's, and a main() that runs it on files and folders of files.
#include "tests/fuzz/fuzz.h"
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#ifdef TILEC_LIBFUZZER

// The names are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return tilec::fuzzOne({reinterpret_cast<const char *>(data), size});
}

#else

static size_t replayed = 0;

static void replay(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  // Named before it runs: a crash says nothing else.
  fprintf(stderr, "%s\n", file.c_str());
  tilec::fuzzOne(text);
  // The reader must not depend on what lies behind its input.
  for (size_t part : {text.size() / 2, text.size() - text.size() / 16})
    tilec::fuzzOne(std::string_view(text).substr(0, part));
  ++replayed;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      replay(argv[i]);
      continue;
    }
    for (const auto &entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file())
        replay(entry.path());
  }
  printf("%zu inputs\n", replayed);
  return 0;
}

#endif
