#include "cli/commands.h"
#include "compiler/artifact/artifact.h"
#include "compiler/base/hash.h"
#include "compiler/base/text.h"

namespace tilec::cli {
namespace {

std::string list(const std::vector<LaunchExpr> &exprs) {
  std::vector<std::string> parts;
  for (const LaunchExpr &e : exprs)
    parts.push_back(toString(e));
  return join(parts, ", ");
}

std::string describe(const LaunchParam &p) {
  switch (p.kind) {
  case ParamKind::ArrayBase:
    return fmt::format("base of {}", p.array);
  case ParamKind::Value:
    return fmt::format("{} {}", name(p.dtype), toString(p.value));
  case ParamKind::TensorMap:
    return fmt::format("tensor map of {}", p.map ? p.map->array : "?");
  case ParamKind::Scratch:
    return fmt::format("scratch {}", p.array);
  default:
    return std::string(name(p.kind));
  }
}

std::string text(const Artifact &a, const Terminal &t) {
  std::string s;
  auto row = [&](std::string_view label, std::string_view value) {
    if (!value.empty())
      s += fmt::format("  {:<14}{}\n", label, value);
  };
  s += fmt::format("{} for {}\n", t.styled(Style::Bold, a.name), a.arch);
  std::string_view label = "doc";
  for (const std::string &line : split(trim(a.doc), '\n')) {
    row(label, trim(line));
    label = "";
  }
  row("source", a.provenance.file);
  std::vector<std::string> parts;
  for (const auto &[name, value] : a.provenance.parameters)
    parts.push_back(fmt::format("{} = {}", name, toString(value)));
  row("parameters", join(parts, ", "));
  for (const ArraySpec &array : a.arrays)
    row("array",
        fmt::format("{}: {} {}[{}]{}, aligned to {} bytes", array.name, name(array.mode), name(array.dtype),
                    list(array.extents), array.strides.empty() ? "" : fmt::format(" strides ({})", list(array.strides)),
                    array.align));
  for (const ScalarSpec &scalar : a.scalars)
    row("scalar", fmt::format("{}: {}", scalar.name, name(scalar.dtype)));
  for (const auto &[symbol, value] : a.folded)
    row("folded", fmt::format("{} = {}", symbol, value));
  for (const auto &[name, value] : a.lets)
    row("let", fmt::format("{} = {}", name, toString(value)));
  for (const Condition &c : a.requirements)
    row("requires", c.text);
  for (const LaunchSpec &l : a.launches) {
    s += fmt::format("launch {}\n", t.styled(Style::Bold, l.entry));
    row("grid", list({l.grid.begin(), l.grid.end()}));
    row("threads", fmt::format("{}", l.threads));
    parts.clear();
    for (const LaunchParam &p : l.params)
      parts.push_back(describe(p));
    row("passes", join(parts, ", "));
    parts.clear();
    for (const auto &[name, value] : l.hints)
      parts.push_back(fmt::format("{} = {}", name, value));
    row("hints", join(parts, ", "));
    const Resources &r = l.resources;
    row("registers", fmt::format("{} a thread", r.registers));
    row("shared memory", fmt::format("{} bytes static, {} dynamic", r.staticSharedBytes, l.dynamicSharedBytes));
    row("spills",
        fmt::format("{} bytes stored, {} loaded, {} of stack", r.spillStoreBytes, r.spillLoadBytes, r.stackBytes));
    row("code", fmt::format("{} bytes", r.codeBytes));
    for (const std::string &w : r.warnings)
      row("warning", w);
    for (const SiteSpec &site : l.sites) {
      parts.clear();
      for (const auto &[name, value] : site.hints)
        parts.push_back(fmt::format("{} = {}", name, value));
      row("site", fmt::format("{} at {}{}{}", site.name, site.place, parts.empty() ? "" : ": ", join(parts, ", ")));
    }
  }
  s += "made by\n";
  row("tilec", a.provenance.toolVersion);
  row("assembler", a.provenance.assembler);
  row("source hash", a.provenance.sourceHash);
  row("IR hash", a.provenance.irHash);
  for (const std::string &b : a.binaries)
    row("cubin", fmt::format("{} bytes, sha256 {}", groupDigits(b.size()), sha256(b)));
  return s;
}

class Inspect : public Command {
  std::string path;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"FILE", "", "a .cubin with its .cubin.json beside it, or the .json", &path});
  }

  Result<int> run(Context &context) override {
    if (path.empty())
      return withHelp(usageError("no file given"), "`tilec inspect vector_add.sm_90.cubin`");
    if (!path.ends_with(".json") && !path.ends_with(".cubin"))
      return withHelp(usageError("'{}' is no compiled artifact", path),
                      path.ends_with(".tile") ? fmt::format("`tilec build {}` makes one", shellQuote(path))
                                              : "give a .cubin, or the .cubin.json beside it");
    std::string file = path.ends_with(".json") ? path.substr(0, path.size() - 5) : path;
    TILEC_ASSIGN(Artifact artifact, readArtifact(file));
    context.out.print(context.json ? toText(toJson(artifact)) + "\n" : text(artifact, context.out));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeInspect() { return std::make_unique<Inspect>(); }

} // namespace tilec::cli
