#include "cli/live_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace portolan {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LiveDisplayTest, SaysWhatItWaitsForAndWhatIsFetched) {
  CrawlProgress progress;
  progress.max_pages = 1'000'000;
  progress.flying = {{"http://slow.test/a", 12}};
  progress.slowest_host = "slow.test";
  progress.slowest_waiting = 40;
  progress.slowest_gap_s = 10;
  progress.awaited = {{.url = "http://h.test/x",
                       .why = "500",
                       .attempt = 2,
                       .attempts = 3,
                       .urls = 1,
                       .seconds = 60,
                       .until_unix_ns = (12 * 3600 + 90) * int64_t{1'000'000'000}}};
  progress.left_out = {{365, "links deeper than 100", "crawl.max_depth"}};
  progress.counts.retries = 1;
  const std::string text = LiveDisplay::Render(progress, {}, 120);
  EXPECT_THAT(text, HasSubstr("fetching  http://slow.test/a for 12"));
  EXPECT_THAT(text, HasSubstr("slowest   slow.test: 40 waiting, one every 10"));
  EXPECT_THAT(text, HasSubstr("waiting   for http://h.test/x (500, attempt 2 of 3) until 12:01:30"));
  EXPECT_THAT(text, HasSubstr("left out  365 links deeper than 100 (crawl.max_depth)"));
  EXPECT_THAT(text, HasSubstr("1 tried again"));
  EXPECT_THAT(text, Not(HasSubstr("% of"))) << "a default limit is no goal";
}

TEST(LiveDisplayTest, OnlyALimitThatSomebodySetIsAGoal) {
  CrawlProgress before;
  CrawlProgress after;
  after.session_seconds = 10;
  after.counts.done[static_cast<size_t>(CountAs::kFetched)] = 100;
  after.max_pages = 1'000'000;
  EXPECT_LT(RatesBetween(before, after).eta_s, 0);
  after.goal_pages = 200;
  EXPECT_NEAR(RatesBetween(before, after).eta_s, 10, 0.1);
  EXPECT_THAT(LiveDisplay::Render(after, {}, 120), HasSubstr("50 % of 200"));
}

TEST(LiveDisplayTest, OnePageIsOnePage) {
  EXPECT_EQ(Counted(1, "page"), "1 page");
  EXPECT_EQ(Counted(0, "page"), "0 pages");
  CrawlCounts counts;
  counts.too_deep = 1;
  counts.nofollow = 2;
  counts.outcomes[static_cast<size_t>(FetchOutcome::kBodyCut)] = 3;
  const auto left = LeftOutOf(counts, {.max_depth = 7, .max_body = 16 << 20});
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(LeftOutWords(left[0]), "1 link deeper than 7 (crawl.max_depth)");
  EXPECT_EQ(LeftOutWords(left[1]), "2 links that say nofollow (scope.follow_nofollow)");
  EXPECT_THAT(LeftOutWords(left[2]), HasSubstr("3 bodies cut at 16"));
}

}  // namespace
}  // namespace portolan
