#include "crawl/link_filter.h"

#include <gtest/gtest.h>

#include <set>

#include "base/hash.h"
#include "base/hash_key.h"

namespace portolan {
namespace {

class LinkFilterTest : public testing::Test {
 protected:
  LinkFilterTest() { scope_options_.seeds = {"http://in.example/"}; }

  LinkFate Judge(std::string_view url, uint8_t flags = 0) {
    scope_options_.mode = ScopeMode::kHost;
    scope_options_.requisites = rules_.requisites;
    Scope scope = Scope::Create(scope_options_).value();
    const FoundLink link{.hash = Hash64(url), .host_hash = HostKey(url, HashKey::Known()), .flags = flags};
    const Rule* limit = nullptr;
    return LinkFilter(rules_).Judge(from_, link, url, scope, record_, limit);
  }

  ScopeOptions scope_options_;
  LinkRules rules_;
  LinkSource from_{.depth = 2, .url = "http://in.example/from"};
  UrlRecord record_;
};

TEST_F(LinkFilterTest, AFollowedLinkIsOneDeeperAndKnowsItsPage) {
  EXPECT_EQ(Judge("http://in.example/a"), LinkFate::kFollowed);
  EXPECT_EQ(record_.url, "http://in.example/a");
  EXPECT_EQ(record_.depth, 3);
  EXPECT_EQ(record_.priority, 3);
  EXPECT_EQ(record_.via.ToString(), "http://in.example/from");
  from_.depth = 0xffff;
  EXPECT_EQ(Judge("http://in.example/a"), LinkFate::kFollowed);
  EXPECT_EQ(record_.depth, 0xffff);
  EXPECT_EQ(record_.priority, 7);
}

TEST_F(LinkFilterTest, EachReasonHasItsName) {
  EXPECT_EQ(Judge("http://out.example/a"), LinkFate::kOutOfScope);
  EXPECT_EQ(Judge("http://in.example/a", kFoundNofollow), LinkFate::kNofollow);
  rules_.follow_nofollow = true;
  EXPECT_EQ(Judge("http://in.example/a", kFoundNofollow), LinkFate::kFollowed);
  EXPECT_EQ(Judge("http://in.example/a.png", kFoundEmbed), LinkFate::kFollowed);
  rules_.follow_embeds = false;
  EXPECT_EQ(Judge("http://in.example/a.png", kFoundEmbed), LinkFate::kEmbedsOff);
  rules_.depth_limited = true;
  rules_.max_depth = 2;
  EXPECT_EQ(Judge("http://in.example/a"), LinkFate::kTooDeep);
  EXPECT_EQ(Judge("http://in.example/a", kFoundRedirect), LinkFate::kFollowed) << "as deep as what redirects";
  from_.hops = rules_.max_hops;
  EXPECT_EQ(Judge("http://in.example/a", kFoundRedirect), LinkFate::kTooManyHops);
  from_.kind = UrlKind::kRobots;
  rules_.sitemaps = false;
  EXPECT_EQ(Judge("http://in.example/map.xml", kFoundSitemap | kFoundSitemapFile), LinkFate::kSitemapsOff);
}

TEST_F(LinkFilterTest, ARedirectKeepsDepthAndCountsHops) {
  from_.hops = 3;
  from_.kind = UrlKind::kSitemap;
  EXPECT_EQ(Judge("http://in.example/map2.xml", kFoundRedirect | kFoundNofollow), LinkFate::kFollowed);
  EXPECT_EQ(record_.depth, 2);
  EXPECT_EQ(record_.hops, 4);
  EXPECT_EQ(record_.kind, UrlKind::kSitemap);
}

TEST_F(LinkFilterTest, WhatAPageNeedsIsAsNearAsThePageAndChainsEnd) {
  rules_.requisites = true;
  rules_.follow_embeds = false;
  EXPECT_EQ(Judge("http://out.example/style.css", kFoundEmbed | kFoundRequisite), LinkFate::kFollowed);
  EXPECT_EQ(record_.depth, 2);
  EXPECT_EQ(record_.requisite, 1);
  from_.beyond = true;
  from_.requisite = 1;
  EXPECT_EQ(Judge("http://out.example/page"), LinkFate::kOutOfScope) << "a frame's own links lead nowhere";
  EXPECT_EQ(Judge("http://out.example/font", kFoundEmbed | kFoundRequisite), LinkFate::kFollowed);
  EXPECT_EQ(record_.requisite, 2);
  from_.requisite = 8;
  EXPECT_NE(Judge("http://out.example/font", kFoundEmbed | kFoundRequisite), LinkFate::kFollowed);
}

TEST_F(LinkFilterTest, EachFateHasACounterOfItsOwn) {
  CrawlCounts counts;
  std::set<const uint64_t*> seen;
  for (const LinkFate fate : {LinkFate::kFollowed, LinkFate::kSitemapsOff, LinkFate::kNofollow, LinkFate::kEmbedsOff,
                              LinkFate::kOutOfScope, LinkFate::kTooManyHops, LinkFate::kTooDeep}) {
    EXPECT_TRUE(seen.insert(&CountOf(counts, fate)).second);
  }
}

}  // namespace
}  // namespace portolan
