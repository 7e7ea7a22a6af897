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
  std::string packed;
  AppendTextRecord(
      packed,
      {.url = "http://a.test/", .unix_ms = 300, .title = "T", .headings = "1 H", .language = "", .text = "two words"});
  EXPECT_EQ(packed, "\x00\x22\x0ehttp://a.test/\xac\x02\x01T\x03"s + "1 H\x00\x09two words"s);
  const std::string record = packed.substr(2);
  const auto page = ParseTextRecord(record);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->headings, "1 H");
  EXPECT_EQ(page->text, "two words");
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
