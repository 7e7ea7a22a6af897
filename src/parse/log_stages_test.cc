// What pages add to the link log and the text log; and that a handler and a stage of one's own take part.

#include "parse/log_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "flow/output_records.h"
#include "parse/link_sink.h"
#include "parse/page_maker.h"
#include "parse/similarity.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FetchResponse Answer(std::string head, std::string body) {
  FetchResponse response;
  response.task.url = "http://a.test/dir/page";
  response.response_head = "HTTP/1.1 " + std::move(head) + "\r\n\r\n";
  response.body = std::move(body);
  response.times.begin_unix_ns = 1'769'862'601'250'999'999;
  return response;
}

FetchResponse Html(std::string body) {
  return Answer("200 OK\r\nContent-Type: text/html; charset=utf-8", std::move(body));
}

PageMaker Maker(PageMakerOptions options = {.link_log = true, .text_log = true}) {
  return PageMaker::Create(options).value();
}

const OutputItem* ItemOf(const PageResult& result, OutputId output) {
  const OutputItem* found = nullptr;
  for (const OutputItem& item : result.outputs) {
    if (item.output != output) continue;
    EXPECT_EQ(found, nullptr) << "one per output";
    found = &item;
  }
  return found;
}

// "source @ms" and then "target|flags|anchor".
std::vector<std::string> LinkRecords(const PageResult& result) {
  std::vector<std::string> lines;
  const OutputItem* const item = ItemOf(result, OutputId::kLinks);
  if (item == nullptr) return lines;
  PackedRecords records(item->records);
  while (records.Next()) {
    const auto link = ParseLinkRecord(records.record(), records.tag());
    EXPECT_TRUE(link);
    if (!link) continue;
    lines.push_back(link->is_page()
                        ? std::string(link->url) + " @" + std::to_string(link->unix_ms)
                        : std::string(link->url) + "|" + LinkFlagNames(link->tag) + "|" + std::string(link->anchor));
  }
  return lines;
}

TEST(LinkLogStageTest, LinksWithTheirTextAndFlags) {
  PageMaker maker = Maker({.embeds = true, .link_log = true});
  const PageResult result =
      maker.Make(Html("<a href=/a> one <b>two</b>\n</a><a href=/b rel=nofollow><img src=i.png alt='a picture'></a>"
                      "<a href=/a>again</a><a href=/c></a><a href=/c>late</a><iframe src=/f></iframe>"
                      "<link rel=canonical href=/self>"));
  EXPECT_THAT(LinkRecords(result),
              ElementsAre("http://a.test/dir/page @1769862601250", "http://a.test/a||one two",
                          "http://a.test/b|nofollow|a picture", "http://a.test/dir/i.png|embed requisite|",
                          "http://a.test/c||late", "http://a.test/f|frame|", "http://a.test/self|canonical|"));
}

TEST(LinkLogStageTest, EachHtmlPageIsThereAndOtherAnswersWhereTheyHaveLinks) {
  PageMaker maker = Maker();
  EXPECT_THAT(LinkRecords(maker.Make(Html("no links"))), ElementsAre("http://a.test/dir/page @1769862601250"));
  EXPECT_THAT(LinkRecords(maker.Make(Answer("301 Moved\r\nLocation: /x", ""))),
              ElementsAre("http://a.test/dir/page @1769862601250", "http://a.test/x|redirect|"));
  EXPECT_THAT(LinkRecords(maker.Make(Answer("404 Not Found\r\nContent-Type: text/html", "<a href=/x>x</a>"))),
              IsEmpty());
  EXPECT_THAT(LinkRecords(maker.Make(Answer("200 OK\r\nContent-Type: image/png", "\x89PNG\r\n\x1a\n"))), IsEmpty());
  EXPECT_THAT(LinkRecords(maker.Make(Html("<meta name=robots content=nofollow><a href=/x>x</a>"))),
              ElementsAre("http://a.test/dir/page @1769862601250", "http://a.test/x|nofollow|x"));
}

