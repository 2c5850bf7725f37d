#include "compiler/base/log.h"
#include "compiler/base/env.h"
#include <array>
#include <memory>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace tilec {

static constexpr std::array<std::string_view, 6> levelNames = {"trace", "debug", "info", "warn", "error", "off"};

static spdlog::level::level_enum toSpdlog(LogLevel level) {
  constexpr std::array levels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                 spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return levels[size_t(level)];
}

static spdlog::logger &logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
        envFlag(Env::NO_COLOR) ? spdlog::color_mode::never : spdlog::color_mode::automatic);
    auto made = std::make_shared<spdlog::logger>("tilec", std::move(sink));
    made->set_pattern("tilec: %^%l%$: %v");
    std::optional<std::string> wanted = envText(Env::TILEC_LOG);
    std::optional<LogLevel> level = wanted ? parseLogLevel(*wanted) : LogLevel::Warn;
    made->set_level(toSpdlog(level.value_or(LogLevel::Warn)));
    if (!level)
      made->warn("TILEC_LOG={}: no such level; known: {}", *wanted, fmt::join(levelNames, ", "));
    return made;
  }();
  return *instance;
}

std::optional<LogLevel> parseLogLevel(std::string_view name) {
  for (size_t i = 0; i < levelNames.size(); ++i)
    if (name == levelNames[i])
      return LogLevel(i);
  return std::nullopt;
}

void setLogLevel(LogLevel level) { logger().set_level(toSpdlog(level)); }

bool logs(LogLevel level) { return level != LogLevel::Off && logger().should_log(toSpdlog(level)); }

void writeLog(LogLevel level, std::string_view line) { logger().log(toSpdlog(level), "{}", line); }

} // namespace tilec
