// What a block found wrong, how findings of blocks become one, and the sentences that say it.
#include "compiler/reference/frame.h"
#include <algorithm>
#include <thread>
#include <tuple>

namespace tilec::reference {

std::string_view name(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::Uninitialised:
    return "uninitialised";
  case FindingKind::OutOfRange:
    return "out-of-bounds";
  case FindingKind::DivisionByZero:
    return "division-by-zero";
  case FindingKind::Assertion:
    return "assertion";
  case FindingKind::NotDivisible:
    return "not-divisible";
  }
  return "";
}

static std::string toString(const Place &place) {
  return place.file.empty() ? "unknown place" : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

/// What an undefined value reaches, and how often.
static std::string effect(const Finding &f) {
  std::string where = f.reached == f.place ? "" : fmt::format(" at {}", toString(f.reached));
  if (f.element < 0)
    return fmt::format("decides what runs or where it stores{}", where);
  std::string others = f.count > 1 ? fmt::format(" and {} more", f.count - 1) : "";
  return fmt::format("reaches element {} of '{}'{}{}", f.element, f.array, others, where);
}

/// ` at element (1, 3) and 5 more`; empty for a scalar.
static std::string lane(const Finding &f) {
  if (f.lane.empty())
    return "";
  std::string text;
  for (int64_t coordinate : f.lane)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", coordinate);
  return fmt::format(" at element ({}){}", text, f.count > 1 ? fmt::format(" and {} more", f.count - 1) : "");
}

std::string toString(const Finding &f) {
  std::string block = fmt::format("block ({}, {}, {})", f.block[0], f.block[1], f.block[2]);
  std::string text = toString(f.place) + ": ";
  switch (f.kind) {
  case FindingKind::Race:
    if (!f.text.empty())
      return text + fmt::format("{} to element {} of '{}', {}{}", f.text, f.element, f.array, block,
                                f.count > 1 ? fmt::format("; {} such stores", f.count) : "");
    text += fmt::format("{} and another block store different values to element {} of '{}'", block, f.element, f.array);
    if (f.otherBlock >= 0)
      text += fmt::format(", the other is number {}", f.otherBlock);
    return text + (f.count > 1 ? fmt::format("; {} such stores", f.count) : "");
  case FindingKind::Uninitialised:
    if (!f.text.empty())
      return text + fmt::format("{}, and {}, {}", f.text, effect(f), block);
    return text + fmt::format("what '{}' has outside its extents is undefined without padding, and {}, {}", f.source,
                              effect(f), block);
  case FindingKind::OutOfRange:
    if (!f.text.empty())
      return text + fmt::format("{}, {}", f.text, block);
    return text +
           fmt::format("check_bounds = false promises a tile inside '{}', but it crosses the edge, {}", f.array, block);
  case FindingKind::DivisionByZero:
    return text + fmt::format("a division by zero, or of the lowest integer by -1, {}, {}", effect(f), block);
  case FindingKind::Assertion:
    return text + fmt::format("assertion '{}' fails{}, {}", f.text, lane(f), block);
  case FindingKind::NotDivisible:
    return text + fmt::format("{}{}, {}", f.text, lane(f), block);
  }
  return text;
}

void addFinding(Findings &findings, const FindingKey &key, LocatedFinding located) {
  auto [found, added] = findings.try_emplace(key, located);
  if (added)
    return;
  uint64_t count = found->second.finding.count + located.finding.count;
  bool first = located.block < found->second.block;
  if (first)
    found->second = std::move(located);
  // A failed assertion ends the launch: how many other blocks got as far is chance.
  if (key.kind != FindingKind::Assertion)
    found->second.finding.count = count;
}

void Frame::find(FindingKey key, Finding finding) { addFinding(findings, key, {std::move(finding), linearBlock}); }

void Frame::reaches(Taint taint, size_t order, const Place &place, const std::string &array, int64_t element) {
  const Cause &cause = (*causes)[taint - 1];
  find({cause.kind, cause.order, order},
       {cause.kind, cause.place, place, cause.array, array, block, -1, element, 1, cause.text});
}

void LaunchState::fail(int64_t block) {
  int64_t before = failedBlock;
  while (block < before && !failedBlock.compare_exchange_weak(before, block))
    ;
}

void Frame::fail(Error what) {
  if (!error)
    error = std::move(what);
  launch->fail(linearBlock);
  ended = true;
}

bool Frame::stops() {
  // Trips, not time: enough for every loop that does something, soon over for one that waits.
  constexpr uint64_t patience = uint64_t(1) << 18;
  int64_t failed = launch->failedBlock.load(std::memory_order_relaxed);
  if (failed == std::numeric_limits<int64_t>::max()) [[likely]]
    return ended;
  if (linearBlock > failed || ++tripsSinceFailure > patience)
    ended = true;
  return ended;
}

void Frame::waitForOthers() {
  constexpr uint64_t often = 64;
  std::this_thread::yield(); // the block waited for may need this processor
  if (++tripsWaiting % often == 0 && launch->stalled)
    if (Status status = launch->stalled(); !status)
      fail(status.error());
}

void Frame::beginBlock(int64_t linear) {
  const auto &grid = launch->grid;
  linearBlock = linear;
  block = {linear % grid[0], linear / grid[0] % grid[1], linear / grid[0] / grid[1]};
  hit = ended = false;
  tripsSinceFailure = tripsWaiting = 0;
  clock.clear();
}

} // namespace tilec::reference
