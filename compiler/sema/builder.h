#pragma once
// Appends instructions to the program under construction.
#include "compiler/sema/program.h"

namespace tilec::sema {

class Builder {
public:
  explicit Builder(Program &program) : program(program), block(&program.body) {}

  ValueId newValue(Type type) {
    program.values.push_back(std::move(type));
    return ValueId(program.values.size() - 1);
  }
  /// Appends an instruction of one result.
  ValueId emit(Payload payload, std::vector<ValueId> operands, Type type, Span span) {
    ValueId id = newValue(std::move(type));
    block->insts.push_back({std::move(payload), span, std::move(operands), {id}, {}});
    return id;
  }
  /// Appends an instruction without a result.
  void emitVoid(Payload payload, std::vector<ValueId> operands, Span span) {
    block->insts.push_back({std::move(payload), span, std::move(operands), {}, {}});
  }
  void append(Inst inst) { block->insts.push_back(std::move(inst)); }
  /// Moves the instructions of another block to the end of the current one.
  void splice(Block &other) {
    for (Inst &inst : other.insts)
      block->insts.push_back(std::move(inst));
    other.insts.clear();
  }

  /// Directs instructions into a block while it lives.
  class Into {
  public:
    Into(Builder &builder, Block &block) : builder(builder), outer(builder.block) { builder.block = &block; }
    ~Into() { builder.block = outer; }
    Into(const Into &) = delete;

  private:
    Builder &builder;
    Block *outer;
  };

private:
  Program &program;
  Block *block;
};

} // namespace tilec::sema
