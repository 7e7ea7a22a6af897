#include "crawl/limits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace portolan {
namespace {

TEST(LimitsTest, WithoutLimitsNothingIsReached) {
  Limits limits({});
  limits.Add(1'000'000, 1'000'000);
  EXPECT_FALSE(limits.Check(Limits::kNever));
  EXPECT_TRUE(limits.Begin());
  EXPECT_EQ(limits.TimeLeft(5), Limits::kNever);
  EXPECT_EQ(limits.reached(), "");
}

TEST(LimitsTest, TheFirstOneStays) {
  Limits limits({.max_pages = 10, .max_bytes = 1000, .max_time_ns = 50});
  EXPECT_FALSE(limits.Check(49));
  EXPECT_EQ(limits.TimeLeft(20), 30);
  limits.AddBytes(1000);
  EXPECT_TRUE(limits.Check(49));
  EXPECT_EQ(limits.reached(), "max_bytes");
  limits.Add(10, 0);
  EXPECT_TRUE(limits.Check(100));
  EXPECT_EQ(limits.reached(), "max_bytes");
}

TEST(LimitsTest, PagesUnderWayMayAllCount) {
  Limits limits({.max_pages = 10});
  limits.Add(7, 0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.Begin());
  EXPECT_FALSE(limits.Begin());
  limits.End(false);
  EXPECT_TRUE(limits.Begin());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(limits.any_reached());
    limits.End(true);
  }
  EXPECT_EQ(limits.reached(), "max_pages");
}

TEST(LimitsTest, ThreadsTogetherGetExactlyTheLimit) {
  Limits limits({.max_pages = 10'000});
  std::atomic<int> counted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !limits.any_reached(); ++i) {
        if (!limits.Begin()) continue;
        const bool counts = (i + t) % 3 != 0;
        if (counts) ++counted;
        limits.End(counts);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted, 10'000);
}

}  // namespace
}  // namespace portolan
