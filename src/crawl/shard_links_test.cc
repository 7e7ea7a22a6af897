// Which links of a page the shard follows: scope, depth, frames, and what pages need to be shown.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "crawl/shard.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::UnorderedElementsAre;

constexpr int64_t kSecond = 1'000'000'000;

struct Link {
  std::string url;
  uint8_t flags = 0;
};

constexpr uint8_t kNeeded = kFoundEmbed | kFoundRequisite;
constexpr uint8_t kFrame = kFoundRequisite;

// A web of a few pages, and the crawl of it in steps of virtual time.
class SmallWeb : public FetchPort, public OutputPort {
 public:
  std::map<std::string, std::vector<Link>> pages;  // by URL; all other URLs exist, too, and have no links
  std::map<std::string, std::string> redirects;
  std::map<std::string, int> depths;  // of URLs that were fetched

  void Fetch(FetchTask&& task) override { tasks_.push_back(std::move(task)); }
  void Resolve(ResolveTask&& task) override { names_.push_back(std::move(task)); }
  void Write(PageResult& result, FetchLine&& about) override {
    if (result.kind == UrlKind::kRobots) return;
    EXPECT_TRUE(depths.emplace(about.url, about.depth).second) << about.url << " twice";
  }

  // The URLs that were fetched. A crawl that is not done after `most` steps fails the test.
  std::set<std::string> Crawl(ShardOptions options, int most = 2000) {
    depths.clear();
    options.frontier.politeness.ip_delay_ns = options.frontier.politeness.host_delay_ns = 1;
    options.frontier.politeness.delay_factor = 0;
    options.scope.seeds = {"http://a.test/"};
    options.scope.mode = ScopeMode::kHost;
    MemEnv env;
    Manifest manifest = Manifest::Open(env, "state").value();
    InlineExecutor executor;
    Moment now{kSecond, 1'000'000 * kSecond};
    const auto shard = Shard::Open(env, manifest, executor, {*this, *this}, options, now).value();
    EXPECT_TRUE(shard->AddSeed("http://a.test/", now));
    for (; most > 0 && shard->state() == Shard::State::kRunning; --most) {
      EXPECT_TRUE(shard->OnTick(now));
      for (; !names_.empty(); names_.pop_front()) {
        EXPECT_TRUE(shard->OnResolved(
            {.host = names_.front().host, .addresses = {Address::V4(0xc0000201)}, .ttl_s = 3600}, now));
      }
      for (; !tasks_.empty(); tasks_.pop_front()) EXPECT_TRUE(shard->OnPage(Answer(tasks_.front(), now), now));
      now.now_ns += kSecond / 10;
      now.unix_ns += kSecond / 10;
    }
    EXPECT_EQ(shard->state(), Shard::State::kDone);
    counts = shard->counts();
    std::set<std::string> urls;
    for (const auto& [url, depth] : depths) urls.insert(url);
    return urls;
  }

  CrawlCounts counts;

 private:
  PageResult Answer(const FetchTask& task, Moment now) {
    PageResult result;
    result.id = task.id;
    result.kind = task.kind;
    result.status = task.kind == UrlKind::kRobots ? 404 : 200;
    result.times = {now.now_ns, now.now_ns, now.now_ns, now.now_ns, now.unix_ns};
    const auto add = [&](const std::string& url, uint8_t flags) {
      result.links.Add(url, Hash64(url), HostKey(url, HashKey::Known()), flags);
    };
    if (task.kind == UrlKind::kRobots) {
      result.robots = RobotsAnswer{.kind = RobotsAnswer::Kind::kAllowAll};
    } else if (const auto moved = redirects.find(task.url); moved != redirects.end()) {
      result.status = 302;
      add(moved->second, kFoundRedirect);
    } else if (const auto page = pages.find(task.url); page != pages.end()) {
      for (const Link& link : page->second) add(link.url, link.flags);
    }
    return result;
  }

  std::deque<FetchTask> tasks_;
  std::deque<ResolveTask> names_;
};

ShardOptions Plain() { return {.follow_embeds = false}; }

ShardOptions WithRequisites() {
  ShardOptions options = Plain();
  options.scope.requisites = true;
  return options;
}

TEST(ShardLinksTest, FramesInScopeAreFollowedLikeLinks) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://a.test/frame", kFrame},
                                 {"http://b.test/frame", kFrame},
                                 {"http://a.test/img", kNeeded},
                                 {"http://a.test/search", kFoundEmbed}};
  web.pages["http://a.test/frame"] = {{"http://a.test/deep"}};
  EXPECT_THAT(web.Crawl(Plain()), UnorderedElementsAre("http://a.test/", "http://a.test/frame", "http://a.test/deep"));
  EXPECT_EQ(web.depths["http://a.test/frame"], 1);
  EXPECT_EQ(web.depths["http://a.test/deep"], 2);
  EXPECT_THAT(web.Crawl({.follow_embeds = true}),
              UnorderedElementsAre("http://a.test/", "http://a.test/frame", "http://a.test/deep", "http://a.test/img",
                                   "http://a.test/search"));
}

