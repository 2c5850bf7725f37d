// The checker's reports and what a place may demand of a value: known while compiling, an integer, a tile shape.
#include "compiler/sema/checker.h"
#include "compiler/base/text.h"
#include "compiler/syntax/imports.h"
#include <bit>

namespace tilec::sema {

FileNames::FileNames(const syntax::File &file) {
  // A name declared twice is reported once for the file; here the first one stands.
  for (const syntax::File *part : syntax::filesOf(file))
    for (const syntax::DeclPtr &decl : part->decls) {
      if (auto *fn = syntax::dynAs<syntax::FnDecl>(decl))
        fns.emplace(fn->name.text, fn);
      else if (auto *constant = syntax::dynAs<syntax::ConstDecl>(decl))
        consts.emplace(constant->name.text, constant);
      else if (auto *kernel = syntax::dynAs<syntax::KernelDecl>(decl); kernel && part == &file)
        kernels.emplace(kernel->name.text, kernel);
      else if (auto *import = syntax::dynAs<syntax::ImportDecl>(decl))
        hasImports |= !import->file;
    }
}

Checker::Checker(const syntax::File &file, const SourceManager &sources, Diagnostics &diags)
    : sources(sources), diags(diags), names(file) {}

/// Every report of the checker goes through here: it adds the calls that led to the place.
Diagnostic &Checker::report(Diag diag, Span span, std::string message, std::string help) {
  Diagnostic &d = diags.report(diag, span, std::move(message));
  d.help = std::move(help);
  // The chain of calls that led here, innermost first; a call that repeats in a recursion says nothing new.
  for (size_t i = calls.size(), shown = 0; i-- > 0 && shown < chainShown;) {
    bool repeats = i + 1 < calls.size() && calls[i].call.begin == calls[i + 1].call.begin;
    if (repeats)
      continue;
    d.notes.push_back({calls[i].call, fmt::format("in '{}', called here", calls[i].name)});
    ++shown;
  }
  chain = d.notes.size();
  return d;
}

void Checker::note(Diagnostic &d, DiagNote place) {
  // What belongs to the error itself stands in front of the chain of calls.
  d.notes.insert(d.notes.end() - std::ptrdiff_t(std::min(chain, d.notes.size())), std::move(place));
}

Value Checker::fail(Diag diag, Span span, std::string message, std::string help) {
  report(diag, span, std::move(message), std::move(help));
  return Value::error();
}

Value Checker::fail(const Fault &fault, Span span) { return fail(fault.diag, span, fault.message, fault.help); }

Value Checker::notBuilt(Span span, std::string_view what) {
  return fail(Diag::NotBuilt, span, fmt::format("{} is not built yet", what));
}

const Origin *Checker::origin(Span span, std::string reason) {
  origins.push_back({span, std::move(reason)});
  return &origins.back();
}

std::string Checker::textOf(Span span) const {
  std::string text;
  for (char c : sources.text(span))
    if (bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' '; !blank || (!text.empty() && text.back() != ' '))
      text += blank ? ' ' : c;
  constexpr size_t most = 40;
  if (text.size() <= most)
    return text;
  size_t cut = most;
  while (cut > 0 && (uint8_t(text[cut]) & 0xC0) == 0x80) // not inside a code point
    --cut;
  return text.substr(0, cut) + "…";
}

bool Checker::usable(const Value &value, Span span) {
  if (value.isError())
    return false;
  if (!value.is(ValueKind::Unit))
    return true;
  report(Diag::NoValue, span, fmt::format("'{}' gives no value", textOf(span)));
  return false;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Compile-time demands
//===--------------------------------------------------------------------------------------------------------------===//

/// The first part of a value that is known only at run time.
static const Value *runTimePart(const Value &value) {
  if (!value.is(ValueKind::Tuple))
    return value.isConst() ? nullptr : &value;
  for (const Value &element : value.elements)
    if (const Value *part = runTimePart(element))
      return part;
  return nullptr;
}

/// Reports a value that is not known while compiling, with the place where it stopped being known.
bool Checker::needConst(const Value &value, Span span, std::string_view what) {
  if (!usable(value, span))
    return false;
  const Value *part = runTimePart(value);
  if (!part)
    return true;
  Diagnostic &d =
      report(Diag::NeedsCompileTime, span,
             fmt::format("{} must be a compile-time value, but '{}' is known only at run time", what, textOf(span)));
  if (part->origin)
    note(d, DiagNote{part->origin->span, part->origin->reason});
  return false;
}

std::optional<int64_t> Checker::constInt(const Value &value, Span span, std::string_view what) {
  if (!needConst(value, span, what))
    return std::nullopt;
  BigInt number = 0;
  if (value.is(ValueKind::Int)) {
    number = value.integer;
  } else if (value.is(ValueKind::Typed) && isInt(value.dtype)) {
    number = integerOf(value);
  } else {
    report(Diag::ConstantKind, span,
           fmt::format("{} must be an integer, not {} ({})", what, describe(value),
                       value.is(ValueKind::Typed) ? typeName(value) : typeName(value)));
    return std::nullopt;
  }
  if (number < INT64_MIN || number > INT64_MAX) {
    report(Diag::LiteralDoesNotFit, span, fmt::format("{} does not fit in 64 bits", toString(number)));
    return std::nullopt;
  }
  return int64_t(number);
}

std::optional<bool> Checker::constBool(const Value &value, Span span, std::string_view what) {
  if (!needConst(value, span, what))
    return std::nullopt;
  if (value.isBool())
    return value.bits != 0;
  report(Diag::ConstantKind, span, fmt::format("{} must be true or false, not {}", what, describe(value)));
  return std::nullopt;
}

std::optional<DType> Checker::constDType(const Value &value, Span span, std::string_view what) {
  if (!usable(value, span))
    return std::nullopt;
  if (value.is(ValueKind::DType))
    return value.dtype;
  report(Diag::ConstantKind, span, fmt::format("{} must be a dtype such as f32, not {}", what, describe(value)));
  return std::nullopt;
}

/// The rules of tile shapes. `places` has one span for each extent.
bool Checker::checkTileShape(const std::vector<int64_t> &shape, const std::vector<Span> &places, Span span) {
  bool good = true;
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t n = shape[i];
    if (n > 0 && std::has_single_bit(uint64_t(n))) {
      elements = elements > maxTileElements || n > maxTileElements ? maxTileElements + 1 : elements * n;
      continue;
    }
    good = false;
    std::string help = "a tile has at least one element along each axis";
    if (n > 0 && n < maxTileElements) {
      int64_t above = int64_t(std::bit_ceil(uint64_t(n)));
      help = fmt::format("the nearest powers of two are {} and {}; a tile may reach past the edge of its array",
                         above / 2, above);
    }
    report(Diag::NotPowerOfTwo, places[i],
           fmt::format("extents of a tile are powers of two, and extent {} of this one is {}", i, n), help);
  }
  if (good && elements > maxTileElements) {
    report(Diag::TileTooLarge, span, fmt::format("a tile {} has more than 2^24 elements", shapeText(shape)),
           "cut the work into smaller tiles");
    return false;
  }
  return good;
}

/// A shape from arguments, each an extent or a tuple of them.
std::optional<std::vector<int64_t>> Checker::tileShape(const std::vector<BoundArg> &args, Span span) {
  std::vector<int64_t> shape;
  std::vector<Span> places;
  bool good = true;
  auto add = [&](const Value &value, Span place) {
    if (auto n = constInt(value, place, "an extent of a tile")) {
      shape.push_back(*n);
      places.push_back(place);
    } else {
      good = false;
    }
  };
  for (const BoundArg &arg : args) {
    if (!arg.value.is(ValueKind::Tuple)) {
      add(arg.value, arg.span);
      continue;
    }
    for (const Value &element : arg.value.elements) // a shape may come as a tuple
      add(element, arg.span);
  }
  if (!good || !checkTileShape(shape, places, span))
    return std::nullopt;
  return shape;
}

std::optional<int64_t> Checker::axisOf(const BoundArg &arg, int64_t rank, bool mayBeNegative) {
  auto axis = constInt(arg.value, arg.span, "an axis");
  if (!axis)
    return std::nullopt;
  int64_t lowest = mayBeNegative ? -rank : 0;
  if (*axis >= lowest && *axis < rank)
    return *axis < 0 ? *axis + rank : *axis;
  std::string legal = rank == 0 ? "a scalar has no axes" : fmt::format("axes run from {} to {}", lowest, rank - 1);
  report(Diag::AxisOutOfRange, arg.span, fmt::format("there is no axis {}: {}", *axis, legal));
  return std::nullopt;
}

} // namespace tilec::sema
