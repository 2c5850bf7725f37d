// The tree as text for `--emit=ast` and the tests.
#include "compiler/syntax/ast.h"
#include <fmt/format.h>

namespace tilec::syntax {

namespace {

std::string asLiteral(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  return out + '"';
}

constexpr std::string_view modeNames[] = {"", "in ", "out ", "inout ", "scratch ", "view "};
constexpr std::string_view kindNames[] = {"int", "bool", "float", "dtype"};
constexpr std::string_view clauseNames[] = {"let", "requires", "grid", "options", "hints", "tune"};

/// A node before it is laid out: a head, and what stands below it.
struct Node {
  std::string head;
  std::vector<Node> children;

  Node(std::string text) : head(std::move(text)) {}
  Node &add(Node child) {
    children.push_back(std::move(child));
    return *this;
  }
  template <typename F, typename List> Node &addAll(const List &list, F make) {
    for (const auto &item : list)
      children.push_back(make(item));
    return *this;
  }
};

constexpr size_t lineWidth = 100;
/// Operators of a chain that are shown one inside the other.
constexpr size_t longestNested = 8;

/// The node in one line; empty where it is wider than the room.
std::string flat(const Node &node, size_t room) {
  if (node.children.empty())
    return node.head.size() <= room ? node.head : "";
  std::string out = "(" + node.head;
  for (const Node &child : node.children) {
    if (out.size() + 2 > room)
      return "";
    std::string text = flat(child, room - out.size() - 2);
    if (text.empty())
      return "";
    out += " " + text;
  }
  return out + ")";
}

void print(const Node &node, size_t indent, std::string &out) {
  out.append(indent, ' ');
  std::string line = flat(node, lineWidth - std::min(indent, lineWidth - 20));
  if (!line.empty() || node.children.empty()) {
    out += line.empty() ? node.head : line;
    return;
  }
  out += "(" + node.head;
  bool leaves = true; // those in front stay beside the head
  for (const Node &child : node.children) {
    leaves = leaves && child.children.empty() && child.head.size() < lineWidth / 2;
    if (leaves) {
      out += ' ' + child.head;
      continue;
    }
    out += '\n';
    print(child, indent + 2, out);
  }
  out += ")";
}

class Dumper {
public:
  Node file(const File &file) {
    return Node("file").addAll(file.decls, [&](const DeclPtr &d) { return decl(*d); });
  }

private:
  Node list(std::string head, const std::vector<ExprPtr> &exprs) {
    return Node(std::move(head)).addAll(exprs, [&](const ExprPtr &e) { return expr(e.get()); });
  }

  Node expr(const Expr *e) {
    if (!e)
      return Node("<missing>");
    switch (e->kind) {
    case ExprKind::Error:
      return Node("<error>");
    case ExprKind::Int:
      return Node(fmt::format("{}", as<IntExpr>(*e).value));
    case ExprKind::Float:
      return Node(as<FloatExpr>(*e).text);
    case ExprKind::String:
      return Node(asLiteral(as<StringExpr>(*e).value));
    case ExprKind::Bool:
      return Node(as<BoolExpr>(*e).value ? "true" : "false");
    case ExprKind::DType:
      return Node(std::string(name(as<DTypeExpr>(*e).dtype)));
    case ExprKind::Name:
      return Node(as<NameExpr>(*e).name);
    case ExprKind::Wildcard:
      return Node("_");
    case ExprKind::Unary: {
      const auto &unary = as<UnaryExpr>(*e);
      return Node(std::string(spelling(unary.op))).add(expr(unary.operand.get()));
    }
    case ExprKind::Binary: {
      const auto &binary = as<BinaryExpr>(*e);
      if (std::vector<const BinaryExpr *> spine = leftSpine(binary); spine.size() > longestNested)
        return chain(spine);
      return Node(std::string(spelling(binary.op))).add(expr(binary.lhs.get())).add(expr(binary.rhs.get()));
    }
    case ExprKind::Call:
      return call(as<CallExpr>(*e));
    case ExprKind::Member: {
      const auto &member = as<MemberExpr>(*e);
      return Node("member").add(expr(member.object.get())).add(Node(member.member.text));
    }
    case ExprKind::TupleItem: {
      const auto &item = as<TupleItemExpr>(*e);
      return Node("item").add(expr(item.tuple.get())).add(Node(fmt::format("{}", item.index)));
    }
    case ExprKind::Index: {
      const auto &index = as<IndexExpr>(*e);
      return Node("index").add(expr(index.base.get())).addAll(index.subscripts, [&](const Subscript &s) {
        return s.kind == Subscript::Kind::All       ? Node(":")
               : s.kind == Subscript::Kind::NewAxis ? Node("none")
                                                    : expr(s.value.get());
      });
    }
    case ExprKind::Tuple:
      return orEmpty(list("tuple", as<TupleExpr>(*e).elements));
    case ExprKind::List:
      return orEmpty(list("list", as<ListExpr>(*e).elements));
    case ExprKind::If: {
      const auto &branch = as<IfExpr>(*e);
      Node node(branch.isStatic ? "static-if" : "if");
      node.add(expr(branch.condition.get())).add(block(branch.thenBlock.get()));
      if (branch.elseBlock)
        node.add(block(branch.elseBlock.get()));
      return node;
    }
    case ExprKind::Closure: {
      const auto &closure = as<ClosureExpr>(*e);
      Node params = orEmpty(Node("params").addAll(closure.params, [&](const Pattern &p) { return pattern(p); }));
      return Node("fn").add(std::move(params)).add(block(closure.body.get()));
    }
    }
    return Node("<error>");
  }

