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

// Both edges of each block of IANA's special-purpose registries, and what lies just outside of them.
TEST(AddressTest, EveryBlockOfTheRegistriesEndsWhereItShould) {
  struct Block {
    const char* before;  // public; empty where that is not so
    const char* first;
    const char* last;
    const char* after;
    bool is_public = false;
  };
  for (const Block& block : {
           Block{"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
           Block{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
           Block{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
           Block{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
           Block{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
           Block{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
           Block{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
           Block{"", "192.0.0.9", "192.0.0.10", ""},  // anycast, refused like what is around it
           Block{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
           Block{"192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0", true},
           Block{"192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0", true},
           Block{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
           Block{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
           Block{"192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0", true},
           Block{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
           Block{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
           Block{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
           Block{"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},

           Block{"", "::", "::ffff:ffff", ""},  // with IPv4-compatible ones
           Block{"", "::8.8.8.8", "::8.8.8.8", ""},
           Block{"", "::ffff:0:8.8.8.8", "::ffff:0:8.8.8.8", ""},  // translated (RFC 2765)
           Block{"::ffff:9.255.255.255", "::ffff:10.0.0.0", "::ffff:10.255.255.255", "::ffff:11.0.0.0"},
           Block{"64:ff9b::9.255.255.255", "64:ff9b::10.0.0.0", "64:ff9b::10.255.255.255", "64:ff9b::11.0.0.0"},
           Block{"", "64:ff9b::1:808:808", "64:ff9b::ffff:ffff:ffff:ffff", ""},  // no NAT64 prefix any more
           Block{"", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ""},
           Block{"", "100::", "100::ffff:ffff:ffff:ffff", ""},
           Block{"", "100:0:0:1::", "100::1:ffff:ffff:ffff:ffff", ""},
           Block{"", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
           Block{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:2:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2001:3::"},
           Block{"", "2001:1::1", "2001:1::3", ""},
           Block{"", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", ""},
           Block{"", "2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "", true},
           Block{"2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4::", "2001:4:111:ffff:ffff:ffff:ffff:ffff",
                 "2001:4:112::"},
           Block{"2001:4:112:ffff:ffff:ffff:ffff:ffff", "2001:4:113::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2001:20::"},
           Block{"", "2001:20::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", "", true},
           Block{"2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:40::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2001:200::"},
           Block{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2001:db9::"},
           Block{"2002:9ff:ffff:ffff:ffff:ffff:ffff:ffff", "2002:a00::", "2002:aff:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2002:b00::"},
           Block{"2002:c0a7:ffff::", "2002:c0a8::", "2002:c0a8:ffff:ffff:ffff:ffff:ffff:ffff", "2002:c0a9::"},
           Block{"2620:4f:7fff::1", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::", true},
           Block{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
                 "3fff:1000::"},
           Block{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
           Block{"", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
           Block{"", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
           Block{"", "fe80::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
       }) {
    const auto is_public = [](const char* text) {
      const auto address = Address::Parse(text);
      EXPECT_TRUE(address) << text;
      return address && address->IsPublic();
    };
    EXPECT_EQ(is_public(block.first), block.is_public) << block.first;
    EXPECT_EQ(is_public(block.last), block.is_public) << block.last;
    for (const char* outside : {block.before, block.after}) {
      EXPECT_TRUE(*outside == '\0' || is_public(outside)) << outside;
    }
  }
}

TEST(AddressTest, NamesThatAProxyResolvesHaveAnAddressEachThatIsNobodys) {
  const Address a = Address::Unresolved("a.test", HashKey::Known());
  EXPECT_EQ(a, Address::Unresolved("a.test", HashKey::Known()));
  EXPECT_FALSE(a == Address::Unresolved("b.test", HashKey::Known()));
  EXPECT_TRUE(a.unresolved());
  EXPECT_FALSE(a.known() || a.empty() || a.IsPublic());
  EXPECT_TRUE(Address::Parse("8.8.8.8")->known());
  EXPECT_FALSE(Address{}.known() || Address{}.unresolved() || Address::Parse("100:0:0:1::")->unresolved());
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

std::string Bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

TEST(UrlRecordTest, GoldenBytes) {
  UrlRecord record{.kind = UrlKind::kSitemap,
                   .attempts = 2,
                   .hops = 3,
                   .priority = 4,
                   .depth = 517,
                   .budget = 0x1234,
                   .robots = {.position = 0x123456789abc, .expires = 0x6b49d200},
                   .via = ViaOf("https://a.example/from", "https://a.example/b?c"),
                   .url = "https://a.example/b?c"};
  EXPECT_EQ(EncodeUrlRecord(record), Bytes({7,    2,    2,    3,    5,    2,    4,    0xbc, 0x9a, 0x78, 0x56,
                                            0x34, 0x12, 0x00, 0xd2, 0x49, 0x6b, 0x34, 0x12, 5,    0x80}) +
                                         "/fromhttps://a.example/b?c");
  record = {.probe = true, .url = "http://a/"};
  EXPECT_EQ(EncodeUrlRecord(record), Bytes({16, 0, 0, 0, 0, 0, 0}) + "http://a/");
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  record = {.via = ViaOf("http://b.example/", "http://a/"), .url = "http://a/"};
  EXPECT_EQ(EncodeUrlRecord(record), Bytes({4, 0, 0, 0, 0, 0, 0, 17, 0}) + "http://b.example/http://a/");
  record.stands_in = true;
  EXPECT_EQ(EncodeUrlRecord(record), Bytes({12, 0, 0, 0, 0, 0, 0, 17, 0}) + "http://b.example/http://a/");
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  record.stands_in = false;
  record.last = "left";
  EXPECT_EQ(EncodeUrlRecord(record),
            Bytes({36, 0, 0, 0, 0, 0, 0, 17, 0}) + "http://b.example/" + Bytes({4, 0}) + "lefthttp://a/");
  EXPECT_EQ(DecodeUrlRecord(EncodeUrlRecord(record)), record);
  record.last = {};
  record.via = {};
  EXPECT_EQ(EncodeUrlRecord(record), std::string(7, '\0') + "http://a/") << "as it was before there were vias";
}

TEST(UrlRecordTest, ViaTravelsWithTheUrl) {
  const std::string long_page = "http://a.example/" + std::string(kMaxVia - 17, 'x');
  const struct {
    std::string page;
    const char* url;
    bool shares;
  } cases[] = {
      {"http://a.example/from?x", "http://a.example/b", true},
      {"http://a.example/from", "http://a.example", true},
      {"http://a.example/from", "http://a.example?q", true},
      {"http://a.example:8080/from", "http://a.example:8080/", true},
      {"http://a.example/", "http://a.example:8080/", false},
      {"http://a.example/", "http://a.example.org/", false},
      {"http://a.example/", "https://a.example/", false},
      {"http://a.example", "http://a.example/", false},  // nothing would be left
      {"no url", "http://a.example/", false},
      {long_page, "http://a.example/", true},
      {long_page, "http://b.example/", false},
  };
  for (const auto& [page, url, shares] : cases) {
    UrlRecord record{.depth = 3, .url = url};
    record.via = ViaOf(page, url);
    EXPECT_EQ(record.via.ToString(), page) << url;
    EXPECT_EQ(!record.via.origin.empty(), shares) << page << " " << url;
    const std::string bytes = EncodeUrlRecord(record);
    const auto back = DecodeUrlRecord(bytes);
    ASSERT_TRUE(back) << page << " " << url;
    EXPECT_EQ(*back, record);
    EXPECT_EQ(back->via.ToString(), page);
    // Whatever is cut or changed: a record or nullopt, and never a read beyond the bytes.
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string cut(bytes, 0, size);
      if (const auto part = DecodeUrlRecord(cut)) {
        EXPECT_EQ(EncodeUrlRecord(*part), cut);
      }
    }
  }
  EXPECT_TRUE(ViaOf(long_page + "x", "http://a.example/").empty()) << "longer than the limit";
  EXPECT_TRUE(ViaOf("", "http://a.example/").empty());
  EXPECT_FALSE(DecodeUrlRecord(Bytes({4, 0, 0, 0, 0, 0, 0, 0, 0}) + "http://a/")) << "an empty via is none";
  EXPECT_FALSE(DecodeUrlRecord(Bytes({4, 0, 0, 0, 0, 0, 0, 10, 0}) + "http://a/")) << "longer than what is left";
}

TEST(UrlRecordTest, WhateverReadsAsARecordIsWrittenAsTheSameBytes) {
  const std::string good = EncodeUrlRecord({.budget = 9,
                                            .robots = {.position = 1, .expires = 9},
                                            .via = ViaOf("http://a.test/from", "http://a.test/to"),
                                            .last = "left",
                                            .url = "http://a.test/to"});
  int records = 0;
  for (uint64_t n = 0; n < 20'000; ++n) {
    std::string bytes = good.substr(0, good.size() - Mix64(3 * n) % 3 * (Mix64(3 * n + 1) % good.size()) / 2);
    for (uint64_t change = 0; change < 1 + n % 3; ++change) {
      const uint64_t random = Mix64(100 * n + change + 7);
      if (!bytes.empty()) bytes[random % std::min<size_t>(bytes.size(), 40)] = static_cast<char>(random >> 32);
    }
    const auto record = DecodeUrlRecord(bytes);
    if (!record) continue;
    ++records;
    ASSERT_EQ(EncodeUrlRecord(*record), bytes);
  }
  EXPECT_GT(records, 1000);
}

TEST(UrlRecordTest, DamagedBytesAreNoRecord) {
  const std::string good = EncodeUrlRecord({.robots = {.position = 1, .expires = 9}, .url = "http://a/"});
  for (size_t size = 0; size < 17; ++size) EXPECT_FALSE(DecodeUrlRecord(good.substr(0, size))) << size;
  std::string bad = good;
  bad[0] = static_cast<char>(0x80);
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
  EXPECT_EQ(HostKey("http://a.example/", HashKey::Known()), HostKey("https://a.example:99/x", HashKey::Known()));
  EXPECT_EQ(HostKey("http://a.example/", HashKey::Known()), Hash64("a.example"));
  EXPECT_NE(OriginKey("http://a.example/", HashKey::Known()), OriginKey("https://a.example/", HashKey::Known()));
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