TEST(LinkLogStageTest, AnchorsAreBounded) {
  PageMaker maker = Maker();
  const std::string word = std::string(kMaxAnchor - 1, 'x') + "\u00e4";  // the last character would be torn
  std::string html;
  constexpr size_t kLinks = 2000;
  for (size_t i = 0; i < kLinks; ++i) html += "<a href=/" + std::to_string(i) + ">" + word + "</a>";
  const std::vector<std::string> lines = LinkRecords(maker.Make(Html(html)));
  ASSERT_EQ(lines.size(), kLinks + 1);
  EXPECT_EQ(lines[1], "http://a.test/0||" + std::string(kMaxAnchor - 1, 'x'));
  EXPECT_EQ(lines[kLinks], "http://a.test/1999||") << "the page's bound is reached";
}

TEST(TextLogStageTest, TitleHeadingsAndVisibleText) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(
      Html("<title> A  title</title><script>var x = 1;</script><h1>One <em>and</em>\n only</h1><p>Some text.</p>"
           "<h2>Two</h2><template><h3>not shown</h3></template><div>more</div><h6></h6>"));
  const OutputItem* const item = ItemOf(result, OutputId::kText);
  ASSERT_NE(item, nullptr);
  PackedRecords records(item->records);
  ASSERT_TRUE(records.Next());
  const auto page = ParseTextRecord(records.record());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->url, "http://a.test/dir/page");
  EXPECT_EQ(page->unix_ms, 1'769'862'601'250);
  EXPECT_EQ(page->title, "A title");
  EXPECT_EQ(page->headings, "1 One and only\n2 Two");
  EXPECT_EQ(page->language, "en");
  EXPECT_EQ(page->text, "One and only\nSome text.\nTwo\nmore");
  EXPECT_FALSE(records.Next());
}

TEST(TextLogStageTest, MainTextLanguageDescriptionAndDate) {
  PageMaker maker = Maker();
  const std::string prose =
      "Der Hafen wurde 1874 gebaut, als die ersten Dampfer kamen, und blieb vierzig Jahre lang der größte der Küste.";
  const PageResult result = maker.Make(
      Html("<title>Hafen</title><meta name=description content='Ein Hafen'><meta property=article:published_time "
           "content=2019-11-18T08:00:00Z><nav><a href=/>Start</a></nav><p>" +
           prose + "</p><p>" + prose + "</p><footer>Impressum</footer>"));
  const OutputItem* const item = ItemOf(result, OutputId::kText);
  ASSERT_NE(item, nullptr);
  PackedRecords records(item->records);
  ASSERT_TRUE(records.Next());
  const auto page = ParseTextRecord(records.record());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->text, "Start\n" + prose + "\n" + prose + "\nImpressum");
  EXPECT_EQ(MainTextOf(*page), prose + "\n" + prose);
  EXPECT_EQ(page->language, "de");
  EXPECT_GT(page->confidence, 50);
  EXPECT_EQ(page->description, "Ein Hafen");
  EXPECT_EQ(page->published, "2019-11-18T08:00:00Z");
  EXPECT_EQ(page->type, "text/html");
  EXPECT_EQ(page->robots, 0);
  EXPECT_EQ(page->similarity, SimilarityHash(prose + "\n" + prose));
}

TEST(TextLogStageTest, WhatAPageAsksOfRobotsIsInTheLog) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(Html("<meta name=robots content='noindex, nosnippet'><p>Some text."));
  const OutputItem* const item = ItemOf(result, OutputId::kText);
  ASSERT_NE(item, nullptr);
  PackedRecords records(item->records);
  ASSERT_TRUE(records.Next());
  EXPECT_EQ(ParseTextRecord(records.record())->robots, RobotsTag::kNoIndex | RobotsTag::kNoSnippet);
}

