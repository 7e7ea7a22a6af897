#include "flow/output_records.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

using std::string_literals::operator""s;

TEST(OutputRecordsTest, GoldenBytesOfLinks) {
  std::string packed;
  AppendLinkPage(packed, "http://a.test/", 300);
  AppendLink(packed, "http://b.test/x", kLinkNofollow | kLinkCanonical, "a word");
  AppendLink(packed, "http://c.test/", 0, "");
  EXPECT_EQ(packed,
            "\x80\x11http://a.test/\0\xac\x02"s + "\x0a\x16http://b.test/x\0a word"s + "\x00\x0ehttp://c.test/"s);
  PackedRecords records(packed);
  ASSERT_TRUE(records.Next());
  auto record = ParseLinkRecord(records.record(), records.tag());
  ASSERT_TRUE(record && record->is_page());
  EXPECT_EQ(record->url, "http://a.test/");
  EXPECT_EQ(record->unix_ms, 300);
  ASSERT_TRUE(records.Next());
  record = ParseLinkRecord(records.record(), records.tag());
  ASSERT_TRUE(record && !record->is_page());
  EXPECT_EQ(record->url, "http://b.test/x");
  EXPECT_EQ(record->anchor, "a word");
  EXPECT_EQ(LinkFlagNames(record->tag), "nofollow canonical");
  ASSERT_TRUE(records.Next());
  EXPECT_EQ(ParseLinkRecord(records.record(), records.tag())->anchor, "");
  EXPECT_FALSE(records.Next());
}

TEST(OutputRecordsTest, GoldenBytesOfText) {
  std::string main;
  AppendPackedRange(main, 0, 0, 3);
  AppendPackedRange(main, 3, 4, 5);
  std::string packed;
  AppendTextRecord(packed, {.url = "http://a.test/",
                            .unix_ms = 300,
                            .title = "T",
                            .description = "D",
                            .published = "2019-11-18",
                            .language = "en",
                            .confidence = 97,
                            .headings = "1 H",
                            .text = "two words",
                            .main = main,
                            .robots = 300,
                            .type = "text/html",
                            .similarity = 0x0102030405060708});
  EXPECT_EQ(packed, "\x00\x4b\x0ehttp://a.test/\xac\x02\x01T\x01"s + "D\x0a"s + "2019-11-18\x02"s + "en\x61\x03"s +
                        "1 H\x09two words\x04\x00\x03\x01\x05"s + "\xac\x02\x09text/html"s +
                        "\x08\x07\x06\x05\x04\x03\x02\x01");
  const std::string record = packed.substr(2);
  const auto page = ParseTextRecord(record);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->description, "D");
  EXPECT_EQ(page->published, "2019-11-18");
  EXPECT_EQ(page->language, "en");
  EXPECT_EQ(page->confidence, 97);
  EXPECT_EQ(page->headings, "1 H");
  EXPECT_EQ(page->text, "two words");
  EXPECT_EQ(MainTextOf(*page), "two\nwords");
  EXPECT_EQ(page->robots, 300);
  EXPECT_EQ(page->type, "text/html");
  EXPECT_EQ(page->similarity, 0x0102030405060708);
}

TEST(OutputRecordsTest, RangesOutsideOfTheTextAreMalformed) {
  const auto parses = [](std::string_view main) {
    std::string packed;
    AppendTextRecord(packed, {.url = "u", .text = "two words", .main = main});
    PackedRecords records(packed);
    return records.Next() && ParseTextRecord(records.record()).has_value();
  };
  EXPECT_TRUE(parses(""));
  EXPECT_TRUE(parses("\x00\x09"s));
  EXPECT_FALSE(parses("\x00\x0a"s));
  EXPECT_FALSE(parses("\x00\x00"s)) << "an empty range";
  EXPECT_FALSE(parses("\x00"s));
  EXPECT_FALSE(parses("\x00\x08\x01\x01"s));
  EXPECT_FALSE(parses("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s));
}

TEST(OutputRecordsTest, BrokenRecordsAreNone) {
  EXPECT_FALSE(ParseLinkRecord("", 0));
  EXPECT_FALSE(ParseLinkRecord("http://a.test/", kLinkPage));
  EXPECT_FALSE(ParseLinkRecord("http://a.test/\0\xff"s, kLinkPage));
  EXPECT_FALSE(ParseLinkRecord("http://a.test/", kLinkPage | kLinkEmbed));
  std::string packed;
  AppendTextRecord(packed, {.url = "u", .unix_ms = 1, .title = "t", .text = "x"});
  const std::string record = packed.substr(2);
  for (size_t size = 0; size < record.size(); ++size) EXPECT_FALSE(ParseTextRecord(record.substr(0, size))) << size;
  EXPECT_FALSE(ParseTextRecord(record + "x"));
}

TEST(OutputRecordsTest, FramesAreRequisitesThatAreNotEmbedded) {
  EXPECT_EQ(LinkFlagNames(kLinkRequisite), "frame");
  EXPECT_EQ(LinkFlagNames(kLinkRequisite | kLinkEmbed), "embed requisite");
  EXPECT_EQ(LinkFlagNames(kLinkSitemap | kLinkSitemapFile), "sitemap sitemap-file");
  EXPECT_EQ(LinkFlagNames(0), "");
}

}  // namespace
}  // namespace portolan
