#pragma once
// What a command of the tool is: rows of options and a function. commands.def lists them; parse.cpp alone knows the
// option parser behind them.
#include "cli/terminal.h"
#include "compiler/base/result.h"
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tilec::cli {

/// One option or positional argument of a command.
struct OptionRow {
  std::string names; ///< "-o,--output", or an upper-case word for a positional argument
  std::string value; ///< name of its value in help texts; empty for a flag and for positionals
  std::string doc;
  std::variant<bool *, int64_t *, double *, std::string *, std::vector<std::string> *> target;
  std::vector<std::string> choices{}; ///< legal values, empty: any
};

/// Where a command's output goes and how.
struct Context {
  Terminal out; ///< results: standard output
  Terminal err; ///< everything else: standard error
  bool json = false;
  bool verbose = false;
};

class Command {
public:
  virtual ~Command() = default;
  virtual void options(std::vector<OptionRow> &rows) = 0;
  /// Exit code, or the failure that main() prints and turns into one.
  virtual Result<int> run(Context &context) = 0;
};

/// A row of commands.def.
struct CommandInfo {
  std::string_view name, summary, help;
  bool hidden;
  std::unique_ptr<Command> (*make)();
};
const std::vector<CommandInfo> &allCommands();
const CommandInfo *findCommand(std::string_view name);

/// Parses and runs one command line (without the program's name); returns the exit code.
int runTool(std::vector<std::string> arguments);

/// Fills the rows' targets from arguments. Error (Usage): an unknown option (with the nearest one), a missing or
/// malformed value.
Status parseArguments(const std::string &command, const std::vector<OptionRow> &rows,
                      std::vector<std::string> arguments);

} // namespace tilec::cli
