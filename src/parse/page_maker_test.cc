#include "parse/page_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <set>

#include "base/hash.h"
#include "html/charset_sniff.h"
#include "robots/robots_rules.h"
#include "url/surt.h"
#include "warc/cdxj.h"
#include "warc/reader.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

FetchResponse Response(std::string url, std::string head, std::string body) {
  FetchResponse response;
  response.task.id = 7;
  response.task.url = std::move(url);
  response.task.address = *Address::Parse("192.0.2.7");
  response.version = HttpVersion::k11;
  response.request_head = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
  response.response_head = std::move(head);
  response.body = std::move(body);
  response.times = {.begin_ns = 5,
                    .connected_ns = 6,
                    .first_byte_ns = 7,
                    .end_ns = 2'000'000'005,
                    .begin_unix_ns = 1'769'862'601'250'000'000};
  return response;
}

FetchResponse Html(std::string body, std::string fields = "") {
  return Response("http://a.test/dir/page",
                  "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" + fields + "\r\n", std::move(body));
}

FetchResponse OfKind(UrlKind kind, FetchResponse response) {
  response.task.kind = kind;
  return response;
}

PageMaker Maker(const PageMakerOptions& options = {}) { return PageMaker::Create(options).value(); }

std::vector<std::string> Links(const PageResult& result) {
  static constexpr std::string_view kLetters = "rnecsf";
  std::vector<std::string> out;
  for (const FoundLink& link : result.links.links) {
    EXPECT_EQ(link.hash, Hash64(result.links.UrlOf(link)));
    EXPECT_EQ(link.host_hash, HostKey(result.links.UrlOf(link), HashKey::Known()));
    std::string text;
    for (size_t bit = 0; bit < kLetters.size(); ++bit) {
      if ((link.flags >> bit & 1) != 0) text += kLetters[bit];
    }
    out.push_back(text + (text.empty() ? "" : " ") + std::string(result.links.UrlOf(link)));
  }
  return out;
}

// The records of an item, as a strict reader sees them.
struct Stored {
  std::vector<std::string> types;
  std::string request, response;  // headers and blocks
  std::vector<std::string> faults;
};
Stored ReadBack(const ArchiveItem& item) {
  Stored stored;
  WarcReaderOptions options;
  options.strict = true;
  options.faults = [&](const Fault& fault) { stored.faults.push_back(fault.detail); };
  WarcReader reader(MemorySource(item.bytes), options);
  while (reader.Next().value()) {
    std::string text;
    const FieldList& fields = reader.record().fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      text += std::string(fields[i].name) + ": " + std::string(fields[i].value) + "\r\n";
    }
    for (;;) {
      const std::string_view piece = reader.ReadBlock().value();
      if (piece.empty()) break;
      text += piece;
    }
    EXPECT_TRUE(reader.Finish());
    stored.types.emplace_back(WarcTypeName(reader.record().type));
    if (reader.record().type == WarcType::kRequest) stored.request = text;
    if (reader.record().type == WarcType::kResponse) {
      stored.response = text;
      EXPECT_EQ(reader.record().offset, item.response_begin);
      EXPECT_EQ(reader.record().length, item.response_length);
    }
  }
  return stored;
}

