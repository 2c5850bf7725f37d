// Finding, explaining and running commands.
#include "cli/command.h"
#include "cli/commands.h"
#include "compiler/base/json.h"
#include "compiler/base/text.h"
#include <algorithm>
#include <exception>

namespace tilec::cli {

const std::vector<CommandInfo> &allCommands() {
  static const std::vector<CommandInfo> commands = {
#define COMMAND(name, factory, hidden, summary, help) {#name, summary, help, hidden, factory},
#include "cli/commands.def"
  };
  return commands;
}

const CommandInfo *findCommand(std::string_view name) {
  for (const CommandInfo &c : allCommands())
    if (c.name == name)
      return &c;
  return nullptr;
}

namespace {

struct Common {
  std::string color = "auto";
  bool verbose = false;
};

std::vector<OptionRow> commonRows(Common &common, Context &context) {
  return {{"--json", "", "print results as JSON", &context.json},
          {"--color", "WHEN", "colour: auto, always or never", &common.color, {"auto", "always", "never"}},
          {"-v,--verbose", "", "say more on standard error", &common.verbose}};
}

std::string overview(const Terminal &t) {
  std::string s = "tilec: write GPU kernels in a small tile language, check and run them on the CPU, compile them to\n"
                  "cubins, tune them on the hardware.\n\nusage: tilec COMMAND [OPTIONS]\n\ncommands:\n";
  for (const CommandInfo &c : allCommands())
    if (!c.hidden)
      s += fmt::format("  {}{}{}\n", t.styled(Style::Bold, c.name), std::string(12 - c.name.size(), ' '), c.summary);
  s += "\n`tilec COMMAND --help` explains one; `tilec --version` prints the version.\n";
  return s;
}

std::string rowsText(const std::vector<OptionRow> &rows, bool positional) {
  std::string s;
  for (const OptionRow &row : rows) {
    if (row.names.starts_with('-') == positional)
      continue;
    std::string left = "  " + row.names;
    size_t comma = left.find(',');
    if (comma != std::string::npos)
      left.insert(comma + 1, " ");
    if (!row.value.empty())
      left += " " + row.value;
    left += left.size() < 26 ? std::string(26 - left.size(), ' ') : "\n" + std::string(26, ' ');
    s += left + row.doc + "\n";
  }
  return s;
}

std::string helpText(const CommandInfo &command, const std::vector<OptionRow> &own,
                     const std::vector<OptionRow> &common, bool longForm) {
  std::string positionals;
  for (const OptionRow &row : own)
    if (!row.names.starts_with('-'))
      positionals += " [" + row.names + "]";
  std::string s = fmt::format("tilec {}: {}\n\nusage: tilec {}{} [OPTIONS]\n", command.name, command.summary,
                              command.name, positionals);
  if (longForm && !command.help.empty())
    s += fmt::format("\n{}\n", command.help);
  if (!positionals.empty())
    s += "\n" + rowsText(own, true);
  s += "\noptions:\n" + rowsText(own, false);
  if (longForm)
    s += rowsText(common, false) + "  -h, --help              short help, this help\n";
  return s;
}

int report(Context &context, const Error &error) {
  Terminal &err = context.err;
  std::string head = error.kind == ErrorKind::Internal ? "internal error" : "error";
  err.print(fmt::format("{} {}\n", err.styled(Style::Red, head + ":"), shortenWords(error.message)));
  if (!error.detail.empty()) {
    std::string detail = error.detail;
    while (!detail.empty() && detail.back() == '\n')
      detail.pop_back();
    for (const std::string &line : split(detail, '\n'))
      err.print(fmt::format("  | {}\n", line));
  }
  if (!error.help.empty())
    err.print(fmt::format("{} {}\n", err.styled(Style::Cyan, "help:"), shortenWords(error.help)));
  if (context.json) {
    constexpr const char *kinds[] = {"program", "usage", "no-device", "internal"};
    Json body{{"kind", kinds[size_t(error.kind)]}, {"message", error.message}, {"help", error.help}};
    context.out.print(toText(Json{{"schema", "tilec.error.1"}, {"error", body}}) + "\n");
  }
  return exitCode(error.kind);
}

int runCommand(const CommandInfo &command, std::vector<std::string> arguments, Context &context) {
  Common common;
  std::unique_ptr<Command> instance = command.make();
  std::vector<OptionRow> own;
  instance->options(own);
  std::vector<OptionRow> shared = commonRows(common, context);
  for (const std::string &a : arguments) {
    if (a == "--")
      break;
    if (a == "-h" || a == "--help") {
      context.out.print(helpText(command, own, shared, a == "--help"));
      return 0;
    }
  }
  std::vector<OptionRow> rows = own;
  rows.insert(rows.end(), shared.begin(), shared.end());
  if (Status status = parseArguments(std::string(command.name), rows, std::move(arguments)); !status)
    return report(context, status.error());
  context.out.setColor(common.color);
  context.err.setColor(common.color);
  context.verbose = common.verbose;
  Result<int> result = instance->run(context);
  return result ? *result : report(context, result.error());
}

int dispatch(std::vector<std::string> arguments, Context &context) {
  // Known before anything is parsed, so that faults of the command line itself are JSON as well.
  context.json =
      std::find(arguments.begin(), std::ranges::find(arguments, "--"), "--json") != std::ranges::find(arguments, "--");
  if (arguments.empty()) {
    context.err.print(overview(context.err));
    return exitCode(ErrorKind::Usage);
  }
  std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "--version" || first == "-V") {
    context.out.print("tilec " TILEC_VERSION "\n");
    return 0;
  }
  if (first == "-h" || first == "--help" || (first == "help" && arguments.empty())) {
    context.out.print(overview(context.out));
    return 0;
  }
  if (first == "help") {
    first = arguments.front();
    arguments = {"--help"};
  }
  if (const CommandInfo *command = findCommand(first))
    return runCommand(*command, std::move(arguments), context);
  std::vector<std::string> names;
  for (const CommandInfo &c : allCommands())
    if (!c.hidden)
      names.emplace_back(c.name);
  return report(context, withHelp(usageError("tilec has no command '{}'", first), suggest(first, names)).error());
}

} // namespace

int runTool(std::vector<std::string> arguments) {
  Context context{Terminal(stdout), Terminal(stderr)};
  context.out.setColor("auto");
  context.err.setColor("auto");
  int code;
  try {
    code = dispatch(std::move(arguments), context);
  } catch (const std::exception &e) {
    // Libraries throw; nothing of ours does. Reaching here is a defect, but never a crash.
    code = report(context, Error{ErrorKind::Internal, e.what(), "please report this with the command line", ""});
  }
  bool written = context.out.finish();
  context.err.finish();
  if (!written && code == 0) {
    context.err.print("error: standard output could not be written\n");
    code = exitCode(ErrorKind::Usage);
  }
  return code;
}

} // namespace tilec::cli
