// Layout to text.
//
// Whether a region is broken depends on nothing but the tokens, what is forced, and the column it begins in. A list or
// block that was broken here has a line break behind its bracket, so the next run is forced to do what this one chose:
// formatting twice changes nothing.
#include "compiler/syntax/format_layout.h"
#include <algorithm>

namespace tilec::syntax {

namespace {

/// Whether something stands in the same brackets above and below a line break, so that a blank line may stay there.
struct Blanks {
  bool above = false, below = false;
};

class Printer {
public:
  Printer(const Layout &l, const SourceManager &s) : layout(l), sources(s), indentOf(l.tokens.size()) {}

  std::string run() {
    print(layout.root, true);
    return std::move(out);
  }

private:
  const Piece &piece(uint32_t t) const { return layout.pieces[t]; }

  //===------------------------------------------------------------------------------------------------------------===//
  // Text
  //===------------------------------------------------------------------------------------------------------------===//

  void write(std::string_view text) {
    out += text;
    column += text.size();
  }
  void token(uint32_t t) {
    out += sources.text(layout.tokens[t].span);
    column += piece(t).end - piece(t).begin;
    indentOf[t] = indent;
  }
  void space(uint32_t t) {
    if (layout.spaceBefore(t))
      write(" ");
  }

  void line(uint32_t columns, bool blank) {
    if (!out.empty())
      out += blank ? "\n\n" : "\n";
    out.append(columns, ' ');
    column = indent = columns;
  }

  /// Ends the line with the comments that stand behind it, writes those that stand on lines of their own, and begins
  /// the line of a token. In front of a bracket that closes items the comments are indented like items.
  void newline(uint32_t t, uint32_t columns, Blanks blanks = {}, uint32_t commentIndent = 0) {
    for (uint32_t i = piece(t).comments; i < piece(t).commentsEnd; ++i) {
      const Comment &comment = layout.comments[i];
      if (comment.trailing) {
        out += ' ';
      } else {
        line(columns + commentIndent, comment.blank && blanks.above);
        blanks.above = true;
      }
      out += comment.text;
    }
    line(columns, piece(t).blank && blanks.above && blanks.below);
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Decisions
  //===------------------------------------------------------------------------------------------------------------===//

  /// Whether tokens fit on a line from a column on: up to the first certain line break among them, or else to the first
  /// possible one behind them.
  bool fits(uint32_t first, uint32_t last, uint64_t from) const {
    uint32_t end = first < last ? piece(first + 1).nextNewline : last + 1;
    uint64_t comma = 0;
    if (end > last) {
      end = piece(last + 1).nextOpportunity;
      comma = piece(end).closesComma;
    }
    return from + piece(end - 1).end - piece(first).begin + comma <= formatColumns;
  }

  bool isBroken(const Region &r, bool armsBroken) const {
    switch (r.shape) {
    case Shape::File:
      return true;
    case Shape::Chain:
      return false; // decided operand by operand
    case Shape::Block:
      return r.forced || (!r.starts.empty() && (armsBroken || !fits(r.first, r.last, column)));
    case Shape::Arms:
    case Shape::List:
      return r.forced || !fits(r.first, r.last, column);
    }
    return true;
  }

  /// Whether an operand of a chain begins a new line. One that has to be broken in any case stays where it can begin.
  bool breaksBefore(const Region &chain, size_t operand, uint32_t columns) const {
    uint32_t first = chain.starts[operand];
    uint32_t last = operand + 1 < chain.starts.size() ? chain.starts[operand + 1] - 1 : chain.last;
    if (fits(first, last, column + 1))
      return false;
    bool certain = first < last && piece(first + 1).nextNewline <= last;
    if (certain || fits(first, last, columns))
      return true;
    uint32_t part = first < last ? piece(first + 1).nextOpportunity - 1 : last;
    return column + 1 + piece(std::min(part, last)).end - piece(first).begin > formatColumns;
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Regions
  //===------------------------------------------------------------------------------------------------------------===//

  void print(const Region &r, bool armsBroken) {
    bool broken = isBroken(r, armsBroken);
    uint32_t outer = item, start = 0;
    uint32_t base = r.shape == Shape::File ? 0 : r.shape == Shape::Block ? indentOf[r.anchor] : indent;
    auto next = r.inside.begin();
    for (uint32_t t = r.first; t <= r.last; ++t) {
      if (piece(t).dropped)
        continue;
      bool isStart = start < r.starts.size() && r.starts[start] == t;
      bool isRegion = next != r.inside.end() && next->first == t;
      if (t != r.first || r.shape == Shape::File)
        gap(r, t, isStart ? ++start : 0, broken, base, isRegion && next->shape == Shape::Block ? &*next : nullptr);
      if (!isRegion) {
        token(t);
        continue;
      }
      print(*next, broken && r.shape == Shape::Arms);
      t = next++->last;
    }
    item = outer;
  }

  /// What stands in front of a token of a region: `start` counts the items it has with the one that begins here, 0 when
  /// none does.
  void gap(const Region &r, uint32_t t, size_t start, bool broken, uint32_t base, const Region *block) {
    bool closes = t == r.last && (r.shape == Shape::List || r.shape == Shape::Block);
    uint32_t inner = r.shape == Shape::File ? 0 : base + formatIndent;
    if (r.shape == Shape::Chain && (start || piece(t).newline))
      return piece(t).newline || breaksBefore(r, start - 1, inner) ? newline(t, inner) : space(t);
    if (broken && start) {
      newline(t, inner, {start > 1 || r.shape == Shape::File, true});
      item = inner;
    } else if (broken && closes) {
      if (r.comma && (piece(t - 1).dropped || layout.tokens[t - 1].kind != TokenKind::Comma))
        write(",");
      newline(t, base, {true, false}, formatIndent);
    } else if (layout.tokens[t].kind == TokenKind::Eof) {
      newline(t, 0, {true, false});
    } else if (piece(t).newline) {
      newline(t, block ? indentOf[block->anchor] : r.shape == Shape::Arms ? base : item + formatIndent);
    } else if (start > 1 && r.shape == Shape::Block) {
      write("; ");
    } else {
      space(t);
    }
  }

  const Layout &layout;
  const SourceManager &sources;
  std::string out;
  uint64_t column = 0;
  uint32_t indent = 0;            ///< of the current line
  uint32_t item = 0;              ///< of the innermost item that stands on lines of its own
  std::vector<uint32_t> indentOf; ///< of the line of each token written
};

} // namespace

std::string printLayout(const Layout &layout, const SourceManager &sources) { return Printer(layout, sources).run(); }

} // namespace tilec::syntax
