#include "compiler/syntax/lexer.h"
#include "compiler/base/text.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

namespace tilec::syntax {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isWord(char c) { return isWordStart(c) || isDigit(c); }
bool isControl(char c) { return (uint8_t(c) < 0x20 && c != '\t') || c == 0x7f; }

struct Spelling {
  std::string_view text;
  TokenKind kind;
};
constexpr Spelling puncts[] = {
#define PUNCT(kind, spelling) {spelling, TokenKind::kind},
#include "compiler/syntax/tokens.def"
};

struct Mend {
  std::string_view text, mend;
};
constexpr Mend foreign[] = {
#define FOREIGN(spelling, mend) {spelling, mend},
#include "compiler/syntax/tokens.def"
};
constexpr Mend lookalikes[] = {
#define LOOKALIKE(utf8, ascii) {utf8, ascii},
#include "compiler/syntax/tokens.def"
};

const std::unordered_map<std::string_view, TokenKind> &keywords() {
  static const std::unordered_map<std::string_view, TokenKind> words = {
#define KEYWORD(kind, word) {word, TokenKind::kind},
#include "compiler/syntax/tokens.def"
  };
  return words;
}

/// Messages of one file: more would only repeat that it is no program.
constexpr size_t maxReports = 100;

class Lexer {
public:
  Lexer(FileId id, const SourceManager &sources, Diagnostics &d) : file(id), text(sources.text(id)), diags(d) {}

  TokenList run() {
    if (text.starts_with("\xef\xbb\xbf")) // a byte order mark says nothing in UTF-8
      pos = 3;
    while (pos < text.size())
      next();
    push(TokenKind::Eof, pos);
    markGenericCalls(out.tokens);
    return std::move(out);
  }

private:
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }
  std::string_view rest() const { return text.substr(pos); }
  Span span(size_t begin, size_t end) const { return {file, uint32_t(begin), uint32_t(end)}; }

  Diagnostic &report(Diag diag, size_t begin, size_t end, std::string message) {
    tainted = true;
    if (reports++ >= maxReports)
      return dropped = {};
    return diags.report(diag, span(begin, end), std::move(message));
  }

  /// Adds the token that began at `begin` and ends here.
  Token &push(TokenKind kind, size_t begin) {
    Token token;
    token.kind = kind;
    token.newline = lineStart;
    token.touches = begin == lastEnd && !out.tokens.empty();
    token.tainted = tainted;
    token.span = span(begin, pos);
    if (!doc.empty()) {
      out.docs.push_back(std::move(doc));
      token.doc = uint32_t(out.docs.size());
      doc.clear();
    }
    lineStart = false;
    lastEnd = pos;
    return out.tokens.emplace_back(token);
  }

  void next() {
    char c = text[pos];
    size_t begin = pos;
    if (c == '\n' || (c == '\r' && at(pos + 1) == '\n')) {
      pos += c == '\r' ? 2 : 1;
      ++line;
      lineStart = true;
      tainted = false;
    } else if (c == ' ' || c == '\t') {
      ++pos;
    } else if (c == '#') {
      comment();
    } else if (isWordStart(c)) {
      word();
    } else if (isDigit(c)) {
      number();
    } else if (c == '"') {
      string();
    } else if (rest().starts_with("//")) {
      pos += 2;
      report(Diag::SlashSlash, begin, pos, "`//` is not an operator: floor division of integers is `/`").help =
          "a comment begins with `#`";
      if (lineStart)
        skipLine();
      else
        push(TokenKind::Slash, begin);
    } else if (!punctuation()) {
      stray();
    }
  }

  /// Steps over one character of a comment or string, which must be UTF-8 and no control byte.
  void scanText() {
    if (isControl(text[pos])) {
      stray();
    } else if (size_t length = utf8Length(rest())) {
      pos += length;
    } else {
      badUtf8();
    }
  }
  bool atLineEnd() const { return pos >= text.size() || text[pos] == '\n' || rest().starts_with("\r\n"); }
  void skipLine() {
    while (!atLineEnd())
      scanText();
  }

  /// One message a file: the fault is the file's encoding.
  void badUtf8() {
    size_t begin = pos++;
    tainted = true;
    if (!std::exchange(reportedUtf8, true))
      report(Diag::InvalidUtf8, begin, pos, fmt::format("the byte 0x{:02x} is not UTF-8", uint8_t(text[begin]))).help =
          "save the file as UTF-8";
  }

  void comment() {
    size_t begin = pos;
    bool first = lineStart;
    skipLine();
    std::string_view body = text.substr(begin, pos - begin);
    if (!first || !body.starts_with("##") || body.starts_with("###"))
      return;
    body.remove_prefix(body.starts_with("## ") ? 3 : 2);
    // Documentation is the block of lines nearest to the declaration: one that stands apart from it is dropped.
    if (!doc.empty() && docLine + 1 == line)
      doc += '\n';
    else
      doc.clear();
    // White space that ends a line says nothing.
    doc += body.substr(0, body.find_last_not_of(" \t") + 1);
    docLine = line;
  }

