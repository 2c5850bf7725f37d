#include "compiler/lower/words.h"

using namespace mlir;

namespace tilec::lower {
namespace {

/// How a vector travels: as words of PTX's untyped kinds.
struct Words {
  Type type;
  int64_t count;
  char constraint;
  std::string suffix; ///< .v4.b32
};

Words wordsOf(KernelLowering &k, const VectorAccess &access) {
  int64_t bytes = access.elements * access.element.getIntOrFloatBitWidth() / 8;
  if (bytes >= 4) {
    int64_t count = bytes / 4;
    return {k.i32(), count, 'r', count == 1 ? ".b32" : ".v" + std::to_string(count) + ".b32"};
  }
  // PTX has no 8-bit registers: a byte travels in a 16-bit one.
  return {k.b.getI16Type(), 1, 'h', bytes == 2 ? ".b16" : ".b8"};
}

/// `{$0, $1, $2, $3}`, or `$0` alone.
std::string operandList(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count == 1 ? text : "{" + text + "}";
}

/// Several scalars as one vector, then as another type of the same size.
Value join(KernelLowering &k, ArrayRef<Value> parts, Type type) {
  Value whole = parts.front();
  if (parts.size() > 1) {
    whole = LLVM::UndefOp::create(k.b, k.loc, VectorType::get(int64_t(parts.size()), whole.getType()));
    for (auto [i, part] : llvm::enumerate(parts))
      whole = LLVM::InsertElementOp::create(k.b, k.loc, whole, part, k.constant(k.i32(), int64_t(i)));
  }
  return whole.getType() == type ? whole : LLVM::BitcastOp::create(k.b, k.loc, type, whole).getResult();
}

SmallVector<Value> take(KernelLowering &k, Value whole, int64_t count) {
  if (count == 1)
    return {whole};
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractElementOp::create(k.b, k.loc, whole, k.constant(k.i32(), i)));
  return parts;
}

Type vectorOrScalar(Type element, int64_t count) { return count == 1 ? element : VectorType::get(count, element); }

SmallVector<Value> toWords(KernelLowering &k, const Words &words, ArrayRef<Value> elements) {
  if (elements.size() == 1 && elements.front().getType().isInteger(8))
    return {k.resize(elements.front(), words.type, false)};
  return take(k, join(k, elements, vectorOrScalar(words.type, words.count)), words.count);
}

} // namespace

SmallVector<Value> fromWords(KernelLowering &k, const VectorAccess &access, ArrayRef<Value> words) {
  if (access.elements == 1 && access.element.isInteger(8))
    return {k.resize(words.front(), access.element, false)};
  return take(k, join(k, words, vectorOrScalar(access.element, access.elements)), access.elements);
}

SmallVector<Value> loadWords(KernelLowering &k, const VectorAccess &access, Value address, Value guard,
                             const std::optional<APInt> &padding) {
  Words words = wordsOf(k, access);
  std::string text = ("ld." + access.space + words.suffix + " ").str() + operandList(0, words.count) + ", [$" +
                     std::to_string(words.count) + "];";
  std::string constraints;
  for (int64_t i = 0; i < words.count; ++i)
    constraints += std::string("=") + words.constraint + ",";
  constraints += "l";
  SmallVector<Value> operands = {address};
  if (guard) {
    text = "@$" + std::to_string(words.count + 1) + " " + text;
    constraints += ",b";
    operands.push_back(guard);
  }
  if (guard && padding) {
    // The padding waits in the result registers, tied to them.
    unsigned bits = words.type.getIntOrFloatBitWidth();
    bool repeats = padding->getBitWidth() < bits && access.elements > 1;
    APInt image = repeats ? APInt::getSplat(bits, *padding) : padding->zext(std::max(bits, padding->getBitWidth()));
    for (int64_t i = 0; i < words.count; ++i) {
      constraints += "," + std::to_string(i);
      operands.push_back(k.constantBits(words.type, image.extractBits(bits, unsigned(i) * bits % image.getBitWidth())));
    }
  }
  return k.assembly(text, constraints, SmallVector<Type>(size_t(words.count), words.type), operands,
                    access.volatileLoad);
}

void storeVector(KernelLowering &k, const VectorAccess &access, Value address, ArrayRef<Value> elements, Value guard) {
  Words words = wordsOf(k, access);
  std::string text = ("st." + access.space + words.suffix + " [$0], ").str() + operandList(1, words.count) + ";";
  std::string constraints = "l";
  for (int64_t i = 0; i < words.count; ++i)
    constraints += std::string(",") + words.constraint;
  SmallVector<Value> operands = {address};
  llvm::append_range(operands, toWords(k, words, elements));
  if (guard) {
    text = "@$" + std::to_string(words.count + 1) + " " + text;
    constraints += ",b";
    operands.push_back(guard);
  }
  k.assembly(text, constraints + ",~{memory}", {}, operands, /*sideEffects=*/true);
}

} // namespace tilec::lower
