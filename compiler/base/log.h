#pragma once
// The log: lines for people who look into tilec itself, on standard error. What a user must see is a diagnostic or an
// Error instead.
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace tilec {

enum class LogLevel : uint8_t { Trace, Debug, Info, Warn, Error, Off };

/// Level by name as TILEC_LOG takes it; nothing when there is no such level.
std::optional<LogLevel> parseLogLevel(std::string_view name);
/// Replaces the level that TILEC_LOG gave (Warn without it).
void setLogLevel(LogLevel level);
bool logs(LogLevel level);
/// Writes one line if its level is in force.
void writeLog(LogLevel level, std::string_view line);

/// `logDebug("{} registers", n)`: arguments are formatted only when the level is in force.
template <typename... A> void logDebug(fmt::format_string<A...> f, A &&...a) {
  if (logs(LogLevel::Debug))
    writeLog(LogLevel::Debug, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A> void logInfo(fmt::format_string<A...> f, A &&...a) {
  if (logs(LogLevel::Info))
    writeLog(LogLevel::Info, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A> void logWarn(fmt::format_string<A...> f, A &&...a) {
  if (logs(LogLevel::Warn))
    writeLog(LogLevel::Warn, fmt::format(f, std::forward<A>(a)...));
}

} // namespace tilec
