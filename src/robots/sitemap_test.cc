#include "robots/sitemap.h"

#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "http/date.h"
#include "http/fact_files.h"

namespace portolan {
namespace {

using Json = nlohmann::json;
using Role = SitemapEntry::Role;

struct Parsed {
  SitemapOutcome outcome;
  SitemapKind kind;
  std::vector<SitemapEntry> entries;
};

Parsed Parse(std::string_view bytes, const SitemapLimits& limits = {}, size_t piece = 1 << 20) {
  Parsed parsed;
  SitemapParser parser(limits, [&](SitemapEntry& entry) {
    parsed.entries.push_back(entry);
    return true;
  });
  for (size_t at = 0; at < bytes.size(); at += piece) parser.Feed(bytes.substr(at, piece));
  parsed.outcome = parser.Finish();
  parsed.kind = parser.kind();
  return parsed;
}

std::vector<std::string> Urls(const Parsed& parsed) {
  std::vector<std::string> urls;
  for (const SitemapEntry& entry : parsed.entries) urls.push_back(entry.url);
  return urls;
}

TEST(SitemapFactsTest, FilesFromOutsideGiveTheirUrlsAndDates) {
  const auto text = ReadFacts("sitemaps/crawler_commons_expat_facts.json");
  if (!text) GTEST_SKIP() << "no " << kFacts << "sitemaps";
  size_t passed = 0;
  size_t total = 0;
  for (const Json& fact : Json::parse(*text)) {
    const auto bytes = ReadFacts(fact["file"]);
    ASSERT_TRUE(bytes.has_value()) << fact["file"];
    for (const size_t piece : {size_t{1}, size_t{1} << 20}) {
      const Parsed parsed = Parse(*bytes, {}, piece);
      bool right = parsed.outcome == SitemapOutcome::kWhole;
      std::vector<std::string> expected;
      if (fact.contains("first_lines")) {
        right = right && parsed.kind == SitemapKind::kText;
        for (std::string line : fact["first_lines"]) {
          if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
          if (!line.empty()) expected.push_back(line);
        }
      } else if (fact.contains("links") && !fact["links"].empty()) {
        right = right && (parsed.kind == SitemapKind::kRss || parsed.kind == SitemapKind::kAtom);
        expected = fact["links"].get<std::vector<std::string>>();
      } else {
        for (size_t i = 0; i < fact["loc_lastmod"].size(); ++i) {
          const Json& pair = fact["loc_lastmod"][i];
          if (pair[0].is_null()) {
            // A URL without <loc>: the reader of the facts gave up on it, crawlers do not.
            if (i >= parsed.entries.size()) break;
            EXPECT_TRUE(parsed.entries[i].url.starts_with("https://example.com/sitemap.jss?portalCode="));
            expected.push_back(parsed.entries[i].url);
            continue;
          }
          expected.push_back(pair[0]);
          if (pair[1].is_null() || expected.size() > parsed.entries.size()) continue;
          right = right && parsed.entries[expected.size() - 1].modified == ParseAnyDate(pair[1].get<std::string>());
        }
      }
      std::vector<std::string> urls = Urls(parsed);
      // The file lists 50 entries, or the first 200 bytes of text, and no more.
      if (expected.size() == 50 && urls.size() > 50) urls.resize(50);
      if (expected.size() == 4 && fact.contains("first_lines")) {
        urls.resize(4);
        urls[3].resize(expected[3].size());
      }
      if (fact.contains("n_url_or_sitemap") && !fact.contains("links")) {
        right = right && parsed.entries.size() == fact["n_url_or_sitemap"].get<size_t>();
      }
      right = right && urls == expected;
      ++total;
      passed += right ? 1 : 0;
      EXPECT_TRUE(right) << fact["file"] << " " << SitemapOutcomeName(parsed.outcome) << " "
                         << SitemapKindName(parsed.kind) << " " << ::testing::PrintToString(urls);
    }
  }
  std::cout << "conformance sitemaps " << passed << "/" << total << std::endl;
  EXPECT_EQ(passed, total);
}

TEST(SitemapTest, EntriesCarryWhatTheFileSays) {
  const Parsed parsed = Parse(
      "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>"
      "<loc> http://a.example/?x=1&amp;y=2\n</loc><lastmod>2005-01-01T00:00:30+01:00</lastmod>"
      "<changefreq>Daily</changefreq><priority>0.75</priority>"
      "<image:image xmlns:image='i'><image:loc>http://a.example/i.png</image:loc></image:image>"
      "</url><url><lastmod>2005</lastmod></url><url><loc>http://a.example/2</loc><priority>7</priority></url></"
      "urlset>");
  ASSERT_EQ(parsed.outcome, SitemapOutcome::kWhole);
  ASSERT_EQ(Urls(parsed), (std::vector<std::string>{"http://a.example/?x=1&y=2", "http://a.example/2"}));
  EXPECT_EQ(parsed.entries[0].modified, 1104534030);
  EXPECT_EQ(parsed.entries[0].change_frequency, ChangeFrequency::kDaily);
  EXPECT_FLOAT_EQ(parsed.entries[0].priority.value(), 0.75f);
  EXPECT_FALSE(parsed.entries[1].modified);
  EXPECT_FALSE(parsed.entries[1].priority);
}

TEST(SitemapTest, AnIndexNamesSitemaps) {
  const Parsed parsed = Parse("<sitemapindex><sitemap><loc>http://a.example/1.xml</loc></sitemap></sitemapindex>");
  ASSERT_EQ(parsed.entries.size(), 1u);
  EXPECT_EQ(parsed.kind, SitemapKind::kIndex);
  EXPECT_EQ(parsed.entries[0].role, Role::kSitemap);
}

TEST(SitemapTest, FeedsTellPagesFromTheirHomeAndTheRest) {
  const Parsed rss = Parse(
      "<rss><channel><link>http://a.example/</link><atom:link href='http://a.example/feed'/>"
      "<item><link>http://a.example/1</link><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate></item>"
      "<item><guid>http://a.example/2</guid></item><item><guid isPermaLink='false'>http://a.example/3</guid></item>"
      "<item><title>a &nbsp; b</title><link>http://a.example/4</link></item></channel></rss>");
  EXPECT_EQ(rss.outcome, SitemapOutcome::kWhole);
  ASSERT_EQ(Urls(rss), (std::vector<std::string>{"http://a.example/", "http://a.example/1", "http://a.example/2",
                                                 "http://a.example/4"}));
  EXPECT_EQ(rss.entries[0].role, Role::kHome);
  EXPECT_EQ(rss.entries[1].role, Role::kPage);
  EXPECT_EQ(rss.entries[1].modified, 784111777);
  const Parsed atom = Parse(
      "<feed><link rel='self' href='s'/><link href='h'/><entry><link href='p'/><link rel='edit' href='e'/>"
      "<updated>1970-01-01T00:00:05Z</updated></entry></feed>");
  ASSERT_EQ(Urls(atom), (std::vector<std::string>{"s", "h", "p", "e"}));
  EXPECT_EQ(atom.entries[0].role, Role::kRelated);
  EXPECT_EQ(atom.entries[1].role, Role::kHome);
  EXPECT_EQ(atom.entries[2].role, Role::kPage);
  EXPECT_EQ(atom.entries[2].modified, 5);
  EXPECT_EQ(atom.entries[3].role, Role::kRelated);
}

TEST(SitemapTest, BlanksBeforeTheDeclarationAndOddEncodingsAreTolerated) {
  EXPECT_EQ(Urls(Parse("\xef\xbb\xbf \n<?xml version='1.0'?><urlset><url><loc>u</loc></url></urlset>")).size(), 1u);
  EXPECT_EQ(
      Urls(Parse("<?xml version='1.0' encoding='windows-1251'?><urlset><url><loc>u\xe0</loc></url></urlset>")).size(),
      1u);
  const std::string narrow = "<?xml version='1.0'?><urlset><url><loc>u</loc></url></urlset>";
  std::string wide = "\xff\xfe";
  for (const char c : narrow) (wide += c) += '\0';
  EXPECT_EQ(Urls(Parse(wide)), std::vector<std::string>{"u"});
}

TEST(SitemapTest, EntityDeclarationsAreRefused) {
  const std::string bomb =
      "<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY a 'http://x/'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"
      "<urlset><url><loc>&b;</loc></url></urlset>";
  EXPECT_EQ(Parse(bomb).outcome, SitemapOutcome::kHostile);
  EXPECT_TRUE(Parse(bomb).entries.empty());
  EXPECT_EQ(Parse("<!DOCTYPE a [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><urlset/>").outcome,
            SitemapOutcome::kHostile);
  EXPECT_EQ(
      Parse("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><urlset><url><loc>&x;</loc></url></urlset>").outcome,
      SitemapOutcome::kHostile);
  // A document type without declarations is what old RSS has.
  EXPECT_EQ(Parse("<!DOCTYPE rss PUBLIC '-//x' 'http://a.example/rss.dtd'><rss><channel><link>h</link></channel></rss>")
                .outcome,
            SitemapOutcome::kWhole);
}

TEST(SitemapTest, LimitsAreNamed) {
  std::string deep = "<urlset>";
  for (int i = 0; i < 100; ++i) deep += "<url>";
  EXPECT_EQ(Parse(deep).outcome, SitemapOutcome::kTooDeep);

  std::string many = "<urlset>";
  for (int i = 0; i < 100; ++i) many += "<url><loc>http://a.example/</loc></url>";
  const Parsed few = Parse(many + "</urlset>", {.max_entries = 7});
  EXPECT_EQ(few.outcome, SitemapOutcome::kTooMany);
  EXPECT_EQ(few.entries.size(), 7u);
  EXPECT_EQ(Parse(many, {.max_bytes = 1000}).outcome, SitemapOutcome::kTooLarge);
  EXPECT_EQ(Parse("<urlset a='" + std::string(3 << 20, 'x')).outcome, SitemapOutcome::kHostile);
  EXPECT_EQ(Parse("<urlset a='" + std::string(3 << 20, 'x'), {}, 1000).outcome, SitemapOutcome::kHostile);
  // Text without end is not kept.
  EXPECT_EQ(Parse("<urlset><url><loc>" + std::string(3 << 20, 'x') + "</loc></url></urlset>").outcome,
            SitemapOutcome::kWhole);
}

TEST(SitemapTest, WhatBreaksOffKeepsWhatCameBefore) {
  const Parsed parsed = Parse("<urlset><url><loc>http://a.example/1</loc></url><url><loc>http://a");
  EXPECT_EQ(parsed.outcome, SitemapOutcome::kMalformed);
  EXPECT_EQ(parsed.entries.size(), 1u);
  EXPECT_EQ(Parse("<html><p>not found").outcome, SitemapOutcome::kNoSitemap);
  EXPECT_EQ(Parse("").outcome, SitemapOutcome::kNoSitemap);
  EXPECT_EQ(Parse("just words\nand more").outcome, SitemapOutcome::kNoSitemap);
  EXPECT_EQ(Parse("\x1f\x8b garbage").outcome, SitemapOutcome::kBadCoding);
}

TEST(SitemapTest, TheCallbackCanStop) {
  SitemapParser parser({}, [](SitemapEntry&) { return false; });
  EXPECT_EQ(parser.Feed("http://a/1\nhttp://a/2\n"), SitemapOutcome::kStopped);
  EXPECT_EQ(parser.entries(), 1u);
}

TEST(SitemapTest, TextLinesPastTheLimitAreLeftOut) {
  const std::string text = "http://a/" + std::string(10'000, 'x') + "\nhttp://a/ok\r\n# comment\r\nftp://a/\n";
  EXPECT_EQ(Urls(Parse(text)), std::vector<std::string>{"http://a/ok"});
  EXPECT_EQ(Urls(Parse(text, {}, 1)), std::vector<std::string>{"http://a/ok"});
}

}  // namespace
}  // namespace portolan
