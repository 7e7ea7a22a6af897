// The driver in virtual time: full disks, requests to stop, the end. The same code runs the engine's threads.

#include "crawl/driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "sim/drive/whole_crawl.h"

namespace portolan::sim {
namespace {

constexpr uint64_t kMany = 20'000'000;  // events

// A crawl with an archive and a log, in one or several runs, judged as one.
class DriverTest : public testing::TestWithParam<uint32_t> {
 protected:
  DriverTest() {
    setting_.profile = "demo";
    setting_.set = {{"domains", "30"}, {"pages", "800"}};
    setting_.connections = 30;
    setting_.memory = uint64_t{96} << 20;
    setting_.shards = GetParam();
    setting_.checkpoint_ns = 5 * kSecond;
    world_ = MakeWorld(setting_);
    options_ = MakeOptions(setting_);
    options_.archive_dir = "warc";
    options_.log_dir = "log";
    options_.on_hit = [this](const Hit& hit) {
      ++hits_;
      last_hit_ns_ = std::max(last_hit_ns_, hit.unix_ns);
    };
    judge_ = std::make_unique<Judge>(*world_, MakeRules(setting_, true));
  }

  void Open(Env& env) {
    crawl_ = VirtualCrawl::Open(env, *world_, time_, *judge_, options_).value();
    ASSERT_TRUE(crawl_->Seed());
  }
  // Runs until `reached` is true, or nothing more happens.
  template <typename Reached>
  bool RunUntil(Reached reached) {
    for (uint64_t events = 0; events < kMany && !crawl_->over(); ++events) {
      if (reached()) return true;
      if (!crawl_->Run(1)) return false;
    }
    return reached();
  }
  bool IsPaused() const { return crawl_->driver().state().starts_with("paused: disk full"); }
  void RunToTheEnd() {
    const Status status = crawl_->Run(kMany);
    ASSERT_TRUE(status) << status.error().ToString();
    EXPECT_EQ(crawl_->driver().state(), "done");
    ASSERT_TRUE(crawl_->Finish());
  }
  void ExpectEverythingFetched(uint64_t fetches_per_url = 1) {
    ReachOptions reach;
    reach.unix_ns = kBegin;
    const Reach reachable = Enumerate(*world_, reach);
    judge_->Cover([&](const std::function<void(uint64_t)>& each) {
      for (uint64_t page = 0; page < world_->TotalPages(); ++page) {
        if (reachable.Has(page)) each(page);
      }
    });
    const Account account = judge_->Finish(time_.UnixNs());
    EXPECT_EQ(account.TotalViolations(), 0U) << AccountTable(account);
    EXPECT_EQ(account.missed, 0U);
    EXPECT_EQ(account.fetched_of_reachable, account.reachable);
    if (fetches_per_url == 1) {
      EXPECT_EQ(account.pages_fetched, account.reachable);
    }
  }
  // What a crawl without disturbance writes.
  uint64_t BytesOfAll() {
    MemEnv mem;
    FaultyEnv env(mem, {.space = uint64_t{1} << 40});
    Judge judge(*world_, MakeRules(setting_, false));
    VirtualTime time(kBegin);
    VirtualCrawl::Options options = options_;
    options.on_hit = {};
    const auto crawl = VirtualCrawl::Open(env, *world_, time, judge, options).value();
    EXPECT_TRUE(crawl->Seed());
    EXPECT_TRUE(crawl->Run(kMany));
    return (uint64_t{1} << 40) - env.FreeSpace("state").value();
  }

  Setting setting_;
  std::unique_ptr<World> world_;
  VirtualCrawl::Options options_;
  std::unique_ptr<Judge> judge_;
  VirtualTime time_{kBegin};
  std::unique_ptr<VirtualCrawl> crawl_;
  uint64_t hits_ = 0;
  int64_t last_hit_ns_ = 0;  // unix
};

INSTANTIATE_TEST_SUITE_P(Shards, DriverTest, testing::Values(1U, 3U));

TEST_P(DriverTest, ALackOfSpacePausesAndNothingIsAskedForUntilThereIsRoom) {
  const uint64_t all = BytesOfAll();
  MemEnv mem;
  FaultyEnv env(mem, {.space = all / 2});
  options_.reserve_bytes = all / 4;
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return IsPaused(); })) << crawl_->driver().state();
  // Fetches that were running may end.
  const int64_t paused_ns = time_.NowNs();
  ASSERT_TRUE(RunUntil([&] { return time_.NowNs() > paused_ns + 200 * kSecond; }));
  const uint64_t hits = hits_;
  const uint64_t checkpoints = crawl_->driver().checkpoints();
  ASSERT_TRUE(RunUntil([&] { return time_.NowNs() > paused_ns + 3600 * kSecond; }));
  EXPECT_EQ(hits_, hits);
  EXPECT_EQ(crawl_->driver().checkpoints(), checkpoints);
  EXPECT_TRUE(IsPaused());
  bool refused = false;
  crawl_->driver().AskForCheckpoint([&](const Status& status) { refused = !status; });
  EXPECT_TRUE(refused);

  env.AddSpace(uint64_t{1} << 30);
  RunToTheEnd();
  EXPECT_GT(hits_, hits);
  ExpectEverythingFetched();
}

