// A kernel's body: the names its signature gives, and compile-time constants of the file.
#include "compiler/sema/checker.h"
#include "compiler/sema/walk.h"

namespace tilec::sema {

const Value &Checker::constant(const syntax::ConstDecl &decl) {
  if (auto it = constants.find(&decl); it != constants.end())
    return it->second;
  if (!evaluating.insert(&decl).second) {
    report(Diag::ConstCycle, decl.name.span, fmt::format("the constant '{}' is made of itself", decl.name.text));
    return constants[&decl] = Value::error();
  }
  // A constant sees the file's names alone, wherever it is used.
  Scope fileScope;
  Frame fileFrame;
  Scope *outerScope = std::exchange(scope, &fileScope);
  Frame *outerFrame = std::exchange(frame, &fileFrame);
  auto outerCalls = std::exchange(calls, {});
  auto outerVars = std::exchange(variables, {});
  Value value;
  {
    Block unused; // what is no compile-time value is refused, and its instructions with it
    Builder::Into into(builder, unused);
    value = expr(*decl.value);
  }
  if (!needConst(value, decl.value->span, fmt::format("the constant '{}'", decl.name.text)))
    value = Value::error();
  if (decl.type && !value.isError() && !annotated(*decl.type, value, decl.value->span, decl.name.text, false))
    value = Value::error();
  scope = outerScope;
  frame = outerFrame;
  calls = std::move(outerCalls);
  variables = std::move(outerVars);
  evaluating.erase(&decl);
  return constants[&decl] = std::move(value);
}

/// Value of a parameter or of a clause `let` that only parameters decide.
static Value valueOf(const LaunchValue &value) {
  if (auto *i = std::get_if<int64_t>(&value))
    return Value::ofInt(*i);
  if (auto *d = std::get_if<double>(&value))
    return Value::ofFloat(*d);
  if (auto *b = std::get_if<bool>(&value))
    return Value::ofBool(*b);
  return Value::ofDType(std::get<DType>(value));
}

/// The storage encoding of a launch value as a dtype of its kind.
static uint64_t encodeLaunch(DType dtype, const LaunchValue &value) {
  if (auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (auto *real = std::get_if<double>(&value))
    return encodeFloat(dtype, *real);
  int64_t number = std::get<int64_t>(value);
  return isFloat(dtype) ? encodeFloatFromInt(dtype, number) : encodeInt(dtype, number);
}

Value Checker::symbolValue(const std::string &name, Span span, std::string reason) {
  Type type{TypeKind::Tile, indexType(), {}, 0};
  const Origin *why = origin(span, std::move(reason));
  // A symbol fixed by -D is a constant of the program, but never a compile-time value of the language.
  if (auto it = program.folded.find(name); it != program.folded.end())
    return Value::tile(builder.emit(ConstInst{encodeInt(type.dtype, it->second)}, {}, type, span), type, why);
  return Value::tile(builder.emit(SymbolInst{name}, {}, type, span), type, why);
}

/// The value of an extent, a stride or a clause `let` at a place of the body. It is made anew at each use, so that a
/// kernel takes only the symbols it needs as parameters.
Value Checker::symbolOf(Binding &binding, Span span) {
  if (binding.value.is(ValueKind::Tuple)) { // a clause `let` of a tuple
    std::vector<Value> parts;
    for (size_t i = 0; i < binding.value.elements.size(); ++i) {
      Binding part;
      part.name = fmt::format("{}.{}", binding.name, i);
      part.span = binding.span;
      part.value = binding.value.elements[i];
      parts.push_back(symbolOf(part, span));
    }
    return Value::tuple(std::move(parts));
  }
  if (binding.value.isConst())
    return binding.value;
  bool isExtent = std::ranges::find(program.symbols, binding.name) != program.symbols.end();
  if (isExtent) {
    Value value = symbolValue(binding.name, span, "");
    value.origin =
        origin(binding.span, fmt::format("'{}' is an extent or a stride, known only at a launch", binding.name));
    return value;
  }
  auto it = std::ranges::find(program.lets, binding.name, &std::pair<std::string, LaunchExpr>::first);
  if (it == program.lets.end())
    return fail(Diag::UnboundSymbol, span,
                fmt::format("with these parameters no array binds the symbol '{}'", binding.name),
                "the array that gives it does not exist: use it where that one is used");
  std::string reason = fmt::format("'{}' is computed at each launch", binding.name);
  auto letDType = letDTypes.find(binding.name);
  if (letDType == letDTypes.end()) // its expression has no value, which is said where it is computed
    return Value::error();
  LaunchEnv env;
  for (const auto &[name, value] : program.folded)
    env.values[name] = value;
  for (const auto &[name, expr] : program.lets)
    if (LaunchExpr known = substitute(expr, env); known.isLiteral())
      env.values[name] = known.literal;
  LaunchExpr folded = substitute(it->second, env);
  Type type{TypeKind::Tile, letDType->second == DType::i64 ? indexType() : letDType->second, {}, 0};
  const Origin *why = origin(span, std::move(reason));
  // What -D decides is a constant of the program, but never a compile-time value of the language.
  if (folded.isLiteral())
    return Value::tile(builder.emit(ConstInst{encodeLaunch(type.dtype, folded.literal)}, {}, type, span), type, why);
  if (letDType->second != DType::i64)
    program.letDTypes.emplace(binding.name, letDType->second);
  return Value::tile(builder.emit(SymbolInst{binding.name}, {}, type, span), type, why);
}

/// Where the signature first names a symbol.
static Span symbolSpan(const syntax::KernelDecl &kernel, const std::string &symbol) {
  std::optional<Span> found;
  Walker walker;
  walker.onExpr = [&](const syntax::Expr &e) {
    auto *name = syntax::dynAs<syntax::NameExpr>(&e);
    if (name && name->name == symbol && !found)
      found = name->span;
    return !found;
  };
  for (const syntax::KernelArg &arg : kernel.args) {
    for (const syntax::ExprPtr &extent : arg.type.extents)
      walker.walk(extent.get());
    if (arg.strides)
      for (const syntax::ExprPtr &stride : arg.strides->items)
        walker.walk(stride.get());
  }
  return found.value_or(kernel.name.span);
}

void Checker::checkBody(const syntax::KernelDecl &kernel, const KernelInterface &interface) {
  Scope signature;
  Frame whole;
  whole.isKernel = true;
  scope = &signature;
  frame = &whole;
  auto add = [&](const std::string &name, Span span, NameKind kind, Value value) {
    auto binding = std::make_unique<Binding>();
    binding->name = name;
    binding->kind = kind;
    binding->span = span;
    binding->value = std::move(value);
    signature.names.push_back(std::move(binding));
  };
  for (const std::string &symbol : program.symbols)
    add(symbol, symbolSpan(kernel, symbol), NameKind::Symbol,
        Value::tile(0, Type{TypeKind::Tile, indexType(), {}, 0}, nullptr));
  for (const std::string &symbol : interface.symbols) // of arrays that do not exist here
    if (!signature.findHere(symbol))
      add(symbol, symbolSpan(kernel, symbol), NameKind::Symbol, Value::error());
  for (size_t i = 0; i < interface.params.size(); ++i)
    add(interface.params[i].name, interface.params[i].span, NameKind::Param,
        valueOf(program.parameters.at(interface.params[i].name)));
  for (const syntax::KernelArg &arg : kernel.args) {
    bool isArray = arg.type.mode != syntax::Mode::None;
    if (isArray)
      add(arg.name.text, arg.name.span, NameKind::Array, Value::error());
    if (isArray && arg.condition)
      signature.names.back()->existsIf = arg.condition.get(), signature.names.back()->absent = true;
    for (size_t i = 0; i < program.arrays.size(); ++i)
      if (program.arrays[i].name == arg.name.text) {
        Value array;
        array.kind = ValueKind::Array;
        array.type = Type{TypeKind::Array, program.arrays[i].dtype, {}, int(program.arrays[i].extents.size())};
        array.root = i;
        signature.names.back()->value = std::move(array);
        signature.names.back()->absent = false;
      }
    for (size_t i = 0; i < program.scalars.size(); ++i)
      if (program.scalars[i].name == arg.name.text) {
        Value scalar = Value::tile(
            0, Type{TypeKind::Tile, program.scalars[i].dtype, {}, 0},
            origin(arg.name.span, fmt::format("'{}' is a scalar argument, known only at a launch", arg.name.text)));
        scalar.root = i;
        add(arg.name.text, arg.name.span, NameKind::Scalar, std::move(scalar));
      }
  }
  for (const auto &[name, expr] : program.lets) {
    // Elements of a tuple stand as `name.0`, `name.1`: they are seen through one binding of the name.
    size_t dot = name.find('.');
    Value value =
        expr.isLiteral() ? valueOf(expr.literal) : Value::tile(0, Type{TypeKind::Tile, indexType(), {}, 0}, nullptr);
    if (dot == std::string::npos) {
      add(name, kernel.name.span, NameKind::Symbol, std::move(value));
      continue;
    }
    std::string base = name.substr(0, dot);
    Binding *known = signature.findHere(base);
    if (!known) {
      add(base, kernel.name.span, NameKind::Symbol, Value::tuple({}));
      known = signature.findHere(base);
    }
    known->value.elements.push_back(std::move(value));
  }
  block(*kernel.body, false, containsExit(*kernel.body));
  scope = nullptr;
  frame = nullptr;
  nameSites();
}

} // namespace tilec::sema
