// Structured control flow and the grid.
#include "compiler/reference/compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilec::reference {

static void copyTile(Tile &to, const Tile &from, size_t bytes) {
  std::memcpy(to.data, from.data, bytes);
  to.tainted = from.tainted;
  if (from.tainted)
    to.taint = from.taint;
}

static size_t tileSize(const Compiler &c, Value value) {
  size_t count = 1;
  for (int64_t extent : tile::tileShape(value.getType()))
    count *= size_t(extent);
  return count * tileBytes(c.storage(value.getType()));
}

/// A value that decides what runs must be defined.
static void condition(Frame &frame, size_t tile, size_t order, const Place &place) {
  if (Taint taint = frame.tiles[tile].taintAt(0))
    frame.reaches(taint, order, place);
}

/// An `if` whose condition each lane has for itself: both arms are computed and each lane takes one.
static Status compileIfInLanes(Compiler &c, scf::IfOp branch) {
  size_t cond = c.in(branch.getCondition());
  llvm::SmallVector<size_t> results;
  for (Value result : branch.getResults())
    results.push_back(c.out(result));
  auto arm = [&](Block &block, bool wanted) -> Status {
    TILEC_ASSIGN(Steps steps, c.nested(block, [&](Operation *yield) {
      for (auto [value, result] : llvm::zip(yield->getOperands(), results)) {
        size_t from = c.in(value), to = result, size = tileBytes(c.storage(value.getType()));
        c.add([=](Frame &frame) {
          const Tile &p = frame.tiles[cond], &a = frame.tiles[from];
          Tile &r = frame.tiles[to];
          if (wanted) // the first arm gives every lane a value, the second those of its own
            r.tainted = false;
          for (size_t i = 0; i < r.count; ++i) {
            if (bool(p.as<uint8_t>()[i]) != wanted)
              continue;
            std::memcpy(r.data + i * size, a.data + i * size, size);
            Taint taint = p.taintAt(i) ? p.taintAt(i) : a.taintAt(i);
            if (taint || r.tainted)
              r.setTaint(i, taint);
          }
        });
      }
    }));
    c.add([steps = std::move(steps)](Frame &frame) { run(steps, frame); });
    return {};
  };
  TILEC_TRY(arm(*branch.thenBlock(), true));
  if (branch.elseBlock())
    TILEC_TRY(arm(*branch.elseBlock(), false));
  return {};
}

static Status compileIf(Compiler &c, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  if (c.inLanes())
    return compileIfInLanes(c, branch);
  size_t cond = c.in(branch.getCondition()), order = c.order(op);
  llvm::SmallVector<size_t> results;
  for (Value result : branch.getResults())
    results.push_back(c.out(result));
  auto yieldInto = [&](Operation *yield) {
    for (auto [value, result] : llvm::zip(yield->getOperands(), results)) {
      size_t from = c.in(value), to = result, bytes = tileSize(c, value);
      c.add([=](Frame &frame) { copyTile(frame.tiles[to], frame.tiles[from], bytes); });
    }
  };
  TILEC_ASSIGN(Steps then, c.nested(*branch.thenBlock(), yieldInto));
  Steps otherwise;
  if (branch.elseBlock()) {
    TILEC_ASSIGN(otherwise, c.nested(*branch.elseBlock(), yieldInto));
  }
  c.add([=, place = Compiler::place(op), then = std::move(then), otherwise = std::move(otherwise)](Frame &frame) {
    condition(frame, cond, order, place);
    run(*frame.tiles[cond].as<uint8_t>() ? then : otherwise, frame);
  });
  return {};
}

/// Hands a trip's values to the next one. A carried value that moves to another place goes through scratch, since all
/// moves happen at once.
static void compileCarry(Compiler &c, ValueRange yielded, ArrayRef<size_t> carried, Block::BlockArgListType arguments) {
  bool moves = llvm::any_of(llvm::enumerate(yielded), [&](auto item) {
    return llvm::is_contained(arguments, item.value()) && item.value() != arguments[item.index()];
  });
  if (!moves) {
    for (auto [value, tile] : llvm::zip(yielded, carried)) {
      size_t from = c.in(value), to = tile, bytes = tileSize(c, value);
      if (from != to)
        c.add([=](Frame &frame) { copyTile(frame.tiles[to], frame.tiles[from], bytes); });
    }
    return;
  }
  struct Move {
    size_t from, to, bytes;
  };
  std::vector<Move> list;
  for (auto [value, tile] : llvm::zip(yielded, carried))
    list.push_back({c.in(value), tile, tileSize(c, value)});
  c.add([list = std::move(list)](Frame &frame) {
    std::vector<Tile> copies(list.size());
    std::vector<std::vector<std::byte>> bytes(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const Tile &from = frame.tiles[list[i].from];
      bytes[i].assign(from.data, from.data + list[i].bytes);
      copies[i] = from;
      copies[i].data = bytes[i].data();
    }
    for (size_t i = 0; i < list.size(); ++i)
      copyTile(frame.tiles[list[i].to], copies[i], list[i].bytes);
  });
}

