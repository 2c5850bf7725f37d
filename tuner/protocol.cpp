#include "tuner/protocol.h"
#include "compiler/base/files.h"
#include "compiler/base/text.h"
#include <cstring>

namespace tilec::tuner {

Json toJson(const ExpectedFile &e) {
  return {{"array", e.array},   {"full", e.full},         {"ulp", e.bound.ulp},      {"rel", e.bound.rel},
          {"abs", e.bound.abs}, {"values", e.valuesFile}, {"indices", e.indicesFile}};
}

Result<ExpectedFile> expectedFileFromJson(const Json &json) {
  ExpectedFile e;
  e.array = json.value("array", "");
  e.full = json.value("full", true);
  e.bound = {json.value("ulp", int64_t(0)), json.value("rel", 0.0), json.value("abs", 0.0)};
  e.valuesFile = json.value("values", "");
  e.indicesFile = json.value("indices", "");
  if (e.array.empty() || e.valuesFile.empty())
    return internalError("a message describes no output: {}", toText(json, -1));
  return e;
}

Result<ExpectedFile> writeExpected(const Expected &expected, const std::string &folder, const std::string &stem) {
  ExpectedFile file{expected.array, expected.full, expected.bound, fmt::format("{}/{}.values", folder, stem), ""};
  auto bytes = [](const auto &v) {
    return std::string_view(reinterpret_cast<const char *>(v.data()), v.size() * sizeof(v[0]));
  };
  TILEC_TRY(writeFile(file.valuesFile, bytes(expected.values.bytes)));
  if (!expected.full) {
    file.indicesFile = fmt::format("{}/{}.indices", folder, stem);
    TILEC_TRY(writeFile(file.indicesFile, bytes(expected.indices)));
  }
  return file;
}

Result<Expected> readExpected(const ExpectedFile &file, DType dtype, const std::vector<int64_t> &extents) {
  Expected e;
  e.array = file.array;
  e.full = file.full;
  e.bound = file.bound;
  if (!file.full) {
    TILEC_ASSIGN(std::string bytes, readFile(file.indicesFile));
    e.indices.resize(bytes.size() / sizeof(int64_t));
    std::memcpy(e.indices.data(), bytes.data(), e.indices.size() * sizeof(int64_t));
  }
  e.values = runtime::HostArray::zeros(dtype, file.full ? extents : std::vector{int64_t(e.indices.size())});
  TILEC_ASSIGN(std::string bytes, readFile(file.valuesFile));
  if (bytes.size() != e.values.bytes.size())
    return internalError("{} has {} bytes, not {}", file.valuesFile, bytes.size(), e.values.bytes.size());
  std::memcpy(e.values.bytes.data(), bytes.data(), bytes.size());
  return e;
}

Json failureMessage(const Error &error) {
  return {
      {"ok", false}, {"kind", int(error.kind)}, {"message", validUtf8(error.message)}, {"help", validUtf8(error.help)}};
}

Result<Json> checkAnswer(std::string_view line) {
  TILEC_ASSIGN(Json json, parseJson(line, "the worker's answer"));
  if (json.value("ok", false))
    return json;
  int kind = std::clamp(json.value("kind", int(ErrorKind::Internal)), 0, int(ErrorKind::Internal));
  return std::unexpected(
      Error{ErrorKind(kind), json.value("message", "the worker gave no reason"), json.value("help", ""), ""});
}

Json trialAnswer(const Measurement &m, bool sticky) {
  return {{"ok", true},           {"status", name(m.status)}, {"reason", validUtf8(m.reason)},
          {"samples", m.samples}, {"clocks", m.clocks},       {"sticky", sticky}};
}

Result<Measurement> measurementFromAnswer(const Json &answer, bool timed) {
  Measurement m;
  auto status = parseTrialStatus(answer.value("status", ""));
  if (!status || !answer.contains("samples") || !answer["samples"].is_array())
    return internalError("the worker's answer is incomplete: {}", toText(answer, -1));
  m.status = *status;
  m.reason = answer.value("reason", "");
  for (const Json &t : answer["samples"])
    m.samples.push_back(t.is_number() ? t.get<double>() : 0.0);
  m.clocks = answer.value("clocks", Json::object());
  if (timed && !isFailure(m.status))
    summarise(m);
  return m;
}

} // namespace tilec::tuner
