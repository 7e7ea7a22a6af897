#include "crawl/refresh_pace.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr double kPerDay = 86'400e9;

RefreshPace::Options Usual() {
  return {.share = 0.25, .connections = 100, .period_ns = kHour, .tick_ns = 256 * kSecond};
}

// `fetched` pages per minute; of the pages that are due `held` wait for each that is taken.
void PassTime(RefreshPace& pace, int64_t& now, int hours, int fetched, bool first_visits, uint64_t held = 0,
              bool full = false) {
  for (int minute = 0; minute < 60 * hours; ++minute) {
    now += 60 * kSecond;
    pace.Advance(now, first_visits, full);
    for (int i = 0; i < fetched; ++i) pace.Fetched();
    pace.Took(std::min<uint64_t>(pace.allowed(), 1), held);
  }
}

TEST(RefreshPaceTest, WhereHostsCannotDoMoreTheCapacityIsWhatWasFetched) {
  int64_t now = 0;
  RefreshPace pace(Usual(), now);
  PassTime(pace, now, 20, 30, false, 5);
  EXPECT_NEAR(pace.capacity_per_ns() * kPerDay, 30 * 1440, 0.05 * 30 * 1440);
  PassTime(pace, now, 20, 30, false, 0);
  EXPECT_GT(pace.capacity_per_ns() * kPerDay, 3 * 30 * 1440) << "nothing waits: it may be more";
  PassTime(pace, now, 6, 30, false, 0, true);
  EXPECT_NEAR(pace.capacity_per_ns() * kPerDay, 30 * 1440, 0.05 * 30 * 1440);
}

TEST(RefreshPaceTest, WhileFirstVisitsWaitRefreshingGetsItsShare) {
  int64_t now = 0;
  RefreshPace pace(Usual(), now);
  PassTime(pace, now, 40, 30, true, 5);
  EXPECT_NEAR(pace.PerNs(), 0.25 * pace.capacity_per_ns(), 0.01 * pace.capacity_per_ns());
  PassTime(pace, now, 40, 30, false, 5);
  EXPECT_NEAR(pace.PerNs(), pace.capacity_per_ns(), 0.01 * pace.capacity_per_ns());
}

TEST(RefreshPaceTest, AStatedBoundHoldsOverTheLongRun) {
  int64_t now = 0;
  RefreshPace::Options options = Usual();
  options.most_per_day = 480;
  RefreshPace pace(options, now);
  uint64_t taken = 0;
  for (int minute = 0; minute < 10 * 1440; ++minute) {
    now += 60 * kSecond;
    pace.Advance(now, false, false);
    const uint64_t now_taken = pace.allowed();
    taken += now_taken;
    pace.Took(now_taken, 0);
  }
  EXPECT_LE(taken, 4801U);
  EXPECT_GE(taken, 4790U);
}

TEST(RefreshPaceTest, WhatIsNotUsedIsKeptForTwoTicksOnly) {
  int64_t now = 0;
  RefreshPace::Options options = Usual();
  options.most_per_day = 86'400;
  RefreshPace pace(options, now);
  now += 10 * kHour;
  pace.Advance(now, false, false);
  EXPECT_EQ(pace.allowed(), 512U);
  pace.Idle();
  EXPECT_EQ(pace.allowed(), 0U);
  EXPECT_NEAR(static_cast<double>(pace.NextNs() - now), 1e9, 1e7);
}

TEST(RefreshPaceTest, AClockThatStandsStillAllowsNothing) {
  RefreshPace pace(Usual(), 100);
  for (int i = 0; i < 10; ++i) pace.Advance(100 - i, true, true);
  EXPECT_EQ(pace.allowed(), 0U);
}

}  // namespace
}  // namespace portolan
