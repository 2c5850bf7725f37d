#pragma once
// NumPy's .npy files, versions 1 and 2, in C order. bf16 and 8-bit floats, which NumPy lacks, travel as raw <u2 and
// |u1 (|V2 and |V1 are read as well); fp4 as |u1 with two elements in a byte along the last axis.
#include "runtime/host_array.h"
#include <string>

namespace tilec::runtime {

/// A file as it is: its header and the bytes of its elements.
struct NpyFile {
  std::string descr; ///< such as <f4
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
/// Errors (Usage), with the mend: no .npy file, a version not known, Fortran order, big-endian or structured dtypes,
/// elements that do not begin at a multiple of 16 bytes, fewer or more bytes than the header tells.
Result<NpyFile> readNpy(const std::string &path);
/// The same from memory; `path` is for messages. Random bytes never do harm.
Result<NpyFile> parseNpy(std::string_view bytes, const std::string &path);

/// The descr that a dtype is written with.
std::string_view npyDescr(DType dtype);
/// Reads an array of a wanted dtype and shape; `label` names the array of the kernel.
/// Errors (Usage): what the file has, what is wanted, and how to make it.
Result<HostArray> loadNpy(const std::string &path, DType dtype, const std::vector<int64_t> &extents,
                          std::string_view label);
/// Extents that a file gives an array of a dtype (fp4: two for each byte of the last axis), for binding symbols.
Result<std::vector<int64_t>> npyExtents(const NpyFile &file, DType dtype);
/// Checks dtype and takes the bytes over.
Result<HostArray> fromNpy(NpyFile file, const std::string &path, DType dtype, std::string_view label);
Status saveNpy(const std::string &path, const HostArray &array);
/// The bytes that saveNpy writes. The elements begin at a multiple of 64.
std::string npyBytes(const HostArray &array);

} // namespace tilec::runtime
