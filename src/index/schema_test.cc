#include "index/schema.h"

#include <gtest/gtest.h>
#include <xapian.h>

#include <map>
#include <string>
#include <vector>

namespace portolan {
namespace {

using std::string_literals::operator""s;
using Terms = std::vector<std::string>;

TEST(IndexSchemaTest, GoldenIdTerms) {
  EXPECT_EQ(IdTerm("http://a.test/x?y=1"), "Qhttp://a.test/x?y=1");
  const std::string longest = "http://a.test/" + std::string(kMaxIdUrl - 14, 'x');
  EXPECT_EQ(IdTerm(longest), "Q" + longest);
  EXPECT_EQ(IdTerm(longest + "x"), "Qb195f195ea738da25fae97a90fcde54b");
  EXPECT_EQ(TieKey("http://a.test/").size(), 8);
  EXPECT_NE(TieKey("http://a.test/"), TieKey("http://b.test/"));
}

TEST(IndexSchemaTest, SitesAreTheHostAndItsParentsDownToTheDomain) {
  EXPECT_EQ(SiteTerms("en.www.example.co.uk", "example.co.uk"),
            (Terms{"Hen.www.example.co.uk", "Hwww.example.co.uk", "Hexample.co.uk"}));
  EXPECT_EQ(SiteTerms("example.org", "example.org"), Terms{"Hexample.org"});
  EXPECT_EQ(SiteTerms("[::1]", "[::1]"), Terms{"H[::1]"});
  EXPECT_EQ(SiteTerms("192.0.2.7", "192.0.2.7"), Terms{"H192.0.2.7"});
  EXPECT_EQ(SiteTerms("a.test", "b.test"), Terms{"Ha.test"});
}

TEST(IndexSchemaTest, LanguagesHaveTermsAndStemmers) {
  EXPECT_EQ(LanguageTerms("zh-Hant"), (Terms{"Lzh", "Lzh-hant"}));
  EXPECT_EQ(LanguageTerms("de"), Terms{"Lde"});
  EXPECT_EQ(LanguageTerms("und"), Terms{});
  EXPECT_EQ(LanguageTerms(""), Terms{});
  EXPECT_EQ(StemmerOf("en-GB"), "en");
  EXPECT_EQ(StemmerOf("nb"), "no");
  EXPECT_EQ(StemmerOf("zh"), "");
  EXPECT_EQ(StemmerOf("und"), "");
  for (const char* language : {"ar", "hy", "eu", "ca", "da", "nl", "en", "fi", "fr", "de", "hu", "id",
                               "ga", "it", "lt", "ne", "no", "pt", "ro", "ru", "es", "sv", "ta", "tr"}) {
    ASSERT_EQ(StemmerOf(language), language);
    EXPECT_NO_THROW(Xapian::Stem{std::string(StemmerOf(language))}) << language;
  }
}

TEST(IndexSchemaTest, TimesSortAsText) {
  EXPECT_EQ(TimeValue(1'574'093'220'000), "20191118160700");
  EXPECT_EQ(TimeValue(-1), "19691231235959");
  EXPECT_EQ(TimeValue(INT64_MAX), "");
  EXPECT_EQ(TimeValue(INT64_MIN), "");
  EXPECT_EQ(PublishedValue("2019-11-18"), "20191118");
  EXPECT_EQ(PublishedValue("2019-11-18T16:07:00-06:00"), "20191118220700");
  EXPECT_EQ(PublishedValue("2019-11-18T16:07:00.250Z"), "20191118160700");
  EXPECT_EQ(PublishedValue("2019-11-18T16:07:00 PST"), "20191118");
  for (const char* wrong : {"", "2019", "2019-13-01", "2019-02-30", "18.11.2019", "2019-1a-18"}) {
    EXPECT_EQ(PublishedValue(wrong), "") << wrong;
  }
}

TEST(IndexSchemaTest, GoldenDocumentData) {
  const DocumentData data{.url = "http://a.test/", .title = "T", .place = {.serial = 2, .offset = 300, .record = 7}};
  const std::string bytes = "\x01\x0ehttp://a.test/\x01T\x02\xac\x02\x07"s;
  EXPECT_EQ(data.Encode(), bytes);
  EXPECT_EQ(DocumentData::Decode(bytes), data);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DocumentData::Decode(bytes.substr(0, size))) << size;
  EXPECT_FALSE(DocumentData::Decode(bytes + "x"));
  EXPECT_FALSE(DocumentData::Decode("\x02" + bytes.substr(1)));
}

TEST(IndexSchemaTest, GoldenParts) {
  EXPECT_EQ(PartOf("a.test", 1), 0);
  EXPECT_EQ(PartOf("a.test", 0), 0);
  std::map<uint32_t, int> sizes;
  for (int n = 0; n < 1000; ++n) ++sizes[PartOf("h" + std::to_string(n) + ".test", 5)];
  ASSERT_EQ(sizes.size(), 5);
  for (const auto& [part, size] : sizes) EXPECT_GT(size, 150) << part;
}

}  // namespace
}  // namespace portolan