TEST(TextLogStageTest, PlainTextIsDecodedAndCut) {
  PageMaker maker = Maker();
  const auto text_of = [&](FetchResponse response) {
    const PageResult result = maker.Make(std::move(response));
    const OutputItem* const item = ItemOf(result, OutputId::kText);
    if (item == nullptr) return std::string("none");
    PackedRecords records(item->records);
    EXPECT_TRUE(records.Next());
    return std::string(ParseTextRecord(records.record())->text);
  };
  EXPECT_EQ(text_of(Answer("200 OK\r\nContent-Type: text/plain; charset=iso-8859-1", "caf\xe9 a\n b")),
            "caf\u00e9 a\n b");
  EXPECT_EQ(text_of(Answer("200 OK\r\nContent-Type: text/plain", std::string(3 << 20, 'x'))).size(), kMaxPageText);
  EXPECT_EQ(text_of(Html("<p>" + std::string(3 << 20, 'x'))).size(), kMaxPageText);
  EXPECT_EQ(text_of(Answer("200 OK\r\nContent-Type: image/png", "\x89PNG\r\n\x1a\n")), "none");
}

TEST(LogStagesTest, NothingIsAddedWhereNobodyWantsIt) {
  PageMaker maker = Maker({});
  EXPECT_THAT(maker.Make(Html("<a href=/x>x</a>")).outputs, IsEmpty());
}

TEST(LogStagesTest, APageThatIsNotToBeKeptHasLinksAndNoText) {
  PageMaker maker = Maker({.honour_noarchive = true, .link_log = true, .text_log = true});
  const PageResult result = maker.Make(Html("<meta name=robots content=noarchive><a href=/x>x</a>"));
  EXPECT_TRUE(result.archive.bytes.empty());
  EXPECT_EQ(ItemOf(result, OutputId::kText), nullptr);
  EXPECT_EQ(LinkRecords(result).size(), 2U);
}

// ---- the example of docs/extending.md, word for word

// [example begins]
// Links in calendar files: the URL property of each event (RFC 5545).
class CalendarHandler : public ContentHandler {
 public:
  explicit CalendarHandler(const PageMakerOptions& options) : max_links_(options.max_links), links_(options.link) {}

  bool Takes(const PageView& view, const PageResult& result) const override {
    return view.readable && result.status / 100 == 2 && view.sniffed.essence == "text/calendar";
  }

  void Read(PageView& view, PageResult& result) override {
    links_.Begin(view.url, result, 16, max_links_);
    for (std::string_view rest = view.body; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.starts_with("URL:")) links_.Add(line.substr(4), 0);
    }
  }

 private:
  const uint32_t max_links_;
  LinkSink links_;
};

// Login pages are followed but not kept.
class NoLoginStage : public PageStage {
 public:
  void Look(PageView& view, PageResult& /*result*/) override {
    if (view.page != nullptr && view.body.find("type=\"password\"") != std::string_view::npos) view.keep = false;
  }
};
// [example ends]

TEST(ExtendingTest, AHandlerAndAStageOfOnesOwn) {
  const PageMakerOptions options{.link_log = true};
  PageMaker maker = Maker(options);
  maker.AddHandler(std::make_unique<CalendarHandler>(options));
  maker.AddStage(std::make_unique<NoLoginStage>());
  const PageResult events =
      maker.Make(Answer("200 OK\r\nContent-Type: text/calendar", "BEGIN:VEVENT\r\nURL:/party\r\nEND:VEVENT\r\n"));
  EXPECT_THAT(LinkRecords(events), ElementsAre("http://a.test/dir/page @1769862601250", "http://a.test/party||"));
  EXPECT_FALSE(events.archive.bytes.empty());
  EXPECT_TRUE(maker.Make(Html("<form><input type=\"password\"></form>")).archive.bytes.empty());
  EXPECT_FALSE(maker.Make(Html("<form><input type=\"text\"></form>")).archive.bytes.empty());
}

TEST(ExtendingTest, TheDocumentShowsThisVeryCode) {
  const auto read = [](const char* path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string source = read("src/parse/log_stages_test.cc");
  constexpr std::string_view kBegin = "// [example begins]\n";
  const size_t begin = source.find(kBegin) + kBegin.size();
  const std::string example = source.substr(begin, source.find("// [example ends]") - begin);
  ASSERT_GT(example.size(), 500U);
  EXPECT_THAT(read("docs/extending.md"), HasSubstr(example));
}

}  // namespace
}  // namespace portolan
