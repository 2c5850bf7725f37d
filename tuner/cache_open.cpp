#include "tuner/cache_open.h"
#include "compiler/base/log.h"
#include "tuner/cache.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <thread>
#include <unistd.h>

namespace tilec::tuner {
namespace fs = std::filesystem;
namespace {

using db::Database;
using db::Failure;
using db::Fault;

/// `tilc` in application_id says whose database it is.
constexpr int64_t applicationId = 0x74696c63;

constexpr char schema[] = {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
#embed "schema.sql"
#pragma clang diagnostic pop
    , 0};

/// A file larger than this is not read through when it is opened; damage is then met where it lies.
constexpr uintmax_t quickCheckLimit = 32 << 20;

/// Shared memory maps, which WAL needs, are unreliable on file systems of other machines.
bool isRemote(const fs::path &folder) {
  struct statfs info{};
  if (statfs(folder.c_str(), &info) != 0)
    return true;
  constexpr uint32_t remote[] = {
      0x6969 /* NFS */,    0x517b /* SMB */,        0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x65735546 /* FUSE */,
      0x01021997 /* 9p */, 0x0bd00bd0 /* Lustre */, 0x00c36400 /* Ceph */, 0x47504653 /* GPFS */, 0x5346414f /* AFS */,
      0x19830326 /* BeeGFS */};
  return std::ranges::find(remote, uint32_t(info.f_type)) != std::end(remote);
}

/// A cubin is code: nobody else may be able to put one there.
Status checkWriters(const fs::path &path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !(info.st_mode & (S_IWGRP | S_IWOTH)))
    return {};
  return withHelp(
      usageError("{} can be written by other users; a cache holds code and is not used then", path.string()),
      "name a file in a folder of your own with --cache, or one that nobody else writes to with TILEC_CACHE_DIR");
}

/// Files made meanwhile are the user's alone.
class PrivateFiles {
public:
  PrivateFiles() : before(umask(0077)) {}
  ~PrivateFiles() { umask(before); }
  PrivateFiles(const PrivateFiles &) = delete;

private:
  mode_t before;
};

/// Creates the folder with mode 0700. False: it cannot be made.
bool makeFolder(const fs::path &folder) {
  std::error_code ec;
  if (fs::is_directory(folder, ec))
    return true;
  if (!fs::create_directories(folder, ec) && !fs::is_directory(folder, ec))
    return false;
  chmod(folder.c_str(), 0700); // whatever the umask
  return true;
}

struct Refusal {
  Error error;
};
using Prepared = std::expected<void, std::variant<Failure, Refusal>>;

Prepared fail(Failure f) { return std::unexpected(std::variant<Failure, Refusal>(std::move(f))); }
Prepared refuse(std::string message, std::string help) {
  return std::unexpected(
      std::variant<Failure, Refusal>(Refusal{{ErrorKind::Usage, std::move(message), std::move(help), ""}}));
}

Prepared versionOf(Database &database, const fs::path &file, int64_t &version) {
  auto id = database.integer("PRAGMA application_id");
  if (!id)
    return fail(id.error());
  auto found = database.integer("PRAGMA user_version");
  if (!found)
    return fail(found.error());
  auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables)
    return fail(tables.error());
  version = *found;
  if (*id != applicationId && (*id != 0 || *tables != 0))
    return refuse(fmt::format("{} is a database of another program", file.string()), "name another file with --cache");
  if (version > cacheSchema)
    return refuse(
        fmt::format("{} has schema {}, and this tilec knows schemas up to {}", file.string(), version, cacheSchema),
        "use the newer tilec, or another file with --cache");
  return {};
}

/// Says whether an open database is a cache of a version that is understood.
Prepared checkVersion(Database &database, const fs::path &file, int64_t &version) {
  // One view of the file: another process may be creating it between two questions.
  if (auto begun = database.execute("SAVEPOINT version"); !begun)
    return fail(begun.error());
  Prepared verdict = versionOf(database, file, version);
  if (auto done = database.execute("RELEASE version"); !done && verdict)
    return fail(done.error());
  return verdict;
}

