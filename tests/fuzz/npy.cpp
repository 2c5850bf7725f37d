// LINK: compiler_base
// SOURCES: runtime/npy.cpp runtime/host_array.cpp
// Any bytes as an .npy file: refused with a message, or read to what its header tells and written back the same.
#include "runtime/npy.h"
#include "tests/fuzz/fuzz.h"

using namespace tilec;
using namespace tilec::runtime;

int tilec::fuzzOne(std::string_view text) {
  Result<NpyFile> file = parseNpy(text, "fuzz.npy");
  if (!file)
    return file.error().message.empty() ? fault("an error without a message") : 0;
  for (DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f4e2m1, DType::i64, DType::u8, DType::bool_}) {
    Result<std::vector<int64_t>> extents = npyExtents(*file, dtype);
    Result<HostArray> array = fromNpy(*file, "fuzz.npy", dtype, "a");
    if (!array)
      continue;
    if (!extents || *extents != array->extents)
      return fault("extents and array differ");
    for (int64_t i = 0; i < std::min<int64_t>(array->count(), 4); ++i)
      (void)array->get(i);
    Result<NpyFile> again = parseNpy(npyBytes(*array), "again.npy");
    // Any byte but 0 is read as true and written as 1.
    if (!again || again->shape != file->shape || (dtype != DType::bool_ && again->bytes != file->bytes))
      return fault("what was read is not what is written");
  }
  return 0;
}
