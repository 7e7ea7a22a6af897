#include "parse/visit_reader.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/date.h"
#include "parse/page_maker.h"
#include "warc/reader.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kNowS = 1'769'862'601;  // 2026-01-31T12:30:01Z
constexpr char kUrl[] = "http://a.test/dir/page";

FetchResponse Answer(int status, std::string_view fields, std::string body) {
  FetchResponse response;
  response.task.id = 7;
  response.task.url = kUrl;
  response.version = HttpVersion::k11;
  response.request_head = "GET /dir/page HTTP/1.1\r\nHost: a.test\r\n\r\n";
  response.response_head = fmt::format("HTTP/1.1 {} Text\r\nContent-Type: text/html\r\n{}\r\n", status, fields);
  response.body = std::move(body);
  response.times = {.begin_ns = 5, .end_ns = 1000, .begin_unix_ns = kNowS * 1'000'000'000 + 250'000'000};
  return response;
}

FetchResponse Again(FetchResponse response, LastVisit last) {
  response.task.last = std::make_shared<const LastVisit>(std::move(last));
  return response;
}

PageMaker Maker(PageMakerOptions options = {}) {
  options.visits = true;
  return PageMaker::Create(options).value();
}

// The fields and the block of the record that the index points to.
std::string CaptureOf(const ArchiveItem& item) {
  WarcReaderOptions options;
  options.strict = true;
  options.faults = [&](const Fault& fault) { ADD_FAILURE() << fault.detail; };
  WarcReader reader(MemorySource(std::string_view(item.bytes).substr(item.response_begin, item.response_length)),
                    options);
  if (!reader.Next().value()) return "";
  std::string text;
  const FieldList& fields = reader.record().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    text += std::string(fields[i].name) + ": " + std::string(fields[i].value) + "\n";
  }
  for (std::string_view piece = reader.ReadBlock().value(); !piece.empty(); piece = reader.ReadBlock().value()) {
    text += piece;
  }
  EXPECT_TRUE(reader.Finish());
  return text;
}

const std::string kPage(500, 'x');

// What is remembered of a first visit with these fields.
LastVisit First(std::string_view fields, const std::string& body = kPage) {
  PageMaker maker = Maker();
  return AfterVisit(maker.Make(Answer(200, fields, body)), {.url = kUrl, .address = {}});
}

constexpr char kBoth[] = "ETag: \"a\"\r\nLast-Modified: Fri, 30 Jan 2026 12:30:01 GMT\r\n";

TEST(VisitReaderTest, ACrawlThatDoesNotComeBackPaysNothing) {
  PageMaker maker = PageMaker::Create({}).value();
  EXPECT_EQ(maker.Make(Answer(200, kBoth, kPage)).visit, nullptr);
}

TEST(VisitReaderTest, AFirstVisitKeepsValidatorsPayloadAndPlace) {
  const LastVisit last = First(kBoth);
  EXPECT_EQ(last.validators, (Validators{"\"a\"", "Fri, 30 Jan 2026 12:30:01 GMT"}));
  EXPECT_TRUE(last.has_payload());
  EXPECT_EQ(last.captured_unix_ms, kNowS * 1000 + 250);
  EXPECT_EQ(last.captured_url, "");
}

