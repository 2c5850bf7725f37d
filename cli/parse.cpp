// The only file that knows the option parser.
#include "cli/command.h"
#include "compiler/base/text.h"
#include <CLI/CLI.hpp>
#include <algorithm>

namespace tilec::cli {

static bool isPositional(const OptionRow &row) { return !row.names.starts_with('-'); }

static void add(CLI::App &app, const OptionRow &row) {
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
}

/// A message of the parser on one line, in the tool's words.
static std::string tidy(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
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
  for (const OptionRow &row : rows) {
    add(app, row);
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
  for (const std::string &extra : app.remaining()) {
    if (extra.starts_with('-') && extra.size() > 1)
      return withHelp(usageError("tilec {} has no option '{}'", command, extra), suggest(extra, names));
    return withHelp(usageError("tilec {} takes no argument '{}'", command, extra),
                    fmt::format("`tilec {} --help` lists what it takes", command));
  }
  return {};
}

} // namespace tilec::cli
