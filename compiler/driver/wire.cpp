// Layout: u64 length and JSON header, then each blob as u64 length and bytes. Dumps and binaries are blobs, since they
// need not be text.
#include "compiler/driver/wire.h"
#include <cstring>

namespace tilec::driver {

static void append(std::string &out, std::string_view bytes) {
  uint64_t n = bytes.size();
  out.append(reinterpret_cast<const char *>(&n), sizeof n);
  out.append(bytes);
}

static std::optional<std::string_view> take(std::string_view &in) {
  uint64_t n;
  if (in.size() < sizeof n)
    return std::nullopt;
  std::memcpy(&n, in.data(), sizeof n);
  in.remove_prefix(sizeof n);
  if (in.size() < n)
    return std::nullopt;
  std::string_view bytes = in.substr(0, n);
  in.remove_prefix(n);
  return bytes;
}

std::string pack(const Result<Compilation> &compilation) {
  std::string out;
  Json header;
  if (!compilation) {
    const Error &e = compilation.error();
    // Assembler and LLVM text need not be UTF-8: invalid bytes are replaced by the dump below.
    header["error"] = {{"kind", int(e.kind)}, {"message", e.message}, {"help", e.help}, {"detail", e.detail}};
    append(out, header.dump(-1, ' ', false, Json::error_handler_t::replace));
    return out;
  }
  header["artifact"] = toJson(compilation->artifact);
  header["milliseconds"] = Json::array();
  for (const auto &[step, ms] : compilation->milliseconds)
    header["milliseconds"].push_back({step, ms});
  header["dumps"] = Json::array();
  for (const auto &[stage, text] : compilation->dumps)
    header["dumps"].push_back(int(stage));
  append(out, header.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const auto &[stage, text] : compilation->dumps)
    append(out, text);
  for (const std::string &binary : compilation->artifact.binaries)
    append(out, binary);
  return out;
}

Result<Compilation> unpack(std::string_view bytes) {
  auto broken = [] { return internalError("a compiling child gave an answer that cannot be read"); };
  auto text = take(bytes);
  if (!text)
    return broken();
  Json header = Json::parse(*text, nullptr, false);
  if (header.is_discarded())
    return broken();
  if (header.contains("error")) {
    const Json &e = header["error"];
    return std::unexpected(Error{ErrorKind(e["kind"].get<int>()), e["message"].get<std::string>(),
                                 e["help"].get<std::string>(), e["detail"].get<std::string>()});
  }
  Compilation c;
  TILEC_ASSIGN(c.artifact, artifactFromJson(header["artifact"]));
  for (const Json &row : header["milliseconds"])
    c.milliseconds.emplace_back(row[0].get<std::string>(), row[1].get<double>());
  for (const Json &stage : header["dumps"]) {
    auto blob = take(bytes);
    if (!blob)
      return broken();
    c.dumps[Stage(stage.get<int>())] = std::string(*blob);
  }
  c.artifact.binaries.clear();
  while (auto blob = take(bytes))
    c.artifact.binaries.emplace_back(*blob);
  return c;
}

} // namespace tilec::driver
