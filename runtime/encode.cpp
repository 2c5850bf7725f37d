#include "runtime/encode.h"
#include <algorithm>

namespace tilec::runtime {

Result<uint64_t> encodeValue(const LaunchExpr &expr, DType dtype, const LaunchEnv &env) {
  TILEC_ASSIGN(LaunchValue value, evaluate(expr, env));
  auto unfit = [&] {
    return programError("'{}' is {}, which is no value of {}", toString(expr), toString(value), name(dtype));
  };
  if (auto *i = std::get_if<int64_t>(&value)) {
    if (isFloat(dtype))
      return encodeFloatFromInt(dtype, *i);
    if (dtype == DType::bool_ ? *i != 0 && *i != 1 : !fitsInt(dtype, *i))
      return unfit();
    return encodeInt(dtype, *i);
  }
  if (auto *d = std::get_if<double>(&value))
    return isFloat(dtype) ? Result<uint64_t>(encodeFloat(dtype, *d)) : unfit();
  if (auto *b = std::get_if<bool>(&value))
    return dtype == DType::bool_ ? Result<uint64_t>(uint64_t(*b)) : unfit();
  return unfit();
}

namespace {

/// Element types of cuTensorMapEncodeTiled; 8-bit floats and bools travel as bytes.
int tensorMapType(DType dtype) {
  enum { U8, U16, U32, I32, U64, I64, F16, F32, F64, BF16, F32Ftz, Tf32, Tf32Ftz, U4Packed };
  switch (dtype) {
  case DType::i16:
  case DType::u16:
    return U16;
  case DType::u32:
    return U32;
  case DType::i32:
    return I32;
  case DType::u64:
    return U64;
  case DType::i64:
    return I64;
  case DType::f16:
    return F16;
  case DType::bf16:
    return BF16;
  case DType::f32:
  case DType::tf32: // already rounded in memory, so nothing is left to convert
    return F32;
  case DType::f64:
    return F64;
  case DType::f4e2m1:
    return U4Packed;
  default:
    return U8;
  }
}

/// Position of a byte count in 0, 32, 64, 128 (swizzles) or 0, 64, 128, 256 (L2 promotion).
int step(int bytes, int first) {
  int code = 0;
  for (int size = first; bytes >= size; size *= 2)
    ++code;
  return code;
}

} // namespace

Status encodeTensorMap(const Device &device, const TensorMapSpec &spec, const ArrayView &array, cu::DevicePtr standIn,
                       cu::TensorMap &map) {
  const Driver &api = device.api();
  if (!api.tensorMapEncodeTiled)
    return withHelp(noDevice("the CUDA driver has no tensor maps"), "install a driver for CUDA 12.0 or newer");
  constexpr int64_t granule = 16; // bases and strides of a tensor map are multiples of 16 bytes
  constexpr uint64_t maxStride = uint64_t(1) << 40;
  size_t rank = spec.axes.size();
  int bits = info(array.spec->dtype).bits;
  uint64_t dims[5] = {1, 1, 1, 1, 1}, strides[5] = {granule, granule, granule, granule, granule};
  uint32_t box[5], elementStrides[5];
  uint64_t base = standIn;
  for (size_t i = 0; i < rank; ++i) {
    box[i] = uint32_t(spec.box[i]);
    elementStrides[i] = uint32_t(spec.elementStrides[i]);
  }
  if (!array.isEmpty()) {
    base = array.base;
    for (size_t i = 0; i < rank; ++i) {
      size_t axis = size_t(spec.axes[i]);
      if (spec.axes[i] < 0 || axis >= array.extents.size())
        return internalError("the tensor map of '{}' uses axis {}", spec.array, spec.axes[i]);
      dims[i] = uint64_t(array.extents[axis]);
      int64_t stride = array.strides[axis];
      if (i == 0) {
        if (stride != 1 && dims[0] > 1)
          return programError("'{}' goes through a tensor map, so its stride along axis {} must be 1, not {}",
                              spec.array, axis, stride);
        continue;
      }
      // Along an extent of 1 the stride is never used, but must still be legal.
      uint64_t bytes = dims[i] == 1 ? uint64_t(granule) : uint64_t(stride) * uint64_t(bits) / 8;
      if (stride < 0 || bytes % granule != 0 || bytes >= maxStride)
        return programError("'{}' goes through a tensor map, so its stride along axis {} must be a multiple of {} "
                            "bytes, not {}",
                            spec.array, axis, granule, stride * bits / 8);
      strides[i - 1] = bytes;
    }
  }
  if (base % granule != 0)
    return programError("'{}' goes through a tensor map, so its base must be aligned to {} bytes, not {:#x}",
                        spec.array, granule, base);
  constexpr int noInterleave = 0;
  return device.check(api.tensorMapEncodeTiled(&map, tensorMapType(array.spec->dtype), uint32_t(rank),
                                               reinterpret_cast<void *>(base), dims, strides, box, elementStrides,
                                               noInterleave, step(spec.swizzleBytes, 32),
                                               step(spec.l2PromotionBytes, 64), spec.nanFill ? 1 : 0),
                      fmt::format("encode the tensor map of '{}'", spec.array));
}

} // namespace tilec::runtime
