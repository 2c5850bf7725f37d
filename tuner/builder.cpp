#include "tuner/builder.h"
#include "compiler/target/target.h"

namespace tilec::tuner {
namespace {

class DriverBuilder final : public Builder {
public:
  DriverBuilder(std::shared_ptr<driver::Source> source, sema::KernelInterface kernel, double timeout)
      : source(std::move(source)), kernel(std::move(kernel)), timeout(timeout) {}

  const sema::KernelInterface &interface() const override { return kernel; }
  std::string file() const override { return source->path; }
  std::string tool() const override { return std::string(driver::toolVersion()); }
  Result<std::string> assembler() const override { return driver::assemblerVersion(); }

  Result<Prepared> prepare(const Configuration &c, const Values &problem, const Arch &arch) override {
    sema::Bindings bindings;
    bindings.arch = &arch;
    bindings.specialize = true;
    bindings.hints = c.hints;
    bindings.defines = c.parameters;
    // A problem may also fix parameters (dtypes above all); what is left are its extents and scalars.
    for (const auto &[name, value] : problem) {
      bool parameter = std::ranges::find(kernel.params, name, &sema::ParamDecl::name) != kernel.params.end();
      (parameter ? bindings.defines : bindings.problem)[name] = value;
    }
    auto program = driver::instantiate(*source, kernel, bindings);
    if (!program) {
      auto refusal = firstError(program.error());
      TILEC_TRY(renew());
      return refusal;
    }
    TILEC_ASSIGN(std::string hash, driver::irHash(*source, *program));
    return Prepared{source, std::make_shared<const sema::Program>(std::move(*program)), std::move(hash)};
  }

  Result<Artifact> compile(const Prepared &prepared) override {
    driver::CompileOptions options;
    options.timeoutSeconds = timeout;
    TILEC_ASSIGN(driver::Compilation done, driver::compileIsolated(*prepared.source, *prepared.program, options));
    return std::move(done.artifact);
  }

private:
  std::unexpected<Error> firstError(Error error) const {
    for (const Diagnostic &d : source->diags.all())
      if (info(d.diag).severity == Severity::Error) {
        LineColumn at = source->sources.position(d.span.file, d.span.begin);
        error.message = fmt::format("{}:{}:{}: {}", source->sources.name(d.span.file), at.line, at.column, d.message);
        error.help = d.help;
        break;
      }
    return std::unexpected(std::move(error));
  }

  /// Diagnostics stay with a source for good, so the next configuration starts from a fresh one of the same text.
  Status renew() {
    std::shared_ptr<driver::Source> fresh =
        driver::sourceFromText(source->path, std::string(source->sources.text(source->file)));
    TILEC_ASSIGN(kernel, driver::describe(*fresh, kernel.name));
    source = std::move(fresh);
    return {};
  }

  std::shared_ptr<driver::Source> source;
  sema::KernelInterface kernel;
  double timeout;
};

} // namespace

Result<std::unique_ptr<Builder>> openBuilder(const std::string &file, std::string_view kernel,
                                             double compileTimeoutSeconds) {
  TILEC_ASSIGN(std::shared_ptr<driver::Source> source, driver::openSource(file));
  auto interface = driver::describe(*source, kernel);
  if (!interface) {
    Error error = std::move(interface).error();
    if (source->diags.hasErrors())
      error.detail = render(source->diags, source->sources, false);
    return std::unexpected(std::move(error));
  }
  return std::make_unique<DriverBuilder>(std::move(source), std::move(*interface), compileTimeoutSeconds);
}

} // namespace tilec::tuner
