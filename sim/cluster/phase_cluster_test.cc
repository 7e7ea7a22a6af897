// Crawls that are divided by phases, on several machines in virtual time: calendars that are minutes wrong, seconds
// that are longer or shorter, answers about the time that are late on one way, machines that die and are cut off, and a
// server whose own clock is set.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "sim/cluster/virtual_cluster.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

struct PhaseFaults {
  int deaths = 0;
  int cuts = 0;
  int steps = 0;  // of the server's clock
};

class PhaseClusterTest : public testing::TestWithParam<uint32_t> {
 protected:
  static constexpr int64_t kSettleNs = 90 * kSecond;  // max_delay, and the longest fetch
  static constexpr int64_t kAllowedNs = kSecond;
  static constexpr int64_t kDriftPpm = 1'000;
  static constexpr int64_t kSlackNs = 200 * kMillisecond;  // a minute on a machine's clock is so much shorter

  static Setting Small(uint32_t shards) {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1000"}};
    setting.connections = 64;
    setting.memory = uint64_t{32 * shards} << 20;
    setting.shards = shards;
    setting.checkpoint_ns = 60 * kSecond;
    setting.phases =
        PhasePartition::Options{.phases = shards, .period_ns = 600 * kSecond, .gap_ns = kSettleNs + 4 * kAllowedNs};
    return setting;
  }

  struct Report {
    Account account;
    uint64_t jumps = 0;
    uint64_t deaths = 0;
  };

  static Report Crawl(const Setting& setting, uint64_t seed, const PhaseFaults& faults) {
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge::Options rules = MakeRules(setting, true);
    rules.rules.slack_ns = kSlackNs;
    if (faults.deaths + faults.cuts > 0) {
      rules.rules.fetches_per_url = 1000;
      rules.rules.gap_from_end = false;  // requests that were running have no end
    }
    Judge judge(*world, rules);
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    VirtualCluster::Options options;
    options.crawl = MakeOptions(setting);
    options.crawl.shard.frontier.politeness.max_delay_ns = 60 * kSecond;
    options.crawl.checkpoint_step_ns = kSecond / 5;
    options.crawl.shard.frontier.lease_ns = 20 * kSecond;
    options.nats.shards = setting.shards;
    options.nats.seed = seed;
    options.nats.drift_ppm = below(2 * kDriftPpm) - kDriftPpm;
    options.exchange.phase_clock = {.allowed_ns = kAllowedNs, .trust_ns = 30 * kSecond, .settle_ns = kSettleNs};
    for (uint32_t machine = 0; machine < setting.shards; ++machine) {
      options.clocks.push_back(
          {.drift_ppm = below(2 * kDriftPpm) - kDriftPpm, .calendar_error_ns = (below(1200) - 600) * kSecond});
    }
    VirtualCluster cluster(*world, time, judge, options);
    const Status begun = cluster.Begin();
    EXPECT_TRUE(begun) << begun.error().ToString();
    const auto moment = [&] { return below(7200) * kSecond + below(kSecond); };
    const auto machine = [&] { return static_cast<uint32_t>(below(setting.shards)); };
    for (int i = 0; i < faults.deaths; ++i) {
      time.At(moment(), [&cluster, shard = machine()] { cluster.Kill(shard, CrashMode::kTorn); });
    }
    for (int i = 0; i < faults.cuts; ++i) {
      const int64_t length_ns = (1 + below(60)) * kSecond;
      time.At(moment(),
              [&cluster, &time, shard = machine(), length_ns] { cluster.nats().Cut(shard, time.NowNs() + length_ns); });
    }
    // When all have just begun to fetch, by about one period: whoever sees it first has another's group.
    const PhasePartition partition(*setting.phases);
    for (int i = 0; i < faults.steps; ++i) {
      const int64_t server_ns = cluster.nats().ServerUnixNs();
      const int64_t turn_ns = partition.NextSwap(server_ns) + (2 * i + below(2)) * setting.phases->period_ns;
      const int64_t at_ns = turn_ns + setting.phases->gap_ns + below(8 * kSecond) - server_ns;
      const int64_t step_ns = (below(2) == 0 ? 1 : -1) * setting.phases->period_ns + below(2 * kSecond) - kSecond;
      time.At(at_ns, [&cluster, step_ns] { cluster.nats().SetClock(step_ns); });
    }
    const Status status = cluster.Run(40'000'000);
    EXPECT_TRUE(status) << status.error().ToString();
    Report report;
    if (!status) return report;
    cluster.AddCounters();
    report.jumps = cluster.total().clock_jumps;
    report.deaths = cluster.deaths();
    for (uint32_t shard = 0; shard < setting.shards; ++shard) {
      EXPECT_EQ(cluster.crawl(shard).driver().state(), "done");
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
    return report;
  }

  static void ExpectExact(const Report& report) {
    EXPECT_EQ(report.account.TotalViolations(), 0U) << AccountTable(report.account);
    EXPECT_EQ(report.account.missed, 0U);
    EXPECT_EQ(report.account.fetched_of_reachable, report.account.reachable);
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, PhaseClusterTest, testing::Values(2U, 3U, 5U));

TEST_P(PhaseClusterTest, WrongCalendarsAndUnequalSecondsLoseNothingAndBreakNoGap) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const Report report = Crawl(Small(GetParam()), seed, {});
    ExpectExact(report);
    EXPECT_EQ(report.account.pages_fetched, report.account.reachable);
    EXPECT_EQ(report.jumps, 0U) << "a late answer is not a jump";
  }
}

TEST_P(PhaseClusterTest, NeitherDeathsNorCutsNorASetServerClockDo) {
  uint64_t jumps = 0;
  uint64_t deaths = 0;
  const char* const asked = std::getenv("PHASE_CLUSTER_SEEDS");
  const uint64_t seeds = asked == nullptr ? 3 : std::strtoull(asked, nullptr, 10);
  for (uint64_t seed = 11; seed < 11 + seeds; ++seed) {
    const Report report = Crawl(Small(GetParam()), seed, {.deaths = 3, .cuts = 6, .steps = 4});
    ExpectExact(report);
    if (HasFailure()) FAIL() << "seed " << seed;
    jumps += report.jumps;
    deaths += report.deaths;
  }
  EXPECT_GT(jumps, 0U);
  EXPECT_GT(deaths, 5U);
}

// What the clock is for: by their own calendars the same machines hit one host at the same time.
TEST_P(PhaseClusterTest, ByTheirOwnCalendarsTheMachinesWouldBreakGaps) {
  Setting setting = Small(GetParam());
  uint64_t violations = 0;
  for (uint64_t seed = 1; seed <= 3 && violations == 0; ++seed) {
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge::Options rules = MakeRules(setting, true);
    rules.rules.slack_ns = kSlackNs;
    Judge judge(*world, rules);
    VirtualCluster::Options options;
    options.crawl = MakeOptions(setting);
    options.crawl.shard.frontier.lease_ns = 20 * kSecond;
    options.nats.shards = setting.shards;
    options.nats.seed = seed;
    for (uint32_t machine = 0; machine < setting.shards; ++machine) {
      options.clocks.push_back({.drift_ppm = 0, .calendar_error_ns = machine * 300 * kSecond});
    }
    VirtualCluster cluster(*world, time, judge, options);
    ASSERT_TRUE(cluster.Begin());
    ASSERT_TRUE(cluster.Run(40'000'000));
    violations += judge.Finish(time.UnixNs()).TotalViolations();
  }
  EXPECT_GT(violations, 0U);
}

}  // namespace
}  // namespace portolan::sim
