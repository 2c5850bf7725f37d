// Annotations: what a name's type must be, and names that a parameter's annotation binds from its argument.
#include "compiler/sema/checker.h"

namespace tilec::sema {

using syntax::Mode;
using syntax::TypeExpr;

/// Compares a value with an annotation and reports a difference. `binds`: names that are not in scope are bound by what
/// is found, as in the parameters of functions. An untyped number takes the dtype of its annotation.
bool Checker::annotated(const TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds) {
  if (type.isTuple()) {
    if (!value.is(ValueKind::Tuple) || value.elements.size() != type.elements.size()) {
      note(report(Diag::AnnotationMismatch, valueSpan,
                  fmt::format("'{}' is a tuple of {}, not {}", name, type.elements.size(), typeName(value))),
           {type.span, "the annotation"});
      return false;
    }
    for (size_t i = 0; i < type.elements.size(); ++i)
      if (!annotated(type.elements[i], value.elements[i], valueSpan, name, binds))
        return false;
    return true;
  }
  return type.mode == Mode::None ? annotatedTile(type, value, valueSpan, name, binds)
                                 : annotatedMemory(type, value, valueSpan, name, binds);
}

/// The dtype that an annotation names. A name not in scope is bound to `found`, where that is allowed.
std::optional<DType> Checker::annotatedDType(const TypeExpr &type, DType found, bool binds) {
  if (type.dtype)
    return *type.dtype;
  Binding *binding = scope->find(type.name.text).first;
  auto constantDecl = names.consts.find(type.name.text);
  if (!binding && constantDecl == names.consts.end()) {
    if (binds) {
      declare(type.name.text, type.name.span, NameKind::Let, Value::ofDType(found));
      return found;
    }
    report(Diag::UnknownName, type.name.span, fmt::format("there is no dtype '{}'", type.name.text),
           likelyName(type.name.text));
    return std::nullopt;
  }
  Value value = binding ? readBinding(*binding, type.name.span) : constant(*constantDecl->second);
  return constDType(value, type.name.span, "the dtype of an annotation");
}

/// One extent of a tile or view: bound, or compared.
bool Checker::annotatedExtent(const syntax::Expr &extent, const Value &found, Span valueSpan, std::string_view name,
                              bool binds) {
  auto *simple = syntax::dynAs<syntax::NameExpr>(&extent);
  if (simple && binds && !scope->find(simple->name).first && !names.consts.contains(simple->name)) {
    declare(simple->name, simple->span, NameKind::Let, found);
    return true;
  }
  auto wanted = constInt(expr(extent), extent.span, "an extent of an annotation");
  if (!wanted)
    return false;
  if (found.is(ValueKind::Int) && found.integer == *wanted)
    return true;
  note(report(Diag::AnnotationMismatch, valueSpan,
              fmt::format("'{}' has extent {} here, not {}", name, *wanted, describe(found))),
       {extent.span, "the annotation"});
  return false;
}

bool Checker::annotatedTile(const TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds) {
  auto mismatch = [&](std::string help = "") {
    note(report(Diag::AnnotationMismatch, valueSpan,
                fmt::format("'{}' is {} by its annotation, not {}", name, sources.text(type.span), typeName(value)),
                std::move(help)),
         {type.span, "the annotation"});
    return false;
  };
  if (!value.isTileLike())
    return mismatch(value.is(ValueKind::Array) ? "an array is annotated with its mode, as in 'in f32[N]'" : "");
  DType own = value.isUntyped() ? (value.is(ValueKind::Float) ? DType::f32 : DType::i32) : dtypeOf(value);
  auto dtype = annotatedDType(type, own, binds);
  if (!dtype)
    return false;
  if (value.isUntyped()) {
    Folded typed = giveDType(value, *dtype);
    if (!typed) {
      fail(typed.error(), valueSpan);
      return false;
    }
    value = *typed;
  } else if (dtypeOf(value) != *dtype) {
    return mismatch(fmt::format("convert it, as in 'x.to({})'", tilec::name(*dtype)));
  }
  const std::vector<int64_t> &shape = shapeOf(value);
  if (shape.size() != type.extents.size())
    return mismatch();
  for (size_t i = 0; i < shape.size(); ++i)
    if (!annotatedExtent(*type.extents[i], Value::ofInt(shape[i]), valueSpan, name, binds))
      return false;
  return true;
}

bool Checker::annotatedMemory(const TypeExpr &type, Value &value, Span valueSpan, std::string_view name, bool binds) {
  bool isView = type.mode == Mode::View;
  auto mismatch = [&](std::string_view why) {
    note(report(Diag::AnnotationMismatch, valueSpan,
                fmt::format("'{}' is {} by its annotation, not {}{}", name, sources.text(type.span), typeName(value),
                            why)),
         {type.span, "the annotation"});
    return false;
  };
  if (!value.is(isView ? ValueKind::View : ValueKind::Array))
    return mismatch("");
  auto dtype = annotatedDType(type, value.type.dtype, binds);
  if (!dtype)
    return false;
  size_t rank = isView ? value.type.shape.size() : size_t(value.type.rank);
  if (*dtype != value.type.dtype || rank != type.extents.size())
    return mismatch("");
  if (isView) {
    for (size_t i = 0; i < rank; ++i)
      if (!annotatedExtent(*type.extents[i], Value::ofInt(value.type.shape[i]), valueSpan, name, binds))
        return false;
    return true;
  }
  const ArraySpec &spec = program.arrays[value.root];
  Mode mode = spec.mode == ArrayMode::In      ? Mode::In
              : spec.mode == ArrayMode::Out   ? Mode::Out
              : spec.mode == ArrayMode::InOut ? Mode::InOut
                                              : Mode::Scratch;
  bool both = mode == Mode::InOut || mode == Mode::Scratch; // read and written
  bool fits = mode == type.mode || (both && type.mode != Mode::Scratch);
  if (!fits)
    return mismatch(fmt::format(": '{}' is an '{}' array", spec.name, tilec::name(spec.mode)));
  for (size_t i = 0; i < rank; ++i) {
    // A part of an array has extents that only the launch knows.
    std::string found = value.isPart ? "known only at a launch" : toString(spec.extents[i]);
    auto *simple = syntax::dynAs<syntax::NameExpr>(type.extents[i]);
    Binding *bound = simple ? scope->find(simple->name).first : nullptr;
    if (simple && binds && !bound && !names.consts.contains(simple->name)) {
      Value extent = extentOf(value, int(i), type.extents[i]->span);
      extent.text = value.isPart ? "" : found;
      declare(simple->name, simple->span, NameKind::Let, extent);
      continue;
    }
    // What another argument has bound is the same where both are the same expression of the kernel's symbols; a number
    // is compared by value.
    std::string wanted(sources.text(type.extents[i]->span));
    if (bound && bound->value.is(ValueKind::Tile) && !bound->value.text.empty())
      wanted = bound->value.text;
    else if (bound && bound->value.is(ValueKind::Int))
      wanted = describe(bound->value);
    if (value.isPart || wanted != found)
      return mismatch(fmt::format(": extent {} is {}", i, value.isPart ? found : fmt::format("'{}'", found)));
  }
  return true;
}

/// The type that `var x: f32[4]` gives a variable in advance.
std::optional<Type> Checker::annotationType(const TypeExpr &type) {
  if (type.isTuple() || type.mode != Mode::None) {
    report(Diag::AnnotationMismatch, type.span, "a variable without a value is annotated with the type of a tile");
    return std::nullopt;
  }
  auto dtype = annotatedDType(type, DType::i32, false);
  std::vector<BoundArg> extents;
  for (const syntax::ExprPtr &extent : type.extents)
    extents.push_back({expr(*extent), extent->span, extent.get(), nullptr});
  auto shape = tileShape(extents, type.span);
  if (!dtype || !shape)
    return std::nullopt;
  return Type{TypeKind::Tile, *dtype, *shape, 0};
}

} // namespace tilec::sema
