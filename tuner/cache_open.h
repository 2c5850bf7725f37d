#pragma once
// Opening of the cache's file: permissions, creation, schema, and what to do with a file that cannot be used.
#include "tuner/cache_db.h"

namespace tilec::tuner {

struct OpenCache {
  db::Database database;
  bool saves = true;
  std::string notice; ///< what the user must be told
};
/// See Cache::open().
Result<OpenCache> openCache(const std::filesystem::path &file);
/// An empty cache in memory.
Result<OpenCache> memoryCache();
/// Moves a corrupt file aside and opens a new one; `cause` is SQLite's message.
Result<OpenCache> replaceCorrupt(const std::filesystem::path &file, const std::string &cause);
/// What is known so far, in memory, with the notice that nothing more is saved.
Result<OpenCache> leaveFile(const db::Database &database, const std::filesystem::path &file, const std::string &cause);

} // namespace tilec::tuner
