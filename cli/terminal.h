#pragma once
// A stream of the tool: plain text, colour where wanted, tables and one live line.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::cli {

enum class Style { Plain, Bold, Dim, Red, Green, Yellow, Cyan };

class Terminal {
public:
  explicit Terminal(FILE *stream) : stream(stream) {}

  /// `auto`: colour on a terminal unless NO_COLOR is set; `always`, `never`.
  void setColor(std::string_view mode);
  bool color() const { return colored; }
  bool isTerminal() const;
  int width() const;

  void print(std::string_view text);
  /// Text in a style, or plain when colour is off.
  std::string styled(Style style, std::string_view text) const;
  /// Replaces the live line; only on a terminal.
  void live(std::string_view text);
  void endLive();
  /// Flushes; false when anything could not be written (a full disk). A reader that has gone away has seen what it
  /// wanted (`| head`): that is no failure.
  bool finish();

private:
  FILE *stream;
  bool colored = false;
  bool liveShown = false;
  int failure = 0; ///< errno of the first write that failed

  void note(bool ok);
};

/// Columns with a header; right-aligned where `right` says so. Empty cells are allowed.
struct Table {
  struct Column {
    std::string title;
    bool right = false;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::string text(const Terminal &terminal) const;
};

/// Width of text on a terminal: code points, ANSI sequences not counted.
size_t displayWidth(std::string_view text);

} // namespace tilec::cli
