// The engine on disks that fill up and fail. The web that it crawls is one port on which no server listens, so it runs
// until it is told to stop. Whole crawls: tests/crawl.

#include "crawl/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "crawl/hash_key_store.h"
#include "crawl/seed_list.h"
#include "crawl/wiring.h"
#include "disk/committed.h"
#include "disk/drum.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t kRoom = uint64_t{64} << 20;

class EngineTest : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    config.memory.total.bytes = uint64_t{256} << 20;
    config.fetch.allow_private_addresses = true;
    config.fetch.connections = 4;
    config.politeness.give_up_quickly = false;
    options_ = WireCrawl(config, "crawl", seeds_, "1").value();
    options_.control.clear();  // its directory is not on a disk
    options_.checkpoint_ns = 30'000'000;
    options_.show_ns = 10'000'000;
    options_.retry_ns = 20'000'000;
    options_.reserve_bytes = 64 << 10;
    ASSERT_TRUE(mem_.CreateDirs("crawl"));
    engine_ = Engine::Open(env_, options_).value();
    ASSERT_TRUE(engine_->AddSeeds(seeds_));
  }

  // `step` is called again and again until it returns true; then the crawl is stopped.
  Result<CrawlProgress> RunUntil(const std::function<bool(const CrawlProgress&)>& step) {
    int shown = 0;
    bool stopped = false;
    return engine_->Run([&](const CrawlProgress& progress) {
      if (stopped || (!step(progress) && ++shown < 3000)) return;
      stopped = true;
      EXPECT_LT(shown, 3000) << "it never came: " << progress.state;
      engine_->RequestStop();
    });
  }

  MemEnv mem_;
  FaultyEnv env_{mem_, {.space = kRoom}};
  const std::vector<std::string> seeds_ = {"http://127.0.0.1:1/"};
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, CheckpointsComeAndAreMeasured) {
  const auto end = RunUntil([](const CrawlProgress& progress) { return progress.checkpoints >= 4; });
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(end->state, "stopped");
  EXPECT_GE(end->checkpoints, 5U);
  EXPECT_GT(end->checkpoint_longest_ms, 0);
}

TEST_F(EngineTest, EachTurnIsInTheHistogramAndTheLongestSaysWhatItDid) {
  const auto end = RunUntil([](const CrawlProgress& progress) { return progress.turns >= 3; });
  ASSERT_TRUE(end) << end.error().ToString();
  uint64_t counted = 0;
  uint64_t last_us = 0;
  for (const TurnTimes::Step& step : end->turn_histogram) {
    EXPECT_GT(step.le_us, last_us);
    last_us = step.le_us;
    counted += step.count;
  }
  EXPECT_EQ(counted, end->turns);
  EXPECT_GE(static_cast<double>(last_us), end->turn_max_ms * 1e3);
  EXPECT_LT(static_cast<double>(last_us) / 2, std::max(1.0, end->turn_max_ms * 1e3));
  EXPECT_NE(std::ranges::find(kTurnPartNames, end->longest_turn_in), std::end(kTurnPartNames)) << end->longest_turn_in;
  const std::string json = ProgressToJson(*end);
  EXPECT_NE(json.find("\"turn_histogram\": ["), std::string::npos);
  EXPECT_NE(json.find("\"le_us\": "), std::string::npos);
  EXPECT_NE(json.find("\"rules_reads\": 0"), std::string::npos);
}

