// Several shards of one crawl in virtual time: together they fetch exactly what one would, and are as polite.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "io/mem_env.h"
#include "io/process.h"
#include "reputation/domain_list.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

class ShardsTest : public testing::TestWithParam<uint32_t> {
 protected:
  Setting Small() const {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1500"}};
    setting.connections = 60;
    setting.memory = uint64_t{160} << 20;  // a fifth is enough for a shard
    setting.shards = GetParam();
    return setting;
  }
  void ExpectAllHavePages(const Outcome& outcome) const {
    ASSERT_EQ(outcome.pages_by_shard.size(), GetParam());
    for (const uint64_t pages : outcome.pages_by_shard) EXPECT_GT(pages, 0U);
  }
};

INSTANTIATE_TEST_SUITE_P(Shards, ShardsTest, testing::Values(1U, 2U, 5U));

TEST_P(ShardsTest, FetchExactlyTheReachableSetPolitely) {
  MemEnv env;
  const Outcome outcome = CrawlWhole(Small(), env, "state", true);
  ExpectClean(outcome);
  ExpectAllHavePages(outcome);
  EXPECT_GT(outcome.account.reachable, 1000U);
}

TEST_P(ShardsTest, WithBudgetsToo) {
  Setting setting = Small();
  setting.budgets = true;
  setting.checkpoint_ns = 20 * kSecond;
  MemEnv env;
  const Outcome outcome = CrawlWhole(setting, env, "state", true);
  ExpectClean(outcome);
  ExpectAllHavePages(outcome);
}

TEST_P(ShardsTest, TheSameOptionsGiveTheSameOrder) {
  Setting setting = Small();
  setting.budgets = true;
  MemEnv first;
  MemEnv second;
  EXPECT_EQ(CrawlWhole(setting, first, "state", true).order_hash,
            CrawlWhole(setting, second, "state", true).order_hash);
}

// Half of all domains share two addresses, which all shards want.
TEST_P(ShardsTest, AddressesAreSharedPolitely) {
  Setting setting = Small();
  setting.set.insert(setting.set.end(), {{"shared_address", "0.9"}, {"shared_addresses", "2"}});
  setting.ip_delay_ns = 2 * kSecond;
  setting.host_delay_ns = 2 * kSecond;
  MemEnv env;
  ExpectClean(CrawlWhole(setting, env, "state", true));
}

// An exchange with room for hardly one page: results wait until the receivers have taken the messages.
TEST_P(ShardsTest, AnExchangeWithoutRoomDelaysAndLosesNothing) {
  Setting setting = Small();
  setting.exchange_bytes = 64;
  setting.checkpoint_ns = 5 * kSecond;
  MemEnv env;
  const Outcome outcome = CrawlWhole(setting, env, "state", true);
  ExpectClean(outcome);
  EXPECT_GT(outcome.events_waited, 0U);
}

TEST_P(ShardsTest, EvilsNeverBreakThePoliteness) {
  Setting setting = Small();
  setting.profile = "evil";
  setting.set = {{"domains", "100"}, {"pages", "2000"}};
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge::Options rules = MakeRules(setting, false);
  rules.rules.gap_from_end = false;  // an address is held for half a minute at most
  Judge judge(*world, rules);
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.max_pages = 5000;  // traps are endless
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  const Status status = crawl->Run(20'000'000);
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->driver().state(), "done");
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
}

TEST_P(ShardsTest, ALimitOfPagesIsMetExactly) {
  Setting setting = Small();
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.max_pages = 777;
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  ASSERT_TRUE(crawl->Run(20'000'000));
  EXPECT_EQ(crawl->driver().state(), "done");
  EXPECT_EQ(crawl->driver().counts().pages(), 777U);
  EXPECT_EQ(crawl->shard().limit_reached(), "max_pages");
}

// Cut anywhere by power failures, and resumed: what one shard sent to another is never lost.
TEST_P(ShardsTest, NothingIsLostByPowerCuts) {
  Setting setting = Small();
  setting.set = {{"domains", "40"}, {"pages", "600"}};
  setting.checkpoint_ns = 3 * kSecond;
  setting.budgets = true;
  const auto world = MakeWorld(setting);
  ReachOptions reach;
  reach.unix_ns = kBegin;
  const Reach reachable = Enumerate(*world, reach);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Judge::Options rules = MakeRules(setting, true);
    rules.rules.fetches_per_url = 1000;  // what was fetched after the last checkpoint is fetched again
    rules.rules.gap_from_end = false;    // requests that were running have no end
    Judge judge(*world, rules);
    auto env = std::make_unique<MemEnv>();
    VirtualTime time(kBegin);
    VirtualCrawl::Options options = MakeOptions(setting);
    options.checkpoint_step_ns = kSecond / 5;
    options.exchange_bytes = 256;
    uint64_t cut = 300 + 137 * seed;
    for (bool over = false; !over; cut += 400 + 61 * seed) {
      auto crawl = VirtualCrawl::Open(*env, *world, time, judge, options).value();
      ASSERT_TRUE(crawl->Seed());
      const Status status = crawl->Run(cut);
      ASSERT_TRUE(status) << status.error().ToString();
      over = crawl->over();
      if (over) {
        uint64_t unique = 0;
        uint64_t finished = 0;
        for (uint32_t i = 0; i < setting.shards; ++i) {
          unique += crawl->shard(i).seen().counts().unique;
          finished += crawl->shard(i).TakeCensus().finished;
        }
        EXPECT_EQ(unique, finished);
        EXPECT_EQ(crawl->driver().state(), "done");
        break;
      }
      auto left = env->CrashedCopy(CrashMode::kTorn, seed);
      crawl.reset();
      env = std::move(left);
    }
    judge.Cover([&](const std::function<void(uint64_t)>& each) {
      for (uint64_t page = 0; page < world->TotalPages(); ++page) {
        if (reachable.Has(page)) each(page);
      }
    });
    const Account account = judge.Finish(time.UnixNs());
    EXPECT_EQ(account.missed, 0U);
    EXPECT_EQ(account.fetched_of_reachable, account.reachable);
    EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  }
}

