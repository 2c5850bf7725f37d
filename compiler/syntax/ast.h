#pragma once
// The syntax tree of one .tile file, as written: nothing is resolved, folded or reordered here. Nodes are plain structs
// owned from above; a consumer switches on `kind` and casts with `as<T>` or `dynAs<T>`. Every node has the span it was
// read from; a parenthesised expression's span includes its parentheses. The height of every tree is at most
// `maxNesting`, where all operators of a chain such as `a + b - c` are one level: a recursive walk is safe when it goes
// along a chain by `leftSpine`. One that descends into it meets at most `maxDepth` nodes.
#include "compiler/base/dtype.h"
#include "compiler/base/source.h"
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec::syntax {

/// Limit of nesting in source and of the height of the tree.
constexpr uint32_t maxNesting = 256;
/// Limit of the depth of the tree with every operator of a chain counted, and so of the length of a chain.
constexpr uint32_t maxDepth = 4096;

/// A name where it is declared or used. Empty only after a syntax error.
struct Ident {
  std::string text;
  Span span;
};

enum class ExprKind : uint8_t {
  Error, ///< stands where a syntax error was reported
  Int,
  Float,
  String,
  Bool,
  DType,
  Name,
  Wildcard,
  Unary,
  Binary,
  Call,
  Member,
  TupleItem,
  Index,
  Tuple,
  List,
  If,
  Closure,
};

struct Expr {
  const ExprKind kind;
  bool parenthesized = false; ///< written in parentheses of its own
  uint32_t height = 1;        ///< of the tree below, this node included; a chain of operators is one level
  uint32_t depth = 1;         ///< the same with every operator a level
  Span span;

  explicit Expr(ExprKind k) : kind(k) {}
  Expr(const Expr &) = delete;
  Expr &operator=(const Expr &) = delete;
  virtual ~Expr() = default;
};
using ExprPtr = std::unique_ptr<Expr>;

/// Gives a node its kind: `struct X : ExprOf<ExprKind::X>`.
template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind Kind = K;
  ExprOf() : Expr(K) {}
};

// -- parts shared by declarations, statements and expressions

/// `NAME` or `(pat, …)`; a `_` is a name that discards. `(a)` is a tuple pattern of one element.
struct Pattern {
  Span span;
  std::string name; ///< empty for a tuple
  std::vector<Pattern> elements;
  bool isTuple() const { return name.empty(); }
  bool isDiscard() const { return name == "_"; }
};

/// What follows `in` of a parameter, setting or argument.
struct Domain {
  enum class Kind : uint8_t {
    Set,   ///< `{a, b, …}`: `values` are the elements
    Range, ///< `lo..=hi`: two values
    Value, ///< one expression that yields a domain, such as `pow2(16, 256)`
  };
  Kind kind = Kind::Set;
  Span span;
  std::vector<ExprPtr> values;
};

/// A list in parentheses or brackets with its place.
struct ExprList {
  Span span;
  std::vector<ExprPtr> items;
};

enum class Mode : uint8_t { None, In, Out, InOut, Scratch, View };

/// `[mode] NAME [[extents]]` or `(type, …)`.
struct TypeExpr {
  Span span;
  Mode mode = Mode::None;
  Span modeSpan;
  Ident name;                 ///< dtype, dtype parameter or a name to bind; empty for a tuple
  std::optional<DType> dtype; ///< when `name` is the word of a dtype
  bool hasExtents = false;
  std::vector<ExprPtr> extents;
  std::vector<TypeExpr> elements;
  bool isTuple() const { return !elements.empty(); }
};

/// `NAME [= value] [in domain]` of `options`, `hints` and `tune`.
struct Setting {
  Span span;
  Ident name;
  ExprPtr value; ///< may be null
  std::optional<Domain> domain;
};

/// One argument of a call: positional when `name` is absent. Positional ones never follow named ones.
struct Arg {
  Span span;
  std::optional<Ident> name;
  ExprPtr value; ///< a ClosureExpr where a function is passed
  std::optional<Domain> domain;
};

struct Block;
struct FnDecl;

// -- expressions

struct ErrorExpr : ExprOf<ExprKind::Error> {};

/// An integer without a sign; the checker gives it a type.
struct IntExpr : ExprOf<ExprKind::Int> {
  uint64_t value = 0;
};

/// A float literal, `inf` or `nan`.
struct FloatExpr : ExprOf<ExprKind::Float> {
  double value = 0;
  std::string text; ///< as written
};

/// Only an argument of `print`, `assert` and `static_assert`.
struct StringExpr : ExprOf<ExprKind::String> {
  std::string value; ///< escapes resolved
};

struct BoolExpr : ExprOf<ExprKind::Bool> {
  bool value = false;
};

/// The word of a dtype used as a value, as in `zeros<f32>(…)` or `i32.max`.
struct DTypeExpr : ExprOf<ExprKind::DType> {
  DType dtype{};
};

struct NameExpr : ExprOf<ExprKind::Name> {
  std::string name;
};

