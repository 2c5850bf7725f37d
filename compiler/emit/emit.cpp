// The kernel around the body: its arguments, its attributes, the arrays it works on.
#include "compiler/emit/emitter.h"

using namespace mlir;

namespace tilec::emit {

Type Emitter::irType(const sema::Type &type) {
  Type element = tile::elementType(builder.getContext(), type.dtype);
  switch (type.kind) {
  case sema::TypeKind::Tile:
    return tile::tileType(type.shape, element);
  case sema::TypeKind::Array:
    return tile::ArrayType::get(builder.getContext(), type.rank, element);
  case sema::TypeKind::View:
    return tile::ViewType::get(builder.getContext(), type.shape, element);
  }
  return element;
}

Location Emitter::locate(Span span) {
  if (span.file >= sources.size())
    return builder.getUnknownLoc();
  LineColumn at = sources.position(span.file, span.begin);
  return FileLineColLoc::get(builder.getContext(), StringRef(sources.name(span.file)), at.line, at.column);
}

/// Symbols of an extent or a stride become arguments, unless `-D` fixed them.
void Emitter::needSymbols(const LaunchExpr &expr) {
  for (const std::string &name : tilec::symbols(expr))
    if (llvm::is_contained(program.symbols, name) && !program.folded.contains(name))
      usedSymbols.try_emplace(name, program.index64);
}

void Emitter::collect(const sema::Block &block) {
  for (const sema::Inst &inst : block.insts) {
    if (auto *array = std::get_if<sema::ArrayArgInst>(&inst.payload))
      usedArrays[array->index] = true;
    auto *symbol = std::get_if<sema::SymbolInst>(&inst.payload);
    if (symbol && program.letDTypes.contains(symbol->name))
      usedLets.insert(symbol->name);
    else if (symbol && !program.folded.contains(symbol->name))
      usedSymbols[symbol->name] = typeOf(inst.results[0]).dtype == DType::i64;
    for (const sema::Block &inner : inst.blocks)
      collect(inner);
  }
}

/// Name of the symbol that carries a stride written `_`.
static std::string strideSymbol(const ArraySpec &array, size_t axis) {
  return tile::strideSymbol(array.name, unsigned(axis));
}

tile::KernelOp Emitter::makeKernel() {
  usedArrays.assign(program.arrays.size(), false);
  collect(program.body);
  // Strides count in i64 whatever the kernel's index width, unless the symbol is an extent as well.
  for (size_t i = 0; i < program.arrays.size(); ++i)
    if (usedArrays[i])
      llvm::for_each(program.arrays[i].extents, [&](const LaunchExpr &extent) { needSymbols(extent); });
  for (size_t i = 0; i < program.arrays.size(); ++i) {
    const ArraySpec &array = program.arrays[i];
    for (size_t axis = 0; usedArrays[i] && axis < array.strides.size(); ++axis) {
      if (array.strides[axis] == LaunchExpr::name("_"))
        usedSymbols.try_emplace(strideSymbol(array, axis), true);
      for (const std::string &name : tilec::symbols(array.strides[axis]))
        if (llvm::is_contained(program.symbols, name) && !program.folded.contains(name))
          usedSymbols.try_emplace(name, true);
    }
  }

  llvm::SmallVector<Type> types;
  llvm::SmallVector<Attribute> attributes;
  auto argument = [&](Type type, StringRef name, StringRef kind, DType dtype, NamedAttrList more = {}) {
    more.set("tile.name", builder.getStringAttr(name));
    more.set("tile.kind", builder.getStringAttr(kind));
    more.set("tile.dtype", builder.getStringAttr(StringRef(tilec::name(dtype))));
    types.push_back(type);
    attributes.push_back(more.getDictionary(builder.getContext()));
  };
  for (const ArraySpec &array : program.arrays) {
    NamedAttrList more;
    more.set("tile.mode", builder.getStringAttr(StringRef(tilec::name(array.mode))));
    more.set("tile.align", builder.getI64IntegerAttr(array.align));
    if (array.zeroed)
      more.set("tile.zeroed", builder.getUnitAttr());
    // Code generation keeps the order of accesses to such arrays and loads none of them through the read-only path.
    if (!array.aliases.empty())
      more.set("tile.alias",
               builder.getStrArrayAttr(llvm::SmallVector<StringRef>(array.aliases.begin(), array.aliases.end())));
    Type element = tile::elementType(builder.getContext(), array.dtype);
    argument(tile::PtrType::get(builder.getContext(), element), array.name, "array", array.dtype, more);
  }
  for (const ScalarSpec &scalar : program.scalars)
    argument(tile::elementType(builder.getContext(), scalar.dtype), scalar.name, "scalar", scalar.dtype);
  for (const std::string &name : usedLets) {
    DType dtype = program.letDTypes.at(name);
    argument(tile::elementType(builder.getContext(), dtype), name, "scalar", dtype);
  }
  for (const auto &[name, wide] : usedSymbols) {
    NamedAttrList more;
    if (auto multiple = program.multiples.find(name); multiple != program.multiples.end())
      more.set("tile.divisible", builder.getI64IntegerAttr(multiple->second));
    argument(builder.getIntegerType(wide ? 64 : 32), name, "symbol", wide ? DType::i64 : DType::i32, more);
  }

  auto kernel = make<tile::KernelOp>(program.name, builder.getFunctionType(types, {}));
  kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
  unsigned next = unsigned(program.arrays.size());
  for (const ScalarSpec &scalar : program.scalars)
    scalars[scalar.name] = kernel.getArgument(next++);
  for (const std::string &name : usedLets)
    scalars[name] = kernel.getArgument(next++);
  for (const auto &[name, wide] : usedSymbols)
    symbols[name] = kernel.getArgument(next++);
  return kernel;
}

void Emitter::setAttributes(tile::KernelOp kernel) {
  auto hints = [&](const std::map<std::string, int64_t> &map) {
    NamedAttrList list;
    for (const auto &[name, value] : map)
      list.set(name, builder.getI64IntegerAttr(value));
    return list.getDictionary(builder.getContext());
  };
  NamedAttrList options;
  if (program.contract)
    options.set("contract", builder.getUnitAttr());
  if (program.index64)
    options.set("index64", builder.getUnitAttr());
  llvm::SmallVector<Attribute> sites;
  for (const sema::Site &site : program.sites) {
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(site.name));
    entry.set("array", builder.getStringAttr(site.array));
    entry.set("op", builder.getStringAttr(site.operation));
    entry.set("hints", hints(site.hints));
    sites.push_back(entry.getDictionary(builder.getContext()));
  }
  kernel->setAttr("tile.options", options.getDictionary(builder.getContext()));
  kernel->setAttr("tile.hints", hints(program.hints));
  kernel->setAttr("tile.sites", builder.getArrayAttr(sites));
}