// Knowing the program is not enough to know where a URL is: each crawl has a key of its own, and keeps it.
TEST_F(EngineTest, EachCrawlHashesWithItsOwnKey) {
  const auto run = [&] {
    return RunUntil([](const CrawlProgress& progress) { return progress.checkpoints >= 2 && progress.urls_seen > 0; });
  };
  ASSERT_TRUE(run());
  engine_.reset();
  const auto key_in = [](Env& env, const std::string& dir) {
    return HashKeyStore::Read(Manifest::Read(env, dir).value()).value();
  };
  const HashKey key = key_in(mem_, options_.state_dir);
  EXPECT_FALSE(key == HashKey::Known());

  const Manifest manifest = Manifest::Read(mem_, options_.state_dir).value();
  const ManifestSection* seen = manifest.Find(UrlSeenOptions().name, Drum::kKind).value();
  ASSERT_NE(seen, nullptr);
  EXPECT_TRUE(FindInZ(mem_, manifest.dir(), *seen, 0, key.Hash(seeds_[0])).value());
  EXPECT_FALSE(FindInZ(mem_, manifest.dir(), *seen, 0, Hash64(seeds_[0])).value());

  engine_ = Engine::Open(env_, options_).value();
  ASSERT_TRUE(run());
  EXPECT_EQ(key_in(mem_, options_.state_dir), key);

  MemEnv other;
  ASSERT_TRUE(other.CreateDirs("crawl"));
  engine_.reset();
  engine_ = Engine::Open(other, options_).value();
  ASSERT_TRUE(engine_->AddSeeds(seeds_));
  ASSERT_TRUE(run());
  EXPECT_FALSE(key_in(other, options_.state_dir) == key);
}