/// `_`: only an element of `strides (…)`, where it means any stride.
struct WildcardExpr : ExprOf<ExprKind::Wildcard> {};

enum class UnaryOp : uint8_t {
#define UNARY(op, token, spelling) op,
#include "compiler/syntax/tokens.def"
};
enum class BinaryOp : uint8_t {
#define BINARY(op, token, spelling, precedence) op,
#include "compiler/syntax/tokens.def"
};
/// The operator as written.
std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);
/// A higher one binds tighter.
int precedence(BinaryOp op);

struct UnaryExpr : ExprOf<ExprKind::Unary> {
  UnaryOp op{};
  Span opSpan;
  ExprPtr operand;
};

struct BinaryExpr : ExprOf<ExprKind::Binary> {
  BinaryOp op{};
  Span opSpan;
  ExprPtr lhs, rhs;

  /// Whether this operator goes on with the chain that its left operand ends: `a + b` in `a + b - c`.
  bool continues() const;
};
/// The operators of the chain that ends here, the first one of the source first: the chain's operands are the left one
/// of the first operator and the right one of each.
std::vector<const BinaryExpr *> leftSpine(const BinaryExpr &last);

/// `NAME<…>(…)`, or with a receiver `x.NAME<…>(…)`.
struct CallExpr : ExprOf<ExprKind::Call> {
  ExprPtr receiver; ///< null for a plain call
  Ident callee;
  std::vector<ExprPtr> constArgs; ///< between `<` and `>`
  std::vector<Arg> args;
  Span argsSpan; ///< the parentheses
};

/// `x.NAME` without arguments: a query such as `x.dtype`, `x.T`, `i32.max`.
struct MemberExpr : ExprOf<ExprKind::Member> {
  ExprPtr object;
  Ident member;
};

/// `t.0`.
struct TupleItemExpr : ExprOf<ExprKind::TupleItem> {
  ExprPtr tuple;
  uint64_t index = 0;
  Span indexSpan;
};

/// One place between `[` and `]`.
struct Subscript {
  enum class Kind : uint8_t { All /**< `:` */, NewAxis /**< `none` */, Value };
  Kind kind = Kind::Value;
  Span span;
  ExprPtr value; ///< of Kind::Value
};

/// `x[…]`: axes to insert in a tile, or the item of a tuple.
struct IndexExpr : ExprOf<ExprKind::Index> {
  ExprPtr base;
  std::vector<Subscript> subscripts;
};

/// `()`, `(a,)`, `(a, b)`.
struct TupleExpr : ExprOf<ExprKind::Tuple> {
  std::vector<ExprPtr> elements;
};

/// `[a, b]`.
struct ListExpr : ExprOf<ExprKind::List> {
  std::vector<ExprPtr> elements;
};

/// `if` as a statement or value. `else if` is an else block whose only statement is the next IfExpr.
struct IfExpr : ExprOf<ExprKind::If> {
  bool isStatic = false;
  ExprPtr condition;
  std::unique_ptr<Block> thenBlock;
  std::unique_ptr<Block> elseBlock; ///< null without `else`
  bool elseIf = false;              ///< the else block was written as `else if`
};

/// `fn(l, r) { … }`: only as the value of an argument.
struct ClosureExpr : ExprOf<ExprKind::Closure> {
  std::vector<Pattern> params;
  std::unique_ptr<Block> body;
};

// -- statements

enum class StmtKind : uint8_t { Error, Bind, Assign, Return, Break, Continue, Fn, For, While, Expr };

struct Stmt {
  const StmtKind kind;
  uint32_t height = 1, depth = 1; ///< as an expression's
  Span span;

  explicit Stmt(StmtKind k) : kind(k) {}
  Stmt(const Stmt &) = delete;
  Stmt &operator=(const Stmt &) = delete;
  virtual ~Stmt() = default;
};
using StmtPtr = std::unique_ptr<Stmt>;

template <StmtKind K> struct StmtOf : Stmt {
  static constexpr StmtKind Kind = K;
  StmtOf() : Stmt(K) {}
};

/// `{ … }`. Its value is the last statement when that is an ExprStmt.
struct Block {
  Span span; ///< braces included
  std::vector<StmtPtr> stmts;
  uint32_t height = 1, depth = 1;
};
using BlockPtr = std::unique_ptr<Block>;

struct ErrorStmt : StmtOf<StmtKind::Error> {};

/// `let PATTERN [: type] = e` or `var …`.
struct BindStmt : StmtOf<StmtKind::Bind> {
  bool isVar = false;
  Pattern pattern;
  std::optional<TypeExpr> type;
  ExprPtr value; ///< null only for `var x`
};

/// `place = e`, or with `op` `place += e` and so on. `(a, b) = …` has several places.
struct AssignStmt : StmtOf<StmtKind::Assign> {
  std::vector<Ident> places;
  bool isTuple = false; ///< written in parentheses with a comma: `(a, b)`, `(a,)`
  std::optional<BinaryOp> op;
  Span opSpan;
  ExprPtr value;
};

