#include "cli/kernel_options.h"
#include "compiler/base/text.h"
#include "runtime/device.h"
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace tilec::cli {

namespace fs = std::filesystem;

void KernelOptions::addRows(std::vector<OptionRow> &rows) {
  rows.push_back({"--kernel", "NAME", "the kernel, where a file has several", &kernel});
  rows.push_back({"-D,--define", "NAME=VALUE",
                  "give a parameter, extent or scalar a value; several with commas (repeatable)", &defines});
  rows.push_back({"--hint", "NAME=VALUE", "set a hint: occupancy=2, a.load.latency=4 (repeatable)", &hints});
  rows.push_back({"--arch", "ARCH", "architecture, such as sm_90; the first GPU's by default", &arch});
}

static Result<Target> fromRecipe(Context &context, const std::string &path) {
  auto sources = std::make_shared<SourceManager>();
  Diagnostics diags;
  auto recipe = tuner::loadRecipe(path, *sources, diags);
  context.err.print(render(diags, *sources, context.err.color()));
  if (!recipe)
    return std::unexpected(recipe.error());
  if (diags.hasErrors())
    return usageError("recipe '{}' has errors", path);
  Target t{recipe->kernelFile, recipe->kernel, std::nullopt, std::move(sources)};
  t.recipe = std::move(*recipe);
  return t;
}

/// Refuses files that are no programs by name or by their first bytes, before the lexer makes noise of them.
static Status requireProgram(const std::string &path) {
  constexpr std::string_view help = "a program of the tile language is a .tile file";
  const driver::StageInfo *stage = driver::stageOfFile(path);
  if (!stage && path.ends_with(".json"))
    return withHelp(usageError("'{}' is JSON, not a program", path), std::string(help));
  if (stage)
    return withHelp(usageError("'{}' holds the stage {} of a compiled kernel, not a program", path, stage->name),
                    stage->isInput                         ? "`tilec build` goes on from it"
                    : stage->stage == driver::Stage::cubin ? "`tilec inspect` describes it"
                                                           : std::string(help));
  if (path == "-")
    return {};
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> head{};
  file.read(head.data(), head.size());
  if (std::string_view(head.data(), size_t(file.gcount())).find('\0') != std::string_view::npos)
    return withHelp(usageError("'{}' is a binary file, not a program", path), std::string(help));
  return {};
}

/// The recipes in a folder; a folder of one recipe is that recipe.
static Status addFolder(Context &context, const std::string &folder, std::vector<Target> &targets) {
  for (const std::string &found : tuner::findRecipes(folder)) {
    TILEC_ASSIGN(Target t, fromRecipe(context, found));
    targets.push_back(std::move(t));
  }
  return {};
}

Result<std::vector<Target>> resolveTargets(Context &context, const std::vector<std::string> &paths) {
  std::vector<Target> targets;
  if (paths.empty()) {
    TILEC_TRY(addFolder(context, ".", targets));
    if (targets.empty())
      return withHelp(usageError("no path given, and no recipe in this folder"),
                      "name a .tile file, or a folder with a recipe.yaml");
  }
  for (const std::string &path : paths) {
    std::error_code ec;
    if (path != "-" && !fs::exists(path, ec))
      return usageError("no file or folder '{}'", path);
    if (fs::is_directory(path, ec)) {
      size_t before = targets.size();
      TILEC_TRY(addFolder(context, path, targets));
      if (targets.size() == before)
        return withHelp(usageError("'{}' holds no recipe", path), "a recipe is a folder with a recipe.yaml");
    } else if (path.ends_with(".yaml") || path.ends_with(".yml")) {
      TILEC_ASSIGN(Target t, fromRecipe(context, path));
      targets.push_back(std::move(t));
    } else {
      TILEC_TRY(requireProgram(path));
      targets.push_back({path, "", std::nullopt, nullptr});
    }
  }
  return targets;
}

Result<Target> resolveTarget(Context &context, const std::string &path, const std::string &kernel) {
  TILEC_ASSIGN(std::vector<Target> targets,
               resolveTargets(context, path.empty() ? std::vector<std::string>{} : std::vector<std::string>{path}));
  if (targets.size() > 1) {
    std::vector<std::string> names;
    for (const Target &t : targets)
      names.push_back(t.recipe ? t.recipe->path : t.path);
    return withHelp(usageError("this command works on one kernel, and there are {}", targets.size()),
                    fmt::format("name one: {}", join(names, ", ")));
  }
  Target target = std::move(targets.front());
  if (!kernel.empty())
    target.kernel = kernel;
  return target;
}

Result<tuner::Recipe> recipeOf(const Target &target) {
  tuner::Recipe recipe;
  if (target.recipe) {
    recipe = *target.recipe;
  } else {
    SourceManager sources;
    Diagnostics diags;
    TILEC_ASSIGN(recipe, tuner::loadRecipe(target.path, sources, diags));
  }
  if (!target.kernel.empty())
    recipe.kernel = target.kernel;
  return recipe;
}

Result<tuner::Values> parseDefines(const std::vector<std::string> &defines) {
  tuner::Values values;
  for (const std::string &d : defines) {
    if (trim(d).empty())
      continue;
    TILEC_ASSIGN(tuner::Values parsed, tuner::parseValues(d));
    for (auto &[name, value] : parsed)
      if (auto [at, fresh] = values.emplace(name, value); !fresh && at->second != value)
        return usageError("{} is defined twice, as {} and {}", name, toString(at->second), toString(value));
  }
  return values;
}

Result<std::map<std::string, int64_t>> parseHints(const std::vector<std::string> &hints) {
  std::map<std::string, int64_t> values;
  for (const std::string &h : hints)
    for (const std::string &part : split(h, ',')) {
      size_t eq = part.find('=');
      auto value = tuner::parseValue(eq == std::string::npos ? "" : trim(std::string_view(part).substr(eq + 1)));
      if (!value || eq == 0)
        return withHelp(usageError("'{}' is no hint", part), "write NAME=VALUE, such as occupancy=2");
      if (const bool *b = std::get_if<bool>(&*value))
        values[std::string(trim(part.substr(0, eq)))] = *b;
      else if (const int64_t *i = std::get_if<int64_t>(&*value))
        values[std::string(trim(part.substr(0, eq)))] = *i;
      else
        return usageError("hint '{}' takes an integer, true or false", part);
    }
  return values;
}

Result<const Arch *> pickArch(const std::string &name) {
  std::vector<std::string> known;
  for (const Arch &a : allArchs())
    known.emplace_back(a.name);
  if (name.empty()) {
    auto devices = runtime::listDevices();
    if (devices && !devices->empty()) {
      const runtime::DeviceFacts &d = devices->front();
      if (const Arch *arch = archForCapability(d.major, d.minor))
        return arch;
      return usageError("tilec does not know the architecture of '{}' (capability {}.{})", d.name, d.major, d.minor);
    }
    return withHelp(usageError("no --arch given, and no GPU to take it from"),
                    fmt::format("give --arch: {}", join(known, ", ")));
  }
  return requireArch(name);
}

Result<SortedDefines> sortDefines(const sema::KernelInterface &interface, const tuner::Values &defines) {
  SortedDefines sorted;
  for (const auto &[name, value] : defines) {
    bool parameter = std::ranges::find(interface.params, name, &sema::ParamDecl::name) != interface.params.end();
    if (!parameter)
      TILEC_TRY(tuner::checkValue(name, value, defines, interface));
    (parameter ? sorted.parameters : sorted.problem).emplace(name, value);
  }
  return sorted;
}

Status keepInputs(const std::string &output, const std::vector<std::string> &inputs) {
  std::error_code ignored;
  for (const std::string &input : inputs)
    if (output != "-" && fs::equivalent(output, input, ignored))
      return withHelp(usageError("'{}' is read by this command and would be overwritten", output),
                      "name another file to write to");
  return {};
}

bool printDiagnostics(Context &context, const driver::Source &source) {
  if (context.json && source.diags.hasErrors())
    context.out.print(toText(Json{{"schema", "tilec.diagnostics.1"},
                                  {"diagnostics", toJson(source.diags, source.sources)},
                                  {"left_out", source.diags.leftOut()}}) +
                      "\n");
  else
    context.err.print(render(source.diags, source.sources, context.err.color()));
  return source.diags.hasErrors();
}

} // namespace tilec::cli
