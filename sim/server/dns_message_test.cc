#include "sim/server/dns_message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/rng.h"

namespace portolan::sim {
namespace {

using namespace std::string_literals;

const std::string kQuestion = "\x03WwW\x01x\x04test\0\0\x01\0\x01"s;
const std::string kQuery = "\x12\x34\x01\0\0\x01\0\0\0\0\0\0"s + kQuestion;
const std::string kEdnsQuery = "\x12\x34\x01\0\0\x01\0\0\0\0\0\x01"s + kQuestion + "\0\0\x29\x10\0\0\0\0\0\0\0"s;

TEST(DnsMessageTest, ReadsAQuestion) {
  const auto query = ParseDnsQuery(kQuery);
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(query->id, 0x1234);
  EXPECT_EQ(query->name, "www.x.test");
  EXPECT_EQ(query->type, kDnsTypeA);
  EXPECT_EQ(query->query_class, kDnsClassIn);
  EXPECT_EQ(query->question, kQuestion);  // the case is given back: resolvers check it
  EXPECT_TRUE(query->recursion_desired);
  EXPECT_FALSE(query->edns);
  EXPECT_EQ(query->udp_bytes, 512);
  EXPECT_EQ(query->verdict, DnsRcode::kNoError);
}

TEST(DnsMessageTest, EdnsSaysHowMuchTheClientTakes) {
  const auto query = ParseDnsQuery(kEdnsQuery);
  ASSERT_TRUE(query.has_value());
  EXPECT_TRUE(query->edns);
  EXPECT_EQ(query->udp_bytes, 4096);
}

TEST(DnsMessageTest, GoldenAnswer) {
  const auto query = ParseDnsQuery(kQuery);
  const DnsAnswer answer = {.v4 = {0x7f010203}, .v6 = {{1, 2}}, .ttl_s = 300};
  EXPECT_EQ(
      EncodeDnsAnswer(*query, DnsRcode::kNoError, &answer, 512),
      "\x12\x34\x85\x80\0\x01\0\x01\0\0\0\0"s + kQuestion + "\xc0\x0c\0\x01\0\x01\0\0\x01\x2c\0\x04\x7f\x01\x02\x03"s);
  EXPECT_EQ(EncodeDnsAnswer(*query, DnsRcode::kNxDomain, nullptr, 512),
            "\x12\x34\x85\x83\0\x01\0\0\0\0\0\0"s + kQuestion);
}

TEST(DnsMessageTest, EachTypeGetsItsAddresses) {
  const DnsAnswer answer = {.v4 = {1, 2, 3}, .v6 = {{0, 1}}};
  const auto records = [&](uint16_t type) {
    std::string packet = kQuery;
    packet[packet.size() - 4] = static_cast<char>(type >> 8);
    packet[packet.size() - 3] = static_cast<char>(type & 255);
    return static_cast<int>(EncodeDnsAnswer(*ParseDnsQuery(packet), DnsRcode::kNoError, &answer, 512)[7]);
  };
  EXPECT_EQ(records(kDnsTypeA), 3);
  EXPECT_EQ(records(kDnsTypeAaaa), 1);
  EXPECT_EQ(records(kDnsTypeAny), 4);
  EXPECT_EQ(records(16), 0);
}

TEST(DnsMessageTest, WhatDoesNotFitIsCutAndSaid) {
  DnsAnswer answer;
  answer.v4.resize(40, 0x7f000001);
  const auto query = ParseDnsQuery(kQuery);
  const std::string small = EncodeDnsAnswer(*query, DnsRcode::kNoError, &answer, 512);
  EXPECT_EQ(small.size(), kQuery.size());
  EXPECT_NE(small[2] & 0x02, 0);
  const std::string large = EncodeDnsAnswer(*query, DnsRcode::kNoError, &answer, 65535);
  EXPECT_EQ(large.size(), kQuery.size() + 40 * 16);
  EXPECT_EQ(large[2] & 0x02, 0);
  answer.v4.resize(5000);
  EXPECT_NE(EncodeDnsAnswer(*query, DnsRcode::kNoError, &answer, 65535)[2] & 0x02, 0);
}

TEST(DnsMessageTest, WhatCannotBeAnsweredIsToldApart) {
  EXPECT_FALSE(ParseDnsQuery("").has_value());
  EXPECT_FALSE(ParseDnsQuery(kQuery.substr(0, 11)).has_value());
  std::string answer = kQuery;
  answer[2] = '\x80';
  EXPECT_FALSE(ParseDnsQuery(answer).has_value());
  std::string notify = kQuery;
  notify[2] = '\x20';
  EXPECT_EQ(ParseDnsQuery(notify)->verdict, DnsRcode::kNotImp);
  std::string two = kQuery;
  two[5] = 2;
  EXPECT_EQ(ParseDnsQuery(two)->verdict, DnsRcode::kFormErr);
  std::string pointer = kQuery;
  pointer[12] = '\xc0';
  EXPECT_EQ(ParseDnsQuery(pointer)->verdict, DnsRcode::kFormErr);
  std::string chaos = kQuery;
  chaos.back() = 3;
  EXPECT_EQ(ParseDnsQuery(chaos)->verdict, DnsRcode::kRefused);
  std::string long_name = kQuery.substr(0, 12);
  for (int i = 0; i < 5; ++i) long_name += "\x3f" + std::string(63, 'a');
  EXPECT_EQ(ParseDnsQuery(long_name + "\0\0\x01\0\x01"s)->verdict, DnsRcode::kFormErr);
}

TEST(DnsMessageTest, OddBytesInLabelsMakeNoOtherName) {
  const auto query = ParseDnsQuery(kQuery.substr(0, 12) +
                                   "\x03"
                                   "a.b\x04test\0\0\x01\0\x01"s);
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(query->name, "a\\046b.test");
}

TEST(DnsMessageTest, AnyBytesGiveAValueAndAnAnswer) {
  Rng rng(3);
  const DnsAnswer answer = {.v4 = {1}, .v6 = {{0, 1}}};
  for (int i = 0; i < 50'000; ++i) {
    std::string packet = i % 2 == 0 ? kQuery : kEdnsQuery;
    packet.resize(rng.Below(packet.size() + 8));
    for (uint64_t edits = rng.Below(5); edits > 0 && !packet.empty(); --edits) {
      packet[rng.Below(packet.size())] = static_cast<char>(rng.Below(256));
    }
    const std::vector<char> exact(packet.begin(), packet.end());  // an over-read shows
    const auto query = ParseDnsQuery({exact.data(), exact.size()});
    if (!query) continue;
    const std::string reply = EncodeDnsAnswer(*query, query->verdict, &answer, query->udp_bytes);
    EXPECT_LE(reply.size(), query->udp_bytes);
    EXPECT_GE(reply.size(), 12U);
  }
}

}  // namespace
}  // namespace portolan::sim
