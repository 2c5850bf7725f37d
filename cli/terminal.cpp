#include "cli/terminal.h"
#include "compiler/base/env.h"
#include <algorithm>
#include <cerrno>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tilec::cli {

bool Terminal::isTerminal() const { return isatty(fileno(stream)) != 0; }

void Terminal::setColor(std::string_view mode) {
  colored = mode == "always" || (mode == "auto" && isTerminal() && !envFlag(Env::NO_COLOR));
}

int Terminal::width() const {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 100;
}

void Terminal::print(std::string_view text) {
  endLive();
  note(fwrite(text.data(), 1, text.size(), stream) == text.size());
}

std::string Terminal::styled(Style style, std::string_view text) const {
  static constexpr const char *codes[] = {"", "1", "2", "31;1", "32", "33", "36"};
  if (!colored || style == Style::Plain)
    return std::string(text);
  return std::string("\x1b[") + codes[int(style)] + "m" + std::string(text) + "\x1b[0m";
}

void Terminal::live(std::string_view text) {
  if (!isTerminal())
    return;
  std::string line(text);
  size_t limit = size_t(std::max(20, width() - 1));
  while (displayWidth(line) > limit)
    line.pop_back();
  fprintf(stream, "\r\x1b[K%s", line.c_str());
  fflush(stream);
  liveShown = true;
}

void Terminal::endLive() {
  if (!liveShown)
    return;
  fputs("\r\x1b[K", stream);
  liveShown = false;
}

bool Terminal::finish() {
  endLive();
  note(fflush(stream) == 0 && !ferror(stream));
  return failure == 0 || failure == EPIPE;
}

void Terminal::note(bool ok) {
  if (!ok && failure == 0)
    failure = errno ? errno : EIO;
}

size_t displayWidth(std::string_view text) {
  size_t n = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm')
        ++i;
      continue;
    }
    n += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  }
  return n;
}

std::string Table::text(const Terminal &terminal) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    size_t w = displayWidth(columns[c].title);
    for (const auto &row : rows)
      w = std::max(w, c < row.size() ? displayWidth(row[c]) : 0);
    widths.push_back(w);
  }
  auto line = [&](const std::vector<std::string> &cells, Style style) {
    std::string s;
    for (size_t c = 0; c < columns.size(); ++c) {
      std::string cell = c < cells.size() ? cells[c] : "";
      std::string pad(widths[c] - displayWidth(cell), ' ');
      cell = terminal.styled(style, cell);
      s += columns[c].right ? pad + cell : cell + pad;
      if (c + 1 < columns.size())
        s += "  ";
    }
    while (!s.empty() && s.back() == ' ')
      s.pop_back();
    return s + "\n";
  };
  std::vector<std::string> titles;
  for (const Column &c : columns)
    titles.push_back(c.title);
  std::string all = line(titles, Style::Bold);
  for (const auto &row : rows)
    all += line(row, Style::Plain);
  return all;
}

} // namespace tilec::cli
