#include "tuner/cache_db.h"
#include <cctype>
#include <sqlite3.h>

namespace tilec::tuner::db {

/// How long a process waits for another one's transaction; they last milliseconds.
constexpr int busyMilliseconds = 20000;

static Fault classify(int code) {
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return Fault::Busy;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return Fault::Corrupt;
  case SQLITE_READONLY:
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
    return Fault::Unwritable;
  default:
    return Fault::Other;
  }
}

static Failure failureOf(sqlite3 *handle, int code) {
  return {classify(code), handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)};
}

void Statement::finalize(sqlite3_stmt *stmt) { sqlite3_finalize(stmt); }
Statement &Statement::bind(int64_t value) {
  sqlite3_bind_int64(stmt.get(), next++, value);
  return *this;
}
Statement &Statement::bind(double value) {
  sqlite3_bind_double(stmt.get(), next++, value);
  return *this;
}
Statement &Statement::bind(std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  sqlite3_bind_text64(stmt.get(), next++, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement &Statement::bindBlob(std::string_view bytes) {
  sqlite3_bind_blob64(stmt.get(), next++, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}
Statement &Statement::bindNull() {
  sqlite3_bind_null(stmt.get(), next++);
  return *this;
}
Outcome<bool> Statement::step() {
  int code = sqlite3_step(stmt.get());
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  return std::unexpected(failureOf(sqlite3_db_handle(stmt.get()), code));
}
int64_t Statement::integer(int column) const { return sqlite3_column_int64(stmt.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(stmt.get(), column); }
std::string Statement::text(int column) const {
  auto *text = reinterpret_cast<const char *>(sqlite3_column_text(stmt.get(), column));
  return text ? std::string(text, size_t(sqlite3_column_bytes(stmt.get(), column))) : std::string();
}
std::string Statement::blob(int column) const {
  auto *bytes = static_cast<const char *>(sqlite3_column_blob(stmt.get(), column));
  return bytes ? std::string(bytes, size_t(sqlite3_column_bytes(stmt.get(), column))) : std::string();
}
bool Statement::isNull(int column) const { return sqlite3_column_type(stmt.get(), column) == SQLITE_NULL; }

/// A file's name as SQLite reads it in a URI.
static std::string uriOf(const std::filesystem::path &file) {
  std::string uri = "file:";
  for (unsigned char c : file.string())
    uri += std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_' ? std::string(1, char(c))
                                                                           : fmt::format("%{:02x}", c);
  return uri + "?immutable=1";
}

Outcome<Database> Database::open(const std::filesystem::path &file, Mode mode) {
  sqlite3 *handle = nullptr;
  int flags = mode == Mode::ReadOnly    ? SQLITE_OPEN_READONLY
              : mode == Mode::Immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                        : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  std::string name = mode == Mode::Memory ? ":memory:" : mode == Mode::Immutable ? uriOf(file) : file.string();
  int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (code != SQLITE_OK)
    return std::unexpected(failureOf(handle, code));
  sqlite3_busy_timeout(handle, busyMilliseconds);
  sqlite3_extended_result_codes(handle, 1);
  TILEC_DB_TRY(database.execute("PRAGMA foreign_keys = ON"));
  return database;
}

void Database::close(sqlite3 *handle) { sqlite3_close_v2(handle); }
Failure Database::failure() const { return failureOf(handle.get(), sqlite3_extended_errcode(handle.get())); }
int64_t Database::lastRow() const { return sqlite3_last_insert_rowid(handle.get()); }

Outcome<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt *stmt = nullptr;
  int code = sqlite3_prepare_v2(handle.get(), sql.data(), int(sql.size()), &stmt, nullptr);
  if (code != SQLITE_OK)
    return std::unexpected(failure());
  return Statement(stmt);
}

Outcome<void> Database::execute(std::string_view sql) {
  if (sqlite3_exec(handle.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(failure());
  return {};
}

Outcome<int64_t> Database::integer(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement)
    return std::unexpected(statement.error());
  auto row = statement->step();
  if (!row)
    return std::unexpected(row.error());
  return *row ? statement->integer(0) : 0;
}

Outcome<std::string> Database::text(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement)
    return std::unexpected(statement.error());
  auto row = statement->step();
  if (!row)
    return std::unexpected(row.error());
  return *row ? statement->text(0) : std::string();
}

Outcome<void> Database::copyTo(Database &other) const {
  sqlite3_backup *backup = sqlite3_backup_init(other.handle.get(), "main", handle.get(), "main");
  if (!backup)
    return std::unexpected(other.failure());
  sqlite3_backup_step(backup, -1);
  if (int code = sqlite3_backup_finish(backup); code != SQLITE_OK)
    return std::unexpected(failureOf(other.handle.get(), code));
  return {};
}

Outcome<Transaction> Transaction::begin(Database &database) {
  TILEC_DB_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}
Outcome<void> Transaction::commit() {
  TILEC_DB_TRY(database->execute("COMMIT"));
  database = nullptr;
  return {};
}
Transaction::~Transaction() {
  if (database)
    (void)database->execute("ROLLBACK");
}

} // namespace tilec::tuner::db