struct ReturnStmt : StmtOf<StmtKind::Return> {
  ExprPtr value; ///< may be null
};
struct BreakStmt : StmtOf<StmtKind::Break> {};
struct ContinueStmt : StmtOf<StmtKind::Continue> {};

struct FnStmt : StmtOf<StmtKind::Fn> {
  std::unique_ptr<FnDecl> fn;
};

/// `for i in lo..hi` has both ends; `for i in e` has only `lo`.
struct ForStmt : StmtOf<StmtKind::For> {
  bool isStatic = false;
  Ident var;
  ExprPtr lo, hi;
  BlockPtr body;
};

struct WhileStmt : StmtOf<StmtKind::While> {
  ExprPtr condition;
  BlockPtr body;
};

/// An expression as a statement; an `if` statement is one whose `expr` is an IfExpr.
struct ExprStmt : StmtOf<StmtKind::Expr> {
  ExprPtr expr;
};

// -- declarations

enum class DeclKind : uint8_t { Import, Const, Fn, Kernel };

struct Decl {
  const DeclKind kind;
  Span span;
  std::string doc; ///< the `##` lines above, without marks, joined by newlines

  explicit Decl(DeclKind k) : kind(k) {}
  Decl(const Decl &) = delete;
  Decl &operator=(const Decl &) = delete;
  virtual ~Decl() = default;
};
using DeclPtr = std::unique_ptr<Decl>;

template <DeclKind K> struct DeclOf : Decl {
  static constexpr DeclKind Kind = K;
  DeclOf() : Decl(K) {}
};

enum class CParamKind : uint8_t { Int, Bool, Float, DType };

/// `NAME: kind [= default] [in domain]` between `<` and `>`.
struct CParam {
  Span span;
  Ident name;
  CParamKind kind = CParamKind::Int;
  ExprPtr defaultValue; ///< may be null
  std::optional<Domain> domain;
  std::string doc;
};

/// Parameter of a `fn`.
struct FnParam {
  Span span;
  Ident name;
  std::optional<TypeExpr> type;
  ExprPtr defaultValue; ///< may be null
};

/// Array or scalar of a kernel: an array has a mode other than None, View excluded by the checker.
struct KernelArg {
  Span span;
  Ident name;
  TypeExpr type;
  std::optional<ExprList> strides; ///< `strides (lda, 1)`, with WildcardExpr for `_`
  std::optional<ExprList> align;   ///< `align (4)`
  std::optional<ExprList> alias;   ///< `alias (x)`
  std::optional<Span> zeroed;
  ExprPtr condition; ///< `if BIAS`; may be null
  std::string doc;
};

enum class ClauseKind : uint8_t { Let, Requires, Grid, Options, Hints, Tune }; // in the order the language asks for

struct Clause {
  ClauseKind kind{};
  Span span;
  Span keyword;
  Pattern pattern;               ///< Let
  std::vector<ExprPtr> exprs;    ///< Let: one value; Requires: conditions; Grid: axes
  std::optional<Ident> arch;     ///< Hints, Tune: `hints sm_90 (…)`
  std::vector<Setting> settings; ///< Options, Hints, Tune
};

struct File;

struct ImportDecl : DeclOf<DeclKind::Import> {
  std::string path;
  Span pathSpan;
  std::shared_ptr<File> file; ///< what it brings in, once that is read: see imports.h
};

struct ConstDecl : DeclOf<DeclKind::Const> {
  Ident name;
  std::optional<TypeExpr> type;
  ExprPtr value;
};

struct FnDecl : DeclOf<DeclKind::Fn> {
  Ident name;
  std::vector<CParam> cparams;
  std::vector<FnParam> params;
  BlockPtr body;
};

struct KernelDecl : DeclOf<DeclKind::Kernel> {
  Ident name;
  std::vector<CParam> cparams;
  std::vector<KernelArg> args;
  std::vector<Clause> clauses; ///< in source order, which is the order of ClauseKind
  BlockPtr body;
};

/// One parsed file, its declarations in source order.
struct File {
  FileId id = 0;
  std::vector<DeclPtr> decls;
};

// -- casts

/// The node as `T`; its kind must be T's.
template <typename T, typename N> const T &as(const N &node) {
  assert(node.kind == T::Kind);
  return static_cast<const T &>(node);
}
template <typename T, typename N> T &as(N &node) {
  assert(node.kind == T::Kind);
  return static_cast<T &>(node);
}
/// The node as `T`, or null when there is none or its kind is another.
template <typename T, typename N> const T *dynAs(const N *node) {
  return node && node->kind == T::Kind ? static_cast<const T *>(node) : nullptr;
}
template <typename T, typename N> T *dynAs(N *node) {
  return node && node->kind == T::Kind ? static_cast<T *>(node) : nullptr;
}
template <typename T, typename N> auto *dynAs(const std::unique_ptr<N> &node) { return dynAs<T>(node.get()); }

/// The tree as indented S-expressions, one node a line where it has children: what `--emit=ast` prints.
std::string dumpAst(const File &file, const SourceManager &sources);

} // namespace tilec::syntax
