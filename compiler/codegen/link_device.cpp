#include "compiler/codegen/link_device.h"
#include "compiler/device/device.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Error.h"

namespace tilec::codegen {

static constexpr llvm::StringRef prefix = "__tilec_";

static bool callsLibrary(const llvm::Module &module) {
  return llvm::any_of(module,
                      [](const llvm::Function &f) { return f.isDeclaration() && f.getName().starts_with(prefix); });
}

/// The kernels' treatment of subnormals: one routine serves one mode, and LLVM refuses to inline across modes.
static std::string denormalMode(const llvm::Module &module) {
  for (const llvm::Function &f : module)
    if (!f.isDeclaration() && f.hasFnAttribute("denormal-fp-math-f32"))
      return f.getFnAttribute("denormal-fp-math-f32").getValueAsString().str();
  return "";
}

Status linkDeviceLibrary(llvm::Module &module) {
  if (!callsLibrary(module))
    return {};
  std::string_view bytes = deviceBitcode();
  llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "device library");
  auto library = llvm::getLazyBitcodeModule(buffer, module.getContext());
  if (!library)
    return internalError("the device library cannot be read: {}", llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());

  std::string mode = denormalMode(module);
  llvm::SmallPtrSet<const llvm::Function *, 8> own;
  for (const llvm::Function &f : module)
    if (!f.isDeclaration())
      own.insert(&f);
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return internalError("the device library cannot be linked");

  for (llvm::Function &f : module) {
    if (f.isDeclaration() && f.getName().starts_with(prefix))
      return internalError("the code calls {}, which the device library does not have", f.getName().str());
    if (f.isDeclaration() || own.contains(&f))
      continue;
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
    // What clang wrote for its default target would keep routines from being inlined into a kernel for another.
    for (llvm::StringRef attribute : {"target-cpu", "target-features", "frame-pointer", "stack-protector-buffer-size"})
      f.removeFnAttr(attribute);
    if (!mode.empty())
      f.addFnAttr("denormal-fp-math-f32", mode);
  }
  return {};
}

} // namespace tilec::codegen
