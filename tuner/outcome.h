#pragma once
// From the rows of a session to what is said of them: who wins, who shares code with whom, which hints did nothing.
#include "tuner/session.h"

namespace tilec::tuner {

/// Says of every row whose code an earlier configuration has that it is the same, and which hints made no difference.
void nameSharedCode(std::vector<TrialRow> &rows);
/// Hint axes whose values, all else equal, gave the same code wherever there were several to compare.
std::vector<std::string> hintsWithoutEffect(const std::vector<TrialRow> &rows, const Space &space);
/// Sorts rows by time, failures last, and gives the winner's place.
std::optional<size_t> rankRows(std::vector<TrialRow> &rows);

} // namespace tilec::tuner
