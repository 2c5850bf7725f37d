// What the printer asks of a layout: comments, tokens that are not written, line breaks that are certain, and columns.
#include "compiler/base/text.h"
#include "compiler/syntax/format_layout.h"
#include <algorithm>

namespace tilec::syntax {

namespace {

/// Columns of a text: its code points.
uint64_t columnsOf(std::string_view text) {
  return uint64_t(std::ranges::count_if(text, [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

class Measurer {
public:
  Measurer(Layout &l, const SourceManager &s) : layout(l), sources(s) {}

  void run() {
    findComments();
    drop(layout.root);
    dropSemicolons();
    for (uint32_t t = 0; t < layout.tokens.size(); ++t)
      moveBehindComma(t);
    countLines();
    settle(layout.root);
    layout.pieces.back().opportunity = true;
    findColumns();
    findNext();
  }

private:
  //===------------------------------------------------------------------------------------------------------------===//
  // Comments
  //===------------------------------------------------------------------------------------------------------------===//

  // Between two tokens stand only white space and comments.
  void findComments() {
    uint32_t end = 0;
    for (uint32_t t = 0; t < layout.tokens.size(); ++t) {
      Piece &piece = layout.pieces[t];
      const Token &token = layout.tokens[t];
      std::string_view text = sources.text(token.span.file);
      piece.comments = uint32_t(layout.comments.size());
      size_t lines = 0;
      for (size_t i = end; i < token.span.begin; ++i) {
        lines += text[i] == '\n';
        if (text[i] != '#')
          continue;
        size_t stop = std::min(text.find('\n', i), text.size());
        std::string_view comment = text.substr(i, stop - i);
        while (comment.ends_with(' ') || comment.ends_with('\t') || comment.ends_with('\r'))
          comment.remove_suffix(1);
        layout.comments.push_back({comment, lines == 0 && t > 0, lines > 1});
        lines = 0;
        i = stop - 1;
      }
      piece.commentsEnd = uint32_t(layout.comments.size());
      piece.blank = lines > 1;
      end = token.span.end;
    }
  }

  bool hasComments(uint32_t t) const { return layout.pieces[t].comments != layout.pieces[t].commentsEnd; }
  /// Whether a comment in front of the token stands on a line of its own.
  bool hasOwnLine(uint32_t t) const {
    const Piece &piece = layout.pieces[t];
    return hasComments(t) && !layout.comments[piece.commentsEnd - 1].trailing;
  }
  /// Gives the comments in front of a token to the next one.
  void pass(uint32_t t) {
    layout.pieces[t + 1].comments = layout.pieces[t].comments;
    layout.pieces[t].commentsEnd = layout.pieces[t].comments;
  }

  // What a comment line stands in front of stays, so that no comment comes to document something else.
  void drop(uint32_t t) {
    if (hasOwnLine(t))
      return;
    layout.pieces[t].dropped = true;
    layout.pieces[t + 1].blank |= layout.pieces[t].blank;
    pass(t);
  }
  void drop(const Region &region) {
    for (const Region &r : region.inside)
      drop(r);
    if (region.comma && layout.tokens[region.last - 1].kind == TokenKind::Comma)
      drop(region.last - 1);
    layout.pieces[region.last].closesComma = region.comma;
  }
  // One at the head of the file has no line in front for the comment behind it to go to.
  void dropSemicolons() {
    bool head = true;
    for (uint32_t t = 0; t < layout.tokens.size(); ++t) {
      if (layout.tokens[t].kind == TokenKind::Semicolon && !(head && hasComments(t + 1)))
        drop(t);
      head &= layout.pieces[t].dropped;
    }
  }
  // `a # why` and a comma on the next line: the comma follows `a`.
  void moveBehindComma(uint32_t t) {
    if (layout.tokens[t].kind == TokenKind::Comma && !layout.pieces[t].dropped && !hasOwnLine(t))
      pass(t);
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Breaks
  //===------------------------------------------------------------------------------------------------------------===//

  void countLines() {
    uint32_t line = 0;
    for (const Token &token : layout.tokens)
      lines.push_back(line += token.newline);
  }

  /// Visits the tokens of a region that lie in none of those inside it, but for the first.
  template <typename F> static void eachDirect(const Region &region, F visit) {
    uint32_t t = region.first + 1;
    for (const Region &r : region.inside) {
      for (; t <= r.first; ++t)
        visit(t); // the gap in front of a region is not its own
      t = r.last + 1;
    }
    for (; t <= region.last; ++t)
      visit(t);
  }

  // Innermost first: a list is broken when an item other than its last one is. The last one may hang over its end, as a
  // function in `reduce(x, combine = fn(l, r) {` does.
  void settle(Region &region) {
    bool comments = false, breaks = false, early = false;
    for (Region &r : region.inside) {
      settle(r);
      breaks |= r.breaks;
      early |= r.breaks && (region.declares || (!region.starts.empty() && r.first < region.starts.back()));
    }
    eachDirect(region, [&](uint32_t t) {
      if (!hasComments(t))
        return;
      layout.pieces[t].newline = layout.pieces[t].opportunity = true;
      comments = true;
    });
    switch (region.shape) {
    case Shape::File:
      region.forced = layout.pieces[0].newline = true;
      break;
    case Shape::Block:
      region.forced |= comments || (!region.starts.empty() && lines[region.last] != lines[region.first]);
      break;
    case Shape::Arms:
      region.forced = comments || breaks;
      for (Region &r : region.inside)
        if (region.forced && r.shape == Shape::Block && !r.starts.empty())
          force(r);
      break;
    case Shape::List:
      region.forced = comments || early || layout.tokens[region.starts.front()].newline;
      break;
    case Shape::Chain:
      break;
    }
    region.breaks = region.forced || comments || breaks;
    if (region.shape == Shape::List || (region.shape == Shape::Block && !region.starts.empty()))
      layout.pieces[region.last].opportunity = true;
    for (uint32_t t : region.starts)
      layout.pieces[t].opportunity = true;
    if (region.forced)
      force(region);
  }

  void force(Region &region) {
    region.forced = region.breaks = true;
    for (uint32_t t : region.starts)
      layout.pieces[t].newline = true;
    if (region.shape == Shape::List || region.shape == Shape::Block)
      layout.pieces[region.last].newline = true;
  }

  //===------------------------------------------------------------------------------------------------------------===//
  // Columns
  //===------------------------------------------------------------------------------------------------------------===//

  void findColumns() {
    std::vector<bool> separated(layout.tokens.size()); // by `; ` from the statement before
    separate(layout.root, separated);
    uint64_t column = 0;
    for (uint32_t t = 0; t < layout.tokens.size(); ++t) {
      Piece &piece = layout.pieces[t];
      if (!piece.dropped)
        column += separated[t] ? 2 : layout.spaceBefore(t);
      piece.begin = column;
      if (!piece.dropped)
        column += columnsOf(sources.text(layout.tokens[t].span));
      piece.end = column;
    }
  }
  static void separate(const Region &region, std::vector<bool> &separated) {
    for (const Region &r : region.inside)
      separate(r, separated);
    if (region.shape == Shape::Block)
      for (size_t i = 1; i < region.starts.size(); ++i)
        separated[region.starts[i]] = true;
  }

  void findNext() {
    auto end = uint32_t(layout.tokens.size()), newline = end, opportunity = end;
    for (uint32_t t = end; t-- > 0;) {
      Piece &piece = layout.pieces[t];
      newline = piece.newline ? t : newline;
      opportunity = piece.opportunity ? t : opportunity;
      piece.nextNewline = newline;
      piece.nextOpportunity = opportunity;
    }
  }

  Layout &layout;
  const SourceManager &sources;
  std::vector<uint32_t> lines; ///< of each token
};

} // namespace

void measureLayout(Layout &layout, const SourceManager &sources) { Measurer(layout, sources).run(); }

} // namespace tilec::syntax
