// From a file to a checked program, and the launch plan that is known before anything is compiled.
#include "compiler/base/hash.h"
#include "compiler/base/text.h"
#include "compiler/driver/driver.h"
#include "compiler/syntax/imports.h"
#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"

namespace tilec::driver {

static void parseInto(Source &source) {
  source.ast = syntax::parse(source.file, source.sources, source.diags);
  syntax::loadImports(*source.ast, source.sources, source.diags);
  std::vector<const syntax::File *> files = syntax::filesOf(*source.ast);
  std::string hashes;
  for (const syntax::File *file : files)
    hashes += sha256(source.sources.text(file->id));
  source.hash = files.size() == 1 ? hashes : sha256(hashes);
}

Result<std::unique_ptr<Source>> openSource(const std::string &path) {
  auto source = std::make_unique<Source>();
  source->path = path;
  TILEC_ASSIGN(source->file, source->sources.load(path));
  parseInto(*source);
  return source;
}

std::unique_ptr<Source> sourceFromText(std::string name, std::string text) {
  auto source = std::make_unique<Source>();
  source->path = name;
  source->file = source->sources.add(std::move(name), std::move(text));
  parseInto(*source);
  return source;
}

std::string dumpSource(Source &source, Stage stage) {
  // Reading the tokens again reports the same faults again; reports are kept once.
  return stage == Stage::tokens ? syntax::dumpTokens(source.file, source.sources, source.diags)
                                : syntax::dumpAst(*source.ast, source.sources);
}

/// The error that stands for diagnostics already reported.
static std::unexpected<Error> reported(const Source &source) {
  size_t n = source.diags.errorCount();
  return programError("{} error{} in {}", n, n == 1 ? "" : "s", source.path);
}

Result<sema::KernelInterface> describe(Source &source, std::string_view kernel) {
  if (source.diags.hasErrors())
    return reported(source);
  std::vector<std::string> names = sema::kernelNames(*source.ast);
  if (names.empty())
    return withHelp(usageError("{} has no kernel", source.path), "write `kernel NAME(…) { … }`");
  if (kernel.empty() && names.size() > 1)
    return withHelp(usageError("{} has several kernels", source.path),
                    fmt::format("name one with --kernel: {}", join(names, ", ")));
  if (!kernel.empty() && std::ranges::find(names, kernel) == names.end())
    return withHelp(usageError("{} has no kernel '{}'", source.path, kernel), suggest(kernel, names));
  auto interface = sema::describe(*source.ast, kernel, source.sources, source.diags);
  if (!interface)
    return reported(source);
  return std::move(*interface);
}

Result<sema::Program> instantiate(Source &source, const sema::KernelInterface &interface,
                                  const sema::Bindings &bindings) {
  auto program = sema::instantiate(*source.ast, interface, bindings, source.sources, source.diags);
  if (!program)
    return reported(source);
  return std::move(*program);
}

Artifact plan(const Source &source, const sema::Program &program) {
  Artifact a;
  a.name = program.name;
  a.doc = program.doc;
  a.arch = program.arch ? std::string(program.arch->compiledAs) : "";
  a.arrays = program.arrays;
  a.scalars = program.scalars;
  a.symbols = program.symbols;
  a.folded = program.folded;
  a.lets = program.lets;
  a.requirements = program.requirements;
  a.provenance = {.file = source.path,
                  .kernel = program.name,
                  .sourceHash = source.hash,
                  .irHash = "",
                  .toolVersion = std::string(toolVersion()),
                  .assembler = "",
                  .parameters = program.parameters};

  LaunchSpec launch;
  launch.entry = program.name;
  launch.grid = program.grid;
  launch.index64 = program.index64;
  launch.hints = program.hints;
  for (const sema::Site &site : program.sites) {
    LineColumn at = source.sources.position(site.span.file, site.span.begin);
    launch.sites.push_back({.name = site.name,
                            .array = site.array,
                            .place = fmt::format("{}:{}:{}", source.sources.name(site.span.file), at.line, at.column),
                            .hints = site.hints});
  }
  a.launches.push_back(std::move(launch));
  return a;
}

} // namespace tilec::driver
