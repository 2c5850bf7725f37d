#pragma once
// The checker's state and its functions, split by family over several files. One Checker checks one kernel (or the
// compile-time constants of a file) and fills one Program.
#include "compiler/sema/builder.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check.h"
#include "compiler/sema/fold.h"
#include "compiler/sema/scope.h"
#include <deque>
#include <functional>
#include <set>

namespace tilec::sema {

/// Declarations of a file by name.
struct FileNames {
  std::map<std::string, const syntax::FnDecl *, std::less<>> fns;
  std::map<std::string, const syntax::ConstDecl *, std::less<>> consts;
  std::map<std::string, const syntax::KernelDecl *, std::less<>> kernels;
  bool hasImports = false; ///< names may come from elsewhere: while imports are not built, unknown ones stay unreported
  explicit FileNames(const syntax::File &file);
};

/// Calls nested deeper than this are refused: recursion is unrolled while compiling.
inline constexpr int maxCalls = 64;
/// Calls inlined into one kernel, all together.
inline constexpr int maxInlined = 1 << 16;
/// Calls of a chain that a message shows; long ones come from recursion and repeat themselves.
inline constexpr size_t chainShown = 8;
/// Elements of the largest tile.
inline constexpr int64_t maxTileElements = int64_t(1) << 24;

/// One argument of a built-in, evaluated.
struct BoundArg {
  Value value;
  Span span;
  const syntax::Expr *expr = nullptr; ///< null for the receiver of a method
  const syntax::Arg *arg = nullptr;   ///< null for the receiver
};

/// A call of a built-in with its arguments sorted by parameter.
struct BuiltinCall {
  const BuiltinInfo *info = nullptr;
  const syntax::CallExpr *expr = nullptr;
  Span span;
  std::vector<BuiltinParam> params;
  std::vector<std::vector<BoundArg>> args; ///< one list per parameter
  Value receiver;
  Span receiverSpan;
  std::optional<DType> dtype; ///< `<T>`

  const BoundArg *find(std::string_view param) const;
  const std::vector<BoundArg> &many(std::string_view param) const;
};

class Checker {
public:
  Checker(const syntax::File &file, const SourceManager &sources, Diagnostics &diags);

  /// Value of a `const`, evaluated once.
  const Value &constant(const syntax::ConstDecl &decl);
  /// Checks the kernel's body; the program's head is filled and `arch` set.
  void checkBody(const syntax::KernelDecl &kernel, const KernelInterface &interface);

  Program program;
  const Arch *arch = nullptr;
  std::map<std::string, int64_t> siteHints; ///< --hint a.load.latency=4
  std::set<std::string> integerLets;        ///< clause `let`s that are integers at a launch

private:
  const SourceManager &sources;
  Diagnostics &diags;
  FileNames names;
  Builder builder{program};
  Scope *scope = nullptr;
  std::deque<Origin> origins;
  std::vector<Binding *> variables; ///< variables alive here, outermost first
  struct Call {
    std::string name;
    Span call;
  };
  std::vector<Call> calls; ///< functions being inlined here, outermost first
  size_t chain = 0;        ///< notes of the last report that show them
  /// The function (or kernel) whose statements are being checked.
  struct Frame {
    bool wanted = false; ///< the caller uses its value
    bool isKernel = false;
    int number = 0;                ///< tells the variables of one call from those of another
    int loops = 0;                 ///< loops around this place
    std::optional<Value> returned; ///< a `return` was met: nothing behind it is reached
    /// Statements left to do behind an `if` that returns in one arm: the other arm goes on with them.
    struct Rest {
      const syntax::Block *block;
      size_t from;
      Scope *scope;
      bool wanted;
    };
    std::vector<Rest> rests;
    const syntax::IfExpr *statementIf = nullptr; ///< the `if` that is a whole statement, just before it is checked
  };
  Frame *frame = nullptr;
  int frames = 0;
  bool tooDeep = false; ///< a limit was hit: nothing goes on until the outermost call is left
  int inlined = 0;
  int depth = 0; ///< nested expressions, calls included
  std::map<const syntax::ConstDecl *, Value> constants;
  std::set<const syntax::ConstDecl *> evaluating;
  std::map<std::string, size_t> arrayIndex;
  struct SiteKey {
    size_t root;
    std::string operation;
    uint32_t file, place;
    auto operator<=>(const SiteKey &) const = default;
  };
  std::map<SiteKey, size_t> siteIndex;
  std::vector<std::pair<size_t, Span>> siteNames; ///< sites named by `site = NAME`

