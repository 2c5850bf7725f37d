#pragma once
// Results of everything that can fail below the language. Faults of a user's program are diagnostics (diag.h); an Error
// is everything else: a file that cannot be read, a launch that is refused, an assembler that fails.
#include <expected>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace tilec {

/// The class of a failure; it decides the exit code of the tool.
enum class ErrorKind {
  Program,  ///< errors in the user's program, or results that differ: exit code 1
  Usage,    ///< wrong use, configuration, input or output: exit code 2
  NoDevice, ///< no usable GPU or driver: exit code 3
  Internal, ///< a defect of tilec or of a tool below it: exit code 101
};

/// One failure: a sentence for the user and, where one helps, the mend.
struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message; ///< one sentence, no newline at the end
  std::string help;    ///< what to do about it; may be empty
  std::string detail;  ///< log lines worth keeping (assembler output, a stage dump's path); may be empty
};

template <typename T> using Result = std::expected<T, Error>;
using Status = Result<void>;

/// Exit code that belongs to a failure.
int exitCode(ErrorKind kind);

template <typename... A> std::unexpected<Error> usageError(fmt::format_string<A...> f, A &&...a) {
  return std::unexpected(Error{ErrorKind::Usage, fmt::format(f, std::forward<A>(a)...), "", ""});
}
template <typename... A> std::unexpected<Error> programError(fmt::format_string<A...> f, A &&...a) {
  return std::unexpected(Error{ErrorKind::Program, fmt::format(f, std::forward<A>(a)...), "", ""});
}
template <typename... A> std::unexpected<Error> noDevice(fmt::format_string<A...> f, A &&...a) {
  return std::unexpected(Error{ErrorKind::NoDevice, fmt::format(f, std::forward<A>(a)...), "", ""});
}
template <typename... A> std::unexpected<Error> internalError(fmt::format_string<A...> f, A &&...a) {
  return std::unexpected(Error{ErrorKind::Internal, fmt::format(f, std::forward<A>(a)...), "", ""});
}

/// The same failure with a mend added.
inline std::unexpected<Error> withHelp(std::unexpected<Error> e, std::string help) {
  Error error = std::move(e.error());
  error.help = std::move(help);
  return std::unexpected(std::move(error));
}

} // namespace tilec

/// Evaluates a Result or Status and returns its error from the enclosing function, if it has one.
#define TILEC_TRY(expr)                                                                                                \
  do {                                                                                                                 \
    if (auto tilecStatus = (expr); !tilecStatus)                                                                       \
      return std::unexpected(std::move(tilecStatus).error());                                                          \
  } while (false)

#define TILEC_CONCAT_(a, b) a##b
#define TILEC_CONCAT(a, b) TILEC_CONCAT_(a, b)
/// `TILEC_ASSIGN(auto x, f());` binds the value of a Result or returns its error.
#define TILEC_ASSIGN(lhs, expr) TILEC_ASSIGN_(lhs, expr, TILEC_CONCAT(tilecResult, __LINE__))
#define TILEC_ASSIGN_(lhs, expr, tmp)                                                                                  \
  auto tmp = (expr);                                                                                                   \
  if (!tmp)                                                                                                            \
    return std::unexpected(std::move(tmp).error());                                                                    \
  lhs = std::move(*tmp)
