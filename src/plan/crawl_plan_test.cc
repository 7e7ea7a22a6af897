#include "plan/crawl_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace portolan {
namespace {

using ::testing::HasSubstr;

PlanInput SmallCrawl() {
  PlanInput input;
  input.pages = 1e6;
  return input;
}

TEST(CrawlPlanTest, MethodsStandInTheOrderOfTheirTrafficForALargeCrawl) {
  PlanInput input;
  input.pages = 1e9;
  input.disk = 100e12;
  const auto plan = MakePlan(input);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->methods.size(), 4U);
  for (size_t i = 1; i < 4; ++i) EXPECT_LT(plan->methods[i - 1].alpha, plan->methods[i].alpha) << i;
  for (const MethodPlan& method : plan->methods) {
    EXPECT_TRUE(method.feasible);
    EXPECT_GE(method.rounds, 1);
    EXPECT_GE(method.cache.pages_per_s * 1.000001, std::min(method.disk_pages_per_s, input.cpu_pages_per_s))
        << method.name;
    EXPECT_LT(method.cache.cache_bytes, input.ram);
  }
}

TEST(CrawlPlanTest, SpaceAndTimeAddUp) {
  PlanInput input = SmallCrawl();
  input.rate = 100;
  const auto plan = MakePlan(input);
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(plan->links, 59e6);
  EXPECT_DOUBLE_EQ(plan->duration_s, 1e4);
  EXPECT_DOUBLE_EQ(plan->archive_bytes, 1e6 * 26e3 / 4);
  EXPECT_NEAR(plan->queue_bytes, (59e6 / 9 - 1e6) * 110 / 2.6, 1);
  EXPECT_DOUBLE_EQ(plan->disk_bytes, plan->methods[0].seen_bytes + plan->methods[0].round_disk_bytes +
                                         plan->queue_bytes + plan->archive_bytes);
  EXPECT_TRUE(plan->fits);
  input.disk = plan->disk_bytes / 2;
  EXPECT_FALSE(MakePlan(input)->fits);
}

TEST(CrawlPlanTest, SustainableRateIsTheSmallestOfDiskCpuAndArchive) {
  PlanInput input = SmallCrawl();
  input.page_bytes = 10e6;
  const auto archive = MakePlan(input);
  ASSERT_TRUE(archive);
  EXPECT_DOUBLE_EQ(archive->sustainable_pages_per_s, 500e6 * 0.85 / 2.5e6);
  input = SmallCrawl();
  input.disk_bytes_per_s = 50e9;
  const auto cpu = MakePlan(input);
  ASSERT_TRUE(cpu);
  EXPECT_DOUBLE_EQ(cpu->sustainable_pages_per_s, input.cpu_pages_per_s);
  EXPECT_EQ(cpu->methods[0].cache.cache_bytes, 0);  // a cache would only cost CPU
  EXPECT_DOUBLE_EQ(cpu->duration_s, 1e6 / input.cpu_pages_per_s);
}

TEST(CrawlPlanTest, ImpossibleInputIsNamed) {
  PlanInput input;
  EXPECT_THAT(MakePlan(input).error().message(), HasSubstr("--pages must be more than zero"));
  input = SmallCrawl();
  input.ram = 100 << 10;
  EXPECT_THAT(MakePlan(input).error().message(), HasSubstr("--ram 100 KiB is too little"));
  EXPECT_THAT(MakePlan(input).error().message(), HasSubstr("at least 256 KiB"));
  input = SmallCrawl();
  input.unique = 1.5;
  EXPECT_THAT(MakePlan(input).error().message(), HasSubstr("--unique"));
  input = SmallCrawl();
  input.disk_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(MakePlan(input).error().message(), HasSubstr("--disk-speed"));
}

TEST(CrawlPlanTest, ThePapersDrumNeedsMoreRamThanOurs) {
  PlanInput input = SmallCrawl();
  input.ram = 64 << 20;
  const auto plan = MakePlan(input);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->methods[0].feasible);
  EXPECT_FALSE(plan->methods[1].feasible);
  EXPECT_THAT(plan->methods[1].why_not, HasSubstr("91.6 MiB"));
}

}  // namespace
}  // namespace portolan
