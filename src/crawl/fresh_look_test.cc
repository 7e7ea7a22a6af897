// What is said of the freshness of several shards together.

#include "crawl/fresh_look.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

FreshLook LookOf(uint64_t pages, int64_t checkpoint, const std::string& domain) {
  FreshLook look;
  look.checkpoint_unix_ns = checkpoint;
  look.all = {.pages = pages, .due = 1, .fresh = 0.5 * static_cast<double>(pages), .next_due_unix_ns = checkpoint + 50};
  look.domains = {{domain + ".test", {.pages = pages - 1}}, {"small." + domain + ".test", {.pages = 1}}};
  look.visits_per_day = 10;
  look.price_hours = static_cast<double>(pages);
  look.changed = 3;
  return look;
}

TEST(FreshLookTest, OfSeveralShardsAddsUpAndKeepsTheLargestDomains) {
  FreshLook sum;
  AddLook(sum, 0, LookOf(10, 200, "a"), 3);
  EXPECT_EQ(sum.checkpoint_unix_ns, 200);
  EXPECT_EQ(sum.more_domains, 0U);
  AddLook(sum, 1, LookOf(40, 100, "b"), 3);
  AddLook(sum, 2, LookOf(70, 300, "c"), 3);
  EXPECT_EQ(sum.checkpoint_unix_ns, 100) << "the oldest";
  EXPECT_EQ(sum.all.pages, 120U);
  EXPECT_EQ(sum.all.due, 3U);
  EXPECT_EQ(sum.all.fresh, 60);
  EXPECT_EQ(sum.all.next_due_unix_ns, 150) << "the first";
  EXPECT_EQ(sum.visits_per_day, 30);
  EXPECT_EQ(sum.price_hours, 40) << "the mean";
  EXPECT_EQ(sum.changed, 9U);
  ASSERT_EQ(sum.domains.size(), 3U);
  EXPECT_EQ(sum.domains[0].name, "c.test");
  EXPECT_EQ(sum.domains[1].name, "b.test");
  EXPECT_EQ(sum.domains[2].name, "a.test");
  EXPECT_EQ(sum.more_domains, 3U);
}

}  // namespace
}  // namespace portolan
