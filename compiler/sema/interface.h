#pragma once
// Builds the interface of a kernel: parameters and arrays in interface.cpp, clauses in interface_clauses.cpp.
#include "compiler/sema/launch.h"

namespace tilec::sema {

class InterfaceBuilder {
public:
  InterfaceBuilder(const syntax::File &file, const syntax::KernelDecl &kernel, const SourceManager &sources,
                   Diagnostics &diags)
      : kernel(kernel), sources(sources), diags(diags), lowering(file, sources, diags) {}

  /// Nothing: errors were reported.
  std::optional<KernelInterface> build();

private:
  const syntax::KernelDecl &kernel;
  const SourceManager &sources;
  Diagnostics &diags;
  LaunchLowering lowering;
  KernelInterface result;
  std::map<std::string, Span, std::less<>> declared; ///< names of parameters, arrays, scalars and `let`s

  Diagnostic &report(Diag diag, Span span, std::string message, std::string help = "");
  void declare(const syntax::Ident &name);
  void declareAll();
  void collectSymbols();
  void symbolsIn(const syntax::Expr &e, std::map<std::string, Span> &used);
  void boundBy(const syntax::Expr &e, std::vector<std::string> &bound);
  void params();
  void arguments();
  void array(const syntax::KernelArg &arg);
  void scalar(const syntax::KernelArg &arg);
  std::optional<LaunchExpr> existence(const syntax::Expr &e, const std::string &array);
  std::optional<LaunchExpr> dtypeOf(const syntax::TypeExpr &type, std::optional<DType> &fixed, bool binds);
  std::optional<int64_t> literalInt(const syntax::ExprList &list, std::string_view what);
  void clauses();
  void letClause(const syntax::Clause &clause);
  void addLet(const std::string &name, const LaunchTerm &term);
  void gridClause(const syntax::Clause &clause);
  void optionsClause(const syntax::Clause &clause);
  void hintsClause(const syntax::Clause &clause);
  void tuneClause(const syntax::Clause &clause);
  bool archName(const std::optional<syntax::Ident> &name);
  std::optional<LaunchExpr> hintValue(const HintInfo &hint, const syntax::Expr &e, const Arch *arch);
  std::optional<Domain> hintDomain(const HintInfo &hint, const syntax::Domain &d, const Arch *arch);
};

LaunchKind kindOf(ParamKind kind);

/// Reports names declared twice in a file, and functions that take a built-in's name.
void checkDeclarations(const syntax::File &file, Diagnostics &diags);

} // namespace tilec::sema