TEST(VisitReaderTest, NotModifiedIsARevisitOfTheFullCapture) {
  LastVisit last = First(kBoth);
  last.captured_unix_ms -= 86'400'000;
  PageMaker maker = Maker();
  const PageResult result = maker.Make(
      Again(Answer(304, "Last-Modified: Fri, 30 Jan 2026 13:00:00 GMT\r\nCache-Control: max-age=60\r\n", ""), last));
  EXPECT_TRUE(result.not_modified());
  const Visit& visit = *result.visit;
  EXPECT_EQ(visit.signals.change, PayloadChange::kNotModified);
  EXPECT_EQ(visit.signals.text_distance, 0);
  EXPECT_EQ(visit.signals.fresh_for_s, 60U);
  EXPECT_EQ(visit.signals.flags, kSignalConditional | kSignalDateMoved);
  EXPECT_EQ(visit.validators, (Validators{"\"a\"", "Fri, 30 Jan 2026 13:00:00 GMT"}))
      << "the 304 updates what it names";
  const std::string record = CaptureOf(result.archive);
  EXPECT_THAT(record, HasSubstr("WARC-Type: revisit\n"));
  EXPECT_THAT(record, HasSubstr("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\n"));
  EXPECT_THAT(record, HasSubstr("WARC-Refers-To-Target-URI: http://a.test/dir/page\n"));
  EXPECT_THAT(record, HasSubstr("WARC-Refers-To-Date: 2026-01-30T12:30:01.250Z\n"));
  EXPECT_THAT(record, HasSubstr("WARC-Payload-Digest: sha1:"));
  EXPECT_THAT(record, HasSubstr("HTTP/1.1 304 Text"));
  EXPECT_EQ(result.archive.mime, "warc/revisit");
  EXPECT_EQ(result.archive.payload_sha1, last.payload_sha1);
  EXPECT_EQ(result.payload_sha1, (decltype(result.payload_sha1){})) << "content-seen does not look at it";

  const LastVisit next = AfterVisit(result, {.url = kUrl, .address = {}});
  EXPECT_EQ(next.captured_unix_ms, last.captured_unix_ms) << "revisits do not refer to revisits";
  EXPECT_EQ(next.payload_sha1, last.payload_sha1);
  EXPECT_EQ(next.validators, visit.validators);
}

TEST(VisitReaderTest, ABodyBehindA304IsIgnored) {
  PageMaker maker = Maker({.content_seen = true});
  const PageResult result = maker.Make(Again(Answer(304, "", std::string(600, 'x')), First(kBoth)));
  EXPECT_EQ(result.visit->signals.change, PayloadChange::kNotModified);
  EXPECT_THAT(CaptureOf(result.archive), HasSubstr("server-not-modified"));
  EXPECT_TRUE(result.archive.revisit.empty());
  EXPECT_EQ(result.payload_sha1, (decltype(result.payload_sha1){}));
}

TEST(VisitReaderTest, WithoutACaptureANotModifiedIsStoredAsItCame) {
  LastVisit last = First(kBoth);
  last.captured_unix_ms = 0;
  PageMaker maker = Maker();
  const PageResult result = maker.Make(Again(Answer(304, "", ""), last));
  EXPECT_TRUE(result.not_modified());
  EXPECT_THAT(CaptureOf(result.archive), HasSubstr("WARC-Type: response\n"));
}

TEST(VisitReaderTest, ARevisitOfACopyRefersToTheFirstCapture) {
  LastVisit last = First(kBoth);
  last.captured_url = "http://b.test/original";
  PageMaker maker = Maker();
  EXPECT_THAT(CaptureOf(maker.Make(Again(Answer(304, "", ""), last)).archive),
              HasSubstr("WARC-Refers-To-Target-URI: http://b.test/original\n"));
}

TEST(VisitReaderTest, A304ThatWasNotAskedForSaysNothing) {
  PageMaker maker = Maker();
  const PageResult first = maker.Make(Answer(304, kBoth, ""));
  EXPECT_EQ(first.outcome, FetchOutcome::kUnaskedNotModified);
  EXPECT_FALSE(first.not_modified());
  EXPECT_EQ(first.visit->validators, Validators());
  EXPECT_EQ(first.visit->signals.change, PayloadChange::kUnknown);
  EXPECT_THAT(CaptureOf(first.archive), HasSubstr("WARC-Type: response\n"));

  LastVisit last = First("");
  EXPECT_FALSE(last.validators.usable());
  const PageResult second = maker.Make(Again(Answer(304, kBoth, ""), last));
  EXPECT_EQ(second.outcome, FetchOutcome::kUnaskedNotModified);
  const LastVisit next = AfterVisit(second, {.url = kUrl, .address = {}});
  EXPECT_EQ(next.payload_sha1, last.payload_sha1) << "what is known stays known";
  EXPECT_EQ(next.validators, Validators());

  PageMaker plain = PageMaker::Create({}).value();
  EXPECT_EQ(plain.Make(Answer(304, kBoth, "")).outcome, FetchOutcome::kUnaskedNotModified);
}

