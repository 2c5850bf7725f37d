#pragma once
// One GPU that stands for each architecture (products.def), for predictions without a GPU.
#include "compiler/target/target.h"

namespace tilec {

struct Product {
  std::string_view arch, name;
  int sms;
  double clockMHz;
  double bandwidthGBs; ///< peak of device memory, 10^9 bytes/s
  int l2MiB;
};
const Product &typicalProduct(const Arch &arch);

} // namespace tilec
