// Artifacts as files: the cubins, and the JSON that holds everything else and their hashes.
#include "compiler/artifact/artifact.h"
#include "compiler/base/files.h"
#include "compiler/base/hash.h"

namespace tilec {
namespace {

std::string binaryPath(const std::string &path, size_t index) {
  return index == 0 ? path : fmt::format("{}.{}", path, index);
}

} // namespace

Status writeArtifact(const Artifact &artifact, const std::string &path) {
  if (path == "-")
    return withHelp(usageError("an artifact is a cubin with its JSON and cannot go to standard output"),
                    "give a file with -o FILE.cubin");
  // The JSON last: whoever sees it finds the binaries it names.
  for (size_t i = 0; i < artifact.binaries.size(); ++i)
    TILEC_TRY(writeFile(binaryPath(path, i), artifact.binaries[i]));
  // Names may hold bytes that are no UTF-8 (a path, say); JSON cannot, so they are replaced.
  return writeFile(path + ".json", toJson(artifact).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<Artifact> readArtifact(const std::string &path) {
  std::string jsonPath = path + ".json";
  TILEC_ASSIGN(std::string text, readFile(jsonPath));
  TILEC_ASSIGN(Json json, parseJson(text, jsonPath));
  auto artifact = artifactFromJson(json);
  if (!artifact) {
    Error error = std::move(artifact).error();
    error.message = fmt::format("{}: {}", jsonPath, error.message);
    return std::unexpected(std::move(error));
  }
  for (size_t i = 0; i < artifact->binaries.size(); ++i) {
    TILEC_ASSIGN(artifact->binaries[i], readFile(binaryPath(path, i)));
    const Json &facts = json["binaries"][i];
    if (!facts.is_object() || facts.value("sha256", Json()) != Json(sha256(artifact->binaries[i])))
      return withHelp(
          usageError("{} is not the binary that {} describes: its sha256 differs", binaryPath(path, i), jsonPath),
          "build the kernel again");
  }
  return artifact;
}

} // namespace tilec