TEST(ShardLinksTest, RequisitesAreFetchedFromAnyHostAndTheirsToo) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://cdn.test/style.css", kNeeded},
                                 {"http://b.test/page"},
                                 {"http://a.test/next"},
                                 {"http://a.test/search", kFoundEmbed},
                                 {"http://b.test/frame", kFrame}};
  web.pages["http://cdn.test/style.css"] = {{"http://cdn.test/more.css", kNeeded}};
  web.pages["http://cdn.test/more.css"] = {{"http://fonts.test/font.woff", kNeeded}};
  web.pages["http://b.test/frame"] = {{"http://b.test/img", kNeeded}, {"http://b.test/no"}, {"http://a.test/no"}};
  web.pages["http://a.test/next"] = {{"http://cdn.test/img", kNeeded}};
  EXPECT_THAT(web.Crawl(WithRequisites()),
              UnorderedElementsAre("http://a.test/", "http://a.test/next", "http://cdn.test/style.css",
                                   "http://cdn.test/more.css", "http://fonts.test/font.woff", "http://b.test/frame",
                                   "http://b.test/img", "http://cdn.test/img"));
  EXPECT_EQ(web.counts.out_of_scope, 3U) << "one link of the page, two of the frame";
}

// A URL that is first found as a requisite is an ordinary page if it is in scope.
TEST(ShardLinksTest, LinksOfARequisiteInScopeAreFollowed) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://b.test/frame", kFrame}};
  web.pages["http://b.test/frame"] = {{"http://a.test/inner", kFrame}};
  web.pages["http://a.test/inner"] = {{"http://a.test/linked"}, {"http://b.test/no"}};
  EXPECT_THAT(web.Crawl(WithRequisites()), UnorderedElementsAre("http://a.test/", "http://b.test/frame",
                                                                "http://a.test/inner", "http://a.test/linked"));
}

TEST(ShardLinksTest, RequisitesHaveTheDepthOfTheirPage) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://a.test/1"}};
  web.pages["http://a.test/1"] = {{"http://a.test/2"}, {"http://cdn.test/style.css", kNeeded}};
  web.pages["http://cdn.test/style.css"] = {{"http://cdn.test/img", kNeeded}};
  ShardOptions options = WithRequisites();
  options.depth_limited = true;
  options.max_depth = 1;
  EXPECT_THAT(web.Crawl(options), UnorderedElementsAre("http://a.test/", "http://a.test/1", "http://cdn.test/style.css",
                                                       "http://cdn.test/img"));
  EXPECT_EQ(web.depths["http://cdn.test/img"], 1);
  EXPECT_EQ(web.counts.too_deep, 1U);
}

TEST(ShardLinksTest, RequisitesThatMovedAreStillRequisites) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://cdn.test/style.css", kNeeded}, {"http://a.test/out"}};
  web.redirects["http://cdn.test/style.css"] = "http://other.test/style.css";
  web.pages["http://other.test/style.css"] = {{"http://other.test/img", kNeeded}};
  web.redirects["http://a.test/out"] = "http://b.test/no";
  EXPECT_THAT(web.Crawl(WithRequisites()),
              UnorderedElementsAre("http://a.test/", "http://a.test/out", "http://cdn.test/style.css",
                                   "http://other.test/style.css", "http://other.test/img"));
}

TEST(ShardLinksTest, WhatIsExcludedIsNotFetchedForShow) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://ads.test/frame", kFrame},
                                 {"http://x.ads.test/img", kNeeded},
                                 {"http://cdn.test/a.mp4", kNeeded},
                                 {"http://cdn.test/a.png", kNeeded}};
  ShardOptions options = WithRequisites();
  options.scope.exclude_domains = {"ads.test"};
  options.scope.exclude_urls = {"*.mp4"};
  EXPECT_THAT(web.Crawl(options), UnorderedElementsAre("http://a.test/", "http://cdn.test/a.png"));
  EXPECT_EQ(web.counts.out_of_scope, 3U);
}

TEST(ShardLinksTest, PageThatSaysNofollowKeepsItsRequisitesToItself) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://cdn.test/img", kNeeded | kFoundNofollow}};
  EXPECT_THAT(web.Crawl(WithRequisites()), UnorderedElementsAre("http://a.test/"));
  EXPECT_EQ(web.counts.nofollow, 1U);
}

// Endless frames in frames, in scope and out of scope: depth does not grow, so another bound must end them.
TEST(ShardLinksTest, EndlessChainsOfRequisitesEnd) {
  SmallWeb web;
  web.pages["http://a.test/"] = {{"http://a.test/f/0", kFrame}, {"http://b.test/f/0", kFrame}};
  for (int i = 0; i < 100; ++i) {
    for (const std::string host : {"http://a.test/f/", "http://b.test/f/"}) {
      web.pages[host + std::to_string(i)] = {{host + std::to_string(i + 1), kFrame}};
    }
  }
  ShardOptions options = WithRequisites();
  options.depth_limited = true;
  options.max_depth = 3;
  const std::set<std::string> urls = web.Crawl(options);
  // In scope they are links again after the last step, and there are three steps per depth; out of scope nothing is.
  EXPECT_TRUE(urls.contains("http://b.test/f/7"));
  EXPECT_FALSE(urls.contains("http://b.test/f/8"));
  EXPECT_TRUE(urls.contains("http://a.test/f/8"));
  EXPECT_LT(urls.size(), 60U);
  EXPECT_GT(web.counts.too_deep, 0U);
}

}  // namespace
}  // namespace portolan
