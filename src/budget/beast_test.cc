// Beast's rules one by one. beast_model_test.cc has random histories.

#include "budget/beast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class BeastTest : public testing::Test {
 protected:
  void Open(uint32_t initial = 2, uint32_t most = 8) {
    options_.initial_queues = initial;
    options_.max_queues = most;
    Reopen();
  }
  void Reopen() {
    beast_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    beast_ = Beast::Open(env_, *manifest_, options_).value();
  }
  void Commit() { ASSERT_TRUE(manifest_->Commit(beast_->Checkpointables())); }

  void Place(std::string_view record, uint32_t place) {
    ASSERT_TRUE(beast_->Place(record, {.judged_tick = beast_->tick(), .place = place}));
    ASSERT_TRUE(beast_->CheckInvariants());
  }
  void Fails(std::string_view record) {
    ASSERT_TRUE(beast_->Place(record, {.judged_tick = beast_->tick(), .later = true}));
  }
  void Returns(std::string_view record, uint32_t place, bool later = false) {
    ASSERT_TRUE(beast_->Place(record, {.judged_tick = beast_->tick(), .place = place, .later = later, .fresh = false}));
  }
  std::vector<std::string> Pop(size_t max = 100) {
    auto records = beast_->Pop(max).value();
    EXPECT_TRUE(beast_->CheckInvariants());
    return records;
  }
  std::vector<std::string> PopFailed(size_t max = 100) { return beast_->PopFailed(max).value(); }

  MemEnv env_;
  BeastOptions options_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<Beast> beast_;
};

TEST_F(BeastTest, FirstUrlsOfACrawlDoNotWait) {
  Open();
  EXPECT_THAT(Pop(), IsEmpty());
  EXPECT_EQ(beast_->tick(), 0U);
  Place("seed", 0);
  EXPECT_THAT(Pop(), ElementsAre("seed"));
  EXPECT_EQ(beast_->tick(), 1U);
  EXPECT_TRUE(beast_->empty());
}

TEST_F(BeastTest, PlaceIsTheQueueAheadAndOrderIsArrival) {
  Open(4);
  Place("c0", 2);
  Place("a0", 0);
  Place("b0", 1);
  Place("a1", 0);
  EXPECT_THAT(Pop(1), ElementsAre("a0"));
  Place("b1", 0);  // the queue after the current one
  EXPECT_THAT(Pop(), ElementsAre("a1"));
  EXPECT_THAT(Pop(), ElementsAre("b0", "b1"));
  EXPECT_EQ(beast_->tick(), 2U);
  EXPECT_THAT(Pop(), ElementsAre("c0"));
}

TEST_F(BeastTest, EmptyQueuesAreSkippedAtOnce) {
  Open(8);
  Place("far", 6);
  EXPECT_THAT(Pop(), ElementsAre("far"));
  EXPECT_EQ(beast_->tick(), 7U);
}

TEST_F(BeastTest, AnOldVerdictNeverReachesTheCurrentQueueOrThePast) {
  Open(4);
  Place("x", 1);
  EXPECT_THAT(Pop(), ElementsAre("x"));
  ASSERT_EQ(beast_->tick(), 2U);
  ASSERT_TRUE(beast_->Place("late", {.judged_tick = 0, .place = 0}));
  ASSERT_TRUE(beast_->Place("kept", {.judged_tick = 0, .place = 3}));  // queue 4
  EXPECT_THAT(Pop(), ElementsAre("late"));
  EXPECT_EQ(beast_->tick(), 3U);
  EXPECT_THAT(Pop(), ElementsAre("kept"));
  EXPECT_EQ(beast_->tick(), 4U);
}

TEST_F(BeastTest, WhatIsBeyondTheHorizonFailsAndComesBackWithTheDoubledOne) {
  Open(2);
  EXPECT_EQ(beast_->horizon(), 1U);
  Place("a", 0);
  Place("b", 1);
  Fails("c");
  EXPECT_EQ(beast_->counts().failed, 2U);
  EXPECT_THAT(Pop(), ElementsAre("a"));
  EXPECT_FALSE(beast_->WantsRebudget());
  EXPECT_THAT(Pop(), IsEmpty());  // nothing but Q_F is left
  EXPECT_TRUE(beast_->WantsRebudget());
  EXPECT_EQ(beast_->queues(), 4U);
  EXPECT_EQ(beast_->horizon(), 3U);
  EXPECT_THAT(PopFailed(), ElementsAre("b", "c"));
  Returns("b", 0);
  Returns("c", 1);
  EXPECT_THAT(Pop(), ElementsAre("b"));
  EXPECT_THAT(Pop(), ElementsAre("c"));
  EXPECT_TRUE(beast_->empty());
}

