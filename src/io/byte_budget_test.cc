#include "io/byte_budget.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace portolan {
namespace {

TEST(ByteBudgetTest, ALeaseTakesAndGivesBack) {
  ByteBudget budget(100);
  {
    ByteLease lease(budget);
    EXPECT_TRUE(lease.TryGrow(60));
    EXPECT_FALSE(lease.TryGrow(41));
    EXPECT_EQ(budget.used(), 60U);
    EXPECT_EQ(budget.free(), 40U);
    EXPECT_TRUE(lease.TryGrow(40));
    EXPECT_EQ(budget.free(), 0U);
  }
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_EQ(budget.peak(), 100U);
}

TEST(ByteBudgetTest, GrowGoesBeyondTheTotalAndTryGrowDoesNotUntilItIsPaidBack) {
  ByteBudget budget(100);
  ByteLease forced(budget);
  forced.Grow(150);
  EXPECT_EQ(budget.used(), 150U);
  EXPECT_EQ(budget.free(), 0U);
  ByteLease other(budget);
  EXPECT_FALSE(other.TryGrow(1));
  forced.Resize(99);
  EXPECT_TRUE(other.TryGrow(1));
  EXPECT_FALSE(other.TryGrow(1));
}

TEST(ByteBudgetTest, ALeaseMovesWithItsBytes) {
  ByteBudget budget(100);
  ByteLease first(budget);
  first.Grow(30);
  ByteLease second = std::move(first);
  EXPECT_EQ(second.bytes(), 30U);
  EXPECT_EQ(budget.used(), 30U);
  ByteLease third(budget);
  third.Grow(20);
  third = std::move(second);
  EXPECT_EQ(budget.used(), 30U);
  ByteLease part = third.Split(10);
  EXPECT_EQ(third.bytes(), 20U);
  third.Release();
  EXPECT_EQ(budget.used(), 10U);
  part.Release();
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteBudgetTest, ALeaseOfNoBudgetGrantsEverything) {
  ByteLease lease;
  EXPECT_TRUE(lease.TryGrow(uint64_t{1} << 60));
  lease.Resize(5);
  EXPECT_EQ(lease.bytes(), 5U);
}

TEST(ByteBudgetTest, WhoWaitsIsToldOnceWhenBytesComeBack) {
  ByteBudget budget(10);
  ByteLease lease(budget);
  lease.Grow(15);
  int told = 0;
  budget.WhenFree(4, [&] { ++told; });
  lease.Resize(12);
  EXPECT_EQ(told, 0);  // still beyond the total
  lease.Resize(9);
  EXPECT_EQ(told, 0);  // free, but not enough
  lease.Resize(6);
  EXPECT_EQ(told, 1);
  lease.Resize(0);
  EXPECT_EQ(told, 1);
}

TEST(ByteBudgetTest, WhoWaitsWhileThereIsRoomIsToldAtOnce) {
  ByteBudget budget(10);
  int told = 0;
  budget.WhenFree(10, [&] { ++told; });
  EXPECT_EQ(told, 1);
  budget.WhenFree(1000, [&] { ++told; });  // more than there can ever be: when all is free
  EXPECT_EQ(told, 2);
}

TEST(ByteBudgetTest, ThreadsTogetherNeverHoldMoreThanTheTotalAndNobodyIsForgotten) {
  constexpr uint64_t kTotal = 1000;
  ByteBudget budget(kTotal);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        ByteLease lease(budget);
        const uint64_t wanted = 1 + static_cast<uint64_t>(i * 7 + t * 13) % 600;
        while (!lease.TryGrow(wanted)) {
          const auto woken = std::make_shared<std::promise<void>>();
          budget.WhenFree(wanted, [woken] { woken->set_value(); });
          woken->get_future().wait();
        }
        EXPECT_LE(budget.used(), kTotal);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_LE(budget.peak(), kTotal);
}

}  // namespace
}  // namespace portolan
