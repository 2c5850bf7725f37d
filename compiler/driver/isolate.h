#pragma once
// Runs a piece of work in a forked child, so that an abort, a crash, a call of exit or a hang inside LLVM or the
// assembler is a failure the caller sees.
#include "compiler/base/result.h"
#include <functional>
#include <string>

namespace tilec::driver {

/// How a child ended that gave no answer.
struct ChildFailure {
  enum class Kind { Signal, Exit, Timeout, System } kind = Kind::System;
  int code = 0;       ///< signal number, exit status or errno
  std::string output; ///< what the child printed on standard error, last 16 KiB
  /// "was killed by signal 11 (Segmentation fault)", "ended with status 1 before it had finished", "did not finish in
  /// 120 s", "could not be started: …".
  std::string text() const;
  /// The machine's doing and not the work's: no process or pipe could be made, or somebody killed the child (as the
  /// kernel does when memory runs out).
  bool isTransient() const;
};
/// Ends the message of an Error that comes from a transient failure: the same call may succeed later.
inline constexpr std::string_view transientMark = "; that is the machine's state and may pass";
inline bool isTransient(const Error &error) { return error.message.ends_with(transientMark); }

/// Runs `work` in a child and returns the bytes it gives. The child dies with its parent, has no standard input or
/// output, and its standard error is captured. `timeoutSeconds` <= 0: no limit. Several threads may call it at once.
std::expected<std::string, ChildFailure> runIsolated(const std::function<std::string()> &work, double timeoutSeconds);

} // namespace tilec::driver
