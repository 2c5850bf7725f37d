// Recipes from YAML. The only file that knows yaml-cpp: its exceptions end here.
#include "tuner/recipe.h"
#include "compiler/base/files.h"
#include "compiler/base/hash.h"
#include "compiler/base/text.h"
#include <functional>
#include <set>
#include <yaml-cpp/yaml.h>

namespace tilec::tuner {
namespace fs = std::filesystem;
namespace {

/// Longest list of problems that lists multiply out to.
constexpr size_t maxProblems = 10000;

class Reader {
public:
  Reader(SourceManager &sources, Diagnostics &diags, FileId file, Recipe &recipe)
      : sources(sources), diags(diags), file(file), recipe(recipe) {}

  void read() {
    YAML::Node root;
    try {
      root = YAML::Load(std::string(sources.text(file)));
    } catch (const YAML::Exception &e) {
      diags.report(Diag::RecipeSyntax, spanAt(e.mark, 1), fmt::format("the recipe is no YAML: {}", e.msg));
      return;
    }
    if (!root.IsMap()) {
      diags.report(Diag::RecipeSyntax, spanAt(root.Mark(), 1), "a recipe is a map of keys").help =
          "begin with `kernel: FILE.tile`";
      return;
    }
    bool hasKernel = false;
    const std::vector<Key> keys = {
        {"kernel", [&](const YAML::Node &n) { hasKernel = true, readKernel(n); }},
        {"about", [&](const YAML::Node &n) { recipe.about = text(n, "about"); }},
        {"check", [&](const YAML::Node &n) { readProblems(n, recipe.check, recipe.checkPlaces); }},
        {"problems", [&](const YAML::Node &n) { readProblems(n, recipe.problems, recipe.problemPlaces); }},
        {"inputs", [&](const YAML::Node &n) { readInputs(n); }},
        {"tolerance", [&](const YAML::Node &n) { readTolerances(n); }},
        {"figures", [&](const YAML::Node &n) { readFigures(n); }},
        {"space", [&](const YAML::Node &n) { readSpace(n); }},
        {"steps",
         [&](const YAML::Node &n) {
           report(Diag::NotBuilt, n, "operations of several launches (`steps`) are not built yet");
         }},
    };
    readMap(root, "a recipe", keys);
    if (!hasKernel && !diags.hasErrors())
      diags.report(Diag::RecipeMissing, {file, 0, 0}, "the recipe names no kernel").help =
          "add `kernel: FILE.tile` or `kernel: FILE.tile:NAME`";
  }

private:
  struct Key {
    std::string name;
    std::function<void(const YAML::Node &)> read;
  };

  Span spanAt(const YAML::Mark &mark, size_t length) const {
    uint32_t size = uint32_t(sources.text(file).size());
    uint32_t begin = mark.is_null() ? 0 : std::min(uint32_t(mark.pos), size);
    return {file, begin, std::min(size, begin + uint32_t(length))};
  }
  Span span(const YAML::Node &node) const {
    return spanAt(node.Mark(), node.IsScalar() ? std::max<size_t>(1, node.Scalar().size()) : 1);
  }
  Diagnostic &report(Diag diag, const YAML::Node &node, std::string message) {
    return diags.report(diag, span(node), std::move(message));
  }

  /// Reads the keys of a map; an unknown one or one given twice is reported.
  void readMap(const YAML::Node &map, std::string_view what, const std::vector<Key> &keys) {
    std::vector<std::string> names;
    for (const Key &key : keys)
      names.push_back(key.name);
    eachKey(map, what, [&](const std::string &name, const YAML::Node &at, const YAML::Node &value) {
      auto key = std::ranges::find(keys, name, &Key::name);
      if (key == keys.end())
        report(Diag::RecipeKey, at, fmt::format("{} has no key '{}'", what, name)).help = suggest(name, names);
      else
        key->read(value);
    });
  }
  template <typename F> void eachKey(const YAML::Node &map, std::string_view what, F visit) {
    if (!map.IsMap()) {
      report(Diag::RecipeValue, map, fmt::format("{} is a map of names to values", what));
      return;
    }
    std::set<std::string> seen;
    for (const auto &item : map) {
      if (!item.first.IsScalar())
        report(Diag::RecipeValue, item.first, "a key is a name");
      else if (!seen.insert(item.first.Scalar()).second)
        report(Diag::RecipeKey, item.first, fmt::format("the key '{}' is given twice", item.first.Scalar()));
      else
        visit(item.first.Scalar(), item.first, item.second);
    }
  }
  std::string text(const YAML::Node &node, std::string_view what) {
    if (node.IsScalar())
      return node.Scalar();
    report(Diag::RecipeValue, node, fmt::format("'{}' is one text", what));
    return "";
  }
  std::optional<LaunchExpr> expression(const YAML::Node &node, std::string_view what) {
    auto expr = node.IsScalar() ? parseExpression(node.Scalar()) : usageError("'{}' is one expression", what);
    if (expr)
      return std::move(*expr);
    report(Diag::RecipeValue, node, expr.error().message).help = expr.error().help;
    return std::nullopt;
  }
  /// One value, or a list of them.
  std::vector<LaunchValue> values(const YAML::Node &node, std::string_view what) {
    std::vector<LaunchValue> result;
    auto add = [&](const YAML::Node &item) {
      auto value =
          item.IsScalar() ? parseValue(item.Scalar()) : usageError("'{}' is a value or a list of values", what);
      if (value)
        result.push_back(*value);
      else
        report(Diag::RecipeValue, item, value.error().message).help = value.error().help;
    };
    if (!node.IsSequence())
      add(node);
    else
      for (const auto &item : node)
        add(item);
    if (node.IsSequence() && node.size() == 0)
      report(Diag::RecipeValue, node, fmt::format("'{}' has an empty list", what));
    return result;
  }
  void use(Recipe::Use::Kind kind, const std::string &name, const YAML::Node &at, const YAML::Node &value,
           std::vector<LaunchValue> values = {}) {
    recipe.uses.push_back({kind, name, span(at), span(value), std::move(values)});
  }
  /// An expression over the values of a problem.
  std::optional<LaunchExpr> problemExpression(const YAML::Node &node, std::string_view what) {
    auto expr = expression(node, what);
    if (expr)
      for (const std::string &symbol : symbols(*expr))
        use(Recipe::Use::Kind::Name, symbol, node, node);
    return expr;
  }

