// The kernel: its textual form, its attributes and what they must say.
#include "compiler/ir/tile_dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilec::tile {

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block *entry = new Block;
  for (Type input : type.getInputs())
    entry->addArgument(input, state.location);
  state.addRegion()->push_back(entry);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

int64_t KernelOp::hint(StringRef name, int64_t otherwise) {
  auto hints = (*this)->getAttrOfType<DictionaryAttr>("tile.hints");
  auto value = hints ? hints.getAs<IntegerAttr>(name) : IntegerAttr();
  return value ? value.getInt() : otherwise;
}

bool KernelOp::option(StringRef name) {
  auto options = (*this)->getAttrOfType<DictionaryAttr>("tile.options");
  if (!options)
    return false;
  // On is either `name` alone or `name = true`.
  Attribute value = options.get(name);
  auto flag = dyn_cast_if_present<BoolAttr>(value);
  return flag ? flag.getValue() : isa_and_present<UnitAttr>(value);
}

/// An argument's attributes and its type must tell one story.
static LogicalResult verifyArgument(KernelOp kernel, unsigned i, llvm::StringSet<> &names) {
  auto error = [&] { return kernel.emitOpError() << "argument " << i << ": "; };
  Type type = kernel.getArgumentTypes()[i];
  for (StringRef attribute : {"tile.name", "tile.kind", "tile.dtype"})
    if (!kernel.getArgAttrOfType<StringAttr>(i, attribute))
      return error() << "lacks the string attribute '" << attribute << "'";
  if (!names.insert(kernel.argName(i)).second)
    return error() << "a second argument named '" << kernel.argName(i) << "'";

  StringRef kind = kernel.argKind(i);
  std::optional<DType> dtype = parseDType(kernel.argDType(i));
  if (!dtype)
    return error() << "unknown dtype '" << kernel.argDType(i) << "'";
  Type element = elementType(kernel.getContext(), *dtype);
  if (kind == "array") {
    if (type != PtrType::get(kernel.getContext(), element))
      return error() << "an array of " << kernel.argDType(i) << " is passed as !tile.ptr<" << element << ">, not "
                     << type;
    auto mode = kernel.getArgAttrOfType<StringAttr>(i, "tile.mode");
    if (mode && !llvm::is_contained({"in", "out", "inout", "scratch"}, mode.getValue()))
      return error() << "unknown mode '" << mode.getValue() << "'";
    return success();
  }
  if (kind != "scalar" && kind != "symbol")
    return error() << "unknown kind '" << kind << "'; known: array, scalar, symbol";
  if (kind == "symbol" && !type.isInteger(32) && !type.isInteger(64))
    return error() << "a symbol is i32 or i64, not " << type;
  if (type != element)
    return error() << "has type " << type << ", but dtype " << kernel.argDType(i);
  return success();
}

LogicalResult KernelOp::verify() {
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("a kernel returns nothing");
  if (getBody().empty())
    return emitOpError("a kernel has a body");
  llvm::StringSet<> names;
  for (unsigned i = 0, e = getNumArguments(); i < e; ++i)
    if (failed(verifyArgument(*this, i, names)))
      return failure();
  return success();
}

} // namespace tilec::tile
