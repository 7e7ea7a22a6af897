#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "http/cache_control.h"
#include "http/date.h"
#include "http/response_parser.h"

namespace portolan {
namespace {

constexpr int64_t kRfcDate = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(DateTest, TheThreeFormsOfTheRfcAreRead) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), kRfcDate);
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT"), kRfcDate);
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994"), kRfcDate);
}

TEST(DateTest, WhatServersMakeOfThemIsReadToo) {
  for (const char* text :
       {"06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37", "sun, 06 nov 1994 08:49:37 gmt",
        "Sun,06-Nov-1994 08:49:37 GMT", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 09:49:37 +0100", "Sun, 06 Nov 1994 03:49:37 EST", "08:49:37 06 Nov 1994",
        "Sun Nov 6 08:49:37 GMT 1994", "  Sun, 06 Nov 1994 08:49:37 GMT  ", "Sun, 06 Nov 1994 08:49:37 GMT;",
        "\"Sun, 06 Nov 1994 08:49:37 GMT\"", "Sun, 06 Nov 1994 8:49:37 AM GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 01:49:37-0700"}) {
    EXPECT_EQ(ParseHttpDate(text), kRfcDate) << text;
  }
}

TEST(DateTest, WhatIsNoDateGivesNone) {
  for (const char* text :
       {"", "0", "-1", "now", "Sun, 06 Nov 1994", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1600 08:49:37 GMT", "99999999999999999999",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", ":::", "1:2:3:4"}) {
    EXPECT_FALSE(ParseHttpDate(text)) << text;
  }
}

TEST(DateTest, IsoDatesOfEveryLength) {
  EXPECT_EQ(ParseIsoDate("1970"), 0);
  EXPECT_EQ(ParseIsoDate("1970-02"), 31 * 86400);
  EXPECT_EQ(ParseIsoDate(" 1970-01-02\n"), 86400);
  EXPECT_EQ(ParseIsoDate("1994-11-06T08:49:37Z"), kRfcDate);
  EXPECT_EQ(ParseIsoDate("1994-11-06T08:49:37.123+00:00"), kRfcDate);
  EXPECT_EQ(ParseIsoDate("1994-11-06T09:49:37+01:00"), kRfcDate);
  EXPECT_EQ(ParseIsoDate("1994-11-06 08:49:37"), kRfcDate);
  EXPECT_EQ(ParseIsoDate("1994-11-06T08:49Z"), kRfcDate - 37);
  for (const char* text :
       {"", "94", "1994-13", "1994-02-30", "1994-11-06T", "1994-11-06X", "1994-11-06T08:49:37+99:00", "19941106"}) {
    EXPECT_FALSE(ParseIsoDate(text)) << text;
  }
}

TEST(DateTest, FormattedDatesAreReadBack) {
  EXPECT_EQ(FormatHttpDate(kRfcDate), "Sun, 06 Nov 1994 08:49:37 GMT");
  for (int64_t time = -11'000'000'000; time < 250'000'000'000; time += 987'654'321) {
    EXPECT_EQ(ParseHttpDate(FormatHttpDate(time)), time) << FormatHttpDate(time);
  }
}

TEST(CacheControlTest, DirectivesAreRead) {
  const CacheControl cache =
      ParseCacheControl("Max-Age=3600, private, no-cache=\"Set-Cookie, x\" , s-maxage=\"60\", max-age=30");
  EXPECT_EQ(cache.max_age, 30u);
  EXPECT_EQ(cache.s_maxage, 60u);
  EXPECT_TRUE(cache.is_private);
  EXPECT_TRUE(cache.no_cache);
  EXPECT_FALSE(cache.no_store);
  EXPECT_EQ(ParseCacheControl("max-age=99999999999999999999").max_age, CacheControl::kMaxDelta);
  EXPECT_EQ(ParseCacheControl("max-age=abc").max_age, 0u);
  EXPECT_EQ(ParseCacheControl("max-age=\"1").max_age, 0u);
}

TEST(CacheControlTest, RetryAfterIsSecondsOrADate) {
  EXPECT_EQ(ParseRetryAfter(" 120 ", 0), 120u);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", kRfcDate - 60), 60u);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", kRfcDate + 60), 0u);
  EXPECT_EQ(ParseRetryAfter("999999999999", 0), CacheControl::kMaxDelta);
  EXPECT_FALSE(ParseRetryAfter("soon", 0));
  EXPECT_FALSE(ParseRetryAfter("-5", 0));
}

