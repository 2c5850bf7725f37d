#pragma once
// Checks source text in tests and gives what came of it as lines.
#include "compiler/base/text.h"
#include "compiler/sema/check.h"
#include "compiler/syntax/imports.h"
#include "compiler/syntax/parser.h"
#include <fmt/format.h>

namespace tilec::sema {

/// What `tilec check` or `tilec build` would do with a text. Options: -DNAME=VALUE, -HHINT=VALUE, -aARCH, -kKERNEL.
struct Checked {
  SourceManager sources;
  Diagnostics diags;
  std::optional<KernelInterface> interface;
  std::optional<Program> program;

  explicit Checked(std::string text, const std::vector<std::string> &options = {}) {
    FileId id = sources.add("test.tile", std::move(text));
    auto file = syntax::parse(id, sources, diags);
    syntax::loadImports(*file, sources, diags);
    Bindings bindings;
    std::string kernel;
    for (const std::string &option : options)
      read(option, bindings, kernel);
    if (diags.hasErrors())
      return;
    interface = describe(*file, kernel, sources, diags);
    if (interface)
      program = instantiate(*file, *interface, bindings, sources, diags);
  }

  /// One line a diagnostic, ordered by place: `E0201 3:13 there is no name 'x' here`; `-` for one of no place.
  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const Json &item : toJson(diags, sources)) {
      std::string place =
          item.contains("line") ? fmt::format("{}:{}", item["line"].get<int>(), item["column"].get<int>()) : "-";
      result.push_back(
          fmt::format("{} {} {}", item["code"].get<std::string>(), place, item["message"].get<std::string>()));
    }
    return result;
  }
  std::string rendered() const { return render(diags, sources, false); }

private:
  static void read(const std::string &option, Bindings &bindings, std::string &kernel) {
    std::string rest = option.substr(2);
    size_t equals = rest.find('=');
    std::string name = rest.substr(0, equals), value = equals == std::string::npos ? "" : rest.substr(equals + 1);
    if (option[1] == 'k')
      kernel = rest;
    else if (option[1] == 'a')
      bindings.arch = findArch(rest);
    else if (option[1] == 'H')
      bindings.hints[name] = std::stoll(value);
    else if (auto dtype = parseDType(value))
      bindings.defines[name] = *dtype;
    else if (value == "true" || value == "false")
      bindings.defines[name] = value == "true";
    else if (value.find('.') != std::string::npos)
      bindings.defines[name] = std::stod(value);
    else
      bindings.defines[name] = int64_t(std::stoll(value));
  }
};

} // namespace tilec::sema
