#include "fresh/calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "fresh/calendar_clock.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr uint32_t kTick = 10;

Calendar::Options SmallOptions() {
  Calendar::Options options;
  options.tick_s = kTick;
  options.block_size = 256;
  options.segment_size = 1024;
  return options;
}

uint32_t Keep(uint32_t due_s, std::string_view) { return due_s; }

class CalendarTest : public testing::Test {
 protected:
  void Open() {
    calendar_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    calendar_ = Calendar::Open(env_, *manifest_, SmallOptions()).value();
  }
  void SetUp() override { Open(); }
  void File(uint32_t due_s) { ASSERT_TRUE(calendar_->File(due_s, std::to_string(due_s))); }
  void To(uint32_t now_s) {
    calendar_->Advance(now_s);
    while (calendar_->working()) ASSERT_TRUE(calendar_->Work(7, Keep));
    ASSERT_TRUE(calendar_->CheckInvariants());
  }
  std::vector<uint32_t> PopAll() {
    std::vector<uint32_t> due;
    while (auto entry = calendar_->Pop().value()) {
      EXPECT_EQ(entry->bytes, std::to_string(entry->due_s));
      due.push_back(entry->due_s);
    }
    return due;
  }

  MemEnv env_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<Calendar> calendar_;
};

TEST_F(CalendarTest, EntriesAreDueInTheirTickAndNotBefore) {
  Rng rng(7);
  std::vector<uint32_t> waiting;
  uint32_t now = 1000;
  To(now);
  for (int step = 0; step < 3000; ++step) {
    const uint32_t due = now + static_cast<uint32_t>(rng.Below(uint64_t{1} << rng.Below(20)));
    File(due);
    waiting.push_back(due);
    if (step % 3 != 0) continue;
    now += static_cast<uint32_t>(rng.Below(200));
    To(now);
    std::vector<uint32_t> due_now = PopAll();
    std::ranges::sort(due_now);
    std::vector<uint32_t> expected;
    std::erase_if(waiting, [&](uint32_t one) {
      if (one / kTick > now / kTick) return false;
      expected.push_back(one);
      return true;
    });
    std::ranges::sort(expected);
    ASSERT_EQ(due_now, expected) << "at " << now;
    ASSERT_EQ(calendar_->size(), waiting.size());
  }
}

TEST_F(CalendarTest, AnEntryMovesAtMostOncePerBitOfItsTime) {
  To(10 * kTick);
  for (uint32_t i = 0; i < 1000; ++i) File((11 + i * 7919 % 4096) * kTick);
  for (uint32_t tick = 11; tick < 11 + 4096; ++tick) To(tick * kTick);
  EXPECT_EQ(calendar_->ready(), 1000U);
  EXPECT_LE(calendar_->poured(), 1000U * 13);
}

TEST_F(CalendarTest, ALeapOfTimeMakesEverythingDueInTheOrderOfTheQueues) {
  To(0);
  for (const uint32_t due : {50'000U, 30U, 900U, 400'000U}) File(due);
  To(1'000'000);
  EXPECT_EQ(PopAll(), (std::vector<uint32_t>{30, 900, 50'000, 400'000}));
}

TEST_F(CalendarTest, AnEarlierTimeIsIgnored) {
  To(5000);
  File(5100);
  calendar_->Advance(10);
  File(20);  // due before the calendar's time: now
  EXPECT_EQ(PopAll(), (std::vector<uint32_t>{20}));
  To(5100);
  EXPECT_EQ(PopAll(), (std::vector<uint32_t>{5100}));
}

