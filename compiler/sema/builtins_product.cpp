// Matrix products: mma, `@`, and products of block-scaled tiles.
#include "compiler/base/text.h"
#include "compiler/sema/checker.h"
#include <fmt/ranges.h>

namespace tilec::sema {
namespace {

/// Which dtypes multiply, and what sums them: the default first.
struct ProductRow {
  std::vector<DType> operands;
  std::vector<DType> accumulators;
};
const std::vector<ProductRow> &productRows() {
  static const std::vector<ProductRow> rows = {
      {{DType::f16}, {DType::f32, DType::f16}},
      {{DType::bf16}, {DType::f32}},
      {{DType::tf32}, {DType::f32}},
      {{DType::f32}, {DType::f32}},
      {{DType::f64}, {DType::f64}},
      {{DType::f8e4m3, DType::f8e5m2}, {DType::f32, DType::f16}},
      {{DType::i8, DType::u8}, {DType::i32}},
  };
  return rows;
}

bool has(const std::vector<DType> &list, DType t) { return std::ranges::find(list, t) != list.end(); }

std::string listText(const std::vector<DType> &list, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == list.size() ? fmt::format(" {} ", last) : ", ", name(list[i]));
  return text;
}

const ProductRow *productRow(DType a, DType b) {
  for (const ProductRow &row : productRows())
    if (has(row.operands, a) && has(row.operands, b))
      return &row;
  return nullptr;
}

constexpr std::string_view factors = "f16, bf16, tf32, f32 and f64 multiply with their own dtype, f8e4m3 and f8e5m2 "
                                     "with each other, and so do i8 and u8";

} // namespace

/// Factors of one dtype, or of two that multiply; both tiles.
bool Checker::productDTypes(const BoundArg &a, const BoundArg &b, Span span) {
  for (const BoundArg *arg : {&a, &b})
    if (!arg->value.isTile()) {
      report(Diag::MatrixProduct, arg->span,
             fmt::format("a matrix product takes tiles of rank 2 or 3, not {}", typeName(arg->value)));
      return false;
    }
  DType x = a.value.type.dtype, y = b.value.type.dtype;
  if (productRow(x, y))
    return true;
  bool eachAlone = productRow(x, x) && productRow(y, y);
  Diagnostic &d = report(Diag::MatrixProduct, span,
                         eachAlone ? fmt::format("{} and {} do not multiply with each other", name(x), name(y))
                                   : fmt::format("there is no matrix product of {}", name(productRow(x, x) ? y : x)),
                         eachAlone ? "convert one of them with '.to(T)'" : std::string(factors));
  note(d, DiagNote{a.span, fmt::format("this is {}", typeName(a.value))});
  note(d, DiagNote{b.span, fmt::format("this is {}", typeName(b.value))});
  return false;
}

/// (M, K)(K, N) gives (M, N), with one batch axis in front or none. Empty: something was reported.
std::vector<int64_t> Checker::productShape(const BoundArg &a, const BoundArg &b, Span span) {
  const std::vector<int64_t> &x = shapeOf(a.value), &y = shapeOf(b.value);
  size_t rank = x.size();
  auto refuse = [&](std::string message, std::string help = "") {
    report(Diag::MatrixProduct, span, std::move(message), std::move(help));
    return std::vector<int64_t>();
  };
  if ((rank != 2 && rank != 3) || y.size() != rank)
    return refuse(
        fmt::format("tiles {} and {} are no two matrices, nor two batches of them", shapeText(x), shapeText(y)),
        rank == 1 || y.size() == 1 ? "a row is 'x[none, :]', a column 'x[:, none]'" : "");
  if (x[rank - 1] != y[rank - 2])
    return refuse(fmt::format("{} times {}: the rows of the left have {} elements, the columns of the right {}",
                              shapeText(x), shapeText(y), x[rank - 1], y[rank - 2]),
                  y[rank - 1] == x[rank - 1] && rank == 2 ? "did you mean the transpose of the right, 'b.T'?" : "");
  if (rank == 3 && x[0] != y[0])
    return refuse(
        fmt::format("{} times {}: one has {} matrices, the other {}", shapeText(x), shapeText(y), x[0], y[0]));
  std::vector<int64_t> shape = x;
  shape[rank - 1] = y[rank - 1];
  if (!checkTileShape(shape, std::vector<Span>(rank, span), span))
    return {};
  return shape;
}

