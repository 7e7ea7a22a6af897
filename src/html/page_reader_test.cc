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
      "<link rel=preload href=x><iframe src=x></iframe><frame src=x>");
  using enum LinkKind;
  std::vector<LinkKind> kinds;
  for (const PageLink& link : page.links) kinds.push_back(link.kind);
  EXPECT_EQ(kinds, (std::vector{kNavigation, kEmbed, kResource, kNavigation, kResource, kResource, kFrame, kFrame}));
  EXPECT_EQ(page.canonical, 3);
}

TEST_F(PageReaderTest, PreloadedImagesAreCandidates) {
  EXPECT_EQ(Links(Read("<link rel=preload as=image imagesrcset='a 1x, b 2x'><link rel=icon imagesrcset='no 1x'>")),
            (Lines{"link imagesrcset a", "link imagesrcset b"}));
}

TEST_F(PageReaderTest, StylesNameImagesAndSheetsWhereTheyAreAskedFor) {
  const std::string_view html =
      "<style>@import 'a.css'; b{c:url(d.png)}</style><p style=\"background:url(&quot;e.png&quot;)\">"
      "<table background=f.png><td background=g.png><unknown style='a:url(h.png)'>"
      "<svg style='a:url(i.png)'><style>j{k:url('&amp;l')}<![CDATA[ m{n:url(o)} ]]></style><use href='#no'/>"
      "<use xlink:href=p.svg#q /></svg><style>r{s:url(t";
  EXPECT_EQ(Links(Read(html, {.styles = true})),
            (Lines{"style style a.css", "style style d.png", "p style e.png", "table background f.png",
                   "td background g.png", " style h.png", "svg style i.png", "style style &l", "style style o",
                   "use href p.svg#q", "style style t"}));
  EXPECT_EQ(Links(Read(html)), Lines{"use href p.svg#q"});
}

TEST_F(PageReaderTest, StylesInTemplatesAreMarkedAndThoseInTextAreNone) {
  const Page& page = Read(
      "<template><style>a{b:url(c)}</style><p style='d:url(e)'></template>"
      "<textarea><p style='url(no)'></textarea><script>'<style>url(no)</style>'</script>"
      "<title><style>url(no)</style></title><!--<style>url(no)</style>-->",
      {.styles = true});
  ASSERT_EQ(page.links.size(), 2U);
  EXPECT_TRUE(page.links[0].in_template && page.links[1].in_template);
}

TEST_F(PageReaderTest, StyleOfAForeignElementEndsWithIt) {
  EXPECT_EQ(Links(Read("<svg><style>a{b:url(c)}<div>url(no)</style>", {.styles = true})), Lines{"style style c"});
  EXPECT_EQ(Links(Read("<svg><style>a{b:url(c)}</svg>url(no)", {.styles = true})), Lines{"style style c"});
  EXPECT_EQ(Links(Read("<svg><style/>url(no)</svg>", {.styles = true})), Lines{});
}

