// The crawler's calendar is set forwards and backwards by days, while it runs and while it is stopped: the same URLs
// are fetched, no host is hit early, and no host waits for a day that was taken back.

#include <gtest/gtest.h>

#include "io/mem_env.h"
#include "sim/drive/virtual_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kBegin = 1'780'000'000'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

struct Jump {
  int64_t at_ns = 0;
  int64_t error_ns = 0;  // of the clock, from then on
  bool restart = false;  // the crawl is stopped before the jump and resumed after it
};

struct Ended {
  CrawlCounts counts;
  uint64_t pages = 0;
  int64_t took_ns = 0;
};

// A world with hosts whose robots.txt cannot be fetched: their URLs wait for an hour, twice.
Ended Crawl(const std::vector<Jump>& jumps) {
  WorldParams params = LoadProfile("demo").value();
  for (const auto& [key, value] : {std::pair{"domains", "40"}, {"pages", "1200"}, {"robots_error", "0.2"}}) {
    EXPECT_TRUE(SetParam(params, key, value)) << key;
  }
  const auto world = World::Create(params, 11).value();
  VirtualTime time(kBegin);
  Judge::Options rules;
  rules.rules.host_gap_ns = kSecond;
  rules.rules.ip_gap_ns = kSecond / 10;
  rules.rules.slack_ns = 0;
  rules.rules.gap_from_end = true;
  rules.rules.connections = 1;
  rules.rules.crawl_delay = true;
  rules.rules.fetches_per_url = 1;
  Judge judge(*world, rules);
  VirtualCrawl::Options options;
  options.shard.scope.mode = ScopeMode::kAny;
  options.shard.connections = 64;
  options.shard.sitemaps = false;
  options.shard.frontier.memory = 16 << 20;
  options.shard.frontier.back_queues = 192;
  options.shard.frontier.politeness.host_delay_ns = kSecond;
  options.shard.frontier.politeness.ip_delay_ns = kSecond / 10;
  options.shard.seen.memory = 16 << 20;
  options.shard.gate.memory = 8 << 20;
  size_t next = 0;
  options.stop_grace_ns = 3600 * kSecond;  // so what is in flight can end
  bool stopping = false;
  options.after_event = [&](uint64_t) -> Status {
    if (stopping || next == jumps.size() || time.NowNs() < jumps[next].at_ns) return {};
    if (jumps[next].restart) return Fail(ErrorCode::kClosed, "stop");
    time.SetClockError(jumps[next++].error_ns);
    return {};
  };
  MemEnv env;
  auto crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
  EXPECT_TRUE(crawl->Seed());
  Status status = crawl->Run(20'000'000);
  while (!status && next < jumps.size() && jumps[next].restart) {
    stopping = true;
    crawl->RequestStop();
    EXPECT_TRUE(crawl->Run());
    EXPECT_TRUE(crawl->Finish());
    crawl.reset();
    stopping = false;
    time.SetClockError(jumps[next++].error_ns);
    crawl = VirtualCrawl::Open(env, *world, time, judge, options).value();
    status = crawl->Run(20'000'000);
  }
  EXPECT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(crawl->shard().state(), Shard::State::kDone);
  const Account account = judge.Finish(time.TrueUnixNs());
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  return {crawl->shard().counts(), account.pages_fetched, time.NowNs()};
}

class ClockJumpTest : public testing::Test {
 protected:
  void ExpectTheSame(const std::vector<Jump>& jumps) {
    const Ended ended = Crawl(jumps);
    EXPECT_EQ(ended.pages, still_.pages);
    EXPECT_EQ(ended.counts.done, still_.counts.done);
    EXPECT_EQ(ended.counts.unreachable, still_.counts.unreachable);
    EXPECT_LT(ended.took_ns, still_.took_ns + 3600 * kSecond);
  }
  const Ended still_ = Crawl({});
};

TEST_F(ClockJumpTest, TheWorldHasWhatWouldWait) {
  EXPECT_GT(still_.counts.unreachable, 0U);
  EXPECT_GT(still_.took_ns, 3600 * kSecond);
  EXPECT_GT(still_.pages, 100U);
}

TEST_F(ClockJumpTest, BackwardsWhileItRuns) { ExpectTheSame({{.at_ns = 60 * kSecond, .error_ns = -10 * kDay}}); }

TEST_F(ClockJumpTest, ForwardsWhileItRuns) { ExpectTheSame({{.at_ns = 60 * kSecond, .error_ns = 10 * kDay}}); }

TEST_F(ClockJumpTest, ToAndFroWhileItRuns) {
  std::vector<Jump> jumps;
  for (int i = 1; i < 40; ++i) jumps.push_back({.at_ns = i * 20 * kSecond, .error_ns = (i % 5 - 2) * kDay});
  ExpectTheSame(jumps);
}

TEST_F(ClockJumpTest, BackwardsWhileItIsStopped) {
  ExpectTheSame({{.at_ns = 60 * kSecond, .error_ns = -10 * kDay, .restart = true}});
}

TEST_F(ClockJumpTest, ForwardsAndBackWhileItIsStopped) {
  ExpectTheSame({{.at_ns = 30 * kSecond, .error_ns = 10 * kDay, .restart = true},
                 {.at_ns = 90 * kSecond, .error_ns = 0, .restart = true}});
}

}  // namespace
}  // namespace portolan::sim
