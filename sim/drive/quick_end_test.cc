// The end of a crawl that has only failed URLs left: how long it takes, what it reports meanwhile, and that no host is
// hit sooner than politeness allows.

#include <gtest/gtest.h>

#include <set>

#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"
#include "sim/world/reach.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;
using Settings = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<World> MakeWorld(const Settings& settings) {
  WorldParams params = LoadProfile("demo").value();
  for (const auto& [key, value] : Settings{{"domains", "20"}, {"pages", "400"}})
    EXPECT_TRUE(SetParam(params, key, value));
  for (const auto& [key, value] : settings) EXPECT_TRUE(SetParam(params, key, value)) << key;
  return World::Create(params, 11).value();
}

VirtualCrawl::Options MakeOptions(bool quickly) {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 16;
  options.shard.sitemaps = false;
  options.shard.give_up_quickly = quickly;
  options.shard.frontier.memory = 4 << 20;
  options.shard.frontier.back_queues = 48;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = 4 << 20;
  options.shard.gate.memory = 4 << 20;
  if (quickly) {  // as in wiring.cc
    options.shard.gate.request_timeout_s = 3 * 3600;
    options.shard.gate.unreachable_ttl_s = 3 * 3600;
  }
  return options;
}

struct Ended {
  CrawlCounts counts;
  int64_t took_ns = 0;
  int64_t after_last_new_ns = 0;  // since the last request for a URL that was not requested before
  uint64_t order = 0;
  std::vector<int64_t> requests_ns;
  std::vector<HostTrouble> given_up;
  std::vector<AwaitedUrl> longest_awaited;  // the longest such list that was reported
};

Ended Crawl(const World& world, VirtualCrawl::Options options, const std::vector<std::string>& seeds = {}) {
  VirtualTime time(kBegin);
  Judge::Options judge_options;
  judge_options.rules.host_gap_ns = kSecond;
  judge_options.rules.ip_gap_ns = kSecond / 10;
  judge_options.rules.slack_ns = 0;
  judge_options.rules.gap_from_end = true;
  judge_options.rules.connections = 1;
  judge_options.rules.crawl_delay = true;
  Judge judge(world, judge_options);
  Ended ended;
  std::set<std::string> asked;
  int64_t last_new_ns = 0;
  options.on_hit = [&](const Hit& hit) {
    ended.requests_ns.push_back(time.NowNs());
    if (asked.insert(std::string(hit.host) + std::string(hit.path_and_query)).second) last_new_ns = time.NowNs();
  };
  MemEnv env;
  VirtualCrawl* running = nullptr;
  options.after_event = [&](uint64_t) -> Status {
    const auto awaited = running->shard().Awaited(8, {time.NowNs(), time.UnixNs()});
    if (awaited.size() > ended.longest_awaited.size()) ended.longest_awaited = awaited;
    return {};
  };
  const auto crawl = VirtualCrawl::Open(env, world, time, judge, options).value();
  running = crawl.get();
  if (seeds.empty()) {
    EXPECT_TRUE(crawl->Seed());
  } else {
    for (const std::string& seed : seeds) EXPECT_TRUE(crawl->shard().AddSeed(seed, {time.NowNs(), time.UnixNs()}));
  }
  const Status status = crawl->Run(5'000'000);
  EXPECT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
  EXPECT_EQ(crawl->shard().seen().counts().unique, crawl->shard().TakeCensus().finished);
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  ended.counts = crawl->shard().counts();
  ended.took_ns = time.NowNs();
  ended.after_last_new_ns = time.NowNs() - last_new_ns;
  ended.order = crawl->OrderHash();
  ended.given_up = crawl->shard().given_up();
  return ended;
}

