#include "compiler/transforms/passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilec::transforms {

LogicalResult simplify(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCanonicalizerPass());
  return passes.run(module);
}

} // namespace tilec::transforms
