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
  bool hasImports = false; ///< an import failed, which is reported: names that it would give stay unreported
  explicit FileNames(const syntax::File &file);
};

/// Calls nested deeper than this are refused: recursion is unrolled while compiling.
inline constexpr int maxCalls = 64;
/// Calls inlined into one kernel, all together.
inline constexpr int maxInlined = 1 << 16;
/// Trips of one `static for`, and of all in one kernel together.
inline constexpr int64_t maxTrips = 4096, maxUnrolled = 1 << 16;
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
  std::map<std::string, DType> letDTypes;   ///< clause `let`s by what a launch computes: i64, f32 or bool

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
  /// Whether control reaches a place of a function or a loop's body. A `return`, `break` or `continue` under a run-time
  /// condition makes it a run-time value: the statements behind it stand under an `if` of that value.
  struct Flow {
    Value live = Value::ofBool(true); ///< false where the function or the trip has been left
    Value go = Value::ofBool(true);   ///< false where a `break` ended the loop
    std::optional<Value> returned;    ///< what the function gives where it has been left
    bool dead() const { return live.isBool() && live.bits == 0; }
    bool open() const { return !live.isBool(); }
  };
  enum class LoopKind : uint8_t { None, RunTime, Unrolled };
  /// The function (or kernel) whose statements are being checked.
  struct Frame {
    bool wanted = false; ///< the caller uses its value
    bool isKernel = false;
    int number = 0;                 ///< tells the variables of one call from those of another
    int loops = 0;                  ///< loops around this place
    LoopKind loop = LoopKind::None; ///< the innermost of them
    int valueIfs = 0;               ///< `if`s around this place (in the innermost loop) whose values are used
    size_t kept = 0;                ///< variables that outlive the function or trip when it is left
    Flow flow;
  };
  Frame *frame = nullptr;
  int frames = 0;
  bool tooDeep = false; ///< a limit was hit: nothing goes on until the outermost call is left
  bool tooLong = false; ///< reported
  int inlined = 0;
  int64_t unrolled = 0; ///< trips of `static for`s
  int depth = 0;        ///< nested expressions, calls included
  /// What the `static if`s around this place have decided: of each set of conditions one holds.
  std::vector<std::set<std::string>> facts;
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
  Value matmul(const Value &a, Span spanA, const Value &b, Span spanB, Span span); ///< builtins_product.cpp
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
  std::string likelyName(const std::string &name) const;
  std::vector<std::string> visibleFns() const;

  // -- optional arrays (facts.cpp)
  void addFacts(const syntax::Expr &condition, bool holds);
  bool implied(const syntax::Expr &condition, bool holds = true) const;
  std::set<std::string> clauseOf(const syntax::Expr &e, bool holds) const;
  std::string factText(const syntax::Expr &e) const;
  Value readArray(Binding &binding, Span span);

  // -- branches (branches.cpp)
  /// What stands around an `if` that is a statement: the list it is in, whose rest an arm may go on with.
  struct Rest {
    const syntax::Block *list;
    size_t next;           ///< the statement behind the `if`
    bool wanted, tail;     ///< as for statements()
    bool consumed = false; ///< the rest has been checked in an arm
    bool last() const { return next == list->stmts.size(); }
  };
  Value ifExpr(const syntax::IfExpr &e, bool wanted, Rest *rest = nullptr);
  Value runTimeIf(const syntax::IfExpr &e, const Value &condition, bool wanted, Rest *rest);
  Value knownIf(const syntax::IfExpr &e, bool taken, bool wanted, bool tail);
  struct VarState {
    Value value;
    Assigned assigned;
    bool hasType;
    Span typeSpan, gap;
  };
  std::vector<VarState> snapshot() const;
  void restore(const std::vector<VarState> &states);
  /// Refuses an expression that is not always computed, or computed anew each trip, but assigns a variable.
  bool keepsVariables(const std::vector<VarState> &before, Span span, std::string_view where);
  struct Arm {
    Block block;
    Value value;
    std::vector<VarState> vars;
    Span span;
    Flow flow;
    std::vector<ValueId> yields; ///< what the arm gives when the two are joined
  };
  /// Where two ways of control meet: an `if`, or what it left open.
  struct Join {
    Span span;
    std::optional<Span> condition; ///< of an `if` written in the program
    bool hasElse = true;
    bool returns = false; ///< the values are those of a function that is left at several places
    std::vector<ValueId> results{};
  };
  /// `tail`: the end of the block leaves the function or the trip.
  Arm checkArm(const syntax::Block *block, Span span, bool wanted, bool tail);
  void appendRest(Arm &arm, const Rest &rest);
  Value guarded(const syntax::Block &b, size_t from, bool wanted, bool tail);
  void leave(Value value);
  void closeIf(Join &join, const Value &condition, Arm &a, Arm &b);
  void poison(const syntax::Block &block); ///< what it assigns becomes erroneous
  bool agree(const Join &join, Arm &a, Arm &b, Value &x, Value &y);
  Value mergeValues(Join &join, Arm &a, Arm &b, Value x, Value y);
  Value mergeFlag(Join &join, Arm &a, Arm &b, const Value &x, const Value &y);
  void mergeFlow(Join &join, Arm &a, Arm &b);
  Value oneSided(Join &join, Arm &has, Arm &lacks, const Value &value);
  void mergeVars(Join &join, size_t count, Arm &a, Arm &b);
  Value anyValue(const Type &type, Span span); ///< stands where no value is needed
  Assigned mergeState(Binding &var, const VarState &a, const VarState &b, const Arm &armA, const Arm &armB);

  // -- statements (stmts.cpp, loops.cpp)
  Value block(const syntax::Block &b, bool wanted, bool tail = false);
  Value statements(const syntax::Block &b, size_t from, bool wanted, bool tail);
  bool isTooLong(Span at);
  void returnStmt(const syntax::ReturnStmt &s);
  void loopExit(const syntax::Stmt &s);
  Value readBinding(Binding &binding, Span span);
  void stmt(const syntax::Stmt &s);
  void bindStmt(const syntax::BindStmt &s);
  void assignStmt(const syntax::AssignStmt &s);
  void assign(Binding &var, const Value &value, Span place, Span valueSpan);
  Value sameType(Binding &var, const Value &old, const Value &value, Span place, Span valueSpan);
  void forStmt(const syntax::ForStmt &s);
  void staticFor(const syntax::ForStmt &s);
  void whileStmt(const syntax::WhileStmt &s);
  bool rangeOf(const syntax::ForStmt &s, std::array<Value, 3> &bounds, std::array<Span, 3> &spans);
  bool loopBounds(const syntax::ForStmt &s, std::array<Value, 3> &bounds, Type &type, std::optional<BigInt> &known);
  /// Variables that a loop carries from trip to trip, and others that its body may give a value.
  struct Carried {
    std::vector<Binding *> vars, others;
    std::vector<Value> before;
    std::vector<Assigned> earlier;
  };
  Carried carriedBy(const syntax::Block &body);
  void operandsOf(const Carried &carried, std::vector<ValueId> &out) const;
  void becomeParams(const Carried &carried, Block &block);
  std::vector<ValueId> becomeResults(const Carried &carried);
  Flow loopBody(const syntax::Block &body, const syntax::Ident *var, const Value &index);
  void leaveLoop(const Carried &carried, Span span);
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
  Value callTileList(BuiltinCall &call);
  bool listElements(const syntax::Expr &e, size_t depth, std::vector<BoundArg> &out, std::vector<int64_t> &shape);
  Value callTiled(BuiltinCall &call);
  Value callLoad(BuiltinCall &call);
  Value callStore(BuiltinCall &call);
  Value callNumTiles(BuiltinCall &call);
  Value callArrayShape(BuiltinCall &call);
  Value callTo(BuiltinCall &call);
  Value callWhere(BuiltinCall &call);
  Value callClamp(BuiltinCall &call);
  Value callMath(BuiltinCall &call);
  Value callArith(BuiltinCall &call);
  Value callFma(BuiltinCall &call);
  Value callClauseOnly(BuiltinCall &call);
  Value query(BuiltinCall &call);
  Value queryOf(std::string_view name, const Value &object, Span span);
  Value extentOf(const Value &array, int axis, Span span);
  struct FloatFlags {
    Rounding rounding = Rounding::NearestEven;
    bool approx = false, ftz = false;
  };
  std::optional<FloatFlags> floatFlags(BuiltinCall &call);
  bool takesFlags(BuiltinCall &call, std::optional<DType> dtype);
  std::optional<std::vector<ValueId>> indices(const std::vector<BoundArg> &args, const Value &view, Span span);
  Value tileFor(BuiltinCall &call);

  // -- element accesses (builtins_memory.cpp), parts (builtins_arrays.cpp) and sparse views (builtins_sparse.cpp)
  Value callAt(BuiltinCall &call);
  Value callSlice(BuiltinCall &call);
  Value callGather(BuiltinCall &call);
  Value callScatter(BuiltinCall &call);
  Value callAtomic(BuiltinCall &call);
  Value callViewAtomic(BuiltinCall &call);
  Value callSparse(BuiltinCall &call);
  /// Operands of an access of elements, all but the array of one shape.
  struct Lanes {
    std::vector<ValueId> operands;
    std::vector<int64_t> shape;
    bool masked = false;
  };
  std::optional<Lanes> lanes(BuiltinCall &call, const std::vector<Value> &values, const std::vector<Span> &valueSpans);
  std::optional<Lanes> sparseLanes(BuiltinCall &call, const Value &value, Span valueSpan);
  std::optional<std::vector<Value>> sparseIndices(BuiltinCall &call);
  Value paddingValue(Padding padding, DType dtype, Span span);
  Value indexValue(const BoundArg &arg, std::string_view what);
  bool broadcastAll(std::vector<Value> &values, const std::vector<Span> &spans);
  bool mayAccess(const BuiltinCall &call, bool reads, bool writes);
  bool hasElements(const BuiltinCall &call);
  bool atomicDType(const BuiltinCall &call);
  std::optional<size_t> pairedAxis(const Value &array) const;
  bool evenTiles(BuiltinCall &call, const std::vector<int64_t> &shape, const ViewInst &view);
  bool evenSlice(BuiltinCall &call, int64_t axis, const Value &start, const Value &stop, int64_t step);
  std::optional<size_t> wordOf(const BoundArg &arg, std::string_view keyword, std::string_view of,
                               const std::vector<std::string> &words);
  std::optional<Ordering> orderingOf(BuiltinCall &call, std::string_view of, Ordering usual,
                                     const std::vector<MemoryOrder> &orders);

  // -- shapes (builtins_shape.cpp)
  Value callReshape(BuiltinCall &call);
  Value callBroadcast(BuiltinCall &call);
  Value callPermute(BuiltinCall &call);
  Value callTranspose(BuiltinCall &call);
  Value callCat(BuiltinCall &call);
  Value callExtract(BuiltinCall &call);
  Value callInsert(BuiltinCall &call);
  Value callItem(BuiltinCall &call);
  bool tileArg(const BuiltinCall &call, const BoundArg &arg);
  Value reshaped(Value v, const std::vector<int64_t> &shape, Span span);
  Value permuted(const Value &x, const std::vector<int64_t> &axes, Span span);
  Value transposed(const Value &x, Span span);
  std::optional<DType> commonTileDType(const BoundArg &a, const BoundArg &b, Span span);
  std::optional<std::vector<ValueId>> partIndices(BuiltinCall &call, const std::vector<int64_t> &whole,
                                                  const std::vector<int64_t> &part);

  // -- reductions and scans (builtins_reduce.cpp), those by functions (builtins_fold.cpp)
  Value callReduce(BuiltinCall &call);
  Value callMinMax(BuiltinCall &call);
  Value callArgExtreme(BuiltinCall &call);
  Value callCumulative(BuiltinCall &call);
  Value callReduceFn(BuiltinCall &call);
  Value callScanFn(BuiltinCall &call);
  Value reduceTile(BuiltinCall &call, ReduceOp op);
  bool reducible(BuiltinCall &call, const BoundArg &x, bool countsBools, bool logic);
  std::optional<std::vector<int64_t>> reducedAxes(BuiltinCall &call, int64_t rank);
  static std::vector<int64_t> reducedShape(const std::vector<int64_t> &shape, const std::vector<int64_t> &axes,
                                           bool keepdims);
  /// What a function combines: tiles of one shape and the identity of each.
  struct Combined {
    bool isTuple = false;
    std::vector<Value> tiles, identities;
  };
  std::optional<Combined> combined(BuiltinCall &call);
  bool combineBlock(BuiltinCall &call, const Combined &all, Block &block);
  Value emitCombined(BuiltinCall &call, Payload payload, const Combined &all, const std::vector<int64_t> &shape,
                     const std::vector<int64_t> &kept);
  Value combinesNothing(BuiltinCall &call, const Combined &all);

  // -- products (builtins_product.cpp)
  Value callMma(BuiltinCall &call);
  Value callMmaScaled(BuiltinCall &call);
  bool productDTypes(const BoundArg &a, const BoundArg &b, Span span);
  std::vector<int64_t> productShape(const BoundArg &a, const BoundArg &b, Span span);
  bool accumulates(const BoundArg &acc, const std::vector<int64_t> &shape, const std::vector<DType> &accumulators,
                   std::string_view of);
  Value emitMma(const Value &a, const Value &b, const Value &acc, bool fastAcc, Span span);
  Value dequantized(const BoundArg &x, const BoundArg &scale, size_t along);

  // -- bits (builtins_bits.cpp), debugging, promises and launches (builtins_debug.cpp)
  Value callBitcast(BuiltinCall &call);
  Value callPack(BuiltinCall &call);
  Value callUnpack(BuiltinCall &call);
  Value callPopcount(BuiltinCall &call);
  Value bitsOperand(BuiltinCall &call, const BoundArg &x);
  Value lineOperand(BuiltinCall &call, const BoundArg &x);
  std::optional<DType> bitsDType(BuiltinCall &call);
  Value callStaticAssert(BuiltinCall &call);
  Value callAssert(BuiltinCall &call);
  Value callPrint(BuiltinCall &call);
  Value callAssumeDivisible(BuiltinCall &call);
  Value callGridDependency(BuiltinCall &call);
  std::optional<std::string> stringOf(const BoundArg &arg, std::string_view what);

  // -- sites (sites.cpp)
  std::optional<size_t> site(BuiltinCall &call, std::string operation);
  bool siteHint(Site &site, const BoundArg &arg, std::string_view name);
  void nameSites();
  std::optional<Padding> paddingOf(const BoundArg &arg, DType dtype);
  Value symbolOf(Binding &binding, Span span); ///< an extent, a stride or a clause `let`
  Value symbolValue(const std::string &name, Span span, std::string reason);
  DType indexType() const { return program.index64 ? DType::i64 : DType::i32; }
};

} // namespace tilec::sema