TEST_F(CalendarTest, WhatIsPouredMayChangeItsMind) {
  To(kTick);
  for (uint32_t i = 0; i < 100; ++i) File(100'000);
  calendar_->Sweep();
  int seen = 0;
  while (calendar_->working()) {
    ASSERT_TRUE(calendar_->Work(9, [&](uint32_t due, std::string_view) { return ++seen % 2 == 0 ? 0 : due + 50; }));
  }
  EXPECT_EQ(seen, 100) << "each entry is judged once in a sweep";
  EXPECT_EQ(calendar_->ready(), 50U);
  To(100'050);
  EXPECT_EQ(calendar_->ready(), 100U);
}

TEST_F(CalendarTest, ContinuesInTheMiddleOfPouring) {
  To(kTick);
  for (uint32_t i = 0; i < 200; ++i) File(10'000 + i % 3 * 5000);
  calendar_->Advance(16'000);
  ASSERT_TRUE(calendar_->Work(70, Keep));
  ASSERT_TRUE(calendar_->working());
  const uint64_t pouring = calendar_->pouring();
  ASSERT_TRUE(manifest_->Commit(calendar_->Checkpointables()));
  Open();
  EXPECT_EQ(calendar_->pouring(), pouring);
  EXPECT_EQ(calendar_->size(), 200U);
  To(16'000);
  EXPECT_EQ(PopAll().size(), 134U);
  To(20'000);
  EXPECT_EQ(PopAll().size(), 66U);
}

constexpr uint32_t kFirst = CalendarClock::kFirst;

TEST(CalendarClockTest, SetBackItWaitsAndNeverGoesBack) {
  CalendarClock clock;
  EXPECT_EQ(clock.Advance(1'000'000), kFirst);
  EXPECT_EQ(clock.Advance(1'000'100), kFirst + 100);
  EXPECT_EQ(clock.Advance(500'000), kFirst + 100);  // set back
  EXPECT_EQ(clock.Advance(500'060), kFirst + 160) << "it goes on from there";
  CalendarClock restored(clock.now(), clock.ahead());
  EXPECT_EQ(restored.Advance(500'070), kFirst + 170);
  EXPECT_EQ(restored.Of(500'050), kFirst + 150);
  EXPECT_EQ(restored.Of(900'000'000), kFirst + 170) << "nothing has happened after now";
  EXPECT_EQ(restored.Of(INT64_MIN), kFirst + 170 - 500'070);
}

TEST(CalendarClockTest, ALeapCountsAtMostOneStep) {
  CalendarClock clock;
  clock.Advance(1'000'000);
  const auto step = static_cast<uint32_t>(CalendarClock::kMostStep);
  EXPECT_EQ(clock.Advance(1'000'000'000), kFirst + step);
  EXPECT_EQ(clock.Advance(1'000'000'050), kFirst + step + 50);
  EXPECT_EQ(clock.Advance(1'000'100), kFirst + step + 50) << "set right again";
  EXPECT_EQ(clock.Advance(1'000'160), kFirst + step + 110);
  CalendarClock extremes;
  extremes.Advance(INT64_MIN);
  extremes.Advance(INT64_MAX);
  extremes.Advance(INT64_MIN);
  extremes.Advance(0);
}

TEST(CalendarClockTest, WithAnotherUnitItGoesOnFromWhereItWas) {
  CalendarClock clock;
  clock.Advance(1'000'000);
  clock.Rebase(10'000'000);
  EXPECT_EQ(clock.Advance(10'000'010), kFirst + 10);
}

// The power is cut at every operation that changes the disk; what survives is a committed state, entry by entry.
struct Script {
  static Status Run(Calendar& calendar, Manifest& manifest, uint64_t& committed, uint64_t last_commit) {
    Rng rng(3);
    uint32_t now = 1000;
    calendar.Advance(now);
    for (int step = 0; step < 600; ++step) {
      const uint32_t due = now + static_cast<uint32_t>(rng.Below(uint64_t{1} << rng.Below(14)));
      RETURN_IF_ERROR(calendar.File(due, std::string(20, 'x') + std::to_string(step)));
      if (step % 5 == 0) {
        now += static_cast<uint32_t>(rng.Below(300));
        calendar.Advance(now);
      }
      if (step % 150 == 70) calendar.Sweep();
      RETURN_IF_ERROR(calendar.Work(
          rng.Below(6), [&](uint32_t filed, std::string_view) { return rng.Chance(0.1) ? filed + 500 : filed; }));
      if (step % 4 == 1) RETURN_IF_ERROR(calendar.Pop());
      if (step % 100 == 60) {
        RETURN_IF_ERROR(manifest.Commit(calendar.Checkpointables()));
        committed = manifest.sequence();
        if (committed == last_commit) return {};
      }
    }
    return {};
  }
  static Status Run(Env& env, uint64_t& committed, uint64_t last_commit) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, "store"));
    ASSIGN_OR_RETURN(auto calendar, Calendar::Open(env, manifest, SmallOptions()));
    return Run(*calendar, manifest, committed, last_commit);
  }
};

// All entries with their times, and that it goes on from there.
std::vector<std::string> Observe(Env& env) {
  auto manifest = Manifest::Open(env, "store");
  if (!manifest) return {"error: " + manifest.error().ToString()};
  auto calendar = Calendar::Open(env, *manifest, SmallOptions());
  if (!calendar) return {"error: " + calendar.error().ToString()};
  std::vector<std::string> all = {std::to_string((*calendar)->pouring())};
  (*calendar)->Advance(4'000'000'000);
  while ((*calendar)->working()) {
    if (auto worked = (*calendar)->Work(100, Keep); !worked) return {"error: " + worked.error().ToString()};
  }
  for (;;) {
    auto entry = (*calendar)->Pop();
    if (!entry) return {"error: " + entry.error().ToString()};
    if (!*entry) break;
    all.push_back(std::to_string((*entry)->due_s) + " " + (*entry)->bytes);
  }
  if (Status status = manifest->Commit((*calendar)->Checkpointables()); !status) {
    return {"error: " + status.error().ToString()};
  }
  return all;
}

TEST(CalendarCrashTest, EveryPowerCutLeavesACommittedState) {
  constexpr uint64_t kCommits = 5;
  std::vector<std::vector<std::string>> expected;
  MemEnv empty;
  expected.push_back(Observe(empty));
  for (uint64_t commit = 1; commit <= kCommits; ++commit) {
    MemEnv env;
    uint64_t committed = 0;
    ASSERT_TRUE(Script::Run(env, committed, commit));
    ASSERT_EQ(committed, commit);
    expected.push_back(Observe(env));
    ASSERT_FALSE(expected.back().front().starts_with("error")) << expected.back().front();
  }
  uint64_t cuts = 0;
  for (uint64_t cut = 1;; ++cut) {
    MemEnv mem;
    FaultyEnv env(mem, {.power_cut_at = cut});
    uint64_t committed = 0;
    static_cast<void>(Script::Run(env, committed, kCommits));
    if (!env.power_is_cut()) break;
    ++cuts;
    const std::pair<CrashMode, uint64_t> outcomes[] = {
        {CrashMode::kLoseUnsynced, 0}, {CrashMode::kKeepAll, 0}, {CrashMode::kTorn, cut}};
    for (const auto& [mode, seed] : outcomes) {
      auto survived = mem.CrashedCopy(mode, seed);
      const uint64_t sequence = Manifest::Open(*survived, "store").value().sequence();
      ASSERT_TRUE(sequence == committed || sequence == committed + 1) << "cut at " << cut;
      ASSERT_EQ(Observe(*survived), expected[sequence]) << "cut at " << cut << " mode " << static_cast<int>(mode);
    }
  }
  EXPECT_GT(cuts, 300U);
}

TEST(CalendarCrashTest, AFullDiskLosesNothing) {
  for (const uint64_t space : {1'500U, 4'000U, 9'000U}) {
    MemEnv mem;
    FaultyEnv env(mem, {.space = space});
    auto manifest = Manifest::Open(env, "store").value();
    auto calendar = Calendar::Open(env, manifest, SmallOptions()).value();
    uint64_t filed = 0;
    calendar->Advance(1000);
    Status status;
    for (uint32_t i = 0; i < 2000 && status; ++i) {
      status = calendar->File(1000 + i * 37 % 9000, std::string(30, 'y') + std::to_string(i));
      if (status) ++filed;
    }
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
    calendar->Advance(50'000);
    while (calendar->working()) {
      if (!calendar->Work(100, Keep)) break;
    }
    env.AddSpace(10'000'000);
    while (calendar->working()) ASSERT_TRUE(calendar->Work(100, Keep));
    uint64_t popped = 0;
    while (calendar->Pop().value()) ++popped;
    EXPECT_EQ(popped, filed);
    ASSERT_TRUE(manifest.Commit(calendar->Checkpointables()));
  }
}

}  // namespace
}  // namespace portolan
