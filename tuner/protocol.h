#pragma once
// What the session and its worker say to each other: one JSON object a line, a request and its answer in turns. Large
// data (cubins, expected values) goes by files that the session owns.
//
//   {"op": "hello", "protocol": 2, "device": 0}
//     → {"ok": true, "protocol": 2, "gpu": {…}}                       the CUDA context exists from here on
//   {"op": "problem", "name": …, "values": {…}, "arch": …, "seed": …, "arrays": [ArrayPlan], "outputs": [ExpectedFile]}
//     → {"ok": true}                                                  buffers are held until "release"
//   {"op": "load", "id": …, "artifact": {…}, "binaries": [path], "problems": [name], "golden": bool}
//     → {"ok": true, "status": …, "reason": …, "samples": [], "clocks": {}, "sticky": bool}
//   {"op": "time", "problem": name, "ids": […], "policy": "cold", "cool": bool, "drop": bool, "min_rounds": …,
//    "max_rounds": …, "relative_half_width": …, "absolute_half_width_seconds": …, "budget_seconds": …}
//     → {"ok": true, "results": [{"status": …, "reason": …, "samples": [seconds], "clocks": {…}}], "sticky": bool}
//   {"op": "unload", "ids": […]}  → {"ok": true}
//   {"op": "release", "name": …}  → {"ok": true}
// A request that fails as a whole: {"ok": false, "kind": 0…3, "message": …}.
//
// "load" runs a configuration on every problem of its list from poisoned outputs and restored inputs, and keeps it when
// it is right. With "golden" its outputs become the ones that later configurations are compared with in full, where the
// executor's values are samples. "time" times the kept ones of its list in turns (race.h). After a sticky error the
// worker is of no further use: the session starts another and loads again.
#include "tuner/reference.h"
#include "tuner/trial.h"

namespace tilec::tuner {

inline constexpr int protocolVersion = 2;

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
/// A configuration of which "load" proved that it is right has no samples.
Result<Measurement> measurementFromAnswer(const Json &answer, bool timed = true);

} // namespace tilec::tuner
