// tile-run: runs the kernels of a file of tile IR on the reference executor, for tests of what ops mean.
//
//   tile-run FILE [--jobs=N] [--widen]
//
// An array argument brings its contents as tile.data = dense<…>, whose shape is the array's; a scalar or symbol has
// tile.value. The grid is the kernel's tile.grid = array<i64: x, y, z>, one block without it. Printed are what the
// kernel prints, arrays that are not "in", and findings. Exit code 1: the input is no module, or a launch is refused.
#include "compiler/ir/tile_dialect.h"
#include "compiler/reference/executor.h"
#include "compiler/reference/print.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilec;

namespace {

struct Contents {
  std::vector<std::byte> bytes;
  std::vector<int64_t> extents;
  DType dtype;
  bool isInput;
};

uint64_t bitsOf(Attribute value, DType dtype) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    uint64_t bits = number.getValue().bitcastToAPInt().getZExtValue();
    return dtype == DType::tf32 ? bits << 13 : bits;
  }
  return cast<IntegerAttr>(value).getValue().getZExtValue();
}

/// fp4 packs two elements in a byte.
void put(std::vector<std::byte> &bytes, DType dtype, size_t at, uint64_t bits) {
  if (dtype == DType::f4e2m1) {
    bytes[at / 2] |= std::byte(bits << (at % 2 ? 4 : 0));
    return;
  }
  size_t size = size_t(info(dtype).bits + 7) / 8;
  std::memcpy(bytes.data() + at * size, &bits, size);
}

Contents contentsOf(DenseElementsAttr data, DType dtype, StringRef mode) {
  auto count = size_t(data.getNumElements());
  Contents contents{std::vector<std::byte>(byteSize(dtype, count)), data.getType().getShape().vec(), dtype,
                    mode == "in"};
  size_t next = 0;
  for (Attribute value : data.getValues<Attribute>())
    put(contents.bytes, dtype, next++, bitsOf(value, dtype));
  return contents;
}

std::string show(Contents &contents) {
  std::vector<std::byte> spread;
  reference::Tile tile;
  tile.count = 1;
  for (int64_t extent : contents.extents)
    tile.count *= size_t(extent);
  tile.data = contents.bytes.data();
  if (contents.dtype == DType::f4e2m1) {
    for (size_t i = 0; i < tile.count; ++i)
      spread.push_back(contents.bytes[i / 2] >> (i % 2 ? 4 : 0) & std::byte(15));
    tile.data = spread.data();
  }
  return reference::formatTile(tile, contents.extents, contents.dtype, contents.dtype, 0);
}

LogicalResult runKernel(ModuleOp module, tile::KernelOp kernel, const reference::ExecOptions &options) {
  reference::Launch launch;
  std::map<std::string, Contents> arrays;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    std::string name = kernel.argName(i).str();
    DType dtype = *parseDType(kernel.argDType(i).str());
    if (kernel.argKind(i) == "array") {
      auto data = kernel.getArgAttrOfType<DenseElementsAttr>(i, "tile.data");
      auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
      if (!data)
        return kernel.emitError() << "array '" << name << "' has no tile.data";
      Contents &c = arrays[name] = contentsOf(data, dtype, mode ? mode.getValue() : "in");
      launch.buffers[name] = {dtype, c.extents, {}, c.bytes.data(), uint64_t(data.getNumElements())};
    } else {
      Attribute value = kernel.getArgAttr(i, "tile.value");
      if (!value)
        return kernel.emitError() << "'" << name << "' has no tile.value";
      uint64_t bits = bitsOf(value, dtype);
      kernel.argKind(i) == "scalar" ? void(launch.scalars[name] = bits) : void(launch.symbols[name] = int64_t(bits));
    }
  }
  if (auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>("tile.grid"))
    std::copy_n(grid.asArrayRef().begin(), std::min<size_t>(3, grid.size()), launch.grid.begin());

  llvm::outs() << "kernel " << kernel.getSymName() << "\n";
  auto report = reference::execute(module, kernel.getSymName(), launch, options);
  if (!report) {
    llvm::outs() << "error: " << report.error().message << "\n";
    return failure();
  }
  for (auto &[name, contents] : arrays)
    if (!contents.isInput)
      llvm::outs() << name << " = " << show(contents) << "\n";
  for (const reference::Finding &finding : report->findings)
    llvm::outs() << reference::name(finding.kind) << ": " << reference::toString(finding) << "\n";
  return success();
}

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  tile::registerTileDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (argc < 2) {
    llvm::errs() << "usage: tile-run FILE [--jobs=N] [--widen]\n";
    return 2;
  }
  reference::ExecOptions options;
  options.print = [](std::string_view text) { llvm::outs() << StringRef(text); };
  for (int i = 2; i < argc; ++i) {
    StringRef option = argv[i];
    if (option.consume_front("--jobs="))
      option.getAsInteger(10, options.jobs);
    else if (option == "--widen")
      options.widen64 = true;
    else
      return llvm::errs() << "tile-run: unknown option " << option << "\n", 2;
  }
  auto module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  int code = 0;
  for (auto kernel : module->getOps<tile::KernelOp>())
    if (failed(runKernel(*module, kernel, options)))
      code = 1;
  return code;
}
