// A crawl divided by URLs and phases (frontier/phase_partition.h) in virtual time: it fetches what one divided by
// domains does, and hosts, which all shards have, are left alone as long.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/mem_env.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

class PhasesCrawlTest : public testing::TestWithParam<uint32_t> {
 protected:
  static Setting Small(uint32_t shards, uint32_t phases) {
    Setting setting;
    setting.profile = "demo";
    setting.set = {{"domains", "60"}, {"pages", "1500"}};
    setting.connections = 60;
    setting.memory = uint64_t{160} << 20;
    setting.shards = shards;
    setting.phases = PhasePartition::Options{.phases = phases, .period_ns = 600 * kSecond, .gap_ns = 60 * kSecond};
    return setting;
  }
  static Setting Small() { return Small(GetParam(), GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Shards, PhasesCrawlTest, testing::Values(2U, 3U, 5U));

TEST_P(PhasesCrawlTest, FetchExactlyTheReachableSetPolitely) {
  MemEnv env;
  const Outcome outcome = CrawlWhole(Small(), env, "state", true);
  ExpectClean(outcome);
  ASSERT_EQ(outcome.pages_by_shard.size(), GetParam());
  for (const uint64_t pages : outcome.pages_by_shard) {
    EXPECT_GT(pages * GetParam(), outcome.account.reachable * 8 / 10) << "URLs are spread evenly";
  }
}

TEST_P(PhasesCrawlTest, MorePhasesThanShardsAreAsPolite) {
  MemEnv env;
  ExpectClean(CrawlWhole(Small(GetParam(), 2 * GetParam() + 1), env, "state", true));
}

TEST_P(PhasesCrawlTest, TheSameOptionsGiveTheSameOrder) {
  MemEnv first;
  MemEnv second;
  EXPECT_EQ(CrawlWhole(Small(), first, "state", true).order_hash,
            CrawlWhole(Small(), second, "state", true).order_hash);
}

// Half of all domains share two addresses, whose hosts are in all groups: phases do not spare the leases.
TEST_P(PhasesCrawlTest, AddressesAreSharedPolitely) {
  Setting setting = Small();
  setting.set.insert(setting.set.end(), {{"shared_address", "0.9"}, {"shared_addresses", "2"}});
  setting.ip_delay_ns = 2 * kSecond;
  setting.host_delay_ns = 2 * kSecond;
  MemEnv env;
  ExpectClean(CrawlWhole(setting, env, "state", true));
}

TEST_P(PhasesCrawlTest, EvilsNeverBreakThePoliteness) {
  Setting setting = Small();
  setting.profile = "evil";
  setting.set = {{"domains", "50"}, {"pages", "1000"}};
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge::Options rules = MakeRules(setting, false);
  rules.rules.gap_from_end = false;  // an address is held for half a minute at most
  Judge judge(*world, rules);
  VirtualCrawl::Options options = MakeOptions(setting);
  options.shard.max_pages = 800;  // traps are endless
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  const Status status = crawl->Run(20'000'000);
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->driver().state(), "done");
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
}

// No request is made in a gap, and most hosts are fetched from in several periods, by one shard after the other.
TEST_P(PhasesCrawlTest, HostsAreFetchedFromInTheirTurnsOnly) {
  const Setting setting = Small();
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  VirtualCrawl::Options options = MakeOptions(setting);
  std::map<std::string, std::set<int64_t>> periods;
  options.on_hit = [&](const Hit& hit) {
    EXPECT_GE(hit.unix_ns % setting.phases->period_ns, setting.phases->gap_ns);
    periods[std::string(hit.host)].insert(hit.unix_ns / setting.phases->period_ns);
  };
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  ASSERT_TRUE(crawl->Run(20'000'000));
  EXPECT_EQ(crawl->driver().state(), "done");
  size_t several = 0;
  for (const auto& [host, when] : periods) several += when.size() > 1 ? 1U : 0U;
  EXPECT_GT(several, periods.size() / 4) << "shards take turns at a host";
}

// The turns of one process go by its steady clock.
TEST_P(PhasesCrawlTest, SettingTheCalendarSwapsNothing) {
  const Setting setting = Small();
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, false));
  VirtualCrawl::Options options = MakeOptions(setting);
  uint64_t late = 0;  // requests while the calendar is wrong
  options.on_hit = [&](const Hit& hit) {
    EXPECT_GE(hit.unix_ns % setting.phases->period_ns, setting.phases->gap_ns);
    late += time.NowNs() > 700 * kSecond ? 1 : 0;
  };
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  ASSERT_TRUE(crawl->Seed());
  time.At(700 * kSecond, [&] { time.SetClockError(250 * kSecond); });
  time.At(1400 * kSecond, [&] { time.SetClockError(-4000 * kSecond); });
  ASSERT_TRUE(crawl->Run(20'000'000));
  EXPECT_EQ(crawl->driver().state(), "done");
  EXPECT_GT(late, 100U);
  const Account account = judge.Finish(time.UnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
}