static Status compileFor(Compiler &c, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  if (c.inLanes())
    return internalError("a loop in the function of a fold");
  IndexOperand lower = indexOperand(c, loop.getLowerBound()), upper = indexOperand(c, loop.getUpperBound()),
               step = indexOperand(c, loop.getStep());
  size_t order = c.order(op);
  size_t variable = c.blockArgument(cast<BlockArgument>(loop.getInductionVar()), op);
  llvm::SmallVector<size_t> carried;
  for (auto [init, argument, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    // The carried value and the result are one tile: the result is what the last trip leaves.
    size_t from = c.in(init), to = c.out(result), bytes = tileSize(c, init);
    c.alias(argument, to);
    carried.push_back(to);
    c.add([=](Frame &frame) { copyTile(frame.tiles[to], frame.tiles[from], bytes); });
  }
  TILEC_ASSIGN(Steps body, c.nested(*loop.getBody(), [&](Operation *yield) {
    compileCarry(c, yield->getOperands(), carried, loop.getRegionIterArgs());
  }));
  c.add([=, place = Compiler::place(op), body = std::move(body)](Frame &frame) {
    for (const IndexOperand &bound : {lower, upper, step})
      condition(frame, bound.tile, order, place);
    int64_t end = upper.read(frame), by = step.read(frame);
    Tile &i = frame.tiles[variable];
    i.tainted = false;
    // A step that is not positive runs no trip; a sum past the type's end ends the loop.
    int64_t at = lower.read(frame);
    while (by > 0 && at < end && !frame.stops()) {
      if (lower.wide)
        *i.as<int64_t>() = at;
      else
        *i.as<int32_t>() = int32_t(at);
      run(body, frame);
      if (__builtin_add_overflow(at, by, &at))
        break;
    }
  });
  return {};
}

/// Whether a block of steps waits for other blocks: it asks memory for what they do.
static bool asksOthers(Operation *op) {
  auto found = op->walk([](Operation *inner) {
    auto load = dyn_cast<tile::LoadOp>(inner);
    auto gather = dyn_cast<tile::GatherOp>(inner);
    bool ordered = (load && load.getOrder() != tile::MemoryOrder::weak) ||
                   (gather && gather.getOrder() != tile::MemoryOrder::weak);
    return ordered || isa<tile::AtomicOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

static Status compileWhile(Compiler &c, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  if (c.inLanes())
    return internalError("a loop in the function of a fold");
  size_t order = c.order(op);
  llvm::SmallVector<size_t> carried, results;
  for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
    size_t from = c.in(init), to = c.blockArgument(argument, op), bytes = tileSize(c, init);
    carried.push_back(to);
    c.add([=](Frame &frame) { copyTile(frame.tiles[to], frame.tiles[from], bytes); });
  }
  // What the condition hands on is what a trip starts from and what the loop gives: one tile.
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getAfterArguments())) {
    results.push_back(c.out(result));
    c.alias(argument, results.back());
  }
  auto moveInto = [&](ValueRange values, ArrayRef<size_t> tiles) {
    for (auto [value, to] : llvm::zip(values, tiles)) {
      size_t from = c.in(value), into = to, bytes = tileSize(c, value);
      if (from != into)
        c.add([=](Frame &frame) { copyTile(frame.tiles[into], frame.tiles[from], bytes); });
    }
  };
  size_t cond = 0;
  TILEC_ASSIGN(Steps before, c.nested(*loop.getBeforeBody(), [&](Operation *end) {
    auto last = cast<scf::ConditionOp>(end);
    cond = c.in(last.getCondition());
    moveInto(last.getArgs(), results);
  }));
  TILEC_ASSIGN(Steps trip,
               c.nested(*loop.getAfterBody(), [&](Operation *yield) { moveInto(yield->getOperands(), carried); }));
  bool waits = asksOthers(op);
  if (waits)
    c.waits();
  c.add([=, place = Compiler::place(op), before = std::move(before), trip = std::move(trip)](Frame &frame) {
    while (!frame.stops()) {
      run(before, frame);
      condition(frame, cond, order, place);
      if (frame.ended || !*frame.tiles[cond].as<uint8_t>())
        break;
      run(trip, frame);
      if (waits)
        frame.waitForOthers();
    }
  });
  return {};
}

/// bid and num_blocks: one number of the frame, as i32 or i64.
template <typename Op, typename Get> static Status compileGrid(Compiler &c, Operation *op, Get get) {
  size_t axis = cast<Op>(op).getAxis(), result = c.out(op->getResult(0));
  if (axis > 2)
    return internalError("a grid has no axis {}", axis);
  bool wide = op->getResult(0).getType().isInteger(64);
  c.add([=](Frame &frame) {
    Tile &tile = frame.tiles[result];
    tile.tainted = false;
    if (wide)
      *tile.as<int64_t>() = get(frame, axis);
    else
      *tile.as<int32_t>() = int32_t(get(frame, axis));
  });
  return {};
}

void addControlHandlers(HandlerTable &table) {
  table["scf.if"] = compileIf;
  table["scf.for"] = compileFor;
  table["scf.while"] = compileWhile;
  table["tile.block_id"] = [](Compiler &c, Operation *op) {
    return compileGrid<tile::BlockIdOp>(c, op, [](const Frame &f, size_t axis) { return f.block[axis]; });
  };
  table["tile.num_blocks"] = [](Compiler &c, Operation *op) {
    return compileGrid<tile::NumBlocksOp>(c, op, [](const Frame &f, size_t axis) { return f.launch->grid[axis]; });
  };
}

} // namespace tilec::reference
