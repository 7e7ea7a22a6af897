// Crawls whose own network fails for a while: in the end the same URLs are fetched as without the outage.

#include <gtest/gtest.h>

#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/world/reach.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
using Gone = VirtualWeb::Options::Outage;

std::unique_ptr<World> MakeWorld() {
  WorldParams params = LoadProfile("demo").value();
  for (const auto& [key, value] : {std::pair{"domains", "60"}, {"pages", "3000"}}) {
    EXPECT_TRUE(SetParam(params, key, value)) << key;
  }
  return World::Create(params, 7).value();
}

VirtualCrawl::Options MakeOptions() {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 64;
  options.shard.sitemaps = false;
  options.shard.frontier.memory = 16 << 20;
  options.shard.frontier.back_queues = 192;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = 16 << 20;
  options.shard.gate.memory = 8 << 20;
  options.shard.seen.pace.bytes_per_second = 500'000;
  options.shard.gate.pace.bytes_per_second = 500'000;
  return options;
}

Judge::Options MakeRules() {
  Judge::Options judge;
  judge.rules.host_gap_ns = kSecond;
  judge.rules.ip_gap_ns = kSecond / 10;
  judge.rules.slack_ns = 0;
  judge.rules.gap_from_end = true;
  judge.rules.connections = 1;
  judge.rules.crawl_delay = true;
  judge.rules.fetches_per_url = 1;
  judge.rules.complete = true;
  return judge;
}

struct Ended {
  std::vector<std::string> homes;  // pages that can be seeds
  CrawlCounts counts;
  int64_t took_ns = 0;
  uint64_t lost = 0;
};

struct Plan {
  std::vector<Gone> outages;
  int64_t restart_ns = 0;          // when the crawl is cut; it resumes from its last checkpoint
  std::vector<std::string> seeds;  // in addition to the world's
  uint32_t outage_hosts = 8;
  bool lossless = true;
  size_t descriptors = 0;
  uint32_t shards = 1;
};

Ended Crawl(const Plan& plan) {
  const int64_t restart_ns = plan.restart_ns;
  const auto world = MakeWorld();
  VirtualTime time(kBegin);
  Judge::Options rules = MakeRules();
  if (restart_ns > 0) rules.rules.fetches_per_url = 2;
  Judge judge(*world, rules);
  VirtualCrawl::Options options = MakeOptions();
  options.web.outages = plan.outages;
  options.web.descriptors = plan.descriptors;
  options.shard.outage.hosts = plan.outage_hosts;
  options.shards = plan.shards;
  std::vector<std::string> homes;
  options.on_hit = [&](const Hit& hit) {
    if (hit.path_and_query != "/" || hit.status != 200) return;
    homes.push_back((hit.tls ? "https://" : "http://") + std::string(hit.host) + "/");
  };
  if (restart_ns > 0) {
    options.checkpoint_ns = 10 * kSecond;
    options.after_event = [&](uint64_t) -> Status {
      if (time.NowNs() < restart_ns) return {};
      return Fail(ErrorCode::kClosed, "cut");
    };
  }
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  for (const std::string& seed : plan.seeds) EXPECT_TRUE(crawl->shard().AddSeed(seed, {time.NowNs(), time.UnixNs()}));
  Status status = crawl->Run(20'000'000);
  if (restart_ns > 0) {
    EXPECT_FALSE(status);
    crawl.reset();
    options.after_event = {};
    crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    status = crawl->Run(20'000'000);
  }
  EXPECT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->driver().state(), "done");
  for (uint32_t i = 0; i < plan.shards; ++i) {
    const Shard::Census census = crawl->shard(i).TakeCensus();
    EXPECT_EQ(census.unanswered + census.gate + census.frontier + census.in_flight, 0U);
    EXPECT_EQ(crawl->shard(i).seen().counts().unique, census.finished);
  }
  ReachOptions reach;
  reach.unix_ns = kBegin;
  const Reach reachable = Enumerate(*world, reach);
  judge.Cover([&](const std::function<void(uint64_t)>& each) {
    for (uint64_t page = 0; page < world->TotalPages(); ++page) {
      if (reachable.Has(page)) each(page);
    }
  });
  const Account account = judge.Finish(time.UnixNs());
  if (plan.lossless) {
    EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
    EXPECT_EQ(account.missed, 0U);
    EXPECT_EQ(account.pages_fetched, account.reachable);
  }
  return {homes, crawl->driver().counts(), time.NowNs(), crawl->web_counts().lost};
}

class OutageCrawlTest : public testing::Test {
 protected:
  // Every URL ends in the same way as without an outage.
  void ExpectSameEnds(const Ended& ended) {
    EXPECT_EQ(ended.counts.done, whole_.counts.done);
    EXPECT_EQ(ended.counts.outcomes, whole_.counts.outcomes);
    EXPECT_EQ(ended.counts.denied, whole_.counts.denied);
    EXPECT_EQ(ended.counts.unreachable, whole_.counts.unreachable);
  }
  const Ended whole_ = Crawl({});
};

