#include "robots/robots_rules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "robots/fetch_policy.h"
#include "robots/robots_tag.h"
#include "robots/robots_txt.h"

namespace portolan {
namespace {

std::string Compile(std::initializer_list<std::pair<const char*, bool>> rules) {
  RobotsRulesBuilder builder;
  for (const auto& [path, allow] : rules) builder.Add(path, allow);
  return std::move(builder).Build();
}

bool Allows(const std::string& bytes, std::string_view path) {
  const auto rules = RobotsRules::Open(bytes);
  EXPECT_TRUE(rules.has_value());
  return rules->Allows(path);
}

TEST(RobotsRulesTest, LongestMatchWinsAndAllowWinsTies) {
  const std::string rules = Compile({{"/", false}, {"/a", true}, {"/a/b", false}, {"/a/b", true}, {"/a/*/c", false}});
  EXPECT_FALSE(Allows(rules, "/"));
  EXPECT_TRUE(Allows(rules, "/a"));
  EXPECT_TRUE(Allows(rules, "/a/b"));
  EXPECT_FALSE(Allows(rules, "/a/b/c"));
  EXPECT_FALSE(Allows(rules, "/b"));
}

TEST(RobotsRulesTest, PlainRulesAreFoundThroughTheirPrefixes) {
  const std::string rules =
      Compile({{"/a", false}, {"/abc", true}, {"/abd/x", false}, {"/abd/y", true}, {"/b", false}});
  EXPECT_FALSE(Allows(rules, "/abb"));
  EXPECT_TRUE(Allows(rules, "/abcd"));
  EXPECT_FALSE(Allows(rules, "/abd/xyz"));
  EXPECT_TRUE(Allows(rules, "/abd/yz"));
  EXPECT_FALSE(Allows(rules, "/abd/z"));
  EXPECT_TRUE(Allows(rules, "/c"));
  EXPECT_FALSE(Allows(rules, "/b\xff"));
}

TEST(RobotsRulesTest, StarsAtTheEndCountAsOctetsAndMatchTheSame) {
  EXPECT_TRUE(Allows(Compile({{"/search", false}, {"/search*", true}}), "/search?q"));
  EXPECT_FALSE(Allows(Compile({{"/search**", false}, {"/search*", true}}), "/search?q"));
}

TEST(RobotsRulesTest, SpecialCharactersCanBeNamedByTheirEscapes) {
  const std::string rules = Compile({{"/a%2Ab", false}, {"/c%24", false}, {"/d$d", false}});
  EXPECT_FALSE(Allows(rules, "/a*b"));
  EXPECT_FALSE(Allows(rules, "/a%2ab"));
  EXPECT_TRUE(Allows(rules, "/aXb"));
  EXPECT_FALSE(Allows(rules, "/c$"));
  EXPECT_FALSE(Allows(rules, "/d$d"));
  EXPECT_TRUE(Allows(rules, "/c"));
}

TEST(RobotsRulesTest, EscapesAreEvenedOutOnBothSides) {
  const std::string rules = Compile({{"/%7ejoe", false}, {"/\xe3\x83\x84", false}, {"/a%2fb", false}, {"/p q", false}});
  EXPECT_FALSE(Allows(rules, "/~joe"));
  EXPECT_FALSE(Allows(rules, "/%7Ejoe"));
  EXPECT_FALSE(Allows(rules, "/%e3%83%84"));
  EXPECT_FALSE(Allows(rules, "/a%2Fb"));
  EXPECT_TRUE(Allows(rules, "/a/b"));
  EXPECT_FALSE(Allows(rules, "/p%20q"));
}

TEST(RobotsRulesTest, TheRobotsFileItselfIsAlwaysAllowed) {
  EXPECT_TRUE(Allows(WholeRobotsRules(false), "/robots.txt"));
  EXPECT_FALSE(Allows(WholeRobotsRules(false), "/robots.txt2"));
  EXPECT_FALSE(Allows(WholeRobotsRules(false), ""));
  EXPECT_TRUE(Allows(WholeRobotsRules(true), "/"));
}

TEST(RobotsRulesTest, GoldenBytes) {
  RobotsRulesBuilder builder;
  builder.SetGroup(RobotsGroup::kOwn);
  builder.SetCrawlDelay(1500);
  builder.Add("/a", false);
  builder.Add("/ab", true);
  builder.Add("/*.gif$", false);
  const std::string bytes = std::move(builder).Build();
  std::string hex;
  for (const char c : bytes) {
    hex += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    hex += "0123456789abcdef"[static_cast<uint8_t>(c) & 15];
  }
  hex.replace(8, 8, "CHECKSUM");
  EXPECT_EQ(hex,
            "010a0000"
            "CHECKSUM"
            "dc050000"
            "02000000"
            "01000000"
            "0c000000"
            "0000"
            "0200"
            "0500"
            "0c00"  // begins
            "0400"
            "0700"
            "0e00"  // keys
            "0000"
            "0100"              // parents
            "8001000000000008"  // pairs of ".gif"
            "2f61"
            "2f6162"
            "2f2a2e67696624"
            "0000000000000000");
}

TEST(RobotsRulesTest, ManyRulesUseWideNumbers) {
  RobotsRulesBuilder builder;
  for (int i = 0; i < 20'000; ++i) builder.Add("/dir" + std::to_string(i) + "/", false);
  const std::string bytes = std::move(builder).Build();
  const auto rules = RobotsRules::Open(bytes);
  ASSERT_TRUE(rules.has_value());
  for (int i = 0; i < 20'000; i += 7) {
    EXPECT_FALSE(rules->Allows("/dir" + std::to_string(i) + "/x"));
    EXPECT_TRUE(rules->Allows("/dir" + std::to_string(i)));
  }
}

TEST(RobotsRulesTest, EveryChangedByteAndEveryCutIsAnError) {
  const std::string bytes = Compile({{"/a", false}, {"/ab", true}, {"/*.gif$", false}});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      const auto opened = RobotsRules::Open(changed);
      ASSERT_FALSE(opened.has_value()) << i;
      EXPECT_EQ(opened.error().code(), i == 0 ? ErrorCode::kUnsupported : ErrorCode::kCorrupt);
    }
    EXPECT_FALSE(RobotsRules::Open(std::string_view(bytes).substr(0, i)).has_value());
  }
  EXPECT_FALSE(RobotsRules::Open(bytes + "x").has_value());
}

// Rules and path end where the readable memory does: an over-read of one byte is a crash.
TEST(RobotsRulesTest, NothingIsReadPastTheEndOfRulesOrPath) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto place = [page](std::string_view bytes) {
    const size_t pages = (bytes.size() + page - 1) / page + 1;
    auto* memory = static_cast<char*>(
        mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(memory, MAP_FAILED);
    EXPECT_EQ(mprotect(memory + pages * page, page, PROT_NONE), 0);
    char* at = memory + pages * page - bytes.size();
    std::memcpy(at, bytes.data(), bytes.size());
    return std::string_view(at, bytes.size());
  };
  const std::string_view rules =
      place(Compile({{"/a", false}, {"/abcdefghijkl", true}, {"/*.gif$", false}, {"/z*y", false}}));
  const auto opened = RobotsRules::Open(rules);
  ASSERT_TRUE(opened.has_value());
  for (const std::string_view path :
       {"/", "/a", "/abcdefg", "/abcdefgh", "/abcdefghijklm", "/x.gif", "/z%", "/zz%4", "/%41"}) {
    opened->Allows(place(path));
  }
  const std::string_view text = place("\xef\xbb\xbfUser-agent: *\r\nDisallow: /a%");
  EXPECT_FALSE(RobotsRules::Open(ParseRobots(text, {.agent = "x"}).rules)->Allows("/a%25"));
}

TEST(RobotsRulesTest, HostilePatternsCostLinearTime) {
  // "/*a*a*a…b" against "/aaaa…": exponential for backtracking matchers.
  std::string pattern = "/";
  for (int i = 0; i < 2000; ++i) pattern += "*a";
  pattern += "*b";
  const std::string rules = Compile({{pattern.c_str(), false}, {("/*" + std::string(3000, 'a') + "b").c_str(), false}});
  const std::string path = "/" + std::string(100'000, 'a');
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Allows(rules, path));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 2.0);  // quadratic would be 3 · 10^8 steps per match
}

