// Crawls that come back, in virtual time: a living web with servers of every bad habit, judged.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/mem_env.h"
#include "io/rng.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;

Setting Living() {
  Setting setting;
  setting.set = {
      {"domains", "12"},       {"pages", "600"},        {"sitemaps", "1"},        {"change_days", "4"},
      {"boilerplate", "0.5"},  {"born", "0.3"},         {"born_days", "200"},     {"dying", "0.3"},
      {"life_days", "120"},    {"etag_random", "0.15"}, {"modified_now", "0.15"}, {"modified_future", "0.15"},
      {"unasked_304", "0.03"}, {"max_age", "0.5"},      {"lastmod_lying", "0.3"}, {"lastmod_absent", "0.2"},
      {"lastmod_time", "0.5"}, {"changefreq", "0.5"},   {"validators", "0.8"},    {"sitemap_entries", "20"}};
  return setting;
}

// A crawl of a living world for some days.
class LivingCrawl {
 public:
  explicit LivingCrawl(const Setting& setting, double visits_per_day = 0)
      : world_(MakeWorld(setting)), options_(MakeOptions(setting)) {
    options_.shard.sitemaps = true;
    options_.web.visits = true;
    ShardRefresh& refresh = options_.shard.refresh;
    refresh.enabled = true;
    refresh.visits_per_day = visits_per_day;
    refresh.schedule.memory = 1 << 20;
    refresh.schedule.threshold.least_value = 0.01;
    Judge::Options rules = MakeRules(setting, false);
    rules.rules.fetches_per_url = 0;
    rules.freshness_every_ns = 6 * kHour;
    judge_ = std::make_unique<Judge>(*world_, rules);
  }

  void Open() {
    crawl.reset();
    options_.on_hit = on_hit;
    crawl = VirtualCrawl::Open(*env, *world_, time, *judge_, options_).value();
  }
  // `each` sees each event; false ends the run.
  // Begins the crawl if it has not begun.
  void RunUntil(double day, const std::function<bool()>& each = [] { return true; }) {
    if (!crawl) {
      Open();
      EXPECT_TRUE(crawl->Seed());
    }
    until_ns_ = kBegin + static_cast<int64_t>(day * static_cast<double>(kDay));
    while (time.TrueUnixNs() < until_ns_ && !crawl->over() && each()) {
      const Status status = crawl->Run(1);
      ASSERT_TRUE(status) << status.error().ToString();
    }
  }
  void RunFor(double days) {
    RunUntil(static_cast<double>(time.TrueUnixNs() - kBegin) / static_cast<double>(kDay) + days);
  }
  // The machine loses its power: what is on its disk is what was synced, and some more.
  void Kill(uint64_t seed) {
    auto survived = env->CrashedCopy(CrashMode::kTorn, seed);
    crawl.reset();
    env = std::move(survived);
    time.RunUntil(time.NowNs() + 600 * kSecond);  // it is started again by then
    Open();
  }
  void ExpectWhole() {
    for (uint32_t i = 0; i < options_.shards; ++i) {
      const Shard& shard = crawl->shard(i);
      const Shard::Census census = shard.TakeCensus();
      EXPECT_EQ(census.urls(), shard.seen().counts().unique);
      EXPECT_TRUE(shard.frontier().CheckInvariants());
      const RefreshCounts counts = shard.refresh()->counts();
      EXPECT_EQ(census.scheduled, counts.pages);
      EXPECT_EQ(counts.added, counts.pages + counts.out + counts.ended);
    }
  }
  RefreshCounts Counts() {
    RefreshCounts sum;
    for (uint32_t i = 0; i < options_.shards; ++i) {
      const RefreshCounts one = crawl->shard(i).refresh()->counts();
      sum.pages += one.pages;
      sum.out += one.out;
      sum.taken += one.taken;
      sum.changed += one.changed;
      sum.same += one.same;
      sum.failed += one.failed;
      sum.ended += one.ended;
    }
    return sum;
  }
  Account Finish() { return judge_->Finish(time.TrueUnixNs()); }
  const World& world() const { return *world_; }

