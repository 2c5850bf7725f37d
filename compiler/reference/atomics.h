#pragma once
// What an atomic makes of an element.
#include "compiler/reference/memory_access.h"

namespace tilec::reference {

/// The new element from the old one and the operand, all in the encoding of a tile's lanes.
using Combiner = uint64_t (*)(uint64_t old, uint64_t operand);

/// How atomics of a kind combine elements of a type. xchg and cas write the operand.
Result<Combiner> combiner(Compiler &c, tile::AtomicKind kind, mlir::Type type, bool isUnsigned);

/// What an atomic knows before it runs, and what it leaves behind.
struct Change {
  Combiner combine;
  bool replaces;   ///< the new element does not depend on the old one
  Taint unwritten; ///< names an element that nothing was stored to
};

/// Why an element of scratch memory is undefined.
inline Taint taintOf(const Memory &memory, int64_t offset, Taint unwritten) {
  Taint taint = memory.undefined.empty() ? Taint(0) : memory.undefined[size_t(offset - memory.low)];
  return taint == neverStored ? unwritten : taint;
}

/// One lane of an atomic that takes place; the caller holds the memory's lock. Gives what was there.
template <typename E, typename L>
L changeAtomically(Frame &frame, Memory &memory, const AccessPoint &point, const E &elements, int64_t offset, L operand,
                   Taint taint, const Change &change) {
  std::byte *data = memory.view.data;
  L old = elements.load(data, offset), next = L(change.combine(uint64_t(old), uint64_t(operand)));
  if (!memory.writers.empty())
    changes(frame, memory, point, offset, elements.value(old) != elements.value(next));
  elements.store(data, offset, next);
  if (!taint && !change.replaces)
    taint = taintOf(memory, offset, change.unwritten);
  if (taint || !memory.undefined.empty())
    storeTaint(frame, memory, point, offset, taint);
  return old;
}

} // namespace tilec::reference