TEST(RobotsRulesTest, ManyStarredRulesCostABoundedTime) {
  // Rules that the pairs of a long path do not turn away.
  std::string text = "User-agent: *\n";
  std::string path = "/";
  for (int i = 0; path.size() < 2000; ++i) path += "abcdefghijklmnopqrstuvwxyz"[i * i % 26] + std::to_string(i);
  for (int i = 0; text.size() < 500'000; ++i)
    text += "Disallow: /*" + path.substr(i % 1990, 3) + std::to_string(i) + "!\n";
  text += "Allow: /*a\n";
  const std::string compiled = ParseRobots(text, {.agent = "x"}).rules;
  const auto rules = RobotsRules::Open(compiled);
  ASSERT_TRUE(rules);
  ASSERT_GT(rules->size(), 20'000U);
  const auto start = std::chrono::steady_clock::now();
  bool allowed = false;
  for (int i = 0; i < 100; ++i) allowed = rules->Allows(path + "!");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(allowed) << "more work than a path is given";
  EXPECT_TRUE(rules->Allows("/a")) << "a short one is decided";
  EXPECT_LT(took.count(), 1.0);  // all of the rules on this path: several seconds
}

TEST(RobotsTxtTest, LinesMayEndInAnyWayAndCostLinearTime) {
  for (const char* text :
       {"User-agent: *\nDisallow: /a\nDisallow: /b", "User-agent: *\rDisallow: /a\rDisallow: /b\r",
        "User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n", "\rUser-agent: *\nDisallow: /a\rDisallow: /b",
        "\n\rUser-agent: *\r\r\nDisallow: /a\n\n\rDisallow: /b\n"}) {
    EXPECT_EQ(RobotsRules::Open(ParseRobots(text, {.agent = "x"}).rules)->size(), 2U) << text;
  }
  const std::string returns(500'000, '\r');
  const auto start = std::chrono::steady_clock::now();
  ParseRobots(returns, {.agent = "x"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 1.0);  // quadratic would be 10^11 bytes
}

TEST(RobotsTxtTest, GroupsOfOneAgentAreMerged) {
  const RobotsTxt parsed = ParseRobots(
      "User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A/2.0\nUser-agent: c\nDisallow: /3\n",
      {.agent = "a"});
  const auto rules = RobotsRules::Open(parsed.rules);
  EXPECT_EQ(parsed.group, RobotsGroup::kOwn);
  EXPECT_EQ(rules->size(), 2u);
  EXPECT_FALSE(rules->Allows("/1"));
  EXPECT_TRUE(rules->Allows("/2"));
  EXPECT_FALSE(rules->Allows("/3"));
}

TEST(RobotsTxtTest, GoogleOnly_MisspeltKeysAreReadAsTheyWereMeant) {
  const std::string text =
      "User agent: a\nDissallow: /1\nDISSALOW: /2\ndisalow : /3\nDiasllow: /4\nDisallaw: /5\n"
      "Useragent: b\nDisallow: /6\nSite-map: http://a.test/s.xml\n";
  const RobotsTxt parsed = ParseRobots(text, {.agent = "a"});
  EXPECT_EQ(parsed.group, RobotsGroup::kOwn);
  const auto rules = RobotsRules::Open(parsed.rules);
  EXPECT_EQ(rules->size(), 5U);
  for (const char* path : {"/1", "/2", "/3", "/4", "/5"}) EXPECT_FALSE(rules->Allows(path)) << path;
  EXPECT_TRUE(rules->Allows("/6"));
  EXPECT_FALSE(RobotsRules::Open(ParseRobots(text, {.agent = "b"}).rules)->Allows("/6"));
  EXPECT_EQ(parsed.sitemaps, std::vector<std::string>{"http://a.test/s.xml"});
}

TEST(RobotsTxtTest, ID_WhatOnlyLooksLikeAKeyIsIgnored) {
  const RobotsTxt parsed = ParseRobots(
      "User-agent: *\nDisallowed: /1\nDesallow: /2\nDisallow /3\nNoindex: /4\nSitemaps: /5\nSite map: /6\nallows: /7\n",
      {.agent = "a"});
  EXPECT_EQ(RobotsRules::Open(parsed.rules)->size(), 0U);
  EXPECT_TRUE(parsed.sitemaps.empty());
}

TEST(RobotsTxtTest, BlanksOfAnyKindAroundKeysAndValuesAreNoPartOfThem) {
  // No-break space, ideographic space, zero-width space, thin space, narrow no-break space, next line, BOM, Latin-1.
  for (const std::string blank : {" ", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x8b", "\xe2\x80\x89", "\xe2\x80\xaf",
                                  "\xc2\x85", "\xef\xbb\xbf", "\xa0", " \xc2\xa0\t\xe2\x80\xa8"}) {
    const RobotsTxt parsed =
        ParseRobots("User-agent:" + blank + "a" + blank + "\n" + (blank == "\xef\xbb\xbf" ? "" : blank) + "Disallow" +
                        blank + ":" + blank + "/lib" + blank + "\nCrawl-delay:" + blank + "2" + blank +
                        "\nSitemap:" + blank + "http://a.test/s" + blank + "\n",
                    {.agent = "a"});
    EXPECT_EQ(parsed.group, RobotsGroup::kOwn) << blank;
    EXPECT_FALSE(RobotsRules::Open(parsed.rules)->Allows("/lib")) << blank;
    EXPECT_EQ(parsed.crawl_delay_ms, 2000U) << blank;
    EXPECT_EQ(parsed.sitemaps, std::vector<std::string>{"http://a.test/s"}) << blank;
  }
  // A mark in front of a line inside the file makes it garbage.
  EXPECT_EQ(RobotsRules::Open(ParseRobots("User-agent: *\n\xef\xbb\xbf"
                                          "Disallow: /\n",
                                          {.agent = "a"})
                                  .rules)
                ->size(),
            0U);
  // Letters whose last byte is that of a blank stay: "à" ends in 0xA0, "…" in 0xA6.
  const RobotsTxt letters = ParseRobots("User-agent: *\nDisallow: /\xc3\xa0\nSitemap: /\xe2\x80\xa6\n", {.agent = "a"});
  EXPECT_FALSE(RobotsRules::Open(letters.rules)->Allows("/%C3%A0"));
  EXPECT_TRUE(RobotsRules::Open(letters.rules)->Allows("/%C3"));
  EXPECT_EQ(letters.sitemaps, std::vector<std::string>{"/\xe2\x80\xa6"});
  EXPECT_EQ(ParseRobots("Sitemap: \xc2\xa0\n", {.agent = "a"}).sitemaps.size(), 0U);
}

TEST(RobotsTxtTest, WhatIsPastTheLimitIsNotReadAndTheCutLineIsDropped) {
  const std::string text = "User-agent: *\nDisallow: /a\nDisallow: /private\n";
  const RobotsTxt parsed = ParseRobots(text, {.agent = "x", .byte_limit = text.size() - 5});
  EXPECT_TRUE(parsed.truncated);
  EXPECT_EQ(RobotsRules::Open(parsed.rules)->size(), 1u);
  EXPECT_FALSE(ParseRobots(text, {.agent = "x", .byte_limit = text.size()}).truncated);
}

TEST(RobotsTxtTest, CrawlDelayMayBeFractionalAndHasABound) {
  EXPECT_EQ(ParseCrawlDelay("0.25"), 250u);
  EXPECT_EQ(ParseCrawlDelay(" 10 "), 10'000u);
  EXPECT_EQ(ParseCrawlDelay(".5"), 500u);
  EXPECT_EQ(ParseCrawlDelay("99999999999999999999999"), kMaxCrawlDelayMs);
  for (const char* bad : {"", ".", "1.2.3", "-1", "1s", "ten"}) EXPECT_FALSE(ParseCrawlDelay(bad)) << bad;
}

TEST(RobotsTxtTest, CompiledRulesAreSmall) {
  std::string text = "User-agent: *\n";
  for (int i = 0; i < 100; ++i) text += "Disallow: /section-" + std::to_string(i) + "/\n";
  const RobotsTxt parsed = ParseRobots(text, {.agent = "x"});
  EXPECT_LT(parsed.rules.size(), text.size());
}

TEST(FetchPolicyTest, StatusesMeanWhatTheRfcSays) {
  EXPECT_EQ(RobotsForStatus(200, 0), RobotsVerdict::kUseFile);
  EXPECT_EQ(RobotsForStatus(404, 0), RobotsVerdict::kAllowAll);
  EXPECT_EQ(RobotsForStatus(403, 5), RobotsVerdict::kAllowAll);
  EXPECT_EQ(RobotsForStatus(503, 0), RobotsVerdict::kDisallowAll);
  EXPECT_EQ(RobotsForStatus(0, 0), RobotsVerdict::kDisallowAll);
  EXPECT_EQ(RobotsForStatus(429, 0), RobotsVerdict::kDisallowAll);
  EXPECT_EQ(RobotsForStatus(301, 4), RobotsVerdict::kFollow);
  EXPECT_EQ(RobotsForStatus(301, 5), RobotsVerdict::kAllowAll);
  EXPECT_EQ(RobotsForStatus(304, 0), RobotsVerdict::kDisallowAll);
}

TEST(RobotsTagTest, FieldsSpeakToEverybodyOrToOneAgent) {
  RobotsTag tag("portolan");
  tag.AddField("otherbot: noindex, nofollow");
  EXPECT_EQ(tag.flags(), 0);
  tag.AddField("otherbot: noindex, Portolan: NoArchive, nosnippet");
  EXPECT_EQ(tag.flags(), RobotsTag::kNoArchive | RobotsTag::kNoSnippet);
  tag.AddField("max-snippet: -1, none");
  EXPECT_TRUE(tag.Has(RobotsTag::kNoIndex));
  EXPECT_TRUE(tag.Has(RobotsTag::kNoFollow));
}

TEST(RobotsTagTest, MetaElementsCountForRobotsAndForUs) {
  RobotsTag tag("portolan");
  tag.AddMeta("googlebot", "noindex");
  EXPECT_EQ(tag.flags(), 0);
  tag.AddMeta("ROBOTS", " NOFOLLOW ,max-image-preview:large");
  EXPECT_EQ(tag.flags(), RobotsTag::kNoFollow);
  tag.AddMeta("Portolan", "noindex");
  EXPECT_TRUE(tag.Has(RobotsTag::kNoIndex));
}

TEST(RobotsTagTest, UnavailableAfterTakesDatesOfEveryForm) {
  const auto after = [](std::string_view value) {
    RobotsTag tag("portolan");
    tag.AddField(value);
    RobotsTag meta("portolan");
    meta.AddMeta("robots", value);
    EXPECT_EQ(tag.unavailable_after(), meta.unavailable_after()) << value;
    EXPECT_EQ(tag.flags(), meta.flags()) << value;
    return tag.unavailable_after();
  };
  EXPECT_EQ(after("unavailable_after: 25 Jun 2010 15:00:00 PST"), 1277506800);
  EXPECT_EQ(after("noindex, unavailable_after: 2010-06-25T23:00:00Z"), 1277506800);
  EXPECT_EQ(after("unavailable_after: Friday, 25-Jun-10 23:00:00 GMT, noindex"), 1277506800);
  EXPECT_FALSE(after("unavailable_after: soon, noindex"));
  EXPECT_FALSE(after("unavailable_after"));
  EXPECT_FALSE(after("unavailable_after:, unavailable_after:"));
}

}  // namespace
}  // namespace portolan
