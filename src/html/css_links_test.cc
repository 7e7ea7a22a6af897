#include "html/css_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "html/link_values.h"

namespace portolan {
namespace {

using Urls = std::vector<std::string>;

// Imports with an '@' before them, what the end of the input cut with a '~' behind. Read from a buffer of exactly the
// right size, so that the sanitizers see every byte too many.
Urls Read(std::string_view css) {
  const std::unique_ptr<char[]> exact(new char[css.size()]);
  css.copy(exact.get(), css.size());
  StyleLinkReader reader({exact.get(), css.size()});
  Urls urls;
  while (const auto link = reader.Next()) {
    urls.push_back((link->import ? "@" : "") + std::string(link->url) + (link->open ? "~" : ""));
  }
  return urls;
}

TEST(StyleLinkTest, UrlsAreTakenInEveryForm) {
  EXPECT_EQ(Read("a{background:url(a.png)}"), Urls{"a.png"});
  EXPECT_EQ(Read("a{background:url( \t\n a.png \r\n )}"), Urls{"a.png"});
  EXPECT_EQ(Read("a{background:url(\"a b.png\")}"), Urls{"a b.png"});
  EXPECT_EQ(Read("a{background:url('a(b).png'  )}"), Urls{"a(b).png"});
  EXPECT_EQ(Read("a{background:url(x),url(y) no-repeat;cursor:url(z),auto}"), (Urls{"x", "y", "z"}));
  EXPECT_EQ(Read("a{background:url('x' crossorigin(anonymous) integrity('sha384-y'))}"), Urls{"x"});
  EXPECT_EQ(Read("a{background:src(\"a.png\")}b{background:src( /*c*/ 'b.png')}"), (Urls{"a.png", "b.png"}));
  EXPECT_EQ(Read("@font-face{src:local('No'),url(a.woff2)format(\"woff2\"),url(a.ttf) format('truetype')}"),
            (Urls{"a.woff2", "a.ttf"}));
  EXPECT_EQ(Read("--logo:url(a.svg)"), Urls{"a.svg"});
  EXPECT_EQ(Read("background-image: url(a.png)"), Urls{"a.png"}) << "a style attribute";
  EXPECT_EQ(Read("@media print{a{background:url(a.png)}}@page{@bottom-left{content:url(b.png)}}"),
            (Urls{"a.png", "b.png"}));
}

TEST(StyleLinkTest, NamesHaveNoCase) {
  EXPECT_EQ(Read("a{b:URL(x)}c{d:Url('y')}"), (Urls{"x", "y"}));
  EXPECT_EQ(Read("@IMPORT 'a.css';@Import URL(b.css);"), (Urls{"@a.css", "@b.css"}));
  EXPECT_EQ(Read("a{b:Image-Set('x' 1x)}"), Urls{"x"});
}

TEST(StyleLinkTest, ImportsAreStyleSheets) {
  EXPECT_EQ(Read("@import 'a.css';"), Urls{"@a.css"});
  EXPECT_EQ(Read("@import\"a.css\"screen;"), Urls{"@a.css"});
  EXPECT_EQ(Read("@import url(a.css) layer(b) supports(background:url(no.png)) print;c{d:url(e)}"),
            (Urls{"@a.css", "e"}));
  EXPECT_EQ(Read("@import /*one*/ url( 'a.css' ) ;"), Urls{"@a.css"});
  EXPECT_EQ(Read("@import src('a.css');"), Urls{"@a.css"});
  EXPECT_EQ(Read("@charset \"utf-8\";@layer a,b;@import 'c.css'"), Urls{"@c.css"});
  EXPECT_EQ(Read("@import no 'a.css';@import;@import 5 'b';@importance 'c';"), Urls{});
  EXPECT_EQ(Read("a{}@import 'late.css';"), Urls{"@late.css"}) << "browsers ignore it";
}

TEST(StyleLinkTest, WhatStandsBeforeABlockIsNotFetched) {
  EXPECT_EQ(Read("@namespace svg url(http://www.w3.org/2000/svg);@namespace 'http://www.w3.org/1999/xhtml';"), Urls{});
  EXPECT_EQ(Read("@supports (background:url(no)){a{b:url(yes)}}"), Urls{"yes"});
  EXPECT_EQ(Read("@document url(http://no/){a{b:url(yes)}}"), Urls{"yes"});
  EXPECT_EQ(Read("a{@unknown url(no)}b{c:url(yes)}"), Urls{"yes"});
}

TEST(StyleLinkTest, ImageSetsHaveStringsOfTheirOwn) {
  EXPECT_EQ(Read("a{b:image-set('1.png' 1x,\"2.png\" type('image/png') 2x,url(3.png)3x,linear-gradient(red,'no'))}"),
            (Urls{"1.png", "2.png", "3.png"}));
  EXPECT_EQ(Read("a{b:-webkit-image-set( url('1') 1x , '2' 2x )}c{d:'no'}"), (Urls{"1", "2"}));
  EXPECT_EQ(Read("a{b:image-set(url( 1 ) 1x,'2')}c{d:'no'}"), (Urls{"1", "2"}));
  EXPECT_EQ(Read("a{b:my-image-set('no')}"), Urls{});
  EXPECT_EQ(Read("a{b:image-set('1' 1x}c{content:'no'}"), Urls{"1"}) << "one that is never closed ends with its block";
}

TEST(StyleLinkTest, StringsAloneAreNotUrls) {
  EXPECT_EQ(Read("a{content:'x.png';quotes:\"url(no)\" 'url(no)'}b[href='url(no)']{}"), Urls{});
  EXPECT_EQ(Read("a{content:'\\'url(no)'}"), Urls{});
  EXPECT_EQ(Read("a{content:\"it's url(no)\"}"), Urls{});
}

TEST(StyleLinkTest, CommentsStandAnywhereButInAUrl) {
  EXPECT_EQ(Read("/* url(no) */a{/**/b:/* ' */url(x)/* \" */;}/*/url(no)*/c{d:url(y)}/***/"), (Urls{"x", "y"}));
  EXPECT_EQ(Read("/* @import 'no'; * / url(no) **/@import/**/'a'/**/;"), Urls{"@a"});
  EXPECT_EQ(Read("a{b:url/**/(no)}"), Urls{}) << "a name, and a parenthesis";
  EXPECT_EQ(Read("a{b:url(/*x*/)}"), Urls{"/*x*/"});
  EXPECT_EQ(Read("a{b:url(/*x*/'no')}c{d:url(y)}"), Urls{"y"}) << "a bad URL";
  EXPECT_EQ(Read("a{b:'/*';c:url(x);d:'*/'}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(x)}/* never closed url(no)"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(x)}/*"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(x)}/*/"), Urls{"x"});
}

TEST(StyleLinkTest, OtherNamesAreNotUrl) {
  EXPECT_EQ(Read("a{b:curl(no);c:url-prefix(no);d:-url(no);e:--url(no);f:_url(no);g:\xc3\xbcurl(no)}"), Urls{});
  EXPECT_EQ(Read("a{b:5url(no);c:.5url(no);d:-1.5e3url(no);e:1eurl(no)}#url(no){}@url(no){}"), Urls{});
  EXPECT_EQ(Read("a{b:1 url(x),1.url(y),+url(z),1e+url(w),50%url(v)}"), (Urls{"x", "y", "z", "w", "v"}));
  EXPECT_EQ(Read("a{b:url (no)}"), Urls{});
  EXPECT_EQ(Read("<!--url(x)--> <!--@import 'y';-->url(z)"), (Urls{"x", "@y", "z"}));
}

TEST(StyleLinkTest, EscapesAreDecoded) {
  EXPECT_EQ(Read("a{b:\\75rl(x);c:\\75 RL(y);d:\\000075rl(z);e:u\\72\r\nl(w)}"), (Urls{"x", "y", "z", "w"}));
  EXPECT_EQ(Read("a{b:\\url(v);c:\\0075\\72 \\6c(w)}"), (Urls{"v", "w"}));
  EXPECT_EQ(Read("@\\69mport 'x';@im\\port 'y';"), (Urls{"@x", "@y"}));
  EXPECT_EQ(Read("a{b:url(a\\)b\\20 c\\'d\\\\e)}"), Urls{"a)b c'd\\e"});
  EXPECT_EQ(Read("a{b:url('a\\'b\\22 c\\\nd\\\r\ne')}"), Urls{"a'b\"cde"});
  EXPECT_EQ(Read("a{b:url('\\26\nB')}"), Urls{"&B"}) << "the line end belongs to the escape";
  EXPECT_EQ(Read("a{b:url('\\e4\\1F600x\\0000e4x\\0000e44')}"), Urls{"\xc3\xa4\xf0\x9f\x98\x80x\xc3\xa4x\xc3\xa4"
                                                                     "4"});
  EXPECT_EQ(Read("a{b:url('x\\0y\\d800z\\110000w')}"), Urls{"x\xef\xbf\xbdy\xef\xbf\xbdz\xef\xbf\xbdw"});
  EXPECT_EQ(Read("a{b:url(\\\xc3\xa4)}"), Urls{"\xc3\xa4"});
  EXPECT_EQ(Read(std::string_view("a{b:url(x\0y);c:url('\0')}", 25)), (Urls{"x\xef\xbf\xbdy", "\xef\xbf\xbd"}));
}

TEST(StyleLinkTest, BadUrlsAndStringsEndWhereTheStandardEndsThem) {
  EXPECT_EQ(Read("a{b:url(a b);c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(a\"b);c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(a(b);c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(a'\\)b);c:url(x)}"), Urls{"x"}) << "an escaped parenthesis does not end it";
  EXPECT_EQ(Read("a{b:url(a\x01);c:url(b\x7f);d:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url(a\\\nb);c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{b:url('a\nb');c:url(x)}"), Urls{}) << "the second quote begins a string, which has no end";
  EXPECT_EQ(Read("a{b:url('a\nb);c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("a{content:'no\n;c:url(x)}"), Urls{"x"});
  EXPECT_EQ(Read("@import 'a\n;b{c:url(x)}"), Urls{"x"});
}

TEST(StyleLinkTest, TheEndOfTheInputEndsWhatIsOpen) {
  EXPECT_EQ(Read("a{b:url(x"), Urls{"x~"});
  EXPECT_EQ(Read("a{b:url(x  "), Urls{"x~"});
  EXPECT_EQ(Read("a{b:url('x"), Urls{"x~"});
  EXPECT_EQ(Read("a{b:url('x'"), Urls{"x"});
  EXPECT_EQ(Read("@import 'x"), Urls{"@x~"});
  EXPECT_EQ(Read("a{b:url('x\\"), Urls{"x~"});
  EXPECT_EQ(Read("a{b:url(x\\"), Urls{"x\xef\xbf\xbd~"});
  for (const std::string_view css :
       {"",        "@", "\\", "#",  "-",   "--",  "<!-", "/",          "url(",   "url('",
        "@import", "+", ".",  "1e", "1e+", "u\\", "@\\", "image-set(", "url(\\", "url(a\"\\"}) {
    for (const std::string& url : Read(css)) EXPECT_EQ(url, "\xef\xbf\xbd~") << css;
  }
}

TEST(StyleLinkTest, WhatNobodyFetchesIsLeftOut) {
  EXPECT_EQ(Read("a{b:url();c:url('');d:url(  );e:url(#mask);f:url('#x')}@import '';"), Urls{});
  EXPECT_EQ(Read("a{b:url(data:image/png;base64,iVBORw0KGgo=);c:url(\" DATA:,x\");d:url(d\\61ta:,x);e:url(y)}"),
            Urls{"y"});
  EXPECT_EQ(Read("a{b:url(data:image/svg+xml;utf8,<svg/>)}"), Urls{});
}

// The URLs of a simple style sheet by plain searching: comments out, then every "url(" up to its ")".
Urls Search(std::string css) {
  for (size_t at = 0; (at = css.find("/*", at)) != std::string::npos;) {
    const size_t end = css.find("*/", at + 2);
    css.replace(at, end == std::string::npos ? end : end + 2 - at, " ");
  }
  Urls urls;
  const std::string lower = LowerCase(css);
  for (size_t at = 0; (at = lower.find("url(", at)) != std::string::npos;) {
    const size_t end = std::min(css.find(')', at), css.size());
    std::string url(TrimHtmlSpace(std::string_view(css).substr(at + 4, end - at - 4)));
    const bool other_name = at > 0 && (IsAlpha(css[at - 1]) || css[at - 1] == '-');
    at = end;
    if (url.size() >= 2 && (url.front() == '"' || url.front() == '\''))
      url = std::string(TrimHtmlSpace(url.substr(1, url.size() - 2)));
    const bool fetched = !url.empty() && url.front() != '#' && !StartsWithIgnoringCase(url, "data:");
    if (fetched && !other_name) urls.push_back(url);
  }
  return urls;
}

TEST(StyleLinkTest, StylesOfRealPagesAgreeWithAPlainSearch) {
  const std::filesystem::path pages = "../shared/data/pages";
  if (!std::filesystem::exists(pages)) GTEST_SKIP() << pages << " is absent";
  size_t sheets = 0;
  size_t urls = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(pages)) {
    if (entry.path().extension() != ".html") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string html{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (size_t at = 0; (at = html.find("<style", at)) != std::string::npos;) {
      const size_t begin = std::min(html.find('>', at), html.size());
      const size_t end = std::min(html.find("</style", begin), html.size());
      const std::string css = html.substr(begin, end - begin).substr(1);
      at = end;
      // What a plain search cannot read: escapes, imports; a URL that is never closed, one inside a data: URL.
      if (css.find('\\') != std::string::npos || css.find("@import") != std::string::npos) continue;
      const Urls searched = Search(css);
      if (std::ranges::any_of(
              searched, [](const std::string& url) { return url.starts_with('%') || url.find('{') < url.size(); })) {
        continue;
      }
      EXPECT_EQ(Read(css), searched) << entry.path();
      ++sheets;
      urls += Read(css).size();
    }
  }
  std::printf("conformance style_urls %zu sheets, %zu urls\n", sheets, urls);
  EXPECT_GT(sheets, 500U);
  EXPECT_GT(urls, 500U);
}

TEST(StyleLinkTest, EveryInputCostsLinearTime) {
  using Clock = std::chrono::steady_clock;
  for (const std::string_view unit :
       {"url(", "url('", "/*", "\\", "@import", "image-set(", "-", "'\\\n", "url(\\", "<!--", "1e+", "*"}) {
    const auto once = [&](size_t bytes) {
      std::string css;
      while (css.size() < bytes) css += unit;
      const auto begin = Clock::now();
      Read(css);
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    // Quadratic time would make the long one take minutes.
    EXPECT_LT(once(1 << 20), 20.0) << unit;
  }
}

TEST(StyleCharsetTest, MarkThenServerThenSheetThenUtf8) {
  const auto sniff = [](std::string_view start, std::string_view header = "") {
    const CharsetDecision decision = SniffStyleCharset(start, header);
    return std::string(EncodingName(decision.encoding)) + " " + std::to_string(decision.bom_bytes);
  };
  EXPECT_EQ(sniff("a{}"), "UTF-8 0");
  EXPECT_EQ(sniff("\xef\xbb\xbf@charset \"latin1\";", "koi8-r"), "UTF-8 3");
  EXPECT_EQ(sniff(std::string_view("\xff\xfe"
                                   "a\0",
                                   4),
                  "koi8-r"),
            "UTF-16LE 2");
  EXPECT_EQ(sniff(std::string_view("\xfe\xff\0a", 4)), "UTF-16BE 2");
  EXPECT_EQ(sniff("@charset \"latin1\";", "koi8-r"), "KOI8-R 0");
  EXPECT_EQ(sniff("@charset \"latin1\";", "no such"), "windows-1252 0");
  EXPECT_EQ(sniff("@charset \"utf-16\";"), "UTF-8 0");
  // The rule is a sequence of bytes, not of tokens.
  for (const std::string_view no : {"@charset 'latin1';", "@charset  \"latin1\";", " @charset \"latin1\";",
                                    "@CHARSET \"latin1\";", "@charset \"latin1\" ;", "@charset \"latin1"}) {
    EXPECT_EQ(sniff(no), "UTF-8 0") << no;
  }
}

}  // namespace
}  // namespace portolan