// No server listens anywhere, and one seed is too little to call it an outage.
TEST(QuickEndTest, ADeadSeedIsTriedAFewTimesAndNamed) {
  const auto world = MakeWorld({});
  const std::string seed = world->UrlOf(world->FromDense(0));
  const auto crawl = [&](bool quickly) {
    VirtualCrawl::Options options = MakeOptions(quickly);
    options.web.outages = {{.begin_ns = 0, .end_ns = 1'000'000 * kSecond, .names = false}};
    return Crawl(*world, options, {seed});
  };
  const Ended quick = crawl(true);
  EXPECT_EQ(quick.counts.unreachable, 1U);
  EXPECT_EQ(quick.counts.robots, Shard::kQuickTries);
  EXPECT_EQ(quick.counts.retries, Shard::kQuickTries - 1);
  EXPECT_GT(quick.took_ns, 14 * kSecond) << "1, 3 and 10 s lie between the tries";
  EXPECT_LT(quick.took_ns, 2 * kMinute);
  ASSERT_EQ(quick.given_up.size(), 1U);
  EXPECT_NE(quick.given_up[0].what.find("/robots.txt"), std::string::npos);
  EXPECT_NE(quick.given_up[0].why, "");
  ASSERT_EQ(quick.longest_awaited.size(), 1U) << "it reports what it waits for";
  EXPECT_NE(quick.longest_awaited[0].why, "");
  EXPECT_GT(quick.longest_awaited[0].until_unix_ns, kBegin);
  // Without give_up_quickly the same takes hours.
  const Ended slow = crawl(false);
  EXPECT_EQ(slow.counts.unreachable, 1U);
  EXPECT_GT(slow.took_ns, 60 * kMinute);
}

TEST(QuickEndTest, WhatIsFetchedIsTheSameAndTheEndComesSoon) {
  const auto world = MakeWorld({{"server_error", "0.1"},
                                {"robots_error", "0.3"},
                                {"dns_servfail", "0.1"},
                                {"robots_rules", "0.5"},
                                {"crawl_delay", "1"},
                                {"crawl_delay_s", "20"}});
  const Ended slow = Crawl(*world, MakeOptions(false));
  const Ended quick = Crawl(*world, MakeOptions(true));
  EXPECT_GT(quick.counts.pages(), 20U);
  EXPECT_EQ(quick.counts.pages(), slow.counts.pages());
  EXPECT_EQ(quick.counts.done, slow.counts.done);
  EXPECT_EQ(quick.counts.denied, slow.counts.denied);
  EXPECT_EQ(quick.counts.unreachable, slow.counts.unreachable);
  EXPECT_GT(quick.counts.unreachable, 0U) << "some robots.txt is broken";
  EXPECT_GT(quick.counts.done[static_cast<size_t>(CountAs::kServerError)], 0U);
  EXPECT_GT(slow.took_ns, 60 * kMinute);
  EXPECT_LT(quick.took_ns, slow.took_ns - 30 * kMinute);
  EXPECT_LT(quick.after_last_new_ns, 5 * kMinute);
  EXPECT_EQ(Crawl(*world, MakeOptions(true)).order, quick.order) << "the same events give the same requests";
}

// One page that answers 500 at the end: it takes seconds, not minutes, and Crawl-delay holds (the judge checks that).
TEST(QuickEndTest, APageThatAnswers500HoldsNobodyForMinutes) {
  const auto world = MakeWorld({{"domains", "1"}, {"max_hosts", "1"}, {"pages", "40"}, {"server_error", "0.1"}});
  const Ended slow = Crawl(*world, MakeOptions(false));
  const Ended quick = Crawl(*world, MakeOptions(true));
  ASSERT_GT(quick.counts.done[static_cast<size_t>(CountAs::kServerError)], 0U);
  EXPECT_EQ(quick.counts.done, slow.counts.done);
  EXPECT_EQ(quick.counts.retries, slow.counts.retries) << "as often as before";
  EXPECT_GT(slow.after_last_new_ns, kMinute);
  EXPECT_LT(quick.after_last_new_ns, 30 * kSecond);
  ASSERT_FALSE(quick.longest_awaited.empty());
  EXPECT_EQ(quick.longest_awaited[0].why.substr(0, 1), "5");
  EXPECT_EQ(quick.longest_awaited[0].attempts, 3U);
}

}  // namespace
}  // namespace portolan::sim
