// The end of a crawl: the detector alone, and against a model of shards that send, take, die and report in any order.

#include "cluster/end_detector.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "cluster/batch_ledger.h"

namespace portolan {
namespace {

ShardReport Idle(uint32_t shard, uint32_t shards, uint64_t epoch = 1) {
  ShardReport report{.cluster = 7, .shard = shard, .epoch = epoch, .kept = {.idle = true}};
  report.kept.sent.assign(shards, 1);
  report.kept.sent[shard] = 0;
  report.kept.taken.assign(shards, {.epoch = 1, .number = 1});
  report.kept.taken[shard] = {};
  return report;
}

class EndDetectorTest : public testing::Test {
 protected:
  EndDetectorTest() {
    for (uint32_t shard = 0; shard < 3; ++shard) detector_.Set(Idle(shard, 3));
  }
  EndDetector detector_{3};
};

TEST_F(EndDetectorTest, AllIdleAndAllTakenIsTheEnd) { EXPECT_TRUE(detector_.Done()) << detector_.Missing(); }

TEST_F(EndDetectorTest, AShardThatNeverReportedIsWaitedFor) {
  EndDetector detector(2);
  detector.Set(Idle(0, 2));
  EXPECT_FALSE(detector.Done());
  EXPECT_EQ(detector.Missing(), "shard 1 has not reported");
}

TEST_F(EndDetectorTest, AShardWithWorkIsWaitedFor) {
  ShardReport busy = Idle(1, 3);
  busy.kept.idle = false;
  detector_.Set(busy);
  EXPECT_FALSE(detector_.Done());
}

TEST_F(EndDetectorTest, ABatchOnItsWayIsWaitedFor) {
  ShardReport sender = Idle(1, 3);
  sender.kept.sent[2] = 5;
  detector_.Set(sender);
  EXPECT_FALSE(detector_.Done());
  ShardReport receiver = Idle(2, 3);
  receiver.kept.taken[1] = {.epoch = 1, .number = 5};
  detector_.Set(receiver);
  EXPECT_TRUE(detector_.Done());
  receiver.kept.taken[1].gaps = true;
  detector_.Set(receiver);
  EXPECT_FALSE(detector_.Done());
}

TEST_F(EndDetectorTest, ANewEpochIsWaitedForUntilAllHaveHeardOfIt) {
  detector_.Set(Idle(1, 3, 2));
  EXPECT_FALSE(detector_.Done());
  detector_.Set(Idle(1, 3, 1));  // late
  EXPECT_FALSE(detector_.Done());
  for (const uint32_t shard : {0U, 2U}) {
    ShardReport heard = Idle(shard, 3);
    heard.kept.taken[1].epoch = 2;
    detector_.Set(heard);
  }
  EXPECT_TRUE(detector_.Done());
}

TEST_F(EndDetectorTest, WhatOneFoundAllBelieve) {
  ShardReport busy = Idle(1, 3);
  busy.kept.idle = false;
  detector_.Set(busy);
  ShardReport found = Idle(0, 3);
  found.done = true;
  detector_.Set(found);
  EXPECT_TRUE(detector_.Done());
}

TEST_F(EndDetectorTest, CountsOfTheOthersAreAddedUp) {
  ShardReport report = Idle(1, 3);
  report.pages = 10;
  report.bytes = 1000;
  report.only_waits = true;
  detector_.Set(report);
  report = Idle(2, 3);
  report.pages = 5;
  detector_.Set(report);
  EXPECT_EQ(detector_.Others(0).pages, 15U);
  EXPECT_EQ(detector_.Others(2).pages, 10U);
  EXPECT_EQ(detector_.Others(0).bytes, 1000U);
  EXPECT_FALSE(detector_.OnlyWaits());
}

// Shards with some work each: a unit of work may send units to others. Each commits now and then, dies and begins again
// from what it committed, and reports what it committed. Reports are seen late. The streams keep everything. If the
// detector says that it is the end, nothing may be left anywhere, and nothing may ever be done again, whoever dies.
class Model {
 public:
  Model(uint32_t shards, uint64_t seed) : random_(seed), shards_(shards), streams_(shards) {
    shards_[0].now.work = 3;
    for (uint32_t i = 0; i < shards; ++i) {
      shards_[i].now.sent.assign(shards, 0);
      Begin(i);
      Commit(i);
    }
  }

