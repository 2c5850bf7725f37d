#pragma once
// SQLite with results instead of codes; used by cache*.cpp alone.
#include "compiler/base/result.h"
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tilec::tuner::db {

/// Why a statement failed, as far as the cache acts on it.
enum class Fault : uint8_t { None, Busy, Corrupt, Unwritable, Other };
struct Failure {
  Fault fault = Fault::Other;
  std::string message;
};
template <typename T> using Outcome = std::expected<T, Failure>;

class Statement {
public:
  explicit Statement(sqlite3_stmt *stmt) : stmt(stmt, finalize) {}
  Statement &bind(int64_t value);
  Statement &bind(double value);
  Statement &bind(std::string_view text);
  Statement &bindBlob(std::string_view bytes);
  Statement &bindNull();
  /// True: a row is there. False: done.
  Outcome<bool> step();
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string blob(int column) const;
  bool isNull(int column) const;

private:
  static void finalize(sqlite3_stmt *stmt);
  std::unique_ptr<sqlite3_stmt, void (*)(sqlite3_stmt *)> stmt;
  int next = 1;
};

class Database {
public:
  /// Immutable: read-only, and nobody changes the file meanwhile; its log is not looked at.
  enum class Mode : uint8_t { ReadWrite, ReadOnly, Immutable, Memory };
  /// The busy timeout is set before anything else touches the file.
  static Outcome<Database> open(const std::filesystem::path &file, Mode mode);
  Outcome<Statement> prepare(std::string_view sql);
  /// Runs statements that give no rows.
  Outcome<void> execute(std::string_view sql);
  /// First column of the first row of a query.
  Outcome<int64_t> integer(std::string_view sql);
  Outcome<std::string> text(std::string_view sql);
  /// Copies everything into another database.
  Outcome<void> copyTo(Database &other) const;
  int64_t lastRow() const;

private:
  explicit Database(sqlite3 *handle) : handle(handle, close) {}
  Failure failure() const;
  static void close(sqlite3 *handle);
  std::unique_ptr<sqlite3, void (*)(sqlite3 *)> handle;
};

/// BEGIN IMMEDIATE … COMMIT; rolled back unless commit() was called.
class Transaction {
public:
  static Outcome<Transaction> begin(Database &database);
  Outcome<void> commit();
  Transaction(Transaction &&other) noexcept : database(std::exchange(other.database, nullptr)) {}
  ~Transaction();

private:
  explicit Transaction(Database &database) : database(&database) {}
  Database *database;
};

} // namespace tilec::tuner::db

/// As TILEC_ASSIGN and TILEC_TRY, for outcomes inside functions that return one.
#define TILEC_DB_TRY(expr)                                                                                             \
  do {                                                                                                                 \
    if (auto outcome_ = (expr); !outcome_)                                                                             \
      return std::unexpected(std::move(outcome_).error());                                                             \
  } while (false)
