#include "crawl/turn_times.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace portolan
