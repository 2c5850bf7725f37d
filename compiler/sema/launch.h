#pragma once
// Syntax trees of clauses, extents, defaults and domains to launch expressions.
#include "compiler/sema/checker.h"

namespace tilec::sema {

/// What a launch expression gives; Unknown where a dtype parameter decides.
enum class LaunchKind : uint8_t { Int, Float, Bool, DType, Unknown };

/// A launch expression with its kind, or a tuple of them.
struct LaunchTerm {
  LaunchExpr expr;
  LaunchKind kind = LaunchKind::Unknown;
  std::vector<LaunchTerm> elements;
  bool isTuple = false;
  bool failed = false; ///< an error was reported
};

class LaunchLowering {
public:
  LaunchLowering(const syntax::File &file, const SourceManager &sources, Diagnostics &diags)
      : files(file), constants(file, sources, diags), diags(diags) {}

  std::map<std::string, LaunchTerm, std::less<>> names; ///< what an expression may use
  std::map<std::string, Span, std::less<>> laterParams; ///< parameters declared further on, for messages
  bool deviceFacts = false;                             ///< num_sms() and resident_blocks() are allowed

  LaunchTerm lower(const syntax::Expr &e);
  /// One value of a kind (an integer serves as a float). Nothing: reported.
  std::optional<LaunchExpr> lowerAs(const syntax::Expr &e, LaunchKind kind, std::string_view what);
  std::optional<Domain> domain(const syntax::Domain &d, LaunchKind kind);
  /// Binds the names of a pattern; tuples bound to one name become `name.0`, `name.1`. `out` gets what was bound.
  void bind(const syntax::Pattern &pattern, const LaunchTerm &term, Span span,
            std::vector<std::pair<std::string, LaunchTerm>> &out);
  Diagnostic &report(Diag diag, Span span, std::string message, std::string help = "");

  const FileNames files;

private:
  Checker constants;
  Diagnostics &diags;
  int depth = 0;
  int inlined = 0; ///< calls of functions so far

  LaunchTerm failed();
  LaunchTerm name(const syntax::NameExpr &e);
  LaunchTerm binary(const syntax::BinaryExpr &e);
  LaunchTerm binaryLink(const syntax::BinaryExpr &e, LaunchTerm a);
  LaunchTerm unary(const syntax::UnaryExpr &e);
  LaunchTerm call(const syntax::CallExpr &e);
  LaunchTerm byArch(const syntax::CallExpr &e);
  LaunchTerm callFn(const syntax::FnDecl &fn, const syntax::CallExpr &e);
  LaunchTerm branch(const syntax::IfExpr &e);
  LaunchTerm member(const syntax::MemberExpr &e);
  LaunchTerm statements(const syntax::Block &block);
  LaunchTerm refuse(Span span, std::string_view what);
};

/// A compile-time value as a launch expression.
std::optional<LaunchTerm> termOf(const Value &value);
std::string_view kindName(LaunchKind kind);

} // namespace tilec::sema