Prepared createSchema(Database &database, const fs::path &file) {
  int64_t version = 0;
  if (auto ok = checkVersion(database, file, version); !ok || version == cacheSchema)
    return ok;
  auto transaction = db::Transaction::begin(database);
  if (!transaction)
    return fail(transaction.error());
  // Another process may have been first.
  if (auto ok = checkVersion(database, file, version); !ok || version == cacheSchema)
    return ok;
  for (const std::string &sql : {std::string(schema), fmt::format("PRAGMA application_id = {}", applicationId),
                                 fmt::format("PRAGMA user_version = {}", cacheSchema)})
    if (auto done = database.execute(sql); !done)
      return fail(done.error());
  if (auto done = transaction->commit(); !done)
    return fail(done.error());
  return {};
}

/// Switching the journal asks for the whole file and does not wait for it, so it is tried again.
db::Outcome<void> setJournal(Database &database, const fs::path &folder) {
  std::string wanted = isRemote(folder) ? "delete" : "wal";
  db::Outcome<std::string> mode = std::unexpected(Failure{});
  for (int attempt = 0; attempt < 200; ++attempt) {
    mode = database.text("PRAGMA journal_mode");
    if (mode && *mode != wanted)
      mode = database.text("PRAGMA journal_mode = " + wanted);
    if (mode || mode.error().fault != Fault::Busy)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!mode)
    return std::unexpected(mode.error());
  return database.execute("PRAGMA synchronous = NORMAL");
}

Prepared prepare(Database &database, const fs::path &file) {
  std::error_code ec;
  if (fs::file_size(file, ec) <= quickCheckLimit && !ec) {
    auto verdict = database.text("PRAGMA quick_check(1)");
    if (!verdict)
      return fail(verdict.error());
    if (*verdict != "ok")
      return fail({Fault::Corrupt, *verdict});
  }
  int64_t version = 0;
  if (auto ok = checkVersion(database, file, version); !ok)
    return ok;
  if (auto done = setJournal(database, file.parent_path()); !done)
    return fail(done.error());
  return createSchema(database, file);
}

std::string unsaved(const fs::path &file, std::string_view cause) {
  return fmt::format("not saved: the cache {} cannot be written ({})", file.string(), cause);
}

/// What a file that cannot be written holds, in memory.
Result<OpenCache> readOnlyCopy(const fs::path &file, const std::string &cause) {
  TILEC_ASSIGN(OpenCache memory, memoryCache());
  int64_t version = 0;
  auto source = Database::open(file, Database::Mode::ReadOnly);
  // A log file that cannot be made beside it keeps SQLite from reading; then nobody writes there either.
  if (source && !source->integer("PRAGMA user_version"))
    source = Database::open(file, Database::Mode::Immutable);
  // A file without a usable schema adds nothing; one that is refused is refused here as well.
  if (source) {
    auto ok = checkVersion(*source, file, version);
    if (!ok && std::holds_alternative<Refusal>(ok.error()))
      return std::unexpected(std::get<Refusal>(ok.error()).error);
    if (ok && version == cacheSchema) {
      auto fresh = Database::open(file, Database::Mode::Memory);
      if (fresh && source->copyTo(*fresh))
        memory.database = std::move(*fresh);
    }
  }
  memory.saves = false;
  memory.notice = unsaved(file, cause);
  return memory;
}

} // namespace

Result<OpenCache> memoryCache() {
  auto database = Database::open({}, Database::Mode::Memory);
  if (!database)
    return internalError("SQLite gives no database in memory: {}", database.error().message);
  if (auto ok = createSchema(*database, ":memory:"); !ok)
    return internalError("the schema of the cache fails: {}", std::get<Failure>(ok.error()).message);
  return OpenCache{std::move(*database), false, ""};
}

Result<OpenCache> leaveFile(const Database &database, const fs::path &file, const std::string &cause) {
  TILEC_ASSIGN(OpenCache memory, memoryCache());
  auto copy = Database::open({}, Database::Mode::Memory);
  if (copy && database.copyTo(*copy))
    memory.database = std::move(*copy);
  memory.notice = unsaved(file, cause);
  return memory;
}

