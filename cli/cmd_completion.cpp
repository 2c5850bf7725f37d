#include "cli/commands.h"
#include "compiler/base/text.h"

namespace tilec::cli {
namespace {

/// Commands with their options, from the same tables as the parser.
std::vector<std::pair<std::string, std::vector<std::string>>> words() {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const CommandInfo &c : allCommands()) {
    if (c.hidden)
      continue;
    std::vector<OptionRow> rows;
    auto command = c.make();
    command->options(rows);
    std::vector<std::string> options{"--help", "--json", "--color", "--verbose"};
    for (const OptionRow &row : rows)
      if (row.names.starts_with('-'))
        for (const std::string &name : split(row.names, ','))
          options.push_back(name);
    all.emplace_back(c.name, std::move(options));
  }
  return all;
}

std::string bash() {
  std::string s = "_tilec() {\n  local word=${COMP_WORDS[COMP_CWORD]} options\n";
  std::vector<std::string> names;
  s += "  case ${COMP_WORDS[1]} in\n";
  for (const auto &[name, options] : words()) {
    names.push_back(name);
    s += fmt::format("  {}) options='{}' ;;\n", name, join(options, " "));
  }
  s += "  esac\n";
  s +=
      fmt::format("  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n", join(names, " "));
  s += "  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
       "  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n}\n"
       "complete -o filenames -F _tilec tilec\n";
  return s;
}

std::string zsh() { return "autoload -U +X bashcompinit && bashcompinit\n" + bash(); }

std::string fish() {
  std::string s;
  for (const CommandInfo &c : allCommands())
    if (!c.hidden)
      s += fmt::format("complete -c tilec -n __fish_use_subcommand -a {} -d {}\n", c.name, shellQuote(c.summary));
  for (const auto &[name, options] : words())
    for (const std::string &o : options)
      s += o.starts_with("--")
               ? fmt::format("complete -c tilec -n '__fish_seen_subcommand_from {}' -l {}\n", name, o.substr(2))
               : fmt::format("complete -c tilec -n '__fish_seen_subcommand_from {}' -s {}\n", name, o.substr(1));
  return s;
}

class Completion : public Command {
  std::string shell;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"SHELL", "", "bash, zsh or fish", &shell, {"bash", "zsh", "fish"}});
  }
  Result<int> run(Context &context) override {
    if (shell.empty())
      return withHelp(usageError("no shell given"), "`tilec completion bash`, zsh or fish");
    context.out.print(shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeCompletion() { return std::make_unique<Completion>(); }

} // namespace tilec::cli