Value Checker::emitMma(const Value &a, const Value &b, const Value &acc, bool fastAcc, Span span) {
  const Origin *why = a.origin ? a.origin : b.origin ? b.origin : acc.origin;
  return Value::tile(builder.emit(MmaInst{fastAcc}, {a.id, b.id, acc.id}, acc.type, span), acc.type, why);
}

/// The accumulator is a tile of the result's shape.
bool Checker::accumulates(const BoundArg &acc, const std::vector<int64_t> &shape,
                          const std::vector<DType> &accumulators, std::string_view of) {
  std::string form = fmt::format("'zeros<{}>({})'", name(accumulators.front()), fmt::join(shape, ", "));
  if (!acc.value.isTile() || acc.value.type.shape != shape) {
    report(Diag::MatrixProduct, acc.span,
           fmt::format("the accumulator of this product is a tile {}, not {}", shapeText(shape), typeName(acc.value)),
           fmt::format("start with {}", form));
    return false;
  }
  if (has(accumulators, acc.value.type.dtype))
    return true;
  report(Diag::MatrixProduct, acc.span,
         fmt::format("products of {} are summed in {}, not in {}", of, listText(accumulators, "or"),
                     name(acc.value.type.dtype)),
         fmt::format("start with {}", form));
  return false;
}

Value Checker::callMma(BuiltinCall &call) {
  const BoundArg &a = *call.find("a"), &b = *call.find("b"), &acc = *call.find("acc");
  auto fast = flag(call, "fast_acc");
  if (!fast || !productDTypes(a, b, call.span))
    return Value::error();
  std::vector<int64_t> shape = productShape(a, b, call.span);
  DType t = a.value.type.dtype;
  if (shape.empty() || !accumulates(acc, shape, productRow(t, b.value.type.dtype)->accumulators, name(t)))
    return Value::error();
  if (*fast && t != DType::f8e4m3 && t != DType::f8e5m2)
    return fail(Diag::MatrixProduct, call.find("fast_acc")->span,
                fmt::format("'fast_acc' sums products of fp8 in fewer bits, and these are of {}", name(t)),
                "leave it out");
  return emitMma(a.value, b.value, acc.value, *fast, call.span);
}

/// `a @ b` starts from zeros and gives the dtype of its factors; those without arithmetic give that of their sums.
Value Checker::matmul(const Value &a, Span spanA, const Value &b, Span spanB, Span span) {
  BoundArg x{a, spanA, nullptr, nullptr}, y{b, spanB, nullptr, nullptr};
  // Floats of two widths meet in the wider one.
  auto arithmetic = [](const Value &v) { return v.isTile() && isFloat(v.type.dtype) && hasArithmetic(v.type.dtype); };
  if (arithmetic(a) && arithmetic(b)) {
    auto t = commonDType(a, spanA, b, spanB, span);
    if (!t)
      return Value::error();
    x.value = convertTo(a, *t, spanA), y.value = convertTo(b, *t, spanB);
  }
  if (!productDTypes(x, y, span))
    return Value::error();
  std::vector<int64_t> shape = productShape(x, y, span);
  if (shape.empty())
    return Value::error();
  DType t = x.value.type.dtype, sum = productRow(t, y.value.type.dtype)->accumulators.front();
  Value zero = broadcastTo(materialize(Value::typed(sum, 0), span), shape, span);
  Value product = emitMma(x.value, y.value, zero, false, span);
  return isFloat(t) && hasArithmetic(t) ? convertTo(product, t, span) : product;
}

