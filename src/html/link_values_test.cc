#include "html/link_values.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "html/entities.h"
#include "html/page.h"

namespace portolan {
namespace {

std::vector<std::string> Srcset(std::string_view value) {
  std::vector<std::string> urls;
  SrcsetReader reader(value);
  while (const auto url = reader.Next()) urls.emplace_back(*url);
  return urls;
}

using Urls = std::vector<std::string>;

TEST(SrcsetTest, CandidatesAreSplitAsTheStandardSplitsThem) {
  EXPECT_EQ(Srcset("a.png 1x, b.png 2x"), (Urls{"a.png", "b.png"}));
  EXPECT_EQ(Srcset("a.png 1x,b.png 2x"), (Urls{"a.png", "b.png"}));
  EXPECT_EQ(Srcset("a.png,b.png"), (Urls{"a.png,b.png"}));
  EXPECT_EQ(Srcset("a.png, b.png"), (Urls{"a.png", "b.png"}));
  EXPECT_EQ(Srcset(" , ,a.png,, b.png 100w 50h ,"), (Urls{"a.png", "b.png"}));
  EXPECT_EQ(Srcset("data:,x 1x"), (Urls{"data:,x"}));
  EXPECT_EQ(Srcset(" ,, "), Urls{});
}

TEST(SrcsetTest, CandidatesWithWrongDescriptorsAreNone) {
  EXPECT_EQ(Srcset("a 1x, b 1.5x, c .5x, d 1e3x, e 2E-1x, f 0x, g 100w, h 100w 50h, i 50h 100w, j"),
            (Urls{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}));
  for (const std::string_view wrong :
       {"1x 2x", "1w 1w", "1w 1x", "1x 1h", "1h", "0w",  "00w",    "-1w",     "+1w",          "1.5w",  "1.x",     "x",
        "w",     "-1x",   "1e",    "1ex",   "1X", "1 x", "(1, 2)", "1x(a,b)", "photo.jpg 2x", "1w 0h", "1w 1h 1h"}) {
    EXPECT_EQ(Srcset("a " + std::string(wrong) + ", b 2x"), Urls{"b"}) << wrong;
    EXPECT_EQ(Srcset("b, a " + std::string(wrong)), Urls{"b"}) << wrong;
  }
  EXPECT_EQ(Srcset("a (1, b 2x"), Urls{}) << "a parenthesis that stays open";
  EXPECT_EQ(Srcset("a 1x\t,\nb\f2x  "), (Urls{"a", "b"}));
}

TEST(RefreshTest, UrlIsReadAsTheStandardReadsIt) {
  EXPECT_EQ(RefreshUrl("5; url=next.html"), "next.html");
  EXPECT_EQ(RefreshUrl(" 0,URL = 'a b' c"), "a b");
  EXPECT_EQ(RefreshUrl("1.5 next.html"), "next.html");
  EXPECT_EQ(RefreshUrl("0;url=\"x"), "x");
  EXPECT_EQ(RefreshUrl("0; urlaub"), "urlaub");
  EXPECT_EQ(RefreshUrl(".; x"), "x");
  EXPECT_EQ(RefreshUrl("5"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5;"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5; url="), std::nullopt);
  EXPECT_EQ(RefreshUrl("x; url=a"), std::nullopt);
  EXPECT_EQ(RefreshUrl("5x; url=a"), std::nullopt);
  EXPECT_EQ(RefreshUrl(""), std::nullopt);
}

TEST(CharsetInContentTest, LabelIsFoundBehindTheWord) {
  EXPECT_EQ(CharsetInContent("text/html; charset=utf-8"), "utf-8");
  EXPECT_EQ(CharsetInContent("text/html;CHARSET = \"a b\";x"), "a b");
  EXPECT_EQ(CharsetInContent("charset charset=x;y"), "x");
  EXPECT_EQ(CharsetInContent("charset='x"), "");
  EXPECT_EQ(CharsetInContent("text/html"), "");
}

TEST(RelTest, KnownWordsBecomeFlags) {
  EXPECT_EQ(ParseRel(" NoFollow\tugc noopener  sponsored"), kRelNofollow | kRelUgc | kRelSponsored);
  EXPECT_EQ(ParseRel("shortcut icon"), kRelIcon);
  EXPECT_EQ(ParseRel("prev alternate stylesheet"), kRelPrev | kRelAlternate | kRelStylesheet);
  EXPECT_EQ(ParseRel("canonical-ish"), 0);
  EXPECT_EQ(ParseRel("dns-prefetch"), kRelHint);
}

std::string Decoded(std::string_view raw) {
  std::string out;
  AppendAttributeValue(out, raw);
  return out;
}

TEST(AttributeValueTest, ReferencesInQueriesStay) {
  EXPECT_EQ(Decoded("?a=1&copy=2&amp;b"), "?a=1&copy=2&b");
  EXPECT_EQ(Decoded("&copy"), "\xc2\xa9");
  EXPECT_EQ(Decoded("a\r\nb\rc"), "a\nb\nc");
  EXPECT_EQ(Decoded("&#128;&#xd800;&#0;"), "\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_FALSE(AttributeValueChanges("plain"));
  EXPECT_TRUE(AttributeValueChanges("a&b"));
}

}  // namespace
}  // namespace portolan