  // -- reports (checker.cpp)
  Diagnostic &report(Diag diag, Span span, std::string message, std::string help = "");
  void note(Diagnostic &d, DiagNote place);
  Value fail(Diag diag, Span span, std::string message, std::string help = "");
  Value fail(const Fault &fault, Span span);
  Value notBuilt(Span span, std::string_view what);
  const Origin *origin(Span span, std::string reason);
  std::string textOf(Span span) const;        ///< source text of a place, shortened
  bool usable(const Value &value, Span span); ///< false (reported unless erroneous) when it is no value at all

  // -- compile-time demands (checker.cpp)
  bool needConst(const Value &value, Span span, std::string_view what);
  std::optional<int64_t> constInt(const Value &value, Span span, std::string_view what);
  std::optional<bool> constBool(const Value &value, Span span, std::string_view what);
  std::optional<DType> constDType(const Value &value, Span span, std::string_view what);
  std::optional<std::vector<int64_t>> tileShape(const std::vector<BoundArg> &args, Span span);
  bool checkTileShape(const std::vector<int64_t> &shape, const std::vector<Span> &places, Span span);
  std::optional<int64_t> axisOf(const BoundArg &arg, int64_t rank, bool mayBeNegative);

  // -- run-time values (arith.cpp)
  DType dtypeOf(const Value &v) const { return v.isTile() ? v.type.dtype : v.dtype; }
  const std::vector<int64_t> &shapeOf(const Value &v) const;
  ValueId constantId(const Value &typed, Span span);
  Value materialize(const Value &v, Span span);                ///< untyped numbers take their own dtype
  Value materializeAs(const Value &v, DType dtype, Span span); ///< untyped numbers take the dtype
  Value convertTo(const Value &v, DType dtype, Span span);     ///< a run-time value; widening only, no checks
  Value broadcastTo(const Value &v, const std::vector<int64_t> &shape, Span span);
  std::optional<std::vector<int64_t>> commonShape(const Value &a, const Value &b, Span span);
  std::optional<DType> commonDType(const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  struct Pair {
    Value a, b;
  };
  std::optional<Pair> unify(const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  Value binary(BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span, BinaryInst flags = {});
  Value shift(BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  Value power(const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  Value compareValues(CompareOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  Value unary(UnaryOp op, const Value &v, Span span, UnaryInst flags);
  Value emitBinary(BinaryInst inst, const Value &a, const Value &b, Span span);
  Value storable(const Value &v, DType dtype, Span span, std::string_view what);

  // -- expressions (exprs.cpp)
  Value expr(const syntax::Expr &e);
  Value exprKind(const syntax::Expr &e);
  Value nameExpr(const syntax::NameExpr &e);
  Value unaryExpr(const syntax::UnaryExpr &e);
  Value binaryExpr(const syntax::BinaryExpr &e);
  Value binaryLink(const syntax::BinaryExpr &e, const Value &a);
  Value logicExpr(const syntax::BinaryExpr &e, const Value &a);
  Value memberExpr(const syntax::MemberExpr &e);
  Value tupleItem(const syntax::TupleItemExpr &e);
  Value indexExpr(const syntax::IndexExpr &e);
  Value insertAxes(const syntax::IndexExpr &e, const Value &base);
  Value tupleExpr(const syntax::TupleExpr &e);
  std::vector<std::string> visibleNames() const;
  std::vector<std::string> visibleFns() const;

  // -- branches (branches.cpp)
  Value ifExpr(const syntax::IfExpr &e, bool wanted);
  Value runTimeIf(const syntax::IfExpr &e, const Value &condition, bool wanted);
  Value knownIf(const syntax::IfExpr &e, bool taken, bool wanted);
  struct VarState {
    Value value;
    Assigned assigned;
    bool hasType;
    Span typeSpan, gap;
  };
  std::vector<VarState> snapshot() const;
  void restore(const std::vector<VarState> &states);
  struct Arm {
    Block block;
    Value value;
    std::vector<VarState> vars;
    Span span;
  };
  /// `returned`: given where an arm may return; the arm then runs to the end of the function.
  Arm checkArm(const syntax::Block *block, Span span, bool wanted, bool *returned);
  void poison(const syntax::Block &block); ///< what it assigns becomes erroneous
  bool agree(const syntax::IfExpr &e, Arm &a, Arm &b, Value &x, Value &y);
  Value mergeValues(const syntax::IfExpr &e, Arm &a, Arm &b, Value x, Value y, std::vector<ValueId> &yieldA,
                    std::vector<ValueId> &yieldB, std::vector<ValueId> &results);
  void mergeVars(const syntax::IfExpr &e, size_t count, Arm &a, Arm &b, std::vector<ValueId> &yieldA,
                 std::vector<ValueId> &yieldB, std::vector<ValueId> &results);
  Assigned mergeState(Binding &var, const VarState &a, const VarState &b, const Arm &armA, const Arm &armB);

  // -- statements (stmts.cpp, loops.cpp)
  Value block(const syntax::Block &b, bool wanted);
  Value statements(const syntax::Block &b, size_t from, bool wanted);
  void returnStmt(const syntax::ReturnStmt &s);
  Value readBinding(Binding &binding, Span span);
  void stmt(const syntax::Stmt &s);
  void bindStmt(const syntax::BindStmt &s);
  void assignStmt(const syntax::AssignStmt &s);
  void assign(Binding &var, const Value &value, Span place, Span valueSpan);
  Value sameType(Binding &var, const Value &old, const Value &value, Span place, Span valueSpan);
  void forStmt(const syntax::ForStmt &s);
  bool loopBounds(const syntax::ForStmt &s, std::array<Value, 3> &bounds, Type &type);
  std::optional<Type> annotationType(const syntax::TypeExpr &type);
  void bindPattern(const syntax::Pattern &pattern, const Value &value, Span valueSpan, NameKind kind);
  Binding *declare(const std::string &name, Span span, NameKind kind, Value value);
  Value withOrigin(Value value, const Origin *why) const;
  /// An arithmetic operator of the syntax tree on values.
  Value binaryOf(syntax::BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span);
  Value varValue(const Value &value, Span span); ///< what a variable holds: typed run-time tiles
  bool condition(const Value &value, Span span);
  void leaves(const Value &value, std::vector<Value> &out) const;
  Value replaceLeaves(const Value &value, std::vector<Value>::const_iterator &next) const;

  // -- annotations (annotations.cpp)
  bool annotated(const syntax::TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds);
  bool annotatedTile(const syntax::TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds);
  bool annotatedMemory(const syntax::TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds);
  std::optional<DType> annotatedDType(const syntax::TypeExpr &type, DType found, bool binds);
  bool annotatedExtent(const syntax::Expr &extent, const Value &found, Span valueSpan, std::string_view name,
                       bool binds);

  // -- calls (calls.cpp)
  Value callExpr(const syntax::CallExpr &e, bool wanted);
  Value targetQuery(const syntax::CallExpr &e);
  /// The arguments of a call of a function of the program, all of them values of the caller.
  struct FnCall {
    Span span, callee;
    std::vector<BoundArg> constants;       ///< between `<` and `>`
    std::map<std::string, BoundArg> given; ///< by parameter
  };
  Value callFn(const syntax::FnDecl &fn, Scope *home, const syntax::CallExpr &e, bool wanted);
  Value applyFn(const syntax::FnDecl &fn, Scope *home, const FnCall &call, bool wanted);
  Value inlineBody(const std::string &name, Span call, Scope *home, const syntax::Block &body, bool wanted,
                   const std::function<bool()> &bind);
  bool bindParams(const syntax::FnDecl &fn, const FnCall &call);
  bool bindConstParams(const syntax::FnDecl &fn, const FnCall &call);
  /// Applies the function of `combine =`, a name or a closure, to (accumulated, element): each is a scalar where there
  /// is one part and a tuple where there are several. Its instructions go into `into`; a body that touches memory or
  /// loops is refused. The parts of the result, as many as `left` has, or nothing when an error was reported.
  std::vector<Value> callCombine(const syntax::Expr &function, std::vector<Value> left, std::vector<Value> right,
                                 Block &into);
  Value combineResult(const syntax::Expr &function, const Value &left, const Value &right);
  Value combineBuiltin(int index, const syntax::NameExpr &name, const Value &left, const Value &right);

  // -- built-ins (builtin_calls.cpp and builtins_*.cpp)
  Value callBuiltin(int index, const syntax::CallExpr &e, const Value *receiver);
  Value runBuiltin(size_t index, BuiltinCall &call); ///< the handler of the row, arguments bound
  bool bindArgs(BuiltinCall &call);
  Value unknownMethod(const syntax::Ident &name, const Value &receiver);
  std::optional<bool> flag(BuiltinCall &call, std::string_view param);
  Rounding roundingOf(BuiltinCall &call, bool &ok);
  Value callGrid(BuiltinCall &call);
  Value callTileShape(BuiltinCall &call);
  Value callViewTile(BuiltinCall &call);
  Value callPow2(BuiltinCall &call);
  Value callByArch(BuiltinCall &call);
  Value callFill(BuiltinCall &call);
  Value callArange(BuiltinCall &call);
  Value callTiled(BuiltinCall &call);
  Value callLoad(BuiltinCall &call);
  Value callStore(BuiltinCall &call);
  Value callNumTiles(BuiltinCall &call);
  Value callArrayShape(BuiltinCall &call);
  Value callReshape(BuiltinCall &call);
  Value callBroadcast(BuiltinCall &call);
  Value callTo(BuiltinCall &call);
  Value callReduce(BuiltinCall &call);
  Value callMinMax(BuiltinCall &call);
  Value callWhere(BuiltinCall &call);
  Value callClamp(BuiltinCall &call);
  Value callMath(BuiltinCall &call);
  Value callArith(BuiltinCall &call);
  Value callFma(BuiltinCall &call);
  Value callStaticAssert(BuiltinCall &call);
  Value callClauseOnly(BuiltinCall &call);
  Value later(BuiltinCall &call);
  Value query(BuiltinCall &call);
  Value queryOf(std::string_view name, const Value &object, Span span);
  Value extentOf(const Value &array, int axis, Span span);
  bool noFtz(BuiltinCall &call, DType dtype);
  Value reduceTile(BuiltinCall &call, ReduceOp op);
  std::optional<std::vector<int64_t>> reducedAxes(BuiltinCall &call, int64_t rank);
  std::optional<std::vector<ValueId>> indices(const std::vector<BoundArg> &args, const Value &view, Span span);
  std::optional<size_t> site(BuiltinCall &call, std::string operation);
  bool siteHint(Site &site, const BoundArg &arg, std::string_view name);
  void nameSites();
  std::optional<Padding> paddingOf(const BoundArg &arg, DType dtype);
  Value symbolOf(Binding &binding, Span span); ///< an extent, a stride or a clause `let`
  Value symbolValue(const std::string &name, Span span, std::string reason);
  DType indexType() const { return program.index64 ? DType::i64 : DType::i32; }
};

} // namespace tilec::sema
