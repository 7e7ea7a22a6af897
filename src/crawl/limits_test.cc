#include "crawl/limits.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

TEST(LimitsTest, WithoutLimitsNothingEnds) {
  Limits limits({});
  CrawlCounts counts;
  counts.done[static_cast<size_t>(CountAs::kFetched)] = ~uint64_t{0} / 2;
  counts.wire_bytes = ~uint64_t{0};
  EXPECT_FALSE(limits.Check(counts, Limits::kNever));
  EXPECT_TRUE(limits.AllowsPage(counts, 1000));
  EXPECT_EQ(limits.TimeLeft(5), Limits::kNever);
  EXPECT_TRUE(limits.reached().empty());
}

TEST(LimitsTest, TheFirstThatIsReachedIsSaidAndStays) {
  Limits limits({.max_pages = 10, .max_bytes = 1000, .max_time_ns = 50});
  CrawlCounts counts;
  EXPECT_FALSE(limits.Check(counts, 49));
  EXPECT_EQ(limits.TimeLeft(49), 1);
  counts.wire_bytes = 1000;
  EXPECT_TRUE(limits.Check(counts, 49));
  EXPECT_EQ(limits.reached(), "max_bytes");
  counts.done[static_cast<size_t>(CountAs::kFetched)] = 10;
  EXPECT_TRUE(limits.Check(counts, 50));
  EXPECT_EQ(limits.reached(), "max_bytes");
}

TEST(LimitsTest, PagesInFlightCountAsIfTheyWereAllToBecomePages) {
  Limits limits({.max_pages = 10});
  CrawlCounts counts;
  counts.done[static_cast<size_t>(CountAs::kFetched)] = 7;
  EXPECT_TRUE(limits.AllowsPage(counts, 2));
  EXPECT_FALSE(limits.AllowsPage(counts, 3));
  EXPECT_FALSE(limits.Check(counts, 0));
}

}  // namespace
}  // namespace portolan
