// LINK: compiler_artifact
// Any bytes as an artifact's launch plan: refused with a message, or read, planned with arbitrary extents, and written
// back the same.
#include "compiler/artifact/artifact.h"
#include "tests/fuzz/fuzz.h"

using namespace tilec;

int tilec::fuzzOne(std::string_view text) {
  Result<Json> json = parseJson(text, "fuzz.json");
  if (!json)
    return json.error().message.empty() ? fault("an error without a message") : 0;
  Result<Artifact> artifact = artifactFromJson(*json);
  if (!artifact)
    return artifact.error().message.empty() ? fault("an error without a message") : 0;
  Json written = toJson(*artifact);
  Result<Artifact> again = artifactFromJson(written);
  if (!again)
    return fault("what was written is not read: " + again.error().message);
  if (toJson(*again) != written)
    return fault("what was read is not what was written");
  for (int64_t extent : {int64_t(0), int64_t(1), int64_t(1000), (int64_t(1) << 31) + 3, INT64_MAX}) {
    LaunchEnv env;
    env.arch = artifact->arch;
    for (const std::string &symbol : artifact->symbols)
      env.values.emplace(symbol, extent);
    for (const ScalarSpec &scalar : artifact->scalars)
      env.values.emplace(scalar.name, extent);
    (void)bindSymbols(*artifact, {}, env);
    for (const ArraySpec &array : artifact->arrays) {
      (void)arrayExtents(array, env);
      (void)arrayStrides(array, env);
    }
    (void)planGrid(*artifact, env);
  }
  return 0;
}
