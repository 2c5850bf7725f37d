// A whole file: every kernel with its defaults, and functions that no kernel reaches by their names alone.
#include "compiler/base/text.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/instantiate.h"
#include "compiler/sema/interface.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {
namespace {

using namespace syntax; // NOLINT: this part is about the syntax tree

/// Functions of the file that are called from a place, through others.
void reach(const FileNames &names, const syntax::Block &block, std::set<const FnDecl *> &reached) {
  Walker walker;
  walker.onStmt = [&](const Stmt &stmt) {
    if (auto *inner = dynAs<FnStmt>(&stmt))
      reach(names, *inner->fn->body, reached);
    return true;
  };
  walker.onExpr = [&](const Expr &expr) {
    auto *call = dynAs<CallExpr>(&expr);
    auto it = call && !call->receiver ? names.fns.find(call->callee.text) : names.fns.end();
    if (it != names.fns.end() && reached.insert(it->second).second)
      reach(names, *it->second->body, reached);
    return true;
  };
  walker.walk(block);
}

/// What can be said of a function without arguments: whether every name in it means something.
class NameCheck {
public:
  NameCheck(const FileNames &names, Diagnostics &diags) : names(names), diags(diags) {
    for (const auto &[name, decl] : names.consts)
      values.push_back(name);
  }

  void check(const FnDecl &fn) {
    size_t outer = values.size();
    for (const CParam &param : fn.cparams)
      values.push_back(param.name.text);
    for (const FnParam &param : fn.params) {
      if (param.type)
        annotation(*param.type);
      values.push_back(param.name.text);
    }
    block(*fn.body);
    values.resize(outer);
  }

  void checkKernel(const KernelDecl &kernel, const KernelInterface &interface) {
    size_t outer = values.size();
    values.insert(values.end(), interface.symbols.begin(), interface.symbols.end());
    for (const CParam &param : kernel.cparams)
      values.push_back(param.name.text);
    for (const KernelArg &arg : kernel.args)
      values.push_back(arg.name.text);
    for (const Clause &clause : kernel.clauses)
      if (clause.kind == ClauseKind::Let)
        pattern(clause.pattern);
    block(*kernel.body);
    values.resize(outer);
  }

private:
  const FileNames &names;
  Diagnostics &diags;
  std::vector<std::string> values, fns;

  bool knows(const std::string &name) const { return std::ranges::find(values, name) != values.end(); }

  void annotation(const TypeExpr &type) {
    for (const TypeExpr &element : type.elements)
      annotation(element);
    if (!type.dtype && !type.name.text.empty())
      values.push_back(type.name.text);
    for (const ExprPtr &extent : type.extents)
      if (auto *name = dynAs<NameExpr>(extent))
        values.push_back(name->name);
  }

  void pattern(const Pattern &p) {
    if (!p.isTuple())
      values.push_back(p.name);
    for (const Pattern &element : p.elements)
      pattern(element);
  }

  void block(const syntax::Block &b) {
    size_t outerValues = values.size(), outerFns = fns.size();
    for (const StmtPtr &stmt : b.stmts)
      statement(*stmt);
    values.resize(outerValues);
    fns.resize(outerFns);
  }

  void statement(const Stmt &stmt) {
    if (auto *bind = dynAs<BindStmt>(&stmt)) {
      expr(bind->value.get());
      pattern(bind->pattern);
    } else if (auto *assign = dynAs<AssignStmt>(&stmt)) {
      expr(assign->value.get());
      for (const Ident &place : assign->places)
        name(place.text, place.span);
    } else if (auto *result = dynAs<ReturnStmt>(&stmt)) {
      expr(result->value.get());
    } else if (auto *fn = dynAs<FnStmt>(&stmt)) {
      fns.push_back(fn->fn->name.text);
      check(*fn->fn);
    } else if (auto *loop = dynAs<ForStmt>(&stmt)) {
      expr(loop->lo.get());
      expr(loop->hi.get());
      values.push_back(loop->var.text);
      block(*loop->body);
      values.pop_back();
    } else if (auto *loop = dynAs<WhileStmt>(&stmt)) {
      expr(loop->condition.get());
      block(*loop->body);
    } else if (auto *value = dynAs<ExprStmt>(&stmt)) {
      expr(value->expr.get());
    }
  }

