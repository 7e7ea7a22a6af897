// Whole crawls of simulated worlds, for tests: from the seeds to the end, judged, and compared with what is reachable.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/drive/virtual_crawl.h"
#include "sim/world/reach.h"

namespace portolan::sim {

inline constexpr int64_t kBegin = 1'780'000'000'000'000'000;

struct Setting {
  std::string profile = "small";
  std::vector<std::pair<std::string, std::string>> set;
  int64_t host_delay_ns = kSecond;
  int64_t ip_delay_ns = kSecond / 10;
  uint64_t memory = uint64_t{64} << 20;
  uint32_t connections = 256;
  uint64_t seed = 1;
  int64_t checkpoint_ns = 0;
  bool budgets = false;
  HashKey key;
  uint32_t shards = 1;  // memory and connections are divided among them
  uint64_t exchange_bytes = uint64_t{1} << 20;
  std::optional<PhasePartition::Options> phases;
};

inline std::unique_ptr<World> MakeWorld(const Setting& setting) {
  WorldParams params = LoadProfile(setting.profile).value();
  for (const auto& [key, value] : setting.set) EXPECT_TRUE(SetParam(params, key, value)) << key;
  return World::Create(params, setting.seed).value();
}

inline VirtualCrawl::Options MakeOptions(const Setting& setting) {
  VirtualCrawl::Options options;
  const uint64_t memory = setting.memory / setting.shards;
  const uint32_t connections = setting.connections / setting.shards;
  options.shards = setting.shards;
  options.exchange_bytes = setting.exchange_bytes;
  options.checkpoint_ns = setting.checkpoint_ns;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.key = setting.key;
  options.shard.phases = setting.phases;
  if (setting.phases) {
    options.shard.frontier.politeness.max_delay_ns =
        std::min(options.shard.frontier.politeness.max_delay_ns, setting.phases->gap_ns);
  }
  options.shard.connections = connections;
  options.shard.sitemaps = false;  // the oracle's reachable set follows links only
  options.shard.frontier.memory = memory / 4;
  options.shard.frontier.back_queues = 3 * connections;
  options.shard.frontier.politeness.host_delay_ns = setting.host_delay_ns;
  options.shard.frontier.politeness.ip_delay_ns = setting.ip_delay_ns;
  options.shard.seen.memory = memory / 4;
  options.shard.gate.memory = memory / 8;
  // A day of virtual time has as many early rounds as a real one, each at real cost. A low speed makes them rarer.
  options.shard.seen.pace.bytes_per_second = 500'000;
  options.shard.gate.pace.bytes_per_second = 500'000;
  options.shard.admission.enabled = setting.budgets;
  options.shard.admission.star.memory = memory / 8;
  options.shard.admission.star.domains_pace.bytes_per_second = 500'000;
  options.shard.admission.star.edges_pace.bytes_per_second = 500'000;
  return options;
}

inline Judge::Options MakeRules(const Setting& setting, bool complete) {
  Judge::Options judge;
  judge.rules.host_gap_ns = setting.host_delay_ns;
  judge.rules.ip_gap_ns = setting.ip_delay_ns;
  judge.rules.slack_ns = 0;
  judge.rules.gap_from_end = true;
  judge.rules.connections = 1;
  judge.rules.crawl_delay = true;
  judge.rules.fetches_per_url = 1;
  judge.rules.complete = complete;
  return judge;
}

struct Outcome {
  Account account;
  uint64_t order_hash = 0;
  CrawlCounts counts;
  uint64_t urls = 0;  // new ones
  uint64_t events_waited = 0;
  std::vector<uint64_t> pages_by_shard;
};

inline Outcome CrawlWhole(const Setting& setting, Env& env, const std::string& dir, bool complete) {
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, complete));
  VirtualCrawl::Options options = MakeOptions(setting);
  options.state_dir = dir;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  const Status status = crawl->Run(200'000'000);
  EXPECT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->driver().state(), "done");
  Outcome outcome;
  for (uint32_t i = 0; i < setting.shards; ++i) {
    const Shard& shard = crawl->shard(i);
    const Shard::Census census = shard.TakeCensus();
    EXPECT_EQ(census.unanswered + census.admission + census.gate + census.frontier + census.in_flight, 0U);
    // Every new URL has ended.
    EXPECT_EQ(shard.seen().counts().unique, census.finished);
    EXPECT_TRUE(shard.frontier().CheckInvariants());
    outcome.urls += census.finished;
    outcome.pages_by_shard.push_back(shard.counts().pages());
  }

  ReachOptions reach;
  reach.unix_ns = kBegin;
  const Reach reachable = Enumerate(*world, reach);
  judge.Cover([&](const std::function<void(uint64_t)>& each) {
    for (uint64_t page = 0; page < world->TotalPages(); ++page) {
      if (reachable.Has(page)) each(page);
    }
  });
  outcome.account = judge.Finish(time.UnixNs());
  outcome.order_hash = crawl->OrderHash();
  outcome.counts = crawl->driver().counts();
  outcome.events_waited = crawl->events_waited();
  return outcome;
}

inline void ExpectClean(const Outcome& outcome) {
  EXPECT_EQ(outcome.account.TotalViolations(), 0U) << AccountTable(outcome.account);
  EXPECT_EQ(outcome.account.missed, 0U);
  EXPECT_EQ(outcome.account.fetched_of_reachable, outcome.account.reachable);
  EXPECT_EQ(outcome.account.pages_fetched, outcome.account.reachable);
}

}  // namespace portolan::sim
