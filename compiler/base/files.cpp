#include "compiler/base/files.h"
#include "compiler/base/env.h"
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tilec {

namespace fs = std::filesystem;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

static Result<std::string> readAll(std::FILE *file, std::string_view shown) {
  std::string text;
  char block[1 << 16];
  while (size_t count = std::fread(block, 1, sizeof(block), file))
    text.append(block, count);
  if (std::ferror(file))
    return usageError("cannot read {}: {}", shown, std::strerror(errno));
  return text;
}

static Status writeAll(std::FILE *file, std::string_view bytes, std::string_view shown) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fflush(file) != 0)
    return usageError("cannot write {}: {}", shown, std::strerror(errno));
  return {};
}

Result<std::string> readFile(const fs::path &path) {
  if (path == "-")
    return readAll(stdin, "standard input");
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file)
    return usageError("cannot read {}: {}", path.string(), std::strerror(errno));
  return readAll(file.get(), path.string());
}

/// Devices and pipes cannot be replaced by a renamed file; they are written in place.
static Status writeInPlace(const fs::path &path, std::string_view bytes) {
  File file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file)
    return usageError("cannot write {}: {}", path.string(), std::strerror(errno));
  return writeAll(file.get(), bytes, path.string());
}

/// Opens a new file beside the target; its name ends up in `temporary`. Two writers, or one that died, may hold names.
static int openNeighbour(const fs::path &target, std::string &temporary) {
  static std::atomic<unsigned> serial = 0;
  for (;;) {
    temporary = fmt::format("{}.{}-{}.tmp", target.string(), ::getpid(), serial++);
    int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
}

Status writeFile(const fs::path &path, std::string_view bytes) {
  if (path == "-")
    return writeAll(stdout, bytes, "standard output");
  std::error_code ignored;
  fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status))
    return usageError("cannot write {}: it is a folder", path.string());
  if (fs::exists(status) && !fs::is_regular_file(status))
    return writeInPlace(path, bytes);
  // Through a symbolic link: the file it names is replaced, not the link.
  fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  std::string temporary;
  int descriptor = openNeighbour(target, temporary);
  if (descriptor < 0)
    return usageError("cannot write {}: {}", path.string(), std::strerror(errno));
  // A file that is replaced keeps its permissions; a new one has what the umask left.
  if (fs::exists(status))
    ::fchmod(descriptor, mode_t(status.permissions()));
  File file(::fdopen(descriptor, "wb"), std::fclose);
  Status written = writeAll(file.get(), bytes, path.string());
  // A full disk may show only when the file is closed.
  if (std::fclose(file.release()) != 0 && written)
    written = usageError("cannot write {}: {}", path.string(), std::strerror(errno));
  if (written && std::rename(temporary.c_str(), target.c_str()) != 0)
    written = usageError("cannot write {}: {}", path.string(), std::strerror(errno));
  if (!written)
    ::unlink(temporary.c_str());
  return written;
}

/// For a user without a home: a folder of their own among temporary files. One that another user made first is not
/// trusted, so the next name is tried.
static fs::path temporaryHome() {
  std::error_code ignored;
  fs::path temporary = fs::temp_directory_path(ignored);
  if (temporary.empty())
    temporary = "/tmp";
  fs::path home;
  for (int serial = 0; serial < 100; ++serial) {
    home = temporary / (serial ? fmt::format("tilec-{}-{}", ::getuid(), serial) : fmt::format("tilec-{}", ::getuid()));
    struct stat status{};
    ::mkdir(home.c_str(), 0700);
    if (::lstat(home.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::getuid() &&
        (status.st_mode & 022) == 0)
      break;
  }
  return home;
}

/// The XDG rules: a relative value is invalid and ignored.
static fs::path standardDir(Env variable, const char *underHome) {
  if (auto dir = envPath(variable); dir && dir->is_absolute())
    return *dir / "tilec";
  auto home = envPath(Env::HOME);
  return (home && home->is_absolute() ? *home : temporaryHome()) / underHome / "tilec";
}

fs::path cacheDir() {
  if (auto dir = envPath(Env::TILEC_CACHE_DIR))
    return *dir;
  return standardDir(Env::XDG_CACHE_HOME, ".cache");
}

fs::path configDir() { return standardDir(Env::XDG_CONFIG_HOME, ".config"); }

} // namespace tilec