  void readKernel(const YAML::Node &node) {
    std::string name = text(node, "kernel");
    size_t colon = name.rfind(".tile:");
    if (colon != std::string::npos) {
      recipe.kernel = name.substr(colon + 6);
      name.resize(colon + 5);
    }
    if (name.empty() || !name.ends_with(".tile"))
      report(Diag::RecipeValue, node, "'kernel' is FILE.tile or FILE.tile:NAME");
    recipe.kernelFile = (fs::path(sources.name(file)).parent_path() / name).string();
  }

  void readProblems(const YAML::Node &node, std::vector<Values> &problems, std::vector<Span> &places) {
    if (!node.IsSequence()) {
      report(Diag::RecipeValue, node, "problems are a list of maps").help = "write `- {N: 1024}`, one line a problem";
      return;
    }
    for (const auto &entry : node) {
      std::vector<Values> product(1);
      eachKey(entry, "a problem", [&](const std::string &name, const YAML::Node &at, const YAML::Node &value) {
        std::vector<Values> next;
        auto choices = values(value, name);
        use(Recipe::Use::Kind::Problem, name, at, value, choices);
        if (product.size() * choices.size() > maxProblems) {
          report(Diag::RecipeValue, value, fmt::format("these lists multiply out to over {} problems", maxProblems));
          return;
        }
        for (const Values &before : product)
          for (const LaunchValue &choice : choices)
            next.emplace_back(before)[name] = choice;
        product = std::move(next);
      });
      problems.insert(problems.end(), product.begin(), product.end());
      places.resize(problems.size(), span(entry));
    }
  }

  void readInputs(const YAML::Node &node) {
    eachKey(node, "'inputs'", [&](const std::string &name, const YAML::Node &at, const YAML::Node &value) {
      use(Recipe::Use::Kind::Input, name, at, value);
      recipe.inputs[name] = text(value, name);
    });
  }

  void readTolerances(const YAML::Node &node) {
    eachKey(node, "'tolerance'", [&](const std::string &name, const YAML::Node &at, const YAML::Node &value) {
      use(Recipe::Use::Kind::Output, name, at, value);
      Tolerance &t = recipe.tolerance[name];
      if (value.IsScalar() && value.Scalar() == "exact")
        return;
      if (value.IsScalar()) {
        report(Diag::RecipeValue, value, "a tolerance is `exact`, or a map of bounds").help =
            "write {ulp: 2}, {rel: 1e-5, abs: 1e-6} or {sum: {terms: K, scale: 1.0}}";
        return;
      }
      readMap(value, "a tolerance",
              {{"ulp", [&](const YAML::Node &n) { t.ulp = problemExpression(n, "ulp"); }},
               {"rel", [&](const YAML::Node &n) { t.rel = problemExpression(n, "rel"); }},
               {"abs", [&](const YAML::Node &n) { t.abs = problemExpression(n, "abs"); }},
               {"sum", [&](const YAML::Node &n) {
                  readMap(n, "the bound of a sum",
                          {{"terms", [&](const YAML::Node &m) { t.terms = problemExpression(m, "terms"); }},
                           {"scale", [&](const YAML::Node &m) { t.scale = problemExpression(m, "scale"); }}});
                  if (!t.terms || !t.scale)
                    report(Diag::RecipeMissing, n, "the bound of a sum needs `terms` and `scale`");
                }}});
    });
  }