TEST(PageMakerTest, LinksAreCanonicalOnceEachWithTheirFlags) {
  PageMaker maker = Maker({.embeds = true});
  const PageResult result = maker.Make(Html(R"(<link rel=canonical href=/c>
      <a href="x#one">1</a> <a rel=nofollow href="x">2</a> <a rel="nofollow" href="y">3</a> <img src=i.png>
      <a href="mailto:x@a.test">m</a> <a href="I.png">4</a> <a href="i.png">5</a> <form action=/search></form>
      <template><a href=/inert>t</a></template><script src=//b.test/s.js></script>)"));
  EXPECT_THAT(Links(result), ElementsAre("c http://a.test/c", "http://a.test/dir/x", "n http://a.test/dir/y",
                                         "http://a.test/dir/i.png", "http://a.test/dir/I.png", "e http://b.test/s.js"));
  EXPECT_EQ(result.links_left_out, 1U);
  EXPECT_EQ(result.mime, "text/html");
  EXPECT_EQ(result.id, 7U);
}

TEST(PageMakerTest, EmbedsAreLeftOutUnlessAskedFor) {
  PageMaker maker = Maker();
  EXPECT_THAT(Links(maker.Make(Html("<img src=i><a href=b>x</a>"))), ElementsAre("http://a.test/dir/b"));
}

// Like Links(), with a '+' before requisites.
std::vector<std::string> Needed(const PageResult& result) {
  std::vector<std::string> lines = Links(result);
  for (size_t i = 0; i < lines.size(); ++i) {
    if ((result.links.links[i].flags & kFoundRequisite) != 0) lines[i].insert(0, "+");
  }
  return lines;
}

FetchResponse Css(std::string body, std::string type = "text/css") {
  return Response("http://a.test/dir/style.css", "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n\r\n",
                  std::move(body));
}

TEST(PageMakerTest, FramesAreLinks) {
  PageMaker maker = Maker();
  EXPECT_THAT(Needed(maker.Make(Html("<iframe src=f></iframe><img src=no><frame src=g>"))),
              ElementsAre("+http://a.test/dir/f", "+http://a.test/dir/g"));
}

TEST(PageMakerTest, RequisitesAreWhatShowsThePage) {
  const std::string html = R"html(<base href=/b/><link rel=stylesheet href=s.css><link rel=search href=no>
      <link rel="apple-touch-icon" href=i.png><link rel=preload imagesrcset="p1 1x, p2 2x" href=p>
      <script src=j></script><picture><source srcset="1.webp 100w, 2.webp 200w"><img src=3.png srcset="4.png 2x"></picture>
      <video src=v poster=w><track src=t></video><audio src=a></audio><object data=o></object><embed src=e>
      <style>x{y:url(5.png)}</style><p style="background:url('6.png')"><iframe src=f></iframe>
      <a href=l>link</a><a href=3.png>both</a>)html";
  PageMaker maker = Maker({.requisites = true});
  EXPECT_THAT(
      Needed(maker.Make(Html(html))),
      ElementsAre("+e http://a.test/b/s.css", "e http://a.test/b/no", "+e http://a.test/b/i.png",
                  "+e http://a.test/b/p", "+e http://a.test/b/p1", "+e http://a.test/b/p2", "+e http://a.test/b/j",
                  "+e http://a.test/b/1.webp", "+e http://a.test/b/2.webp", "+http://a.test/b/3.png",
                  "+e http://a.test/b/4.png", "+e http://a.test/b/v", "+e http://a.test/b/w", "+e http://a.test/b/t",
                  "+e http://a.test/b/a", "+e http://a.test/b/o", "+e http://a.test/b/e", "+e http://a.test/b/5.png",
                  "+e http://a.test/b/6.png", "+http://a.test/b/f", "http://a.test/b/l"));
  PageMaker embeds = Maker({.embeds = true});
  EXPECT_THAT(Links(embeds.Make(Html("<style>x{y:url(no)}</style><p style='a:url(no)'><img src=i>"))),
              ElementsAre("e http://a.test/dir/i"));
}

TEST(PageMakerTest, StyleSheetsNameRequisites) {
  PageMaker maker = Maker({.requisites = true});
  EXPECT_THAT(Needed(maker.Make(Css("@import 'b.css';a{b:url(//c.test/d.png)}e{f:url(data:,x)}g{h:url(b.css)}"))),
              ElementsAre("+e http://a.test/dir/b.css", "+e http://c.test/d.png"));
  EXPECT_THAT(Links(maker.Make(Css("a{b:url(c)}", "text/plain"))), IsEmpty());
  PageMaker plain = Maker({.embeds = true});
  EXPECT_THAT(Links(plain.Make(Css("a{b:url(c)}"))), IsEmpty());
  FetchResponse missing = Css("a{b:url(c)}");
  missing.response_head = "HTTP/1.1 404 Not Found\r\nContent-Type: text/css\r\n\r\n";
  EXPECT_THAT(Links(maker.Make(std::move(missing))), IsEmpty());
}

TEST(PageMakerTest, StyleSheetsHaveTheirOwnCharset) {
  PageMaker maker = Maker({.requisites = true});
  EXPECT_THAT(Links(maker.Make(Css("a{b:url(\xe4?\xe4)}", "text/css; charset=latin1"))),
              ElementsAre("e http://a.test/dir/%C3%A4?%C3%A4"));
  EXPECT_THAT(Links(maker.Make(Css("@charset \"koi8-r\";a{b:url(\xc1)}"))), ElementsAre("e http://a.test/dir/%D0%B0"));
  EXPECT_THAT(Links(maker.Make(Css("\xef\xbb\xbf"
                                   "a{b:url(\xc3\xa4)}",
                                   "text/css; charset=latin1"))),
              ElementsAre("e http://a.test/dir/%C3%A4"));
}

TEST(PageMakerTest, BodyCutAtALimitIsMarkedAndHalfAUrlIsNone) {
  PageMaker maker = Maker({.requisites = true, .decode = {.max_output = 20}});
  FetchResponse cut = Css("a{b:url(c);d:url(half");
  cut.outcome = FetchOutcome::kBodyCut;
  PageResult result = maker.Make(std::move(cut));
  EXPECT_TRUE(result.cut);
  EXPECT_THAT(Links(result), ElementsAre("e http://a.test/dir/c"));
  result = maker.Make(Css("a{b:url(c);d:url(whole"));
  EXPECT_FALSE(result.cut);
  EXPECT_THAT(Links(result), ElementsAre("e http://a.test/dir/c", "e http://a.test/dir/whole"));
  FetchResponse packed = Css(Gzip("a{b:url(c);d:url(half)}"), "text/css\r\nContent-Encoding: gzip");
  result = maker.Make(std::move(packed));
  EXPECT_TRUE(result.cut);
  EXPECT_THAT(Links(result), ElementsAre("e http://a.test/dir/c"));
}

TEST(PageMakerTest, PageLevelNofollowMarksEveryLink) {
  PageMaker maker = Maker({.agent = "mybot"});
  EXPECT_THAT(Links(maker.Make(Html("<meta name=robots content=nofollow><a href=b>x</a>"))),
              ElementsAre("n http://a.test/dir/b"));
  EXPECT_THAT(Links(maker.Make(Html("<a href=b>x</a>", "X-Robots-Tag: mybot: none\r\n"))),
              ElementsAre("n http://a.test/dir/b"));
  EXPECT_THAT(Links(maker.Make(Html("<a href=b>x</a>", "X-Robots-Tag: otherbot: none\r\n"))),
              ElementsAre("http://a.test/dir/b"));
  const PageResult flags = maker.Make(Html("<meta name=mybot content=noindex>", "X-Robots-Tag: noarchive\r\n"));
  EXPECT_EQ(flags.robots_flags, RobotsTag::kNoIndex | RobotsTag::kNoArchive);
}

TEST(PageMakerTest, MoreLinksThanTheLimitAreCounted) {
  PageMaker maker = Maker({.max_links = 2});
  const PageResult result = maker.Make(Html("<a href=1>.</a><a href=2>.</a><a href=3>.</a><a href=1>.</a>"));
  EXPECT_EQ(result.links.links.size(), 2U);
  EXPECT_EQ(result.links_left_out, 1U);
}

TEST(PageMakerTest, RedirectHasOneLinkItsTarget) {
  PageMaker maker = Maker();
  for (const int status : {301, 302, 303, 307, 308}) {
    const std::string head = "HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: ../new?q\r\n\r\n";
    const PageResult result = maker.Make(Response("https://a.test/b/c", head, "<a href=/other>x</a>"));
    EXPECT_THAT(Links(result), ElementsAre("r https://a.test/new?q"));
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.archive.redirect, "../new?q");
  }
  EXPECT_THAT(Links(maker.Make(Response("http://a.test/", "HTTP/1.1 304 Same\r\nLocation: /x\r\n\r\n", ""))),
              IsEmpty());
  const PageResult bad = maker.Make(Response("http://a.test/", "HTTP/1.1 301 Moved\r\nLocation: ftp://x/\r\n\r\n", ""));
  EXPECT_THAT(Links(bad), IsEmpty());
  EXPECT_EQ(bad.links_left_out, 1U);
}

