#include "compiler/ir/layout_encoding.h"

using namespace mlir;

namespace tilec::tile {

using layout::allInDims;
using layout::InDim;
using layout::LinearLayout;

bool hasLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_present<LayoutAttr>(tensor.getEncoding());
}

LinearLayout layoutOf(RankedTensorType type) {
  auto attr = cast<LayoutAttr>(type.getEncoding());
  size_t rank = size_t(type.getRank());
  LinearLayout frame(LinearLayout::Shape(type.getShape().begin(), type.getShape().end()), {});
  auto read = [&](ArrayRef<int64_t> flat) {
    std::vector<uint64_t> bases;
    for (; !flat.empty(); flat = flat.drop_front(rank))
      bases.push_back(frame.index(std::span(flat.data(), rank)));
    return bases;
  };
  return LinearLayout(frame.shape(), {read(attr.getReg()), read(attr.getLane()), read(attr.getWarp()), {}});
}

LayoutAttr layoutAttr(MLIRContext *context, const LinearLayout &layout) {
  auto flat = [&](InDim dim) {
    SmallVector<int64_t> numbers;
    for (uint64_t basis : layout.bases(dim))
      llvm::append_range(numbers, layout.coords(basis));
    return numbers;
  };
  return LayoutAttr::get(context, layout.rank(), flat(InDim::Register), flat(InDim::Lane), flat(InDim::Warp));
}

RankedTensorType withLayout(Type elementType, const LinearLayout &layout) {
  return RankedTensorType::get(layout.shape(), elementType, layoutAttr(elementType.getContext(), layout));
}

} // namespace tilec::tile