  void name(const std::string &text, Span span) {
    if (text == "_" || knows(text) || names.hasImports)
      return;
    bool isFn = names.fns.contains(text) || findBuiltin(text) >= 0;
    diags
        .report(Diag::UnknownName, span,
                isFn ? fmt::format("'{}' is a function, not a value", text)
                     : fmt::format("there is no name '{}' here", text))
        .help = isFn              ? fmt::format("call it, as in '{}(…)'", text)
                : diags.crowded() ? ""
                                  : mendName(text, values);
  }

  void call(const CallExpr &e) {
    auto *word = dynAs<NameExpr>(e.receiver);
    if (!(word && word->name == "target" && !knows("target")))
      expr(e.receiver.get());
    else
      return;
    for (const ExprPtr &arg : e.constArgs)
      expr(arg.get());
    const std::string &callee = e.callee.text;
    bool known = e.receiver || names.fns.contains(callee) || std::ranges::find(fns, callee) != fns.end() ||
                 findBuiltin(callee) >= 0;
    if (!known && !names.hasImports) {
      std::vector<std::string> all = diags.crowded() ? std::vector<std::string>() : fns;
      if (!diags.crowded())
        for (const auto &[text, decl] : names.fns)
          all.push_back(text);
      for (const BuiltinInfo &row : allBuiltins())
        all.emplace_back(row.name);
      diags.report(Diag::UnknownFunction, e.callee.span, fmt::format("there is no function '{}'", callee)).help =
          mendName(callee, all);
    }
    static constexpr std::string_view words[] = {"site", "rounding", "order", "scope", "combine"};
    for (const Arg &arg : e.args)
      if (!arg.name || std::ranges::find(words, arg.name->text) == std::end(words))
        expr(arg.value.get());
  }

  void expr(const Expr *e) {
    Walker walker;
    walker.onExpr = [&](const Expr &inner) {
      if (auto *use = dynAs<NameExpr>(&inner)) {
        name(use->name, use->span);
      } else if (auto *c = dynAs<CallExpr>(&inner)) {
        call(*c);
        return false;
      } else if (auto *branch = dynAs<IfExpr>(&inner)) {
        expr(branch->condition.get());
        block(*branch->thenBlock);
        if (branch->elseBlock)
          block(*branch->elseBlock);
        return false;
      } else if (auto *closure = dynAs<ClosureExpr>(&inner)) {
        size_t outer = values.size();
        for (const Pattern &param : closure->params)
          pattern(param);
        block(*closure->body);
        values.resize(outer);
        return false;
      }
      return true;
    };
    walker.walk(e);
  }
};

} // namespace

void checkFile(const syntax::File &file, const SourceManager &sources, const Arch *arch, Diagnostics &diags) {
  checkDeclarations(file, diags);
  FileNames names(file);
  std::set<const FnDecl *> reached;
  NameCheck check(names, diags);
  for (const auto &[name, kernel] : names.kernels) {
    reach(names, *kernel->body, reached);
    // What is not built yet in the head does not keep errors of the body from being told.
    auto interface = InterfaceBuilder(file, *kernel, sources, diags).build();
    if (!interface)
      continue;
    bool open = std::ranges::any_of(interface->params, [](const ParamDecl &p) { return !p.otherwise && !p.domain; });
    if (open) { // a parameter that -D must give: names are all that can be checked
      check.checkKernel(*kernel, *interface);
      continue;
    }
    Bindings bindings;
    bindings.arch = arch;
    Instantiation instantiation(file, *interface, bindings, sources, diags);
    instantiation.checking = true;
    instantiation.run();
  }
  Checker constants(file, sources, diags);
  // What is imported is looked at where it is used.
  for (const auto &[name, decl] : names.consts)
    if (decl->span.file == file.id)
      constants.constant(*decl);
  for (const auto &[name, fn] : names.fns)
    if (!reached.contains(fn) && fn->span.file == file.id)
      check.check(*fn);
}

} // namespace tilec::sema