TEST_P(DriverTest, AnArchiveWithoutRoomPausesAndNothingIsLost) {
  MemEnv mem;
  FaultyEnv env(mem, {.space = 20'000, .space_below = "warc"});
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return IsPaused(); })) << crawl_->driver().state();
  env.AddSpace(uint64_t{1} << 30);
  RunToTheEnd();
  ExpectEverythingFetched();
}

TEST_P(DriverTest, ARequestToStopWaitsForWhatIsUnderWay) {
  MemEnv env;
  options_.stop_grace_ns = 3600 * kSecond;
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return hits_ == 300; }));
  crawl_->RequestStop();
  const int64_t asked_ns = time_.UnixNs();
  ASSERT_TRUE(crawl_->Run(kMany));
  EXPECT_EQ(crawl_->driver().state(), "stopped");
  EXPECT_LE(last_hit_ns_, asked_ns);
  ASSERT_TRUE(crawl_->Finish());
  crawl_.reset();
  Open(env);
  RunToTheEnd();
  ExpectEverythingFetched();
}

TEST_P(DriverTest, WhatIsUnderWayIsCancelledWhenTheGraceIsOver) {
  MemEnv env;
  options_.stop_grace_ns = 1;
  judge_ = std::make_unique<Judge>(*world_, [this] {
    Judge::Options rules = MakeRules(setting_, true);
    rules.rules.fetches_per_url = 2;   // cancelled requests are made again
    rules.rules.gap_from_end = false;  // and have no end
    return rules;
  }());
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return hits_ == 300; }));
  uint64_t in_flight = 0;
  for (uint32_t i = 0; i < GetParam(); ++i) in_flight += crawl_->shard(i).in_flight();
  EXPECT_GT(in_flight, 0U);
  const int64_t asked_ns = time_.NowNs();
  crawl_->RequestStop();
  ASSERT_TRUE(crawl_->Run(kMany));
  EXPECT_EQ(crawl_->driver().state(), "stopped");
  EXPECT_LT(time_.NowNs(), asked_ns + kSecond);
  ASSERT_TRUE(crawl_->Finish());
  crawl_.reset();
  Open(env);
  RunToTheEnd();
  ExpectEverythingFetched(2);
}

TEST_P(DriverTest, ASecondRequestToStopCancelsAtOnce) {
  MemEnv env;
  options_.stop_grace_ns = 3600 * kSecond;
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return hits_ == 300; }));
  const int64_t asked_ns = time_.NowNs();
  crawl_->RequestStop();
  crawl_->RequestStop();
  ASSERT_TRUE(crawl_->Run(kMany));
  EXPECT_EQ(crawl_->driver().state(), "stopped");
  EXPECT_LT(time_.NowNs(), asked_ns + kSecond);
}

TEST_P(DriverTest, AStopWhilePausedEndsWithACheckpointOutOfTheReserve) {
  const uint64_t all = BytesOfAll();
  MemEnv mem;
  FaultyEnv env(mem, {.space = all});
  options_.reserve_bytes = all / 2;
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return IsPaused(); }));
  const uint64_t checkpoints = crawl_->driver().checkpoints();
  crawl_->RequestStop();
  ASSERT_TRUE(crawl_->Run(kMany));
  EXPECT_EQ(crawl_->driver().state(), "stopped");
  ASSERT_TRUE(crawl_->Finish());
  EXPECT_GT(crawl_->driver().checkpoints(), checkpoints);
  crawl_.reset();
  env.AddSpace(uint64_t{1} << 30);
  Open(env);
  RunToTheEnd();
  ExpectEverythingFetched(2);
}

TEST_P(DriverTest, AStopWhileAnOutputWaitsForRoomIsNoSpace) {
  MemEnv mem;
  FaultyEnv env(mem, {.space = 20'000, .space_below = "warc"});
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return IsPaused(); }));
  crawl_->RequestStop();
  const Status status = crawl_->Run(kMany);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
  EXPECT_TRUE(crawl_->over());
}

TEST_P(DriverTest, AnyOtherErrorOfADiskEndsTheCrawlWithIt) {
  MemEnv mem;
  FaultyEnv env(mem);
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return hits_ == 300; }));
  env.SetPlan({.power_cut_at = env.operations() + 1});
  const Status status = crawl_->Run(kMany);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kIo);
  EXPECT_TRUE(crawl_->over());
}

TEST_P(DriverTest, ACheckpointThatIsAskedForIsAnsweredOnceItStands) {
  MemEnv env;
  options_.checkpoint_ns = 0;
  options_.checkpoint_step_ns = kSecond / 10;
  Open(env);
  ASSERT_TRUE(RunUntil([this] { return hits_ == 200; }));
  const uint64_t before = Manifest::Read(env, "state").value().sequence();
  int answers = 0;
  for (int i = 0; i < 2; ++i) {
    crawl_->driver().AskForCheckpoint([&](const Status& status) {
      EXPECT_TRUE(status);
      EXPECT_GT(Manifest::Read(env, "state").value().sequence(), before);
      ++answers;
    });
  }
  ASSERT_TRUE(RunUntil([&] { return answers == 2; }));
  RunToTheEnd();
  EXPECT_EQ(answers, 2);
  ExpectEverythingFetched();
}

}  // namespace
}  // namespace portolan::sim
