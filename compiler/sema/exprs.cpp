// Expressions: names, operators, members, tuples, inserted axes.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include "compiler/sema/foreign.h"

namespace tilec::sema {

using namespace syntax; // NOLINT: the syntax tree's names; operations are qualified where both have one

namespace {

/// The operation of an arithmetic operator. `/` of integers is settled once dtypes are known.
sema::BinaryOp arithmetic(syntax::BinaryOp op) {
  switch (op) {
  case syntax::BinaryOp::Pow:
    return sema::BinaryOp::Pow;
  case syntax::BinaryOp::Mul:
    return sema::BinaryOp::Mul;
  case syntax::BinaryOp::Div:
    return sema::BinaryOp::Div;
  case syntax::BinaryOp::Mod:
    return sema::BinaryOp::FloorMod;
  case syntax::BinaryOp::Add:
    return sema::BinaryOp::Add;
  case syntax::BinaryOp::Sub:
    return sema::BinaryOp::Sub;
  case syntax::BinaryOp::Shl:
    return sema::BinaryOp::Shl;
  case syntax::BinaryOp::Shr:
    return sema::BinaryOp::Shr;
  case syntax::BinaryOp::BitAnd:
    return sema::BinaryOp::And;
  case syntax::BinaryOp::BitXor:
    return sema::BinaryOp::Xor;
  default:
    return sema::BinaryOp::Or;
  }
}

} // namespace

Value Checker::expr(const Expr &e) {
  // Deep trees behind deep calls: a limit of its own keeps the machine's stack out of reach.
  constexpr int deepest = 1000;
  if (tooDeep)
    return Value::error();
  if (depth >= deepest) {
    tooDeep = !calls.empty();
    return fail(Diag::RecursionLimit, e.span, "expressions and calls are nested too deeply here");
  }
  ++depth;
  Value value = exprKind(e);
  --depth;
  return value;
}

Value Checker::exprKind(const Expr &e) {
  switch (e.kind) {
  case ExprKind::Error:
    return Value::error();
  case ExprKind::Int:
    return Value::ofInt(as<IntExpr>(e).value);
  case ExprKind::Float:
    return Value::ofFloat(as<FloatExpr>(e).value);
  case ExprKind::String:
    return Value::ofString(as<StringExpr>(e).value);
  case ExprKind::Bool:
    return Value::ofBool(as<BoolExpr>(e).value);
  case ExprKind::DType:
    return Value::ofDType(as<DTypeExpr>(e).dtype);
  case ExprKind::Name:
    return nameExpr(as<NameExpr>(e));
  case ExprKind::Wildcard:
    return fail(Diag::UnknownName, e.span, "'_' discards a value and has none of its own");
  case ExprKind::Unary:
    return unaryExpr(as<UnaryExpr>(e));
  case ExprKind::Binary:
    return binaryExpr(as<BinaryExpr>(e));
  case ExprKind::Call:
    return callExpr(as<CallExpr>(e), true);
  case ExprKind::Member:
    return memberExpr(as<MemberExpr>(e));
  case ExprKind::TupleItem:
    return tupleItem(as<TupleItemExpr>(e));
  case ExprKind::Index:
    return indexExpr(as<IndexExpr>(e));
  case ExprKind::Tuple:
    return tupleExpr(as<TupleExpr>(e));
  case ExprKind::List:
    return fail(Diag::ListPlace, e.span, "a list of values stands only in 'tile<T>([…])'",
                "values that go together are a tuple, '(a, b)'");
  case ExprKind::If:
    return ifExpr(as<IfExpr>(e), true);
  case ExprKind::Closure:
    return fail(Diag::ListPlace, e.span, "a function without a name stands only behind 'combine ='",
                "give it a name with 'fn name(…) { … }'");
  }
  return Value::error();
}

std::vector<std::string> Checker::visibleNames() const {
  std::vector<std::string> result;
  for (Scope *s = scope; s; s = s->parent)
    for (const auto &binding : s->names)
      result.push_back(binding->name);
  for (const auto &[name, decl] : names.consts)
    result.push_back(name);
  return result;
}

/// The name that a misspelt one was meant to be: a value first, else a dtype.
std::string Checker::likelyName(const std::string &name) const {
  if (diags.crowded())
    return "";
  std::vector<std::string> visible = visibleNames(), dtypes;
  for (const DTypeInfo &row : allDTypes())
    dtypes.emplace_back(row.name);
  bool isDType = nearest(name, visible).empty() && !nearest(name, dtypes).empty();
  return mendName(name, isDType ? dtypes : visible);
}

/// Values before constants of the file; functions have a namespace of their own, which the message tells.
Value Checker::nameExpr(const NameExpr &e) {
  Binding *binding = scope ? scope->find(e.name).first : nullptr;
  if (!binding) {
    if (auto it = names.consts.find(e.name); it != names.consts.end())
      return constant(*it->second);
    if (names.fns.contains(e.name) || findBuiltin(e.name) >= 0)
      return fail(Diag::UnknownName, e.span, fmt::format("'{}' is a function, not a value", e.name),
                  fmt::format("call it, as in '{}(…)'", e.name));
    if (names.hasImports)
      return Value::error();
    return fail(Diag::UnknownName, e.span, fmt::format("there is no name '{}' here", e.name), likelyName(e.name));
  }
  return readBinding(*binding, e.span);
}

/// Arrays, scalars and symbols become instructions where they are used; a variable must have a value here.
Value Checker::readBinding(Binding &binding, Span span) {
  switch (binding.kind) {
  case NameKind::Array:
    return readArray(binding, span);
  case NameKind::Scalar: {
    Value scalar = binding.value;
    scalar.id = builder.emit(ScalarArgInst{scalar.root}, {}, scalar.type, span);
    return scalar;
  }
  case NameKind::Symbol:
    return symbolOf(binding, span);
  default:
    break;
  }
  if (binding.assigned == Assigned::Yes)
    return binding.value;
  if (binding.hasType && binding.value.isError())
    return Value::error();
  Diagnostic &d = report(Diag::Unassigned, span,
                         fmt::format("'{}' {} a value here", binding.name,
                                     binding.assigned == Assigned::No ? "does not have" : "may not have"));
  note(d, DiagNote{binding.span, fmt::format("'{}' is declared without a value", binding.name)});
  if (binding.assigned == Assigned::Maybe)
    note(d, DiagNote{binding.gap, "it gets none on the way through here"});
  binding.assigned = Assigned::Yes; // one report a variable is enough
  binding.value = Value::error();
  return Value::error();
}

Value Checker::unaryExpr(const UnaryExpr &e) {
  Value v = expr(*e.operand);
  if (!usable(v, e.operand->span))
    return Value::error();
  auto refuse = [&](std::string_view takes, std::string help = "") {
    return fail(Diag::OperandType, e.span,
                fmt::format("'{}' takes {}, not {}", syntax::spelling(e.op), takes, typeName(v)), std::move(help));
  };
  if (!v.isTileLike())
    return refuse("numbers and tiles");
  bool isBool = !v.isUntyped() && dtypeOf(v) == DType::bool_;
  bool isReal = v.is(ValueKind::Float) || (!v.isUntyped() && isFloat(dtypeOf(v)));
  switch (e.op) {
  case syntax::UnaryOp::Neg: {
    if (isBool || (!v.isUntyped() && !hasArithmetic(dtypeOf(v))))
      return refuse("integers and floats with arithmetic");
    if (!v.isConstScalar())
      return unary(sema::UnaryOp::Neg, v, e.span, {});
    Folded folded = foldNegate(v);
    return folded ? *folded : fail(folded.error(), e.span);
  }
  case syntax::UnaryOp::Not:
    if (!isBool)
      return refuse("a bool", isReal ? "" : "the complement of an integer is '~'");
    break;
  case syntax::UnaryOp::BitNot:
    if (isBool || isReal)
      return refuse("integers", isBool ? "the opposite of a bool is '!'" : "");
    break;
  }
  return v.isConstScalar() ? *foldNot(v) : unary(sema::UnaryOp::Not, v, e.span, {});
}

/// A chain of operators, from its first operand on: descending to it would take a call for each.
Value Checker::binaryExpr(const BinaryExpr &e) {
  std::vector<const BinaryExpr *> links = syntax::leftSpine(e);
  Value value = expr(*links.front()->lhs);
  for (const BinaryExpr *link : links)
    value = binaryLink(*link, value);
  return value;
}

/// One operator whose left operand is known.
Value Checker::binaryLink(const BinaryExpr &e, const Value &a) {
  if (e.op == syntax::BinaryOp::And || e.op == syntax::BinaryOp::Or)
    return logicExpr(e, a);
  Value b = expr(*e.rhs);
  if (a.isError() || b.isError())
    return Value::error();
  if (e.op == syntax::BinaryOp::MatMul)
    return usable(a, e.lhs->span) && usable(b, e.rhs->span) ? matmul(a, e.lhs->span, b, e.rhs->span, e.span)
                                                            : Value::error();
  if (e.op >= syntax::BinaryOp::Lt && e.op <= syntax::BinaryOp::Ne) {
    auto op = CompareOp(int(e.op) - int(syntax::BinaryOp::Lt));
    return compareValues(op, a, e.lhs->span, b, e.rhs->span, e.span);
  }
  return binaryOf(e.op, a, e.lhs->span, b, e.rhs->span, e.span);
}

Value Checker::binaryOf(syntax::BinaryOp op, const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  return binary(arithmetic(op), a, spanA, b, spanB, span);
}

/// Whether an instruction may run although the program would not have reached it: it touches no memory, has no effect,
/// promises nothing and cannot be without a result.
static bool harmless(const Inst &inst) {
  auto isOneOf = [&]<typename... T>(std::type_identity<T>...) {
    return (std::holds_alternative<T>(inst.payload) || ...);
  };
  if (auto *binary = std::get_if<BinaryInst>(&inst.payload)) // no division that could be by zero, no negative power
    return binary->op != sema::BinaryOp::Pow &&
           (binary->op < sema::BinaryOp::FloorDiv || binary->op > sema::BinaryOp::CDiv);
  using std::type_identity;
  return inst.blocks.empty() &&
         !isOneOf(type_identity<LoadInst>(), type_identity<StoreInst>(), type_identity<ViewAtomicInst>(),
                  type_identity<GatherInst>(), type_identity<ScatterInst>(), type_identity<AtomicInst>(),
                  type_identity<ExtractInst>(), type_identity<InsertInst>(), type_identity<AssumeDivisibleInst>(),
                  type_identity<PrintInst>(), type_identity<AssertInst>(), type_identity<GridWaitInst>(),
                  type_identity<GridLaunchInst>());
}

/// `&&` and `||`. What the left side decides while compiling leaves the right side unchecked.
Value Checker::logicExpr(const BinaryExpr &e, const Value &a) {
  bool isAnd = e.op == syntax::BinaryOp::And;
  auto boolean = [&](const Value &v, Span span) {
    if (!usable(v, span))
      return false;
    if (v.isTileLike() && !v.isUntyped() && dtypeOf(v) == DType::bool_)
      return true;
    report(Diag::OperandType, span, fmt::format("'{}' takes bools, not {}", syntax::spelling(e.op), typeName(v)),
           v.isTileLike() ? "compare it, as in 'x != 0'" : "");
    return false;
  };
  if (!boolean(a, e.lhs->span))
    return Value::error();
  if (a.isConstScalar()) {
    if ((a.bits != 0) != isAnd)
      return a; // decided: the right side is not looked at
    Value b = expr(*e.rhs);
    return boolean(b, e.rhs->span) ? b : Value::error();
  }
  sema::Block right;
  Value b;
  std::vector<VarState> before = snapshot();
  {
    Builder::Into into(builder, right);
    b = expr(*e.rhs);
  }
  if (!keepsVariables(before, e.rhs->span, fmt::format("the right side of '{}'", syntax::spelling(e.op))) ||
      !boolean(b, e.rhs->span))
    return Value::error();
  bool scalars = shapeOf(a).empty() && shapeOf(b).empty();
  sema::BinaryOp op = isAnd ? sema::BinaryOp::And : sema::BinaryOp::Or;
  if (!scalars || std::ranges::all_of(right.insts, harmless)) {
    builder.splice(right);
    auto pair = unify(a, e.lhs->span, b, e.rhs->span, e.span);
    return pair ? emitBinary({op}, pair->a, pair->b, e.span) : Value::error();
  }
  // Short-circuit: the right side runs only where the left one leaves it open.
  sema::Block decided;
  Value known;
  {
    Builder::Into into(builder, decided);
    known = materialize(Value::ofBool(!isAnd), e.span);
    builder.emitVoid(YieldInst{}, {known.id}, e.span);
  }
  {
    Builder::Into into(builder, right);
    b = materialize(b, e.rhs->span);
    builder.emitVoid(YieldInst{}, {b.id}, e.span);
  }
  Type type{TypeKind::Tile, DType::bool_, {}, 0};
  Inst inst{IfInst{}, e.span, {a.id}, {builder.newValue(type)}, {}};
  inst.blocks.push_back(isAnd ? std::move(right) : std::move(decided));
  inst.blocks.push_back(isAnd ? std::move(decided) : std::move(right));
  ValueId id = inst.results[0];
  builder.append(std::move(inst));
  return Value::tile(id, type, a.origin);
}

Value Checker::tupleExpr(const TupleExpr &e) {
  std::vector<Value> elements;
  bool good = true;
  for (const ExprPtr &element : e.elements) {
    elements.push_back(expr(*element));
    good &= usable(elements.back(), element->span);
  }
  if (good && tupleParts(elements) > maxTupleParts)
    return fail(Diag::TupleTooLarge, e.span, "this tuple has over 65,536 parts");
  return good ? Value::tuple(std::move(elements)) : Value::error();
}

Value Checker::tupleItem(const TupleItemExpr &e) {
  Value t = expr(*e.tuple);
  if (!usable(t, e.tuple->span))
    return Value::error();
  if (!t.is(ValueKind::Tuple))
    return fail(Diag::OperandType, e.span,
                fmt::format("'.{}' takes an item of a tuple, not of {}", e.index, typeName(t)));
  if (e.index >= t.elements.size())
    return fail(Diag::AxisOutOfRange, e.indexSpan,
                fmt::format("there is no item {} in a tuple of {}", e.index, t.elements.size()));
  return t.elements[e.index];
}

/// `x[…]`: new axes of a tile, or an item of a tuple.
Value Checker::indexExpr(const IndexExpr &e) {
  Value base = expr(*e.base);
  if (!usable(base, e.base->span))
    return Value::error();
  if (base.isTileLike())
    return insertAxes(e, base);
  if (!base.is(ValueKind::Tuple)) {
    bool memory = base.is(ValueKind::Array) || base.is(ValueKind::View);
    return fail(Diag::OperandType, e.span, fmt::format("{} cannot be indexed with '[…]'", typeName(base)),
                memory ? "read a tile of it with '.tiled(…).load(…)'" : "");
  }
  if (e.subscripts.size() != 1 || e.subscripts[0].kind != Subscript::Kind::Value)
    return fail(Diag::OperandType, e.span, "a tuple is indexed with one integer");
  Span span = e.subscripts[0].span;
  auto i = constInt(expr(*e.subscripts[0].value), span, "the index of a tuple");
  if (!i)
    return Value::error();
  if (*i < 0 || size_t(*i) >= base.elements.size())
    return fail(Diag::AxisOutOfRange, span,
                fmt::format("there is no item {} in a tuple of {}", *i, base.elements.size()));
  return base.elements[size_t(*i)];
}

Value Checker::insertAxes(const IndexExpr &e, const Value &base) {
  std::vector<int64_t> shape;
  size_t axis = 0;
  const std::vector<int64_t> &old = shapeOf(base);
  for (const Subscript &subscript : e.subscripts) {
    if (subscript.kind == Subscript::Kind::Value)
      return fail(Diag::OperandType, subscript.span, "an element of a tile cannot be picked by index",
                  "only ':' and 'none' stand between the brackets of a tile");
    if (subscript.kind == Subscript::Kind::NewAxis) {
      shape.push_back(1);
      continue;
    }
    shape.push_back(axis < old.size() ? old[axis] : 1);
    ++axis;
  }
  if (axis != old.size())
    return fail(Diag::WrongRank, e.span,
                fmt::format("{} ':' for a tile of rank {}: one for each axis", axis, old.size()));
  Value v = materialize(base, e.span);
  if (v.isError())
    return v;
  if (!v.origin)
    v.origin = origin(e.span, "a tile is a run-time value");
  v.type.shape = shape;
  // A scalar has no order to keep: it is repeated.
  v.id = old.empty() ? builder.emit(BroadcastInst{}, {v.id}, v.type, e.span)
                     : builder.emit(ReshapeInst{}, {v.id}, v.type, e.span);
  return v;
}

} // namespace tilec::sema