  /// A long chain is one node: its first operand, and each operator with the operand behind it.
  Node chain(const std::vector<const BinaryExpr *> &spine) {
    return Node("chain").add(expr(spine.front()->lhs.get())).addAll(spine, [&](const BinaryExpr *link) {
      return Node(std::string(spelling(link->op))).add(expr(link->rhs.get()));
    });
  }

  /// A node that keeps its parentheses when it has no children.
  static Node orEmpty(Node node) {
    if (node.children.empty())
      node.head = "(" + node.head + ")";
    return node;
  }

  Node call(const CallExpr &call) {
    Node node(call.receiver ? "method" : "call");
    if (call.receiver)
      node.add(expr(call.receiver.get()));
    node.add(Node(call.callee.text));
    if (!call.constArgs.empty())
      node.add(list("const", call.constArgs));
    return node.addAll(call.args, [&](const Arg &arg) {
      if (!arg.name)
        return expr(arg.value.get());
      Node named("= " + arg.name->text);
      named.add(expr(arg.value.get()));
      addDomain(named, arg.domain);
      return named;
    });
  }

  void addDomain(Node &node, const std::optional<Domain> &domain) {
    if (!domain)
      return;
    static constexpr std::string_view heads[] = {"in-set", "in-range", "in"};
    node.add(list(std::string(heads[size_t(domain->kind)]), domain->values));
  }

  Node pattern(const Pattern &p) {
    if (!p.isTuple())
      return Node(p.name);
    return orEmpty(Node("pattern").addAll(p.elements, [&](const Pattern &e) { return pattern(e); }));
  }

  Node type(const TypeExpr &t) {
    if (t.isTuple())
      return Node("type").addAll(t.elements, [&](const TypeExpr &e) { return type(e); });
    std::string head = fmt::format("{}{}", modeNames[size_t(t.mode)], t.name.text);
    return t.hasExtents ? list(std::move(head), t.extents) : Node(std::move(head));
  }

  Node block(const Block *b) {
    if (!b)
      return Node("<missing>");
    return orEmpty(Node("block").addAll(b->stmts, [&](const StmtPtr &s) { return stmt(*s); }));
  }

  Node stmt(const Stmt &s) {
    switch (s.kind) {
    case StmtKind::Error:
      return Node("<error>");
    case StmtKind::Bind: {
      const auto &bind = as<BindStmt>(s);
      Node node(bind.isVar ? "var" : "let");
      node.add(pattern(bind.pattern));
      if (bind.type)
        node.add(Node(":").add(type(*bind.type)));
      if (bind.value)
        node.add(expr(bind.value.get()));
      return node;
    }
    case StmtKind::Assign: {
      const auto &assign = as<AssignStmt>(s);
      Node node(assign.op ? std::string(spelling(*assign.op)) + "=" : "=");
      auto place = [](const Ident &name) { return Node(name.text); };
      if (assign.isTuple)
        node.add(Node("places").addAll(assign.places, place));
      else
        node.addAll(assign.places, place);
      return node.add(expr(assign.value.get()));
    }
    case StmtKind::Return: {
      const auto &ret = as<ReturnStmt>(s);
      return ret.value ? Node("return").add(expr(ret.value.get())) : Node("(return)");
    }
    case StmtKind::Break:
      return Node("(break)");
    case StmtKind::Continue:
      return Node("(continue)");
    case StmtKind::Fn:
      return decl(*as<FnStmt>(s).fn);
    case StmtKind::For: {
      const auto &loop = as<ForStmt>(s);
      Node node(loop.isStatic ? "static-for" : "for");
      node.add(Node(loop.var.text)).add(expr(loop.lo.get()));
      if (loop.hi)
        node.add(expr(loop.hi.get()));
      return node.add(block(loop.body.get()));
    }
    case StmtKind::While: {
      const auto &loop = as<WhileStmt>(s);
      return Node("while").add(expr(loop.condition.get())).add(block(loop.body.get()));
    }
    case StmtKind::Expr:
      return expr(as<ExprStmt>(s).expr.get());
    }
    return Node("<error>");
  }

