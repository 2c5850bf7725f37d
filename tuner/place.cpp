#include "tuner/place.h"
#include "compiler/target/target.h"

namespace tilec::tuner {

Result<Place> choosePlace(const Arch *arch, int ordinal, bool predict) {
  Place place{arch, std::nullopt, ""};
  auto devices = runtime::listDevices();
  const runtime::DeviceFacts *device = nullptr;
  if (devices)
    for (const runtime::DeviceFacts &d : *devices)
      if (d.ordinal == ordinal)
        device = &d;
  const Arch *present = device ? archForCapability(device->major, device->minor) : nullptr;
  if (!place.arch)
    place.arch = present;
  if (!place.arch && device)
    return withHelp(noDevice("{} ({}) is not supported", device->name, device->arch()),
                    "name an architecture with --arch to predict for it");
  if (!place.arch)
    return withHelp(
        noDevice("there is no GPU to tune for{}", devices ? "" : fmt::format(": {}", devices.error().message)),
        "name an architecture with --arch (`tilec info` lists them): times are then predicted");
  if (predict)
    place.note = "times are predicted, as asked for: nothing was measured";
  else if (!device)
    place.note = fmt::format("no GPU: every configuration is compiled, times are predicted for {}", place.arch->name);
  else if (present != place.arch)
    place.note = fmt::format("the GPU here is {} ({}): times for {} are predicted, not measured", device->name,
                             device->arch(), place.arch->name);
  else
    place.gpu = *device;
  return place;
}

std::unique_ptr<Evaluator> evaluatorFor(const Place &place, const Recipe &recipe, Builder &builder,
                                        const EvaluatorOptions &options) {
  return place.gpu ? gpuEvaluator(recipe, builder, *place.gpu, *place.arch, options)
                   : modelEvaluator(recipe, builder, *place.arch, options);
}

} // namespace tilec::tuner
