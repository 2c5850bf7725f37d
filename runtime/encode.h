#pragma once
// Encoding of launch parameters.
#include "compiler/artifact/artifact.h"
#include "runtime/device.h"
#include <span>

namespace tilec::runtime {

/// A value as a parameter of a dtype, in its low bytes. Integers must fit (Program, naming the expression); floats
/// round to nearest even.
Result<uint64_t> encodeValue(const LaunchExpr &expr, DType dtype, const LaunchEnv &env);

/// An array in device memory with all symbols bound.
struct ArrayView {
  const ArraySpec *spec = nullptr;
  cu::DevicePtr base = 0;
  std::vector<int64_t> extents, strides; ///< elements
  uint64_t begin = 0, end = 0;           ///< bytes that the elements cover
  bool isEmpty() const { return begin == end; }
};

/// Encodes a tensor map. An empty array has no map of its own: `standIn` then gives one element that reads as the fill.
/// Errors (Program) name the array and the rule of the hardware that its base or strides break.
Status encodeTensorMap(const Device &device, const TensorMapSpec &spec, const ArrayView &array, cu::DevicePtr standIn,
                       cu::TensorMap &map);

} // namespace tilec::runtime