  std::unique_ptr<MemEnv> env = std::make_unique<MemEnv>();
  VirtualTime time{kBegin};
  std::function<void(const Hit& hit)> on_hit;
  std::unique_ptr<World> world_;
  VirtualCrawl::Options options_;
  std::unique_ptr<Judge> judge_;
  std::unique_ptr<VirtualCrawl> crawl;

 private:
  int64_t until_ns_ = 0;
};

void ExpectNoViolation(LivingCrawl& crawl) {
  const Account account = crawl.Finish();
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
}

TEST(FreshCrawlTest, ALivingWebIsKeptFreshWithoutAViolation) {
  LivingCrawl crawl(Living(), 6000);
  crawl.RunUntil(16);
  crawl.ExpectWhole();
  const Account account = crawl.Finish();
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  EXPECT_GT(MeanWeightedFreshness(account, kBegin + 8 * kDay), 0.85);
  EXPECT_GT(account.conditional, account.fetches / 2);
  EXPECT_EQ(account.discovery.found, account.discovery.born) << "new pages are found";
  EXPECT_GT(account.discovery.born, 5U);
  EXPECT_LT(account.discovery.median_s, 6 * 3600);
  const RefreshCounts counts = crawl.Counts();
  EXPECT_GT(counts.ended, 3U) << "gone pages end";
  EXPECT_GT(counts.changed, 1000U);
  EXPECT_GT(counts.same, counts.changed);
  EXPECT_FALSE(crawl.crawl->over()) << "it never ends by itself";
}

TEST(FreshCrawlTest, GonePagesAreAskedForFourTimes) {
  Setting setting = Living();
  setting.set.push_back({"dying", "0.6"});
  setting.set.push_back({"life_days", "60"});
  LivingCrawl crawl(setting, 3000);
  std::map<std::string, int> gone;  // answers in a row
  int most = 0;
  crawl.on_hit = [&](const Hit& hit) {
    if (hit.path_and_query == "/robots.txt") return;
    int& times = gone[std::string(hit.host) + std::string(hit.path_and_query)];
    times = hit.status == 404 || hit.status == 410 ? times + 1 : 0;
    most = std::max(most, times);
  };
  crawl.RunUntil(24);
  EXPECT_EQ(most, RefreshSchedule::kGoneStrikes);
  EXPECT_GT(crawl.Counts().ended, 10U);
  ExpectNoViolation(crawl);
}

TEST(FreshCrawlTest, AStatedPaceIsKept) {
  LivingCrawl crawl(Living(), /*visits_per_day=*/500);
  crawl.RunUntil(20);
  EXPECT_LE(crawl.Counts().taken, 500U * 20 + 20);
  EXPECT_GT(crawl.Counts().taken, 450U * 18);
  ExpectNoViolation(crawl);
}

TEST(FreshCrawlTest, SeveralShardsComeBackToTheirPages) {
  Setting setting = Living();
  setting.shards = 3;
  LivingCrawl crawl(setting, 4500);
  crawl.RunUntil(10);
  crawl.ExpectWhole();
  int busy = 0;
  for (uint32_t i = 0; i < 3; ++i) busy += crawl.crawl->shard(i).refresh()->counts().taken > 100 ? 1 : 0;
  EXPECT_EQ(busy, 3);
  const Account account = crawl.Finish();
  EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
  EXPECT_GT(MeanWeightedFreshness(account, kBegin + 5 * kDay), 0.8);
}

TEST(FreshCrawlTest, KillsAtRandomMomentsLoseNoSchedule) {
  LivingCrawl crawl(Living(), 2000);
  crawl.options_.checkpoint_ns = 3 * kHour;
  Rng rng(4);
  double day = 0;
  for (int kill = 0; kill < 15; ++kill) {
    day += 0.05 + 0.6 * rng.Uniform();
    crawl.RunUntil(day);
    crawl.Kill(rng.Next());
    crawl.ExpectWhole();
  }
  crawl.RunUntil(day + 5);
  crawl.ExpectWhole();
  EXPECT_GT(crawl.Counts().taken, 4000U);
  ExpectNoViolation(crawl);
}

