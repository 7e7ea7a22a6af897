#include "sim/drive/virtual_crawl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/mem_env.h"
#include "io/process.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

TEST(VirtualCrawlTest, FetchesExactlyTheReachableSetPolitely) {
  MemEnv env;
  const Outcome outcome = CrawlWhole({}, env, "state", true);
  ExpectClean(outcome);
  EXPECT_GT(outcome.account.reachable, 100U);
}

TEST(VirtualCrawlTest, TheSameSeedGivesTheSameOrder) {
  Setting setting;
  setting.profile = "demo";
  setting.set = {{"domains", "60"}, {"pages", "1500"}};
  MemEnv first;
  MemEnv second;
  const Outcome a = CrawlWhole(setting, first, "state", true);
  const Outcome b = CrawlWhole(setting, second, "state", true);
  ExpectClean(a);
  EXPECT_EQ(a.order_hash, b.order_hash);
  setting.seed = 2;
  MemEnv third;
  EXPECT_NE(CrawlWhole(setting, third, "state", true).order_hash, a.order_hash);
}

// The key decides where things are stored, not what is fetched; a resumed crawl keeps the key of its manifest.
TEST(VirtualCrawlTest, AnotherKeyFetchesTheSameSet) {
  for (const bool budgets : {false, true}) {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1500"}};
    setting.budgets = budgets;
    MemEnv first;
    MemEnv second;
    const Outcome known = CrawlWhole(setting, first, "state", true);
    setting.key = HashKey({1, 2, 3, 4});
    setting.checkpoint_ns = 20 * kSecond;
    const Outcome keyed = CrawlWhole(setting, second, "state", true);
    ExpectClean(keyed);
    EXPECT_EQ(keyed.account.pages_fetched, known.account.pages_fetched);
    EXPECT_EQ(keyed.counts.links, known.counts.links);

    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge judge(*world, MakeRules(setting, false));
    setting.key = HashKey({5, 6, 7, 8});
    VirtualCrawl::Options options = MakeOptions(setting);
    options.state_dir = "state";
    auto again = VirtualCrawl::Open(second, *world, time, judge, options).value();
    ASSERT_TRUE(again->Seed());
    ASSERT_TRUE(again->Run(1'000'000));
    EXPECT_EQ(again->shard().seen().counts().unique, keyed.urls) << "what is known is known under the stored key";
  }
}

// Budgets delay and never drop: given enough time everything is fetched, once, and in the same order each time.
TEST(VirtualCrawlTest, WithBudgetsTheSetIsTheSameAndSoIsTheOrder) {
  Setting setting;
  setting.profile = "demo";
  setting.set = {{"domains", "60"}, {"pages", "3000"}, {"size_exponent", "1.1"}};
  setting.connections = 16;
  setting.checkpoint_ns = 20 * kSecond;
  setting.budgets = true;
  MemEnv first;
  MemEnv second;
  const Outcome a = CrawlWhole(setting, first, "state", true);
  ExpectClean(a);
  const Outcome b = CrawlWhole(setting, second, "state", true);
  EXPECT_EQ(a.order_hash, b.order_hash);
  setting.budgets = false;
  MemEnv third;
  const Outcome without = CrawlWhole(setting, third, "state", true);
  EXPECT_EQ(without.account.pages_fetched, a.account.pages_fetched);
  EXPECT_NE(without.order_hash, a.order_hash) << "budgets changed nothing";
}

TEST(VirtualCrawlTest, EvilsNeverBreakThePoliteness) {
  Setting setting;
  setting.profile = "evil";
  setting.set = {{"domains", "100"}, {"pages", "2000"}};
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  // A request holds an address for at most half a minute, so that one tarpit does not stop all its neighbours: gaps
  // there count from the beginning.
  Judge::Options rules = MakeRules(setting, false);
  rules.rules.gap_from_end = false;
  Judge judge(*world, rules);
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.max_pages = 5000;  // traps are endless
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  const Status status = crawl->Run(20'000'000);
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
}

TEST(VirtualCrawlTest, ASmallSiteTakesNoLongerThanItsPolitenessAsks) {
  Setting setting;
  setting.set = {{"domains", "1"}, {"pages", "10"}, {"max_hosts", "1"}, {"latency_ms", "1"}};
  setting.ip_delay_ns = 0;
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, MakeOptions(setting)).value();
  ASSERT_TRUE(crawl->Seed());
  ASSERT_TRUE(crawl->Run(1'000'000));
  const uint64_t fetches = crawl->shard().counts().fetches;
  EXPECT_GE(fetches, 10U);
  // One delay between two fetches, and less than a second for everything else together.
  EXPECT_LT(time.NowNs(), static_cast<int64_t>(fetches) * kSecond) << fetches;
}

// The promise at full size: a million pages, each once, in the order that 40 s per host and 1 s per address allow.
TEST(VirtualCrawlSlowTest, AMillionPagesExactlyOnceWithinTheirMemory) {
  Setting setting;
  setting.profile = "million";
  setting.host_delay_ns = 40 * kSecond;
  setting.ip_delay_ns = kSecond;
  setting.memory = uint64_t{256} << 20;
  setting.connections = 2000;
  setting.checkpoint_ns = 600 * kSecond;
  const std::string dir = std::filesystem::temp_directory_path() / ("portolan-million-" + std::to_string(getpid()));
  const uint64_t before = ResidentBytes();
  const Outcome outcome = CrawlWhole(setting, Env::Posix(), dir, true);
  std::filesystem::remove_all(dir);
  ExpectClean(outcome);
  EXPECT_GE(outcome.account.reachable, 900'000U);
  EXPECT_LT(PeakResidentBytes() - before, setting.memory);
  std::printf("million: %llu pages, %.1f virtual days, peak RSS %.0f MiB\n",
              static_cast<unsigned long long>(outcome.account.pages_fetched),
              static_cast<double>(outcome.account.last_ns - outcome.account.first_ns) / 86400e9,
              static_cast<double>(PeakResidentBytes()) / (1 << 20));
}

}  // namespace
}  // namespace portolan::sim