TEST_F(BeastTest, APassIsJQueuesAndPassesDouble) {
  Open(2, 64);
  Fails("waits");
  uint64_t last = 0;
  std::vector<uint64_t> lengths;
  for (int i = 0; i < 130; ++i) {
    Place("page", 0);
    EXPECT_THAT(Pop(), ElementsAre("page"));
    if (!beast_->WantsRebudget()) continue;
    lengths.push_back(beast_->tick() - last);
    last = beast_->tick();
    EXPECT_EQ(beast_->queues(), std::min(4U << (lengths.size() - 1), 64U));
    EXPECT_THAT(PopFailed(), ElementsAre("waits"));
    Returns("waits", 0, true);
    EXPECT_FALSE(beast_->WantsRebudget()) << "read twice in one pass";
  }
  EXPECT_THAT(lengths, ElementsAre(2, 4, 8, 16, 32, 64));
}

TEST_F(BeastTest, PassesGoOnDoublingWhenQueuesCannot) {
  options_.longest_pass = 32;
  Open(2, 8);
  Fails("waits");
  uint64_t last = 0;
  std::vector<uint64_t> lengths;
  for (int i = 0; i < 130; ++i) {
    Place("page", 0);
    EXPECT_THAT(Pop(), ElementsAre("page"));
    EXPECT_LE(beast_->queues(), 8U);
    if (!beast_->WantsRebudget()) continue;
    lengths.push_back(beast_->tick() - last);
    last = beast_->tick();
    PopFailed();
    Returns("waits", 0, true);
  }
  EXPECT_THAT(lengths, ElementsAre(2, 4, 8, 16, 32, 32, 32));
}

TEST_F(BeastTest, WithNothingInFailedNothingDoubles) {
  Open(2);
  for (int i = 0; i < 50; ++i) {
    Place("page", 0);
    EXPECT_THAT(Pop(), ElementsAre("page"));
  }
  EXPECT_EQ(beast_->queues(), 2U);
  EXPECT_EQ(beast_->counts().passes, 0U);
}

TEST_F(BeastTest, TheCrawlGoesOnDuringARescanAndTheNextOneWaitsForIt) {
  Open(2);
  Fails("f1");
  Fails("f2");
  for (int i = 0; i < 2; ++i) {
    Place("page", 0);
    EXPECT_THAT(Pop(), ElementsAre("page"));
  }
  EXPECT_THAT(PopFailed(1), ElementsAre("f1"));
  ASSERT_EQ(beast_->queues(), 4U);
  for (int i = 0; i < 20; ++i) {  // many passes' worth of queues
    Place("page", 0);
    EXPECT_THAT(Pop(), ElementsAre("page"));
  }
  EXPECT_EQ(beast_->queues(), 4U);
  EXPECT_THAT(PopFailed(), ElementsAre("f2"));
  Returns("f1", 0, true);
  Returns("f2", 0, true);
  Place("page", 0);
  EXPECT_THAT(Pop(), ElementsAre("page"));
  EXPECT_EQ(beast_->queues(), 8U);
  EXPECT_THAT(PopFailed(), ElementsAre("f1", "f2"));
}

TEST_F(BeastTest, ARescanIsSpreadOverItsPass) {
  Open(8, 16);
  for (int i = 0; i < 1600; ++i) Fails("f");
  size_t handed = 0;
  std::vector<size_t> at_tick(20);
  for (int i = 0; i < 10; ++i) Place("page", 0);
  while (beast_->tick() < 20) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(Pop(1).size(), 1U);
      Place("page", 0);  // for the next queue: there is always something to crawl
      const auto due = beast_->PopFailed(beast_->RebudgetDue()).value();
      EXPECT_LE(due.size(), 20U) << "no bursts";
      handed += due.size();
      for (const std::string& record : due) Returns(record, 0, true);
    }
    if (beast_->tick() < 20) at_tick[beast_->tick()] = handed;
  }
  ASSERT_EQ(beast_->counts().passes, 1U);
  EXPECT_EQ(at_tick[7], 0U);
  // 15 queues for 1600 URLs, from the eighth queue on.
  for (size_t tick = 8; tick < 20; ++tick) EXPECT_NEAR(at_tick[tick], (tick - 7) * 1600 / 15.0, 20) << tick;
}

TEST_F(BeastTest, AnIdleCrawlAsksBackTheOldestFirstAndNotAll) {
  options_.starved_scan = 3;
  Open(2);
  for (const char* record : {"1", "2", "3", "4", "5", "6", "7"}) Fails(record);
  EXPECT_THAT(Pop(), IsEmpty());
  EXPECT_THAT(PopFailed(), ElementsAre("1", "2", "3"));
  Returns("1", 0, true);
  Returns("2", 0, true);
  EXPECT_THAT(Pop(), IsEmpty());
  EXPECT_FALSE(beast_->WantsRebudget()) << "one is still being judged";
  Returns("3", 0, true);
  EXPECT_THAT(Pop(), IsEmpty());
  EXPECT_THAT(PopFailed(), ElementsAre("4", "5", "6"));
  EXPECT_EQ(beast_->counts().starved, 2U);
}

