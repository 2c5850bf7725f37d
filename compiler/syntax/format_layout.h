#pragma once
// What the formatter knows of a file, as data: for each token how it touches its neighbours and which comments stand in
// front of it, and the tree of regions that may be broken over lines. format_layout.cpp reads it off the syntax tree,
// format_measure.cpp adds what the printer asks for, format_print.cpp writes.
#include "compiler/syntax/ast.h"
#include "compiler/syntax/lexer.h"
#include <string_view>
#include <vector>

namespace tilec::syntax {

constexpr uint32_t formatColumns = 120, formatIndent = 4;

/// On which sides a token keeps the space between it and its neighbour away.
enum class Role : uint8_t {
  Plain,
  Open,  ///< no space behind: `(`, a sign
  Close, ///< no space in front: `)`, `,`
  Glue,  ///< neither: `.`, the `(` of a call
};

enum class Shape : uint8_t {
  File,  ///< declarations and clauses, one a line
  Block, ///< `{ … }` with statements
  Arms,  ///< an `if` with all its `else`: its blocks break together
  List,  ///< items between brackets, one a line when broken
  Chain, ///< operands of one precedence, as many a line as fit; conditions of `requires`
};

/// Tokens that are laid out together. Regions nest; those inside one stand in source order.
struct Region {
  Shape shape = Shape::File;
  uint32_t first = 0, last = 0;   ///< tokens, brackets included
  std::vector<uint32_t> starts{}; ///< tokens that items begin with; of a Chain all but the first
  std::vector<Region> inside{};
  uint32_t anchor = 0;   ///< Block: the token whose line its `}` is aligned with
  bool comma = false;    ///< List: a trailing comma stands where the list is broken, and only there
  bool declares = false; ///< List: of parameters, none of which hangs over its end
  bool forced = false;   ///< broken whether it fits or not
  bool breaks = false;   ///< a line break inside is certain
};

/// A comment; `text` includes its `#` and ends with its last character that is not white space.
struct Comment {
  std::string_view text;
  bool trailing = false; ///< behind code on its line
  bool blank = false;    ///< a blank line stands in front
};

/// One token of the file and the gap in front of it.
struct Piece {
  Role role = Role::Plain;
  bool dropped = false;                          ///< not written: a trailing comma, a semicolon
  bool blank = false;                            ///< a blank line stands right in front
  bool newline = false;                          ///< a new line is certain in front
  bool opportunity = false;                      ///< a new line is possible in front
  bool closesComma = false;                      ///< closes a list with `comma`
  uint32_t partner = 0;                          ///< of a bracket
  uint32_t comments = 0, commentsEnd = 0;        ///< of the gap, in Layout::comments
  uint64_t begin = 0, end = 0;                   ///< columns if the whole file stood on one line
  uint32_t nextNewline = 0, nextOpportunity = 0; ///< the nearest token from this one on
};

struct Layout {
  std::vector<Token> tokens; ///< Eof included
  std::vector<Piece> pieces; ///< one a token
  std::vector<Comment> comments;
  Region root;

  bool spaceBefore(uint32_t token) const;
};

/// Roles, partners and regions.
Layout readLayout(const File &file, const SourceManager &sources);
/// Comments, what is dropped, what is forced, columns.
void measureLayout(Layout &layout, const SourceManager &sources);
/// The text of a measured layout.
std::string printLayout(const Layout &layout, const SourceManager &sources);

} // namespace tilec::syntax