TEST(VisitReaderTest, A304WithAnotherEtagContradictsItself) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(Again(Answer(304, "ETag: \"b\"\r\n", ""), First(kBoth)));
  EXPECT_TRUE(result.not_modified());
  EXPECT_EQ(result.visit->signals.flags, kSignalEtag | kSignalConditional | kSignalEtagMoved);
  EXPECT_EQ(result.visit->validators, Validators()) << "the next visit asks for the whole page";
  const PageResult weak = maker.Make(Again(Answer(304, "ETag: W/\"a\"\r\n", ""), First(kBoth)));
  EXPECT_EQ(weak.visit->signals.flags, kSignalEtag | kSignalWeakEtag | kSignalConditional);
  EXPECT_EQ(weak.visit->validators.etag, "W/\"a\"");
}

TEST(VisitReaderTest, TheSamePayloadIsPreparedAsARevisitWithoutContentSeen) {
  PageMaker maker = Maker();
  const PageResult result = maker.Make(Again(Answer(200, "ETag: \"b\"\r\n", kPage), First(kBoth)));
  EXPECT_EQ(result.visit->signals.change, PayloadChange::kSame);
  EXPECT_EQ(result.visit->signals.flags, kSignalEtag | kSignalConditional | kSignalEtagMoved);
  EXPECT_FALSE(result.archive.revisit.empty());
  EXPECT_THAT(result.archive.revisit, HasSubstr("identical-payload-digest"));
  EXPECT_EQ(result.visit->validators, (Validators{"\"b\"", ""}));

  FetchLine line;
  line.url = kUrl;
  line.revisit = true;
  line.duplicate_of = "http://b.test/original";
  line.duplicate_unix_ms = 12'345;
  LastVisit next = AfterVisit(result, line);
  EXPECT_EQ(next.captured_url, "http://b.test/original");
  EXPECT_EQ(next.captured_unix_ms, 12'345);
  line.duplicate_of = kUrl;
  EXPECT_EQ(AfterVisit(result, line).captured_url, "");
  line.dropped = true;
  EXPECT_EQ(AfterVisit(result, line).captured_unix_ms, 0) << "the archive does not have it";
}

TEST(VisitReaderTest, AnotherPayloadUnderTheSameValidatorsIsNoticed) {
  PageMaker maker = Maker({.similarity = true});
  LastVisit last = First(kBoth);
  last.similarity = 1;
  const PageResult result =
      maker.Make(Again(Answer(200, kBoth, "<p>The quick brown fox jumps over the lazy dog near the old bridge"), last));
  ASSERT_NE(result.similarity, 0U);
  EXPECT_EQ(result.visit->signals.change, PayloadChange::kOther);
  EXPECT_EQ(result.visit->signals.flags, kSignalEtag | kSignalConditional | kSignalEtagStuck | kSignalDateStuck);
  EXPECT_EQ(result.visit->signals.text_distance, std::popcount(uint64_t{1} ^ result.similarity));
}

TEST(VisitReaderTest, WithoutAnArchiveThePayloadIsStillCompared) {
  PageMaker maker = Maker({.archive = false});
  const LastVisit last = AfterVisit(maker.Make(Answer(200, kBoth, kPage)), {.url = kUrl, .address = {}});
  EXPECT_EQ(last.payload_sha1, First(kBoth).payload_sha1);
  EXPECT_EQ(last.captured_unix_ms, 0);
  EXPECT_EQ(maker.Make(Again(Answer(200, "", kPage), last)).visit->signals.change, PayloadChange::kSame);
  EXPECT_EQ(maker.Make(Again(Answer(200, "", kPage + "y"), last)).visit->signals.change, PayloadChange::kOther);
}

TEST(VisitReaderTest, LyingDatesAreNamed) {
  PageMaker maker = Maker();
  const auto flags = [&](std::string_view fields) {
    return maker.Make(Answer(200, fields, kPage)).visit->signals.flags;
  };
  const auto modified = [](int64_t s) { return fmt::format("Last-Modified: {}\r\n", FormatHttpDate(s)); };
  const std::string date = fmt::format("Date: {}\r\n", FormatHttpDate(kNowS + 5000));
  EXPECT_EQ(flags(modified(kNowS)), kSignalNowDate);
  EXPECT_EQ(flags(modified(kNowS - 2)), kSignalNowDate);
  EXPECT_EQ(flags(modified(kNowS - 3)), 0);
  EXPECT_EQ(flags(modified(kNowS + 1)), kSignalFutureDate);
  EXPECT_EQ(flags(modified(kNowS + 5000) + date), kSignalNowDate) << "by the server's clock";
  EXPECT_EQ(flags(modified(kNowS + 5001) + date), kSignalFutureDate);
  EXPECT_EQ(flags("Last-Modified: yesterday\r\n"), kSignalBadDate);
  EXPECT_EQ(flags("ETag: " + std::string(300, 'e') + "\r\n"), kSignalEtag | kSignalLongValidator);
  EXPECT_EQ(flags("Cache-Control: no-store\r\nCache-Control: no-cache\r\n"), kSignalNoStore | kSignalNoCache);

  const PageResult bad =
      maker.Make(Answer(200, "Last-Modified: yesterday\r\nETag: " + std::string(300, 'e') + "\r\n", kPage));
  EXPECT_EQ(bad.visit->validators, Validators()) << "what is not kept is not sent";
  const VisitSignals old = maker.Make(Answer(200, modified(kNowS - 1000), kPage)).visit->signals;
  EXPECT_EQ(old.last_modified_s, kNowS - 1000);
  EXPECT_EQ(old.age_s, 1000);
}

TEST(VisitReaderTest, ExpiresCountsFromTheServersDate) {
  PageMaker maker = Maker();
  const auto fresh = [&](std::string_view fields) {
    return maker.Make(Answer(200, fields, kPage)).visit->signals.fresh_for_s;
  };
  EXPECT_EQ(fresh("Cache-Control: public, max-age=300\r\nExpires: 0\r\n"), 300U);
  EXPECT_EQ(fresh("Date: Sat, 31 Jan 2026 12:00:00 GMT\r\nExpires: Sat, 31 Jan 2026 13:00:00 GMT\r\n"), 3600U);
  EXPECT_EQ(fresh("Expires: -1\r\n"), 0U);
  EXPECT_EQ(fresh(""), std::nullopt);
}

TEST(VisitReaderTest, AFailureLeavesWhatWasKnown) {
  PageMaker maker = Maker();
  const LastVisit last = First(kBoth);
  for (const FetchOutcome outcome : {FetchOutcome::kConnectTimeout, FetchOutcome::kDnsFailed, FetchOutcome::kReset}) {
    FetchResponse response = Again(Answer(200, "", ""), last);
    response.outcome = outcome;
    const PageResult result = maker.Make(std::move(response));
    ASSERT_NE(result.visit, nullptr);
    EXPECT_EQ(result.visit->last->validators, last.validators);
    EXPECT_EQ(AfterVisit(result, {.url = kUrl, .address = {}}).captured_unix_ms, last.captured_unix_ms);
  }
  for (const int status : {500, 503, 429}) {
    const PageResult result = maker.Make(Again(Answer(status, "ETag: \"error\"\r\n", "busy"), last));
    EXPECT_EQ(AfterVisit(result, {.url = kUrl, .address = {}}).validators, last.validators) << status;
  }
}

TEST(VisitReaderTest, AGonePageHasNoPayloadAndNoValidators) {
  PageMaker maker = Maker();
  const LastVisit last = First(kBoth);
  for (const int status : {404, 410}) {
    const PageResult result = maker.Make(Again(Answer(status, kBoth, ""), last));
    EXPECT_TRUE(result.gone());
    EXPECT_EQ(result.visit->signals.change, PayloadChange::kOther);
    const LastVisit next = AfterVisit(result, {.url = kUrl, .address = {}});
    EXPECT_FALSE(next.has_payload());
    EXPECT_FALSE(next.validators.usable());
  }
}

TEST(VisitReaderTest, ACutBodyIsNeitherSameNorOther) {
  PageMaker maker = Maker();
  for (const FetchOutcome outcome : {FetchOutcome::kBodyCut, FetchOutcome::kTimeCut, FetchOutcome::kDisconnected}) {
    FetchResponse response = Again(Answer(200, kBoth, kPage), First(kBoth));
    response.outcome = outcome;
    const PageResult result = maker.Make(std::move(response));
    EXPECT_EQ(result.visit->signals.change, PayloadChange::kUnknown);
    EXPECT_EQ(result.visit->validators.usable(), outcome == FetchOutcome::kBodyCut)
        << "at our own limit it will be the same the next time";
  }
}

// ---- sitemaps and feeds

PageResult Listed(std::string body, const PageMakerOptions& options = {}, std::string_view type = "application/xml") {
  PageMaker maker = Maker(options);
  FetchResponse response = Answer(200, "", std::move(body));
  response.task.kind = UrlKind::kSitemap;
  response.response_head = fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\n\r\n", type);
  return maker.Make(std::move(response));
}

TEST(VisitReaderTest, SitemapsHintPerUrl) {
  const PageResult result = Listed(R"(<?xml version="1.0"?><urlset>
      <url><loc>/a</loc><lastmod>2026-01-30</lastmod><changefreq>daily</changefreq></url>
      <url><loc>/plain</loc></url>
      <url><loc>/b</loc><changefreq>never</changefreq></url>
      <url><loc>/a</loc><lastmod>1999-01-01</lastmod></url>
      <url><loc>/early</loc><lastmod>1901-01-01</lastmod></url>
      <url><loc>/late</loc><lastmod>2100-01-01T00:00:00Z</lastmod></url></urlset>)");
  ASSERT_EQ(result.links.links.size(), 5U);
  const std::vector<LinkHint> expected = {{0, 1'769'731'200, 86'400}, {2, 0, LinkHint::kNever}, {4, 4'102'444'800, 0}};
  EXPECT_EQ(result.visit->hints, expected) << "what was said first counts; dates before 1970 say nothing";
}

TEST(VisitReaderTest, FeedsHintByTheDatesOfTheirEntries) {
  const PageResult rss = Listed(R"(<rss><channel><link>/home</link>
      <item><link>/1</link><pubDate>Fri, 30 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>)");
  EXPECT_EQ(rss.visit->hints, (std::vector<LinkHint>{{1, 1'769'731'200, 0}}));
  const PageResult atom =
      Listed(R"(<feed><entry><link href="/1"/><updated>2026-01-30T00:00:00Z</updated></entry></feed>)");
  EXPECT_EQ(atom.visit->hints, (std::vector<LinkHint>{{0, 1'769'731'200, 0}}));
}

TEST(VisitReaderTest, HintsAreBoundedByTheEntries) {
  std::string body = "<urlset>";
  for (int i = 0; i < 3000; ++i) body += fmt::format("<url><loc>/{}</loc><lastmod>2026-01-31</lastmod></url>", i);
  const PageResult result = Listed(body + "</urlset>", {.sitemap = {.max_entries = 1000}});
  EXPECT_EQ(result.visit->hints.size(), 1000U);
  EXPECT_EQ(result.visit->hints.back().link, 999U);
}

}  // namespace
}  // namespace portolan