TEST(PageMakerTest, RedirectAsksForTheBytesThatTheServerNamed) {
  PageMaker maker = Maker();
  const auto target = [&](const std::string& location) {
    return Links(
        maker.Make(Response("http://a.test/b", "HTTP/1.1 301 Moved\r\nLocation: " + location + "\r\n\r\n", "")));
  };
  EXPECT_THAT(target("/caf\xe9?\xe9"), ElementsAre("r http://a.test/caf%E9?%E9"));
  EXPECT_THAT(target("/caf\xc3\xa9?\xc3\xa9"), ElementsAre("r http://a.test/caf%C3%A9?%C3%A9"));
  EXPECT_THAT(target("/\xc3\xa9\xe9\xe2\x82/%e9%\xff"), ElementsAre("r http://a.test/%C3%A9%E9%E2%82/%E9%25%FF"));
  EXPECT_THAT(target("http://b\xc3\xbc.test/"), ElementsAre("r http://xn--b-eha.test/"));
  EXPECT_THAT(target("http://b\xfc.test/"), IsEmpty());
  const PageResult kept = maker.Make(Response("http://a.test/b", "HTTP/1.1 301 Moved\r\nLocation: /\xe9\r\n\r\n", ""));
  EXPECT_EQ(kept.archive.redirect, "/\xe9") << "the index has the field as it came";
}

TEST(PageMakerTest, PromptRefreshIsARedirectAndOnlyTheFirst) {
  PageMaker maker = Maker();
  EXPECT_THAT(Links(maker.Make(Html("<meta http-equiv=refresh content='0; url=/n'>"
                                    "<meta http-equiv=refresh content='0; url=/m'><a href=b>x</a>"))),
              ElementsAre("r http://a.test/n", "http://a.test/m", "http://a.test/dir/b"));
  EXPECT_THAT(Links(maker.Make(Html("<meta http-equiv=refresh content='600; url=/n'>"))),
              ElementsAre("http://a.test/n"));
  EXPECT_THAT(Links(maker.Make(Html("", "Refresh: 1;url=/r\r\n"))), ElementsAre("r http://a.test/r"));
}

TEST(PageMakerTest, CanonicalMayStandInAHeaderField) {
  PageMaker maker = Maker();
  EXPECT_THAT(
      Links(maker.Make(Html("", "Link: </s.css>; rel=preload, </c>; title=\"a, b\"; rel=\"next canonical\"\r\n"))),
      ElementsAre("c http://a.test/c"));
}