TEST_P(PhasesCrawlTest, NothingIsLostByPowerCuts) {
  Setting setting = Small();
  setting.set = {{"domains", "40"}, {"pages", "600"}};
  setting.checkpoint_ns = 5 * kSecond;
  const auto world = MakeWorld(setting);
  ReachOptions reach;
  reach.unix_ns = kBegin;
  const Reach reachable = Enumerate(*world, reach);
  Judge::Options rules = MakeRules(setting, true);
  rules.rules.fetches_per_url = 1000;  // what was fetched after the last checkpoint is fetched again
  rules.rules.gap_from_end = false;    // requests that were running have no end
  Judge judge(*world, rules);
  auto env = std::make_unique<MemEnv>();
  VirtualTime time(kBegin);
  VirtualCrawl::Options options = MakeOptions(setting);
  options.checkpoint_step_ns = kSecond / 5;
  options.exchange_bytes = 256;
  bool over = false;
  uint64_t cuts = 0;
  for (uint64_t cut = 300; !over && cut < 100'000; cut += 131, ++cuts) {
    auto crawl = VirtualCrawl::Open(*env, *world, time, judge, options).value();
    ASSERT_TRUE(crawl->Seed());
    const Status status = crawl->Run(cut);
    ASSERT_TRUE(status) << status.error().ToString();
    over = crawl->over();
    auto left = env->CrashedCopy(CrashMode::kTorn, cut);
    crawl.reset();
    env = std::move(left);
  }
  ASSERT_TRUE(over);
  EXPECT_GT(cuts, 5U);
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

// What `bench phases` says of a web that is known from the start, on one that is found while it is crawled.
TEST_P(PhasesCrawlTest, CostTimeAndRobotsBesideDomains) {
  Setting setting = Small();
  setting.set = {{"domains", "300"}, {"pages", "8000"}};
  setting.connections = 12;
  Setting by_domains = setting;
  by_domains.phases.reset();
  MemEnv env;
  MemEnv other;
  const Outcome phases = CrawlWhole(setting, env, "state", true);
  const Outcome domains = CrawlWhole(by_domains, other, "state", true);
  ExpectClean(phases);
  EXPECT_EQ(phases.account.pages_fetched, domains.account.pages_fetched);
  const auto minutes = [](const Outcome& outcome) {
    return static_cast<double>(outcome.account.last_ns - outcome.account.first_ns) / 60e9;
  };
  EXPECT_GT(phases.counts.robots, domains.counts.robots * 5 / 4);
  EXPECT_GT(minutes(phases), minutes(domains));
  std::printf("%u shards, %llu pages: %.0f minutes and %llu robots.txt by phases, %.0f and %llu by domains\n",
              GetParam(), static_cast<unsigned long long>(phases.account.pages_fetched), minutes(phases),
              static_cast<unsigned long long>(phases.counts.robots), minutes(domains),
              static_cast<unsigned long long>(domains.counts.robots));
}

class PhasesRefusedTest : public PhasesCrawlTest {
 protected:
  // The reason why it is refused; empty: it is not.
  static std::string Open(MemEnv& env, const Setting& setting, bool traps = false) {
    const auto world = MakeWorld(setting);
    VirtualTime time(kBegin);
    Judge judge(*world, MakeRules(setting, false));
    VirtualCrawl::Options options = MakeOptions(setting);
    options.shard.frontier.politeness.max_delay_ns = 60 * kSecond;
    options.shard.traps.enabled = traps;
    auto crawl = VirtualCrawl::Open(env, *world, time, judge, options);
    if (!crawl) return crawl.error().ToString();
    EXPECT_TRUE((*crawl)->Checkpoint());
    return "";
  }
};

TEST_F(PhasesRefusedTest, WhatCannotBePoliteOrExact) {
  const auto refused = [](const Setting& setting, bool traps = false) {
    MemEnv env;
    return Open(env, setting, traps);
  };
  const Setting good = Small(3, 3);
  EXPECT_EQ(refused(good), "");
  EXPECT_NE(refused(Small(3, 2)).find("too few for 3 shards"), std::string::npos);
  Setting setting = good;
  setting.phases->gap_ns = 59 * kSecond;
  EXPECT_NE(refused(setting).find("the longest delay of a host"), std::string::npos);
  setting = good;
  setting.phases->period_ns = setting.phases->gap_ns;
  EXPECT_NE(refused(setting).find("less than the period"), std::string::npos);
  setting = good;
  setting.budgets = true;
  EXPECT_NE(refused(setting).find("not possible with budgets"), std::string::npos);
  EXPECT_NE(refused(good, /*traps=*/true).find("not possible with budgets, traps"), std::string::npos);
}

TEST_F(PhasesRefusedTest, AnotherDivisionOfACrawlThatHasBegun) {
  MemEnv env;
  EXPECT_EQ(Open(env, Small(3, 3)), "");
  EXPECT_EQ(Open(env, Small(3, 3)), "");
  EXPECT_NE(Open(env, Small(3, 4)).find("begun with 3 phases"), std::string::npos);
  Setting setting = Small(3, 3);
  setting.phases->period_ns = 601 * kSecond;
  EXPECT_NE(Open(env, setting).find("begun with phases of 10 m 00 s"), std::string::npos);
  setting.phases.reset();
  EXPECT_NE(Open(env, setting).find("begun with 3 phases"), std::string::npos);
  MemEnv domains;
  EXPECT_EQ(Open(domains, setting), "");
  EXPECT_NE(Open(domains, Small(3, 3)).find("begun with 0 phases"), std::string::npos);
}

}  // namespace
}  // namespace portolan::sim