  Node decl(const Decl &d) {
    switch (d.kind) {
    case DeclKind::Import:
      return Node("import").add(Node(asLiteral(as<ImportDecl>(d).path)));
    case DeclKind::Const: {
      const auto &constant = as<ConstDecl>(d);
      Node node = head("const", constant.name, d.doc);
      if (constant.type)
        node.add(Node(":").add(type(*constant.type)));
      return node.add(expr(constant.value.get()));
    }
    case DeclKind::Fn: {
      const auto &fn = as<FnDecl>(d);
      Node node = head("fn", fn.name, d.doc);
      node.addAll(fn.cparams, [&](const CParam &p) { return cparam(p); });
      node.addAll(fn.params, [&](const FnParam &p) {
        Node param = Node("param").add(Node(p.name.text));
        if (p.type)
          param.add(Node(":").add(type(*p.type)));
        if (p.defaultValue)
          param.add(Node("=").add(expr(p.defaultValue.get())));
        return param;
      });
      return node.add(block(fn.body.get()));
    }
    case DeclKind::Kernel: {
      const auto &kernel = as<KernelDecl>(d);
      Node node = head("kernel", kernel.name, d.doc);
      node.addAll(kernel.cparams, [&](const CParam &p) { return cparam(p); });
      node.addAll(kernel.args, [&](const KernelArg &a) { return arg(a); });
      node.addAll(kernel.clauses, [&](const Clause &c) { return clause(c); });
      return node.add(block(kernel.body.get()));
    }
    }
    return Node("<error>");
  }

  static Node head(std::string_view word, const Ident &name, const std::string &doc) {
    Node node = Node(fmt::format("{} {}", word, name.text));
    addDoc(node, doc);
    return node;
  }
  static void addDoc(Node &node, const std::string &doc) {
    if (!doc.empty())
      node.add(Node("doc").add(Node(asLiteral(doc))));
  }

  Node cparam(const CParam &p) {
    Node node = Node("cparam").add(Node(p.name.text)).add(Node(std::string(kindNames[size_t(p.kind)])));
    addDoc(node, p.doc);
    if (p.defaultValue)
      node.add(Node("=").add(expr(p.defaultValue.get())));
    addDomain(node, p.domain);
    return node;
  }

  Node arg(const KernelArg &a) {
    Node node = Node("arg").add(Node(a.name.text)).add(type(a.type));
    addDoc(node, a.doc);
    if (a.strides)
      node.add(list("strides", a.strides->items));
    if (a.align)
      node.add(list("align", a.align->items));
    if (a.alias)
      node.add(list("alias", a.alias->items));
    if (a.zeroed)
      node.add(Node("zeroed"));
    if (a.condition)
      node.add(Node("if").add(expr(a.condition.get())));
    return node;
  }

  Node clause(const Clause &c) {
    Node node{std::string(clauseNames[size_t(c.kind)])};
    if (c.arch)
      node.head += " " + c.arch->text;
    if (c.kind == ClauseKind::Let)
      node.add(pattern(c.pattern));
    for (const ExprPtr &e : c.exprs)
      node.add(expr(e.get()));
    for (const Setting &s : c.settings) {
      Node setting("setting");
      setting.add(Node(s.name.text));
      if (s.value)
        setting.add(expr(s.value.get()));
      addDomain(setting, s.domain);
      node.add(std::move(setting));
    }
    return node;
  }
};

} // namespace

std::string dumpAst(const File &file, const SourceManager &) {
  std::string out;
  print(Dumper().file(file), 0, out);
  return out + '\n';
}

} // namespace tilec::syntax
