#pragma once
// What cache.cpp and cache_query.cpp share.
#include "tuner/cache.h"
#include "tuner/cache_open.h"

namespace tilec::tuner {

struct Cache::Impl {
  OpenCache open;
  std::filesystem::path path;

  /// Acts on a failed statement: moves a corrupt file aside, or goes on in memory where the file cannot be written.
  /// True: the statement is worth another attempt on what is open now.
  Result<bool> recover(const db::Failure &failure);
  /// Tells the user once of something that was found damaged.
  void damaged(std::string message);
  /// Drops a trial of which `what` was found damaged, and tells: it is a miss from now on, and gets a new row.
  void forget(int64_t trial, std::string_view what);
};

} // namespace tilec::tuner
