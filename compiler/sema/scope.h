#pragma once
// Names while checking. Values and functions have separate namespaces.
#include "compiler/sema/value.h"
#include "compiler/syntax/ast.h"
#include <memory>

namespace tilec::sema {

enum class NameKind : uint8_t { Let, Var, Param, Array, Scalar, Symbol, LoopVar, Const };

/// Whether a variable has a value on the way to this point.
enum class Assigned : uint8_t { No, Maybe, Yes };

struct Binding {
  std::string name;
  NameKind kind = NameKind::Let;
  Span span;
  Value value;
  Assigned assigned = Assigned::Yes;
  // Of variables:
  bool hasType = false; ///< `value` has shown dtype and shape once, assigned or not
  Span typeSpan;        ///< what gave the variable its dtype and shape
  Span gap;             ///< Maybe: the branch or loop that may leave it without a value
  const Origin *origin = nullptr;
  // Of arrays:
  const syntax::Expr *existsIf = nullptr; ///< the condition under which it exists
  bool absent = false;                    ///< which is false here
  bool isVar() const { return kind == NameKind::Var; }
};

/// The names of one block. Scopes form a tree by `parent`; a function stands in the scope that declares it.
struct Scope {
  Scope *parent = nullptr;
  int function = 0; ///< nesting of calls: a variable of another function cannot be assigned
  std::vector<std::unique_ptr<Binding>> names;
  struct LocalFn {
    const syntax::FnDecl *decl;
  };
  std::vector<LocalFn> fns;

  /// The newest binding of a name in this block alone.
  Binding *findHere(std::string_view name) {
    for (size_t i = names.size(); i-- > 0;)
      if (names[i]->name == name)
        return names[i].get();
    return nullptr;
  }
  /// The binding seen from here, and the scope that holds it.
  std::pair<Binding *, Scope *> find(std::string_view name) {
    for (Scope *scope = this; scope; scope = scope->parent)
      if (Binding *binding = scope->findHere(name))
        return {binding, scope};
    return {nullptr, nullptr};
  }
};

} // namespace tilec::sema
