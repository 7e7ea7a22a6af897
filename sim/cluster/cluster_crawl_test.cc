// Crawls on 2, 5 and 16 machines in virtual time: late, lost and doubled messages, machines that die and are cut off.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "sim/cluster/virtual_cluster.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

constexpr char kArchive[] = "warc";

struct Faults {
  int deaths = 0;
  int cuts = 0;  // of one machine, some longer than its lease
  int server_away = 0;
  int clock_jumps = 0;  // besides: each machine's calendar is wrong by hours from the start
};

struct Report {
  Account account;
  std::map<std::string, int> archived;  // how often each URL is in the archives of all
  uint64_t finished = 0;                // URLs, of all shards
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

  // Up to three hours before and after the true time.
  static int64_t WrongBy(uint32_t shard) {
    return (shard % 2 == 0 ? 1 : -1) * (static_cast<int64_t>(shard) * 47 % 180 + 10) * 60 * kSecond;
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
    for (uint32_t shard = 0; shard < setting.shards && faults.clock_jumps > 0; ++shard) {
      cluster.SetClockError(shard, WrongBy(shard));
    }
    Report report;
    const Status begun = cluster.Begin();
    EXPECT_TRUE(begun) << begun.error().ToString();
    std::mt19937_64 random(seed);
    // At random moments of the first two minutes, which is where most happens, and later ones.
    const auto moment = [&] {
      return static_cast<int64_t>(random() % 300) * kSecond + static_cast<int64_t>(random() % kSecond);
    };
    const auto node = [&] { return static_cast<uint32_t>(random() % setting.shards); };
    for (int i = 0; i < faults.deaths; ++i) {
      const CrashMode mode = random() % 2 == 0 ? CrashMode::kTorn : CrashMode::kKeepAll;
      time.At(moment(), [&cluster, shard = node(), mode] { cluster.Kill(shard, mode); });
    }
    for (int i = 0; i < faults.cuts; ++i) {
      const int64_t length_ns = static_cast<int64_t>(1 + random() % 25) * kSecond;
      time.At(moment(),
              [&cluster, &time, shard = node(), length_ns] { cluster.nats().Cut(shard, time.NowNs() + length_ns); });
    }
    for (int i = 0; i < faults.server_away; ++i) {
      time.At(moment(), [&cluster, &time] { cluster.nats().CutAll(time.NowNs() + 7 * kSecond); });
    }
    for (int i = 0; i < faults.clock_jumps; ++i) {
      const uint32_t shard = node();
      const int64_t error_ns = WrongBy(shard) + (static_cast<int64_t>(random() % 600) - 300) * kSecond;
      time.At(moment(), [&cluster, shard, error_ns] { cluster.SetClockError(shard, error_ns); });
    }
    const Status status = cluster.Run(20'000'000);
    EXPECT_TRUE(status) << status.error().ToString();
    cluster.AddCounters();
    report.exchange = cluster.total();
    report.nats = cluster.nats().counts();
    report.events = cluster.events();
    report.deaths = cluster.deaths();
    if (!status) {
      std::printf("at %.1f s, %llu events\n", static_cast<double>(time.NowNs()) * 1e-9,
                  static_cast<unsigned long long>(cluster.events()));
      for (uint32_t shard = 0; shard < setting.shards; ++shard) {
        if (!cluster.runs(shard)) continue;
        VirtualCrawl& crawl = cluster.crawl(shard);
        const auto counts = crawl.shard().frontier().counts();
        std::printf(
            "shard %u, epoch %llu: %s, state %d, %llu finished, %llu in the frontier, in flight %zu, next %.3f s\n",
            shard, static_cast<unsigned long long>(cluster.epoch(shard)), crawl.driver().state().c_str(),
            static_cast<int>(crawl.shard().state()),
            static_cast<unsigned long long>(crawl.shard().TakeCensus().finished),
            static_cast<unsigned long long>(counts.urls()), crawl.shard().in_flight(),
            static_cast<double>(crawl.driver().NextTurn(0) - time.NowNs()) * 1e-9);
      }
      return report;
    }
    for (uint32_t shard = 0; shard < setting.shards; ++shard) {
      EXPECT_EQ(cluster.crawl(shard).driver().state(), "done");
      report.finished += cluster.crawl(shard).shard().TakeCensus().finished;
      report.unique += cluster.crawl(shard).shard().seen().counts().unique;
      EXPECT_TRUE(cluster.crawl(shard).shard().frontier().CheckInvariants());
    }
    if (!options.crawl.archive_dir.empty()) {
      for (uint32_t shard = 0; shard < setting.shards; ++shard) AddArchived(cluster.env(shard), report.archived);
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

  static void AddArchived(Env& env, std::map<std::string, int>& urls) {
    const std::vector<std::string> names = env.List(kArchive).value();
    for (const std::string& name : names) {
      EXPECT_FALSE(name.ends_with(".part")) << name << ": all files are finished";
      if (!name.ends_with(".cdxj")) continue;
      const std::string text = ReadWholeFile(env, JoinPath(kArchive, name)).value();
      for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        ++urls[text.substr(at, text.find(' ', at) - at)];
      }
    }
  }

  static void ExpectExact(const Report& report, const Setting& setting) {
    EXPECT_EQ(report.account.TotalViolations(), 0U) << AccountTable(report.account);
    EXPECT_EQ(report.account.missed, 0U);
    EXPECT_EQ(report.account.fetched_of_reachable, report.account.reachable);
    // Every URL that one process would find has ended once, at its shard.
    EXPECT_EQ(report.finished, KnownUrls(setting));
    EXPECT_EQ(report.unique, report.finished);
  }

  // How many URLs one process would find.
  static uint64_t KnownUrls(const Setting& setting) {
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
    return known[key];
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

// What the archives hold at the end is what they would hold if nobody had died: what a death cut was fetched again.
TEST_P(ClusterCrawlTest, LosesNothingWhenMachinesDieAndAreCutOff) {
  const Setting setting = Small(GetParam());
  const auto archive = [](VirtualCluster::Options& options) { options.crawl.archive_dir = kArchive; };
  const Report quiet = Crawl(setting, 1, {}, archive);
  EXPECT_GT(quiet.archived.size(), 1000U);
  for (const auto& [url, times] : quiet.archived) EXPECT_EQ(times, 1) << url;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    const Report report = Crawl(setting, seed, {.deaths = 4, .cuts = 4, .server_away = 1}, archive);
    ExpectExact(report, setting);
    EXPECT_GE(report.deaths, 4U);
    EXPECT_TRUE(report.archived == quiet.archived);
  }
}

// Each shard counts its pages and hears of the others' once a second.
TEST_P(ClusterCrawlTest, ALimitOfPagesEndsAllSoon) {
  const Setting setting = Small(GetParam());
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  VirtualCluster::Options options = MakeCluster(setting, 8);
  options.crawl.shard.max_pages = 300;
  VirtualCluster cluster(*world, time, judge, options);
  ASSERT_TRUE(cluster.Begin());
  const Status status = cluster.Run(20'000'000);
  ASSERT_TRUE(status) << status.error().ToString();
  uint64_t pages = 0;
  for (uint32_t shard = 0; shard < setting.shards; ++shard) {
    EXPECT_EQ(cluster.crawl(shard).driver().state(), "done");
    pages += cluster.crawl(shard).driver().counts().pages();
  }
  EXPECT_GE(pages, 300U);
  EXPECT_LE(pages, 300U + 2 * 60U) << "60 hosts are hit once a second, and what each says is known after two";
}

// Copies are made now and then. As soon as one shard has found the end, another one's machine is lost for good: it goes
// on from its copy, which has everything that the others relied on, and nothing is left to do.
TEST_P(ClusterCrawlTest, AMachineThatIsLostInTheLastSecondsLosesNothing) {
  const Setting setting = Small(GetParam());
  const auto world = MakeWorld(setting);
  uint64_t lost_late = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    VirtualTime time(kBegin);
    Judge::Options rules = MakeRules(setting, true);
    rules.rules.fetches_per_url = 1000;  // what the copy has not is fetched again
    rules.rules.gap_from_end = false;
    Judge judge(*world, rules);
    VirtualCluster::Options options = MakeCluster(setting, seed);
    options.copies = true;
    options.crawl.checkpoint_ns = 3 * kSecond;
    VirtualCluster cluster(*world, time, judge, options);
    ASSERT_TRUE(cluster.Begin());
    std::function<void()> copy = [&] {
      for (uint32_t shard = 0; shard < setting.shards; ++shard) {
        if (!cluster.over(shard)) cluster.TakeCopy(shard);
      }
      time.At(time.NowNs() + 70 * kSecond, copy);
    };
    time.At(static_cast<int64_t>(5 + 13 * seed) * kSecond, copy);
    // One in the middle, and one at the end.
    time.At(100 * kSecond, [&] { cluster.Lose(0); });
    bool lost = false;
    for (int i = 0; i < 1'000'000; ++i) {
      const auto more = cluster.Step();
      ASSERT_TRUE(more) << more.error().ToString();
      if (!*more) break;
      if (lost) continue;
      uint32_t over = 0;
      std::optional<uint32_t> victim;
      for (uint32_t shard = 0; shard < setting.shards; ++shard) {
        over += cluster.over(shard) ? 1U : 0U;
        if (!cluster.over(shard) && cluster.runs(shard)) victim = shard;
      }
      if (over == 0 || !victim) continue;
      lost = true;
      ++lost_late;
      cluster.Lose(*victim);
    }
    uint64_t finished = 0;
    for (uint32_t shard = 0; shard < setting.shards; ++shard) {
      ASSERT_TRUE(cluster.over(shard)) << shard << " goes on without end";
      EXPECT_EQ(cluster.crawl(shard).driver().state(), "done");
      finished += cluster.crawl(shard).shard().TakeCensus().finished;
    }
    EXPECT_EQ(finished, KnownUrls(setting));
    const Account account = judge.Finish(time.UnixNs());
    EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  }
  EXPECT_GT(lost_late, 2U);
}

// Half of all domains share two addresses, which all machines want.
TEST_P(ClusterCrawlTest, AddressesAreSharedPolitelyWhateverHappens) {
  Setting setting = Small(GetParam());
  setting.set = {{"domains", "40"}, {"pages", "500"}, {"shared_address", "0.9"}, {"shared_addresses", "2"}};
  setting.ip_delay_ns = 2 * kSecond;
  const Report quiet = Crawl(setting, 3, {});
  ExpectExact(quiet, setting);
  EXPECT_EQ(quiet.account.pages_fetched, quiet.account.reachable);
  EXPECT_GT(quiet.exchange.notices_sent, 100U);
  const Report hard = Crawl(setting, 4, {.deaths = 4, .cuts = 4, .server_away = 1});
  ExpectExact(hard, setting);
  if (std::getenv("PORTOLAN_TELL") != nullptr) {
    std::printf("quiet %llu events, %.0f s, %llu notices; hard %llu events, %.0f s, %llu notices\n",
                static_cast<unsigned long long>(quiet.events), quiet.days * 86400,
                static_cast<unsigned long long>(quiet.exchange.notices_sent),
                static_cast<unsigned long long>(hard.events), hard.days * 86400,
                static_cast<unsigned long long>(hard.exchange.notices_sent));
  }
}

// A window and a stream with room for a few batches, and a disk for few more: results wait, and nothing is lost.
TEST_P(ClusterCrawlTest, FullStreamsAndDisksPushBack) {
  const Setting setting = Small(GetParam());
  const Report report =
      Crawl(setting, 5, {.deaths = 3, .cuts = 3, .server_away = 1}, [](VirtualCluster::Options& options) {
        options.exchange.window_bytes = 600;
        options.exchange.out_bytes = 300;
        options.exchange.in_bytes = 500;
        options.exchange.spill_bytes = 3000;
        options.nats.stream_bytes = 6000;
        options.crawl.checkpoint_ns = 3 * kSecond;  // which makes room in the streams
        options.crawl.shard.sent_share = 0;         // as many links as there are
      });
  ExpectExact(report, setting);
  EXPECT_GT(report.nats.full, 0U);
  EXPECT_GT(report.exchange.spilled, 0U);
}

// No machine's calendar is right, and each is set again and again, by minutes: nothing that machines do together asks
// it. robots.txt gets old several times, by the calendar that each shard keeps for itself.
TEST_P(ClusterCrawlTest, ClocksMayDifferByHoursAndBeSet) {
  const Setting setting = Small(GetParam());
  const auto change = [](VirtualCluster::Options& options) {
    options.crawl.archive_dir = kArchive;
    options.crawl.shard.gate.robots_ttl_s = options.crawl.shard.gate.request_timeout_s = 90;
  };
  const Report right = Crawl(setting, 9, {}, change);
  const Report wrong = Crawl(setting, 9, {.clock_jumps = 60}, change);
  ExpectExact(wrong, setting);
  EXPECT_EQ(wrong.account.pages_fetched, wrong.account.reachable);
  EXPECT_TRUE(wrong.archived == right.archived);
  EXPECT_EQ(wrong.days, right.days) << "calendars change nothing, so the runs are the same";
  EXPECT_EQ(wrong.nats.stored, right.nats.stored);
  EXPECT_EQ(wrong.exchange.notices_sent, right.exchange.notices_sent);
  const Report hard = Crawl(setting, 10, {.deaths = 4, .cuts = 4, .server_away = 1, .clock_jumps = 60}, change);
  ExpectExact(hard, setting);
  EXPECT_GE(hard.deaths, 4U);
  EXPECT_TRUE(hard.archived == right.archived);
}

TEST_P(ClusterCrawlTest, WithBudgetsToo) {
  Setting setting = Small(GetParam());
  setting.budgets = true;
  setting.memory = uint64_t{40 * GetParam()} << 20;
  ExpectExact(Crawl(setting, 6, {.deaths = 3, .cuts = 3, .server_away = 1}), setting);
}

// Minutes: --gtest_also_run_disabled_tests.
TEST_P(ClusterCrawlTest, DISABLED_ManySeeds) {
  uint64_t deaths = 0;
  uint64_t events = 0;
  uint64_t resent = 0;
  uint64_t doubled = 0;
  const char* const first = std::getenv("PORTOLAN_FIRST_SEED");
  const uint64_t begin = first == nullptr ? 1000 : std::strtoull(first, nullptr, 10);
  for (uint64_t seed = begin; seed < begin + 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Setting setting = Small(GetParam());
    setting.set = {{"domains", "40"}, {"pages", "500"}};
    if (seed % 2 == 0) {
      setting.set.insert(setting.set.end(), {{"shared_address", "0.9"}, {"shared_addresses", "2"}});
      setting.ip_delay_ns = kSecond;
    }
    const bool tight = seed % 3 == 0;
    const Report report =
        Crawl(setting, seed, {.deaths = 6, .cuts = 6, .server_away = 2}, [&](VirtualCluster::Options& options) {
          options.crawl.checkpoint_ns = static_cast<int64_t>(2 + seed % 20) * kSecond;
          if (!tight) return;
          options.exchange.window_bytes = 600;
          options.exchange.out_bytes = 300;
          options.exchange.in_bytes = 500;
          options.exchange.spill_bytes = 3000;
          options.nats.stream_bytes = 6000;
        });
    ExpectExact(report, setting);
    deaths += report.deaths;
    events += report.events;
    resent += report.exchange.resent;
    doubled += report.exchange.duplicates + report.nats.duplicates;
  }
  std::printf("%u shards, 40 seeds from %llu: %llu deaths, %llu events, %llu batches from outboxes, %llu doubled\n",
              GetParam(), static_cast<unsigned long long>(begin), static_cast<unsigned long long>(deaths),
              static_cast<unsigned long long>(events), static_cast<unsigned long long>(resent),
              static_cast<unsigned long long>(doubled));
}

}  // namespace
}  // namespace portolan::sim
