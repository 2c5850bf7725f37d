// Places of operations as debug information: one compile unit and subprogram a kernel, with lines and nothing else.
#include "compiler/lower/lower.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;

namespace tilec::lower {

/// The first place of a program in a location, which passes may have fused; null where there is none.
static FileLineColLoc placeOf(Location location) { return location->findInstanceOf<FileLineColLoc>(); }

void addLineTable(ModuleOp module) {
  MLIRContext *context = module.getContext();
  // The name as the user gave it, and no folder beside it: a build says nothing of where it was made.
  auto fileOf = [&](FileLineColLoc place) { return LLVM::DIFileAttr::get(context, place.getFilename().strref(), ""); };
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    FileLineColLoc start = placeOf(func.getLoc());
    if (func.isExternal() || !start)
      continue;
    LLVM::DIFileAttr file = fileOf(start);
    // Directives only: with whole line tables LLVM writes a `debug` target, for which assemblers do not optimise.
    auto unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C, file,
                                             StringAttr::get(context, "tilec"), /*isOptimized=*/true,
                                             LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
    auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
    auto subprogram = LLVM::DISubprogramAttr::get(context, DistinctAttr::create(UnitAttr::get(context)), unit, file,
                                                  func.getSymNameAttr(), func.getSymNameAttr(), file, start.getLine(),
                                                  start.getLine(), flags, type, {}, {});
    func->setLoc(FusedLoc::get(context, {start}, subprogram));
    func.getBody().walk([&](Operation *op) {
      FileLineColLoc place = placeOf(op->getLoc());
      if (!place) {
        op->setLoc(start);
        return;
      }
      bool elsewhere = place.getFilename() != start.getFilename(); // of a function that another file defines
      op->setLoc(elsewhere
                     ? FusedLoc::get(context, {place}, LLVM::DILexicalBlockFileAttr::get(subprogram, fileOf(place), 0))
                     : Location(place));
    });
  }
}

} // namespace tilec::lower
