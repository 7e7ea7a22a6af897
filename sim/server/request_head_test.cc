#include "sim/server/request_head.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/rng.h"

namespace portolan::sim {
namespace {

// In a buffer of exactly this size, so that sanitizers see an over-read.
HeadStatus Parse(std::string_view text, RequestHead& head) {
  static std::vector<std::vector<char>> keep;
  keep.emplace_back(text.begin(), text.end());
  return ParseRequestHead({keep.back().data(), keep.back().size()}, head);
}

TEST(RequestHeadTest, TakesWhatTheWorldNeeds) {
  RequestHead head;
  const std::string text =
      "GET /a?b=%20 HTTP/1.1\r\nHost: WWW.X.test:8080\r\nUser-Agent: Bot/1 (x)\r\naccept-encoding:gzip, br\r\n"
      "If-None-Match: \"e\"\r\nIF-MODIFIED-SINCE: \t Mon \r\n\r\n";
  ASSERT_EQ(Parse(text + "GET /next", head), HeadStatus::kWhole);
  EXPECT_EQ(head.bytes, text.size());
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.path_and_query, "/a?b=%20");
  EXPECT_EQ(head.host, "www.x.test");
  EXPECT_EQ(head.user_agent, "Bot/1 (x)");
  EXPECT_EQ(head.accept_encoding, "gzip, br");
  EXPECT_EQ(head.if_none_match, "\"e\"");
  EXPECT_EQ(head.if_modified_since, "Mon");
  EXPECT_TRUE(head.http11);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(head.body_bytes, 0U);
}

TEST(RequestHeadTest, EveryBeginningOfAHeadAsksForMore) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (size_t size = 0; size < text.size(); ++size) {
    RequestHead head;
    EXPECT_EQ(Parse(text.substr(0, size), head), HeadStatus::kMore) << size;
  }
}

TEST(RequestHeadTest, PersistenceIsWhatVersionAndConnectionSay) {
  const auto keeps = [](std::string_view version, std::string_view field) {
    RequestHead head;
    const std::string text = "GET / " + std::string(version) + "\r\nHost: a\r\n" + std::string(field) + "\r\n";
    EXPECT_EQ(Parse(text, head), HeadStatus::kWhole) << text;
    return head.keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: te, close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "connection: keep-alive\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", "Connection: keep-alive, close\r\n"));
}

TEST(RequestHeadTest, AbsoluteTargetNamesTheHost) {
  RequestHead head;
  ASSERT_EQ(Parse("GET http://B.test:80/p?q HTTP/1.1\r\nHost: a.test\r\n\r\n", head), HeadStatus::kWhole);
  EXPECT_EQ(head.host, "b.test");
  EXPECT_EQ(head.path_and_query, "/p?q");
  ASSERT_EQ(Parse("GET http://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n", head), HeadStatus::kWhole);
  EXPECT_EQ(head.path_and_query, "/");
}

TEST(RequestHeadTest, HostNamesLosePortDotAndCase) {
  std::string host;
  AssignHostName("[::1]:8080", host);
  EXPECT_EQ(host, "::1");
  AssignHostName("A.Test.", host);
  EXPECT_EQ(host, "a.test");
  AssignHostName("", host);
  EXPECT_EQ(host, "");
}

TEST(RequestHeadTest, WhatWouldBeReadInTwoWaysIsRefused) {
  for (const std::string_view text : {
           "GET / HTTP/1.1\r\n\r\n",                        // no Host
           "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",  // two
           "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
           "GET /\r\n\r\n",
           "GET  HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
           "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET a.test/ HTTP/1.1\r\nHost: a\r\n\r\n",
           "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
       }) {
    RequestHead head;
    EXPECT_EQ(Parse(text, head), HeadStatus::kBad) << text;
  }
  RequestHead head;
  EXPECT_EQ(Parse("GET / HTTP/2.0\r\nHost: a\r\n\r\n", head), HeadStatus::kVersion);
}

TEST(RequestHeadTest, LongHeadsAreRefusedAtTheBound) {
  RequestHead head;
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  text.append(RequestHead::kMostHeadBytes - text.size() - 1, 'x');
  EXPECT_EQ(Parse(text, head), HeadStatus::kMore);
  EXPECT_EQ(Parse(text + "x", head), HeadStatus::kTooLong);
  EXPECT_EQ(Parse(text + "xxxx\r\n\r\n", head), HeadStatus::kTooLong);
}

TEST(RequestHeadTest, AnyBytesGiveAValue) {
  Rng rng(5);
  const std::string good = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good.substr(0, rng.Below(good.size() + 1));
    for (uint64_t edits = rng.Below(4); edits > 0 && !text.empty(); --edits) {
      text[rng.Below(text.size())] = static_cast<char>(rng.Below(256));
    }
    RequestHead head;
    const std::vector<char> exact(text.begin(), text.end());
    if (ParseRequestHead({exact.data(), exact.size()}, head) == HeadStatus::kWhole) {
      EXPECT_LE(head.bytes, text.size());
    }
  }
}

}  // namespace
}  // namespace portolan::sim
