#include "compiler/reference/order.h"
#include <algorithm>

namespace tilec::reference {

bool Clock::sees(int64_t block, uint64_t time) const {
  if (floor > time)
    return true;
  auto found = std::ranges::lower_bound(known, block, {}, &Seen::block);
  return found != known.end() && found->block == block && found->release > time;
}

void Clock::learn(int64_t block, uint64_t release) {
  if (release <= floor)
    return;
  auto found = std::ranges::lower_bound(known, block, {}, &Seen::block);
  if (found != known.end() && found->block == block) {
    found->release = std::max(found->release, release);
    return;
  }
  known.insert(found, {block, release});
  if (known.size() <= most)
    return;
  auto oldest = std::ranges::min_element(known, {}, &Seen::release);
  floor = oldest->release;
  known.erase(oldest);
}

void Clock::join(const Clock &other) {
  floor = std::max(floor, other.floor);
  std::erase_if(known, [&](const Seen &seen) { return seen.release <= floor; });
  for (const Seen &seen : other.known)
    learn(seen.block, seen.release);
}

void Releases::acquire(int64_t element, Clock &clock) const {
  if (auto found = elements.find(element); found != elements.end())
    clock.join(*found->second);
}

Releases::Snapshot Releases::begin(int64_t block, Clock &clock, Clockwork &clockwork) {
  clock.learn(block, clockwork.releases.fetch_add(1, std::memory_order_relaxed) + 1);
  return std::make_shared<Clock>(clock);
}

void Releases::release(int64_t element, const Snapshot &snapshot, bool goesOn) {
  Snapshot &there = elements[element];
  if (!goesOn || !there) {
    there = snapshot;
    return;
  }
  auto both = std::make_shared<Clock>(*there);
  both->join(*snapshot);
  there = std::move(both);
}

Writers::Verdict Writers::change(size_t element, int64_t block, const Clock &clock, uint64_t now, bool atomic) {
  uint32_t &word = words[element], mine = uint32_t(block) + 1, last = word & blockMask;
  bool wasShared = word & shared, wasAtomic = word & byAtomic;
  Verdict verdict;
  if (last != 0 && last != mine)
    verdict.unordered = times.empty() || !clock.sees(int64_t(last) - 1, times[element]);
  else
    verdict.unordered = wasShared && (atomic || !wasAtomic);
  bool becomesShared = verdict.unordered;
  if (atomic && wasAtomic)
    verdict.unordered = false;
  if (verdict.unordered) {
    verdict.other = last == mine ? -1 : int64_t(last) - 1;
    verdict.wins = atomic || mine >= last;
  }
  if (!verdict.wins) {
    word |= shared;
    return verdict;
  }
  word = mine | (becomesShared ? shared : 0) | (atomic ? byAtomic : 0);
  if (!times.empty())
    times[element] = now;
  return verdict;
}

} // namespace tilec::reference