// Reputations are raised across shards: the in-degrees of all shards together are those of a crawl with one shard.
TEST(ShardsReputationTest, EveryEdgeIsCountedOnce) {
  std::map<uint32_t, uint64_t> raised;
  for (const uint32_t shards : {1U, 2U, 5U}) {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1500"}};
    setting.budgets = true;
    setting.memory = uint64_t{160} << 20;
    setting.shards = shards;
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge judge(*world, MakeRules(setting, false));
    VirtualCrawl::Options options = MakeOptions(setting);
    options.shard.admission.star.vouch_base = 0;  // so which edges count does not depend on their order
    MemEnv env;
    auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(20'000'000));
    uint64_t sent = 0;
    uint64_t arrived = 0;
    for (uint32_t i = 0; i < shards; ++i) {
      const Star& star = crawl->shard(i).admission()->star();
      const StarCounts counts = star.counts();
      raised[shards] += counts.edges_new + star.edges_waiting();
      sent += counts.edges_sent;
      arrived += counts.edges_arrived;
    }
    EXPECT_EQ(sent, arrived);
    EXPECT_EQ(sent > 0, shards > 1);
  }
  EXPECT_GT(raised[1], 0U);
  EXPECT_NEAR(static_cast<double>(raised[2]), static_cast<double>(raised[1]), 0.02 * static_cast<double>(raised[1]));
  EXPECT_NEAR(static_cast<double>(raised[5]), static_cast<double>(raised[1]), 0.02 * static_cast<double>(raised[1]));
}

// Ranks are those of the whole crawl: each domain has the budget that its in-degree would earn among the domains of all
// shards. With shards that ranked only their own, the first of each of five would have the budget of rank 3.
TEST(ShardsReputationTest, RanksAreThoseOfTheCrawl) {
  for (const uint32_t shards : {1U, 2U, 5U}) {
    SCOPED_TRACE(shards);
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "400"}, {"pages", "6000"}};
    setting.budgets = true;
    setting.memory = uint64_t{160} << 20;
    setting.shards = shards;
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge judge(*world, MakeRules(setting, false));
    VirtualCrawl::Options options = MakeOptions(setting);
    options.shard.admission.star.vouch_base = 0;
    options.shard.admission.star.budget_function = "ranked top=200 least=1 most=200";
    MemEnv env;
    auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(20'000'000));
    ASSERT_TRUE(crawl->Finish());
    const Manifest manifest = Manifest::Open(env, options.state_dir).value();
    std::vector<DomainLine> domains;
    InDegreeRanks all(200);
    for (uint32_t shard = 0; shard < shards; ++shard) {
      EXPECT_EQ(crawl->shard(shard).admission()->star().others().known(), shards);
      DomainListOptions list;
      list.star = ShardName(shard, "star");
      list.count = 10'000;
      ASSERT_TRUE(ForEachDomain(env, manifest, list, [&](const DomainLine& line) {
        domains.push_back(line);
        all.Add(line.record.in_degree);
      }));
    }
    const OtherShards nobody;
    CrawlRanks ranks(all, nobody);
    const BudgetTable earned = ParseBudgetFunction("ranked top=200 least=1 most=200").value()->Make(ranks);
    uint32_t worst = 0;
    for (const DomainLine& line : domains) {
      const uint32_t should = earned.BudgetOf(line.record.in_degree);
      worst = std::max(worst, line.budget > should ? line.budget - should : should - line.budget);
    }
    EXPECT_EQ(domains.size(), 400U);
    EXPECT_LE(worst, 2U) << "a shard's table is as old as its last round";
  }
}

class ShardsSlowTest : public testing::TestWithParam<uint32_t> {
 protected:
  // A large world on a real disk.
  static void CrawlLarge(uint64_t pages) {
    Setting setting;
    setting.profile = "million";
    setting.set = {{"pages", std::to_string(pages)}};
    setting.host_delay_ns = 40 * kSecond;
    setting.ip_delay_ns = kSecond;
    setting.memory = uint64_t{256} << 20;
    setting.connections = 2000;
    setting.checkpoint_ns = 600 * kSecond;
    setting.shards = GetParam();
    const std::string dir = std::filesystem::temp_directory_path() / ("portolan-shards-" + std::to_string(getpid()));
    const Outcome outcome = CrawlWhole(setting, Env::Posix(), dir, true);
    std::filesystem::remove_all(dir);
    ExpectClean(outcome);
    EXPECT_GE(outcome.account.reachable, pages / 10 * 9);
    std::printf("%llu pages with %u shards: %llu reachable and fetched, %.1f virtual days, peak RSS %.0f MiB\n",
                static_cast<unsigned long long>(pages), GetParam(),
                static_cast<unsigned long long>(outcome.account.pages_fetched),
                static_cast<double>(outcome.account.last_ns - outcome.account.first_ns) / 86400e9,
                static_cast<double>(PeakResidentBytes()) / (1 << 20));
  }
};

INSTANTIATE_TEST_SUITE_P(Shards, ShardsSlowTest, testing::Values(2U, 5U));

TEST_P(ShardsSlowTest, ALargeWebExactlyOnce) { CrawlLarge(100'000); }

// Two minutes each: --gtest_also_run_disabled_tests.
TEST_P(ShardsSlowTest, DISABLED_AMillionPagesExactlyOnce) { CrawlLarge(1'000'000); }

}  // namespace
}  // namespace portolan::sim