TEST_F(EngineTest, SeedsAreOfferedOnceInACrawlsLife) {
  engine_.reset();
  MemEnv other;
  ASSERT_TRUE(other.CreateDirs(options_.state_dir));
  {
    SeedWriter writer = SeedWriter::Open(other, options_.state_dir, HashKey({1, 2, 3, 4})).value();
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(writer.Offer("http://127.0.0.1:1/" + std::to_string(i)));
    ASSERT_TRUE(writer.Finish());
  }
  for (int run = 0; run < 3; ++run) {
    engine_ = Engine::Open(other, options_).value();
    const auto end = RunUntil([](const CrawlProgress& progress) { return progress.counts.seeds >= 10'000; });
    ASSERT_TRUE(end) << end.error().ToString();
    EXPECT_EQ(end->counts.seeds, 10'000U) << run;
    engine_.reset();
  }
}

// Its settings may ask for another number: on another machine there are more fetch threads.
TEST_F(EngineTest, ACrawlKeepsItsShards) {
  engine_.reset();
  options_.state_dir = "two/state";
  options_.shards = 2;
  for (const uint32_t asked : {2U, 1U, 5U}) {
    options_.shards = asked;
    engine_ = Engine::Open(env_, options_).value();
    if (asked == 2) {
      ASSERT_TRUE(engine_->AddSeeds(seeds_));
    }
    const auto end = RunUntil([](const CrawlProgress& progress) { return progress.checkpoints > 1; });
    ASSERT_TRUE(end.has_value()) << end.error().ToString();
    EXPECT_EQ(end->shards, 2U);
    EXPECT_EQ(end->state, "stopped");
    engine_.reset();
  }
}

TEST_F(EngineTest, AFullDiskIsAPause) {
  Result<CrawlProgress> end = Fail(ErrorCode::kNoSpace, "not run yet");
  // A merge that meets the full disk ends the run: then its owner waits and opens it again (crawl_session.cc).
  for (int runs = 0; !end && end.error().code() == ErrorCode::kNoSpace && runs < 5; ++runs) {
    if (runs > 0) {
      env_.SetPlan({.space = kRoom});
      engine_.reset();
      engine_ = Engine::Open(env_, options_).value();
    }
    int stage = 0;
    uint64_t before = 0;
    end = RunUntil([&](const CrawlProgress& progress) {
      if (stage == 0 && progress.checkpoints >= 2) {
        env_.SetPlan({.space = 0});
        stage = 1;
      } else if (stage == 1 && progress.state != "running") {
        EXPECT_THAT(progress.state, StartsWith("paused: disk full: "));
        before = progress.checkpoints;
        env_.AddSpace(kRoom);
        stage = 2;
      } else if (stage == 2 && progress.state == "running" && progress.checkpoints > before + 1) {
        return true;
      }
      return false;
    });
  }
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(end->state, "stopped");
}

TEST_F(EngineTest, ItPausesBeforeTheDiskIsFull) {
  bool paused = false;
  const auto end = RunUntil([&](const CrawlProgress& progress) {
    if (progress.checkpoints < 2) return false;
    if (!paused && progress.state == "running") env_.SetPlan({.space = options_.reserve_bytes - 1});
    if (progress.state != "running") {
      EXPECT_THAT(progress.state, HasSubstr(" are wanted"));
      paused = true;
      env_.SetPlan({.space = kRoom});
    }
    return paused && progress.state == "running";
  });
  ASSERT_TRUE(end) << end.error().ToString();
}

TEST_F(EngineTest, AStopWhileTheDiskIsFullLeavesTheLastCheckpoint) {
  int stage = 0;
  const auto end = RunUntil([&](const CrawlProgress& progress) {
    if (stage == 0 && progress.checkpoints >= 2) {
      env_.SetPlan({.space = 0});
      stage = 1;
    }
    return progress.state != "running";
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kNoSpace);
  engine_.reset();
  EXPECT_TRUE(Engine::Open(mem_, options_));
}

TEST_F(EngineTest, TheReserveIsEnoughToStopCleanly) {
  bool low = false;
  const auto end = RunUntil([&](const CrawlProgress& progress) {
    if (!low && progress.checkpoints >= 2) env_.SetPlan({.space = options_.reserve_bytes - 1});
    low = low || progress.checkpoints >= 2;
    return progress.state != "running";
  });
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(end->state, "stopped");
}

// After a kill, files in it would look like those of another crawl.
TEST_F(EngineTest, ADirectoryThatWasAddedIsCommittedBeforeItIsUsed) {
  ASSERT_TRUE(RunUntil([](const CrawlProgress& progress) { return progress.checkpoints >= 2; }));
  engine_.reset();
  options_.outputs.warc.directories.push_back("crawl/more");
  options_.reserve_bytes = 2 * kRoom;  // so it pauses at once, and makes no unnecessary checkpoint
  engine_ = Engine::Open(env_, options_).value();
  uint64_t known = 0;
  const auto end = RunUntil([&](const CrawlProgress& progress) {
    if (progress.state == "running") return false;
    const Manifest manifest = Manifest::Read(mem_, options_.state_dir).value();
    known = FindOutput(manifest, WarcOutput::kName).value()->lanes.size();
    return true;
  });
  ASSERT_TRUE(end) << end.error().ToString();
  EXPECT_EQ(known, 2U);
}

// The loop that is told of full disks has ended by then; the caller of Run must learn of it.
TEST_F(EngineTest, ADiskThatIsStillFullAtTheEndIsNoSpace) {
  engine_.reset();
  options_.shard.max_time_ns = 500'000'000;
  options_.reserve_bytes = 0;
  options_.retry_ns = 60'000'000'000;  // the disk is not checked again
  engine_ = Engine::Open(env_, options_).value();
  ASSERT_TRUE(engine_->AddSeeds(seeds_));
  env_.SetPlan({.space = 0, .space_below = options_.outputs.log.files.dir});
  bool paused = false;
  const auto end = engine_->Run(
      [&](const CrawlProgress& progress) { paused = paused || progress.state.starts_with("paused: disk full: "); });
  EXPECT_TRUE(paused);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kNoSpace) << end.error().ToString();
  engine_.reset();
  EXPECT_TRUE(Engine::Open(mem_, options_));
}

TEST_F(EngineTest, ABrokenDiskIsTheEnd) {
  bool broken = false;
  const auto end = RunUntil([&](const CrawlProgress& progress) {
    if (!broken && progress.checkpoints >= 2) {
      env_.SetPlan({.power_cut_at = env_.operations() + 1});
      broken = true;
    }
    return false;
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kIo);
  engine_.reset();
  const auto left = mem_.CrashedCopy(CrashMode::kLoseUnsynced);
  EXPECT_TRUE(Engine::Open(*left, options_));
}

}  // namespace
}  // namespace portolan
