#pragma once
// Files and standard folders.
#include "compiler/base/result.h"
#include <filesystem>
#include <string>
#include <string_view>

namespace tilec {
/// Whole file; `-` is standard input. Error: Usage, naming the path and the cause.
Result<std::string> readFile(const std::filesystem::path &path);
/// Writes to a temporary neighbour and renames it, so that a reader never sees half a file; `-` is standard output.
Status writeFile(const std::filesystem::path &path, std::string_view bytes);
/// `$XDG_CACHE_HOME/tilec` or `~/.cache/tilec`; TILEC_CACHE_DIR overrides. Without a home it lies in a folder of the
/// user's own among temporary files.
std::filesystem::path cacheDir();
/// `$XDG_CONFIG_HOME/tilec` or `~/.config/tilec`.
std::filesystem::path configDir();
} // namespace tilec
