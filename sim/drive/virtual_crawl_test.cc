#include "sim/drive/virtual_crawl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/mem_env.h"
#include "io/process.h"
#include "sim/world/reach.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;

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
};

std::unique_ptr<World> MakeWorld(const Setting& setting) {
  WorldParams params = LoadProfile(setting.profile).value();
  for (const auto& [key, value] : setting.set) EXPECT_TRUE(SetParam(params, key, value)) << key;
  return World::Create(params, setting.seed).value();
}

VirtualCrawl::Options MakeOptions(const Setting& setting) {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.key = setting.key;
  options.shard.connections = setting.connections;
  options.shard.sitemaps = false;  // the reachable set of the oracle is that of links
  options.shard.frontier.memory = setting.memory / 4;
  options.shard.frontier.back_queues = 3 * setting.connections;
  options.shard.frontier.politeness.host_delay_ns = setting.host_delay_ns;
  options.shard.frontier.politeness.ip_delay_ns = setting.ip_delay_ns;
  options.shard.seen.memory = setting.memory / 4;
  options.shard.gate.memory = setting.memory / 8;
  // A day of virtual time has as many early rounds as a real one, and each costs real time: let them seem dearer.
  options.shard.seen.pace.bytes_per_second = 500'000;
  options.shard.gate.pace.bytes_per_second = 500'000;
  options.shard.admission.enabled = setting.budgets;
  options.shard.admission.star.memory = setting.memory / 8;
  options.shard.admission.star.domains_pace.bytes_per_second = 500'000;
  options.shard.admission.star.edges_pace.bytes_per_second = 500'000;
  return options;
}

Judge::Options MakeRules(const Setting& setting, bool complete) {
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
  uint64_t urls = 0;  // that were new
};

Outcome CrawlWhole(const Setting& setting, Env& env, const std::string& dir, bool complete) {
  const auto world = MakeWorld(setting);
  VirtualTime time(kBegin);
  Judge judge(*world, MakeRules(setting, complete));
  VirtualCrawl::Options options = MakeOptions(setting);
  options.state_dir = dir;
  options.checkpoint_ns = setting.checkpoint_ns;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  const Status status = crawl->Run(200'000'000);
  EXPECT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
  const Shard::Census census = crawl->shard().TakeCensus();
  EXPECT_EQ(census.unanswered + census.admission + census.gate + census.frontier + census.in_flight, 0U);
  // Every URL that was new has come to an end.
  EXPECT_EQ(crawl->shard().seen().counts().unique, census.finished);

  ReachOptions reach;
  reach.unix_ns = kBegin;
  const Reach reachable = Enumerate(*world, reach);
  judge.Cover([&](const std::function<void(uint64_t)>& each) {
    for (uint64_t page = 0; page < world->TotalPages(); ++page) {
      if (reachable.Has(page)) each(page);
    }
  });
  return {judge.Finish(time.UnixNs()), crawl->OrderHash(), crawl->shard().counts(), census.finished};
}

void ExpectClean(const Outcome& outcome) {
  EXPECT_EQ(outcome.account.TotalViolations(), 0U) << AccountTable(outcome.account);
  EXPECT_EQ(outcome.account.missed, 0U);
  EXPECT_EQ(outcome.account.fetched_of_reachable, outcome.account.reachable);
  EXPECT_EQ(outcome.account.pages_fetched, outcome.account.reachable);
}

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

// The key decides where things are kept, not what is fetched; one that goes on keeps that of its manifest.
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

// Budgets delay and never drop: with all the time of the world everything is fetched, once, and in the same order
// twice.
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
  // An address is held by a request for half a minute at most, so that one tarpit does not stop all its neighbours:
  // gaps there count from the beginning.
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

// The promise at size: a million pages, each once, in the order that 40 s a host and 1 s an address allow.
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
