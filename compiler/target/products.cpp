#include "compiler/target/products.h"

namespace tilec {

static constexpr Product products[] = {
#define PRODUCT(arch, name, sms, clockMHz, bandwidthGBs, l2MiB) {#arch, name, sms, clockMHz, bandwidthGBs, l2MiB},
#include "compiler/target/products.def"
};

const Product &typicalProduct(const Arch &arch) {
  for (const Product &p : products)
    if (p.arch == arch.name)
      return p;
  return products[0];
}

} // namespace tilec
