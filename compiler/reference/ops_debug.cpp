// What a program says about itself: print, assert, promises; and the order of launches, which one launch does not see.
#include "compiler/base/tile_text.h"
#include "compiler/reference/compiler.h"
#include "compiler/reference/print.h"

using namespace mlir;

namespace tilec::reference {

/// Coordinates of an element of a tile, by its number.
static std::vector<int64_t> coordinates(const std::vector<int64_t> &shape, size_t lane) {
  std::vector<int64_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = int64_t(lane % size_t(shape[axis]));
    lane /= size_t(shape[axis]);
  }
  return at;
}

static Status compilePrint(Compiler &c, Operation *op) {
  auto print = cast<tile::PrintOp>(op);
  struct Piece {
    std::string text; ///< in front of the value
    size_t tile = 0;
    std::vector<int64_t> shape;
    DType dtype = DType::i32, stored = DType::i32;
  };
  std::vector<Piece> pieces;
  std::string last = cast<StringAttr>(print.getPieces()[print.getValues().size()]).str();
  for (auto [text, name, value] : llvm::zip(print.getPieces(), print.getDtypes(), print.getValues())) {
    std::optional<DType> dtype = parseDType(cast<StringAttr>(name).str());
    if (!dtype)
      return internalError("print of a value of dtype '{}'", cast<StringAttr>(name).str());
    // Integers are signless in a tile: how to read them is the dtype's to say.
    pieces.push_back({cast<StringAttr>(text).str(), c.in(value), tile::tileShape(value.getType()).vec(), *dtype,
                      c.storage(value.getType())});
  }
  if (last.empty() || last.back() != '\n')
    last += '\n';
  c.add([=](Frame &frame) {
    if (!frame.launch->prints)
      return;
    std::string &text = frame.output;
    for (const Piece &piece : pieces) {
      text += piece.text;
      text += formatTile(frame.tiles[piece.tile], piece.shape, piece.dtype, piece.stored, columnOf(text));
    }
    text += last;
  });
  return {};
}

static Status compileAssert(Compiler &c, Operation *op) {
  auto assertion = cast<tile::AssertOp>(op);
  size_t cond = c.in(assertion.getCondition()), order = c.order(op);
  std::vector<int64_t> shape = tile::tileShape(assertion.getCondition().getType()).vec();
  c.add([=, place = Compiler::place(op), text = assertion.getText().str()](Frame &frame) {
    const Tile &tile = frame.tiles[cond];
    const uint8_t *holds = tile.as<uint8_t>();
    size_t first = tile.count, count = 0;
    for (size_t i = 0; i < tile.count; ++i) {
      if (Taint taint = tile.taintAt(i)) {
        frame.reaches(taint, order, place);
      } else if (!holds[i]) {
        first = std::min(first, i);
        ++count;
      }
    }
    if (!count)
      return;
    Finding finding{FindingKind::Assertion, place, place, "", "", frame.block, -1, -1, count, text};
    finding.lane = coordinates(shape, first);
    frame.find({FindingKind::Assertion, order, order}, std::move(finding));
    frame.launch->fail(frame.linearBlock);
    frame.ended = true;
  });
  return {};
}

static Status compileAssumeDivisible(Compiler &c, Operation *op) {
  auto promise = cast<tile::AssumeDivisibleOp>(op);
  size_t x = c.in(promise.getValue()), result = c.out(promise.getResult()), order = c.order(op);
  int64_t divisor = promise.getDivisor();
  if (divisor <= 0)
    return internalError("assume_divisible by {}", divisor);
  std::vector<int64_t> shape = tile::tileShape(promise.getType()).vec();
  size_t size = tileBytes(c.storage(promise.getType()));
  c.add([=, place = Compiler::place(op)](Frame &frame) {
    const Tile &a = frame.tiles[x];
    Tile &r = frame.tiles[result];
    size_t first = a.count, count = 0;
    for (size_t i = 0; i < a.count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, a.data + i * size, size);
      // Tiles are signless: a value with the top bit set may be meant either way.
      int64_t value = int64_t(bits << (64 - 8 * size)) >> (64 - 8 * size);
      if (value % divisor != 0 && bits % uint64_t(divisor) != 0 && !a.taintAt(i)) {
        first = std::min(first, i);
        ++count;
      }
    }
    std::memcpy(r.data, a.data, a.count * size);
    r.tainted = a.tainted;
    if (a.tainted)
      r.taint = a.taint;
    if (!count)
      return;
    std::string text = fmt::format("assume_divisible promises a multiple of {}, which the value is not", divisor);
    Finding finding{FindingKind::NotDivisible, place, place, "", "", frame.block, -1, -1, count, text};
    finding.lane = coordinates(shape, first);
    frame.find({FindingKind::NotDivisible, order, order}, std::move(finding));
  });
  return {};
}

void addDebugHandlers(HandlerTable &table) {
  table["tile.print"] = compilePrint;
  table["tile.assert"] = compileAssert;
  table["tile.assume_divisible"] = compileAssumeDivisible;
  // The launch in front has finished, and the one behind has not begun.
  auto nothing = [](Compiler &, Operation *) -> Status { return {}; };
  table["tile.grid_dependency_wait"] = nothing;
  table["tile.grid_dependency_launch"] = nothing;
}

} // namespace tilec::reference
