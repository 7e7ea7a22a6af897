// Where a URL is: what LocateUrl finds in a checkpoint, compared with the shard's own census of that moment.

#include <gtest/gtest.h>

#include <map>

#include "crawl/locate_url.h"
#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;

std::unique_ptr<World> SmallWorld() {
  WorldParams params = LoadProfile("demo").value();
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"domains", "40"}, {"pages", "1200"}, {"size_exponent", "1.1"}}) {
    EXPECT_TRUE(SetParam(params, key, value)) << key;
  }
  return World::Create(params, 4).value();
}

VirtualCrawl::Options SmallOptions(bool budgets) {
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 6;
  options.shard.sitemaps = false;
  options.shard.frontier.memory = budgets ? uint64_t{2} << 20 : uint64_t{16} << 10;  // the latter: some is spilled
  options.shard.frontier.block_bytes = 512;
  options.shard.frontier.back_queues = budgets ? 8 : 5;
  if (!budgets) options.shard.frontier.max_hosts = 6;  // so that front queues fill
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = uint64_t{2} << 20;
  options.shard.gate.memory = uint64_t{2} << 20;
  options.shard.admission.enabled = budgets;
  options.shard.admission.star.memory = uint64_t{2} << 20;
  options.shard.admission.star.budget_function = "equal budget=1";
  options.shard.admission.beast.max_queues = 8;
  options.begin_unix_ns = kBegin;
  return options;
}

class LocateSlowTest : public testing::TestWithParam<bool> {};

TEST_P(LocateSlowTest, EveryUrlIsFoundWhereTheCensusCountsIt) {
  const auto world = SmallWorld();
  MemEnv env;
  VirtualTime time(kBegin);
  Judge::Options rules;
  Judge judge(*world, rules);
  const auto crawl = VirtualCrawl::Open(env, *world, time, judge, SmallOptions(GetParam())).value();
  ASSERT_TRUE(crawl->Seed());
  std::map<UrlPlace, uint64_t> ever;
  uint64_t spilled = 0;
  for (int stop = 0; stop < 8; ++stop) {
    ASSERT_TRUE(crawl->Run(300));
    ASSERT_TRUE(crawl->Checkpoint());
    const Shard::Census census = crawl->shard().TakeCensus();
    const std::vector<std::string> names = env.List("state").value();
    std::map<UrlPlace, uint64_t> places;
    uint64_t ended = 0;
    uint64_t seen = 0;
    for (uint64_t page = 0; page < world->TotalPages(); ++page) {
      const std::string url = world->UrlOf(world->FromDense(page));
      const auto found = LocateUrl(env, url, {.state_dir = "state", .progress = {}});
      ASSERT_TRUE(found.has_value()) << found.error().ToString();
      EXPECT_EQ(found->budgets, GetParam());
      // The time of the last event that the frontier saw.
      EXPECT_LE(found->checkpoint_unix_ns, time.UnixNs());
      EXPECT_GE(found->checkpoint_unix_ns, time.UnixNs() - kSecond);
      ++places[found->place];
      ++ever[found->place];
      spilled += found->detail.find("on disk") != std::string::npos ? 1 : 0;
      if (!found->seen) {
        EXPECT_EQ(found->place, UrlPlace::kUnknown);
        continue;
      }
      seen += found->place != UrlPlace::kUnchecked ? 1 : 0;
      ended += found->place == UrlPlace::kUnknown ? 1 : 0;
      EXPECT_EQ(found->queues_ahead.has_value() && *found->queues_ahead >= 8, false);
      if (GetParam() && found->place != UrlPlace::kUnchecked) {
        ASSERT_TRUE(found->domain.has_value()) << url;
        EXPECT_GT(found->domain->record.passed, 0U);
        EXPECT_EQ(found->domain->record.waiting() > 0 || found->place == UrlPlace::kUnknown, true) << url;
      }
    }
    EXPECT_EQ(seen, crawl->shard().seen().counts().unique) << "this world has no other URLs";
    EXPECT_EQ(ended, census.finished);
    EXPECT_EQ(places[UrlPlace::kBudgetQueue] + places[UrlPlace::kBudgetFailed], census.admission);
    EXPECT_EQ(places[UrlPlace::kRobots], census.gate);
    EXPECT_EQ(places[UrlPlace::kFront] + places[UrlPlace::kBack], census.frontier + census.in_flight - census.robots);
    EXPECT_LE(places[UrlPlace::kUnchecked], census.unanswered);
    EXPECT_EQ(env.List("state").value(), names) << "looking changed the directory";
  }
  EXPECT_GT(ever[UrlPlace::kBack], 0U);
  if (GetParam()) {
    EXPECT_GT(ever[UrlPlace::kBudgetQueue], 0U);
    EXPECT_GT(ever[UrlPlace::kBudgetFailed], 0U);
  } else {
    // With budgets nothing stays unchecked for long: STAR must judge URLs before the queue is empty.
    EXPECT_GT(ever[UrlPlace::kUnchecked], 0U);
    EXPECT_GT(ever[UrlPlace::kFront], 0U);
    EXPECT_GT(spilled, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, LocateSlowTest, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "WithBudgets" : "WithoutBudgets"; });

}  // namespace
}  // namespace portolan::sim