TEST(CacheControlTest, FreshnessFollowsTheRfcsOrder) {
  EXPECT_EQ(FreshFor(ParseCacheControl("max-age=5, s-maxage=7"), {}, {}), 7u);
  EXPECT_EQ(FreshFor({}, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:48:37 GMT"), 60u);
  EXPECT_EQ(FreshFor({}, "0", {}), 0u);
  EXPECT_EQ(FreshFor(ParseCacheControl("no-store, max-age=9"), {}, {}), 0u);
  EXPECT_FALSE(FreshFor({}, {}, {}));
}

TEST(HeadersTest, FieldsAreFoundIgnoringCaseAndFoldsAreJoined) {
  const ResponseHead head = ParseResponseHead(
      "HTTP/1.1 200 OK\r\nA: 1\r\nfolded: x\r\n \t y\r\n  z\r\nno colon here\r\nb@d name: 1\r\n a: \xff\r\nSet-Cookie: "
      "1\nset-cookie: 2\n\r\n");
  ASSERT_EQ(head.outcome, HeadOutcome::kRead);
  EXPECT_EQ(head.fields.Find("FOLDED"), "x y z");
  EXPECT_EQ(head.fields.Find("a"), "1");
  EXPECT_FALSE(head.fields.Find("b"));
  EXPECT_EQ(head.fields.Joined("Set-Cookie"), "1, 2");
  EXPECT_EQ(head.fields.skipped_lines(), 3u);
  EXPECT_EQ(head.fields.size(), 4u);
}

TEST(HeadersTest, RefusalsHaveNames) {
  EXPECT_EQ(ParseResponseHead("<html>hello").outcome, HeadOutcome::kNoStatusLine);
  EXPECT_EQ(ParseResponseHead("HTTP/1.1 abc").outcome, HeadOutcome::kBadStatusLine);
  EXPECT_EQ(ParseResponseHead(std::string_view("HTTP/1.1 200 OK\r\na: \0\r\n", 23)).outcome, HeadOutcome::kBadField);
  EXPECT_EQ(ParseResponseHead("HTTP/1.1 200 OK\r\na: 1\r\nb: 2\r\n", {.max_fields = 1}).outcome,
            HeadOutcome::kTooManyFields);
  EXPECT_EQ(ParseResponseHead("HTTP/1.1 200 OK\r\na: 1\r\n", {.max_bytes = 10}).outcome, HeadOutcome::kTooLarge);
  EXPECT_EQ(ParseResponseHead("HTTP/2 204").status, 204);
}

TEST(ResponseParserTest, EveryCutGivesTheSame) {
  const std::string raw =
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=\"y\"\r\nhello\r\n6\n world\n0\r\nTrailer: 1\r\n\r\nNEXT";
  for (size_t cut = 0; cut <= raw.size(); ++cut) {
    ResponseParser parser;
    std::string_view first = std::string_view(raw).substr(0, cut);
    parser.Feed(first);
    std::string rest = std::string(first) + raw.substr(cut);
    std::string_view second = rest;
    EXPECT_EQ(parser.Feed(second), ResponseOutcome::kComplete);
    EXPECT_EQ(second, "NEXT") << cut;
    EXPECT_EQ(parser.body(), "hello world");
    EXPECT_EQ(parser.trailer(), "Trailer: 1\r\n\r\n");
    EXPECT_EQ(parser.interim_answers(), 1);
  }
}

TEST(ResponseParserTest, BodiesPastTheLimitAreCutExactlyThere) {
  for (const std::string raw :
       {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", "HTTP/1.1 200 OK\r\n\r\n0123456789",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"}) {
    for (const uint64_t limit : {uint64_t{9}, uint64_t{10}}) {
      ResponseParser parser({.max_body = limit});
      std::string_view in = raw;
      parser.Feed(in);
      EXPECT_EQ(parser.Finish(), limit == 9 ? ResponseOutcome::kTooLarge : ResponseOutcome::kComplete) << raw;
      EXPECT_EQ(parser.body(), std::string("0123456789").substr(0, limit));
    }
  }
}

TEST(ResponseParserTest, AClosedConnectionIsNamedByWhereItClosed) {
  const auto outcome = [](std::string_view raw) {
    ResponseParser parser;
    parser.Feed(raw);
    return parser.Finish();
  };
  EXPECT_EQ(outcome(""), ResponseOutcome::kEmpty);
  EXPECT_EQ(outcome("\r\n\r\n"), ResponseOutcome::kEmpty);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nA: 1"), ResponseOutcome::kCutHead);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234"), ResponseOutcome::kTruncated);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123"), ResponseOutcome::kTruncated);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123456"), ResponseOutcome::kBadChunk);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\n\r\nx"), ResponseOutcome::kComplete);
  std::string interim;
  for (int i = 0; i < 100; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(outcome(interim), ResponseOutcome::kTooManyInterim);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nA: " + std::string(1 << 20, 'x')), ResponseOutcome::kBadHead);
}

// Inputs that end where the readable memory does: an over-read of one byte is a crash.
TEST(HttpGuardPageTest, NothingIsReadPastTheEnd) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + 2 * page, page, PROT_NONE), 0);
  const auto place = [&](std::string_view bytes) {
    char* at = memory + 2 * page - bytes.size();
    std::memcpy(at, bytes.data(), bytes.size());
    return std::string_view(at, bytes.size());
  };
  const std::string raw =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html;a=\"b\\\"\r\n "
      "x\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (size_t size = 0; size <= raw.size(); ++size) {
    std::string_view in = place(std::string_view(raw).substr(0, size));
    ResponseParser parser;
    parser.Feed(in);
    parser.Finish();
  }
  for (const std::string_view date : {"Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.5+01:00"}) {
    for (size_t size = 0; size <= date.size(); ++size) ParseAnyDate(place(date.substr(0, size)));
  }
  for (const std::string_view field : {"max-age=\"1\\\"", "no-cache=\"a,\\", "a=,,=\""})
    ParseCacheControl(place(field));
  munmap(memory, 3 * page);
}

}  // namespace
}  // namespace portolan
