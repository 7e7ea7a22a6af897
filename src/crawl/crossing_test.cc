#include "crawl/crossing.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace portolan {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

TEST(CrossingTest, GoldenBytesOfALink) {
  std::string bytes;
  EncodeLinkCrossing(0x1122334455667788, "record", bytes);
  EXPECT_EQ(Hex(bytes),
            "01"
            "8877665544332211"
            "7265636f7264");
  const auto crossing = DecodeCrossing(bytes);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->kind, Crossing::Kind::kLink);
  EXPECT_EQ(crossing->hash, 0x1122334455667788U);
  EXPECT_EQ(crossing->record, "record");
}

TEST(CrossingTest, GoldenBytesOfARobotsRequest) {
  std::string bytes;
  EncodeRobotsRequest("record", bytes);
  EXPECT_EQ(Hex(bytes),
            "02"
            "7265636f7264");
  EXPECT_EQ(DecodeCrossing(bytes)->record, "record");
}

TEST(CrossingTest, GoldenBytesOfAPageOfAMirror) {
  std::string bytes;
  EncodeAgainCrossing("record", bytes);
  EXPECT_EQ(Hex(bytes),
            "06"
            "7265636f7264");
  EXPECT_EQ(DecodeCrossing(bytes)->record, "record");
}

TEST(CrossingTest, GoldenBytesOfAPayload) {
  std::string bytes;
  EncodePayloadCrossing("capture", true, bytes);
  EXPECT_EQ(Hex(bytes),
            "04"
            "01"
            "63617074757265");
  const auto crossing = DecodeCrossing(bytes);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->first, "capture");
  EXPECT_TRUE(crossing->page);
}

TEST(CrossingTest, GoldenBytesOfACopy) {
  std::string bytes;
  EncodeCopyCrossing("http://a/", 258, "http://b/", 257, false, bytes);
  EXPECT_EQ(Hex(bytes),
            "05"
            "00"
            "0201000000000000"
            "0101000000000000"
            "09687474703a2f2f612f"
            "09687474703a2f2f622f");
  const auto crossing = DecodeCrossing(bytes);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->url, "http://a/");
  EXPECT_EQ(crossing->first, "http://b/");
  EXPECT_EQ(crossing->unix_ms, 258);
  EXPECT_EQ(crossing->first_unix_ms, 257);
  EXPECT_FALSE(crossing->page);
  EXPECT_FALSE(DecodeCrossing(bytes + "x"));
  bytes[1] = 2;
  EXPECT_FALSE(DecodeCrossing(bytes));
}

TEST(CrossingTest, GoldenBytesOfARobotsAnswer) {
  RobotsAnswer answer;
  answer.kind = RobotsAnswer::Kind::kRules;
  answer.hopeless = true;
  answer.crawl_delay_ms = 1500;
  answer.rules = "R";
  std::string bytes;
  EncodeRobotsAnswer("http://a/", 3, answer, bytes);
  EXPECT_EQ(Hex(bytes), fmt::format("03"
                                    "03"
                                    "{:02x}"
                                    "03"
                                    "dc050000"
                                    "09687474703a2f2f612f"
                                    "0152"
                                    "00",
                                    static_cast<int>(RobotsAnswer::Kind::kRules)));
  const auto crossing = DecodeCrossing(bytes);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->url, "http://a/");
  EXPECT_EQ(crossing->hops, 3);
  EXPECT_EQ(crossing->answer.kind, answer.kind);
  EXPECT_TRUE(crossing->answer.hopeless);
  EXPECT_EQ(crossing->answer.crawl_delay_ms, 1500U);
  EXPECT_EQ(crossing->answer.rules, "R");
  EXPECT_EQ(crossing->answer.follow, "");
}

TEST(CrossingTest, GoldenBytesOfRanks) {
  std::string bytes;
  EncodeRanksCrossing(200, "histogram", bytes);
  EXPECT_EQ(Hex(bytes),
            "07"
            "c801"
            "686973746f6772616d");
  const auto crossing = DecodeCrossing(bytes);
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->kind, Crossing::Kind::kRanks);
  EXPECT_EQ(crossing->shard, 200U);
  EXPECT_EQ(crossing->ranks, "histogram");
  EXPECT_FALSE(DecodeCrossing(std::string_view(bytes).substr(0, 2)));
  EncodeRanksCrossing(256, "histogram", bytes);
  EXPECT_FALSE(DecodeCrossing(bytes)) << "there are at most 256 shards";
}

TEST(CrossingTest, CutOrUnknownBytesAreNotAMessage) {
  EXPECT_FALSE(DecodeCrossing(""));
  EXPECT_FALSE(DecodeCrossing(std::string_view("\x00", 1)));
  EXPECT_FALSE(DecodeCrossing("\x04rest"));
  RobotsAnswer answer;
  answer.follow = "http://b/robots.txt";
  std::string bytes;
  EncodeRobotsAnswer("http://a/", 0, answer, bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeCrossing(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(DecodeCrossing(bytes + "x"));
  std::string link;
  EncodeLinkCrossing(1, "", link);
  EXPECT_FALSE(DecodeCrossing(std::string_view(link).substr(0, 8)));
}

}  // namespace
}  // namespace portolan
