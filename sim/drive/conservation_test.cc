// Every new URL is in exactly one place, at every moment of random crawls with budgets, and after crashes.

#include <gtest/gtest.h>

#include "io/mem_env.h"
#include "io/rng.h"
#include "reputation/domain_list.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;

Status ExpectAllThere(const Shard& shard) {
  const Shard::Census census = shard.TakeCensus();
  const uint64_t unique = shard.seen().counts().unique;
  if (census.urls() == unique) return {};
  return Fail(ErrorCode::kCorrupt, std::to_string(unique) + " URLs were new, " + std::to_string(census.urls()) +
                                       " are accounted for: admission " + std::to_string(census.admission) + ", gate " +
                                       std::to_string(census.gate) + ", frontier " + std::to_string(census.frontier) +
                                       ", in flight " + std::to_string(census.in_flight) + ", robots " +
                                       std::to_string(census.robots) + ", finished " + std::to_string(census.finished));
}

// The domains' records have counted every end.
void ExpectEndsCounted(MemEnv& env, const std::string& dir, const Shard& shard) {
  DomainListOptions options;
  options.rows = true;
  const Manifest manifest = Manifest::Read(env, dir).value();
  uint64_t lines = 0;
  const auto totals = ForEachDomain(env, manifest, options, [&](const DomainLine&) { ++lines; });
  ASSERT_TRUE(totals.has_value()) << totals.error().ToString();
  EXPECT_GT(lines, 10U);
  EXPECT_EQ(totals->fetched, shard.counts().pages());
  EXPECT_EQ(totals->fetched + totals->failed, shard.counts().finished());
  EXPECT_EQ(totals->passed, shard.seen().counts().unique);
  EXPECT_EQ(totals->waiting, totals->passed - shard.counts().finished());
  EXPECT_EQ(shard.admission()->ends().dropped(), 0U);
}

VirtualCrawl::Options OptionsOf(uint64_t seed) {
  Rng rng(seed);
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = static_cast<uint32_t>(4 + rng.Below(60));
  options.shard.max_pages = 1500;  // traps and farms are endless
  options.shard.frontier.memory = uint64_t{2} << 20;
  options.shard.frontier.back_queues = options.shard.connections / 2;  // a small window, so that budgets have an effect
  options.shard.frontier.politeness.host_delay_ns = 4 * kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.frontier.politeness.host_delay_floor_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_floor_ns = kSecond / 50;
  options.shard.frontier.politeness.base_budget = 2;
  options.shard.seen.memory = uint64_t{2} << 20;
  options.shard.gate.memory = uint64_t{2} << 20;
  options.shard.admission.enabled = true;
  options.shard.admission.star.memory = uint64_t{2} << 20;
  options.shard.admission.star.budget_function = "ranked top=50 least=2 most=200";
  options.shard.admission.beast.max_queues = 16;
  options.shard.admission.yield.memory = uint64_t{64} << 10;
  options.shard.admission.hosts.memory = uint64_t{64} << 10;
  options.shard.admission.hosts.base = 2;
  options.checkpoint_ns = static_cast<int64_t>(5 + rng.Below(30)) * kSecond;
  return options;
}

Judge::Options Rules() {
  Judge::Options judge;
  judge.rules.host_gap_ns = kSecond;
  judge.rules.ip_gap_ns = kSecond / 50;
  judge.rules.slack_ns = 0;
  judge.rules.connections = 1;
  return judge;
}

TEST(ConservationSlowTest, EveryUrlIsInOnePlaceAtEveryMoment) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    WorldParams params = LoadProfile(seed % 2 == 0 ? "evil" : "spam").value();
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"domains", "60"}, {"pages", "2000"}, {"spam_domains", "30"}, {"giant_pages", "1000"}}) {
      ASSERT_TRUE(SetParam(params, key, value)) << key;
    }
    const auto world = World::Create(params, seed).value();
    MemEnv env;
    Judge judge(*world, Rules());
    VirtualCrawl::Options options = OptionsOf(seed);
    Rng rng(seed + 100);
    int64_t begin_ns = 0;
    uint64_t most_waiting = 0;
    for (int life = 0;; ++life) {
      VirtualTime time(kBegin + begin_ns);
      VirtualCrawl* running = nullptr;
      options.begin_unix_ns = kBegin + begin_ns;
      options.after_event = [&](uint64_t) -> Status {
        most_waiting = std::max(most_waiting, running->shard().TakeCensus().admission);
        return ExpectAllThere(running->shard());
      };
      auto crawl = VirtualCrawl::Open(env, *world, time, judge, options);
      ASSERT_TRUE(crawl.has_value()) << crawl.error().ToString();
      running = crawl->get();
      ASSERT_TRUE(ExpectAllThere(running->shard()));
      ASSERT_TRUE(running->Seed());
      const bool last = life == 3;
      const Status status = running->Run(last ? 50'000'000 : 1000 + rng.Below(6000));
      ASSERT_TRUE(status) << "seed " << seed << ", life " << life << ": " << status.error().ToString();
      if (last) {
        EXPECT_EQ(running->shard().state(), Shard::State::kDone);
        ASSERT_TRUE(running->Checkpoint());
        ExpectEndsCounted(env, options.state_dir, running->shard());
        break;
      }
      begin_ns += time.NowNs() + kSecond;
      crawl->reset();
      env.Crash(life % 2 == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn, seed);
    }
    EXPECT_GT(most_waiting, 50U) << "budgets held no URL back, seed " << seed << ", " << options.shard.connections
                                 << " connections";
    const Account account = judge.Finish(kBegin + begin_ns);
    EXPECT_EQ(account.Of(Violation::kHostGap), 0U) << AccountTable(account);
    EXPECT_EQ(account.Of(Violation::kIpGap), 0U) << AccountTable(account);
  }
}

// With few connections the robots loop soon holds as many URLs as the frontier wants, while BEAST's queues hold more:
// URLs at the gate must still go on. Politeness requires two minutes at most here; a gate that waits for its own
// timeouts takes half an hour, with the first of these seeds.
TEST(ConservationTest, AFullGateAndFullQueuesDoNotWaitForEachOther) {
  for (const uint64_t seed : {51, 55, 86, 126, 137, 1, 2}) {
    WorldParams params = LoadProfile("spam").value();
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"domains", "60"}, {"pages", "3000"}, {"spam_domains", "30"}, {"giant_pages", "1000"}}) {
      ASSERT_TRUE(SetParam(params, key, value)) << key;
    }
    const auto world = World::Create(params, seed).value();
    MemEnv env;
    Judge judge(*world, Rules());
    VirtualCrawl::Options options = OptionsOf(seed);
    options.shard.connections = 8;
    options.shard.max_pages = 400;
    options.shard.frontier.back_queues = 24;
    options.shard.frontier.politeness = {};
    options.shard.frontier.politeness.host_delay_ns = kSecond / 50;
    options.shard.frontier.politeness.ip_delay_ns = kSecond / 500;
    options.shard.frontier.politeness.delay_factor = 0;
    options.shard.admission.star.budget_function = "ranked top=50 least=2 most=40";
    options.shard.admission.beast.max_queues = 8;
    options.begin_unix_ns = kBegin;
    VirtualTime time(kBegin);
    const auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    ASSERT_TRUE(crawl->Seed());
    ASSERT_TRUE(crawl->Run(1'000'000));
    EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
    EXPECT_EQ(crawl->shard().counts().pages(), 400U);
    EXPECT_LT(time.NowNs(), 120 * kSecond) << "seed " << seed;
  }
}

}  // namespace
}  // namespace portolan::sim
