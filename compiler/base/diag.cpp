#include "compiler/base/diag.h"
#include "compiler/base/snippet.h"
#include "compiler/base/text.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace tilec {

const std::vector<DiagInfo> &allDiags() {
  static const std::vector<DiagInfo> all = {
#define DIAG(name, code, severity, title, explanation)                                                                 \
  {Diag::name, #name, code, Severity::severity, title, explanation},
#include "compiler/base/diag_codes.def"
  };
  return all;
}

const DiagInfo &info(Diag diag) { return allDiags()[size_t(diag)]; }

static bool equalAnyCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](uint8_t x, uint8_t y) { return std::tolower(x) == std::tolower(y); });
}

const DiagInfo *findDiag(std::string_view code) {
  for (const DiagInfo &row : allDiags())
    if (equalAnyCase(code, row.code) || equalAnyCase(code, row.name))
      return &row;
  return nullptr;
}

Diagnostic &Diagnostics::report(Diag diag, Span span, std::string message) {
  Severity severity = info(diag).severity;
  bool fresh = known.insert(fmt::format("{}:{}:{}:{}:{}", int(diag), span.file, span.begin, span.end, message)).second;
  bool room = fresh && kept[{span.file, severity}] < mostOfAKind;
  if (fresh && severity == Severity::Error)
    ++errors;
  if (!room) {
    dropped += fresh;
    scratch = {diag, span, std::move(message), {}, ""};
    return scratch;
  }
  ++kept[{span.file, severity}];
  return list.emplace_back(Diagnostic{diag, span, std::move(message), {}, ""});
}

//===--------------------------------------------------------------------------------------------------------------===//
// Rendering
//===--------------------------------------------------------------------------------------------------------------===//

static std::vector<const Diagnostic *> byPlace(const Diagnostics &diags) {
  std::vector<const Diagnostic *> order;
  for (const Diagnostic &diag : diags.all())
    order.push_back(&diag);
  // Stable: reports of one place keep the order in which they were found.
  std::stable_sort(order.begin(), order.end(), [](const Diagnostic *a, const Diagnostic *b) {
    return std::pair(a->span.file, a->span.begin) < std::pair(b->span.file, b->span.begin);
  });
  return order;
}

namespace {

constexpr std::string_view red = "\x1b[1;31m", yellow = "\x1b[1;33m", cyan = "\x1b[1;36m", green = "\x1b[1;32m",
                           blue = "\x1b[1;34m", bold = "\x1b[1m", plain = "\x1b[0m";

std::string_view severityName(Severity severity) { return severity == Severity::Error ? "error" : "warning"; }

class Renderer {
public:
  Renderer(const SourceManager &sources, bool color) : sources(sources), color(color) {}

  void add(const Diagnostic &diag) {
    gutter = gutterWidth(diag);
    const DiagInfo &row = info(diag.diag);
    std::string_view hue = row.severity == Severity::Error ? red : yellow;
    place(diag.span);
    text += paint(fmt::format("{}[{}]:", severityName(row.severity), row.code), hue);
    text += fmt::format(" {}\n", paint(shortenWords(diag.message), bold));
    quote(diag.span, hue);
    for (const DiagNote &note : diag.notes) {
      if (note.span)
        place(*note.span);
      text += fmt::format("{} {}\n", paint("note:", cyan), shortenWords(note.message));
      if (note.span)
        quote(*note.span, cyan);
    }
    if (!diag.help.empty())
      text += fmt::format("{} {}\n", paint("help:", green), shortenWords(diag.help));
  }

  std::string text;

private:
  const SourceManager &sources;
  bool color;
  size_t gutter = 1;

  std::string paint(std::string_view part, std::string_view hue) const {
    return color ? fmt::format("{}{}{}", hue, part, plain) : std::string(part);
  }

  /// A diagnostic of no file (a recipe's value, an option) has neither place nor snippet.
  bool known(Span span) const { return span.file < sources.size(); }

  /// One gutter for a diagnostic and its notes: as wide as the largest line number.
  size_t gutterWidth(const Diagnostic &diag) const {
    uint32_t line = 1;
    auto grow = [&](Span span) {
      if (known(span))
        line = std::max(line, sources.position(span.file, span.begin).line);
    };
    grow(diag.span);
    for (const DiagNote &note : diag.notes)
      if (note.span)
        grow(*note.span);
    return std::to_string(line).size();
  }

  void place(Span span) {
    if (!known(span))
      return;
    LineColumn at = sources.position(span.file, span.begin);
    text += paint(fmt::format("{}:{}:{}:", sources.name(span.file), at.line, at.column), bold) + " ";
  }

  void quote(Span span, std::string_view hue) {
    if (!known(span))
      return;
    uint32_t number = sources.position(span.file, span.begin).line;
    std::string_view line = sources.line(span.file, number);
    size_t offset = size_t(std::min<size_t>(span.begin, sources.text(span.file).size())) -
                    size_t(line.data() - sources.text(span.file).data());
    size_t length = span.end > span.begin ? span.end - span.begin : 0;
    Snippet snippet = makeSnippet(line, offset, length);
    std::string margin = paint(fmt::format(" {:>{}} |", number, gutter), blue);
    std::string empty = paint(fmt::format(" {:>{}} |", "", gutter), blue);
    text += snippet.line.empty() ? margin + "\n" : fmt::format("{} {}\n", margin, snippet.line);
    std::string indent(snippet.caretColumn, ' ');
    text += fmt::format("{} {}{}\n", empty, indent, paint(std::string(snippet.caretWidth, '^'), hue));
  }
};

Json placeToJson(Span span, const SourceManager &sources) {
  Json place = Json::object();
  if (span.file >= sources.size())
    return place;
  LineColumn begin = sources.position(span.file, span.begin), end = sources.position(span.file, span.end);
  place["file"] = validUtf8(sources.name(span.file));
  place["line"] = begin.line;
  place["column"] = begin.column;
  place["endLine"] = end.line;
  place["endColumn"] = end.column;
  return place;
}

} // namespace

std::string render(const Diagnostics &diags, const SourceManager &sources, bool color) {
  Renderer renderer(sources, color);
  for (const Diagnostic *diag : byPlace(diags)) {
    if (!renderer.text.empty())
      renderer.text += '\n';
    renderer.add(*diag);
  }
  if (size_t more = diags.leftOut())
    renderer.text += fmt::format("\n… and {} more\n", more);
  return std::move(renderer.text);
}

Json toJson(const Diagnostics &diags, const SourceManager &sources) {
  Json list = Json::array();
  for (const Diagnostic *diag : byPlace(diags)) {
    const DiagInfo &row = info(diag->diag);
    Json item = Json::object();
    item["code"] = row.code;
    item["name"] = row.name;
    item["severity"] = severityName(row.severity);
    item["message"] = validUtf8(shortenWords(diag->message));
    item.update(placeToJson(diag->span, sources));
    item["notes"] = Json::array();
    for (const DiagNote &note : diag->notes) {
      Json entry = note.span ? placeToJson(*note.span, sources) : Json::object();
      entry["message"] = validUtf8(shortenWords(note.message));
      item["notes"].push_back(std::move(entry));
    }
    if (!diag->help.empty())
      item["help"] = validUtf8(shortenWords(diag->help));
    list.push_back(std::move(item));
  }
  return list;
}

} // namespace tilec
