// Crawls on 2, 5 and 16 machines in virtual time: late, lost and doubled messages, machines that die and are cut off.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

#include "sim/cluster/virtual_cluster.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

struct Faults {
  int deaths = 0;
  int cuts = 0;        // of one machine, some longer than its lease
  int server_away = 0;
};

struct Report {
  Account account;
  uint64_t finished = 0;  // URLs, of all shards
  uint64_t unique = 0;
  uint64_t events = 0;
  uint64_t deaths = 0;
  ClusterExchange::Counters exchange;
  VirtualNats::Counts nats;
  double days = 0;
};

class ClusterCrawlTest : public testing::TestWithParam<uint32_t> {
 protected:
  static Setting Small(uint32_t shards) {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1200"}};
    setting.connections = 64;
    setting.memory = uint64_t{32 * shards} << 20;
    setting.shards = shards;
    setting.checkpoint_ns = 20 * kSecond;
    return setting;
  }

  static VirtualCluster::Options MakeCluster(const Setting& setting, uint64_t seed) {
    VirtualCluster::Options options;
    options.crawl = MakeOptions(setting);
    options.crawl.checkpoint_step_ns = kSecond / 5;
    options.crawl.shard.frontier.lease_ns = 20 * kSecond;
    options.nats.shards = setting.shards;
    options.nats.seed = seed;
    return options;
  }

  // `judge` allows what a death explains: what came after the last checkpoint is fetched again.
  static Report Crawl(const Setting& setting, uint64_t seed, const Faults& faults,
                      const std::function<void(VirtualCluster::Options&)>& change = {}) {
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge::Options rules = MakeRules(setting, true);
    if (faults.deaths + faults.cuts + faults.server_away > 0) {
      rules.rules.fetches_per_url = 1000;
      rules.rules.gap_from_end = false;  // requests that were running have no end
    }
    Judge judge(*world, rules);
    VirtualCluster::Options options = MakeCluster(setting, seed);
    if (change) change(options);
    VirtualCluster cluster(*world, time, judge, options);
    Report report;
    const Status begun = cluster.Begin();
    EXPECT_TRUE(begun) << begun.error().ToString();
    std::mt19937_64 random(seed);
    // At random moments of the first two minutes, which is where most happens, and later ones.
    const auto moment = [&] { return static_cast<int64_t>(random() % 300) * kSecond + static_cast<int64_t>(random() % kSecond); };
    const auto node = [&] { return static_cast<uint32_t>(random() % setting.shards); };
    for (int i = 0; i < faults.deaths; ++i) {
      const CrashMode mode = random() % 2 == 0 ? CrashMode::kTorn : CrashMode::kKeepAll;
      time.At(moment(), [&cluster, shard = node(), mode] { cluster.Kill(shard, mode); });
    }
    for (int i = 0; i < faults.cuts; ++i) {
      const int64_t length_ns = static_cast<int64_t>(1 + random() % 25) * kSecond;
      time.At(moment(), [&cluster, &time, shard = node(), length_ns] {
        cluster.nats().Cut(shard, time.NowNs() + length_ns);
      });
    }
    for (int i = 0; i < faults.server_away; ++i) {
      time.At(moment(), [&cluster, &time] { cluster.nats().CutAll(time.NowNs() + 7 * kSecond); });
    }
    const Status status = cluster.Run(20'000'000);
    EXPECT_TRUE(status) << status.error().ToString();
    cluster.AddCounters();
    report.exchange = cluster.total();
    report.nats = cluster.nats().counts();
    report.events = cluster.events();
    report.deaths = cluster.deaths();
    if (!status) return report;
    for (uint32_t shard = 0; shard < setting.shards; ++shard) {
      EXPECT_EQ(cluster.crawl(shard).driver().state(), "done");
      report.finished += cluster.crawl(shard).shard().TakeCensus().finished;
      report.unique += cluster.crawl(shard).shard().seen().counts().unique;
      EXPECT_TRUE(cluster.crawl(shard).shard().frontier().CheckInvariants());
    }
    ReachOptions reach;
    reach.unix_ns = kBegin;
    const Reach reachable = Enumerate(*world, reach);
    judge.Cover([&](const std::function<void(uint64_t)>& each) {
      for (uint64_t page = 0; page < world->TotalPages(); ++page) {
        if (reachable.Has(page)) each(page);
      }
    });
    report.account = judge.Finish(time.UnixNs());
    report.days = static_cast<double>(time.NowNs()) / 86400e9;
    return report;
  }

  static void ExpectExact(const Report& report, const Setting& setting) {
    EXPECT_EQ(report.account.TotalViolations(), 0U) << AccountTable(report.account);
    EXPECT_EQ(report.account.missed, 0U);
    EXPECT_EQ(report.account.fetched_of_reachable, report.account.reachable);
    // Every URL that one process would find has ended once, at its shard.
    static std::map<std::string, uint64_t> known;
    std::string key = setting.profile;
    for (const auto& [name, value] : setting.set) key += "," + name + "=" + value;
    if (!known.contains(key)) {
      Setting whole = setting;
      whole.shards = 1;
      whole.memory = uint64_t{160} << 20;
      MemEnv env;
      known[key] = CrawlWhole(whole, env, "state", true).urls;
    }
    EXPECT_EQ(report.finished, known[key]);
    EXPECT_EQ(report.unique, report.finished);
  }
};

INSTANTIATE_TEST_SUITE_P(Shards, ClusterCrawlTest, testing::Values(2U, 5U, 16U));

TEST_P(ClusterCrawlTest, FetchesExactlyTheReachableSetOnce) {
  const Setting setting = Small(GetParam());
  const Report report = Crawl(setting, 1, {});
  ExpectExact(report, setting);
  EXPECT_EQ(report.account.pages_fetched, report.account.reachable);
  EXPECT_EQ(report.deaths, 0U);
}

TEST_P(ClusterCrawlTest, LosesNothingWhenMachinesDieAndAreCutOff) {
  const Setting setting = Small(GetParam());
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    const Report report = Crawl(setting, seed, {.deaths = 4, .cuts = 4, .server_away = 1});
    ExpectExact(report, setting);
    EXPECT_GE(report.deaths, 4U);
    std::printf("%u shards, seed %llu: %llu reachable, %llu deaths, %llu events, %.3f days; batches: %llu stored, %llu "
                "lost on their way, %llu doubled, %llu of old epochs, %llu of outboxes\n",
                GetParam(), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(report.account.reachable), static_cast<unsigned long long>(report.deaths),
                static_cast<unsigned long long>(report.events), report.days,
                static_cast<unsigned long long>(report.nats.stored), static_cast<unsigned long long>(report.nats.lost),
                static_cast<unsigned long long>(report.exchange.duplicates),
                static_cast<unsigned long long>(report.exchange.old_epochs),
                static_cast<unsigned long long>(report.exchange.resent));
  }
}

}  // namespace
}  // namespace portolan::sim