TEST(PageMakerTest, ErrorPagesGiveNoLinks) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(
      Response("http://a.test/", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", "<a href=/>x</a>"));
  EXPECT_THAT(Links(result), IsEmpty());
  EXPECT_FALSE(result.archive.bytes.empty());
}

TEST(PageMakerTest, ContentCodingIsRemovedForReadingAndKeptInTheArchive) {
  PageMaker maker = Maker();
  const std::string html = "<a href=/one>x</a>" + std::string(2000, ' ');
  const std::string coded = Gzip(html);
  const PageResult result = maker.Make(Html(coded, "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(Links(result), ElementsAre("http://a.test/one"));
  EXPECT_EQ(result.body_bytes, html.size());
  EXPECT_EQ(result.fingerprint, Hash64(html));
  const Stored stored = ReadBack(result.archive);
  EXPECT_THAT(stored.faults, IsEmpty());
  EXPECT_THAT(stored.response, HasSubstr("\r\nContent-Encoding: gzip\r\nX-Crawler-Transfer-Encoding: chunked\r\n"
                                         "Content-Length: " +
                                         std::to_string(coded.size()) + "\r\n\r\n" + coded));
}

TEST(PageMakerTest, BrokenCodingIsKeptWithoutLinks) {
  PageMaker maker = Maker();
  std::string coded = Gzip("<a href=/one>x</a>");
  coded[12] = static_cast<char>(coded[12] ^ 0x55);
  coded[14] = static_cast<char>(coded[14] ^ 0x55);
  const PageResult result = maker.Make(Html("\x1f\x8b\x08garbage" + coded, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(result.outcome, FetchOutcome::kDecodeFailed);
  EXPECT_THAT(Links(result), IsEmpty());
  EXPECT_FALSE(result.archive.bytes.empty());
  EXPECT_EQ(maker.Make(Html("\x1f\x9d\x90x", "Content-Encoding: compress\r\n")).outcome, FetchOutcome::kDecodeFailed);
}

TEST(PageMakerTest, TextUnderAnUnknownCodingIsReadAsItIs) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(Html("<a href=/one>x</a>", "Content-Encoding: utf-8\r\n"));
  EXPECT_EQ(result.outcome, FetchOutcome::kAnswered);
  EXPECT_EQ(result.detail, "unknown content coding");
  EXPECT_THAT(Links(result), ElementsAre("http://a.test/one"));
}

TEST(PageMakerTest, ABodyThatWasCutIsMarkedThoughItsCodingIsBroken) {
  PageMaker maker = Maker();
  FetchResponse response = Html("\x1f\x8b\x08garbage", "Content-Encoding: gzip\r\nContent-Length: 5000\r\n");
  response.outcome = FetchOutcome::kDisconnected;
  const PageResult result = maker.Make(std::move(response));
  EXPECT_EQ(result.outcome, FetchOutcome::kDisconnected) << "it is tried again";
  EXPECT_THAT(Links(result), IsEmpty());
  EXPECT_THAT(ReadBack(result.archive).response, HasSubstr("WARC-Truncated: disconnect"));
}

TEST(PageMakerTest, BombsAreNamedAndLongBodiesCut) {
  PageMakerOptions options;
  options.decode.max_ratio = 100;
  options.decode.ratio_from = 1000;
  PageMaker strict = Maker(options);
  const std::string coded = Gzip(std::string(10 << 20, 'a'));
  const PageResult bomb = strict.Make(Html(coded, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(bomb.outcome, FetchOutcome::kBomb);
  EXPECT_TRUE(bomb.archive.bytes.empty());

  options = {};
  options.decode.max_output = 100;
  PageMaker cutting = Maker(options);
  const PageResult cut = cutting.Make(Html(Gzip("<a href=/a>" + std::string(500, '.')), "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(cut.outcome, FetchOutcome::kAnswered);
  EXPECT_EQ(cut.body_bytes, 100U);
  EXPECT_THAT(Links(cut), ElementsAre("http://a.test/a"));
}

TEST(PageMakerTest, CutBodiesAreReadAndMarked) {
  PageMaker maker = Maker();
  const std::pair<FetchOutcome, std::string> cases[] = {{FetchOutcome::kBodyCut, "length"},
                                                        {FetchOutcome::kTimeCut, "time"},
                                                        {FetchOutcome::kDisconnected, "disconnect"}};
  for (const auto& [outcome, word] : cases) {
    FetchResponse response = Html("<a href=/a>x</a><a hre", "Content-Length: 5000\r\n");
    response.outcome = outcome;
    const PageResult result = maker.Make(std::move(response));
    EXPECT_EQ(result.outcome, outcome);
    EXPECT_THAT(Links(result), ElementsAre("http://a.test/a"));
    const Stored stored = ReadBack(result.archive);
    EXPECT_THAT(stored.faults, IsEmpty());
    EXPECT_THAT(stored.response, HasSubstr("WARC-Truncated: " + word));
    EXPECT_THAT(stored.response, HasSubstr("X-Crawler-Content-Length: 5000\r\nContent-Length: 22\r\n\r\n"));
    EXPECT_EQ(result.archive.truncated, word);
  }
}

TEST(PageMakerTest, CharsetsAreDecodedBeforeReading) {
  PageMaker maker = Maker();
  FetchResponse response = Response("http://a.test/", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
                                    "<meta charset=windows-1251><a href='/\xef\xf0'>x</a>");
  const PageResult result = maker.Make(std::move(response));
  EXPECT_THAT(Links(result), ElementsAre("http://a.test/%D0%BF%D1%80"));
  EXPECT_EQ(result.archive.charset, "windows-1251");
}

TEST(PageMakerTest, MetaFarBehindChangesTheCharsetOnce) {
  PageMaker maker = Maker();
  const auto links = [&](const std::string& type, const std::string& html) {
    return Links(maker.Make(Response("http://a.test/", "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n\r\n", html)));
  };
  const std::string far(kDetectBytes + 10, ' ');
  const std::string meta = "<meta charset=koi8-r>";
  const std::string link = "<a href='?\xd4'>x</a>";  // т
  EXPECT_THAT(links("text/html", far + meta + link), ElementsAre("http://a.test/?%D4"));
  EXPECT_THAT(links("text/html", link + far + meta), ElementsAre("http://a.test/?%D4"));
  EXPECT_THAT(links("text/html", far + meta + "<meta charset=utf-8>" + link), ElementsAre("http://a.test/?%D4"));
  EXPECT_THAT(links("text/html", far + meta + "<a href='/\xd4'>x</a>"), ElementsAre("http://a.test/%D1%82"));
  // A byte order mark or the server's charset is final.
  EXPECT_THAT(links("text/html; charset=windows-1251", far + meta + "<a href='/\xd4'>x</a>"),
              ElementsAre("http://a.test/%D0%A4"));
  EXPECT_THAT(links("text/html", "\xef\xbb\xbf" + far + meta + "<a href='?\xd1\x82'>x</a>"),
              ElementsAre("http://a.test/?%D1%82"));
  // The prescan's result is a first guess, too: here it came from a script.
  EXPECT_THAT(links("text/html", "<script>'<meta charset=big5>'</script>" + far + meta + "<a href='/\xd4'>x</a>"),
              ElementsAre("http://a.test/%D1%82"));
}

TEST(PageMakerTest, HeaderFieldsAskForTheBytesThatTheServerNamed) {
  PageMaker maker = Maker();
  EXPECT_THAT(Links(maker.Make(Html("", "Refresh: 0; url=/caf\xe9?\xe9\r\n"))),
              ElementsAre("r http://a.test/caf%E9?%E9"));
  EXPECT_THAT(Links(maker.Make(Html("", "Link: </\xe9>; rel=canonical\r\n"))), ElementsAre("c http://a.test/%E9"));
  EXPECT_THAT(Links(maker.Make(Html("", "Link: </\xc3\xa9>; rel=canonical\r\n"))),
              ElementsAre("c http://a.test/%C3%A9"));
}

TEST(PageMakerTest, QueriesAreInTheCharsetOfThePage) {
  PageMaker maker = Maker();
  const auto links = [&](const std::string& charset, const std::string& body) {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + charset + "\r\n\r\n";
    return Links(maker.Make(Response("http://a.test/", head, body)));
  };
  EXPECT_THAT(
      links("windows-1251", "<a href='/\xef\xf0?q=\xf2\xe5\xf1\xf2'>x</a><a href='?&#20013;&eacute;\xe6'>y</a>"),
      ElementsAre("http://a.test/%D0%BF%D1%80?q=%F2%E5%F1%F2", "http://a.test/?%26%2320013%3B%26%23233%3B%E6"));
  EXPECT_THAT(links("shift_jis", "<a href='/s?q=\x93\xfa\x96\x7b\x83\x65\x83\x58\x83\x67&amp;x=1'>x</a>"),
              ElementsAre("http://a.test/s?q=%93%FA%96{%83e%83X%83g&x=1"));
  EXPECT_THAT(links("iso-2022-jp", "<a href='/s?q=\x1b$B%F%9%H\x1b(B'>x</a>"),
              ElementsAre("http://a.test/s?q=%1B$B%25F%259%25H%1B(B"));
  EXPECT_THAT(links("utf-8", "<a href='/s?q=\xc3\xa9'>x</a>"), ElementsAre("http://a.test/s?q=%C3%A9"));
  EXPECT_THAT(links("utf-16le", std::string("<\0a\0 \0h\0r\0e\0f\0=\0?\0\xe9\0>\0", 22)),
              ElementsAre("http://a.test/?%C3%A9"));
}

TEST(PageMakerTest, SitemapsAndFeedsGiveTheirLinks) {
  PageMaker maker = Maker();
  const std::string urlset =
      "<?xml version='1.0'?><urlset><url><loc>http://a.test/1</loc></url><url><loc>/2</loc></url></urlset>";
  const std::string xml_head = "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n";
  EXPECT_THAT(Links(maker.Make(Response("http://a.test/sitemap.xml", xml_head, urlset))),
              ElementsAre("s http://a.test/1", "s http://a.test/2"));
  const std::string index = "<sitemapindex><sitemap><loc>http://a.test/s1.xml.gz</loc></sitemap></sitemapindex>";
  EXPECT_THAT(Links(maker.Make(Response("http://a.test/sitemap.xml", xml_head, index))),
              ElementsAre("sf http://a.test/s1.xml.gz"));
  const std::string gz_head = "HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\n\r\n";
  EXPECT_THAT(Links(maker.Make(OfKind(UrlKind::kSitemap, Response("http://a.test/s1.xml.gz", gz_head, Gzip(urlset))))),
              ElementsAre("s http://a.test/1", "s http://a.test/2"));
  EXPECT_THAT(Links(maker.Make(Response("http://a.test/x", xml_head, "<svg><a href='/n'/></svg>"))), IsEmpty());
}

TEST(PageMakerTest, RobotsFileIsCompiledForOurAgent) {
  PageMaker maker = Maker({.agent = "mybot"});
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
  const PageResult result = maker.Make(OfKind(
      UrlKind::kRobots,
      Response("http://a.test/robots.txt", head,
               "User-agent: mybot\nDisallow: /no\nCrawl-delay: 2\nSitemap: http://a.test/s.xml\nSitemap: /t.xml")));
  ASSERT_TRUE(result.robots);
  EXPECT_EQ(result.robots->kind, RobotsAnswer::Kind::kRules);
  EXPECT_EQ(result.robots->crawl_delay_ms, 2000U);
  const auto rules = RobotsRules::Open(result.robots->rules);
  ASSERT_TRUE(rules);
  EXPECT_FALSE(rules->Allows("/no/x"));
  EXPECT_TRUE(rules->Allows("/yes"));
  EXPECT_THAT(Links(result), ElementsAre("sf http://a.test/s.xml", "sf http://a.test/t.xml"));
  EXPECT_FALSE(result.archive.bytes.empty());
}

TEST(PageMakerTest, RobotsStatusSaysWhatHolds) {
  PageMaker maker = Maker({.archive_robots = false});
  const auto ask = [&](std::string head, FetchOutcome outcome = FetchOutcome::kAnswered) {
    FetchResponse response =
        OfKind(UrlKind::kRobots, Response("http://a.test/robots.txt", std::move(head), "Disallow: /"));
    response.outcome = outcome;
    const PageResult result = maker.Make(std::move(response));
    EXPECT_TRUE(result.archive.bytes.empty());
    return result.robots.value();
  };
  EXPECT_EQ(ask("HTTP/1.1 404 No\r\n\r\n").kind, RobotsAnswer::Kind::kAllowAll);
  EXPECT_EQ(ask("HTTP/1.1 503 No\r\n\r\n").kind, RobotsAnswer::Kind::kDisallowAll);
  EXPECT_EQ(ask("HTTP/1.1 429 No\r\n\r\n").kind, RobotsAnswer::Kind::kDisallowAll);
  EXPECT_EQ(ask("HTTP/1.1 301 M\r\nLocation: //www.a.test/robots.txt\r\n\r\n").follow, "http://www.a.test/robots.txt");
  EXPECT_EQ(ask("HTTP/1.1 301 M\r\nLocation: /\xe9\r\n\r\n").follow, "http://a.test/%E9");
  EXPECT_EQ(ask("HTTP/1.1 301 M\r\n\r\n").kind, RobotsAnswer::Kind::kDisallowAll);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\n\r\n", FetchOutcome::kDisconnected).kind, RobotsAnswer::Kind::kDisallowAll);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\n\r\n", FetchOutcome::kBodyCut).kind, RobotsAnswer::Kind::kRules);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\n").kind, RobotsAnswer::Kind::kRules);
  EXPECT_EQ(ask("", FetchOutcome::kConnectRefused).kind, RobotsAnswer::Kind::kDisallowAll);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n").kind, RobotsAnswer::Kind::kDisallowAll);
}

TEST(PageMakerTest, FailuresPassThrough) {
  PageMaker maker = Maker();
  FetchResponse response = Response("http://a.test/", "", "");
  response.outcome = FetchOutcome::kTlsCertificate;
  response.detail = "expired";
  const PageResult result = maker.Make(std::move(response));
  EXPECT_EQ(result.outcome, FetchOutcome::kTlsCertificate);
  EXPECT_EQ(result.detail, "expired");
  EXPECT_TRUE(result.archive.bytes.empty());
  EXPECT_FALSE(result.robots);
  EXPECT_EQ(maker.Make(Response("http://a.test/", "nonsense", "")).outcome, FetchOutcome::kNotHttp);
}

TEST(PageMakerTest, RetryAfterIsSecondsOrADate) {
  PageMaker maker = Maker();
  const auto wait = [&](const std::string& value) {
    return maker.Make(Response("http://a.test/", "HTTP/1.1 503 No\r\nRetry-After: " + value + "\r\n\r\n", ""))
        .retry_after_ns;
  };
  EXPECT_EQ(wait("120"), 120'000'000'000);
  // The answer ended at 2026-01-31 12:30:03.
  EXPECT_EQ(wait("Sat, 31 Jan 2026 12:31:03 GMT"), 60'000'000'000);
  EXPECT_EQ(wait("Sat, 31 Jan 2020 12:31:03 GMT"), 0);
  EXPECT_EQ(wait("99999999999999999999"), int64_t{365} * 86'400 * 1'000'000'000);
  EXPECT_EQ(wait("soon"), std::nullopt);
}

TEST(PageMakerTest, NoarchiveIsHonouredWhenAsked) {
  const std::string html = "<meta name=robots content=noarchive>";
  EXPECT_FALSE(Maker().Make(Html(html)).archive.bytes.empty());
  EXPECT_TRUE(Maker({.honour_noarchive = true}).Make(Html(html)).archive.bytes.empty());
  EXPECT_FALSE(Maker({.honour_noarchive = true}).Make(Html("")).archive.bytes.empty());
}

TEST(PageMakerTest, WhatPagesSayIsObeyedAsTheSettingsSay) {
  const std::string html =
      "<link rel=canonical href=c><link rel=alternate hreflang=de href=de><link rel=alternate href=feed>"
      "<link rel='alternate stylesheet' href=s><a href=b>x</a>";
  const std::string field = "Link: <http://a.test/f>; rel=canonical\r\n";
  EXPECT_THAT(Links(Maker().Make(Html(html, field))),
              ElementsAre("c http://a.test/f", "c http://a.test/dir/c", "http://a.test/dir/de",
                          "http://a.test/dir/feed", "http://a.test/dir/b"));
  EXPECT_THAT(Links(Maker({.canonical = false}).Make(Html(html, field))),
              ElementsAre("http://a.test/dir/de", "http://a.test/dir/feed", "http://a.test/dir/b"));
  EXPECT_THAT(Links(Maker({.alternates = false}).Make(Html(html))),
              ElementsAre("c http://a.test/dir/c", "http://a.test/dir/b"));
  const std::string none = "X-Robots-Tag: noindex, nofollow\r\n";
  EXPECT_THAT(Links(Maker().Make(Html("<a href=b>x</a>", none))), ElementsAre("n http://a.test/dir/b"));
  const PageResult ignored = Maker({.x_robots_tag = false}).Make(Html("<a href=b>x</a>", none));
  EXPECT_THAT(Links(ignored), ElementsAre("http://a.test/dir/b"));
  EXPECT_EQ(ignored.robots_flags, 0);
  EXPECT_EQ(Maker({.text_log = true}).Make(Html("<p>text", none)).outputs.size(), 1U);
  const PageResult hidden = Maker({.honour_noindex = true, .text_log = true}).Make(Html("<p>text", none));
  EXPECT_TRUE(hidden.outputs.empty());
  EXPECT_FALSE(hidden.archive.bytes.empty()) << "it is archived all the same";
}

TEST(PageMakerTest, SimilarPagesHaveSimilarBits) {
  PageMaker maker = Maker({.similarity = true});
  std::string words;
  for (int i = 0; i < 400; ++i) words += "word" + std::to_string(i * 7919 % 1000) + " ";
  const auto bits = [&](const std::string& text) { return maker.Make(Html("<p>" + text)).similarity; };
  const uint64_t one = bits(words);
  EXPECT_EQ(one, bits("<b>" + words + "</b>"));
  EXPECT_LE(std::popcount(one ^ bits(words + " and three more")), 6);
  std::string others;
  for (int i = 0; i < 400; ++i) others += "other" + std::to_string(i) + " ";
  EXPECT_GE(std::popcount(one ^ bits(others)), 16);
  EXPECT_EQ(bits("two words"), 0U);
}

TEST(PageMakerTest, SimilarityIsThatOfTheMainText) {
  PageMaker maker = Maker({.similarity = true});
  const auto prose = [](const std::string& word) {
    std::string html;
    for (int i = 0; i < 12; ++i) {
      html += "<p>The " + word + std::to_string(i) + " was built in 1874, when the first steamers came, and for " +
              word + " years it was the largest on the coast.</p>";
    }
    return html;
  };
  const auto menu = [](const std::string& word) {
    std::string html = "<nav>";
    for (int i = 0; i < 200; ++i) html += "<a href=/" + std::to_string(i) + ">" + word + std::to_string(i) + "</a> ";
    return html + "</nav>";
  };
  const auto bits = [&](const std::string& html) { return maker.Make(Html(html)).similarity; };
  EXPECT_EQ(bits(menu("one") + prose("harbour")), bits(menu("another") + prose("harbour")));
  EXPECT_GE(std::popcount(bits(menu("one") + prose("harbour")) ^ bits(menu("one") + prose("school"))), 8);
}

// --- the archive's side ---

TEST(PageMakerTest, RecordsAreWhatAStrictReaderWants) {
  PageMaker maker = Maker({.archive_metadata = true, .seed = 5});
  FetchResponse response = Html("hello", "Content-Length: 5\r\n");
  response.version = HttpVersion::k2;
  response.tls_version = "tls/1.3";
  response.tls_cipher = "TLS_AES_128_GCM_SHA256";
  const Stored stored = ReadBack(maker.Make(std::move(response)).archive);
  EXPECT_THAT(stored.faults, IsEmpty());
  EXPECT_THAT(stored.types, ElementsAre("request", "response", "metadata"));
  EXPECT_THAT(stored.response, HasSubstr("WARC-Date: 2026-01-31T12:30:01.250Z\r\n"));
  EXPECT_THAT(stored.response, HasSubstr("WARC-IP-Address: 192.0.2.7\r\n"));
  EXPECT_THAT(stored.response, HasSubstr("WARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\n"));
  EXPECT_THAT(stored.response, HasSubstr("WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\r\n"));
  EXPECT_THAT(stored.response, HasSubstr("WARC-Identified-Payload-Type: text/html\r\n"));
  EXPECT_THAT(stored.response, HasSubstr("charset=utf-8\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_THAT(stored.response, Not(HasSubstr("X-Crawler")));
  const size_t id = stored.response.find("<urn:uuid:");
  EXPECT_THAT(stored.request, HasSubstr("WARC-Concurrent-To: " + stored.response.substr(id, 47)));
}

TEST(PageMakerTest, SameSeedSameBytes) {
  const auto bytes = [](uint64_t seed) { return Maker({.seed = seed}).Make(Html("hello")).archive.bytes; };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

// The ids of an item's records.
std::vector<std::string> IdsOf(const ArchiveItem& item) {
  std::vector<std::string> ids;
  WarcReader reader(MemorySource(item.bytes), {});
  while (reader.Next().value()) ids.emplace_back(reader.record().fields.Get(warc_field::kRecordId));
  return ids;
}

TEST(PageMakerTest, RecordIdsAreNeverRepeatedWithoutASeed) {
  std::set<std::string> ids;
  for (int life = 0; life < 20; ++life) {
    PageMaker maker = Maker({.archive_metadata = true});
    for (int page = 0; page < 10; ++page) {
      for (const std::string& id : IdsOf(maker.Make(Html("the same page")).archive)) {
        EXPECT_TRUE(ids.insert(id).second) << id;
      }
    }
  }
  EXPECT_EQ(ids.size(), 600U);
}

TEST(PageMakerTest, WhatTheLogTellsOfAnAnswer) {
  PageMaker maker = Maker();
  const PageResult page = maker.Make(Html("<title> A  title\n of words </title>"));
  EXPECT_EQ(page.title, "A title of words");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.location, "");
  std::string title;
  while (title.size() < 300) title += "\u20ac";
  EXPECT_EQ(maker.Make(Html("<title>" + title)).title, title.substr(0, 255)) << "whole characters, at most 256 bytes";
  const std::string target(3000, 'x');
  const PageResult moved = maker.Make(
      Response("http://a.test/", "HTTP/1.1 301 Moved\r\nContent-Type: a/b\r\nLocation: /" + target + "\r\n\r\n", ""));
  EXPECT_EQ(moved.location, "/" + target.substr(1001));
  EXPECT_EQ(moved.content_type, "a/b");
  EXPECT_EQ(maker.Make(Response("http://a.test/", "HTTP/1.1 200 OK\r\nLocation: /x\r\n\r\n", "")).location, "");
}

TEST(PageMakerTest, MetadataTellsWhereAPageWasFound) {
  PageMaker maker = Maker({.archive_metadata = true, .seed = 5});
  FetchResponse response = Html("<title>A title</title><a href=/x>x</a><a href=/y>y</a>");
  response.task.via = "http://b.test/from";
  response.task.depth = 3;
  const ArchiveItem item = maker.Make(std::move(response)).archive;
  WarcReader reader(MemorySource(item.bytes), {});
  std::string block;
  while (reader.Next().value()) {
    if (reader.record().type == WarcType::kMetadata) block = reader.ReadBlock().value();
  }
  EXPECT_THAT(block, testing::StartsWith("via: http://b.test/from\r\ndepth: 3\r\noutcome: answered\r\n"));
  EXPECT_THAT(block, HasSubstr("\r\nfetchTimeMs: "));
  EXPECT_THAT(block, testing::EndsWith("charset-detected: UTF-8\r\ntitle: A title\r\noutlinks: 2\r\n"));
}

TEST(PageMakerTest, TheCaptureIsWhatTheIndexSays) {
  PageMaker maker = Maker();
  FetchResponse response =
      Response("http://www.a.test/x?b=\"q\"",
               "HTTP/1.1 302 Found\r\nContent-Type: text/html;a=b\r\nLocation: /\xff\"\r\n\r\n", "<html>moved");
  response.outcome = FetchOutcome::kBodyCut;
  const ArchiveItem item = maker.Make(std::move(response)).archive;
  Digester digester;
  digester.Start();
  digester.Update("<html>moved");
  const std::string sha1 = digester.Finish();
  Capture capture;
  capture.url = "http://www.a.test/x?b=\"q\"";
  capture.mime = "text/html";
  capture.mime_detected = "text/html";
  capture.status = 302;
  capture.payload_sha1 = sha1;
  capture.length = 12;
  capture.offset = 34;
  capture.filename = "f.warc.gz";
  capture.truncated = "length";
  capture.redirect = "/\xff\"";
  EXPECT_EQ(item.key, SurtKey(capture.url));
  EXPECT_EQ(item.url, capture.url);
  EXPECT_EQ(item.unix_seconds, 1'769'862'601);
  EXPECT_EQ(item.status, 302);
  EXPECT_EQ(item.mime, capture.mime);
  EXPECT_EQ(item.mime_detected, capture.mime_detected);
  EXPECT_EQ(std::string(item.payload_sha1.data(), item.payload_sha1.size()), sha1);
  EXPECT_EQ(item.truncated, capture.truncated);
  EXPECT_EQ(item.redirect, capture.redirect);
  std::string expected;
  AppendCdxj(MakeCdxj(item.key, "20260131123001", capture), CdxjStyle::kSpaced, expected);
  std::string line;
  AppendCapture(item.key, "20260131123001", capture, line);
  EXPECT_EQ(line, expected) << "the quick way writes the same line";
}

TEST(PageMakerTest, HeadsWithoutBodyKeepTheirLength) {
  PageMaker maker = Maker();
  const PageResult result =
      maker.Make(Response("http://a.test/", "HTTP/1.1 304 Not Modified\nContent-Length: 77\n\n", ""));
  const Stored stored = ReadBack(result.archive);
  EXPECT_THAT(stored.response, HasSubstr("HTTP/1.1 304 Not Modified\nContent-Length: 77\n\n"));
  EXPECT_THAT(stored.faults, IsEmpty());
}

TEST(PageMakerTest, BadOptionsAreRefused) {
  EXPECT_EQ(PageMaker::Create({.agent = "my bot/1"}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(PageMaker::Create({.archive_level = 13}).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace portolan
