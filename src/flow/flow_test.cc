#include <gtest/gtest.h>

#include "base/hash.h"
#include "flow/address.h"
#include "flow/fetch.h"
#include "flow/outcome.h"
#include "flow/page_result.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

TEST(AddressTest, TextAndBack) {
  for (const char* text :
       {"127.0.0.1", "1.2.3.4", "::", "::1", "2001:db8::1", "fe80::1:0:0:2", "1:2:3:4:5:6:7:8", "::fffe:102:304"}) {
    const auto address = Address::Parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->ToString(), text);
  }
  // The same machine: it has one clock.
  for (const char* mapped : {"::ffff:1.2.3.4", "::ffff:102:304", "[0:0:0:0:0:ffff:102:304]"}) {
    EXPECT_EQ(Address::Parse(mapped), Address::Parse("1.2.3.4"));
  }
  EXPECT_EQ(Address::Parse("[::1]"), Address::Parse("::1"));
  EXPECT_EQ(Address::V4(0x7f000001).ToString(), "127.0.0.1");
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "a.b.c.d", "1:2", ":::", "1::2::3",
                           "12345::", "[1.2.3.4]", "1:2:3:4:5:6:7:8:9", "fe80::1%lo", "::1."}) {
    EXPECT_FALSE(Address::Parse(text)) << text;
  }
}

TEST(AddressTest, OnlyGloballyReachableAddressesArePublic) {
  for (const char* text : {"8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.255.255", "100.128.0.0", "2606:4700::1",
                           "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"}) {
    EXPECT_TRUE(Address::Parse(text)->IsPublic()) << text;
  }
  for (const char* text : {"0.0.0.0",
                           "10.1.2.3",
                           "100.64.0.1",
                           "127.9.9.9",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "ff02::1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::127.0.0.1",
                           "2002:7f00:1::",
                           "2001:db8::1",
                           "2001::1"}) {
    EXPECT_FALSE(Address::Parse(text)->IsPublic()) << text;
  }
}

TEST(UrlRecordTest, RoundTripsWithAndWithoutRobots) {
  UrlRecord record{.kind = UrlKind::kSitemap,
                   .attempts = 2,
                   .hops = 3,
                   .priority = 4,
                   .depth = 517,
                   .robots = {.position = 0x123456789abc, .expires = 1'800'000'000},
                   .url = "https://a.example/b?c"};
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  record.robots = {};
  const std::string bytes = EncodeUrlRecord(record);
  EXPECT_EQ(DecodeUrlRecord(bytes), record);
  EXPECT_EQ(bytes.size(), 7 + record.url.size());
  record.budget = 10'000;
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  EXPECT_EQ(EncodeUrlRecord(record).size(), 9 + record.url.size());
  record.robots = {.position = 1, .expires = 9};
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  const size_t size = EncodeUrlRecord(record).size();
  for (record.requisite = 1; record.requisite <= kMaxRequisiteSteps; ++record.requisite) {
    EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
    EXPECT_EQ(EncodeUrlRecord(record).size(), size);
  }
}

TEST(UrlRecordTest, DamagedBytesAreNoRecord) {
  const std::string good = EncodeUrlRecord({.robots = {.position = 1, .expires = 9}, .url = "http://a/"});
  for (size_t size = 0; size < 17; ++size) EXPECT_FALSE(DecodeUrlRecord(good.substr(0, size))) << size;
  std::string bad = good;
  bad[0] = 4;
  EXPECT_FALSE(DecodeUrlRecord(bad));
  const std::string budget = EncodeUrlRecord({.budget = 1, .url = ""});
  EXPECT_FALSE(DecodeUrlRecord(budget.substr(0, budget.size() - 1)));
  EXPECT_FALSE(DecodeUrlRecord(budget.substr(0, budget.size() - 2) + std::string(2, '\0'))) << "a budget of 0 is none";
  bad = good;
  bad[1] = 3;
  EXPECT_FALSE(DecodeUrlRecord(bad));
}

TEST(UrlRecordTest, PartsOfAUrl) {
  EXPECT_EQ(OriginOf("https://a.example:8443/b/c?d"), "https://a.example:8443");
  EXPECT_EQ(HostOf("https://a.example:8443/b/c?d"), "a.example");
  EXPECT_EQ(HostOf("http://[::1]:80/"), "[::1]");
  EXPECT_EQ(HostOf("http://[::1"), "[::1");
  EXPECT_EQ(HostOf("http://a:b@c.example:8/d@e:f"), "c.example");
  EXPECT_EQ(HostOf("http://a.example?b:c@d"), "a.example");
  EXPECT_EQ(HostOf("ftp://a.example:21/"), "a.example");
  EXPECT_EQ(HostOf("http://"), "");
  EXPECT_EQ(HostOf("a.example:80/"), "") << "no URL";
  EXPECT_EQ(PathAndQueryOf("https://a.example:8443/b/c?d#e"), "/b/c?d");
  EXPECT_EQ(HostKey("http://a.example/"), HostKey("https://a.example:99/x"));
  EXPECT_EQ(HostKey("http://a.example/"), Hash64("a.example"));
  EXPECT_NE(OriginKey("http://a.example/"), OriginKey("https://a.example/"));
}

TEST(OutcomeTest, EveryOutcomeAndStatusHasAFollowUp) {
  for (int i = 0; i < kFetchOutcomes; ++i) {
    const auto outcome = static_cast<FetchOutcome>(i);
    EXPECT_FALSE(FetchOutcomeName(outcome).empty());
    for (int status = -1; status < 1100; ++status) {
      const Follow follow = FollowOf(outcome, status);
      const bool again = follow.retry == Retry::kUrlLater || follow.retry == Retry::kHostLater;
      EXPECT_EQ(again, follow.attempts > 1) << FetchOutcomeName(outcome) << " " << status;
      if (again) {
        EXPECT_GT(follow.first_wait_ms, 0U);
      }
      if (follow.keep) {
        EXPECT_TRUE(HasAnswer(outcome));
      }
    }
  }
}

TEST(OutcomeTest, TheStatusDecides) {
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 200).count, CountAs::kFetched);
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 301).count, CountAs::kRedirected);
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 304).count, CountAs::kNotModified);
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 404).retry, Retry::kNever);
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 429).retry, Retry::kHostLater);
  EXPECT_EQ(FollowOf(FetchOutcome::kAnswered, 500).retry, Retry::kUrlLater);
  // Whatever became of the body.
  for (const FetchOutcome outcome :
       {FetchOutcome::kTimeCut, FetchOutcome::kDisconnected, FetchOutcome::kDecodeFailed}) {
    EXPECT_EQ(FollowOf(outcome, 503).retry, Retry::kHostLater);
    EXPECT_NE(FollowOf(outcome, 200).retry, Retry::kHostLater);
  }
  EXPECT_EQ(FollowOf(FetchOutcome::kConnectRefused, 200).count, CountAs::kConnection);
}

}  // namespace
}  // namespace portolan