Value Emitter::arrayValue(size_t index) {
  const ArraySpec &array = program.arrays[index];
  llvm::SmallVector<Value> extents, strides;
  for (const LaunchExpr &extent : array.extents)
    extents.push_back(launchIndex(extent, program.index64));
  for (size_t axis = 0; axis < array.strides.size(); ++axis)
    strides.push_back(array.strides[axis] == LaunchExpr::name("_") ? symbols[strideSymbol(array, axis)]
                                                                   : launchIndex(array.strides[axis], true));
  Type element = tile::elementType(builder.getContext(), array.dtype);
  auto type = tile::ArrayType::get(builder.getContext(), int64_t(array.extents.size()), element);
  Value base = cast<tile::KernelOp>(builder.getBlock()->getParentOp()).getArgument(unsigned(index));
  return make<tile::ArrayOp>(type, base, extents, strides, builder.getStringAttr(array.name),
                             builder.getStringAttr(StringRef(tilec::name(array.dtype))),
                             builder.getBoolAttr(array.mode != ArrayMode::In));
}

OwningOpRef<ModuleOp> Emitter::run() {
  OwningOpRef<ModuleOp> module(ModuleOp::create(location));
  builder.setInsertionPointToEnd(module->getBody());
  // The kernel stands where its first instruction does: a program keeps no place for its name.
  location = program.body.insts.empty() ? location : locate(program.body.insts.front().span);
  tile::KernelOp kernel = makeKernel();
  setAttributes(kernel);
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  arrays.resize(program.arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    if (usedArrays[i])
      arrays[i] = arrayValue(i);
  emitBlock(program.body);
  make<tile::ReturnOp>();
  return failed ? nullptr : std::move(module);
}

OwningOpRef<ModuleOp> emit(const sema::Program &program, const SourceManager &sources, MLIRContext &context) {
  DialectRegistry registry;
  tile::registerTileDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef dialect : registry.getDialectNames())
    context.getOrLoadDialect(dialect);
  return Emitter(program, sources, context).run();
}

} // namespace tilec::emit
