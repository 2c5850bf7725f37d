// tilec fmt: .tile files in the canonical style.
#include "cli/commands.h"
#include "compiler/base/files.h"
#include "compiler/base/json.h"
#include "compiler/syntax/format.h"
#include <algorithm>
#include <filesystem>

namespace tilec::cli {
namespace {

namespace fs = std::filesystem;

/// The .tile files of a folder and those below it, by name; folders that begin with a dot are left out.
Result<std::vector<std::string>> filesBelow(const std::string &folder) {
  std::vector<std::string> found;
  std::error_code fault;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, fault), end;
  for (; !fault && it != end; it.increment(fault)) {
    std::string name = it->path().filename().string();
    std::error_code ignored;
    if (it->is_directory(ignored) && name.starts_with('.'))
      it.disable_recursion_pending();
    else if (name.ends_with(".tile") && it->is_regular_file(ignored))
      found.push_back(it->path().lexically_normal().string());
  }
  if (fault)
    return usageError("cannot read the folder '{}': {}", folder, fault.message());
  std::ranges::sort(found);
  return found;
}

class Fmt : public Command {
  std::vector<std::string> paths;
  bool check = false, standardInput = false;
  bool failed = false; ///< a file has syntax errors
  size_t files = 0, changed = 0;
  Json changes = Json::array(), diagnostics = Json::array();

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back(
        {"PATH", "", ".tile files, folders of them, `-` for standard input, or nothing: this folder", &paths});
    rows.push_back({"--check", "", "write nothing; exit code 1 when a file would change", &check});
    rows.push_back({"--stdin", "", "the same as `-`: standard input to standard output", &standardInput});
  }

  Result<int> run(Context &context) override {
    if (standardInput)
      paths.insert(paths.begin(), "-");
    TILEC_ASSIGN(std::vector<std::string> targets, resolve());
    // A file that cannot be read or written keeps none of the others.
    std::optional<Error> first;
    for (const std::string &path : targets)
      if (Status done = one(context, path); !done && !first)
        first = done.error();
      else if (!done)
        context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Red, "error:"), done.error().message));
    if (first)
      return std::unexpected(std::move(*first));
    if (context.json)
      context.out.print(
          toText(
              Json{{"schema", "tilec.fmt.1"}, {"files", files}, {"changed", changes}, {"diagnostics", diagnostics}}) +
          "\n");
    else if (targets != std::vector<std::string>{"-"})
      context.err.print(
          fmt::format("{} file{}, {} {}\n", files, files == 1 ? "" : "s", changed, check ? "would change" : "changed"));
    return failed || (check && changed) ? exitCode(ErrorKind::Program) : 0;
  }

private:
  Result<std::vector<std::string>> resolve() const {
    std::vector<std::string> targets;
    for (const std::string &path : paths.empty() ? std::vector<std::string>{"."} : paths) {
      std::error_code ignored;
      if (path != "-" && !fs::exists(path, ignored))
        return usageError("no file or folder '{}'", path);
      if (fs::is_directory(path, ignored)) {
        TILEC_ASSIGN(std::vector<std::string> found, filesBelow(path));
        targets.insert(targets.end(), found.begin(), found.end());
      } else if (path != "-" && !path.ends_with(".tile")) {
        return withHelp(usageError("'{}' is no .tile file", path), "only programs of the tile language are formatted");
      } else {
        targets.push_back(path);
      }
    }
    // A file named twice is formatted once.
    std::vector<std::string> once;
    for (std::string &target : targets)
      if (std::ranges::find(once, target) == once.end())
        once.push_back(std::move(target));
    return once;
  }

  Status one(Context &context, const std::string &path) {
    SourceManager sources;
    Diagnostics diags;
    TILEC_ASSIGN(FileId id, sources.load(path));
    ++files;
    TILEC_ASSIGN(std::optional<std::string> text, syntax::format(id, sources, diags));
    failed |= diags.hasErrors();
    if (context.json)
      for (const Json &d : toJson(diags, sources))
        diagnostics.push_back(d);
    else
      context.err.print(render(diags, sources, context.err.color()));
    if (!text)
      return {};
    if (bool same = *text == sources.text(id); !same) {
      ++changed;
      changes.push_back(sources.name(id));
      if (check && !context.json)
        context.out.print(fmt::format("{}\n", sources.name(id)));
      if (!check && path != "-")
        return writeFile(path, *text);
    }
    // JSON and the text would not be told apart on one stream.
    if (path == "-" && !check && !context.json)
      context.out.print(*text);
    return {};
  }
};

} // namespace

std::unique_ptr<Command> makeFmt() { return std::make_unique<Fmt>(); }

} // namespace tilec::cli
