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
    bool failed = false;
    size_t kernels = 0;
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
      if (context.json)
        for (const Json &d : toJson(source->diags, source->sources))
          all.push_back(d);
      else
        printDiagnostics(context, *source);
      failed |= source->diags.hasErrors();
    }
    if (context.json)
      context.out.print(Json{{"schema", "tilec.diagnostics.1"}, {"diagnostics", all}}.dump(2) + "\n");
    else if (!failed)
      context.err.print(fmt::format("{} kernel{} checked, no errors\n", kernels, kernels == 1 ? "" : "s"));
    return failed ? exitCode(ErrorKind::Program) : 0;
  }
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace tilec::cli