  // keyword | dtype | NAME .
  void word() {
    size_t begin = pos;
    while (pos < text.size() && isWord(text[pos]))
      ++pos;
    if (pos < text.size() && uint8_t(text[pos]) >= 0x80 && utf8Length(rest()) && !lookalike()) {
      stray(begin);
      return;
    }
    std::string_view word = text.substr(begin, pos - begin);
    if (auto it = keywords().find(word); it != keywords().end())
      push(it->second, begin);
    else if (std::optional<DType> dtype = parseDType(word))
      push(TokenKind::DType, begin).dtype = *dtype;
    else
      push(TokenKind::Name, begin);
  }

  // Rows stand in the table with the longer spelling first, so the first that fits is the right one.
  bool punctuation() {
    size_t begin = pos;
    for (const Mend &row : foreign)
      if (rest().starts_with(row.text)) {
        pos += row.text.size();
        report(Diag::ForeignOperator, begin, pos, fmt::format("`{}` is not in the language", row.text)).help = row.mend;
        push(TokenKind::Invalid, begin);
        return true;
      }
    for (const Spelling &row : puncts)
      if (rest().starts_with(row.text)) {
        pos += row.text.size();
        push(row.kind, begin);
        return true;
      }
    return false;
  }

  const Mend *lookalike() const {
    for (const Mend &row : lookalikes)
      if (rest().starts_with(row.text))
        return &row;
    return nullptr;
  }

  /// A character that begins no token; with `wordBegin`, one in the middle of a word.
  void stray(size_t wordBegin = std::string_view::npos) {
    size_t begin = pos;
    size_t length = utf8Length(rest());
    if (!length)
      return badUtf8();
    bool known = tainted; // one message a line
    std::string message, help;
    if (isControl(text[pos])) {
      ++pos;
      message = fmt::format("the control character 0x{:02x} cannot stand in a program", uint8_t(text[begin]));
      help = "remove it";
    } else if (const Mend *row = lookalike()) {
      pos += row->text.size();
      message = fmt::format("the character `{}` is not in the language", row->text == "`" ? "\\`" : row->text);
      help = row->mend == " " ? "write a plain space" : fmt::format("write `{}`", row->mend);
    } else if (uint8_t(text[pos]) < 0x80) {
      ++pos;
      message = fmt::format("the character `{}` is not in the language", text.substr(begin, 1));
    } else {
      begin = std::min(begin, wordBegin);
      while (pos < text.size() && (isWord(text[pos]) || uint8_t(text[pos]) >= 0x80) && (length = utf8Length(rest())))
        pos += length;
      message = fmt::format("`{}` is not a name", text.substr(begin, pos - begin));
      help = "names are ASCII letters, digits and `_`";
    }
    if (!known)
      report(Diag::StrayCharacter, begin, pos, message).help = help;
    push(TokenKind::Invalid, begin);
  }

  // STRING: on one line, so that a forgotten quote spoils that line only.
  void string() {
    size_t begin = pos++;
    std::string value;
    while (!atLineEnd() && text[pos] != '"') {
      size_t from = pos;
      if (text[pos] == '\\') {
        escape(value);
        continue;
      }
      scanText();
      value += text.substr(from, pos - from);
    }
    if (atLineEnd())
      report(Diag::UnclosedString, begin, pos, "the string is not closed on its line").help =
          "end it with `\"`; a line break in it is `\\n`";
    else
      ++pos;
    push(TokenKind::String, begin).index = uint32_t(out.strings.size());
    out.strings.push_back(std::move(value));
  }

  void escape(std::string &value) {
    size_t begin = pos++;
    switch (at(pos)) {
    case 'n':
      value += '\n';
      break;
    case 't':
      value += '\t';
      break;
    case '\\':
    case '"':
      value += text[pos];
      break;
    default:
      if (!atLineEnd())
        pos += std::max<size_t>(utf8Length(rest()), 1);
      report(Diag::BadEscape, begin, pos,
             fmt::format("`{}` is not an escape of strings", text.substr(begin, pos - begin)))
          .help = "escapes are `\\n`, `\\t`, `\\\"` and `\\\\`";
      return;
    }
    ++pos;
  }

  // Underscores are judged once the whole number is known, so that a bad one is one fault.
  void digits() {
    while (isDigit(at(pos)) || at(pos) == '_')
      ++pos;
  }

