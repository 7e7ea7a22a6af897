#include "plan/cluster_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace portolan {
namespace {

using ::testing::HasSubstr;

ClusterInput Crawl(double pages, double nodes) {
  ClusterInput input;
  input.crawl.pages = pages;
  input.nodes = nodes;
  return input;
}

TEST(ClusterPlanTest, OneNodeIsThePlanOfOneMachine) {
  const auto cluster = MakeClusterPlan(Crawl(1e9, 1));
  ASSERT_TRUE(cluster) << cluster.error().message();
  const auto machine = MakePlan(Crawl(1e9, 1).crawl);
  EXPECT_DOUBLE_EQ(cluster->pages_per_s, machine->sustainable_pages_per_s);
  EXPECT_DOUBLE_EQ(cluster->node.disk_bytes, machine->disk_bytes);
  EXPECT_EQ(cluster->exchanged_links, 0);
  EXPECT_EQ(cluster->efficiency, 1);
  EXPECT_EQ(cluster->stream_disk_bytes, 0);
}

TEST(ClusterPlanTest, TrafficIsThatOfTheLinksThatCross) {
  ClusterInput input = Crawl(1e9, 16);
  input.crawl.rate = 16'000;
  input.replicas = 3;
  const auto plan = MakeClusterPlan(input);
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(plan->crossing, 0.25 * 15 / 16);
  EXPECT_DOUBLE_EQ(plan->exchanged_links, 59e9 * 0.25 * 15 / 16);
  EXPECT_DOUBLE_EQ(plan->exchanged_links_per_s, 16'000 * 59 * 0.25 * 15 / 16);
  EXPECT_DOUBLE_EQ(plan->nats_in_bytes_per_s, plan->exchanged_links_per_s * 33.3);
  EXPECT_DOUBLE_EQ(plan->nats_out_bytes_per_s, plan->nats_in_bytes_per_s * 3);
  EXPECT_DOUBLE_EQ(plan->node_out_bytes_per_s * 16, plan->nats_in_bytes_per_s);
  EXPECT_DOUBLE_EQ(plan->node.duration_s, 1e9 / 16'000);
  EXPECT_NEAR(plan->stream_full_s * plan->node_out_bytes_per_s, 0x1p30, 1);
  EXPECT_DOUBLE_EQ(plan->stream_disk_bytes, 3 * 0x1p30);
}

TEST(ClusterPlanTest, TheExchangeTakesProcessorTimeFromPages) {
  ClusterInput input = Crawl(1e6, 4);
  input.crawl.disk_bytes_per_s = 50e9;  // the processor is what limits
  const auto plan = MakeClusterPlan(input);
  ASSERT_TRUE(plan);
  const double links = 59 * 0.25 * 3 / 4;
  EXPECT_DOUBLE_EQ(plan->pages_per_s, 4 / (1 / 4000.0 + links / 2.5e6 + links / 8.5e6));
  EXPECT_GT(plan->efficiency, 0.9);
  EXPECT_LT(plan->efficiency, 1);
}

TEST(ClusterPlanTest, RamAndDisksAreEnoughAndNoMore) {
  for (const double nodes : {16.0, 64.0}) {
    ClusterInput input = Crawl(1e10, nodes);
    input.crawl.rate = 20'000;
    const auto plan = MakeClusterPlan(input);
    ASSERT_TRUE(plan);
    ASSERT_TRUE(std::isfinite(plan->least_ram));
    PlanInput node = input.crawl;
    node.pages /= nodes;
    node.cpu_pages_per_s *= plan->efficiency;
    node.ram = plan->least_ram;
    EXPECT_GE(MakePlan(node)->methods[0].cache.pages_per_s, 20'000 / nodes);
    node.ram /= 2;
    EXPECT_LT(MakePlan(node)->methods[0].cache.pages_per_s, 20'000 / nodes);
    EXPECT_GE(plan->disks * input.crawl.disk, plan->node.disk_bytes);
    EXPECT_LT((plan->disks - 1) * input.crawl.disk, plan->node.disk_bytes + plan->stream_disk_bytes);
  }
  ClusterInput input = Crawl(1e11, 4);
  input.crawl.rate = 1e9;
  EXPECT_TRUE(std::isinf(MakeClusterPlan(input)->least_ram));
}

TEST(ClusterPlanTest, ImpossibleInputIsNamed) {
  EXPECT_THAT(MakeClusterPlan(Crawl(1e6, 0)).error().message(), HasSubstr("--nodes"));
  EXPECT_THAT(MakeClusterPlan(Crawl(1e6, 2.5)).error().message(), HasSubstr("--nodes"));
  EXPECT_THAT(MakeClusterPlan(Crawl(1e6, 257)).error().message(), HasSubstr("1 to 256"));
  ClusterInput input = Crawl(1e6, 4);
  input.external = 1.5;
  EXPECT_THAT(MakeClusterPlan(input).error().message(), HasSubstr("--external"));
  input.external = 0.25;
  input.replicas = 5;
  EXPECT_THAT(MakeClusterPlan(input).error().message(), HasSubstr("--replicas"));
  EXPECT_THAT(MakeClusterPlan(Crawl(0, 4)).error().message(), HasSubstr("--pages"));
}

}  // namespace
}  // namespace portolan