TEST_F(BeastTest, ADomainWhoseReputationRisesGetsOut) {
  // Budget 1: one page per queue. With budget 50 all that failed fits at once.
  Open(2, 8);
  uint32_t used = 0;
  uint32_t budget = 1;
  const auto judge = [&](std::string_view record, bool fresh) {
    const uint32_t place = used / budget;
    const bool later = place >= beast_->horizon();
    if (!later) ++used;
    ASSERT_TRUE(beast_->Place(record, {.judged_tick = beast_->tick(), .place = place, .later = later, .fresh = fresh}));
  };
  for (int i = 0; i < 60; ++i) judge(std::to_string(i), true);
  EXPECT_EQ(beast_->counts().failed, 59U);
  EXPECT_THAT(Pop(), ElementsAre("0"));
  budget = 50;
  used = 0;
  EXPECT_THAT(Pop(), IsEmpty());
  for (const std::string& record : PopFailed()) judge(record, false);
  EXPECT_EQ(beast_->counts().failed, 0U);
  EXPECT_EQ(Pop().size(), 50U);
  EXPECT_EQ(Pop().size(), 9U);
}

TEST_F(BeastTest, AFullDiskRefusesAndLosesNothing) {
  FaultyEnv faulty(env_, {.space = 4000});
  manifest_.emplace(Manifest::Open(faulty, "store").value());
  options_.block_size = 256;
  beast_ = Beast::Open(faulty, *manifest_, options_).value();
  std::vector<std::string> taken;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string record = std::to_string(i * 7919) + " is a number";
    const bool later = i % 3 == 0;
    const Status status = beast_->Place(record, {.judged_tick = 0, .later = later});
    ASSERT_TRUE(beast_->CheckInvariants());
    if (status) {
      taken.push_back(record);
    } else {
      EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
      if (++refused == 50) faulty.AddSpace(1 << 20);
    }
  }
  EXPECT_GE(refused, 50);
  std::vector<std::string> out;
  while (!beast_->empty()) {
    for (std::string& record : Pop(64)) out.push_back(std::move(record));
    for (const std::string& record : PopFailed(64)) Returns(record, 0);
  }
  std::sort(out.begin(), out.end());
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(out, taken);
  beast_.reset();  // before what it writes to
}

TEST_F(BeastTest, AUrlThatWasNotHandedOutCannotComeBack) {
  Open();
  const Status status = beast_->Place("x", {.fresh = false});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(beast_->empty());
}

TEST_F(BeastTest, AStoreKeepsTheRingItWasMadeWith) {
  Open(4, 4);
  for (int i = 0; i < 6; ++i) {  // the ring has turned
    Place("page", 0);
    Pop();
  }
  Place("near", 0);
  Place("far", 2);
  Commit();
  options_.max_queues = 16;
  Reopen();
  EXPECT_THAT(Pop(), ElementsAre("near"));
  EXPECT_THAT(Pop(), ElementsAre("far"));
  EXPECT_EQ(beast_->tick(), 9U);
}

TEST_F(BeastTest, NonsenseOptionsAreRefused) {
  const Manifest manifest = Manifest::Open(env_, "store").value();
  for (const BeastOptions& options :
       {BeastOptions{.initial_queues = 1}, BeastOptions{.initial_queues = 9, .max_queues = 8},
        BeastOptions{.max_queues = 1U << 20}, BeastOptions{.starved_scan = 0}}) {
    EXPECT_EQ(Beast::Open(env_, manifest, options).error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST_F(BeastTest, NumbersThatContradictTheQueuesAreCorrupt) {
  Open();
  Place("x", 0);
  Commit();
  const auto names = env_.List("store").value();
  std::string name;
  for (const std::string& candidate : names) {
    if (IsManifestName(candidate)) name = candidate;
  }
  auto parsed = ParseManifest(ReadWholeFile(env_, JoinPath("store", name)).value(), name).value();
  for (ManifestSection& section : parsed.sections) {
    if (section.name == "beast") section.numbers["placed"] = 7;
  }
  ASSERT_TRUE(ReplaceFile(env_, JoinPath("store", name), FormatManifest(parsed.sequence, parsed.sections)));
  const Manifest manifest = Manifest::Open(env_, "store").value();
  EXPECT_EQ(Beast::Open(env_, manifest, options_).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace portolan
