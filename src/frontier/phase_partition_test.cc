#include "frontier/phase_partition.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace portolan {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'780'000'000 * kSecond;

PhasePartition Make(uint32_t nodes, uint32_t phases, int64_t gap_ns = 0) {
  return PhasePartition({.nodes = nodes, .phases = phases, .period_ns = 600 * kSecond, .gap_ns = gap_ns});
}

TEST(PhasePartitionTest, AGroupIsActiveOnOneNodeAtMost) {
  for (const auto& [nodes, phases] : {std::pair{1U, 1U}, {2U, 2U}, {3U, 7U}, {5U, 5U}, {16U, 40U}}) {
    const PhasePartition partition = Make(nodes, phases);
    for (int64_t now = kNow; now < kNow + 600 * kSecond * phases; now += 97 * kSecond) {
      std::set<uint32_t> active;
      for (uint32_t node = 0; node < nodes; ++node) {
        const auto group = partition.ActiveGroup(node, now);
        ASSERT_TRUE(group);
        EXPECT_LT(*group, phases);
        EXPECT_TRUE(active.insert(*group).second) << "group " << *group << " has two nodes";
      }
    }
  }
}

TEST(PhasePartitionTest, EachNodeHasEachGroupOnceInPhasesPeriods) {
  const PhasePartition partition = Make(3, 7);
  for (uint32_t node = 0; node < 3; ++node) {
    std::set<uint32_t> groups;
    for (int64_t period = 0; period < 7; ++period) {
      groups.insert(*partition.ActiveGroup(node, kNow + period * 600 * kSecond));
    }
    EXPECT_EQ(groups.size(), 7U);
  }
}

TEST(PhasePartitionTest, NothingIsActiveWhilePeriodsChange) {
  const PhasePartition partition = Make(3, 3, 40 * kSecond);
  const int64_t swap = partition.NextSwap(kNow);
  EXPECT_GT(swap, kNow);
  EXPECT_LE(swap, kNow + 600 * kSecond);
  EXPECT_EQ(partition.NextSwap(swap), swap + 600 * kSecond);
  for (uint32_t node = 0; node < 3; ++node) {
    EXPECT_TRUE(partition.ActiveGroup(node, swap - 1));
    EXPECT_FALSE(partition.ActiveGroup(node, swap));
    EXPECT_FALSE(partition.ActiveGroup(node, swap + 40 * kSecond - 1));
    EXPECT_EQ(partition.ActiveGroup(node, swap + 40 * kSecond), (*partition.ActiveGroup(node, swap - 1) + 1) % 3);
  }
}

TEST(PhasePartitionTest, TheNextTurnIsTheFirstMomentWithTheGroup) {
  const PhasePartition partition = Make(3, 5, 40 * kSecond);
  for (uint32_t node = 0; node < 3; ++node) {
    for (uint32_t group = 0; group < 5; ++group) {
      for (int64_t now = kNow; now < kNow + 6000 * kSecond; now += 77 * kSecond) {
        const int64_t turn = partition.NextTurn(node, group, now);
        ASSERT_GE(turn, now);
        ASSERT_EQ(partition.ActiveGroup(node, turn), group);
        ASSERT_EQ(turn == now, partition.ActiveGroup(node, now) == group);
        if (turn > now) {
          ASSERT_NE(partition.ActiveGroup(node, turn - 1), group);
        }
        ASSERT_LE(turn - now, (5 * 600 + 40) * kSecond);
      }
    }
  }
}

TEST(PhasePartitionTest, UrlsAndHostsAreSpreadEvenlyAndApart) {
  const PhasePartition partition = Make(4, 8);
  std::vector<std::vector<int>> counts(4, std::vector<int>(8));
  for (uint64_t i = 0; i < 320'000; ++i) ++counts[partition.NodeOf(i << 40)][partition.GroupOf(i << 40)];
  for (const auto& groups : counts) {
    for (const int count : groups) EXPECT_NEAR(count, 10'000, 500);
  }
}

}  // namespace
}  // namespace portolan
