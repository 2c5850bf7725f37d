#include "compiler/reference/atomics.h"
#include "compiler/reference/numeric.h"

using namespace mlir;

namespace tilec::reference {

namespace {

template <typename E> struct FloatElement {
  using S = typename E::Storage;
  static auto decode(uint64_t bits) {
    S storage;
    std::memcpy(&storage, &bits, sizeof(S));
    return E::decode(storage);
  }
  template <typename V> static uint64_t encode(V value) {
    S storage = E::encode(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &storage, sizeof(S));
    return bits;
  }
  static Combiner find(tile::AtomicKind kind) {
    switch (kind) {
    case tile::AtomicKind::add:
      return [](uint64_t a, uint64_t b) { return encode(decode(a) + decode(b)); };
    case tile::AtomicKind::min:
      return [](uint64_t a, uint64_t b) { return encode(minimum<false>(decode(a), decode(b))); };
    case tile::AtomicKind::max:
      return [](uint64_t a, uint64_t b) { return encode(maximum<false>(decode(a), decode(b))); };
    default:
      return nullptr;
    }
  }
};

/// Lanes come as 64 bits of which those of the type count.
template <typename T> Combiner findInteger(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::add:
    return [](uint64_t a, uint64_t b) { return a + b; };
  case tile::AtomicKind::min:
    return [](uint64_t a, uint64_t b) { return T(a) < T(b) ? a : b; };
  case tile::AtomicKind::max:
    return [](uint64_t a, uint64_t b) { return T(a) > T(b) ? a : b; };
  case tile::AtomicKind::and_:
    return [](uint64_t a, uint64_t b) { return a & b; };
  case tile::AtomicKind::or_:
    return [](uint64_t a, uint64_t b) { return a | b; };
  case tile::AtomicKind::xor_:
    return [](uint64_t a, uint64_t b) { return a ^ b; };
  default:
    return nullptr;
  }
}

} // namespace

Result<Combiner> combiner(Compiler &c, tile::AtomicKind kind, Type type, bool isUnsigned) {
  if (kind == tile::AtomicKind::xchg || kind == tile::AtomicKind::cas)
    return [](uint64_t, uint64_t operand) { return operand; };
  DType dtype = c.storage(type);
  Combiner found = nullptr;
  switch (dtype) {
  case DType::f64:
    found = FloatElement<F64>::find(kind);
    break;
  case DType::f32:
    found = FloatElement<F32>::find(kind);
    break;
  case DType::f16:
    found = FloatElement<F16>::find(kind);
    break;
  case DType::bf16:
    found = FloatElement<BF16>::find(kind);
    break;
  default:
    if (!isFloat(dtype))
      TILEC_TRY(withInteger(dtype, !isUnsigned && dtype != DType::bool_,
                            [&](auto zero) { found = findInteger<decltype(zero)>(kind); }));
  }
  if (!found)
    return internalError("atomic {} of {}", std::string_view(tile::stringifyAtomicKind(kind)), name(dtype));
  return found;
}

} // namespace tilec::reference