TEST_F(PageReaderTest, LongStyleIsCutBetweenUrls) {
  const Page& page =
      Read("<style>a{b:url(c);d:url(efg)}</style><style>h{i:url(j)}</style>", {.styles = true, .max_style_bytes = 20});
  EXPECT_EQ(Links(page), (Lines{"style style c", "style style j"}));
  EXPECT_EQ(page.values_dropped, 1U);
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
  EXPECT_EQ(Links(Read("<svg><title><a href=1></a></title><style><a href=2></style><script href=3></script>"
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

TEST_F(PageReaderTest, TitleOfATemplateIsNotThePages) {
  const Page& page = Read("<template><title>no</title></template>a<title>yes</title>", {.text = true});
  EXPECT_EQ(page.View(page.title), "yes");
  EXPECT_EQ(page.text, "a");
  EXPECT_EQ(Read("<template><title>no</title></template>").title.size, 0U);
}

TEST_F(PageReaderTest, ForeignTitleIsClosedByItsOwnEndTag) {
  // The inner title is HTML's, and raw text; its end is not that of the title of SVG, in which HTML goes on.
  EXPECT_EQ(Links(Read("<svg><title>a<title>b</title><form action=1>")), Lines{"form action 1"});
  EXPECT_TRUE(Links(Read("<svg><title>a<title>b</title></title><form action=no>")).empty());
  EXPECT_EQ(Links(Read("<svg><desc><textarea></desc></textarea><form action=1>")), Lines{"form action 1"});
  EXPECT_EQ(Links(Read("<svg><title><style></title></style><form action=1>")), Lines{"form action 1"});
}

TEST_F(PageReaderTest, RawTextElementsAreOrdinaryInForeignContent) {
  for (const std::string tag : {"title", "textarea", "style", "script", "xmp", "noscript", "iframe", "noembed"}) {
    const std::string in_svg = "<svg><" + tag + "><image href=1 /></" + tag + "></svg><style><a href=no></style>";
    const Lines expected = tag == "title" ? Lines{} : Lines{"image href 1"};  // in a title it is HTML's image
    EXPECT_EQ(Links(Read(in_svg)), expected) << in_svg;
    EXPECT_EQ(Links(Read("<math><" + tag + "><img src=1></" + tag + ">")), Lines{"img src 1"}) << tag;
  }
}

TEST_F(PageReaderTest, HtmlGoesOnInIntegrationPointsUntilTheirEnd) {
  for (const std::string point : {"svg><title", "svg><desc", "svg><foreignObject", "math><mi", "math><mtext",
                                  "math><annotation-xml encoding=TEXT/html"}) {
    EXPECT_EQ(Links(Read("<" + point + "><form action=1>")), Lines{"form action 1"}) << point;
    EXPECT_EQ(Links(Read("<" + point + "><div><b><form action=1></form></b></div><form action=2>")),
              (Lines{"form action 1", "form action 2"}))
        << point;
    // An element of HTML by the same name is another one.
    const std::string name = point.substr(point.find('<') + 1);
    if (name != "title") {
      EXPECT_EQ(Links(Read("<" + point + "><" + name + "></" + name.substr(0, name.find(' ')) + "><form action=1>")),
                Lines{"form action 1"})
          << point;
    }
    // A div in it keeps it open.
    EXPECT_EQ(Links(Read("<" + point + "><div></" + name.substr(0, name.find(' ')) + "><form action=1>")),
              Lines{"form action 1"})
        << point;
    EXPECT_TRUE(Links(Read("<" + point + "><p></p></" + name.substr(0, name.find(' ')) + "><form action=no>")).empty())
        << point;
  }
  EXPECT_TRUE(Links(Read("<math><annotation-xml encoding=' text/html'><form action=no>")).empty());
  EXPECT_TRUE(Links(Read("<math><annotation-xml><form action=no>")).empty());
  EXPECT_EQ(Links(Read("<math><annotation-xml><svg><a href=1>")), Lines{"a href 1"});
  EXPECT_TRUE(Links(Read("<math><mi><mglyph><form action=no>")).empty());
}

TEST_F(PageReaderTest, ForeignElementsHaveTheNamespaceOfWhatTheyStandIn) {
  EXPECT_TRUE(Links(Read("<math><svg><a href=no>")).empty());  // an svg of MathML
  EXPECT_EQ(Links(Read("<math><mi><svg><a href=1>")), Lines{"a href 1"});
  EXPECT_EQ(Links(Read("<svg><math><mi><a href=1>")), Lines{"a href 1"});  // a math of SVG, and its mi is no text
  EXPECT_TRUE(Links(Read("<svg><title/><desc/><foreignObject/><form action=no>")).empty());
}

TEST_F(PageReaderTest, EndTagsCloseWhatIsOpenInForeignContent) {
  EXPECT_EQ(Links(Read("<svg><g></svg><form action=1>")), Lines{"form action 1"});
  EXPECT_TRUE(Links(Read("<svg><g></g></path></x><form action=no>")).empty());
  EXPECT_EQ(Links(Read("<svg><g></p><form action=1>")), Lines{"form action 1"});
  EXPECT_EQ(Links(Read("<svg><g></br><form action=1>")), Lines{"form action 1"});
  EXPECT_EQ(Links(Read("<a href=1><svg><path></a><form action=2>")), (Lines{"a href 1", "form action 2"}));
  EXPECT_EQ(Links(Read("<span><svg><path></span><form action=1>")), Lines{"form action 1"});
  // Not past a place where HTML goes on, but for the parts of tables.
  EXPECT_EQ(Links(Read("<div><svg><desc></div><style><a href=no></style></desc><a xlink:href=1>")), Lines{"a href 1"});
  EXPECT_EQ(Links(Read("<td><svg><desc><p></td><form action=1>")), Lines{"form action 1"});
  EXPECT_EQ(Links(Read("<template><svg><desc><p></template><form action=1>")), Lines{"form action 1"});
  // Breaking out inside an integration point ends the inner drawing only.
  EXPECT_EQ(Links(Read("<svg><foreignObject><svg><g><div></div></foreignObject><a xlink:href=1>")), Lines{"a href 1"});
  // An <a> of SVG does not end one of HTML.
  const Page& page = Read("<a href=1>one <svg><a href=2></a></svg>two</a>");
  EXPECT_EQ(page.View(page.links[0].text), "one two");
}

TEST_F(PageReaderTest, CdataSectionsOpenWhereTheInnermostElementIsForeign) {
  EXPECT_TRUE(Links(Read("<svg><title><![CDATA[<a href=no>]]>")).empty());
  EXPECT_EQ(Links(Read("<svg><title><b><![CDATA[<a href=1>]]>")), Lines{});  // a comment to the first >
  EXPECT_EQ(Links(Read("<svg><title><b><![CDATA[x><a href=1>]]>")), Lines{"a href 1"});
}

TEST_F(PageReaderTest, DeepForeignContentIsBounded) {
  std::string html;
  for (int i = 0; i < 100'000; ++i) html += "<svg>";
  EXPECT_TRUE(Links(Read(html + "<form action=no>")).empty());
  EXPECT_EQ(Links(Read(html + "<p><form action=1>")), Lines{"form action 1"});
}

TEST_F(PageReaderTest, FramesetHasFramesAndNothingElse) {
  const Page& page = Read(
      "<html><head><title>t</title><link href=0></head> <frameset rows=1><frame src=1><a href=no><script src=no>"
      "</script><frameset><frame src=2></frameset>text<frame src=3><noframes><a href=no></noframes></frameset>"
      "<frame src=no><body background=no><a href=no>x<noframes><a href=no></noframes><script><frame src=no></html>"
      "<frameset><frame src=no>",
      {.text = true});
  EXPECT_EQ(Links(page), (Lines{"link href 0", "frame src 1", "frame src 2", "frame src 3"}));
  EXPECT_EQ(page.text, "");
  EXPECT_EQ(page.View(page.title), "t");
}

TEST_F(PageReaderTest, FramesetAfterABodyHasBegunIsIgnored) {
  for (const std::string body : {"<body>", "x", "<p>x", "<img>", "<table>", "<input>", "<li>", "<div><br>", "&amp;"}) {
    EXPECT_EQ(Links(Read(body + "<frameset><frame src=1></frameset><a href=2>")), (Lines{"frame src 1", "a href 2"}))
        << body;
  }
  for (const std::string nothing : {"", " \n", "<p>", "<div><a href=0>", "<input type=hidden>", "<!-- x -->",
                                    "<script>x</script>", "<title>x</title>", "</p></div>"}) {
    const Page& page = Read(nothing + "<frameset><frame src=1></frameset><a href=no>");
    ASSERT_FALSE(page.links.empty()) << nothing;
    EXPECT_EQ(Links(page).back(), "frame src 1") << nothing;
  }
  EXPECT_EQ(Links(Read("<template><frameset></template><a href=1>")), Lines{"a href 1"});
}

TEST_F(PageReaderTest, BodyHasOneBackgroundAndTemplatesHaveNone) {
  EXPECT_EQ(Links(Read("<body><body background=1><body background=2>")), Lines{"body background 1"});
  EXPECT_TRUE(Links(Read("<template><body background=1><frame src=2></template>")).empty());
}

TEST_F(PageReaderTest, FirstMetaThatNamesAnEncodingIsKept) {
  EXPECT_EQ(Read("<meta charset=nonsense><meta charset=koi8-r><meta charset=utf-8>").meta_encoding, Encoding::kKoi8R);
  EXPECT_EQ(Read("<template><meta http-equiv=content-type content='a;charset=big5'></template>").meta_encoding,
            Encoding::kBig5);
  EXPECT_FALSE(Read("<script>'<meta charset=koi8-r>'</script>").meta_encoding);
  PageReader reader;
  reader.Read("<meta charset=koi8-r>");
  EXPECT_FALSE(reader.Read("<p>").meta_encoding);
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
