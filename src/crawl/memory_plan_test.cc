#include "crawl/memory_plan.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

MemoryWishes Wishes(uint64_t total) {
  return {.total = total, .loops = 1, .max_body = 16 * kMiB, .max_decoded = 64 * kMiB, .directories = 1};
}

TEST(MemoryPlanTest, PartsNeverMakeMoreThanTheTotal) {
  for (const uint64_t total : {128 * kMiB, 200 * kMiB, 256 * kMiB, 1024 * kMiB, 65'536 * kMiB}) {
    for (const size_t loops : {1, 2, 7, 64}) {
      for (const size_t directories : {1, 4, 24}) {
        for (const uint64_t queues : {0, 8, 128, 4096}) {
          MemoryWishes wishes = Wishes(total);
          wishes.loops = loops;
          wishes.directories = directories;
          wishes.budget_queues = queues;
          const MemoryPlan plan = MemoryPlan::Make(wishes);
          wishes.content_seen = !wishes.content_seen;
          const MemoryPlan other = MemoryPlan::Make(wishes);
          EXPECT_EQ(other.Sum(), plan.Sum());
          EXPECT_EQ(plan.content, 0U);
          EXPECT_GT(other.content, total / 50);
          wishes.near_seen = true;
          EXPECT_EQ(MemoryPlan::Make(wishes).Sum(), plan.Sum());
          EXPECT_GT(MemoryPlan::Make(wishes).near, total / 100);
          wishes.continuous = true;
          EXPECT_EQ(MemoryPlan::Make(wishes).Sum(), plan.Sum());
          EXPECT_GT(MemoryPlan::Make(wishes).fresh, total / 50);
          EXPECT_LE(plan.Sum(), total);
          EXPECT_GE(plan.Sum(), total / 10 * 7);
          EXPECT_GE(plan.loops, 1U);
          EXPECT_LE(plan.loops, loops);
          EXPECT_GT(plan.slack, 0U);
        }
      }
    }
  }
}

TEST(MemoryPlanTest, APageAtItsWorstHasRoom) {
  for (const uint64_t total : {128 * kMiB, 256 * kMiB, 1024 * kMiB, 8192 * kMiB}) {
    for (const size_t loops : {1, 4, 32}) {
      MemoryWishes wishes = Wishes(total);
      wishes.loops = loops;
      const MemoryPlan plan = MemoryPlan::Make(wishes);
      const uint64_t page = plan.pages / plan.loops;
      EXPECT_LE(plan.max_decoded + 6 * plan.max_html + 2 * plan.max_link_bytes, page);
      EXPECT_LE(plan.max_decoded + 2 * plan.max_body, page);
      EXPECT_LE(plan.max_body * plan.loops, plan.answers / 4) << "a body for each loop";
    }
  }
}

TEST(MemoryPlanTest, UsualSettingsAreKept) {
  const MemoryPlan plan = MemoryPlan::Make(Wishes(1024 * kMiB));
  EXPECT_EQ(plan.max_body, 16 * kMiB);
  EXPECT_EQ(plan.max_decoded, 64 * kMiB);
  EXPECT_EQ(MemoryPlan::Make(Wishes(256 * kMiB)).max_body, 16 * kMiB);
  MemoryWishes wishes = Wishes(256 * kMiB);
  wishes.content_seen = wishes.near_seen = wishes.continuous = true;
  EXPECT_EQ(MemoryPlan::Make(wishes).max_body, 16 * kMiB);
}

TEST(MemoryPlanTest, LittleMemoryMeansFewerLoopsAndSmallerBodies) {
  MemoryWishes wishes = Wishes(128 * kMiB);
  wishes.loops = 8;
  const MemoryPlan plan = MemoryPlan::Make(wishes);
  EXPECT_EQ(plan.loops, 1U);
  EXPECT_LT(plan.max_body, 16 * kMiB);
  EXPECT_GE(plan.max_body, 8 * kMiB);
  wishes.total = 2048 * kMiB;
  EXPECT_EQ(MemoryPlan::Make(wishes).loops, 8U);
}

}  // namespace
}  // namespace portolan