  void Step(EndDetector& detector) {
    const auto i = static_cast<uint32_t>(random_() % shards_.size());
    Shard& shard = shards_[i];
    switch (random_() % 8) {
      case 0:
      case 1:
        Take(i);
        break;
      case 2:
      case 3:
        Do(i);
        break;
      case 4:
        Commit(i);
        break;
      case 5:
        if (random_() % 10 == 0) {
          shard.now = shard.kept;
          Begin(i);
        }
        break;
      default:  // somebody reads a report, perhaps an old one
        if (!shard.reports.empty()) {
          detector.Set(shard.reports.front());
          if (shard.reports.size() > 1) shard.reports.pop_front();
        }
    }
  }

  bool AllQuiet() const {
    for (const Shard& shard : shards_) {
      if (shard.now.work > 0 || shard.kept.work > 0) return false;
    }
    return true;
  }
  uint64_t done() const { return done_; }

 private:
  struct Batch {
    LinkBatchHeader header;
    int work = 0;
  };
  struct State {
    int work = 0;
    uint64_t epoch = 0;
    std::vector<uint64_t> sent;
    size_t at = 0;  // in its stream
    BatchLedger ledger;
  };
  struct Shard {
    State now;
    State kept;
    uint64_t epochs = 0;
    std::deque<ShardReport> reports;
  };

  void Send(uint32_t from, uint32_t to, int work) {
    State& state = shards_[from].now;
    streams_[to].push_back({{.receiver = to, .sender = from, .epoch = state.epoch, .number = ++state.sent[to]}, work});
  }
  void Begin(uint32_t i) {
    Shard& shard = shards_[i];
    shard.now.epoch = ++shard.epochs;
    shard.now.sent.assign(shards_.size(), 0);
    for (uint32_t to = 0; to < shards_.size(); ++to) {
      if (to != i) Send(i, to, 0);
    }
  }
  void Take(uint32_t i) {
    State& state = shards_[i].now;
    if (state.at == streams_[i].size()) return;
    const Batch& batch = streams_[i][state.at++];
    BatchLedger::Lost lost;
    if (state.ledger.Judge(batch.header, lost) == BatchVerdict::kNew) state.work += batch.work;
  }
  void Do(uint32_t i) {
    State& state = shards_[i].now;
    if (state.work == 0) return;
    --state.work;
    ++done_;
    while (random_() % 100 < 45) {
      const auto to = static_cast<uint32_t>(random_() % shards_.size());
      if (to != i) Send(i, to, 1);
    }
  }
  void Commit(uint32_t i) {
    Shard& shard = shards_[i];
    shard.kept = shard.now;
    ShardReport report{.shard = i, .epoch = shard.now.epoch, .kept = {.idle = shard.now.work == 0}};
    report.kept.sent = shard.now.sent;
    for (uint32_t from = 0; from < shards_.size(); ++from) {
      const BatchLedger::Taken taken = shard.now.ledger.TakenFrom(from);
      report.kept.taken.push_back({taken.epoch, taken.number, taken.gaps});
    }
    shard.reports.push_back(report);
  }

  std::mt19937_64 random_;
  std::vector<Shard> shards_;
  std::vector<std::vector<Batch>> streams_;
  uint64_t done_ = 0;
};

TEST(EndDetectorModelTest, NeverTooEarlyAndNotNever) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Model model(2 + seed % 4, seed);
    EndDetector detector(static_cast<uint32_t>(2 + seed % 4));
    for (int step = 0; step < 20'000 && !detector.Done(); ++step) model.Step(detector);
    if (!detector.Done()) continue;
    ++found;
    ASSERT_TRUE(model.AllQuiet()) << "there was work left";
    const uint64_t done = model.done();
    for (int step = 0; step < 2'000; ++step) model.Step(detector);
    ASSERT_EQ(model.done(), done) << "something was done after the end";
  }
  EXPECT_GT(found, 350U);
}

}  // namespace
}  // namespace portolan
