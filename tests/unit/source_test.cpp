// LINK: compiler_base
#include "compiler/base/source.h"
#include <gtest/gtest.h>

using namespace tilec;

TEST(Source, PositionsCountCodePoints) {
  SourceManager sources;
  FileId file = sources.add("a.tile", "ab\n\tüx\r\nlast");
  auto at = [&](uint32_t offset) {
    LineColumn place = sources.position(file, offset);
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(2), std::pair(1u, 3u)); // the line end belongs to its line
  EXPECT_EQ(at(3), std::pair(2u, 1u));
  EXPECT_EQ(at(4), std::pair(2u, 2u)); // a tab is one column
  EXPECT_EQ(at(6), std::pair(2u, 3u)); // ü takes two bytes
  EXPECT_EQ(at(9), std::pair(3u, 1u));
  EXPECT_EQ(at(13), std::pair(3u, 5u)); // the end of the text
  EXPECT_EQ(at(999), std::pair(3u, 5u));
}

TEST(Source, Lines) {
  SourceManager sources;
  FileId file = sources.add("a.tile", "ab\ncd\r\n\nlast");
  EXPECT_EQ(sources.line(file, 1), "ab");
  EXPECT_EQ(sources.line(file, 2), "cd");
  EXPECT_EQ(sources.line(file, 3), "");
  EXPECT_EQ(sources.line(file, 4), "last");
  EXPECT_EQ(sources.line(file, 5), "");
  EXPECT_EQ(sources.line(file, 0), "");
  FileId empty = sources.add("e.tile", "");
  EXPECT_EQ(sources.line(empty, 1), "");
  EXPECT_EQ(sources.position(empty, 0).line, 1u);
}

TEST(Source, TextsStayValid) {
  SourceManager sources;
  FileId first = sources.add("1", "one");
  std::string_view text = sources.text(first);
  for (int i = 0; i < 100; ++i)
    sources.add("n", "more");
  EXPECT_EQ(text, "one");
  EXPECT_EQ(text.data(), sources.text(first).data());
  EXPECT_EQ(sources.text(Span{first, 1, 3}), "ne");
  EXPECT_EQ(sources.text(Span{first, 2, 99}), "e");
  EXPECT_EQ(sources.text(Span{first, 50, 99}), "");
  EXPECT_EQ(sources.size(), 101u);
}

TEST(Source, LoadNamesTheFile) {
  SourceManager sources;
  auto missing = sources.load("/nowhere/x.tile");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot read /nowhere/x.tile: No such file or directory");
  EXPECT_EQ(sources.size(), 0u);
}

TEST(Source, Cover) {
  Span both = cover({1, 5, 9}, {1, 2, 6});
  EXPECT_EQ(both.begin, 2u);
  EXPECT_EQ(both.end, 9u);
}
