#include "sim/virtual/virtual_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "io/rng.h"

namespace portolan::sim {
namespace {

TEST(VirtualTimeTest, EventsRunByTimeThenInTheOrderOfAsking) {
  VirtualTime time(1000);
  Rng rng(7);
  std::vector<std::pair<int64_t, int>> expected;
  std::vector<std::pair<int64_t, int>> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto at = static_cast<int64_t>(rng.Below(50));
    expected.emplace_back(at, i);
    time.At(at, [&seen, &time, i] { seen.emplace_back(time.NowNs(), i); });
  }
  std::stable_sort(expected.begin(), expected.end(), [](auto& a, auto& b) { return a.first < b.first; });
  while (time.Step()) EXPECT_EQ(time.UnixNs(), 1000 + time.NowNs());
  EXPECT_EQ(seen, expected);
}

TEST(VirtualTimeTest, EventsMayAddEventsAndThePastIsNow) {
  VirtualTime time(0);
  std::vector<int> order;
  time.At(10, [&] {
    order.push_back(1);
    time.At(3, [&] {
      order.push_back(3);
      EXPECT_EQ(time.NowNs(), 10);
    });
    time.At(20, [&] { order.push_back(4); });
  });
  time.At(10, [&] { order.push_back(2); });
  time.At(21, [&] { order.push_back(5); });
  time.RunUntil(20);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(time.NowNs(), 20);
  time.RunUntil(30);
  EXPECT_EQ(order.back(), 5);
  EXPECT_EQ(time.NowNs(), 30);
  EXPECT_FALSE(time.Step());
}

}  // namespace
}  // namespace portolan::sim