TEST(FreshCrawlTest, AClockThatIsSetBackNeitherStopsNorFloodsIt) {
  LivingCrawl crawl(Living(), 2000);
  crawl.RunUntil(6);
  const uint64_t before = crawl.Counts().taken;
  crawl.RunUntil(9);
  const uint64_t usual = crawl.Counts().taken - before;
  for (const double error : {-300.0, 200.0, 0.0}) {
    crawl.time.SetClockError(static_cast<int64_t>(error * static_cast<double>(kDay)));
    for (const bool restart : {false, true}) {
      if (restart) {
        ASSERT_TRUE(crawl.crawl->Checkpoint());
        crawl.Open();
      }
      const uint64_t taken = crawl.Counts().taken;
      crawl.RunFor(3);
      EXPECT_GT(crawl.Counts().taken - taken, usual / 2) << error << restart;
      EXPECT_LT(crawl.Counts().taken - taken, usual * 2) << error << restart;
      crawl.ExpectWhole();
    }
  }
}

// Every server has the same bad habit. What it says is learnt from and not trusted: the copies are nearly as fresh as
// those of honest servers at the same pace.
TEST(FreshCrawlTest, BadHabitsOfServersCostLittle) {
  const auto freshness = [](const std::vector<std::pair<std::string, std::string>>& habit) {
    Setting setting = Living();
    for (const char* none : {"etag_random", "modified_now", "modified_future", "unasked_304", "lastmod_lying",
                             "lastmod_absent", "born", "dying"}) {
      setting.set.push_back({none, "0"});
    }
    setting.set.insert(setting.set.end(), habit.begin(), habit.end());
    LivingCrawl crawl(setting, 750);
    crawl.RunUntil(12);
    const Account account = crawl.Finish();
    EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
    return MeanWeightedFreshness(account, kBegin + 6 * kDay);
  };
  const double honest = freshness({});
  EXPECT_GT(honest, 0.7);
  const std::vector<std::vector<std::pair<std::string, std::string>>> habits = {
      {{"etag_random", "1"}},   {{"modified_now", "1"}},  {{"modified_future", "1"}},
      {{"unasked_304", "0.1"}}, {{"lastmod_lying", "1"}}, {{"changefreq", "1"}, {"lastmod_lying", "1"}},
      {{"stuck_304", "1"}}};
  for (const auto& habit : habits) {
    const double bad = freshness(habit);
    EXPECT_GT(bad, honest - 0.08) << habit[0].first;
  }
}

TEST(FreshCrawlTest, LimitsEndItAndWithoutContinuousItKeepsItsCalendar) {
  LivingCrawl crawl(Living(), 2000);
  crawl.options_.shard.max_time_ns = 2 * kDay;
  crawl.RunUntil(10);
  EXPECT_TRUE(crawl.crawl->over());
  EXPECT_EQ(crawl.crawl->driver().state(), "done");
  EXPECT_EQ(crawl.crawl->shard().limit_reached(), "max_time");
  ASSERT_TRUE(crawl.crawl->Finish());
  const RefreshCounts counts = crawl.Counts();
  crawl.options_.shard.max_time_ns = 0;
  crawl.options_.shard.refresh.enabled = false;
  crawl.Open();
  crawl.RunUntil(20);
  EXPECT_TRUE(crawl.crawl->over()) << "nothing is left to visit for the first time";
  EXPECT_EQ(crawl.crawl->shard().limit_reached(), "");
  ASSERT_TRUE(crawl.crawl->Finish());
  EXPECT_EQ(crawl.Counts().pages + crawl.Counts().ended, counts.pages + counts.out + counts.ended);
  crawl.options_.shard.refresh.enabled = true;
  crawl.Open();
  crawl.RunUntil(25);
  EXPECT_FALSE(crawl.crawl->over());
  EXPECT_GT(crawl.Counts().taken, counts.taken + 500);
  crawl.ExpectWhole();
}

}  // namespace
}  // namespace portolan::sim
