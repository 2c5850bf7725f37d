#pragma once
// One instantiation of a kernel.
#include "compiler/sema/checker.h"

namespace tilec::sema {

class Instantiation {
public:
  Instantiation(const syntax::File &file, const KernelInterface &interface, const Bindings &bindings,
                const SourceManager &sources, Diagnostics &diags);
  std::optional<Program> run();

  bool checking = false; ///< parameters without a default take the first value of their domain

private:
  const syntax::File &file;
  const KernelInterface &interface;
  const Bindings &bindings;
  Diagnostics &diags;
  Checker checker;
  Program &program;
  LaunchEnv env; ///< parameters, and what is known of the problem

  Diagnostic &report(Diag diag, Span span, std::string message, std::string help = "");
  void checkDefines();
  std::optional<LaunchValue> defaultOf(const ParamDecl &param);
  void derived(const ParamDecl &param, const LaunchValue &value);
  bool parameters();
  bool arrays();
  bool requirements();
  bool hints();
  void letDTypes();
  void specialize(); // specialize.cpp
};

} // namespace tilec::sema