  void readFigures(const YAML::Node &node) {
    auto figure = [&](std::string_view name, std::optional<LaunchExpr> &into) {
      return [this, name, &into](const YAML::Node &n) { into = problemExpression(n, name); };
    };
    readMap(node, "'figures'", {{"bytes", figure("bytes", recipe.bytes)}, {"flops", figure("flops", recipe.flops)}});
  }

  void readSpace(const YAML::Node &node) {
    eachKey(node, "'space'", [&](const std::string &name, const YAML::Node &at, const YAML::Node &value) {
      recipe.space.push_back({name, values(value, name)});
      use(Recipe::Use::Kind::Axis, name, at, value, recipe.space.back().values);
    });
  }

  SourceManager &sources;
  Diagnostics &diags;
  FileId file;
  Recipe &recipe;
};

/// The one .tile file of a folder, if it has exactly one.
std::optional<fs::path> onlyTile(const fs::path &folder) {
  std::error_code ec;
  std::optional<fs::path> found;
  for (const auto &entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ".tile") {
      if (found)
        return std::nullopt;
      found = entry.path();
    }
  return found;
}

std::string withoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

} // namespace

Status parseRecipe(FileId file, SourceManager &sources, Diagnostics &diags, Recipe &recipe) {
  size_t before = diags.errorCount();
  std::string name(sources.name(file));
  try {
    Reader(sources, diags, file, recipe).read();
  } catch (const YAML::Exception &e) {
    return usageError("cannot read {}: {}", name, e.what());
  }
  if (size_t n = diags.errorCount() - before)
    return usageError("{} error{} in {}", n, n == 1 ? "" : "s", name);
  return {};
}

std::string rulesId(const Recipe &recipe) {
  std::string text;
  for (const Values &check : recipe.check)
    text += fmt::format("check {}\n", toString(check));
  for (const auto &[array, distribution] : recipe.inputs)
    text += fmt::format("input {} {}\n", array, distribution);
  for (const auto &[array, t] : recipe.tolerance) {
    text += fmt::format("output {}", array);
    for (const auto *bound : {&t.ulp, &t.rel, &t.abs, &t.terms, &t.scale})
      text += fmt::format(" {}", *bound ? tilec::toString(**bound) : "-");
    text += "\n";
  }
  // Figures say which times cannot be, and what the model predicts.
  for (const auto *figure : {&recipe.bytes, &recipe.flops})
    text += fmt::format("figure {}\n", *figure ? tilec::toString(**figure) : "-");
  constexpr size_t enoughDigits = 12;
  return sha256(text).substr(0, enoughDigits);
}

Result<Recipe> loadRecipe(const std::string &given, SourceManager &sources, Diagnostics &diags) {
  Recipe recipe;
  recipe.path = withoutSlash(given);
  fs::path path = recipe.path;
  std::error_code ec;
  recipe.name = path.stem().string();
  if (fs::is_directory(path, ec)) {
    recipe.name = fs::weakly_canonical(path, ec).filename().string();
    if (fs::exists(path / "recipe.yaml", ec))
      path /= "recipe.yaml";
    else if (auto tile = onlyTile(path))
      path = *tile;
    else
      return withHelp(usageError("{} holds no recipe", given),
                      "a recipe is a folder with recipe.yaml or one .tile file");
  }
  if (path.extension() == ".tile") {
    if (!fs::exists(path, ec))
      return usageError("cannot read {}: no such file", path.string());
    recipe.kernelFile = path.string();
    return recipe;
  }
  if (path.extension() != ".yaml" && path.extension() != ".yml") {
    if (!fs::exists(path, ec))
      return usageError("cannot read {}: no such file or folder", given);
    return withHelp(usageError("{} is no recipe", given), "give a folder, a .yaml file or a .tile file");
  }
  TILEC_ASSIGN(FileId file, sources.load(path.string()));
  if (path.filename() == "recipe.yaml" && path.has_parent_path())
    recipe.name = fs::weakly_canonical(path.parent_path(), ec).filename().string();
  TILEC_TRY(parseRecipe(file, sources, diags, recipe));
  return recipe;
}

std::vector<std::string> findRecipes(const std::string &directory) {
  std::set<std::string> found;
  std::error_code ec;
  fs::path root = directory.empty() ? "." : directory;
  auto consider = [&](const fs::path &folder) {
    if (fs::exists(folder / "recipe.yaml", ec))
      found.insert(folder.lexically_normal().string());
  };
  consider(root);
  for (const fs::path &parent : {root, root / "recipes"})
    for (const auto &entry : fs::directory_iterator(parent, ec))
      if (entry.is_directory(ec))
        consider(entry.path());
  return {found.begin(), found.end()};
}

} // namespace tilec::tuner