/// SQLite's verdict on a file, on one line.
static std::string oneLine(std::string cause) {
  constexpr std::string_view head = "*** in database main ***\n";
  if (cause.starts_with(head))
    cause.erase(0, head.size());
  std::ranges::replace(cause, '\n', ' ');
  return cause;
}

Result<OpenCache> replaceCorrupt(const fs::path &file, const std::string &reason) {
  std::string cause = oneLine(reason);
  PrivateFiles mine;
  // One process moves the file; the others find the new one.
  int lock = ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    if (lock >= 0)
      close(lock);
    return readOnlyCopy(file, fmt::format("it is corrupt: {}", cause));
  }
  std::string notice;
  bool stillCorrupt = true;
  if (auto again = Database::open(file, Database::Mode::ReadWrite)) {
    auto verdict = again->text("PRAGMA quick_check(1)");
    stillCorrupt = !verdict || *verdict != "ok";
  }
  if (stillCorrupt) {
    auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
    std::string aside = fmt::format("{}.corrupt-{}-{}", file.string(), now.count(), getpid());
    std::error_code ec;
    for (const char *suffix : {"", "-wal", "-shm"})
      if (fs::exists(file.string() + suffix, ec))
        fs::rename(file.string() + suffix, aside + suffix, ec);
    notice = fmt::format("the cache {} was corrupt ({}); it was moved aside to {}", file.string(), cause, aside);
  }
  auto fresh = Database::open(file, Database::Mode::ReadWrite);
  auto ready = fresh ? prepare(*fresh, file) : fail(fresh.error());
  close(lock); // gives the lock back
  if (!ready)
    return readOnlyCopy(file, fmt::format("it is corrupt: {}", cause));
  return OpenCache{std::move(*fresh), true, notice};
}

/// Whether a file may be treated as a cache, damaged or not: it is empty, begins as SQLite's files do, or bears this
/// program's number. Anything else is somebody's, and is not moved.
static bool mayBeCache(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 72> head{};
  in.read(head.data(), head.size());
  std::string_view text(head.data(), size_t(in.gcount()));
  constexpr std::string_view magic("SQLite format 3\0", 16), number("tilc", 4);
  return text.empty() || text.starts_with(magic.substr(0, text.size())) ||
         (text.size() == 72 && text.substr(68) == number);
}

Result<OpenCache> openCache(const fs::path &given) {
  // SQLite takes some names for more than files.
  std::string name = given.string();
  fs::path file = name.starts_with(":") || name.starts_with("file:") ? fs::absolute(given) : given;
  std::error_code ec;
  if (fs::is_directory(file, ec))
    return withHelp(usageError("{} is a folder", file.string()), "name a file with --cache");
  if (fs::exists(file, ec) && !mayBeCache(file))
    return withHelp(usageError("{} is no cache of tilec", file.string()), "name another file with --cache");
  fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!makeFolder(folder))
    return readOnlyCopy(file, std::strerror(errno));
  // A shared folder of other things (/tmp with its sticky bit) is no place for a cache either.
  TILEC_TRY(checkWriters(folder));
  TILEC_TRY(checkWriters(file));
  PrivateFiles mine;
  auto database = Database::open(file, Database::Mode::ReadWrite);
  auto ready = database ? prepare(*database, file) : fail(database.error());
  if (ready)
    return OpenCache{std::move(*database), true, ""};
  if (auto *refusal = std::get_if<Refusal>(&ready.error()))
    return std::unexpected(refusal->error);
  const Failure &f = std::get<Failure>(ready.error());
  logInfo("cache {}: {}", file.string(), f.message);
  if (f.fault == Fault::Corrupt) {
    if (database)
      database = std::unexpected(f); // closes the file before it is moved
    return replaceCorrupt(file, f.message);
  }
  return readOnlyCopy(file, f.message);
}

} // namespace tilec::tuner
