#include "cli/commands.h"
#include "cli/kernel_options.h"

namespace tilec::cli {
namespace {

class Check : public Command {
  std::vector<std::string> paths;
  KernelOptions kernelOptions;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"PATH", "", ".tile files, recipes, or nothing: the recipes of this folder", &paths});
    kernelOptions.addRows(rows);
  }

  Result<int> run(Context &context) override {
    TILEC_ASSIGN(std::vector<Target> targets, resolveTargets(context, paths));
    const Arch *arch = nullptr;
    if (!kernelOptions.arch.empty()) {
      TILEC_ASSIGN(arch, pickArch(kernelOptions.arch));
    }
    TILEC_ASSIGN(auto defines, parseDefines(kernelOptions.defines));
    TILEC_ASSIGN(auto hints, parseHints(kernelOptions.hints));
    bool failed = false, recipeFailed = false;
    size_t kernels = 0, leftOut = 0;
    Json all = Json::array();
    for (const Target &target : targets) {
      TILEC_ASSIGN(auto source, driver::openSource(target.path));
      if (!source->diags.hasErrors()) {
        std::string name = kernelOptions.kernel.empty() ? target.kernel : kernelOptions.kernel;
        // With values for one kernel that kernel is checked; otherwise the whole file.
        if (defines.empty() && hints.empty() && name.empty()) {
          sema::checkFile(*source->ast, source->sources, arch, source->diags);
          kernels += sema::kernelNames(*source->ast).size();
        } else {
          Result<sema::KernelInterface> interface = driver::describe(*source, name);
          if (interface) {
            TILEC_ASSIGN(SortedDefines sorted, sortDefines(*interface, defines));
            sema::Bindings bindings{sorted.parameters, sorted.problem, hints, arch};
            (void)driver::instantiate(*source, *interface, bindings);
          } else if (!source->diags.hasErrors()) {
            return std::unexpected(interface.error());
          }
          ++kernels;
        }
      }
      if (!source->diags.hasErrors() && target.recipe) {
        TILEC_ASSIGN(bool good, checkRecipe(context, *source, target, all));
        recipeFailed |= !good;
      }
      leftOut += source->diags.leftOut();
      if (context.json)
        for (const Json &d : toJson(source->diags, source->sources))
          all.push_back(d);
      else
        context.err.print(render(source->diags, source->sources, context.err.color()));
      failed |= source->diags.hasErrors();
    }
    if (context.json)
      context.out.print(toText(Json{{"schema", "tilec.diagnostics.1"}, {"diagnostics", all}, {"left_out", leftOut}}) +
                        "\n");
    else if (!failed && !recipeFailed)
      context.err.print(fmt::format("{} kernel{} checked, no errors\n", kernels, kernels == 1 ? "" : "s"));
    return failed ? exitCode(ErrorKind::Program) : recipeFailed ? exitCode(ErrorKind::Usage) : 0;
  }

private:
  /// Holds a recipe against its kernel; whether it has no faults. Those are configuration, not program.
  static Result<bool> checkRecipe(Context &context, driver::Source &source, const Target &target, Json &all) {
    Result<sema::KernelInterface> interface = driver::describe(source, target.kernel);
    if (!interface)
      return source.diags.hasErrors() ? Result<bool>(true) : std::unexpected(interface.error());
    Diagnostics diags;
    bool good = tuner::checkRecipe(*target.recipe, *interface, diags).has_value();
    if (!context.json)
      context.err.print(render(diags, *target.recipeText, context.err.color()));
    else
      for (const Json &d : toJson(diags, *target.recipeText))
        all.push_back(d);
    return good;
  }
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace tilec::cli
