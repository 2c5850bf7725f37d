#include "compiler/driver/driver.h"

namespace tilec::driver {

const std::vector<StageInfo> &allStages() {
  static const std::vector<StageInfo> stages = {
#define STAGE(name, extension, isInput, doc) {Stage::name, #name, extension, isInput, doc},
#include "compiler/driver/stages.def"
  };
  return stages;
}

const StageInfo &info(Stage stage) { return allStages()[size_t(stage)]; }

const StageInfo *findStage(std::string_view name) {
  for (const StageInfo &s : allStages())
    if (s.name == name)
      return &s;
  return nullptr;
}

const StageInfo *stageOfFile(std::string_view path) {
  // Later stages first: `x.tgpu.mlir` and `x.tile.mlir` differ before their last extension.
  for (const StageInfo &s : allStages())
    if (path.size() > s.extension.size() && path.ends_with(s.extension) &&
        path[path.size() - s.extension.size() - 1] == '.')
      return &s;
  return nullptr;
}

} // namespace tilec::driver
