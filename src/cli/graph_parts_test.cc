#include "cli/graph_parts.h"

#include <gtest/gtest.h>

#include "graph/hyper_ball.h"

namespace portolan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ChooseLog2mTest, SmallGraphsAreMeasuredWellAndLargeOnesFitTheRoom) {
  EXPECT_EQ(ChooseLog2m(0, 1024 * kMiB), 14U);
  EXPECT_EQ(ChooseLog2m(1000, 1024 * kMiB), 14U);
  EXPECT_EQ(ChooseLog2m(325'557, 1024 * kMiB), 8U);
  // Beyond 256 MiB the usual precision, as long as there is room.
  EXPECT_EQ(ChooseLog2m(10'000'000, 4096 * kMiB), 6U);
  EXPECT_EQ(ChooseLog2m(10'000'000, 1024 * kMiB), 5U);
  EXPECT_EQ(ChooseLog2m(10'000'000, 400 * kMiB), 4U);
  // What does not fit at all is for the caller to refuse.
  EXPECT_EQ(ChooseLog2m(10'000'000, 1 * kMiB), 4U);
  EXPECT_EQ(ChooseLog2m(1000, 0), 4U);
  for (uint64_t nodes = 1; nodes < 100'000'000; nodes *= 3) {
    const unsigned log2m = ChooseLog2m(nodes, 512 * kMiB);
    EXPECT_TRUE(log2m == 4 || graph::HyperBallBytes(nodes, log2m) <= 512 * kMiB) << nodes;
  }
}

TEST(RequireGraphMemoryTest, SaysWhatDoesNotFitAndWhatHelps) {
  EXPECT_TRUE(RequireGraphMemory("counting", 100, 100, "count less"));
  const Status refused = RequireGraphMemory("counting", 5 * kMiB, kMiB, "count less");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kBusy);
  EXPECT_EQ(refused.error().message(), "counting takes 5 MiB of memory, and --memory allows 1 MiB; count less");
}

}  // namespace
}  // namespace portolan
