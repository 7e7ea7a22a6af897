#include "crawl/turn_times.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "io/rng.h"

namespace portolan {
namespace {

TEST(TurnTimesTest, NothingIsZero) {
  const TurnTimes times;
  EXPECT_EQ(times.count(), 0U);
  EXPECT_EQ(times.Quantile(0.99), 0U);
  EXPECT_EQ(times.longest(), 0U);
}

TEST(TurnTimesTest, QuantilesAreRightToAnEighth) {
  Rng rng(3);
  TurnTimes times;
  std::vector<uint64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t value = rng.Next() >> (1 + rng.Below(63));
    all.push_back(value);
    times.Add(static_cast<int64_t>(value));
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(times.count(), all.size());
  EXPECT_EQ(times.longest(), all.back());
  for (const double part : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const uint64_t exact = all[static_cast<size_t>(part * static_cast<double>(all.size())) - 1];
    EXPECT_GE(times.Quantile(part), exact) << part;
    EXPECT_LE(times.Quantile(part), exact + exact / 8 + 1) << part;
  }
}

TEST(TurnTimesTest, OneLongOneIsTheLongestAndNotTheMedian) {
  TurnTimes times;
  for (int i = 0; i < 999; ++i) times.Add(1000);
  times.Add(50'000'000);
  EXPECT_EQ(times.longest(), 50'000'000U);
  EXPECT_LE(times.Quantile(0.99), 1125U);
  EXPECT_GE(times.Quantile(0.5), 1000U);
}

TEST(TurnTimesTest, TheHistogramCountsEachTurnOnceByPowersOfTwoOfMicroseconds) {
  TurnTimes times;
  for (const int64_t ns : {0, 1, 1000, 1001, 2000, 2001, 4000, 1'024'000, 1'024'001}) times.Add(ns);
  times.Add(INT64_MAX);
  const std::vector<TurnTimes::Step> steps = times.Histogram();
  const std::vector<std::pair<uint64_t, uint64_t>> wanted = {{1, 3},    {2, 2},    {4, 2},
                                                             {1024, 1}, {2048, 1}, {uint64_t{1} << 54, 1}};
  ASSERT_EQ(steps.size(), wanted.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].le_us, wanted[i].first);
    EXPECT_EQ(steps[i].count, wanted[i].second) << steps[i].le_us;
  }
  TurnTimes both = times;
  both.Add(times);
  EXPECT_EQ(both.Histogram()[0].count, 6U);
}

TEST(TurnTimesTest, TheLongestTurnNamesThePartThatTookMostOfIt) {
  ManualClock clock;
  TurnClock turns(clock);
  const auto turn = [&](int64_t pages, int64_t answers, int64_t dispatch) {
    turns.Begin();
    clock.Advance(pages);
    turns.Enter(TurnPart::kAnswers);
    clock.Advance(answers);
    turns.Enter(TurnPart::kDispatch);
    clock.Advance(dispatch);
    turns.End();
  };
  turn(10, 20, 30);
  EXPECT_EQ(turns.times().longest(), 60U);
  EXPECT_EQ(turns.times().longest_part(), TurnPart::kDispatch);
  turn(10, 200, 100);
  turn(50, 1, 1);
  clock.Advance(1'000'000);  // time between turns does not count
  turn(1, 1, 1);
  EXPECT_EQ(turns.times().count(), 4U);
  EXPECT_EQ(turns.times().longest(), 310U);
  EXPECT_EQ(turns.times().longest_part(), TurnPart::kAnswers);
  TurnTimes all;
  all.Add(turns.times());
  EXPECT_EQ(all.longest_part(), TurnPart::kAnswers);
}

}  // namespace
}  // namespace portolan
