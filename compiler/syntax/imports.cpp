#include "compiler/syntax/imports.h"
#include "compiler/base/text.h"
#include "compiler/syntax/parser.h"
#include <filesystem>
#include <functional>

namespace tilec::syntax {

namespace fs = std::filesystem;

const std::vector<StdFile> &stdLibrary() {
  static const std::vector<StdFile> files = {
#define STD_FILE(name, text) {name, text},
#include "compiler/syntax/std_library.inc"
#undef STD_FILE
  };
  return files;
}

namespace {

constexpr std::string_view stdFolder = "std/";

/// One run over the imports of a program.
class Loader {
public:
  Loader(SourceManager &sources, Diagnostics &diags) : sources(sources), diags(diags) {}

  /// Loads the imports of a file that is known as `key`.
  void load(File &file, const std::string &key) {
    open.push_back(key);
    for (const DeclPtr &decl : file.decls)
      if (auto *import = dynAs<ImportDecl>(decl.get()); import && !import->path.empty())
        import->file = one(*import, file);
    open.pop_back();
  }

  /// A name by which a file is recognised, however it is written.
  static std::string keyOf(const fs::path &path) {
    std::error_code ec;
    fs::path whole = fs::weakly_canonical(path, ec);
    return (ec ? path.lexically_normal() : whole).string();
  }

private:
  SourceManager &sources;
  Diagnostics &diags;
  std::vector<std::string> open;                       ///< files being loaded, each imported by the one before
  std::map<std::string, std::shared_ptr<File>> loaded; ///< null: reported

  Diagnostic &report(Diag diag, const ImportDecl &import, std::string message, std::string help) {
    Diagnostic &d = diags.report(diag, import.pathSpan, std::move(message));
    d.help = std::move(help);
    return d;
  }

  std::shared_ptr<File> one(const ImportDecl &import, const File &importing) {
    bool isStd = import.path.starts_with(stdFolder);
    std::string name = import.path;
    if (!isStd) {
      fs::path folder = fs::path(sources.name(importing.id)).parent_path();
      name = fs::path(import.path).is_absolute() ? import.path : (folder / import.path).lexically_normal().string();
    }
    std::string key = isStd ? name : keyOf(name);
    if (std::ranges::find(open, key) != open.end()) {
      report(Diag::ImportCycle, import,
             open.back() == key ? "this file imports itself"
                                : fmt::format("'{}' imports this file, directly or through others", import.path),
             "move what both need into a third file");
      return nullptr;
    }
    if (auto it = loaded.find(key); it != loaded.end())
      return it->second;
    std::shared_ptr<File> &file = loaded[key];
    auto id = isStd ? standard(import) : read(import, name);
    if (!id)
      return nullptr;
    file = parse(*id, sources, diags);
    std::shared_ptr<File> result = file; // the map may grow below
    load(*result, key);
    return result;
  }

  std::optional<FileId> standard(const ImportDecl &import) {
    std::vector<std::string> known;
    for (const StdFile &file : stdLibrary()) {
      known.push_back(fmt::format("{}{}.tile", stdFolder, file.name));
      if (known.back() == import.path)
        return sources.add(import.path, std::string(file.text));
    }
    report(Diag::ImportNotFound, import, fmt::format("the tool ships no '{}'", import.path),
           suggest(import.path, known));
    return std::nullopt;
  }

  std::optional<FileId> read(const ImportDecl &import, const std::string &name) {
    std::error_code ec;
    auto id = name == "-" || fs::is_directory(name, ec) ? Result<FileId>(usageError("{}: this is no file", name))
                                                        : sources.load(name);
    if (id)
      return *id;
    report(Diag::ImportNotFound, import, fmt::format("'{}' cannot be imported: {}", import.path, id.error().message),
           "the path is relative to the importing file; what ships with the tool is \"std/NAME.tile\"");
    return std::nullopt;
  }
};

} // namespace

void loadImports(File &file, SourceManager &sources, Diagnostics &diags) {
  Loader(sources, diags).load(file, Loader::keyOf(std::string(sources.name(file.id))));
}

std::vector<const File *> filesOf(const File &file) {
  std::vector<const File *> files{&file};
  for (size_t i = 0; i < files.size(); ++i) // grows while it runs
    for (const DeclPtr &decl : files[i]->decls) {
      auto *import = dynAs<ImportDecl>(decl.get());
      const File *found = import ? import->file.get() : nullptr;
      if (found && std::ranges::find(files, found) == files.end())
        files.push_back(found);
    }
  return files;
}

} // namespace tilec::syntax