  // Takes everything that looks like part of the number before judging it: `1f32` is one fault, not two tokens.
  void number() {
    size_t begin = pos;
    bool item = !out.tokens.empty() && out.tokens.back().kind == TokenKind::Dot; // `t.0.1` has no float in it
    bool isFloat = false;
    bool based = !item && text[pos] == '0' && (at(pos + 1) == 'x' || at(pos + 1) == 'b');
    bool halfFloat = false;
    if (!based) {
      digits();
      if (!item && at(pos) == '.' && isDigit(at(pos + 1))) {
        isFloat = true;
        ++pos;
        digits();
      } else if (!item && at(pos) == '.' && at(pos + 1) != '.' && !isWordStart(at(pos + 1))) {
        halfFloat = true;
        ++pos;
      }
      size_t sign = at(pos + 1) == '+' || at(pos + 1) == '-';
      if (!item && (at(pos) == 'e' || at(pos) == 'E') && isDigit(at(pos + 1 + sign))) {
        isFloat = true;
        pos += 1 + sign;
        digits();
      }
    }
    size_t suffix = pos;
    while (isWord(at(pos)))
      ++pos;
    std::string_view literal = text.substr(begin, pos - begin);
    if (halfFloat) {
      badNumber(begin, "a float has digits on both sides of its dot",
                fmt::format("write `{}0`", text.substr(begin, suffix - begin)));
      push(TokenKind::Float, begin);
    } else if (based) {
      basedInteger(begin, literal);
    } else if (suffix != pos) {
      std::string_view tail = text.substr(suffix, pos - suffix), head = text.substr(begin, suffix - begin);
      badNumber(begin, fmt::format("`{}` cannot follow a number", tail),
                parseDType(tail) ? fmt::format("a value of that dtype is `full<{}>(value = {})`", tail, head) : "");
      push(isFloat ? TokenKind::Float : TokenKind::Int, begin);
    } else if (literal.back() == '_' || literal.contains("__") || literal.contains("_.") || literal.contains("._") ||
               literal.contains("_e") || literal.contains("_E")) {
      badNumber(begin, "a `_` in a number stands between two digits", "");
      push(isFloat ? TokenKind::Float : TokenKind::Int, begin);
    } else if (isFloat) {
      floating(begin, literal);
    } else {
      integer(begin, literal, 10);
    }
  }

  void badNumber(size_t begin, std::string message, std::string help) {
    report(Diag::BadNumber, begin, pos, std::move(message)).help = std::move(help);
  }

  // 0x or 0b.
  void basedInteger(size_t begin, std::string_view literal) {
    bool hex = literal[1] == 'x';
    std::string_view body = literal.substr(2);
    std::string_view allowed = hex ? "0123456789abcdefABCDEF_" : "01_";
    if (size_t bad = body.find_first_not_of(allowed); bad != std::string_view::npos) {
      badNumber(begin,
                fmt::format("`{}` is not a digit of a {} number", body.substr(bad, 1), hex ? "hexadecimal" : "binary"),
                "");
      push(TokenKind::Int, begin);
    } else if (body.empty() || body.front() == '_' || body.back() == '_' || body.contains("__")) {
      badNumber(begin,
                body.empty() ? fmt::format("`{}` has no digits", literal)
                             : "a `_` in a number stands between two digits",
                "");
      push(TokenKind::Int, begin);
    } else {
      integer(begin, body, hex ? 16 : 2);
    }
  }

  static std::string withoutUnderscores(std::string_view literal) {
    std::string plain(literal);
    std::erase(plain, '_');
    return plain;
  }

  void integer(size_t begin, std::string_view literal, int base) {
    std::string plain = withoutUnderscores(literal);
    uint64_t value = 0;
    if (std::from_chars(plain.data(), plain.data() + plain.size(), value, base).ec != std::errc())
      report(Diag::NumberRange, begin, pos,
             fmt::format("`{}` does not fit in 64 bits", text.substr(begin, pos - begin)))
          .help = "the largest integer is 18446744073709551615";
    push(TokenKind::Int, begin).integer = value;
  }

  void floating(size_t begin, std::string_view literal) {
    std::string plain = withoutUnderscores(literal);
    double value = std::strtod(plain.c_str(), nullptr);
    if (value == HUGE_VAL)
      report(Diag::NumberRange, begin, pos, fmt::format("`{}` is larger than every f64", literal)).help =
          "infinity is written `inf`";
    push(TokenKind::Float, begin).real = value;
  }

  FileId file;
  std::string_view text;
  Diagnostics &diags;
  TokenList out;
  size_t pos = 0, lastEnd = 0;
  uint32_t line = 1, docLine = 0;
  bool lineStart = true, tainted = false, reportedUtf8 = false;
  size_t reports = 0;
  Diagnostic dropped; ///< takes what comes after the last message
  std::string doc;
};

} // namespace

TokenList lex(FileId file, const SourceManager &sources, Diagnostics &diags) {
  return Lexer(file, sources, diags).run();
}

} // namespace tilec::syntax
