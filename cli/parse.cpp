// The only file that knows the option parser.
#include "cli/command.h"
#include "compiler/base/text.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

namespace tilec::cli {

static bool isPositional(const OptionRow &row) { return !row.names.starts_with('-'); }

/// Least and largest value of a number; others are from 0 on.
struct Range {
  std::string_view option;
  double least, most;
};
constexpr Range ranges[] = {{"--jobs", 0, 1024}, {"--device", 0, 63}, {"--timeout", 0.1, 86400}, {"--rows", 0, 1e6}};

static std::string rangeFault(const OptionRow &row) {
  std::optional<double> value;
  if (auto *integer = std::get_if<int64_t *>(&row.target))
    value = double(**integer);
  else if (auto *real = std::get_if<double *>(&row.target))
    value = **real;
  if (!value)
    return "";
  Range range{row.names, 0, INFINITY};
  for (const Range &r : ranges)
    if (row.names.ends_with(r.option))
      range = r;
  if (*value >= range.least && *value <= range.most)
    return "";
  return std::isinf(range.most)
             ? fmt::format("{} takes a number from {} on, not {}", row.names, range.least, *value)
             : fmt::format("{} takes a number from {} to {}, not {}", row.names, range.least, range.most, *value);
}

/// What is wrong with an option that was given, beyond what the parser sees; empty: nothing.
static std::string fault(const OptionRow &row, const CLI::Option &option) {
  if (option.count() == 0 || std::holds_alternative<std::vector<std::string> *>(row.target) ||
      std::holds_alternative<bool *>(row.target))
    return "";
  if (option.count() > 1)
    return fmt::format("{} is given {} times and takes one value", row.names, option.count());
  if (auto *text = std::get_if<std::string *>(&row.target); text && (*text)->empty())
    return fmt::format("{} needs a value, not ''", row.names);
  return rangeFault(row);
}

static CLI::Option *add(CLI::App &app, const OptionRow &row) {
  CLI::Option *option = std::visit(
      [&](auto *target) -> CLI::Option * {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool>)
          return app.add_flag(row.names, *target, row.doc);
        else {
          CLI::Option *o = app.add_option(row.names, *target, row.doc);
          // One value each time a list option is given, so that a positional may follow it.
          if constexpr (std::is_same_v<T, std::vector<std::string>>)
            if (!isPositional(row))
              o->allow_extra_args(false)->take_all();
          // One too many is told in our own words.
          if constexpr (!std::is_same_v<T, std::vector<std::string>>)
            o->take_last();
          return o;
        }
      },
      row.target);
  if (!row.choices.empty())
    option->check(CLI::Validator(
        [choices = row.choices](std::string &value) -> std::string {
          if (std::ranges::find(choices, value) != choices.end())
            return "";
          return fmt::format("'{}' is none of {}", value, join(choices, ", "));
        },
        "", ""));
  return option;
}

/// A message of the parser on one line, in the tool's words.
static std::string tidy(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  if (size_t colon = text.find(": 1 required "); colon != std::string::npos)
    return text.substr(0, colon) + " needs a value";
  constexpr std::string_view conversion = "Could not convert: ";
  if (size_t equals = text.find(" = "); text.starts_with(conversion) && equals != std::string::npos)
    return fmt::format("{} takes a number, not '{}'", text.substr(conversion.size(), equals - conversion.size()),
                       text.substr(equals + 3));
  return text;
}

Status parseArguments(const std::string &command, const std::vector<OptionRow> &rows,
                      std::vector<std::string> arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::string> names;
  std::vector<CLI::Option *> options;
  for (const OptionRow &row : rows) {
    options.push_back(add(app, row));
    if (!isPositional(row))
      for (const std::string &n : split(row.names, ','))
        names.push_back(n);
  }
  // CLI11 takes arguments in reverse order.
  std::ranges::reverse(arguments);
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError &e) {
    return withHelp(usageError("tilec {}: {}", command, tidy(e.what())),
                    fmt::format("`tilec {} --help` lists the options", command));
  }
  for (size_t i = 0; i < rows.size(); ++i)
    if (std::string text = fault(rows[i], *options[i]); !text.empty())
      return withHelp(usageError("tilec {}: {}", command, text),
                      fmt::format("`tilec {} --help` lists the options", command));
  for (const std::string &extra : app.remaining()) {
    if (extra.starts_with('-') && extra.size() > 1)
      return withHelp(usageError("tilec {} has no option '{}'", command, extra), suggest(extra, names));
    return withHelp(usageError("tilec {} takes no argument '{}'", command, extra),
                    fmt::format("`tilec {} --help` lists what it takes", command));
  }
  return {};
}

} // namespace tilec::cli
