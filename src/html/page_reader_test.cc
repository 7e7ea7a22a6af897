#include "html/page_reader.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "html/page_links.h"

namespace portolan {
namespace {

// "a href x.html nofollow…" without the parts that are not there.
std::vector<std::string> Links(const Page& page) {
  std::vector<std::string> lines;
  for (const PageLink& link : page.links) {
    lines.push_back(std::string(TagName(link.element)) + " " + std::string(LinkAttributeName(link.attribute)) + " " +
                    std::string(page.View(link.url)));
  }
  return lines;
}

using Lines = std::vector<std::string>;

class PageReaderTest : public testing::Test {
 protected:
  const Page& Read(std::string_view html, PageOptions options = {}) {
    reader_ = std::make_unique<PageReader>(options);
    return reader_->Read(html);
  }
  std::string_view Text(std::string_view html) { return Read(html, {.text = true}).text; }

 private:
  std::unique_ptr<PageReader> reader_;
};

TEST_F(PageReaderTest, EveryElementWithALinkIsFound) {
  const Page& page = Read(
      "<body background=1><a href=2><area href=3><link href=4><frame src=5><iframe src=6></iframe>"
      "<img src=7 srcset='8 1x, 9 2x'><source src=10 srcset=11><video src=12 poster=13><audio src=14><track src=15>"
      "<embed src=16><object data=17><script src=18></script><form action=19><input type=IMAGE src=20>"
      "<input type=text src=no><blockquote cite=21><q cite=22><ins cite=23><del cite=24>"
      "<meta http-equiv=refresh content='3;url=25'><image src=26>",
      {.citations = true});
  EXPECT_EQ(Links(page),
            (Lines{"body background 1",  "a href 2",       "area href 3",     "link href 4",    "frame src 5",
                   "iframe src 6",       "img src 7",      "img srcset 8",    "img srcset 9",   "source src 10",
                   "source srcset 11",   "video src 12",   "video poster 13", "audio src 14",   "track src 15",
                   "embed src 16",       "object data 17", "script src 18",   "form action 19", "input src 20",
                   "blockquote cite 21", "q cite 22",      "ins cite 23",     "del cite 24",    "meta content 25",
                   "image src 26"}));
}

TEST_F(PageReaderTest, CitationsAreLeftOutUnlessAskedFor) { EXPECT_TRUE(Read("<q cite=a>").links.empty()); }

TEST_F(PageReaderTest, ValuesAreDecodedAndTrimmed) {
  EXPECT_EQ(Links(Read("<a href=' a?b=1&amp;c=2\n'>")), Lines{"a href a?b=1&c=2"});
  EXPECT_EQ(Links(Read("<a HREF=\"x\" href=y>")), Lines{"a href x"});
}

TEST_F(PageReaderTest, KindFollowsElementAndRel) {
  const Page& page = Read(
      "<a href=x><img src=x><script src=x></script><link rel=canonical href=x><link rel='alternate stylesheet' href=x>"
      "<link rel=preload href=x>");
  using enum LinkKind;
  std::vector<LinkKind> kinds;
  for (const PageLink& link : page.links) kinds.push_back(link.kind);
  EXPECT_EQ(kinds, (std::vector{kNavigation, kEmbed, kResource, kNavigation, kResource, kResource}));
  EXPECT_EQ(page.canonical, 3);
}

TEST_F(PageReaderTest, NothingIsALinkInRawText) {
  EXPECT_TRUE(Read("<script>'<a href=x>'</script><style><a href=x></style><textarea><a href=x></textarea>"
                   "<title><a href=x></title><xmp><a href=x></xmp><iframe><a href=x></iframe><!--<a href=x>-->"
                   "<noframes><a href=x></noframes><noembed><a href=x></noembed><plaintext><a href=x></plaintext>")
                  .links.empty());
}

TEST_F(PageReaderTest, NoscriptIsContent) {
  const Page& page = Read("<noscript>x <img src=a></noscript>", {.text = true});
  EXPECT_EQ(Links(page), Lines{"img src a"});
  EXPECT_EQ(page.text, "x");
}

TEST_F(PageReaderTest, LinksInTemplatesAreMarkedAndTheirTextIsNot) {
  const Page& page = Read("a<template><a href=x>b</a><base href=no></template>c<a href=y>", {.text = true});
  ASSERT_EQ(page.links.size(), 2U);
  EXPECT_TRUE(page.links[0].in_template);
  EXPECT_FALSE(page.links[1].in_template);
  EXPECT_EQ(page.text, "ac");
  EXPECT_FALSE(page.has_base);
}

TEST_F(PageReaderTest, FirstBaseWithAnHrefWins) {
  const Page& page = Read("<base target=_top><base href=' one '><base href=two>");
  EXPECT_TRUE(page.has_base);
  EXPECT_EQ(page.View(page.base), "one");
}

TEST_F(PageReaderTest, FormInAFormIsIgnored) {
  EXPECT_EQ(Links(Read("<form action=1><form action=2></form><form action=3>")),
            (Lines{"form action 1", "form action 3"}));
}

TEST_F(PageReaderTest, ForeignContentHasItsOwnRules) {
  EXPECT_EQ(Links(Read("<svg><title><a href=1></title><style><a href=2></style><script href=3></script>"
                       "<a xlink:href=4></a><image href=5 /><![CDATA[<a href=no>]]></svg><![CDATA[<a href=no>]]>"
                       "<style><a href=no></style>")),
            (Lines{"a href 1", "a href 2", "script href 3", "a href 4", "image href 5"}));
  // A start tag of HTML leaves it, and then style is raw text again.
  EXPECT_TRUE(Read("<svg><div><style><a href=no></style>").links.empty());
  EXPECT_TRUE(Read("<svg><foreignObject><style><a href=no></style></foreignObject></svg>").links.empty());
  EXPECT_TRUE(Read("<div><svg><g></div><style><a href=no></style>").links.empty());
  EXPECT_TRUE(Read("<svg/><style><a href=no></style>").links.empty());
  EXPECT_EQ(Links(Read("<math><style><img src=1>")), Lines{"img src 1"});
  EXPECT_TRUE(Read("<math><mi><style><img src=no></style></mi></math>").links.empty());
  EXPECT_TRUE(Read("<math><a href=no>").links.empty());  // an element of MathML
}

TEST_F(PageReaderTest, AnchorTextIsCollapsedAndHoldsAlternativeText) {
  const Page& page =
      Read("<a href=x> one\n<b>two</b><div>three</div><img alt='a &amp; b' src=i></a>no<a href=y>z<a href=w>");
  EXPECT_EQ(page.View(page.links[0].text), "one two three a & b");
  EXPECT_EQ(page.View(page.links[2].text), "z");
  EXPECT_EQ(page.View(page.links[3].text), "");
}

TEST_F(PageReaderTest, AnchorTextIsCutAtItsLimit) {
  const Page& page = Read("<a href=x>0123456789</a><a href=y>ab</a>", {.max_anchor_bytes = 4});
  EXPECT_EQ(page.View(page.links[0].text), "0123");
  EXPECT_EQ(page.View(page.links[1].text), "ab");
}

TEST_F(PageReaderTest, HeadSaysWhatThePageIs) {
  const Page& page = Read(
      "<html lang=de><head><meta charset=utf-8><title> A &lt;\n B </title><meta name=Description content=' d '>"
      "<meta name=ROBOTS content='noindex, nofollow'><meta name=googlebot content=all><meta name=portolan content=x>"
      "<meta name=author content=me><meta http-equiv=refresh content=5><link rel=canonical href=c></head>"
      "<svg><title>no</title></svg><title>second</title>",
      {.robot_name = "portolan"});
  EXPECT_EQ(page.View(page.title), "A < B");
  EXPECT_EQ(page.View(page.lang), "de");
  EXPECT_EQ(page.View(page.description), "d");
  EXPECT_EQ(page.View(page.charset), "utf-8");
  EXPECT_EQ(page.canonical, 0);
  std::vector<std::string> metas;
  for (const PageMeta& meta : page.metas) {
    metas.push_back(std::string(page.View(meta.name)) + ":" + std::string(page.View(meta.content)));
  }
  EXPECT_EQ(metas, (Lines{"ROBOTS:noindex, nofollow", "googlebot:all", "portolan:x", ":5"}));
}

TEST_F(PageReaderTest, CharsetOfAnOldMetaIsSeen) {
  const Page& page = Read("<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>");
  EXPECT_EQ(page.View(page.charset), "koi8-r");
}

TEST_F(PageReaderTest, TextHasBlocksOnLinesAndNoCode) {
  EXPECT_EQ(Text("<title>T</title><h1>Head</h1>\n<p>one  <b>two</b>th&shy;ree<br>four<script>x</script>"
                 "<style>y</style><ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3</table>"),
            "Head\none twoth\xc2\xadree\nfour\na\nb\n1 2\n3");
}

TEST_F(PageReaderTest, TextIsCutAtItsLimitAndSaysSo) {
  const Page& page = Read("<p>abc def<p>ghi", {.text = true, .max_text_bytes = 5});
  EXPECT_EQ(page.text, "abc d");
  EXPECT_TRUE(page.text_cut);
  EXPECT_FALSE(Read("<p>abcde", {.text = true, .max_text_bytes = 5}).text_cut);
}

TEST_F(PageReaderTest, LimitsAreCounted) {
  const Page& page = Read("<a href=1><a href=2><a href=3>", {.max_links = 2});
  EXPECT_EQ(page.links.size(), 2U);
  EXPECT_EQ(page.links_dropped, 1U);
  const Page& values = Read("<a href=12345><a href=123>", {.max_value_bytes = 4});
  EXPECT_EQ(Links(values), Lines{"a href 123"});
  EXPECT_EQ(values.values_dropped, 1U);
  EXPECT_EQ(Read("<meta name=robots content=a><meta name=robots content=b>", {.max_metas = 1}).values_dropped, 1U);
  EXPECT_TRUE(Read("<a href=" + std::string(100, 'x') + "><b>", {.tokenizer = {.max_construct_bytes = 64}}).cut);
  EXPECT_EQ(Read("<a href=123><a href=456>", {.max_kept_bytes = 4}).links_dropped, 1U);
}

TEST_F(PageReaderTest, ReaderIsUsedAgain) {
  PageReader reader(PageOptions{.text = true});
  reader.Read("<title>a</title><svg><a href=x>b<template><script>");
  const Page& page = reader.Read("<style><a href=no></style><a href=y>c");
  EXPECT_EQ(Links(page), Lines{"a href y"});
  EXPECT_EQ(page.text, "c");
  EXPECT_EQ(page.View(page.title), "");
  reader.Feed("<a hr");
  reader.Feed("ef=z>");
  EXPECT_EQ(Links(reader.Finish()), Lines{"a href z"});
  EXPECT_TRUE(reader.Finish().links.empty());
}

TEST_F(PageReaderTest, LinksAreResolvedAgainstTheBase) {
  const auto resolve = [&](std::string_view html, PageLinksOptions options = {}) {
    PageLinks links;
    links.Resolve(Read(html), *Url::Parse("http://a.test/dir/page"), options);
    Lines lines;
    for (const ResolvedLink& link : links.links) {
      lines.emplace_back(links.UrlOf(link));
      EXPECT_EQ(link.hash, Hash64(links.UrlOf(link)));
    }
    return lines;
  };
  EXPECT_EQ(resolve("<a href=x#y><a href=mailto:me><img src=/i>"), (Lines{"http://a.test/dir/x", "http://a.test/i"}));
  EXPECT_EQ(resolve("<base href=/other/><a href=x>"), Lines{"http://a.test/other/x"});
  EXPECT_EQ(resolve("<base href='http://['><a href=x>"), Lines{"http://a.test/dir/x"});
  EXPECT_EQ(resolve("<base href='javascript:1'><a href=x>"), Lines{"http://a.test/dir/x"});
  EXPECT_EQ(resolve("<template><a href=x></template><img src=y>", {.embeds = false}), Lines{});
  EXPECT_EQ(resolve("<template><a href=x></template>", {.in_templates = true}), Lines{"http://a.test/dir/x"});
}

TEST_F(PageReaderTest, QueriesAreInTheEncodingOfThePage) {
  const auto resolve = [&](std::string_view html, Encoding encoding) {
    PageLinks links;
    links.Resolve(Read(html), *Url::Parse("http://a.test/dir/page?é"), {.encoding = encoding});
    Lines lines;
    for (const ResolvedLink& link : links.links) lines.emplace_back(links.UrlOf(link));
    return lines;
  };
  EXPECT_EQ(resolve("<a href='/é?é'><img src='?&eacute;' srcset='i?é 1x'>", Encoding::kWindows1252),
            (Lines{"http://a.test/%C3%A9?%E9", "http://a.test/dir/page?%E9", "http://a.test/dir/i?%E9"}));
  EXPECT_EQ(resolve("<meta http-equiv=refresh content='0;url=?тест'><a href='?日'>", Encoding::kWindows1251),
            (Lines{"http://a.test/dir/page?%F2%E5%F1%F2", "http://a.test/dir/page?%26%2326085%3B"}));
  for (const Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16Le, Encoding::kReplacement}) {
    EXPECT_EQ(resolve("<a href='?é'>", encoding), Lines{"http://a.test/dir/page?%C3%A9"});
  }
  // The base's query is in it too; that of the page's own URL is what it was asked for with.
  EXPECT_EQ(resolve("<base href='b?é'><a href=''>", Encoding::kWindows1252), Lines{"http://a.test/dir/b?%E9"});
  EXPECT_EQ(resolve("<a href=''>", Encoding::kWindows1252), Lines{"http://a.test/dir/page?%C3%A9"});
}

}  // namespace
}  // namespace portolan
