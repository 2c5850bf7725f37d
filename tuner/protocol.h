#pragma once
// What the session and its worker say to each other: one JSON object a line, a request and its answer in turns. Large
// data (cubins, expected values) goes by files that the session owns.
//
//   {"op": "hello", "protocol": 1, "device": 0}
//     → {"ok": true, "protocol": 1, "gpu": {…}}                       the CUDA context exists from here on
//   {"op": "problem", "name": …, "values": {…}, "arch": …, "seed": …, "arrays": [ArrayPlan], "outputs": [ExpectedFile]}
//     → {"ok": true}                                                  buffers are held until "release"
//   {"op": "trial", "artifact": {…}, "binaries": [path], "problems": [name], "timed": name or null, "golden": bool,
//    "budget_seconds": …}
//     → {"ok": true, "status": …, "reason": …, "samples": [seconds], "clocks": {…}, "sticky": bool}
//   {"op": "release", "name": …}  → {"ok": true}
// A request that fails as a whole: {"ok": false, "kind": 0…3, "message": …}.
//
// A trial runs on every problem of its list from poisoned outputs and restored inputs, and is timed on `timed`. With
// "golden" its outputs become the ones that later trials are compared with in full, where the executor's values are
// samples. After a sticky error the worker's context is lost: the session starts another worker.
#include "tuner/reference.h"
#include "tuner/trial.h"

namespace tilec::tuner {

inline constexpr int protocolVersion = 1;

/// Expected, with its numbers in files: `values` raw in the storage encoding, `indices` as 64-bit integers.
struct ExpectedFile {
  std::string array;
  bool full = true;
  Bound bound;
  std::string valuesFile, indicesFile;
};
Json toJson(const ExpectedFile &expected);
Result<ExpectedFile> expectedFileFromJson(const Json &json);
/// Writes the files into a folder, named after `stem`.
Result<ExpectedFile> writeExpected(const Expected &expected, const std::string &folder, const std::string &stem);
/// Reads them back for an array of given extents.
Result<Expected> readExpected(const ExpectedFile &file, DType dtype, const std::vector<int64_t> &extents);

Json failureMessage(const Error &error);
/// The answer, or the error that it carries.
Result<Json> checkAnswer(std::string_view line);
Json trialAnswer(const Measurement &measurement, bool sticky);
Result<Measurement> measurementFromAnswer(const Json &answer);

} // namespace tilec::tuner
