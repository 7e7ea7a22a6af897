#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace portolan {
namespace {

TEST(TextTest, EditDistanceCountsSlips) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("crawl", "crwal"), 1U) << "a swap of neighbours is one slip";
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(TextTest, NearestWordSuggestsOnlyWhatIsNear) {
  constexpr std::array<std::string_view, 4> kVerbs = {"crawl", "resume", "status", "config"};
  EXPECT_EQ(NearestWord("crwal", kVerbs), "crawl");
  EXPECT_EQ(NearestWord("conf", kVerbs), "config") << "a beginning is enough";
  EXPECT_EQ(NearestWord("stats", kVerbs), "status");
  EXPECT_EQ(NearestWord("xyzzy", kVerbs), "");
  EXPECT_EQ(NearestWord("q", kVerbs), "");
}

TEST(EscapeHtmlTest, NothingIsMarkup) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\" title='y'>&amp;</a>"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;");
  EXPECT_EQ(EscapeHtml("\u202e<\x1b\xff"), "\\u{202e}&lt;\\x1b\\xff");
}

TEST(PrintableTest, NothingMovesTheCursorOrTurnsTheText) {
  EXPECT_EQ(Printable("plain, \u00e9\u4e16 \U0001f600"), "plain, \u00e9\u4e16 \U0001f600");
  EXPECT_EQ(Printable("a\x1b[2J\r\n\x7f"), "a\\x1b[2J\\x0d\\x0a\\x7f");
  EXPECT_EQ(Printable("\u009b31m"), "\\u{009b}31m");
  EXPECT_EQ(Printable("gnp.\u202egpj\u2069\u2028"), "gnp.\\u{202e}gpj\\u{2069}\\u{2028}");
  EXPECT_EQ(Printable("\xff\xe2\x80"), "\\xff\\xe2\\x80");
}

}  // namespace
}  // namespace portolan