//===--------------------------------------------------------------------------------------------------------------===//
// Block-scaled products
//===--------------------------------------------------------------------------------------------------------------===//

/// A factor in f32 with its scales multiplied in. Each scale is for `block` elements along the axis of the product,
/// `along` of the factor.
Value Checker::dequantized(const BoundArg &x, const BoundArg &scale, size_t along) {
  bool isFp4 = x.value.type.dtype == DType::f4e2m1;
  const std::vector<int64_t> shape = x.value.type.shape;
  if (!scale.value.isTile() || scale.value.type.shape.size() != shape.size())
    return fail(Diag::MatrixProduct, scale.span,
                fmt::format("the scales of a tile {} are a tile of rank {}, not {}", shapeText(shape), shape.size(),
                            typeName(scale.value)));
  const std::vector<int64_t> &scales = scale.value.type.shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != along && scales[i] != shape[i])
      return fail(Diag::MatrixProduct, scale.span,
                  fmt::format("scales {} do not go with a tile {}: axis {} has {} and {} elements", shapeText(scales),
                              shapeText(shape), i, scales[i], shape[i]));
  int64_t block = shape[along] / scales[along];
  DType t = scale.value.type.dtype;
  bool fits = isFp4 ? (t == DType::f8e8m0 && (block == 16 || block == 32)) || (t == DType::f8e4m3 && block == 16)
                    : t == DType::f8e8m0 && block == 32;
  if (!fits)
    return fail(Diag::MatrixProduct, scale.span,
                fmt::format("{} has no scale of {} for {} element{}", name(x.value.type.dtype), name(t), block,
                            block == 1 ? "" : "s"),
                isFp4 ? "f4e2m1 has scales of f8e8m0 for 16 or 32 elements, or of f8e4m3 for 16"
                      : "fp8 has scales of f8e8m0 for 32 elements");
  Value wide = convertTo(scale.value, DType::f32, scale.span);
  std::vector<int64_t> split = scales;
  split.insert(split.begin() + std::ptrdiff_t(along) + 1, 1);
  wide = reshaped(wide, split, scale.span);
  split[along + 1] = block;
  wide = reshaped(broadcastTo(wide, split, scale.span), shape, scale.span);
  return emitBinary({BinaryOp::Mul}, convertTo(x.value, DType::f32, x.span), wide, x.span);
}

/// Exact products of the numbers that codes and scales stand for.
Value Checker::callMmaScaled(BuiltinCall &call) {
  const BoundArg &a = *call.find("a"), &sa = *call.find("sa"), &b = *call.find("b"), &sb = *call.find("sb"),
                 &acc = *call.find("acc");
  auto isFp8 = [](DType t) { return t == DType::f8e4m3 || t == DType::f8e5m2; };
  auto isFp4 = [](DType t) { return t == DType::f4e2m1; };
  bool tiles = a.value.isTile() && b.value.isTile();
  bool fits = tiles && ((isFp8(a.value.type.dtype) && isFp8(b.value.type.dtype)) ||
                        (isFp4(a.value.type.dtype) && isFp4(b.value.type.dtype)));
  if (!fits)
    return fail(Diag::MatrixProduct, call.span,
                fmt::format("'mma_scaled' multiplies tiles of fp8 or of f4e2m1, not {} and {}", typeName(a.value),
                            typeName(b.value)),
                "f8e4m3 and f8e5m2 multiply with each other, f4e2m1 with itself");
  std::vector<int64_t> shape = productShape(a, b, call.span);
  if (shape.empty() || !accumulates(acc, shape, {DType::f32}, name(a.value.type.dtype)))
    return Value::error();
  size_t rank = shape.size();
  Value x = dequantized(a, sa, rank - 1), y = dequantized(b, sb, rank - 2);
  if (x.isError() || y.isError())
    return Value::error();
  return emitMma(x, y, acc.value, false, call.span);
}

} // namespace tilec::sema