TEST_F(OutageCrawlTest, NoneIsSeenWhereThereIsNone) {
  EXPECT_EQ(whole_.counts.outages, 0U);
  EXPECT_GT(whole_.counts.pages(), 500U);
}

TEST_F(OutageCrawlTest, AnHourInTheMiddle) {
  for (const bool silent : {true, false}) {
    const Ended ended = Crawl({.outages = {{.begin_ns = 30 * kSecond, .end_ns = 3630 * kSecond, .silent = silent}}});
    ExpectSameEnds(ended);
    EXPECT_EQ(ended.counts.outages, 1U);
    // Those that led to the verdict, those that were running, and then one at a time.
    EXPECT_GT(ended.lost, 8U);
    EXPECT_LT(ended.lost, 800U);
    EXPECT_LT(ended.took_ns, whole_.took_ns + 3600 * kSecond + 120 * kSecond);
  }
}

// Some shards have too few hosts to find out by themselves: they believe the others.
TEST_F(OutageCrawlTest, SeveralShardsSeeItToo) {
  for (const bool silent : {true, false}) {
    const Ended ended =
        Crawl({.outages = {{.begin_ns = 30 * kSecond, .end_ns = 3630 * kSecond, .silent = silent}}, .shards = 3});
    ExpectSameEnds(ended);
    EXPECT_EQ(ended.counts.outages, 1U);
    EXPECT_LT(ended.lost, 1600U);
  }
  const Ended names =
      Crawl({.outages = {{.begin_ns = 2 * kSecond, .end_ns = 2000 * kSecond, .connections = false, .silent = false}},
             .shards = 3});
  ExpectSameEnds(names);
  EXPECT_EQ(names.counts.outages, 1U);
}

// The purpose of all this: without it, an outage costs URLs.
TEST_F(OutageCrawlTest, WithoutTheDetectorPagesWouldBeLost) {
  const Ended ended = Crawl({.outages = {{.begin_ns = 30 * kSecond, .end_ns = 3 * 3600 * kSecond, .silent = false}},
                             .outage_hosts = 0,
                             .lossless = false});
  EXPECT_LT(ended.counts.pages(), whole_.counts.pages());
}

TEST_F(OutageCrawlTest, FromTheStart) {
  const Ended ended = Crawl({.outages = {{.begin_ns = 0, .end_ns = 2000 * kSecond}}, .seeds = whole_.homes});
  ExpectSameEnds(ended);
  EXPECT_EQ(ended.counts.outages, 1U);
}

TEST_F(OutageCrawlTest, OfNamesOnly) {
  const Ended ended =
      Crawl({.outages = {{.begin_ns = 2 * kSecond, .end_ns = 2000 * kSecond, .connections = false, .silent = false}}});
  ExpectSameEnds(ended);
  EXPECT_EQ(ended.counts.outages, 1U);
}

TEST_F(OutageCrawlTest, OfConnectionsOnly) {
  const Ended ended = Crawl({.outages = {{.begin_ns = 30 * kSecond, .end_ns = 900 * kSecond, .names = false}}});
  ExpectSameEnds(ended);
  EXPECT_EQ(ended.counts.outages, 1U);
}

TEST_F(OutageCrawlTest, AgainAndAgain) {
  std::vector<Gone> outages;
  for (int i = 0; i < 6; ++i) {
    outages.push_back({.begin_ns = (20 + i * 100) * kSecond, .end_ns = (80 + i * 100) * kSecond, .silent = i % 2 == 0});
  }
  ExpectSameEnds(Crawl({.outages = outages}));
}

// Resumed during the same outage: the detector has forgotten what it knew, and that does no harm.
TEST_F(OutageCrawlTest, WithARestartInIt) {
  const Ended ended =
      Crawl({.outages = {{.begin_ns = 30 * kSecond, .end_ns = 2000 * kSecond}}, .restart_ns = 300 * kSecond});
  ExpectSameEnds(ended);
  EXPECT_EQ(ended.counts.outages, 2U);
}

// Fewer descriptors than connections: fewer connections are used, sometimes one more is tried, and no URL fails for it.
TEST_F(OutageCrawlTest, WithTooFewDescriptors) {
  const Ended ended = Crawl({.descriptors = 5});
  ExpectSameEnds(ended);
  EXPECT_GT(ended.counts.shortages, 0U);
  EXPECT_EQ(ended.counts.outages, 0U);
  EXPECT_LT(ended.lost, ended.counts.pages() / 4);
}

}  // namespace
}  // namespace portolan::sim
