#pragma once
// What the assemblers have in common: where a CUDA toolkit may lie, what its releases read, how a result is judged.
#include "compiler/codegen/assembler.h"
#include <filesystem>

namespace tilec::codegen {

/// Newest PTX version a release of the toolkit reads, as far as LLVM writes it; major × 10 + minor.
int newestPtxOfToolkit(unsigned major, unsigned minor);

/// Folders in which a part of the toolkit may lie, best first: the executable's, BESIDE next to it, `inWheels` below
/// the site-packages of a virtual environment above it, `inToolkit` of the toolkit's usual place. They need not exist.
std::vector<std::filesystem::path>
toolkitFolders(std::string_view beside, const std::vector<std::string_view> &inWheels, std::string_view inToolkit);

/// The kernels a PTX text defines, sorted. Error (Internal): none, or one of them twice.
Result<std::vector<std::string>> distinctEntries(std::string_view ptx);

/// Fills kernels and notes of an assembly from its cubin and log. Error (Internal): a kernel is missing.
Status complete(Assembly &assembly, const std::vector<std::string> &entries, const Assembler &by);

} // namespace tilec::codegen
